"""Runs of trees of joints by drivers of their own, which record what moved: what they have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NoReturn, Self

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.mechanism.checking import Check
from bellcrank.progress import Progress
from bellcrank.run.advance import deferred_interrupt
from bellcrank.trajectory.moves import MoveTrajectory, joint_names
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.trajectory import Status
from bellcrank.turns import Turn, in_turn

_PART: Final = 1000  # the most steps between looks at Ctrl-C
_LOOK: Final = 0.05  # s of wall time, about, between them


@dataclass(frozen=True)
class Recording:
    """How a run of a linkage is divided and kept.

    step: s. steps: of the whole run; None if its end is open. every: steps from one frame to the next;
    0 for the first frame alone. path: of the file that it is written into at its end. description: the text
    of its mechanism. progress: True for a bar, or a function of the fraction done.
    """

    step: float
    steps: int | None = None
    every: int = 1
    path: str | Path | None = None
    description: str = ""
    progress: bool | Callable[[float], None] = False


@in_turn
class LinkageRun(ABC):
    """A run of a tree of joints that is advanced step by step, and records what moved.

    core: the driver, at its start. A run serves one thread at a time and cannot be copied or pickled.
    """

    model: Model
    max_error: float
    measure: str

    def __init__(self, model: Model, core: Any, max_error: float, measure: str, recording: Recording) -> None:
        self.model, self.max_error, self.measure = model, max_error, measure
        self._turn = Turn(f"{self._a} serves one thread at a time: start one for each")
        self._core, self._recording = core, recording
        self._origin = Origin.of_model(model, recording.description)
        self._joints, self._first = joint_names(model, core.blocks), np.asarray(core.first_freedoms)
        self._final: MoveTrajectory | None = None
        self._begin()
        core.record_every(recording.every)
        self._parts: list[dict[str, Any]] = []
        self._steps, self._part, self._wall = 0, 1, 0.0
        self._status = Status("finished")

    @abstractmethod
    def _take(self, steps: int, max_error: float) -> int:
        """Take steps in the core; the number taken, fewer where accelerations cannot be computed."""

    @abstractmethod
    def _failure(self) -> tuple[str, str | None]:
        """Why they cannot, and the body where that appears first."""

    @abstractmethod
    def _counted(self) -> dict[str, str | int | float]:
        """What this kind of run counts, for the statistics."""

    def _begin(self) -> None:  # noqa: B027  (most have nothing to prepare)
        """Prepare what is left to be prepared before the first frame."""

    def _steered(self) -> int:
        """Let what steers the run act; the most steps that may follow before it acts again."""
        return _PART

    @property
    def _a(self) -> str:
        name = type(self).__name__
        return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            f"{self._a} is tied to this process and cannot be copied or pickled: send its trajectory"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def time(self) -> float:
        """The current time of the run, s."""
        return float(self._core.time)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of the mechanism."""
        carrying = frozenset(self._joints)
        return tuple(joint.name for joint in self.model.joints if joint.name in carrying)

    def pose(self, body: str) -> tuple[Floats, Floats]:
        """Position (3,), m, and rotation (4,) of a body's frame now; the cost grows with its tree depth.

        Raises MechanismError with close matches for an unknown name.

        >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.1)
        >>> position, rotation = run.pose(run.trajectory.bodies[-1])
        >>> print(position.round(6))    # m: the middle of the last rod of a straight chain
        [19.5  0.   0. ]
        """
        number = self.model.body_number(body)
        pose: tuple[Floats, Floats] = self._core.pose(self.model.core, number)
        return pose

    @property
    def trajectory(self) -> MoveTrajectory:
        """What has been recorded so far; once the run has ended, all of it."""
        return self._final if self._final is not None else self._recorded(Status("running"))

    def complete(self) -> MoveTrajectory:
        """Advance to the end of the run and stop; Ctrl-C ends it early, with the status "interrupted".

        Raises MechanismError for a run without an end, SimulationError, with its `trajectory`, where
        accelerations cannot be computed any more.

        >>> run = bc.start(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.complete()
        <MoveTrajectory of 'chain of 20': 6 frames, finished>
        """
        self._refuse_ended("complete")
        steps, begin = self._recording.steps, self.model.initial.time
        if steps is None:
            with Check("complete") as check:
                check.fault("the end of the run is open", None, "start it with a duration, or use stop()")
        assert steps is not None
        bar = Progress(self._recording.progress, begin, steps * self._recording.step)
        try:
            with deferred_interrupt() as interrupted, bar:
                left = self._advance(max(0, steps - self._steps), self.max_error, interrupted, bar.at)
        except SimulationError:
            self.stop()
            raise
        if left > 0:
            kept = f"interrupted at t = {self.time:.6g} s; what was computed up to there is kept"
            self._status = Status("interrupted", kept)
        return self.stop()

    def stop(self) -> MoveTrajectory:
        """End the run; return what was recorded, which is also in its file if it has one.

        >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.1)
        >>> moved = run.advance(steps=3)
        >>> run.stop().time.round(6).tolist()
        [0.0, 0.01, 0.02, 0.03]
        """
        if self._final is None:
            self._final = self._recorded(self._status)
            if self._recording.path is not None:
                self._final.save(self._recording.path, replace=True)
        return self._final

    def _bounded(self, max_error: float | None, steps: int) -> None:
        """Take steps with an error, by default that of the run."""
        self._refuse_ended("advance")
        with Check("advance") as check:
            bound = self.max_error if max_error is None else error_bound(check, max_error)
            steps = check.integer("steps", steps, 1)
        self._advance(steps, bound)

    def _advance(
        self,
        steps: int,
        max_error: float,
        interrupted: Callable[[], bool] = lambda: False,
        reached: Callable[[float], None] = lambda _: None,
    ) -> int:
        """Take steps, in parts after which Ctrl-C is seen; the number of those that are left."""
        while steps > 0 and not interrupted():
            part, begun = min(steps, self._part, self._steered()), perf_counter()
            taken = self._take(part, max_error)
            took = perf_counter() - begun
            self._wall += took
            self._steps += taken
            steps -= taken
            if taken < part:
                raise self._failed()
            if part == self._part:
                self._part = round(part * min(max(_LOOK / max(took, 1e-9), 0.25), 4.0)) or 1
                self._part = min(self._part, _PART)
            reached(self.time)
        return steps

    def _failed(self) -> SimulationError:
        """The error of a run whose accelerations cannot be computed."""
        why, body = self._failure()
        message = f"at t = {self.time:g} s accelerations cannot be computed: {why}"
        self._status = Status("failed", message)
        return SimulationError(message, self.time, body, self._recorded(self._status))

    def _recorded(self, status: Status) -> MoveTrajectory:
        self._parts.append(self._core.take_record())
        statistics: dict[str, str | int | float] = {
            **self._counted(),
            "steps": self._steps,
            "step": self._recording.step,
            "max_error": self.max_error,
            "measure": self.measure,
            "error": float(self._core.largest_error),
            "wall_seconds": self._wall,
        }
        joined = {name: _joined(name, self._parts) for name in self._parts[0]}
        self._parts = [joined]
        return MoveTrajectory(self._origin, _finite(joined), status, statistics, self.model)

    def _names(self, links: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._joints[link] for link in links)

    def _along(self, numbers: Floats, links: Iterable[int]) -> Mapping[str, Floats]:
        """Numbers per degree of freedom, of the joints of some links by name."""
        first = self._first
        return {self._joints[link]: numbers[first[link] : first[link + 1]] for link in links}

    def _refuse_ended(self, what: str) -> None:
        if self._final is not None:
            with Check(what) as check:
                check.fault(f"the run has ended at t = {self.time:g} s", None, "start another one")


def _joined(name: str, parts: list[dict[str, Any]]) -> np.ndarray:
    """A section joined from consecutive parts of a record; row offsets continue from part to part."""
    arrays = [part[name] for part in parts]
    if name not in ("rows", "values"):
        return np.concatenate(arrays)
    out = arrays[0]
    for array in arrays[1:]:
        out = np.concatenate([out, array[1:] + out[-1]])
    return np.asarray(out)


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    """A record up to the first frame with coordinates that are no numbers, which a failed step leaves."""
    wrong = np.flatnonzero(~np.isfinite(record["value"]))
    if not wrong.size:
        return record
    frames = int(np.searchsorted(record["values"], wrong[0], "right")) - 1
    rows, values = (int(record[name][frames]) for name in ("rows", "values"))
    ends = {"rows": frames + 1, "values": frames + 1, "body": rows, "value": values}
    return {name: array[: ends.get(name, frames)] for name, array in record.items()}


def error_bound(check: Check, value: float) -> float:
    """A largest error, checked."""
    number = check.number("max_error", value)
    if not number >= 0.0:
        check.fault("max_error must be at least 0", value)
    return float(number)
