"""Accelerations at rest against the other formulations."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import examples, floating
from rigs.agreement import close

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import Unsupported
from bellcrank.gallery.random_trees import TOPOLOGIES, random_tree
from bellcrank.mechanism import JOINT_KINDS

TOLERANCE = 1e-9
REASONS = "takes trees of joints|takes no stops|takes no rotors|given by formulas|bends in every direction"


def stopped(state):
    return replace(state, velocity=0.0 * state.velocity, angular_velocity=0.0 * state.angular_velocity)


def compared(mechanism, *others):
    """Accelerations of the formulation and of others agree at rest."""
    model = compile_mechanism(mechanism)
    state = stopped(bc.prepare(model, "lagrange").project(stopped(model.initial)))
    found = bc.prepare(model, "adaptive").accelerate(state)
    for other in others:
        expected = bc.prepare(model, other).accelerate(state)
        arrays = [np.hstack([each.linear, each.angular]) for each in (found, expected)]
        close(*arrays, TOLERANCE, other)
    return found, expected


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_random_trees(topology, floats):
    for seed, size in enumerate((1, 2, 5, 20, 100)):
        found, expected = compared(
            random_tree(size, topology, seed=seed, floating=floats), "recursive", "lagrange"
        )
        close(found.reactions, expected.reactions, 100 * TOLERANCE, "reactions")
        close(found.multipliers, expected.multipliers, 100 * TOLERANCE, "multipliers")


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_trees_of_two_thousand_bodies(topology):
    """A bush so large has bodies with so many joints that lagrange takes one of its rows for redundant."""
    others = ("recursive",) if topology == "bush" else ("recursive", "lagrange")
    compared(random_tree(2000, topology, seed=4), *others)


@pytest.mark.parametrize("name", JOINT_KINDS)
def test_joints_of_every_kind(name):
    """What joints leave of a pair of bodies: a tree is taken, or refused in words."""
    mech = floating.pair(examples.joint(name), seed=2, hung=True).mechanism
    if not _core.Adaptive.refusals(compile_mechanism(mech).core):
        compared(mech, "lagrange")
        return
    with pytest.raises(Unsupported, match=REASONS) as refused:
        bc.prepare(mech, "adaptive")
    assert "Use formulation='lagrange'" in str(refused.value)


def test_what_moves_is_refused():
    system = bc.prepare(random_tree(3, seed=0), "adaptive")
    with pytest.raises(NotImplementedError, match=r"bodies at rest; use formulation='recursive'"):
        system.accelerate()
