"""Joints given by formulas: any pose of their own coordinates, curves and surfaces that touch and roll."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank import expression
from bellcrank.expression import Expression, Transform, frames, poses
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.coordinate import OWN, Coordinate
from bellcrank.mechanism.fields import checked, choice, described
from bellcrank.mechanism.formulas import Formulas, as_formulas, as_symbol, as_symbols, check_dependence
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rotation import about, matrix

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

    >>> u = bc.symbol("u")
    >>> track = bc.CustomJoint((u,), bc.expression.translation(u, 0, u**2), units="m")
    >>> rail = cube.add_joint("rail", track, "ground", "cube", position=1.0)
    >>> bc.assemble(cube).error < 1e-9
    True
    >>> print(np.round(cube.bodies["cube"].position, 6), bc.info(cube).freedom)    # m, on z = x^2
    [1. 0. 1.] 1
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

    >>> s = bc.symbol("s")
    >>> circle = (2 * bc.expression.cos(s), 2 * bc.expression.sin(s), 0)
    >>> car = bc.PathJoint(s, circle, unit="rad")
    >>> ride = cube.add_joint("ride", car, "ground", "cube", velocity=1.5)
    >>> run = bc.simulate(cube, 1.0)
    >>> print(np.linalg.norm(run.joint("ride").force[-1]).round(6), 6 * 2 * 1.5**2)    # N: m r w^2
    27.0 27.0
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


@described
class CurveOnSurface(_FormulaJoint):
    """A curve that touches a surface and slides on it: the edge of a disc, the blade of a skate.

    parameters: two symbols; surface: x, y and z over them, m, in the axes of marker 1. Its normal (first
        tangent crossed with the second) points to the side where the curve is.
    parameter: a symbol; curve: x, y and z over it, m, in the axes of marker 2. It must not stand still.
    heading: the symbol of the angle from the surface's first tangent to the curve's, about the normal.
    lean: the symbol of the angle about the curve's tangent, from where its y axis is along the normal.
    up: None for the curve's Frenet frame, whose y axis points to the centre of curvature; or a direction in
        the axes of marker 2, whose component across the tangent gives the z axis. A curve that is straight
        somewhere needs one. For an edge in the xy plane, use (0, 0, 1).

    The coordinates are the parameters of the surface and of the curve, heading and lean. If the curve lies in
    the surface, like a disc lying flat, the point of contact is undefined: the joint must not go there.

    >>> x, y, a, heading, lean = bc.expression.symbols("x y a heading lean")
    >>> edge = (0.5 * bc.expression.cos(a), 0.5 * bc.expression.sin(a), 0)
    >>> disc = bc.CurveOnSurface((x, y), (x, y, 0), a, edge, heading, lean, up=(0, 0, 1))
    >>> touch = cube.add_joint("touch", disc, "ground", "cube")
    >>> bc.info(cube).freedom, touch.kind.free
    (5, ('x', 'y', 'a', 'heading', 'lean'))
    """

    parameters: Any = checked(partial(as_symbols, count=2))
    surface: Any = checked(partial(as_formulas, count=3))
    parameter: Any = checked(as_symbol)
    curve: Any = checked(partial(as_formulas, count=3))
    heading: Any = checked(as_symbol)
    lean: Any = checked(as_symbol)
    up: Vec3 | None = checked(Check.axis, "1", default=None)
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A curve that touches a surface and slides on it, both given by formulas."
    rule: ClassVar[str] = "the curve touches the surface"
    singular: ClassVar[str] = (
        "the curve came to lie in the surface, as a disc that lies flat, and touches at no one point"
    )

    def _judge(self, check: Check) -> None:
        check.faults.raise_any()
        as_symbols(check, "parameters, parameter, heading and lean", self.own_symbols)
        check_dependence(check, "surface", "parameter", self.parameters, self.surface)
        check_dependence(check, "curve", "parameter", (self.parameter,), self.curve)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameters of the surface and the curve, heading and lean."""
        return (*self.parameters, self.parameter, self.heading, self.lean)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """The units of the coordinates; parameters have none."""
        return ("1", "1", "1", "rad", "rad")

    @property
    def transform(self) -> Transform:
        """The transform from the frame of marker 2, via the point of contact, to that of marker 1."""
        on_surface = frames.surface_frame(self.surface, self.parameters, self.heading)
        on_curve = frames.path_frame(self.curve, self.parameter, self.up)
        return on_surface @ poses.rotation_x(self.lean) @ frames.upright() @ on_curve.inverse()

    @property
    def regular(self) -> Expression:
        """By how much more the curve bends away than the surface does, along the curve, 1/m."""
        return frames.relative_curvature(
            (self.surface, self.parameters), (self.curve, self.parameter), self.up, self.heading, self.lean
        )


@described
class RollingCurve(CurveOnSurface):
    """A curve that rolls on a surface without sliding: a wheel with a sharp edge, a coin.

    The arguments are those of CurveOnSurface. The point of contact moves as fast along the curve as over the
    surface; velocities have three degrees of freedom, but all five coordinates can be reached.

    Source: Ju. Neimark, N. Fufaev, Dynamics of Nonholonomic Systems, 1972, chapter 1 (disc on a plane).

    >>> x, y, a, heading, lean = bc.expression.symbols("x y a heading lean")
    >>> edge = (0.5 * bc.expression.cos(a), 0.5 * bc.expression.sin(a), 0)
    >>> coin = bc.RollingCurve((x, y), (x, y, 0), a, edge, heading, lean, up=(0, 0, 1))
    >>> touch = cube.add_joint("touch", coin, "ground", "cube", position={"lean": 0.0})
    >>> info = bc.info(cube)
    >>> info.freedom, info.position_freedom
    (3, 5)
    """

    meaning: ClassVar[str] = "A curve that rolls on a surface without sliding, both given by formulas."
    rolling_rules: ClassVar[tuple[str, ...]] = (
        "the curve rolls without sliding along itself",
        "the curve does not slide sideways",
    )

    @property
    def rolling(self) -> tuple[tuple[Expression, ...], ...]:
        """Velocity of the contact point over the surface less that along the curve; along it and across."""
        return frames.curve_rolling_conditions(
            (self.surface, self.parameters), (self.curve, self.parameter), self.heading, self.own_symbols
        )


@described
class SurfaceJoint(_FormulaJoint):
    """A frame that slides on a surface.

    parameters: two symbols, which are coordinates.
    surface: x, y and z over the parameters, m, in the axes of marker 1.
    spin: a third symbol if the frame may turn about the normal; if None, its x axis is the tangent along the
        first parameter. z is the normal, the first tangent crossed with the second.

    >>> u, v = bc.expression.symbols("u v")
    >>> bowl = bc.SurfaceJoint((u, v), (u, v, (u**2 + v**2) / 2))
    >>> slide = cube.add_joint("slide", bowl, "ground", "cube", position=(0.3, 0.1))
    >>> cube.gravity = (0, 0, -9.81)
    >>> print(bc.statics(cube).state.position[0].round(6), bc.info(cube).freedom)
    [0. 0. 0.] 2
    """

    parameters: Any = checked(partial(as_symbols, count=2))
    surface: Any = checked(partial(as_formulas, count=3))
    spin: Any = checked(as_symbol, default=None)
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "A frame that slides on a surface given by formulas."
    rule: ClassVar[str] = "the frame lies on the surface"

    def _judge(self, check: Check) -> None:
        check.faults.raise_any()
        as_symbols(check, "parameters and spin", self.own_symbols)
        check_dependence(check, "surface", "parameter", self.parameters, self.surface)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameters, and the spin if there is one."""
        return self.parameters if self.spin is None else (*self.parameters, self.spin)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """Parameters have none."""
        return ("1", "1") if self.spin is None else ("1", "1", "rad")

    @property
    def transform(self) -> Transform:
        """The frame on the surface."""
        return frames.surface_frame(self.surface, self.parameters, self.spin)


@described
class SurfaceOnSurface(_FormulaJoint):
    """Two surfaces that touch at a point and slide on each other.

    parameters_1, parameters_2: two symbols each. surface_1, surface_2: x, y and z over them, m, each in the
        axes of its own marker; the normals (first tangent crossed with the second) point out of the bodies.
    spin: the symbol of the angle between the first tangents, or None: then they stay parallel.

    The coordinates are the parameters of both, then the spin.

    >>> u, v, a, b, spin = bc.expression.symbols("u v a b spin")
    >>> cos, sin = bc.expression.cos, bc.expression.sin
    >>> ball = (0.5 * cos(b) * cos(a), 0.5 * cos(b) * sin(a), 0.5 * sin(b))
    >>> ends = cube.ground.marker((0, 0, -0.5)), cube.bodies["cube"].marker(axis="x")
    >>> slip = cube.add_joint("slip", bc.SurfaceOnSurface((u, v), (u, v, 0), (a, b), ball, spin), *ends)
    >>> bc.info(cube).freedom    # it slides and turns, but does not lift off
    5
    """

    parameters_1: Any = checked(partial(as_symbols, count=2))
    surface_1: Any = checked(partial(as_formulas, count=3))
    parameters_2: Any = checked(partial(as_symbols, count=2))
    surface_2: Any = checked(partial(as_formulas, count=3))
    spin: Any = checked(as_symbol, default=None)
    values: tuple[tuple[Any, float], ...] = ()
    meaning: ClassVar[str] = "Two surfaces given by formulas that touch and slide on each other."
    rule: ClassVar[str] = "the surfaces touch"

    def _judge(self, check: Check) -> None:
        check_dependence(check, "surface_1", "parameter", self.parameters_1, self.surface_1)
        check_dependence(check, "surface_2", "parameter", self.parameters_2, self.surface_2)
        check.faults.raise_any()
        as_symbols(check, "parameters and spin", self.own_symbols)
        self._finish(check)

    @property
    def own_symbols(self) -> tuple[Any, ...]:
        """The parameters of both surfaces, and the spin if there is one."""
        both: tuple[Any, ...] = (*self.parameters_1, *self.parameters_2)
        return both if self.spin is None else (*both, self.spin)

    @property
    def units_of_coordinates(self) -> tuple[str, ...]:
        """Parameters have none."""
        return ("1",) * 4 if self.spin is None else ("1", "1", "1", "1", "rad")

    @property
    def transform(self) -> Transform:
        """The transform from the frame of marker 2, via the contact, to that of marker 1."""
        one = frames.surface_frame(self.surface_1, self.parameters_1, self.spin)
        two = frames.surface_frame(self.surface_2, self.parameters_2, None)
        return one @ frames.face_to_face() @ two.inverse()


@described
class Rolling(SurfaceOnSurface):
    """Two surfaces that roll on each other without sliding: the point of contact runs as fast on both.

    The arguments are those of SurfaceOnSurface; with a spin they may turn about the normal.

    >>> u, v, a, b, spin = bc.expression.symbols("u v a b spin")
    >>> cos, sin = bc.expression.cos, bc.expression.sin
    >>> ball = (0.5 * cos(b) * cos(a), 0.5 * cos(b) * sin(a), 0.5 * sin(b))
    >>> ends = cube.ground.marker((0, 0, -0.5)), cube.bodies["cube"].marker(axis="x")
    >>> roll = cube.add_joint("roll", bc.Rolling((u, v), (u, v, 0), (a, b), ball, spin), *ends)
    >>> info = bc.info(cube)
    >>> info.freedom, info.position_freedom    # it rolls in three ways, and reaches all five coordinates
    (3, 5)
    """

    meaning: ClassVar[str] = "Two surfaces given by formulas that roll on each other without sliding."
    rolling_rules: ClassVar[tuple[str, ...]] = (
        "the surfaces do not slide along the tangent",
        "the surfaces do not slide across the tangent",
    )

    @property
    def rolling(self) -> tuple[tuple[Expression, ...], ...]:
        """Velocity of the point of contact on one surface less that on the other, in the contact's plane."""
        return frames.rolling_conditions(
            (self.surface_1, self.parameters_1),
            (self.surface_2, self.parameters_2),
            self.spin,
            self.own_symbols,
        )


_UNIT: Final = 1e-12  # how near a rate must be to 1


@dataclass(frozen=True)
class Line:
    """The axis of a coordinate that rotates about it or translates along it.

    coordinate: its number. axis, point: a unit vector and a point (3), m, in the axes of marker 1, where all
    coordinates are zero.
    """

    coordinate: int
    turns: bool
    axis: np.ndarray
    point: np.ndarray


@dataclass(frozen=True)
class Chain:
    """A pose as a product of exponentials, exp(ξ₁ q₁) ... exp(ξₙ qₙ) T₀.

    lines: ξ, from the outside in. rotation (3, 3), position (3), m: T₀, marker 2 in marker 1.
    """

    lines: tuple[Line, ...]
    rotation: np.ndarray
    position: np.ndarray


def chain_of(kind: CustomJoint, known: Mapping[Any, float] | None = None) -> Chain | None:
    """The chain equivalent to a joint; None if its formulas are different.

    known: numbers for symbols other than its coordinates; if any is missing, the joint is no chain.
    R. W. Brockett, Robotic manipulators and the product of exponentials formula (1984).
    """
    rotation, position = np.eye(3), np.zeros(3)
    lines: list[Line] = []
    for factor in kind.pose:
        turned, shifted = np.eye(3), np.zeros(3)
        if isinstance(factor, poses.Turn):
            angle = _affine((factor.angle,), kind, known or {})
            if angle is None:
                return None
            axis = np.eye(3)["xyz".index(factor.axis)]
            turned = matrix(about(tuple(axis.tolist()), float(angle.zero[0])))
            if angle.coordinate is not None:
                lines.append(Line(angle.coordinate, True, rotation @ (angle.rate[0] * axis), position))
        else:
            if isinstance(factor, poses.General):
                entries = [entry for row in factor.rotation for entry in row]
                fixed = _affine(entries, kind, known or {})
                if fixed is None or fixed.coordinate is not None:
                    return None
                turned = fixed.zero.reshape(3, 3)
            offset = _affine(tuple(factor.offset), kind, known or {})
            if offset is None:
                return None
            shifted = offset.zero
            if offset.coordinate is not None:
                lines.append(Line(offset.coordinate, False, rotation @ offset.rate, position))
        rotation, position = rotation @ turned, rotation @ shifted + position
    each_once = sorted(line.coordinate for line in lines) == list(range(len(kind.own_symbols)))
    unit = all(abs(float(line.axis @ line.axis) - 1.0) <= _UNIT for line in lines)
    return Chain(tuple(lines), rotation, position) if each_once and unit else None


@dataclass(frozen=True)
class _Affine:
    """Formulas zero + rate * q of one coordinate at most."""

    zero: np.ndarray
    coordinate: int | None
    rate: np.ndarray


def _affine(formulas: Any, kind: CustomJoint, known: Mapping[Any, float]) -> _Affine | None:
    own = kind.own_symbols
    found = symbols_of(*formulas)
    moving = [symbol for symbol in own if symbol in found]
    if len(moving) > 1 or any(symbol not in own and symbol not in known for symbol in found):
        return None
    numbers = dict.fromkeys(moving, 0.0) | dict(known)
    zero = np.array([float(expression.substitute(formula, numbers)) for formula in formulas])
    if not moving:
        return _Affine(zero, None, np.zeros_like(zero))
    rates = [expression.derivative(formula, moving[0]) for formula in formulas]
    if any(symbol in own for symbol in symbols_of(*rates)):
        return None
    rate = np.array([float(expression.substitute(formula, numbers)) for formula in rates])
    return _Affine(zero, own.index(moving[0]), rate)
