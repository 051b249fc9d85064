"""What changes an adaptive run in progress: inputs, and controllers, which read from the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.formulations.system import Inputs
from bellcrank.run.controllers import BodyReading, Controller, HeldInputs, Readings, RunInputs, Steering
from bellcrank.turns import Turn


class LinkageInputs(RunInputs):
    """Inputs of an adaptive run by name, which can be set: `run.inputs["torque"] = 1.2`.

    A new value acts from then on. Velocities that drives prescribe jump, all joints react to that as to an
    impact, and the drive's position goes on from its current value.
    Raises MechanismError for unknown names, for values that are not finite numbers, and once the run has
    ended.
    """

    def __init__(
        self,
        model: Model,
        core: Any,
        turn: Turn,
        refuse: Callable[[], None],
        values: Mapping[str, float],
    ) -> None:
        Inputs.__init__(self, model, core, turn)
        self._refuse, self._values = refuse, {**self._values, **values}

    def update(self, values: Mapping[str, float]) -> None:
        """Change several inputs at once."""
        with self._turn.taken():
            self._refuse()
            if changed := self.changed(values):
                self.put(changed)


class LinkageReadings(Readings):
    """What a controller can read from an adaptive run: single joints, bodies and drives, whose cost is small.

    efforts: of the drives, by name.
    """

    def __init__(
        self,
        model: Model,
        core: Any,
        inputs: Mapping[str, float],
        efforts: Callable[[], Mapping[str, float]],
    ) -> None:
        self.time, self.inputs = 0.0, inputs
        self._model, self._core, self._efforts = model, core, efforts

    def at(self, time: float) -> Readings:
        """The readings at the run's current state."""
        self.time = time
        return self

    def body(self, name: str) -> BodyReading:
        """Pose and velocity of a body; the cost grows with its tree depth."""
        return BodyReading(*self._core.body_motion(self._model.core, self._model.body_number(name)))

    def effort(self, name: str) -> float | Floats:
        """What a drive exerts, N or N m."""
        known = self._efforts()
        if name not in known:
            rule = "an adaptive run has efforts of its drives alone"
            advice = f"they are {', '.join(sorted(known)) or 'none'}"
            raise MechanismError(Fault(f"drive {name!r}", rule, None, advice))
        return known[name]

    def sensor(self, name: str) -> float | Floats:
        """Raise Unsupported: an adaptive run samples no sensors."""
        raise Unsupported(f"adaptive runs sample no sensors, such as {name!r}: read coordinates and bodies")

    def _read(self, section: str, name: str) -> float:
        joint, coordinate = name, ""
        if name not in self._model.joint_index and "." in name:
            joint, _, coordinate = name.rpartition(".")
        record = self._model.joint(joint)
        names = record.coordinate_names
        if coordinate not in names and (coordinate or len(names) != 1):
            rule = f"it has the coordinates {', '.join(names)}" if names else "it has no coordinate"
            raise MechanismError(Fault(f"joint {joint!r}", rule, coordinate or None, "name one of them"))
        number = record.coordinates[names.index(coordinate) if coordinate else 0]
        try:
            return float(self._core.coordinate(number)[section == "rates"])
        except ValueError:
            rule = f"adaptive runs cannot read its coordinate {names[record.coordinates.index(number)]}"
            advice = "read the pose of its body"
            raise MechanismError(Fault(f"joint {joint!r}", rule, None, advice)) from None


class LinkageSteering(Steering):
    """The controllers of an adaptive run and the inputs that they set.

    counts: per controller the steps from one call to the next.
    """

    def __init__(self, controllers: Sequence[Controller | HeldInputs], values: Mapping[str, float]) -> None:
        super().__init__(controllers, values, measures=False)
        self.counts: list[int] = []

    def preset(self, model: Model, core: Any) -> None:
        """Set the initial values in a driver before its start. Raises MechanismError for wrong ones."""
        inputs = Inputs(model, core, Turn(""))
        changed = inputs.changed(self._values)
        if changed:
            core.preset_inputs(model.core, model.initial.time, list({**inputs, **changed}.values()))

    def attach_core(
        self,
        model: Model,
        core: Any,
        turn: Turn,
        refuse: Callable[[], None],
        efforts: Callable[[], Mapping[str, float]],
    ) -> None:
        """Attach to a driver at its start, which has the initial values."""
        self.inputs = LinkageInputs(model, core, turn, refuse, self._values)
        self._readings = LinkageReadings(model, core, self.inputs, efforts)
        self._begin, self._sensing = float(core.time), None

    def steps_left(self, steps: int) -> int | None:
        """After so many steps, those up to the next call of a controller; None: there is none."""
        return min((count - steps % count for count in self.counts), default=None)

    def sample_after(self, steps: int, time: float) -> None:
        """Call the controllers that are due after so many steps. Raises SimulationError where one fails."""
        for number, count in enumerate(self.counts):
            if steps % count == 0:
                self.sample(number, time)

    def _hold(self, values: Mapping[str, float]) -> None:
        self.inputs.update(values)
