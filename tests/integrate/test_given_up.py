"""Drives that cannot be followed: every run judges its rows, and ends by name where one is not met."""

import numpy as np
import pytest

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic")
METHODS = ("dopri5", "adams", "rk4")
Y = (0.0, 1.0, 0.0)


def led_ball(*, hung=True, turns=("rot_x", "rot_y", "rot_z"), joint=bc.Spherical):
    """A ball joint led past a rotation vector of length π, where its components jump."""
    mech = bc.Mechanism("led ball")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.0))
    mech.add_joint("ball", joint(), mech.ground.marker(), arm.marker())
    far = (bc.Ramp(0.0, 4.5, start=0.0, duration=2.0), bc.Constant(0.4), bc.Constant(0.2))
    for coordinate, motion in zip(turns, far, strict=False):
        mech.add_drive(f"lead {coordinate}", "ball", coordinate, position=motion)
    if hung:
        weight = mech.add_body(
            "weight", mass=0.5, inertia=(0.05,) * 3, position=(0.3, 0, 0), com=(0, 0, -0.2)
        )
        axis = (1.0, 0.0, 0.0)
        mech.add_joint("hinge", bc.Revolute(), arm.marker((0.3, 0, 0), axis=axis), weight.marker(axis=axis))
    return mech


def pulled_arm():
    """Two bars of 1 m in a row, pulled by a drive to 2.5 m from where they hang."""
    mech = bc.Mechanism("pulled arm")
    inner = mech.add_body("inner", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0))
    turned = (np.cos(-np.pi / 4), 0.0, np.sin(-np.pi / 4), 0.0)
    outer = mech.add_body(
        "outer", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0, 0, 0.5), rotation=turned
    )
    mech.add_joint("shoulder", bc.Revolute(), mech.ground.marker(axis=Y), inner.marker((-0.5, 0, 0), axis=Y))
    mech.add_joint(
        "elbow", bc.Revolute(), inner.marker((0.5, 0, 0), axis=Y), outer.marker((-0.5, 0, 0), axis=Y)
    )
    mech.add_joint("hand", bc.Free(), mech.ground.marker(), outer.marker((0.5, 0, 0)))
    mech.add_drive("pull", "hand", "x", position=bc.Ramp(1.0, 2.5, start=0.0, duration=2.0))
    return mech


BEYOND = {
    "ball": led_ball,
    "bare ball": lambda: led_ball(hung=False),
    "one component": lambda: led_ball(turns=("rot_x",)),
    "constant velocity": lambda: led_ball(turns=("rot_x",), joint=bc.ConstantVelocity),
    "beyond reach": pulled_arm,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", BEYOND)
def test_what_cannot_be_followed_ends_the_run(name, formulation, method):
    mech = BEYOND[name]()
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 2.0, formulation=formulation, method=method, output_step=0.02)
    error = caught.value
    assert repr(next(iter(mech.drives))) in str(error)
    kept = error.trajectory
    assert len(kept) > 10
    assert kept.time[-1] == pytest.approx(error.time, abs=0.03)
    assert np.max(kept.violation.position) < 1e-9
    assert np.max(kept.violation.velocity) < 1e-6


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_redundant_rows_that_hold_are_no_error(formulation):
    """Two pins on one axis: the rows of one depend on those of the other."""
    mech = bc.Mechanism("twice")
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, 0.0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(axis=Y), arm.marker(axis=Y))
    ends = (mech.ground.marker((0, 1, 0), axis=Y), arm.marker((0, 1, 0), axis=Y))
    mech.add_joint("same pin", bc.Revolute(), *ends)
    run = bc.simulate(mech, 1.0, formulation=formulation, method="dopri5")
    assert run.status == "finished"
    assert np.max(run.violation.position) < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_drives_that_part_end_the_run(formulation):
    """Two drives of one motion agree for a second; the row that was redundant up to then is given up."""
    mech = bc.Mechanism("two drives")
    cart = mech.add_body("cart", mass=1.0, inertia=(1.0, 1.0, 1.0))
    x = (1.0, 0.0, 0.0)
    mech.add_joint("rail", bc.Prismatic(), mech.ground.marker(axis=x), cart.marker(axis=x))
    mech.add_joint("view", bc.Free(), mech.ground.marker(), cart.marker())
    for joint, coordinate, far in (("rail", "z", 1.0), ("view", "x", 1.5)):
        leads = bc.Piecewise((-1.0, 1.0, 3.0), ((0.0, 0.0, 0.0), (0.0, 0.0, far)), "linear")
        mech.add_drive(f"of the {joint}", joint, coordinate, position=leads)
    with pytest.raises(bc.SimulationError) as caught:
        bc.simulate(mech, 2.0, formulation=formulation, method="dopri5", output_step=0.01)
    assert caught.value.time == pytest.approx(1.0, abs=0.02)
    assert caught.value.trajectory.status == "constraints_lost"
    assert np.max(caught.value.trajectory.violation.position) < 2e-6
