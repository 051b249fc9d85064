"""Random linkages for quasi-statics, at rest, with forces on some of their bodies."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery.random_trees import TOPOLOGIES, random_tree


def mechanism(rng, number, size=None, forces=True):
    """A random tree with random joints and loads; every third one floats, every second falls."""
    size = int(rng.integers(2, 40)) if size is None else size
    floats = number % 3 == 0
    gravity = (0.0, 0.0, -9.81 * (number % 2) * forces)
    topology = TOPOLOGIES[number % len(TOPOLOGIES)]
    mech = random_tree(
        size, topology, seed=int(rng.integers(1 << 30)), floating=floats, efforts=forces, gravity=gravity
    )
    names = list(mech.bodies)
    for load in range(int(rng.integers(1, 4)) * forces):
        body = mech.bodies[names[int(rng.integers(len(names)))]]
        axes = "world" if load % 2 else "marker"
        vectors = (tuple(rng.normal(size=3).tolist()) for _ in range(2))
        kind = bc.Wrench(force=next(vectors), moment=next(vectors), axes=axes)
        mech.add_force(f"load {load}", kind, body.marker(tuple(rng.normal(size=3).tolist())))
    return mech


def hinge():
    mech = bc.Mechanism("hinge")
    rod = mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1))
    mech.add_joint("pin", bc.Revolute(), mech.ground, rod)
    return mech


def obstructed(what):
    """A double pendulum with something that the formulation cannot take."""
    mech = hinge()
    rod = mech.bodies["rod"]
    tip = mech.add_body("tip", mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1), position=(1, 0, 0))
    mech.add_joint("knee", bc.Revolute(), rod.marker((1, 0, 0)), tip.marker())
    if what == "drive 'motor'":
        mech.add_drive("motor", "pin", "theta_z", position=bc.Polynomial((0.0, 1.0)))
    elif what == "constraint 'wheels'":
        mech.add_constraint("wheels", bc.Gear(ratio=2.0), "pin", "knee")
    elif what == "lower limit of joint 'pin'":
        mech.replace(mech.joints["pin"], limits=bc.Limit(-1, 1))
    elif what == "joint 'shut'":
        mech.add_joint("shut", bc.Spherical(), mech.ground.marker((2, 0, 0)), tip.marker((1, 0, 0)))
    elif what == "'thrust'":
        mech.add_force("push", bc.JointMotor(bc.Input("thrust", 1.0, unit="N m")), joint="pin")
    return mech


def at_rest(mech):
    """The model in its initial configuration, without velocities."""
    model = compile_mechanism(mech)
    state = model.initial
    still = replace(state, velocity=0.0 * state.velocity, angular_velocity=0.0 * state.angular_velocity)
    return model.starting(still, model.given)


def linkage(rng, measure, number, size=None, forces=True, step=1e-2, with_totals=True):
    """Steps of a random linkage, its model, and the links that hang on nothing."""
    model = at_rest(mechanism(rng, number, size, forces))
    core = _core.Quasistatics(model.core, step, measure, with_totals)
    core.start(model.core, 0.0, model.initial.position, model.initial.rotation)
    return core, model, np.flatnonzero(core.blocks < 0)


def per_joint(core):
    """Norms of the accelerations of all joints (links,)."""
    squares = np.concatenate([[0.0], core.accelerations() ** 2])
    begins = core.first_freedoms
    return np.sqrt([np.sum(squares[1 + a : 1 + b]) for a, b in pairwise(begins)])


def largest_difference(run, mechanism):
    """Between the run's accelerations and those of a run that computes all, by the largest."""
    exact = bc.start(mechanism, mode="quasistatic")
    exact.refine(0.0)
    whole = max(abs(rates[0]) for rates in exact.accelerations.values())
    found = run.accelerations
    return (
        max(abs(rates[0] - found.get(name, [0.0])[0]) for name, rates in exact.accelerations.items()) / whole
    )
