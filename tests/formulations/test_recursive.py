"""The recursive formulation on trees, held chains, nested loops and joints by formulas."""

import numpy as np
import pytest
from rigs import chains, linkages
from rigs.agreement import agreed, side_by_side
from rigs.differential import disagreements, runs_apart, systems
from rigs.machine import random_quaternion
from rigs.seeds import over
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.state import State
from bellcrank.expression import Transform, rotation_x, rotation_y, rotation_z, symbol, translation
from bellcrank.gallery import ladder
from bellcrank.mechanism.custom_joints import chain_of
from bellcrank.mechanism.rotation import matrix


def compare(mechanism, tolerance=1e-9):
    return agreed(mechanism, "recursive", tolerance)


def three_bars(order):
    """The thesis's linkage (section 7.4): beams of 10 m hinged 4 m from their middles, one end turning.

    order: of the bodies; the first that hangs on nothing is the root, and the first child the first arm.
    """
    mech = bc.Mechanism("three bars", gravity=(0.0, 0.0, 0.0))
    places = {"left": -8.0, "middle": 0.0, "right": 8.0}
    spins = {"left": 0.1}
    for name in order:
        spin = spins.get(name, 0.0)
        mech.add_body(
            name,
            mass=2.0,
            inertia=(0.1, 16.7, 16.7),
            position=(places[name], 0, 0),
            velocity=(0.0, -4.0 * spin, 0.0),
            angular_velocity=(0, 0, spin),
        )
    joints = {"left": ("left", "middle", -4.0), "right": ("middle", "right", 4.0)}
    sides = [name for name in order if name != "middle"]
    for side in sides:
        one, other, at = joints[side]
        a, b = mech.bodies[one], mech.bodies[other]
        mech.add_joint(
            side, bc.Revolute(), a.marker((at - places[one], 0, 0)), b.marker((at - places[other], 0, 0))
        )
    return mech


def test_a_linkage_rooted_four_ways():
    """Each end as root, and the middle with either arm first: the same accelerations."""
    found = []
    for order in (
        ("left", "middle", "right"), ("right", "middle", "left"), ("middle", "left", "right"),
        ("middle", "right", "left"),
    ):  # fmt: skip
        acc = bc.prepare(three_bars(order), "recursive").accelerate()
        bodies = [acc.body(name) for name in ("left", "middle", "right")]
        found.append([[*body.linear, *body.angular] for body in bodies])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0.0, atol=1e-12)
    assert np.abs(found[0]).max() > 1e-3


def random_tree(seed, bodies, driven=0.0):
    """Bodies on joints of one to six freedoms, some of which are driven."""
    rng = np.random.default_rng(seed)
    kinds = (bc.Revolute, bc.Prismatic, bc.Cylindrical, bc.Universal, bc.Spherical, bc.Planar)
    mech = bc.Mechanism(f"tree {seed}")
    carriers = [mech.ground]
    for k in range(bodies):
        carrier = carriers[rng.integers(len(carriers))]
        place = rng.normal(size=3)
        body = mech.add_body(
            f"body {k}",
            mass=rng.uniform(0.5, 2.0),
            inertia=rng.uniform(0.2, 0.35, 3),
            com=0.2 * rng.normal(size=3),
            position=place,
            rotation=np.roll(Rotation.random(random_state=rng).as_quat(), 1),
        )
        at, axis = place + 0.3 * rng.normal(size=3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        kind = kinds[rng.integers(len(kinds))]
        name = f"joint {k}"
        ends = [carrier.world_marker(at, axis=axis), body.world_marker(at, axis=axis)]
        if rng.random() < 0.3:
            ends.reverse()
        mech.add_joint(name, kind(), *ends)
        if kind is bc.Revolute and rng.random() < driven:
            mech.add_drive(f"drive {k}", joint=name, position=bc.Polynomial((0.0, 0.4, -0.7)))
        carriers.append(body)
    return mech


@pytest.mark.parametrize("seed", range(12))
def test_trees_with_given_motions(seed):
    """Hybrid dynamics: joints given their motion return their effort, beside joints that are free."""
    compare(random_tree(seed, 9, driven=0.7))


def test_a_driven_joint_needs_no_multiplier():
    system = bc.prepare(random_tree(3, 9, driven=1.0), "recursive")
    assert system.model.drives
    assert system.closing_rows == ()


@pytest.mark.parametrize("seed", range(4))
def test_the_passes_and_the_general_way_agree(seed):
    """A wrench of zero sends a tree the general way."""
    plain, general = random_tree(seed, 15, driven=0.3), random_tree(seed, 15, driven=0.3)
    general.add_force("nothing", bc.Wrench(force=(0, 0, 0)), general.bodies["body 0"])
    systems = [bc.prepare(mech, "recursive") for mech in (plain, general)]
    rng = np.random.default_rng(seed)
    q, u = systems[0].core.configuration(), rng.normal(size=len(systems[0].core.speeds()))
    found = []
    for system in systems:
        system.core.set_configuration(0.0, q, u)
        found.append(system.core.joint_accelerations())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-9)


def test_many_states_at_once():
    """Side by side in vectors the same as one after the other, whatever their number."""
    core = bc.prepare(random_tree(1, 12), "recursive").core
    rng = np.random.default_rng(0)
    q = np.tile(core.configuration(), (7, 1))
    speeds = rng.normal(size=(7, len(core.speeds())))
    together = core.joint_accelerations_batch(q, speeds)
    for row, u in zip(together, speeds, strict=True):
        core.set_configuration(0.0, q[0], u)
        np.testing.assert_allclose(row, core.joint_accelerations(), rtol=1e-11, atol=1e-11)


def test_a_configuration_comes_back():
    mech = random_tree(5, 20)
    first, second = side_by_side(mech, "recursive")
    rng = np.random.default_rng(0)
    core = second.core
    core.set_configuration(0.0, core.configuration(), rng.normal(size=len(core.speeds())))
    q, u = core.configuration(), core.speeds()
    state = second.state()
    second.set_state(State(*state.arrays))
    np.testing.assert_allclose(core.speeds(), u, atol=1e-11)
    np.testing.assert_allclose(np.abs(core.configuration()), np.abs(q), atol=1e-11)
    first.set_state(state)
    assert first.core.violation() == pytest.approx((0.0, 0.0), abs=1e-11)


ENDS = {
    "nailed": lambda mech, tip: mech.add_joint("end", bc.Fixed(), *tip),
    "pinned": lambda mech, tip: mech.add_joint("end", bc.Spherical(), *tip),
    "hinged": lambda mech, tip: mech.add_joint("end", bc.Revolute(), *tip),
    "on a line": lambda mech, tip: mech.add_joint("end", bc.PointOnLine(), *tip),
}


def arm(end, links=5):
    """A spatial chain of ball joints, its end held in some way."""
    rng = np.random.default_rng(4)
    mech = bc.Mechanism("arm")
    carrier, at = mech.ground, np.zeros(3)
    for k in range(links):
        step = rng.normal(size=3)
        body = mech.add_body(f"link {k}", mass=1.0 + k, inertia=(0.2, 0.3, 0.35), position=at + 0.5 * step)
        mech.add_joint(f"joint {k}", bc.Spherical(), carrier.world_marker(at), body.world_marker(at))
        carrier, at = body, at + step
    if end is not None:
        ENDS[end](mech, (mech.ground.world_marker(at), carrier.world_marker(at)))
    return mech, at


@pytest.mark.parametrize("end", ENDS)
def test_ends_of_a_chain(end):
    compare(arm(end)[0])


def led(links=5):
    """The end of the arm led along a path, one of its coordinates left free."""
    mech, at = arm(None, links)
    tip = mech.bodies[f"link {links - 1}"].world_marker(at)
    mech.add_joint("path", bc.Free(), mech.ground.world_marker(at), tip)
    mech.add_drive("x", joint="path", coordinate="x", position=bc.Polynomial((0.0, 0.1, -0.2)))
    mech.add_drive("z", joint="path", coordinate="z", position=bc.Polynomial((0.0, -0.3, 0.1)))
    return mech


def test_a_point_led_along_a_path():
    compare(led())


@pytest.mark.parametrize("end", ENDS)
def test_an_end_stays_where_it_is_held(end):
    """Over a minute of tumbling, with projection at every step: the rows, and the end itself."""
    mech, at = arm(end, links=3)
    run = bc.simulate(mech, 60.0, formulation="recursive", method="adams", tolerance=1e-9, reactions=False)
    assert np.max(run.violation.position) < 1e-10
    link = run.body("link 2")
    tip = link.point(mech.bodies["link 2"].world_marker(at).position)
    off = np.abs(tip - at)
    assert np.max(off[:, :2] if end == "on a line" else off) < 1e-10
    assert np.max(np.abs(run.body("link 1").position - run.body("link 1").position[0])) > 0.1
    np.testing.assert_allclose(run.energy.total, run.energy.total[0], atol=1e-4)


@pytest.mark.parametrize("size", [6, 24])
def test_a_ladder_keeps_its_loops_apart(size):
    """However long it is, no link carries more rows than those of the loops beside it."""
    system = bc.prepare(ladder(size), "recursive")
    assert max(system.core.open_rows()) <= 10
    compare(ladder(size))


def test_nested_loops_share_their_freedoms():
    """The innermost links carry the rows of all loops around them."""
    depth = 5
    system = compare(linkages.nested(depth))
    assert max(system.core.open_rows()) == depth


def test_a_heavy_mass_at_the_end_of_a_light_chain():
    """Masses from 1 g to 1 t."""
    compare(chains.chain(np.geomspace(1e-3, 1e3, 7)), 1e-7)


def test_the_names_of_redundant_rows():
    """A door on three hinges hangs on one of them: all rows of the other two, by name."""
    system = compare(linkages.door())
    assert len(system.stats.dropped) == 10
    assert len({row.element for row in system.stats.dropped}) == 2


def exponential(line, amount):
    """The displacement exp(ξ q), rotation and position, by Rodrigues' formula."""
    a, p = line.axis, line.point
    if not line.turns:
        return np.eye(3), amount * a
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    R = np.eye(3) + np.sin(amount) * K + (1 - np.cos(amount)) * K @ K
    return R, p - R @ p


def random_chain(rng, name, count):
    """Motions about and along lines that lie anyhow, forwards and backwards, with constants between."""
    coordinates = [symbol(f"{name}{k}") for k in range(count)]
    pose = Transform(matrix(random_quaternion(rng)).tolist(), rng.normal(size=3))
    for q in rng.permutation(np.array(coordinates, dtype=object)):
        turn = Transform(matrix(random_quaternion(rng)).tolist(), rng.normal(size=3))
        amount = rng.choice([-1.0, 1.0]) * q + rng.normal()
        about = (rotation_x, rotation_y, rotation_z)[rng.integers(3)]
        moved = about(amount) if rng.random() < 0.7 else turn @ translation(*_along(rng, q))
        pose = pose @ turn @ moved
    return bc.CustomJoint(coordinates, pose)


def _along(rng, q):
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    return [component * q + rng.normal() for component in axis]


@over(range(20))
def test_a_chain_is_the_product_of_its_exponentials(seed):
    rng = np.random.default_rng(seed)
    kind = random_chain(rng, "q", rng.integers(1, 5))
    chain, values = chain_of(kind), rng.uniform(-2.0, 2.0, len(kind.coordinates))
    R, p = np.eye(3), np.zeros(3)
    for line in chain.lines:
        turn, shift = exponential(line, values[line.coordinate])
        R, p = R @ turn, R @ shift + p
    R, p = R @ chain.rotation, R @ chain.position + p
    numbers = dict(zip(kind.coordinates, values, strict=True))
    given = np.array([float(bc.expression.substitute(f, numbers)) for f in kind.formulas_of_pose])
    assert np.allclose(given, np.concatenate([R.ravel(), p]), atol=1e-12)


def test_other_formulas_are_no_chain():
    q, s, arm = symbol("q"), symbol("s"), symbol("arm")
    for pose in (
        rotation_z(2.0 * q) @ translation(s, 0, 0),  # a gear
        rotation_z(q) @ translation(q, s, 0),  # one coordinate in two places
        rotation_z(q + s) @ rotation_x(s),
        translation(q, q**2, 0) @ rotation_z(s),
        rotation_z(q) @ translation(s, s, 0),  # metres that are none
    ):
        assert chain_of(bc.CustomJoint([q, s], pose)) is None
    adjustable = bc.CustomJoint([q], translation(arm, 0, 0) @ rotation_z(q), values=((arm, 0.5),))
    assert chain_of(adjustable) is None
    assert chain_of(adjustable, adjustable.known) is not None
    steered = bc.CustomJoint([q], translation(bc.Input("arm", 0.3, "m") * 1.0, 0, 0) @ rotation_z(q))
    assert chain_of(steered) is None


def hanging(seed, backwards):
    """Two bodies on chains, either way round; a spring, a motor, and a driven coordinate."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"chains {seed}", gravity=(0.3, -0.4, -9.8))
    bodies = [
        mech.add_body(
            name, mass=rng.uniform(0.5, 2.0), inertia=(0.02, 0.03, 0.04), com=rng.uniform(-0.1, 0.1, 3)
        )
        for name in ("one", "two")
    ]
    ends = [mech.ground, bodies[0], bodies[1]]
    for k in range(2):
        kind = random_chain(rng, "ab"[k], rng.integers(2, 4))
        one, two = (
            end.marker(rng.uniform(-0.2, 0.2, 3), rotation=random_quaternion(rng))
            for end in (ends[k], ends[k + 1])
        )
        if backwards[k]:
            one, two = two, one
        start = {name: rng.uniform(-0.5, 0.5) for name in kind.free}
        speed = {name: rng.uniform(-1.0, 1.0) for name in kind.free if name != "b1"}
        mech.add_joint(f"joint {k}", kind, one, two, position=start, velocity=speed)
    mech.add_force(
        "spring", bc.TorsionSpring(stiffness=3.0, damping=0.2), mech.joints["joint 0"].coordinate("a0")
    )
    motor = bc.GearedMotor(ratio=5.0, rotor_inertia=1e-3, torque=0.1)
    mech.add_force("motor", motor, mech.joints["joint 1"].coordinate("b0"))
    drive = bc.Harmonic(amplitude=0.3, omega=2.0)
    mech.add_drive("drive", mech.joints["joint 1"].coordinate("b1"), position=drive, relative=True)
    return mech


@over(range(8))
def test_recursive_takes_chains_apart(seed):
    mechanism = hanging(seed % 3, [(False, False), (True, False), (False, True), (True, True)][seed % 4])
    prepared = systems(mechanism)
    assert set(prepared) >= {"lagrange", "recursive", "symbolic", "dca"}
    assert not disagreements(prepared)
    findings, errors = runs_apart(prepared, mechanism, duration=0.5)
    assert not findings, list(map(str, findings))
    assert not errors


def test_a_chain_keeps_its_limits_and_coordinates():
    """A turn and a slide, the slide against a stop that bounces; recorded alike."""
    q, s = symbol("q"), symbol("s")
    mech = bc.Mechanism("stop", gravity=(0.0, 0.0, -9.81))
    body = mech.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    kind = bc.CustomJoint([q, s], rotation_y(q) @ translation(s, 0, 0), units=["rad", "m"])
    stop = {"s": bc.Limit(0.2, 0.6, restitution=0.5)}
    start, speed = {"q": 0.3, "s": 0.4}, {"q": 1.0, "s": 0.5}
    mech.add_joint(
        "arm", kind, mech.ground.marker(), body.marker(), limits=stop, position=start, velocity=speed
    )
    runs = [
        bc.simulate(mech, 2.0, formulation=f, method="dopri5", tolerance=1e-11)
        for f in ("lagrange", "recursive")
    ]
    one, two = (run.joint("arm").position for run in runs)
    assert runs[0].statistics["impacts"] == runs[1].statistics["impacts"] > 1
    assert np.abs(one - two).max() < 1e-7
