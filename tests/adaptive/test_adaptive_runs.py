"""Adaptive runs: against `recursive`, their records and files, what they refuse, and what they count."""

import os
import signal
import threading
import time
from dataclasses import replace

import h5py
import numpy as np
import pytest
from rigs.adaptive import hinge, mechanism

import bellcrank as bc
from bellcrank.errors import AssemblyError, MechanismError, SimulationError, Unsupported
from bellcrank.trajectory.moves import run_in


def adaptive(mech, duration=0.5, **given):
    return bc.simulate(mech, duration, formulation="adaptive", **given)


def started(mech, **given):
    return bc.start(mech, formulation="adaptive", **given)


def swinging(size=20, speed=3.0):
    """A chain that turns about its first pin, bent where the others are."""
    mech = bc.gallery.chain(size)
    for name in list(mech.joints):
        mech.replace(mech.joints[name], position=0.1, velocity=speed if name == "joint 0" else 0.0)
    return mech


def sprung(stiffness=0.0, damping=0.0):
    mech = bc.gallery.chain(4)
    spring = bc.TorsionSpring(stiffness=stiffness, damping=damping)
    for name in list(mech.joints):
        mech.add_force(f"spring of {name}", spring, name)
    return mech


@pytest.mark.parametrize("method", ["rk4", "symplectic"])
def test_without_error_it_is_recursive(method):
    """The pendulum of 20 links; both methods are those of fixed steps that other formulations have."""
    other = {"rk4": "rk4", "symplectic": "semi_implicit_euler"}[method]
    step, mech = 1e-4, swinging()
    run = adaptive(mech, 0.2, step=step, max_error=0, method=method)
    exact = bc.simulate(mech, 0.2, step=step, formulation="recursive", method=other)
    assert run.span() == exact.span()
    for body in run.bodies[::9]:
        position, rotation = run.body_poses(body)
        for at in (run.frame_at(0.1), -1):
            expected = exact.at(run.time[at])
            index = exact.layout.body_number[body]
            np.testing.assert_allclose(position[at], expected.position[index], rtol=0, atol=1e-9)
            np.testing.assert_allclose(rotation[at], expected.rotation[index], rtol=0, atol=1e-9)


@pytest.mark.parametrize("measure", ["rms_relative", "rms"])
def test_the_error_is_within_its_limit_and_the_distance_falls_with_it(measure):
    mech = swinging(30, 1.0)
    exact = adaptive(mech, step=1e-3, max_error=0).at(0.5).position
    runs = [adaptive(mech, step=1e-3, max_error=bound, measure=measure) for bound in (0.3, 1e-3)]
    for run, bound in zip(runs, (0.3, 1e-3), strict=True):
        assert np.all(run.error <= bound)
        assert run.statistics["error"] >= run.error.max()
        assert run.statistics["measure"] == measure
    assert runs[0].free.mean() < runs[1].free.mean() <= 30
    far, near = (np.linalg.norm(run.at(0.5).position - exact) for run in runs)
    assert near < 0.2 * far


@pytest.mark.parametrize(
    ("number", "loss"), [(5, 0.5), (18, np.inf), (42, 0.5), (63, 0.0), (112, None), (136, np.inf)]
)
def test_limits_are_kept_by_random_trees(number, loss):
    """In some, gains of locked joints add up to less than a sixteenth of the error that they make."""
    rng = np.random.default_rng(number)
    mech = mechanism(rng, number, size=int(rng.integers(2, 60)))
    measure, bound = ("rms_relative", "rms")[number % 2], float(10 ** rng.uniform(-4, -0.3))
    run = adaptive(mech, 0.3, step=1e-3, max_error=bound, measure=measure, max_loss=loss)
    assert np.all(run.error <= bound)
    assert np.all(np.diff(run.lost_energy) >= 0.0)
    if loss is not None and loss < np.inf:
        assert np.all(run.lost_energy <= loss * run.time * (1.0 + 1e-9))


@pytest.mark.parametrize("number", range(6))
def test_records_replay_every_pose_of_every_frame(number, tmp_path):
    mech = mechanism(np.random.default_rng(number), number)
    path = tmp_path / "run.h5"
    run = started(mech, step=2e-3, max_error=0.1, path=path)
    names, seen, counted = list(mech.bodies), [], []
    for steps in (0, 3, 1, 7, 4):
        if steps:
            run.advance(steps=steps)
        seen.append([run.pose(name) for name in names])
        counted.append((len(run.trajectory) - 1, run.error, run.lost_energy, len(run.free)))
    record = run.stop()
    assert len(record) == 16
    frames = [frame for frame, *_ in counted]
    assert frames == [0, 3, 4, 11, 15]
    for kept in (record, bc.MoveTrajectory.load(path)):
        position, rotation = kept.poses(names)
        np.testing.assert_array_equal(position[frames], [[p for p, _ in at] for at in seen])
        np.testing.assert_array_equal(rotation[frames], [[q for _, q in at] for at in seen])
        found = [(n, kept.error[n], kept.lost_energy[n], kept.free[n]) for n in frames]
        assert found[1:] == counted[1:]
        for frame in range(1, 16):
            assert kept.free[frame] <= len(names)
            assert len(kept.moved(frame)) >= kept.free[frame]


def test_a_file_holds_the_whole_record(tmp_path):
    run = adaptive(swinging(), 0.1, step=1e-3, max_error=0.05, path=tmp_path / "a.h5")
    loaded = run_in(tmp_path / "a.h5")
    assert isinstance(loaded, bc.MoveTrajectory)
    assert loaded.statistics == run.statistics
    for name, section in run.sections.items():
        np.testing.assert_array_equal(loaded.sections[name], section)
        assert loaded.sections[name].dtype == section.dtype
    loaded.save(tmp_path / "b.h5")
    again = bc.MoveTrajectory.load(tmp_path / "b.h5")
    assert again.statistics == run.statistics
    assert all(np.array_equal(again.sections[name], section) for name, section in run.sections.items())
    with h5py.File(tmp_path / "b.h5") as file:
        assert file.attrs["version"] == 4
        assert file["lost"].attrs["unit"] == b"J"


def test_files_of_version_2_are_read_and_stay_what_they_are(tmp_path):
    run = bc.simulate(hinge(), 0.01, mode="quasistatic", step=1e-3)
    run.save(tmp_path / "new.h5")
    old = tmp_path / "old.h5"
    with h5py.File(tmp_path / "new.h5") as new, h5py.File(old, "w", libver="latest") as file:
        for name in new:
            if name not in ("error", "lost", "free", "kinetic", "potential", "work"):
                new.copy(name, file)
        file.attrs.update(new.attrs)
        file.attrs["version"] = 2
    loaded = bc.MoveTrajectory.load(old)
    np.testing.assert_array_equal(loaded.joint("pin"), run.joint("pin"))
    for name in ("error", "free"):
        with pytest.raises(MechanismError, match=r"its file is of an earlier version.*simulate again"):
            getattr(loaded, name)
    loaded.save(old, replace=True)
    assert bc.MoveTrajectory.load(old).sections.keys() == loaded.sections.keys()
    with h5py.File(old, "a") as file:
        file.attrs["version"] = 5
    with pytest.raises(MechanismError, match="a later version wrote this file"):
        bc.MoveTrajectory.load(old)


def test_files_that_do_not_match_are_refused(tmp_path):
    path = tmp_path / "run.h5"
    adaptive(swinging(5), 0.02, step=1e-3).save(path)
    whole = path.read_bytes()
    for name, value in (("free", -1), ("error", np.nan), ("lost", -1.0)):
        path.write_bytes(whole)
        with h5py.File(path, "a") as file:
            file[name][3] = value
        with pytest.raises(MechanismError, match=f"'{name}' must be 21 numbers from 0 up"):
            bc.MoveTrajectory.load(path)


def test_a_quasi_static_record_counts_no_energy():
    run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
    assert np.all(run.error[1:] <= 0.1)
    assert run.error[0] == 0.0
    assert np.all((run.free[1:] > 0) & (run.free[1:] < 20))
    with pytest.raises(MechanismError, match="starts at rest, so it counts no energy"):
        _ = run.lost_energy


def test_states_of_a_record_have_no_velocities():
    """A run cannot start from one; poses are those of the frame."""
    mech = swinging(5)
    run = adaptive(mech, 0.02, step=1e-3)
    state = run.at(0.02)
    assert np.all(np.isnan([state.velocity, state.angular_velocity]))
    np.testing.assert_array_equal(state.position[3], run.pose(run.bodies[3])[0])
    for formulation in ("adaptive", "recursive"):
        with pytest.raises(MechanismError, match="it must be finite"):
            bc.simulate(mech, 0.02, state=state, formulation=formulation)


def test_it_goes_on_from_a_state():
    mech = swinging()
    exact = bc.simulate(mech, 0.2, step=1e-3, formulation="recursive")
    second = adaptive(mech, 0.1, step=1e-3, max_error=0, state=exact.at(0.1))
    assert second.span() == pytest.approx((0.1, 0.2))
    np.testing.assert_allclose(second.at(0.2).position, exact.at(0.2).position, rtol=0, atol=1e-8)
    torn = exact.at(0.1)
    torn.position[7] += 1e-3
    with pytest.raises(AssemblyError, match="cannot start: at the state, joint 'joint 7'"):
        started(mech, state=torn)


@pytest.mark.parametrize("formulation", ["adaptive", "recursive", "lagrange"])
def test_another_run_goes_on_from_its_state(formulation):
    mech = swinging()
    exact = bc.simulate(mech, 0.2, step=1e-3, formulation="recursive")
    live = started(mech, step=1e-3, max_error=0)
    live.advance(steps=100)
    state = live.state
    np.testing.assert_allclose(state.velocity, exact.at(0.1).velocity, rtol=0, atol=1e-6)
    np.testing.assert_allclose(state.angular_velocity, exact.at(0.1).angular_velocity, rtol=0, atol=1e-6)
    given = {"max_error": 0} if formulation == "adaptive" else {}
    second = bc.simulate(mech, 0.1, step=1e-3, formulation=formulation, state=state, **given)
    np.testing.assert_allclose(second.at(0.2).position, exact.at(0.2).position, rtol=0, atol=1e-6)


def test_energy_that_locking_takes():
    """It grows, stays within what may be lost per second, and accounts for what the bodies lack."""
    mech = swinging(40, 2.0)
    mech.gravity = (0.0, 0.0, 0.0)
    run = adaptive(mech, 1.0, step=2e-3, max_error=0.5, max_loss=0.4)
    assert run.lost_energy[-1] > 0.0
    assert run.lost_energy[0] == 0.0
    assert np.all(np.diff(run.lost_energy) >= 0.0)
    assert np.all(run.lost_energy <= 0.4 * run.time * (1.0 + 1e-9))
    assert run.statistics["lost_energy"] == run.lost_energy[-1]
    live = started(mech, step=5e-4, max_error=0.5, max_loss=50.0)
    before = live.kinetic_energy
    live.advance(steps=1000)
    assert 1.0 < live.lost_energy <= 25.0
    assert live.kinetic_energy + live.lost_energy == pytest.approx(before, abs=0.1)
    assert adaptive(mech, 1.0, step=2e-3, max_error=0.5, max_loss=0.0).lost_energy[-1] == 0.0
    assert (
        adaptive(mech, 1.0, step=2e-3, max_error=0.5, max_loss=np.inf).lost_energy[-1] > run.lost_energy[-1]
    )


def test_no_more_joints_are_free_than_may_be():
    run = adaptive(swinging(), 0.2, step=1e-3, max_error=0, max_joints=4)
    assert np.all(run.free[1:] <= 4)
    assert run.error.max() > 0.0
    assert run.statistics["max_joints"] == 4
    live = started(swinging(), step=1e-3, max_error=0)
    live.advance(steps=5)
    assert len(live.free) == 20
    live.limit(max_joints=7)
    assert (live.max_error, live.max_loss, live.max_joints) == (0.0, None, 7)
    live.advance()
    assert len(live.free) == 7


def test_a_live_run():
    mech = swinging()
    run = started(mech, step=1e-3, max_error=1e-2)
    assert run.joints == tuple(mech.joints)
    moved = run.advance(steps=10)
    assert set(moved) == set(run.moved) <= set(run.free) <= set(run.joints)
    assert set(run.speeds) == set(run.accelerations) == set(run.free)
    assert sorted(run.advance(max_error=0, steps=1)) == sorted(run.joints)
    assert run.error == 0.0
    assert run.max_error == 1e-2
    assert run.time == pytest.approx(0.011, rel=1e-12)
    assert str(run.trajectory.status) == "running"
    with run:
        pass
    assert str(run.trajectory.status) == "finished"
    for call in (run.advance, run.limit, run.complete):
        with pytest.raises(MechanismError, match=r"the run has ended at t = 0.011 s"):
            call()
    with pytest.raises(MechanismError, match="complete: the end of the run is open"):
        started(mech).complete()
    with pytest.raises(MechanismError, match="body 'rud'"):
        started(mech).pose("rud")


def test_speeds_and_accelerations_are_those_of_the_joints():
    mech = swinging(3)
    run = started(mech, step=1e-3, max_error=0)
    exact = bc.simulate(mech, 0.01, step=1e-3, formulation="recursive", accelerations=True)
    run.advance(steps=10)
    for name in mech.joints:
        expected = exact.joint(name).velocity[-1]
        np.testing.assert_allclose(run.speeds[name], expected, rtol=0, atol=1e-9)


def test_a_body_that_hangs_on_nothing_is_no_joint():
    mech = bc.Mechanism("thrown")
    mech.add_body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 0, 0), angular_velocity=(0, 0, 2.0))
    run = started(mech, step=0.01)
    assert run.advance(steps=100) == run.free == run.joints == ()
    assert not run.speeds
    np.testing.assert_allclose(run.pose("ball")[0], (1.0, 0.0, -9.81 / 2), atol=1e-9)
    record = run.stop()
    assert np.all(record.free == 0)
    assert record.active(0.5) == frozenset()


def test_frames_and_their_times():
    mech = swinging(3)
    assert len(adaptive(mech, 5.0, step=1e-3)) == 1001
    assert len(adaptive(mech, 1.4, step=1e-3)) == 1401
    run = adaptive(mech, 3.0, step=1e-3, output_step=0.1)
    np.testing.assert_allclose(run.time, np.linspace(0.0, 3.0, 31), rtol=1e-14, atol=0)
    assert adaptive(mech, 0.0025).statistics["step"] == pytest.approx(0.0025 / 3)
    assert adaptive(mech, 0.4, output_step=0.025).statistics["step"] == pytest.approx(1e-3)
    assert started(mech, start=2.0).time == 2.0
    assert adaptive(mech, 0.1, start=2.0).span() == pytest.approx((2.0, 2.1), rel=1e-14)


def test_pictures_show_the_joints_that_are_free(tmp_path):
    pytest.importorskip("matplotlib")
    run = adaptive(swinging(), 0.2, step=1e-3, max_error=0.3, output_step=0.01)
    assert run.active(0.0) == frozenset()
    active = run.active(0.15)
    assert active == frozenset(run.moved(15))
    assert 0 < len(active) < 20
    run.draw(tmp_path / "run.png", times=[0.15])
    run.animate(tmp_path / "run.gif", fps=20, width=160)
    assert (tmp_path / "run.gif").read_bytes()[:3] == b"GIF"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_error": -1.0}, "max_error must be at least 0, got -1"),
        ({"max_error": np.nan}, "max_error"),
        ({"max_loss": -1.0}, "max_loss must be at least 0, got -1.*give it in W"),
        ({"max_loss": "much"}, "max_loss"),
        ({"max_joints": 0}, "max_joints must be a whole number, at least 1, got 0"),
        ({"max_joints": 2.5}, "max_joints must be a whole number"),
        ({"measure": "relative_joint"}, "measure must be one of 'rms_relative', 'rms', got 'relative_joint'"),
        ({"method": "dopri5"}, "method must be 'rk4' or 'symplectic' in an adaptive run, got 'dopri5'"),
        ({"step": 0.0}, "step must be greater than zero"),
        (
            {"step": 0.03},
            r"duration must be a whole number of steps, of 0.03 s, got 0.1.*give step=0.025, say",
        ),
        ({"step": 0.2}, "duration must be a whole number of steps"),
        ({"step": 0.02, "output_step": 0.05}, "output_step must be a whole number of steps"),
        ({"step": 0.01, "output_step": 0.04}, "duration must be a whole number of output steps, of 0.04 s"),
        ({"start": 1e6, "step": 1e-9}, "a shorter one is lost"),
        ({"assemble": "projection"}, "assemble must be True or False, got 'projection'"),
        ({"tolerance": 1e-6}, "tolerance has no meaning in an adaptive run"),
        ({"times": [0.0, 1.0]}, "times has no meaning in an adaptive run"),
        ({"events": [bc.Event("half", "pin - 0.1")]}, "events has no meaning in an adaptive run"),
        ({"inputs": {"thrust": 1.0}}, "inputs: there is no input of this name, got 'thrust'"),
        ({"inputs": 3}, "inputs must be a Mapping"),
        (
            {"controllers": bc.Controller(lambda _time, _readings: {}, 0.0015, name="odd"), "step": 1e-3},
            "the period of controller 'odd' must be a whole number of steps, of 0.001 s",
        ),
        ({"ledger": True}, "ledger has no meaning in an adaptive run"),
        ({"reactions": False}, "reactions has no meaning in an adaptive run"),
        ({"max_eror": 0.1}, "max_eror has no meaning in an adaptive run, got 0.1.*max_error"),
        ({"rank_tolerance": 1e-9}, "rank_tolerance has no meaning in an adaptive run"),
        ({"mode": "quasistatic", "max_loss": 1.0}, "max_loss has no meaning in a quasi-static run"),
        ({"path": "run.txt"}, "run.txt"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(MechanismError) as caught:
        adaptive(hinge(), 0.1, **arguments)
    caught.match(f"(?s){message}")


@pytest.mark.parametrize("name", ["max_error", "measure", "max_loss", "max_joints"])
def test_arguments_of_adaptive_runs_belong_to_them(name):
    with pytest.raises(MechanismError, match=rf"{name} is a part of formulation='adaptive'"):
        bc.simulate(hinge(), 0.1, formulation="lagrange", **{name: 1})


def test_wrong_limits_of_a_live_run():
    run = started(swinging(3))
    with pytest.raises(MechanismError, match="limit: max_joints must be a whole number, at least 1"):
        run.limit(max_joints=0)
    with pytest.raises(MechanismError, match="advance: max_error must be at least 0"):
        run.advance(max_error=-1.0)
    with pytest.raises(MechanismError, match="advance: steps must be a whole number, at least 1"):
        run.advance(steps=0)
    with pytest.raises(MechanismError, match="progress is a part of a duration"):
        started(swinging(3), progress=True)


def turned():
    """Hinges and a screw that begin whole turns away from where their springs are at rest."""
    mech = bc.Mechanism("turned")
    last, turns = mech.ground, ((bc.Revolute(), 7.5), (bc.Screw(pitch=0.05), -12.0), (bc.Revolute(), 4.2))
    for number, (kind, angle) in enumerate(turns):
        body = mech.add_body(f"body {number}", mass=1.0, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.2))
        at = last.marker((0.4, 0.0, 0.1 * number), axis=(0.2 * number, 1.0, 0.3))
        joint = mech.add_joint(f"joint {number}", kind, at, body, position=angle)
        mech.add_force(f"spring {number}", bc.TorsionSpring(3.0, 0.1), joint.coordinate("theta_z"))
        last = body
    return mech


def test_springs_and_screws_count_whole_turns_from_the_start_on():
    mech = turned()
    exact = bc.simulate(mech, 0.3, formulation="recursive", method="rk4", step=5e-4)
    found = adaptive(mech, 0.3, max_error=0.0, step=5e-4)
    np.testing.assert_allclose(found.at(0.3).position, exact.at(0.3).position, atol=1e-9)
    at_rest = bc.start(mech, mode="quasistatic", step=1e-3, max_error=0.0)
    at_rest.advance()
    still = bc.prepare(mech, "recursive").accelerate(mech_at_rest(mech))
    number = at_rest.model.body_number("body 0")
    moved = at_rest.trajectory.at(1e-3).position[number] - at_rest.model.initial.position[number]
    np.testing.assert_allclose(moved / 0.5e-6, still.linear[number], rtol=1e-2, atol=1e-2)


def mech_at_rest(mech):
    state = bc.prepare(mech, "recursive").state()
    return replace(state, velocity=0.0 * state.velocity, angular_velocity=0.0 * state.angular_velocity)


def test_refusals_name_the_element_and_what_to_take():
    """A rotor behind a gear is an inertia along a coordinate, which no body has."""
    mech = hinge()
    motor = bc.DCMotor(voltage=1.0, resistance=2.0, torque_constant=0.05, ratio=20, rotor_inertia=1e-3)
    mech.add_force("motor", motor, "pin")
    with pytest.raises(Unsupported) as caught:
        adaptive(mech, 0.1)
    caught.match("formulation 'adaptive' cannot take mechanism .*motor.*Use formulation='recursive'")
    bc.simulate(mech, 0.01, formulation="recursive")


def test_what_else_is_refused():
    with pytest.raises(Unsupported, match=r"derivatives of runs .*not 'adaptive'"):
        bc.RunFunction(
            swinging(3),
            "final joint.joint 0.theta_z",
            by="joint 0.theta_z",
            duration=0.1,
            formulation="adaptive",
        )


def test_forces_between_bodies_are_taken():
    mech = swinging(5)
    first, last = mech.bodies["rod 0"].marker(), mech.bodies["rod 4"].marker((0.5, 0, 0))
    mech.add_force("strut", bc.SpringDamper(stiffness=50.0, damping=2.0, rest_length=1.0), first, last)
    run = adaptive(mech, 0.2, step=1e-3, max_error=0)
    exact = bc.simulate(mech, 0.2, step=1e-3, formulation="recursive", method="rk4")
    np.testing.assert_allclose(run.at(0.2).position, exact.at(0.2).position, rtol=0, atol=1e-8)
    bare = adaptive(swinging(5), 0.2, step=1e-3, max_error=0)
    assert np.abs(run.at(0.2).position - bare.at(0.2).position).max() > 1e-3


def test_friction_and_dampers_are_taken():
    """Unlike quasi-static runs, whose joints are at rest."""
    mech = sprung(stiffness=2.0, damping=0.3)
    mech.add_force("rub", bc.JointFriction(viscous=0.1, coulomb=0.2, regularisation_velocity=1e-2), "joint 1")
    run = adaptive(mech, 0.2, step=1e-3, max_error=0)
    exact = bc.simulate(mech, 0.2, step=1e-3, formulation="recursive", method="rk4")
    np.testing.assert_allclose(run.at(0.2).position, exact.at(0.2).position, rtol=0, atol=1e-9)


def test_steps_that_are_too_long_end_the_run(tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(SimulationError, match=r"joint 'joint \d'.*too long.*give a shorter step=") as caught:
        adaptive(sprung(stiffness=1e5), 10.0, step=1e-2, output_step=1e-2, max_error=0, path=path)
    kept = caught.value.trajectory
    assert str(kept.status) == "failed"
    assert 0.0 < kept.time[-1] <= caught.value.time < 10.0
    loaded = bc.MoveTrajectory.load(path)
    assert str(loaded.status) == "failed"
    assert len(loaded) == len(kept)


@pytest.fixture
def _interruptible():
    """Python's own handler of Ctrl-C in place: what runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_keeps_what_was_computed(tmp_path):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    run = adaptive(swinging(), 1e4, step=1e-3, output_step=1.0, path=tmp_path / "run.h5")
    assert str(run.status) == "interrupted"
    assert "interrupted at t = " in run.status.message
    assert len(bc.MoveTrajectory.load(tmp_path / "run.h5")) == len(run)
    live = started(swinging(), step=1e-3)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        live.advance(steps=10_000_000)
    assert time.perf_counter() - begun < 5.0
    reached = live.time
    live.advance(steps=2)
    assert live.time == pytest.approx(reached + 2e-3)


def test_progress_is_reported():
    seen = []
    adaptive(swinging(), 2.0, step=1e-3, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


def test_changes_are_refused():
    mech = hinge()
    mech.add_change("cut", bc.Release(of="pin", when="t > 0.2"))
    with pytest.raises((MechanismError, Unsupported), match="adaptive runs"):
        adaptive(mech, 0.1)


def test_what_is_in_a_file_of_a_mechanism(tmp_path):
    plan = bc.Simulation(
        duration=0.1, formulation="adaptive", max_error=0.1, measure="rms", max_loss=2.0, max_joints=3
    )
    bc.save(swinging(5), tmp_path / "chain.yaml", simulation=plan)
    content = bc.io.read(tmp_path / "chain.yaml")
    assert content.simulation == plan
    run = bc.simulate(content.mechanism, **content.simulation.arguments())
    assert {name: run.statistics[name] for name in ("measure", "max_error", "max_loss", "max_joints")} == {
        "measure": "rms",
        "max_error": 0.1,
        "max_loss": 2.0,
        "max_joints": 3,
    }
    with pytest.raises(MechanismError, match="max_joints must be a whole number, at least 1"):
        bc.Simulation(max_joints=0)


def test_what_rests_in_balance_stays_there():
    """Accelerations are rounding alone: a part of them is at most all, whatever is free."""
    mech = bc.gallery.chain(20)
    rest = bc.statics(mech).state
    for joints in (3, None):
        run = bc.start(mech, formulation="adaptive", state=rest, step=1e-3, max_joints=joints)
        run.advance(steps=50)
        assert 0.0 <= run.error <= 1.0
        assert run.kinetic_energy < 1e-12
