"""Assembly of a mechanism in place: configurations and values that depend on them, written into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import pi
from time import perf_counter
from typing import Any, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.dependence import redundant_rows
from bellcrank.compile.initial import assembled, settled, with_pinned
from bellcrank.compile.model import Model
from bellcrank.compile.report import ROUNDING, AssemblyReport, BodyMove
from bellcrank.compile.state import Floats, State
from bellcrank.expression.compiled import evaluate
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, JointCoordinate
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import holds_expressions, is_expression
from bellcrank.mechanism.ropes import Way
from bellcrank.run.start import TIME_CONSTANT, closing
from bellcrank.slips import answered
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder

METHODS: Final = ("root_finding", "constraint_forces")
"""How `assemble` finds positions."""

_FRAMES: Final = 241  # of the motion of constraint forces
_FIELDS = ("position", "rotation", "velocity", "angular_velocity")


@answered
def assemble(
    mechanism: Mechanism,
    time: float = 0.0,
    *,
    pinned: str | Body | Iterable[str | Body] = (),
    method: str = "root_finding",
    time_constant: float = TIME_CONSTANT,
) -> AssemblyReport:
    """Correct the initial positions and velocities of bodies so that all constraints are satisfied.

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

    >>> report = bc.assemble(four_bar)
    >>> report.changed, report.error < 1e-12, report.moves[0].body
    (True, True, 'coupler')
    >>> bc.assemble(four_bar).changed    # it fits now
    False
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


@answered
def hold_start_values(mechanism: Mechanism, time: float = 0.0) -> tuple[str, ...]:
    """Write what springs and slack cables take from the initial configuration into the description.

    These values are then kept wherever bodies and joints are placed afterwards. time: at which drives are
    evaluated, s. Returns what was written, in words. Raises the errors of `assemble`; the bodies do not move.

    >>> spring = block.add_force("spring", bc.SpringDamper(1000.0), block.ground.marker((0, 0, 0.5)), "block")
    >>> bc.hold_start_values(block)
    ("force 'spring': what it took from the initial configuration is now a number",)
    >>> block.forces["spring"].kind.rest_length    # m, the distance at the start
    0.5
    """
    model, _ = assembled(compile_mechanism(mechanism, time))
    return tuple(hold_values_of(mechanism, model))


def hold_values_of(mechanism: Mechanism, model: Model, at: State | None = None) -> list[str]:
    """Write rest values of springs and lengths of slack cables that were left open into the description.

    model: the mechanism in its assembled initial configuration, where they are read. at: where it is to
    start from then, if not from there: what ropes take from the start, they take from there. Values that
    equations take from there (gear phases, lengths of rods) need not be written: they are the same wherever
    equations are satisfied. Returns what was written, in words.
    """
    arrays, laws, rows = model.arrays, dict(model.start.laws), set(model.start.rows)
    found: list[tuple[str, str, float]] = []
    for record in model.forces:
        for law in record.laws:
            places = range(*arrays["law_param_start"][law : law + 2])
            found += [("forces", record.name, arrays["law_params"][p]) for p in places if p in laws]
    for record in model.constraints:
        for block in record.blocks:
            if arrays["block_unilateral"][block] and not isinstance(
                mechanism.constraints[record.name].kind, Way
            ):
                held = [r for r in model.rows_of(block) if r in rows]
                found += [("constraints", record.name, arrays["row_constant"][r]) for r in held]
    numeric = with_numbers(mechanism) if found else mechanism
    return [
        *(_hold(mechanism, numeric, table, name, float(value)) for table, name, value in found),
        *(_hold_rope(mechanism, *rope) for rope in _ropes(mechanism, model, at)),
    ]


def _ropes(mechanism: Mechanism, model: Model, state: State | None) -> Iterator[tuple[str, str, list[float]]]:
    """What takes more than its rows from the start, as ropes do: table, name, this at the configuration."""
    at = model.coordinate_values(model.initial if state is None else state)
    for record in model.custom:
        custom: Any = record.lowered.custom
        if holds := getattr(custom, "holds", ()):
            known = dict(custom.known)
            for end, held in zip(custom.ends, record.ends, strict=True):
                known[end.value] = float(at[held])
            yield f"{record.category}s", record.name, list(evaluate(holds, known))
    for element in model.constraints:
        kind = mechanism.constraints[element.name].kind
        if hasattr(kind, "held_with") and kind.unilateral:
            rows = [row for block in element.blocks for row in model.rows_of(block)]
            yield (
                "constraints",
                element.name,
                [
                    sum(factor * at[c] for c, factor in model.terms(row)) - model.arrays["row_constant"][row]
                    for row in rows
                ],
            )


def _hold_rope(mechanism: Mechanism, table: str, name: str, values: list[float]) -> str:
    elements: dict[str, Any] = getattr(mechanism, f"_{table}")
    element = elements[name]
    elements[name] = replace(element, kind=element.kind.held_with(values))
    return f"{table[:-1]} {name!r}: what it took from the initial configuration is now a number"


def _hold(mechanism: Mechanism, numeric: Mechanism, table: str, name: str, value: float) -> str:
    elements: dict[str, Any] = getattr(mechanism, f"_{table}")
    element = elements[name]
    kind = element.kind.held_at(value, getattr(numeric, table)[name].ends)
    if kind is element.kind:
        return f"{table[:-1]} {name!r}: what it takes from the initial configuration is as it comes out now"
    elements[name] = replace(element, kind=kind)
    return f"{table[:-1]} {name!r}: what it took from the initial configuration is now a number"


def write_positions(mechanism: Mechanism, model: Model, values: Floats, keep: bool = True) -> list[str]:
    """Set the initial positions of joints to another configuration, and remove their velocities.

    Joints with given positions or guesses get those of that configuration; angles beyond half a turn are
    always given, since poses do not contain whole turns: as guesses where drives prescribe them, at the
    next time others.

    model: the mechanism as it was described. values: of all its coordinates, with whole turns. keep: False
    leaves out what poses determine. Returns which expressions were replaced, in words.
    """
    notes = write_guesses(mechanism, model, values) if keep else []
    table: dict[str, Any] = mechanism._joints  # noqa: SLF001
    given: dict[int, list[int]] = {}
    for g in model.given.positions:
        given.setdefault(g.joint, []).append(g.coordinate)
    driven = _driven(mechanism)
    for number, record in enumerate(model.joints):
        joint = table.get(record.name)
        if joint is None:
            continue
        positions = {
            name: float(values[place])
            for name, place in zip(record.coordinate_names, record.coordinates, strict=True)
            if _turns(model, place) and abs(values[place]) > pi
        }
        if keep:
            names = [name for name, _ in joint.position]
            places = zip(names, given.get(number, []), strict=True)
            positions.update({name: float(values[place]) for name, place in places})
        guess = {name: value for name, value in joint.guess if name not in positions} if keep else {}
        own = {name for name, _ in joint.position}
        for name in [one for one in positions if (joint.name, one) in driven and one not in own]:
            guess[name] = positions.pop(name)
        if not positions and not joint.position and not joint.velocity and len(guess) == len(joint.guess):
            continue
        if holds_expressions(joint.position) or holds_expressions(joint.velocity):
            notes.append(f"joint {record.name!r}: its position or velocity was given by expressions")
        table[record.name] = replace(
            joint, position=tuple(positions.items()), velocity=(), guess=tuple(guess.items())
        )
    return notes


def _driven(mechanism: Mechanism) -> set[tuple[str, str]]:
    """The coordinates of joints whose values drives prescribe: names of joint and coordinate."""
    found = set()
    for drive in mechanism.drives.values():
        held = getattr(drive, "coordinate", None)
        if isinstance(held, JointCoordinate) and getattr(drive, "position", None) is not None:
            found.add((held.joint, mechanism.joints[held.joint].coordinate_name(held.coordinate)))
    return found


def write_guesses(mechanism: Mechanism, model: Model, values: Floats) -> list[str]:
    """Set the guesses of joints to what became of them; return which expressions were replaced, in words.

    model: the mechanism as it was described. values: of all its coordinates, with whole turns.
    """
    notes = []
    table: dict[str, Any] = mechanism._joints  # noqa: SLF001
    for number, record in enumerate(model.joints):
        joint = table.get(record.name)
        if joint is None or not joint.guess:
            continue
        given = [g for g in model.given.guesses if g.joint == number]
        found = []
        for (name, held), g in zip(joint.guess, given, strict=True):
            now = float(values[g.coordinate])
            kept = abs(now - g.value) <= ROUNDING
            found.append((name, held if kept else now))
            if holds_expressions(held) and not kept:
                notes.append(f"joint {record.name!r}: its guess was given by an expression ({held})")
        if tuple(found) != joint.guess:
            table[record.name] = replace(joint, guess=tuple(found))
    return notes


def _turns(model: Model, coordinate: int) -> bool:
    kind = COORDINATE_KINDS.get(model.arrays["coordinate_kind"][coordinate])
    return kind is not None and kind.angular
