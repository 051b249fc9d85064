"""What the symbolic formulation generates: operations, growth, all forms against equation 13 of the paper.

B. Guenter, S.-H. Lee, Symbolic Lagrangian Multibody Dynamics.
"""

import math

import numpy as np
import pytest
from rigs.equation_13 import equation_13

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.mechanism.rotation import matrix
from benchmarks.symbolic_chains import torus_chain

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


U, V = bc.symbols("u v")
A, B, C = bc.symbols("a b c")
TORUS = ((0.3 + 0.08 * ex.cos(V)) * ex.cos(U), (0.3 + 0.08 * ex.cos(V)) * ex.sin(U), 0.08 * ex.sin(V))
EGG = (0.2 * ex.cos(A) * ex.cos(B), 0.3 * ex.sin(A) * ex.cos(B), 0.4 * ex.sin(B))
# Joints from a body to the next, by what they are attached to and where their coordinates start.
JOINTS = {
    "spherical": (bc.Spherical(), {}),
    "universal": (bc.Universal(), {}),
    "revolute": (bc.Revolute(), {}),
    "cylindrical": (bc.Cylindrical(), {}),
    "screw": (bc.Screw(0.1), {}),
    "constant velocity": (bc.ConstantVelocity(), {}),
    "planar": (bc.Planar(), {}),
    "torus": (bc.SurfaceJoint((U, V), TORUS), {"u": 0.3, "v": 0.7}),
    "torus on egg": (  # the slow one
        bc.SurfaceOnSurface((U, V), TORUS, (A, B), EGG, spin=C),
        {"u": 0.3, "v": 0.7, "a": 0.4, "b": -0.6, "c": 1.1},
    ),
    "path": (bc.PathJoint(U, (U, 0.3 * U * U, 0.1 * U), up=(0, 0, 1)), {"u": 0.4}),
    "Frenet": (bc.PathJoint(U, (ex.cos(U), ex.sin(U), 0.2 * U), unit="rad"), {"u": 0.6}),
}
QUICK = [name for name in JOINTS if name != "torus on egg"]


def tree(name, swapped=False, seed=5):
    """A free body, a second one on it by the joint, and a leaf on that by a ball; all in motion."""
    kind, start = JOINTS[name]
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(name, gravity=(0.4, -0.3, -9.81))
    bodies = [
        mech.add_body(
            body,
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.08, 0.12, 3),
            com=rng.uniform(-0.1, 0.1, 3),
            velocity=rng.uniform(-1.0, 1.0, 3),
            angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )
        for body in ("trunk", "arm", "leaf")
    ]
    ends = (bodies[0].marker((0.1, 0.2, -0.1)), bodies[1].marker((-0.2, 0.1, 0.3)))
    mech.add_joint("joint", kind, *(ends[::-1] if swapped else ends), position=start)
    mech.add_joint(
        "ball", bc.Spherical(), bodies[1].marker((0.1, 0.3, 0.2)), bodies[2].marker((0.2, 0.0, 0.1))
    )
    return mech


class Literal:
    """Equation 13 of a system at its state."""

    def __init__(self, system):
        self.program = equation_13(system)
        self.state = [system.state().time, *system.core.configuration(), *system.core.speeds()]
        self.size = len(system.speeds)

    def efforts(self, accelerations):
        """Along the speeds, for gravity and motion alone."""
        out, given = np.empty(self.size), np.zeros(self.program.program.inputs)
        numbers = [*self.state, *accelerations]
        given[: len(numbers)] = numbers
        self.program.evaluate(given, out)
        return out


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("name", QUICK)
def test_inverse_and_forward_dynamics(name, swapped):
    system = bc.prepare(tree(name, swapped), "symbolic")
    literal = Literal(system)
    n = literal.size
    bias = literal.efforts(np.zeros(n))
    matrix = np.array([literal.efforts(unit) - bias for unit in np.eye(n)]).T
    size = max(np.abs(bias).max(), np.abs(matrix).max())
    np.testing.assert_allclose(system.bias(), -bias, atol=1e-11 * size)
    np.testing.assert_allclose(system.mass_matrix(), matrix, atol=1e-11 * size)
    rates = np.random.default_rng(1).normal(size=n)
    np.testing.assert_allclose(system.inverse_dynamics(rates), literal.efforts(rates), atol=1e-11 * size)
    np.testing.assert_allclose(literal.efforts(system.joint_accelerations()), 0.0, atol=1e-9 * size)


@pytest.mark.parametrize("name", ["universal", "torus on egg", "path"])
def test_accelerations_by_coefficient_and_substitute(name):
    system = bc.prepare(tree(name), "symbolic")
    program, found = equation_13(system, "accelerations"), np.empty(len(system.speeds))
    given = np.zeros(program.program.inputs)
    numbers = [system.state().time, *system.core.configuration(), *system.core.speeds()]
    given[: len(numbers)] = numbers
    program.evaluate(given, found)
    np.testing.assert_allclose(found, system.joint_accelerations(), rtol=1e-9, atol=1e-9)
    rates = np.random.default_rng(1).normal(size=len(found))
    np.testing.assert_allclose(system.inverse_dynamics(rates), Literal(system).efforts(rates), rtol=1e-9)


def test_literal_accelerations_take_forces_and_rotors():
    mech = torus_chain(6)
    ring = mech.bodies["torus 1"]
    mech.add_force("wind", bc.Wrench(force=(1.0, 2.0, 3.0)), ring.marker((0.1, 0.0, 0.2)))
    mech.add_force("spring", bc.SpringDamper(30.0, 0.5, 0.2), mech.ground, ring.marker((0.3, 0.0, 0.0)))
    system = bc.prepare(mech, "symbolic")
    program, found = equation_13(system, "accelerations"), np.empty(len(system.speeds))
    given = np.zeros(program.program.inputs)
    given[1 : 1 + len(system.speeds)] = system.core.configuration()
    program.evaluate(given, found)
    np.testing.assert_allclose(found, system.joint_accelerations(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", QUICK)
def test_reactions(name):
    """What a joint does to a body is what equation 13 asks of the body set free."""
    kind, start = JOINTS[name]
    mech = tree(name)
    # A body that hangs on the joint alone, its frame at its com.
    leaf = mech.add_body("bob", mass=0.7, inertia=(0.11, 0.09, 0.1))
    place = leaf.marker((0.05, -0.1, 0.2))
    mech.add_joint("last", kind, mech.bodies["leaf"].marker((0.1, 0.0, 0.2)), place, position=start)
    system = bc.prepare(mech, "symbolic")
    state = system.state()
    found = system.accelerate()
    free = bc.Mechanism("free", gravity=mech.gravity)
    number = system.model.body_number("bob")
    motion = {
        "position": state.position[number],
        "rotation": state.rotation[number],
        "velocity": state.velocity[number],
        "angular_velocity": state.angular_velocity[number],
    }
    free.add_body("bob", mass=0.7, inertia=(0.11, 0.09, 0.1), **motion)
    alone = bc.prepare(free, "symbolic")
    body = found.body("bob")
    rates = speeds_of(free, body.linear, body.angular)
    efforts = Literal(alone).efforts(rates)
    moment, force = np.split(found.joint("last").reaction, 2)
    arm = matrix(tuple(state.rotation[number])) @ (0.05, -0.1, 0.2)
    for unit in np.eye(6):
        velocity, spin = unit[:3], unit[3:]
        power = efforts @ speeds_of(free, velocity, spin)
        expected = force @ (velocity + np.cross(spin, arm)) + moment @ spin
        assert power == pytest.approx(expected, abs=1e-8 * max(1.0, np.abs(efforts).max()))


def speeds_of(mechanism, velocity, angular_velocity):
    """Of a free body that moves so."""
    copy = mechanism.copy()
    copy.replace(copy.bodies["bob"], velocity=velocity, angular_velocity=angular_velocity)
    return bc.prepare(copy, "symbolic").core.speeds()
