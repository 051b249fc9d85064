"""Friction of what rests: whether it holds, by what margin, what each bears; against closed forms."""

from math import asin, atan, cos, pi, radians, sin, tan

import numpy as np
import pytest
from rigs.rubbing import PINS, four_bar, holding, jack, pushed_drawer, rub, toggle, two_shafts, wedge
from scipy.optimize import brentq

import bellcrank as bc
from bellcrank.errors import MechanismError

G = 9.81


def on_a_slope(degrees, friction, mass=3.0):
    """A block on a rail that falls along its x axis."""
    slope = radians(degrees)
    mech = bc.Mechanism("slope", gravity=(0.0, -G, 0.0))
    block = mech.add_body("block", mass, (0.1, 0.1, 0.1), rotation=(cos(slope / 2), 0, 0, -sin(slope / 2)))
    along = mech.ground.marker(rotation=(cos(slope / 2), 0, 0, -sin(slope / 2)))
    mech.add_joint("rail", bc.PrismaticX(), along, block.marker())
    mech.add_force("rub", friction, "rail")
    return mech


@pytest.mark.parametrize("degrees", [10.0, 25.0, 26.0, 60.0])
def test_a_block_on_a_slope(degrees):
    """The coefficient over the slope, whatever the block weighs."""
    mu, slope = tan(radians(25.5)), radians(degrees)
    found = bc.statics(on_a_slope(degrees, rub(bc.Slide(1.0, mu))))
    assert found.margin == pytest.approx(mu / tan(slope), rel=1e-12)
    assert found.holds == (degrees < 25.5)
    assert found.slips == (() if found.holds else ("rub",))
    assert found.load_margin == (np.inf if found.holds else 0.0)
    friction = found.friction["rub"]
    assert found.forces["rub"] == {"x [N]": friction.effort}
    assert friction.effort == pytest.approx(-3.0 * G * sin(slope), rel=1e-12)
    assert friction.limit == pytest.approx(3.0 * G * mu * cos(slope), rel=1e-12)
    assert friction.utilisation == pytest.approx(tan(slope) / mu, rel=1e-12)
    assert friction.unit == "N"
    assert friction.unique
    assert np.abs(found.state.position).max() < 1e-15
    assert np.linalg.norm(found.joints["rail"].force) == pytest.approx(3.0 * G * cos(slope), rel=1e-12)


def test_constant_friction_and_friction_of_the_load():
    """F + k mu N >= k m g sin: loads may grow until the constant part is used up."""
    slope, mu, force = radians(20.0), 0.2, 12.0
    found = bc.statics(on_a_slope(20.0, rub(bc.Slide(1.0, mu), coulomb=force)))
    fall, press = 3.0 * G * sin(slope), 3.0 * G * mu * cos(slope)
    assert found.margin == pytest.approx((force + press) / fall, rel=1e-12)
    assert found.load_margin == pytest.approx(force / (fall - press), rel=1e-12)


@pytest.mark.parametrize("angle", [0.05, 0.12, 0.2])
def test_a_toggle(angle):
    """The circles that the line of force just touches: a sin(angle + slope - asin(2 r/b)) = 2 r."""
    slope = asin(0.15 * sin(angle) / 0.5)
    least = brentq(lambda r: 0.15 * sin(angle + slope - asin(2 * r / 0.5)) - 2 * r, 0.0, 0.1, xtol=1e-15)
    found = bc.statics(toggle(angle))
    assert found.margin == pytest.approx(0.01 / least, rel=1e-10)
    assert found.holds == (angle < 0.1337)
    assert found.load_margin == (np.inf if found.holds else 0.0)
    assert set(found.friction) == {"rub A", "rub B", "rub C"}


@pytest.mark.parametrize("angle", [10.0, 19.99, 20.01, 30.0])
def test_a_wedge(angle):
    """It holds up to twice the angle of friction: what one face must bear, the other can."""
    found = bc.statics(wedge(angle))
    assert found.margin == pytest.approx(tan(radians(10.0)) / tan(radians(angle) / 2), rel=1e-9)
    assert found.holds == (angle < 20.0)
    assert not found.friction["rub lower"].unique


@pytest.mark.parametrize("flank", [0.0, radians(15.0)])
@pytest.mark.parametrize("pitch", [0.005, 0.02, -0.005])
def test_a_jack(pitch, flank):
    """Where tan(rho) = tan(lead) the margin is one, whatever it bears."""
    lead = atan(abs(pitch) / (2 * pi * 0.012))
    found = bc.statics(jack(pitch, flank=flank))
    margin = 0.15 / (sin(lead) * (cos(flank) * cos(lead) + 0.15 * sin(lead)))
    assert found.margin == pytest.approx(margin, rel=1e-12)
    assert found.holds == (0.15 / cos(flank) > tan(lead))
    assert (found.load_margin == np.inf) == found.holds


def test_a_worm_locks_itself():
    """Its friction bears (1 - efficiency back) times the moment of the wheel, which is all of it."""
    kind = bc.WormGear((1, 30), radians(4.0), 0.1)
    mech = two_shafts(kind, 0.0, 7.0)
    found = bc.statics(mech)
    assert found.margin == pytest.approx(1.0 - kind.efficiencies()[1], rel=1e-12)
    assert found.holds
    assert found.load_margin == np.inf
    assert abs(found.friction["gear"].effort) == pytest.approx(7.0 / 30.0, rel=1e-12)
    loose = bc.WormGear((1, 30), radians(20.0), 0.1)
    mech.replace(mech.constraints["gear"], kind=loose)
    found = bc.statics(mech)
    assert found.margin == pytest.approx(1.0 - loose.efficiencies()[1], rel=1e-12)
    assert found.slips == ("gear",)


@pytest.mark.parametrize("offset", [0.2, 0.6, 0.7, 1.5])
def test_a_drawer(offset):
    """2 mu e/L, whatever pushes it."""
    found = bc.statics(pushed_drawer(offset))
    assert found.margin == pytest.approx(2 * 0.3 * offset / 0.4, rel=1e-12)
    assert found.holds == (offset > 2 / 3)


@pytest.mark.parametrize("part", [0.2, 0.999, 1.001, 3.0])
def test_a_linkage_whose_pins_share(part):
    """The sum of T |rate by the crank's| over the torque; a share of least norm would give way at 16 %."""
    rates = bc.simulate(four_bar({}, 1.0), 1e-3)
    away = sum(effort * abs(rates.joint(pin).velocity[0, 0]) for pin, effort in PINS.items())
    found = bc.statics(four_bar(PINS, torque=part * away))
    assert found.margin == pytest.approx(1.0 / part, rel=1e-10)
    assert found.load_margin == pytest.approx(1.0 / part, rel=1e-10)
    assert found.holds == (part < 1.0)
    assert set(found.slips) == (set() if found.holds else {f"friction {pin}" for pin in PINS})
    assert not any(f.unique for f in found.friction.values())
    work = sum(found.friction[f"friction {pin}"].effort * rates.joint(pin).velocity[0, 0] for pin in PINS)
    assert work == pytest.approx(-part * away, rel=1e-10)


def arm(*frictions):
    """An arm of 2 kg whose weight has an arm of 0.3 m about its pin."""
    mech = bc.Mechanism("arm", gravity=(0.0, -G, 0.0))
    body = mech.add_body("arm", 2.0, (0.1, 0.1, 0.1), com=(0.3, 0.0, 0.0))
    mech.add_joint("pin", bc.Revolute(), mech.ground.marker(), body.marker())
    for k, friction in enumerate(frictions):
        mech.add_force(f"friction {k}", friction, "pin")
    return mech


def test_what_hangs_on_what_a_brake_holds_comes_to_rest():
    mech = arm(bc.Brake(10.0, regularisation_velocity=None))
    bob = mech.add_body("bob", 1.0, (0.01, 0.01, 0.01), position=(1.0, 0.0, 0.0))
    end = mech.bodies["arm"].marker((0.6, 0.0, 0.0))
    mech.add_joint("hook", bc.Revolute(), end, bob.marker((-0.4, 0.0, 0.0)))
    found = bc.statics(mech)
    assert found.position["pin"][0] == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(found.state.position[1], (0.6, -0.4, 0.0), atol=1e-9)
    moment = 2.0 * G * 0.3 + G * 0.6
    assert found.friction["friction 0"].utilisation == pytest.approx(moment / 10.0, rel=1e-9)
    assert found.slips == ("friction 0",)
    assert found.equilibrium.degrees_of_freedom == 1
    assert found.equilibrium.stability == "stable"
    hanging = bc.statics(mech, friction=False)
    assert hanging.position["pin"][0] == pytest.approx(-pi / 2, abs=1e-9)
    assert hanging.friction == {}
    assert hanging.equilibrium.notes == ("friction that holds is left out: 'friction 0'",)


def test_a_brake_that_is_open_holds_nothing():
    level = bc.Table([0.0, 1.0, 2.0, 9.0], [0.0, 0.0, 8.0, 8.0], interpolation="linear")
    mech = arm(bc.Brake(level, regularisation_velocity=None))
    assert bc.statics(mech, 0.5).position["pin"][0] == pytest.approx(-pi / 2, abs=1e-9)
    found = bc.statics(mech, 3.0)
    assert found.position["pin"][0] == 0.0
    assert found.margin == pytest.approx(8.0 / (2.0 * G * 0.3), rel=1e-12)


@pytest.mark.parametrize("backward", [False, True])
def test_a_freewheel_holds_one_way(backward):
    """Gravity turns the arm backward."""
    found = bc.statics(arm(bc.Freewheel(backward=backward)))
    assert found.holds != backward
    assert found.margin == (0.0 if backward else np.inf)
    assert found.slips == (("friction 0",) if backward else ())


def test_two_frictions_on_one_pin_share():
    found = bc.statics(arm(holding(4.0), holding(8.0)))
    assert found.margin == pytest.approx(12.0 / (2.0 * G * 0.3), rel=1e-12)
    assert not found.friction["friction 0"].unique


def test_a_drive_that_stands_still_bears_what_friction_does_not():
    """Nothing says how much that is: all of it is the drive's, and none is determined."""
    mech = arm(holding(4.0))
    mech.add_drive("motor", "pin", position=0.0)
    found = bc.statics(mech)
    assert found.holds
    assert found.margin == np.inf
    assert found.drives["motor"].effort == pytest.approx(2.0 * G * 0.3, rel=1e-12)
    assert not found.drives["motor"].unique
    assert found.friction["friction 0"].effort == 0.0
    assert not found.friction["friction 0"].unique
    assert found.joints["pin"].reaction_unique
    mech = four_bar(PINS)
    mech.add_drive("motor", "A", position=0.8)
    found = bc.statics(mech)
    assert not found.drives["motor"].unique
    assert not any(f.unique for f in found.friction.values())


def test_without_friction_nothing_is_said_of_it():
    mech = arm()
    found = bc.statics(mech)
    assert found.holds
    assert found.friction == {}
    assert "friction" not in str(found)


def test_a_rest_that_friction_holds_has_no_derivatives():
    mech = arm(holding(9.0))
    mech.add_parameter("mass", 2.0)
    with pytest.raises(MechanismError, match="of 'friction 0': it holds the mechanism where it happens"):
        bc.statics(mech).sensitivity(of="joint.pin.Fx", by="mass")


def test_what_is_printed():
    text = str(bc.statics(on_a_slope(20.0, rub(bc.Slide(1.0, 0.5)))))
    assert "friction holds it (0.7279 times as much would), and would under any load" in text
    assert "friction rub exerts     -10.066 N of 13.828, 72.8 %" in text
    text = str(bc.statics(on_a_slope(40.0, rub(bc.Slide(1.0, 0.5)))))
    assert "friction does not hold it (1.678 times as much would): 'rub' begins to slip" in text
    text = str(bc.statics(arm(bc.Freewheel(backward=True))))
    assert "friction does not hold it (however much there were, none would): 'friction 0' begins" in text
