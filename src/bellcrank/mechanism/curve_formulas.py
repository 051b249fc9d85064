"""Joints in which a curve given by formulas touches a surface: an edge that slides or rolls on it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from bellcrank.expression import Expression, Transform, frames, poses
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.custom_joints import _FormulaJoint
from bellcrank.mechanism.fields import checked, described
from bellcrank.mechanism.formulas import as_formulas, as_symbol, as_symbols, check_dependence


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
