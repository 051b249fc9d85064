"""The recursive formulation on trees, held chains and nested loops, and what it says of itself."""

import numpy as np
import pytest
from rigs import chains, linkages
from rigs.agreement import agreed, side_by_side
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.state import State
from bellcrank.gallery import ladder


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
