"""Quasi-static runs: steps from rest, at a cost proportional to what moves, with an error bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NoReturn, Self

import numpy as np

from bellcrank import _core
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.formulations.adaptive import named
from bellcrank.mechanism.checking import Check
from bellcrank.run.advance import deferred_interrupt
from bellcrank.trajectory.moves import MoveTrajectory, joint_names
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.own_file import check_recorded
from bellcrank.trajectory.trajectory import Status
from bellcrank.turns import Turn, in_turn

MEASURES: Final = ("relative_joint", "absolute_joint", "relative_linkage", "absolute_linkage")
"""Of the joint accelerations that are taken as zero: the largest or the root of the sum of squares; as a part
of the same of all joints, or in rad/s^2 and m/s^2."""

_PART: Final = 1000  # steps between looks at Ctrl-C
_DEFAULT_ERROR: Final = 1e-3
_DEFAULT_STEP: Final = 1e-3


@in_turn
class QuasistaticRun:
    """A quasi-static run that is advanced step by step; see `bc.start` with mode="quasistatic".

    In each step all joints start at rest, and those that matter move by half their acceleration times the
    step squared. A run serves one thread at a time and cannot be copied or pickled.

    >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.01)
    >>> moved = run.advance(steps=2)
    >>> print(f"{run.time:.2f} s, {len(moved)} of 20 joints moved")
    0.02 s, 7 of 20 joints moved
    """

    def __init__(
        self,
        model: Model,
        step: float,
        max_error: float,
        measure: str,
        output_steps: int = 1,
        end: float | None = None,
        path: str | Path | None = None,
        description: str = "",
    ) -> None:
        self.model, self.max_error, self.measure = model, max_error, measure
        self._turn = Turn("a QuasistaticRun serves one thread at a time: start one for each")
        self._step, self._end, self._path = step, end, path
        self._origin = Origin.of_model(model, description)
        self._core = _core.Quasistatics(model.core, step, measure)
        self._joints = joint_names(model, self._core.blocks)
        initial = model.initial
        self._core.start(model.core, initial.time, initial.position, initial.rotation)
        self._core.record_every(output_steps)
        self._parts: list[dict[str, Any]] = []
        self._steps, self._computed, self._wall = 0, 0, 0.0
        self._final: MoveTrajectory | None = None
        self._status = "finished"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a QuasistaticRun is tied to this process and cannot be copied or pickled: send its trajectory"
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
    def error(self) -> float:
        """An upper bound of the error of the accelerations computed so far, in the run's measure.

        What rounding may have done to them is a part of it.
        """
        return float(self._core.error)

    @property
    def computed(self) -> tuple[str, ...]:
        """Names of the joints whose accelerations are computed."""
        return self._names(self._core.computed)

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the joints that the last step moved."""
        return self._names(self._core.moved)

    @property
    def accelerations(self) -> Mapping[str, Floats]:
        """Accelerations of the computed joints, by name: rotations, then slides, rad/s^2, m/s^2."""
        rates, first, links = self._core.accelerations(), self._core.first_freedoms, self._core.computed
        named = zip(self._names(links), links, strict=True)
        return {name: rates[first[link] : first[link + 1]] for name, link in named}

    def refine(self, max_error: float) -> float:
        """Compute more joints until the error is within a bound; return the error. Computed joints are kept.

        Where joins lose more digits than the bound allows, all accelerations are solved for in 32 digits. The
        error stays above the bound only where the rounding of the description itself makes more of it.
        Raises MechanismError for an invalid bound, or once the run has ended.

        >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=100.0)
        >>> few = len(run.computed)
        >>> run.refine(1e-6) <= 1e-6, few < len(run.computed)    # a smaller error takes more joints
        (True, True)
        """
        self._refuse_ended()
        with Check("refine") as check:
            bound = _bound(check, max_error)
        return float(self._core.refine(bound))

    def advance(self, max_error: float | None = None, steps: int = 1) -> tuple[str, ...]:
        """Take steps; return the names of the joints that the last one moved.

        max_error: by default that of the run. Raises MechanismError for invalid arguments, and once the run
        has ended; SimulationError where masses differ by so much that accelerations lack digits. Ctrl-C
        raises KeyboardInterrupt between steps; the run can be continued.

        >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.1)
        >>> moved = run.advance(steps=2)
        >>> round(run.time, 6), moved == run.moved
        (0.02, True)
        """
        self._refuse_ended()
        with Check("advance") as check:
            bound = self.max_error if max_error is None else _bound(check, max_error)
            steps = check.integer("steps", steps, 1)
        begun = perf_counter()
        try:
            while steps > 0:
                part = min(steps, _PART)
                taken = self._core.advance(bound, part)
                self._steps += taken
                steps -= part
                if taken < part:
                    self._refuse_masses()
        finally:
            self._wall += perf_counter() - begun
        return self.moved

    def pose(self, body: str) -> tuple[Floats, Floats]:
        """Position (3,), m, and rotation (4,) of a body's frame now; the cost grows with its tree depth.

        Raises MechanismError with close matches for an unknown name.

        >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.1)
        >>> position, rotation = run.pose(run.trajectory.bodies[-1])
        >>> print(position.round(6))    # m: the middle of the last rod of a straight chain
        [19.5  0.   0. ]
        """
        number = self.model.body_number(body)
        return self._core.pose(self.model.core, number)

    @property
    def trajectory(self) -> MoveTrajectory:
        """What has been recorded so far; once the run has ended, all of it."""
        return self._final if self._final is not None else self._recorded("running")

    def complete(self) -> MoveTrajectory:
        """Advance to the end of the run and stop; Ctrl-C ends it early, with the status "interrupted".

        >>> run = bc.start(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.complete()
        <MoveTrajectory of 'chain of 20': 6 frames, finished>
        """
        assert self._end is not None
        steps = round((self._end - self.model.initial.time) / self._step) - self._steps
        with deferred_interrupt() as interrupted:
            while steps > 0 and not interrupted():
                self.advance(steps=min(steps, _PART))
                steps -= min(steps, _PART)
        self._status = "interrupted" if steps > 0 else "finished"
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
            if self._path is not None:
                self._final.save(self._path, replace=True)
        return self._final

    def _recorded(self, status: str) -> MoveTrajectory:
        self._parts.append(self._core.take_record())
        statistics: dict[str, str | int | float] = {
            "mode": "quasistatic",
            "steps": self._steps,
            "step": self._step,
            "max_error": self.max_error,
            "measure": self.measure,
            "error": float(self._core.largest_error),
            "wall_seconds": self._wall,
        }
        joined = {name: _joined(name, self._parts) for name in self._parts[0]}
        self._parts = [joined]
        return MoveTrajectory(self._origin, joined, Status(status), statistics, self.model)

    def _names(self, links: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._joints[link] for link in links)

    def _refuse_masses(self) -> NoReturn:
        mass, bodies = self.model.mass, self.model.bodies
        light, heavy = (bodies[int(which)] for which in (np.argmin(mass), np.argmax(mass)))
        raise SimulationError(
            f"at t = {self.time:g} s accelerations cannot be computed: masses from {mass.min():.3g} kg "
            f"(body {light!r}) to {mass.max():.3g} kg (body {heavy!r}) take more than 32 digits; make the "
            "light bodies heavier, or hold them by fixed joints",
            self.time,
            light,
        )

    def _refuse_ended(self) -> None:
        if self._final is not None:
            with Check("advance") as check:
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


def refuse(model: Model) -> None:
    """Raise Unsupported if a model cannot be run quasi-statically, naming a formulation that takes it."""
    reasons = named(model, _core.Quasistatics.refusals(model.core))
    moving = [model.initial.velocity, model.initial.angular_velocity]
    if np.any(moving[0]) or np.any(moving[1]):
        body = model.bodies[int(np.argmax(np.max(np.abs(np.hstack(moving)), axis=1)))]
        reasons.append(f"its bodies move at the start, and quasi-statics starts from rest: body {body!r}")
    if model.inputs:
        inputs = ", ".join(repr(record.name) for record in model.inputs)
        reasons.append(f"it takes no inputs: {inputs}")
    if reasons:
        raise Unsupported(
            f"mode='quasistatic' cannot take mechanism {model.name!r}: {'; '.join(reasons)}. "
            "Take mode='dynamic' with formulation='lagrange', which takes every mechanism."
        )


def begun(model: Model, given: Mapping[str, Any]) -> QuasistaticRun:
    """A run at its start. given: the arguments of `bc.start`, checked here. Raises the same errors."""
    with Check("simulate") as check:
        bound = _DEFAULT_ERROR if given["max_error"] is None else _bound(check, given["max_error"])
        measure = given["measure"] or MEASURES[0]
        if measure not in MEASURES:
            check.fault("measure must be one of " + ", ".join(MEASURES), measure)
        step = check.positive("step", _DEFAULT_STEP if given["step"] is None else given["step"], "s")
        output = given["output_step"]
        output = step if output is None else check.positive("output_step", output, "s")
        length = given["duration"]
        length = None if length is None else check.positive("duration", length, "s")
    check_recorded(given["path"])
    state = given["state"]
    model = model if state is None else model.starting(state, model.given)
    model.refuse_unweighed()
    refuse(model)
    if state is None and given["assemble"]:
        model, _ = assembled(model)
    end = None if length is None else model.initial.time + length
    every = max(1, round(output / step))
    return QuasistaticRun(model, step, bound, measure, every, end, given["path"], given["description"])


def _bound(check: Check, value: float) -> float:
    number = check.number("max_error", value)
    if not number >= 0.0:
        check.fault("max_error must be at least 0", value)
    return float(number)
