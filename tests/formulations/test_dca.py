"""Divide and conquer: the paper's iterates, its tolerances, redundant and singular mechanisms, options."""

import os

import numpy as np
import pytest
from rigs import chains, linkages, random_loops
from rigs.agreement import agreed, close, side_by_side
from rigs.closed_references import REFERENCES
from rigs.singular_linkages import FAMILIES, followed, mean_iterations, singular_linkage

import bellcrank as bc
from bellcrank.gallery import n_four_bar
from bellcrank.gallery.rings import chain, ring


def world_matrix(p):
    """G (3, 4) of Euler parameters with angular velocity 2 G p' in world axes."""
    w, x, y, z = p
    return np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


def accelerations(system, state, penalty, iterations):
    """Linear and angular accelerations (nb, 3), world axes, after iterations from multipliers zero.

    system: of bodies whose frames are in their centres of mass. penalty: in parts of the mass a row sees.
    """
    rows, gravity = system.rows(state), np.array(system.model.arrays["gravity"])
    mass, inertia = np.array(system.model.arrays["body_mass"]), system.model.arrays["body_inertia"]
    bodies, count = len(mass), len(rows.error)
    M, Q, J = np.zeros((7 * bodies, 7 * bodies)), np.zeros(7 * bodies), np.zeros((count, 7 * bodies))
    G = [world_matrix(p) for p in state.rotation]
    normal, curvature = np.zeros((bodies, 7 * bodies)), np.zeros(bodies)
    for b in range(bodies):
        r, p = slice(7 * b, 7 * b + 3), slice(7 * b + 3, 7 * b + 7)
        R = rotation(state.rotation[b])
        I, w = R @ np.reshape(inertia[b], (3, 3)) @ R.T, state.angular_velocity[b]  # noqa: E741
        M[r, r], M[p, p] = mass[b] * np.eye(3), 4.0 * G[b].T @ I @ G[b]
        Q[r], Q[p] = mass[b] * gravity, -2.0 * G[b].T @ np.cross(w, I @ w)
        linear, angular = rows.jacobian[:, b, :3], rows.jacobian[:, b, 3:]
        J[:, r], J[:, p] = linear, 2.0 * angular @ G[b]
        rate = 0.5 * G[b].T @ w
        normal[b, p], curvature[b] = 2.0 * state.rotation[b], 2.0 * rate @ rate
    alpha = penalty / np.diag(mobilities(system, state))
    leading = M + J.T @ (alpha[:, None] * J) + penalty * normal.T @ normal
    assert np.linalg.eigvalsh(leading).min() > 0.0
    multipliers, normal_multipliers = np.zeros(count), np.zeros(bodies)
    for _ in range(iterations):
        right = Q - J.T @ (multipliers - alpha * rows.bias)
        right -= normal.T @ (normal_multipliers + penalty * curvature)
        q = np.linalg.solve(leading, right)
        multipliers += alpha * (J @ q - rows.bias)
        normal_multipliers += penalty * (normal @ q + curvature)
    q = q.reshape(bodies, 7)
    return q[:, :3], np.array([2.0 * G[b] @ q[b, 3:] for b in range(bodies)])


def mobilities(system, state):
    """J M^-1 J^T of all rows (rows, rows), of bodies whose frames are in their centres of mass."""
    jacobian, arrays = system.rows(state).jacobian, system.model.arrays
    S = np.zeros((len(jacobian), len(jacobian)))
    for b, mass in enumerate(arrays["body_mass"]):
        R = rotation(state.rotation[b])
        linear, angular = jacobian[:, b, :3], jacobian[:, b, 3:] @ R
        S += linear @ linear.T / mass
        S += angular @ np.linalg.solve(np.reshape(arrays["body_inertia"][b], (3, 3)), angular.T)
    return S


def rotation(p):
    w, e = p[0], np.array(p[1:])
    cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("case", random_loops.CASES[:4], ids=random_loops.name_of)
def test_iterates_are_those_of_the_paper(case, iterations):
    """With a penalty so small that the iterations are far from their end, in seven coordinates per body."""
    mechanism = random_loops.mechanism_of(
        {**case, "bodies": [{**b, "wrench": [0.0] * 6} for b in case["bodies"]]}
    )
    system = bc.prepare(mechanism, "dca", penalty=20.0, max_penalty=20.0, max_iterations=iterations)
    state = system.state()
    expected = accelerations(system, state, 20.0, iterations)
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
    S = mobilities(system, state)
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


LONG = ("A02 N-four-bar, N = 40", "A03 Andrews' squeezer", "A05 flyball governor")


@pytest.mark.parametrize("seed", range(6))
def test_random_linkages_start_at_singular_poses_or_pass_them(seed):
    found = followed(singular_linkage(seed))
    assert found.violation[0] <= 1e-12
    assert found.violation[1] <= 1e-10
    assert found.energy <= 3.0 * found.neighbours  # 2.16 at most, without fused products
    assert found.iterations <= 4.0


def test_they_do_lose_rank():
    """Those that start there, at the start: one row less is needed than at neighbours, or one per window."""
    for seed in range(len(FAMILIES)):
        linkage = singular_linkage(seed)
        assert linkage.name.endswith("at")
        system = bc.prepare(linkage.mechanism, "dca")
        at = rank_of(system)
        run = bc.simulate(linkage.mechanism, 0.1, formulation="dca", output_step=0.05)
        system.set_state(run.at(0.05))
        assert at < rank_of(system)
        assert system.stats.smallest_pivot > 1e-8


def rank_of(system):
    system.accelerate()
    return len(system.rows().names) - len(system.stats.dropped)


def test_a_flat_parallelogram_does_not_fold_over():
    run = bc.simulate(
        REFERENCES["flat parallelogram"](), 10.0, formulation="dca", method="dopri5", tolerance=1e-9
    )
    rates = np.array([run.body(f"bar{k}").angular_velocity[:, 1] for k in (1, 2, 3)])
    np.testing.assert_allclose(rates[0], rates[2], atol=1e-6)
    np.testing.assert_allclose(rates[1], 0.0, atol=1e-6)
    assert np.ptp(run.energy.total) < 1e-6 * run.energy.kinetic.max()


@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in LONG])
def test_projections_and_iterations_on_closed_loops(name):
    run = bc.simulate(
        REFERENCES[name](), 1.0, formulation="dca", method="dopri5", tolerance=1e-8, output_step=0.1
    )
    assert run.violation.position.max() <= 1e-12
    assert run.violation.velocity.max() <= 1e-10
    for level in ("positions", "velocities", "accelerations"):
        assert mean_iterations(run, level) <= 4.0
