"""Rests with stops, cables, motors, forces that follow a body; exact stiffness; the claim checked by runs."""

import math

import numpy as np
import pytest
from rigs.resting_trees import balanced_arm, wrong
from rigs.seeds import over
from rigs.tensegrity import tensegrity

import bellcrank as bc
from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.io.files import dumps, loads

Y = (0.0, 1.0, 0.0)


def random_rotation(rng):
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


def two_bodies(seed):
    """Somewhere, with a marker each."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("two", gravity=(0.3, -0.2, -9.81))
    for name in ("one", "two"):
        inertia = np.diag(rng.uniform(1.0, 1.5, 3))
        mech.add_body(
            name,
            1.0,
            inertia,
            com=rng.normal(size=3),
            position=rng.normal(size=3),
            rotation=random_rotation(rng),
        )
    markers = [
        body.marker(rng.normal(size=3), rotation=random_rotation(rng)) for body in mech.bodies.values()
    ]
    return mech, markers


ELEMENTS = {
    "spring": lambda m, a, b: m.add_force("s", bc.SpringDamper(10.0, 0.0, 1.0, preload=3.0), a, b),
    "string": lambda m, a, b: m.add_force("s", bc.RubberString(10.0, 0.1), a, b),
    "bushing": lambda m, a, b: m.add_force("s", bc.Bushing((1, 2, 3), (0.4, 0.5, 0.6)), a, b),
    "support": lambda m, a, _: m.add_force("s", bc.SupportPoint(50.0, height=9.0), a),
    "dead load": lambda m, a, _: m.add_force("s", bc.Wrench(force=(1, 2, 3)), a),
}


def second_derivatives(value, n, h=2e-4):
    def at(i, a, j, b):
        d = np.zeros(n)
        d[i] += a
        d[j] += b
        return value(d.reshape(-1, 6))

    H = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            ahead = at(i, h, j, h) + at(i, -h, j, -h)
            H[i, j] = H[j, i] = (ahead - at(i, h, j, -h) - at(i, -h, j, h)) / (4 * h * h)
    return H


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_stiffness_is_the_second_derivative_of_the_energy(name, seed):
    mech, markers = two_bodies(seed)
    ELEMENTS[name](mech, *markers)
    model = compile_mechanism(mech)
    system = _core.Lagrange(model.core)

    def energy(displacement):
        model.put(system, model.initial)
        system.displace(displacement)
        potential = system.energy()[1]
        if name == "dead load":
            _, position, rotation, _, _ = system.state()
            w, v = rotation[0][0], rotation[0][1:]
            arm = np.array(markers[0].position)
            potential -= np.array([1, 2, 3]) @ (
                position[0] + arm + 2 * w * np.cross(v, arm) + 2 * np.cross(v, np.cross(v, arm))
            )
        return potential

    start = model.initial
    found = _core.tangent_stiffness(
        model.core, 0.0, start.position, start.rotation, model.coordinate_values(start)
    )
    expected = second_derivatives(energy, 12)
    assert np.abs(found).max() > 0.1
    assert found == pytest.approx(expected, abs=3e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "kind", [bc.Revolute(), bc.Universal(), bc.Distance(), bc.Cylindrical(), bc.Spherical()]
)
def test_the_stiffness_has_the_curvature_of_the_constraints(kind):
    """At rest, where all solvers have the same multipliers: of energy less multipliers times rows."""
    rng = np.random.default_rng(3)
    mech = bc.Mechanism("hung", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 2.0, (0.3, 0.4, 0.5), com=(0.1, 0.2, 0.3), rotation=random_rotation(rng))
    mech.add_joint(
        "joint", kind, mech.ground.marker(axis=(0.6, 0, 0.8)), body.marker((0.2, 0, 0), axis=(0.6, 0, 0.8))
    )
    for i in range(4):
        place = rng.normal(size=3)
        mech.add_force(
            f"s{i}",
            bc.SpringDamper(30.0, 0.0, 0.4),
            mech.ground.marker(place),
            body.marker(rng.normal(size=3)),
        )
    assert bc.find_equilibrium(mech).stability == "stable"
    model, _ = assembled(compile_mechanism(mech))
    system = _core.Lagrange(model.core)
    model.put(system, model.initial)
    multipliers = system.accelerate()[2]

    def value(displacement):
        model.put(system, model.initial)
        system.displace(displacement)
        return system.energy()[1] - multipliers @ system.rows()[0]

    start = model.initial
    found = _core.tangent_stiffness(
        model.core, 0.0, start.position, start.rotation, model.coordinate_values(start)
    )
    expected = second_derivatives(value, 6)
    assert found == pytest.approx(expected, abs=3e-6 * np.abs(expected).max())


def test_what_is_found_stays_there_in_a_run():
    for mech in (tensegrity(), sagging_spring()):
        bc.find_equilibrium(mech)
        run = bc.simulate(mech, 1.0)
        for name, body in mech.bodies.items():
            moved = np.abs(run.body(name).position - np.array(body.position)).max()
            assert moved < 1e-8


def sagging_spring():
    """A weight on a spring that is relaxed where it is described."""
    mech = bc.Mechanism("sagging", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_force("spring", bc.SpringDamper(100.0), mech.ground.marker(), body.marker())
    return mech


def test_a_spring_that_takes_its_length_from_the_start_keeps_it():
    mech = sagging_spring()
    report = bc.find_equilibrium(mech)
    assert mech.bodies["body"].position[2] == pytest.approx(-1.0981, abs=1e-10)
    assert mech.forces["spring"].kind.rest_length == 1.0
    assert "number" in report.notes[0]
    assert not bc.find_equilibrium(mech).moves
    again = loads(dumps(mech))
    assert not bc.find_equilibrium(again).moves


def test_values_can_be_held_before_bodies_are_placed_elsewhere():
    mech = sagging_spring()
    loose = mech.copy()
    assert len(bc.hold_start_values(mech)) == 1
    assert not bc.hold_start_values(mech)
    for m, tension in ((mech, 50.0), (loose, 0.0)):
        m.replace(m.bodies["body"], position=(0, 0, -1.5))
        assert bc.simulate(m, 0.01).energy.potential[0] == pytest.approx(-1.5 * 9.81 + tension**2 / 200)


def test_a_cable_that_takes_its_length_from_the_start_keeps_it():
    """It is taut where the weight is described, and slack where springs hold it higher."""
    mech = bc.Mechanism("cable", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_constraint("cable", bc.Cable(slack=True), mech.ground.marker(), body.marker())
    mech.add_force("spring", bc.SpringDamper(200.0, rest_length=0.5), mech.ground.marker(), body.marker())
    bc.find_equilibrium(mech)
    assert mech.bodies["body"].position[2] == pytest.approx(-0.5 - 9.81 / 200, abs=1e-9)
    assert mech.constraints["cable"].kind.length == 1.0


def test_joints_that_are_given_positions_stay_at_rest():
    """The next start is at rest, not where the joint was given to start; and whole turns are kept."""
    mech = bc.Mechanism("given", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, wheel, position=7.0, velocity=3.0)
    mech.add_force("spring", bc.TorsionSpring(10.0, rest_angle=9.0), "hinge")
    bc.find_equilibrium(mech)
    assert dict(mech.joints["hinge"].position) == {"theta_z": pytest.approx(9.0, abs=1e-9)}
    assert mech.joints["hinge"].velocity == ()
    assert not bc.find_equilibrium(mech).moves
    assert bc.simulate(mech, 0.5).energy.kinetic[-1] < 1e-15


def rail(position=0.0, limits=()):
    mech = bc.Mechanism("rail", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 2.0, (0.1, 0.1, 0.1), position=(0, 0, position))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body, limits=limits)
    return mech


@pytest.mark.parametrize("start", [1.0, 0.0, -0.2])
def test_stops_bear_what_falls_on_them(start):
    """From above, from the stop itself, and pushed into it."""
    mech = rail(start, bc.Limit(lower=-0.25))
    report = bc.find_equilibrium(mech)
    assert mech.bodies["body"].position[2] == pytest.approx(-0.25, abs=1e-9)
    assert report.stability == "fixed"
    assert report.acceleration < 1e-9


def test_stops_that_would_have_to_pull_open():
    mech = rail(-0.25, bc.Limit(lower=-0.25, upper=0.5))
    mech.add_force("lift", bc.Wrench(force=(0, 0, 25.0)), mech.bodies["body"])
    mech.add_force("spring", bc.TorsionSpring(20.0), "rail")
    report = bc.find_equilibrium(mech)
    assert mech.bodies["body"].position[2] == pytest.approx((25.0 - 2 * 9.81) / 20.0, abs=1e-9)
    mech.replace(mech.forces["lift"], kind=bc.Wrench(force=(0, 0, 60.0)))
    assert bc.find_equilibrium(mech).stability == "fixed"
    assert mech.bodies["body"].position[2] == pytest.approx(0.5, abs=1e-9)
    assert report.stability == "stable"


def test_a_motor_turns_a_spring_by_its_torque():
    mech = bc.Mechanism("motor", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", 1.0, (1, 1, 2.0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, wheel)
    mech.add_force("spring", bc.TorsionSpring(2.0), "hinge")
    mech.add_force("motor", bc.JointMotor(bc.Harmonic(0.0, 0.0, offset=4.0, slope=2.0), droop=5.0), "hinge")
    report = bc.find_equilibrium(mech, time=3.0)
    assert dict(mech.joints["hinge"].position)["theta_z"] == pytest.approx(5.0, abs=1e-9)
    assert report.least_eigenvalue == pytest.approx(1.0, rel=1e-9)
    assert report.energy == pytest.approx(-10.0 * 5.0 + 0.5 * 2.0 * 25.0)
    assert not any("potential" in note for note in report.notes)


def test_a_force_that_follows_a_body_is_balanced_and_said_to_have_no_potential():
    """At the end of an arm on a spring its moment is the same in all positions."""
    mech = bc.Mechanism("follower", gravity=(0, 0, 0))
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), position=(1, 0, 0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, arm.marker((-1, 0, 0)))
    mech.add_force("spring", bc.TorsionSpring(2.0), "hinge")
    mech.add_force("push", bc.Wrench(force=(0, 3.0, 0), axes="marker"), arm)
    report = bc.find_equilibrium(mech)
    place = np.array(mech.bodies["arm"].position)
    assert math.atan2(place[1], place[0]) == pytest.approx(1.5, abs=1e-9)
    assert any("no potential" in note for note in report.notes)
    assert bc.simulate(mech, 0.5).energy.kinetic[-1] < 1e-15


def test_redundant_constraints_and_light_bodies_do_no_harm():
    """A pendulum on two hinges of one axis, its bob a point of 1e-9 of its mass' inertia."""
    mech = bc.Mechanism("light", gravity=(0, 0, -9.81))
    rod = mech.add_body("rod", 1e-6, (1e-9, 1e-7, 1e-7), position=(0.3, 0, -0.4))
    for y in (-0.5, 0.5):
        mech.add_joint(
            f"hinge {y}",
            bc.Revolute(),
            mech.ground.marker((0, y, 0), axis=Y),
            rod.marker((-0.3, y, 0.4), axis=Y),
        )
    bob = mech.add_body("bob", 5.0, (1e-9, 1e-9, 1e-9), position=(0.6, 0, -0.8))
    mech.add_joint("bob", bc.Fixed(), rod.world_marker((0.6, 0, -0.8)), bob.world_marker((0.6, 0, -0.8)))
    report = bc.find_equilibrium(mech)
    assert mech.bodies["bob"].position == pytest.approx((0, 0, -1), abs=1e-8)
    assert (report.stability, report.degrees_of_freedom) == ("stable", 1)
    assert report.least_eigenvalue == pytest.approx(9.81, rel=1e-5)


Q = bc.EndCoordinate("q")


def test_forces_given_by_formulas_are_as_built_in_ones():
    """A spring by its effort, which has no potential as far as is known, and by its potential."""
    reports = {}
    for name, kind in {
        "built in": bc.TorsionSpring(40.0),
        "effort": bc.CustomForce(Q, efforts=-40.0 * Q.value),
        "potential": bc.CustomForce(Q, potential=20.0 * Q.value**2),
    }.items():
        mech = rail()
        mech.add_force("spring", kind, "rail")
        reports[name] = bc.find_equilibrium(mech)
        assert mech.bodies["body"].position[2] == pytest.approx(-2 * 9.81 / 40, abs=1e-9)
        assert reports[name].least_eigenvalue == pytest.approx(20.0, rel=1e-6)
    assert reports["potential"].energy == pytest.approx(reports["built in"].energy)
    assert any("no potential" in note for note in reports["effort"].notes)


A, B = bc.EndPose("a"), bc.EndPose("b")
LENGTH = ex.sqrt(sum((p - q) ** 2 for p, q in zip(A.position, B.position, strict=True)))
BY_FORMULAS = {
    "potential of poses": (
        lambda m, a, b: m.add_force("s", bc.SpringDamper(10.0, 0.0, 1.0), a, b),
        lambda m, a, b: m.add_force("s", bc.CustomForce((A, B), potential=5.0 * (LENGTH - 1.0) ** 2), a, b),
    ),
    "force on a marker": (
        lambda m, a, _: m.add_force("s", bc.Bushing((8.0, 8.0, 8.0), (0.0, 0.0, 0.0)), m.ground, a),
        lambda m, a, _: m.add_force("s", bc.CustomForce(A, force=[-8.0 * x for x in A.position]), a),
    ),
    "effort of a joint": (
        lambda m, a, b: m.add_force("s", bc.TorsionSpring(7.0, preload=2.0), joint(m, a, b), coordinate="z"),
        lambda m, a, b: m.add_force(
            "s", bc.CustomForce(Q, efforts=2.0 - 7.0 * Q.value), joint(m, a, b), coordinate="z"
        ),
    ),
}


def joint(mech, a, b):
    """Name of one between the bodies that cannot hold them where they are."""
    mech.add_joint("joint", bc.Cylindrical(), a, b)
    return "joint"


@pytest.mark.parametrize("name", BY_FORMULAS)
@pytest.mark.parametrize("seed", [1, 2])
def test_formulas_are_as_stiff_as_what_is_built_in(name, seed):
    """To rounding, wherever bodies are."""
    found = []
    for add in BY_FORMULAS[name]:
        mech, markers = two_bodies(seed)
        add(mech, *markers)
        model = compile_mechanism(mech)
        start = model.initial
        found.append(
            _core.tangent_stiffness(
                model.core, 0.0, start.position, start.rotation, model.coordinate_values(start)
            )
        )
    size = np.abs(found[0]).max()
    assert size > 1.0
    np.testing.assert_allclose(found[1] / size, found[0] / size, atol=1e-13)


@pytest.mark.parametrize("by_formulas", [False, True])
def test_a_rest_on_a_kink_is_not_said_to_be_stable(by_formulas):
    """A string that is just not slack holds one way only."""
    mech = bc.Mechanism("slack", gravity=(0, 0, 0))
    body = mech.add_body("body", 2.0, (0.1, 0.1, 0.1), position=(0, 0, 1.0))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body, position=1.0)
    if by_formulas:
        mech.add_force("string", bc.CustomForce(Q, efforts=-50.0 * ex.maximum(Q.value - 1.0, 0.0)), "rail")
    else:
        mech.add_force("string", bc.RubberString(stiffness=50.0, rest_length=1.0), mech.ground, body)
    report = bc.find_equilibrium(mech)
    assert report.stability == "neutral"
    assert report.uncertainty == pytest.approx(25.0, rel=1e-6)


def test_constraints_given_by_formulas_have_their_curvature():
    """A bead on a parabola z = a x^2: the square of its frequency at the bottom is 2 a g."""
    mech = bc.Mechanism("bead", gravity=(0, 0, -9.81))
    body = mech.add_body("bead", 2.0, (0.1, 0.1, 0.1), position=(0.3, 0, 0.7 * 0.09))
    mech.add_joint("slide", bc.Planar(), mech.ground.marker(axis=Y), body.marker(axis=Y))
    mech.add_joint("upright", bc.Orientation(), mech.ground, body)
    pose = bc.EndPose("p")
    parabola = bc.CustomConstraint(pose, pose.position[2] - 0.7 * pose.position[0] ** 2)
    mech.add_constraint("parabola", parabola, body.marker())
    report = bc.find_equilibrium(mech)
    assert mech.bodies["bead"].position == pytest.approx((0, 0, 0), abs=1e-9)
    assert report.degrees_of_freedom == 1
    assert report.least_eigenvalue == pytest.approx(2 * 0.7 * 9.81, rel=1e-9)


def random_mechanism(seed):
    """A tree of bodies, a rod that closes a loop, springs, a dead load; masses over six decades."""
    rng = np.random.default_rng(seed)
    kinds = (bc.Revolute, bc.Spherical, bc.Universal, bc.Cylindrical, bc.Prismatic)
    mech = bc.Mechanism("random", gravity=(0, 0, -9.81))
    bodies, count = [mech.ground], rng.integers(1, 6)
    for i in range(count):
        place = rng.normal(size=3)
        body = mech.add_body(
            f"body {i}",
            float(10 ** rng.uniform(-3, 3)),
            tuple(10 ** rng.uniform(-3, 0) * np.array([1, 1.2, 1.5])),
            com=0.3 * rng.normal(size=3),
            position=place,
            rotation=random_rotation(rng),
        )
        before, axis = bodies[rng.integers(len(bodies))], rng.normal(size=3)
        where, axis = place + 0.3 * rng.normal(size=3), axis / np.linalg.norm(axis)
        one, two = (b.world_marker(where, axis=axis) for b in (before, body))
        mech.add_joint(f"joint {i}", kinds[rng.integers(5)](), one, two)
        for k, rest_length in enumerate((0.3, None)):
            spring = bc.SpringDamper(float(10 ** rng.uniform(1, 4)), rest_length=rest_length)
            ends = mech.ground.marker(rng.normal(size=3)), body.marker(0.3 * rng.normal(size=3))
            mech.add_force(f"spring {i} {k}", spring, *ends)
        bodies.append(body)
    mech.add_force("load", bc.Wrench(force=20 * rng.normal(size=3)), bodies[-1].marker((0.1, 0.2, 0.3)))
    if count > 2:
        mech.add_joint("rod", bc.Distance(), bodies[1].marker((0.1, 0, 0)), bodies[-1].marker((0, 0.1, 0)))
    return mech


@over(range(12))
def test_random_mechanisms_stay_where_they_are_put(seed):
    mech = random_mechanism(seed)
    report = bc.find_equilibrium(mech)
    assert report.stability == "stable"
    assert not bc.find_equilibrium(mech).moves
    run = bc.simulate(mech, 0.1, method="dopri5", tolerance=1e-9)
    assert max(run.energy.kinetic) < 1e-10 * max(1.0, report.scale)


@over(range(40))
def test_random_chains_and_trees_with_stops(seed):
    assert wrong(seed) == ""


def test_a_chain_rests_on_several_stops():
    """Those of the first two joints push; the third joint swings between its own."""
    mech, before = bc.Mechanism("stops", gravity=(0, -9.81, 0)), None
    for k, (low, high) in enumerate(((-0.7, 0.2), (-0.5, 0.6), (-3.0, 3.0))):
        link = mech.add_body(f"link {k}", mass=1.0, inertia=(0.05, 0.05, 0.05), com=(0.5, 0, 0))
        at = mech.ground.marker() if before is None else before.marker((1, 0, 0))
        mech.add_joint(f"joint {k}", bc.Revolute(), at, link, limits=bc.Limit(low, high))
        before = link
    found = bc.statics(mech)
    angles = [found.position[f"joint {k}"][0] for k in range(3)]
    assert angles == pytest.approx([-0.7, -0.5, 1.2 - math.pi / 2], abs=1e-8)
    assert found.equilibrium.degrees_of_freedom == 1
    assert found.equilibrium.stability == "stable"
    assert all(found.limits[f"joint {k}"].efforts.max() > 1.0 for k in (0, 1))


@pytest.mark.parametrize("angle", [0.0, 0.7, -1.3])
def test_what_is_balanced_everywhere_is_neutral(angle):
    for seed in range(8):
        mech = balanced_arm(np.random.default_rng(seed), angle)
        report = bc.find_equilibrium(mech)
        assert report.stability == "neutral"
        assert (report.neutral_directions, report.unstable_directions) == (1, 0)
        assert abs(report.least_eigenvalue) <= report.uncertainty < 1e-9
        linear = bc.linearize(mech, inputs=())
        assert linear.stability == bc.modes(mech).stability == "neutral"
        assert bc.modes(mech)[0].kind == "neutral"


@pytest.mark.parametrize("share", [1.0 - 1e-9, 1.0 + 1e-9])
def test_what_is_almost_balanced_is_not_neutral(share):
    """Hanging, a spring of no length short of balance by 1e-9, or beyond it, decides."""
    mech = bc.Mechanism("almost")
    arm = mech.add_body("arm", 2.0, (0.02, 0.02, 0.02), com=(0, 0, -0.3))
    mech.add_joint("J", bc.Revolute(), mech.ground.marker(axis=Y), arm.marker(axis=Y))
    stiffness = share * 2.0 * 9.81 * 0.3 / (0.2 * 0.15)
    spring = bc.SpringDamper(stiffness=stiffness, rest_length=0.0)
    mech.add_force("s", spring, mech.ground.marker((0, 0, 0.2)), arm.marker((0, 0, -0.15)))
    report = bc.find_equilibrium(mech, leave_unstable=False)
    curvature = (1.0 - share) * 2.0 * 9.81 * 0.3 / (0.02 + 2.0 * 0.09)
    assert report.stability == ("stable" if curvature > 0.0 else "unstable")
    assert abs(report.least_eigenvalue - curvature) <= report.uncertainty
    linear = bc.linearize(mech, inputs=())
    assert linear.stability in (report.stability, "neutral")


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("stiffness", [10.0, 1e9])
def test_rests_do_not_depend_on_units_and_places(length, stiffness):
    """Far from the origin, and with springs that bear next to nothing of what they could."""
    for seed in range(3):
        stable = [
            bc.find_equilibrium(scaled(seed, length, length * far, stiffness)).stability for far in (0.0, 1e3)
        ]
        assert stable == ["stable", "stable"]


def scaled(seed, length, far, stiffness):
    """Bodies on springs and bushings, all lengths times a length, at a distance from the origin."""
    rng = np.random.default_rng(seed)
    mech, before = bc.Mechanism("scaled", gravity=(0, 0, -9.81)), None
    origin = np.array([far, 2 * far, 0.0])
    for i in range(int(rng.integers(1, 4))):
        place, axis = origin + length * rng.normal(size=3), rng.normal(size=3)
        inertia = length**2 * 0.1 * np.array([1, 1.2, 1.5])
        body = mech.add_body(f"body {i}", float(10 ** rng.uniform(-1, 1)), tuple(inertia), position=place)
        where = place + 0.3 * length * rng.normal(size=3)
        kind = bc.Revolute() if rng.random() < 0.5 else bc.Spherical()
        ends = ((before or mech.ground).world_marker(where, axis=axis), body.world_marker(where, axis=axis))
        mech.add_joint(f"joint {i}", kind, *ends)
        for k in range(3):
            spring = bc.SpringDamper(stiffness * float(10 ** rng.uniform(-1, 1)) / length, rest_length=length)
            ends = (
                mech.ground.marker(origin + length * rng.normal(size=3)),
                body.marker(0.3 * length * rng.normal(size=3)),
            )
            mech.add_force(f"spring {i} {k}", spring, *ends)
        bushing = bc.Bushing((stiffness / length,) * 3, rotational_stiffness=(stiffness * length,) * 3)
        mech.add_force(f"bushing {i}", bushing, mech.ground.world_marker(place), body.world_marker(place))
        before = body
    return mech


@pytest.mark.parametrize("count", [3, 8])
def test_a_free_beam_has_six_neutral_directions(count):
    """Of stiff bushings; clamped, its lowest frequency is that of `bc.modes`."""
    for clamped in (False, True):
        mech = bc.Mechanism("beam", gravity=(0, 0, 0))
        before = mech.ground if clamped else None
        for k in range(count):
            body = mech.add_body(f"body {k}", mass=0.1, inertia=(1e-5, 1e-5, 1e-5), position=(0.1 * k, 0, 0))
            if before is not None:
                at = (0.1 * k - 0.05, 0, 0)
                bushing = bc.Bushing((1e9, 1e8, 1e8), rotational_stiffness=(1e4, 1e5, 1e5))
                mech.add_force(f"bushing {k}", bushing, before.world_marker(at), body.world_marker(at))
            before = body
        report, found = bc.find_equilibrium(mech), bc.modes(mech)
        assert report.neutral_directions == len(found.neutral) == (0 if clamped else 6)
        assert report.stability == found.stability == ("stable" if clamped else "neutral")
        if clamped:
            lowest = (2 * math.pi * found.frequencies[0]) ** 2
            assert report.least_eigenvalue == pytest.approx(lowest, rel=1e-8)
