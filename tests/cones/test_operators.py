"""S by bodies against S as a matrix, with unsymmetric factors; problems solved by trying all states."""

import itertools

import numpy as np
import pytest
from rigs.cone_judge import solved

from bellcrank import _core
from benchmarks.cone_scenes import Scene, biped, cloud, tower


def _blocks(scene, rng, least):
    """Random matrices of the blocks, flat and as one matrix."""
    flat, whole, row = [], np.zeros((scene.count, scene.count)), 0
    for block in scene.blocks:
        n = block.size
        value = rng.normal(size=(n, n)) * 0.3 + least * np.eye(n)
        flat.append(value.ravel())
        whole[row : row + n, row : row + n] = value
        row += n
    return np.concatenate(flat), whole


@pytest.mark.parametrize(
    "scene", [tower(5), biped(), cloud(4), cloud(5, 9, 20)], ids=["tower", "walker", "cloud", "large cloud"]
)
def test_products_and_factors_agree_with_the_matrix(scene):
    rng = np.random.default_rng(2)
    J = scene.jacobian()
    S = J @ J.T
    B, whole_b = _blocks(scene, rng, 1.0)
    D, whole_d = _blocks(scene, rng, 2.0)
    b = rng.normal(size=scene.count)
    exact = np.linalg.solve(whole_b @ S + whole_d, b)
    for dense in (False, True):
        problem = scene.problem(dense)
        np.testing.assert_allclose(problem.multiply(b), S @ b, atol=1e-12 * np.abs(S).max())
        np.testing.assert_allclose(problem.solve_linear(B, D, b), exact, rtol=1e-6, atol=1e-7)


def test_compliances_are_part_of_the_matrix():
    scene = tower(2)
    J = scene.jacobian()
    eps = np.linspace(0.1, 0.3, scene.count)
    problem = _core.ConeProblem()
    sides, stacked = [], []
    for number, block in enumerate(scene.blocks):
        problem.add_contact(block.discs)
        for body, rows in block.sides:
            sides.append((number, body))
            stacked.append(rows @ scene.roots[body])
    assert problem.use_bodies(2, sides, np.vstack(stacked), eps)
    assert not problem.use_bodies(2, sides, np.vstack(stacked), eps)
    S = J @ J.T + np.diag(eps)
    b = np.arange(scene.count) - 7.0
    np.testing.assert_allclose(problem.multiply(b), S @ b, atol=1e-10)
    rng = np.random.default_rng(0)
    B, whole_b = _blocks(scene, rng, 1.0)
    D, whole_d = _blocks(scene, rng, 2.0)
    np.testing.assert_allclose(
        problem.solve_linear(B, D, b), np.linalg.solve(whole_b @ S + whole_d, b), rtol=1e-8
    )


def test_both_operators_find_the_same_velocities():
    """Impulses need not be unique; these velocities are."""
    for scene in (tower(4), biped()):
        _, u, _ = solved(scene)
        _, v, _ = solved(scene, dense=True)
        np.testing.assert_allclose(u, v, atol=1e-6)


def _by_states(S, q, mu):
    """All solutions of plane contacts: each is open, sticks, or slides to either side."""
    n = len(mu)
    found = []
    for states in itertools.product(("open", "stick", "plus", "minus"), repeat=n):
        A, b = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        for i, state in enumerate(states):
            rows = (2 * i, 2 * i + 1)
            if state == "open":
                A[rows[0], rows[0]] = A[rows[1], rows[1]] = 1.0
                continue
            A[rows[0]], b[rows[0]] = S[rows[0]], -q[rows[0]]
            if state == "stick":
                A[rows[1]], b[rows[1]] = S[rows[1]], -q[rows[1]]
            else:
                A[rows[1], rows[1]] = 1.0
                A[rows[1], rows[0]] = mu[i] if state == "plus" else -mu[i]
        if abs(np.linalg.det(A)) < 1e-12:
            continue
        x = np.linalg.solve(A, b)
        u = S @ x + q
        slips = {"plus": 1.0, "minus": -1.0}
        good = all(
            x[2 * i] > -1e-10
            and u[2 * i] > -1e-10
            and abs(x[2 * i + 1]) < mu[i] * x[2 * i] + 1e-10
            and slips.get(state, 0.0) * u[2 * i + 1] > -1e-10
            for i, state in enumerate(states)
        )
        if good:
            found.append(x)
    return found


@pytest.mark.parametrize("seed", range(25))
def test_plane_contacts_against_all_their_states(seed):
    rng = np.random.default_rng(seed)
    scene, mu = Scene(), []
    for _ in range(3):
        scene.add_body(float(rng.uniform(0.5, 5.0)), (0.2,) * 3, rng.normal(size=3) * [1.0, 0.0, 1.0])
        scene.velocities[-1][[0, 2, 4]] = rng.normal(size=3)
    for k in range(4):
        a, b = (0, -1) if k == 0 else rng.choice(4, 2, replace=False) - 1
        angle = rng.uniform(0.0, 2.0 * np.pi)
        mu.append(float(rng.uniform(0.0, 0.9)))
        point = rng.normal(size=3) * [1.0, 0.0, 1.0]
        scene.touch(int(a), int(b), point, (np.cos(angle), 0.0, np.sin(angle)), mu[-1], plane=True)
    J = scene.jacobian()
    S, q = J @ J.T, scene.free_velocity()
    all_states = _by_states(S, q, mu)
    assert all_states
    _, u, _ = solved(scene)  # two contacts of one pair of bodies may share impulses in many ways
    assert min(np.abs(u - S @ other - q).max() for other in all_states) < 1e-6


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ([(1, 0), (0, 0)], "blocks must ascend"),
        ([(0, 0), (1, 2)], "bodies are 0 to 1, got 2"),
        ([(0, 1), (0, 1)], "body 1 is there twice in block 0"),
    ],
)
def test_sides_that_make_no_sense_are_refused(sides, message):
    problem = _core.ConeProblem()
    problem.add_contact([(2, 0.5)])
    problem.add_equality(3)
    with pytest.raises(ValueError, match=message):
        problem.use_bodies(2, sides, np.ones((6, 6)), np.zeros(6))
