"""Springs, dampers and bushings; those that act on one side only: strings, soft stops, supports, cushions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from bellcrank import expression as ex
from bellcrank.mechanism.attachment import Attachment, End, ForceKind, markers, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import choice, described, fraction, function, quantity, vector
from bellcrank.mechanism.formulas import CustomForce, EndPose
from bellcrank.mechanism.functions.function import FunctionField, FunctionOfTime
from bellcrank.mechanism.functions.nurbs import _RationalFunction
from bellcrank.mechanism.given import FloatField, OptionalFloatField, VectorField
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rows import FROM_START, Law, Lowered


class _LinearSpring(ForceKind):
    """effort = -stiffness (value - rest) - damping rate + preload."""

    _rest: ClassVar[str]

    def _judge(self, check: Check) -> None:
        own: Any = self  # each kind declares the fields, in its own units
        if len(check.faults) == 0 and own.stiffness == own.damping == own.preload == 0.0:
            check.fault("it does nothing", None, "give a stiffness or a damping")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A linear law on the distance or the joint coordinate."""
        return Lowered(
            laws=(Law.of(self, "linear", pairwise("distance", ends), rest=getattr(self, self._rest)),)
        )

    def held_at(self, value: float, _ends: tuple[Attachment, ...]) -> Self:
        """With that rest length or angle."""
        return replace(self, **{self._rest: value})


@described
class SpringDamper(_LinearSpring):
    """A linear spring and damper along the line between two markers.

    stiffness: N/m. damping: N s/m. Neither is negative.
    rest_length: m; None takes the distance in the assembled initial configuration.
    preload: force that pushes the markers apart at rest length, N.
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    rest_length: OptionalFloatField = quantity("m", "not negative", default=FROM_START)
    preload: FloatField = quantity("N", default=0.0)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A linear spring and damper between two points."
    _rest: ClassVar[str] = "rest_length"


@described
class TorsionSpring(_LinearSpring):
    """A linear spring and damper on a joint coordinate (on a travel as well as on an angle).

    stiffness: N m/rad (N/m). damping: N m s/rad (N s/m). Neither is negative.
    rest_angle: rad (m); None takes the value in the assembled initial configuration.
    preload: effort at rest, N m (N).
    """

    stiffness: FloatField = quantity("N/m or N m/rad", "not negative")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    rest_angle: OptionalFloatField = quantity("rad or m", default=0.0, optional=True)
    preload: FloatField = quantity("N or N m", default=0.0)
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A linear spring and damper on a joint coordinate."
    _rest: ClassVar[str] = "rest_angle"


@described
class TabulatedSpring(ForceKind):
    """A nonlinear spring: the effort as a function of the distance of two markers or of a joint coordinate.

    effort: function of the coordinate (m or rad), N or N m; positive drives it up (pushes the markers apart).
        A spring that pulls back has a falling function. A Table, CubicSpline, Polynomial or Harmonic; it
            needs an antiderivative for its potential energy, which a Nurbs does not have.
    damping: N s/m or N m s/rad.
    """

    effort: FunctionField = function("N or N m")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring whose effort is a given function of its length or angle."

    def _judge(self, check: Check) -> None:
        effort = present(self.effort)
        if isinstance(effort, FunctionOfTime):
            advice = "use a Table, a CubicSpline or a Polynomial"
            check.fault("effort must be a function of the coordinate, not of t", str(effort), advice)
        if isinstance(effort, _RationalFunction):
            check.fault("effort must have an antiderivative", effort, "use a Table or a CubicSpline")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A table law on the distance or the joint coordinate."""
        return Lowered(laws=(Law.of(self, "table", pairwise("distance", ends), self.effort),))


@described
class Bushing(ForceKind):
    """A rubber bushing: six springs and dampers between two markers, along and about the axes of marker 1.

    stiffness, damping: along x, y, z, N/m and N s/m.
    rotational_stiffness, rotational_damping: about x, y, z, N m/rad and N m s/rad, on the rotation vector,
        which is followed: past pi it goes on, whole turns count, and it comes back the same way. At a whole
        turn it has no direction of its own, so bodies that turn that far are best held to their axis.
    It is unloaded where the markers coincide; a start counts from the nearest such turn.
    """

    stiffness: VectorField = vector("N/m", "not negative", default=(0.0, 0.0, 0.0))
    rotational_stiffness: VectorField = vector("N m/rad", "not negative", default=(0.0, 0.0, 0.0))
    damping: VectorField = vector("N s/m", "not negative", default=(0.0, 0.0, 0.0))
    rotational_damping: VectorField = vector("N m s/rad", "not negative", default=(0.0, 0.0, 0.0))
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "Springs and dampers in all six directions between two markers."

    def _judge(self, check: Check) -> None:
        held = (self.stiffness, self.rotational_stiffness, self.damping, self.rotational_damping)
        if len(check.faults) == 0 and not any(map(any, held)):
            check.fault("it does nothing", None, "give a stiffness or a damping")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Six linear laws, on x, y, z and rot_x, rot_y, rot_z; those that do nothing are left out."""
        one, two = markers(ends)
        names = ("x", "y", "z", "rot_x", "rot_y", "rot_z")
        stiffness = (*self.stiffness, *self.rotational_stiffness)
        damping = (*self.damping, *self.rotational_damping)
        return Lowered(
            laws=tuple(
                Law.of(
                    self, "linear", Coordinate(name, one, two), stiffness=k, damping=c, rest=0.0, preload=0.0
                )
                for name, k, c in zip(names, stiffness, damping, strict=True)
                if k != 0.0 or c != 0.0
            )
        )


_DIRECTIONS = {"below": 1.0, "above": -1.0}


@described
class RubberString(ForceKind):
    """A string between two markers that pulls and never pushes.

    stiffness: N/m, not negative. rest_length: below it the string is slack, m.
    restitution: part of the tension that is left while the markers approach each other, 0 to 1. At 1 the
        string is a spring that only pulls; below, it takes energy out of every swing.
    closing_speed: speed of approach over which the tension falls to that part, along a cubic, m/s. It is full
        where the markers are at rest to each other.

    P. Schröder, The Virtual Erector Set (1990), section 7.2.
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    rest_length: FloatField = quantity("m", "not negative")
    restitution: FloatField = fraction(default=1.0)
    closing_speed: FloatField = quantity("m/s", "positive", default=0.1)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A string that pulls only, and less while it shortens."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A rubber law on the distance."""
        return Lowered(laws=(Law.of(self, "rubber", pairwise("distance", ends), rest=self.rest_length),))


@described
class OneSidedSpring(ForceKind):
    """A spring and damper that acts on one side of a value, pushes away from it, and never pulls.

    stiffness: N/m or N m/rad, not negative. contact: the value where it begins, m or rad.
    side: "below" or "above" that value.
    damping: N s/m or N m s/rad. depth: how far beyond the contact the damping has its full value, m or rad;
        it rises along a cubic, so that an arrival at speed meets no jump of the force.
    """

    stiffness: FloatField = quantity("N/m or N m/rad", "not negative")
    contact: FloatField = quantity("m or rad")
    side: str = choice(_DIRECTIONS, default="below")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    depth: FloatField = quantity("m or rad", "positive", default=1e-3)
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring and damper on one side of a distance, travel or angle: a soft stop."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the distance or the joint coordinate."""
        law = Law.of(self, "one_sided", pairwise("distance", ends), direction=_DIRECTIONS[self.side])
        return Lowered(laws=(law,))


@described
class SupportPoint(ForceKind):
    """A spring and damper that keep a point of a body from going below the ground: a foot, a wheel.

    stiffness: N/m, not negative. damping: N s/m. height: of the ground, world z, m.
    depth: how far below the ground the damping has its full value, m.
    It pushes along world z, without friction, and never pulls.

    P. Schröder, The Virtual Erector Set (1990), section 6.6.
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    height: FloatField = quantity("m", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "A spring and damper that keep a point above the ground."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the height of the marker."""
        (point,) = markers(ends)
        above, up = Coordinate("z", Marker(GROUND), point), _DIRECTIONS["below"]
        return Lowered(laws=(Law.of(self, "one_sided", above, contact=self.height, direction=up),))


@described
class Seat(ForceKind):
    """A saddle or cushion between two bodies, which becomes stiffer the deeper it is pressed.

    Its ends are a marker on the seat, z upwards out of it, and one on the sitting body, at its lowest point.
    Above the seat no force acts; the seat never pulls.

    stiffness, hardening: of the load k d + h d^3 at a depth d, N/m and N/m^3.
    dissipation: c of the factor 1 + c v of the load, with the speed v at which d grows, s/m.
    shear_length: displacement across the seat at which the force across is as large as the load, m. The body
        does not slide. shear_damping: ratio of damping to stiffness across, s.

    A. Tasora, An optimized Lagrangian-multiplier approach ... (2000), figure 7, measured such a curve; its
    numbers are not in the text. The defaults, assumed, make 44 kN/m under 450 N: a rider of 45 kg on it
    swings at 5 Hz with 0.3 of critical damping.
    """

    stiffness: FloatField = quantity("N/m", "not negative", default=1.5e4)
    hardening: FloatField = quantity("N/m^3", "not negative", default=3e7)
    dissipation: FloatField = quantity("s/m", "not negative", default=1.9)
    shear_length: FloatField = quantity("m", "positive", default=0.015)
    shear_damping: FloatField = quantity("s", "not negative", default=0.02)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "a marker on the seat and one on who sits"
    meaning: ClassVar[str] = "A cushion that pushes more than in proportion and holds against sliding."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0 and self.stiffness == 0.0 and self.hardening == 0.0:
            check.fault("it does nothing", None, "give a stiffness or a hardening")

    def lowered(self, ends: tuple[End, ...]) -> Lowered:  # noqa: ARG002
        """A force by formulas: on the seat, and the opposite one on the sitting body.

        Elastic forces have the potential W(d) + W'(d) s^2 / 2 l, with W' = k d + h d^3, the displacement s
        across and the shear length l.
        """
        seat, rider = EndPose("seat"), EndPose("rider")
        up, apart = seat.z_axis, rider.position - seat.position
        velocity = rider.velocity - seat.velocity
        depth, growth = ex.maximum(0.0, -ex.dot(up, apart)), -ex.dot(up, velocity)
        aside, drift = apart - ex.dot(up, apart) * up, velocity + growth * up
        load = self.stiffness * depth + self.hardening * depth**3
        slope = self.stiffness + 3.0 * self.hardening * depth**2
        of_shear = ex.piecewise(depth > 0.0, 0.5 * slope * ex.dot(aside, aside) / self.shear_length, 0.0)
        lift = load * ex.maximum(0.0, 1.0 + self.dissipation * growth) + of_shear
        across = (load / self.shear_length) * (aside + self.shear_damping * drift)
        force = across - lift * up  # on the seat, at the rider's marker
        return Lowered(custom=_Seat((seat, rider), force=tuple(force), moment=tuple(ex.cross(apart, force))))


@dataclass(frozen=True)
class _Seat(CustomForce, listed=False):
    """The formulas of a seat."""

    description: Any = None
