"""Check of the work summed in a run: it must close the energy balance and match the powers of forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.analysis.appeal import borne_out
from bellcrank.analysis.calm import broken_intervals, calm_of
from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.quadrature import even, largest_nearby, windows, worked
from bellcrank.analysis.roughness import Roughness
from bellcrank.analysis.touching import event_intervals, locates_events
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.trajectory.accounts import IMPACTS, MOVES, force_account

_WORKS = (
    "works of forces against the integrals of their recorded powers, beyond what frames resolve, relative"
)
_UNRESOLVED = 5.0  # times the error of such an integral, which motions between frames may add
_OF_EACH = 30.0  # times the limit: what works may be off by, relative to those of their own force
_APPEALED = 1e-2  # of the limit, in speeds: by as much a motion may differ that explains works
_SUSPECTS = 32  # windows that may be explained
_LEAST = 1e-2  # of the energies: works that are less are judged by this scale
_RINGING = 1.0  # the same where something touches, and rings between frames


def judge_balance_of_works(evidence: Evidence, size: float, limit: float) -> CheckResult:
    """The gain of energy less the recorded work. size: scale of the energies, J."""
    balance = evidence.run.energy_balance()
    scale = max(size, balance.exchanged)
    worst = int(np.argmax(np.abs(balance.residual)))
    meaning = "energy gained less the works that were added up, relative to the energy in play"
    value = float(np.abs(balance.residual[worst])) / scale
    return CheckResult("energy", meaning, value, limit, time=float(evidence.time[worst]))


def judge_beginning(evidence: Evidence) -> CheckResult:
    """Works are counted from the start of a run on."""
    meaning = "works in the first frame, J"
    run, worst = evidence.run, Worst()
    begins = abs(evidence.time[0] - evidence.model.initial.time) <= 1e-9 * (1.0 + abs(evidence.time[0]))
    if "part" in run.statistics or not (begins or "started_from" in run.statistics):
        return CheckResult("works: start", meaning, None, 0.0, "the run does not begin with its first frame")
    works = np.abs(evidence.sections["works"][0])
    worst.meet(works, lambda k: run.layout.element("works", k), float(evidence.time[0]))
    return worst.result("works: start", meaning, 0.0)


def judge_idle(evidence: Evidence) -> CheckResult:
    """Works of states that were set, and of impacts, change only where the run records such."""
    meaning = "works of impacts and of states set, changed where there was none, J"
    model, worst, works = evidence.model, Worst(), evidence.sections["works"]
    stops = {model.block_owner[block] for block in np.flatnonzero(model.arrays["block_unilateral"])}
    hit = np.full(len(evidence.time) - 1, bool(stops) and not locates_events(evidence))
    for event in evidence.run.events:
        if event.name in stops:
            hit[event_intervals(evidence, event.time)] = True
    for account, happened in ((MOVES, broken_intervals(evidence)), (IMPACTS, hit)):
        column = evidence.run.layout.works.index(account)
        changed = np.where(happened, 0.0, np.abs(np.diff(works[:, column])))
        worst.meet_all(changed, account, evidence.time[1:])
    return worst.result("works: idle", meaning, 0.0)


def judge_works(evidence: Evidence, size: float, limit: float) -> CheckResult:
    """The work of forces over every four steps between frames, against the powers recorded there."""
    run, time = evidence.run, evidence.time
    steps, count = np.diff(time), even(time)
    if count < 9:
        return CheckResult("works", _WORKS, None, limit, "it takes 9 evenly spaced frames or more")
    calm, worst = np.all(windows(steady(evidence)[: count - 1], 4), axis=1), Worst()
    smooth = np.all(windows(calm_of(evidence).smooth[: count - 1], 4), axis=1)
    histories: list[tuple[str, Any]] = [(force_account(name), run.force(name)) for name in run.forces]
    if not np.any(evidence.model.arrays["block_unilateral"]):  # impacts act on drives as well
        known = {m.element for m in run.layout.multipliers if m.kind == "drive" and m.coordinate is not None}
        histories += [(f"drive {name!r}", run.drive(name)) for name in run.drives if name in known]
    rings = any(not contact.of_tyre for contact in evidence.model.contacts)
    touching = {force_account(contact.name) for contact in evidence.model.contacts}
    allowed = _APPEALED * limit + Roughness.of(evidence).noise
    for account, history in histories:
        if account in run.layout.works:
            kept = calm if run.contacts else smooth  # powers have kinks where contacts change
            least = (_RINGING if rings or account in touching else _LEAST) * size
            work, power, step = history.work[:count], history.power[:count], float(steps[0])
            gained = account, work, limit * max(float(np.max(np.abs(work))), least)
            strange = np.abs(work[4:] - work[:-4] - worked(power, step)[0])
            left, end = _left(work, power, step, kept, least, rings)
            for window in np.argsort(-strange)[:_SUSPECTS].tolist():
                # What powers at frames do not explain the motion of the model may.
                if left <= limit or not borne_out(evidence, range(window, window + 4), allowed, gained):
                    break
                kept = kept & (np.arange(len(kept)) != window)
                left, end = _left(work, power, step, kept, least, rings)
            worst.meet(left, account, float(time[end]))
    return worst.result("works", _WORKS, limit)


def _left(
    work: Floats, power: Floats, step: float, kept: np.ndarray, least: float, rings: bool
) -> tuple[float, int]:
    """How far works (T,) are off, by four steps and all together, and the frame at which they are.

    kept: (T - 4,), whether to judge the four steps from each frame on. least: scale of the works at least, J.
    rings: whether something rings between frames, which may look the same at all of them: no sum is known.
    """
    found, errors = worked(power, step)
    apart = kept * (work[4:] - work[:-4] - found)
    unknown = _UNRESOLVED * largest_nearby(np.abs(errors))
    beyond = np.maximum(0.0, np.abs(apart) - unknown)
    beyond /= _OF_EACH * max(float(np.max(np.abs(found))), least)
    one = int(np.argmax(beyond))
    if rings:
        return float(beyond[one]), one + 4
    # What frames do not show differs in sign from one to the next: it adds up as a random walk does.
    gone, walked = np.cumsum(apart[::4]), np.sqrt(np.cumsum((kept * unknown)[::4] ** 2))
    drifted = np.maximum(0.0, np.abs(gone) - walked)
    drifted /= _OF_EACH * max(float(np.max(np.abs(work))), least)
    all_together = int(np.argmax(drifted))
    if beyond[one] >= drifted[all_together]:
        return float(beyond[one]), one + 4
    return float(drifted[all_together]), 4 * all_together + 4
