"""Kinds given by formulas: their frames, conditions of rolling, and what is refused."""

import numpy as np
import pytest

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.expression.compiled import evaluate
from bellcrank.mechanism.contents import with_numbers

U, V, W = bc.symbols("u v w")
A, B, C = bc.symbols("a b c")


def matrix(transform, values):
    """4 x 4 numbers of a transform."""
    rotation = [e for row in transform.rotation for e in row]
    found = np.eye(4)
    found[:3, :3] = np.reshape(evaluate(rotation, values), (3, 3))
    found[:3, 3] = evaluate(list(transform.position), values)
    return found


def helix(u):
    return np.array([np.cos(u), np.sin(u), 0.3 * u])


def test_frenet_frame_of_a_helix():
    joint = bc.PathJoint(U, (ex.cos(U), ex.sin(U), 0.3 * U), unit="rad")
    for u in (-1.0, 0.0, 2.2):
        pose = matrix(joint.transform, {U: u})
        tangent = np.array([-np.sin(u), np.cos(u), 0.3]) / np.hypot(1, 0.3)
        normal = -np.array([np.cos(u), np.sin(u), 0.0])
        np.testing.assert_allclose(
            pose[:3, :3], np.stack([tangent, normal, np.cross(tangent, normal)], axis=1), atol=1e-14
        )
        np.testing.assert_allclose(pose[:3, 3], helix(u), atol=1e-15)


def test_a_path_with_a_direction_upwards():
    joint = bc.PathJoint(U, (U, ex.sin(U), 0.2 * U), up=(0, 0, 1))
    pose = matrix(joint.transform, {U: 0.7})
    tangent = np.array([1, np.cos(0.7), 0.2])
    tangent /= np.linalg.norm(tangent)
    np.testing.assert_allclose(pose[:3, 0], tangent, atol=1e-15)
    np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0)
    assert pose[2, 1] == pytest.approx(0.0, abs=1e-15)
    assert pose[2, 2] > 0.9


SPHERE = (2 * ex.cos(A) * ex.cos(B), 2 * ex.sin(A) * ex.cos(B), 2 * ex.sin(B))
DISH = (U, V, 0.1 * (U * U + V * V))


def test_frame_on_a_surface():
    pose = matrix(bc.SurfaceJoint((A, B), SPHERE, spin=C).transform, {A: 0.4, B: -0.3, C: 0.9})
    centre = pose[:3, 3]
    np.testing.assert_allclose(pose[:3, 2], centre / 2, atol=1e-15)
    plain = matrix(bc.SurfaceJoint((A, B), SPHERE).transform, {A: 0.4, B: -0.3})
    turn = np.array([[np.cos(0.9), -np.sin(0.9), 0], [np.sin(0.9), np.cos(0.9), 0], [0, 0, 1]])
    np.testing.assert_allclose(pose[:3, :3], plain[:3, :3] @ turn, atol=1e-15)


def test_surfaces_touch():
    values = {U: 0.3, V: -0.2, A: 0.4, B: 0.8, C: 1.1}
    pose = matrix(bc.SurfaceOnSurface((U, V), DISH, (A, B), SPHERE, spin=C).transform, values)
    one = np.array(evaluate(list(DISH), values))
    two = pose @ [*evaluate(list(SPHERE), values), 1.0]
    np.testing.assert_allclose(two[:3], one, atol=1e-14)
    normal_1 = np.array([-0.2 * 0.3, 0.2 * 0.2, 1.0])
    normal_2 = pose[:3, :3] @ evaluate(list(SPHERE), values)
    np.testing.assert_allclose(np.cross(normal_1, normal_2), 0.0, atol=1e-14)
    assert normal_1 @ normal_2 < 0.0


def test_rolling_means_that_the_material_point_at_the_contact_stands_still():
    joint = bc.Rolling((U, V), DISH, (A, B), SPHERE, spin=C)
    values = {U: 0.3, V: -0.2, A: 0.4, B: 0.8, C: 1.1}
    symbols = joint.own_symbols
    rows = np.array([evaluate(list(row), values) for row in joint.rolling])
    _, _, rows_null = np.linalg.svd(rows)
    for rates in (*rows_null[2:], np.array([0.3, -1.0, 0.2, 0.5, 0.7])):
        step = 1e-6
        before, after = (
            matrix(
                joint.transform, {s: values[s] + sign * step * r for s, r in zip(symbols, rates, strict=True)}
            )
            for sign in (-1, 1)
        )
        point = [*evaluate(list(SPHERE), values), 1.0]  # fixed to the second body
        velocity = ((after @ point) - (before @ point))[:3] / (2 * step)
        slides = np.linalg.norm(rows @ rates)
        assert np.linalg.norm(velocity) == pytest.approx(slides, abs=1e-8)


def test_a_joint_of_any_pose():
    mech = bc.Mechanism()
    radius = mech.add_parameter("radius", 2.0)
    kind = bc.CustomJoint(U, ex.translation(radius * ex.cos(U), 0, 0) @ ex.rotation_z(U), units="rad")
    assert (kind.free, kind.units, kind.open_parameters) == (("u",), ("rad",), (radius,))
    body = mech.add_body("b", mass=1, inertia=(1, 1, 1))
    mech.add_joint("j", kind, mech.ground, body)
    numeric = with_numbers(mech.with_parameters(radius=3.0)).joints["j"].kind
    assert numeric.values == ((radius, 3.0),)
    assert numeric.pose == kind.pose
    assert mech.joints["j"].coordinate().coordinate == "u"


def test_placed():
    inner = bc.Mechanism()
    radius = inner.add_parameter("radius", 2.0)
    body = inner.add_body("b", mass=1, inertia=(1, 1, 1))
    inner.add_joint("j", bc.CustomJoint(U, ex.translation(radius * U, 0, 0)), inner.ground, body)
    one = bc.EndPose("p")
    inner.add_constraint("c", bc.CustomConstraint(one, one.position.x - radius), body)
    whole = bc.Mechanism()
    whole.place(inner, "left")
    (placed,) = whole.joints["left/j"].kind.open_parameters
    assert placed == whole.parameters["left_radius"].symbol
    assert whole.constraints["left/c"].kind.open_parameters == (placed,)


P, Q = bc.EndPose("p"), bc.EndPose("q")
J = bc.EndCoordinate("j")
MESSAGES = [
    (lambda: bc.CustomJoint(U, ex.translation(V, 0, 0)), "does not depend on its coordinate 'u'"),
    (lambda: bc.CustomJoint(U, ex.translation(U * W, 0, 0)), "depend on 'w'; its own symbols are u"),
    (lambda: bc.CustomJoint(U, ex.translation(U * ex.t, 0, 0)), "must not depend on the time"),
    (lambda: bc.CustomJoint("u", ex.translation(U, 0, 0)), "coordinates must be symbols"),
    (lambda: bc.CustomJoint((U, U), ex.translation(U, 0, 0)), "must have different names"),
    (lambda: bc.CustomJoint(2 * U, ex.translation(U, 0, 0)), "coordinates must be symbols"),
    (lambda: bc.CustomJoint(U, U), "pose must be a Transform"),
    (lambda: bc.CustomJoint(U, ex.translation(U, 0, 0), units="mm"), "units must be one of 'm', 'rad', '1'"),
    (lambda: bc.PathJoint(U, (1, 2, 3)), "the curve does not depend on its parameter 'u'"),
    (
        lambda: bc.PathJoint(U, (bc.symbol("u", positive=True), 2, 3)),
        "another symbol is called 'u' too: a parameter, or one of other bounds",
    ),
    (lambda: bc.PathJoint(bc.symbol("t"), (bc.t, 0, 0)), "the time cannot be a symbol of its own"),
    (
        lambda: bc.EndCoordinate("t") and bc.CustomForce(bc.EndCoordinate("t"), efforts=bc.t),
        "the time cannot be",
    ),
    (lambda: bc.PathJoint(U, "u"), "curve must hold 3 expressions"),
    (lambda: bc.PathJoint(U, (U, 0, 0), up=(0, 0, 0)), "up must be a direction"),
    (lambda: bc.SurfaceJoint((U, V), (U, U, U)), "the surface does not depend on its parameter 'v'"),
    (lambda: bc.SurfaceJoint((U, V), (U, V, 0), spin=U), "must have different names"),
    (
        lambda: bc.Rolling((U, V), (U, V, 0), (A, B), (A, A, 0)),
        "the surface_2 does not depend on its parameter 'b'",
    ),
    (lambda: bc.CustomConstraint((P, Q), P.position.x), "do not depend on the end 'q'"),
    (
        lambda: bc.CustomConstraint(P, P.velocity.x + P.position.x),
        "must not depend on velocities, such as p.vx",
    ),
    (lambda: bc.CustomConstraint(P, (P.position.x, 3.0)), "equation 2 holds nothing"),
    (lambda: bc.VelocityConstraint(P, P.velocity.x**2), "linear in velocities: its factor of p.vx depends"),
    (lambda: bc.VelocityConstraint(P, abs(P.velocity.x)), "linear in velocities: its factor of p.vx depends"),
    (lambda: bc.VelocityConstraint(J, J.rate * J.rate * J.value), "its factor of j.rate depends on some"),
    (
        lambda: bc.VelocityConstraint((P, Q), P.velocity.x * Q.angular_velocity.x),
        "must be linear in velocities",
    ),
    (lambda: bc.VelocityConstraint(P, (P.velocity.x, P.position.x)), "equation 2 holds no velocity"),
    (lambda: bc.VelocityConstraint((P, Q), P.velocity.x), "do not depend on the end 'q'"),
    (lambda: bc.VelocityConstraint(P, P.velocity.x * W), "depend on 'w'; its own symbols are"),
    (lambda: bc.CustomConstraint("p", P.position.x), "ends must be poses and coordinates"),
    (lambda: bc.CustomConstraint((P, bc.EndPose("p")), P.position.x), "different names"),
    (lambda: bc.CustomForce(P), "exactly one of potential, efforts, and force or moment"),
    (lambda: bc.CustomForce(P, efforts=P.position.x), "efforts act on joints"),
    (lambda: bc.CustomForce(P, potential=P.velocity.x), "must not depend on velocities"),
    (lambda: bc.CustomForce(J, force=(J.value, 0, 0)), "act on the first end, a marker"),
    (lambda: bc.CustomForce(P, force=(P.position.x, 0)), "force must hold 3 expressions"),
    (lambda: bc.EndPose("p 1"), "the name must be letters"),
]


@pytest.mark.parametrize(("make", "said"), MESSAGES)
def test_messages(make, said):
    with pytest.raises(bc.MechanismError) as caught:
        make()
    assert said in str(caught.value), str(caught.value)


def test_ends_must_fit():
    mech = bc.Mechanism()
    body = mech.add_body("b", mass=1, inertia=(1, 1, 1))
    with pytest.raises(bc.MechanismError, match=r"takes a marker \(p\), a marker \(q\); given: marker"):
        mech.add_constraint("c", bc.CustomConstraint((P, Q), P.position.x - Q.position.x), body)


def rail():
    """A body on a rail given by a formula."""
    mech = bc.Mechanism()
    body = mech.add_body("b", mass=1, inertia=(1, 1, 1))
    mech.add_constraint("rail", bc.CustomConstraint(P, P.position.x), body)
    return mech


def test_the_judge_takes_them():
    verdict = bc.verify(rail(), duration=0.1, samples=2, states=1)
    assert verdict.passed, str(verdict)
    assert verdict["formulas: position"].value < 1e-9


@pytest.mark.parametrize("call", [bc.assemble, bc.info, bc.prepare])
def test_lagrange_takes_them(call):
    assert call(rail()) is not None


def test_an_equation_holds_and_pulls():
    run = bc.simulate(rail(), duration=0.5, step=1e-2)
    np.testing.assert_allclose(run.body("b").position[-1], (0.0, 0.0, -0.5 * 9.81 * 0.25), atol=1e-12)


def wire(act):
    """A bead on a parabola in the plane without weight, and what acts on its coordinate."""
    mech = bc.Mechanism(gravity=(0, 0, 0))
    body = mech.add_body("b", mass=2.0, inertia=(1, 1, 1))
    mech.add_joint("j", bc.PathJoint(U, (U, U * U, 0), up=(0, 0, 1), unit="m"), mech.ground, body)
    act(mech)
    return mech


def test_a_drive_leads_a_coordinate_of_formulas():
    run = bc.simulate(wire(lambda m: m.add_drive("d", joint="j", position="t")), duration=1.0, step=1e-2)
    np.testing.assert_allclose(run.joint("j").position[:, 0], run.time, atol=1e-12)
    np.testing.assert_allclose(run.body("b").position[:, 1], run.time**2, atol=1e-12)
    # along u the parabola is passed with 2 m u̇² · 2u from its curvature and I θ̇θ̈ from turning, tan θ = 2u
    u = run.time
    rate, acceleration = 2 / (1 + 4 * u * u), -16 * u / (1 + 4 * u * u) ** 2
    np.testing.assert_allclose(run.drive("d").effort, 2.0 * 2 * u * 2 + rate * acceleration, atol=1e-9)


def test_a_spring_acts_on_a_coordinate_of_formulas():
    mech = wire(lambda m: m.add_force("d", bc.TorsionSpring(5.0, rest_angle=0.3), joint="j"))
    start = bc.prepare(mech, "lagrange")
    acceleration = start.accelerate().body("b").linear
    np.testing.assert_allclose(acceleration, (5.0 * 0.3 / (2.0 + 4.0), 0.0, 0.0), atol=1e-12)


def test_a_limit_stops_a_coordinate_of_formulas():
    mech = wire(lambda m: m.replace(m.joints["j"], limits=bc.Limit(0.0, 0.2), velocity=1.0))
    run = bc.simulate(mech, duration=1.0, step=1e-3)
    assert run.joint("j").position.max() < 0.2 + 1e-6
    assert run.joint("j").velocity[-1, 0] <= 1e-9
