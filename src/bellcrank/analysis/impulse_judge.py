"""Check of forces if accelerations were not recorded: the momentum that bodies gain between frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from bellcrank.analysis.balance_judge import sizes, with_floor
from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import Loads, acting
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats

AROUND = (0, -4, -3, 3, 4)
"""Frames around one that show how well it is predicted, without its own numbers."""

_IMPULSES = "momentum gained between frames less impulse of the forces, relative to that of those that act"
_CLEAR = 1e-2  # of the forces: where frames determine impulses no better than that, they are not judged


def judge_impulses(evidence: Evidence, limit: float) -> list[CheckResult]:
    """Gains of momentum against forces and moments that act, by Simpson's rule over two steps and over four.

    The difference of the two shows how well the frames determine impulses, see `unclear`.
    """
    if evidence.has_accelerations or not evidence.has_reactions:
        return []
    loads = cache(lambda frame: acting(evidence, frame))
    rates = cache(lambda frame, reach: _unmatched(evidence, loads, frame, reach))
    worst, judged = Worst(), np.zeros(len(evidence.model.bodies), dtype=bool)
    calm = steady(evidence)
    frames = [f for f in evidence.frames if _is_inner(evidence, f) and np.all(calm[f - 1 : f + 1])]
    apart = np.zeros((len(frames), len(AROUND), 2, len(judged)))
    for k, m in np.ndindex(*apart.shape[:2]):
        place = frames[k] + AROUND[m]
        apart[k, m] = np.linalg.norm(rates(place, 1) - rates(place, 2), axis=2)
    bounds = unclear(apart)
    for frame, bound in zip(frames, bounds, strict=True):
        scales = sizes(evidence, frame, loads(frame))
        for left, open_still, size in zip(rates(frame, 1), bound, scales, strict=True):
            scale = with_floor(size)
            clear = open_still < _CLEAR * scale
            judged |= clear
            beyond = np.where(clear, np.maximum(np.linalg.norm(left, axis=1) - open_still, 0.0), 0.0) / scale
            worst.meet(beyond, lambda k: f"body {evidence.model.bodies[k]!r}", float(evidence.time[frame]))
    if not judged.any():
        reason = "the frames are too far apart, too few or not evenly spaced"
        if not calm.all():
            reason += ", or contacts change between them"
        return [CheckResult("balance: impulses", _IMPULSES, None, limit, reason)]
    return [worst.result("balance: impulses", _IMPULSES + not_known(judged), limit)]


def unmatched(evidence: Evidence, frame: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Force and moment (nb, 3) that no gain of momentum answers about a frame, and sizes (nb,) that act."""
    force, moment = _unmatched(evidence, lambda k: acting(evidence, k), frame, 1)
    return force, moment, *sizes(evidence, frame, acting(evidence, frame))


def unclear(apart: Floats) -> Floats:
    """How far predictions at frames (frames, ...) may be wrong.

    apart: (frames, AROUND, ...), by how much those from nearby and from further away differ. That does not
    depend on a number that is wrong at the frame itself, nor on what is wrong smoothly. Where something
    happens between frames it is large there; where frames are too far apart for the motion it is large at
    most of them, and passes zero at others.
    """
    if len(apart) == 0:
        return apart[:, 0]
    return np.asarray(4.0 * np.maximum(np.max(apart, axis=1), np.quantile(apart[:, 0], 0.8, axis=0)))


def not_known(judged: np.ndarray) -> str:
    """What to add to a meaning where not all bodies (nb,) could be judged."""
    open_still = np.count_nonzero(~judged)
    return f"; {open_still} of {len(judged)} bodies are not known well enough" if open_still else ""


def _unmatched(evidence: Evidence, loads: Callable[[int], Loads], frame: int, reach: int) -> Floats:
    """Mean forces and moments (2, nb, 3) about a frame, less those that follow from momenta."""
    first, last = frame - reach, frame + reach
    acts = [np.stack([found.force[:-1], found.moment[:-1]]) for found in map(loads, (first, frame, last))]
    mean = (acts[0] + 4.0 * acts[1] + acts[2]) / 6.0
    gained = _momenta(evidence, last) - _momenta(evidence, first)
    return np.asarray(mean - gained / (evidence.time[last] - evidence.time[first]))


def _momenta(evidence: Evidence, frame: int) -> Floats:
    """Momenta and angular momenta about the coms (2, nb, 3), world axes."""
    model, at = evidence.model, evidence.at(frame)
    turn, spin = at.turn[:-1], at.spin[:-1]
    angular = np.einsum("bij,bjk,blk,bl->bi", turn, model.inertia, turn, spin)
    return np.stack([model.mass[:, None] * at.com_velocity, angular])


def _is_inner(evidence: Evidence, frame: int) -> bool:
    """Whether a frame has enough evenly spaced neighbours."""
    reach = max(AROUND) + 2
    steps = np.diff(evidence.time[max(frame - reach, 0) : frame + reach + 1])
    return len(steps) == 2 * reach and bool(np.ptp(steps) <= 1e-6 * np.min(steps))
