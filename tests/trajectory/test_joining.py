"""Parts of runs, and runs put together."""

import pickle

import numpy as np
import pytest

import bellcrank as bc


def pendulum(length=0.5):
    mech = bc.Mechanism("pendulum")
    bob = mech.add_body("bob", 1.0, (0.1, 0.1, 0.1), position=(length, 0, 0))
    mech.add_joint(
        "pin", bc.Revolute(), mech.ground.marker(axis=(0, 1, 0)), bob.marker((-length, 0, 0), axis=(0, 1, 0))
    )
    mech.add_force("spring", bc.TorsionSpring(5.0), "pin")
    return mech


@pytest.fixture(scope="module")
def run():
    return bc.simulate(pendulum(), 0.2, output_step=0.01)


def test_parts_hold_the_frames_of_the_run(run):
    part = run[3:11:2]
    assert len(part) == 4
    for name in run.layout.shapes:
        np.testing.assert_array_equal(part.store.read(name), run.store.read(name)[3:11:2])
    np.testing.assert_array_equal(run.between(0.05, 0.1).time, run.time[5:11])
    assert len(run.between(5.0, 6.0)) == 0
    np.testing.assert_array_equal(
        part.force("spring").wrench("bob"), run.force("spring").wrench("bob")[3:11:2]
    )
    with pytest.raises(bc.MechanismError, match="slice of frames"):
        run[3]
    with pytest.raises(bc.MechanismError, match="forwards"):
        run[::-1]


def test_a_run_goes_through_pickle_with_its_mechanism(run):
    again = pickle.loads(pickle.dumps(run[2:5]))
    assert again.mechanism == run.mechanism
    np.testing.assert_array_equal(again.force("spring").wrench("bob"), run.force("spring").wrench("bob")[2:5])


def test_runs_that_follow_each_other_are_one(run):
    after = bc.simulate(pendulum(), 0.1, state=run.at(0.2), output_step=0.01)
    whole = bc.concatenate([run[:8], run[8:], after])
    assert len(whole) == len(run) + len(after) - 1
    np.testing.assert_array_equal(whole.time, np.concatenate([run.time, after.time[1:]]))
    effort = whole.force("spring").effort
    np.testing.assert_array_equal(effort[len(run) :], after.force("spring").effort[1:])
    assert np.all(np.diff(whole.time) > 0.0)


def test_runs_that_do_not_fit_are_refused(run):
    bare = bc.simulate(pendulum(), 0.1, start=0.3, reactions=False)
    with pytest.raises(bc.MechanismError, match="other things than the one before"):
        bc.concatenate([run, bare])
    with pytest.raises(bc.MechanismError, match=r"begins before t = 0\.2 s"):
        bc.concatenate([run, run])
    with pytest.raises(bc.MechanismError, match="no run"):
        bc.concatenate([])
    with pytest.raises(bc.MechanismError, match="run 2"):
        bc.concatenate([run, 3])
