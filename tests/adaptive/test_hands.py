"""Hands on adaptive runs, and what pictures follow: against forces by formulas, and against poses."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.mechanism.rotation_arrays import product, rotate
from bellcrank.viewer.twin import Hand, Hold
from benchmarks.adaptive_linkages import molecule

POINT, TARGET, FIRM, SLOW = (0.3, -0.2, 0.1), (2.0, 1.5, -0.5), 40.0, 3.0


def tree(atoms=30, loads=True):
    """A molecule, some of whose atoms have forces fixed in the world."""
    made = molecule(atoms, 3, even=True)
    bodies = np.arange(0, atoms, 5)
    return made.loaded(bodies, np.tile([0.3, 0.1, -0.2], (len(bodies), 1))) if loads else made


def placed(run, bodies, position, rotation, state):
    """Poses in the world after moves, of those before: each body behind the one that carries it."""
    state[0][bodies], state[1][bodies] = position, rotation
    world = {}

    def pose(body):
        if body not in world:
            at, turn = state[0][body], state[1][body]
            if (carrier := int(run.carriers[body])) >= 0:
                base, around = pose(carrier)
                at, turn = base + rotate(around, at), product(around, turn)
            world[body] = at, turn
        return world[body]

    return [pose(body) for body in range(len(run.carriers))]


def test_a_hand_pulls_no_harder_than_it_may():
    """As a constant force would that is as large, as long as its target is far away."""
    mech = tree(6, loads=False).mechanism()
    pulled = mech.copy()
    pulled.add_force("pull", bc.Wrench(force=(5.0, 0.0, 0.0)), pulled.bodies["link 4"].marker(POINT))
    exact = bc.start(pulled, formulation="recursive", method="rk4", step=1e-3)
    run = bc.start(mech, formulation="adaptive", step=1e-3, max_error=0.0)
    run.pull("link 4", (1e9, 0.0, 0.0), POINT, stiffness=1e3, max_force=5.0)
    run.advance(steps=300)
    exact.advance(0.3)
    np.testing.assert_allclose(run.pose("link 4")[0], exact.state.position[4], rtol=0, atol=1e-6)


@pytest.mark.parametrize("body", ["link 17", "link 20"], ids=["free", "with a force fixed in the world"])
def test_a_hand_pulls_as_a_force_by_a_formula_does(body):
    """All joints free, against `recursive`; it lets go on the way."""
    mech = tree().mechanism()
    twin = mech.copy()
    hand = Hand(body, 1)
    hand.add_to(twin)
    exact = bc.start(twin, formulation="recursive", method="rk4", step=1e-3)
    exact.inputs.update(Hold(FIRM, SLOW, np.array(POINT), np.array(TARGET)).values(hand))
    run = bc.start(mech, formulation="adaptive", method="rk4", step=1e-3, max_error=0.0)
    run.pull(body, TARGET, POINT, FIRM, SLOW)
    for turn in range(2):
        run.advance(steps=200)
        exact.advance(0.2)
        for number, name in enumerate(run.model.bodies):
            np.testing.assert_allclose(run.pose(name)[0], exact.state.position[number], rtol=0, atol=1e-7)
        if turn == 0:
            run.let_go(body)
            exact.inputs.update(dict.fromkeys(hand.inputs, 0.0))
    assert np.linalg.norm(exact.state.position - run.model.initial.position, axis=1).max() > 0.2


def test_a_hand_frees_what_it_needs_within_the_error():
    run = bc.start(tree(400, loads=False).mechanism(), formulation="adaptive", step=1e-3, max_error=0.1)
    run.advance(steps=5)
    assert run.free == ()
    run.pull("link 200", np.add(run.pose("link 200")[0], (1.0, 0.0, 0.0)), stiffness=FIRM, damping=SLOW)
    run.advance(steps=300)
    assert 0 < len(run.free) < 200
    assert run.error <= 0.1


def test_moves_tell_where_everything_is():
    """Relative poses of what moved, put together, are the poses; what did not move is not told."""
    run = bc.start(tree(120).mechanism(), formulation="adaptive", step=1e-3, max_error=0.3)
    count = len(run.model.bodies)
    state, told = (np.zeros((count, 3)), np.zeros((count, 4))), []
    for part in range(6):
        moved = run.moves()
        told.append(len(moved[0]))
        for body, (position, rotation) in enumerate(placed(run, *moved, state)):
            there, turn = run.pose(run.model.bodies[body])
            np.testing.assert_allclose(position, there, rtol=0, atol=1e-11)
            assert abs(abs(rotation @ turn) - 1.0) < 1e-12
        run.advance(steps=10 + part)
    assert told[0] == count
    assert 0 < max(told[1:]) < count
    assert [run.model.bodies[body] for body in run.free_bodies] == [
        name.replace("hinge", "link") for name in run.free
    ]


def test_limits_change_on_the_way_and_say_whether_joints_bound():
    mech = tree(60, loads=False).mechanism()
    run = bc.start(mech, formulation="adaptive", step=1e-3, max_error=1e-3, max_joints=5, max_loss=np.inf)
    run.pull("link 30", (9.0, 0.0, 0.0), stiffness=FIRM, damping=SLOW)
    run.advance(steps=20)
    assert (len(run.free), run.is_bounded) == (5, True)
    run.limit(max_joints=np.inf)
    run.advance(steps=8)
    assert run.max_joints is None
    assert not run.is_bounded
    assert len(run.free) > 5
    assert run.error <= 1e-3
    relative = run.error
    run.limit(max_error=1e-2, measure="rms")
    assert (run.measure, run.max_error) == ("rms", 1e-2)
    assert run.error != relative


@pytest.mark.parametrize(("given", "message"), [
    ({"body": "link 99", "target": (0, 0, 0)}, "link 99"),
    ({"body": "link 1", "target": (0, 0)}, "target"),
    ({"body": "link 1", "target": (0, 0, 0), "stiffness": -1.0}, "at least 0"),
])  # fmt: skip
def test_what_no_hand_can_be_is_refused(given, message):
    run = bc.start(tree(5).mechanism(), formulation="adaptive", step=1e-3)
    with pytest.raises(MechanismError, match=message):
        run.pull(**given)
    run.stop()
    with pytest.raises(MechanismError, match="has ended"):
        run.pull("link 1", (0, 0, 0))


def test_where_their_number_bounds_joints_make_room_for_those_that_matter_more():
    """A hand takes hold elsewhere twice, with as many joints as one of them takes."""
    mech = molecule(2000, even=True).mechanism()
    limits = {"max_error": 1e-3, "max_loss": np.inf, "max_joints": 30}
    run = bc.start(mech, formulation="adaptive", step=1e-3, output_step=0.05, **limits)
    for body in ("link 1000", "link 300", "link 1700"):
        firm = 144.0 / max(run.yielding(body))
        slow = 2.0 * np.sqrt(firm / run.yielding(body)[0])
        at = np.add(run.pose(body)[0], (3.0, 0.0, 0.0))
        run.pull(body, at, stiffness=firm, damping=slow, max_force=3.0 * firm)
        for _ in range(4):
            run.advance(steps=50)
            assert run.error < 0.03
            assert len(run.free) <= 30
        run.let_go(body)
