"""Where each quantity stands in a recorded frame.

A frame is what the core writes for one instant (`observe` of a System), the time in front (all float64):

    time | position 3 per body | rotation 4 per body | velocity 3 per body | angular velocity 3 per body
    | joint coordinates | other angles | rates of the former | rates of the latter
    | multipliers | reactions 6 per joint
    | (if recorded) whether each multiplier is unique | the same of the moment and the force of each reaction
    | kinetic energy | potential energy | largest constraint error | largest error of its rate
    | (if recorded) linear acceleration 3 per body | angular acceleration 3 per body
    | (if recorded; not by the core) accelerations of the joint coordinates
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, Literal

MultiplierKind = Literal["drive", "limit", "motor", "constraint"]


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
    coordinate: number in `FrameLayout.coordinates` of the coordinate that the effort acts along, if recorded.
    name: of that coordinate, such as "theta_z".
    """

    element: str
    kind: MultiplierKind
    unit: str
    sign: float = 1.0
    coordinate: int | None = None
    name: str = ""


@dataclass(frozen=True)
class FrameLayout:
    """The columns of a frame, by name.

    mechanism: name of the mechanism.
    bodies: names, in the order of the columns; the ground is not among them.
    coordinates, multipliers: one entry per column of these sections, coordinates of one joint side by side.
    reactions: names of the joints whose reactions are recorded.
    accelerations: whether the body accelerations are recorded.
    com: centre of mass of each body in its own frame, in m; empty means at the frames' origins.
    angles: angles that no joint has among its free coordinates (of gears, say), recorded for their whole
        turns; `joint` is the element that they belong to.
    turning: all angular coordinates of the model, in its order: numbers in coordinates, angles put together.
    uniqueness: whether it is recorded which multipliers and reactions the equations of motion determine, 1 or
        0; where they do not, as redundant constraints share their load, those of least norm are recorded.
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
    uniqueness: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what follows from them, of which there are views that cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each section in one frame, in the order of the columns."""
        bodies, joints = len(self.bodies), len(self.reactions)
        angles = (len(self.angles),)
        shapes: dict[str, tuple[int, ...]] = {
            "time": (),
            "position": (bodies, 3),
            "rotation": (bodies, 4),
            "velocity": (bodies, 3),
            "angular_velocity": (bodies, 3),
            "coordinates": (len(self.coordinates),),
            **({"angles": angles} if self.angles else {}),
            "rates": (len(self.coordinates),),
            **({"angle_rates": angles} if self.angles else {}),
            "multipliers": (len(self.multipliers),),
            "reactions": (joints, 6),
            **self._unique_shapes,
            "kinetic": (),
            "potential": (),
            "position_violation": (),
            "velocity_violation": (),
        }
        if self.accelerations:
            shapes |= {"acceleration": (bodies, 3), "angular_acceleration": (bodies, 3)}
            shapes["coordinate_accelerations"] = (len(self.coordinates),)
        return MappingProxyType(shapes)

    @property
    def _unique_shapes(self) -> dict[str, tuple[int, ...]]:
        if not self.uniqueness:
            return {}
        return {"unique_multipliers": (len(self.multipliers),), "unique_reactions": (len(self.reactions), 2)}

    @cached_property
    def columns(self) -> Mapping[str, slice]:
        """Columns of each section in a frame; `frames[:, columns["time"]]` is the first column."""
        columns: dict[str, slice] = {}
        start = 0
        for name, shape in self.shapes.items():
            columns[name] = slice(start, start + prod(shape))
            start += prod(shape)
        return MappingProxyType(columns)

    @property
    def width(self) -> int:
        """Number of columns after the time: the size of the core's observation and of what is added to it."""
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
        slices: dict[str, slice] = {}
        for number, column in enumerate(self.coordinates):
            begun = slices.get(column.joint)
            slices[column.joint] = slice(begun.start if begun else number, number + 1)
        return MappingProxyType(slices)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints that show up in the frames, those with a reaction first."""
        return tuple(dict.fromkeys((*self.reactions, *(column.joint for column in self.coordinates))))

    def multiplier_numbers(self, element: str, *kinds: MultiplierKind) -> tuple[int, ...]:
        """Places of the multipliers of this element, of the first of these kinds that it has."""
        for kind in kinds:
            found = (n for n, c in enumerate(self.multipliers) if c.element == element and c.kind == kind)
            if numbers := tuple(found):
                return numbers
        return ()
