"""Joints whose relative pose is a formula of coordinates of their own: any pose, along curves."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.coordinate import OWN, Coordinate
from bellcrank.mechanism.formulas import Formulas, as_formulas, as_symbols, check_dependence
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.marker import Marker

if TYPE_CHECKING:
    from bellcrank.expression import Expression, Transform

_UNITS = ("m", "rad", "1")


@dataclass(frozen=True)
class _FormulaJoint(Formulas, JointKind):
    """A joint kind with coordinates of its own, on which the pose of marker 2 seen from marker 1 depends.

    units: of the coordinates: "m", "rad" or "1"; one for all, or one for each.
    singular: what it means that `regular` vanishes.
    """

    singular: ClassVar[str] = ""

    @property
    def custom(self) -> object:  # type: ignore[override]
        """Itself."""
        return self

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """A unit for each coordinate: "m", "rad" or "1"."""
        raise NotImplementedError

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """One of its own coordinates, which is no function of the pose, or a coordinate of the markers."""
        if name in self.free:
            return Coordinate(OWN, marker_1, marker_2, (float(self.free.index(name)),))
        return super().coordinate(name, marker_1, marker_2)

    @property
    def transform(self) -> Transform:
        """The pose of marker 2 seen from marker 1."""
        raise NotImplementedError

    @property
    def rolling(self) -> tuple[tuple[Expression, ...], ...]:
        """Factors of the coordinates' rates in conditions  sum = 0  that are no constraints of positions."""
        return ()

    @property
    def regular(self) -> Expression | None:
        """What keeps its sign as long as the coordinates tell the pose; None where rank alone judges that."""
        return None

    def _finish(self, check: Check) -> None:
        """Check the symbols and name the coordinates."""
        if len(check.faults) == 0:
            self.check_symbols(check)
        check.settle(self, free=tuple(symbol.name for symbol in self.own_symbols))


def _units(check: Check, units: Any, count: int) -> tuple[str, ...]:
    listed = tuple(units) if isinstance(units, (tuple, list)) else (units,) * count
    if len(listed) != count:
        check.fault(f"units must be one or {count}", units)
    return tuple(check.choice("units", unit, _UNITS) for unit in listed)


@dataclass(frozen=True)
class CustomJoint(_FormulaJoint):
    """A joint whose relative pose is any rigid transform of its coordinates.

    coordinates: one to six symbols.
    pose: the Transform of marker 2 seen from marker 1, such as translation(u, 0, u**2) @ rotation_z(v).
        It must depend on every coordinate, and differently.
    units: "m", "rad" or "1", for all coordinates or for each.
    """

    coordinates: Any
    pose: Any
    units: Any = "1"
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A joint whose relative pose is a formula of its coordinates."

    def __post_init__(self) -> None:
        poses = import_module("bellcrank.expression.poses")
        with Check("CustomJoint") as check:
            coordinates = as_symbols(check, "coordinates", self.coordinates)
            if len(coordinates) > 6:
                check.fault("it has six coordinates or fewer", len(coordinates))
            pose: Any = self.pose
            if isinstance(pose, poses.Transform):
                pose = pose.factors
            elements = (poses.Turn, poses.Shift, poses.General)
            if not isinstance(pose, (tuple, list)) or not all(isinstance(f, elements) for f in pose):
                check.fault(
                    "pose must be a Transform",
                    self.pose,
                    "such as translation(u, 0, 0) @ rotation_z(v) of bellcrank.expression",
                )
                pose = ()
            units = _units(check, self.units, len(coordinates))
            check.settle(self, coordinates=coordinates, pose=tuple(pose), units=units)
            check_dependence(check, "pose", "coordinate", coordinates, self.formulas_of_pose)
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
        made: Transform = import_module("bellcrank.expression.frames").transform_of(self.pose)
        return made


@dataclass(frozen=True)
class PathJoint(_FormulaJoint):
    """A frame that runs along a curve: a bead on a wire, a car of a roller coaster.

    parameter: the symbol of the curve's parameter, which is the coordinate.
    curve: x, y and z over the parameter, m, in the axes of marker 1. It must not stand still.
    up: None for the Frenet frame (x along the tangent, y towards the centre of curvature, z the binormal),
        which a straight piece does not have; or a direction in the axes of marker 1: then z is the part of it
        across the tangent, and y = z cross x.
    unit: of the parameter: "m", "rad" or "1".
    """

    parameter: Any
    curve: Any
    up: Vec3 | None = None
    unit: str = "1"
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A frame that runs along a curve given by formulas."

    def __post_init__(self) -> None:
        with Check("PathJoint") as check:
            (parameter,) = as_symbols(check, "parameter", self.parameter, 1)
            curve = as_formulas(check, "curve", self.curve, 3)
            up = None if self.up is None else check.axis("up", self.up)
            unit = check.choice("unit", self.unit, _UNITS)
            check.settle(self, parameter=parameter, curve=curve, up=up, unit=unit)
            check_dependence(check, "curve", "parameter", [parameter], curve)
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
        made: Transform = import_module("bellcrank.expression.frames").path_frame(
            self.curve, self.parameter, self.up
        )
        return made
