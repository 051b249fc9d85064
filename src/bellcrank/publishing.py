"""Packages whose public names are those of their stub, each loaded when it is first used."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable


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
    _answering: ClassVar[Callable[[type], type]]
    """Makes a class answer slips; `bellcrank.facade` puts it in here, as this module lies at the bottom."""
    _close: ClassVar[Callable[[str, list[str]], str]]
    """What a name may have meant that a package lacks; likewise."""

    def __getattr__(self, name: str) -> Any:
        if name not in self.published:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{self._meant(name)}")
        source = self.published[name]
        if source == self.__name__:
            return import_module(f"{source}.{name}")
        value = getattr(import_module(source), name)
        if isinstance(value, type) and not issubclass(value, BaseException):
            value = Package._answering(value)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Protect a public name that is also the name of a module: importing that would overwrite it."""
        clash = isinstance(value, ModuleType) and self.published.get(name) == value.__name__
        super().__setattr__(name, getattr(value, name) if clash else value)

    def __getitem__(self, name: Any) -> Any:
        raise TypeError(f"module {self.__name__!r} has no parts in brackets: write {self.__name__}.{name}")

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.published})

    def _meant(self, name: str) -> str:
        """What a misspelt public name may have meant."""
        if name.startswith("_"):
            return ""
        return Package._close(name, list(self.published))
