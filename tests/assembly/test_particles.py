"""Particles: bodies without inertia, against closed forms and in every formulation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.analysis.mobility import mobility

FORMULATIONS = ("lagrange", "recursive", "symbolic")
G = 9.81
NONE = (0.0, 0.0, 0.0)


def simulated(mech, duration, formulation, **settings):
    given = {"method": "dopri5", "tolerance": 1e-11, "output_step": 0.05, "reactions": True} | settings
    return bc.simulate(mech, duration, formulation=formulation, **given)


def pendulum(length=0.7, angle=1.1):
    mech = bc.Mechanism("pendulum")
    at = (length * np.sin(angle), 0, -length * np.cos(angle))
    bob = mech.add_body("bob", mass=2.0, inertia=NONE, position=at)
    mech.add_joint("rod", bc.Distance(), mech.ground, bob)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_pendulum_is_one_of_a_point(formulation):
    """Energy and the rod's pull by hand: S = m (v²/L + g cos θ)."""
    run = simulated(pendulum(), 2.0, formulation)
    bob = run.body("bob")
    z, speed = bob.position[:, 2], np.linalg.norm(bob.velocity, axis=1)
    np.testing.assert_allclose(speed**2 / 2, G * (z[0] - z), atol=1e-8)
    np.testing.assert_allclose(bob.angular_velocity, 0.0, atol=1e-12)
    pull = np.linalg.norm(run.joint("rod").reaction[:, 3:], axis=1)
    np.testing.assert_allclose(pull, 2.0 * np.abs(speed**2 / 0.7 - G * z / 0.7), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_double_pendulum_of_points(formulation):
    """Accelerations by Lagrange's equations for two points on massless rods, at rest and moving."""
    mech = bc.Mechanism("double")
    angles, rates, lengths, masses = (0.4, -0.9), (1.3, 0.7), (0.8, 0.5), (1.5, 0.4)
    at, velocity, before = np.zeros(3), np.zeros(3), mech.ground
    for number, (a, w, length, mass) in enumerate(zip(angles, rates, lengths, masses, strict=True)):
        at = at + length * np.array([np.sin(a), 0, -np.cos(a)])
        velocity = velocity + length * w * np.array([np.cos(a), 0, np.sin(a)])
        body = mech.add_body(f"p{number}", mass, NONE, position=tuple(at), velocity=tuple(velocity))
        mech.add_joint(f"rod{number}", bc.Distance(), before, body)
        mech.add_joint(f"plane{number}", bc.PointOnPlane(), mech.ground.marker(axis=(0, 1, 0)), body)
        before = body
    (a, b), (va, vb), (l1, l2), (m1, m2) = angles, rates, lengths, masses
    mass = [[(m1 + m2) * l1**2, m2 * l1 * l2 * np.cos(a - b)], [m2 * l1 * l2 * np.cos(a - b), m2 * l2**2]]
    force = [
        -m2 * l1 * l2 * vb**2 * np.sin(a - b) - (m1 + m2) * G * l1 * np.sin(a),
        m2 * l1 * l2 * va**2 * np.sin(a - b) - m2 * G * l2 * np.sin(b),
    ]
    wa, wb = np.linalg.solve(mass, force)
    first = l1 * (wa * np.array([np.cos(a), 0, np.sin(a)]) + va**2 * np.array([-np.sin(a), 0, np.cos(a)]))
    second = first + l2 * (
        wb * np.array([np.cos(b), 0, np.sin(b)]) + vb**2 * np.array([-np.sin(b), 0, np.cos(b)])
    )
    found = bc.prepare(mech, formulation).accelerate()
    np.testing.assert_allclose(found.linear, [first, second], atol=1e-9)
    assert bc.info(mech).freedom == 2


def ball_on_a_spinning_rod(inertia, swapped):
    """A rod that turns about z, with a point held at its tip by a ball joint and a spring to the ground."""
    mech = bc.Mechanism("tip", gravity=(0, 0, -G))
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.01), com=(0.5, 0, 0), angular_velocity=(0, 0, 3.0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, rod)
    tip = mech.add_body("tip", 0.5, inertia, position=(1, 0, 0), velocity=(0, 3.0, 0))
    ends = (tip, rod.marker((1, 0, 0)))
    mech.add_joint("ball", bc.Spherical(), *(ends if swapped else reversed(ends)))
    mech.add_force(
        "spring", bc.SpringDamper(stiffness=40.0, rest_length=1.0), mech.ground.marker((0, 2, 1)), tip
    )
    mech.add_force("air", bc.BodyDamping((0.3, 0.3, 0.3), 0.2), tip)
    mech.add_force("wind", bc.Wrench(force=(0, 1.0, 0)), tip)
    return mech


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_point_at_the_tip_of_a_rod(formulation, swapped):
    """The same as one body with the point's mass at its tip."""
    run = simulated(ball_on_a_spinning_rod(NONE, swapped), 1.5, formulation)
    one = ball_on_a_spinning_rod(NONE, swapped)
    for name in ("spring", "air", "wind"):
        one.remove(one.forces[name])
    one.remove(one.bodies["tip"], cascade=True)
    centre, mass = 1.0 / 1.5, 1.5
    across = 0.1 + 1.0 * (centre - 0.5) ** 2 + 0.5 * (1 - centre) ** 2
    one.replace(one.bodies["rod"], mass=mass, com=(centre, 0, 0), inertia=(0.1, across, 0.01 + across - 0.1))
    rod = one.bodies["rod"]
    one.add_force(
        "spring",
        bc.SpringDamper(stiffness=40.0, rest_length=1.0),
        one.ground.marker((0, 2, 1)),
        rod.marker((1, 0, 0)),
    )
    one.add_force("air", bc.BodyDamping(0.3), rod.marker((1, 0, 0)))
    one.add_force("wind", bc.Wrench(force=(0, 1.0, 0)), rod.marker((1, 0, 0)))
    whole = simulated(one, 1.5, formulation)
    np.testing.assert_allclose(run.body("rod").velocity, whole.body("rod").velocity, atol=1e-8)
    np.testing.assert_allclose(run.body("rod").rotation, whole.body("rod").rotation, atol=1e-8)
    assert bc.verify(ball_on_a_spinning_rod(NONE, swapped), run).passed
    assert bc.info(ball_on_a_spinning_rod(NONE, swapped)).freedom == 1


def test_a_placed_and_turned_particle_off_its_frame_s_origin():
    mech = bc.Mechanism("turned")
    turn = bc.rotation((1, 2, 3), 0.8)
    stone = mech.add_body("stone", 1.0, NONE, com=(0.3, -0.1, 0.2), rotation=turn, velocity=(1.0, 0, 0))
    run = bc.simulate(mech, 1.0, method="dopri5", output_step=0.1)
    found = run.body("stone")
    np.testing.assert_allclose(found.position[-1], (1.0, 0, -G / 2), atol=1e-9)
    np.testing.assert_allclose(np.abs(found.rotation @ turn), 1.0, atol=1e-12)
    assert mech.bodies["stone"] == stone
    assert bc.info(mech).freedom == 3


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_particle_that_is_led_has_no_freedom_left(formulation):
    mech = bc.Mechanism("led")
    stone = mech.add_body("stone", 2.0, NONE)
    path = bc.Path(("sin(3*t)", "cos(2*t)", "t^2"))
    mech.add_drive("way", marker=stone.marker(), path=path)
    run = bc.inverse_dynamics(mech, 1.0, 0.05, formulation=formulation)
    t = run.time
    wanted = 2 * np.stack([-9 * np.sin(3 * t), -4 * np.cos(2 * t), 2 + G + 0 * t], axis=1)
    np.testing.assert_allclose(run.drive("way").effort, wanted, atol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_masses_that_are_parameters(formulation):
    mech = bc.Mechanism("parametric")
    m, length = mech.add_parameter("m", 1.0), mech.add_parameter("length", 0.5)
    bob = mech.add_body("bob", m, NONE, position=(length, 0, 0))
    mech.add_joint("rod", bc.Distance(), mech.ground, bob)
    for mass, size in ((1.0, 0.5), (3.0, 0.8)):
        system = bc.prepare(mech.with_parameters(m=mass, length=size), formulation)
        np.testing.assert_allclose(system.accelerate().linear, [(0, 0, -G)], atol=1e-10)
        np.testing.assert_allclose(system.state().position, [(size, 0, 0)])


def test_rest_and_assembly():
    mech = bc.Mechanism("rope")
    before = mech.ground
    for number in range(4):
        point = mech.add_body(f"p{number}", 0.1, NONE, position=(0.1 * number + 0.1, 0, -0.05))
        mech.add_joint(f"rod{number}", bc.Distance(0.2), before, point)
        before = point
    assert bc.assemble(mech).changed
    bc.find_equilibrium(mech)
    found = np.array([body.position for body in mech.bodies.values()])
    np.testing.assert_allclose(found, np.outer(np.arange(1, 5), (0, 0, -0.2)), atol=1e-6)
    assert all(body.inertia == (NONE, NONE, NONE) for body in mech.bodies.values())
    assert mobility(bc.prepare(mech).model).count == 8


def test_files_hold_particles(tmp_path):
    mech = pendulum()
    for suffix in ("yaml", "json"):
        bc.save(mech, tmp_path / f"p.{suffix}")
        assert bc.load(tmp_path / f"p.{suffix}") == mech


def stone_and_rod():
    mech = bc.Mechanism("refused")
    stone = mech.add_body("stone", 1.0, NONE, position=(1, 0, 0))
    rod = mech.add_body("rod", 1.0, (1, 1, 1))
    return mech, stone, rod


P = bc.EndPose("p")
REFUSED = {
    "a joint that turns it": lambda m, s, r: m.add_joint("x", bc.Revolute(), r, s),
    "a weld": lambda m, s, r: m.add_joint("x", bc.Fixed(), r, s),
    "a ball beside it": lambda m, s, r: m.add_joint("x", bc.Spherical(), r, s.marker((1, 0, 0))),
    "a plane of its own": lambda m, s, r: m.add_joint("x", bc.PointOnPlane(), s, r),
    "a rod beside it": lambda m, s, r: m.add_joint("x", bc.Distance(1.0), r, s.marker((0, 0, 0.1))),
    "a wire": lambda m, s, r: m.add_joint(
        "x", bc.PathJoint(bc.symbol("u"), (bc.symbol("u"), bc.symbol("u") ** 2, 0)), r, s
    ),
    "a spring beside it": lambda m, s, r: m.add_force(
        "x", bc.SpringDamper(stiffness=1.0), r, s.marker((0, 1, 0))
    ),
    "a moment": lambda m, s, r: m.add_force("x", bc.Wrench(moment=(0, 0, "sin(t)")), s),
    "damping beside it": lambda m, s, r: m.add_force("x", bc.BodyDamping(1.0), s.marker((0, 1, 0))),
    "a force of its turning": lambda m, s, r: m.add_force(
        "x", bc.CustomForce(P, force=(P.angular_velocity[0], 0, 0)), s
    ),
    "a led orientation": lambda m, s, r: m.add_drive(
        "x", marker=s.marker(), path=bc.Path((1, 0, 0)), orientation=(1, 0, 0, 0)
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_turn_a_particle_is_refused(name):
    mech, stone, rod = stone_and_rod()
    REFUSED[name](mech, stone, rod)
    with pytest.raises(bc.MechanismError, match=r"'x': it would turn 'stone', which is a particle") as caught:
        bc.simulate(mech, 0.1)
    assert "or give the body an inertia" in str(caught.value)


def test_a_force_by_formulas_on_the_point_is_taken():
    mech, stone, _ = stone_and_rod()
    mech.add_force("x", bc.CustomForce(P, force=tuple(-5 * c for c in P.position)), stone)
    mech.add_constraint("y", bc.CustomConstraint(P, P.position.y), stone)
    found = bc.prepare(mech).accelerate()
    np.testing.assert_allclose(found.linear[0], (-5, 0, -G), atol=1e-12)


def test_a_particle_that_turns_is_refused():
    mech = bc.Mechanism("m")
    mech.add_body("stone", 1.0, NONE, angular_velocity=(0, 0, 1.0))
    with pytest.raises(bc.MechanismError, match=r"a particle \(inertia zero\) does not turn"):
        bc.simulate(mech, 0.1)


def test_inertias_that_are_zero_in_part_are_refused():
    with pytest.raises(bc.MechanismError, match="a particle has all three zero"):
        bc.Mechanism("m").add_body("rod", 1.0, (1.0, 1.0, 0.0))


def two_bodies_and_a_link(light):
    """Two bodies with a link between that turns on both: a body of little mass, or one joint without any."""
    mech = bc.Mechanism("linked")
    one = mech.add_body("one", 2.0, (0.3, 0.2, 0.4), angular_velocity=(0.3, 1.0, 0.2))
    two = mech.add_body("two", 1.0, (0.1, 0.2, 0.15), velocity=(0.1, 0, 0.7))
    first, second = one.marker((0.2, 0, 0)), two.marker((-0.3, 0, 0.1))
    u, v = bc.symbols("u v")
    arm = ex.translation(0.4, 0.1, 0) @ ex.rotation_x(0.9)
    if light is None:
        pose = ex.rotation_z(u) @ arm @ ex.rotation_z(v)
        mech.add_joint("link", bc.CustomJoint((u, v), pose, units="rad"), first, second)
    else:
        link = mech.add_body("link", light, (light,) * 3)
        far = link.marker((0.4, 0.1, 0), rotation=bc.rotation("x", 0.9))
        mech.add_joint("a", bc.Revolute(), first, link)
        mech.add_joint("b", bc.Revolute(), far, second)
    mech.add_joint("ball", bc.Spherical(), mech.ground, one.marker((-0.5, 0, 0)))
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_massless_link_is_a_joint_whose_pose_is_the_product_of_two(formulation):
    """The limit of links that weigh less and less: the difference falls with the mass."""
    start = two_bodies_and_a_link(1e-3)
    bc.assemble(start)
    state = bc.prepare(start).state()
    exact = bc.prepare(two_bodies_and_a_link(None), formulation).accelerate(of_the_first(2, state)).linear
    apart = []
    for light in (1e-3, 1e-4, 1e-5):
        found = bc.prepare(two_bodies_and_a_link(light), formulation).accelerate(state).linear
        apart.append(np.max(np.abs(found[:2] - exact)))
    assert apart[2] < 1e-4
    assert apart[1] == pytest.approx(10 * apart[2], rel=0.05)
    assert apart[0] == pytest.approx(100 * apart[2], rel=0.05)


def of_the_first(count, state):
    names = ("position", "rotation", "velocity", "angular_velocity")
    return bc.State(state.time, *(getattr(state, name)[:count] for name in names))


def test_a_body_without_mass_is_refused_with_what_to_use():
    with pytest.raises(bc.MechanismError, match="a massless link is part of a joint: Distance"):
        bc.Mechanism("m").add_body("link", 0.0, NONE)


def bead(kind, turned, formulation):
    """A point mass on the parabola z = x², from x = 0.5 at rest, and what its run says after a second."""
    mech = bc.Mechanism("bead")
    s = bc.symbol("s")
    pose = {"rotation": bc.rotation("z", 0.3), "com": (0.1, 0, 0)} if turned else {}
    ball = mech.add_body("ball", mass=2.0, inertia=(0, 0, 0), **{"com": (0, 0, 0), **pose})
    joint = {"path": bc.PathJoint(s, (s, 0, s**2)), "custom": bc.CustomJoint([s], ex.translation(s, 0, s**2))}
    mech.add_joint("wire", joint[kind], mech.ground, ball.marker(ball.com), position=0.5)
    return bc.simulate(mech, 1.0, formulation=formulation, tolerance=1e-11)


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["path", "custom"])
def test_on_a_curve(kind, turned, formulation):
    """Against (1 + 4 x²) ẍ + 4 x ẋ² + 2 g x = 0, integrated by another program."""

    def rates(_, y):
        return [y[1], -(4 * y[0] * y[1] ** 2 + 2 * 9.81 * y[0]) / (1 + 4 * y[0] ** 2)]

    run = bead(kind, turned, formulation)
    x = solve_ivp(rates, (0, 1), [0.5, 0], rtol=1e-12, atol=1e-12).y[0, -1]
    assert run.joint("wire").position[-1, 0] == pytest.approx(x, abs=1e-8)
    assert run.body("ball").com_position[-1] == pytest.approx((x, 0, x**2), abs=1e-8)
    assert run.body("ball").rotation[-1] == pytest.approx(run.body("ball").rotation[0], abs=1e-9)
    assert abs(run.joint("wire").moment).max() < 1e-9


def test_a_curve_that_turns_is_refused():
    mech = bc.Mechanism("hoop")
    s = bc.symbol("s")
    hoop = mech.add_body("hoop", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("axle", bc.Revolute(), mech.ground, hoop)
    ball = mech.add_body("ball", mass=1.0, inertia=(0, 0, 0))
    mech.add_joint("wire", bc.PathJoint(s, (s, 0, s**2)), hoop, ball)
    with pytest.raises(bc.MechanismError, match="joint 'wire': it would turn 'ball', which is a particle"):
        bc.simulate(mech, 0.1)
