"""The interface that the module of a formulation must provide, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, field, fields, make_dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, runtime_checkable

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.joint import Joint
from bellcrank.slips import meant

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from bellcrank import _core
    from bellcrank.compile.model import Model
    from bellcrank.formulations.system import System


@runtime_checkable
class Formulation(Protocol):
    """The module of a formulation."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the formulation for users."""

    @property
    def OPTIONS(self) -> type[DataclassInstance]:  # noqa: N802
        """The dataclass of its options, each field an `option`."""

    @property
    def CUSTOM(self) -> str | tuple[str, ...]:  # noqa: N802
        """The kinds given by formulas that it accepts, or ALL."""

    @property
    def SYSTEM(self) -> type[System]:  # noqa: N802
        """The class that `prepare` returns: System, or a subclass with more methods."""

    def refusals(self, model: Model, /) -> list[str]:
        """The reasons why it cannot take a model; empty if it can."""

    def reduced(self, model: Model, options: Any, /) -> Model:
        """The model that is solved for these options; `whole` if it is the given one."""

    def create(self, model: Model, options: Any, /) -> _core.SystemAt:
        """The core's system of a model that it accepts."""


def whole(model: Model, _options: Any) -> Model:
    """The model itself, for formulations that leave nothing out."""
    return model


def checked_module(module: ModuleType) -> Formulation:
    """The module as a formulation. Raises TypeError, naming the missing member, if one is missing."""
    if isinstance(module, Formulation):
        return module
    missing = [name for name in vars(Formulation) if name[0] != "_" and name not in vars(module)]
    raise TypeError(f"module {module.__name__} is no formulation, it lacks {', '.join(missing)}")


ALL = "all"
"""Of kinds given by formulas: every one."""

Options = TypeVar("Options", bound="DataclassInstance")


class FormulationOptions(TypedDict, total=False):
    """Options of all formulations; each formulation has some of them (`formulations/*.py`)."""

    rank_tolerance: float
    position_tolerance: float
    velocity_tolerance: float
    acceleration_tolerance: float
    stage_pivot: float
    doubt: float
    contact_tolerance: float
    rest_speed: float
    max_corrections: int
    refinements: int
    planar: bool
    cut: str | Joint | Iterable[str | Joint]
    penalty: float
    max_penalty: float
    frequency: float
    damping: float
    projections: bool
    max_iterations: int
    threads: int


def option(default: float | tuple[str, ...], meaning: str, unit: str = "", least: float | None = None) -> Any:
    """A field of an options dataclass: a number, a truth value, or names of joints, as its default is.

    least: smallest number allowed; None for numbers greater than zero.
    """
    return field(default=default, metadata={"meaning": meaning, "unit": unit, "least": least})


def options_of(module: str, declared: Iterable[tuple[Any, ...]], **others: Any) -> Any:
    """The dataclass OPTIONS of a module: the options that a record of the core declares, then others."""
    own = {name: option(default, meaning, unit, least) for name, _, unit, meaning, default, least in declared}
    every = [(name, type(one.default), one) for name, one in (own | others).items()]
    return make_dataclass(
        "OPTIONS",
        every,
        frozen=True,
        namespace={"__module__": module, "__doc__": "Options of the formulation."},
    )


def check_names(
    formulation: str,
    kinds: Iterable[type[DataclassInstance]],
    given: Iterable[str],
    others: Iterable[str],
    named: str = "simulate",
) -> None:
    """Raise MechanismError for names that are no options of any kind.

    others: the arguments of `simulate`, if it or another such function was called, which is named; one of
        them may have been meant.
    """
    known = [item.name for kind in kinds for item in fields(kind)]
    faults = FaultList()
    for name in given:
        if name not in known:
            _, advice = meant(name, [*others, *known], [named])
            rule = f"it has no argument or option {name!r}" if others else f"it has no option {name!r}"
            faults.add(named if others else f"formulation {formulation!r}", rule, None, advice)
    faults.raise_any()


def checked_options(
    formulation: str,
    kind: type[Options],
    given: Mapping[str, Any],
    others: Iterable[str] = (),
    named: str = "simulate",
) -> Options:
    """The options given, the rest at their defaults; `others` and `named` as for `check_names`.

    Raises MechanismError for names that are not options and for values out of range, all at once.
    """
    known = {item.name: item for item in fields(kind)}
    faults, values = FaultList(), {}
    with faults.collect():
        check_names(formulation, [kind], given, others, named)
    for name in (name for name in given if name in known):
        with faults.collect():
            values[name] = _checked(formulation, known[name], given[name])
    faults.raise_any()
    return kind(**values)


def _checked(formulation: str, item: Field[Any], value: Any) -> float | tuple[str, ...]:
    name, least = item.name, item.metadata["least"]
    with Check(f"formulation {formulation!r}") as check:
        if isinstance(item.default, tuple):
            return _names(check, name, value)
        if isinstance(item.default, bool):
            return check.flag(name, value)
        if isinstance(item.default, int):
            return check.integer(name, value, int(least or 0))
        if least is None:
            return check.positive(name, value, item.metadata["unit"])
        number = check.number(name, value, item.metadata["unit"])
        if number < least:
            raise MechanismError(Fault(check.element, f"{name} must be at least {least:g}", number))
    return number


def _names(check: Check, field: str, value: Any) -> tuple[str, ...]:
    """Names of joints, from one joint or several, by themselves or by name."""
    listed = [value] if isinstance(value, (str, Joint)) or not np.iterable(value) else list(value)
    names = [one.name if isinstance(one, Joint) else one for one in listed]
    for name in names:
        if not isinstance(name, str) or not name:
            check.fault(f"{field} must be joints or their names", name)
    return tuple(name for name in names if isinstance(name, str))
