"""Coordinates: scalar functions of the relative pose of two markers, on which all elements are built.

Marker 2 seen from marker 1 has the relative position r (in marker-1 axes) and the relative rotation q = (e0,
e1, e2, e3).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import pi
from typing import Any, Final

from bellcrank.errors import MechanismError
from bellcrank.mechanism.marker import Marker

MIRRORED: Final = "mirrored_"
OWN: Final = "own"
"""The kind of a coordinate that belongs to a joint given by formulas; its parameter is its number there."""

BEAM: Final = "beam_"
"""How the names of the strains of beams begin."""

TURNED: Final = "turned_"
"""How names of components of a rotation vector that is followed past half a turn begin."""

FORMULA_ROW: Final = "formula_row"
FORMULA_COORDINATE: Final = "formula_coordinate"
OF_FORMULAS: Final = (FORMULA_ROW, FORMULA_COORDINATE)
"""What the rows and the own coordinates of joints given by formulas are called in the flat arrays."""


@dataclass(frozen=True)
class CoordinateKind:
    """One kind of coordinate.

    angular: its branch of 2 pi is tracked, so it counts whole turns.
    unit: "m", "rad" or "1".
    has_params: it needs numbers of its own (a curve).
    """

    name: str
    meaning: str
    unit: str
    angular: bool = False
    has_params: bool = False


def _kinds() -> dict[str, CoordinateKind]:
    kinds = [CoordinateKind(k, f"{k} component of the relative position", "m") for k in "xyz"]
    kinds += [CoordinateKind(f"e{i}", f"component {i} of the relative quaternion", "1") for i in range(4)]
    kinds += [CoordinateKind(f"theta_{k}", f"angle of twist about {k}", "rad", True) for k in "xyz"]
    kinds += [CoordinateKind(f"rot_{k}", f"{k} component of the rotation vector", "rad") for k in "xyz"]
    kinds += [
        CoordinateKind(f"log_{k}", f"{k} component of the translation of the twist to the relative pose", "m")
        for k in "xyz"
    ]
    kinds += [
        CoordinateKind(
            f"beam_{k}",
            f"strain {k} of 6 of a beam's segment; half its square is energy",
            "J^0.5",
            has_params=True,
        )
        for k in range(1, 7)
    ]
    kinds += [
        CoordinateKind(f"{TURNED}{k}", f"{k} component of the rotation vector, followed past pi", "rad", True)
        for k in "xyz"
    ]
    kinds += [
        CoordinateKind("universal_1", "first angle of a universal joint, about x of marker 1", "rad", True),
        CoordinateKind("universal_2", "second angle of a universal joint, about y of marker 2", "rad", True),
    ]
    kinds += [
        CoordinateKind(f"dot_{i}{j}", f"cosine between axis {i} of marker 1 and axis {j} of marker 2", "1")
        for i in "xyz"
        for j in "xyz"
    ]
    kinds += [
        CoordinateKind("distance", "distance between the origins", "m"),
        CoordinateKind("distance_xy", "distance from the z axis of marker 1", "m"),
        CoordinateKind(
            "tangent_span",
            "rope from wheel to wheel: the common tangent, and its share of arcs",
            "m",
            has_params=True,
        ),
        CoordinateKind("azimuth", "direction of origin 2 in the xy plane of marker 1", "rad", True),
        CoordinateKind(
            "tangent_slant",
            "angle of a rope from wheel to wheel against the line of centres",
            "rad",
            has_params=True,
        ),
        CoordinateKind(
            "azimuth_axis", "direction of the z axis of marker 2 in the xy plane of marker 1", "rad", True
        ),
        CoordinateKind(
            "curve_normal_1", "offset from the curve along its first normal", "m", has_params=True
        ),
        CoordinateKind(
            "curve_normal_2", "offset from the curve along its second normal", "m", has_params=True
        ),
        CoordinateKind(
            "curve_parameter", "parameter of the closest point of the curve", "m", has_params=True
        ),
        CoordinateKind(
            "curve_angle", "the same for closed curves, 2 pi for a round", "rad", True, has_params=True
        ),
        CoordinateKind(
            "cam_lift", "motion law of a cam (m or rad) at the angle of twist about z", "1", has_params=True
        ),
        CoordinateKind(
            "cam_slide",
            "travel of a point along its line, less the motion law of the cam",
            "m",
            has_params=True,
        ),
        CoordinateKind(
            "cam_swing", "swing of a point on its arm, less the motion law of the cam", "rad", has_params=True
        ),
    ]
    return {kind.name: kind for kind in kinds}


COORDINATE_KINDS: Final[dict[str, CoordinateKind]] = _kinds()
"""All kinds by name. Any name may carry the prefix "mirrored_": the same with the two markers swapped."""


@dataclass(frozen=True)
class Coordinate:
    """The scalar function `kind` of the pose of marker 2 relative to marker 1; `params` as the kind needs.

    >>> hinge = pendulum.joints["hinge"]
    >>> bc.Coordinate("theta_z", hinge.marker_1, hinge.marker_2).kind
    'theta_z'
    >>> hinge.kind.free    # the kinds of the coordinates that a hinge leaves free
    ('theta_z',)
    """

    kind: str
    marker_1: Marker
    marker_2: Marker
    params: tuple[float, ...] = ()


def turn_of(kind: str) -> float:
    """An angle that couplings count may differ by multiples of this from that of the poses alone, rad.

    A direction that has gone over its pole counts on as that of the line which it is on.
    """
    return pi if kind.startswith("azimuth") else 2.0 * pi


def coordinate_kind(name: str) -> CoordinateKind | None:
    """The kind of a coordinate name, with or without the prefix "mirrored_"; None if there is none."""
    return COORDINATE_KINDS.get(name.removeprefix(MIRRORED))


def unit_of(joint_kind: Any, name: str) -> str:
    """The unit of a coordinate of a joint: "m", "rad" or "1"."""
    if name in joint_kind.free and hasattr(joint_kind, "units_of_coordinates"):
        unit: str = joint_kind.units_of_coordinates[joint_kind.free.index(name)]
        return unit
    kind = coordinate_kind(name)
    return "1" if kind is None else kind.unit


def coordinate(name: str, marker_1: Marker, marker_2: Marker, params: tuple[float, ...] = ()) -> Coordinate:
    """The coordinate of that name between two markers; "mirrored_..." swaps the markers.

    Raises MechanismError for a name that is not a coordinate.
    """
    kind = coordinate_kind(name)
    if kind is None:
        raise MechanismError.of(
            "coordinate", "this is not a coordinate", name, f"known are {', '.join(COORDINATE_KINDS)}"
        )
    if name.startswith(MIRRORED):
        marker_1, marker_2 = marker_2, marker_1
    return Coordinate(kind.name, marker_1, marker_2, params)


def stands_still(name: str, locked: Collection[str]) -> bool:
    """Whether a coordinate cannot move (or has no meaning) if the given coordinates are locked at zero."""
    base = name.removeprefix(MIRRORED)
    shifts_held = {axis for axis in "xyz" if axis in locked}
    turns_held = {axis for axis, e in zip("xyz", ("e1", "e2", "e3"), strict=True) if e in locked}
    if base.startswith(("theta_", "rot_", TURNED)):
        return base[-1] in turns_held
    if base in ("x", "y", "z", "log_x", "log_y", "log_z", "distance", "tangent_span"):
        return len(shifts_held) == 3
    if base in ("distance_xy", "azimuth", "tangent_slant"):
        return {"x", "y"} <= shifts_held and (name == base or "z" in shifts_held)
    if base.startswith("beam_"):
        return len(shifts_held) == len(turns_held) == 3
    return not base.startswith("curve_") and len(turns_held) == 3


@dataclass(frozen=True)
class JointCoordinate:
    """A reference to a coordinate of a joint: the joint's name, and the coordinate's name or number.

    coordinate: None means the joint's only free coordinate.

    >>> q = bc.JointCoordinate("hinge", "theta_z")
    >>> drive = pendulum.add_drive("motor", q.joint, q.coordinate, velocity=1.0)
    >>> drive.coordinate == q
    True
    """

    joint: str
    coordinate: str | int | None = None

    def __str__(self) -> str:
        return self.joint if self.coordinate is None else f"{self.joint}.{self.coordinate}"
