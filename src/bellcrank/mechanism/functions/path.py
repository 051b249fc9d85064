"""Paths in space over time: a curve and its timing law."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, as_function_in, checked, described, function
from bellcrank.mechanism.functions.composition import compose
from bellcrank.mechanism.functions.curve import Curve
from bellcrank.mechanism.functions.function import Function, OptionalFunctionField, as_function
from bellcrank.mechanism.functions.harmonic import Constant, Harmonic
from bellcrank.mechanism.functions.nurbs import NurbsCurve, from_fraction
from bellcrank.mechanism.functions.pieces import Pieces
from bellcrank.mechanism.functions.piecewise import FAR, _PiecewiseFunction, from_pieces
from bellcrank.mechanism.parametric import present

PathCurve: TypeAlias = "Curve | NurbsCurve | tuple[Function | float, Function | float, Function | float]"


def _curve(check: Check, _: str, value: Any) -> PathCurve:
    if isinstance(value, (Curve, NurbsCurve)):
        return value
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        check.fault("curve must be a Curve, a NurbsCurve or three functions of time", value)
        value = (0.0, 0.0, 0.0)
    x, y, z = (
        as_function_in(check, f"component {axis}", given) for axis, given in zip("xyz", value, strict=True)
    )
    return (x, y, z)


@described
class Path(Description):
    """A moving point.

    curve: a Curve or NurbsCurve, or three functions of time (x, y, z) in m.
    timing: the curve's parameter as a function of time: a Ramp (rest to rest), a Polynomial, a CubicSpline,
        ...; by default the parameter is the time itself. A path has as many continuous derivatives as both
            curve and timing have.
    """

    curve: PathCurve = checked(_curve)
    timing: OptionalFunctionField = function(default=None, followed=False)

    def _judge(self, check: Check) -> None:
        if self.timing is not None and isinstance(self.curve, (Curve, NurbsCurve)):
            with check.faults.collect():
                _timing(present(self.timing))
        elif self.timing is not None:
            check.fault("timing belongs to a curve", self.timing, "three functions of time need none")

    @cached_property
    def functions(self) -> tuple[Function, Function, Function]:
        """x, y and z as functions of time."""
        curve = self.curve
        if not isinstance(curve, (Curve, NurbsCurve)):
            x, y, z = (as_function("Path", "component", value) for value in curve)
            return (x, y, z)
        timing, beyond = _timing(self.timing)
        if curve.denominator is None:
            made = [
                compose([component], curve.extrapolation, timing, beyond) for component in curve.components
            ]
            x, y, z = (from_pieces(pieces[0], extrapolation) for pieces, extrapolation in made)
        else:
            both = [
                compose([component, curve.denominator], curve.extrapolation, timing, beyond)
                for component in curve.components
            ]
            x, y, z = (from_fraction(pieces[0], pieces[1], extrapolation) for pieces, extrapolation in both)
        return (x, y, z)


def _timing(timing: Function | None) -> tuple[Pieces, str]:
    """The timing as piecewise polynomial and its extrapolation."""
    if timing is None:
        return Pieces(np.array([0.0, FAR]), np.array([[0.0, 1.0]])), "linear"
    if isinstance(timing, Constant):
        return Pieces(np.array([0.0, FAR]), np.array([[timing.value, 0.0]])), "linear"
    if isinstance(timing, Harmonic) and timing.amplitude == 0.0:
        return Pieces(np.array([0.0, FAR]), np.array([[timing.offset, timing.slope]])), "linear"
    if isinstance(timing, _PiecewiseFunction):
        return timing.pieces, timing.extrapolation
    raise MechanismError(
        Fault(
            "Path",
            "the timing must be a piecewise polynomial",
            timing,
            "use a Ramp, Polynomial or CubicSpline; a harmonic motion as a CubicSpline through its values",
        )
    )
