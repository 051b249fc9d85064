"""A prepared system: accelerations, reactions, rows, projection, names, refusals; one thread at a time."""

import math
import threading
from functools import cached_property

import numpy as np
import pytest
from rigs import floating
from rigs.chains import chain
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.state import State
from bellcrank.formulations.preparing import MOVING
from bellcrank.formulations.system import System

Y = (0.0, 1.0, 0.0)
G = 9.81


def physical_pendulum(angle, rate, com=(0.0, 0.0, 0.0)):
    """A body hinged about y at the origin, its com 0.5 m away, `angle` above the x axis; frame at -com."""
    mech = bc.Mechanism("pendulum")
    turn = Rotation.from_rotvec((0, -angle, 0))
    at = turn.apply((0.5, 0, 0)) - turn.apply(com)
    spin = np.array((0, -rate, 0))
    body = mech.add_body(
        "bob",
        mass=2.0,
        inertia=(0.03, 0.2, 0.19),
        com=com,
        position=at,
        rotation=np.roll(turn.as_quat(), 1),
        velocity=np.cross(spin, at),
        angular_velocity=spin,
    )
    pin = np.array((-0.5, 0, 0)) + com
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), body.marker(pin, axis=Y))
    return mech


@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.3)])
@pytest.mark.parametrize(("angle", "rate"), [(0.0, 0.0), (0.7, 2.0), (-1.4, -3.0)])
def test_a_physical_pendulum(angle, rate, com):
    """Closed form: alpha = -m g l cos(a) / (I + m l^2), and the pin carries m (a_com - g)."""
    m, arm, inertia = 2.0, 0.5, 0.2
    alpha = -m * G * arm * math.cos(angle) / (inertia + m * arm**2)
    radial, across = (
        np.array((math.cos(angle), 0, math.sin(angle))),
        np.array((-math.sin(angle), 0, math.cos(angle))),
    )
    com_acceleration = arm * (alpha * across - rate**2 * radial)

    acc = bc.prepare(physical_pendulum(angle, rate, com)).accelerate()
    body = acc.body("bob")
    assert body.angular == pytest.approx((0, -alpha, 0), abs=1e-10)
    assert body.com.linear == pytest.approx(com_acceleration, abs=1e-10)
    if com == (0.0, 0.0, 0.0):
        assert body.linear == pytest.approx(com_acceleration, abs=1e-10)
    reaction = acc.joint("pivot")
    assert reaction.force == pytest.approx(m * (com_acceleration - np.array((0, 0, -G))), abs=1e-9)
    assert reaction.moment == pytest.approx((0, 0, 0), abs=1e-9)
    assert reaction.reaction_unique


def test_the_frame_of_a_body_does_not_change_its_motion():
    """The same body in another frame: accelerations differ by the field of a rigid body only."""
    plain = bc.prepare(physical_pendulum(0.4, 1.5)).accelerate()
    moved = bc.prepare(physical_pendulum(0.4, 1.5, com=(0.2, -0.1, 0.3))).accelerate()
    assert moved.body("bob").com.linear == pytest.approx(plain.body("bob").com.linear, abs=1e-10)
    arm = np.array(moved.state.position[0] - plain.state.position[0])
    spin, alpha = plain.state.angular_velocity[0], plain.body("bob").angular
    expected = plain.body("bob").linear + np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm))
    assert moved.body("bob").linear == pytest.approx(expected, abs=1e-9)


def test_a_free_body_obeys_euler():
    mech = bc.Mechanism("free")
    inertia, spin = np.array((1.0, 2.0, 2.5)), np.array((0.3, -2.0, 1.1))
    mech.add_body("stone", mass=3.0, inertia=inertia, angular_velocity=spin)
    body = bc.prepare(mech).accelerate().body("stone")
    assert body.linear == pytest.approx((0, 0, -G), abs=1e-12)
    assert body.angular == pytest.approx(-np.cross(spin, inertia * spin) / inertia, abs=1e-12)


def test_a_drive_reports_the_effort_it_takes():
    """A pendulum turned at constant speed: the motor carries the weight's moment, m g l cos(a)."""
    mech = physical_pendulum(0.6, 0.0)
    mech.add_drive("motor", joint="pivot", velocity=bc.Constant(0.0))
    acc = bc.prepare(mech).accelerate()
    # The joint's angle counts about +y, the angle above the x axis about -y.
    assert acc.drive("motor").effort == pytest.approx(-2.0 * G * 0.5 * math.cos(0.6), abs=1e-9)
    assert acc.drive("motor").units == ("N m",)


def door(hinges):
    mech = bc.Mechanism("door")
    leaf = mech.add_body("leaf", mass=20.0, inertia=(3.0, 2.0, 1.0), position=(0.4, 0, 1.0))
    for k in range(hinges):
        at = (0.0, 0.0, 0.4 + 1.2 * k)
        mech.add_joint(
            f"hinge {k}", bc.Revolute(), mech.ground.marker(at), leaf.marker(np.array(at) - (0.4, 0, 1.0))
        )
    return mech


def test_redundant_rows_are_named_and_do_no_harm():
    """A door on two hinges has five redundant rows: how they share the weight is open, the sum is not."""
    system = bc.prepare(door(2))
    acc = system.accelerate()
    assert len(system.stats.dropped) == 5
    assert all(str(row).startswith("joint 'hinge ") for row in system.stats.dropped)
    low, high = acc.joint("hinge 0"), acc.joint("hinge 1")
    assert low.force + high.force == pytest.approx((0, 0, 20.0 * G), abs=1e-8)
    assert not low.force_unique
    assert not high.reaction_unique
    assert acc.body("leaf").linear == pytest.approx((0, 0, 0), abs=1e-9)


def test_with_one_hinge_all_is_unique():
    system = bc.prepare(door(1))
    acc = system.accelerate()
    assert system.stats.dropped == ()
    assert acc.joint("hinge 0").reaction_unique
    # about the hinge at 0.4 m height: the com is 0.4 m out
    assert acc.joint("hinge 0").moment == pytest.approx((0, -20.0 * G * 0.4, 0), abs=1e-8)


def test_project_brings_a_state_onto_the_constraints():
    system = bc.prepare(physical_pendulum(0.3, 1.0))
    good = system.state()
    off = State(0.0, good.position + 0.01, good.rotation, good.velocity + 0.1, good.angular_velocity)
    mended = system.project(off)
    rows = system.rows(mended)
    velocity = np.concatenate([mended.velocity, mended.angular_velocity], axis=1)
    assert np.max(np.abs(rows.error)) < 1e-10
    assert np.max(np.abs(np.einsum("rbk,bk->r", rows.jacobian, velocity) + rows.drift)) < 1e-10


def test_project_says_what_cannot_be_met():
    mech = physical_pendulum(0.3, 0.0)
    mech.add_joint("rope", bc.Distance(5.0), mech.ground.marker(), mech.bodies["bob"].marker())
    with pytest.raises(bc.AssemblyError, match=r"joint '(rope|pivot)'"):
        bc.prepare(mech).project()


@pytest.mark.parametrize("formulation", MOVING)
def test_project_refuses_velocities_that_contradict_each_other(formulation):
    mech = bc.Mechanism("three slides, led by drives that disagree in speed alone")
    bodies = [mech.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0)) for name in "ab"]
    ends = (mech.ground, bodies[0]), (mech.ground, bodies[1]), (bodies[0], bodies[1])
    for number, (first, second) in enumerate(ends):
        mech.add_joint(f"slide {number}", bc.Prismatic(), first, second)
        mech.add_drive(f"drive {number}", f"slide {number}", velocity=1.0 + number)
    system = bc.prepare(mech, formulation)
    with pytest.raises(bc.AssemblyError, match="no velocities meet all constraints"):
        system.project()


def test_the_jacobian_is_the_derivative_of_the_rows():
    """Against frame velocities in world axes, with the com off the origin and turned principal axes."""
    mech = bc.Mechanism("two")
    inertia = ((1.0, 0.1, 0.05), (0.1, 1.2, -0.2), (0.05, -0.2, 1.1))
    a = mech.add_body("a", mass=1.0, inertia=inertia, com=(0.1, 0.2, 0.3), position=(1, 2, 3))
    b = mech.add_body("b", mass=2.0, inertia=inertia, rotation=(0.5, 0.5, 0.5, 0.5))
    mech.add_joint("joint", bc.Universal(), a.marker((0.3, 0, 0.1)), b.marker((0, 0.2, 0), axis=Y))
    mech.add_joint("rod", bc.Distance(), mech.ground.marker((1, 0, 0)), a.marker((0, 0.4, 0)))
    system = bc.prepare(mech)
    state, h = system.state(), 1e-5
    rng = np.random.default_rng(0)
    velocity, spin = rng.standard_normal((2, 3)), rng.standard_normal((2, 3))
    rates = np.einsum("rbk,bk->r", system.rows().jacobian, np.concatenate([velocity, spin], axis=1))
    ahead = system.rows(system.retract(state, velocity, spin, h)).error
    behind = system.rows(system.retract(state, velocity, spin, -h)).error
    assert rates == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    assert len(set(system.rows().names)) == 5


def test_retract_turns_by_the_exponential_map():
    """A quarter turn about z in one step, however long the step is: quaternions are never added."""
    mech = bc.Mechanism("free")
    mech.add_body("stone", mass=1.0, inertia=(1, 2, 2.5))
    system = bc.prepare(mech)
    turned = system.retract(system.state(), np.zeros((1, 3)), np.array([[0, 0, math.pi / 2]]), 1.0)
    assert turned.rotation[0] == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)), abs=1e-14)
    assert turned.time == 1.0


@pytest.mark.parametrize("bodies", range(1, 10))
@pytest.mark.parametrize("turn", [1e-9, 1e-3, 0.049, 0.051, 0.8, 1.99, 2.01, 3.1, 40.0])
def test_retract_moves_any_number_of_bodies_by_any_turn(bodies, turn):
    """Beside scipy's rotations: series of few and of many terms, bodies that do not fill a vector."""
    rng = np.random.default_rng(bodies)
    mech = bc.Mechanism("free")
    given = Rotation.random(bodies, random_state=bodies)
    for b, rotation in enumerate(given):
        where, inertia = rng.standard_normal(3), (1, 2, 2.5)
        mech.add_body(
            f"stone {b}", mass=1.0, inertia=inertia, position=where, rotation=np.roll(rotation.as_quat(), 1)
        )
    system = bc.prepare(mech)
    state = system.state()
    shift, spin = rng.standard_normal((2, bodies, 3))
    spin *= turn / np.linalg.norm(spin, axis=1).max()
    moved = system.retract(state, shift, spin, 1.0)
    expected = Rotation.from_rotvec(spin) * given
    got = Rotation.from_quat(np.roll(moved.rotation, -1, axis=1))
    assert (expected.inv() * got).magnitude().max() < 1e-14 * max(1.0, turn)
    assert np.abs(np.linalg.norm(moved.rotation, axis=1) - 1.0).max() < 4e-16
    assert moved.position == pytest.approx(state.position + shift, abs=1e-15)


def test_angles_count_on_if_asked():
    system = bc.prepare(physical_pendulum(0.0, 0.0))
    joint = system.model.joint("pivot").coordinates[0]
    for k in range(1, 9):
        turn = Rotation.from_rotvec((0, k, 0))
        state = State(
            0.0, [turn.apply((0.5, 0, 0))], [np.roll(turn.as_quat(), 1)], np.zeros((1, 3)), np.zeros((1, 3))
        )
        system.set_state(state, continued=True)
    assert system.core.coordinates()[0][joint] == pytest.approx(8.0, abs=1e-12)
    system.set_state(state)
    assert system.core.coordinates()[0][joint] == pytest.approx(8.0 - 2 * math.pi, abs=1e-12)


def test_auto_says_why():
    system = bc.prepare(physical_pendulum(0.0, 0.0), "auto")
    assert system.formulation == "recursive"
    assert system.reason == "recursive: a tree of 1 joint with one degree of freedom each"
    system = bc.prepare(physical_pendulum(0.0, 0.0), "auto", refinements=1)
    assert system.formulation == "lagrange"
    assert system.reason == "lagrange: it has the option refinements"


def test_unknown_formulations_and_options_are_refused_together():
    mech = physical_pendulum(0.0, 0.0)
    with pytest.raises(bc.Unsupported, match="did you mean 'lagrange'"):
        bc.prepare(mech, "lagrangian")
    with pytest.raises(bc.MechanismError) as caught:
        bc.prepare(mech, "lagrange", rank_tolerence=1e-9, max_corrections=2.5, position_tolerance=-1.0)
    text = str(caught.value)
    assert len(caught.value.faults) == 3
    assert "rank_tolerance" in text
    assert "max_corrections must be a whole number" in text
    assert "position_tolerance must be greater than zero" in text


def test_options_reach_the_core():
    loose = bc.prepare(physical_pendulum(0.3, 0.0), "lagrange", position_tolerance=1e-3)
    good = loose.state()
    off = State(0.0, good.position + 5e-4, good.rotation, good.velocity, good.angular_velocity)
    assert np.max(np.abs(loose.rows(loose.project(off)).error)) > 1e-5


def test_a_state_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="rotation must have shape"):
        State(0.0, np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))


KINDS = (bc.Revolute, bc.Spherical, bc.Universal, bc.Cylindrical, bc.Prismatic)
FORMULATIONS = ("lagrange", "recursive", "symbolic")


def random_mechanism(seed, loops):
    """Four moving bodies with their centres of mass off the frames' origins; a drive, a coupling, loops."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"random {seed}", gravity=tuple(rng.uniform(-5.0, 5.0, 3)))
    bodies = [mech.ground]
    for k in range(4):
        parent = bodies[k if k == 3 else int(rng.integers(len(bodies)))]
        kind = bc.Revolute() if k < 2 else KINDS[int(rng.integers(len(KINDS)))]()
        marker = floating.skew_marker(parent, rng)
        body, other = floating.add_body_at(mech, f"body {k}", rng, parent, marker, np.zeros(3), np.zeros(3))
        mech.add_joint(f"joint {k}", kind, marker, other)
        bodies.append(body)
    mech.add_drive("motor", joint="joint 0", velocity=bc.Harmonic(0.7, 3.0))
    mech.add_constraint("coupled", bc.Coupling((1.0, 0.4)), *(mech.joints[f"joint {k}"] for k in range(2)))
    for k in range(loops):
        at = rng.uniform(-0.5, 0.5, 3)
        ends = (bodies[body].world_marker(at) for body in (0, 4))
        mech.add_joint(f"loop {k}", bc.PointOnPlane(), *ends)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("loops", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_rows_hold_for_velocities_and_accelerations(seed, loops, formulation):
    mech = random_mechanism(seed, loops)
    bc.assemble(mech)
    system = bc.prepare(mech, formulation)
    state = system.project()
    acc, rows = system.accelerate(), system.rows()
    velocity = np.concatenate([state.velocity, state.angular_velocity], axis=1)
    acceleration = np.concatenate([acc.linear, acc.angular], axis=1)
    assert np.max(np.abs(np.einsum("rbk,bk->r", rows.jacobian, velocity) + rows.drift)) < 1e-10
    scale = np.max(np.abs(acceleration))
    assert scale > 1.0
    assert np.max(np.abs(np.einsum("rbk,bk->r", rows.jacobian, acceleration) - rows.bias)) < 1e-10 * scale


def test_rows_given_by_formulas_hold_for_accelerations():
    mech = bc.Mechanism("formula")
    rng = np.random.default_rng(5)
    one, two = floating.add_body(mech, "one", rng), floating.add_body(mech, "two", rng)
    a, b = bc.EndPose("a"), bc.EndPose("b")
    equation = (a.position - b.position)[0] - 0.3 * a.position[1] * b.position[2]
    ends = (body.marker(tuple(rng.uniform(-0.3, 0.3, 3))) for body in (one, two))
    mech.add_constraint("law", bc.CustomConstraint((a, b), (equation,)), *ends)
    bc.assemble(mech)
    system = bc.prepare(mech)
    system.project()
    acc, rows = system.accelerate(), system.rows()
    acceleration = np.concatenate([acc.linear, acc.angular], axis=1)
    left = np.einsum("rbk,bk->r", rows.jacobian, acceleration) - rows.bias
    assert np.max(np.abs(left)) < 1e-10 * np.max(np.abs(acceleration))


def in_another_thread(work):
    """What a call came to in a thread of its own."""
    came = []

    def call():
        try:
            came.append(work())
        except bc.Unsupported as error:
            came.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    return came[0]


def public(system):
    """Every public method and property that classes of systems define."""
    for kind in type(system).__mro__:
        if issubclass(kind, System):
            for name, member in vars(kind).items():
                if not name.startswith("_") and (
                    callable(member) or isinstance(member, (property, cached_property))
                ):
                    yield name


@pytest.mark.parametrize("formulation", MOVING)
def test_whatever_a_system_answers_is_for_one_thread(formulation):
    system = bc.prepare(chain([1.0, 1.0]), formulation)
    names = set(public(system))
    assert len(names) >= 8
    with system._turn.taken():
        for name in names:
            refused = in_another_thread(lambda name=name: getattr(system, name)())
            assert isinstance(refused, bc.Unsupported), name
            assert "one thread at a time: prepare one for each" in str(refused)
        system.accelerate()  # the thread at work may go on
    assert not isinstance(in_another_thread(system.accelerate), Exception)


@pytest.mark.parametrize("formulation", MOVING)
def test_shared_systems_give_right_numbers_or_none(formulation):
    system = bc.prepare(chain([1.0, 1.0, 1.0]), formulation)
    start = system.state()
    other = bc.simulate(chain([1.0, 1.0, 1.0]), 0.3, step=0.01).at(0.3)
    states = (start, other)
    expected = [system.accelerate(state).linear for state in states]
    wrong, right = [], []

    def hammer(number):
        for _ in range(300):
            try:
                found = system.accelerate(states[number]).linear
            except bc.Unsupported:
                continue
            (right if np.allclose(found, expected[number], rtol=1e-9, atol=1e-9) else wrong).append(number)

    threads = [threading.Thread(target=hammer, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert right


def test_a_run_serves_one_thread():
    run, seen = None, []

    def progress(_fraction):
        if not seen:
            seen.append(in_another_thread(lambda: run.advance(0.1)))

    run = bc.start(chain([1.0, 1.0]), 20.0, step=1e-3, progress=progress)
    run.advance()
    assert isinstance(seen[0], bc.Unsupported)
    assert "one thread at a time" in str(seen[0])
    assert len(run.stop())


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
@pytest.mark.parametrize("method", ["semi_implicit_euler", "dopri5", "adams"])
def test_a_pendulum_far_away_swings_as_near_by(formulation, method):
    """At 20,000 km coordinates have 4e-9 m between two numbers."""

    def swing(away):
        mech = bc.Mechanism("pendulum")
        bob = mech.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(away + 1.0, 0.0, 0.0))
        mech.add_joint(
            "pivot", bc.Revolute(), mech.ground.marker((away, 0, 0), axis=Y), bob.marker((-1, 0, 0), axis=Y)
        )
        run = bc.simulate(mech, 1.0, formulation=formulation, method=method)
        return run.body("bob").position - (away, 0.0, 0.0)

    np.testing.assert_allclose(swing(2e7)[-1], swing(0.0)[-1], atol=1e-6)
