"""What a judge has to go by: a model and the recorded run of it."""

from __future__ import annotations

from functools import cache, cached_property, lru_cache

import numpy as np

from bellcrank import _core
from bellcrank.analysis.snapshot import Snapshot
from bellcrank.assembly.model import Model
from bellcrank.assembly.state import Floats, State
from bellcrank.mechanism.coordinate import COORDINATE_KINDS
from bellcrank.trajectory.trajectory import Trajectory

_TURN = 2.0 * np.pi
_HALF_TURN = 1e-6  # angles this close to -pi count as +pi, as in the core
_HELD = 200_000  # body poses that are held at once


class Evidence:
    """A run, read as a judge needs it.

    frames: numbers of the frames that are looked at closely, spread over the run but not at round times.
    """

    def __init__(self, model: Model, run: Trajectory, samples: int) -> None:
        self.model = model
        self.run = run
        self.time = np.asarray(run.time)
        inner = np.arange(1, max(len(self.time) - 1, 2))
        spread = np.unique((len(inner) * (np.arange(samples) + 0.618) / samples).astype(int))
        self.frames: list[int] = inner[spread[spread < len(inner)]].tolist()
        self.at = lru_cache(max(16, _HELD // (1 + len(model.bodies))))(self._at)
        self.angle_history = cache(self._angle_history)
        self.law = cache(self._law)

    @cached_property
    def _reported(self) -> dict[int, int]:
        """Column of each coordinate that a joint reports."""
        listed = [index for joint in self.model.joints for index in joint.coordinates]
        return {index: column for column, index in enumerate(listed)}

    @cached_property
    def sections(self) -> dict[str, Floats]:
        """The recorded sections by name, all frames."""
        return {name: np.asarray(self.run.store.read(name)) for name in self.run.layout.shapes}

    def state(self, frame: int) -> State:
        """The State of a frame."""
        names = ("position", "rotation", "velocity", "angular_velocity")
        return State(float(self.time[frame]), *(self.sections[name][frame] for name in names))

    def _at(self, frame: int) -> Snapshot:
        return Snapshot(self.model, self.state(frame))

    def value(self, coordinate: int, frame: int) -> float:
        """A coordinate's value at a frame; whole turns of angles are counted from the first frame on."""
        if COORDINATE_KINDS[self.model.arrays["coordinate_kind"][coordinate]].angular:
            return float(self.angle_history(coordinate)[frame])
        return self.at(frame).coordinate(coordinate).value

    def _angle_history(self, coordinate: int) -> Floats:
        """An angle at all frames: as recorded if a joint reports it, else followed from frame to frame."""
        if coordinate in self._reported:
            return self.sections["coordinates"][:, self._reported[coordinate]]
        principal = [self.at(k).coordinate(coordinate).value for k in range(len(self.time))]
        followed = np.unwrap(np.array(principal), period=_TURN)
        return followed + (_TURN if followed[0] < _HALF_TURN - np.pi else 0.0)

    def _law(self, law: int) -> tuple[list[float], _core.Function | None]:
        """Parameters and function of a force law."""
        arrays = self.model.arrays
        begin, end = arrays["law_param_start"][law : law + 2]
        function = int(arrays["law_function"][law])
        return arrays["law_params"][begin:end].tolist(), None if function < 0 else self.model.core_function(
            function
        )

    @property
    def has_accelerations(self) -> bool:
        """Whether body accelerations were recorded."""
        return self.run.layout.accelerations

    @property
    def has_reactions(self) -> bool:
        """Whether the reactions of all joints were recorded."""
        return len(self.run.layout.reactions) == len(self.model.reactions)
