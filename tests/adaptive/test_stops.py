"""Adaptive dynamics with stops along coordinates of joints: against other formulations, by convex sets."""

import numpy as np
import pytest
from rigs.adaptive_decisions import state_of
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import point_motion
from rigs.moving_trees import held_joints
from rigs.seeds import over
from rigs.stopped_trees import judged, stopped_tree, what_is_wrong, wrong_impact

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import Unsupported


def started(mech, **given):
    return bc.start(mech, formulation="adaptive", **given)


# Accelerations, at one state.


@over(range(60))
def test_at_closed_stops_the_distance_is_no_less_than_it_is(seed):
    """H is the motion of welds with the same stops; Gauss' functions of both bound their distance."""
    mech, state = stopped_tree(seed, speed=0.0, bodies=(2, 25))
    names = held_joints(mech, seed)
    found = judged(mech, state, names)
    run = begun(found.found.model, state)
    run.set_free(mask(run, found.found.model, names))
    run.evaluate()
    assert found.off(run) < 1e-10
    assert run.distance >= found.distance - 1e-10 * found.whole
    assert run.distance >= found.bound - 1e-10 * found.whole


def test_most_bounds_are_what_convex_sets_give():
    """2 (G_H - G_F) with all stops of F; more where F leaves out what it passes only without others."""
    equal = 0
    for seed in range(60):
        mech, state = stopped_tree(seed, speed=0.0, bodies=(2, 25))
        names = held_joints(mech, seed)
        found = judged(mech, state, names)
        run = begun(found.found.model, state)
        run.set_free(mask(run, found.found.model, names))
        run.evaluate()
        equal += abs(run.distance - found.bound) < 1e-9 * found.whole
    assert equal >= 54


@over(range(12))
def test_while_it_moves_accelerations_are_those_of_recursive(seed):
    """Free joints that rest on stops, hit them, and slide along them in others of their coordinates."""
    mech, state = stopped_tree(seed, bodies=(2, 12), closed=0.3)
    model = compile_mechanism(mech)
    run = begun(model, state)
    run.set_free(np.ones(len(run.blocks), dtype=bool))
    assert run.coast(100, 1e-3) == 100
    run.evaluate()
    found = judged(mech, state_of(run, model), [])
    assert found.off(run) < 1e-10


@over(range(12))
def test_points_are_off_by_no_more_than_is_said(seed):
    """Also along what stops hold in F."""
    mech, state = stopped_tree(seed, speed=0.0, bodies=(2, 25))
    names = held_joints(mech, seed)
    found = judged(mech, state, names)
    model = found.found.model
    run = begun(model, state)
    run.set_free(mask(run, model, names))
    run.evaluate()
    distance, point = run.distance, (0.3, -0.2, 0.1)
    for number, body in enumerate(model.bodies):
        bound = run.point_error(model.core, number, point)
        held, free = (point_motion(each, found.found.state, body, point) for each in (found.held, found.free))
        assert np.linalg.norm(held - free) <= bound * (1.0 + 1e-6) + 1e-9
    run.evaluate()
    assert np.isclose(run.distance, distance, rtol=1e-9, atol=1e-9 * found.whole)


# Runs.


@pytest.mark.parametrize(
    ("seed", "most"), [(1, 1e-10), (3, 1e-9), (5, 1e-8), (7, 1e-7), (12, 1e-7), (21, 1e-9)]
)
def test_runs_are_those_of_recursive(seed, most):
    """By another method, with error control; of order four where impacts do not come ever faster."""
    mech, state = stopped_tree(seed, bodies=(2, 12), closed=0.3)
    model = compile_mechanism(mech)
    exact = bc.simulate(
        mech, 0.2, state=state, formulation="recursive", method="dopri5", rtol=1e-11, atol=1e-13
    ).at(state.time + 0.2)
    off = []
    for step in (2e-3, 1e-3):
        run = begun(model, state)
        run.set_free(np.ones(len(run.blocks), dtype=bool))
        assert run.coast(round(0.2 / step), step) == round(0.2 / step)
        off.append(np.abs(state_of(run, model).position - exact.position).max())
    assert run.impacts > 0
    assert off[1] < most


@over(range(40))
def test_impacts_are_those_of_lagrange_with_welds(seed):
    assert not wrong_impact(seed)


@over(range(16))
def test_after_every_decision_what_was_asked_for_holds(seed):
    assert not what_is_wrong(seed, by_welds=3)


def dropped(restitution, height=0.5, mass=2.0):
    """A block above its stop."""
    mech = bc.Mechanism("dropped", gravity=(0.0, 0.0, -9.81))
    mech.add_body("block", mass, (1.0, 1.0, 1.0))
    mech.add_joint("guide", bc.Prismatic(), "ground", "block", limits=bc.Limit(-height, None, restitution))
    return mech


@pytest.mark.parametrize("method", ["rk4", "symplectic"])
def test_a_block_bounces_as_by_hand_and_comes_to_rest(method):
    """Its bounces take all its energy, in a finite time, and then it stands, locked, without an error."""
    restitution, fall = 0.6, np.sqrt(2.0 * 0.5 / 9.81)
    run = started(dropped(restitution), method=method, step=1e-3, max_error=1e-3)
    ends = fall * (1.0 + 2.0 * restitution / (1.0 - restitution))
    first = fall * (1.0 + 2.0 * restitution)
    run.advance(steps=int(first / 1e-3) - 5)
    assert run._core.impacts == 1
    assert np.isclose(run.impact_energy, 2.0 * 9.81 * 0.5 * (1.0 - restitution**2), rtol=5e-3)
    run.advance(steps=int((ends - first) / 1e-3) + 100)
    assert np.isclose(run.pose("block")[0][2], -0.5, atol=1e-12)
    assert run.kinetic_energy == 0.0
    assert np.isclose(run.impact_energy, 2.0 * 9.81 * 0.5, rtol=5e-3 if method == "rk4" else 2e-2)
    run.advance(steps=20)
    assert run.free == ()
    assert run.error == 0.0
    assert run.lost_energy <= 1e-9


def test_what_rests_on_a_stop_is_let_go_where_its_reaction_pulls():
    """A force that grows lifts the block as soon as it is its weight."""
    mech = dropped(0.0)
    mech.replace(mech.joints["guide"], position=-0.5)
    lift = bc.Polynomial((0.0, 40.0))  # N
    mech.add_force("lift", bc.JointMotor(lift), "guide")
    run = started(mech, step=1e-3, max_error=1e-6)
    lifts = 2.0 * 9.81 / 40.0
    run.advance(steps=int(lifts / 1e-3) - 1)
    assert run.free == ()
    assert run.error == 0.0
    run.advance(steps=200)
    assert run.free == ("guide",)
    after = run.time - lifts
    assert np.isclose(run.pose("block")[0][2] + 0.5, 40.0 * after**3 / 12.0, rtol=2e-2)


def test_stops_count_whole_turns():
    """A rod that has turned twice, between stops 0.9 rad apart; it goes there at 3 rad/s and back at half."""
    mech, twice = bc.Mechanism("turns", gravity=(0, 0, 0)), 4.0 * np.pi
    mech.add_body("rod", 1.0, (0.1, 0.1, 0.1))
    limit = bc.Limit(twice - 0.5, twice + 0.4, 0.5)
    mech.add_joint("pin", bc.Revolute(), "ground", "rod", limits=limit, position=twice + 0.1, velocity=3.0)
    run = started(mech, step=1e-3, max_error=0.0)
    run.advance(steps=500)
    angle = 2.0 * np.arctan2(run.state.rotation[0, 3], run.state.rotation[0, 0])
    assert np.isclose(run.state.angular_velocity[0, 2], -1.5, rtol=1e-12)
    assert np.isclose(angle, 0.4 - 1.5 * (0.5 - 0.1), atol=1e-9)


def chain(links, bend, restitution=0.3):
    """Rods of 0.1 m that bend so far, level at the start."""
    mech = bc.Mechanism("chain")
    last, end = mech.ground, (0.0, 0.0, 0.0)
    for k in range(links):
        rod = mech.add_body(f"rod {k}", 0.1, (1e-5, 1e-4, 1e-4), com=(0.05, 0, 0), position=(0.1 * k, 0, 0))
        before = last.marker(end, axis=(0, 1, 0))
        hinge, limit = f"hinge {k}", bc.Limit(-bend, bend, restitution) if k else ()
        mech.add_joint(hinge, bc.Revolute(), before, rod.marker((0, 0, 0), axis=(0, 1, 0)), limits=limit)
        last, end = rod, (0.1, 0.0, 0.0)
    return mech


def test_energy_is_what_impacts_and_locks_leave():
    mech = chain(12, 0.2)
    model = compile_mechanism(mech)
    run = started(mech, step=2e-4, max_error=0.05)
    run.advance(steps=4000)
    heights = run.state.position[:, 2] + 0.05 * rotated(run.state.rotation)[:, 2]
    left = run.kinetic_energy + run.lost_energy + run.impact_energy + 9.81 * model.mass @ heights
    assert run.impact_energy > 0.1
    assert abs(left) < 1e-3 * run.impact_energy


def rotated(rotation):
    """x axes of frames (n, 3)."""
    w, x, y, z = rotation.T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=1)


def test_a_hit_frees_the_joints_that_it_sets_in_motion():
    """The first joint of a straight chain runs into its stop: so far the rest was one body."""
    mech = chain(12, 3.0)
    mech.gravity = (0.0, 0.0, 0.0)
    first = mech.joints["hinge 0"]
    mech.replace(first, limits=bc.Limit(None, 0.01, 0.0), velocity=1.0)
    free, took = {}, {}
    for bound in (1e-3, 1e4):
        run = started(mech, step=1e-3, max_error=bound, measure="rms")
        run.advance(steps=20)
        free[bound], took[bound] = len(run.free), run.impact_energy
        assert run._core.impacts == 1
    assert np.isclose(took[1e4], 0.5 * 1.2 * 1.2**2 / 3.0, rtol=0.01)  # all there was
    assert took[1e-3] < 0.01 * took[1e4]
    assert free[1e4] <= 1 < 6 <= free[1e-3]


# What is not taken, and what runs tell.


def test_stops_that_are_no_limits_of_joints_are_refused_by_name():
    mech = chain(3, 0.5)
    mech.add_constraint("rope", bc.Cable(slack=True), mech.ground.marker(), mech.bodies["rod 2"].marker())
    with pytest.raises(
        Unsupported, match=r"no stops but limits .*: constraint 'rope'.*Use formulation='lagrange'"
    ):
        started(mech)


def test_what_impacts_took_is_in_the_statistics():
    found = bc.simulate(dropped(0.5), 0.5, formulation="adaptive", step=1e-3).statistics
    assert found["impacts"] == 1
    assert np.isclose(found["impact_energy"], 9.81 * 0.75, rtol=1e-3)
    assert (
        "impacts" not in bc.simulate(bc.gallery.chain(3), 0.01, formulation="adaptive", step=1e-3).statistics
    )
