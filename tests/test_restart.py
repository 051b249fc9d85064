"""Going on from a state, whole turns kept, in memory and in files. Frames at given times."""

import inspect

import numpy as np
import pytest

import bellcrank as bc


def gears():
    """Two wheels that have turned often when they are stopped; a spring that counts turns."""
    mech = bc.Mechanism("gears", gravity=(0, -9.81, 0))
    inertia = (0.01, 0.01, 0.02)
    one = mech.add_body("one", 1.0, inertia, com=(0.05, 0, 0))
    two = mech.add_body("two", 2.0, inertia, position=(0.3, 0, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground, one, velocity=20.0)
    mech.add_joint("j2", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), two)
    mech.add_constraint("mesh", bc.Gear(radii=(0.1, 0.2)), one, two)
    mech.add_force("spring", bc.TorsionSpring(stiffness=0.05), joint="j1")
    return mech


@pytest.mark.parametrize("saved", [False, True])
def test_a_run_goes_on_where_it_was_stopped(saved, tmp_path):
    whole = bc.simulate(gears(), 4.0, method="rk4")
    if saved:
        whole.save(tmp_path / "run.h5")
    source = bc.Trajectory.load(tmp_path / "run.h5", lazy=True) if saved else whole
    rest = bc.simulate(gears(), 2.0, method="rk4", state=source.at(2.0))
    assert abs(whole.joint("j1").position[:, 0]).max() > 10.0
    assert rest.time[[0, -1]] == pytest.approx([2.0, 4.0])
    for name in ("j1", "j2"):
        assert rest.joint(name).position[0] == pytest.approx(whole.joint(name).position[500], abs=1e-12)
        assert rest.joint(name).position[-1] == pytest.approx(whole.joint(name).position[-1], abs=1e-9)
        assert rest.joint(name).velocity[-1] == pytest.approx(whole.joint(name).velocity[-1], abs=1e-9)
    assert rest.energy.total[-1] == pytest.approx(whole.energy.total[-1], abs=1e-9)


def test_a_system_takes_the_turns_of_a_state():
    run = bc.simulate(gears(), 2.0)
    system, state = bc.prepare(gears()), run.at(2.0)
    system.set_state(state)
    assert system.rows().error == pytest.approx(0, abs=1e-9)
    assert system.state().angles == pytest.approx(state.angles, abs=1e-9)
    forgetful = bc.State(2.0, state.position, state.rotation, state.velocity, state.angular_velocity)
    system.set_state(forgetful)  # with other turns perhaps, but such that the gears mesh
    assert system.rows().error == pytest.approx(0, abs=1e-9)


def test_between_frames_the_turns_are_those_of_the_time():
    run = bc.simulate(gears(), 2.0, output_step=0.05)
    fine = bc.simulate(gears(), 2.0, output_step=0.025)
    assert run.at(1.025).angles == pytest.approx(fine.at(1.025).angles, abs=1e-3)


def test_a_state_of_another_mechanism_is_refused():
    mech = bc.Mechanism("one")
    mech.add_body("one", 1.0, (1, 1, 1))
    with pytest.raises(ValueError, match="0 angular coordinates, not 4"):
        bc.prepare(mech).set_state(
            bc.State(0.0, np.zeros((1, 3)), [[1, 0, 0, 0]], np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(4))
        )


@pytest.mark.parametrize(
    ("method", "tolerance"), [("rk4", 1e-9), ("dopri5", 1e-6), ("semi_implicit_euler", 1e-3)]
)
def test_frames_at_given_times(method, tolerance):
    times = [0.1, 0.25, 0.2503, 1.0]
    run = bc.simulate(gears(), times=times, method=method)
    assert run.time.tolist() == times
    dense = bc.simulate(gears(), 1.0, method=method, output_step=1e-3)
    at = dense.resample(times)
    assert run.joint("j1").position == pytest.approx(at.joint("j1").position, abs=tolerance)


def test_times_from_the_start_on():
    run = bc.simulate(gears(), times=np.linspace(1.0, 1.5, 3), start=1.0)
    assert run.time == pytest.approx([1.0, 1.25, 1.5])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "it needs a duration, or times"),
        ({"duration": 1, "times": [1, 2]}, "times determine it, so duration has no meaning"),
        ({"output_step": 0.1, "times": [1, 2]}, "times determine it, so output_step has no meaning"),
        ({"times": [0, 1, 1]}, r"times must increase, got \[1.0, 1.0\]"),
        ({"times": [0, float("nan")]}, "times must be finite"),
        ({"times": [-1, 1]}, "must not lie before the start at 0 s, got -1"),
        ({"times": [0.0]}, "must go beyond the start at 0 s"),
        (
            {"durration": 1},
            "(?s)no argument or option 'durration'; did you mean 'duration'.*needs a duration",
        ),
        ({"duration": -1, "steep": 1}, "(?s)option 'steep'; did you mean 'step'.*duration must be greater"),
    ],
)
def test_faulty_arguments_are_reported_before_anything_is_done(arguments, says):
    """The mechanism cannot be assembled, which nobody gets to know here."""
    mech = gears()
    mech.add_drive("impossible", "j1", position=1.0)
    mech.add_drive("too", "j2", position=1.0)
    with pytest.raises(bc.MechanismError, match=says):
        bc.simulate(mech, **arguments)


def test_statistics_have_the_same_order_in_files(tmp_path):
    kept, filed = bc.simulate(gears(), 0.1), bc.simulate(gears(), 0.1, path=tmp_path / "run.h5")
    assert list(filed.statistics) == list(kept.statistics)


def test_start_names_the_arguments_of_simulate():
    one, other = inspect.signature(bc.start), inspect.signature(bc.simulate)
    assert one.parameters == other.parameters
    assert "QuasistaticRun" in str(one.return_annotation)
