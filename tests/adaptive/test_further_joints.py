"""Adaptive runs with joints that bend in every direction, or are given by formulas, against others."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.locked_dynamics import what_is_wrong
from rigs.locked_motion import held
from rigs.moving_trees import BENDING, moving_tree
from rigs.seeds import over

import bellcrank as bc
from bellcrank.errors import Unsupported


@pytest.mark.parametrize(("method", "atol"), [("rk4", 2e-8), ("symplectic", 2e-2)])
@over(range(6))
def test_runs_are_those_of_recursive(seed, method, atol):
    """Of order four, or one: coordinates of the two are other ones, the motion is the same."""
    mech, state = moving_tree(seed, bodies=(3, 10), further=True, floats=False)
    far = []
    exact = bc.simulate(mech, 0.1, state=state, formulation="recursive", tolerance=1e-12).at(state.time + 0.1)
    for step in (1e-3, 5e-4):
        run = bc.simulate(
            mech,
            0.1,
            state=state,
            formulation="adaptive",
            step=step,
            method=method,
            max_error=0,
            output_step=0.05,
        )
        far.append(np.abs(run.poses(run.bodies)[0][-1] - exact.position).max())
    assert far[0] < atol
    assert far[1] < far[0] / (10.0 if method == "rk4" else 1.8) or far[0] < 1e-12


@over(range(4))
def test_records_replay_every_pose_of_every_frame(seed, tmp_path):
    mech, state = moving_tree(seed, bodies=(5, 20), further=True)
    run = bc.start(
        mech, state=state, formulation="adaptive", step=1e-3, max_error=0.3, path=tmp_path / "run.h5"
    )
    names, seen = list(mech.bodies), []
    for _ in range(5):
        run.advance()
        seen.append([run.pose(name) for name in names])
    for kept in (run.stop(), bc.MoveTrajectory.load(tmp_path / "run.h5")):
        position, rotation = kept.poses(names)
        np.testing.assert_array_equal(position[1:], [[p for p, _ in at] for at in seen])
        np.testing.assert_array_equal(rotation[1:], [[q for _, q in at] for at in seen])
        for name in filter(None, kept.joints):
            coordinates = kept.joint(name)
            width = {"NoTwist": 7, "ConstantVelocity": 4}.get(mech.joints[name].kind.name)
            assert coordinates.shape == (6, width or coordinates.shape[1])


@over(range(4))
def test_a_state_goes_on_in_any_other_run(seed):
    mech, state = moving_tree(seed, bodies=(3, 10), further=True)
    run = bc.start(mech, state=state, formulation="adaptive", step=1e-3, max_error=0)
    run.advance(steps=20)
    later = bc.simulate(mech, 0.02, state=run.state, formulation="recursive", tolerance=1e-11)
    run.advance(steps=20)
    np.testing.assert_allclose(run.state.position, later.at(run.time).position, rtol=0, atol=1e-6)


def bent(kind, **given):
    mech = bc.Mechanism("bent", gravity=(1.0, 2.0, -9.81))
    rod = mech.add_body("rod", mass=1.0, com=(0.1, 0.05, -0.4), inertia=(0.1, 0.2, 0.15))
    mech.add_joint("bend", kind, mech.ground, rod, **given)
    tip = mech.add_body("tip", mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02), position=(0, 0, -0.8))
    mech.add_joint("pin", bc.Revolute(), rod.marker((0, 0, -0.8)), tip.marker())
    mech.add_force("spring", bc.TorsionSpring(3.0, 0.1), "pin")
    return mech


def wire():
    u, v = bc.symbol("u"), bc.symbol("v")
    pose = bc.expression.translation(u, 0, u**2) @ bc.expression.rotation_x(v)
    return bc.CustomJoint((u, v), pose, units=("m", "rad"))


@pytest.mark.parametrize("rule", ["leave", "lock"])
@pytest.mark.parametrize("kind", [bc.ConstantVelocity(), wire()], ids=["bend", "wire"])
def test_quasi_statics_ends_where_statics_does(kind, rule):
    mech = bent(kind)
    bound = {"max_error": 1e-7, "measure": "absolute_joint"} if rule == "leave" else {"max_error": 1e-6}
    run = bc.start(mech, mode="quasistatic", rule=rule, step=0.05, **bound)
    run.advance(steps=20_000)
    rest = bc.statics(mech)
    found = np.array([run.pose(body)[0] for body in run.model.bodies])
    np.testing.assert_allclose(found, rest.state.position, atol=1e-5)


def test_a_driven_coordinate_of_a_joint_given_by_formulas():
    mech = bent(wire())
    mech.add_drive("pull", "bend", "u", position=bc.Harmonic(0.3, 5.0))
    run = bc.start(mech, formulation="adaptive", step=1e-3, max_error=0)
    run.advance(steps=200)
    exact = bc.simulate(mech, 0.2, formulation="recursive", tolerance=1e-11)
    np.testing.assert_allclose(run.state.position, exact.at(0.2).position, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.state.velocity, exact.at(0.2).velocity, rtol=0, atol=1e-7)
    assert run.drive_efforts["pull"] == pytest.approx(exact.drive("pull").effort[-1], abs=1e-5)


def test_inputs_in_such_joints_are_refused_by_name():
    u = bc.symbol("u")
    lift = bc.Input("lift", 0.5, unit="m")
    kind = bc.CustomJoint((u,), bc.expression.translation(u, 0, lift * u**2), units="m")
    with pytest.raises(
        Unsupported, match=r"no inputs in joints given by formulas: 'lift'\. Use form.*'recursive'"
    ):
        bc.start(bent(kind), formulation="adaptive")


def test_where_joins_lose_all_digits_bodies_are_raked_one_by_one():
    """Masses over ten decades: accelerations of a balanced tree would be no numbers."""
    assert not what_is_wrong(119)


def test_every_kind_can_be_held():
    """By welds in their place, over some steps after the impact that stops them."""
    kinds = set()
    for seed in range(12):
        mech, state = moving_tree(seed, bodies=(10, 60), further=True)
        names = [joint.name for joint in mech.joints.values() if joint.kind.name in (*BENDING, "CustomJoint")]
        kinds |= {mech.joints[name].kind.name for name in names}
        run = bc.start(mech, state=state, formulation="adaptive", step=1e-3, max_error=0)
        run._core.set_free(np.isin(run._joints, names, invert=True))
        assert set(run.free) == set(run.joints) - set(names)
        welded, begin = held(mech, run.state, names), run.state
        assert run._core.coast(40, 2.5e-4) == 40
        plain = replace(begin, angles=None, source=None)
        exact = bc.simulate(welded, 0.01, state=plain, formulation="recursive", tolerance=1e-11).at(run.time)
        np.testing.assert_allclose(run.state.position, exact.position, rtol=0, atol=1e-8)
    assert kinds == {*BENDING, "CustomJoint"}
