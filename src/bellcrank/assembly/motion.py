"""Where frames are and how they move, seen from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.rotation import IDENTITY, conjugate, matrix, multiply, unit


@dataclass(frozen=True, eq=False)
class Motion:
    """Where a frame is and how it moves, in some other frame."""

    position: Floats
    rotation: Quat
    velocity: Floats
    spin: Floats

    @classmethod
    def of(
        cls,
        position: Sequence[float],
        rotation: Sequence[float],
        velocity: Sequence[float],
        spin: Sequence[float],
    ) -> Motion:
        """From plain numbers."""
        w, x, y, z = rotation
        return cls(np.array(position), (w, x, y, z), np.array(velocity), np.array(spin))

    def as_tuple(self) -> tuple[Vec3, Quat, Vec3, Vec3]:
        """As plain numbers."""
        numbers = [tuple(v.tolist()) for v in (self.position, self.velocity, self.spin)]
        return numbers[0], self.rotation, numbers[1], numbers[2]

    def seen_from(self, base: Motion) -> Motion:
        """The same in the axes of `base`, which moves as well."""
        back = matrix(base.rotation).T
        arm = self.position - base.position
        return Motion(
            back @ arm,
            multiply(conjugate(base.rotation), self.rotation),
            back @ (self.velocity - base.velocity - np.cross(base.spin, arm)),
            back @ (self.spin - base.spin),
        )

    def inverse(self) -> Motion:
        """The motion of the other frame seen from this one."""
        zero = np.zeros(3)
        return Motion(zero, IDENTITY, zero, zero).seen_from(self)

    def carried_by(self, base: Motion) -> Motion:
        """Given in the axes of `base`, in the frame that `base` is given in."""
        turn = matrix(base.rotation)
        arm = turn @ self.position
        return Motion(
            base.position + arm,
            unit(multiply(base.rotation, self.rotation)),
            base.velocity + np.cross(base.spin, arm) + turn @ self.velocity,
            base.spin + turn @ self.spin,
        )
