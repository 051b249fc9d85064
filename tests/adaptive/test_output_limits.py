"""Limits of errors of single points in adaptive runs: what they are by welds, and after every decision."""

import numpy as np
import pytest
from rigs.adaptive_decisions import is_free, locked_names, state_of
from rigs.driven_trees import driven_tree
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, point_motion, squared_norm
from rigs.moving_trees import held_joints, moving_tree
from rigs.seeds import over

import bellcrank as bc
from bellcrank.errors import MechanismError
from benchmarks.adaptive_linkages import molecule


def tree(seed, **given):
    """Of all kinds in turn; with the joints that are driven."""
    if seed % 3 == 2:
        return driven_tree(seed, bodies=(2, 40), **given)
    return *moving_tree(seed, bodies=(2, 40), further=seed % 3 == 1, **given), []


def by_welds(found, body, point):
    free, held = found.free_accelerations(), found.accelerations()
    motions = (point_motion(each, found.state, found.model.bodies[body], point) for each in (free, held))
    return np.linalg.norm(np.subtract(*motions))


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
@over(range(50))
def test_after_every_decision_points_are_within_their_limits(seed, decades):
    """A thousand of them; the first of each tree is judged by welds and by a run that begins there."""
    step = 1e-3 if decades < 1.0 else 1e-8
    mech, state, _ = tree(seed, decades=decades)
    rng = np.random.default_rng([seed, 31])
    run, model = begun(locked(mech, state, []).model, state), locked(mech, state, []).model
    bodies = rng.choice(len(model.bodies), size=min(3, len(model.bodies)), replace=False).tolist()
    points = rng.normal(0.0, 0.3, (len(bodies), 3))
    asked = [(body, point, np.inf) for body, point in zip(bodies, points.tolist(), strict=True)]
    run.limit_outputs(model.core, asked)
    run.limit(1e30, False, np.inf, False, -1)
    run.set_free(np.ones(len(run.blocks), dtype=bool))
    run.evaluate()
    rounding = run.output_errors  # none is claimed below it
    run.set_free(np.zeros(len(run.blocks), dtype=bool))
    run.evaluate()
    largest = run.output_errors
    limits = largest * 10.0 ** rng.uniform(-3.0, 0.5, len(bodies)) + 1e-9 * (1.0 + largest.max())
    limits = np.maximum(limits, 10.0 * rounding)
    asked = [(body, point, limit) for (body, point, _), limit in zip(asked, limits.tolist(), strict=True)]
    run.limit_outputs(model.core, asked)
    for number in range(10):
        run.evaluate()
        run.decide()
        is_all = np.all(is_free(run) | (np.diff(run.first_freedoms) == 0))
        assert is_all or np.all(run.output_errors <= limits)
        if number == 0:
            names, here = locked_names(run, model), state_of(run, model)
            fresh = begun(model, here)
            fresh.limit_outputs(model.core, asked)
            fresh.set_free(mask(fresh, model, names))
            fresh.evaluate()
            size = largest.max() + 1e-9
            np.testing.assert_allclose(fresh.output_errors, run.output_errors, rtol=0, atol=1e-4 * size)
            driven = {drive.coordinate.joint for drive in mech.drives.values()}
            found = locked(mech, here, [name for name in names if name not in driven])
            if decades < 1.0:
                for body, point, limit in asked:
                    assert by_welds(found, body, point) <= limit * (1.0 + 1e-6)
        had = run.kinetic_energy + model.mass.sum()
        if run.advance(int(rng.integers(1, 5)), step) == 0 or not run.kinetic_energy < 100.0 * had:
            return  # the step is too long for its springs


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
