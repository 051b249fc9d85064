"""Frequencies, damping and growth of modes, differentiated by parameters and inputs, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any, Final

import numpy as np

from bellcrank.errors import FaultList
from bellcrank.linear.mode_derivatives import mode_derivatives
from bellcrank.linear.modes import Mode, Modes
from bellcrank.mechanism.checking import nearest, required_names
from bellcrank.studies.gradient import Gradient


@dataclass(frozen=True)
class _Number:
    """A number of a mode.

    value: of a mode. slope: what it changes by with the eigenvalue, (λ, δλ). size: by how much at most, by λ.
    """

    unit: str
    value: Callable[[Mode], float]
    slope: Callable[[complex, Any], Any]
    size: Callable[[complex], float]
    oscillating: bool = True


def _size_slope(value: complex, slope: Any) -> Any:
    return (value.conjugate() * slope).real / abs(value)


def _damping_slope(value: complex, slope: Any) -> Any:
    return (value.real * _size_slope(value, slope) / abs(value) - slope.real) / abs(value)


_NUMBERS: Final = {
    "frequency": _Number(
        "Hz", lambda m: m.frequency, lambda v, d: _size_slope(v, d) / (2.0 * pi), lambda _: 0.5 / pi
    ),
    "damped_frequency": _Number(
        "Hz", lambda m: m.damped_frequency, lambda _, d: d.imag / (2.0 * pi), lambda _: 0.5 / pi
    ),
    "damping": _Number("", lambda m: m.damping, _damping_slope, lambda v: 1.0 / abs(v)),
    "growth": _Number("1/s", lambda m: m.eigenvalue.real, lambda _, d: d.real, lambda _: 1.0, False),
}


def mode_gradient(modes: Modes, of: Any, by: Any) -> Gradient:
    """See `Modes.sensitivity`."""
    of, by = required_names("of", of), required_names("by", by)
    known = {
        f"{name} {mode.number}": (number, mode)
        for name, number in _NUMBERS.items()
        for mode in modes
        if mode.kind == "oscillating" or (mode.kind == "monotonic" and not number.oscillating)
    }
    wanted: dict[str, tuple[_Number, Mode]] = {}
    faults = FaultList()
    for name in of:
        group = {one: known[one] for one in known if one.rpartition(" ")[0] == name}
        found = {name: known[name]} if name in known else group
        if not found:
            names = [*(one for one in _NUMBERS if one != name), *known]
            rule = "no mode that is not neutral has such a number"
            faults.add(f"of {name!r}", rule, None, nearest(name, names))
        wanted |= found
    faults.raise_any()
    slopes = mode_derivatives(modes, by)
    gradient, errors = np.zeros((2, len(wanted), len(slopes.inputs)))
    for row, (number, mode) in enumerate(wanted.values()):
        gradient[row] = number.slope(mode.eigenvalue, slopes.eigenvalues[mode.number - 1])
        errors[row] = number.size(mode.eigenvalue) * slopes.error[mode.number - 1]
    return Gradient(
        of=tuple(wanted),
        by=tuple(one.name for one in slopes.inputs),
        of_units=tuple(number.unit for number, _ in wanted.values()),
        by_units=tuple(one.unit for one in slopes.inputs),
        at=slopes.at,
        value=np.array([number.value(mode) for number, mode in wanted.values()]),
        gradient=gradient,
        value_error=np.array(
            [number.size(mode.eigenvalue) * mode.uncertainty for number, mode in wanted.values()]
        ),
        gradient_error=errors,
        mode="forward",
        reason="linear equations along where the mechanism rests",
        warnings=slopes.remarks,
        run=None,
    )
