"""Values taken from the initial configuration, kept when the description moves elsewhere."""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Any

from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.assembly.report import ROUNDING
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import COORDINATE_KINDS
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parametric import holds_expressions


def hold_start_values(mechanism: Mechanism, time: float = 0.0) -> tuple[str, ...]:
    """Write what springs and slack cables take from the initial configuration into the description.

    These values are then kept wherever bodies and joints are placed afterwards. time: at which drives are
    evaluated, s. Returns what was written, in words. Raises the errors of `assemble`; the bodies do not move.
    """
    model, _ = assembled(compile_mechanism(mechanism, time))
    return tuple(hold_values_of(mechanism, model))


def hold_values_of(mechanism: Mechanism, model: Model) -> list[str]:
    """Write rest values of springs and lengths of slack cables that were left open into the description.

    model: the mechanism in its assembled initial configuration, where they are read. Values that equations
    take from there (gear phases, lengths of rods) need not be written: they are the same wherever the
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
            if arrays["block_unilateral"][block]:
                places = range(*arrays["block_row_start"][block : block + 2])
                found += [
                    ("constraints", record.name, arrays["row_constant"][r]) for r in places if r in rows
                ]
    numeric = with_numbers(mechanism) if found else mechanism
    return [_hold(mechanism, numeric, table, name, float(value)) for table, name, value in found]


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
    always given, since poses do not contain whole turns.

    model: the mechanism as it was described. values: of all its coordinates, with whole turns. keep: False
    leaves out what poses determine. Returns which expressions were replaced, in words.
    """
    notes = write_guesses(mechanism, model, values) if keep else []
    table: dict[str, Any] = mechanism._joints  # noqa: SLF001
    given: dict[int, list[int]] = {}
    for g in model.given.positions:
        given.setdefault(g.joint, []).append(g.coordinate)
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
        if not positions and not joint.position and not joint.velocity and len(guess) == len(joint.guess):
            continue
        if holds_expressions(joint.position) or holds_expressions(joint.velocity):
            notes.append(f"joint {record.name!r}: its position or velocity was given by expressions")
        table[record.name] = replace(
            joint, position=tuple(positions.items()), velocity=(), guess=tuple(guess.items())
        )
    return notes


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
