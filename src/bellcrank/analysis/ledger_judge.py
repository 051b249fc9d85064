"""Check of the work summed in a run: it must close the energy balance and match the powers of forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.analysis.calm import calm_of
from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.quadrature import even, largest_nearby, windows, worked
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats
from bellcrank.trajectory.accounts import force_account

_WORKS = (
    "works of forces against the integrals of their recorded powers, beyond what frames resolve, relative"
)
_UNRESOLVED = 5.0  # times the error of such an integral, which motions between frames may add


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
    for account, history in histories:
        if account in run.layout.works:
            left = _left(history.work[:count], history.power[:count], float(steps[0]))
            left *= calm if run.contacts else smooth  # powers have kinks where contacts change
            worst.meet(float(np.max(left)) / size, account, float(time[int(np.argmax(left)) + 4]))
    return worst.result("works", _WORKS, limit)


def _left(work: Floats, power: Floats, step: float) -> Floats:
    found, errors = worked(power, step)
    return np.maximum(
        0.0, np.abs(work[4:] - work[:-4] - found) - _UNRESOLVED * largest_nearby(np.abs(errors))
    )
