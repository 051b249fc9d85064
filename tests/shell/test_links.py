"""Joint axes of links and points led to targets: the motion that comes of them, against closed forms."""

import numpy as np
import pytest
from scipy.linalg import expm

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

AXES = (
    "1 0 0 0 0 0",
    "0 0 0 1 0 0",
    "0 0 0 0 -2 0",
    "0 1 0 0 0 1",
    "0.48 -0.6 0.64 0.1 0.7 0.2",
    "0 0 -1 0.3 0 0.5",
)


def displacement(axis, q):
    """The (4, 4) displacement exp(q s) of a twist, angular over linear, scaled to unit length."""
    turn, slide = np.array(axis[:3]), np.array(axis[3:])
    size = np.linalg.norm(turn) or np.linalg.norm(slide)
    rate = np.zeros((4, 4))
    rate[:3, :3] = np.cross(np.eye(3), turn)
    rate[:3, 3] = slide
    return expm(q / size * rate)


def placed(position, rotation):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = matrix(tuple(np.array(rotation) / np.linalg.norm(rotation))), position
    return pose


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("frames", ["", "-pjt 0.3 0.1 -0.2 -pjE 3 1 -2 1 -djt -1 0.5 0.2 -djE 1 2 0 -1"])
def test_a_spatial_axis_moves_the_child_along_itself(shell, run, axis, frames):
    """The child's pose is D exp(q s) P⁻¹ with the joint's frames D on the parent and P on the child."""
    run("il ground rod", f"sl ground rod {frames} -s {axis} -q 0.7 -qdot 0.5", "sacc -r 1e-10 -a 1e-12")
    number = list(map(float, axis.split()))
    proximal, distal = np.eye(4), np.eye(4)
    if frames:
        proximal, distal = placed((0.3, 0.1, -0.2), (3, 1, -2, 1)), placed((-1, 0.5, 0.2), (1, 2, 0, -1))
    coordinate = run("pl rod").data["joints"]["rod"]["coordinates"]
    (q, rate) = next(iter(coordinate.values()))
    assert (q, rate) == pytest.approx((0.7, 0.5), abs=1e-9)
    run("run 0.4")
    (q, _) = next(iter(run("pl rod").data["joints"]["rod"]["coordinates"].values()))
    state = shell.session.state()
    expected = distal @ displacement(number, q) @ np.linalg.inv(proximal)
    np.testing.assert_allclose(placed(state.position[0], state.rotation[0]), expected, atol=1e-8)


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_given_again_is_the_same(shell, run, axis):
    run("il ground rod", "sl ground rod -djt 0 0 1 -pjE 1 1 0 0", f"sl ground rod -s {axis}")
    once = shell.session.mechanism
    run(f"sl ground rod -s {axis}", "sl ground rod -pjE 1 1 0 0")
    assert shell.session.mechanism == once
    run("sl ground rod -s 0 0 1 0 0 0")
    joint = shell.session.mechanism.joints["rod"]
    assert joint.kind == bc.Revolute()
    assert joint.marker_1.position == (0, 0, 1)
    assert joint.marker_1.rotation == pytest.approx((1, 0, 0, 0))


def test_another_axis_keeps_the_position_that_was_reached(shell, run):
    run("il ground rod", "sl ground rod -qdot 2", "sacc -r 1e-10 -a 1e-12", "run 0.25")
    run("sl ground rod -s 1 0 0 0 0 0", "run 1e-9")
    state = shell.session.state()
    np.testing.assert_allclose(state.rotation[0], (np.cos(0.25), np.sin(0.25), 0, 0), atol=1e-8)
    np.testing.assert_allclose(state.angular_velocity[0], (2, 0, 0), atol=1e-8)


def test_turned_frames_are_told_where_they_are_saved(shell, run, tmp_path):
    run("il ground rod", f"save {tmp_path / 'a.yaml'}")
    run("sl ground rod -s 0 1 0 0 0 0")
    assert "turned along their axes: rod" in run(f"save {tmp_path / 'b.yaml'}").text
    run("remove rod -all", "il ground rod")
    assert "saved turned" not in run(f"save {tmp_path / 'c.yaml'}").text


@pytest.mark.parametrize("order", [("off", "mass", "on"), ("mass", "off", "on"), ("off", "on", "mass")])
def test_weight_follows_mass_in_any_order(shell, run, order):
    lines = {"off": "sb rod -f g", "on": "sb rod -f g", "mass": "sb rod -m 3"}
    run("ib rod", "sb rod -if gravity g", "sf rod g -g 2", *(lines[word] for word in order))
    assert shell.session.mechanism.forces["rod.g"].kind.force == pytest.approx((0, 0, -6))
    run("sstepsize 0.5", "step 1")
    assert shell.session.state().velocity[0, 2] == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("off", [False, True])
def test_weight_follows_a_mass_that_is_a_parameter(shell, run, off):
    run("parameter m 2", "body rod mass=m inertia=[1, 1, 1]", "sb rod -if gravity g")
    toggles = ("sb rod -f g",) if off else ()
    run(*toggles, "parameter m 5", *toggles)
    assert shell.session.mechanism.forces["rod.g"].kind.force == pytest.approx((0, 0, -5 * 9.81))


def led(run, shell, targets, duration, frames=1):
    """Positions and velocities (n, 3) at the ends of the targets' durations."""
    found = []
    for target in targets:
        run(f"ilc car move_to_point -p {target[0]} {target[1]} {target[2]} -d {duration}", f"step {frames}")
        state = shell.session.state()
        found.append((state.position[0], state.velocity[0]))
    position, velocity = np.array(found).transpose(1, 0, 2)
    return position, velocity


def test_a_car_led_frame_by_frame_keeps_its_speed(shell, run):
    run("ib car", "sb car -vl 3 0 0", "gravity 0 0 -9.81")
    targets = np.outer(np.arange(1, 13), (0.1, 0, 0))
    position, velocity = led(run, shell, targets, "1/30")
    np.testing.assert_allclose(position, targets, atol=1e-9)
    np.testing.assert_allclose(velocity, np.tile((3, 0, 0), (12, 1)), atol=1e-7)
    within = []
    for number in range(13, 16):  # within the frames too
        run(f"ilc car move_to_point -p {number / 10} 0 0 -d 1/30", "run 1/30 output_step=0.00333333333333333")
        within.append(shell.session.now.history[-1].body("car").velocity[:, 0])
    np.testing.assert_allclose(np.concatenate(within), 3.0, atol=1e-6)


def test_a_car_led_round_a_bend_has_continuous_velocity(shell, run):
    """On a circle of 5 m at 3 m/s: targets are met, and speed stays within the error of the chords."""
    run("ib car", "sb car -t 5 0 0 -vl 0 3 0")
    angle = 3 / 5 * np.arange(1, 21) / 30
    targets = np.stack([5 * np.cos(angle), 5 * np.sin(angle), 0 * angle], axis=1)
    ends = []
    for target in targets:
        run(f"ilc car move_to_point -p {' '.join(map(repr, target.tolist()))} -d 1/30")
        run("run 1/30 output_step=0.00333333333333333")
        piece = shell.session.now.history[-1].body("car")
        np.testing.assert_allclose(piece.position[-1], target, atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(piece.velocity, axis=1), 3.0, atol=0.01)
        ends.append((piece.velocity[0], piece.velocity[-1]))
    first, last = np.array(ends).transpose(1, 0, 2)
    np.testing.assert_allclose(first[1:], last[:-1], atol=1e-8)


def test_longer_targets_join_too_and_the_last_one_is_a_place_of_rest(shell, run):
    run("ib car", "sstepsize 0.1")
    position, velocity = led(run, shell, [(1, 0, 0), (2, 0, 0), (3, 0, 0)], 0.5, frames=5)
    np.testing.assert_allclose(position[:, 0], (1, 2, 3), atol=1e-9)
    np.testing.assert_allclose(velocity[:, 0], (0, 2, 2), atol=1e-7)  # the first was a place of rest
    run("step 5")
    np.testing.assert_allclose(shell.session.state().position[0], (3, 0, 0), atol=1e-9)
    run("step 5")
    np.testing.assert_allclose(shell.session.state().velocity[0], 0.0, atol=1e-9)
    run("ilc car move_to_point -p 4 0 0 -d 0.5", "step 5")  # a new way, from rest to rest
    np.testing.assert_allclose(shell.session.state().velocity[0], 0.0, atol=1e-9)


def test_a_target_before_the_last_one_is_reached(shell, run):
    """Position, velocity and acceleration go on where the new way begins."""
    run("ib car", "sstepsize 0.1", "ilc car move_to_point -p 1 0 0 -d 1")
    run("run 0.3 output_step=0.1 accelerations=true")
    before = shell.session.now.history[-1].body("car")
    run("ilc car move_to_point -p 0 1 0 -d 0.5 -v 0 1 0", "run 0.5 output_step=0.1 accelerations=true")
    after = shell.session.now.history[-1].body("car")
    for name in ("position", "velocity", "acceleration"):
        np.testing.assert_allclose(getattr(after, name)[0], getattr(before, name)[-1], atol=1e-7)
    np.testing.assert_allclose(after.position[-1], (0, 1, 0), atol=1e-9)
    np.testing.assert_allclose(after.velocity[-1], (0, 1, 0), atol=1e-7)


def test_a_point_off_the_centre_is_led_with_its_own_velocity(shell, run):
    run("ib car", "sb car -vl 1 0 0 -vr 0 0 2", "ilc car move_to_point -t 0 1 0 -p 1 1 0 -d 0.5")
    run("run 1e-6")
    point = shell.session.now.history[-1].body("car")
    arm = point.velocity[0] + np.cross(point.angular_velocity[0], (0, 1, 0))
    np.testing.assert_allclose(arm, (-1, 0, 0), atol=1e-9)


def test_targets_that_cannot_be(shell, run):
    run("ib car")
    assert "greater than zero" in shell.execute("ilc car move_to_point -p 1 0 0 -d 0").text
    run("ilc car move_to_point", "step 3")
    np.testing.assert_allclose(shell.session.state().position[0], 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ["damping", "brake"])
def test_damping_of_zero_is_none_and_can_be_set_again(shell, run, kind):
    run("ib rod", "sb rod -vl 1 0 0 -vr 0 0 1", f"sb rod -if {kind} air", "sf rod air -d 0", "step 30")
    np.testing.assert_allclose(shell.session.state().velocity[0], (1, 0, 0), atol=1e-9)
    run("sf rod air -d 2", "step 30")
    state = shell.session.state()
    assert state.velocity[0, 0] == pytest.approx(np.exp(-2), rel=1e-4)
    spin = np.exp(-2) if kind == "damping" else 1.0
    assert state.angular_velocity[0, 2] == pytest.approx(spin, rel=1e-4)


def test_springs_of_zero_are_none(shell, run):
    run("ib rod", "sb rod -if gravity g -if support foot -t 0 0 1", "sf rod foot -k 0 -d 0")
    run("ib bob", "sb bob -t 9 0 0", "ir string rod bob -k 0 -l 1 -e .1", "sacc -r 1e-9 -a 1e-9", "run 1")
    state = shell.session.state()
    np.testing.assert_allclose(state.position[0], (0, 0, 1 - 9.81 / 2), atol=1e-6)
    np.testing.assert_allclose(state.velocity[1], 0.0, atol=1e-12)


def test_any_positive_inertia(shell, run):
    """Moments that no body has, and with them Euler's equations hold all the same; zero is a particle."""
    run("ib rod", "sb rod -in 0.1 1 9 -vr 0 0 1", "step 30")
    np.testing.assert_allclose(shell.session.state().angular_velocity[0], (0, 0, 1), atol=1e-9)
    assert not shell.session.mechanism.bodies["rod"].check_inertia
    run("sb rod -in 1 1 1")
    assert shell.session.mechanism.bodies["rod"].check_inertia
    run("ib stone", "sb stone -in 0 0 0 -vl 0 1 0", "step 30")
    assert shell.session.state().position[1, 1] == pytest.approx(1.0)
    for bad in ("1 1 0", "1 1 -1"):
        assert "positive definite" in shell.execute(f"sb rod -in {bad}").text
