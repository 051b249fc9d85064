"""States of joints given by formulas: where they are, and how far round."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.expression import cos, rotation_z, sin, translation
from bellcrank.formulations.preparing import MOVING
from bellcrank.mechanism.rotation import multiply, rotate


def bead(turns):
    """A bead that turns on an oval coil; it starts so many turns up."""
    mech = bc.Mechanism("bead on a coil")
    body = mech.add_body("bead", mass=1.0, inertia=(0.1, 0.2, 0.3), com=(0.05, 0.02, 0.1))
    u = bc.symbol("u")
    coil = bc.CustomJoint((u,), translation(0.2 * cos(u), 0.3 * sin(u), 0.1 * u) @ rotation_z(u), units="rad")
    mech.add_joint("coil", coil, mech.ground, body, position=0.1 + 2 * np.pi * turns, velocity=1.0)
    bc.assemble(mech)
    return mech


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("turns", [-2.3, -0.9, 0.0, 0.6, 0.8, 1.4, 3.7])
def test_a_state_is_taken_as_it_is(formulation, turns):
    """Also by a system that comes from elsewhere, where a search would end in another turn."""
    there = bc.prepare(bead(turns), "lagrange").state()
    system = bc.prepare(bead(0.0), formulation)
    for _ in range(2):
        system.set_state(there)
        back = system.state()
        np.testing.assert_allclose(back.position, there.position, rtol=0, atol=1e-14)
        np.testing.assert_allclose(back.velocity, there.velocity, rtol=0, atol=1e-14)
        np.testing.assert_allclose(back.angles, [0.1 + 2 * np.pi * turns], rtol=0, atol=1e-13)


def odd_in_quaternions(turned, seed):
    """Two bodies, freely placed or on a hinge, with a potential that is odd in quaternions."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("odd", gravity=(0, 0, 0))
    one = mech.add_body("one", mass=2.0, inertia=(0.3, 0.4, 0.5), rotation=turned)
    q = rng.normal(size=4)
    two = mech.add_body("two", 1.5, (0.1, 0.2, 0.2), position=(1, 0, 0), rotation=q / np.linalg.norm(q))
    if seed % 2:
        axis, where = tuple(rng.normal(size=3)), (0.5, 0, 0)
        mech.add_joint(
            "hinge",
            bc.Revolute(),
            one.world_marker(where, axis=axis),
            two.world_marker(where, axis=axis),
        )
    a, b = bc.EndPose("a"), bc.EndPose("b")
    potential = 3 * a.quaternion[3] + 2 * b.quaternion[1] + (b.quaternion[2] - a.position.x) ** 2
    ends = one.marker(rotation=(0.6, 0, 0.8, 0)), two.marker((0.1, 0, 0), rotation=(0, 0, 0, 1))
    mech.add_force("force", bc.CustomForce((a, b), potential=potential), *ends)
    return mech


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("turned", [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0.6, -0.8)])
def test_the_sign_of_quaternions_in_formulas_is_that_of_the_description(turned, seed):
    """In all formulations, at states whose quaternions have either sign, and beyond half a turn."""
    mech = odd_in_quaternions(turned, seed)
    systems = [bc.prepare(mech, name) for name in ("lagrange", "recursive", "symbolic", "dca")]
    start = systems[0].state()
    for angle in (0.0, 1.0, 2.5, 4.0, 6.0):
        turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        places = [rotate(tuple(turn), tuple(place)) for place in start.position]
        turns = [multiply(tuple(turn), tuple(q)) for q in start.rotation]
        moved = replace(start, position=np.array(places), rotation=np.array(turns))
        right = systems[0].accelerate(moved)
        assert np.abs(right.angular).max() > 0.1
        for system in systems:
            for sign in (1.0, -1.0):
                found = system.accelerate(replace(moved, rotation=sign * moved.rotation))
                np.testing.assert_allclose(found.angular, right.angular, atol=1e-10)
                np.testing.assert_allclose(found.linear, right.linear, atol=1e-10)
