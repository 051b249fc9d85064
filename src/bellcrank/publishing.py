"""Packages whose public names are those of their stub, each loaded when it is first used."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar


def publish(package: str) -> list[str]:
    """Give a package the names that its stub ``__init__.pyi`` imports from modules; return them."""
    module = sys.modules[package]
    assert module.__file__ is not None
    with open(f"{module.__file__}i", encoding="utf-8") as stub:  # noqa: PTH123  (pathlib is not loaded yet)
        names = imported_names(stub.read())
    module.__class__ = type("Package", (Package,), {"published": names})
    return list(names)


def imported_names(stub: str) -> dict[str, str]:
    """The names that a stub imports, each with its module."""
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


class Package(ModuleType):
    """A package that loads its public names when they are first used."""

    published: ClassVar[dict[str, str]] = {}
    """The module of each name."""

    def __getattr__(self, name: str) -> Any:
        if name not in self.published:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{self._meant(name)}")
        source = self.published[name]
        if source == self.__name__:
            return import_module(f"{source}.{name}")
        value = getattr(import_module(source), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Protect a public name that is also the name of a module: importing that would overwrite it."""
        clash = isinstance(value, ModuleType) and self.published.get(name) == value.__name__
        super().__setattr__(name, getattr(value, name) if clash else value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.published})

    def _meant(self, name: str) -> str:
        """What a misspelt public name may have meant."""
        if name.startswith("_"):
            return ""
        from difflib import get_close_matches

        small = {known.lower(): known for known in self.published}
        close = [small[found] for found in get_close_matches(name.lower().replace("_", ""), small, n=3)]
        return f"; did you mean {' or '.join(close)}?" if close else ""
