"""Damping of a body's motion in the world, in axes of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from bellcrank.expression import dot
from bellcrank.mechanism.attachment import End, markers
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.custom_elements import CustomForce
from bellcrank.mechanism.custom_ends import EndPose
from bellcrank.mechanism.fields import described, vector
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.parametric import is_expression
from bellcrank.mechanism.rows import Lowered


@described
class BodyDamping(ForceKind):
    """Viscous damping of a body against the world, along and about the axes of a marker on it.

    damping: along x, y, z of the marker, N s/m: each component of the marker's velocity meets a force of so
        much times itself, at the marker. Three numbers, or one for all.
    rotational_damping: about these axes, N m s/rad, against the angular velocity.

    With `damping` alone, at a point, it is the brake of P. Schröder, The Virtual Erector Set (1990), section
    6.6; with both, at the centre of mass, its damping.
    """

    damping: Vec3 | float = vector("N s/m", "not negative", default=(0.0, 0.0, 0.0), or_one=True)
    rotational_damping: Vec3 | float = vector(
        "N m s/rad", "not negative", default=(0.0, 0.0, 0.0), or_one=True
    )
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "Viscous damping of a body in the world, in axes of a marker."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas: -R diag(c) Rᵀ v, and the same of the angular velocity."""
        (marker,) = markers(ends)
        pose = EndPose("m")
        given = {
            "force": _against(pose, pose.velocity, self.damping),
            "moment": _against(pose, pose.angular_velocity, self.rotational_damping),
        }
        held = {name: value for name, value in given.items() if value}
        if not held:
            return Lowered()
        return Lowered(custom=_BodyDamping(pose, **held, marker=marker, description=self))


@dataclass(frozen=True)
class _BodyDamping(CustomForce, listed=False):
    """The formulas, with the data they were made from, for numerical use."""

    marker: Any = None
    description: Any = None


def _against(pose: EndPose, velocity: Any, factors: Any) -> tuple[Any, ...]:
    """Components, world axes, of the load that opposes a velocity; none if all factors are zero."""
    if is_expression(factors):
        factors = (factors,) * 3
    if not any(is_expression(factor) or factor for factor in factors):
        return ()
    if len(set(factors)) == 1:
        return tuple(-factors[0] * component for component in velocity)
    axes = (pose.x_axis, pose.y_axis, pose.z_axis)
    parts = [(factor * dot(axis, velocity), axis) for factor, axis in zip(factors, axes, strict=True)]
    return tuple(-sum(rate * axis[i] for rate, axis in parts) for i in range(3))
