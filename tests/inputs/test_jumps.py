"""A drive whose velocity jumps gives an impulse, to which all bodies respond, in every formulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "symbolic")
LENGTH, INERTIA = 1.0, 0.1  # m, kg m² about the centre of a link of 1 kg


def chain(count, closed=False):
    """Links in a row on parallel hinges, the first one led by an input."""
    mech = bc.Mechanism("chain", gravity=(0, 0, 0))
    body = None
    for number in range(count):
        link = mech.add_body(
            f"link {number}", mass=1.0, inertia=(INERTIA,) * 3, position=(number + 0.5, 0, 0)
        )
        before = mech.ground.marker() if body is None else body.marker((0.5, 0, 0))
        mech.add_joint(f"hinge {number}", bc.Revolute(), before, link.marker((-0.5, 0, 0)))
        body = link
    if closed:
        mech.add_joint("slot", bc.PinInSlot(), mech.ground.marker((count, 0, 0)), body.marker((0.5, 0, 0)))
    mech.add_drive("motor", "hinge 0", velocity=bc.Input("speed", 0.0))
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_links_by_hand(formulation):
    """One impulse at the second hinge, which moves with LENGTH ω: ω₂ = −ω m h LENGTH / (J + m h²)."""
    run = bc.start(chain(2), 1.0, formulation=formulation, method="dopri5")
    run.advance(0.1)
    run.inputs["speed"] = 0.5
    half = LENGTH / 2
    expected = -0.5 * half * LENGTH / (INERTIA + half**2)
    assert_allclose(run.state.angular_velocity[:, 2], [0.5, expected], rtol=1e-12)


@pytest.mark.parametrize("closed", [False, True])
def test_formulations_agree(closed):
    found = []
    for formulation in FORMULATIONS:
        run = bc.start(chain(5, closed), 1.0, formulation=formulation, method="dopri5")
        run.advance(0.1)
        run.inputs["speed"] = 0.5
        found.append(run.state.angular_velocity[:, 2])
    assert np.ptp(found[0]) > 0.5
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-10)
