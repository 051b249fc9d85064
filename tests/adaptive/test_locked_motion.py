"""Trees of which some joints are locked: what judges adaptive dynamics, and adaptive dynamics by it."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import examples, floating, linkages
from rigs.locked_dynamics import begun, mask, what_is_wrong
from rigs.locked_motion import (
    gauss_distance,
    locked,
    mobility,
    point_motion,
    rms_error,
    squared_norm,
)
from rigs.machine import matrix
from rigs.moving_trees import BENDING, KINDS, held_joints, moving_tree
from rigs.seeds import over

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.rotation_arrays import exponential, product

WAYS = {
    "even": {},
    "fast": {"speed": 100.0},
    "uneven": {"decades": 10.0},
    "between": {"between": True, "speed": 10.0},
    "further": {"further": True, "speed": 3.0},
}


def energy(found, state):
    return 0.5 * squared_norm(found.model, state, state.velocity, state.angular_velocity)


def norm(found, accelerations):
    return squared_norm(found.model, found.state, accelerations.linear, accelerations.angular)


# The rigs.


def test_every_joint_of_a_linkage_is_in_the_trees():
    taken = {
        name
        for name in JOINT_KINDS
        if not _core.Adaptive.refusals(
            compile_mechanism(floating.pair(examples.joint(name), hung=True).mechanism).core
        )
    }
    assert taken == {*KINDS, *BENDING, "Free"}


def test_trees_are_as_described():
    """Every row holds to rounding; runs of linkages take all of it; a seed gives the same tree again."""
    kinds, reversed_joints, loose = set(), 0, 0
    for seed in range(30):
        mech, state = moving_tree(seed, speed=10.0)
        model = compile_mechanism(mech)
        assert not _core.Quasistatics.refusals(model.core)
        system = bc.prepare(model, "lagrange")
        system.set_state(state)
        error, rate = system.core.violation()
        assert max(error, rate / 10.0) < 1e-13
        again, same = moving_tree(seed, speed=10.0)
        assert again == mech
        assert state.time == same.time > 0.0
        joints = [joint for joint in mech.joints.values() if joint.kind.name != "Free"]
        kinds |= {joint.kind.name for joint in joints}
        rank = {name: int(name.split()[1]) for name in mech.bodies} | {"ground": -1}
        reversed_joints += sum(rank[j.marker_1.body] > rank[j.marker_2.body] for j in joints)
        loose += len(mech.bodies) - len(joints)
    assert kinds == set(KINDS)
    assert reversed_joints > 50
    assert loose > 5


# The oracle.


@pytest.mark.parametrize("way", WAYS)
@over(range(12))
def test_formulations_agree_about_locked_trees(seed, way):
    mech, state = moving_tree(seed, **WAYS[way])
    found = locked(mech, state, held_joints(mech, seed))
    free, one, two = found.free_accelerations(), found.accelerations(), found.accelerations("recursive")
    whole = norm(found, free)
    assert gauss_distance(found.model, found.state, one, two) < 1e-18 * whole
    assert abs(found.distance() - found.distance("recursive")) < 1e-9 * whole


@over(range(20))
def test_locked_joints_stay_as_they_are(seed):
    """At rest in the state, and to third order after a step along its accelerations."""
    mech, state = moving_tree(seed, bodies=(2, 12))
    names = held_joints(mech, seed, ("few", "half", "all but one")[seed % 3])
    found = locked(mech, state, names)
    _, rates = found.model.coordinate_motion(found.state)
    for name in names:
        assert np.abs(rates[list(found.model.joint(name).coordinates)]).max(initial=0.0) < 1e-12
    accelerations = found.accelerations()
    welded = bc.prepare(found.welded, "lagrange")
    errors = []
    for step in (2e-4, 1e-4):
        welded.set_state(_moved(found.state, accelerations, step))
        errors.append(welded.core.violation()[0])
    assert errors[0] < 1e-7
    assert errors[1] < 0.14 * errors[0] + 1e-14


def _moved(state, accelerations, step):
    """Poses after a time, to third order: ω and then its rate in world axes, by the exponential map."""
    shift = step * state.velocity + 0.5 * step**2 * accelerations.linear
    turn = step * state.angular_velocity + 0.5 * step**2 * accelerations.angular
    rotation = product(exponential(turn), state.rotation)
    return replace(state, position=state.position + shift, rotation=rotation)


@over(range(20))
def test_what_locks_change_is_orthogonal_to_what_they_leave(seed):
    """Gauss: a_H − a_F to every motion that the welds allow; motions are differences of poses."""
    mech, state = moving_tree(seed, bodies=(2, 12))
    found = locked(mech, state, held_joints(mech, seed, ("few", "half", "all but one")[seed % 3]))
    change = found.accelerations(), found.free_accelerations()
    linear, angular = change[0].linear - change[1].linear, change[0].angular - change[1].angular
    size = np.sqrt(squared_norm(found.model, found.state, linear, angular))
    welded, rng, step = bc.prepare(found.welded, "lagrange"), np.random.default_rng(seed), 1e-4
    still = replace(found.state, velocity=0.0 * linear, angular_velocity=0.0 * linear)
    for _ in range(3):
        ways = [rng.normal(size=linear.shape) for _ in range(2)]
        one, two = (welded.project(_turned(still, sign * step, *ways)) for sign in (1.0, -1.0))
        v, w = _difference(one, two, 2.0 * step)
        parts = [squared_norm(found.model, found.state, linear + s * v, angular + s * w) for s in (1.0, -1.0)]
        product_of_both = 0.25 * (parts[0] - parts[1])
        length = np.sqrt(squared_norm(found.model, found.state, v, w))
        assert abs(product_of_both) < 1e-5 * size * length + 1e-9 * size


def _turned(state, step, v, w):
    rotation = product(exponential(step * w), state.rotation)
    return replace(state, position=state.position + step * v, rotation=rotation)


def _difference(one, two, time):
    """Mean velocities from pose two to pose one."""
    turn = np.einsum("bij,bkj->bik", matrix(one.rotation), matrix(two.rotation))
    spin = 0.5 * np.stack([turn[:, k - 1, k - 2] - turn[:, k - 2, k - 1] for k in range(3)], axis=1)
    return (one.position - two.position) / time, spin / time


@pytest.mark.parametrize("way", WAYS)
@over(range(12))
def test_distances_of_nested_locks_add(seed, way):
    """Pythagoras: ||a_A − a_F||² = ||a_A − a_B||² + ||a_B − a_F||², the locks of B being among those of A."""
    mech, state = moving_tree(seed, **WAYS[way])
    more = held_joints(mech, seed, "all but one" if seed % 2 else "half")
    outer = locked(mech, state, more)
    inner = locked(mech, outer.state, more[: len(more) // 2])
    free, a, b = outer.free_accelerations(), outer.accelerations(), inner.accelerations()
    assert inner.loss < 1e-20 * (1.0 + energy(outer, state))
    whole, part, rest = (
        gauss_distance(outer.model, outer.state, *two) for two in ((a, free), (a, b), (b, free))
    )
    assert abs(whole - part - rest) < 1e-9 * norm(outer, free)


@pytest.mark.parametrize("way", WAYS)
@over(range(12))
def test_locking_loses_the_energy_of_the_change(seed, way):
    mech, state = moving_tree(seed, **WAYS[way])
    found = locked(mech, state, held_joints(mech, seed))
    before, after = energy(found, state), energy(found, found.state)
    assert abs(before - after - found.loss) < 1e-12 * before
    assert found.loss >= 0.0


@over((0, 1, 2, 3, 5, 6, 7, 8, 10, 11))  # no random topologies, of which some branches are on the ground
def test_locking_keeps_the_momentum_of_what_floats(seed):
    mech, state = moving_tree(seed, floats=True)
    found = locked(mech, state, held_joints(mech, seed, "half" if seed % 2 else "all"))
    before, after = (_momentum(found.model, each) for each in (state, found.state))
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-11 * (1.0 + np.abs(before).max()))


def _momentum(model, state):
    """Of all bodies, and about the origin, (6,)."""
    R = matrix(state.rotation)
    arms = np.einsum("bij,bj->bi", R, model.com)
    p = model.mass[:, None] * (state.velocity + np.cross(state.angular_velocity, arms))
    spin = np.einsum("bij,bjk,blk,bl->bi", R, model.inertia, R, state.angular_velocity)
    return np.concatenate([p.sum(axis=0), (spin + np.cross(state.position + arms, p)).sum(axis=0)])


@over(range(20))
def test_outputs_differ_by_no_more_than_their_mobility_allows(seed):
    mech, state = moving_tree(seed)
    found = locked(mech, state, held_joints(mech, seed, "half"))
    distance, rng = found.distance(), np.random.default_rng(seed)
    change = [
        point_motion(each, found.state, "body 1", (0.3, -0.2, 0.1))
        for each in (found.accelerations(), found.free_accelerations())
    ]
    for way in (np.array(change[0] - change[1]), rng.normal(size=3)):
        if not np.any(way):
            continue
        way /= np.linalg.norm(way)
        bound = np.sqrt(distance * mobility(mech, found.state, "body 1", (0.3, -0.2, 0.1), way))
        assert abs(way @ (change[0] - change[1])) <= bound * (1.0 + 1e-9) + 1e-12


# Closed forms.


def carts(force=6.0, speed=2.0):
    """A block of 1 kg on a cart of 2 kg on rails, driven and moving relatively to it."""
    mech = bc.Mechanism("carts", gravity=(0.0, 0.0, 0.0))
    cart = mech.add_body("cart", mass=2.0, inertia=(1, 1, 1))
    block = mech.add_body("block", mass=1.0, inertia=(1, 1, 1), velocity=(speed, 0, 0))
    mech.add_joint("rails", bc.PrismaticX(), mech.ground, cart)
    mech.add_joint("slide", bc.PrismaticX(), cart, block)
    mech.add_force("push", bc.JointMotor(force), "slide")
    return mech, compile_mechanism(mech).initial


def test_a_block_on_a_cart():
    """Of a force f between masses m and M: 2G = f²(1/m + 1/M); a plastic impact loses ½ mM/(m + M) u²."""
    mech, state = carts()
    found = locked(mech, state, ["slide"])
    assert np.isclose(found.distance(), 36.0 * 1.5, rtol=1e-14)
    assert np.isclose(rms_error(found.model, found.distance()), np.sqrt(18.0), rtol=1e-14)
    assert np.isclose(found.loss, 0.5 * (2.0 / 3.0) * 4.0, rtol=1e-14)
    np.testing.assert_allclose(found.state.velocity[:, 0], 2.0 / 3.0, rtol=1e-14)
    assert np.isclose(mobility(mech, state, "block", (0, 0, 0), (1, 0, 0)), 1.0, rtol=1e-14)
    both = locked(mech, state, ["rails", "slide"])
    assert np.isclose(both.loss, 2.0, rtol=1e-14)


def test_the_mobility_of_a_point_of_a_free_body():
    mech = bc.Mechanism("free")
    mech.add_body("body", mass=2.0, inertia=(1.0, 2.0, 2.5), angular_velocity=(3.0, 2.0, 1.0))
    state = compile_mechanism(mech).initial
    by_hand = 0.5 + 0.3**2 / 2.5 + 0.1**2 / 2.0  # along x at (0.2, 0.3, 0.1): 1/m + y²/I_z + z²/I_y
    assert np.isclose(mobility(mech, state, "body", (0.2, 0.3, 0.1), (1, 0, 0)), by_hand, rtol=1e-13)


def test_a_loop_is_judged_too():
    """A five-bar has two degrees of freedom: one locked hinge leaves one of them, two leave none."""
    mech = linkages.five_bar()
    state = bc.prepare(mech, "lagrange").project()
    both = locked(mech, state, ["pin1", "pin3"])
    assert np.isclose(both.loss, energy(both, state), rtol=1e-9)
    assert norm(both, both.accelerations()) < 1e-18
    one, two = locked(mech, state, ["pin1"]), locked(mech, both.state, ["pin1"])
    assert 0.1 * both.loss < one.loss < 0.9 * both.loss
    assert np.isclose(energy(one, state) - energy(one, one.state), one.loss, rtol=1e-9)
    parts = gauss_distance(both.model, both.state, both.accelerations(), two.accelerations()), two.distance()
    assert min(parts) > 0.1 * both.distance()
    assert np.isclose(sum(parts), both.distance(), rtol=1e-9)


# Adaptive dynamics by the oracle. Every joint is free at the start; `set_free` stops what it locks.

# Of the norm of all accelerations; joins lose digits of light bodies that carry heavy ones.
DIGITS = {"even": 1e-10, "fast": 1e-10, "uneven": 1e-6, "between": 1e-10, "further": 1e-10}


def off(run, found, expected):
    """How far its accelerations are from others, in the norm of kinetic energy, of these."""
    linear, angular = run.motions(found.model.core)
    change = linear - expected.linear, angular - expected.angular
    return np.sqrt(squared_norm(found.model, found.state, *change) / norm(found, expected))


@pytest.mark.parametrize("way", WAYS)
@over(range(20))
def test_with_all_joints_free_it_is_recursive(seed, way):
    mech, state = moving_tree(seed, **WAYS[way])
    found = locked(mech, state, [])
    run, expected = begun(found.model, state), found.free_accelerations("recursive")
    run.evaluate()
    assert off(run, found, expected) < DIGITS[way]
    assert run.distance < DIGITS[way] * norm(found, expected)
    assert np.isclose(run.kinetic_energy, energy(found, state), rtol=1e-12)


@pytest.mark.parametrize("way", WAYS)
@over(range(20))
def test_the_formulation_takes_trees_that_move(seed, way):
    """With welds in half of the joints, and without."""
    mech, state = moving_tree(seed, **WAYS[way])
    found = locked(mech, state, held_joints(mech, seed, "half"))
    for of in (found.free_accelerations, found.accelerations):
        one, two = of("adaptive"), of("recursive")
        distance = gauss_distance(found.model, found.state, one, two)
        assert distance < 1e-18 * norm(found, two)


@pytest.mark.parametrize("way", WAYS)
@over(range(20))
def test_locked_joints_against_welds(seed, way):
    """Loss, energy, accelerations of H and the distance 2G from F; locked joints have no speed."""
    mech, state = moving_tree(seed, **WAYS[way])
    names = held_joints(mech, seed)
    found = locked(mech, state, names)
    run, before = begun(found.model, state), energy(found, state)
    free = mask(run, found.model, names)
    assert abs(run.set_free(free) - found.loss) < 1e-11 * before
    assert abs(run.kinetic_energy - energy(found, found.state)) < 1e-11 * before
    run.evaluate()
    whole = norm(found, found.free_accelerations())
    assert abs(run.distance - found.distance()) < 10.0 * DIGITS[way] * whole
    error = rms_error(found.model, run.distance)  # with uneven masses it contains 1e-4 of all
    assert (
        error * (1.0 - 1e-12)
        <= run.error
        <= error * (1.0 + 1e-12) + 1e-4 * rms_error(found.model, whole) * (2.0 if way == "uneven" else 0.0)
    )
    expected = found.accelerations()
    linear, angular = run.motions(found.model.core)
    change = linear - expected.linear, angular - expected.angular
    assert squared_norm(found.model, found.state, *change) < DIGITS[way] ** 2 * whole
    for link in np.flatnonzero(~free):
        own = slice(run.first_freedoms[link], run.first_freedoms[link + 1])
        assert not np.any(run.speeds()[own])
        assert not np.any(run.accelerations()[own])


@pytest.mark.parametrize("way", WAYS)
@over(range(20))
def test_what_is_locked_already_is_as_when_it_is_locked_now(seed, way):
    """Clusters that turn in another way, after more was locked, and joints that are free again."""
    mech, state = moving_tree(seed, **WAYS[way])
    names = held_joints(mech, seed, "all but one" if seed % 2 else "half")
    first = locked(mech, state, names[: len(names) // 2])
    both = locked(mech, first.state, names)
    core, run = first.model.core, begun(first.model, state)
    run.set_free(mask(run, first.model, names[: len(names) // 2]))
    run.evaluate()
    run.set_free(mask(run, first.model, names))
    run.evaluate()
    assert abs(run.kinetic_energy - energy(both, both.state)) < 1e-10 * energy(both, state)
    fresh = _core.AdaptiveDynamics(core)
    fresh.start(
        core, *run.state(core)
    )  # the same state: that of the oracle is off by rounding of two impacts
    fresh.set_free(mask(fresh, first.model, names))
    fresh.evaluate()
    whole = norm(both, both.free_accelerations())
    assert abs(run.distance - fresh.distance) < DIGITS[way] * (whole + fresh.distance)
    assert apart(both, run, fresh) < DIGITS[way] ** 2 * whole
    everything = np.ones(len(run.blocks), dtype=bool)
    assert run.set_free(everything) == fresh.set_free(everything) == 0.0
    run.evaluate()
    fresh.evaluate()
    assert apart(both, run, fresh) < DIGITS[way] ** 2 * whole
    assert run.distance < DIGITS[way] * whole


def apart(found, *runs):
    """The square of what accelerations of two runs are apart, by masses."""
    one, two = (run.motions(found.model.core) for run in runs)
    return squared_norm(found.model, found.state, one[0] - two[0], one[1] - two[1])


@over(range(12))
def test_locks_one_time_after_another(seed):
    assert not what_is_wrong(seed)


@pytest.mark.parametrize("way", WAYS)
@over(range(12))
def test_points_are_off_by_no_more_than_their_mobility_allows(seed, way):
    """The largest mobility of a point, by forces on the tree without motion; and what comes of it."""
    mech, state = moving_tree(seed, **WAYS[way])
    found = locked(mech, state, held_joints(mech, seed, "half"))
    run = begun(found.model, state)
    run.set_free(mask(run, found.model, held_joints(mech, seed, "half")))
    run.evaluate()
    number = len(found.model.bodies) // 2
    body, point = found.model.bodies[number], (0.3, -0.2, 0.1)
    bound = run.point_error(found.model.core, number, point)
    axes = np.eye(3)
    ways = [*axes, *(axes[i] + axes[j] for i, j in ((0, 1), (0, 2), (1, 2)))]
    along = [mobility(mech, found.state, body, point, each) for each in ways]
    full = np.diag(along[:3])
    for (i, j), both in zip(((0, 1), (0, 2), (1, 2)), along[3:], strict=True):
        full[i, j] = full[j, i] = 0.5 * (both - along[i] - along[j])
    most = np.linalg.eigvalsh(full)[-1]
    exact = np.sqrt(run.distance * most)  # with uneven masses the bound contains what rounding may do
    assert (1.0 - 1e-6) * exact <= bound <= (1.1 if way == "uneven" else 1.0 + 1e-9) * exact
    change = [
        point_motion(each, found.state, body, point)
        for each in (found.accelerations(), found.free_accelerations())
    ]
    assert np.linalg.norm(change[0] - change[1]) <= bound * (1.0 + 1e-6) + 1e-9
