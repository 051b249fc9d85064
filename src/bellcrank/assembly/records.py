"""The records of a Model's elements, and the values it takes from the initial configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bellcrank.assembly.state import State
from bellcrank.mechanism.rows import Lowered

EFFORT_UNITS = {"m": "N", "rad": "N m", "1": "N m"}
"""Unit of the effort along a coordinate, by the coordinate's unit."""

EQUATION_UNIT = "J/1"
"""Unit of the multiplier of an equation: energy by the unit of what is kept at zero."""

MULTIPLIER_KINDS: dict[str, Literal["drive", "limit", "motor", "constraint"]] = {
    "drive": "drive",
    "limit_lower": "limit",
    "limit_upper": "limit",
    "inertance": "motor",
    "constraint": "constraint",
    "equations": "constraint",
}
"""What a multiplier is of, by the role of its block."""


@dataclass(frozen=True)
class JointRecord:
    """A joint in the model.

    bodies: indices of its first and second body, the ground being the number of bodies.
    pair: its pair of markers.
    coordinates, coordinate_names, units: its free coordinates.
    blocks: the blocks of its own rows, those of its limits included; what they exert is its reaction.
    """

    name: str
    kind: str
    bodies: tuple[int, int]
    pair: int
    coordinates: tuple[int, ...]
    coordinate_names: tuple[str, ...]
    units: tuple[str, ...]
    blocks: tuple[int, ...]

    def coordinate_text(self, which: int) -> str:
        """A coordinate for messages: "joint 'pivot'", or "joint 'slot' (z)" where there are several."""
        several = len(self.coordinate_names) > 1
        return f"joint {self.name!r}" + (f" ({self.coordinate_names[which]})" if several else "")


@dataclass(frozen=True)
class CustomRecord:
    """An element given by formulas, or one that acts on the coordinate of such a joint.

    category: "joint", "constraint", "force" or "drive". kind: name of its kind, such as "PathJoint".
    lowered: what it becomes: its formulas (`custom`), rows and laws on own coordinates.
    ends: of a constraint or force: its markers, and its coordinates by their numbers in the model.
    """

    category: str
    name: str
    kind: str
    lowered: Lowered
    ends: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.category} {self.name!r} ({self.kind})"


@dataclass(frozen=True)
class ElementRecord:
    """A constraint, force or drive in the model: indices of its blocks, laws and wrenches."""

    name: str
    blocks: tuple[int, ...] = ()
    laws: tuple[int, ...] = ()
    wrenches: tuple[int, ...] = ()


@dataclass(frozen=True)
class MultiplierRecord:
    """A row whose multiplier is a result: of a drive, a limit, a motor's rotor inertia, or a constraint.

    element: name of the drive, of the joint that has the limit, of the motor, or of the constraint.
    row, coordinate: indices in the model; -1 for a relation of several coordinates.
    sign: effort = sign * multiplier.
    """

    element: str
    kind: Literal["drive", "limit", "motor", "constraint"]
    row: int
    coordinate: int
    coordinate_name: str
    unit: str
    sign: float


@dataclass(frozen=True)
class StartValues:
    """What is taken from the initial configuration.

    rows: rows whose constant makes them zero there. laws: (place in law_params, coordinate) of rest values.
    """

    rows: tuple[int, ...] = ()
    laws: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class GivenValue:
    """A joint coordinate whose initial value or rate is given.

    joint: number of the joint. coordinate: index in the model. name: for messages,
        "position of joint 'pivot'".
    """

    joint: int
    coordinate: int
    value: float
    name: str


@dataclass(frozen=True, eq=False)
class Given:
    """The initial values given for joints, and the State of the bodies as described, before applying them.

    guesses: values that are left where constraints do not allow them. unsaid: the other coordinates of joints
        given by formulas of which some are given, as described.
    """

    positions: tuple[GivenValue, ...] = ()
    velocities: tuple[GivenValue, ...] = ()
    guesses: tuple[GivenValue, ...] = ()
    unsaid: tuple[GivenValue, ...] = ()
    described: State | None = None
