"""The plan of a run: the integration method with its options, and the times at which frames are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.slips import named_elsewhere

COORDINATE_KINDS: Final = ("translation", "rotation", "velocity", "angular_velocity")
"""Kinds of coordinates with tolerances of their own, in m, rad, m/s, rad/s."""

DEFAULT_STEP: Final = 1e-3
DEFAULT_TOLERANCE: Final = 1e-8
AUTO_TOLERANCE: Final = 1e-9  # of "auto": about 1e-6 of error after ten seconds unless chaotic
_IMPULSE_TOLERANCE: Final = 1e-6  # largest residual of impulses; the solver aims at 1 % of it
_FINEST: Final = 1e-14  # shortest time that can be distinguished from another one, as a part of it
_NEAR: Final = 1e-11  # of a time: that near, two are one
FRAMES: Final = 1000  # about how many are recorded unless the output step is given
_FRAMES_MOST: Final = 10_000_000


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
            "esdirk",
            4,
            True,
            "Implicit Runge-Kutta 4(3), L-stable (3(2) with max_order 3): for what is stiff and undamped.",
            variable_order=True,
        ),
        Method(
            "auto",
            12,
            True,
            "rk4 where a step is given; else adams; bdf or esdirk from where the motion is stiff.",
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


def find_method(name: str) -> Method:
    """A method by name. Raises Unsupported, listing the names, if there is none."""
    if not isinstance(name, str) or name not in METHODS:
        raise Unsupported(
            f"there is no method {name!r}; {named_elsewhere(name, METHODS) or nearest(name, METHODS)}"
        )
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
    of_adaptive = {"max_step": max_step, "tolerance": tolerance, "rtol": rtol, "atol": atol}
    others = (*of_adaptive.values(), max_order)
    if name == "auto" and step is not None and all(value is None for value in others):
        method = METHODS["rk4"]
    with Check(f"method {name!r}") as check:
        if method.adaptive:
            first = _positive(check, "step", step, 0.0, "s")
            longest = _positive(check, "max_step", max_step, 0.0, "s")
        else:
            first, longest = _fixed_step(check, step, duration), 0.0
            for field, value in of_adaptive.items():
                if value is not None and not (method.by_impulses and field == "tolerance"):
                    rule = f"it has a fixed step, so {field} has no meaning"
                    check.fault(rule, value, "give step=, or use method='dopri5'")
        default = AUTO_TOLERANCE if name == "auto" else DEFAULT_TOLERANCE
        both = _positive(check, "tolerance", tolerance, _IMPULSE_TOLERANCE if method.by_impulses else default)
        relative, absolute = _by_kind(check, "rtol", rtol, both), _by_kind(check, "atol", atol, both)
        order = _highest_order(check, method, max_order)
    kinds = tuple(zip(relative, absolute, strict=True))
    return MethodOptions(method, first, longest, min(relative), min(absolute), order, kinds)


def _positive(check: Check, field: str, given: Any, default: Any, unit: str = "") -> Any:
    return default if given is None else check.positive(field, given, unit)


def _by_kind(check: Check, field: str, given: Any, default: float) -> list[float]:
    """The tolerance of each kind of coordinate."""
    if not isinstance(given, Mapping):
        return [_positive(check, field, given, default)] * len(COORDINATE_KINDS)
    for name in given:
        if name not in COORDINATE_KINDS:
            check.fault(f"{field} has no kind {name!r}", None, nearest(str(name), COORDINATE_KINDS))
    return [check.positive(f"{field} of {k}", given[k]) if k in given else default for k in COORDINATE_KINDS]


def _highest_order(check: Check, method: Method, given: Any) -> int:
    if given is None:
        return method.order
    if not method.variable_order:
        check.fault(
            "its order is fixed, so max_order has no meaning", given, "use method='adams', 'bdf' or 'esdirk'"
        )
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


@dataclass(frozen=True, eq=False)
class Plan:
    """The checked arguments of a run.

    begin: s. times: to record, s, the last of which ends the run; None if its end is open.
    method: with its options. formulation: a name; options: those of the formulation.
    reactions, accelerations: whether they are recorded.
    output_step: s between frames where the end is open; None for one at the end of each advance.
    ledger: whether the work of forces and drives is summed and recorded.
    keeps_tape: whether the run can be followed along directions once it has ended.
    """

    begin: float
    times: Floats | None
    method: MethodOptions
    formulation: str
    options: dict[str, Any]
    reactions: bool = True
    accelerations: bool = False
    output_step: float | None = None
    ledger: bool = False
    keeps_tape: bool = False

    @property
    def end(self) -> float | None:
        """The time at which the run ends, s, if that is known."""
        return None if self.times is None else float(self.times[-1])

    @property
    def duration(self) -> float:
        """The duration of the whole run, s; 0 if its end is open."""
        return 0.0 if self.end is None else self.end - self.begin

    @property
    def max_step(self) -> float:
        """The longest step of an adaptive method, s; 0 for no limit."""
        return self.method.max_step or self.duration

    def outputs(self, time: float, end: float, first: bool, whole: bool = True) -> list[float]:
        """The times to record after a time, up to an end; the time itself too if it is the first.

        whole: the end is that of an advance, which is recorded unless something else was specified. Times
        within rounding of the end count as the end: sums of durations differ in their last digits.
        """
        found: list[float]
        near = min(_NEAR * max(1.0, abs(end)), 1e-3 * (end - time))
        low, high = (time if first else time + near), end + near
        if self.times is not None:
            begin = np.searchsorted(self.times, low, "left" if first else "right")
            found = self.times[begin : np.searchsorted(self.times, high, "right")].tolist()
        elif self.output_step is not None:
            _check_frames((end - time) / self.output_step, end - time)
            numbers = np.floor((np.array([low, high]) - self.begin) / self.output_step)
            grid = self.begin + self.output_step * np.arange(numbers[0], numbers[1] + 1.0)
            found = [*([time] if first else []), *grid[(grid > time + near) & (grid <= high)].tolist()]
        else:
            found = [*([time] if first else []), *([end] if whole else [])]
        if found and found[-1] > end - near:
            found[-1] = end
        return found

    def end_of(self, time: float, duration: Any) -> float:
        """The time at which an advance by a duration, s, ends; None: the end of the run.

        Raises MechanismError for an invalid duration, and for one beyond the end of the run.
        """
        last = self.end
        if duration is None:
            if last is None:
                raise MechanismError(Fault("advance", "it needs a duration", None, "such as advance(0.01)"))
            return last
        if not isinstance(duration, (int, float, np.integer, np.floating)) or not 0.0 < duration < np.inf:
            raise MechanismError(Fault("advance", "the duration must be greater than zero", duration))
        end = time + float(duration)
        if last is not None and end > last - 1e-9 * duration:
            if end > last + 1e-9 * duration:
                rule = f"the run ends at t = {last:g} s, and is at t = {time:g} s"
                raise MechanismError(Fault("advance", rule, duration, "start a run without a duration"))
            return last
        return end


def times_and_method(
    method: str, duration: Any, begin: Any, output_step: Any, times: Any, given: Mapping[str, Any]
) -> tuple[Floats | None, MethodOptions]:
    """The times to record, if an end is given, and the options of the method. Raises MechanismError.

    given: options of the method by name, as `method_options` takes them.
    """
    find_method(method)
    with Check("simulate") as check:
        begin = check.number("start", begin, "s")
        recorded = None if times is None else checked_times(check, times, begin)
        if recorded is None:
            duration = _positive(check, "duration", duration, None, "s")
            output_step = _positive(check, "output_step", output_step, None, "s")
        else:
            for name, value in (("duration", duration), ("output_step", output_step)):
                if value is not None:
                    rule = f"times determine it, so {name} has no meaning"
                    check.fault(rule, value, "leave one of them out")
            duration = max(float(recorded[-1]) - begin, 0.0) or 1.0
    if duration is None:
        return None, method_options(method, np.inf, **given)
    chosen = method_options(method, duration, **given)
    with Check("simulate") as check:
        apart = output_step if recorded is None or len(recorded) == 1 else float(np.diff(recorded).min())
        steps = {"step": chosen.step or None, "max_step": chosen.max_step or None}
        check_resolved(check, begin, duration, output_step=apart, **steps)
    return output_times(begin, duration, output_step, chosen) if recorded is None else recorded, chosen


def checked_times(check: Check, times: Any, begin: float) -> Floats:
    """Times (n,) to record, increasing from the beginning of the run or later."""
    recorded: Floats = check.array("times", times, (None,), "s")
    if len(check.faults) == 0:
        steps = np.diff(recorded)
        if np.any(steps <= 0.0):
            at = int(np.argmax(steps <= 0.0))
            check.fault("times must increase", recorded[at : at + 2].tolist(), "sort them, drop doubles")
        elif recorded[0] < begin:
            check.fault(f"times must not lie before the start at {begin:g} s", float(recorded[0]))
        elif recorded[-1] <= begin:
            check.fault(f"times must go beyond the start at {begin:g} s", float(recorded[-1]))
    return recorded


def output_times(start: float, duration: float, output_step: float | None, options: MethodOptions) -> Floats:
    """The times (n,) at which frames are recorded, both ends included.

    output_step: s; None for about 1000 frames, with a fixed step every so many steps. The last interval may
    be shorter. Raises MechanismError if these are more than ten million.
    """
    if output_step is None:
        output_step = max(duration / FRAMES, _finest(start, duration))
        if not options.method.adaptive:
            output_step = max(1.0, round(output_step / options.step)) * options.step
    else:
        _check_frames(duration / output_step, duration)
    count = int(np.floor(duration / output_step * (1.0 + 1e-12) + 1e-9))
    times: Floats = start + output_step * np.arange(count + 1, dtype=np.float64)
    end = start + duration
    if end - times[-1] > 1e-9 * output_step:
        return np.append(times, end)
    times[-1] = end
    return times


def _check_frames(count: float, duration: float) -> None:
    """Raise MechanismError if so many frames in a duration, s, are too many."""
    if count > _FRAMES_MOST:
        rule = f"at most {_FRAMES_MOST} frames can be recorded, these are {count:.3g}"
        advice = f"give an output_step of {duration / FRAMES:g} s, say"
        raise MechanismError(Fault("simulate", rule, None, advice))


def check_resolved(check: Check, start: float, duration: float, **lengths: float | None) -> None:
    """Note faults of a duration, and of named time spans, that are lost to rounding of the times, s."""
    finest = _finest(start, duration)
    for name, length in {"duration": duration, **lengths}.items():
        if length is not None and length < finest:
            rule = f"{name} must be at least {finest:.3g} s where time starts at {start:g} s"
            check.fault(rule, length, "a shorter one is lost in the 16 digits of times; start nearer to 0")


def _finest(start: float, duration: float) -> float:
    """The smallest difference between two distinguishable times, s."""
    return _FINEST * max(abs(start), abs(start + duration))
