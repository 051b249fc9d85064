"""Adaptive dynamics in which joints are locked and freed one time after another, against welds."""

import numpy as np
from rigs.locked_motion import locked, squared_norm
from rigs.moving_trees import SIZES, held_joints, moving_tree

from bellcrank import _core

ROUNDS = 4
# Decades of mass, and how far accelerations may be off, of the norm of all: joins lose digits of light bodies
# that carry heavy ones, and runs of uneven masses claim no error below 1e-4. Losses, of the energy at first.
DIGITS = {0.5: 1e-9, 3.0: 1e-8, 10.0: 1e-4}
LOSSES = {0.5: 1e-10, 3.0: 1e-8, 10.0: 1e-5}


def begun(model, state):
    """Adaptive dynamics at a state, every joint free."""
    run = _core.AdaptiveDynamics(model.core)
    run.start(model.core, *state.arrays)
    return run


def mask(run, model, names):
    """Per link whether it stays free where the joints of these names are locked."""
    return ~np.isin(run.blocks, [block for name in names for block in model.joint(name).blocks])


def what_is_wrong(seed):
    """What is wrong with a random tree as random joints are locked and freed, in words; "" for nothing."""
    rng = np.random.default_rng([seed, 22])
    decades, speed = float(rng.choice(list(DIGITS))), float(rng.choice((0.0, 1.0, 100.0)))
    mech, state = moving_tree(seed, decades=decades, speed=speed, further=seed % 4 == 3)
    found = locked(mech, state, [])
    run, all_energy = begun(found.model, state), _energy(found.model, state)
    for round_ in range(ROUNDS):
        size = str(rng.choice(SIZES, p=(0.1, 0.35, 0.35, 0.15, 0.05)))
        names = held_joints(mech, int(rng.integers(1 << 30)), size)
        found = locked(mech, state, names)
        loss, state = run.set_free(mask(run, found.model, names)), found.state
        run.evaluate()
        what = f"{size} of {len(mech.joints)} locked in round {round_}, {decades} decades, speed {speed}"
        energy = _energy(found.model, state)
        errors = {"loss": abs(loss - found.loss), "energy": abs(run.kinetic_energy - energy)}
        for name, error in errors.items():
            if not error <= LOSSES[decades] * all_energy + 1e-20:
                return f"{what}: {name} off by {error:.1e} J of {all_energy:.1e} J at the start"
        free, held = found.free_accelerations(), found.accelerations()
        norms = [squared_norm(found.model, state, each.linear, each.angular) for each in (free, held)]
        whole = max(*norms, 1e-6 * found.model.mass.sum())
        linear, angular = run.motions(found.model.core)
        change = linear - held.linear, angular - held.angular
        off = np.sqrt(squared_norm(found.model, state, *change) / whole)
        if not off <= DIGITS[decades]:
            return f"{what}: accelerations off by {off:.1e} of all"
        off = abs(run.distance - found.distance()) / whole
        if not off <= 10.0 * DIGITS[decades]:
            return f"{what}: the squared distance is off by {off:.1e} of all"
    return ""


def _energy(model, state):
    return 0.5 * squared_norm(model, state, state.velocity, state.angular_velocity)
