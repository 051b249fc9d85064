"""What the symbolic formulation generates for serial arms: operations, growth, forms against equation 13."""

import math

import numpy as np
import pytest
from rigs.equation_13 import equation_13

import bellcrank as bc

RIGHT = math.pi / 2
# Per link: length a, twist alpha, offset d of Denavit and Hartenberg.
PUMA = [
    (0, -RIGHT, 0),
    (0.4318, 0, 0.1491),
    (-0.0203, RIGHT, 0),
    (0, -RIGHT, 0.4331),
    (0, RIGHT, 0),
    (0, 0, 0),
]
UR5 = [
    (0, RIGHT, 0.089159), (-0.425, 0, 0), (-0.39225, 0, 0),
    (0, RIGHT, 0.10915), (0, -RIGHT, 0.09465), (0, 0, 0.0823),
]  # fmt: skip


def general(n, seed=1):
    rng = np.random.default_rng(seed)
    return [(rng.uniform(0.2, 0.5), rng.uniform(0.3, 1.3), rng.uniform(0.1, 0.4)) for _ in range(n)]


def arm(links, full, seed=3):
    """A serial arm; full: any com and inertia, else the com on an axis of the frame, principal inertias."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("arm")
    before = mech.ground.marker()
    for number, (length, twist, offset) in enumerate(links):
        inertia = np.diag(rng.uniform(0.1, 0.14, 3))
        if full:
            others = rng.uniform(-0.005, 0.005, (3, 3))
            inertia, com = inertia + others + others.T, rng.uniform(-0.2, 0.2, 3)
        else:
            com = rng.uniform(0.05, 0.2) * np.eye(3)[number % 3]
        body = mech.add_body(f"link {number}", mass=rng.uniform(1, 5), com=com, inertia=inertia)
        state = {"position": rng.uniform(-2, 2), "velocity": rng.uniform(-2, 2)}
        mech.add_joint(f"joint {number}", bc.Revolute(), before, body.marker(), **state)
        turn = (math.cos(twist / 2), math.sin(twist / 2), 0.0, 0.0)
        before = body.marker((length, 0, offset), rotation=turn)
    return mech


def prepared(mech):
    bc.assemble(mech)
    return bc.prepare(mech, "symbolic")


def sums_and_products(system, form):
    count = system.operations(form)
    return count["additions"], count["multiplications"]


@pytest.mark.parametrize(
    ("links", "full", "inverse", "forward"),
    [
        (PUMA, False, (165, 200), (315, 370)),
        (PUMA, True, (255, 270), (450, 490)),
        (UR5, False, (165, 200), (315, 370)),
        (UR5, True, (255, 270), (450, 490)),
        (general(6), True, (360, 425), (720, 890)),
    ],
    ids=["PUMA simple", "PUMA full", "UR5 simple", "UR5 full", "general"],
)
def test_operations(links, full, inverse, forward):
    system = prepared(arm(links, full))
    for form, allowed in (("inverse", inverse), ("accelerations", forward)):
        found = sums_and_products(system, form)
        assert found[0] <= allowed[0], (form, found)
        assert found[1] <= allowed[1], (form, found)


def test_inverse_dynamics_grow_linearly():
    counts = np.array([sums_and_products(prepared(arm(general(n), True)), "inverse") for n in range(4, 10)])
    steps = np.diff(counts, axis=0)
    assert (steps == steps[0]).all(), counts
    assert steps[0][0] <= 79
    assert steps[0][1] <= 90


def test_long_chains_take_articulated_inertias():
    system = prepared(arm(general(14), True))
    system.operations()
    assert system.core.method() == "articulated"
    found = system.inverse_dynamics(system.joint_accelerations())
    np.testing.assert_allclose(found, 0.0, atol=1e-8)


@pytest.mark.parametrize(("links", "full"), [(PUMA, False), (UR5, True), (general(5), True)])
def test_every_form_follows_from_equation_13(links, full):
    """Equation 13 at u' = 0 and at unit accelerations gives b and M; the accelerations solve M u' = b."""
    system = prepared(arm(links, full))
    n = len(system.speeds)
    literal = equation_13(system)

    def efforts(accelerations):
        out = np.empty(n)
        inputs = np.concatenate([[0.0], system.core.configuration(), system.core.speeds(), accelerations])
        literal.evaluate(inputs, out)
        return out

    bias = efforts(np.zeros(n))
    matrix = np.array([efforts(row) - bias for row in np.eye(n)]).T
    scale = np.abs(bias).max()
    np.testing.assert_allclose(system.bias(), -bias, atol=1e-12 * scale)
    np.testing.assert_allclose(system.mass_matrix(), matrix, atol=1e-11 * max(scale, np.abs(matrix).max()))
    accelerations = np.linspace(-1.0, 2.0, n)
    np.testing.assert_allclose(
        system.inverse_dynamics(accelerations), efforts(accelerations), atol=1e-11 * scale
    )
    np.testing.assert_allclose(efforts(system.joint_accelerations()), 0.0, atol=1e-10 * scale)


def test_linearization_against_differences():
    mech = arm(general(4), True)
    first = next(iter(mech.bodies.values()))
    ball = mech.add_body("ball", mass=1.3, com=(0.1, 0.2, -0.1), inertia=(0.1, 0.12, 0.09))
    mech.add_joint("socket", bc.Spherical(), first.marker((0.1, 0.3, 0.2)), ball.marker())
    system = prepared(mech)
    core, n = system.core, len(system.speeds)
    q, u, step = core.configuration(), core.speeds() + 0.3, 1e-6

    def at(xi, change):
        core.set_configuration(0.0, q, u + change)
        core.displace_joints(xi)
        return core.joint_accelerations()

    def differences(by):
        columns = [(by(step * e) - by(-step * e)) / (2 * step) for e in np.eye(n)]
        return np.array(columns).T

    core.set_configuration(0.0, q, u)
    found = system.linearize()
    still = np.zeros(n)
    for name, by in (("position", lambda e: at(e, still)), ("velocity", lambda e: at(still, e))):
        expected = differences(by)
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-7 * np.abs(expected).max())
    core.set_configuration(0.0, q, u)
    np.testing.assert_allclose(found.effort @ system.mass_matrix(), np.eye(n), atol=1e-10)
