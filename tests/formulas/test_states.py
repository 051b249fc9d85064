"""States of joints given by formulas: where they are, and how far round."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.expression import cos, rotation_z, sin, translation
from bellcrank.formulations.preparing import MOVING


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
