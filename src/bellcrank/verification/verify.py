"""Verification of formulations and runs by mechanics, independent of how they were computed."""

from __future__ import annotations

from typing import Unpack

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import MOVING, check_request
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.slips import answered
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.certificate import certificate
from bellcrank.verification.run import judged_run
from bellcrank.verification.verdict import Verification


@answered
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
    """Verify every formulation of a mechanism, or a run of it.

    mechanism: or a run alone, loaded or just made, which is checked against the mechanism that it contains.
    run: the one to check, started from the mechanism's current initial state; without one, all formulations
        that accept the mechanism are checked, at the same states and each along a run of `duration` s.
    formulation: check this one alone, with its options.
    method: of the runs. tolerance: allowed relative error of energy and momenta.
    samples: number of instants of a run at which second derivatives are taken by differences; in a given run,
        those where a recorded quantity jumps are examined as well. All else is judged at every frame.
    states: number of random states that satisfy the constraints, beside the initial one and some of a run.

    Checked against mechanics are: the constraints at position, velocity and acceleration level; the core's
    Jacobian against differences; Newton's and Euler's equations of every body from recorded accelerations,
    reactions and efforts; efforts and energies of forces, against the description; what segments of beams
    exert and store, against formulas of its own; that joint reactions do no work; energy against the work of
    drives, dampers and external forces; momenta of freely floating parts. In
    a given run also: that all numbers are finite; its times, and its start against the mechanism's;
    coordinates of joints; stops; that the accelerations by the recorded forces satisfy the constraints; poses
    against the integrals of velocities between frames, and velocities against those of forces; events; the
    law of impact; flags and violations. Checks say what frames do not determine. All of this is computed from
    the bodies' motion and the description, independently of the code under test. Formulations are compared in
    accelerations, and in reactions and efforts where these are unique. `faults` names the formulation that
    disagrees, and in which quantity of which element; for a given run, what its failures point to.

    Raises MechanismError for a run that does not contain its mechanism, is of another one or was resampled,
    for a formulation given together with a run, and for options without a formulation; AssemblyError for an
    initial state that cannot be corrected; Unsupported if the formulation or all of them refuse the
    mechanism, and for a run whose inputs were changed: runs are checked with the initial values of inputs.

    >>> report = bc.verify(pendulum, duration=0.2)
    >>> report.passed, report.formulations[:2]
    (True, ('lagrange', 'recursive'))
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
    names = MOVING if formulation is None else (formulation,)
    return certificate(model, names, duration, method, tolerance, samples, states, options)
