"""Formulas and functions of time in the symbolic formulation: against lagrange and closed forms."""

import numpy as np
import pytest
from rigs.agreement import agreed
from rigs.equation_13 import equation_13

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.expression.compiled import evaluate
from benchmarks.symbolic_chains import torus_chain

U, V, W = bc.symbols("u v w")
A, B, C = bc.symbols("a b c")
P, Q = bc.EndPose("p"), bc.EndPose("q")
J, K = bc.EndCoordinate("j"), bc.EndCoordinate("k")
SPHERE = (0.4 * ex.cos(A) * ex.cos(B), 0.4 * ex.sin(A) * ex.cos(B), 0.4 * ex.sin(B))
DISH = (U, V, 0.1 * (U * U + V * V))
KINDS = {
    "one coordinate": bc.CustomJoint(U, ex.translation(ex.cos(U), 0, 0.2 * U) @ ex.rotation_z(U)),
    "two coordinates": bc.CustomJoint(
        (U, V), ex.rotation_x(U) @ ex.translation(0, V * V, V) @ ex.rotation_y(V)
    ),
    "six coordinates": bc.CustomJoint(
        (U, V, W, A, B, C), ex.translation(U, V, W) @ ex.rotation_x(A) @ ex.rotation_y(B) @ ex.rotation_z(C)
    ),
    "Frenet": bc.PathJoint(U, (ex.cos(U), ex.sin(U), 0.3 * U), unit="rad"),
    "path": bc.PathJoint(U, (U, ex.sin(U), 0.2 * U), up=(0, 0, 1)),
    "surface": bc.SurfaceJoint((A, B), SPHERE),
    "surface with spin": bc.SurfaceJoint((A, B), SPHERE, spin=C),
    "surface on surface": bc.SurfaceOnSurface((U, V), DISH, (A, B), SPHERE, spin=C),
    "rolling": bc.Rolling((U, V), DISH, (A, B), SPHERE, spin=C),
}
START = {"u": 0.7, "v": 0.5, "w": -0.3, "a": 0.4, "b": 0.8, "c": 1.1}


def joined(kind, seed=3, hung=True, swapped=False):
    """Two bodies that move at random, a joint of formulas between them, one of them on a ball joint."""
    mech = bc.Mechanism("joined", gravity=(0.3, -0.5, -9.81))
    rng = np.random.default_rng(seed)
    for name in ("one", "two"):
        mech.add_body(
            name,
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.08, 0.12, 3),
            com=rng.uniform(-0.1, 0.1, 3),
            velocity=rng.uniform(-1.0, 1.0, 3),
            angular_velocity=rng.uniform(-1.0, 1.0, 3),
        )
    one, two = mech.bodies["one"], mech.bodies["two"]
    if hung:
        mech.add_joint("hung", bc.Spherical(), mech.ground, (two if swapped else one).marker((0.2, 0.1, 0.0)))
    start = {name: START[name] for name in kind.free}
    mech.add_joint("joint", kind, one.marker((0.1, 0.2, -0.1)), two.marker((-0.2, 0.1, 0.3)), position=start)
    return mech


def compare(mechanism, tolerance=1e-9):
    return agreed(mechanism, "symbolic", tolerance)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_joints(name, swapped):
    system = compare(joined(KINDS[name], swapped=swapped))
    rolling = KINDS[name].rolling
    assert len(system.closing_rows) == len(rolling)
    assert len(system.speeds) == 3 + len(KINDS[name].free)


def test_speeds_have_the_names_of_the_coordinates():
    system = compare(joined(KINDS["two coordinates"]))
    assert [speed.kind for speed in system.speeds if speed.joint == "joint"] == ["u", "v"]


def between(act, count=2):
    """Two bodies that move at random, one of them on a hinge, and what acts on them."""
    mech = joined(KINDS["two coordinates"], seed=7)
    act(mech, mech.bodies["one"].marker((0.2, -0.1, 0.3)), mech.bodies["two"].marker((0.1, 0.4, 0.0)))
    return mech


def reach(p, q):
    """From one pose to another."""
    return ex.Vector(p.position) - q.position


def forces():
    """By what they are given, and whether they act on poses."""
    gap, axis = reach(P, Q), P.x_axis
    slip = ex.dot(axis, ex.Vector(P.velocity) - Q.velocity)
    pull = [3.0 * k - 0.4 * v for k, v in zip(gap, P.velocity, strict=True)]
    return {
        "potential": (
            bc.CustomForce((P, Q), potential=4.0 * ex.dot(gap, gap) + ex.dot(axis, Q.y_axis)),
            True,
        ),
        "force": (bc.CustomForce((P, Q), force=pull), True),
        "moment": (bc.CustomForce((P, Q), moment=[0.5 * slip * k for k in axis]), True),
        "spin": (bc.CustomForce(P, moment=[-0.2 * k for k in P.angular_velocity]), True),
        "with time": (bc.CustomForce(P, force=(ex.sin(3 * ex.t), P.position.x, 1.0)), True),
        "potential of coordinates": (bc.CustomForce(J, potential=2.0 * J.value**2 + J.value), False),
        "efforts": (bc.CustomForce(J, efforts=-0.3 * J.rate - ex.sin(J.value)), False),
    }


@pytest.mark.parametrize("name", forces())
def test_forces(name):
    kind, posed = forces()[name]

    def act(mech, one, two):
        ends = (one, two)[: len(kind.ends)] if posed else (mech.joints["joint"].coordinate("u"),)
        mech.add_force("force", kind, *ends)

    compare(between(act))


def constraints():
    """By what they hold, and whether they act on poses."""
    gap = reach(P, Q)
    return {
        "distance": (bc.CustomConstraint((P, Q), ex.dot(gap, gap) - 0.5), True),
        "axes": (bc.CustomConstraint((P, Q), (ex.dot(P.x_axis, Q.z_axis), ex.dot(gap, P.y_axis))), True),
        "in time": (bc.CustomConstraint(P, P.position.x - 0.2 * ex.sin(2 * ex.t)), True),
        "coordinates": (bc.CustomConstraint((J, K), J.value - 0.4 * K.value**2), False),
    }


@pytest.mark.parametrize("name", constraints())
def test_constraints(name):
    kind, posed = constraints()[name]

    def act(mech, one, two):
        joint = mech.joints["joint"]
        ends = (one, two)[: len(kind.ends)] if posed else (joint.coordinate("u"), joint.coordinate("v"))
        mech.add_constraint("constraint", kind, *ends)

    assert compare(between(act)).closing_rows


def test_quaternions_behind_formulas_that_turn_far():
    kind = bc.CustomJoint((U, V), ex.rotation_x(U) @ ex.translation(0, V, 0) @ ex.rotation_z(2 * V))
    for turn in (0.3, 2.0, 3.0, 3.3, 5.0):
        mech = joined(kind)
        joint = mech.joints["joint"]
        mech.replace(joint, position={"u": turn, "v": 0.6})
        hold = bc.CustomForce((P, Q), potential=ex.dot(P.x_axis, Q.y_axis) + ex.dot(P.z_axis, Q.x_axis))
        mech.add_force("hold", hold, mech.bodies["one"], mech.bodies["two"])
        compare(mech)


def test_parameters_are_numbers():
    mech = bc.Mechanism(gravity=(0, 0, -9.81))
    radius = mech.add_parameter("radius", 2.0)
    body = mech.add_body("b", mass=1, inertia=(1, 1, 1))
    kind = bc.CustomJoint(U, ex.translation(radius * ex.cos(U), 0, radius * ex.sin(U)), units="rad")
    mech.add_joint("j", kind, mech.ground, body)
    for value in (2.0, 3.0):
        system = bc.prepare(mech.with_parameters(radius=value), "symbolic")
        np.testing.assert_allclose(system.joint_accelerations(), -9.81 / value, rtol=1e-14)


def test_loops_of_formulas_alone_are_refused():
    mech = bc.Mechanism()
    body = mech.add_body("b", mass=1, inertia=(1, 1, 1))
    for name, height in (("first", 0.0), ("second", 1.0)):
        kind = bc.CustomJoint(U, ex.translation(U, 0, 0))
        mech.add_joint(name, kind, mech.ground.marker((0, 0, height)), body.marker((0, 0, height)))
    said = r"no loops of joints that are all given by formulas: joint 'first' \(CustomJoint\), joint 'second'"
    with pytest.raises(bc.Unsupported, match=said):
        bc.prepare(mech, "symbolic")


def test_a_loop_that_other_joints_close():
    mech = bc.Mechanism(gravity=(0, 0, -9.81))
    bead = mech.add_body("bead", mass=1, inertia=(0.1, 0.1, 0.1), position=(0.2, 0, 0))
    rod = mech.add_body("rod", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(-0.3, 0, 0.1))
    curve = (U, 0.3 * U * U, 0.1 * U)
    mech.add_joint("wire", bc.PathJoint(U, curve, up=(0, 0, 1)), mech.ground, bead)
    mech.add_joint("rod to bead", bc.Spherical(), bead.marker(), rod.marker((0.5, 0, 0)))
    mech.add_joint(
        "rod to ground", bc.Universal(), mech.ground.marker((-0.8, 0, 0.2)), rod.marker((-0.5, 0, 0))
    )
    assert compare(mech).closing_rows


@pytest.mark.parametrize("coordinates", [6, 10])
def test_chains_of_tori(coordinates):
    system = compare(torus_chain(coordinates))
    assert len(system.speeds) == coordinates


def test_a_bead_stays_on_its_wire_in_long_steps():
    curve = (ex.cos(U), ex.sin(2 * U), 0.3 * U)
    mech = bc.Mechanism(gravity=(0, 0, -9.81))
    bead = mech.add_body("bead", mass=1, inertia=(0.01, 0.01, 0.01))
    mech.add_joint("wire", bc.PathJoint(U, curve, up=(0, 0, 1)), mech.ground, bead, velocity=2.0)
    run = bc.simulate(mech, duration=2.0, formulation="symbolic", method="rk4", step=1 / 30)
    u = run.joint("wire").position[:, 0]
    on_wire = np.stack([np.cos(u), np.sin(2 * u), 0.3 * u], axis=1)
    np.testing.assert_allclose(run.body("bead").position, on_wire, atol=1e-13)
    assert u.max() - u.min() > 1.0


@pytest.mark.parametrize("name", ["path", "surface on surface"])
def test_linearization_against_differences(name):
    system = compare(joined(KINDS[name]))
    core = system.core
    time, q, u = system.state().time, core.configuration(), core.speeds()
    found = system.linearize()

    def at(displacement, speeds):
        core.set_configuration(time, q, u + speeds)
        core.displace_joints(displacement)
        return np.array(core.joint_accelerations())

    step, none = 1e-5, np.zeros(len(u))
    for k, unit in enumerate(np.eye(len(u))):
        by_position = (at(step * unit, none) - at(-step * unit, none)) / (2 * step)
        by_speed = (at(none, step * unit) - at(none, -step * unit)) / (2 * step)
        np.testing.assert_allclose(found.position[:, k], by_position, atol=1e-5, rtol=1e-6)
        np.testing.assert_allclose(found.velocity[:, k], by_speed, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("name", ["two coordinates", "Frenet", "surface with spin"])
def test_equation_13(name):
    """Equation 13 without forces is what inverse dynamics give."""
    system = compare(joined(KINDS[name]))
    rates = np.random.default_rng(5).normal(size=len(system.speeds))
    program = equation_13(system)
    inputs = np.array([system.state().time, *system.core.configuration(), *system.core.speeds(), *rates])
    found = np.zeros(len(rates))
    program.evaluate(inputs, found)
    np.testing.assert_allclose(found, system.inverse_dynamics(rates), rtol=1e-9, atol=1e-9)


def wire(act):
    """A bead on a parabola in the plane, and what acts on its coordinate."""
    mech = bc.Mechanism(gravity=(0, -2.0, 0))
    bead = mech.add_body("b", mass=2.0, inertia=(1, 1, 1))
    start = {"position": 0.3, "velocity": 0.5}
    mech.add_joint("j", bc.PathJoint(U, (U, U * U, 0), up=(0, 0, 1), unit="m"), mech.ground, bead, **start)
    act(mech)
    return mech


@pytest.mark.parametrize(
    "act",
    [
        lambda mech: mech.add_drive("d", joint="j", position="0.3 + 0.5 * t"),
        lambda mech: mech.add_drive("d", joint="j", velocity="0.5 + sin(3 * t)"),
        lambda mech: mech.add_force("d", bc.TorsionSpring(5.0, rest_angle=0.3, damping=0.4), joint="j"),
    ],
    ids=["position", "velocity", "spring"],
)
def test_what_acts_on_a_coordinate_of_formulas(act):
    runs = [
        bc.simulate(wire(act), duration=0.5, formulation=name, method="dopri5", tolerance=1e-11)
        for name in ("lagrange", "symbolic")
    ]
    first, second = (run.body("b") for run in runs)
    np.testing.assert_allclose(second.position[-1], first.position[-1], atol=1e-9)
    np.testing.assert_allclose(second.velocity[-1], first.velocity[-1], atol=1e-9)


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
def test_limits_on_coordinates_of_formulas(formulation):
    mech = wire(lambda mech: mech.replace(mech.joints["j"], limits=bc.Limit(0.0, 0.4, 0.5)))
    settings = {"method": "dopri5", "tolerance": 1e-11}
    first, second = (bc.simulate(mech, 0.5, formulation=f, **settings) for f in ("lagrange", formulation))
    assert first.statistics["impacts"] == second.statistics["impacts"] > 0
    np.testing.assert_allclose(second.body("b").position, first.body("b").position, atol=1e-8)


def test_native_code_gives_the_same_numbers():
    pytest.importorskip("llvmlite")
    system = compare(torus_chain(6))
    interpreted = system.joint_accelerations()
    system.compile()
    np.testing.assert_array_equal(system.joint_accelerations(), interpreted)


T = ex.t
FUNCTIONS = {
    "polynomial": 1.0 - 2.0 * T + 0.5 * T**3,
    "all of trigonometry": ex.sin(T) + ex.cos(2 * T) * ex.tan(0.3 * T) + ex.asin(0.1 * T) - ex.acos(0.2 * T),
    "others": ex.atan(T) + ex.atan2(T, 1 + T) + ex.sinh(0.1 * T) - ex.cosh(0.2 * T) + ex.tanh(T) + ex.exp(-T),
    "powers": (2 + T) ** 1.3 + ex.log(2 + T) / (1 + T) - ex.sqrt(3 + T) + (1 + T) ** (0.5 + T),
    "switches": abs(T - 2.5) + ex.sign(T) + ex.minimum(T, 0.4) - ex.maximum(T, 2.1) + ex.floor(T + 0.5),
    "pieces": ex.piecewise(T < 0.2, T**2, T <= 0.9, 0.4 * T, -T),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("time", [0.1, 0.35, 1.7])
def test_efforts_and_drives(name, time):
    def build(driven):
        mech = bc.Mechanism(gravity=(0, 0, 0))
        a = mech.add_body("a", mass=1.0, inertia=(0.4, 0.4, 0.5))
        mech.add_joint("j", bc.Revolute(), mech.ground, a)
        mech.add_force("m", bc.JointMotor(FUNCTIONS[name]), "j")
        if driven:
            mech.add_drive("d", "j", velocity=ex.sin(T) * T)
        return mech

    system = bc.prepare(build(False), "symbolic")
    state = system.state()
    system.set_state(type(state)(time, *state.arrays[1:]))
    expected = float(evaluate([FUNCTIONS[name]], {T: time})[0])
    assert system.joint_accelerations()[0] == pytest.approx(2.0 * expected, rel=1e-13)


def test_a_constant_effort_leaves_no_call():
    mech = bc.Mechanism(gravity=(0, 0, 0))
    a = mech.add_body("a", mass=1.0, inertia=(0.4, 0.4, 0.5))
    mech.add_joint("j", bc.Revolute(), mech.ground, a)
    mech.add_force("m", bc.JointMotor(5.0), "j")
    system = bc.prepare(mech, "symbolic")
    np.testing.assert_array_equal(system.joint_accelerations(), [10.0])
    assert sum(system.operations("accelerations").values()) == 0
    assert not system.program("accelerations").program.tables
