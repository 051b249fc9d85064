"""What quasi-static runs refuse, and in which words."""

import sys

import numpy as np
import pytest
from rigs import linkages
from rigs.adaptive import at_rest, hinge, mechanism, obstructed

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported


@pytest.mark.parametrize("make", [linkages.four_bar, linkages.five_bar, linkages.bennett])
def test_a_loop_is_refused(make):
    with pytest.raises(Unsupported, match=r"trees of joints.*formulation='lagrange'"):
        bc.prepare(make(), "adaptive")
    with pytest.raises(Unsupported, match=r"trees of joints.*mode='dynamic' with formulation='lagrange'"):
        bc.simulate(make(), 0.1, mode="quasistatic")


def test_a_motion_with_velocities_is_refused():
    mech = hinge()
    moving = bc.Mechanism("thrown", gravity=(0, 0, 0))
    moving.add_body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 0, 0))
    with pytest.raises(Unsupported, match="quasi-statics starts from rest"):
        bc.start(moving, mode="quasistatic")
    mech.add_drive("motor", "pin", "theta_z", position=bc.Polynomial((0.0, 1.0)))
    with pytest.raises(Unsupported, match="rows of loops, drives or constraints"):
        bc.start(mech, mode="quasistatic")


def test_forces_between_bodies():
    """Springs, bushings and formulas act wherever their bodies are; runs rest where statics finds it."""
    mech = obstructed("")
    rod, tip = mech.bodies["rod"], mech.bodies["tip"]
    strut = bc.SpringDamper(stiffness=60.0, damping=1.0, rest_length=1.0)
    mech.add_force("strut", strut, mech.ground.marker((0, 1, 0)), tip.marker((1, 0, 0)))
    mech.add_force("bush", bc.Bushing((20, 20, 0), (0, 0, 5)), rod, tip)
    end = bc.EndPose("end")
    potential = 5.0 * (end.position.x - 1.0) ** 2
    mech.add_force("lane", bc.CustomForce((end,), potential=potential), tip.marker((1, 0, 0)))
    rest = bc.statics(mech)
    run = bc.simulate(mech, 500.0, mode="quasistatic", max_error=1e-9, step=0.1, output_step=100.0)
    found = [run.pose(name, -1)[0] for name in ("rod", "tip")]
    np.testing.assert_allclose(found, rest.state.position, atol=1e-6)


@pytest.mark.parametrize(
    ("force", "taken"),
    [
        (bc.JointFriction(coulomb=100.0), False),
        (bc.JointFriction(viscous=1.0, coulomb=0.0, stiction=2.0, regularisation_velocity=1e-3), False),
        (bc.Brake(100.0), False),
        (bc.Brake(100.0, regularisation_velocity=1e-3), False),
        (bc.JointFriction(viscous=1.0), True),
        (bc.TorsionSpring(stiffness=1.0, damping=1.0), True),
    ],
)
def test_dry_friction_is_refused_by_name(force, taken):
    """A smoothed law does nothing at rest, where dry friction holds."""
    mech = hinge()
    mech.add_force("hold", force, "pin")
    if taken:
        bc.start(mech, mode="quasistatic").advance()
        return
    with pytest.raises(
        Unsupported,
        match=r"no (friction that holds|dry friction and no brake): force 'hold'\. Take mode='dyn",
    ):
        bc.start(mech, mode="quasistatic")


@pytest.mark.parametrize(
    "what",
    [
        "drive 'motor'",
        "constraint 'wheels'",
        "lower limit of joint 'pin'",
        "joint 'shut'",
        "'thrust'",
    ],
)
def test_refusals_name_the_element(what):
    with pytest.raises(Unsupported, match=f": {what}"):
        bc.start(obstructed(what), mode="quasistatic")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "static"}, "mode must be 'dynamic' or 'quasistatic', got 'static'"),
        ({"mode": "quasistatic", "method": "rk4"}, "method has no meaning in a quasi-static run, got 'rk4'"),
        (
            {"mode": "quasistatic", "formulation": "recursive"},
            "quasi-static runs have formulation 'adaptive'",
        ),
        ({"mode": "quasistatic", "measure": "joint"}, "measure must be one of relative_joint"),
        ({"mode": "quasistatic", "rule": "lick"}, "rule must be one of 'leave', 'lock'"),
        (
            {"mode": "quasistatic", "rule": "lock", "measure": "absolute_joint"},
            "measure must be one of rms_relative, rms",
        ),
        ({"rule": "lock"}, "rule is a part of mode='quasistatic'"),
        ({"mode": "quasistatic", "max_error": -1.0}, "max_error must be at least 0, got -1"),
        ({"mode": "quasistatic", "max_error": np.nan}, "max_error"),
        ({"mode": "quasistatic", "step": 0.0}, "step must be greater than zero"),
        (
            {"max_error": 0.1, "formulation": "recursive"},
            "max_error is a part of formulation='adaptive' or mode='quasistatic'",
        ),
        ({"mode": "quasistatic", "max_joints": 3}, "max_joints has no meaning in a quasi-static run"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(MechanismError, match=message):
        bc.simulate(hinge(), 0.1, **arguments)


def test_a_run_that_has_ended_and_unknown_names():
    run = bc.start(hinge(), mode="quasistatic")
    with pytest.raises(MechanismError, match="body 'rud': there is no body of this name"):
        run.pose("rud")
    with run:
        run.advance()
    with pytest.raises(MechanismError, match=r"the run has ended at t = 0.001 s"):
        run.advance()
    with pytest.raises(MechanismError, match="it has 2 frames"):
        run.trajectory.pose("rod", 5)
    with pytest.raises(MechanismError, match="'pon'"):
        run.trajectory.joint("pon")


def test_files(tmp_path):
    path = tmp_path / "run.h5"
    model = at_rest(mechanism(np.random.default_rng(0), 1))
    bc.simulate(model, 0.01, mode="quasistatic", assemble=False).save(path)
    with pytest.raises(MechanismError, match="does not hold a run"):
        bc.Trajectory.load(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place])
        with pytest.raises(MechanismError):
            bc.MoveTrajectory.load(path)
    (tmp_path / "text.h5").write_text("no run")
    with pytest.raises(MechanismError, match="not overwritten"):
        bc.simulate(model, 0.01, mode="quasistatic", assemble=False, path=tmp_path / "text.h5")


def test_a_debugger_changes_nothing():
    def look(frame, _event, _arg):
        assert frame.f_locals is not None  # which refreshes what locals() returned
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        run = bc.simulate(hinge(), 0.02, mode="quasistatic", step=1e-2)
    finally:
        sys.settrace(before)
    assert str(run.status) == "finished"
