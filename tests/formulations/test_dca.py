"""Divide and conquer: the paper's iterates, its tolerances, redundant and singular mechanisms, options."""

import os

import numpy as np
import pytest
from rigs import chains, euler_parameters, linkages, random_loops
from rigs.agreement import agreed, close, side_by_side

import bellcrank as bc
from bellcrank.gallery import n_four_bar
from bellcrank.gallery.rings import chain, ring

OVERCONSTRAINED = [case for case in random_loops.CASES if "planar" in case["name"]]


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("case", random_loops.CASES[:4], ids=random_loops.name_of)
def test_iterates_are_those_of_the_paper(case, iterations):
    """With a penalty so small that the iterations are far from their end, in seven coordinates per body."""
    mechanism = random_loops.mechanism_of(
        {**case, "bodies": [{**b, "wrench": [0.0] * 6} for b in case["bodies"]]}
    )
    system = bc.prepare(mechanism, "dca", penalty=20.0, max_penalty=20.0, max_iterations=iterations)
    state = system.state()
    expected = euler_parameters.accelerations(system, state, 20.0, iterations)
    found = system.accelerate(state)
    close(found.linear, expected[0], 1e-11, "linear accelerations")
    close(found.angular, expected[1], 1e-11, "angular accelerations")
    exact = bc.prepare(mechanism).accelerate(state)
    assert np.abs(found.linear - exact.linear).max() > 1e-5


@pytest.mark.parametrize("penalty", [1e6, 1e10])
@pytest.mark.parametrize("make", [linkages.four_bar, linkages.bennett, lambda: linkages.windows(6)])
def test_penalties_and_tightened_tolerances(make, penalty):
    agreed(make(), "dca", 1e-8, penalty=penalty)
    agreed(make(), "dca", 1e-10, penalty=penalty, max_iterations=30, acceleration_tolerance=1e-14)


def test_large_mechanisms_and_hubs():
    for mech in (chains.platform(1.0, 3.0), ring(60), n_four_bar(30), star(30)):
        first, second = side_by_side(mech, "dca")
        close(second.accelerate().linear, first.accelerate().linear, 1e-8, "accelerations")
    assert bc.prepare(star(30), "dca").stats.plan["hubs"] == 1


def star(arms):
    mech = bc.Mechanism("star")
    hub = mech.add_body("hub", 3.0, (0.2, 0.2, 0.3), angular_velocity=(0.1, 0.2, 1.0))
    for k, angle in enumerate(np.linspace(0.0, 2.0 * np.pi, arms, endpoint=False)):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        axis = np.array([-out[1], out[0], 0.0])
        velocity = np.cross((0.1, 0.2, 1.0), out)
        arm = mech.add_body(
            f"arm {k}",
            1.0,
            (0.1, 0.1, 0.1),
            position=out,
            velocity=velocity,
            angular_velocity=(0.1, 0.2, 1.0),
        )
        mech.add_joint(
            f"pin {k}", bc.Revolute(), hub.marker(0.5 * out, axis=axis), arm.marker(-0.5 * out, axis=axis)
        )
    return mech


@pytest.mark.parametrize("make", [linkages.four_bar, linkages.five_bar, linkages.bennett, linkages.door])
def test_projections_meet_the_papers_tolerances(make):
    run = bc.simulate(make(), 2.0, formulation="dca", method="dopri5", tolerance=1e-9, output_step=0.02)
    assert run.violation.position.max() <= 1e-12
    assert run.violation.velocity.max() <= 1e-10


def test_without_projections_errors_are_stabilized():
    """The paper's first variant: errors of the steps stay small by frequency and damping alone."""

    def largest(**options):
        settings = {"method": "dopri5", "tolerance": 1e-6, "output_step": 0.1}
        run = bc.simulate(linkages.five_bar(), 10.0, formulation="dca", **settings, **options)
        return run.violation.position.max()

    loose, held = (largest(projections=False, frequency=f) for f in (0.0, 3.0))
    assert loose > 1e-6
    assert held < 0.2 * loose
    assert largest() <= 1e-12


def test_statistics_tell_of_the_tree_and_of_iterations():
    system = bc.prepare(ring(40), "dca")
    system.project()
    system.accelerate()
    stats = system.stats
    assert stats.plan["nodes"] == 41  # the ends on the ground have one each
    assert stats.plan["depth"] <= 8
    assert stats.plan["most_ends"] == 2
    for level in ("positions", "velocities", "accelerations"):
        assert sum(stats.iterations[level].values()) == 1
        assert max(stats.iterations[level]) <= 4


@pytest.mark.parametrize(
    "make",
    [
        linkages.four_bar,
        linkages.five_bar,
        linkages.bennett,
        lambda: linkages.windows(4),
        lambda: linkages.windows(9),
    ],
)
def test_the_smallest_pivot_is_that_of_rows_that_are_needed(make):
    """In whatever order rows are eliminated no pivot is less than what all others leave of its row.

    Nor is the smallest one more than the mean of their logarithms, which is that of the determinant.
    """
    system = bc.prepare(make(), "dca")
    state = system.project()
    system.accelerate()
    stats = system.stats
    S = euler_parameters.mobilities(system, state)
    kept = [row for row in range(len(S)) if row not in {dropped.row for dropped in stats.dropped}]
    S = S[np.ix_(kept, kept)]
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    assert (1.0 - 1e-6) / np.diag(np.linalg.inv(S)).max() <= stats.smallest_pivot
    assert stats.smallest_pivot <= np.exp(np.linalg.slogdet(S)[1] / len(S))
    assert stats.smallest_pivot > 1e-4


@pytest.mark.parametrize("n", [20, 200, 1000])
def test_redundant_rows_of_rings(n):
    system = bc.prepare(ring(n), "dca")
    system.accelerate()
    assert len(system.stats.dropped) == 3


def test_redundant_rows_that_are_so_on_the_constraints_alone_cost_no_steps():
    """Off them Bennett's linkage cannot move, and all of its rows ask for accelerations."""
    settings = {"method": "dopri5", "tolerance": 1e-9}
    steps = [
        bc.simulate(linkages.bennett(), 2.0, formulation=name, **settings).statistics["steps"]
        for name in ("dca", "lagrange")
    ]
    assert steps[0] <= 1.2 * steps[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1e6}, "penalty must be greater than zero"),
        ({"max_iterations": 0}, "max_iterations must be a whole number, at least 1"),
        ({"damping": -1.0}, "damping must be at least 0"),
        ({"acceleration_tolerance": 0.0}, "acceleration_tolerance must be greater than zero"),
        ({"projections": "no"}, "projections"),
        ({"penalties": 1e6}, "it has no option 'penalties'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.prepare(linkages.four_bar(), "dca", **options)


def test_results_do_not_depend_on_the_number_of_threads():
    """Bit for bit, projections included, and in a process that was forked from one with threads."""
    mech = chain(1500)
    answers = []
    for threads in (1, 2, 3):
        system = bc.prepare(mech, "dca", threads=threads)
        assert system.core.threads() == threads
        system.core.displace(1e-4 * np.random.default_rng(5).normal(size=(1500, 6)))
        state = system.project()
        found = system.accelerate()
        answers.append([state.position, state.velocity, found.linear, found.angular, found.multipliers])
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    child = os.fork()
    if child == 0:
        same = np.array_equal(system.accelerate().linear, answers[0][2])
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_small_mechanisms_stay_with_one_thread():
    assert bc.prepare(chain(100), "dca", threads=2).core.threads() == 1


@pytest.mark.parametrize("n", [1, 4])
def test_too_few_iterations_are_blamed_on_their_number(n):
    run = bc.simulate(bc.gallery.n_four_bar(n), 0.2, formulation="dca", max_iterations=1)
    assert "max_iterations=1: allow more" in run.statistics["accuracy"]
    assert "masses" not in run.statistics["accuracy"]
