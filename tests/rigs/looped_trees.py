"""Random moving trees whose bodies more joints and rods connect, so that loops close, by seed.

What closes a loop is placed where the tree is, so it holds there; velocities follow by `lagrange`.
"""

from dataclasses import replace

import numpy as np
from rigs.locked_motion import squared_norm
from rigs.moving_trees import moving_tree
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism

# What closes loops, and how often.
CLOSING = {
    "Spherical": 0.3, "Revolute": 0.15, "Cylindrical": 0.1, "PointOnPlane": 0.1, "PointOnLine": 0.1,
    "Universal": 0.05, "Fixed": 0.05, "rod": 0.15,
}  # fmt: skip


def looped_tree(seed, *, loops=(1, 4), bodies=(3, 40), **options):
    """A random tree with random loops, and its state, whose velocities the loops allow.

    loops: the fewest and the most. options: of `moving_tree`. Bodies of a loop are neighbours or far apart;
    one may be the ground.
    """
    mech, state = moving_tree(seed, bodies=bodies, **options)
    rng, model = np.random.default_rng([seed, 40]), compile_mechanism(mech)
    names = list(mech.bodies)
    numbers = {name: model.body_number(name) for name in names}
    for loop in range(int(rng.integers(loops[0], loops[1] + 1))):
        one, two = rng.choice(len(names) + 1, size=2, replace=False) - 1
        if min(one, two) >= 0 and rng.random() < 0.3:
            two = (one + 1) % len(names)
        if one == two:
            continue
        kind = str(rng.choice(list(CLOSING), p=list(CLOSING.values())))
        at, turn = rng.normal(size=3), Rotation.from_quat(rng.normal(size=4))
        ends = [
            _marker(mech, state, numbers, names[body] if body >= 0 else None, at, turn) for body in (one, two)
        ]
        if kind == "rod":
            far = _marker(
                mech, state, numbers, names[two] if two >= 0 else None, at + rng.normal(size=3), turn
            )
            mech.add_joint(f"loop {loop}", bc.Distance(), ends[0], far)
        else:
            mech.add_joint(f"loop {loop}", getattr(bc, kind)(), *ends)
    plain = replace(state, angles=None, contacts=None, source=None)
    closed = bc.prepare(mech, "lagrange").project(plain)
    while not _moves(model, closed, plain):
        loop = next(joint for joint in reversed(list(mech.joints.values())) if joint.name.startswith("loop"))
        mech.remove(loop)
        closed = bc.prepare(mech, "lagrange").project(plain)
    return mech, closed


def _moves(model, closed, before):
    """Whether loops leave some of the motion; those that leave none are taken out, the last first."""
    had, has = (
        squared_norm(model, state, state.velocity, state.angular_velocity) for state in (before, closed)
    )
    return had == 0.0 or has > 1e-6 * had


def _marker(mech, state, numbers, name, at, turn):
    """A marker of a body, or of the ground, at a place in the world."""
    if name is None:
        return mech.ground.marker(tuple(at), rotation=tuple(np.roll(turn.as_quat(), 1)))
    number = numbers[name]
    axes = Rotation.from_quat(np.roll(state.rotation[number], -1)).inv()
    offset = axes.apply(at - state.position[number])
    return mech.bodies[name].marker(tuple(offset), rotation=tuple(np.roll((axes * turn).as_quat(), 1)))


def held_links(mechanism, model, run, seed, size):
    """A random choice of joints that links of a run have, by name; size: one of moving_trees.SIZES."""
    rng, blocks = np.random.default_rng([seed, 41]), set(run.blocks.tolist())
    names = [
        name
        for name, joint in mechanism.joints.items()
        if joint.kind.name != "Free" and blocks & set(model.joint(name).blocks)
    ]
    counts = {"none": 0, "few": min(3, len(names)), "half": len(names) // 2}
    counts |= {"all but one": max(0, len(names) - 1), "all": len(names)}
    return [str(name) for name in rng.permutation(names)[: counts[size]]]
