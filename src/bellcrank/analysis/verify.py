"""The judge of a run: does the recorded motion obey mechanics, whoever computed it?"""

from __future__ import annotations

from typing import Any

from bellcrank.analysis.balance_judge import judge_balance, judge_reactions
from bellcrank.analysis.constraint_judge import judge_constraints, judge_jacobian
from bellcrank.analysis.energy_judge import judge_energy, judge_momentum
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import DAMPING
from bellcrank.analysis.verdict import CheckResult, Verification
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.errors import Fault, MechanismError, SimulationError
from bellcrank.formulations.system import prepare
from bellcrank.integrate.advance import Observed, advance, output_times
from bellcrank.integrate.failure import explain
from bellcrank.integrate.methods import method_options
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_FRAMES = 400  # of a run made to be judged


def verify(
    mechanism: Mechanism | Model,
    run: Trajectory | None = None,
    *,
    duration: float = 1.0,
    formulation: str = "lagrange",
    method: str = "dopri5",
    tolerance: float = 1e-6,
    samples: int = 8,
    **options: Any,
) -> Verification:
    """Judge a run of a mechanism.

    run: one to judge, started from the mechanism's initial state as it is now; without one, a run of
        `duration` seconds is made with the given formulation and method.
    tolerance: relative error of energy and momenta that is allowed to the method.
    samples: instants that are looked at closely.

    Checked are: the constraints at position, velocity and acceleration level; the core's Jacobian against
    differences; Newton's and Euler's equations of every body with the recorded accelerations and reactions;
    that joint reactions do no work; energy against the work of drives, dampers and outer forces; momenta of
    what floats freely. The judge computes all of this from the bodies' motion, with nothing of the solver.

    Raises MechanismError for a run of another mechanism, and what `simulate` raises.
    """
    with Check("verify") as check:
        tolerance = check.positive("tolerance", tolerance)
        samples = check.integer("samples", samples, 1)
        duration = check.positive("duration", duration, "s")
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism)
    model.refuse_custom("verify", DAMPING)
    model, _ = assembled(model)
    if run is None:
        run = _run(model, duration, formulation, method, options)
    elif run.bodies != model.bodies:
        raise MechanismError(Fault(f"run of {run.name!r}", "it is of another mechanism", run.bodies[:5]))
    if len(run) < 3:
        raise MechanismError(Fault(f"run of {run.name!r}", "it takes 3 frames or more to judge", len(run)))
    evidence = Evidence(model, run, samples)
    checks: list[CheckResult] = [
        *judge_constraints(evidence),
        *judge_jacobian(evidence),
        *judge_balance(evidence),
        *judge_reactions(evidence),
        *judge_energy(evidence, tolerance),
        *judge_momentum(evidence, tolerance),
    ]
    told = run.statistics
    subject = f"{told.get('formulation', 'unknown')} with {told.get('method', 'unknown')}, {len(run)} frames"
    return Verification(model.name, subject, tuple(checks))


def _run(model: Model, duration: float, formulation: str, method: str, options: dict[str, Any]) -> Trajectory:
    chosen = method_options(method, duration)
    system = prepare(model, formulation, **options)
    system.project()
    what = observation(model, accelerations=True)
    recorder = Recorder(what.layout)
    observed = Observed(what.coordinates, what.rows, what.reactions, True)
    start = model.initial.time
    times = output_times(start, duration, duration / _FRAMES, chosen)
    sink = what.completed(model, recorder.on_block)
    outcome = advance(system.core, chosen, times, observed, sink, lambda _time: None)
    explained = explain(model, system.core, chosen, outcome)
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": method,
            **system.stats.counts,
        }
    )
    if outcome.status != "finished":
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    return trajectory
