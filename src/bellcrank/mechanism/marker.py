"""Markers: frames fixed to bodies, to which joints, constraints, forces and drives are attached."""

from __future__ import annotations

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Quat, Vec3, check_name
from bellcrank.mechanism.fields import Description, described, rotation, vector
from bellcrank.mechanism.given import RotationField, VectorField
from bellcrank.mechanism.rotation import IDENTITY, multiply, rotate
from bellcrank.slips import answering

GROUND = "ground"


@answering
@described
class Marker(Description):
    """A frame on a body.

    body: name of the body it is fixed to ("ground" for the world).
    position: its origin in the body frame, m.
    rotation: unit quaternion (w, x, y, z) from marker axes to body axes.
    name: optional; a named marker can be referred to as "body.name".

    Raises MechanismError if a number is missing or not finite, or if the quaternion is not a unit quaternion.

    >>> tip = bc.Marker("rod", position=(1.0, 0, 0), rotation=bc.rotation("y", "90 deg"), name="tip")
    >>> tip.key, np.round(tip.z_axis, 6).tolist()    # its z axis in the axes of the rod
    ('rod.tip', [1.0, 0.0, 0.0])
    """

    body: str
    position: VectorField = vector("m", default=(0.0, 0.0, 0.0))
    rotation: RotationField = rotation(default=IDENTITY)
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, str) or not self.body:
            raise MechanismError.of(
                "marker",
                "a marker sits on a body",
                self.body,
                "give the body's name, or use body.marker(...)",
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

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element, short

        return element("marker", self.key or self.body, f"at {short(self.position)} m of {self.body}")

    def turned(self, rotation: Quat) -> Marker:
        """The same point with the axes turned by `rotation`, given in marker axes; without a name.

        >>> marker = bc.Marker("rod").turned(bc.rotation("z", "90 deg"))
        >>> np.round(marker.x_axis, 6).tolist()
        [0.0, 1.0, 0.0]
        """
        return Marker(self.body, self.position, multiply(self.rotation, rotation))
