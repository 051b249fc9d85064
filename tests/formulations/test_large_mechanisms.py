"""Large mechanisms, which are eliminated in many stages: accelerations are as exact as refined ones."""

import numpy as np
import pytest
from rigs import chains
from rigs.machine import Machine

import bellcrank as bc
from bellcrank import gallery

LARGE = 1100
"""Joints: some twenty stages."""


def driven():
    """A zigzag chain with drives and springs on its way."""
    mech = chains.chain(np.ones(LARGE))
    for k in range(0, LARGE, 90):
        mech.add_drive(f"drive{k}", joint=f"joint{k}", position=bc.Harmonic(0.1, 1.0 + 0.01 * k))
    for k in range(3, LARGE, 51):
        mech.add_force(f"spring{k}", bc.SpringDamper(40.0, 0.5, 1.0), mech.ground, mech.bodies[f"link{k}"])
    return mech


def necklace():
    """A ring of balls on ball joints, closed at the ground: a loop without a redundant row."""
    mech = bc.Mechanism("necklace")
    turn = 2.0 * np.pi / LARGE
    points = [
        np.array([np.cos(turn * k), 0.1 * np.sin(5 * turn * k), np.sin(turn * k)]) for k in range(LARGE)
    ]
    points = [LARGE * 0.05 * p for p in points]
    last = mech.ground
    for k in range(LARGE):
        body = mech.ground if k == LARGE - 1 else chains.link(mech, f"link{k}", points[k], points[k + 1], 1.0)
        chains.pin(mech, f"joint{k}", last, body, points[k], bc.Spherical())
        last = body
    return mech


def star():
    """A hub with many arms, which the factorization takes apart."""
    mech = chains.chain(np.ones(LARGE))
    hub = mech.bodies["link9"]
    for k in range(12):
        out = np.array([0.0, np.cos(0.5 * k), np.sin(0.5 * k)])
        near, far = hub.position + 0.2 * out, hub.position + out
        chains.pin(mech, f"pin{k}", hub, chains.link(mech, f"arm{k}", near, far, 1.0), near)
    return mech


def stopped():
    """A chain with a stop at its first joint that it does not reach, and one next to it that it starts at."""
    mech = chains.hinged_rods(LARGE)
    for k, lower in ((0, -3.0), (1, 0.0)):
        mech.replace(mech.joints[f"pivot {k}"], limits=bc.Limit(lower=lower))
    return mech


def thin(count):
    """Oblique rods so thin that factors lose digits."""
    mech = chains.chain(np.ones(count), kinds=(bc.Revolute,))
    axis = np.array([5.0, 1.0, -1.5]) / np.linalg.norm([5.0, 1.0, -1.5])
    for body in list(mech.bodies.values()):
        mech.replace(body, inertia=0.03 * (np.eye(3) - (1.0 - 1e-5) * np.outer(axis, axis)))
    return mech


MECHANISMS = {
    "random chain": lambda: gallery.random_tree(LARGE, "chain", seed=3),
    "random branches": lambda: gallery.random_tree(LARGE, "branch", seed=3),
    "binary tree": lambda: gallery.random_tree(LARGE, "binary", seed=3),
    "zigzag": lambda: chains.chain(np.ones(LARGE)),
    "straight": lambda: chains.hinged_rods(LARGE),
    "driven": driven,
    "necklace": necklace,
    "redundant rows": lambda: gallery.ladder(120),
    "wide masses": lambda: chains.chain(np.geomspace(1.0, 1e6, LARGE)),
    "thin": lambda: thin(LARGE),
    "hub": star,
    "stops": stopped,
}


def relative(found, expected):
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def accelerations(mechanism, refinements):
    """Of a mechanism on its constraints, as they are and refined: linear, angular, multipliers."""
    projected = Machine(mechanism)
    projected.system.project()
    for options in ({}, {"refinements": refinements}):
        machine = Machine(projected.model, **options)
        machine.set(projected.system.state())
        yield machine.system.accelerate()


@pytest.mark.parametrize("name", MECHANISMS)
def test_as_exact_as_refined_accelerations(name):
    mech = MECHANISMS[name]()
    found, expected = accelerations(mech, 2)
    for a, b in zip(found[: 2 if name == "redundant rows" else 3], expected, strict=False):
        assert relative(a, b) < 1e-10


def test_where_rounding_takes_a_pivot():
    """Then the diagonal is shifted."""
    mech = chains.hinged_rods(12_000)
    found, expected = accelerations(mech, 3)
    for a, b in zip(found[:2], expected, strict=False):
        assert relative(a, b) < 1e-12


def test_where_forces_are_large():
    """A shift of the diagonal is refined there, if rounding asks for one."""
    mech = gallery.chain(2000, angle=1.0)
    found, expected = accelerations(mech, 3)
    for a, b in zip(found, expected, strict=True):
        assert relative(a, b) < 1e-9


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_runs_are_the_same(method):
    mech = MECHANISMS["zigzag"]()
    ends = []
    for options in ({}, {"refinements": 1}):
        machine = Machine(mech, **options)
        machine.system.project()
        run = machine.run(0.02, method=method, frames=3)
        assert run.outcome["status"] == "finished"
        assert run.C.max() < 1e-12
        ends.append(run)
    assert np.abs(ends[0].position[-1] - ends[1].position[-1]).max() < 1e-9
    assert relative(ends[0].reactions[-1], ends[1].reactions[-1]) < 1e-9
