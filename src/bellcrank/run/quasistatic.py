"""Quasi-static runs: steps from rest, at a cost proportional to what moves, with an error bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, by_coordinate
from bellcrank.errors import Unsupported
from bellcrank.formulations.adaptive import named
from bellcrank.mechanism.checking import Check
from bellcrank.run import adaptive
from bellcrank.run.linkage_run import LinkageRun, Recording, error_bound
from bellcrank.trajectory.own_file import check_recorded
from bellcrank.turns import in_turn

MEASURES: Final = ("relative_joint", "absolute_joint", "relative_linkage", "absolute_linkage")
"""Of the joint accelerations that are taken as zero: the largest or the root of the sum of squares; as a part
of the same of all joints, or in rad/s^2 and m/s^2."""

RULES: Final = ("leave", "lock")
"""What joints that matter little do: they are left out, or they are rigid and the others react to that."""

_DEFAULT_ERROR: Final = 1e-3
_DEFAULT_STEP: Final = 1e-3


@in_turn
class QuasistaticRun(LinkageRun):
    """A quasi-static run that is advanced step by step; see `bc.start` with mode="quasistatic".

    In each step all joints start at rest, and those that matter move by half their acceleration times the
    step squared. A run serves one thread at a time and cannot be copied or pickled.

    >>> run = bc.start(bc.gallery.chain(20), step=0.01, mode="quasistatic", max_error=0.01)
    >>> moved = run.advance(steps=2)
    >>> print(f"{run.time:.2f} s, {len(moved)} of 20 joints moved")
    0.02 s, 7 of 20 joints moved
    """

    def __init__(self, model: Model, max_error: float, measure: str, recording: Recording) -> None:
        core = _core.Quasistatics(model.core, recording.step, measure)
        initial = model.initial
        angles = by_coordinate(model, initial.angles)
        core.start(model.core, initial.time, initial.position, initial.rotation, angles)
        super().__init__(model, core, max_error, measure, recording)

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
        return self._along(self._core.accelerations(), self._core.computed)

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
        self._refuse_ended("refine")
        with Check("refine") as check:
            bound = error_bound(check, max_error)
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
        self._bounded(max_error, steps)
        return self.moved

    def _take(self, steps: int, max_error: float) -> int:
        return int(self._core.advance(max_error, steps))

    def _failure(self) -> tuple[str, str | None]:
        mass, bodies = self.model.mass, self.model.bodies
        light, heavy = (bodies[int(which)] for which in (np.argmin(mass), np.argmax(mass)))
        return (
            f"masses from {mass.min():.3g} kg (body {light!r}) to {mass.max():.3g} kg (body {heavy!r}) take "
            "more than 32 digits; make the light bodies heavier, or hold them by fixed joints"
        ), light

    def _counted(self) -> dict[str, str | int | float]:
        return {"mode": "quasistatic"}


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


def begun(model: Model, given: Mapping[str, Any]) -> QuasistaticRun | adaptive.AdaptiveRun:
    """A run at its start. given: the arguments of `bc.start`, checked here. Raises the same errors."""
    with Check("simulate") as check:
        bound = _DEFAULT_ERROR if given["max_error"] is None else error_bound(check, given["max_error"])
        rule = check.choice("rule", given["rule"] or RULES[0], RULES)
        measures = adaptive.MEASURES if rule == "lock" else MEASURES
        measure = given["measure"] or measures[0]
        if measure not in measures:
            check.fault("measure must be one of " + ", ".join(measures), measure)
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
    steps = None if length is None else round(length / step)
    recording = Recording(step, steps, max(1, round(output / step)), given["path"], given["description"])
    if rule == "lock":
        return adaptive.AdaptiveRun(model, adaptive.Limits(bound), measure, "at_rest", recording)
    return QuasistaticRun(model, bound, measure, recording)
