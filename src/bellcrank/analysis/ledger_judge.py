"""Check of the work summed in a run: it must close the energy balance and match the powers of forces."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.quadrature import largest_nearby, windows, worked
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats

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


def judge_works(evidence: Evidence, size: float, limit: float) -> CheckResult:
    """The work of forces over every four steps between frames, against the powers recorded there."""
    run, time = evidence.run, evidence.time
    steps = np.diff(time)
    if len(time) < 9 or np.max(np.abs(steps[:-1] - steps[0])) > 1e-6 * steps[0]:
        return CheckResult("works", _WORKS, None, limit, "it takes 9 evenly spaced frames or more")
    calm, worst = np.all(windows(steady(evidence), 4), axis=1), Worst()
    for name in run.forces:
        left = _left(run.force(name).work, run.force(name).power, float(steps[0]))
        left *= calm if name in run.contacts else 1.0
        worst.meet(float(np.max(left)) / size, f"force {name!r}", float(time[int(np.argmax(left)) + 4]))
    return worst.result("works", _WORKS, limit)


def _left(work: Floats, power: Floats, step: float) -> Floats:
    found, errors = worked(power, step)
    return np.maximum(
        0.0, np.abs(work[4:] - work[:-4] - found) - _UNRESOLVED * largest_nearby(np.abs(errors))
    )
