"""Functions of one variable: of time for drives and forces, of a coordinate for force laws."""

from bellcrank.mechanism.functions.curve import Curve
from bellcrank.mechanism.functions.function import FUNCTIONS, FlatFunction, Function, as_function
from bellcrank.mechanism.functions.harmonic import Constant, Harmonic
from bellcrank.mechanism.functions.nurbs import Nurbs, NurbsCurve, Rational
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Piecewise, Polynomial, Ramp
from bellcrank.mechanism.functions.spline import CubicSpline, Table

__all__ = [
    "FUNCTIONS",
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
