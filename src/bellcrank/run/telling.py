"""What a run tells of itself when it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bellcrank.assembly.model import Model
from bellcrank.assembly.report import limit_of_digits
from bellcrank.formulations.system import System, SystemStatistics
from bellcrank.integrate.advance import Outcome
from bellcrank.integrate.events import CompiledEvents
from bellcrank.integrate.methods import DEFAULT_STEP, MethodOptions

_CUTS: Final = 50  # joints that a run tells by name


def counted(system: System, outcome: Outcome | None = None) -> dict[str, int]:
    """What a system and a run have counted up to now."""
    steps = {} if outcome is None else {"steps": outcome.steps, "rejected_steps": outcome.rejected}
    return {**steps, **system.stats.counts}


def statistics(
    system: System, options: MethodOptions, outcome: Outcome, before: Mapping[str, int]
) -> dict[str, Any]:
    """The statistics of a run, or of the part of it after something was counted before."""
    counts = {name: count - before.get(name, 0) for name, count in counted(system, outcome).items()}
    told = {
        "formulation": system.formulation,
        "method": options.method.name,
        "step": outcome.last_step if options.method.adaptive else options.step or DEFAULT_STEP,
        "steps": counts.pop("steps"),
        "rejected_steps": counts.pop("rejected_steps"),
        **outcome.of_adaptive(options.method),
        **counts,
        "redundant_rows": ", ".join(map(str, system.stats.dropped)),
    }
    if system.cut_joints:
        told["cut_joints"] = _listed(system.cut_joints)
    if limits := _limits_of_digits(outcome, system.stats):
        told["accuracy"] = "; ".join(limits)
    return told


def happened(model: Model, watched: CompiledEvents, outcome: Outcome) -> list[str]:
    """The names of what happened: events that were watched, and stops that were met."""
    return [
        watched.names[number] if number >= 0 else model.block_owner[int(model.row_block[row])]
        for number, row in outcome.events
    ]


def _limits_of_digits(outcome: Outcome, statistics: SystemStatistics) -> list[str]:
    """Where double precision, and not the tolerance, has decided how accurate the run is."""
    limits = []
    if outcome.rounding:
        steps = f"{outcome.rounding} of {outcome.steps} steps"
        limits.append(
            f"{steps} have errors above the tolerance that are rounding; shorter steps would not help"
        )
    limits.append(limit_of_digits(statistics.uncertainty))
    if not limits[-1]:
        limits.append(limit_of_digits(statistics.effort_uncertainty, "reaction or effort"))
    return [limit for limit in limits if limit]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _CUTS
    return ", ".join(names[:_CUTS]) + (f" and {more} more" if more > 0 else "")
