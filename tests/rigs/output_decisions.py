"""Random moving trees in which adaptive dynamics decides with limits of errors of single points."""

import numpy as np
from rigs.adaptive_decisions import is_free, locked_names, state_of
from rigs.driven_trees import driven_tree
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import locked, point_motion
from rigs.moving_trees import moving_tree

DECISIONS = 10
STEPS = {0.5: 1e-3, 10.0: 1e-8}  # s, by decades of mass


def tree(seed, **given):
    """Of all kinds in turn; with the joints that are driven."""
    if seed % 3 == 2:
        return driven_tree(seed, bodies=(2, 40), **given)
    return *moving_tree(seed, bodies=(2, 40), further=seed % 3 == 1, **given), []


def by_welds(found, body, point):
    free, held = found.free_accelerations(), found.accelerations()
    motions = (point_motion(each, found.state, found.model.bodies[body], point) for each in (free, held))
    return np.linalg.norm(np.subtract(*motions))


def what_is_wrong(seed, decades=None):
    """What is wrong with decisions about a random tree, in words; "" for nothing.

    The first is judged by welds and by a run that begins there.
    """
    rng = np.random.default_rng([seed, 31])
    decades = float(rng.choice(list(STEPS))) if decades is None else decades
    mech, state, driven = tree(seed, decades=decades)
    model = locked(mech, state, []).model
    run = begun(model, state)
    asked, largest = _limits(rng, run, model)
    for number in range(DECISIONS):
        run.evaluate()
        run.decide()
        is_all = np.all(is_free(run) | (np.diff(run.first_freedoms) == 0))
        for error, (body, _, limit) in zip(run.output_errors, asked, strict=True):
            if not error <= limit and not is_all and not _is_rounding(run, asked):
                return f"{decades} decades, {number}: body {body} is off by {error:.6e}, not {limit:.6e}"
        if number == 0:
            names, here = locked_names(run, model), state_of(run, model)
            fresh = begun(model, here)
            fresh.limit_outputs(model.core, asked)
            fresh.set_free(mask(fresh, model, names))
            fresh.evaluate()
            if not np.allclose(fresh.output_errors, run.output_errors, rtol=0, atol=1e-4 * largest):
                return f"{decades} decades: {run.output_errors} are {fresh.output_errors} begun there"
            found = locked(mech, here, [name for name in names if name not in driven])
            moving = {block for name in driven for block in model.joint(name).blocks}
            partly = np.isin(run.blocks, list(moving)) & ~is_free(run) & (np.diff(run.first_freedoms) > 0)
            by_weld = decades < 1.0 and not np.any(partly)  # which holds whole joints
            for body, point, limit in asked if by_weld else ():
                if not by_welds(found, body, point) <= limit * (1.0 + 1e-6):
                    return (
                        f"body {body} is off by {by_welds(found, body, point):.6e} by welds, not {limit:.6e}"
                    )
        had = run.kinetic_energy + model.mass.sum()
        taken = run.advance(int(rng.integers(1, 5)), STEPS[decades])
        if taken == 0 or not run.kinetic_energy < 100.0 * had:
            return ""  # the step is too long for its springs
    return ""


def _is_rounding(run, asked):
    """Whether less is not claimed with all joints free either: whole accelerations have grown by orders."""
    run.set_free(np.ones(len(run.blocks), dtype=bool))
    run.evaluate()
    return np.any(run.output_errors > 0.1 * np.array([limit for *_, limit in asked]))


def _limits(rng, run, model):
    """Random limits for points of up to three bodies, and the largest error where all joints are locked."""
    bodies = rng.choice(len(model.bodies), size=min(3, len(model.bodies)), replace=False).tolist()
    points = rng.normal(0.0, 0.3, (len(bodies), 3)).tolist()
    run.limit_outputs(model.core, [(b, point, np.inf) for b, point in zip(bodies, points, strict=True)])
    run.limit(1e30, False, np.inf, False, -1)
    found = []
    for free in (True, False):
        run.set_free(np.full(len(run.blocks), free))
        run.evaluate()
        found.append(run.output_errors)
    rounding, errors = found  # no error is claimed below the first
    largest = errors.max() + 1e-9
    limits = errors * 10.0 ** rng.uniform(-3.0, 0.5, len(bodies)) + 1e-9 * (1.0 + largest)
    limits = np.maximum(limits, 10.0 * rounding).tolist()
    asked = list(zip(bodies, points, limits, strict=True))
    run.limit_outputs(model.core, asked)
    return asked, largest
