"""Springs, dampers and bushings. Efforts are positive where they drive their coordinate up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

from bellcrank.mechanism.attachment import Attachment, End, markers, pairwise
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import described, function, quantity, vector
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.functions.function import FunctionField
from bellcrank.mechanism.functions.function_of_time import FunctionOfTime
from bellcrank.mechanism.functions.nurbs import _RationalFunction
from bellcrank.mechanism.given import FloatField, OptionalFloatField, VectorField
from bellcrank.mechanism.parametric import present
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
