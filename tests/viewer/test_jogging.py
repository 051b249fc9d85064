"""A marker jogged through time: where it goes, what the actuators do for it and bear, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.live import do, engine, rod, wall

import bellcrank as bc
from bellcrank.analysis.mobility import driving_coordinates
from bellcrank.gallery.prosthetic_arm import SIDES, ArmParameters, prosthetic_arm, reaching
from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, demonstration
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.jogging import cubics

UP = (0.0, 0.0, 0.1)


def wrist(live):
    """Where the marker "hand.wrist" is."""
    marker, number = live.twin.base.markers["hand.wrist"], live.model.body_number("hand")
    at = live.state
    return at.position[number] + rotate(at.rotation[number], np.array(marker.position))


def jogged(live, marker, velocity, seconds, duration=None):
    do(live, "jog", marker=marker, velocity=velocity, duration=duration or seconds)
    do(live, "play")
    wall(live, seconds)


class TestArm:
    def test_the_hand_goes_where_it_is_jogged_and_comes_to_rest(self):
        live = engine(demonstration())
        begin = wrist(live)
        jogged(live, "hand.wrist", UP, 2.0, duration=1.0)
        way = wrist(live) - begin
        assert way[2] == pytest.approx(0.1, abs=0.004)
        assert np.abs(way[:2]).max() < 1e-5
        there = wrist(live)
        wall(live, 0.5)
        assert np.allclose(wrist(live), there, atol=1e-7)
        assert np.abs(live.state.velocity).max() < 1e-6

    def test_the_wrist_turns_only_to_keep_the_hand_level(self):
        def bend(live):
            return float(
                live.run.model.coordinate_values(live.state)[live.run.model.joint("wrist").coordinates[0]]
            )

        def tilt(live):
            return rotate(live.state.rotation[live.model.body_number("hand")], np.array([1.0, 0.0, 0.0]))[2]

        moved = {}
        for level in (False, True):
            live = engine(demonstration())
            before, begin, place = bend(live), tilt(live), wrist(live)
            do(live, "jog", marker="hand.wrist", velocity=UP, duration=1.0, level=level)
            do(live, "play")
            wall(live, 2.0)
            way = wrist(live) - place
            assert way[2] == pytest.approx(0.1, abs=0.004)
            assert np.abs(way[:2]).max() < 1e-5
            moved[level] = (abs(bend(live) - before), abs(tilt(live) - begin))
        assert moved[False][0] < 1e-9
        assert moved[True][0] > 0.05
        assert moved[True][1] < 0.1 * moved[False][1]  # the shoulder turns it about other axes

    def test_both_motors_turn_as_the_closed_form_says(self):
        live, parameters = engine(demonstration()), ArmParameters()
        joints = [f"{side} motor" for side in SIDES]

        def posture():
            return reaching(tuple(wrist(live).tolist()), parameters)

        def angles():
            coordinates = live.run.model.coordinate_values(live.state)
            return np.array([coordinates[live.run.model.joint(name).coordinates[0]] for name in joints])

        first, before = posture(), angles()
        for velocity in (UP, (-0.1, 0.0, 0.0), (0.0, 0.08, 0.0)):
            jogged(live, "hand.wrist", velocity, 1.0)
            now = posture()
            turned = [
                parameters.reduction * (now.gear_angle(side, parameters) - first.gear_angle(side, parameters))
                for side in SIDES
            ]
            assert np.allclose(angles() - before, turned, atol=1e-3)
        assert np.abs(angles() - before).max() > 2 * np.pi

    def test_its_torques_are_those_of_inverse_dynamics(self):
        live = engine(demonstration())
        jogged(live, "hand.wrist", UP, 2.0, duration=1.0)
        run = live.trajectory()
        values = live.run.model.coordinate_values(live.state)
        bend = float(values[live.run.model.joint("wrist").coordinates[0]])
        posture = replace(reaching(tuple(wrist(live).tolist()), ArmParameters()), wrist=bend)
        still = prosthetic_arm(posture, payload=TAKE_A_BOOK.payload)
        for name in ("front motor", "rear motor"):
            still.add_drive(name, joint=name, position=0.0)
        still.add_drive("elbow", joint="elbow", position=posture.elbow)
        still.add_drive("wrist", joint="wrist", position=bend)
        held = bc.inverse_dynamics(still, 0.1)
        for name in ("front motor", "rear motor", "elbow", "wrist"):
            wanted = float(np.ravel(held.drive(name).effort)[-1])
            assert float(np.ravel(run.drive(name).effort)[-1]) == pytest.approx(wanted, rel=1e-4, abs=1e-7)

    def test_efforts_are_smooth_while_it_moves(self):
        live = engine(demonstration())
        jogged(live, "hand.wrist", UP, 1.0)
        effort = np.ravel(live.trajectory().drive("front motor").effort)
        effort = effort[np.isfinite(effort)][3:]
        assert np.abs(np.diff(effort)).max() < 0.25 * np.abs(effort).max()

    def test_out_of_reach_it_stops_and_comes_back(self):
        live = engine(demonstration())
        jogged(live, "hand.wrist", (0.4, 0.0, 0.0), 3.0, duration=5.0)
        assert live.jog.stopped
        assert live.status == "playing"
        stretched = wrist(live)
        assert np.linalg.norm(stretched) == pytest.approx(
            ArmParameters().upper_arm.length + ArmParameters().forearm.length, abs=2e-3
        )
        jogged(live, "hand.wrist", (-0.2, 0.0, 0.0), 1.5)
        assert not live.jog.stopped
        assert wrist(live)[0] < stretched[0] - 0.1

    def test_it_goes_on_after_a_pause_a_rewind_and_another_formulation(self):
        live = engine(demonstration())
        jogged(live, "hand.wrist", UP, 0.5)
        do(live, "pause")
        do(live, "rewind", time=0.2)
        jogged(live, "hand.wrist", UP, 0.5)
        do(live, "switch", formulation="lagrange")
        begin = wrist(live)
        jogged(live, "hand.wrist", UP, 1.0)
        assert wrist(live)[2] - begin[2] == pytest.approx(0.1, abs=0.02)
        do(live, "reset")
        assert not live.twin.driven
        assert set(live.run.model.drive_index) == {"front motor", "rear motor", "elbow", "wrist"}


class TestAnyMechanism:
    def test_a_linkage_without_drives_is_driven_by_a_joint(self):
        live = engine(bc.gallery.four_bar())
        body, number = live.model.bodies[1], 1
        begin = live.state.position[number].copy()
        jogged(live, body, (0.05, 0.0, 0.0), 0.5)
        assert len(live.twin.driven) == 1
        assert np.linalg.norm(live.state.position[number] - begin) > 1e-3
        rows = bc.prepare(bc.gallery.four_bar(), "lagrange").rows(replace(live.state, angles=None))
        assert np.abs(rows.error).max() < 1e-6

    def test_let_go_it_is_free_again(self):
        live = engine(rod())
        body = live.model.bodies[0]
        jogged(live, body, (0.0, 0.0, 0.2), 0.3)
        assert live.twin.driven[0].joint == "pivot"
        do(live, "jog")
        before = live.state.position[0, 2]
        wall(live, 0.5)
        assert not live.twin.driven
        assert live.state.position[0, 2] < before - 0.05

    def test_paused_it_is_dragged_from_where_it_was_jogged_to(self):
        live = engine(demonstration())
        jogged(live, "hand.wrist", UP, 0.5)
        do(live, "pause")
        there = live.state.position.copy()
        target = wrist(live) + np.array((0.0, 0.01, 0.0))
        do(live, "grab", body="hand", point=live.twin.base.markers["hand.wrist"].position, target=target)
        assert np.allclose(wrist(live), target, atol=1e-6)
        assert np.abs(live.state.position - there).max() < 0.05
        do(live, "release")
        do(live, "play")
        wall(live, 0.2)
        assert np.allclose(wrist(live), target, atol=1e-3)  # its joints stay driven where it was dragged to

    def test_what_a_pin_held_is_driven_when_it_is_released(self):
        live = engine(bc.gallery.double_pendulum())
        first, second = live.model.bodies
        do(live, "pin", body=first)
        jogged(live, second, (0.02, 0.0, 0.0), 0.2)
        assert len(live.twin.driven) == 1
        do(live, "unpin", body=first)
        assert len(live.twin.driven) == 2
        wall(live, 1.0)
        there = live.state.position.copy()
        wall(live, 0.5)
        assert np.allclose(live.state.position, there, atol=1e-6)

    def test_motors_go_before_other_joints(self):
        mechanism = bc.gallery.four_bar()
        last = list(mechanism.joints)[-1]
        mechanism.add_force("motor", bc.JointMotor(effort=0.1), mechanism.joints[last])
        live = engine(mechanism)
        assert driving_coordinates(live.model, live.state)[0].joint == last

    def test_a_body_that_floats_is_refused(self):
        mechanism = bc.Mechanism("ball")
        mechanism.add_body("ball", 1.0, (0.1, 0.1, 0.1))
        live = engine(mechanism)
        with pytest.raises(bc.MechanismError, match="do not determine"):
            do(live, "jog", marker="ball", velocity=UP)
        assert live.jog is None

    @pytest.mark.parametrize(
        "wrong",
        [
            {"marker": "hand.top"}, {"marker": 7}, {"marker": "ground"},
            {"marker": "hand", "velocity": (1, 2)}, {"marker": "hand", "velocity": (1, 2, np.nan)},
            {"marker": "hand", "duration": 0.0},
            {"marker": "hand", "duration": "long"},
        ],
    )  # fmt: skip
    def test_wrong_arguments_are_refused(self, wrong):
        live = engine(demonstration())
        with pytest.raises(bc.MechanismError):
            do(live, "jog", **wrong)
        assert not live.twin.driven


def test_a_cubic_meets_both_ends():
    live = engine(rod())
    driven = driving_coordinates(live.model, live.state)
    given = cubics(driven, 2.0, 0.5, (np.array([1.0]), np.array([0.3])), (np.array([1.4]), np.array([-0.2])))
    c = [given[name] for name in driven[0].inputs]
    s = 0.5
    assert given["lead_time"] == 2.0
    assert c[:2] == [1.0, 0.3]
    assert c[0] + s * (c[1] + s * (c[2] + s * c[3])) == pytest.approx(1.4)
    assert c[1] + s * (2 * c[2] + 3 * s * c[3]) == pytest.approx(-0.2)


def planar_arm(**elbow):
    """Three links in a plane, from the ground; the last one carries a tray."""
    mech = bc.Mechanism("arm", gravity=(0, 0, -9.81))
    at, before = 0.0, mech.ground.marker(axis="y")
    for name, length, limits in (("upper", 0.4, {}), ("lower", 0.4, elbow), ("tray", 0.1, {})):
        body = mech.add_body(name, 1.0, (0.01, 0.01, 0.01), position=(at + 0.5 * length, 0, 0))
        near = body.marker((-0.5 * length, 0, 0), axis="y", name="near")
        mech.add_joint(name, bc.Revolute(), before, near, **limits)
        at, before = at + length, body.marker((0.5 * length, 0, 0), axis="y")
    return mech


def bent(mech):
    """Its elbow bent by 1 rad, its tray level."""
    for name, angle in (("upper", -0.5), ("lower", 1.0), ("tray", -0.5)):
        mech.replace(mech.joints[name], position=angle)
    return mech


def test_a_tray_stays_level_and_is_where_it_is_jogged():
    live = engine(bent(planar_arm()))
    do(live, "jog", marker="tray.near", velocity=(-0.1, 0.0, 0.05), duration=1.0, level=True)
    do(live, "play")
    wall(live, 1.0)
    tray = live.model.body_number("tray")
    for time in np.linspace(0.05, live.state.time, 20).tolist():
        at = live.trajectory().at(time)
        assert rotate(at.rotation[tray], np.array([1.0, 0.0, 0.0]))[2] == pytest.approx(0.0, abs=1e-6)
    assert np.abs(live.state.velocity[tray, [0, 2]]).max() > 0.03


def test_a_jog_that_cannot_go_on_names_the_limits():
    live = engine(bent(planar_arm(limits=bc.Limit(0.9, 2.0))))
    do(live, "jog", marker="tray.near", velocity=(0.3, 0.0, 0.0), duration=1.0)
    do(live, "play")
    wall(live, 0.7)
    assert live.jog.stopped
    assert live.jog.limits == ("lower",)
    do(live, "jog", marker="tray.near", velocity=(-0.3, 0.0, 0.0), duration=1.0)
    wall(live, 0.3)
    assert not live.jog.stopped
    assert live.jog.limits == ()


def slide_by_parameters():
    """A slide along x with a marker and a limit that are expressions of a parameter."""
    mech = bc.Mechanism("slide", gravity=(0.0, 0.0, 0.0))
    length = mech.add_parameter("length", 0.4, "m")
    cart = mech.add_body("cart", 1.0, (0.1, 0.1, 0.1))
    mech.add_marker(cart.marker((length, 0.0, 0.0), name="tip"))
    stop = bc.Limit(-1.0, 0.125 * length)
    mech.add_joint("rail", bc.PrismaticX(), mech.ground, cart, limits=stop)
    return mech


def test_a_marker_and_a_limit_given_by_a_parameter_are_jogged_by():
    live = engine(slide_by_parameters())
    jogged(live, "cart.tip", (0.2, 0.0, 0.0), 1.0, duration=3.0)
    assert live.state.position[0, 0] == pytest.approx(0.05, abs=1e-4)
    assert live.jog.limits == ("rail",)
    do(live, "set_parameter", name="length", value=0.8)
    jogged(live, "cart.tip", (0.2, 0.0, 0.0), 1.0, duration=3.0)
    assert live.state.position[0, 0] == pytest.approx(0.1, abs=1e-4)
    assert live.jog.marker.position[0] == pytest.approx(0.8)
