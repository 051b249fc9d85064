"""Mechanisms that contact alone holds together or moves, against closed forms."""

import numpy as np
import pytest
from rigs.contact_scenes import G, floor, reference, stepped

import bellcrank as bc
from bellcrank.gallery import compass_walker, flank_error, ratchet_winch, rimless_wheel, spur_gears


@pytest.mark.parametrize(("share", "stands"), [(1.01, True), (0.99, False)])
def test_an_arch_stands_or_falls_by_its_thickness(share, stands):
    least = reference("K09_arch")["least_thickness_over_radius"]
    run = stepped(bc.gallery.arch(16, share * least), 0.4, 1e-3, output_step=0.02)
    crown = run.body("voussoir 8").position[:, 1]
    sunk = crown[0] - crown[-1]
    assert sunk < 1e-9 if stands else sunk > 5e-3


@pytest.mark.parametrize(("share", "stands"), [(1.01, True), (0.98, False)])
def test_an_arch_stands_or_slides_by_its_friction(share, stands):
    least = reference("K09_arch")["least_friction_at_thickness"]
    mech = bc.gallery.arch(16, least["thickness"], friction=share * least["friction"])
    run = bc.simulate(mech, 0.2, method="moreau", step=1e-3, output_step=0.02)
    crown = run.body("voussoir 8").position[:, 1]
    sunk = crown[0] - crown[-1]
    assert sunk < 1e-9 if stands else sunk > 1e-4


def test_a_stone_of_the_arch_is_a_sector():
    """Mass and inertia by a sum over small pieces."""
    stone = bc.gallery.arch(5, 0.4, radius=1.5, width=0.2, density=10.0).bodies["voussoir 1"]
    half, count = np.pi / 10, 600
    r = 1.2 + 0.6 * (np.arange(count) + 0.5) / count
    a = half * (2 * (np.arange(count) + 0.5) / count - 1)
    weight = 10.0 * 0.2 * np.outer(r, np.ones(count)) * (0.6 / count) * (2 * half / count)
    x, y = np.outer(r, np.cos(a)), np.outer(r, np.sin(a))
    mass = weight.sum()
    centre = (weight * x).sum() / mass
    assert stone.mass == pytest.approx(mass, rel=1e-5)
    assert np.hypot(*stone.position[:2]) == pytest.approx(centre, rel=1e-5)
    along, across = (weight * (x - centre) ** 2).sum(), (weight * y**2).sum()
    deep = mass * 0.2**2 / 12
    assert np.diag(stone.inertia) == pytest.approx([across + deep, along + deep, along + across], rel=1e-4)


@pytest.mark.parametrize("slots", [4, 5])
def test_a_geneva_wheel_is_turned_by_a_slot(slots):
    speed = 2 * np.pi
    run = stepped(bc.gallery.geneva_drive(slots, speed=speed), 1.0, 2.5e-4)
    turned, rate = run.joint("wheel pivot").position[:, 0], run.joint("wheel pivot").velocity[:, 0]
    assert np.degrees(-turned[-1]) == pytest.approx(360 / slots, abs=0.2)
    q = np.sin(np.pi / slots)
    assert np.max(-rate) / speed == pytest.approx(q / (1 - q), rel=2e-3)
    angle = run.joint("crank pivot").position[:, 0] - np.pi
    inside = np.abs(angle) < np.pi / 2 - np.pi / slots - 0.02
    wanted = np.arctan2(q * np.sin(angle), 1 - q * np.cos(angle)) + np.pi / slots
    assert -turned[inside] == pytest.approx(wanted[inside], abs=4e-3)


def test_a_geneva_wheel_is_locked_between():
    """A torque on the wheel does not turn it while the pin is out of the slots."""
    mech = bc.gallery.geneva_drive()
    mech.add_force("torque", bc.JointMotor(2.0), mech.joints["wheel pivot"])
    run = stepped(mech, 0.3, 2.5e-4)
    assert np.max(np.abs(run.joint("wheel pivot").position)) < 2e-3


def test_a_follower_rises_as_the_cam_has_it():
    run = stepped(bc.gallery.cam_and_follower(speed=20.0), 0.32, 1e-4)
    angle, rise = run.joint("shaft").position[:, 0], run.joint("guide").position[:, 0]
    begin = np.pi - np.arccos(0.012 / 0.024)  # of the flank; it ends after 36.6 degrees
    flank = (angle > begin) & (angle < begin + 0.63)
    assert rise[flank] == pytest.approx(0.028 * (1 / np.cos(angle[flank] - begin) - 1), abs=3e-6)
    assert rise[angle < begin - 0.01] == pytest.approx(0.0, abs=1e-8)
    assert rise.max() == pytest.approx(0.012, abs=3e-6)


@pytest.mark.parametrize(("speed", "jumps"), [(60.0, False), (90.0, True)])
def test_a_follower_jumps_if_the_cam_is_too_fast(speed, jumps):
    """By hand it leaves the cam above 68.7 rad/s, and is still up where the cam is down."""
    run = stepped(bc.gallery.cam_and_follower(speed=speed), 2 * np.pi / speed, 2e-5)
    angle, rise = run.joint("shaft").position[:, 0], run.joint("guide").position[:, 0]
    assert (rise.max() > 0.0125) == jumps
    down = np.interp(np.radians(218), angle, rise)
    cam = 0.028 * (1 / np.cos(np.radians(22)) - 1)  # the flank ends at 240 degrees
    assert (down > cam + 5e-4) == jumps


def test_a_prism_slides_as_a_box_does():
    runs = []
    for shape in (
        bc.Box(size=(0.2, 0.1, 0.06), density=500.0),
        bc.Prism(
            outline=[(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)], length=0.06, density=500.0
        ),
    ):
        mech = bc.Mechanism("slider")
        mech.add_body("block", shapes=[shape], position=(0, 0, 0.03), velocity=(1.0, 0.2, 0.0))
        floor(mech, "floor", bc.Contact(1e6, restitution=0.0, friction=0.3), "block")
        runs.append(stepped(mech, 0.2, 1e-3).body("block").position[-1])
    assert runs[1] == pytest.approx(runs[0], abs=1e-9)


@pytest.mark.parametrize(
    ("outline", "message"),
    [
        ([(0, 0), (1, 0)], "outline must have at least three corners, got 2"),
        ([(0, 0), (0, 1), (1, 0)], r"must be convex, with corners counter-clockwise; .* several prisms"),
        ([(0, 0), (2, 0), (0.5, 0.5), (0, 2)], r"does not turn left at a corner, got \[0.5, 0.5\]"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], "a corner is given twice"),
        ([(0, 0), (1, 0), (2, 0), (0, 1)], r"does not turn left at a corner, got \[1.0, 0.0\]"),
        ([(1, 0), (-0.8, 0.6), (0.3, -0.95), (0.3, 0.95), (-0.8, -0.6)], "goes round more than once"),
        ([(0, 0), (1, 0), (0, float("nan"))], "outline"),
    ],
)
def test_outlines_that_no_prism_has(outline, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.Prism(outline=outline, length=1.0)


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
        spur_gears(facets=24, torque=torque, stiffness=3e7), 0.1, formulation="recursive", output_step=2e-4
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
