"""Impulses in cones: solutions that are known or found by trying all states, and S as a matrix."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from rigs.cone_judge import solved
from rigs.seeds import over

from bellcrank import _core
from benchmarks.cone_scenes import Scene, biped, cloud, tower

G, H = 9.81, 0.005
X, Y, Z = np.eye(3)


def particle(mass=2.0):
    scene = Scene(step=H)
    scene.add_body(mass, (0.1, 0.1, 0.1), (0.0, 0.0, 0.0))
    return scene


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("plane", [False, True])
@pytest.mark.parametrize("angle", [0.2, 0.5, 0.54, 0.9])
def test_a_block_on_a_slope_sticks_or_slides(angle, plane, dense):
    """Its corners in the plane of the slope: it stays to tan θ = μ, then has g (sin θ − μ cos θ)."""
    mu, mass = 0.6, 3.0
    scene = Scene(step=H)
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    down = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    scene.add_box(mass, (2.0, 2.0, 0.02), (0.0, 0.0, 0.0))
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            point = x * down + y * Y
            scene.touch(0, -1, point, normal, mu, plane=plane)
    x, _, _ = solved(scene, dense)
    scene.advance(x)
    speed = H * G * max(0.0, np.sin(angle) - mu * np.cos(angle))
    np.testing.assert_allclose(scene.velocities[0][:3], speed * down, atol=1e-9)
    size = scene.blocks[0].size
    assert x[::size].sum() == pytest.approx(mass * G * H * np.cos(angle), rel=1e-8)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("moment", "bounds", "left"), [
    (1.0, (-2.0, 3.0), 0.0),
    (5.0, (-2.0, 3.0), 3.0),
    (-5.0, (-2.0, 3.0), -2.0),
    (-50.0, (0.0, np.inf), 0.0),
    (50.0, (0.0, np.inf), 50.0),
    (1.0, (0.0, 0.0), 1.0),
    (7.0, (-np.inf, np.inf), 0.0),
])  # fmt: skip
def test_friction_within_bounds_holds_or_gives_what_it_can(moment, bounds, left, dense):
    """A flywheel: what its friction cannot take of a moment turns it."""
    scene = Scene(step=H)
    scene.add_body(2.0, (0.3, 0.4, 0.5), (0.0, 0.0, 0.0))
    scene.join(0, -1, (0.0, 0.0, 0.0), angular=(X, Y))
    scene.rub(0, -1, Z, *bounds)
    scene.forces[0][5] = moment
    x, _, _ = solved(scene, dense)
    scene.advance(x)
    assert scene.velocities[0][5] == pytest.approx(H * left / 0.5, abs=1e-8)


@over(range(60))
def test_random_rows_within_bounds_beside_contacts(seed):
    solved(cloud(seed, 5, 8, rubbing=12), dense=seed % 2 == 1)


@pytest.mark.parametrize(("force", "slides"), [(0.5, False), (1.5, True)])
def test_a_box_pushed_low_slides_past_the_limit_of_friction(force, slides):
    mu, mass = 0.4, 5.0
    scene = Scene(step=H)
    scene.add_box(mass, (1.0, 1.0, 0.1), (0.0, 0.0, 0.05))
    for x in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            scene.touch(0, -1, (x, y, 0.0), Z, mu)
    scene.forces[0][:2] = force * mu * mass * G * np.array([0.6, 0.8])
    x, u, _ = solved(scene)
    expected = H * mu * G * (force - 1.0) if slides else 0.0
    np.testing.assert_allclose(u.reshape(4, 3)[:, 0], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(u.reshape(4, 3)[:, 1:], axis=1), expected, atol=1e-9)
    assert x.reshape(4, 3)[:, 0].sum() == pytest.approx(mass * G * H)


def test_a_limit_takes_what_presses_on_it_and_lets_go():
    """A hinge along y, turned against its limit or away from it."""
    for moment in (-3.0, 3.0):
        scene = particle()
        scene.join(0, -1, (0.0, 0.0, 0.0), angular=(X, Z))
        scene.limit(0, -1, Y)
        scene.forces[0][4] = moment
        x, u, _ = solved(scene, tolerance=1e-10)
        assert x[-1] == pytest.approx(max(0.0, -moment * H), abs=1e-10)
        assert u[-1] == pytest.approx(max(0.0, moment * H / 0.1), abs=1e-9)


def test_painleve_rod_takes_the_impact_without_collision():
    """Sliding would accelerate it into the ground: the impulse of the reference as steps become short."""
    path = Path(__file__).parents[1] / "reference" / "data" / "K06_painleve_rod.json"
    data = json.loads(path.read_text())
    k = data["params"]
    target = [data["impact_without_collision"][name] for name in ("normal_impulse", "tangential_impulse")]
    angle, rate, slip = k["angle_b"], k["rate_b"], k["slip_b"]
    off = {}
    for step in (1e-4, 1e-6):
        scene = Scene(step=step)
        inertia = k["mass"] * k["half_length"] ** 2 / 3.0
        centre = k["half_length"] * np.array([-np.cos(angle), 0.0, np.sin(angle)])
        scene.add_body(k["mass"], (inertia,) * 3, centre)
        # The lower end P = centre + l (cos θ, −sin θ); θ turns the rod positively about +y.
        spin = rate * Y
        scene.velocities[0][:3] = slip * X - np.cross(spin, -centre)
        scene.velocities[0][3:] = spin
        scene.touch(0, -1, (0.0, 0.0, 0.0), Z, k["friction"], plane=True)
        # The centripetal part of P's acceleration, which a step of frozen geometry lacks.
        extra = step * k["half_length"] * rate**2 * np.sin(angle)
        J = scene.jacobian()
        q = scene.free_velocity() + np.array([extra, 0.0])
        x, report = scene.problem().solve(q, np.zeros(2))
        assert report.converged
        assert (J @ J.T @ x + q)[0] == pytest.approx(0.0, abs=1e-8)
        off[step] = np.abs(x - target).max()
    assert off[1e-4] < 2e-3
    assert off[1e-6] < 2e-5


def test_rolling_and_spinning_resistance_stop_a_ball_or_slow_it():
    """A ball that spins about the normal and rolls: constant resistance until it stops within the step."""
    radius, mass, rolling, spinning = 0.1, 1.0, 0.01, 0.004
    inertia = 0.4 * mass * radius**2
    for turn, stops in ((1e-3, True), (5.0, False)):
        scene = Scene(step=H)
        scene.add_body(mass, (inertia,) * 3, (0.0, 0.0, radius))
        scene.velocities[0][:] = [radius * turn, 0.0, 0.0, 0.0, turn, turn]
        scene.touch(0, -1, (0.0, 0.0, 0.0), Z, 0.5, rolling, spinning)
        x, _, _ = solved(scene)
        scene.advance(x)
        normal = mass * G * H
        assert x[0] == pytest.approx(normal)
        if stops:
            np.testing.assert_allclose(scene.velocities[0], 0.0, atol=1e-9)
            continue
        about_contact = inertia + mass * radius**2
        slower = turn - rolling * normal / about_contact
        np.testing.assert_allclose(
            scene.velocities[0],
            [radius * slower, 0.0, 0.0, 0.0, slower, turn - spinning * normal / inertia],
            atol=1e-9,
        )


def test_a_contact_without_friction_has_no_tangential_impulse():
    scene = particle()
    scene.touch(0, -1, (0.0, 0.0, 0.0), Z, 0.0)
    scene.velocities[0][0] = 1.0
    x, u, _ = solved(scene)
    np.testing.assert_allclose(x, [2.0 * G * H, 0.0, 0.0], atol=1e-10)
    assert np.hypot(u[1], u[2]) == pytest.approx(1.0)


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


@over(range(25))
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
