"""Human exposure to vibration: accelerations frequency-weighted to ISO 2631-1, and their single values."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.slips import answered

Weighting: TypeAlias = Literal["Wk", "Wd"]
Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class _Filter:
    """Corners of a weighting, Hz, and their quality factors.

    transition: where proportionality to acceleration ends and that to velocity begins. upward: corner and
    quality factor of the numerator, then of the denominator, of a step in which the weighting rises.
    """

    transition: tuple[float, float]
    upward: tuple[float, float, float, float] | None
    band: tuple[float, float] = (0.4, 100.0)


_FILTERS: Final = {
    "Wk": _Filter((12.5, 0.63), (2.37, 0.91, 3.35, 0.91)),
    "Wd": _Filter((2.0, 0.63), None),
}


@dataclass(frozen=True, repr=False)
class Vibration:
    """A weighted acceleration and its single numbers.

    weighting: "Wk" or "Wd". time: s, (n,). acceleration: weighted, m/s^2, (n,). peak: its largest magnitude,
    m/s^2. rms: its root mean square over the whole time, m/s^2. vdv: vibration dose value, the fourth root of
    the integral of its fourth power, m/s^1.75. mtvv: maximum transient vibration value, the largest root mean
    square over the preceding second, m/s^2 (ISO 2631-1:1997, 6.3.1; before the start nothing moved).

    >>> time = np.linspace(0, 20, 20001)
    >>> shaken = bc.vibration(time, np.sin(2 * np.pi * 8 * time))
    >>> print(f"{shaken.rms:.2f} m/s^2, crest factor {shaken.crest_factor:.1f}")    # of a sine: sqrt(2)
    0.73 m/s^2, crest factor 1.5
    """

    weighting: str
    time: Values
    acceleration: Values
    peak: float
    rms: float
    vdv: float
    mtvv: float

    def __repr__(self) -> str:
        sizes = f"peak {self.peak:.4g} m/s^2, rms {self.rms:.4g} m/s^2, vdv {self.vdv:.4g} m/s^1.75"
        return f"<Vibration {self.weighting}: {sizes}>"

    @property
    def crest_factor(self) -> float:
        """Peak over root mean square; above 9 the standard asks for `vdv` too. NaN without vibration."""
        return self.peak / self.rms if self.rms > 0.0 else float("nan")


@answered
def frequency_weighting(frequency: ArrayLike, weighting: Weighting = "Wk") -> NDArray[np.complex128]:
    """The transfer function of a weighting of ISO 2631-1:1997, annex A: weighted over given acceleration.

    frequency: Hz, not negative, any shape, which is that of the result. weighting: "Wk" for vertical
    vibration of people sitting, standing or lying, "Wd" for horizontal vibration.

    Raises `ValueError` for other weightings and for frequencies that are negative or not finite.

    >>> print(abs(bc.frequency_weighting([1.0, 8.0, 80.0])).round(3))    # people feel 4 to 8 Hz most
    [0.482 1.036 0.132]
    """
    zeros, poles, gain = _zeros_poles_gain(weighting)
    f = np.asarray(frequency, dtype=float)
    if not np.all(np.isfinite(f) & (f >= 0.0)):
        raise ValueError("frequency_weighting: frequencies must be finite and not negative, in Hz")
    p = 2j * pi * f[..., None]
    # A zero goes with a pole, so that no product grows beyond what a double holds.
    pairs = np.prod((p - zeros) / (p - poles[: len(zeros)]), axis=-1)
    return np.asarray(gain * pairs / np.prod(p - poles[len(zeros) :], axis=-1))


@answered
def vibration(time: ArrayLike, acceleration: ArrayLike, weighting: Weighting = "Wk") -> Vibration:
    """Weight an acceleration by frequency after ISO 2631-1:1997, with its peak, root mean square and dose.

    The filter is at rest at the first time. Between times the acceleration is taken as linear, and the filter
    is integrated exactly, so that the steps need only be short enough for the acceleration itself.

    time: s, equal steps, (n,), n of two or more. acceleration: of a point along one axis, m/s^2, (n,),
    without that of gravity: a constant part decays with the filter's lower corner of 0.4 Hz, and counts until
    then. weighting: "Wk" (vertical) or "Wd" (horizontal).

    Raises `ValueError` for other weightings, numbers that are not finite, lengths that differ, and times
    whose steps are unequal or not positive.

    >>> time = np.linspace(0, 20, 20001)
    >>> shaken = bc.vibration(time, np.sin(2 * np.pi * 8 * time))
    >>> print(f"{shaken.rms:.2f} m/s^2, by hand {abs(bc.frequency_weighting(8.0)) / np.sqrt(2):.2f} m/s^2")
    0.73 m/s^2, by hand 0.73 m/s^2
    """
    zeros, poles, gain = _zeros_poles_gain(weighting)
    t, a = np.asarray(time, dtype=float), np.asarray(acceleration, dtype=float)
    step = _step_of(t, a)
    weighted = np.zeros_like(a)
    for pole in poles[poles.imag > 0.0]:
        others = poles[poles != pole]
        residue = gain * np.prod(pole - zeros) / np.prod(pole - others)
        weighted += 2.0 * np.real(residue * _one_pole(pole, step, a))
    return Vibration(
        weighting=weighting,
        time=t,
        acceleration=weighted,
        peak=float(np.max(np.abs(weighted))),
        rms=sqrt(_integral(weighted**2, step) / float(t[-1] - t[0])),
        vdv=_integral(weighted**4, step) ** 0.25,
        mtvv=sqrt(_largest_mean(weighted**2, step, 1.0)),
    )


def _zeros_poles_gain(weighting: str) -> tuple[NDArray[Any], NDArray[np.complex128], float]:
    """Zeros and poles, rad/s, and the factor of their products; poles are single and come in pairs."""
    if weighting not in _FILTERS:
        raise ValueError(f"no frequency weighting {weighting!r}; use one of {', '.join(_FILTERS)}")
    chosen = _FILTERS[weighting]
    low, high = (2 * pi * f for f in chosen.band)
    corner, quality = 2 * pi * chosen.transition[0], chosen.transition[1]
    butterworth = 1 / sqrt(2)
    poles = [*_pair(low, butterworth), *_pair(high, butterworth), *_pair(corner, quality)]
    zeros: list[complex] = [0.0, 0.0, -corner]
    gain = high**2 * corner
    if chosen.upward is not None:
        above, above_quality, below, below_quality = chosen.upward
        zeros += _pair(2 * pi * above, above_quality)
        poles += _pair(2 * pi * below, below_quality)
    return np.array(zeros), np.array(poles), gain


def _pair(corner: float, quality: float) -> list[complex]:
    """The roots of p^2 + p corner / quality + corner^2, of which the quality makes a complex pair."""
    real, imaginary = -corner / (2 * quality), corner * sqrt(1 - 1 / (4 * quality**2))
    return [complex(real, imaginary), complex(real, -imaginary)]


def _one_pole(pole: complex, step: float, given: Values) -> NDArray[np.complex128]:
    """Solution x of x' = pole x + given from x = 0, exact for input that is linear between the times."""
    z = pole * step
    if abs(z) < 1e-2:  # where the closed form of `second` loses digits
        first = 1 + z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6))))
        second = (1 + z / 3 * (1 + z / 4 * (1 + z / 5 * (1 + z / 6)))) / 2
    else:
        first = np.expm1(z) / z
        second = (first - 1) / z
    new, old = step * second, step * (first - second)
    found = np.zeros(len(given), dtype=complex)
    found[1:] = new * given[1:] + old * given[:-1]
    # x_n = e^z x_(n-1) + found_n: the sums over 2, 4, 8, ... steps, without a loop over time.
    reach = 1
    while reach < len(found):
        found[reach:] += np.exp(reach * z) * found[:-reach]
        reach *= 2
    return found


def _integral(values: Values, step: float) -> float:
    """By the trapezoidal rule."""
    return float(step * (values.sum() - (values[0] + values[-1]) / 2))


def _largest_mean(values: Values, step: float, window: float) -> float:
    """The largest mean over a window of the past, s, by the trapezoidal rule; zero before the first value."""
    grown = np.concatenate([[0.0], np.cumsum(0.5 * step * (values[1:] + values[:-1]))])
    ends = step * np.arange(len(values))
    return float(np.max(grown - np.interp(ends - window, ends, grown)) / window)


def _step_of(time: Values, acceleration: Values) -> float:
    """The step of the times; all faults of a series at once."""
    faults = []
    if time.ndim != 1 or len(time) < 2:
        faults.append(f"time must be a row of two or more times, got shape {time.shape}")
    if acceleration.shape != time.shape:
        faults.append(
            f"acceleration must have one value for each time, {time.shape}, got {acceleration.shape}; "
            "give one axis at a time"
        )
    for name, values in (("time", time), ("acceleration", acceleration)):
        if not np.all(np.isfinite(values)):
            faults.append(f"{name} must be finite, is not at index {int(np.argmin(np.isfinite(values)))}")
    if not faults:
        steps = np.diff(time)
        step = (time[-1] - time[0]) / (len(time) - 1)
        worst = int(np.argmax(np.abs(steps - step)))
        if not step > 0.0 or abs(steps[worst] - step) > 1e-6 * step:
            faults.append(
                f"times must have equal, positive steps, got {steps[worst]:g} s after index {worst} where "
                f"the mean is {step:g} s; interpolate the run, or give `output_step`"
            )
    if faults:
        raise ValueError("vibration: " + "; ".join(faults))
    return float(step)
