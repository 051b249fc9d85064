"""Axes that are nearly parallel: frames of the symbolic formulation must not lie where they cost digits."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.expression import rotation_x, rotation_z, translation
from bellcrank.mechanism.rotation import multiply

ANGLES = [10.0**-k for k in range(1, 13)]
RIGHT = np.sqrt(0.5)
TURNED = [(1, 0, 0, 0), (RIGHT, RIGHT, 0, 0), (RIGHT, 0, RIGHT, 0), (0, 1, 0, 0)]
KINDS = (bc.Revolute, bc.Prismatic, bc.Cylindrical, bc.Universal, bc.Spherical, bc.Planar)


def by(angle, axis):
    """The quaternion of a turn."""
    unit = np.asarray(axis) / np.linalg.norm(axis)
    return (np.cos(angle / 2), *(np.sin(angle / 2) * unit))


def body_of(mech, rng, name):
    com, inertia = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.1, 0.14, 3)
    return mech.add_body(name, mass=rng.uniform(0.5, 2.0), com=com, inertia=inertia)


def arm(angle, count=5, seed=0):
    """Hinges, each out of parallel to the one before by an angle, about an axis across it."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("arm")
    before = mech.ground.marker()
    for k in range(count):
        body = body_of(mech, rng, f"link {k}")
        start = {"position": rng.uniform(-2.0, 2.0), "velocity": rng.uniform(-2.0, 2.0)}
        mech.add_joint(f"hinge {k}", bc.Revolute(), before, body.marker(), **start)
        across = (*rng.normal(size=2), 0.0)
        offset = (rng.uniform(0.2, 0.5), rng.uniform(-0.1, 0.1), rng.uniform(0.1, 0.4))
        before = body.marker(offset, rotation=by(angle, across))
    bc.assemble(mech)
    return mech


def tree(angle, seed, count=6):
    """Branches with joints of all kinds whose axes are parallel or at right angles but for an angle."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("tree")
    carriers = [mech.ground]

    def marker(carrier):
        offset = rng.uniform(-0.4, 0.4, 3) * rng.integers(0, 2, 3)
        turn = multiply(by(angle * rng.uniform(0.5, 2.0), rng.normal(size=3)), TURNED[rng.integers(4)])
        return carrier.marker(tuple(offset), rotation=turn)

    for k in range(count):
        body = body_of(mech, rng, f"body {k}")
        kind = KINDS[rng.integers(len(KINDS))]()
        ends = marker(carriers[rng.integers(max(0, k - 2), k + 1)]), marker(body)
        single = kind.name in ("Revolute", "Prismatic")
        start = {"position": rng.uniform(-1, 1), "velocity": rng.uniform(-1, 1)} if single else {}
        mech.add_joint(f"joint {k}", kind, *ends, **start)
        carriers.append(body)
    bc.assemble(mech)
    return mech


def accelerations(mech, formulation):
    found = bc.prepare(mech, formulation).accelerate()
    return np.hstack([found.linear, found.angular])


def check(mech, tolerance=1e-11):
    """The symbolic accelerations are those of the other formulations, relative to the largest."""
    found = accelerations(mech, "symbolic")
    for other in ("recursive", "lagrange"):
        expected = accelerations(mech, other)
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("angle", [0.0, *ANGLES, 1e-14, 1e-16])
def test_hinges_out_of_parallel(angle):
    for seed in range(3):
        check(arm(angle, seed=seed))


@pytest.mark.parametrize("angle", [0.0, *ANGLES])
def test_joints_out_of_parallel(angle):
    for seed in (1, 3, 4):
        check(tree(angle, seed))


@pytest.mark.parametrize("angle", [1e-3, 3e-5, 2e-6, 1e-9])
def test_energy_out_of_parallel(angle):
    run = bc.simulate(arm(angle, 3), duration=2.0, formulation="symbolic", method="dopri5", tolerance=1e-11)
    assert np.abs(run.energy.drift).max() < 1e-8


def test_parallel_hinges_cost_what_they_did():
    system = bc.prepare(arm(0.0), "symbolic")
    count = system.operations("accelerations")
    assert (count["additions"], count["multiplications"]) <= (111, 141)


def small_rods(far):
    """Two rods of 1 mm on a base that slides on a rail; the second hinge is 0.1 nm out of line."""
    mech = bc.Mechanism("small")
    base = mech.add_body("base", mass=10.0, inertia=(1.0, 1.0, 1.0), position=(far, far, 0.0))
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((far, far, 0.0)), base.marker())
    before = base.marker(axis=(1, 0, 0))
    for name in ("first", "second"):
        at = (far, far, 0.0)
        rod = mech.add_body(name, mass=1.0, com=(1e-3, 0.0, 0.0), inertia=(1e-7, 2e-7, 2e-7), position=at)
        mech.add_joint(name, bc.Revolute(), before, rod.marker(), position=0.5, velocity=10.0)
        before = rod.marker((1e-3, 1e-10, 0.0))
    bc.assemble(mech)
    return mech


def test_a_base_far_off_leaves_small_lengths_their_digits():
    found, expected = (accelerations(small_rods(far), "symbolic") for far in (1e5, 0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def on_an_arm(kind):
    mech = bc.Mechanism("formula")
    first, second = (body_of(mech, np.random.default_rng(seed), f"body {seed}") for seed in (1, 2))
    mech.add_joint(
        "hinge", bc.Revolute(), mech.ground.marker(axis=(1, 0, 0)), first.marker(), position=0.3, velocity=1.0
    )
    ends = first.marker((0.2, 0.1, 0.0)), second.marker((0.1, 0.0, 0.0))
    mech.add_joint("formula", kind, *ends, position=(0.3, 0.4), velocity=(1.2, -0.9))
    bc.assemble(mech)
    return mech


A, B = bc.symbol("a"), bc.symbol("b")


def two_turns(angle):
    """Two turns about axes out of parallel."""
    between = translation(0.4, 0.1, 0.2) @ rotation_x(angle)
    return rotation_z(A) @ between @ rotation_z(B) @ translation(0.1, 0.2, 0.1)


def round_a_circle(angle):
    """A way along a circle of large radius, then a turn."""
    radius = 1.0 / angle
    along = translation(radius * ex.sin(angle * A), 2 * radius * ex.sin(0.5 * angle * A) ** 2, 0)
    return along @ rotation_z(angle * A) @ rotation_z(B)


def hardly_a_screw(angle):
    """A turn whose axis hardly depends on the other coordinate."""
    return rotation_z(B) @ translation(0.4, 0.1, 0.2 + angle * ex.sin(A) * ex.sin(B)) @ rotation_z(A)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("pose", [two_turns, round_a_circle, hardly_a_screw])
def test_screws_in_formulas(pose, angle):
    check(on_an_arm(bc.CustomJoint((A, B), pose(angle))))
