"""Springs, dampers and bushings. Efforts are positive where they drive their coordinate up."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from bellcrank.mechanism.attachment import Attachment, End, markers, pairwise
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.functions.function import Function, as_function
from bellcrank.mechanism.functions.function_of_time import FunctionOfTime
from bellcrank.mechanism.functions.nurbs import _RationalFunction
from bellcrank.mechanism.rows import FROM_START, Law, Lowered


@dataclass(frozen=True)
class _LinearSpring(ForceKind):
    """effort = -stiffness (value - rest) - damping rate + preload."""

    stiffness: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        with Check(self.name) as check:
            stiffness = check.not_negative("stiffness", self.stiffness)
            damping = check.not_negative("damping", self.damping)
            if stiffness == 0.0 and damping == 0.0 and len(check.faults) == 0 and self._preload() == 0.0:
                check.fault("it does nothing", None, "give a stiffness or a damping")
            check.settle(self, stiffness=stiffness, damping=damping, **self._rest_values(check))

    def _preload(self) -> Any:
        return getattr(self, "preload", 0.0)

    @abstractmethod
    def _rest_values(self, check: Check) -> dict[str, object]:
        """The checked rest and preload, by field."""


@dataclass(frozen=True)
class SpringDamper(_LinearSpring):
    """A linear spring and damper along the line between two markers.

    stiffness: N/m. damping: N s/m. Neither is negative.
    rest_length: m; None takes the distance in the assembled initial configuration.
    preload: force that pushes the markers apart at rest length, N.
    """

    rest_length: float | None = FROM_START
    preload: float = 0.0
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A linear spring and damper between two points."

    def _rest_values(self, check: Check) -> dict[str, object]:
        rest = None if self.rest_length is None else check.not_negative("rest_length", self.rest_length, "m")
        return {"rest_length": rest, "preload": check.number("preload", self.preload, "N")}

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A linear law on the distance."""
        params = (self.stiffness, self.damping, self.rest_length, self.preload)
        return Lowered(laws=(Law("linear", pairwise("distance", ends), params),))

    def held_at(self, value: float, _ends: tuple[Attachment, ...]) -> Self:
        """With that rest length."""
        return replace(self, rest_length=value)


@dataclass(frozen=True)
class TorsionSpring(_LinearSpring):
    """A linear spring and damper on a joint coordinate (on a travel as well as on an angle).

    stiffness: N m/rad (N/m). damping: N m s/rad (N s/m). Neither is negative.
    rest_angle: rad (m); None takes the value in the assembled initial configuration.
    preload: effort at rest, N m (N).
    """

    rest_angle: float | None = 0.0
    preload: float = 0.0
    pattern: ClassVar[str] = "J"
    ends_text: ClassVar[str] = "one joint"
    meaning: ClassVar[str] = "A linear spring and damper on a joint coordinate."

    def _rest_values(self, check: Check) -> dict[str, object]:
        rest = None if self.rest_angle is None else check.number("rest_angle", self.rest_angle, "rad")
        return {"rest_angle": rest, "preload": check.number("preload", self.preload, "N m")}

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A linear law on the joint coordinate."""
        params = (self.stiffness, self.damping, self.rest_angle, self.preload)
        return Lowered(laws=(Law("linear", pairwise("", ends), params),))

    def held_at(self, value: float, _ends: tuple[Attachment, ...]) -> Self:
        """With that rest angle."""
        return replace(self, rest_angle=value)


@dataclass(frozen=True)
class TabulatedSpring(ForceKind):
    """A nonlinear spring: the effort as a function of the distance of two markers or of a joint coordinate.

    effort: function of the coordinate (m or rad), N or N m; positive drives it up (pushes the markers apart).
        A spring that pulls back has a falling function. A Table, CubicSpline, Polynomial or Harmonic; it
        needs an antiderivative for its potential energy, which a Nurbs has not.
    damping: N s/m or N m s/rad.
    """

    effort: Function
    damping: float = 0.0
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring whose effort is a given function of its length or angle."

    def __post_init__(self) -> None:
        with Check("TabulatedSpring") as check:
            effort = self.effort
            with check.faults.collect():
                effort = as_function(check.element, "effort", self.effort)
                if isinstance(effort, FunctionOfTime):
                    advice = "use a Table, a CubicSpline or a Polynomial"
                    check.fault("effort must be a function of the coordinate, not of t", str(effort), advice)
                if isinstance(effort, _RationalFunction):
                    check.fault("effort must have an antiderivative", effort, "use a Table or a CubicSpline")
            check.settle(self, damping=check.not_negative("damping", self.damping), effort=effort)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A table law on the distance or the joint coordinate."""
        return Lowered(laws=(Law("table", pairwise("distance", ends), (self.damping,), self.effort),))


@dataclass(frozen=True)
class Bushing(ForceKind):
    """A rubber bushing: six springs and dampers between two markers, along and about the axes of marker 1.

    stiffness, damping: along x, y, z, N/m and N s/m.
    rotational_stiffness, rotational_damping: about x, y, z, N m/rad and N m s/rad, on the rotation vector
        (below pi).
    It rests where the markers coincide.
    """

    stiffness: Vec3 = (0.0, 0.0, 0.0)
    rotational_stiffness: Vec3 = (0.0, 0.0, 0.0)
    damping: Vec3 = (0.0, 0.0, 0.0)
    rotational_damping: Vec3 = (0.0, 0.0, 0.0)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "Springs and dampers in all six directions between two markers."

    def __post_init__(self) -> None:
        with Check("Bushing") as check:
            values: dict[str, object] = {}
            for field in ("stiffness", "rotational_stiffness", "damping", "rotational_damping"):
                vector = check.vector(field, getattr(self, field))
                if min(vector) < 0.0:
                    check.fault(f"{field} must not be negative", vector)
                values[field] = vector
            if len(check.faults) == 0 and not any(any(getattr(self, field)) for field in values):
                check.fault("it does nothing", None, "give a stiffness or a damping")
            check.settle(self, **values)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Six linear laws, on x, y, z and rot_x, rot_y, rot_z; those that do nothing are left out."""
        one, two = markers(ends)
        names = ("x", "y", "z", "rot_x", "rot_y", "rot_z")
        stiffness = (*self.stiffness, *self.rotational_stiffness)
        damping = (*self.damping, *self.rotational_damping)
        return Lowered(
            laws=tuple(
                Law("linear", Coordinate(name, one, two), (k, c, 0.0, 0.0))
                for name, k, c in zip(names, stiffness, damping, strict=True)
                if k != 0.0 or c != 0.0
            )
        )
