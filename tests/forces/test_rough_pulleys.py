"""Elastic ropes that rub on a pulley, against Euler's law, rigid ropes and closed forms."""

from math import exp, pi

import numpy as np
import pytest
from rigs.ropes import FORMULATIONS, G, weight, wheel

import bellcrank as bc

EA = 1e6
SURE = {"method": "bdf", "tolerance": 1e-8}


def atwood(mu, tensions, masses=(10.0, 2.0), pulley=None, **more):
    """Two weights on a rope over a pulley of 0.2 m, which stands or turns, stretched by tensions."""
    mech = bc.Mechanism("atwood")
    hung = [weight(mech, name, (x, 0, -1.0), m) for name, x, m in zip("ab", (-0.2, 0.2), masses, strict=True)]
    top = mech.ground.marker((0, 0, 1), z_axis="y")
    if pulley is not None:
        top = wheel(mech, "top", (0, 0, 1), 1.0, pulley)
    given = {"rough": 2, "coefficient": mu, "damping": 300.0, **more}
    lengths = tuple(2.0 / (1.0 + t / EA) for t in tensions)
    mech.add_force(
        "rope", bc.ElasticRope((0.0, 0.2, 0.0), EA, lengths=lengths, **given), hung[0], top, hung[1]
    )
    return mech


@pytest.mark.parametrize(("mu", "acceleration"), [(0.2, 4.460), (0.3, 3.155)])
def test_it_slips_over_a_pulley(mu, acceleration):
    """By Euler's ratio e the weights accelerate by (m1 - e m2)/(m1 + e m2) g."""
    e = exp(mu * pi)
    expected = (10.0 - 2.0 * e) / (10.0 + 2.0 * e) * G
    assert expected == pytest.approx(acceleration, abs=1e-3)
    mech = atwood(mu, (10.0 * (G - expected), 2.0 * (G + expected)), slip_resistance=1e-3)
    run = bc.simulate(mech, 0.3, **SURE)
    assert -run.body("a").velocity[-1, 2] / 0.3 == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_slip_meets_a_resistance(formulation):
    """With T1 = e T2 + c v the speed is a M/c (1 - exp(-c t/M)), M = m1 + e m2; (T1 - T2) v is lost."""
    e, c = exp(0.3 * pi), 1.0
    reduced, begins = 10.0 + 2.0 * e, (10.0 - 2.0 * e) / (10.0 + 2.0 * e) * G
    mech = atwood(0.3, (10.0 * (G - begins), 2.0 * (G + begins)))
    run = bc.simulate(mech, 0.3, formulation=formulation, ledger=True, **SURE)
    speed = -run.body("a").velocity[-1, 2]
    assert speed == pytest.approx(begins * reduced / c * (1.0 - exp(-c * 0.3 / reduced)), rel=2e-5)
    rope = run.force("rope")
    tight, loose, slip = (rope.quantity(name)[-1] for name in ("tension 1", "tension 2", "slip 2"))
    assert tight == pytest.approx(e * loose + c * abs(slip), rel=1e-4)
    assert abs(slip) == pytest.approx(speed, rel=1e-3)
    assert rope.quantity("loss")[-1] == pytest.approx((tight - loose) * speed, rel=1e-3)
    assert bc.verify(mech, run).passed


def test_it_holds_up_to_eulers_ratio():
    """0.6 holds 10 kg by 2 kg, for as long as one waits; at rest each side is stretched by its own weight."""
    run = bc.simulate(atwood(0.6, (10 * G, 2 * G)), 60.0)
    rope = run.force("rope")
    assert np.ptp(run.body("a").position[:, 2]) < 1e-10
    assert [rope.quantity(f"tension {k}")[-1] for k in (1, 2)] == pytest.approx([10 * G, 2 * G], rel=1e-4)
    used = (10 - 2) / (10 + 2) / np.tanh(0.3 * pi)
    assert rope.quantity("utilisation 2")[-1] == pytest.approx(used, rel=1e-4)
    rest = bc.statics(atwood(0.6, (0.0, 0.0)))
    sunk = [rest.at.bodies[name].position[2] + 1.0 for name in "ab"]
    assert sunk == pytest.approx([-2.0 * 10 * G / EA, -2.0 * 2 * G / EA], rel=1e-3)
    noted = bc.statics(atwood(0.2, (0.0, 0.0))).equilibrium.notes
    assert any("it slips there, since utilisation 2 is 2" in note for note in noted)


@pytest.mark.parametrize("turns", [0, 1])
def test_turns_around_it_count(turns):
    """exp(mu (2 turns + 1) pi): 1 % less than that holds."""
    ratio = exp(0.2 * pi * (2 * turns + 1))
    moved = []
    for heavier in (0.99 * ratio, 1.01 * ratio):
        masses = 2.0 * heavier, 2.0
        run = bc.simulate(atwood(0.2, np.array(masses) * G, masses, turns=turns), 1.0)
        moved.append(np.ptp(run.body("a").position[:, 2]))
    assert moved[0] < 2e-5
    assert moved[1] > 1e-2


def test_a_pulley_that_turns_is_taken_along():
    """With enough friction, as if it gripped: (m1 - m2) g/(m1 + m2 + J/R^2); it creeps by the strains."""
    expected = G / (5.0 + 0.04 / 0.2**2)
    tensions = 3.0 * (G - expected), 2.0 * (G + expected)
    run = bc.simulate(atwood(0.6, tensions, (3.0, 2.0), pulley=0.04), 0.5, **SURE)
    assert run.body("a").velocity[-1, 2] == pytest.approx(-expected * 0.5, rel=1e-4)
    rope = run.force("rope")
    tight, loose = (rope.quantity(f"tension {k}")[-1] for k in (1, 2))
    rim = 0.2 * abs(run.joint("axle top").velocity[-1, 0])
    assert rope.quantity("slip 2")[-1] == 0.0
    assert abs(rope.quantity("creep 2")[-1]) == pytest.approx(rim * (tight - loose) / EA, rel=1e-3)


def test_a_drum_hauls_over_a_rough_beam():
    """It winds while the rope slips: the drum pulls e times the weight, and books close."""
    mech = bc.Mechanism("haul")
    drum, load = wheel(mech, "drum", (-2, 0, 0), 10.0, 0.3), weight(mech, "load", (0.2, 0, -1), 5.0)
    mech.add_drive("winch", "axle drum", velocity=bc.Ramp(0.0, -1.0, duration=0.2))
    kind = bc.ElasticRope((0.25, 0.2, 0), EA, rough=2, coefficient=0.2, damping=3000.0, pretension=5 * G)
    mech.add_force("rope", kind, drum, mech.ground.marker((0, 0, 2), z_axis="y"), load)
    run = bc.simulate(mech, 1.0, ledger=True, **SURE)
    tight, loose, slip = (
        run.force("rope").quantity(name)[-1] for name in ("tension 1", "tension 2", "slip 2")
    )
    wrap = bc.rope_path(mech, "rope").wraps[1]
    assert loose == pytest.approx(5 * G, rel=1e-3)
    assert tight == pytest.approx(exp(0.2 * wrap) * loose + abs(slip), rel=1e-3)
    assert run.body("load").velocity[-1, 2] == pytest.approx(0.25, rel=1e-3)
    balance = run.energy_balance()
    assert np.abs(balance.residual).max() < 1e-5 * balance.exchanged
    sure = bc.simulate(mech, 1.0, ledger=True, method="bdf", tolerance=1e-9)
    assert bc.verify(mech, sure).passed


def test_files_name_bodies(tmp_path):
    """A name alone is that of a wheel, even where a joint has it too; flywheels are written out."""
    mech = atwood(0.2, (20.0, 20.0))
    bc.save(mech, tmp_path / "rope.yaml")
    assert bc.load(tmp_path / "rope.yaml") == mech
    named = bc.Mechanism("named")
    for name in ("in", "out"):
        body = named.add_body(name, 1.0, (0.1, 0.1, 0.1), position=(0.5 * (name == "out"), 0, 0))
        named.join(name, bc.Revolute(), ["ground", body], at=body.position, axis="z")
    belt = named.add_force("belt", bc.FlatBelt((0.05, 0.1), 1e4, coefficients=(0.4, 0.4)), "in", "out")
    assert [marker.body for marker in belt.markers] == ["in", "out"]


def test_a_rope_that_becomes_rough_has_flywheels_too():
    mech = bc.Mechanism("m")
    load = weight(mech, "load", (0.2, 0, -1), 5.0)
    top = mech.ground.marker((0, 0, 2), z_axis="y")
    mech.add_force("rope", bc.ElasticRope((0, 0.2, 0), EA), mech.ground.marker((-0.2, 0, 1)), top, load)
    assert list(mech.bodies) == ["load"]
    mech.replace(mech.forces["rope"], kind=bc.ElasticRope((0, 0.2, 0), EA, rough=2, coefficient=0.2))
    assert list(mech.bodies) == ["load", "rope/1", "rope/2"]
    assert len(mech.forces["rope"].joint_coordinates) == 2


def test_faults():
    with pytest.raises(bc.MechanismError, match="a rough end needs a coefficient"):
        bc.ElasticRope((0.0, 0.2, 0.0), EA, rough=2)
    with pytest.raises(bc.MechanismError, match="rough names end 1, which is no wheel between the ends"):
        bc.ElasticRope((0.0, 0.2, 0.0), EA, rough=1, coefficient=0.1)
    with pytest.raises(bc.MechanismError, match="coefficient and turns are for a rope with a rough end"):
        bc.ElasticRope((0.0, 0.2, 0.0), EA, coefficient=0.1)
    with pytest.raises(bc.MechanismError, match="end 2 is rough and gripped"):
        bc.ElasticRope((0.0, 0.2, 0.0), EA, gripped=(2,), rough=2, coefficient=0.1)
