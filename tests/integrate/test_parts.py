"""Runs that go on from where they are, as far as they are told to, with the history of the method."""

import signal

import numpy as np
import pytest
from rigs import stops

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from benchmarks.oracle_problems import double_pendulum

PIECES = 10
METHODS = ("adams", "bdf", "esdirk", "dopri5")
FORMULATIONS = ("lagrange", "symbolic", "recursive")
TIGHT = {"method": "dopri5", "tolerance": 1e-12}


def model():
    return compile_mechanism(double_pendulum().mechanism(), 0.0)


def stepped(of, count=PIECES, duration=1.0, restart=False, **given):
    """A run in parts of equal length."""
    run = bc.start(of, **given)
    for _ in range(count):
        run.advance(duration / count)
        if restart:
            run.set_state(run.state)
    return run


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_parts_of_a_second_are_one(method, formulation):
    given = {"method": method, "tolerance": 1e-7, "formulation": formulation}
    one = bc.simulate(model(), 1.0, output_step=0.1, **given)
    parts = stepped(model(), **given).stop()
    assert parts.status == "finished"
    np.testing.assert_allclose(parts.time, one.time, rtol=0, atol=1e-12)
    assert parts.statistics["evaluations"] < 1.15 * one.statistics["evaluations"]
    assert parts.statistics["steps"] < 1.2 * one.statistics["steps"]
    for body in ("link 1", "link 2"):
        np.testing.assert_allclose(parts.body(body).position, one.body(body).position, atol=1e-5)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_fixed_steps_in_parts_are_those_of_one_run(formulation):
    given = {"method": "rk4", "formulation": formulation}
    one = bc.simulate(model(), 1.0, output_step=1e-2, **given)
    parts = stepped(model(), 100, **given).stop()
    assert parts.statistics["steps"] == one.statistics["steps"] == 1000
    np.testing.assert_allclose(parts.body("link 2").position, one.body("link 2").position, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["adams", "bdf"])
def test_the_order_stays_high_unless_the_state_is_set(method):
    given = {"method": method, "tolerance": 1e-7}
    kept, anew = stepped(model(), **given).stop(), stepped(model(), restart=True, **given).stop()
    assert kept.statistics["evaluations"] < 0.7 * anew.statistics["evaluations"]
    assert kept.statistics["steps_since_restart"] == kept.statistics["steps"]
    assert anew.statistics["steps_since_restart"] < 0.2 * anew.statistics["steps"]
    np.testing.assert_allclose(anew.body("link 2").position, kept.body("link 2").position, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_across_impacts(method):
    """A ball that falls and bounces, with impacts in some parts and none in others."""
    of = compile_mechanism(stops.ball(0.5), 0.0)
    whole = bc.simulate(of, 1.0, method=method, tolerance=1e-7, output_step=0.1)
    parts = stepped(of, method=method, tolerance=1e-7).stop()
    assert parts.statistics["impacts"] == whole.statistics["impacts"] > 0
    assert [event.name for event in parts.events] == [event.name for event in whole.events]
    np.testing.assert_allclose(parts.body("ball").position, whole.body("ball").position, atol=1e-5)


def test_ten_thousand_parts_under_a_force_with_jumps_are_one_run():
    """Also where a piece of the force ends within a part, and where it ends with one."""
    mech = double_pendulum().mechanism()
    push = bc.Piecewise([0.0, 0.05, 0.1234, 1.0], [[0.3], [-0.2], [0.1]])
    mech.add_force("push", bc.Wrench(force=(push, 0.0, 0.0)), mech.bodies["link 2"])
    one = bc.simulate(mech, 0.2, times=None, output_step=0.02, **TIGHT)
    parts = stepped(mech, 10_000, 0.2, reactions=False, **TIGHT).stop()
    assert len(parts) == 10_001
    found, wanted = parts.body("link 2").position[::1000], one.body("link 2").position
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def test_a_state_that_is_set_is_gone_on_from():
    of = model()
    whole = bc.simulate(of, 1.0, **TIGHT)
    run = bc.start(of, **TIGHT)
    run.advance(0.1)
    run.set_state(whole.at(0.5))
    assert run.time == 0.5
    run.advance(0.5)
    assert run.trajectory.time.tolist() == [0.0, 0.1, 1.0]
    np.testing.assert_allclose(run.state.position, whole.at(1.0).position, rtol=0, atol=1e-8)
    before = run.state
    for wrong, words in (
        (whole.at(0.5), "start another run"),
        ("middle", "state"),
        (bc.State(2.0, [], [], [], []), "bodies"),
    ):
        with pytest.raises(bc.MechanismError, match=words):
            run.set_state(wrong)
    np.testing.assert_allclose(run.state.position, before.position, rtol=0, atol=1e-15)


def test_frames_come_at_the_end_of_parts_or_as_planned():
    of = model()
    every = stepped(of, 4, output_step=0.1).stop()
    np.testing.assert_allclose(every.time, np.linspace(0.0, 1.0, 11), rtol=0, atol=1e-12)
    planned = bc.start(of, times=[0.2, 0.25, 0.9])
    for _ in range(9):
        planned.advance(0.1)
    assert planned.stop().time.tolist() == [0.2, 0.25, 0.9]
    whole = bc.start(of, 1.0)
    whole.advance()
    assert len(whole.stop()) == 1001


def test_a_run_goes_no_farther_than_its_end():
    run = bc.start(model(), 1.0)
    with pytest.raises(bc.MechanismError, match="ends at t = 1 s"):
        run.advance(1.1)
    for wrong in (0.0, -1.0, np.nan, "1", None):
        with pytest.raises(bc.MechanismError, match="duration"):
            bc.start(model()).advance(wrong)
    assert run.trajectory.status == "running"
    run.advance()
    assert run.stop() is run.stop() is run.trajectory
    with pytest.raises(bc.MechanismError, match="has ended"):
        run.advance(0.1)
    with pytest.raises(bc.MechanismError, match="duration"):
        bc.start(model(), progress=True)


def test_a_terminal_event_ends_it():
    run = bc.start(model(), method="adams", events=bc.Event("middle", "t - 0.25", terminal=True))
    run.advance(0.2)
    run.advance(0.2)
    assert run.time == pytest.approx(0.25)
    assert [event.name for event in run.trajectory.events] == ["middle"]
    with pytest.raises(bc.MechanismError, match="has ended"):
        run.advance(0.2)


def test_what_was_computed_is_kept_where_it_breaks_down(tmp_path):
    mech = double_pendulum().mechanism()
    mech.add_force("pull", bc.Wrench(force=("1/sqrt(0.5 - t)", 0.0, 0.0)), mech.bodies["link 2"])
    with bc.start(mech, path=tmp_path / "run.h5") as run:
        run.advance(0.3)
        with pytest.raises(bc.SimulationError, match="pull") as caught:
            run.advance(0.3)
        assert caught.value.trajectory is run.trajectory
    assert run.trajectory.time.tolist() == [0.0, 0.3]
    assert run.trajectory.status == "not_finite"


def test_it_is_recorded_into_a_file(tmp_path):
    with bc.start(model(), path=tmp_path / "run.h5") as run:
        run.advance(0.1)
        assert run.trajectory.time.tolist() == [0.0, 0.1]
        run.advance(0.1)
    assert bc.Trajectory.load(tmp_path / "run.h5").status == "finished"
    assert len(bc.Trajectory.load(tmp_path / "run.h5")) == 3


def test_after_ctrl_c_it_may_go_on():
    seen = []

    def progress(_fraction):
        if not seen:
            seen.append(signal.raise_signal(signal.SIGINT))

    run = bc.start(model(), times=[1.0, 1e6], progress=progress)
    with pytest.raises(KeyboardInterrupt):
        run.advance(1e5)
    reached = run.time
    assert 0.0 < reached < 1e5
    run.advance(1e-3)
    assert run.time == pytest.approx(reached + 1e-3, abs=1e-9)
    assert run.stop().status == "finished"
