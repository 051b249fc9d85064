"""The palette: rods, boxes, plates, wheels and meshes, and what joins them, as command lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import markers_of
from bellcrank.mechanism.rotation import between, conjugate, multiply

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?:/[A-Za-z0-9_.]+)*\Z")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ ./-]{0,79}\Z")
_DENSITY: Final = 1000.0  # kg/m^3, scaled to the mass that is given
_TURN_X: Final = "[0.5, 0.5, 0.5, 0.5]"  # z to x
_TURN_Y: Final = "{axis: [0, 1, 0]}"  # z to y
_WORDS: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "ground"))

Sides = Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Piece:
    """A kind of body in the palette.

    sizes: names and usual values of its lengths, m. shape: of these, as files write it. sides: its markers by
    name, of these, in its frame, m.
    """

    sizes: Mapping[str, float]
    shape: Callable[..., str]
    sides: Callable[..., Sides]


def _rod_sides(length: float, _width: float) -> Sides:
    half = 0.5 * length
    return {"start": (-half, 0.0, 0.0), "middle": (0.0, 0.0, 0.0), "end": (half, 0.0, 0.0)}


def _box_sides(x: float, y: float, z: float) -> Sides:
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    ends = {"left": (-x, 0.0, 0.0), "right": (x, 0.0, 0.0), "front": (0.0, -y, 0.0), "back": (0.0, y, 0.0)}
    return {**ends, "bottom": (0.0, 0.0, -z), "top": (0.0, 0.0, z), "middle": (0.0, 0.0, 0.0)}


def _plate_sides(x: float, y: float, _thick: float) -> Sides:
    corners = {f"corner_{k + 1}": (0.5 * x * a, 0.5 * y * b, 0.0) for k, (a, b) in enumerate(_CORNERS)}
    return {**corners, "middle": (0.0, 0.0, 0.0)}


_CORNERS: Final = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))

PALETTE: Final[dict[str, Piece]] = {
    "rod": Piece(
        {"length": 1.0, "width": 0.05},
        lambda length, width: (
            f"{{type: Capsule, radius: {_short(0.5 * width)}, length: {_short(length)}, rotation: {_TURN_X}, "
        ),
        _rod_sides,
    ),
    "box": Piece(
        {"length": 0.3, "depth": 0.2, "height": 0.2},
        lambda x, y, z: f"{{type: Box, size: {_triple((x, y, z))}, ",
        _box_sides,
    ),
    "plate": Piece(
        {"length": 0.6, "depth": 0.4, "thickness": 0.03},
        lambda x, y, z: f"{{type: Box, size: {_triple((x, y, z))}, ",
        _plate_sides,
    ),
    "wheel": Piece(
        {"diameter": 0.4, "width": 0.06},
        lambda diameter, width: (
            f"{{type: Cylinder, radius: {_short(0.5 * diameter)}, length: {_short(width)}, "
            f"rotation: {_TURN_Y}, "
        ),
        lambda diameter, _width: {"hub": (0.0, 0.0, 0.0), "rim": (0.5 * diameter, 0.0, 0.0)},
    ),
    "mesh": Piece({"scale": 1.0}, lambda scale: f"{{type: Mesh, scale: {_short(scale)}, ", lambda _scale: {}),
}
"""The kinds of bodies by name."""

JOINTS: Final = (
    "Revolute", "Spherical", "Prismatic", "Cylindrical", "Universal", "Planar", "PinInSlot", "Fixed",
    "Distance",
)  # fmt: skip
"""The joints that a page offers."""


@dataclass(frozen=True)
class Between:
    """What else can be between two points, as a line of the command language.

    noun, kind: of the element. usual: values of its numbers. lengths: numbers that are by default so many
    times the present distance. optional: further numbers. more: what the line ends in.
    """

    noun: str
    kind: str
    usual: Mapping[str, float]
    lengths: Mapping[str, float]
    optional: tuple[str, ...] = ()
    more: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return (*self.usual, *self.optional, *self.lengths)


_STRUT: Final = {"length": 1.25, "stroke": 0.5}
FORCES: Final = {
    "spring": Between("force", "SpringDamper", {"stiffness": 100.0}, {"rest_length": 1.0}, ("damping",)),
    "string": Between("force", "RubberString", {"stiffness": 100.0}, {"rest_length": 1.0}, ("restitution",)),
    "cable": Between("constraint", "Cable", {}, {"length": 1.0}, more=" slack=true"),
    "gas spring": Between("force", "GasSpring", {"force": 500.0}, _STRUT, ("damping",)),
    "hydraulic cylinder": Between(
        "force", "HydraulicCylinder", {"bore": 0.05, "rod": 0.03, "cap_pressure": 1e6}, _STRUT, ("damping",)
    ),
    "pneumatic cylinder": Between(
        "force", "PneumaticCylinder", {"bore": 0.05, "rod": 0.02, "cap_pressure": 5e5}, _STRUT, ("damping",)
    ),
}
"""By name, what else can be between two points."""


def word(name: str) -> str:
    """A name as a word of the command language and of files. Raises MechanismError for what is no name."""
    if not isinstance(name, str) or not _NAME.match(name) or name.strip() != name:
        rule = (
            "a name has letters, digits, blanks, . _ - and /, at most 80, and begins with a letter or digit"
        )
        raise MechanismError(Fault("name", rule, name if isinstance(name, str) else repr(name)))
    return name if _PLAIN.match(name) and name not in _WORDS - {GROUND} else json.dumps(name)


def body_lines(
    kind: str, name: str, sizes: Sequence[float], mass: float, position: Sequence[float], file: str,
    rotation: Sequence[float] | None = None,
) -> list[str]:  # fmt: skip
    """The command lines that add a body of the palette. Sizes are in m, the mass is in kg."""
    piece = PALETTE[kind]
    named = f"file: {file}, " if kind == "mesh" else ""
    shape = f"{piece.shape(*sizes)}{named}density: {_short(_DENSITY)}}}"
    turned = "" if rotation is None else f" rotation=[{', '.join(map(repr, rotation))}]"
    lines = [f"body {word(name)} mass={_short(mass)} shapes=[{shape}] position={_triple(position)}{turned}"]
    return lines + [
        f"marker {word(f'{name}.{side}')} position={_triple(place)}"
        for side, place in piece.sides(*sizes).items()
    ]


@dataclass(frozen=True, eq=False)
class End:
    """A point that was chosen on a body.

    point: (3,), m, in the frame of the body. rotation: (4,), of the body. marker: name of the one there.
    """

    body: str
    point: Floats
    rotation: Floats
    marker: str = ""

    def plain(self) -> str:
        """As files write it, where axes do not matter."""
        return (
            word(self.marker)
            if self.marker
            else f"{{body: {word(self.body)}, position: {_triple(self.point)}}}"
        )

    def turned(self, axis: Sequence[float]) -> str:
        """As files write it, with z along an axis of the world, x the same for all bodies."""
        x, y, z = axis
        a, b, c, d = self.rotation.tolist()
        back = conjugate((a, b, c, d))
        wanted = multiply(back, between((0.0, 0.0, 1.0), (x, y, z)))
        plain = np.allclose(np.abs(np.dot(wanted, between((0.0, 0.0, 1.0), (x, y, z)))), 1.0, atol=1e-14)
        turn = f"axis: {_triple(axis)}" if plain else f"rotation: [{', '.join(map(repr, wanted))}]"
        if plain and (x, y, z) == (0.0, 0.0, 1.0):
            turn = ""
        place = f"{{body: {word(self.body)}, position: {_triple(self.point)}"
        return f"{place}, {turn}}}" if turn else f"{place}}}"


def joint_line(kind: str, name: str, first: End, second: End, axis: Sequence[float]) -> str:
    """The command line of a joint."""
    return f"joint {word(name)} {kind} {first.turned(axis)} {second.turned(axis)}"


def force_line(kind: str, name: str, first: End, second: End, given: Mapping[str, float]) -> str:
    """The command line of one of FORCES. given: its numbers by the name of the field."""
    between_ = FORCES[kind]
    values = "".join(f" {field}={_short(value)}" for field, value in given.items())
    ends = f"{first.plain()} {second.plain()}"
    return f"{between_.noun} {word(name)} {between_.kind} {ends}{values}{between_.more}"


def points_of(mechanism: Mechanism) -> dict[str, list[tuple[Floats, str]]]:
    """By body, points to which others snap, (3,), m, in its frame: markers, by name where they have one."""
    found: dict[str, list[tuple[Floats, str]]] = {body: [] for body in (*mechanism.bodies, GROUND)}
    for marker in mechanism.markers.values():
        found[marker.body].append((np.array(marker.position, dtype=float), str(marker.key)))
    tables: tuple[Mapping[str, Any], ...] = (
        mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives,
    )  # fmt: skip
    for marker in (one for table in tables for element in table.values() for one in markers_of(element)):
        if marker.key is None and marker.body in found:
            found[marker.body].append((np.array(marker.position, dtype=float), ""))
    return found


def snapped(mechanism: Mechanism, body: str, point: Floats, reach: float) -> tuple[Floats, str]:
    """The point of a body to which another one snaps, and the name of its marker; itself where none is near.

    point: (3,), m, in the frame of the body. reach: m.
    """
    best, name, least = point, "", reach
    for place, marker in points_of(mechanism)[body]:
        away = float(np.linalg.norm(place - point))
        if away < least or (away == least and marker and not name):
            best, name, least = place, marker, away
    return best, name


def fresh_name(stem: str, taken: Sequence[str] | Mapping[str, Any]) -> str:
    """A name that is not taken: a stem with a number."""
    return next(f"{stem}{k}" for k in range(1, len(taken) + 2) if f"{stem}{k}" not in taken)


def is_loose(mechanism: Mechanism, body: str, other: str) -> bool:
    """Whether no chain of joints leads from a body to the ground or to another one."""
    reached, todo = {body}, [body]
    while todo:
        at = todo.pop()
        for joint in mechanism.joints.values():
            pair = {joint.marker_1.body, joint.marker_2.body}
            if at in pair:
                new = pair - reached
                reached |= new
                todo += new - {GROUND}
    return GROUND not in reached and other not in reached


def ends_of(element: Any) -> list[Marker]:
    """The markers of an element."""
    return list(markers_of(element))


def _short(value: float) -> str:
    return f"{float(value) + 0.0:.12g}"


def _triple(values: Any) -> str:
    return f"[{', '.join(_short(value) for value in np.asarray(values, dtype=float).tolist())}]"
