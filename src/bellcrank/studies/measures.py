"""Measures: one number for a run, from a text such as "max drive.motor.effort" or from a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank.errors import BellcrankError, Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.slips import NoAttribute, NoName, WrongCall
from bellcrank.trajectory.columns import quantity
from bellcrank.trajectory.store import FloatArray
from bellcrank.trajectory.trajectory import Trajectory

MeasureLike: TypeAlias = "str | Callable[[Any], float]"


def _mean(time: FloatArray, values: FloatArray) -> float:
    """The average over time, by the trapezoidal rule: frames need not be evenly spaced."""
    span = float(time[-1] - time[0])
    area = 0.5 * float(np.sum(np.diff(time) * (values[1:] + values[:-1])))
    return area / span if span > 0.0 else float(values[0])


REDUCTIONS: Final[Mapping[str, Callable[[FloatArray, FloatArray], float]]] = {
    "max": lambda _, values: float(np.max(values)),
    "min": lambda _, values: float(np.min(values)),
    "peak": lambda _, values: float(np.max(np.abs(values))),
    "range": lambda _, values: float(np.ptp(values)),
    "mean": _mean,
    "rms": lambda time, values: float(np.sqrt(_mean(time, np.square(values)))),
    "initial": lambda _, values: float(values[0]),
    "final": lambda _, values: float(values[-1]),
}
"""What makes a number of a quantity (T,) at times (T,)."""


def _at(places: Mapping[int, float], count: int) -> FloatArray:
    found = np.zeros(count)
    for place, slope in places.items():
        found[place] += slope
    return found


def _of_mean(time: FloatArray, values: FloatArray) -> FloatArray:
    span, widths = float(time[-1] - time[0]), np.diff(time)
    if not span > 0.0:
        return _at({0: 1.0}, len(values))
    slopes: FloatArray = 0.5 * (np.append(widths, 0.0) + np.append(0.0, widths)) / span
    return slopes


def _of_rms(time: FloatArray, values: FloatArray) -> FloatArray:
    return _of_mean(time, values) * values / float(np.sqrt(_mean(time, np.square(values))))


def _of_peak(_: FloatArray, values: FloatArray) -> FloatArray:
    place = int(np.argmax(np.abs(values)))
    return _at({place: float(np.sign(values[place]))}, len(values))


SLOPES: Final[Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]]] = {
    "max": lambda _, values: _at({int(np.argmax(values)): 1.0}, len(values)),
    "min": lambda _, values: _at({int(np.argmin(values)): 1.0}, len(values)),
    "peak": _of_peak,
    "range": lambda _, v: _at({int(np.argmax(v)): 1.0}, len(v)) - _at({int(np.argmin(v)): 1.0}, len(v)),
    "mean": _of_mean,
    "rms": _of_rms,
    "initial": lambda _, values: _at({0: 1.0}, len(values)),
    "final": lambda _, values: _at({len(values) - 1: 1.0}, len(values)),
}
"""Derivatives (T,) of these numbers by the values at each time; of several that are largest, by one."""


def _end_slope(time: FloatArray, values: FloatArray) -> float:
    span = float(time[-1] - time[0])
    return (float(np.mean(values[-2:])) - _mean(time, values)) / span if span > 0.0 else 0.0


END_SLOPES: Final[Mapping[str, Callable[[FloatArray, FloatArray], float]]] = {
    "mean": _end_slope,
    "rms": lambda time, values: (
        0.5 * _end_slope(time, np.square(values)) / float(np.sqrt(_mean(time, np.square(values))))
    ),
}
"""Derivatives of those that are averages over time by the time of the last value."""


JUMP_SLOPES: Final[Mapping[str, Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]]] = {
    "mean": lambda time, _, before, behind: (before - behind) / float(time[-1] - time[0]),
    "rms": lambda time, values, before, behind: (
        (np.square(before) - np.square(behind))
        / (2.0 * float(time[-1] - time[0]) * float(np.sqrt(_mean(time, np.square(values)))))
    ),
}
"""Derivatives of the same (jumps,) by times at which the value jumps, from one before to one behind."""


_EQUAL: Final = 1e-6  # of the range of values: peaks that differ by less are equal


def kinks(reduction: str, values: FloatArray) -> str:
    """Why a number has no derivative where several values are the largest; "" where it has one."""
    looks = {"max": [values], "min": [-values], "peak": [np.abs(values)], "range": [values, -values]}
    span = float(np.ptp(values)) if len(values) else 0.0
    for heights in looks.get(reduction, []):
        top = int(np.argmax(heights))
        high = np.flatnonzero(heights >= heights[top] - _EQUAL * span)
        if span > 0.0 and np.any(np.diff(high) > 1):
            return f"{reduction} has equal peaks, at frames {top} and {int(high[high != top][0])}"
    return ""


class NoMeasure(BellcrankError):
    """A measure has no number for a run; the message says why."""


@dataclass(frozen=True)
class Measure:
    """A measure with its name.

    function: of what the analysis returned. source: identifies the measure when a sweep is resumed.
    """

    name: str
    function: Callable[[Any], Any]
    source: str

    def of(self, outcome: Any) -> float:
        """The number. Raises NoMeasure if there is none, UnknownQuantity if a text names nothing."""
        try:
            value = self.function(outcome)
        except (NoAttribute, WrongCall, NoName) as error:  # slips of the one who wrote the function
            raise NoMeasure(f"measure {self.name!r}: {error}") from error
        except (NoMeasure, MechanismError):
            raise
        except Exception as error:
            raise NoMeasure(f"measure {self.name!r} raises {type(error).__name__}: {error}") from error
        shape = np.shape(value)
        if shape != () or isinstance(value, (str, bytes)) or not np.isreal(value) or value is None:
            found = f"an array of shape {shape}" if shape else repr(value)
            raise NoMeasure(f"measure {self.name!r} must return one number, got {found:.200}")
        if np.isnan(number := float(value)):
            raise NoMeasure(f"measure {self.name!r} is not a number (nan)")
        return number


def reduction_of(measure: Measure) -> tuple[str, str]:
    """The reduction and the quantity of a measure that is a text, else ""."""
    function = measure.function
    if not (isinstance(function, partial) and function.func is _reduced):
        return "", ""
    return str(function.args[0]), str(function.args[1])


def quantity_of(measure: Measure) -> str:
    """The quantity of a measure that is a text, else ""."""
    return reduction_of(measure)[1]


def measures_of(given: Any, known: str = "measure") -> tuple[Measure, ...]:
    """Measures from one text or function, several of them, or a mapping from names to these.

    Raises MechanismError listing all faults.
    """
    faults, found = FaultList(), []
    for name, one in _named(given, known):
        with faults.collect():
            found.append(_measure(name, one, known))
    names = [measure.name for measure in found]
    for name in sorted({name for name in names if names.count(name) > 1}):
        faults.add(known, "two have the same name", name, "name them: {'first': ..., 'second': ...}")
    if not found and not len(faults):
        faults.add(known, "at least one is needed", None, 'such as "max drive.motor.effort"')
    faults.raise_any()
    return tuple(found)


def _named(given: Any, known: str) -> Iterable[tuple[str | None, Any]]:
    if isinstance(given, str) or callable(given):
        return [(None, given)]
    if isinstance(given, Mapping):
        return [(str(name), one) for name, one in given.items()]
    if isinstance(given, Sequence):
        return [(None, one) for one in given]
    raise MechanismError(_no_measure(known, given))


def _no_measure(known: str, given: Any) -> Fault:
    rule = "it must be a text, or a function of the run"
    return Fault(known, rule, given, 'such as "max drive.motor.effort", or lambda run: run.time[-1]')


def _measure(name: str | None, given: Any, known: str) -> Measure:
    if isinstance(given, str):
        return Measure(name or given.strip(), _recorded(given, known), given)
    if not callable(given):
        raise MechanismError(_no_measure(known, given))
    called = getattr(given, "__name__", type(given).__name__)
    return Measure(name or ("measure" if called == "<lambda>" else called), given, source_of(given))


def _recorded(text: str, known: str) -> Callable[[Any], float]:
    reduction, _, name = text.strip().partition(" ")
    if reduction not in REDUCTIONS or not name.strip():
        rule = f"a text is a reduction ({', '.join(REDUCTIONS)}) and a quantity"
        advice = nearest(reduction, REDUCTIONS) if name.strip() else 'such as "max drive.motor.effort"'
        raise MechanismError(Fault(known, rule, text, advice))
    return partial(_reduced, reduction, name.strip())


def _reduced(reduction: str, name: str, run: Any) -> float:
    if not isinstance(run, Trajectory):
        raise NoMeasure(f"the quantity {name!r} is one of a run, not of a {type(run).__name__}")
    if len(run) == 0:
        raise NoMeasure("the run holds no frames")
    return REDUCTIONS[reduction](run.time, quantity(run, name).values)


def source_of(function: Any) -> str:
    """A text that changes when a function does: its source where there is one, else its code."""
    if isinstance(function, partial):
        return f"{source_of(function.func)} {function.args} {function.keywords}"
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return (
            type(function).__qualname__
            if code is None
            else f"{code.co_code!r} {code.co_names} {code.co_consts}"
        )
