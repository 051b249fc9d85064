"""Coordinates of marker pairs against their definitions and against differences of these along motions."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import _core as core
from bellcrank.mechanism.marker import Marker

AXES = "xyz"


def matrix(q):
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


def twist(r, q):
    """The translation u of the twist that leads to a pose: r is the integral of exp(s φ) u, 0 < s < 1."""
    turn = Rotation.from_quat(np.roll(q, -1)).as_rotvec()
    angle, across = np.linalg.norm(turn), np.cross(np.eye(3), turn)
    slope, bend = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.linalg.solve(np.eye(3) + slope * across + bend * across @ across, r)


def definitions():
    """Every kind as a formula of (r, q), written from its definition alone."""
    kinds = {}
    for k, name in enumerate(AXES):
        kinds[name] = lambda r, q, k=k: r[k]
        kinds[f"theta_{name}"] = lambda r, q, k=k: 2.0 * np.arctan2(q[1 + k], q[0])
        kinds[f"rot_{name}"] = lambda r, q, k=k: Rotation.from_quat(np.roll(q, -1)).as_rotvec()[k]
        kinds[f"log_{name}"] = lambda r, q, k=k: twist(r, q)[k]
        kinds[f"turned_{name}"] = kinds[f"rot_{name}"]  # until it is followed
        for j, second in enumerate(AXES):
            kinds[f"dot_{name}{second}"] = lambda r, q, k=k, j=j: matrix(q)[k, j]
    for k in range(4):
        kinds[f"e{k}"] = lambda r, q, k=k: q[k]
    for k in range(6):
        kinds[f"beam_{k + 1}"] = lambda r, q, k=k: beam_strain(k, r, q)
    kinds["universal_1"] = lambda r, q: np.arctan2(matrix(q)[2, 1], matrix(q)[1, 1])
    kinds["universal_2"] = lambda r, q: np.arctan2(matrix(q)[0, 2], matrix(q)[0, 0])
    kinds["distance"] = lambda r, q: np.linalg.norm(r)
    kinds["distance_xy"] = lambda r, q: np.hypot(r[0], r[1])
    kinds["azimuth"] = lambda r, q: np.arctan2(r[1], r[0])
    kinds["azimuth_axis"] = lambda r, q: np.arctan2(matrix(q)[1, 2], matrix(q)[0, 2])
    return kinds


def cams():
    """The kinds of cams: (definition, parameters)."""
    waves = LAW.flat().params

    def slide(r, _):
        travel = np.sqrt(r[0] ** 2 + r[1] ** 2 - 0.05**2)
        return travel - LAW(np.arctan2(travel, 0.05) - np.arctan2(r[1], r[0]))

    def swing(r, _):
        """The pivot seen from the axis, and the point seen from both: the law of cosines twice."""
        away, pivot, arm = np.hypot(r[0], r[1]), 4.0, 3.9
        swung = np.arccos((pivot**2 + arm**2 - away**2) / (2.0 * pivot * arm))
        seen = np.arccos((pivot**2 + away**2 - arm**2) / (2.0 * pivot * away))
        return swung - LAW(seen - np.arctan2(r[1], r[0]))

    return {
        "cam_lift": (lambda r, q: LAW(2.0 * np.arctan2(q[3], q[0])), waves),
        "cam_slide": (slide, (0.05, *waves)),
        "cam_swing": (swing, (4.0, 3.9, *waves)),
    }


def flexible():
    """A length, a flexibility with everything coupled, unloaded strains; how these grow along the segment."""
    rng = np.random.default_rng(5)
    half = rng.normal(size=(6, 6))
    slope = 0.1 * rng.normal(size=(6, 6))
    return 0.7, half @ half.T + 0.1 * np.eye(6), rng.normal(size=6), slope + slope.T, 0.3 * rng.normal(size=6)


def transport(strain):
    """A of F' = A F."""
    across = [np.cross(np.eye(3), part) for part in (strain[:3], strain[3:])]
    return -np.block([[across[1], np.zeros((3, 3))], [across[0], across[1]]])


def beam_strain(k, r, q):
    """The strains y of a segment: f = L L^T and L y = d."""
    h, C, unloaded, slope, grown = flexible()
    strain = np.concatenate([twist(r, q), Rotation.from_quat(np.roll(q, -1)).as_rotvec()])
    A = transport(strain / h)
    N = np.column_stack([transport(one).T @ grown for one in np.eye(6)])
    varied = A.T @ C @ A + slope @ A + A.T @ slope - C @ N - N.T @ C
    f = h * C + h**3 / 12.0 * varied
    return np.linalg.solve(np.linalg.cholesky(f), strain - h * unloaded)[k]


def beam_numbers():
    """The parameters of the coordinates of a beam, as a segment lowers them."""
    h, C, unloaded, slope, grown = flexible()
    upper = np.triu_indices(6)
    kind = bc.BeamSegment(h, tuple(C[upper]), 0.0, tuple(unloaded), tuple(slope[upper]), tuple(grown))
    law = kind.lowered((Marker("one"), Marker("two"))).laws[0]
    return list(law.coordinate.params)


LAW = bc.CamMotion(
    (-1.0, 1.0, 2.0, 2.0 * np.pi - 1.0), (0.1, 0.4, 0.2, 0.1), ("4-5-6-7", "cycloidal", "4-5-6-7")
)
CAMS = cams()
DEFINITIONS = definitions() | {kind: define for kind, (define, _) in CAMS.items()}
PARAMETERS = {kind: list(params) for kind, (_, params) in CAMS.items()}
PARAMETERS |= {f"beam_{k}": beam_numbers() for k in range(1, 7)}
CURVES = {"curve_normal_1", "curve_normal_2", "curve_parameter", "curve_angle"}
ANGULAR = {
    *(
        "theta_x",
        "theta_y",
        "theta_z",
        "turned_x",
        "turned_y",
        "turned_z",
        "universal_1",
        "universal_2",
        "azimuth",
        "azimuth_axis",
        "curve_angle",
    )
}
FOLLOWED = {"turned_x", "turned_y", "turned_z"}  # whose derivatives depend on the turns
KINDS = sorted(DEFINITIONS)


def continuous_q(motion, t, near):
    q = motion.q(t)
    return q if q @ near > 0.0 else -q


def test_the_kinds_are_those_of_the_contract():
    kinds = {
        name: angular for name, angular in core.coordinate_kinds().items() if not name.startswith("rig_")
    }
    assert set(kinds) == set(DEFINITIONS) | CURVES | {"tangent_span", "tangent_slant"}
    assert {name for name, angular in kinds.items() if angular} == ANGULAR


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_derivatives_along_a_motion(kind, seed, random_motion, derivatives):
    rng = np.random.default_rng(seed)
    motion, t = random_motion(rng, speed=0.5), rng.normal()
    q = motion.q(t)
    define = DEFINITIONS[kind]
    value, rate, acceleration = derivatives(
        lambda s: define(motion.r(s), continuous_q(motion, s, q)), t, angular=kind in ANGULAR
    )
    got, dr, domega, quadratic = core.evaluate_coordinate(
        kind, motion.r(t), q, motion.rdot(t), motion.omega(t), PARAMETERS.get(kind, [])
    )
    assert got == pytest.approx(value, abs=1e-13)
    assert dr @ motion.rdot(t) + domega @ motion.omega(t) == pytest.approx(rate, rel=1e-9, abs=1e-9)
    second = dr @ motion.rddot(t) + domega @ motion.omega_dot(t) + quadratic
    assert second == pytest.approx(acceleration, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", np.eye(3), ids=list(AXES))
@pytest.mark.parametrize("seed", range(4))
def test_gradients_component_by_component(kind, axis, seed, derivatives):
    rng = np.random.default_rng(seed)
    define, angular = DEFINITIONS[kind], kind in ANGULAR
    r, start = rng.normal(size=3), Rotation.from_quat(rng.normal(size=4))
    r *= 2.0 if kind in CAMS else 1.0  # near the shaft differences are poor
    q = np.roll(start.as_quat(), 1)
    still = [0.0, 0.0, 0.0]
    _, dr, domega, quadratic = core.evaluate_coordinate(kind, r, q, still, still, PARAMETERS.get(kind, []))
    assert quadratic == 0.0  # at rest

    def turned(s):
        p = np.roll((Rotation.from_rotvec(s * axis) * start).as_quat(), 1)
        return define(r, p if p @ q > 0.0 else -p)

    along = derivatives(lambda s: define(r + s * axis, q), 0.0, 0.005, angular)[1]
    about = derivatives(turned, 0.0, 0.005, angular)[1]
    assert dr @ axis == pytest.approx(along, rel=1e-8, abs=1e-10)
    assert domega @ axis == pytest.approx(about, rel=1e-8, abs=1e-10)


@pytest.fixture(scope="module")
def turning(random_motion):
    """A motion of several turns, (r, q, rdot, omega) at equidistant times; r goes round with marker 2."""
    motion = random_motion(np.random.default_rng(11), speed=2.0)
    times = np.linspace(0.0, 8.0, 3201)
    samples = []
    for t in times:
        r, omega = motion.rotation(t).apply(motion.r0), motion.omega(t)
        samples.append((r, motion.q(t), np.cross(omega, r), omega))
    return times, samples


@pytest.mark.parametrize("kind", sorted(ANGULAR - CURVES - FOLLOWED))
def test_derivatives_of_angles_do_not_see_the_branch(kind, turning):
    """Through every branch the integral of the rate is the unwrapped value."""
    times, samples = turning
    values, rates = np.empty(len(times)), np.empty(len(times))
    for i, (r, q, rdot, omega) in enumerate(samples):
        values[i], dr, domega, _ = core.evaluate_coordinate(kind, r, q)
        rates[i] = dr @ rdot + domega @ omega
    assert np.abs(np.diff(values)).max() > 6.0  # the branch cut was crossed
    unwrapped = np.unwrap(values)
    h = times[1] - times[0]
    simpson = h / 3.0 * (rates[:-2:2] + 4.0 * rates[1:-1:2] + rates[2::2])
    assert np.cumsum(simpson) == pytest.approx(unwrapped[2::2] - unwrapped[0], abs=1e-4)


@pytest.mark.parametrize("axis", range(3))
def test_rotation_vectors_are_followed_past_whole_turns(axis):
    """Two turns up and back about an axis that is none of theirs: value and rate are those of the vector."""
    way = np.array((0.36, -0.48, 0.8))
    near = np.zeros(3)
    for angle in np.concatenate([np.linspace(0.0, 13.0, 130), np.linspace(13.0, -8.0, 210)]):
        q = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * way])
        values = [
            core.evaluate_coordinate(f"turned_{k}", np.zeros(3), q, np.zeros(3), 1.5 * way, near)
            for k in AXES
        ]
        near = np.array([value for value, *_ in values])
        assert near == pytest.approx(angle * way, abs=1e-9)
        assert values[axis][2] @ (1.5 * way) == pytest.approx(1.5 * way[axis], abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_sign_of_the_quaternion(kind, random_motion):
    """q and −q are one rotation: only e0..e3 tell them apart; an angle may move by whole turns."""
    rng = np.random.default_rng(5)
    motion = random_motion(rng)
    args = (motion.rdot(0.0), motion.omega(0.0), PARAMETERS.get(kind, []))
    plus = core.evaluate_coordinate(kind, motion.r(0.0), motion.q(0.0), *args)
    minus = core.evaluate_coordinate(kind, motion.r(0.0), -motion.q(0.0), *args)
    sign = -1.0 if kind in {"e0", "e1", "e2", "e3"} else 1.0
    turns = (minus[0] - sign * plus[0]) / (2.0 * np.pi)
    if kind in ANGULAR:
        assert turns == pytest.approx(round(turns), abs=1e-13)
    else:
        assert turns == pytest.approx(0.0, abs=1e-15)
    for a, b in zip(plus[1:], minus[1:], strict=True):
        assert b == pytest.approx(sign * np.asarray(a), abs=1e-13)


@pytest.mark.parametrize("axis", range(3))
def test_twist_is_the_joint_angle_on_the_manifold(axis):
    for angle in np.linspace(-3.1, 3.1, 21):
        q = np.roll(Rotation.from_rotvec(angle * np.eye(3)[axis]).as_quat(), 1)
        q = q if q[0] > 0.0 else -q
        omega = 2.5 * np.eye(3)[axis]
        value, _, domega, quadratic = core.evaluate_coordinate(
            f"theta_{AXES[axis]}", np.zeros(3), q, np.zeros(3), omega
        )
        assert value == pytest.approx(angle, abs=1e-14)
        assert domega == pytest.approx(np.eye(3)[axis], abs=1e-15)
        assert quadratic == pytest.approx(0.0, abs=1e-14)


def test_universal_angles_on_the_manifold():
    rng = np.random.default_rng(11)
    for first, second in rng.uniform(-np.pi, np.pi, size=(20, 2)):
        rotation = Rotation.from_rotvec([first, 0, 0]) * Rotation.from_rotvec([0, second, 0])
        q = np.roll(rotation.as_quat(), 1)
        # The motion of the joint: turn rates about marker 1's x axis and marker 2's y axis.
        rates = rng.normal(size=2)
        y2 = rotation.as_matrix()[:, 1]
        omega = np.array([rates[0], 0.0, 0.0]) + rates[1] * y2
        for kind, angle, rate in (("universal_1", first, rates[0]), ("universal_2", second, rates[1])):
            value, _, domega, quadratic = core.evaluate_coordinate(kind, np.zeros(3), q, np.zeros(3), omega)
            assert value == pytest.approx(angle, abs=1e-13)
            assert domega @ omega == pytest.approx(rate, abs=1e-13)
            # With constant rates ω̇ = rates[1] ω×y2 and the angles do not accelerate.
            omega_dot = rates[1] * np.cross(omega, y2)
            assert domega @ omega_dot + quadratic == pytest.approx(0.0, abs=1e-12)
        assert core.evaluate_coordinate("dot_xy", np.zeros(3), q)[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.1, 0.999, 1.001, 2.0, 3.0, 3.1415])
def test_rotation_vector_at_all_sizes(size, derivatives):
    """Series and closed form, and their seam, against a rotation vector that moves at a constant rate.

    There φ̈ = 0, which fixes the quadratic part; the angular velocity belonging to φ̇ comes from differences of
    the rotation matrix.
    """
    rng = np.random.default_rng(13)
    direction, speed = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    phi = size * direction

    def turned(t):
        return Rotation.from_rotvec(phi + t * speed)

    # ω = ∨(Ṙ Rᵀ); differentiated once more for ω̇. Differences stay on one branch of the matrix for any size.
    now = turned(0.0).as_matrix()
    flat = [derivatives(lambda t, i=i: turned(t).as_matrix().ravel()[i], 0.0, 0.01) for i in range(9)]
    first = np.array([f[1] for f in flat]).reshape(3, 3)
    second = np.array([f[2] for f in flat]).reshape(3, 3)
    spin, spin_rate = first @ now.T, second @ now.T + first @ first.T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    omega_dot = np.array([spin_rate[2, 1], spin_rate[0, 2], spin_rate[1, 0]])
    q = np.roll(Rotation.from_rotvec(phi).as_quat(), 1)
    for k, name in enumerate(AXES):
        value, _, domega, quadratic = core.evaluate_coordinate(
            f"rot_{name}", np.zeros(3), q, np.zeros(3), omega
        )
        assert value == pytest.approx(phi[k], abs=1e-13)
        assert domega @ omega == pytest.approx(speed[k], abs=1e-10)
        assert domega @ omega_dot + quadratic == pytest.approx(0.0, abs=1e-8)


def test_singular_configurations_are_finite():
    """What the kinds promise where they have no derivative: see the comments in their files."""
    still = np.array([1.0, 0.0, 0.0, 0.0])
    moving = (np.ones(3), np.ones(3))
    for kind in ("distance", "distance_xy"):
        value, dr, domega, quadratic = core.evaluate_coordinate(kind, np.zeros(3), still, *moving)
        assert (value, quadratic) == (0.0, 0.0)
        assert np.linalg.norm(dr) == 1.0  # a distance row keeps its rank
        assert not domega.any()
    across = np.roll(Rotation.from_rotvec([np.pi, 0, 0]).as_quat(), 1)  # swing of π: no twist about z
    exact = np.array([0.0, 1.0, 0.0, 0.0])
    assert across == pytest.approx(exact, abs=1e-15)
    value, _, domega, quadratic = core.evaluate_coordinate("theta_z", np.zeros(3), exact, *moving)
    assert (value, quadratic) == (0.0, 0.0)
    assert domega.tolist() == [0.0, 0.0, 1.0]
    for kind in ("azimuth", "azimuth_axis"):
        result = core.evaluate_coordinate(kind, np.zeros(3), still, *moving)
        assert (result[0], result[3]) == (0.0, 0.0)
        assert not result[1].any()
        assert not result[2].any()


@pytest.mark.parametrize(("ratio_sign", "centre"), [(1.0, 0.5), (-1.0, 0.2)])
def test_gears_roll_on_their_azimuths(ratio_sign, centre):
    """External gears (and internal ones, second sign) that roll keep r1·azimuth(1→2) ± r2·azimuth(2→1).

    Marker 1 turns by a, marker 2 by the gear ratio, about parallel axes at a fixed distance; the pair is then
    seen from either side.
    """
    radius = np.array([0.35, 0.15])

    def azimuths(a, b):
        turn1, turn2 = Rotation.from_rotvec([0, 0, a]), Rotation.from_rotvec([0, 0, b])
        line = np.array([centre, 0.0, 0.0])
        q = np.roll((turn1.inv() * turn2).as_quat(), 1)
        q_mirrored = np.roll((turn2.inv() * turn1).as_quat(), 1)
        return (
            core.evaluate_coordinate("azimuth", turn1.inv().apply(line), q)[0],
            core.evaluate_coordinate("azimuth", turn2.inv().apply(-line), q_mirrored)[0],
        )

    turns = np.linspace(0.0, 20.0, 400)
    seen = np.unwrap([azimuths(a, -ratio_sign * a * radius[0] / radius[1]) for a in turns], axis=0)
    mesh = radius[0] * seen[:, 0] + ratio_sign * radius[1] * seen[:, 1]
    assert np.ptp(seen, axis=0).min() > 10.0
    assert np.ptp(mesh) < 1e-12


def test_wrong_requests_are_refused():
    with pytest.raises(ValueError, match=r"unknown coordinate kind 'theta'.*theta_z"):
        core.evaluate_coordinate("theta", np.zeros(3), [1, 0, 0, 0])
    with pytest.raises(ValueError, match="'distance' takes no parameters, 2 given"):
        core.check_coordinate("distance", [1.0, 2.0])
