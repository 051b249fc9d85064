"""The fields of the description classes, read from the classes themselves: the one source of the file format.

A new joint kind, force, constraint, function or shape is part of the format once it is in its registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from bellcrank.mechanism import (
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    FUNCTIONS,
    JOINT_KINDS,
    SHAPES,
    ConstraintKind,
    ForceKind,
    Function,
    JointKind,
    Shape,
)
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.fields import declarations

REGISTRIES: dict[type, Mapping[str, type]] = {
    JointKind: JOINT_KINDS,
    ConstraintKind: CONSTRAINT_KINDS,
    ForceKind: FORCE_KINDS,
    Function: FUNCTIONS,
    Shape: SHAPES,
}
"""The families of classes that stand in files as mappings with a key `type`."""

NOUNS: dict[type, str] = {
    JointKind: "joint",
    ConstraintKind: "constraint",
    ForceKind: "force",
    Function: "function",
    Shape: "shape",
}

ANY_FUNCTION: Any = Function | float | tuple[Function | float, ...] | None
"""What a field annotated with Any takes: these are functions, or numbers, of time."""


@dataclass(frozen=True)
class Parameter:
    """One field of a class: its name, type hint, whether it is required, its default.

    units: the units that it accepts; empty for any.
    """

    name: str
    hint: Any
    required: bool = False
    default: Any = None
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Its units in words; empty for plain numbers."""
        return " or ".join(unit for unit in self.units if unit != "1")


def meaning_of(cls: type) -> str:
    """A class in one line."""
    return getattr(cls, "meaning", "") or (cls.__doc__ or "").strip().split("\n")[0]


@cache
def parameters(cls: type) -> dict[str, Parameter]:
    """The fields that the constructor of a dataclass takes, by name; required ones first."""
    hints, declared = get_type_hints(cls), declarations(cls)
    found = []
    for field in fields(cls):
        if field.init:
            hint = ANY_FUNCTION if hints[field.name] is Any else hints[field.name]
            required = field.default is MISSING and field.default_factory is MISSING
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            units = declared[field.name].units if field.name in declared else ()
            found.append(Parameter(field.name, hint, required, default, units))
    return {parameter.name: parameter for parameter in sorted(found, key=lambda p: not p.required)}


def choices(base: type) -> Mapping[str, type]:
    """The classes that are valid for `base`, by the name that a file gives as `type`."""
    return REGISTRIES.get(base, {base.__name__: base})


@dataclass(frozen=True)
class Wanted:
    """The values allowed for a field: kinds of scalars, classes, and the items of a list (None: no list)."""

    number: bool = False
    text: bool = False
    flag: bool = False
    rotation: bool = False
    classes: tuple[type, ...] = ()
    items: Wanted | None = None

    def __or__(self, other: Wanted) -> Wanted:
        items = self.items or other.items
        return Wanted(
            self.number or other.number,
            self.text or other.text,
            self.flag or other.flag,
            self.rotation or other.rotation,
            (*self.classes, *(cls for cls in other.classes if cls not in self.classes)),
            self.items | other.items if self.items and other.items else items,
        )

    @property
    def named(self) -> dict[str, type]:
        """All classes allowed for this field, by name."""
        return {name: cls for base in self.classes for name, cls in choices(base).items()}


@cache
def wanted(hint: Any) -> Wanted:
    """The values that a type hint allows. Raises TypeError for a hint that no file can satisfy."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        result = Wanted()
        for part in inner:
            result |= wanted(part)
        return result
    if origin is tuple:
        items = Wanted()
        for part in inner:
            if part is not Ellipsis:
                items |= wanted(part)
        return Wanted(rotation=hint == Quat, items=items)
    if hint is Function:
        return Wanted(number=True, classes=(Function,))  # a number becomes a constant function
    if hint in (float, int):
        return Wanted(number=True)
    if hint is str:
        return Wanted(text=True)
    if hint is bool:
        return Wanted(flag=True)
    if hint is NoneType:
        return Wanted()
    if isinstance(hint, type) and (hint in REGISTRIES or hasattr(hint, "__dataclass_fields__")):
        return Wanted(classes=(hint,))
    raise TypeError(f"no mechanism file can hold a {hint!r}")
