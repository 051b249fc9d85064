"""Types for the signatures of functions: the forms in which arguments may be given.

Texts with units, such as "2 kg", may stand for numbers as well. No type distinguishes "2 kg" from "heavy", so
the types leave texts out: type checkers accept `bc.quantity("2 kg")`, or the text itself with the mypy plugin
(mypy_plugin.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from bellcrank.mechanism.checking import Mat3, Quat, Vec3

Stored_co = TypeVar("Stored_co", covariant=True)
Given_contra = TypeVar("Given_contra", contravariant=True)

if TYPE_CHECKING:
    from bellcrank.expression.arrays import Matrix, Vector
    from bellcrank.expression.expression import Expression
    from bellcrank.mechanism.beams import Beam
    from bellcrank.mechanism.body import Body, Ground
    from bellcrank.mechanism.coordinate import JointCoordinate
    from bellcrank.mechanism.functions.function import Function
    from bellcrank.mechanism.joint import Joint
    from bellcrank.mechanism.marker import Marker

Number: TypeAlias = "float | np.floating[Any] | Expression"
"""A number, or an expression of parameters."""

Numbers: TypeAlias = "Sequence[Number] | np.ndarray[Any, Any] | Vector"
"""Three numbers, or four of a quaternion."""

Rows: TypeAlias = "Numbers | Sequence[Numbers] | Matrix"
"""Numbers, or rows of numbers: a matrix."""

AxisName: TypeAlias = Literal["x", "y", "z", "+x", "+y", "+z", "-x", "-y", "-z"]

Axis: TypeAlias = "Numbers | AxisName"
"""A direction of any length, or the name of one."""

BodyLike: TypeAlias = "Body | Ground | str"
"""A body, the ground, or the name of one."""

MarkerLike: TypeAlias = "Marker | Body | Ground | str"
"""A marker, the name of one, or a body or its name, whose frame is meant."""

JointLike: TypeAlias = "Joint | JointCoordinate | str"
"""A joint, a reference to its coordinate, or the name of one: "joint" or "joint.coordinate"."""

EndLike: TypeAlias = "MarkerLike | JointLike | Beam"
"""What constraints and forces take hold of."""

FunctionLike: TypeAlias = "Function | Number | str"
"""A function of time: also a number, an expression of t, or its text."""

StartValues: TypeAlias = "Number | Numbers | Mapping[str, Number]"
"""Where coordinates of a joint start: a number, numbers for all free ones, or numbers by name."""

if TYPE_CHECKING:

    class Declared(Generic[Stored_co, Given_contra]):
        """A field that takes one type and is read as another, for type checkers only: it is never made."""

        def __get__(self, instance: object, owner: type | None = None) -> Stored_co: ...
        def __set__(self, instance: object, value: Given_contra) -> None: ...

    FloatField: TypeAlias = Declared[float, Number]
    OptionalFloatField: TypeAlias = Declared[float | None, Number | None]
    VectorField: TypeAlias = Declared[Vec3, Numbers]
    OptionalVectorField: TypeAlias = Declared[Vec3 | None, Axis | None]
    RotationField: TypeAlias = Declared[Quat, Rows]
    InertiaField: TypeAlias = Declared[Mat3, Rows]
    FloatsField: TypeAlias = Declared[tuple[float, ...], Numbers]
    OptionalFloatsField: TypeAlias = Declared[tuple[float, ...] | None, Numbers | None]
    ColorField: TypeAlias = Declared[tuple[float, ...] | None, Numbers | str | None]
    PointsField: TypeAlias = Declared[tuple[Vec3, ...], Rows]
    TableField: TypeAlias = Declared[tuple[tuple[float, ...], ...], Rows]
    HeightsField: TypeAlias = Declared[tuple[tuple[float, ...], ...] | str, Rows | str]
    PairField: TypeAlias = Declared[tuple[float, float], Number | Numbers]
else:  # files take what is stored
    FloatField, OptionalFloatField = float, float | None
    VectorField, RotationField, InertiaField = Vec3, Quat, Mat3
    OptionalVectorField = Vec3 | None
    FloatsField, OptionalFloatsField = tuple[float, ...], tuple[float, ...] | None
    ColorField = OptionalFloatsField
    PointsField, TableField = tuple[Vec3, ...], tuple[tuple[float, ...], ...]
    HeightsField, PairField = tuple[tuple[float, ...], ...] | str, float | tuple[float, float]
