"""Assembly of a mechanism in place: the result is written into its description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import numpy as np

from bellcrank.analysis.start_values import write_guesses
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.dependence import redundant_rows
from bellcrank.assembly.initial import assembled, settled, with_pinned
from bellcrank.assembly.model import Model
from bellcrank.assembly.report import ROUNDING, AssemblyReport, BodyMove
from bellcrank.assembly.state import State
from bellcrank.integrate.closing import TIME_CONSTANT, closing
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.naming import nearest
from bellcrank.mechanism.parametric import holds_expressions, is_expression
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder

METHODS: Final = ("root_finding", "constraint_forces")
"""How `assemble` finds positions."""

_FRAMES: Final = 241  # of the motion of constraint forces
_FIELDS = ("position", "rotation", "velocity", "angular_velocity")


def assemble(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    method: str = "root_finding",
    time_constant: float = TIME_CONSTANT,
) -> AssemblyReport:
    """Mend the initial positions and velocities of a mechanism's bodies so that all constraints hold.

    Bodies move as little as possible, weighted by mass: the sum over all particles of mass times squared
    distance is minimal among the configurations that can be reached without a jump. Bodies that need not move
    keep their numbers exactly. Values taken from the initial configuration (rest lengths, gear phases, ...)
    do not hold bodies back: they are taken from the assembled configuration.

    Initial positions and velocities given for joints are satisfied exactly. Bodies that hang on such a joint
    move along with it; in a loop, the joint is moved there from where the bodies were placed, and the others
    follow. Guesses are satisfied if constraints allow it, else left as little as possible, and are
    set to what became of them.

    Numbers that are expressions of parameters stay expressions unless assembly changes them; the notes of the
    report list the expressions that were replaced by numbers.

    time: at which drives are evaluated, s.
    pinned: bodies, or their names, that keep their placement; a joint with a given position then does not
        carry them.
    method: "root_finding", or "constraint_forces": the bodies come together under forces that make each
        error die out like a critically damped oscillator, C'' + 2/τ C' + C/τ² = 0, found by least squares
        without a matrix. The report's `motion` is the Trajectory of that, from `time` on with drives at rest;
        at its end, root finding removes the last rounding errors. It shows how a structure snaps
        together and may move bodies far; root finding is faster and finds a nearer configuration.
    time_constant: τ, s; a gap of one metre closes to 1e-9 m within about 24 τ.

    Source of the constraint forces: P. Schröder, The Virtual Erector Set (1990), (5.3) and (5.12).

    Raises MechanismError for faults of the description and for unknown bodies, AssemblyError if the
    constraints cannot be satisfied, naming the worst with their errors; the mechanism is then left unchanged.
    """
    with Check("assemble") as check:
        time = check.number("time", time, "s")
        time_constant = check.positive("time_constant", time_constant, "s")
        if not isinstance(method, str) or method not in METHODS:
            check.fault("method must be one of " + ", ".join(METHODS), method, nearest(method, METHODS))
    fixed = names_of(pinned)
    described = compile_mechanism(mechanism, time)
    if method == "root_finding":
        model, report = assembled(described, fixed)
    else:
        model, report = _come_together(described, fixed, time_constant)
    return _written(mechanism, described, model, report)


def _come_together(
    described: Model, pinned: Sequence[str], time_constant: float
) -> tuple[Model, AssemblyReport]:
    """As `assembled`, by constraint forces."""
    started, fixed = with_pinned(described, pinned)
    motion = closing(started, time_constant, fixed)
    what = observation(described, reactions=False)
    recorder = Recorder(what.layout, description=Origin.of_model(described))
    times = np.linspace(motion.begin, motion.end, _FRAMES)
    begun = perf_counter()
    outcome = motion.advance(times, what.core, recorder.on_block, lambda _: None)
    evaluations, iterations = motion.core.counts()
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "formulation": "constraint forces",
            "method": "dopri5",
            "steps": outcome.steps,
            "evaluations": evaluations,
            "lsqr_iterations": iterations,
            "time_constant": time_constant,
            "wall_seconds": perf_counter() - begun,
        }
    )
    model, report = settled(started, motion.found(), pinned)
    return model, replace(report, motion=trajectory)


def names_of(pinned: str | Body | Iterable[str | Body]) -> tuple[str, ...]:
    """The names of bodies that are given by themselves or by name."""
    listed = [pinned] if isinstance(pinned, (str, Body)) or not np.iterable(pinned) else list(pinned)
    names = [body.name if isinstance(body, Body) else body for body in listed]
    with Check("pinned") as check:
        for name in names:
            if not isinstance(name, str):
                check.fault("each must be a body or its name", name)
    return tuple(dict.fromkeys(names))


def _written(mechanism: Mechanism, described: Model, model: Model, report: AssemblyReport) -> AssemblyReport:
    """The report, with redundant rows and notes, once the bodies have the initial state of the model."""
    given = described.given.described
    before = described.initial if given is None else given
    notes = write(mechanism, before, model.body_index, model.initial, report.moves)
    notes += write_guesses(mechanism, described, described.coordinate_values(model.initial))
    return replace(report, redundant=redundant_rows(model), notes=(*report.notes, *notes))


def write(
    mechanism: Mechanism, before: State, index: Mapping[str, int], after: State, moves: Sequence[BodyMove]
) -> list[str]:
    """Give the moved bodies their new numbers; return which expressions were replaced.

    before: the state as described. index: of bodies by name, in the states.
    """
    table: dict[str, Any] = mechanism._bodies  # noqa: SLF001  (one at a time, replace() would take long)
    notes: list[str] = []
    for move in moves:
        i, body = index[move.body], table[move.body]
        changed: dict[str, Any] = {}
        for field in _FIELDS:
            old, new = getattr(before, field)[i].tolist(), getattr(after, field)[i].tolist()
            if old == new:
                continue
            held = getattr(body, field)
            changed[field] = new
            if holds_expressions(held):
                changed[field] = new if field == "rotation" else _kept(held, old, new)
                notes += _lost(f"body {body.name!r}: its {field}", held, changed[field], new)
        if changed:
            table[move.body] = replace(body, **{field: tuple(values) for field, values in changed.items()})
    return notes


def _kept(held: Sequence[Any], old: list[float], new: list[float]) -> list[Any]:
    """Components of a vector: as they are stored where they do not change."""
    rows = zip(held, old, new, strict=True)
    return [kept if abs(was - now) <= ROUNDING else now for kept, was, now in rows]


def _lost(what: str, held: Sequence[Any], put: Sequence[Any], new: list[float]) -> list[str]:
    pairs = zip(held, put, strict=True)
    lost = ", ".join(str(kept) for kept, now in pairs if is_expression(kept) and kept is not now)
    numbers = ", ".join(f"{value:.6g}" for value in new)
    return [f"{what} was given by expressions ({lost}) and is now ({numbers})"] if lost else []
