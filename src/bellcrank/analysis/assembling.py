"""Assembly of a mechanism in place: what was found is written into its description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled, redundant_rows
from bellcrank.assembly.model import Model
from bellcrank.assembly.report import ROUNDING, AssemblyReport
from bellcrank.assembly.state import State
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parametric import holds_expressions, is_expression

_FIELDS = ("position", "rotation", "velocity", "angular_velocity")


def assemble(
    mechanism: Mechanism, time: float = 0.0, *, pinned: str | Body | Iterable[str | Body] = ()
) -> AssemblyReport:
    """Mend the initial positions and velocities of a mechanism's bodies so that all constraints hold.

    Bodies move by as little as possible, weighed by mass: least is the sum over all particles of mass times
    squared distance, among configurations that can be reached without a jump. Those that need not move keep
    their numbers exactly. Values that are "as in the initial configuration" (rest lengths, gear phases, ...)
    do not hold bodies back: they are taken from what comes out.

    Initial positions and velocities that joints are given hold exactly. Bodies that hang on such a joint move
    along with it; in a loop, the joint is led there from where the bodies were placed, and the others follow.

    Numbers that are expressions of parameters stay expressions where assembly does not change them; what it
    writes numbers over, the notes of the report say.

    time: at which drives are read, s.
    pinned: bodies, or their names, that keep their placement; a joint that is given a position then does not
        carry them.

    Raises MechanismError for faults of the description and for bodies that there are not, AssemblyError where
    the constraints cannot be met, naming the worst with what they miss; the mechanism is then left as it was.
    """
    fixed = names_of(pinned)
    described = compile_mechanism(mechanism, time)
    model, report = assembled(described, fixed)
    return written(mechanism, described, model, report)


def names_of(pinned: str | Body | Iterable[str | Body]) -> tuple[str, ...]:
    """The names of bodies that are given by themselves or by name."""
    listed = [pinned] if isinstance(pinned, (str, Body)) else list(pinned)
    return tuple(dict.fromkeys(body.name if isinstance(body, Body) else body for body in listed))


def written(mechanism: Mechanism, described: Model, model: Model, report: AssemblyReport) -> AssemblyReport:
    """The report, with redundant rows and notes, once the bodies have the initial state of the model."""
    given = described.given.described
    notes = _write(mechanism, described.initial if given is None else given, model, report)
    return replace(report, redundant=redundant_rows(model), notes=(*report.notes, *notes))


def _write(mechanism: Mechanism, before: State, model: Model, report: AssemblyReport) -> list[str]:
    """Give the bodies that were moved their new numbers; what expressions were lost."""
    table: dict[str, Any] = mechanism._bodies  # noqa: SLF001  (one at a time, replace() would take long)
    notes: list[str] = []
    for move in report.moves:
        i, body = model.body_index[move.body], table[move.body]
        changed: dict[str, Any] = {}
        for field in _FIELDS:
            old, new = getattr(before, field)[i].tolist(), getattr(model.initial, field)[i].tolist()
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
    """Components of a vector: as they are held where they do not change."""
    rows = zip(held, old, new, strict=True)
    return [kept if abs(was - now) <= ROUNDING else now for kept, was, now in rows]


def _lost(what: str, held: Sequence[Any], put: Sequence[Any], new: list[float]) -> list[str]:
    pairs = zip(held, put, strict=True)
    lost = ", ".join(str(kept) for kept, now in pairs if is_expression(kept) and kept is not now)
    numbers = ", ".join(f"{value:.6g}" for value in new)
    return [f"{what} was given by expressions ({lost}) and is now ({numbers})"] if lost else []
