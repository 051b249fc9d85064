"""The judge of formulations and of runs: do they obey mechanics, whoever computed them?"""

from __future__ import annotations

from typing import Any

from bellcrank.analysis.certificate import ALL, certificate, of_run
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.verdict import Verification
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.formulations.system import check_request
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.trajectory import Trajectory


def verify(
    mechanism: Mechanism | Model,
    run: Trajectory | None = None,
    *,
    duration: float = 1.0,
    formulation: str | None = None,
    method: str = "dopri5",
    tolerance: float = 1e-6,
    samples: int = 8,
    states: int = 5,
    **options: Any,
) -> Verification:
    """Judge every formulation of a mechanism, or a run of it.

    run: one to judge, started from the mechanism's initial state as it is now; without one, all formulations
        that accept the mechanism are, at the same states and each along a run of `duration` seconds.
    formulation: judge this one alone, with its options.
    method: of the runs. tolerance: relative error of energy and momenta that is allowed to it.
    samples: instants of a run that are looked at closely.
    states: random states, which the constraints allow, beside the initial one and some of a run.

    Judged by mechanics are: the constraints at position, velocity and acceleration level; the core's
    Jacobian against differences; Newton's and Euler's equations of every body from recorded accelerations,
    reactions and efforts; that joint reactions do no work; energy against the work of drives, dampers and
    outer forces; momenta of what floats freely. The judge computes all of this from the bodies' motion and
    the description, with nothing of what it judges. Formulations are compared in accelerations, and in
    reactions and efforts where these are unique. `faults` names who stands alone, and with which quantity of
    which element.

    Raises MechanismError for a run of another mechanism or options without a formulation, AssemblyError for
    an initial state that cannot be mended, Unsupported where the formulation or all of them refuse the
    mechanism.
    """
    with Check("verify") as check:
        tolerance = check.positive("tolerance", tolerance)
        samples = check.integer("samples", samples, 1)
        states = check.integer("states", states, 0)
        duration = check.positive("duration", duration, "s")
        if options and formulation is None:
            check.fault("options belong to a formulation", ", ".join(options), "name it by formulation=")
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism)
    model, _ = assembled(model)
    if run is None:
        if formulation is not None:
            check_request(formulation, options)
        names = ALL if formulation is None else (formulation,)
        return certificate(model, names, duration, method, tolerance, samples, states, options)
    if run.bodies != model.bodies:
        raise MechanismError(Fault(f"run of {run.name!r}", "it is of another mechanism", run.bodies[:5]))
    if len(run) < 3:
        raise MechanismError(Fault(f"run of {run.name!r}", "it takes 3 frames or more to judge", len(run)))
    checks = of_run(Evidence(model, run, samples), tolerance)
    told = run.statistics
    subject = f"{told.get('formulation', 'unknown')} with {told.get('method', 'unknown')}, {len(run)} frames"
    return Verification(model.name, subject, tuple(checks))
