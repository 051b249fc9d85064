"""Declarations of the fields of descriptions: content, unit, bounds.

Values are checked by these declarations, which also distinguish expressions of parameters from numbers; files
and tables take the units from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar, dataclass_transform

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import (
    Check,
    Quat,
    Vec3,
    plain_number,
    plain_quaternion,
    plain_vector,
    range_of,
)
from bellcrank.mechanism.parameters import holds_expressions, kept, present
from bellcrank.mechanism.units import holds_texts, in_si, units_of

C = TypeVar("C")
FieldCheck: TypeAlias = Callable[[Check, str, Any], Any]
"""Notes what is wrong with the value of a field of this name; gives its stored form, or a stand-in."""
Sign: TypeAlias = Literal["any", "positive", "not negative", "not zero"]


_CHECKS: Final[dict[str, Callable[[Check, str, Any, str], float]]] = {
    "any": Check.number,
    "positive": Check.positive,
    "not negative": Check.not_negative,
    "not zero": Check.not_zero,
}


@dataclass(frozen=True)
class Declaration:
    """The declaration of a field.

    check: None leaves it to the class. unit: such as "kg" or "rad or m"; "1" for plain numbers, "" for any.
    optional: None is allowed. parametric: expressions of parameters may stand for its numbers.
    quick: returns the stored form of an obviously valid value, None for any other.
    """

    check: FieldCheck | None
    unit: str
    optional: bool
    parametric: bool
    quick: Callable[[Any], Any] | None = None

    @property
    def units(self) -> tuple[str, ...]:
        """The accepted units; empty if any is accepted."""
        return units_of(self.unit)


def checked(
    check: FieldCheck | None = None,
    unit: str = "",
    *,
    default: Any = MISSING,
    optional: bool = False,
    parametric: bool = False,
    followed: bool = True,
    quick: Callable[[Any], Any] | None = None,
) -> Any:
    """A field with a check of its own, or one that its class checks.

    optional: None may be given though it is not the default. quick: as in `Declaration`.
    followed: False if more than arithmetic is done with its numbers, so that the arrays of a model cannot be
        updated for new values of parameters in them.
    """
    declaration = Declaration(check, unit, optional or default is None, parametric, quick)
    made: Any = field(default=default, metadata={"declaration": declaration, "followed": followed})
    return made


def quantity(
    unit: str = "",
    sign: Sign = "any",
    *,
    default: Any = MISSING,
    optional: bool = False,
    followed: bool = True,
) -> Any:
    """A number within the range of its unit (mechanism/checking.py)."""
    check, shown = _CHECKS[sign], _shown(unit)
    return checked(
        lambda to, name, value: check(to, name, value, shown),
        unit,
        default=default,
        optional=optional,
        parametric=True,
        followed=followed,
        quick=plain_number(shown, sign),
    )


def fraction(*, default: Any = MISSING) -> Any:
    """A number from 0 to 1."""
    return checked(Check.fraction, "1", default=default, parametric=True)


def vector(unit: str = "", sign: Sign = "any", *, default: Any = MISSING, or_one: bool = False) -> Any:
    """Three numbers within the range of their unit. or_one: a single number may stand for all three."""
    shown = _shown(unit)

    def check(to: Check, name: str, value: Any) -> Vec3:
        single = or_one and isinstance(value, (int, float)) and not isinstance(value, bool)
        found = to.vector(name, (value,) * 3 if single else value, shown)
        if sign == "positive":
            rule = f"{name} must be greater than zero in every direction"
            to.all_positive(name, min(found), shown, rule, value, f"give it in {unit}")
        if sign == "not negative" and min(found) < 0.0:
            to.fault(f"{name} must not be negative", found)
        return found

    most = range_of(shown).most
    quick = (lambda value: plain_vector(value, most)) if sign == "any" else None
    return checked(check, unit, default=default, parametric=True, quick=quick)


def rotation(*, default: Quat) -> Any:
    """A unit quaternion (w, x, y, z), or the same as a rotation matrix."""
    return checked(Check.quaternion, "1", default=default, parametric=True, quick=plain_quaternion)


def array(
    unit: str = "", *shape: int | None, sign: Sign = "any", default: Any = MISSING, followed: bool = True
) -> Any:
    """Numbers of a shape (None = any length), kept as nested tuples."""
    shown = _shown(unit)

    def check(to: Check, name: str, value: Any) -> tuple[Any, ...]:
        found = to.array(name, value, shape, shown)
        if sign == "positive" and found.size > 0:
            to.all_positive(name, float(found.min()), shown, f"{name} must be greater than zero", value)
        if sign == "not zero" and not np.all(np.abs(found) >= range_of(shown).least):
            to.fault(f"{name} must not be zero", value)
        return as_tuple(found)

    return checked(check, unit, default=default, parametric=True, followed=followed)


def choice(options: Iterable[str], *, default: str) -> Any:
    """One of some words."""
    known = tuple(options)
    return checked(lambda to, name, value: to.choice(name, value, known), default=default)


def flag(*, default: bool | None) -> Any:
    """True or False."""
    return checked(Check.flag, default=default, quick=lambda value: value if type(value) is bool else None)


def whole(least: int, *, default: Any = MISSING) -> Any:
    """A whole number, not below `least`."""
    return checked(lambda to, name, value: to.integer(name, value, least), default=default)


def function(unit: str = "", *, default: Any = MISSING, followed: bool = True) -> Any:
    """A function of one variable; a number, an expression or its text is converted to one."""
    return checked(as_function_in, unit, default=default, followed=followed)


def as_function_in(check: Check, name: str, value: Any) -> Any:
    """The function of a field; its faults are noted."""
    from bellcrank.mechanism import functions  # whose classes are declared by this module

    with check.faults.collect():
        return functions.as_function(check.element, name, value)
    return functions.Constant(0.0)


def as_tuple(numbers: np.ndarray) -> tuple[Any, ...]:
    """An array as nested tuples of floats."""
    if numbers.ndim > 1:
        return tuple(map(as_tuple, numbers))
    return tuple(numbers.tolist())


def _shown(unit: str) -> str:
    return "" if unit == "1" else unit


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(
        checked, quantity, fraction, vector, rotation, array, choice, flag, whole, function, field,
    ),
)  # fmt: skip
def described(cls: type[C]) -> type[C]:
    """A description class: a frozen dataclass, whose fields may be declared by the functions above."""
    return dataclass(frozen=True)(cls)


@cache
def declarations(cls: type) -> dict[str, Declaration]:
    """The declared fields of a dataclass by name."""
    return {item.name: item.metadata["declaration"] for item in fields(cls) if "declaration" in item.metadata}


@cache
def _quickly(cls: type) -> list[tuple[str, Declaration, Callable[[Any], Any] | None, Any]]:
    """The declared fields: name, declaration, quick check, and the default if that is as it is stored."""
    defaults = {item.name: item.default for item in fields(cls)}
    found = []
    for name, declaration in declarations(cls).items():
        quick, default = declaration.quick, defaults[name]
        is_stored = quick is not None and default is not None and quick(default) is default
        found.append((name, declaration, quick, default if is_stored else MISSING))
    return found


class Description:
    """Base of description classes: values are checked by the declarations of the fields.

    If expressions of parameters stand for numbers, their present values are checked, and the expressions are
    stored.
    """

    _judges_all: ClassVar[bool] = False
    """Whether fields that are plainly right, each alone, can be wrong together."""

    texts: ClassVar[dict[str, Any]] = {}
    """What was given as text in fields of two units, such as "rad or m": check_units decides if it fits."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_judges_all" not in cls.__dict__ and "_judge" in cls.__dict__:
            cls._judges_all = True

    def _element(self) -> str:
        """The name of the element in messages."""
        return type(self).__name__

    def _judge(self, check: Check) -> None:
        """Note faults of the fields in combination; they hold numbers here, in stored form, or stand-ins.

        It may store a derived value for a field that is None; beside expressions the field stays None.
        """

    def _store(self, **values: Any) -> None:
        """Give fields their stored form."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __post_init__(self) -> None:
        own: type = type(self)
        rest: list[tuple[str, Declaration]] = []
        for name, declaration, quick, default in _quickly(own):
            if quick is not None:
                value = getattr(self, name)
                if value is default:
                    continue
                if (stored := quick(value)) is not None:
                    if stored is not value:
                        object.__setattr__(self, name, stored)
                    continue
            rest.append((name, declaration))
        if rest or self._judges_all:
            self._check(rest)

    def _check(self, declared: list[tuple[str, Declaration]]) -> None:
        """Check fields one by one, then in combination."""
        given: dict[str, Any] = {}  # expressions
        left_open: dict[str, Any] = {}
        open_fields = False
        with Check(self._element()) as check:
            for name, declaration in declared:
                value = original = getattr(self, name)
                if value is None and declaration.optional:
                    left_open[name] = None
                    continue
                if (declaration.parametric or declaration.unit) and holds_texts(value):
                    if len(declaration.units) > 1:
                        object.__setattr__(self, "texts", self.texts | {name: value})
                    value = in_si(check, name, value, declaration.units, formulas=not declaration.parametric)
                if declaration.parametric and holds_expressions(value):
                    given[name] = value
                    try:
                        value = present(value)
                    except MechanismError as error:
                        open_fields = True
                        for fault in error.faults:
                            check.fault(f"{name}: {fault.rule}", fault.value, fault.advice)
                        continue
                stored = value if declaration.check is None else declaration.check(check, name, value)
                if stored is not original or name in given:
                    object.__setattr__(self, name, stored)
            if open_fields:  # there are no numbers to judge
                check.faults.raise_any()
            self._judge(check)
        for name, value in (left_open | given if given else given).items():
            object.__setattr__(self, name, kept(value, getattr(self, name)))
