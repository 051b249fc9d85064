"""Adaptive dynamics with driven joints, inputs and controllers, against other formulations."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.adaptive import hinge
from rigs.adaptive_decisions import state_of
from rigs.driven_trees import driven_tree
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, squared_norm
from rigs.moving_trees import held_joints
from rigs.seeds import over

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import MechanismError, SimulationError, Unsupported


def off(model, state, one, other, whole):
    change = one[0] - other.linear, one[1] - other.angular
    return np.sqrt(squared_norm(model, state, *change) / whole)


def whole_of(model, state, *accelerations):
    norms = [squared_norm(model, state, each.linear, each.angular) for each in accelerations]
    return max(*norms, 1e-6 * model.mass.sum())


@over(range(60))
def test_all_free_it_is_recursive(seed):
    """Accelerations of all bodies, and what every drive exerts."""
    mech, state, _ = driven_tree(seed, bodies=(2, 25), speed=(1.0, 10.0)[seed % 2], between=seed % 4 == 0)
    model = compile_mechanism(mech)
    run = begun(model, state)
    run.set_free(np.ones(len(run.blocks), dtype=bool))
    run.evaluate()
    exact = bc.prepare(model, "recursive").accelerate(state)
    whole = whole_of(model, state, exact, exact)
    assert off(model, state, run.motions(model.core), exact, whole) < 1e-10
    assert run.distance == 0.0
    frame = bc.start(model, formulation="recursive", state=state, assemble="projection").now()
    numbers = {record.blocks[0]: record.name for record in model.drives}
    found = {numbers[model.row_block[row]]: effort for row, effort in run.drive_efforts()}
    assert set(found) == set(mech.drives)
    for name, effort in found.items():
        size = 1.0 + np.abs(frame.drive(name).effort).max() + np.sqrt(whole)
        assert effort == pytest.approx(frame.drive(name).effort[0], abs=1e-9 * size)


@over(range(120))
def test_locked_joints_beside_driven_ones_are_welds(seed):
    """Impacts in which drives do work, accelerations of H, and their distance from F."""
    mech, state, driven = driven_tree(seed, bodies=(2, 25), speed=(1.0, 10.0)[seed % 2])
    names = [name for name in held_joints(mech, seed) if name not in driven]
    found = locked(mech, state, names)
    run, model = begun(found.model, state), found.model
    loss = run.set_free(mask(run, model, names))
    run.evaluate()
    energy = 0.5 * squared_norm(model, state, state.velocity, state.angular_velocity)
    assert abs(loss - found.loss) <= 1e-10 * energy + 1e-20
    free, held = found.free_accelerations(), found.accelerations()
    whole = whole_of(model, state, free, held)
    assert off(model, found.state, run.motions(model.core), held, whole) < 1e-9
    assert abs(run.distance - found.distance()) <= 1e-8 * whole


def slid(kind, locked_turn):
    """A body on a joint along which it is driven, with another that swings on it."""
    mech = bc.Mechanism("slid", gravity=(0.0, -9.81, 1.0))
    body = mech.add_body("slider", mass=2.0, inertia=(1, 2, 3), com=(0.3, 0.1, 0.0))
    mech.add_joint("rail", kind, mech.ground, body)
    arm = mech.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0), position=(1, 0, 0))
    mech.add_joint("knee", bc.Revolute(), body.marker((1, 0, 0)), arm.marker())
    mech.add_drive("push", "rail", "z", position=bc.Harmonic(0.5, 4.0))
    if not locked_turn:
        mech.add_force("spring", bc.TorsionSpring(20.0, 0.5), mech.joints["rail"].coordinate("theta_z"))
    return mech


@pytest.mark.parametrize("locked_turn", [False, True])
def test_a_joint_of_which_one_coordinate_is_driven(locked_turn):
    """The other one is free, or locked like in a joint that does not have it."""
    mech = slid(bc.Cylindrical(), locked_turn)
    model = compile_mechanism(mech)
    run = bc.start(mech, formulation="adaptive", step=1e-3, max_error=0.0 if not locked_turn else 1e9)
    if locked_turn:
        names = list(run.joints)
        free = np.array([joint != "rail" for joint in np.array(names)])
        run._core.set_free(free[[names.index(joint) for joint in run._joints]])
        assert run._core.coast(300, 1e-3) == 300
    else:
        run.advance(steps=300)
        assert set(run.free) == {"rail", "knee"}
    exact = bc.simulate(
        slid(bc.Prismatic() if locked_turn else bc.Cylindrical(), locked_turn),
        0.3, step=1e-3, method="rk4", formulation="recursive",
    ).at(0.3)  # fmt: skip
    for number, body in enumerate(model.bodies):
        np.testing.assert_allclose(run.pose(body)[0], exact.position[number], rtol=0, atol=1e-9)
    state = run.state
    np.testing.assert_allclose(state.velocity, exact.velocity, rtol=0, atol=1e-8)


def machine():
    """A chain of which two joints are driven, and one has a motor."""
    mech = bc.gallery.chain(6)
    mech.add_drive("crank", "joint 0", velocity=bc.Input("speed", 1.0))
    mech.add_drive("wave", "joint 3", position=bc.Harmonic(0.4, 5.0, phase=0.3), relative=True)
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", 0.3, unit="N m")), "joint 5")
    return mech


def steer(time, readings):
    tip = readings.body("rod 5")
    torque = -0.5 * readings.rate("joint 5") - 2.0 * readings.coordinate("joint 5") + 0.01 * tip.velocity[0]
    return {"speed": 1.0 + np.sin(7.0 * time), "torque": torque + 0.001 * readings.effort("wave")}


@pytest.mark.parametrize("method", ["rk4", "symplectic"])
def test_a_run_with_drives_inputs_and_controllers_is_recursive(method):
    """Speeds that drives prescribe jump at each call, and free joints react to that."""
    other = {"rk4": "rk4", "symplectic": "semi_implicit_euler"}[method]
    settings = {"controllers": bc.Controller(steer, 0.05), "inputs": {"torque": 0.1}, "step": 2.5e-4}
    run = bc.simulate(machine(), 0.5, formulation="adaptive", method=method, max_error=0, **settings)
    exact = bc.simulate(machine(), 0.5, formulation="recursive", method=other, **settings)
    atol = 1e-9 if method == "rk4" else 1e-7
    np.testing.assert_allclose(run.at(0.5).position, exact.at(0.5).position, rtol=0, atol=atol)
    driven = exact.joint("joint 3").position[:, 0]
    np.testing.assert_allclose(run.joint("joint 3")[:, 0] - driven, 0.0, atol=1e-12)


def test_inputs_of_a_live_run():
    live = bc.start(machine(), formulation="adaptive", step=1e-3, max_error=0)
    other = bc.start(machine(), formulation="recursive", step=1e-3, method="rk4")
    for values in ({"speed": 3.0}, {"speed": -1.0, "torque": 4.0}, {"torque": 0.0}):
        live.inputs.update(values)
        other.inputs.update(values)
        live.advance(steps=40)
        other.advance(0.04)
    assert dict(live.inputs) == dict(other.inputs) == {"speed": -1.0, "torque": 0.0}
    np.testing.assert_allclose(live.state.velocity, other.state.velocity, rtol=0, atol=1e-7)
    efforts, at = live.drive_efforts, other.now()
    for name, effort in efforts.items():
        assert effort == pytest.approx(at.drive(name).effort[-1], abs=1e-5)
    with pytest.raises(MechanismError, match=r"there is no input of this name, got 'sped'.*'speed'"):
        live.inputs["sped"] = 1.0
    assert bc.start(machine(), formulation="adaptive").inputs["speed"] == 1.0  # of each run by itself
    live.stop()
    with pytest.raises(MechanismError, match="the run has ended"):
        live.inputs["speed"] = 1.0


def test_driven_joints_are_none_of_those_that_are_free():
    """They move where nothing else does, records keep them, and no decision locks them."""
    run = bc.start(machine(), formulation="adaptive", step=1e-3, max_error=1e9, max_loss=np.inf)
    run.advance(steps=50)
    assert run.free == ()
    record = run.stop()
    assert record.free[-1] == 0
    assert {"joint 0", "joint 3"} <= set(record.moved(20))
    np.testing.assert_allclose(
        record.joint("joint 0")[-1, 0] - record.joint("joint 0")[0, 0], 0.05, atol=1e-12
    )
    position, _ = record.poses(list(record.bodies))
    assert np.ptp(position[:, 5], axis=0).max() > 1e-2


def test_decisions_beside_drives_keep_their_limits():
    for bound in (0.3, 0.03):
        run = bc.simulate(machine(), 1.0, formulation="adaptive", step=1e-3, max_error=bound, max_loss=2.0)
        assert np.all(run.error <= bound)
        assert np.all(run.lost_energy <= 2.0 * run.time * (1.0 + 1e-9))
    exact = bc.simulate(machine(), 1.0, formulation="recursive", step=1e-3).at(1.0)
    far = np.abs(run.at(1.0).position - exact.position).max()
    assert far < 0.3


@pytest.mark.parametrize(
    ("joint", "drive"),
    [
        (None, {"marker": "rod", "path": bc.Path(("-0.2*cos(t)", "-0.2*sin(t)", 0.0))}),
        (bc.Spherical(), {"joint": "pin", "coordinate": "rot_x", "position": bc.Polynomial((0.0, 1.0))}),
    ],
)
def test_drives_along_no_coordinate_of_the_tree_are_rows(joint, drive):
    mech = hinge()
    if joint is None:
        mech.remove(mech.joints["pin"])
    else:
        mech.replace(mech.joints["pin"], kind=joint)
    mech.add_drive("lead", **drive)
    exact = bc.simulate(mech, 0.5, formulation="lagrange", tolerance=1e-11, output_step=0.1)
    found = bc.simulate(mech, 0.5, formulation="adaptive", max_error=0.3, step=1e-3, output_step=0.1)
    np.testing.assert_allclose(found.body_poses("rod")[0], exact.body("rod").position, atol=1e-8)


def test_at_rest_and_at_a_state_drives_are_refused():
    mech = hinge()
    mech.add_drive("motor", "pin", position=bc.Polynomial((0.0, 1.0)))
    with pytest.raises(Unsupported, match="drive 'motor'"):
        bc.prepare(mech, "adaptive")
    with pytest.raises(Unsupported, match="drive 'motor'"):
        bc.start(mech, mode="quasistatic", rule="lock")
    for kind in (_core.Adaptive, _core.Quasistatics):
        assert "drives" in kind.refusals(compile_mechanism(mech).core)[0][0]


def test_a_controller_that_fails_ends_the_run(tmp_path):
    def broken(time, readings):
        if time > 0.1:
            raise ZeroDivisionError("by nothing")
        return {}

    path = tmp_path / "run.h5"
    with pytest.raises(
        SimulationError, match=r"controller 'broken' failed at t = 0.15 s: .*by nothing"
    ) as caught:
        bc.simulate(machine(), 1.0, formulation="adaptive", step=1e-2, path=path,
                    controllers=bc.Controller(broken, 0.05))  # fmt: skip
    assert str(caught.value.trajectory.status) == "failed"
    assert len(bc.MoveTrajectory.load(path)) == len(caught.value.trajectory) == 16


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda readings: readings.coordinate("joint 9"), "joint 'joint 9': there is no joint of this name"),
        (
            lambda readings: readings.coordinate("joint 1.x"),
            "joint 'joint 1': it has the coordinates theta_z",
        ),
        (lambda readings: readings.effort("motor"), "has efforts of its drives alone.*they are crank, wave"),
        (lambda readings: readings.sensor("eye"), "adaptive runs sample no sensors, such as 'eye'"),
        (lambda readings: readings.body("rud"), "body 'rud'"),
    ],
)
def test_what_controllers_cannot_read(read, message):
    def look(_time, readings):
        return {"torque": float(read(readings))}

    with pytest.raises(SimulationError, match=f"controller 'look' failed at t = 0 s: .*{message}"):
        bc.simulate(machine(), 0.1, formulation="adaptive", step=1e-2, controllers=bc.Controller(look, 0.05))


def pushed():
    """A chain on which inputs act: along a joint, on a body, between two, by a formula, and as a drive."""
    mech = machine()
    rod = mech.bodies["rod 4"].marker((0.5, 0, 0))
    mech.add_force("wind", bc.Wrench(force=(0.0, bc.Input("wind", 0.0, unit="N"), 0.0)), rod)
    one, two = bc.EndPose("one"), bc.EndPose("two")
    pull = bc.Input("pull", 0.0, unit="N/m") * (two.position - one.position)
    mech.add_force("pull", bc.CustomForce((one, two), force=-pull), mech.ground.marker((1, 1, 0)), rod)
    return mech


@pytest.mark.parametrize("values", [{"torque": 50.0}, {"wind": 40.0}, {"pull": 30.0}, {"speed": -5.0}])
def test_inputs_act_on_what_is_locked(values):
    """The error is that of a run which begins there with these inputs, and joints are freed for it."""
    run = bc.start(
        pushed(), formulation="adaptive", step=1e-3, max_error=20.0, measure="rms", max_loss=np.inf
    )
    run.advance(steps=20)
    before = len(run.free)
    assert before < 4
    run.inputs.update(values)
    run._core.evaluate()
    free = np.isin(np.arange(len(run._joints)), run._core.free)
    fresh = bc.start(
        pushed(), formulation="adaptive", state=run.state, inputs=dict(run.inputs), step=1e-3, max_error=0
    )
    fresh._core.set_free(free)
    fresh._core.evaluate()
    assert run._core.distance == pytest.approx(fresh._core.distance, rel=1e-9, abs=1e-9)
    run.advance(steps=3)
    assert run.error <= 20.0
    exact = bc.prepare(run.model, "recursive").accelerate(run.state)
    run.limit(max_error=0.0)
    run._core.limit(0.0, False, np.inf, False, -1)
    run._core.decide()
    whole = whole_of(run.model, run.state, exact)
    assert off(run.model, run.state, run._core.motions(run.model.core), exact, whole) < 1e-7


@over(range(20))
def test_speeds_that_drives_do_not_have_at_the_start_are_impacts(seed):
    """All joints react, as in a projection by masses."""
    mech, state, _ = driven_tree(seed, bodies=(3, 15), speed=2.0)
    slow = replace(state, velocity=0.5 * state.velocity, angular_velocity=0.5 * state.angular_velocity)
    run, model = begun(compile_mechanism(mech), slow), compile_mechanism(mech)
    expected = bc.prepare(model, "lagrange").project(slow)
    found = state_of(run, model)
    size = 1.0 + np.abs(expected.velocity).max()
    np.testing.assert_allclose(found.velocity, expected.velocity, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(found.angular_velocity, expected.angular_velocity, rtol=0, atol=1e-8 * size)
    assert run.work == 0.0
