"""Formulations against lagrange: joints, forces, constraints and loops of every kind."""

import numpy as np
import pytest
from rigs import chains, examples, floating, linkages
from rigs.agreement import agreed, side_by_side

import bellcrank as bc
from bellcrank.errors import Unsupported
from bellcrank.mechanism import JOINT_KINDS

FORMULATED = ("recursive", "symbolic", "dca", "dense")
REFUSED = {"symbolic": {"PointOnCurve"}}
LOOPS = {
    "four-bar": linkages.four_bar,
    "parallelogram": linkages.parallelogram,
    "five-bar": linkages.five_bar,
    "slider-crank": linkages.slider_crank,
    "bennett": linkages.bennett,
    "door": linkages.door,
    "carriage": linkages.carriage,
    "windows": lambda: linkages.windows(4),
    "platform": lambda: chains.platform(1.0, 3.0),
}

pytestmark = [pytest.mark.parametrize("formulation", FORMULATED), pytest.mark.usefixtures("dense")]


@pytest.mark.parametrize("name", JOINT_KINDS)
def test_joints(formulation, name):
    mech = floating.pair(examples.joint(name), seed=2, hung=True).mechanism
    if name in REFUSED.get(formulation, ()):
        with pytest.raises(Unsupported, match="no formula for the coordinate curve_normal_1"):
            bc.prepare(mech, formulation)
        return
    agreed(mech, formulation)


@pytest.mark.parametrize(
    ("kind", "ends"), [case[1:] for case in examples.forces()], ids=[c[0] for c in examples.forces()]
)
def test_forces(formulation, kind, ends):
    agreed(floating.forced(kind, ends, seed=2).mechanism, formulation)


@pytest.mark.parametrize(
    ("kind", "ends"),
    [case[1:] for case in examples.constraints(together=True)],
    ids=[c[0] for c in examples.constraints(together=True)],
)
def test_constraints(formulation, kind, ends):
    agreed(floating.constrained(kind, ends, seed=2).mechanism, formulation)


@pytest.mark.parametrize("name", LOOPS)
def test_loops(formulation, name):
    system = agreed(LOOPS[name](), formulation)
    assert formulation in ("dca", "dense") or system.closing_rows


def test_a_displacement_and_a_projection_keep_the_joints(formulation):
    """Bodies are put anywhere; joints go along as far as they can, and the loop is closed again."""
    first, second = side_by_side(linkages.five_bar(), formulation)
    rng = np.random.default_rng(0)
    second.core.displace(1e-2 * rng.normal(size=(len(second.model.bodies), 6)))
    assert second.core.violation()[0] > 1e-4
    first.set_state(second.project())
    assert first.core.violation() == pytest.approx((0.0, 0.0), abs=1e-10)


def test_tolerances_go_by_the_kind_of_a_coordinate(formulation):
    """Loose for what turns: a spinning body takes fewer steps."""
    mech = bc.Mechanism("asymmetric", gravity=(0, 0, 0))
    mech.add_body("book", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.3, 5.0, 0.2))
    settings = {"formulation": formulation, "method": "dopri5", "tolerance": 1e-10, "output_step": 2.0}
    tight = bc.simulate(mech, 2.0, **settings)
    options = {"rotation": 1e-4, "angular_velocity": 1e-4}
    loose = bc.simulate(mech, 2.0, **settings, rtol=options, atol=options)
    assert loose.statistics["steps"] < 0.5 * tight.statistics["steps"]


def test_steps_end_where_a_force_jumps(formulation):
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground, wheel)
    pulse = bc.Piecewise((0.0, 0.5, 1.25, 2.0), ((0.0,), (4.0,), (0.0,)), extrapolation="hold")
    mech.add_force("torque", bc.JointMotor(pulse), "axle")
    settings = {"method": "dopri5", "tolerance": 1e-9, "output_step": 0.25}
    run = bc.simulate(mech, 2.0, formulation=formulation, **settings)
    assert run.statistics["rejected_steps"] <= 2
    speed = np.clip(2.0 * (run.time - 0.5), 0.0, 1.5)
    assert run.joint("axle").velocity[:, 0] == pytest.approx(speed, abs=1e-10)
