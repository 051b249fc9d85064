"""Values of a trajectory between its frames.

Positions and joint coordinates follow cubic Hermite polynomials through the recorded values and rates; their
rates are the polynomials' derivatives. Rotations follow  R(t) = exp(theta(t)) exp(mean (t - t0)) R0,  where
`mean` is the mean of the angular velocities at the two ends and theta a Hermite cubic of rotation vectors:
exact for steady spins of any speed, and of the same order as the positions otherwise. Inputs and readings of
sensors are those of the next frame, which act up to it. Everything else is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.mechanism.rotation_arrays import (
    conjugate,
    exponential,
    inverse_left_jacobian,
    left_jacobian,
    logarithm,
    product,
    rotate,
)
from bellcrank.trajectory.store import FloatArray, Store

STATE_SECTIONS: Final = ("position", "rotation", "velocity", "angular_velocity")
_RATES: Final = {
    "position": "velocity",
    "coordinates": "rates",
    "angles": "angle_rates",
    "force_coordinates": "force_rates",
}
_HELD: Final = ("inputs", "sensors")


def interpolated(store: Store, sections: tuple[str, ...], time: FloatArray) -> dict[str, FloatArray]:
    """The sections at times (n,) within the recorded span. Ask for values and their rates together."""
    between = _Between.of(store, time)
    values: dict[str, FloatArray] = {"time": time}
    for section, rate in _RATES.items():
        if section in sections:
            values[section], values[rate] = between.cubic(section, rate)
    if "rotation" in sections:
        values["rotation"], values["angular_velocity"] = between.turned()
    for section in sections:
        if section not in values:
            values[section] = between.held(section) if section in _HELD else between.linear(section)
    return values


@dataclass(frozen=True)
class _Between:
    """Places between frames: numbers of the frames before and after, time between them, share of it gone."""

    store: Store
    before: np.ndarray
    after: np.ndarray
    step: FloatArray
    share: FloatArray

    @staticmethod
    def of(store: Store, time: FloatArray) -> _Between:
        recorded = store.read("time")
        last = len(recorded) - 1
        before = np.clip(np.searchsorted(recorded, time, side="right") - 1, 0, max(last - 1, 0))
        after = np.minimum(before + 1, last)
        step = recorded[after] - recorded[before]
        share = np.divide(time - recorded[before], step, out=np.zeros_like(time), where=step > 0.0)
        return _Between(store, before, after, step, share)

    def ends(self, section: str) -> tuple[FloatArray, FloatArray]:
        """The section before and after; a frame is read once, however many times fall next to it."""
        rows, place = np.unique(np.concatenate([self.before, self.after]), return_inverse=True)
        values = self.store.read(section, rows=rows)
        return values[place[: len(self.before)]], values[place[len(self.before) :]]

    def linear(self, section: str) -> FloatArray:
        first, last = self.ends(section)
        return first + _along(self.share, first) * (last - first)

    def held(self, section: str) -> FloatArray:
        first, last = self.ends(section)
        return np.where(_along(self.share, first) > 0.0, last, first)

    def cubic(self, section: str, rate: str) -> tuple[FloatArray, FloatArray]:
        return _hermite(*self.ends(section), *self.ends(rate), self.step, self.share)

    def turned(self) -> tuple[FloatArray, FloatArray]:
        """Rotations and angular velocities."""
        q0, q1 = self.ends("rotation")
        omega0, omega1 = self.ends("angular_velocity")
        mean = 0.5 * (omega0 + omega1)
        step = _along(self.step, mean)
        rest = logarithm(product(product(q1, conjugate(q0)), exponential(-mean * step)))
        rate1 = inverse_left_jacobian(rest, omega1 - rotate(exponential(rest), mean))
        theta, rate = _hermite(np.zeros_like(rest), rest, omega0 - mean, rate1, self.step, self.share)
        extra = exponential(theta)
        spun = product(exponential(mean * step * _along(self.share, mean)), q0)
        return product(extra, spun), left_jacobian(theta, rate) + rotate(extra, mean)


def _along(values: FloatArray, like: FloatArray) -> FloatArray:
    """Values (n,) shaped to multiply arrays (n, ...)."""
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def _hermite(
    first: FloatArray,
    last: FloatArray,
    rate0: FloatArray,
    rate1: FloatArray,
    step: FloatArray,
    share: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The cubic through two values (n, ...) with two rates, and its derivative."""
    h, s = _along(step, first), _along(share, first)
    difference = last - first
    slope = np.divide(difference, h, out=np.array(np.broadcast_to(rate0, difference.shape)), where=h > 0.0)
    value = first + s * s * (3 - 2 * s) * difference + h * s * (1 - s) * ((1 - s) * rate0 - s * rate1)
    rate = 6 * s * (1 - s) * slope + (1 - s) * (1 - 3 * s) * rate0 - s * (2 - 3 * s) * rate1
    return value, rate
