"""Functions of one variable: of time for drives and forces, of a coordinate for force laws."""

from bellcrank.mechanism.functions.cam_motion import CamMotion
from bellcrank.mechanism.functions.function import (
    FUNCTIONS,
    Constant,
    FlatFunction,
    Function,
    Harmonic,
    as_function,
)
from bellcrank.mechanism.functions.nurbs import Nurbs, NurbsCurve, Rational
from bellcrank.mechanism.functions.path import Curve, Path
from bellcrank.mechanism.functions.piecewise import Piecewise, Polynomial, Ramp
from bellcrank.mechanism.functions.spline import CubicSpline, Table

__all__ = [
    "FUNCTIONS",
    "CamMotion",
    "Constant",
    "CubicSpline",
    "Curve",
    "FlatFunction",
    "Function",
    "Harmonic",
    "Nurbs",
    "NurbsCurve",
    "Path",
    "Piecewise",
    "Polynomial",
    "Ramp",
    "Rational",
    "Table",
    "as_function",
]
