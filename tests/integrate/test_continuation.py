"""Runs that follow each other and keep the history of the method."""

import numpy as np
import pytest
from rigs import stops

import bellcrank as bc
from bellcrank.assembly.compile import compile_mechanism
from bellcrank.bench.oracle_problems import double_pendulum

PIECES = 10
METHODS = ("adams", "bdf", "dopri5")


def model():
    return compile_mechanism(double_pendulum().mechanism(), 0.0)


def pieces(of, continuation, method="adams", count=PIECES, formulation="lagrange", tolerances=(1e-7,)):
    """A second in parts; the runs."""
    runs, state = [], None
    for k in range(count):
        run = bc.simulate(
            of, 1.0 / count, state=state, output_step=1.0 / count, assemble=False, method=method,
            formulation=formulation, tolerance=tolerances[k % len(tolerances)], continuation=continuation,
        )  # fmt: skip
        state = run.at(run.time[-1])
        runs.append(run)
    return runs


def total(runs, name):
    return sum(int(run.statistics[name]) for run in runs)


@pytest.mark.parametrize("formulation", ["lagrange", "symbolic", "recursive"])
@pytest.mark.parametrize("method", METHODS)
def test_parts_of_a_second_are_one(method, formulation):
    of = model()
    one = bc.simulate(of, 1.0, method=method, tolerance=1e-7, output_step=0.1, formulation=formulation)
    runs = pieces(of, bc.Continuation(), method, formulation=formulation)
    assert total(runs, "evaluations") < 1.15 * one.statistics["evaluations"]
    assert total(runs, "steps") < 1.2 * one.statistics["steps"]
    for body in ("link 1", "link 2"):
        ends = np.array([run.body(body).position[-1] for run in runs])
        np.testing.assert_allclose(ends, one.body(body).position[1:], atol=1e-5)


@pytest.mark.parametrize("method", ["adams", "bdf"])
def test_the_order_stays_high(method):
    kept, anew = pieces(model(), bc.Continuation(), method), pieces(model(), None, method)
    assert total(kept, "evaluations") < 0.7 * total(anew, "evaluations")
    assert kept[-1].statistics["steps_since_restart"] == total(kept, "steps")
    assert anew[-1].statistics["steps_since_restart"] == anew[-1].statistics["steps"]


def test_statistics_are_those_of_the_part():
    runs = pieces(model(), bc.Continuation())
    last = runs[-1].statistics
    assert last["evaluations_since_restart"] == pytest.approx(total(runs, "evaluations"), abs=5)
    assert last["evaluations"] < 0.2 * last["evaluations_since_restart"]
    assert last["steps"] < 0.2 * last["steps_since_restart"]


def test_other_tolerances_start_anew():
    runs = pieces(model(), bc.Continuation(), tolerances=(1e-7, 1e-9))
    assert all(run.statistics["steps_since_restart"] == run.statistics["steps"] for run in runs)


def test_another_state_starts_anew():
    of, kept = model(), bc.Continuation()
    first = pieces(of, kept, count=2)[0]
    assert first.time[-1] == 0.5

    def on(state):
        return bc.simulate(
            of, 0.1, state=state, assemble=False, method="adams", tolerance=1e-7, continuation=kept
        )

    back = on(first.at(0.5))  # the last run ended at 1 s
    assert back.statistics["steps_since_restart"] == back.statistics["steps"]
    end = back.at(back.time[-1])
    later = on(end.at_time(2.0))
    assert later.statistics["steps_since_restart"] == later.statistics["steps"]


def test_a_mechanism_starts_anew():
    """It may have been changed in between."""
    mech, kept = double_pendulum().mechanism(), bc.Continuation()
    runs = pieces(mech, kept, count=3)
    assert all(run.statistics["steps_since_restart"] == run.statistics["steps"] for run in runs)


@pytest.mark.parametrize("method", METHODS)
def test_across_impacts(method):
    """A ball that falls and bounces, with impacts in some parts and none in others."""
    of = compile_mechanism(stops.ball(0.5), 0.0)
    whole = bc.simulate(of, 1.0, method=method, tolerance=1e-7, output_step=0.1)
    runs = pieces(of, bc.Continuation(), method)
    assert total(runs, "impacts") == whole.statistics["impacts"] > 0
    heights = [run.body("ball").position[-1] for run in runs]
    np.testing.assert_allclose(heights, whole.body("ball").position[1:], atol=1e-5)


def test_a_terminal_event_starts_anew():
    of, kept = model(), bc.Continuation()
    event = bc.Event("middle", "t - 0.25", terminal=True)
    one = bc.simulate(of, 1.0, method="adams", assemble=False, events=event, continuation=kept)
    assert one.time[-1] == pytest.approx(0.25)
    two = bc.simulate(of, 0.25, state=one.at(one.time[-1]), method="adams", assemble=False, continuation=kept)
    assert two.statistics["steps_since_restart"] == two.statistics["steps"]
    whole = bc.simulate(of, 0.5, method="adams", assemble=False)
    np.testing.assert_allclose(two.body("link 2").position[-1], whole.body("link 2").position[-1], atol=1e-6)
