"""Judge of what a run says of its own numbers: which are unique, and errors of constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from bellcrank.analysis.constraint_judge import Rows, row_errors
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import OF_FORMULAS

_FLAGS: Final[tuple[str, ...]] = ("unique_multipliers", "unique_reactions")
_MOST_ROWS: Final = 300
_KEPT: Final = 1e-4  # of the largest singular value: smaller ones may be those of dependent rows
_LOST: Final = 1e-9  # the same: larger ones may be those of independent rows
_SHARED: Final = 1e-3  # part of a load that redundant rows share
_ALONE: Final = 1e-7
_CHANGES: Final = 6  # of flags that are looked at
_ERRORS: Final = 1e-9


def judge_flags(evidence: Evidence) -> list[CheckResult]:
    """Flags are 1 or 0, and 0 only where redundant rows share a load, by the judge's own Jacobian."""
    found = {name: evidence.sections[name] for name in _FLAGS if name in evidence.sections}
    tables = {name: values.reshape(len(values), -1) for name, values in found.items() if values.size}
    if not tables:
        return []
    worst = Worst()

    def meet(name: str, wrong: np.ndarray, times: Floats) -> None:
        width = tables[name].shape[1] // found[name].shape[1]
        worst.meet_all(wrong.astype(float), lambda k: evidence.run.layout.element(name, k // width), times)

    for name, values in tables.items():
        meet(name, (values != 0.0) & (values != 1.0), evidence.time)
    if (
        evidence.model.row_count <= _MOST_ROWS
        and not evidence.formulas.constraints
        and not evidence.formulas.joints
    ):
        for frame in _looked_at(evidence, list(tables.values())):
            for name, own in _own_flags(evidence.at_frame(frame)):
                if name in tables:
                    wrong = (own >= 0.0) & (own != tables[name][frame])
                    meet(name, wrong[None], evidence.time[frame : frame + 1])
    return [worst.result("flags", "flags of unique efforts and reactions that are wrong", 0.0)]


def _looked_at(evidence: Evidence, tables: list[Floats]) -> list[int]:
    """Frames that are examined closely, and those next to which flags change."""
    changed = np.any(np.concatenate([np.diff(values, axis=0) != 0.0 for values in tables], axis=1), axis=1)
    places = np.flatnonzero(changed)[:_CHANGES]
    return sorted({*evidence.frames, *places.tolist(), *(places + 1).tolist()})


def _own_flags(part: Frames) -> Iterator[tuple[str, Floats]]:
    """Flags at one frame by the judge: 1, 0, or -1 where rounding decides; none if it decides of all."""
    model = part.model
    rows, loads = _rows_at(part)
    if not rows:
        yield "unique_multipliers", np.ones(len(model.multipliers))
        return
    shared = _null_space(np.stack([load.ravel() for load in loads]))
    if shared is None:
        return
    places = {row: k for k, row in enumerate(rows)}
    sizes = [
        np.max(np.abs(shared[places[m.row]]), initial=0.0) if m.row in places else 0.0
        for m in model.multipliers
    ]
    yield (
        "unique_multipliers",
        _decided(np.array(sizes), np.array([m.row in places for m in model.multipliers], dtype=bool)),
    )
    found = []
    for _, blocks, _ in model.reactions:
        mine = [places[row] for row in places if model.row_block[row] in blocks]
        effects = [_direction(part, rows[k]) for k in mine]
        for section in (slice(0, 3), slice(3, 6)):
            total = sum(
                (np.outer(e[section], shared[k]) for e, k in zip(effects, mine, strict=True)),
                np.zeros((3, shared.shape[1])),
            )
            size = max((float(np.linalg.norm(e[section])) for e in effects), default=1.0) + 1e-300
            found.append(float(np.max(np.abs(total), initial=0.0)) / size)
    yield "unique_reactions", _decided(np.array(found), np.ones(len(found), dtype=bool))


def _decided(sizes: Floats, present: np.ndarray) -> Floats:
    return np.where(~present, -1.0, np.where(sizes < _ALONE, 1.0, np.where(sizes > _SHARED, 0.0, -1.0)))


def _rows_at(part: Frames) -> tuple[list[int], list[Floats]]:
    """The rows that act at a frame, and what a unit of each exerts on bodies (nb, 6), by roots of masses."""
    model, arrays = part.model, part.model.arrays
    multipliers = part.section("multipliers")[0]
    pushing = {m.row for k, m in enumerate(model.multipliers) if multipliers[k] != 0.0}
    one_sided = arrays["block_unilateral"][model.row_block] != 0
    listed = [r for r in range(model.row_count) if model.rigid_rows[r] or (one_sided[r] and r in pushing)]
    roots = np.sqrt(model.mass)
    turning = np.sqrt(np.maximum(np.linalg.eigvalsh(model.inertia)[:, 1], 1e-300))
    rows, loads = [], []
    for row in listed:
        terms = range(*arrays["row_term_start"][row : row + 2].tolist())
        if not terms:
            continue
        load = np.zeros((model.ground + 1, 6))
        for term in terms:
            along, w = (
                part.at.coordinate(int(arrays["term_coordinate"][term])),
                float(arrays["term_coefficient"][term]),
            )
            for body, sign in zip(along.bodies, (-w, w), strict=True):
                if body < model.ground:
                    lever = np.cross(along.point[0] - part.at.com[0, body], along.force[0])
                    load[body] += sign * np.concatenate(
                        [along.force[0] / roots[body], (along.moment[0] + lever) / turning[body]]
                    )
        rows.append(row)
        loads.append(load[:-1])
    return rows, loads


def _null_space(jacobian: Floats) -> Floats | None:
    """Loads (rows, k) of rows that cancel; None where it is not clear how many there are."""
    sizes = np.linalg.norm(jacobian, axis=1, keepdims=True)
    if np.any(sizes <= 0.0):
        return None
    left, values, _ = np.linalg.svd(jacobian / sizes, full_matrices=True)
    values = np.pad(values, (0, len(jacobian) - len(values))) / values[0]
    if np.any((values < _KEPT) & (values > _LOST)):
        return None
    return np.asarray(left[:, values <= _LOST] / sizes)


def _direction(part: Frames, row: int) -> Floats:
    """What a unit of a row exerts (6,): moment about the origin of marker 2 of its joint, then force."""
    arrays, total = part.model.arrays, np.zeros(6)
    for term in range(*arrays["row_term_start"][row : row + 2].tolist()):
        along = part.at.coordinate(int(arrays["term_coordinate"][term]))
        total += float(arrays["term_coefficient"][term]) * np.concatenate([along.moment[0], along.force[0]])
    return total


def judge_violations(evidence: Evidence) -> list[CheckResult]:
    """The recorded errors of constraints are those that the judge finds."""
    rows = Rows(evidence.model)
    kinds = set(evidence.model.arrays["coordinate_kind"])
    if not rows.rows or kinds & set(OF_FORMULAS) or evidence.formulas.constraints or evidence.formulas.joints:
        return []
    worst = Worst()
    for part in evidence.parts(evidence.every):
        for name, errors in zip(
            ("position_violation", "velocity_violation"), row_errors(rows, part), strict=True
        ):
            apart = np.abs(part.section(name) - np.max(errors, axis=1))
            size = (
                1.0
                + np.max(np.abs(part.at.velocity), axis=(1, 2))
                + np.max(np.abs(part.at.spin), axis=(1, 2))
            )
            worst.meet_all(apart / size, name.replace("_", " "), part.time)
    meaning = "recorded errors of constraints beside the judge's own, m, rad, m/s or rad/s, relative"
    return [worst.result("violations", meaning, _ERRORS)]
