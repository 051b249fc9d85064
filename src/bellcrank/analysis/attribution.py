"""Attribution of a force imbalance: the element whose directions explain it with the fewest numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bellcrank.analysis.balance_judge import left_over
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.impulse_judge import unmatched
from bellcrank.analysis.loads import (
    Loads,
    add_along,
    add_formula_force,
    add_row,
    damping_at,
    marker_at,
    wrench_at,
)
from bellcrank.analysis.verdict import CheckResult, Finding
from bellcrank.assembly.records import CustomRecord
from bellcrank.assembly.state import Floats

_EXPLAINED = 1e-5  # of what is left over, that may remain beside an element's directions


def attributed(evidence: Evidence, frame: int) -> str:
    """The element, such as "force 'spring'", that the imbalance of a frame points to, or ""."""
    part = evidence.at_frame(frame)
    if evidence.has_accelerations:
        force, moment, size, moment_size = (values[0] for values in left_over(part))
    else:
        force, moment, size, moment_size = unmatched(evidence, frame)
    left = np.concatenate([force.ravel(), moment.ravel()])
    scale = np.concatenate([np.repeat(size, 3), np.repeat(moment_size, 3)])
    scale = scale + 1e-6 * np.max(scale, initial=0.0) + 1e-300
    total = float(np.linalg.norm(left / scale))
    best, found = 7, ""
    for name, directions in _candidates(part):
        shape = np.column_stack([_stacked(d) for d in directions]) / scale[:, None]
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
    return Finding(who, worst.where or "the mechanism", quantity, worst.value or 0.0, _when(worst))


def _when(check: CheckResult) -> str:
    return "its run or a state" if check.time is None else f"t = {check.time:.6g} s"


def _stacked(loads: Loads) -> Floats:
    return np.concatenate([loads.force[0, :-1].ravel(), loads.moment[0, :-1].ravel()])


def _candidates(part: Frames) -> Iterator[tuple[str, list[Loads]]]:
    """Elements, each with what it can exert. part: one frame."""
    model = part.model
    one = np.ones(1)
    for force in model.forces:
        for law in force.laws:
            unit = Loads(part.at)
            unit.along(part.coordinate(int(model.arrays["law_coordinate"][law])), one)
            yield f"force {force.name!r}", [unit]
        for wrench in force.wrenches:
            body, f, n, point = wrench_at(part, wrench)
            acting = Loads(part.at)
            acting.add(body, f, n, point)
            yield f"force {force.name!r}", [acting]
            yield f"force {force.name!r}", _on_body(part, body)
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
            add_row(part, multiplier.row, one, unit)
            yield f"{multiplier.kind} {multiplier.element!r}", [unit]
    for name, _, pair in model.reactions:
        yield f"joint {name!r}", _between(part, pair)
    for body, name in enumerate(model.bodies):
        yield f"body {name!r}", _on_body(part, body)


def _of_formulas(part: Frames, record: CustomRecord) -> list[Loads]:
    """All that a force given by formulas can exert."""
    kind: Any = record.lowered.custom
    if kind.force is None and kind.moment is None:
        return [loads for end in record.ends for loads in _along_end(part, end)]
    ends = [marker_at(part, marker) for marker in record.ends]
    found = []
    for unit in np.eye(6)[slice(0 if kind.force else 3, 6 if kind.moment else 3)]:
        loads = Loads(part.at)
        for (body, _), sign in zip(ends, (1.0, -1.0), strict=False):
            loads.add(body, sign * unit[None, :3], sign * unit[None, 3:], ends[0][1])
        found.append(loads)
    return found


def _along_end(part: Frames, held: object) -> list[Loads]:
    found = []
    for unit in np.eye(1 if isinstance(held, int) else 6):
        loads = Loads(part.at)
        add_along(part, held, unit[None], loads)
        found.append(loads)
    return found


def _on_body(part: Frames, body: int) -> list[Loads]:
    found = []
    for unit in np.eye(6):
        loads = Loads(part.at)
        loads.add(body, unit[None, :3], unit[None, 3:], loads.centre[:, body])
        found.append(loads)
    return found


def _between(part: Frames, pair: int) -> list[Loads]:
    point, _, _ = part.at.relative_motion(pair)
    one, two = part.model.arrays["pair_bodies"][pair].tolist()
    found = []
    for unit in np.eye(6):
        loads = Loads(part.at)
        loads.add(two, unit[None, :3], unit[None, 3:], point)
        loads.add(one, -unit[None, :3], -unit[None, 3:], point)
        found.append(loads)
    return found
