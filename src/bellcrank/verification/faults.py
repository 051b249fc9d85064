"""Faults: which formulation differs from the others, and which element explains forces that do not balance.

Formulations are compared at the same states. An imbalance is attributed to the element whose directions
explain it with the fewest numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.compile.model import CustomRecord, Model
from bellcrank.compile.state import Floats
from bellcrank.verification.balance import left_over, unmatched, with_floor
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.loads import (
    Loads,
    acceleration_size,
    add_along,
    add_formula_force,
    add_row,
    damping_at,
    marker_at,
    wrench_at,
)
from bellcrank.verification.states import Testimony
from bellcrank.verification.verdict import CheckResult, Finding

LIMIT = 1e-8
_EXPLAINED = 1e-5  # of what is left over, that may remain beside an element's directions


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity at all states by each formulation.

    values: (states, elements, components) each. scale: (states,), or one for all. counts: (states, elements),
        which of them are compared, or whether all are.
    """

    name: str
    elements: Sequence[str]
    values: Mapping[str, Floats]
    scale: Floats | float = 1.0
    counts: np.ndarray | bool = True

    def gaps(self, one: str, other: str) -> Floats:
        """Differences of two formulations relative to the scale (states, elements); 0 where none counts."""
        apart = np.max(np.abs(self.values[one] - self.values[other]), axis=2, initial=0.0)
        relative = np.where(np.isfinite(apart), apart, np.inf) / np.reshape(self.scale, (-1, 1))
        return np.asarray(np.where(self.counts, relative, 0.0))


def judge_agreement(
    model: Model, said: Mapping[str, Testimony], failing: Mapping[str, bool], labels: Sequence[str]
) -> tuple[list[CheckResult], list[Finding]]:
    """Compare formulations by pairs.

    failing: which of them fail the mechanics checks; this decides between two. labels: of the states.
    """
    names = list(said)
    checks, faults = [], []
    for quantity in _quantities(model, said):
        if not quantity.elements or len(names) < 2:
            continue
        gaps = {(a, b): quantity.gaps(a, b) for i, a in enumerate(names) for b in names[i + 1 :]}
        pair = max(gaps, key=lambda key: float(np.max(gaps[key])))
        size = float(np.max(gaps[pair]))
        state, element = divmod(int(np.argmax(gaps[pair])), len(quantity.elements))
        where = f"{pair[0]} and {pair[1]}, {quantity.elements[element]} at {labels[state]}" if size else ""
        meaning = "largest difference between formulations, relative"
        checks.append(CheckResult(f"agreement: {quantity.name}", meaning, size, LIMIT, where, "all"))
        if size > LIMIT:
            apart = {key: float(gap[state, element]) for key, gap in gaps.items()}
            who = _alone(apart, names, failing)
            element_name = quantity.elements[element]
            faults.append(Finding(who, element_name, quantity.name, size, labels[state]))
    return checks, faults


def disagreeing(model: Model, said: Mapping[str, Testimony], who: str) -> tuple[int, list[str]]:
    """The state where a formulation's accelerations differ most from others', and the bodies concerned."""
    motion = [q for q in _quantities(model, said) if "acceleration" in q.name]
    gaps = np.max([q.gaps(who, other) for q in motion for other in said if other != who], axis=0)
    state = int(np.argmax(np.max(gaps, axis=1)))
    return state, [model.bodies[b] for b in np.flatnonzero(gaps[state] > LIMIT)]


def _alone(gaps: Mapping[tuple[str, str], float], names: Sequence[str], failing: Mapping[str, bool]) -> str:
    """The one that differs from all others while these agree; else those failing mechanics; else all."""
    alone = [
        name
        for name in names
        if len(names) > 2
        and all(gap > LIMIT for pair, gap in gaps.items() if name in pair)
        and all(gap <= LIMIT for pair, gap in gaps.items() if name not in pair)
    ]
    wrong = [name for name in names if failing.get(name)]
    return " or ".join(alone or wrong or names)


def _quantities(model: Model, said: Mapping[str, Testimony]) -> Iterator[Quantity]:
    first = next(iter(said.values()))
    states, layout = len(first.dropped), first.evidence.run.layout

    def values(section: str, elements: Sequence[str], part: slice = slice(None)) -> dict[str, Floats]:
        if not elements:
            return {}
        shape = states, len(elements), -1
        return {who: one.sections[section].reshape(shape)[:, :, part] for who, one in said.items()}

    def unique(section: str) -> np.ndarray:
        found: np.ndarray = np.all([one.sections[section] > 0.5 for one in said.values()], axis=0)
        return found

    def largest(section: str) -> Floats:
        tables = [np.abs(one.sections[section]).reshape(states, -1) for one in said.values()]
        return np.asarray(np.max([np.max(table, axis=1, initial=0.0) for table in tables], axis=0))

    bodies = [f"body {name!r}" for name in model.bodies]
    joints = [f"joint {name!r}" for name, _, _ in model.reactions]
    rows = [f"{m.kind} {m.element!r}" for m in model.multipliers]
    coordinates, whole = [f"joint {c.joint!r} ({c.name})" for c in layout.coordinates], ["the mechanism"]
    motion, forces = _scales(model, first)
    for section in ("acceleration", "angular_acceleration"):
        yield Quantity(section.replace("_", " "), bodies, values(section, bodies), motion)
    loads, both = forces + largest("reactions"), unique("unique_reactions")
    force, moment = (values("reactions", joints, part) for part in (slice(3, 6), slice(0, 3)))
    yield Quantity("reaction force", joints, force, loads, both[:, :, 1])
    yield Quantity("reaction moment", joints, moment, loads, both[:, :, 0])
    loads, both = forces + largest("multipliers"), unique("unique_multipliers")
    yield Quantity("effort", rows, values("multipliers", rows), loads, both)
    yield Quantity("uniqueness of the reaction", joints, values("unique_reactions", joints))
    yield Quantity("uniqueness of the effort", rows, values("unique_multipliers", rows))
    dropped = {name: one.dropped[:, None, None].astype(float) for name, one in said.items()}
    yield Quantity("number of redundant rows", whole, dropped)
    energy = np.abs(first.sections["kinetic"]) + np.abs(first.sections["potential"]) + 1e-12
    for section in ("kinetic", "potential"):
        yield Quantity(f"{section} energy", whole, values(section, whole), energy)
    for section, name in (("coordinates", "position"), ("rates", "rate")):
        scale = 1.0 + np.max(np.abs(first.sections[section]), axis=1, initial=0.0)
        yield Quantity(name, coordinates, values(section, coordinates), scale)


def _scales(model: Model, said: Testimony) -> tuple[Floats, Floats]:
    """Per state, the scale of accelerations, including rotation and gravity, and of the forces needed."""
    sections, names = said.sections, ("acceleration", "angular_acceleration")
    parts = [np.max(np.abs(sections[name]), axis=(1, 2), initial=0.0) for name in names]
    spin = np.max(np.abs(sections["angular_velocity"]), axis=(1, 2), initial=0.0)
    size = np.maximum.reduce([*parts, spin**2]) + float(np.linalg.norm(model.gravity)) + 1e-3
    size += acceleration_size(model)
    heaviest = float(np.max(model.mass, initial=0.0))
    return size, heaviest * size


def attributed(evidence: Evidence, frame: int) -> str:
    """The element, such as "force 'spring'", that the imbalance of a frame points to, or ""."""
    part = evidence.at_frame(frame)
    if evidence.has_accelerations:
        force, moment, size, moment_size = (values[0] for values in left_over(part))
    else:
        force, moment, size, moment_size = unmatched(evidence, frame)
    left = np.concatenate([force.ravel(), moment.ravel()])
    scale = with_floor(np.concatenate([np.repeat(size, 3), np.repeat(moment_size, 3)]))
    total = float(np.linalg.norm(left / scale))
    best, found = 7, ""
    for name, directions in _candidates(part):
        columns = [np.concatenate([d.force[0, :-1].ravel(), d.moment[0, :-1].ravel()]) for d in directions]
        shape = np.column_stack(columns) / scale[:, None]
        rank = int(np.linalg.matrix_rank(shape, tol=1e-10 * (np.max(np.abs(shape), initial=0.0) + 1e-300)))
        if rank == 0:
            continue
        rest = left / scale - shape @ np.linalg.lstsq(shape, left / scale, rcond=1e-12)[0]
        remains = float(np.linalg.norm(rest)) / (total + 1e-300)
        if remains < _EXPLAINED and rank < best:
            best, found = rank, name
    return found


def blamed(
    who: str, evidence: Evidence, frames: Sequence[tuple[int, str]], checks: Sequence[CheckResult]
) -> Finding:
    """The faults of results that fail checks, when there are no others to compare them with.

    frames: those whose imbalance is attributed, each with its label.
    """
    failed = [check for check in checks if not check.passed]
    causes = [
        [c for c in failed if c.name in ("numbers", "rotations", "times", "times: ends")],
        [c for c in failed if c.name in ("start", "poses")],
        [c for c in failed if c.name.endswith(": position")],
        [c for c in failed if c.name == "forces"],
    ]
    worst = max(next(filter(None, causes), failed), key=lambda c: (c.value or 0.0) / max(c.limit, 1e-300))
    unbalanced = [check for check in failed if check.name.startswith("balance")]
    if unbalanced and not any(causes):
        size = max(check.value or 0.0 for check in unbalanced)
        for frame, label in frames:
            element = attributed(evidence, frame)
            if element:
                return Finding(who, element, "force or acceleration", size, label)
    quantity = "force" if worst.name == "forces" else worst.name.removeprefix("constraints: ")
    when = "its run or a state" if worst.time is None else f"t = {worst.time:.6g} s"
    return Finding(who, worst.where or "the mechanism", quantity, worst.value or 0.0, when)


def _candidates(part: Frames) -> Iterator[tuple[str, list[Loads]]]:
    """Elements, each with what it can exert. part: one frame."""
    model, centre, effort = part.model, Loads(part.at).centre, np.ones(1)
    for force in model.forces:
        for law in force.laws:
            unit = Loads(part.at)
            unit.along(part.coordinate(int(model.arrays["law_coordinate"][law])), effort)
            yield f"force {force.name!r}", [unit]
        for wrench in force.wrenches:
            body, f, n, point = wrench_at(part, wrench)
            acting = Loads(part.at)
            acting.add(body, f, n, point)
            yield f"force {force.name!r}", [acting]
            yield f"force {force.name!r}", _units(part, [(body, 1.0)], centre[:, body])
    for record in part.evidence.formulas.forces:
        held = getattr(record.lowered.custom, "marker", None)
        acting = Loads(part.at)
        if held is not None:
            acting.add(*damping_at(part, record.lowered.custom))
        else:
            add_formula_force(part, record, acting)
        yield f"force {record.name!r}", [acting]
        yield f"force {record.name!r}", _of_formulas(part, record)
    for multiplier in model.multipliers:
        if multiplier.kind != "limit":
            unit = Loads(part.at)
            add_row(part, multiplier.row, effort, unit)
            yield f"{multiplier.kind} {multiplier.element!r}", [unit]
    for name, _, pair in model.reactions:
        one, two = model.arrays["pair_bodies"][pair].tolist()
        yield f"joint {name!r}", _units(part, [(two, 1.0), (one, -1.0)], part.at.relative_motion(pair)[0])
    for body, name in enumerate(model.bodies):
        yield f"body {name!r}", _units(part, [(body, 1.0)], centre[:, body])


def _of_formulas(part: Frames, record: CustomRecord) -> list[Loads]:
    """All that a force given by formulas can exert."""
    kind: Any = record.lowered.custom
    if kind.force is None and kind.moment is None:
        return [loads for end in record.ends for loads in _along_end(part, end)]
    ends = [marker_at(part, marker) for marker in record.ends]
    units = _units(part, zip((body for body, _ in ends), (1.0, -1.0), strict=False), ends[0][1])
    return units[slice(0 if kind.force else 3, 6 if kind.moment else 3)]


def _along_end(part: Frames, held: object) -> list[Loads]:
    found = []
    for unit in np.eye(1 if isinstance(held, int) else 6):
        loads = Loads(part.at)
        add_along(part, held, unit[None], loads)
        found.append(loads)
    return found


def _units(part: Frames, bodies: Iterable[tuple[int, float]], point: Floats) -> list[Loads]:
    """Unit forces and moments at a point on bodies, each with its sign."""
    listed, found = list(bodies), []
    for unit in np.eye(6):
        loads = Loads(part.at)
        for body, sign in listed:
            loads.add(body, sign * unit[None, :3], sign * unit[None, 3:], point)
        found.append(loads)
    return found
