"""Joints whose relative pose is a formula of their own coordinates: any pose, motion along curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from bellcrank.expression import Expression, Transform, frames, poses
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.coordinate import OWN, Coordinate
from bellcrank.mechanism.fields import checked, choice, described
from bellcrank.mechanism.formulas import Formulas, as_formulas, as_symbol, as_symbols, check_dependence
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.marker import Marker

_UNITS = ("m", "rad", "1")


@dataclass(frozen=True)
class _FormulaJoint(Formulas, JointKind):
    """A joint kind with coordinates of its own, on which the pose of marker 2 seen from marker 1 depends.

    units: of the coordinates: "m", "rad" or "1"; one for all, or one for each.
    singular: the meaning of `regular` being zero, in words. rule: what its equations demand, in words.
    rolling_rules: the same of each velocity constraint of `rolling`.
    """

    singular: ClassVar[str] = ""
    rule: ClassVar[str] = "the pose follows the formulas"
    rolling_rules: ClassVar[tuple[str, ...]] = ()

    @property
    def custom(self) -> object:  # type: ignore[override]
        """Itself."""
        return self

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """A unit for each coordinate: "m", "rad" or "1"."""
        raise NotImplementedError

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """One of its own coordinates, which is not a function of the pose, or a coordinate of the markers."""
        if name in self.free:
            return Coordinate(OWN, marker_1, marker_2, (float(self.free.index(name)),))
        return super().coordinate(name, marker_1, marker_2)

    @property
    def transform(self) -> Transform:
        """The pose of marker 2 seen from marker 1."""
        raise NotImplementedError

    @property
    def rolling(self) -> tuple[tuple[Expression, ...], ...]:
        """Coefficients of the coordinates' rates in velocity constraints  sum = 0."""
        return ()

    @property
    def regular(self) -> Expression | None:
        """An expression that keeps its sign while the joint is regular; None if rank alone decides."""
        return None

    def _finish(self, check: Check) -> None:
        """Check the symbols and name the coordinates."""
        if len(check.faults) == 0:
            self.check_symbols(check)
        check.store(self, free=tuple(symbol.name for symbol in self.own_symbols))


def _units(check: Check, units: Any, count: int) -> tuple[str, ...]:
    listed = tuple(units) if isinstance(units, (tuple, list)) else (units,) * count
    if len(listed) != count:
        check.fault(f"units must be one or {count}", units)
    return tuple(check.choice("units", unit, _UNITS) for unit in listed)


def _factors(check: Check, _: str, pose: Any) -> tuple[Any, ...]:
    """The factors of a transform."""
    factors = pose.factors if isinstance(pose, poses.Transform) else pose
    known = (poses.Turn, poses.Shift, poses.General)
    if isinstance(factors, (tuple, list)) and all(isinstance(factor, known) for factor in factors):
        return tuple(factors)
    advice = "such as translation(u, 0, 0) @ rotation_z(v) of bellcrank.expression"
    check.fault("pose must be a Transform", pose, advice)
    return ()


@described
class CustomJoint(_FormulaJoint):
    """A joint whose relative pose is any rigid transform of its coordinates.

    coordinates: one to six symbols.
    pose: the Transform of marker 2 seen from marker 1, such as translation(u, 0, u**2) @ rotation_z(v).
        It must depend on every coordinate, and differently.
    units: "m", "rad" or "1", for all coordinates or for each.
    """

    coordinates: Any = checked(as_symbols)
    pose: Any = checked(_factors)
    units: Any = checked(default="1")
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A joint whose relative pose is a formula of its coordinates."

    def _judge(self, check: Check) -> None:
        if len(self.coordinates) > 6:
            check.fault("it has six coordinates or fewer", len(self.coordinates))
        self._store(units=_units(check, self.units, len(self.coordinates)))
        check.faults.raise_any()
        check_dependence(check, "pose", "coordinate", self.coordinates, self.formulas_of_pose)
        self._finish(check)

    @property
    def formulas_of_pose(self) -> tuple[Any, ...]:
        """The twelve formulas of the pose, by rows."""
        pose = self.transform
        return tuple(e for row in pose.rotation for e in row) + tuple(pose.position)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The coordinates."""
        found: tuple[Any, ...] = self.coordinates
        return found

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """A unit for each coordinate."""
        found: tuple[str, ...] = self.units
        return found

    @property
    def transform(self) -> Transform:
        """The pose of marker 2 seen from marker 1."""
        return frames.transform_of(self.pose)


@described
class PathJoint(_FormulaJoint):
    """A frame that runs along a curve: a bead on a wire, a car of a roller coaster.

    parameter: the symbol of the curve's parameter, which is the coordinate.
    curve: x, y and z over the parameter, m, in the axes of marker 1. It must not stand still.
    up: None for the Frenet frame (x along the tangent, y towards the centre of curvature, z the binormal),
        which a straight piece does not have; or a direction in the axes of marker 1: then z is its component
        across the tangent, and y = z cross x.
    unit: of the parameter: "m", "rad" or "1".
    """

    parameter: Any = checked(as_symbol)
    curve: Any = checked(partial(as_formulas, count=3))
    up: Vec3 | None = checked(Check.axis, "1", default=None)
    unit: str = choice(_UNITS, default="1")
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A frame that runs along a curve given by formulas."
    rule: ClassVar[str] = "the frame follows the curve"

    def _judge(self, check: Check) -> None:
        check.faults.raise_any()
        check_dependence(check, "curve", "parameter", [self.parameter], self.curve)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameter."""
        return (self.parameter,)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """The unit of the parameter."""
        return (self.unit,)

    @property
    def transform(self) -> Transform:
        """The frame of the curve."""
        return frames.path_frame(self.curve, self.parameter, self.up)
