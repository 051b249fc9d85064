"""What changes a run in progress: its inputs, set by hand or by controllers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bellcrank.errors import AssemblyError, Fault, MechanismError, SimulationError
from bellcrank.formulations.input_values import Inputs
from bellcrank.formulations.system import System
from bellcrank.run.controllers import Controller, Readings
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.turns import Turn


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
        self._system = system
        self._refuse = refuse
        self._leading = {one.name for one, at in system.model.inputs.items() if at.leads}

    def update(self, values: Mapping[str, float]) -> None:
        """Change several inputs at once."""
        with self._turn.taken():
            self._refuse()
            if changed := self.changed(values):
                self._change(changed)

    def _change(self, changed: Mapping[str, float]) -> None:
        if self.run is None:
            rule, advice = "bodies are still brought together", "set inputs once the mechanism is closed"
            raise MechanismError(Fault("inputs", rule, None, advice))
        if self._leading.isdisjoint(changed):
            self.put(changed)
            self.run.change_input()
        else:
            self._lead(changed)

    def _lead(self, changed: Mapping[str, float]) -> None:
        """Change inputs of the constraints and project the state onto them, or leave everything unchanged."""
        before, state = {name: self._values[name] for name in changed}, self._system.state()
        self.put(changed)
        try:
            self._system.project()
        except AssemblyError as error:
            self.put(before)
            self._system.set_state(state)
            told = ", ".join(f"{name!r} = {value:g}" for name, value in changed.items())
            raise AssemblyError(f"input {told} cannot be followed: {error}", error.violations) from None
        self.run.move()


class Steering:
    """The controllers of a run, and the inputs that they set.

    values: initial values of inputs, by name.
    failure: the error with which a controller ended the run.
    """

    def __init__(
        self, controllers: Sequence[Controller] = (), values: Mapping[str, float] | None = None
    ) -> None:
        self._controllers = controllers
        self._values = values or {}
        self._readings: Readings | None = None
        self.failure: SimulationError | None = None

    @property
    def periods(self) -> list[float]:
        """The period of each controller, s."""
        return [controller.period for controller in self._controllers]

    @property
    def named(self) -> list[tuple[str, float]]:
        """The name and the period, s, of each controller."""
        return [(controller.name, controller.period) for controller in self._controllers]

    def attach(self, system: System, turn: Turn, refuse: Callable[[], None]) -> None:
        """Attach to a system. turn: that of the run. refuse: raises if the run has ended."""
        self._system = system
        self.inputs = RunInputs(system, turn, refuse)

    def set_values(self) -> None:
        """Give the inputs their initial values. Raises MechanismError for invalid ones."""
        self.inputs.put(self.inputs.changed(self._values))

    def begin(self, run: Any, layout: FrameLayout) -> None:
        """Attach to the core's run, which records frames of a layout."""
        self.inputs.run = run
        self._readings = Readings(self._system.model, layout, run, self.inputs)

    def sample(self, number: int, time: float) -> None:
        """Call a controller, and set what it returns. Raises SimulationError for any error in it."""
        controller, readings = self._controllers[number], self._readings
        assert readings is not None
        try:
            self.inputs.update(controller.sampled(readings.at(time)))
        except Exception as error:
            told = f"{type(error).__name__}: {error}" if not isinstance(error, MechanismError) else str(error)
            self.failure = SimulationError(
                f"controller {controller.name!r} failed at t = {time:.6g} s: {told}", time
            )
            raise self.failure from error
