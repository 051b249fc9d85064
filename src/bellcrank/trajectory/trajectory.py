"""The Trajectory: results of a run by name. It does not depend on how they were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from bellcrank.compile.standing import Standing
from bellcrank.compile.state import State, StateSource
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.contents import counted
from bellcrank.mechanism.marker import GROUND
from bellcrank.slips import Names, answering
from bellcrank.trajectory.contacts import ContactHistory, memory_at, rows_of
from bellcrank.trajectory.energy_balance import EnergyBalance, energy_balance
from bellcrank.trajectory.histories import (
    BodyHistory,
    ConstraintHistory,
    EffortHistory,
    EnergyHistory,
    ForceHistory,
    InputHistory,
    JointHistory,
    SensorHistory,
    ViolationHistory,
    named,
    noun_of,
)
from bellcrank.trajectory.interpolate import STATE_SECTIONS, interpolated
from bellcrank.trajectory.layout import FrameLayout, MultiplierKind
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.pictures import Shown
from bellcrank.trajectory.store import FloatArray, MemoryStore, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from bellcrank.compile.variants import Part
    from bellcrank.mechanism.given import MarkerLike
    from bellcrank.trajectory.beams import BeamHistory
    from bellcrank.trajectory.markers import MarkerHistory
    from bellcrank.trajectory.rubbing import FrictionHistory
    from bellcrank.trajectory.sections import SectionHistory
    from bellcrank.trajectory.solids import SolidHistory


class Status(str):
    """How a run ended: "finished", "interrupted", "running" (from a file without an end), or why it failed.

    message: a sentence for the user; empty if there is none.
    """

    __slots__ = ("message",)
    message: str

    def __new__(cls, state: str, message: str = "") -> Status:
        """A status with its message."""
        status = super().__new__(cls, state)
        status.message = message
        return status


@dataclass(frozen=True, eq=False)
class EventRecord:
    """An event of a run.

    time: s. name: of the event, or "lower limit of joint 'pivot'" and the like if a stop was reached.
    state: of the bodies then; at a stop, after the impact. `simulate(..., state=record.state)` continues from
        it.
    """

    time: float
    name: str
    state: State

    def __repr__(self) -> str:
        return f"<{self.name} at t = {self.time:.9g} s>"


_FRAMES_MOST = 10_000_000  # of a run at other times


@answering
class Trajectory(Shown):
    """Results of a run: T frames at increasing times. SI units, world axes; all arrays are read-only.

    layout: what was recorded. status: how the run ended. statistics: what the solver counted.
    origin: the mechanism of the run.
    events: requested events and stops that were reached, in the order of time, each with its name, time and
        state.

    >>> run = bc.simulate(pendulum, 2.0)
    >>> run
    <Trajectory of 'pendulum': 1001 frames, t = 0 to 2 s, finished>
    >>> run.joints, run.bodies, run.markers
    (('hinge',), ('rod',), ('rod.tip',))
    """

    def __init__(
        self,
        layout: FrameLayout,
        store: Store,
        status: Status | str = "finished",
        statistics: Mapping[str, str | int | float] | None = None,
        mechanism: str | Origin = "",
        events: Sequence[EventRecord] = (),
    ) -> None:
        self.layout = layout
        self.store = store
        self.status = status if isinstance(status, Status) else Status(status)
        self.statistics = MappingProxyType(dict(statistics or {}))
        self.origin = Origin.of(mechanism)
        if (changed := self.statistics.get("changed_at", "")) != self.origin.changed:
            self.origin = self.origin.changed_at(str(changed))
        self.state_source = StateSource(layout.bodies, layout.angle_labels, self.origin.values)
        self._happened = tuple(
            e if e.state.source else replace(e, state=replace(e.state, source=self.state_source))
            for e in events
        )

    @property
    def events(self) -> tuple[EventRecord, ...]:
        """What happened, in the order of time; of a change of the mechanism with the state just before."""
        if not self.changes:
            return self._happened
        before = [
            self._source_of(sum(part.begin < e.time for part in self.parts) or 1) for e in self._happened
        ]
        pairs = zip(self._happened, before, strict=True)
        return tuple(replace(e, state=replace(e.state, source=source)) for e, source in pairs)

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of the changes that its mechanism has, if that is known."""
        return self.origin.changes

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts between changes of the mechanism: when each begins, and what is in force in it."""
        if self not in _parts:
            _parts[self] = self._found_parts()
        return _parts[self]

    def _found_parts(self) -> tuple[Part, ...]:
        from bellcrank.compile.variants import Part, parts_of

        values, begin = self.origin.values or {}, float(self.time[0]) if len(self) else 0.0
        if not self.changes:
            return (Part(begin, Standing(), values),)
        changed = [(e.name, e.state) for e in self._happened if e.name in self.changes]
        return tuple(parts_of(self.origin.mechanism, values, begin, changed))

    def _source_of(self, number: int) -> StateSource:
        """The names behind states of a part; the first has number 1."""
        return replace(self.state_source, values=self.parts[number - 1].values)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.layout.mechanism

    @property
    def mechanism(self) -> str:
        """Text of the mechanism's file, shapes included; empty if the run does not contain its mechanism."""
        return self.origin.text

    @property
    def time(self) -> FloatArray:
        """(T,), s."""
        return self.store.read("time")

    def __len__(self) -> int:
        return self.store.frames

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.layout, self.store, self.status, dict(self.statistics), self.origin, self._happened)
        return Trajectory, parts

    def __repr__(self) -> str:
        return f"<Trajectory of {self.name!r}: {self.extent()}, {self.status}>"

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return Names(self.layout.bodies)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return Names(self.layout.joints)

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of the drives, and of motors with a rotor's inertia."""
        return self._elements("drive", "motor")

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints: gears, belts, cables and other couplings."""
        return self._elements("constraint")

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the forces: springs, motors, friction, applied wrenches and others."""
        return Names(self.layout.forces)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return Names(column.name for column in self.layout.inputs)

    @property
    def sensors(self) -> tuple[str, ...]:
        """Names of the sensors."""
        return Names(self.layout.sensor_numbers)

    @property
    def limits(self) -> tuple[str, ...]:
        """Names of the joints with limits."""
        return self._elements("limit")

    def body(self, name: str) -> BodyHistory:
        """The motion of a body. Raises MechanismError with close matches for an unknown name.

        >>> rod = bc.simulate(pendulum, 2.0).body("rod")
        >>> print(f"{rod.com_position[:, 1].min():.4f} m, {abs(rod.angular_velocity).max():.4f} rad/s")
        -0.5000 m, 5.4249 rad/s
        """
        name = named("body", name, self.layout.body_number)
        number = self.layout.body_number[name]
        return BodyHistory(name, number, self.layout, self.store, self.origin)

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers on bodies, "body.name"; none if the run does not contain its mechanism."""
        if not self.origin.known:
            return ()
        return Names(name for name, one in self.origin.mechanism.markers.items() if one.body in self.bodies)

    def marker(self, marker: MarkerLike) -> MarkerHistory:
        """The motion of a marker.

        marker: the name "body.name" of one, a marker itself, or a body or its name, for its frame. Of a run
            during which the mechanism was changed, markers lie where the last mechanism has them.
        Raises MechanismError with close matches for an unknown name.

        >>> tip = bc.simulate(pendulum, 2.0).marker("rod.tip")
        >>> speed = np.linalg.norm(tip.velocity, axis=1)
        >>> print(f"{speed.max():.4f} m/s, by energy {np.sqrt(3 * 9.81):.4f} m/s")
        5.4249 m/s, by energy 5.4249 m/s
        """
        from bellcrank.trajectory.markers import MarkerHistory, marker_in

        name, found = marker_in(self.origin, self.bodies, f"marker {_shown(marker)}", marker)
        body = None if found.body == GROUND else self.body(found.body)
        return MarkerHistory(name, found, body, self.store)

    def joint(self, name: str) -> JointHistory:
        """Motion and reaction of a joint. Raises MechanismError with close matches for an unknown name.

        >>> hinge = bc.simulate(pendulum, 2.0).joint("hinge")
        >>> print(f"{hinge.position[:, 0].min():.4f} rad, {np.linalg.norm(hinge.force, axis=1).max():.4f} N")
        -3.1416 rad, 24.5250 N
        """
        return JointHistory(named("joint", name, self.joints), self.layout, self.store)

    def drive(self, name: str) -> EffortHistory:
        """The effort of a drive. Raises MechanismError with close matches for an unknown name.

        >>> run = bc.simulate(slider_crank, 2 * np.pi / 10, ledger=True)
        >>> torque = run.drive("motor")
        >>> print(f"{abs(torque.effort).max():.3f} N m, {abs(torque.work[-1]):.6f} J")    # over a whole turn
        1.384 N m, 0.000000 J
        """
        return self._effort("drive", name, self.drives, "drive", "motor")

    def constraint(self, name: str) -> ConstraintHistory:
        """The effort of a gear, a belt, a cable or another coupling, as its kind defines it.

        It is the force at the teeth or the rim if radii are given, the tension of a cable, or else the torque
        or force on the first coordinate that it couples, divided by that coordinate's coefficient.
        Raises MechanismError with close matches for an unknown name.

        >>> gear = shafts.add_constraint("gear", bc.Gear(radii=(0.1, 0.2)), "input shaft", "output shaft")
        >>> motor = shafts.add_force("motor", bc.JointMotor(5.0), "input")
        >>> run = bc.simulate(shafts, 1.0)
        >>> print(abs(run.constraint("gear").effort[-1]).round(4))    # N: 1 kg m^2 x 2 rad/s^2 / 0.2 m
        10.0
        """
        name = named("constraint", name, self.constraints)
        numbers = self.layout.multiplier_numbers(name, "constraint")
        return ConstraintHistory.of(name, numbers, self.layout, self.store, self.origin)

    def limit(self, name: str) -> EffortHistory:
        """The efforts of a joint's limits. Raises MechanismError with close matches for an unknown name.

        >>> stop = block.replace(block.joints["guide"], limits=bc.Limit(lower=0.0))
        >>> print(bc.simulate(block, 0.5).limit("guide").effort[-1].round(4))    # N: it carries the weight
        19.62
        """
        return self._effort("joint with limits", name, self.limits, "limit")

    def force(self, name: str) -> ForceHistory:
        """The efforts of a force. Raises MechanismError with close matches for an unknown name.

        >>> spring = block.add_force("spring", bc.TorsionSpring(981.0), "guide")
        >>> run = bc.simulate(block, 0.5)
        >>> print(run.force("spring").effort.max().round(3))    # N: let go, twice the weight
        39.24
        """
        return ForceHistory(named("force", name, self.forces), self.layout, self.store, self.origin)

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts, which are forces as well."""
        return Names(self.layout.contacts)

    def contact(self, name: str) -> ContactHistory:
        """The points of a contact. Raises MechanismError with close matches for an unknown name.

        >>> floor = cube.replace(cube.ground, shapes=[bc.Plane(position=(0, 0, -0.5))])
        >>> touch = cube.add_force("touch", bc.Contact(stiffness=1e6), "cube", "ground")
        >>> cube.gravity = (0, 0, -9.81)
        >>> last = bc.simulate(cube, 2.0).contact("touch").points(-1)
        >>> print(len(last), last.normal_force.sum().round(2))    # four corners carry 6 kg x 9.81 m/s^2
        4 58.86
        """
        return ContactHistory(named("contact", name, self.contacts), self.layout, self.store, self.origin)

    def friction(self, name: str) -> FrictionHistory:
        """Dry friction that holds, its limits, and how much of them is used.

        name: of a force such as `JointFriction`, or of a transmission with losses. Raises MechanismError
        with close matches for an unknown name, and where reactions were not recorded.

        >>> rub = pendulum.add_force("rub", bc.JointFriction(coulomb=6.0), "hinge")
        >>> run = bc.simulate(pendulum, 0.5)
        >>> print(run.friction("rub").utilisation[-1].round(4))    # m g L / 2 of the 6 N m: it holds
        0.8175
        """
        from bellcrank.trajectory.rubbing import friction

        return friction(self, name)

    def section(
        self,
        body: str,
        start: Any = None,
        end: Any = None,
        cuts: Any = 51,
        *,
        up: Any = None,
        mass: str | None = None,
    ) -> SectionHistory:
        """Axial force, shear, torsion and bending at cuts of a body across a line, at all frames.

        start, end: of the line, m, in the body's frame, such as (0, 0, 0) and (0, 0, length) of `add_rod`; by
            default the places where loads take hold of the body that are farthest apart.
        cuts: how many, evenly spaced, with two more at each place where a load enters; or distances from the
            start, m. up: direction of the sections' z axis, body axes; by default the body's z axis, or x for
            a line along z.
        mass: "shapes": the mass is that of the body's shapes with densities, which are cut; "bar": of a
            uniform bar from start to end; "lump": concentrated about the centre of mass. By default the first
            that has the body's mass properties, of a particle the last.

        All loads count: weight, inertia, joints, constraints, drives, forces and contacts; see `loads_on` for
        where they enter. Raises MechanismError if the loads were not recorded, or it is not known where along
        the body its mass is.

        >>> section = bc.simulate(arm, 0.1).section("forearm", (0, 0, 0), (1, 0, 0))
        >>> worst = section.worst("bending")
        >>> print(f"{worst.value:.3f} N m at {worst.distance} m, by hand {9.81 / 2} N m")
        4.905 N m at 0.0 m, by hand 4.905 N m
        """
        from bellcrank.trajectory.sections import section

        return section(self, body, start, end, cuts, up, mass)

    @property
    def beams(self) -> tuple[str, ...]:
        """Names of the beams."""
        return Names(self.origin.mechanism.beams)

    def beam(self, name: str) -> BeamHistory:
        """Loads, stresses, deflections of a beam. Raises MechanismError with close matches for other names.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0), segments=4, damping=1e-3)
        >>> beam = bc.simulate(mech, 0.5).beam("boom")
        >>> at_rest = 9.81 * bar.mass_per_length * 2**4 / (8 * bar.EI[0])    # m
        >>> print(f"{-beam.deflection(2.0)[:, 2].min() / at_rest:.2f} times as far as at rest")
        1.98 times as far as at rest
        """
        from bellcrank.trajectory.beams import beam_history

        def poses(body: str) -> tuple[FloatArray, FloatArray]:
            history = self.body(body)
            return history.position, history.rotation

        return beam_history(self.origin.mechanism, name, self.time, poses)

    def flexible(self, name: str, solid: Any) -> SolidHistory:
        """Stresses inside a flexible solid. solid: that which was given to `add_flexible`, or its file.

        Raises MechanismError for another solid, or one of which no stresses were kept, by
        `bc.flexible(..., stresses=...)`.

        >>> mech, bar = pulled_bar
        >>> bc.simulate(mech, 0.001, method="bdf").flexible("bar", bar)
        <flexible solid 'bar': stresses at 138 nodes, 1001 frames>
        """
        from bellcrank.trajectory.solids import solid_history

        def amplitude(joint: str) -> FloatArray:
            return self.joint(joint).position[:, 0]

        return solid_history(self.origin.mechanism, name, solid, self.time, amplitude)

    def input(self, name: str) -> InputHistory:
        """The values of an input over time. Raises MechanismError with close matches for an unknown name.

        >>> force = block.add_force("motor", bc.JointMotor(bc.Input("force", 3.0, unit="N")), "guide")
        >>> held = bc.simulate(block, 1.0, inputs={"force": 5.0}).input("force")
        >>> held.value[-1].round(6).tolist(), held.unit
        (5.0, 'N')
        """
        name = named("input", name, self.inputs)
        number = self.inputs.index(name)
        return InputHistory(name, number, self.layout.inputs[number].unit, self.store)

    def sensor(self, name: str) -> SensorHistory:
        """What a sensor read. Raises MechanismError with close matches for an unknown name.

        >>> encoder = pendulum.add_sensor("angle", bc.Encoder(period=0.1), "hinge")
        >>> reading = bc.simulate(pendulum, 1.0).sensor("angle")
        >>> reading.channels, reading.value.shape
        (('theta_z',), (1001,))
        """
        return SensorHistory(named("sensor", name, self.sensors), self.layout, self.store)

    def _elements(self, *kinds: MultiplierKind) -> tuple[str, ...]:
        return Names(dict.fromkeys(c.element for c in self.layout.multipliers if c.kind in kinds))

    def _effort(self, noun: str, name: str, known: tuple[str, ...], *kinds: MultiplierKind) -> EffortHistory:
        name = named(noun, name, known)
        numbers = self.layout.multiplier_numbers(name, *kinds)
        return EffortHistory.of(name, numbers, self.layout, self.store)

    @property
    def energy(self) -> EnergyHistory:
        """Kinetic, potential and total energy."""
        return EnergyHistory(self.store)

    def energy_balance(self) -> EnergyBalance:
        """The energy that every force and drive has supplied, stored and lost, and the residual.

        Raises MechanismError for a run without recorded work (`simulate(..., ledger=True)`).

        >>> rub = pendulum.add_force("rub", bc.JointFriction(viscous=0.5), "hinge")
        >>> run = bc.simulate(pendulum, 20.0, ledger=True)
        >>> print(run.force("rub").work[-1].round(3))    # J: all of m g L / 2 is lost
        -4.905
        >>> balance = run.energy_balance()
        >>> print(abs(balance.residual).max() < 1e-6)
        True
        """
        return energy_balance(self.layout, self.store)

    @property
    def violation(self) -> ViolationHistory:
        """Errors of the constraints."""
        return ViolationHistory(self.store)

    def at(self, time: float) -> State:
        """The bodies' state at any time within the run, interpolated between frames (see `interpolate`).

        It contains the whole turns of all angles, so that `simulate(..., state=run.at(t))` continues from
        there. How far friction of contacts is stretched is recorded at frames only: between two of them
        points that touch begin anew. Raises MechanismError for a time outside the run.

        >>> state = bc.simulate(block, 1.0).at(0.123)
        >>> print(state.position[0, 2].round(9), round(-9.81 * 0.123**2 / 2, 9))    # m
        -0.074207745 -0.074207745
        """
        with Check("run") as check:
            time = check.number("the time", time, "s")
        sections = (*STATE_SECTIONS, *_counting(self.layout))
        values = interpolated(self.store, sections, self.within(np.array([time], dtype=float)))
        contacts = memory_at(self.store, float(time)) if self.layout.contacts else None
        state = _state(self.layout, float(time), {name: values[name][0] for name in sections})
        source = self.state_source
        if self.changes:
            source = self._source_of(sum(part.begin <= time for part in self.parts) or 1)
        return replace(state, contacts=contacts, source=source)

    def resample(self, times: Any = None, *, step: float | None = None) -> Trajectory:
        """Resample the run at other times, in memory.

        times: increasing, within the run; or step: one frame every `step` seconds, from the first on.
        Positions, rotations and joint coordinates are interpolated to third order, the rest linearly.

        Raises MechanismError for times outside the run or not increasing.

        >>> run = bc.simulate(block, 1.0).resample(step=0.25)
        >>> run.time.tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        >>> print(run.joint("guide").position[:, 0].round(3))    # m
        [0.    -0.307 -1.226 -2.759 -4.905]
        """
        if (times is None) == (step is None):
            raise MechanismError(Fault("resample", "it takes either times or a step; such as step=0.01"))
        first, last = self.span()
        with Check("resample") as check:
            if step is None:
                listed = [times] if isinstance(times, (int, float)) else times
                times = check.array("times", listed, (None,), "s")
            elif (last - first) / (step := check.positive("step", step, "s")) > _FRAMES_MOST:
                check.fault(f"a run holds at most {_FRAMES_MOST} frames", step)
        if step is not None:
            times = first + step * np.arange(int((last - first) / step * (1 + 1e-12) + 1e-9) + 1)
        wanted = self.within(times)
        if np.any(np.diff(wanted) <= 0.0):
            raise MechanismError(Fault("resample", "times must be increasing; sort them, drop doubles"))
        layout = replace(self.layout, contacts=(), contact_shapes=())  # points come and go between frames
        sections = interpolated(self.store, tuple(layout.shapes), wanted)
        statistics = {**self.statistics, "resampled": f"from {len(self)} frames"}
        return Trajectory(layout, MemoryStore(sections), self.status, statistics, self.origin, self.events)

    def __getitem__(self, frames: slice) -> Trajectory:
        """A part of the run by frame indices, such as run[10:20] or run[::5], in memory.

        Raises MechanismError for anything but a forward slice.
        """
        from bellcrank.trajectory.recorder import spanned

        if not isinstance(frames, slice) or (frames.step is not None and frames.step < 1):
            rule, advice = (
                "a part is a slice of frames, forwards",
                "such as run[10:20]; times: run.between(0, 1)",
            )
            if isinstance(frames, str):
                advice = f"results by name are called: run.{noun_of(self, frames) or 'body'}({frames!r})"
            raise MechanismError(Fault(f"run of {self.name!r}", rule, frames, advice))
        rows = slice(*frames.indices(len(self)))
        inside = self.time[rows]
        sections = {name: self.store.read(name, rows=rows) for name in self.layout.shapes}
        events = [e for e in self.events if len(inside) and inside[0] <= e.time <= inside[-1]]
        store = MemoryStore(sections, rows_of(self.store, rows) if self.layout.contacts else None)
        statistics = dict(self.statistics)
        if len(inside) < len(self) and len(inside):
            statistics |= {"part": f"{len(inside)} of {len(self)} frames", **spanned(inside)}
        origin = self.origin
        if self.changes and len(inside):
            number = sum(part.begin < inside[0] for part in self.parts) or 1
            origin = origin.begun_with(self.parts[number - 1].values)
        return Trajectory(self.layout, store, self.status, statistics, origin, events)

    def between(self, start: float, end: float) -> Trajectory:
        """The frames from one time to another, s, both included.

        >>> run = bc.simulate(block, 1.0)
        >>> part = run.between(0.2, 0.4)
        >>> part.span()
        (0.2, 0.4)
        """
        with Check("between") as check:
            start, end = check.number("start", start, "s"), check.number("end", end, "s")
        first, last = np.searchsorted(self.time, start, "left"), np.searchsorted(self.time, end, "right")
        return self[int(first) : int(last)]

    def summary(self) -> str:
        """The content of the run, in a few lines.

        >>> bc.simulate(block, 1.0).summary().splitlines()[:3]
        ["run of 'block': 1001 frames, t = 0 to 1 s", 'status: finished', '1 body, 1 joint, 0 drives']
        """
        lines = [f"run of {self.name!r}: {self.extent()}"]
        lines.append(f"status: {self.status}" + (f" ({self.status.message})" if self.status.message else ""))
        lines.append(self.contents())
        if len(self):
            worst = float(np.max(self.violation.position))
            drift = float(np.max(np.abs(self.energy.drift)))
            lines.append(f"largest constraint error {worst:.2g}, largest change of energy {drift:.3g} J")
        lines += [f"{name}: {value}" for name, value in self.statistics.items()]
        return "\n".join(lines)

    def to_dict(self, columns: Any = None) -> dict[str, FloatArray]:
        """Every quantity as a column (T,), by name with unit, e.g. "body.crank.x [m]"; for tables.

        columns: those that are wanted, beside the time: names of elements or quantities, such as "crank",
            "joint.pivot", "body.crank.x", patterns such as "boom.*" and "*.theta_z", elements of the
            mechanism, or several of these; None for all.

        Raises MechanismError for names and patterns that nothing fits.

        >>> columns = bc.simulate(block, 1.0).to_dict(["guide", "*.vz"])
        >>> [name for name in columns if name.startswith("joint.guide.z")]
        ['joint.guide.z [m]', 'joint.guide.z.rate [m/s]']
        >>> print(columns["joint.guide.z [m]"][-1].round(4))
        -4.905
        """
        from bellcrank.trajectory.columns import columns as columns_of

        return columns_of(self, columns)

    def to_csv(self, path: str | Path, columns: Any = None) -> None:
        """Write the columns of `to_dict` as text, one line for each frame. columns: as there.

        >>> from pathlib import Path
        >>> bc.simulate(block, times=[0.0, 0.5, 1.0]).to_csv("block.csv")
        >>> len(Path("block.csv").read_text().splitlines())    # a line of names, and one for each frame
        4
        """
        from bellcrank.trajectory.columns import write_csv

        write_csv(self, path, chosen=columns)

    def to_xarray(self) -> Dataset:
        """Everything as an `xarray.Dataset` with axes time, body, joint, ..., units and meanings.

        For a table of the axes see `saving`. Raises Unsupported without xarray (extra `xarray`).

        >>> data = bc.simulate(block, 1.0).to_xarray()
        >>> dict(data.sizes)["time"], "joint_position" in data
        (1001, True)
        """
        from bellcrank.trajectory.saving import dataset

        return dataset(self)

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write the run into a file; the suffix of the path chooses the kind.

        .h5, .hdf5: everything, which `load` reads (layout: see `run_file`); .nc: NetCDF with named axes, the
        data of `to_xarray`; .csv, .npz, .mat: the columns of `to_dict`, see `saving`.
        replace: whether it may replace an existing file; in place of a recorded run only a run is written.

        Raises MechanismError for another suffix, for a file that exists and must not be replaced, and if
        writing fails, when an existing file is unchanged; Unsupported if a package is missing that writes it.

        >>> run = bc.simulate(block, 1.0)
        >>> run.save("block.h5", replace=True)
        >>> print(bc.Trajectory.load("block.h5").joint("guide").position[-1])    # m: -g t^2 / 2
        [-4.905]
        """
        from bellcrank.trajectory.saving import save

        save(self, path, replace)

    @staticmethod
    def load(path: str | Path, lazy: bool | None = None) -> Trajectory:
        """Read a run from a file, even one that is still being written or whose process was killed.

        lazy: leave the numbers in the file until they are needed; by default if they exceed 256 MB.

        Raises MechanismError, listing all faults, for a file that is missing, damaged or not a run.

        >>> bc.simulate(block, 1.0).save("block.h5", replace=True)
        >>> bc.Trajectory.load("block.h5")
        <Trajectory of 'block': 1001 frames, t = 0 to 1 s, finished>
        """
        from bellcrank.trajectory.reading import load

        read = load(path, lazy)
        status = Status(read.end.status, read.end.message)
        end = (read.end.statistics, read.origin, read.end.events)
        return Trajectory(read.layout, read.store, status, *end)

    def plot(
        self, what: str = "overview", *names: str, path: str | Path | None = None, **options: Any
    ) -> Figure:
        """Plot the run (needs matplotlib, extra `plot`).

        what: "overview", "joint", "body", "marker", "path", "reaction", "drive", "force", "limit",
            "section", "energy", "violation"; or "picture", which is `draw`.
        names: the joints, bodies, markers, drives or forces to show; by default the most significant ones.
        path: file to write the figure into (PNG, PDF or SVG).
        options: those of the kind, see the functions in `figures`.
        Raises MechanismError for an unknown kind or name, Unsupported without matplotlib.

        >>> figure = bc.simulate(four_bar, 1.0).plot("drive", "motor", path="torque.png")
        >>> line = figure.axes[0].lines[0].get_ydata()
        >>> print(f"{line.min():.3f} to {line.max():.3f} N m")
        -0.678 to 0.651 N m
        """
        from bellcrank.trajectory.figures import plot

        return plot(self, what, names, path, options)

    def span(self) -> tuple[float, float]:
        """First and last time, s. Raises MechanismError for a run without frames.

        >>> bc.simulate(block, 1.0, start=2.0).span()
        (2.0, 3.0)
        """
        if len(self) == 0:
            raise MechanismError(Fault(f"run of {self.name!r}", "it holds no frames"))
        return float(self.time[0]), float(self.time[-1])

    def within(self, times: FloatArray) -> FloatArray:
        """The times, moved onto the ends of the run if they miss them only by rounding."""
        first, last = self.span()
        slack = 1e-9 * (last - first)
        if np.any(outside := ~((times >= first - slack) & (times <= last + slack))):
            rule = f"the run goes from t = {first:g} s to {last:g} s, this time lies outside"
            raise MechanismError(Fault(f"run of {self.name!r}", rule, float(times[outside][0])))
        return np.clip(times, first, last)

    def contents(self) -> str:
        """How many bodies, joints and drives it has, in words.

        >>> bc.simulate(four_bar, 0.1).contents()
        '3 bodies, 4 joints, 1 drive'
        """
        counts = (("body", self.bodies), ("joint", self.joints), ("drive", self.drives))
        return ", ".join(counted(len(names), noun) for noun, names in counts)

    def extent(self) -> str:
        """The number of frames and the time span, in words.

        >>> bc.simulate(four_bar, 0.1).extent()
        '1001 frames, t = 0 to 0.1 s'
        """
        if len(self) == 0:
            return "no frames"
        return f"{len(self)} frames, t = {self.time[0]:g} to {self.time[-1]:g} s"


def _shown(marker: Any) -> str:
    """A marker in words of messages."""
    return repr(marker if isinstance(marker, str) else getattr(marker, "key", None) or "without a name")


_parts: WeakKeyDictionary[Trajectory, tuple[Part, ...]] = WeakKeyDictionary()
"""Of the runs of which somebody asked for them."""


def records_of(layout: FrameLayout, names: Sequence[str], frames: FloatArray) -> tuple[EventRecord, ...]:
    """Events from their frames (n, 1 + width), with the names of all."""
    return tuple(
        EventRecord(float(frame[0]), name, state_of(layout, frame))
        for name, frame in zip(names, frames, strict=True)
    )


def state_of(layout: FrameLayout, frame: FloatArray) -> State:
    """The state of a frame (1 + width,)."""
    sections = (*STATE_SECTIONS, *_counting(layout))
    values = {name: frame[layout.columns[name]].reshape(layout.shapes[name]) for name in sections}
    return _state(layout, float(frame[0]), values)


def _counting(layout: FrameLayout) -> list[str]:
    """The sections that hold angles with their whole turns."""
    return [name for name in ("coordinates", "angles") if layout.turning and name in layout.shapes]


def _state(layout: FrameLayout, time: float, values: Mapping[str, FloatArray]) -> State:
    """A state from the sections of a frame."""
    counted = [values[name] for name in _counting(layout)]
    angles = np.concatenate(counted)[list(layout.turning)] if counted else None
    position, rotation, velocity, spin = (values[name] for name in STATE_SECTIONS)
    return State(time, position, rotation, velocity, spin, angles)
