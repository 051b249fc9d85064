"""What a run reports when it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank.accuracy import Accuracy
from bellcrank.compile.report import AssemblyReport, limit_of_digits
from bellcrank.compile.state import State
from bellcrank.formulations.system import System
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.closing import Closing
from bellcrank.integrate.failure import Explanation, explain
from bellcrank.integrate.methods import DEFAULT_STEP, MethodOptions

_CUTS: Final = 50  # joints that a run lists by name

STATE_SET: Final = "state set"
"""The name of the event where a run was set to another state."""


def counted(system: System, outcome: Outcome | None = None) -> dict[str, int]:
    """The counts of a system and a run so far."""
    steps = {} if outcome is None else {"steps": outcome.steps, "rejected_steps": outcome.rejected}
    if outcome is not None and outcome.samples:
        steps["samples"] = outcome.samples
    return {**steps, **system.stats.counts}


def statistics(
    system: System, options: MethodOptions, outcome: Outcome, counts: Mapping[str, int]
) -> dict[str, Any]:
    """The statistics of a run or a part of it. counts: what was counted in it."""
    counts = dict(counts)
    told = {
        "formulation": system.formulation,
        "method": _method(options, outcome),
        **_choice(system, options, outcome),
        "step": outcome.last_step if options.method.adaptive else options.step or DEFAULT_STEP,
        **({"tolerance": options.rtol} if options.method.adaptive else {}),
        "steps": counts.pop("steps"),
        "rejected_steps": counts.pop("rejected_steps"),
        **outcome.of_adaptive(options.method),
        **counts,
        "redundant_rows": ", ".join(map(str, system.stats.dropped)),
    }
    if not np.isnan(outcome.stiff_since):
        told["stiff_since"] = outcome.stiff_since
    if system.cut_joints:
        told["cut_joints"] = _listed(system.cut_joints)
    if options.method.by_impulses:
        told |= {"residual": outcome.residual, "penetration": outcome.penetration}
        told |= {"lost_to_impacts": outcome.lost_to_impacts, "lost_to_friction": outcome.lost_to_friction}
        if outcome.weakened:
            told["weakened_impacts"] = outcome.weakened
        if outcome.halved:
            told["halved_steps"] = outcome.halved
    if limits := _limits_of_digits(outcome, system.accuracy()):
        told["accuracy"] = "; ".join(limits)
    return told


def of_start(report: AssemblyReport | None, motion: Closing | None) -> dict[str, Any]:
    """How the run was started: the notes of assembly, and the motion that closed the mechanism."""
    told: dict[str, Any] = {}
    if report is not None and report.notes:
        told["assembly_notes"] = "; ".join(report.notes)
    if motion is not None:
        told |= {"closed_at": motion.end, "time_constant": motion.time_constant}
    return told


def started_from(assemble: bool | str, state: State | None) -> dict[str, str]:
    """Where a run starts, unless that is the assembled configuration of the mechanism."""
    if state is not None:
        return {"started_from": "a given state"}
    return {} if assemble else {"started_from": "the description, projected"}


def explained(
    system: System, options: MethodOptions, outcome: Outcome, lost: tuple[float, str] | None
) -> Explanation:
    """Why a run ended as it did. lost: time, s, and reason, if a joint's formulas became singular."""
    if lost is not None:
        return Explanation(f"singular at t = {outcome.time:.6g} s: {lost[1]}")
    return explain(system.model, system.core, options, outcome)


def _method(options: MethodOptions, outcome: Outcome) -> str:
    """The method in use, which "auto" may have chosen."""
    if options.method.name != "auto":
        return options.method.name
    return outcome.method or "adams"


def _choice(system: System, options: MethodOptions, outcome: Outcome) -> dict[str, str]:
    """Why this formulation and method were used, where "auto" chose them."""
    reasons = [system.reason] if system.reason else []
    if options.method.name == "auto" and outcome.gave_way not in ("", outcome.method):
        since = f"{outcome.gave_way} did not get on before t = {outcome.changed_since:.6g} s"
        reasons.append(f"{_method(options, outcome)}: {since}")
    elif options.method.name == "auto" and np.isnan(outcome.stiff_since):
        reasons.append("adams: no step is given, and the motion is not stiff")
    elif options.method.name == "auto":
        reasons.append(f"bdf: the motion is stiff from t = {outcome.stiff_since:.3g} s on, adams before")
    return {"choice": "; ".join(reasons)} if reasons else {}


def _limits_of_digits(outcome: Outcome, accuracy: Accuracy) -> list[str]:
    """Where double precision, not the tolerance, limited the accuracy of the run."""
    limits = []
    if outcome.rounding:
        steps = f"{outcome.rounding} of {outcome.steps} steps"
        limits.append(
            f"{steps} have errors above the tolerance that are rounding; shorter steps would not help"
        )
    limits.append(accuracy.limit())
    if not limits[-1]:
        limits.append(limit_of_digits(accuracy.efforts, "reaction or effort"))
    return [limit for limit in limits if limit]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _CUTS
    return ", ".join(names[:_CUTS]) + (f" and {more} more" if more > 0 else "")
