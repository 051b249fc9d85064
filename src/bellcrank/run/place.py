"""The current state of a run, as it can be read between its parts."""

from __future__ import annotations

from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.errors import Fault, MechanismError
from bellcrank.run.course import Course
from bellcrank.run.steering import RunInputs, Steering
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.turns import Turn, in_turn


@in_turn
class Place:
    """What a run reports about its current state."""

    model: Model
    _turn: Turn
    _course: Course
    _steering: Steering
    _time: float

    @property
    def time(self) -> float:
        """The current time of the run, s."""
        return self._time

    @property
    def state(self) -> State:
        """Poses and velocities of the bodies."""
        return self._course.system.state()

    @property
    def formulation(self) -> str:
        """The formulation in use, which "auto" may have chosen."""
        return self._course.system.formulation

    @property
    def inputs(self) -> RunInputs:
        """The inputs by name; they can be set: `run.inputs["torque"] = 1.2`. See `bc.Input`."""
        return self._steering.inputs

    def now(self) -> Trajectory:
        """A trajectory of one frame: the current state of the run, with the inputs that act now.

        Raises MechanismError while constraint forces are still bringing the bodies together.
        """
        if self._course.core is None:
            raise MechanismError(Fault("run", "bodies are still brought together", None, "advance it first"))
        recorder = Recorder(self._course.what.layout, description=Origin.of_model(self.model))
        recorder.on_block(*self._course.frame())
        return recorder.so_far({})
