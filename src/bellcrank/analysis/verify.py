"""The judge of formulations and of runs: do they obey mechanics, whoever computed them?"""

from __future__ import annotations

from typing import Unpack

from bellcrank.analysis.certificate import ALL, certificate
from bellcrank.analysis.run_judge import judged_run
from bellcrank.analysis.verdict import Verification
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.assembly.initial import assembled
from bellcrank.assembly.model import Model
from bellcrank.formulations.options import FormulationOptions
from bellcrank.formulations.preparing import check_request
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.trajectory import Trajectory


def verify(
    mechanism: Mechanism | Model | Trajectory,
    run: Trajectory | None = None,
    *,
    duration: float = 1.0,
    formulation: str | None = None,
    method: str = "dopri5",
    tolerance: float = 1e-6,
    samples: int = 8,
    states: int = 5,
    **options: Unpack[FormulationOptions],
) -> Verification:
    """Judge every formulation of a mechanism, or a run of it.

    mechanism: or a run alone, loaded or just made, which is judged by the mechanism that it carries.
    run: one to judge, started from the mechanism's initial state as it is now; without one, all formulations
        that accept the mechanism are, at the same states and each along a run of `duration` seconds.
    formulation: judge this one alone, with its options.
    method: of the runs. tolerance: relative error of energy and momenta that is allowed to it.
    samples: instants of a run that are looked at closely; of one that is given, those where a recorded
        quantity jumps are as well.
    states: random states, which the constraints allow, beside the initial one and some of a run.

    Judged by mechanics are: the constraints at position, velocity and acceleration level; the core's
    Jacobian against differences; Newton's and Euler's equations of every body from recorded accelerations,
    reactions and efforts; what forces exert and store, against the description; that joint reactions do no
    work; energy against the work of drives, dampers and outer forces; momenta of what floats freely. Of a run
    that is given also: that all numbers are finite; coordinates of joints; stops; the poses of all frames
    beside those around them; and where accelerations were not recorded, momenta against impulses of forces
    between frames, which is a weaker check. The judge computes all of this from the bodies' motion and the
    description, with nothing of what it judges. Formulations are compared in accelerations, and in reactions
    and efforts where these are unique. `faults` names who stands alone, and with which quantity of which
    element; of a run that is given, the element that its failures point to. Not judged are the flags `unique`
    and the recorded violations.

    Raises MechanismError for a run that does not contain its mechanism, is of another one or was resampled,
    for a formulation beside a run and options without a formulation; AssemblyError for an initial state that
    cannot be corrected, Unsupported where the formulation or all of them refuse the mechanism, and for a run
    whose inputs were changed: they are judged with the values that they start with.
    """
    with Check("verify") as check:
        tolerance = check.positive("tolerance", tolerance)
        samples = check.integer("samples", samples, 1)
        states = check.integer("states", states, 0)
        duration = check.positive("duration", duration, "s")
        if options and formulation is None:
            check.fault("options belong to a formulation", ", ".join(options), "name it by formulation=")
        if isinstance(mechanism, Trajectory) and run is not None:
            check.fault("a run that comes alone carries its mechanism", None, "give one run")
        if formulation is not None and (run is not None or isinstance(mechanism, Trajectory)):
            check.fault("a run is judged as it is, whoever made it", formulation, "leave out formulation=")
    if isinstance(mechanism, Trajectory):
        return judged_run(None, mechanism, samples, tolerance)
    if run is not None:
        return judged_run(mechanism, run, samples, tolerance)
    model, _ = assembled(mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism))
    if formulation is not None:
        check_request(formulation, options)
    names = ALL if formulation is None else (formulation,)
    return certificate(model, names, duration, method, tolerance, samples, states, options)
