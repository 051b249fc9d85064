"""Symbols for the ends of custom constraints and forces: poses of markers, coordinates of joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from bellcrank.errors import Fault, MechanismError
from bellcrank.expression import Rotation, Vector, symbol
from bellcrank.expression.grammar import is_name

_AXES = "xyz"


class _End:
    """Common base of both kinds of ends."""

    letter: ClassVar[str]
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_name(self.name):
            rule = "the name must be letters, digits and '_', as formulas use it"
            raise MechanismError(Fault(f"{type(self).__name__} {self.name!r}", rule))
        object.__setattr__(self, "symbols", tuple(symbol(f"{self.name}{part}") for part in self._parts()))

    def _parts(self) -> tuple[str, ...]:
        raise NotImplementedError


@dataclass(frozen=True)
class EndPose(_End):
    """The symbols for an end that is a marker: its pose and velocity in the world.

    Formulas may use position, rotation (a matrix, marker axes to world axes), x_axis, y_axis, z_axis, and in
    forces and velocity constraints also velocity and angular_velocity, all in world axes. In texts they are
    called name.x, name.y, name.z; name.x_axis.x and so on; name.vx, name.vy, name.vz; name.wx, name.wy,
    name.wz.
    """

    name: str
    symbols: tuple[Any, ...] = field(init=False, compare=False, repr=False, default=())
    letter: ClassVar[str] = "M"

    def _parts(self) -> tuple[str, ...]:
        return (".x", ".y", ".z", ".e0", ".e1", ".e2", ".e3", ".vx", ".vy", ".vz", ".wx", ".wy", ".wz")

    @property
    def position(self) -> Vector:
        """The marker's origin, m."""
        return _vector(self.symbols[:3])

    @property
    def quaternion(self) -> tuple[Any, ...]:
        """The unit quaternion (e0, e1, e2, e3) from marker axes to world axes.

        Of the two signs that it may have, it has the one that makes it continuous up to half a turn from the
        rotation that is described, in all formulations. At half a turn formulas that are odd in it jump.
        """
        return self.symbols[3:7]

    @cached_property
    def rotation(self) -> Rotation:
        """The rotation matrix from marker axes to world axes."""
        e0, e1, e2, e3 = self.quaternion
        return Rotation(
            [
                [1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
                [2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)],
                [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)],
            ]
        )

    @property
    def x_axis(self) -> Vector:
        """The marker's x axis, a unit vector."""
        return self.rotation.columns[0]

    @property
    def y_axis(self) -> Vector:
        """The marker's y axis, a unit vector."""
        return self.rotation.columns[1]

    @property
    def z_axis(self) -> Vector:
        """The marker's z axis, a unit vector."""
        return self.rotation.columns[2]

    @property
    def velocity(self) -> Vector:
        """The velocity of the marker's origin, m/s."""
        return _vector(self.symbols[7:10])

    @property
    def angular_velocity(self) -> Vector:
        """The angular velocity of the marker's body, rad/s."""
        return _vector(self.symbols[10:])

    @property
    def rates(self) -> tuple[Any, ...]:
        """The symbols of velocities."""
        return self.symbols[7:]

    def names(self) -> Mapping[str, Any]:
        """What texts may name."""
        found = {str(symbol.name): symbol for symbol in self.symbols}
        for axis, column in zip(_AXES, self.rotation.columns, strict=True):
            found |= {f"{self.name}.{axis}_axis.{part}": e for part, e in zip(_AXES, column, strict=True)}
        return found


@dataclass(frozen=True)
class EndCoordinate(_End):
    """The symbols for an end that is a joint coordinate: value and rate; name and name.rate in texts."""

    name: str
    symbols: tuple[Any, ...] = field(init=False, compare=False, repr=False, default=())
    letter: ClassVar[str] = "J"

    def _parts(self) -> tuple[str, ...]:
        return ("", ".rate")

    @property
    def value(self) -> Any:
        """The coordinate, rad or m."""
        return self.symbols[0]

    @property
    def rate(self) -> Any:
        """Its rate, rad/s or m/s."""
        return self.symbols[1]

    @property
    def rates(self) -> tuple[Any, ...]:
        """The symbol of the rate."""
        return self.symbols[1:]

    def names(self) -> Mapping[str, Any]:
        """What texts may name."""
        return {str(symbol.name): symbol for symbol in self.symbols}


def _vector(symbols: tuple[Any, ...]) -> Vector:
    return Vector(symbols)
