"""Results of a trajectory for one body, joint or input, and the whole. T frames; arrays are read-only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.attachment import Attachment, ConstraintKind, Coupled, ForceKind, Motion
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.coordinate import JointCoordinate
from bellcrank.mechanism.given import Numbers
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation_arrays import product, rotate
from bellcrank.slips import answering
from bellcrank.trajectory.energy_balance import force_account
from bellcrank.trajectory.layout import CoordinateColumn, ForceColumn, FrameLayout, MultiplierColumn
from bellcrank.trajectory.loads import Side, exerted, sides_of, wrench_on
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import FloatArray, Store, read_only


def named(noun: str, name: object, known: Collection[str]) -> str:
    """A name that a run contains. Raises MechanismError with close matches for any other."""
    if not isinstance(name, str):
        name = getattr(name, "name", name)  # the element itself is as good
    if isinstance(name, str) and name in known:
        return name
    if isinstance(name, str) and name == "ground":
        raise MechanismError(Fault(f"{noun} 'ground'", "the ground does not move and has no results"))
    advice = nearest(name, known) if known else f"it {'records' if noun == 'force' else 'has'} none"
    raise MechanismError(Fault(f"{noun} {name!r}", f"the run has no {noun} of this name", None, advice))


def noun_of(run: Any, name: object) -> str:
    """What has this name in a run: "body", "joint", ...; empty if nothing has."""
    tables = (
        "bodies",
        "joints",
        "drives",
        "forces",
        "constraints",
        "sensors",
        "contacts",
        "inputs",
        "markers",
    )
    for table in tables:
        if name in getattr(run, table):
            return "body" if table == "bodies" else table[:-1]
    return ""


def _unrecorded(element: str, what: str) -> MechanismError:
    return MechanismError(Fault(element, f"its {what} was not recorded", None, f"simulate with {what}s=True"))


def _flags(values: FloatArray) -> np.ndarray:
    """Flags recorded as 1 or 0; between frames a flag is true if it is true at both."""
    return np.asarray(values > 1.0 - 1e-9)


def _work_of(account: str, layout: FrameLayout, store: Store) -> FloatArray:
    """The recorded work (T,) of an account, J; zero if there is none of this name."""
    if not layout.works:
        rule, advice = "its work was not added up", "simulate with ledger=True"
        raise MechanismError(Fault(account, rule, None, advice))
    if account not in layout.works:
        return read_only(np.zeros(store.frames))
    return store.read("works", layout.works.index(account))


@answering
@dataclass(frozen=True, repr=False)
class BodyHistory:
    """Motion of one body. Positions and velocities are those of its frame's origin, in world axes.

    origin: the mechanism, whose parameters give a value to points that depend on them.

    >>> rod = bc.simulate(pendulum, 2.0).body("rod")
    >>> speed = np.linalg.norm(rod.com_velocity, axis=1)
    >>> print(f"{speed.max():.4f} m/s, by energy {np.sqrt(3 * 9.81) / 2:.4f} m/s")
    2.7125 m/s, by energy 2.7125 m/s
    """

    name: str
    number: int
    layout: FrameLayout
    store: Store
    origin: Origin = field(default_factory=Origin, compare=False)

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

    def point(self, offset: Numbers) -> FloatArray:
        """(T, 3), m: the path of a point of the body that lies at `offset` in its frame.

        >>> rod = bc.simulate(pendulum, 2.0).body("rod")
        >>> tip = rod.point((1.0, 0, 0))
        >>> print(f"{np.linalg.norm(tip, axis=1).max():.6f} m, {tip[:, 1].min():.4f} m")    # on a circle
        1.000000 m, -1.0000 m
        """
        return read_only(self.position + self._arm(offset))

    def point_velocity(self, offset: Numbers) -> FloatArray:
        """(T, 3), m/s: the velocity of a point of the body.

        >>> rod = bc.simulate(pendulum, 2.0).body("rod")
        >>> speed = np.linalg.norm(rod.point_velocity((1.0, 0, 0)), axis=1)
        >>> print(f"{speed.max():.4f} m/s, by energy {np.sqrt(3 * 9.81):.4f} m/s")
        5.4249 m/s, by energy 5.4249 m/s
        """
        return read_only(self.velocity + np.cross(self.angular_velocity, self._arm(offset)))

    def point_acceleration(self, offset: Numbers) -> FloatArray:
        """(T, 3), m/s^2: the acceleration of a point of the body; recorded only if asked for.

        >>> rod = bc.simulate(pendulum, 0.1, accelerations=True).body("rod")
        >>> print(rod.point_acceleration((1.0, 0, 0))[0].round(4))    # m/s^2: 3/2 g, more than a stone's
        [  0.    -14.715   0.   ]
        """
        arm, omega = self._arm(offset), self.angular_velocity
        turning = np.cross(self.angular_acceleration, arm) + np.cross(omega, np.cross(omega, arm))
        return read_only(self.acceleration + turning)

    def _arm(self, offset: Numbers) -> FloatArray:
        return rotate(self.rotation, np.array(self.origin.point(f"body {self.name!r}", offset)))

    def _recorded(self, section: str) -> FloatArray:
        if not self.layout.accelerations:
            raise _unrecorded(f"body {self.name!r}", "acceleration")
        return self.store.read(section, self.number)


@answering
@dataclass(frozen=True, repr=False)
class JointHistory:
    """Motion of one joint and the loads it transmits. d is the number of its free coordinates.

    >>> hinge = bc.simulate(pendulum, 2.0).joint("hinge")
    >>> hinge.coordinates
    ('theta_z',)
    >>> load = np.linalg.norm(hinge.force, axis=1)
    >>> print(f"{load.max():.4f} N, by hand {5 / 2 * 9.81:.4f} N")    # at the bottom
    24.5250 N, by hand 24.5250 N
    """

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
            raise _unrecorded(f"joint {self.name!r}", "acceleration")
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
        return _flags(self.store.read("unique_reactions", self._reaction_number())[:, part])

    def _reaction_number(self) -> int:
        number = self.layout.reaction_number.get(self.name)
        if number is None:
            raise _unrecorded(f"joint {self.name!r}", "reaction")
        return number

    @property
    def _slice(self) -> slice:
        return self.layout.joint_coordinates.get(self.name, slice(0, 0))


@answering
@dataclass(frozen=True, repr=False)
class EnergyHistory:
    """Mechanical energy of the whole mechanism, J. All (T,).

    >>> energy = bc.simulate(pendulum, 2.0).energy
    >>> print(f"{energy.kinetic.max():.4f} J, by hand {9.81 / 2:.4f} J")
    4.9050 J, by hand 4.9050 J
    >>> print(f"{abs(energy.drift).max():.4f} J")    # the error
    0.0000 J
    """

    store: Store

    def __repr__(self) -> str:
        return f"<energy, {self.store.frames} frames>"

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


@answering
@dataclass(frozen=True, repr=False)
class InputHistory:
    """An input over time. unit: of the values, as declared for the input.

    >>> motor = block.add_force("motor", bc.JointMotor(bc.Input("force", 3.0, unit="N")), "guide")
    >>> held = bc.HeldInputs({"force": [1.0, 2.0]}, period=0.5)
    >>> history = bc.simulate(block, 1.0, controllers=held).input("force")
    >>> print(history.value[[1, -1]], history.unit)
    [1. 2.] N
    """

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


@answering
@dataclass(frozen=True, repr=False)
class SensorHistory:
    """What a sensor read: at each frame, what could be read just before it. c is the number of channels.

    >>> imu = block.add_sensor("imu", bc.IMU(period=0.01), "block")
    >>> history = bc.simulate(block, 0.1).sensor("imu")
    >>> history.channels[2], history.units[2], history.values.shape[1]
    ('acceleration_z', 'm/s^2', 6)
    """

    name: str
    layout: FrameLayout
    store: Store

    def __repr__(self) -> str:
        return f"<sensor {self.name!r} ({', '.join(self.channels)}), {self.store.frames} frames>"

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of its channels, such as "force_x"."""
        return tuple(column.name for column in self.layout.sensors[self._slice])

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each channel."""
        return tuple(column.unit for column in self.layout.sensors[self._slice])

    @property
    def values(self) -> FloatArray:
        """(T, c), in the units of the channels."""
        return self.store.read("sensors", self._slice)

    @property
    def value(self) -> FloatArray:
        """(T,), or (T, c) if there is not exactly one channel."""
        return _squeezed(self.values)

    def channel(self, name: str) -> FloatArray:
        """(T,): one of `channels`. Raises MechanismError for an unknown name.

        >>> imu = block.add_sensor("imu", bc.IMU(period=0.01), "block")
        >>> falling = bc.simulate(block, 0.1).sensor("imu").channel("acceleration_z")
        >>> print(abs(falling).max().round(9))    # m/s^2: an accelerometer shows nothing in free fall
        0.0
        """
        number = self.channels.index(named(f"channel of sensor {self.name!r}", name, self.channels))
        return read_only(self.values[:, number])

    @property
    def _slice(self) -> slice:
        return self.layout.sensor_numbers[self.name]


@answering
@dataclass(frozen=True, repr=False)
class ViolationHistory:
    """Constraint errors: the largest absolute error of any row. All (T,).

    >>> violation = bc.simulate(four_bar, 1.0).violation
    >>> print(violation.position.max() < 1e-10, violation.velocity.max() < 1e-9)    # m, m/s
    True True
    """

    store: Store

    def __repr__(self) -> str:
        return f"<violation of constraints, {self.store.frames} frames>"

    @property
    def position(self) -> FloatArray:
        """Largest constraint error, m or rad."""
        return self.store.read("position_violation")

    @property
    def velocity(self) -> FloatArray:
        """Largest rate of a constraint error, m/s or rad/s."""
        return self.store.read("velocity_violation")


class Efforts(ABC):
    """Efforts along coordinates, or components at markers; further results of kinds that have them."""

    name: str

    @property
    @abstractmethod
    def columns(self) -> Sequence[MultiplierColumn | ForceColumn]:
        """The efforts."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of what it acts along: coordinates, components at markers; or of its parts, as "friction"."""
        return tuple(column.name for column in self.columns)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each effort, "N" or "N m"."""
        return tuple(column.unit for column in self.columns)

    noun: ClassVar[str] = "effort"

    @property
    def quantities(self) -> Mapping[str, str]:
        """Names of further results of its kind, such as "pressure", with their units; see `quantity`."""
        return {name: unit for name, (unit, _) in self._further.items()}

    def quantity(self, name: str) -> FloatArray:
        """(T,), a further result of its kind, one of `quantities`.

        Raises MechanismError for another name; a run that does not contain its mechanism has none.

        >>> motor = bc.DCMotor(voltage=12.0, resistance=2.0, torque_constant=0.05)
        >>> drive = shafts.add_force("motor", motor, "output")
        >>> history = bc.simulate(shafts, 0.1).force("motor")
        >>> print(history.quantity("current")[0].round(6), history.quantities["current"])    # 12 V / 2 ohm
        6.0 A
        """
        found = self._further
        if name not in found:
            advice = nearest(str(name), found) if found else "its kind has none"
            rule = "it has no quantity of this name"
            raise MechanismError(Fault(f"{self.noun} {self.name!r}", rule, name, advice))
        return read_only(np.asarray(found[name][1]))

    @property
    def _further(self) -> Mapping[str, tuple[str, FloatArray]]:
        """Units and values by name."""
        return {}


@answering
@dataclass(frozen=True, repr=False)
class EffortHistory(Efforts):
    """Efforts of a drive, of a geared motor's inertia or of a joint's limits, along the coordinates.

    Usually there is one coordinate; a drive along a path has three or six, and a joint may limit several.
    numbers: for each coordinate, the indices of its multipliers; the two limits of a coordinate are added.

    >>> motor = bc.simulate(arm, 0.1).drive("shoulder")
    >>> print(motor.effort[-1].round(4), motor.unit)    # two rods of 9.81 N at 0.5 m and 1.5 m
    19.62 N m
    """

    name: str
    numbers: tuple[tuple[int, ...], ...]
    layout: FrameLayout
    store: Store

    @classmethod
    def of(cls, name: str, numbers: tuple[int, ...], layout: FrameLayout, store: Store, *more: Any) -> Self:
        """From the indices of all its multipliers."""
        groups: dict[str, list[int]] = {}
        for number in numbers:
            groups.setdefault(layout.multipliers[number].name, []).append(number)
        return cls(name, tuple(map(tuple, groups.values())), layout, store, *more)

    def __repr__(self) -> str:
        along = ", ".join(self.coordinates)
        return f"<effort of {self.name!r} along {along}, {self.store.frames} frames>"

    @property
    def columns(self) -> tuple[MultiplierColumn, ...]:
        """The multipliers, one for each coordinate."""
        return tuple(self.layout.multipliers[group[0]] for group in self.numbers)

    @property
    def unit(self) -> str:
        """Unit of the effort along the first, and usually the only, coordinate."""
        return self.units[0]

    @property
    def effort(self) -> FloatArray:
        """(T,), or (T, k) for k > 1 coordinates; N or N m, positive where it drives the coordinate up."""
        efforts = [self._along(group) for group in self.numbers]
        return read_only(efforts[0] if len(efforts) == 1 else np.stack(efforts, axis=1))

    @property
    def unique(self) -> np.ndarray:
        """(T,) or (T, k), whether the equations of motion determine the effort; if not, it has least norm."""
        found = [
            np.all([_flags(self.store.read("unique_multipliers", n)) for n in group], axis=0)
            for group in self.numbers
        ]
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    @property
    def power(self) -> FloatArray:
        """(T,), W: efforts times the rates of the coordinates they act along.

        Raises MechanismError if these coordinates were not recorded.
        """
        if any(column.coordinate is None for column in self.columns):
            rule, advice = "the rate of its coordinate was not recorded", "take a free coordinate of a joint"
            raise MechanismError(Fault(f"drive {self.name!r}", rule, None, advice))
        powers = [
            self._along(group) * self.store.read("rates", column.coordinate)
            for group, column in zip(self.numbers, self.columns, strict=True)
        ]
        return read_only(np.sum(powers, axis=0))

    @property
    def work(self) -> FloatArray:
        """(T,), J: work of a drive, multiplier times prescribed rate, integrated along the run's steps.

        Zero for elements that move only with the bodies. Raises MechanismError for a run without it
        (`simulate(..., ledger=True)`).
        """
        kind = self.layout.multipliers[self.numbers[0][0]].kind
        return _work_of(f"{kind} {self.name!r}", self.layout, self.store)

    def _along(self, group: tuple[int, ...]) -> FloatArray:
        signed = [self.layout.multipliers[n].sign * self.store.read("multipliers", n) for n in group]
        total: FloatArray = np.sum(signed, axis=0)
        return total


@answering
@dataclass(frozen=True, repr=False)
class ConstraintHistory(EffortHistory):
    """The effort of a constraint, with the further results of its kind, such as the pressure on a cam.

    >>> gear = shafts.add_constraint("gear", bc.Gear(radii=(0.1, 0.2)), "input shaft", "output shaft")
    >>> motor = shafts.add_force("motor", bc.JointMotor(5.0), "input")
    >>> teeth = bc.simulate(shafts, 1.0).constraint("gear")
    >>> print(abs(teeth.effort[-1]).round(4), teeth.unit)    # 2 rad/s^2 of 1 kg m^2 at 0.2 m
    10.0 N
    """

    origin: Origin
    noun: ClassVar[str] = "constraint"

    @cached_property
    def _further(self) -> dict[str, tuple[str, FloatArray]]:
        """Units and values by name; none where the run does not contain its mechanism, or several."""
        if self.origin.changed or not self.origin.known:
            return {}
        constraint = self.origin.mechanism.constraints.get(self.name)
        if constraint is None or type(constraint.kind).quantities is ConstraintKind.quantities:
            return {}
        constraint = with_numbers(self.origin.mechanism).constraints[self.name]
        ends = tuple(map(self._seen, constraint.ends))
        return constraint.kind.quantities(Coupled(self.store.read("time"), self.effort, ends))

    def _seen(self, end: Attachment) -> FloatArray | tuple[FloatArray, FloatArray]:
        """The coordinate (T,) of a joint, or position (T, 3) and rotation (T, 4) of a marker in the world."""
        if isinstance(end, JointCoordinate):
            which = self.origin.mechanism.joints[end.joint].coordinate_name(end.coordinate)
            history = JointHistory(end.joint, self.layout, self.store)
            if which not in history.coordinates:
                rule, advice = "the coordinate of an end was not recorded", "take a free one of its joint"
                raise MechanismError(Fault(f"constraint {self.name!r}", rule, str(end), advice))
            return history.position[:, history.coordinates.index(which)]
        place, turn = np.asarray(end.position), np.asarray(end.rotation)
        if end.body == GROUND:
            return np.tile(place, (self.store.frames, 1)), np.tile(turn, (self.store.frames, 1))
        body = BodyHistory(end.body, self.layout.bodies.index(end.body), self.layout, self.store, self.origin)
        return body.point(end.position), product(body.rotation, turn)


@answering
@dataclass(frozen=True, repr=False)
class ForceHistory(Efforts):
    """History of a spring, a motor, friction, an applied wrench or another force: positions and efforts.

    Its efforts are along coordinates, or components of force and moment at markers (names such as "force_x",
    in the axes in which they were given); components that are always zero have no column. Actuators have
    several on one coordinate, called after their parts, such as "cap" and "friction". Of a geared motor
    it is the torque's effort; the inertia of its rotor is `run.drive(name)`.

    >>> spring = block.add_force("spring", bc.TorsionSpring(981.0), "guide")
    >>> history = bc.simulate(block, 0.5).force("spring")
    >>> print(history.effort.max().round(3), history.energy.max().round(4))    # N, J: twice the weight
    39.24 0.7848
    """

    name: str
    layout: FrameLayout
    store: Store
    origin: Origin
    noun: ClassVar[str] = "force"

    def __repr__(self) -> str:
        return f"<force {self.name!r} ({', '.join(self.coordinates)}), {self.store.frames} frames>"

    @property
    def columns(self) -> tuple[ForceColumn, ...]:
        """Its efforts."""
        return self.layout.force_columns[self._slice]

    @property
    def effort(self) -> FloatArray:
        """(T,), or (T, k) if there is not exactly one; N or N m, positive if it drives the coordinate up."""
        return _squeezed(self._efforts)

    @property
    def position(self) -> FloatArray:
        """(T,) or (T, k), m or rad: of the coordinates; NaN for components at markers."""
        return _squeezed(self._along(0))

    @property
    def rate(self) -> FloatArray:
        """(T,) or (T, k), m/s or rad/s: of the coordinates, and of markers along the components there."""
        return _squeezed(self._rates)

    @property
    def power(self) -> FloatArray:
        """(T,), W: its power on the bodies, efforts times rates."""
        return read_only(np.sum(self._efforts * self._rates, axis=1))

    @property
    def work(self) -> FloatArray:
        """(T,), J: the integral of its power since the run began, along the run's steps.

        Raises MechanismError for a run without it (`simulate(..., ledger=True)`).
        """
        return _work_of(force_account(self.name), self.layout, self.store)

    @property
    def energy(self) -> FloatArray:
        """(T,), J: its potential energy. Raises MechanismError if its kind has none, such as friction."""
        places = [n for n, name in enumerate(self.layout.force_potentials) if name == self.name]
        if not places:
            rule, advice = "it has no potential energy", "its work is recorded with ledger=True"
            raise MechanismError(Fault(f"force {self.name!r}", rule, None, advice))
        return read_only(np.sum([self.store.read("force_potentials", n) for n in places], axis=0))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on, "ground" among them where it does."""
        names = (*self._model.bodies, GROUND)
        return tuple(dict.fromkeys(names[side.body] for side in sides_of(self._model, self._in_core)))

    def wrench(self, body: str, point: Numbers = (0.0, 0.0, 0.0)) -> FloatArray:
        """(T, 6), N m and N: moment about a point of a body, then force, exerted on that body, world axes.

        body: one of `bodies`. point: in the body's frame, m. Raises MechanismError for another body, and for
        a run that does not contain its mechanism.

        >>> ends = block.ground.marker((0, 0, 0.5)), "block"
        >>> spring = block.add_force("spring", bc.SpringDamper(981.0, rest_length=0.3), *ends)
        >>> run = bc.simulate(block, 0.01)
        >>> print(run.force("spring").wrench("block")[0].round(4))    # N m, N: it is 0.2 m too long
        [  0.    0.    0.    0.    0.  196.2]
        """
        if body not in self.bodies:
            rule = "it does not act on this body"
            raise MechanismError(Fault(f"force {self.name!r}", rule, body, nearest(body, self.bodies)))
        number = self._model.body_index[body]
        moment, force = np.split(wrench_on(number, self._exerted, self._efforts), 2, axis=1)
        arm = np.array(self.origin.point(f"force {self.name!r}", point))
        if body != GROUND:
            arm = rotate(self.store.read("rotation", number), arm)
        return read_only(np.concatenate([moment - np.cross(arm, force), force], axis=1))

    @cached_property
    def _further(self) -> dict[str, tuple[str, FloatArray]]:
        """Units and values by name; none where the run does not contain its mechanism, or several."""
        if not self.columns or self.origin.changed or not self.origin.known:
            return {}
        written = next((r for r in self._model.custom if (r.category, r.name) == ("force", self.name)), None)
        if isinstance(custom := written and written.lowered.custom, ForceKind):
            return custom.quantities(self._motion)
        force = self.origin.mechanism.forces.get(self.name)
        if force is None or type(force.kind).quantities is ForceKind.quantities:
            return {}
        kind = with_numbers(self.origin.mechanism).forces[self.name].kind
        return kind.quantities(self._motion)

    @property
    def _motion(self) -> Motion:
        return Motion(self.store.read("time"), self._along(0), self._rates, self._efforts)

    @property
    def _slice(self) -> slice:
        return self.layout.force_numbers[self.name]

    @property
    def _efforts(self) -> FloatArray:
        return self.store.read("force_efforts", self._slice)

    def _along(self, which: int) -> FloatArray:
        """(T, k): values (0) or rates (1) of the coordinates."""
        found = np.full((self.store.frames, len(self.columns)), np.nan)
        for k, column in enumerate(self.columns):
            if column.coordinate is not None:
                *sections, place = self.layout.every_coordinate[column.coordinate]
                found[:, k] = self.store.read(sections[which], place)
        return found

    @property
    def _rates(self) -> FloatArray:
        recorded = all(column.coordinate is not None for column in self.columns)
        return self._along(1) if recorded else self._exerted[2]

    @cached_property
    def _model(self) -> Model:
        """The model of the mechanism, which must be that of the run."""
        model = self.origin.model
        listed = force_efforts(model).get(self.name, [])
        same = [(e.name, e.unit) for e in listed] == [(c.name, c.unit) for c in self.columns]
        if model.bodies != self.layout.bodies or not same:
            raise MechanismError(
                Fault(f"force {self.name!r}", "the mechanism kept with the run is another one")
            )
        return model

    @cached_property
    def _in_core(self) -> list[tuple[str, int, int]]:
        return [e.core for e in force_efforts(self._model)[self.name]]

    @cached_property
    def _exerted(self) -> tuple[list[Side], FloatArray, FloatArray]:
        return exerted(self._model, self.layout, self.store, self._in_core)


def _squeezed(values: FloatArray) -> FloatArray:
    return read_only(values[:, 0] if values.shape[1] == 1 else values)
