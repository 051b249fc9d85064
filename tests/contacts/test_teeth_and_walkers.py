"""Gears, a ratchet and walkers that contact alone moves, against closed forms."""

import numpy as np
import pytest
from rigs.contact_scenes import G, stepped

import bellcrank as bc
from bellcrank.gallery import compass_walker, flank_error, ratchet_winch, rimless_wheel, spur_gears


@pytest.mark.parametrize(("teeth", "speed"), [((20, 30), 20.0), ((18, 41), -15.0)])
def test_gears_keep_the_ratio_of_their_teeth(teeth, speed):
    """The wheel is behind by what the facets of both flanks allow; ahead only where it flies for a moment."""
    module, facets, step = 0.004, 8, 2e-4
    run = stepped(spur_gears(teeth, module, facets=facets, speed=speed), 0.5, step)
    pinion, wheel = (run.joint(f"{name} shaft").position[:, 0] for name in ("pinion", "wheel"))
    bases = [0.5 * module * z * np.cos(np.pi / 9) for z in teeth]
    behind = np.sign(speed) * (pinion * bases[0] + wheel * bases[1])
    allowed = sum(flank_error(z, module, facets) for z in teeth)
    assert behind[20:].min() > -0.05 * allowed
    assert 0.7 * allowed < behind.max() < 1.02 * allowed


def test_teeth_share_the_load():
    """Elastic teeth: the force of a pair alone, half of it for each of two, and the contact ratio."""
    torque, base = 20.0, 0.06 * np.cos(np.pi / 9)
    run = bc.simulate(
        spur_gears(facets=24, torque=torque, stiffness=3e7), 0.12, formulation="recursive", output_step=2e-4
    )
    assert bc.verify(run)
    force = np.linalg.norm(run.force("teeth").wrench("wheel")[250:, 3:], axis=1)
    assert force.mean() == pytest.approx(torque / base, rel=0.01)
    points = run.contact("teeth").points()
    frame = np.searchsorted(run.time, points.time - 1e-12)
    across = np.zeros((len(run), 2))
    np.minimum.at(across[:, 0], frame, points.position[:, 1])
    np.maximum.at(across[:, 1], frame, points.position[:, 1])
    steady = across[250:500]  # a pitch is 50 ms
    two = np.ptp(steady, axis=1) > 0.003  # pairs on the line of action are a base pitch, 11.8 mm, apart
    assert np.mean(two) == pytest.approx(0.605, abs=0.1)  # softness lets teeth touch early


def test_a_ratchet_holds_by_a_strut():
    run = stepped(ratchet_winch(pull=0.0), 0.3, 2e-4)
    held = np.linalg.norm(run.joint("pawl pivot").force[-1])
    assert held == pytest.approx(20.0 * G * 0.03 / 0.064, rel=0.02)
    assert np.abs(run.joint("guide").position).max() < 1e-6


@pytest.mark.parametrize("pull", [1.55, 1.7])
def test_a_ratchet_falls_back_to_the_last_tooth(pull):
    hand = f"{pull * 20.0 * G * 0.03} * max(0, sign(0.4 - t))"
    run = stepped(ratchet_winch(pull=hand), 1.0, 2e-4, output_step=1e-3)
    height = run.joint("guide").position[:, 0] / (0.03 * 2 * np.pi / 16)
    assert height.max() > 1.0
    assert height[-1] == pytest.approx(np.floor(height.max()), abs=1e-3)


@pytest.mark.parametrize(("spokes", "gyration", "slope"), [(6, 0.3, 0.25), (8, 0.1, 0.15), (11, 0.5, 0.08)])
def test_a_rimless_wheel_loses_and_gains_by_hand(spokes, gyration, slope):
    half, step = np.pi / spokes, 1e-4
    wheel = rimless_wheel(spokes, slope=slope, gyration=gyration, speed=1.5)
    run = bc.simulate(wheel, 3.0, method="moreau", step=step, output_step=step)
    speed = -run.body("wheel").angular_velocity[:, 2]
    falls = np.flatnonzero(speed[:-2] - speed[2:] > 0.05 * speed[:-2])
    before = falls[np.diff(falls, prepend=-100) > 10]
    kept = (gyration**2 + np.cos(2 * half)) / (gyration**2 + 1)
    assert len(before) >= 3
    assert speed[before + 3] / speed[before] == pytest.approx(kept, rel=2e-3)
    gain = 4 * G * np.sin(half) * np.sin(slope) / (gyration**2 + 1)
    after = speed[before[:-1]] * kept
    assert speed[before[1:]] == pytest.approx(np.sqrt(after**2 + gain), rel=3e-3)


def test_a_rimless_wheel_books_what_it_loses():
    run = stepped(rimless_wheel(), 3.0, 2e-4)
    lost = run.statistics["lost_to_impacts"] + run.statistics["lost_to_friction"]
    assert run.energy.total[0] - run.energy.total[-1] == pytest.approx(lost, rel=1e-3)
    assert lost > 1.0


def test_a_rimless_wheel_stops_where_the_slope_is_too_gentle():
    """From 0.5 rad/s it does not pass the next spoke's top again, and comes to rest on two."""
    run = stepped(rimless_wheel(slope=0.02, speed=0.5), 6.0, 1e-3)
    assert np.abs(run.body("wheel").angular_velocity[-1]).max() < 1e-3


def test_a_compass_walks_as_garcia_has_it():
    """Fixed point 0.2003109, period 3.88246 for feet of no mass, by integration of their equations."""
    run = bc.simulate(compass_walker(foot_mass=1e-4), 8.0, method="moreau", step=1e-4, output_step=2e-4)
    velocity = run.body("left leg").velocity
    jumps = np.flatnonzero(np.linalg.norm(velocity[2:] - velocity[:-2], axis=1) > 0.02)
    strikes = jumps[np.diff(jumps, prepend=-1000) > 500]
    assert len(strikes) == 6
    assert np.diff(run.time[strikes]) * np.sqrt(G) == pytest.approx(3.88246, abs=0.02)
    assert np.abs(run.joint("hip").position[strikes, 0]) / 2 == pytest.approx(0.20031, abs=1.5e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: spur_gears((12, 30)), "undercut"),
        (lambda: spur_gears(backlash=-1.0, width=0.0), "width must be greater than zero.*backlash must not"),
        (lambda: ratchet_winch(3, depth=0.05), "teeth must be a whole number of at least 6"),
        (lambda: ratchet_winch(depth=0.05), "depth must be less than 0.3"),
        (lambda: rimless_wheel(3, slope=2.0), "spokes must be.*slope, downwards"),
        (lambda: compass_walker(foot_mass=0.0, steps=0), "foot_mass must be.*steps must be"),
    ],
)
def test_what_cannot_be_built(make, message):
    with pytest.raises(ValueError, match=message):
        make()
