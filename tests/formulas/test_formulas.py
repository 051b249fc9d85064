"""What is given by formulas: against the catalogue, differences and closed forms; states of such joints."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.flat import IDENTITY, Flat, Seen, scene

import bellcrank as bc
from bellcrank.expression import (
    Vector,
    cos,
    cross,
    dot,
    norm,
    rotation_from_vector,
    rotation_x,
    rotation_y,
    rotation_z,
    sin,
    symbols,
    t,
    translation,
)
from bellcrank.formulations.preparing import MOVING
from bellcrank.mechanism.rotation import multiply, rotate

OFFSETS = ((0.1, 0.2, -0.1), (-0.2, 0.1, 0.3))


def rigs(catalogue, poses):
    """The same two bodies with a joint of the catalogue, on its rows, and with the one of formulas."""
    mech = scene(3)
    one, two = (mech.bodies[f"body{k}"] for k in range(2))
    mech.add_joint("joint", catalogue, one.marker(OFFSETS[0]), two.marker(OFFSETS[1]))
    listed = Flat(mech)
    system = listed.system()
    assert system.project()
    written = Flat(scene(3))
    coordinates, pose, start = poses
    if isinstance(catalogue, bc.Screw):  # it may be some turns up, where a formula is not searched from zero
        start = (system.coordinates()[0][listed.arrays["coordinate_kind"].index("theta_z")],)
    written.joint(written.pair((0, 1), OFFSETS), coordinates, pose, start)
    return system, written.system()


def put(system, state):
    """Set a system to a state as another gives it."""
    system.set_state(*state)


def joints():
    """Catalogue kinds and their formulas."""
    a, b, c = symbols("a b c")
    return {
        "Revolute": (bc.Revolute(), ((a,), rotation_z(a), (0.0,))),
        "Prismatic": (bc.Prismatic(), ((a,), translation(0, 0, a), (0.0,))),
        "Cylindrical": (bc.Cylindrical(), ((a, b), rotation_z(a) @ translation(0, 0, b), (0.0, 0.0))),
        "Universal": (bc.Universal(), ((a, b), rotation_x(a) @ rotation_y(b), (0.0, 0.0))),
        "Planar": (bc.Planar(), ((a, b, c), translation(a, b, 0) @ rotation_z(c), (0.0, 0.0, 0.0))),
        "Spherical": (bc.Spherical(), ((a, b, c), rotation_from_vector((a, b, c)), (0.0, 0.0, 0.0))),
        "Screw": (
            bc.Screw(pitch=0.2),
            ((a,), rotation_z(a) @ translation(0, 0, 0.2 / (2 * np.pi) * a), (0.0,)),
        ),
    }


@pytest.mark.parametrize("name", joints())
def test_a_joint_of_formulas_accelerates_like_the_one_of_the_catalogue(name):
    listed, written = rigs(*joints()[name])
    put(written, listed.state())
    for expected, found in zip(listed.accelerate()[:2], written.accelerate()[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert max(written.violation()) < 1e-10


@pytest.mark.parametrize("name", joints())
def test_a_joint_of_formulas_comes_back_onto_its_rows(name):
    listed, written = rigs(*joints()[name])
    put(written, listed.state())
    written.displace(0.05 * np.random.default_rng(1).uniform(-1, 1, (2, 6)))
    assert written.violation()[0] > 1e-4
    assert written.project()
    assert max(written.violation()) < 1e-11


def test_coordinates_of_formulas_are_the_angles_they_are_called():
    listed, written = rigs(*joints()["Universal"])
    put(written, listed.state())
    values, rates = written.coordinates()
    expected, expected_rates = listed.coordinates()
    np.testing.assert_allclose(values[-2:], expected[:2], atol=1e-11)
    np.testing.assert_allclose(rates[-2:], expected_rates[:2], atol=1e-11)


def test_a_bead_on_a_helix_runs_down_as_the_closed_form_says():
    # s̈ = −g sin(slope), with the bead's own turning: I of the frame that turns with the helix
    mech = bc.Mechanism("bead", gravity=(0.0, 0.0, -9.81))
    mech.add_body("bead", mass=0.7, inertia=(1e-3, 2e-3, 3e-3), position=(0.5, 0.0, 0.0))
    flat = Flat(mech)
    (angle,) = symbols("angle")
    radius, rise = 0.5, 0.3
    pose = translation(radius * cos(angle), radius * sin(angle), rise * angle) @ rotation_z(angle)
    flat.joint(flat.pair((1, 0), ((0, 0, 0), (0, 0, 0))), (angle,), pose, (0.0,))
    system = flat.system()
    linear, angular, _ = system.accelerate()
    inertia = 0.7 * (radius**2 + rise**2) + 3e-3
    expected = -0.7 * 9.81 * rise / inertia
    np.testing.assert_allclose(linear[0], (0.0, radius * expected, rise * expected), atol=1e-12)
    np.testing.assert_allclose(angular[0], (0.0, 0.0, expected), atol=1e-12)


def test_a_constraint_of_formulas_is_the_rod_of_the_catalogue():
    mech = scene(5)
    one, two = (mech.bodies[f"body{k}"] for k in range(2))
    mech.add_joint("rod", bc.Distance(length=0.9), one.marker(OFFSETS[0]), two.marker(OFFSETS[1]))
    listed = Flat(mech).system()
    assert listed.project()
    flat = Flat(scene(5))
    a, b = Seen("a", 0, OFFSETS[0]), Seen("b", 1, OFFSETS[1])
    gap = Vector(b.position) - a.position
    flat.constrain((a, b), [dot(gap, gap) - 0.81])
    written = flat.system()
    put(written, listed.state())
    for expected, found in zip(listed.accelerate()[:2], written.accelerate()[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)
    written.displace(0.05 * np.ones((2, 6)))
    assert written.project()
    assert max(written.violation()) < 1e-11


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_formulas_against_differences(seed):
    # C of three markers on two bodies and the ground, with the time in it; Ċ and C̈ along a motion
    flat = Flat(scene(seed))
    a, b, c = Seen("a", 0, OFFSETS[0]), Seen("b", 1, OFFSETS[1]), Seen("c", 2, (0.4, 0.1, -0.3))
    rows = [
        dot(a.axis(2), b.axis(0)) + 0.2 * sin(3 * t),
        norm(Vector(a.position) - c.position) * cos(dot(b.axis(1), c.axis(1))),
        dot(cross(a.position, b.position), c.axis(0)) - t * t,
    ]
    flat.constrain((a, b, c), rows)
    system = flat.system()
    initial = flat.initial
    h = 1e-3

    def row_values(time, displacement):
        system.set_state(time, initial.position, initial.rotation, initial.velocity, initial.angular_velocity)
        system.displace(displacement)
        return system.rows()

    rng = np.random.default_rng(seed)
    _, drift, _, J = row_values(0.4, np.zeros((2, 6)))
    direction = rng.uniform(-1, 1, (2, 6))

    def difference(f):
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    along = difference(lambda s: row_values(0.4, s * direction)[0])
    np.testing.assert_allclose(J @ direction.ravel(), along, atol=1e-9)
    np.testing.assert_allclose(
        drift, difference(lambda s: row_values(0.4 + s, np.zeros((2, 6)))[0]), atol=1e-9
    )


def test_what_velocity_adds_to_rows_of_formulas():
    # along a free motion of the bodies, C̈ = J u̇ − Qc; J u̇ from the accelerations without rows
    mech = scene(9, gravity=(0.0, 0.0, 0.0))
    flat = Flat(mech)
    a, b = Seen("a", 0, OFFSETS[0]), Seen("b", 1, OFFSETS[1])
    gap = Vector(a.position) - b.position
    rows = [dot(a.axis(0), b.axis(1)) + sin(2 * t), dot(gap, a.axis(2)), norm(gap)]
    flat.constrain((a, b), rows)
    system = flat.system()
    free = bc.simulate(mech, duration=0.02, step=1e-4, output_step=0.002)

    def at(index):
        system.set_state(
            free.time[index],
            *(
                np.array([getattr(free.body(name), what)[index] for name in ("body0", "body1")])
                for what in ("position", "rotation", "velocity", "angular_velocity")
            ),
        )
        return system.rows()

    values = np.array([at(index)[0] for index in range(11)])
    h, k = 0.002, 5
    second = (-(values[k + 2] + values[k - 2]) + 16 * (values[k + 1] + values[k - 1]) - 30 * values[k]) / (
        12 * h * h
    )
    _, _, bias, J = at(k)
    udot = []
    for number in range(2):
        principal = np.array([*system_inertia(mech, number)])
        spin = free.body(f"body{number}").angular_velocity[k]
        rotation = free.body(f"body{number}").rotation[k]
        udot += [np.zeros(3), euler(principal, spin, rotation)]
    np.testing.assert_allclose(J @ np.concatenate(udot) - bias, second, atol=2e-5)


def system_inertia(mech, number):
    """Principal moments of a body that is given in principal axes."""
    return np.diag(np.array(mech.bodies[f"body{number}"].inertia))


def euler(moments, spin, rotation):
    """Angular acceleration of a free body, principal axes."""
    w, x, y, z = rotation
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    local = R.T @ spin
    return -np.cross(local, moments * local) / moments


def test_a_force_of_formulas_is_the_spring_of_the_catalogue():
    mech = scene(6)
    one, two = (mech.bodies[f"body{k}"] for k in range(2))
    spring = bc.SpringDamper(stiffness=30.0, damping=2.0, rest_length=0.4)
    mech.add_force("spring", spring, one.marker(OFFSETS[0]), two.marker(OFFSETS[1]))
    listed = Flat(mech).system()
    flat = Flat(scene(6))
    a, b = Seen("a", 0, OFFSETS[0]), Seen("b", 1, OFFSETS[1])
    gap = Vector(b.position) - a.position
    length = norm(gap)
    unit = gap / length
    tension = 30.0 * (length - 0.4) + 2.0 * dot(unit, Vector(b.velocity) - a.velocity)
    pull = [tension * k for k in unit]
    nothing = [0.0 * length] * 3
    energy = 15.0 * (length - 0.4) ** 2
    flat.formulas.add_force(
        [a.marker, b.marker], [], [pull, [-k for k in pull]], [nothing, nothing], [], energy
    )
    written = flat.system()
    for expected, found in zip(listed.accelerate()[:2], written.accelerate()[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(written.energy(), listed.energy(), rtol=1e-13)


def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_gravity():
    slope, radius, mass = 0.3, 0.1, 0.5
    mech = bc.Mechanism("slope", gravity=(9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope)))
    inertia = 0.4 * mass * radius**2
    mech.add_body("ball", mass=mass, inertia=(inertia,) * 3, position=(0.0, 0.0, radius))
    flat = Flat(mech)
    ball = Seen("ball", 0)
    flat.constrain((ball,), [ball.position[2] - radius])
    slip = Vector(ball.velocity) + cross(ball.angular_velocity, (0.0, 0.0, -radius))
    flat.constrain((ball,), [slip.x, slip.y], of_velocity=True)
    system = flat.system()
    linear, angular, _ = system.accelerate()
    expected = 5.0 / 7.0 * 9.81 * np.sin(slope)
    np.testing.assert_allclose(linear[0], (expected, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(angular[0], (0.0, expected / radius, 0.0), atol=1e-11)


def test_rolling_velocities_are_projected():
    mech = bc.Mechanism("plane")
    mech.add_body("ball", mass=1.0, inertia=(0.01,) * 3, position=(0, 0, 0.2), velocity=(1.0, 0.5, 0.0))
    flat = Flat(mech)
    ball = Seen("ball", 0)
    slip = Vector(ball.velocity) + cross(ball.angular_velocity, (0.0, 0.0, -0.2))
    flat.constrain((ball,), [slip.x, slip.y], of_velocity=True)
    system = flat.system()
    assert system.violation()[1] > 0.4
    assert system.project()
    assert max(system.violation()) < 1e-13
    _, position, _, velocity, spin = system.state()
    np.testing.assert_allclose(velocity[0] + np.cross(spin[0], (0, 0, -0.2)), 0.0, atol=1e-13)
    np.testing.assert_allclose(position[0], (0, 0, 0.2), atol=1e-15)


def test_what_is_wrong_with_formulas_is_told():
    flat = Flat(scene(1))
    (a,) = symbols("a")
    pair = flat.pair((0, 1), OFFSETS, (IDENTITY, IDENTITY))
    pose = rotation_z(a)
    entries = [entry for row in pose.rotation for entry in row]
    flat.formulas.add_joint([a], list(pose.position), entries, [0.0])
    flat.coordinate("formula_coordinate", pair, (1, 0))
    with pytest.raises(ValueError, match="no such joint formula"):
        flat.system()


def bead(turns):
    """A bead that turns on an oval coil; it starts so many turns up."""
    mech = bc.Mechanism("bead on a coil")
    body = mech.add_body("bead", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.05, 0.02, 0.1))
    u = bc.symbol("u")
    coil = bc.CustomJoint((u,), translation(0.2 * cos(u), 0.3 * sin(u), 0.1 * u) @ rotation_z(u), units="rad")
    mech.add_joint("coil", coil, mech.ground, body, position=0.1 + 2 * np.pi * turns, velocity=1.0)
    bc.assemble(mech)
    return mech


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("turns", [-2.3, -0.9, 0.0, 0.6, 0.8, 1.4, 3.7])
def test_a_state_is_taken_as_it_is(formulation, turns):
    """Also by a system that comes from elsewhere, where a search would end in another turn."""
    there = bc.prepare(bead(turns), "lagrange").state()
    system = bc.prepare(bead(0.0), formulation)
    for _ in range(2):
        system.set_state(there)
        back = system.state()
        np.testing.assert_allclose(back.position, there.position, rtol=0, atol=1e-14)
        np.testing.assert_allclose(back.velocity, there.velocity, rtol=0, atol=1e-14)
        np.testing.assert_allclose(back.angles, [0.1 + 2 * np.pi * turns], rtol=0, atol=1e-13)


def odd_in_quaternions(turned, seed):
    """Two bodies, freely placed or on a hinge, with a potential that is odd in quaternions."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("odd", gravity=(0, 0, 0))
    one = mech.add_body("one", mass=2.0, inertia=(0.3, 0.4, 0.5), rotation=turned)
    q = rng.normal(size=4)
    two = mech.add_body("two", 1.5, (0.1, 0.2, 0.2), position=(1, 0, 0), rotation=q / np.linalg.norm(q))
    if seed % 2:
        axis, where = tuple(rng.normal(size=3)), (0.5, 0, 0)
        mech.add_joint(
            "hinge", bc.Revolute(), one.world_marker(where, axis=axis), two.world_marker(where, axis=axis)
        )
    a, b = bc.EndPose("a"), bc.EndPose("b")
    potential = 3 * a.quaternion[3] + 2 * b.quaternion[1] + (b.quaternion[2] - a.position.x) ** 2
    ends = one.marker(rotation=(0.6, 0, 0.8, 0)), two.marker((0.1, 0, 0), rotation=(0, 0, 0, 1))
    mech.add_force("force", bc.CustomForce((a, b), potential=potential), *ends)
    return mech


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("turned", [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0.6, -0.8)])
def test_the_sign_of_quaternions_in_formulas_is_that_of_the_description(turned, seed):
    """In all formulations, at states whose quaternions have either sign, and beyond half a turn."""
    mech = odd_in_quaternions(turned, seed)
    systems = [bc.prepare(mech, name) for name in ("lagrange", "recursive", "symbolic", "dca")]
    start = systems[0].state()
    for angle in (0.0, 1.0, 2.5, 4.0, 6.0):
        turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        places = [rotate(tuple(turn), tuple(place)) for place in start.position]
        turns = [multiply(tuple(turn), tuple(q)) for q in start.rotation]
        moved = replace(start, position=np.array(places), rotation=np.array(turns))
        right = systems[0].accelerate(moved)
        assert np.abs(right.angular).max() > 0.1
        for system in systems:
            for sign in (1.0, -1.0):
                found = system.accelerate(replace(moved, rotation=sign * moved.rotation))
                np.testing.assert_allclose(found.angular, right.angular, atol=1e-10)
                np.testing.assert_allclose(found.linear, right.linear, atol=1e-10)
