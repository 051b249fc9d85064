"""Integration methods: names, orders, and whether they take a step or tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bellcrank.errors import Unsupported
from bellcrank.mechanism.checking import Check, nearest


@dataclass(frozen=True)
class Method:
    """An integration method.

    order: of the global error; with variable_order the highest one, and the method chooses its order.
    adaptive: it chooses its steps by rtol and atol, else `step` is its step. by_impulses: contacts are rigid.
    """

    name: str
    order: int
    adaptive: bool
    meaning: str
    variable_order: bool = False
    by_impulses: bool = False


METHODS: Final = {
    method.name: method
    for method in (
        Method(
            "semi_implicit_euler",
            1,
            False,
            "Velocities first, then positions along them: one evaluation a step, for real time.",
        ),
        Method(
            "moreau",
            1,
            False,
            "Steps by impulses: contacts are rigid, with exact friction; in `lagrange` and `recursive`.",
            by_impulses=True,
        ),
        Method("rk4", 4, False, "Nyström's method for second-order equations, with a fixed step."),
        Method("dopri5", 5, True, "Dormand-Prince 5(4), step size by tolerance, dense output."),
        Method(
            "adams",
            12,
            True,
            "Adams methods of orders 1 to 12, one factorization a step, order and step by tolerance.",
            variable_order=True,
        ),
        Method(
            "bdf",
            5,
            True,
            "Backward differentiation formulas of orders 1 to 5, implicit: for stiff mechanisms.",
            variable_order=True,
        ),
        Method(
            "auto",
            12,
            True,
            "rk4 where a step is given; else adams, and bdf from where the motion proves to be stiff.",
            variable_order=True,
        ),
    )
}
"""All methods by name."""


@dataclass(frozen=True)
class MethodOptions:
    """The checked options of a method.

    step: s; a fixed step, or the first one of an adaptive method (0: chosen by it).
    max_step: s, adaptive methods only; 0 for no limit.
    rtol, atol: adaptive methods only; error of a step, relative to the velocity and absolute (in SI units).
    max_order: highest order of a method of variable order.
    tolerances: (rtol, atol) of each kind of coordinate, in the order of COORDINATE_KINDS; rtol and atol are
        the strictest of them.
    """

    method: Method
    step: float
    max_step: float
    rtol: float
    atol: float
    max_order: int = 12
    tolerances: tuple[tuple[float, float], ...] = ()


COORDINATE_KINDS: Final = ("translation", "rotation", "velocity", "angular_velocity")
"""Kinds of coordinates with tolerances of their own, in m, rad, m/s, rad/s."""

DEFAULT_STEP: Final = 1e-3
DEFAULT_TOLERANCE: Final = 1e-8
AUTO_TOLERANCE: Final = 1e-9  # of "auto": about 1e-6 of error after ten seconds unless chaotic

IMPULSE_TOLERANCE: Final = 1e-6  # largest residual of impulses; the solver aims at 1 % of it


def find_method(name: str) -> Method:
    """A method by name. Raises Unsupported, listing the names, if there is none."""
    if not isinstance(name, str) or name not in METHODS:
        raise Unsupported(f"there is no method {name!r}; {nearest(name, METHODS)}")
    return METHODS[name]


def method_options(
    name: str,
    duration: float,
    step: Any = None,
    max_step: Any = None,
    tolerance: Any = None,
    rtol: Any = None,
    atol: Any = None,
    max_order: Any = None,
) -> MethodOptions:
    """The checked options of a method; None stands for the default.

    tolerance: both rtol and atol, unless these are given. rtol, atol: a number, or numbers by name for some
        of COORDINATE_KINDS.
    Raises Unsupported for an unknown method; MechanismError for values out of range and for options that the
    method does not have.
    """
    method = find_method(name)
    if name == "auto" and step is not None and _are_none(max_step, tolerance, rtol, atol, max_order):
        method = METHODS["rk4"]
    with Check(f"method {name!r}") as check:
        if method.adaptive:
            first = 0.0 if step is None else check.positive("step", step, "s")
            largest = 0.0 if max_step is None else check.positive("max_step", max_step, "s")
        else:
            first, largest = _fixed_step(check, step, duration), 0.0
            for field, value in (
                ("max_step", max_step),
                ("tolerance", tolerance),
                ("rtol", rtol),
                ("atol", atol),
            ):
                if value is not None and not (method.by_impulses and field == "tolerance"):
                    check.fault(
                        f"it has a fixed step, so {field} has no meaning",
                        value,
                        "give step=, or use method='dopri5'",
                    )
        default = AUTO_TOLERANCE if name == "auto" else DEFAULT_TOLERANCE
        default = IMPULSE_TOLERANCE if method.by_impulses else default
        both = default if tolerance is None else check.positive("tolerance", tolerance)
        relative, absolute = _by_kind(check, "rtol", rtol, both), _by_kind(check, "atol", atol, both)
        order = _highest_order(check, method, max_order)
    kinds = tuple(zip(relative, absolute, strict=True))
    return MethodOptions(method, first, largest, min(relative), min(absolute), order, kinds)


def _are_none(*values: Any) -> bool:
    return all(value is None for value in values)


def _by_kind(check: Check, field: str, given: Any, default: float) -> list[float]:
    """The tolerance of each kind of coordinate."""
    if not isinstance(given, Mapping):
        return [default if given is None else check.positive(field, given)] * len(COORDINATE_KINDS)
    for name in given:
        if name not in COORDINATE_KINDS:
            check.fault(f"{field} has no kind {name!r}", None, nearest(str(name), COORDINATE_KINDS))
    return [check.positive(f"{field} of {k}", given[k]) if k in given else default for k in COORDINATE_KINDS]


def _highest_order(check: Check, method: Method, given: Any) -> int:
    if given is None:
        return method.order
    if not method.variable_order:
        check.fault("its order is fixed, so max_order has no meaning", given, "use method='adams' or 'bdf'")
        return method.order
    order = check.integer("max_order", given, 1)
    if order > method.order:
        check.fault(f"max_order must be at most {method.order}", given)
    return order


def _fixed_step(check: Check, step: Any, duration: float) -> float:
    if step is None:
        return min(DEFAULT_STEP, duration)
    value = check.positive("step", step, "s")
    if len(check.faults) == 0 and value > duration * (1.0 + 1e-12):
        check.fault("step must not be longer than the duration", value, f"the duration is {duration:g} s")
    return value
