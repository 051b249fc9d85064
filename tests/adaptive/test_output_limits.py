"""Limits of errors of single points in adaptive runs: what they are by welds, and after every decision."""

import numpy as np
import pytest
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, squared_norm
from rigs.moving_trees import held_joints
from rigs.output_decisions import by_welds, tree, what_is_wrong
from rigs.seeds import over

import bellcrank as bc
from bellcrank.errors import MechanismError
from benchmarks.adaptive_linkages import molecule


@over(range(24))
def test_errors_of_points_are_those_of_welds(seed):
    """Of every body, in open nodes and far below the front."""
    mech, state, driven = tree(seed, speed=(1.0, 10.0)[seed % 2])
    names = [name for name in held_joints(mech, seed) if name not in driven]
    found = locked(mech, state, names)
    run, model, rng = begun(found.model, state), found.model, np.random.default_rng(seed)
    points = rng.normal(0.0, 0.3, (len(model.bodies), 3))
    run.limit_outputs(model.core, [(body, point, np.inf) for body, point in enumerate(points.tolist())])
    run.set_free(mask(run, model, names))
    run.evaluate()
    free = found.free_accelerations()
    size = np.sqrt(squared_norm(model, state, free.linear, free.angular) / model.mass.min()) + 1e-6
    for body, point in enumerate(points):
        assert run.output_errors[body] == pytest.approx(by_welds(found, body, point), abs=1e-9 * size)
        bound = run.point_error(model.core, body, point)
        assert run.output_errors[body] <= bound * (1.0 + 1e-9) + 1e-9 * size


@pytest.mark.parametrize("decades", [0.5, 10.0])
@over(range(20))
def test_after_every_decision_points_are_within_their_limits(seed, decades):
    assert not what_is_wrong(seed, decades)


def test_a_run_keeps_the_limit_of_a_hand_with_few_joints():
    """Fewer than where the error of all bodies is as small."""
    mech = molecule(400, 3, even=True)
    rng = np.random.default_rng(5)
    pulled = rng.permutation(400)[:6]
    mech = mech.loaded(pulled, 3.0 * rng.normal(size=(6, 3))).mechanism()
    hand = list(mech.bodies)[pulled[0]]
    marker = mech.bodies[hand].marker((0.1, 0.2, 0.3), name="tip")
    mech.add_force("none", bc.Wrench(force=(0.0, 0.0, 0.0)), marker)
    limits = {hand: 2e-3, f"{hand}.tip": 3e-3}
    run = bc.simulate(
        mech, 0.2, formulation="adaptive", step=2e-3, max_error=1e6, measure="rms", max_error_of=limits
    )
    for name, limit in limits.items():
        assert 0.0 < run.statistics[f"error of {name}"] <= limit
    assert 0 < run.free.max() < 400
    other = bc.simulate(mech, 0.2, formulation="adaptive", step=2e-3, max_error=2e-3, measure="rms")
    assert run.free.mean() < other.free.mean()


def test_limits_of_points_can_be_changed_on_the_way():
    run = bc.start(
        bc.gallery.chain(20), formulation="adaptive", step=1e-3, max_error=1e6, max_error_of={"rod 3": 1.0}
    )
    run.advance(steps=20)
    few = len(run.free)
    assert run.output_errors["rod 3"] <= 1.0
    run.limit(max_error_of={"rod 19": 1e-3, "rod 3": 1e-3})
    run.advance(steps=20)
    assert max(run.output_errors.values()) <= 1e-3
    assert len(run.free) > few
    assert dict(run.max_error_of) == {"rod 19": 1e-3, "rod 3": 1e-3}
    run.limit(max_error_of={})
    run.advance(steps=20)
    assert run.output_errors == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"rod 33": 1.0},
            r"max_error_of 'rod 33': there is no body or marker of this name; did you mean 'rod 3'",
        ),
        ({"rod 3": -1.0}, "max_error_of 'rod 3' must be at least 0, got -1"),
        ({"rod 3": "far"}, "max_error_of 'rod 3' must be a number, got 'far'"),
        (0.1, "max_error_of must be a Mapping, got 0.1; such as"),
    ],
)
def test_wrong_limits_of_points(given, message):
    mech = bc.gallery.chain(5)
    with pytest.raises(MechanismError, match=f"simulate: {message}"):
        bc.start(mech, formulation="adaptive", max_error_of=given)
    run = bc.start(mech, formulation="adaptive")
    with pytest.raises(MechanismError, match=f"limit: {message}"):
        run.limit(max_error_of=given)
