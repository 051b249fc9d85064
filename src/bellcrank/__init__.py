"""bellcrank: multibody dynamics of mechanisms. Describe, assemble, simulate, look.

The public names are loaded when first used, so that ``import bellcrank`` stays quick. To publish a name, add
it to ``_EXPORTS`` (name: module inside the package) and to the ``TYPE_CHECKING`` block; a test keeps the two
in step.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bellcrank._core import build_info as build_info

__version__ = "0.1.0"

_EXPORTS: dict[str, str] = {
    "build_info": "_core",
}

__all__ = ["__version__", *_EXPORTS]  # noqa: PLE0604  (all strings, by the annotation)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'bellcrank' has no attribute {name!r}")
    value = getattr(import_module(f"bellcrank.{_EXPORTS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
