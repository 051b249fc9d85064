"""What changes a run in progress: controllers, which read from it, and the inputs that they or users set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import AssemblyError, Fault, FaultList, MechanismError, SimulationError
from bellcrank.formulations.system import Inputs, System
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.sensors import Sensor
from bellcrank.run.sensing import Sensing, sensors_of
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.turns import Turn

_NEAR: Final = 1e-6  # of a period: what lies as close to its begin is in it


@dataclass(frozen=True)
class BodyReading:
    """Pose and velocity of a body: origin of its frame and quaternion (w, x, y, z), world axes.

    position (3,), m. rotation (4,). velocity (3,), m/s. angular_velocity (3,), rad/s.

    >>> heights = []
    >>> def watch(time, readings):
    ...     heights.append(readings.body("block").position[2])
    ...     return {}
    >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(watch, period=0.5))
    >>> print(np.round(heights, 3))    # m: -g t^2 / 2
    [0.    -1.226]
    """

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats


class Readings:
    """What a controller can read from a run at the time of a sample; valid only during the call.

    >>> angles = []
    >>> def watch(time, readings):
    ...     angles.append(readings.coordinate("hinge"))
    ...     return {}
    >>> run = bc.simulate(pendulum, 0.2, controllers=bc.Controller(watch, period=0.1))
    >>> print(np.round(angles, 3))    # rad: about -3 g / (4 L) t^2
    [0.    -0.074]
    """

    def __init__(
        self,
        model: Model,
        layout: FrameLayout,
        core: Any,
        inputs: Mapping[str, float],
        sensing: Sensing | None = None,
        whole: Any = None,
    ) -> None:
        self.time = 0.0
        """s."""
        self.inputs = inputs
        """The inputs by name, with the values that they have."""
        self._layout, self._core, self._sensing = layout, core, sensing
        self._whole_layout = layout if whole is None else whole.layout
        self._observe = core.observe if whole is None else whole.observe
        every = (*layout.coordinates, *layout.angles, *layout.force_coordinates)
        self._motion = np.zeros(FrameLayout(layout.mechanism, layout.bodies, every).width)
        self._measured = False
        self._frame: Floats | None = None
        alone = {joint.name for joint in model.joints if len(joint.coordinates) == 1}
        columns = list(enumerate(layout.coordinates))
        self._places = {column.joint: place for place, column in columns if column.joint in alone}
        self._places |= {str(column): place for place, column in columns}

    def at(self, time: float) -> Readings:
        """The readings at the run's current state."""
        self.time, self._measured, self._frame = time, False, None
        return self

    def coordinate(self, name: str) -> float:
        """A joint's coordinate, m or rad: "joint.coordinate", or the joint alone if it has no other.

        >>> seen = []
        >>> def watch(time, readings):
        ...     seen.append(readings.coordinate("guide"))
        ...     return {}
        >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(watch, period=0.5))
        >>> print(np.round(seen, 3))    # m: -g t^2 / 2
        [0.    -1.226]
        """
        return self._read("coordinates", name)

    def rate(self, name: str) -> float:
        """The rate of a joint's coordinate, m/s or rad/s.

        >>> seen = []
        >>> def watch(time, readings):
        ...     seen.append(readings.rate("guide"))
        ...     return {}
        >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(watch, period=0.5))
        >>> print(np.round(seen, 4))    # m/s: -g t
        [0.    -4.905]
        """
        return self._read("rates", name)

    def body(self, name: str) -> BodyReading:
        """Pose and velocity of a body.

        >>> seen = []
        >>> def watch(time, readings):
        ...     seen.append(readings.body("block").velocity[2])
        ...     return {}
        >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(watch, period=0.5))
        >>> print(np.round(seen, 4))    # m/s: -g t
        [0.    -4.905]
        """
        number = self._layout.body_number.get(name)
        if number is None:
            raise _unknown("body", name, self._layout.bodies)
        sections = [self._section(n) for n in ("position", "rotation", "velocity", "angular_velocity")]
        return BodyReading(
            *(values.reshape(len(self._layout.bodies), -1)[number].copy() for values in sections)
        )

    def effort(self, name: str) -> float | Floats:
        """What a drive or a force exerts, as `run.drive(name).effort` and `run.force(name).effort` return it.

        N or N m; an array (k,) where there are several. Each call evaluates the equations of motion.

        >>> seen = []
        >>> def watch(time, readings):
        ...     seen.append(readings.effort("elbow"))
        ...     return {}
        >>> run = bc.simulate(arm, 1.0, controllers=bc.Controller(watch, period=0.5))
        >>> print(np.round(seen, 4))    # N m: m g L / 2
        [4.905 4.905]
        """
        layout = self._whole_layout
        numbers = layout.multiplier_numbers(name, "drive", "motor")
        if not numbers and name not in layout.forces:
            known = dict.fromkeys(c.element for c in layout.multipliers if c.kind in ("drive", "motor"))
            raise _unknown("drive or force", name, (*known, *layout.forces))
        if self._frame is None:
            self._frame = self._observe()[0]
        section = self._frame[layout.columns["multipliers" if numbers else "force_efforts"]]
        if numbers:
            efforts = np.array([layout.multipliers[n].sign * section[n] for n in numbers])
        else:
            efforts = section[layout.force_numbers[name]].copy()
        return float(efforts[0]) if len(efforts) == 1 else efforts

    def sensor(self, name: str) -> float | Floats:
        """What can be read of a sensor now; an array (c,) where it has c channels, see `SensorHistory`.

        >>> seen = []
        >>> def watch(time, readings):
        ...     seen.append(readings.sensor("height"))
        ...     return {}
        >>> sensor = block.add_sensor("height", bc.Encoder(delay=0.1), "guide")
        >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(watch, period=0.5))
        >>> print(np.round(seen, 4), round(-9.81 * 0.4**2 / 2, 4))    # m: as it was 0.1 s before
        [0.     -0.7848] -0.7848
        """
        found = None if self._sensing is None else self._sensing.read(name, self.time)
        if found is None:
            raise _unknown("sensor", name, [] if self._sensing is None else self._sensing.names)
        return float(found[0]) if len(found) == 1 else found

    def _read(self, section: str, name: str) -> float:
        if name not in self._places:
            raise _unknown("coordinate", name, self._places)
        return float(self._section(section)[self._places[name]])

    def _section(self, name: str) -> Floats:
        """What is measured of the motion, as in a frame without its time."""
        if not self._measured:
            self._core.measure(self._motion)
            self._measured = True
        columns = self._layout.columns[name]
        return self._motion[columns.start - 1 : columns.stop - 1]


def _unknown(noun: str, name: object, known: Iterable[str]) -> MechanismError:
    return MechanismError(
        Fault(f"{noun} {name!r}", f"there is no {noun} of this name", None, nearest(name, known))
    )


@dataclass(frozen=True)
class Controller:
    """A function called at every multiple of a period from the start of a run, which sets inputs.

    function: takes the time, s, and `Readings`, and returns a dict of input values by name, which apply
        until they are set again. No step goes past a sample. Several controllers due at one time are
        called in their order.
    period: s.
    name: for messages; by default that of the function.

    Raises MechanismError if `function` is not callable or the period is not greater than zero.

    >>> def brake(time, readings):
    ...     return {"force": 2 * 9.81 - 10.0 * readings.rate("guide")}
    >>> motor = block.add_force("motor", bc.JointMotor(bc.Input("force", 0.0)), "guide")
    >>> started = block.replace(block.joints["guide"], velocity=1.0)
    >>> run = bc.simulate(block, 1.0, controllers=bc.Controller(brake, period=0.1))
    >>> print(run.joint("guide").velocity[-1].round(6), 0.5**10)    # m/s: half is left of each period
    [0.000977] 0.0009765625
    """

    function: Callable[[float, Readings], Mapping[str, float]]
    period: float
    name: str = ""

    def __post_init__(self) -> None:
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        with Check(f"controller {name!r}") as check:
            if not callable(self.function):
                check.fault("it must be a function of the time and of readings", self.function)
            if not isinstance(name, str):
                check.fault("name must be a text", name)
            check.store(self, period=check.positive("period", self.period, "s"), name=name)

    def sampled(self, readings: Readings) -> Mapping[str, float]:
        """The values it sets. Raises MechanismError if the result is not a dict.

        >>> class Now:
        ...     time = 2.0
        >>> hold = bc.Controller(lambda time, readings: {"force": 10.0 * time}, period=0.1)
        >>> hold.sampled(Now())
        {'force': 20.0}
        """
        found = self.function(readings.time, readings)
        if not isinstance(found, Mapping):
            advice = "such as {'torque': 1.2}; an empty one changes nothing"
            raise MechanismError(
                Fault(f"controller {self.name!r}", "it must return a dict of inputs", found, advice)
            )
        return found


@dataclass(frozen=True, eq=False)
class HeldInputs:
    """Values of inputs, each held for one period of a run, from its start on; the last one stays.

    values: those of each input by name, in the order of time; all that are given, of as many lengths as there
        are inputs. As `values`, they are arrays (n,).
    period: s.

    It is given as a controller. Runs with it are differentiated by every value (`bc.gradient`).

    Raises MechanismError for names that are no texts, for values that are no finite numbers, and for a period
    that is not greater than zero.

    >>> motor = block.add_force("motor", bc.JointMotor(bc.Input("force", 0.0)), "guide")
    >>> held = bc.HeldInputs({"force": [23.62, 15.62, 19.62]}, period=1.0)    # up, down, held
    >>> run = bc.simulate(block, 3.0, controllers=held)
    >>> print(run.joint("guide").position[-1].round(6))    # m: 2 m/s^2 for 1 s, and back to rest
    [2.]
    """

    values: Mapping[str, Floats]
    period: float

    def __post_init__(self) -> None:
        with Check("inputs held") as check:
            check.instance("values", self.values, Mapping, "such as {'force': [1.0, -1.0]}")
            check.store(self, period=check.positive("period", self.period, "s"))
        with Check("inputs held") as check:
            found = {}
            for name, values in self.values.items():
                if not isinstance(name, str):
                    check.fault("the name of an input must be a text", name)
                found[name] = check.array(f"values of {name!r}", values, (None,)).copy()
                found[name].setflags(write=False)
            check.store(self, values=found)

    @property
    def name(self) -> str:
        """For messages."""
        return "inputs held"

    def number_at(self, name: str, elapsed: float) -> int:
        """The number of the value of an input in force at a time since the start of the run, s.

        >>> held = bc.HeldInputs({"force": [1.0, -1.0, 0.5]}, period=0.1)
        >>> [held.number_at("force", time) for time in (0.0, 0.15, 5.0)]    # the last one stays
        [0, 1, 2]
        """
        return min(int(elapsed / self.period + _NEAR), len(self.values[name]) - 1)

    def begun_at(self, elapsed: float) -> dict[str, float]:
        """The values by name whose periods begin at such a time.

        >>> held = bc.HeldInputs({"force": [1.0, -1.0, 0.5]}, period=0.1)
        >>> held.begun_at(0.0), held.begun_at(0.1)
        ({'force': 1.0}, {'force': -1.0})
        """
        number = round(elapsed / self.period)
        return {name: float(found[number]) for name, found in self.values.items() if number < len(found)}


def checked_controllers(controllers: Any) -> tuple[Controller | HeldInputs, ...]:
    """The controllers. Raises MechanismError for anything else, and for inputs that are held twice."""
    listed = [controllers] if isinstance(controllers, (Controller, HeldInputs)) else controllers
    listed = tuple(listed) if np.iterable(listed) else (listed,)
    faults, held = FaultList(), set[str]()
    for one in listed:
        if not isinstance(one, (Controller, HeldInputs)):
            advice = "such as bc.Controller(f, period=1e-3)"
            faults.add("controllers", "they must be bc.Controller or bc.HeldInputs", one, advice)
            continue
        names = one.values.keys() if isinstance(one, HeldInputs) else set[str]()
        for name in sorted(held & names):
            faults.add("controllers", f"input {name!r} is held twice", None, "give its values once")
        held |= names
    faults.raise_any()
    return listed


class RunInputs(Inputs):
    """Inputs of a run by name with their values, which can be set: `run.inputs["torque"] = 1.2`.

    A new value acts from then on. Where a drive, a constraint or a joint depends on it, the state is
    projected onto the constraints at once; velocities that drives prescribe jump, and the drive's position
    goes on from its current value.

    Raises MechanismError for unknown names, for values that are not finite numbers, and once the run has
    ended; AssemblyError, with everything unchanged, if the constraints cannot be satisfied.
    """

    def __init__(self, system: System, turn: Turn, refuse: Callable[[], None]) -> None:
        super().__init__(system.model, system.core, turn)
        self.run: Any = None
        """The core's run, once there is one."""
        self._system, self._refuse = system, refuse
        self._constraining = {one.name for one, at in system.model.inputs.items() if at.constrains}

    def update(self, values: Mapping[str, float]) -> None:
        """Change several inputs at once."""
        with self._turn.taken():
            self._refuse()
            changed = self.changed(values)
            if changed and self.run is None:
                rule, advice = "bodies are still brought together", "set inputs once the mechanism is closed"
                raise MechanismError(Fault("inputs", rule, None, advice))
            if not self._constraining.isdisjoint(changed):
                self._follow(changed)
            elif changed:
                self.put(changed)
                self.run.change_input()

    def _follow(self, changed: Mapping[str, float]) -> None:
        """Change inputs of the constraints and project the state onto them, or leave everything unchanged."""
        before, state = {name: self._values[name] for name in changed}, self._system.state()
        self.put(changed)
        try:
            self._system.project()
        except AssemblyError as error:
            self.put(before)
            self._system.set_state(state)
            given = ", ".join(f"{name!r} = {value:g}" for name, value in changed.items())
            raise AssemblyError(f"input {given} cannot be followed: {error}", error.violations) from None
        self.run.move()


class Steering:
    """The sensors and controllers of a run, which are sampled in this order, and the inputs that they set.

    values: initial values of inputs, by name. measures: whether sensors are sampled.
    failure: the error with which a controller ended the run.
    """

    def __init__(
        self,
        controllers: Sequence[Controller | HeldInputs] = (),
        values: Mapping[str, float] | None = None,
        measures: bool = True,
    ) -> None:
        self.controllers, self.measures = controllers, measures
        self._sensors: list[Sensor] = []
        self._values, self._begin = values or {}, 0.0
        self.failure: SimulationError | None = None

    @property
    def sampled(self) -> list[tuple[str, float]]:
        """What is done with each sensor and controller, in words, and its period, s."""
        sensors = [(f"sensor {one.name!r} is sampled", float(one.kind.period)) for one in self._sensors]
        return [*sensors, *((f"controller {one.name!r} is called", one.period) for one in self.controllers)]

    @property
    def periods(self) -> list[float]:
        """The period of each sensor and controller, s."""
        return [period for _, period in self.sampled]

    def sensing(self, model: Model, layout: FrameLayout) -> Sensing | None:
        """The sensors of a model whose frames have a layout; None if there are none."""
        self._sensors = sensors_of(model) if self.measures else []
        return Sensing.of(model, self._sensors, layout)

    def attach(self, system: System, turn: Turn, refuse: Callable[[], None]) -> None:
        """Attach to a system. turn: that of the run. refuse: raises if the run has ended."""
        self._system = system
        self.inputs = RunInputs(system, turn, refuse)

    def keep_values(self) -> None:
        """Give another system, attached next, the values that inputs have now."""
        self._values = dict(self.inputs)

    def set_values(self) -> None:
        """Give the inputs their initial values. Raises MechanismError for invalid ones."""
        self.inputs.put(self.inputs.changed(self._values))

    def begin(
        self,
        run: Any,
        layout: FrameLayout,
        sensing: Sensing | None = None,
        whole: Any = None,
        goes_on: bool = False,
    ) -> None:
        """Attach to the core's run, which records frames of a layout.

        whole: what it observes in frames of the whole mechanism, where that changes. goes_on: it takes up
            where another run of the core has ended.
        """
        self.inputs.run, self._sensing = run, sensing
        if sensing is not None:
            (sensing.go_on if goes_on else sensing.begin)(whole or run)
        self._readings = Readings(self._system.model, layout, run, self.inputs, sensing, whole)
        if not goes_on:
            self._begin = self._system.state().time

    def sample(self, number: int, time: float) -> None:
        """Sample a sensor, or call a controller and set what it returns.

        Raises SimulationError for any error in a controller.
        """
        if self._sensing is not None and number < len(self._sensors):
            self._sensing.sample(number, time)
            return
        controller = self.controllers[number - len(self._sensors)]
        try:
            if isinstance(controller, HeldInputs):
                self._hold(controller.begun_at(time - self._begin))
            else:
                self.inputs.update(controller.sampled(self._readings.at(time)))
        except Exception as error:
            reason = str(error) if isinstance(error, MechanismError) else f"{type(error).__name__}: {error}"
            self.failure = SimulationError(
                f"controller {controller.name!r} failed at t = {time:.6g} s: {reason}", time
            )
            raise self.failure from error

    def _hold(self, values: Mapping[str, float]) -> None:
        """Set inputs. Who follows the run tells values apart that are equal."""
        self.inputs.update(values)
        if values:
            self.inputs.run.change_input()
