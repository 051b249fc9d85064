"""The man on the bicycle: the paper's counts, the equilibrium in which he sits, what a stone does."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery import CityBicycle, RiderData, man_on_bicycle, misplaced_stone

FLAT = misplaced_stone(0.0)
G = 9.81


def normal_force(run, name):
    """Of a tyre on its wheel (T,), N."""
    force = run.force(name)
    return force.effort[:, force.coordinates.index(f"{name.split()[0]}_wheel.force_z")]


@pytest.fixture(scope="module")
def coasting():
    return bc.simulate(man_on_bicycle(ground=FLAT), 1.0, output_step=0.01, tolerance=1e-5)


def test_the_papers_counts():
    mech = man_on_bicycle()
    system = bc.prepare(mech, "lagrange")
    system.accelerate()
    assert (len(mech.bodies), len(mech.joints)) == (17, 18)
    assert len(system.rows().names) == 92
    assert len(system.stats.dropped) == 7  # three of each plane loop, and one of the coaxial arms
    assert bc.info(mech).freedom == 17


def test_masses_are_those_of_rider_and_bicycle():
    mech = man_on_bicycle(rider=RiderData(height=1.6, mass=58.0))
    bicycle = sum(mass for mass, _ in CityBicycle().masses)
    assert bicycle == pytest.approx(16.5)
    assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(58.0 + bicycle)


def test_he_sits_in_equilibrium(coasting):
    """He coasts on flat ground, and nothing moves but the bicycle."""
    joints = [name for name in man_on_bicycle().joints if name.split()[0] in ("left", "right")]
    for name in [*joints, "bottom bracket", "steering"]:
        if coasting.joint(name).coordinates:
            assert np.max(np.abs(coasting.joint(name).position)) < 2e-3, name
    heights = [coasting.body(name).position[:, 2] for name in ("pelvis", "trunk", "frame")]
    assert max(np.ptp(height) for height in heights) < 5e-4
    loads = [normal_force(coasting, f"{end} tyre")[20:] for end in ("rear", "front")]
    assert np.mean(loads[0] + loads[1]) == pytest.approx(91.5 * G, rel=1e-3)
    assert min(load.min() for load in loads) > 300.0


def test_he_rolls_straight_and_loses_little(coasting):
    frame = coasting.body("frame")
    assert np.max(np.abs(frame.position[:, 1])) < 1e-3
    resistance = -91.5 * np.polyfit(coasting.time, frame.velocity[:, 0], 1)[0] / (91.5 * G)
    assert 0.003 < resistance < 0.012


@pytest.mark.parametrize("formulation", ["recursive", "symbolic", "dca"])
def test_formulations_agree_over_a_stone(formulation):
    mech = man_on_bicycle(ground=misplaced_stone(0.01, at=1.3))
    one, two = (
        bc.simulate(mech, 0.15, output_step=0.05, method="rk4", step=5e-4, formulation=name)
        for name in ("lagrange", formulation)
    )
    for body in ("trunk", "front_wheel", "left_shank"):
        assert two.body(body).position == pytest.approx(one.body(body).position, abs=1e-8)


def test_a_higher_stone_hits_harder():
    peaks, lifted = [], []
    for height in (0.005, 0.015, 0.03):
        mech = man_on_bicycle(ground=misplaced_stone(height, at=1.5))
        run = bc.simulate(mech, 0.8, output_step=0.002, tolerance=1e-5, accelerations=True)
        assert run.status == "finished"
        peaks.append(run.body("pelvis").acceleration[:, 2].max())
        lifted.append(run.body("front_wheel").position[:, 2].max() - run.body("front_wheel").position[0, 2])
    assert peaks[0] < 0.6 * peaks[1] < 0.6 * peaks[2]
    assert lifted[0] == pytest.approx(0.005, abs=0.003)
    assert lifted[2] > 0.03


def test_a_taller_rider_needs_a_higher_saddle():
    low = CityBicycle(seat_tube=(0.45, 0.14))
    bc.validate(man_on_bicycle(rider=RiderData(height=1.5), bicycle=low))
    with pytest.raises(ValueError, match=r"limbs of .* m do not reach over"):
        man_on_bicycle(rider=RiderData(height=1.3))
    with pytest.raises(ValueError, match="do not reach"):
        man_on_bicycle(bicycle=replace(low, grips=(1.3, 1.0)))
