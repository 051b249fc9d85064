"""Markers: frames fixed to bodies, to which joints, constraints, forces and drives are attached."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checked_name import check_name
from bellcrank.mechanism.checking import UNIT_TOLERANCE, Check, Quat, Vec3, rounded
from bellcrank.mechanism.fields import Description, described, rotation, vector
from bellcrank.mechanism.given import RotationField, VectorField
from bellcrank.mechanism.parametric import holds_expressions, present
from bellcrank.mechanism.plain import plain_quaternion
from bellcrank.mechanism.rotation import IDENTITY, between, direction, from_matrix, multiply, rotate

GROUND = "ground"
_UNIT_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_NAMED_AXES: Final[dict[str, Vec3]] = {
    f"{sign}{name}": (factor * x, factor * y, factor * z)
    for name, (x, y, z) in zip("xyz", _UNIT_AXES, strict=True)
    for sign, factor in (("", 1.0), ("+", 1.0), ("-", -1.0))
}


@described
class Marker(Description):
    """A frame on a body.

    body: name of the body it is fixed to ("ground" for the world).
    position: its origin in the body frame, m.
    rotation: unit quaternion (w, x, y, z) from marker axes to body axes.
    name: optional; a named marker can be referred to as "body.name".

    Raises MechanismError if a number is missing or not finite, or if the quaternion is not a unit quaternion.
    """

    body: str
    position: VectorField = vector("m", default=(0.0, 0.0, 0.0))
    rotation: RotationField = rotation(default=IDENTITY)
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, str) or not self.body:
            raise MechanismError(
                Fault(
                    "marker",
                    "a marker sits on a body",
                    self.body,
                    "give the body's name, or use body.marker(...)",
                )
            )
        if self.name is not None:
            check_name(self._element(), self.name, forbidden="./")
        super().__post_init__()

    def _element(self) -> str:
        return f"marker on {self.body!r}" if self.name is None else f"marker '{self.body}.{self.name}'"

    @property
    def key(self) -> str | None:
        """The text "body.name" that refers to a named marker; None for a marker without a name."""
        return None if self.name is None else f"{self.body}.{self.name}"

    @property
    def x_axis(self) -> Vec3:
        """The marker's x axis in body axes."""
        return rotate(self.rotation, (1.0, 0.0, 0.0))

    @property
    def y_axis(self) -> Vec3:
        """The marker's y axis in body axes."""
        return rotate(self.rotation, (0.0, 1.0, 0.0))

    @property
    def z_axis(self) -> Vec3:
        """The marker's z axis in body axes: the axis of revolute, prismatic, cylindrical and screw joints."""
        return rotate(self.rotation, (0.0, 0.0, 1.0))

    def turned(self, rotation: Quat) -> Marker:
        """The same point with the axes turned by `rotation`, given in marker axes; without a name."""
        return Marker(self.body, self.position, multiply(self.rotation, rotation))


def named_axis(value: Any) -> Any:
    """The direction of a name such as "x" or "-z"; anything else is returned unchanged."""
    return _NAMED_AXES.get(value, value) if isinstance(value, str) else value


def orientation(
    element: str,
    rotation: Any = None,
    axis: Any = None,
    x_axis: Any = None,
    y_axis: Any = None,
    z_axis: Any = None,
) -> Quat:
    """The quaternion of a frame given by a quaternion, or by one or two of its axes.

    Axes are vectors or names, such as "x" and "-z". `axis` is an alias of `z_axis`. For one axis alone, the
    shortest rotation from the reference frame is used; two must be perpendicular. The length of an axis does
    not matter. If nothing is given, the frame is the reference frame.

    Raises MechanismError for axes that are zero or not perpendicular, a quaternion that is not a unit
    quaternion, and for redundant arguments.
    """
    axis, x_axis, y_axis, z_axis = map(named_axis, (axis, x_axis, y_axis, z_axis))
    if axis is None and x_axis is None and y_axis is None and z_axis is None:
        if rotation is None:
            return IDENTITY
        if (plain := plain_quaternion(rotation)) is not None:
            return plain
    if holds_expressions((rotation, axis, x_axis, y_axis, z_axis)):
        return _parametric_orientation(element, rotation, axis, x_axis, y_axis, z_axis)
    if axis is not None and z_axis is not None:
        raise MechanismError(Fault(element, "axis and z_axis mean the same", advice="give one of them"))
    named = {"x_axis": x_axis, "y_axis": y_axis, "z_axis": z_axis if axis is None else axis}
    given = {name: value for name, value in named.items() if value is not None}
    with Check(element) as check:
        if rotation is not None:
            if given:
                check.fault("the orientation is given twice", sorted(given), "give either rotation or axes")
            return check.quaternion("rotation", rotation)
        if len(given) > 2:
            check.fault("two axes determine a frame", sorted(given), "leave one of the three out")
        axes = {
            "xyz".index(name[0]): check.axis("axis" if name == "z_axis" and axis is not None else name, value)
            for name, value in given.items()
        }
    if len(axes) == 1:
        ((index, vector),) = axes.items()
        return between(_UNIT_AXES[index], vector)
    return _from_two_axes(element, axes)


def _parametric_orientation(element: str, *given: Any) -> Quat:
    """A rotation given by expressions of parameters: a quaternion, or one axis."""
    orientation(element, *map(present, given))
    named = {place: value for place, value in enumerate(given) if value is not None}
    if len(named) > 1:
        advice = "give one axis, or a quaternion"
        raise MechanismError(Fault(element, "two axes must be numbers", None, advice))
    ((place, value),) = named.items()
    if place == 0:
        w, x, y, z = value
        return (w, x, y, z)
    x, y, z = value
    return between(_UNIT_AXES[(2, 0, 1, 2)[place - 1]], direction((x, y, z)))


def _from_two_axes(element: str, axes: dict[int, Vec3]) -> Quat:
    (first, a), (second, b) = ((index, np.asarray(vector)) for index, vector in axes.items())
    square = b - (a @ b) * a
    length = float(np.linalg.norm(square))
    if abs(float(a @ b)) > UNIT_TOLERANCE:
        names = f"{'xyz'[first]}_axis and {'xyz'[second]}_axis"
        advice = (
            f"a perpendicular {'xyz'[second]}_axis is {rounded(square / length)}" if length > 1e-9 else ""
        )
        raise MechanismError(
            Fault(element, f"{names} must be perpendicular", (a.tolist(), b.tolist()), advice)
        )
    columns = np.zeros((3, 3))
    columns[:, first], columns[:, second] = a, square / length
    third = 3 - first - second
    cyclic = (first + 1) % 3 == second
    columns[:, third] = np.cross(columns[:, first], columns[:, second]) * (1.0 if cyclic else -1.0)
    return from_matrix(columns)
