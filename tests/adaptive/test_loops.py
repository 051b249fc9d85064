"""Adaptive dynamics of linkages whose loops close: against `lagrange`, welds, and by its own identities."""

import numpy as np
import pytest
from rigs import linkages
from rigs.adaptive_decisions import Ledger, state_of, what_is_wrong
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, mobility, point_motion, squared_norm
from rigs.looped_trees import held_links, looped_tree
from rigs.machine import matrix
from rigs.moving_trees import SIZES
from rigs.seeds import over

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism

WAYS = {"even": {}, "fast": {"speed": 100.0}, "uneven": {"decades": 3.0}, "between": {"between": True}}
DIGITS = {"even": 1e-10, "fast": 1e-9, "uneven": 1e-8, "between": 1e-10}


def norm(found, accelerations):
    return squared_norm(found.model, found.state, accelerations.linear, accelerations.angular)


def everything(run):
    return np.ones(len(run.blocks), dtype=bool)


@pytest.mark.parametrize("way", WAYS)
@over(range(20))
def test_locked_joints_in_loops_against_welds(seed, way):
    """Loss, accelerations of H, the distance 2G from F; joints of loops, of branches, or none are locked."""
    mech, state = looped_tree(seed, **WAYS[way])
    model = compile_mechanism(mech)
    run = begun(model, state)
    before = run.kinetic_energy
    for size in SIZES:
        run.start(model.core, *state.arrays)
        names = held_links(mech, model, run, seed, size)
        found = locked(mech, state, names)
        run.set_free(everything(run))
        assert abs(run.set_free(mask(run, found.model, names)) - found.loss) < 1e-10 * before
        run.evaluate()
        free, held = found.free_accelerations(), found.accelerations()
        whole = norm(found, free)
        linear, angular = run.motions(found.model.core)
        change = linear - held.linear, angular - held.angular
        assert squared_norm(found.model, found.state, *change) < DIGITS[way] ** 2 * whole
        assert abs(run.distance - found.distance()) < 10.0 * DIGITS[way] * whole


LINKAGES = {
    "four-bar": linkages.four_bar,
    "parallelogram": linkages.parallelogram,
    "five-bar": linkages.five_bar,
    "slider-crank": linkages.slider_crank,
    "bennett": linkages.bennett,
    "door": linkages.door,
    "carriage": linkages.carriage,
}


@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_with_redundant_rows_are_lagrange(name):
    mech = LINKAGES[name]()
    found = locked(mech, bc.prepare(mech, "lagrange").project(), [])
    run = begun(found.model, found.state)
    run.set_free(everything(run))
    run.evaluate()
    expected = found.free_accelerations()
    linear, angular = run.motions(found.model.core)
    change = linear - expected.linear, angular - expected.angular
    assert squared_norm(found.model, found.state, *change) < 1e-20 * norm(found, expected)


@over(range(30))
def test_gains_of_a_closed_linkage_are_the_distance(seed):
    """Loads at ports are shared among the parts as forces at joints are."""
    mech, state = looped_tree(seed, floats=False)
    run = begun(compile_mechanism(mech), state)
    run.set_free(~everything(run))
    run.evaluate()
    assert not len(run.free)
    assert np.isclose(run.gains(np.inf, 0)[1], run.distance, rtol=1e-8)
    links, left = run.gains(0.0, len(run.blocks))
    assert left <= 1e-8 * run.distance
    assert len(set(links)) == len(links)


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_the_relative_measure_is_that_of_no_joint_that_accelerates(name):
    """Bodies then turn evenly about the pins of the tree, which moves: rows do not hold, and do work."""
    mech = LINKAGES[name]()
    found = locked(mech, bc.prepare(mech, "lagrange").project(), [])
    model, state = found.model, found.state
    run = begun(model, state)
    run.limit(0.0, True)
    for names in ([], list(mech.joints)[1:2]):
        after = locked(
            mech, state, [each for each in names if set(model.joint(each).blocks) & set(run.blocks)]
        )
        run.start(model.core, *after.state.arrays)
        run.set_free(everything(run))
        assert not run.set_free(mask(run, model, names)) > 1e-12
        run.evaluate()
        free, linear = after.free_accelerations(), _turning_evenly(mech, model, after.state, run)
        whole = squared_norm(model, after.state, linear - free.linear, -free.angular)
        assert squared_norm(model, after.state, linear, 0.0 * linear) > 0.0
        assert np.isclose(run.relative_unit, whole, rtol=1e-9)


def _turning_evenly(mech, model, state, run):
    """Accelerations of frames of bodies that hinges about z carry one after another, (n, 3)."""
    tree, found = set(run.blocks.tolist()), np.zeros((len(model.bodies), 3))
    joints = [joint for joint in mech.joints.values() if set(model.joint(joint.name).blocks) & tree]
    done, pending = {"ground"}, joints
    numbers = {name: number for number, name in enumerate(model.bodies)}

    def toward(body, point):
        """The acceleration of a point, world axes, of a body."""
        if body not in numbers:
            return np.zeros(3)
        number = numbers[body]
        spin = state.angular_velocity[number]
        return found[number] + np.cross(spin, np.cross(spin, point - state.position[number]))

    while pending:
        rest = []
        for joint in pending:
            ends = [joint.marker_1, joint.marker_2]
            if ends[0].body not in done:
                ends.reverse()
            if ends[0].body not in done:
                rest.append(joint)
                continue
            body = ends[1].body
            number = numbers[body]
            arm = matrix(state.rotation[number]) @ np.array(ends[1].position)
            spin = state.angular_velocity[number]
            pin = state.position[number] + arm
            found[number] = toward(ends[0].body, pin) - np.cross(spin, np.cross(spin, arm))
            done.add(body)
        assert len(rest) < len(pending)
        pending = rest
    return found


@over(range(16))
def test_points_are_off_by_no_more_than_their_mobility_allows(seed):
    mech, state = looped_tree(seed, bodies=(3, 15))
    model = compile_mechanism(mech)
    run = begun(model, state)
    names = held_links(mech, model, run, seed, "half")
    found = locked(mech, state, names)
    run.set_free(mask(run, model, names))
    run.evaluate()
    number = seed % len(model.bodies)
    body, point = model.bodies[number], (0.3, -0.2, 0.1)
    bound = run.point_error(model.core, number, point)
    axes = np.eye(3)
    along = [mobility(mech, found.state, body, point, each) for each in axes]
    pairs = ((0, 1), (0, 2), (1, 2))
    both = [mobility(mech, found.state, body, point, axes[i] + axes[j]) for i, j in pairs]
    full = np.diag(along)
    for (i, j), value in zip(pairs, both, strict=True):
        full[i, j] = full[j, i] = 0.5 * (value - along[i] - along[j])
    exact = np.sqrt(run.distance * max(np.linalg.eigvalsh(full)[-1], 0.0))
    assert np.isclose(bound, exact, rtol=1e-5, atol=1e-9)
    change = [
        point_motion(each, found.state, body, point)
        for each in (found.accelerations(), found.free_accelerations())
    ]
    assert np.linalg.norm(change[0] - change[1]) <= bound * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("way", ["loops", "fast loops", "uneven loops"])
@over(range(8))
def test_after_every_decision_what_was_asked_for_holds(seed, way):
    assert not what_is_wrong(seed, way)


# Runs.


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "slider-crank"])
def test_runs_with_all_joints_free_are_those_of_lagrange(name):
    mech = LINKAGES[name]()
    mech.gravity = (1.0, -5.0, 2.0)
    exact = bc.simulate(mech, 0.5, formulation="lagrange", tolerance=1e-11, output_step=0.1)
    found = bc.simulate(mech, 0.5, formulation="adaptive", max_error=0.0, step=5e-4, output_step=0.1)
    for body in exact.bodies:
        np.testing.assert_allclose(found.body_poses(body)[0], exact.body(body).position, atol=2e-8)


def test_loops_stay_closed_and_energy_is_kept():
    """Rows are met after each step; what closing them takes falls as the error of the method."""
    mech = linkages.five_bar()
    mech.gravity = (1.0, -5.0, 2.0)
    off = []
    for step in (4e-3, 2e-3, 1e-3):
        ledger = Ledger(mech)
        ledger.run.limit(0.0, True, 0.0, False, -1)
        ledger.run.start(ledger.model.core, *ledger.model.initial.arrays)
        assert ledger.run.advance(round(1.0 / step), step) == round(1.0 / step)
        assert ledger.run.loop_error < 1e-11
        off.append(abs(ledger.off()))
    assert min(off[0] / off[1], off[1] / off[2]) > 10.0


def test_a_drive_leads_a_loop_whose_joints_give_way():
    """They are never locked, for what leads them would have to stop."""
    mech = linkages.four_bar()
    crank = next(iter(mech.joints))
    mech.add_drive("motor", crank, position=bc.Harmonic(0.3, 4.0))
    exact = bc.simulate(mech, 0.5, formulation="lagrange", tolerance=1e-11, output_step=0.1)
    found = bc.simulate(
        mech, 0.5, formulation="adaptive", max_error=0.5, max_joints=1, step=5e-4, output_step=0.1
    )
    for body in exact.bodies:
        np.testing.assert_allclose(found.body_poses(body)[0], exact.body(body).position, atol=1e-7)


def test_the_state_of_a_run_meets_its_rows():
    mech, state = looped_tree(3, speed=3.0)
    model = compile_mechanism(mech)
    run = begun(model, state)
    run.limit(0.1, True, 1.0, False, -1)
    assert run.advance(50, 1e-3) == 50
    reached = state_of(run, model)
    closed = bc.prepare(mech, "lagrange").project(reached)
    np.testing.assert_allclose(closed.position, reached.position, atol=1e-9)
    np.testing.assert_allclose(closed.velocity, reached.velocity, atol=1e-9)


def test_rows_of_velocities_alone_hold_no_positions():
    """A blade that turns evenly on ice makes a circle; in a hinge's loop it is one row more."""
    mech = bc.Mechanism("ice", gravity=(0.0, 0.0, 0.0))
    body = mech.add_body("skater", mass=2.0, inertia=(1.0, 1.0, 1.0))
    p = bc.EndPose("p")
    blade = bc.VelocityConstraint((p,), (bc.expression.dot(p.velocity, p.y_axis),))
    mech.add_joint("plane", bc.Planar(), mech.ground, body, velocity=(1.0, 0.0, np.pi))
    mech.add_constraint("blade", blade, "skater")
    found = bc.simulate(mech, 1.0, formulation="adaptive", max_error=0.1, step=1e-3)
    np.testing.assert_allclose(found.body_poses("skater")[0][-1], [0.0, 2.0 / np.pi, 0.0], atol=1e-8)


@pytest.mark.parametrize("bound", [0.0, 1e-3])
def test_a_loop_that_few_joints_begin_to_move_is_not_stopped_by_those_that_follow(bound):
    """Of Andrews' squeezer two links accelerate at the start, and no other: all must give way at once."""
    mech = bc.gallery.andrews_squeezer()
    exact = bc.simulate(mech, 0.02, formulation="lagrange", tolerance=1e-11, output_step=2e-3)
    found = bc.simulate(mech, 0.02, formulation="adaptive", max_error=bound, step=5e-5, output_step=2e-3)
    assert np.abs(found.energy.unexplained).max() < 1e-7
    for body in exact.bodies:
        np.testing.assert_allclose(
            found.body_poses(body)[0], exact.body(body).position, atol=1e-8 + 1e-3 * bound
        )
