"""The position of each quantity in a recorded frame.

A frame is what the core writes for one instant (`observe` of a System), with the time first (all float64).
The sections, their shapes and their order are declared in cpp/model/observation.*; here are the names of
their contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, Literal

from bellcrank import _core
from bellcrank.compile.state import Label, numbered

MultiplierKind = Literal["drive", "limit", "motor", "constraint"]

_OF_BODIES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
_OF_COORDINATES = ("coordinates", "rates", "coordinate_accelerations")
_OF_OTHERS = ("angles", "angle_rates", "force_coordinates", "force_rates")


@dataclass(frozen=True)
class CoordinateColumn:
    """A free coordinate: the names of its joint and itself, and its unit ("m", "rad" or "1")."""

    joint: str
    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.joint}.{self.name}"


@dataclass(frozen=True)
class MultiplierColumn:
    """The multiplier of one row: the effort of a drive, a limit, a geared motor's inertia, or a constraint.

    element: name of the drive, of the joint that has the limit, of the motor, or of the constraint.
    unit: unit of the effort, "N" or "N m".
    sign: effort along the coordinate = sign * multiplier; -1 for an upper limit.
    coordinate: index in `FrameLayout.coordinates` of the coordinate along which the effort acts, if recorded.
    name: of that coordinate, such as "theta_z".
    """

    element: str
    kind: MultiplierKind
    unit: str
    sign: float = 1.0
    coordinate: int | None = None
    name: str = ""


@dataclass(frozen=True)
class ForceColumn:
    """One effort of a force: along a coordinate, or a component of its force or moment at a marker.

    force: name of the force. name: of the coordinate or the part of it, or such as "force_x", "moment_z".
    unit: of the effort, "N" or "N m".
    coordinate: number of the coordinate among `FrameLayout.every_coordinate`; None for a component.
    """

    force: str
    name: str
    unit: str
    coordinate: int | None = None


@dataclass(frozen=True)
class InputColumn:
    """An input: its name and unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class SensorColumn:
    """A channel of a sensor: the names of both, and its unit."""

    sensor: str
    name: str
    unit: str


@dataclass(frozen=True)
class FrameLayout:
    """The columns of a frame, by name.

    mechanism: name of the mechanism.
    bodies: names, in the order of the columns; the ground is not among them.
    coordinates, multipliers: one entry per column of these sections, coordinates of one joint side by side.
    reactions: names of the joints whose reactions are recorded.
    accelerations: whether the body accelerations are recorded.
    com: centre of mass of each body in its own frame, in m; empty means at the frames' origins.
    angles: angles that are not free coordinates of joints (of gears, say), recorded for their whole turns;
        `joint` is the element that they belong to.
    turning: all angular coordinates of the model, in its order: indices in coordinates followed by angles.
    forces: names of the forces whose efforts are recorded.
    force_columns: one entry per effort, those of one force side by side.
    force_coordinates: coordinates along which forces act and that are not among the others.
    force_potentials: for each column of their section, the force to which the potential energy belongs.
    inputs: the inputs of the run; a frame holds the values that acted up to it.
    contacts: names of the contacts whose points are recorded.
    contact_shapes: name of the body, "ground" among them, of each shape that touches.
    sensors: the channels of sensors, those of one side by side; a frame holds what could be read just before.
    works: accounts whose work since the start is recorded, such as "force 'strut'" or "drive 'crank'"; see
        `accounts`.
    """

    mechanism: str
    bodies: tuple[str, ...]
    coordinates: tuple[CoordinateColumn, ...] = ()
    multipliers: tuple[MultiplierColumn, ...] = ()
    reactions: tuple[str, ...] = ()
    accelerations: bool = False
    com: tuple[tuple[float, float, float], ...] = ()
    angles: tuple[CoordinateColumn, ...] = ()
    turning: tuple[int, ...] = ()
    forces: tuple[str, ...] = ()
    force_columns: tuple[ForceColumn, ...] = ()
    force_coordinates: tuple[CoordinateColumn, ...] = ()
    force_potentials: tuple[str, ...] = ()
    inputs: tuple[InputColumn, ...] = ()
    contacts: tuple[str, ...] = ()
    contact_shapes: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    sensors: tuple[SensorColumn, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without cached derived data, some of which cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _sections(self) -> list[tuple[str, int, tuple[int, ...]]]:
        """Name, first column after the time, and shape of each section."""
        counts = _core.FrameCounts(
            bodies=len(self.bodies),
            coordinates=len(self.coordinates),
            angles=len(self.angles),
            force_coordinates=len(self.force_coordinates),
            multipliers=len(self.multipliers),
            reactions=len(self.reactions),
            efforts=len(self.force_columns),
            potentials=len(self.force_potentials),
            accelerations=self.accelerations,
            inputs=len(self.inputs),
            contacts=bool(self.contacts),
            works=len(self.works),
        )
        found = _core.frame_sections(counts)
        if not self.sensors:
            return found
        *_, (_, begin, shape) = found
        return [*found, ("sensors", begin + prod(shape), (len(self.sensors),))]

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each section in one frame, in the order of the columns."""
        return MappingProxyType({"time": (), **{name: shape for name, _, shape in self._sections}})

    @cached_property
    def columns(self) -> Mapping[str, slice]:
        """Columns of each section in a frame; `frames[:, columns["time"]]` is the first column."""
        found = {name: slice(1 + begin, 1 + begin + prod(shape)) for name, begin, shape in self._sections}
        return MappingProxyType({"time": slice(0, 1), **found})

    @property
    def width(self) -> int:
        """Number of columns after the time: the size of the core's observation."""
        return sum(map(prod, self.shapes.values())) - 1

    @cached_property
    def body_number(self) -> Mapping[str, int]:
        """Place of each body, by name."""
        return MappingProxyType({name: number for number, name in enumerate(self.bodies)})

    @cached_property
    def reaction_number(self) -> Mapping[str, int]:
        """Place of each joint's reaction, by name of the joint."""
        return MappingProxyType({name: number for number, name in enumerate(self.reactions)})

    @cached_property
    def joint_coordinates(self) -> Mapping[str, slice]:
        """Columns of each joint's coordinates within their section; joints without any are left out."""
        return _spans(column.joint for column in self.coordinates)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints that appear in the frames, those with a reaction first."""
        return tuple(dict.fromkeys((*self.reactions, *(column.joint for column in self.coordinates))))

    @cached_property
    def every_coordinate(self) -> tuple[tuple[str, str, int], ...]:
        """For each coordinate, its sections of values and of rates, and its index in them."""
        groups = (
            ("coordinates", "rates", self.coordinates),
            ("angles", "angle_rates", self.angles),
            ("force_coordinates", "force_rates", self.force_coordinates),
        )
        return tuple((value, rate, place) for value, rate, columns in groups for place in range(len(columns)))

    @cached_property
    def angle_labels(self) -> tuple[Label, ...]:
        """The labels of the angles that states of the run contain."""
        columns = (*self.coordinates, *self.angles)
        return numbered((columns[n].joint, columns[n].name) for n in self.turning)

    @cached_property
    def sensor_numbers(self) -> Mapping[str, slice]:
        """Places of each sensor's channels, by name."""
        return _spans(column.sensor for column in self.sensors)

    @cached_property
    def force_numbers(self) -> Mapping[str, slice]:
        """Places of each force's efforts, by name; of a force that exerts nothing, none."""
        none = dict.fromkeys(self.forces, slice(0, 0))
        return MappingProxyType(none | dict(_spans(column.force for column in self.force_columns)))

    def element(self, section: str, place: int) -> str:
        """The element of a number in a section, e.g. "body 'rod'". place: along the section's first axis."""
        if section in _OF_BODIES:
            return f"body {self.bodies[place]!r}"
        if section in _OF_COORDINATES:
            column = self.coordinates[place]
            return f"joint {column.joint!r} ({column.name})"
        if section in _OF_OTHERS:
            other = (self.angles if section.startswith("angle") else self.force_coordinates)[place]
            return f"{other.joint} ({other.name})"
        if section.endswith("multipliers"):
            return f"{self.multipliers[place].kind} {self.multipliers[place].element!r}"
        if section.endswith("reactions"):
            return f"joint {self.reactions[place]!r}"
        if section == "force_efforts":
            return f"force {self.force_columns[place].force!r}"
        if section == "sensors":
            return f"sensor {self.sensors[place].sensor!r} ({self.sensors[place].name})"
        if section == "works":
            return self.works[place]
        return f"force {self.force_potentials[place]!r}" if section == "force_potentials" else "the mechanism"

    def multiplier_numbers(self, element: str, *kinds: MultiplierKind) -> tuple[int, ...]:
        """Indices of the multipliers of this element, of the first of these kinds that it has."""
        for kind in kinds:
            found = (n for n, c in enumerate(self.multipliers) if c.element == element and c.kind == kind)
            if numbers := tuple(found):
                return numbers
        return ()


def _spans(names: Iterable[str]) -> Mapping[str, slice]:
    """Where each name stands, those alike side by side."""
    found: dict[str, slice] = {}
    for number, name in enumerate(names):
        begun = found.get(name)
        found[name] = slice(begun.start if begun else number, number + 1)
    return MappingProxyType(found)
