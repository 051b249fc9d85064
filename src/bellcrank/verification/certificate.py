"""A certificate: every formulation that accepts a mechanism, checked at random states and along runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import State
from bellcrank.errors import SimulationError, Unsupported
from bellcrank.formulations.preparing import prepare
from bellcrank.formulations.system import System
from bellcrank.run.advance import advance
from bellcrank.run.ending import explain, happened
from bellcrank.run.events import CompiledEvents
from bellcrank.run.plan import find_method, method_options, output_times
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.balance import judge_balance, judge_forces
from bellcrank.verification.beams import judge_beams
from bellcrank.verification.constraints import judge_constraints, judge_formulas, judge_jacobian
from bellcrank.verification.contacts import judge_contacts
from bellcrank.verification.energy import judge_energy, judge_momentum, judge_record
from bellcrank.verification.evidence import Evidence
from bellcrank.verification.faults import attributed, blamed, disagreeing, judge_agreement
from bellcrank.verification.reactions import judge_reactions
from bellcrank.verification.states import Testimony, admissible_states, testimony
from bellcrank.verification.verdict import CheckResult, Finding, Verification

_FRAMES = 400
_SINGULAR = 1e-8  # smallest relative pivot below which a pose says nothing of a formulation
_INTEGRATED = ("energy", "momentum", "angular momentum")
_STRICT = 1e-12  # tolerance of a second run where a first one does not conserve: motions may be small
_FROM_RUN = (0.31, 0.62, 0.93)  # parts of a run after which states are taken from it


def certificate(
    model: Model,
    names: Sequence[str],
    duration: float,
    method: str,
    tolerance: float,
    samples: int,
    states: int,
    options: Mapping[str, Any],
) -> Verification:
    """See `verify`. model: assembled. names: the formulations to take. states: how many random ones."""
    systems, refused = _systems(model, names, options)
    if not systems:
        raise Unsupported(f"no formulation takes mechanism {model.name!r}: {'; '.join(refused.values())}")
    ended = {name: _run(model, system, duration, method) for name, system in systems.items()}
    runs = {name: Evidence(model, run, samples) for name, (run, _) in ended.items() if run is not None}
    # A run that broke down is a fault of the formulation only if others came to the end.
    broken = 1.0 if runs else None
    checks = [
        CheckResult("run", "runs that broke down", broken, 0.0, why, name)
        for name, (run, why) in ended.items()
        if run is None
    ]
    for name, evidence in runs.items():
        found = of_run(evidence, tolerance)
        if find_method(method).adaptive and not all(c.passed for c in found if c.name in _INTEGRATED):
            again, _ = _run(model, systems[name], duration, method, _STRICT)
            if again is not None:
                found = of_run(Evidence(model, again, samples), tolerance)
        checks += [replace(check, formulation=name) for check in found]
    ran = {name: [c for c in checks if c.formulation == name] for name in systems}
    lost = {name for name, found in ran.items() if not all(c.passed for c in found)}
    posed, labels = _states(model, runs, lost, states)
    said = {name: testimony(model, system, posed) for name, system in systems.items()}
    said, labels, singular = _regular(said, systems, model, posed, labels)
    judged = {name: of_states(one.evidence) for name, one in said.items()}
    failing = {name: name in lost or not all(c.passed for c in found) for name, found in judged.items()}
    agreement, faults = judge_agreement(model, said, failing, labels)
    for name, found in judged.items():
        checks += [replace(c, formulation=name, name=f"{c.name} at states") for c in found]
    checks = [*agreement, *checks]
    judged = {name: [*ran[name], *found] for name, found in judged.items()}
    faults = _explained(model, said, judged, faults, labels)
    extra = f" ({singular} near singular poses left out)" if singular else ""
    extent = f"{len(labels)} states{extra}, and along {len(runs)} runs of {duration:g} s by {method}"
    subject = f"certificate of {', '.join(systems)}"
    return Verification(model.name, subject, tuple(checks), tuple(systems), refused, extent, tuple(faults))


def of_run(evidence: Evidence, tolerance: float) -> list[CheckResult]:
    """All judges of a run."""
    return [
        *judge_constraints(evidence),
        *judge_formulas(evidence),
        *judge_jacobian(evidence),
        *judge_balance(evidence),
        *judge_forces(evidence),
        *judge_contacts(evidence),
        *judge_reactions(evidence),
        *judge_energy(evidence, tolerance),
        *judge_beams(evidence),
        *judge_momentum(evidence, tolerance),
    ]


def of_states(evidence: Evidence) -> list[CheckResult]:
    """The judges of single states."""
    return [
        *judge_constraints(evidence),
        *judge_formulas(evidence),
        *judge_balance(evidence),
        *judge_forces(evidence),
        *judge_contacts(evidence),
        *judge_reactions(evidence),
        *judge_record(evidence),
        *judge_beams(evidence),
    ]


def _systems(
    model: Model, names: Sequence[str], options: Mapping[str, Any]
) -> tuple[dict[str, System], dict[str, str]]:
    """The formulations that accept the model, and why others do not."""
    systems, refused = {}, {}
    for name in names:
        try:
            systems[name] = prepare(model, name, **options)
        except Unsupported as error:
            refused[name] = str(error)
            if len(names) == 1:
                raise
    return systems, refused


def _run(
    model: Model, system: System, duration: float, method: str, tolerance: float | None = None
) -> tuple[Any, str]:
    try:
        return made_run(model, system, duration, method, tolerance), ""
    except SimulationError as error:
        return None, str(error)


def _states(
    model: Model, runs: Mapping[str, Evidence], failing: Collection[str], count: int
) -> tuple[list[State], list[str]]:
    """The initial state, random ones, and some of a run that passed, each with a label."""
    found = admissible_states(model, count)
    labels = ["the initial state", *(f"random state {k}" for k in range(1, len(found)))]
    for evidence in [evidence for name, evidence in runs.items() if name not in failing][:1]:
        first, last = float(evidence.time[0]), float(evidence.time[-1])
        for part in _FROM_RUN:
            frame = int(np.argmin(np.abs(evidence.time - (first + part * (last - first)))))
            time = float(evidence.time[frame])
            found.append(evidence.run.at(time))
            labels.append(f"t = {time:.4g} s")
    return found, labels


def _regular(
    said: dict[str, Testimony],
    systems: Mapping[str, System],
    model: Model,
    states: Sequence[State],
    labels: Sequence[str],
) -> tuple[dict[str, Testimony], list[str], int]:
    """The states without those near singular poses, where every formulation loses digits."""
    least = np.min([one.pivots for one in said.values()], axis=0)
    kept = np.flatnonzero(least >= _SINGULAR).tolist()
    if len(kept) == len(states) or not kept:
        return said, list(labels), 0
    posed = [states[k] for k in kept]
    again = {name: testimony(model, system, posed) for name, system in systems.items()}
    return again, [labels[k] for k in kept], len(states) - len(kept)


def _explained(
    model: Model,
    said: Mapping[str, Testimony],
    judged: Mapping[str, list[CheckResult]],
    faults: list[Finding],
    labels: Sequence[str],
) -> list[Finding]:
    """The faults, each with its cause: wrong accelerations may come from a wrong force or row."""
    apart = [fault for fault in faults if "acceleration" in fault.quantity]
    others = [fault for fault in faults if fault not in apart]
    found: list[Finding] = []
    for who in dict.fromkeys(fault.formulation for fault in apart):
        mine = max((f for f in apart if f.formulation == who), key=lambda f: f.size)
        found.append(_cause(model, said, judged, mine, labels) if who in said else mine)
    moved = {fault.formulation for fault in apart}
    found += [fault for fault in others if fault.formulation not in moved]
    for who, checks in judged.items():  # what nobody else could contradict
        if who not in {fault.formulation for fault in found} and not all(c.passed for c in checks):
            found.append(blamed(who, said[who].evidence, list(enumerate(labels)), checks))
    return found


def _cause(
    model: Model,
    said: Mapping[str, Testimony],
    judged: Mapping[str, list[CheckResult]],
    fault: Finding,
    labels: Sequence[str],
) -> Finding:
    who = fault.formulation
    state, bodies = disagreeing(model, said, who)
    failed = [check for check in judged[who] if not check.passed]
    off = [c for c in failed if c.name.endswith(": position")]
    if off:
        worst = max(off, key=lambda c: c.value or 0.0)
        size = float(worst.value or 0.0)
        return replace(fault, element=worst.where, quantity="position", size=size, where="all states")
    other_force = [check for check in failed if check.name == "forces"]
    if other_force:
        return replace(fault, element=other_force[0].where, quantity="force", where=labels[state])
    unbalanced = any(check.name == "balance" for check in failed)
    element = attributed(said[who].evidence, state) if unbalanced else ""
    if element and not element.startswith(("body", "joint")):
        quantity = "force" if element.startswith("force") else "effort"
        return replace(fault, element=element, quantity=quantity, where=labels[state])
    rows = [c for c in failed if c.name.endswith(": acceleration")]
    if rows and (len(bodies) > 1 or not unbalanced):
        worst = max(rows, key=lambda c: c.value or 0.0)
        return replace(fault, element=worst.where, quantity="acceleration", where=labels[state])
    return fault


def made_run(
    model: Model,
    system: System,
    duration: float,
    method: str,
    tolerance: float | None,
) -> Trajectory:
    """A run of a system of the model, recording everything that the checks need.

    tolerance: None for the method's default.

    Raises SimulationError if it breaks down.
    """
    chosen = method_options(method, duration, tolerance=tolerance)
    system.set_state(model.initial)
    system.project()
    what = observation(model, accelerations=True, ledger=True)
    recorder = Recorder(what.layout, description=Origin.of_model(model))
    times = output_times(model.initial.time, duration, duration / _FRAMES, chosen)
    outcome = advance(system.core, chosen, times, what.core, recorder.on_block, lambda _time: None)
    explained = explain(model, system.core, chosen, outcome)
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": method,
            **system.stats.counts,
        },
        happened(model, CompiledEvents(), outcome),
        outcome.event_frames,
    )
    if outcome.status != "finished":
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    return trajectory
