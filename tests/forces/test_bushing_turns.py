"""A bushing follows the turns that it counts, past half a turn and back."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING

STIFFNESS, INERTIA, SPEED = 2.0, 0.1, 40.0  # turns by 8.9 rad, more than once round


def shaft(axis, held):
    mech = bc.Mechanism("shaft", gravity=(0.0, 0.0, 0.0))
    spin = SPEED * np.array(axis) / np.linalg.norm(axis)
    body = mech.add_body("body", 1.0, (INERTIA,) * 3, angular_velocity=spin)
    if held:
        mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=axis), body.marker(axis=axis))
    rubber = bc.Bushing(rotational_stiffness=(STIFFNESS,) * 3)
    mech.add_force("rubber", rubber, mech.ground.marker(), body.marker())
    return mech


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 2.0, 3.0)])
def test_a_bushing_winds_up_and_swings_back(axis, held, formulation):
    run = bc.simulate(shaft(axis, held), 3.0, formulation=formulation, tolerance=1e-9)
    way, frequency = np.array(axis) / np.linalg.norm(axis), np.sqrt(STIFFNESS / INERTIA)
    spin = run.body("body").angular_velocity @ way
    assert spin == pytest.approx(SPEED * np.cos(frequency * run.time), abs=1e-4)
    turned = SPEED / frequency * np.sin(frequency * run.time)
    torque = run.force("rubber").effort @ way
    assert torque == pytest.approx(-STIFFNESS * turned, abs=1e-4)
    assert np.abs(turned).max() > 2.0 * np.pi
    assert np.abs(run.energy.drift).max() < 1e-5


def test_a_wound_bushing_goes_on_from_a_state_and_a_file_and_passes_the_judge(tmp_path):
    mech = shaft((1.0, 2.0, 3.0), True)
    run = bc.simulate(mech, 1.0, tolerance=1e-9)
    run.save(tmp_path / "run.h5")
    assert bc.verify(bc.Trajectory.load(tmp_path / "run.h5")).passed
    rest = bc.simulate(mech, 0.6, state=run.at(0.4), tolerance=1e-9)
    assert rest.joint("pivot").velocity[-1] == pytest.approx(run.joint("pivot").velocity[-1], abs=1e-4)
