"""Results of a trajectory for one body, joint or input, and the whole. T frames; arrays are read-only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.efforts import flags
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout
from bellcrank.trajectory.rotations import rotate
from bellcrank.trajectory.store import FloatArray, Store, read_only


@dataclass(frozen=True, repr=False)
class BodyHistory:
    """Motion of one body. Positions and velocities are those of its frame's origin, in world axes."""

    name: str
    number: int
    layout: FrameLayout
    store: Store

    def __repr__(self) -> str:
        return f"<body {self.name!r}, {self.store.frames} frames>"

    @property
    def position(self) -> FloatArray:
        """(T, 3), m."""
        return self.store.read("position", self.number)

    @property
    def rotation(self) -> FloatArray:
        """(T, 4), unit quaternions (w, x, y, z) from body axes to world axes."""
        return self.store.read("rotation", self.number)

    @property
    def velocity(self) -> FloatArray:
        """(T, 3), m/s."""
        return self.store.read("velocity", self.number)

    @property
    def angular_velocity(self) -> FloatArray:
        """(T, 3), rad/s."""
        return self.store.read("angular_velocity", self.number)

    @property
    def acceleration(self) -> FloatArray:
        """(T, 3), m/s^2; recorded only if asked for."""
        return self._recorded("acceleration")

    @property
    def angular_acceleration(self) -> FloatArray:
        """(T, 3), rad/s^2; recorded only if asked for."""
        return self._recorded("angular_acceleration")

    @property
    def com(self) -> tuple[float, float, float]:
        """The centre of mass in the body frame, m."""
        return self.layout.com[self.number] if self.layout.com else (0.0, 0.0, 0.0)

    @property
    def com_position(self) -> FloatArray:
        """(T, 3), m: the centre of mass."""
        return self.point(self.com)

    @property
    def com_velocity(self) -> FloatArray:
        """(T, 3), m/s: of the centre of mass."""
        return self.point_velocity(self.com)

    @property
    def com_acceleration(self) -> FloatArray:
        """(T, 3), m/s^2: of the centre of mass; recorded only if asked for."""
        return self.point_acceleration(self.com)

    def point(self, offset: tuple[float, float, float]) -> FloatArray:
        """(T, 3), m: the path of a point of the body that lies at `offset` in its frame."""
        return read_only(self.position + self._arm(offset))

    def point_velocity(self, offset: tuple[float, float, float]) -> FloatArray:
        """(T, 3), m/s: the velocity of a point of the body."""
        return read_only(self.velocity + np.cross(self.angular_velocity, self._arm(offset)))

    def point_acceleration(self, offset: tuple[float, float, float]) -> FloatArray:
        """(T, 3), m/s^2: the acceleration of a point of the body; recorded only if asked for."""
        arm, omega = self._arm(offset), self.angular_velocity
        turning = np.cross(self.angular_acceleration, arm) + np.cross(omega, np.cross(omega, arm))
        return read_only(self.acceleration + turning)

    def _arm(self, offset: tuple[float, float, float]) -> FloatArray:
        return rotate(self.rotation, np.asarray(offset, dtype=float))

    def _recorded(self, section: str) -> FloatArray:
        if not self.layout.accelerations:
            rule, advice = "its acceleration was not recorded", "simulate with accelerations=True"
            raise MechanismError(Fault(f"body {self.name!r}", rule, None, advice))
        return self.store.read(section, self.number)


@dataclass(frozen=True, repr=False)
class JointHistory:
    """Motion of one joint and the loads it transmits. d is the number of its free coordinates."""

    name: str
    layout: FrameLayout
    store: Store

    def __repr__(self) -> str:
        return f"<joint {self.name!r} ({', '.join(self.coordinates) or 'fixed'}), {self.store.frames} frames>"

    @property
    def columns(self) -> tuple[CoordinateColumn, ...]:
        """Its free coordinates."""
        return self.layout.coordinates[self._slice]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its free coordinates."""
        return tuple(column.name for column in self.columns)

    @property
    def position(self) -> FloatArray:
        """(T, d), m or rad; angles are followed over whole turns."""
        return self.store.read("coordinates", self._slice)

    @property
    def velocity(self) -> FloatArray:
        """(T, d), m/s or rad/s."""
        return self.store.read("rates", self._slice)

    @property
    def acceleration(self) -> FloatArray:
        """(T, d), m/s^2 or rad/s^2: rates of the velocity; recorded only if asked for."""
        if "coordinate_accelerations" not in self.layout.shapes:
            rule, advice = "its acceleration was not recorded", "simulate with accelerations=True"
            raise MechanismError(Fault(f"joint {self.name!r}", rule, None, advice))
        return self.store.read("coordinate_accelerations", self._slice)

    @property
    def reaction(self) -> FloatArray:
        """(T, 6), N m and N: moment and force on the second body about its marker's origin, in world axes.

        Raises MechanismError if it was not recorded.
        """
        return self.store.read("reactions", self._reaction_number())

    @property
    def moment(self) -> FloatArray:
        """(T, 3), N m: the first half of the reaction."""
        return self.reaction[:, :3]

    @property
    def force(self) -> FloatArray:
        """(T, 3), N: the second half of the reaction."""
        return self.reaction[:, 3:]

    @property
    def moment_unique(self) -> np.ndarray:
        """(T,), whether the equations of motion determine the moment; see `force_unique`."""
        return self._unique(0)

    @property
    def force_unique(self) -> np.ndarray:
        """(T,), whether the equations of motion determine the force; otherwise it is of least norm.

        Raises MechanismError if the reaction was not recorded.
        """
        return self._unique(1)

    def _unique(self, part: int) -> np.ndarray:
        return flags(self.store.read("unique_reactions", self._reaction_number())[:, part])

    def _reaction_number(self) -> int:
        number = self.layout.reaction_number.get(self.name)
        if number is None:
            rule, advice = "its reaction was not recorded", "simulate with reactions=True"
            raise MechanismError(Fault(f"joint {self.name!r}", rule, None, advice))
        return number

    @property
    def _slice(self) -> slice:
        return self.layout.joint_coordinates.get(self.name, slice(0, 0))


@dataclass(frozen=True, repr=False)
class EnergyHistory:
    """Mechanical energy of the whole mechanism, J. All (T,)."""

    store: Store

    @property
    def kinetic(self) -> FloatArray:
        """Kinetic energy of the bodies."""
        return self.store.read("kinetic")

    @property
    def potential(self) -> FloatArray:
        """Potential energy of the weight and of springs."""
        return self.store.read("potential")

    @property
    def total(self) -> FloatArray:
        """Kinetic and potential energy."""
        return read_only(self.kinetic + self.potential)

    @property
    def drift(self) -> FloatArray:
        """The total less its value at the start; an error, if nothing drives or brakes the mechanism."""
        total = self.total
        return read_only(total - total[:1])


@dataclass(frozen=True, repr=False)
class InputHistory:
    """An input over time. unit: of the values, as declared for the input."""

    name: str
    number: int
    unit: str
    store: Store

    def __repr__(self) -> str:
        return f"<input {self.name!r}, {self.store.frames} frames>"

    @property
    def value(self) -> FloatArray:
        """(T,), the value that acted up to each frame: if it changes at a frame, the value before."""
        return self.store.read("inputs", self.number)


@dataclass(frozen=True, repr=False)
class ViolationHistory:
    """Constraint errors: the largest absolute error of any row. All (T,)."""

    store: Store

    @property
    def position(self) -> FloatArray:
        """Largest constraint error, m or rad."""
        return self.store.read("position_violation")

    @property
    def velocity(self) -> FloatArray:
        """Largest rate of a constraint error, m/s or rad/s."""
        return self.store.read("velocity_violation")
