"""Mechanisms of the gallery that only contact holds together, against closed forms; prisms."""

import numpy as np
import pytest
from rigs.contact_scenes import floor, reference, stepped

import bellcrank as bc


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
