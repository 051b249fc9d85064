"""Bodies dragged: by hands in time, without time, pinned and released."""

import numpy as np
import pytest
from rigs.live import do, engine, rod, wall

import bellcrank as bc
from bellcrank.gallery.prosthetic_arm import Posture
from bellcrank.viewer.pace import PERIOD
from bellcrank.viewer.twin import Hold, Yielding, firmness, size_of, yielding

TIP = (0.0, 0.0, 0.0)


def free_ball(mass=2.0):
    mechanism = bc.Mechanism("ball", gravity=(0.0, 0.0, 0.0))
    mechanism.add_body("ball", mass, (0.1, 0.2, 0.3))
    return mechanism


def yielded(live, body, point):
    """How a mechanism yields to the hand of a body where it is."""
    twin = live.twin
    return yielding(twin.model(live.state), twin.hands[body], live.state, live.values, np.array(point))


def playing(mechanism, **settings):
    live = engine(mechanism, **settings)
    do(live, "play")
    return live


class TestHands:
    def test_a_body_comes_to_where_it_is_pulled_and_is_let_go(self):
        live = playing(free_ball())
        do(live, "grab", body="ball", point=(0.0, 0.0, 0.0), target=(0.3, 0.1, -0.2))
        wall(live, 2.0)
        assert np.allclose(live.state.position[0], (0.3, 0.1, -0.2), atol=1e-6)
        do(live, "move", body="ball", target=(1.0, 0.0, 0.0))
        wall(live, 0.05)
        do(live, "release", body="ball")
        leaving = live.state.velocity[0]
        assert leaving[0] > 0.1
        wall(live, 1.0)
        assert np.allclose(live.state.velocity[0], leaving, atol=1e-12)

    def test_it_follows_without_overshooting(self):
        live = playing(free_ball())
        do(live, "grab", body="ball", point=(0.0, 0.0, 0.0), target=(1.0, 0.0, 0.0))
        wall(live, 2.0)
        assert live.trajectory().body("ball").position[:, 0].max() <= 1.0 + 1e-9

    def test_a_heavy_body_follows_like_a_light_one(self):
        reached = []
        for mass in (1e-6, 1.0, 1e6):
            live = playing(free_ball(mass))
            do(live, "grab", body="ball", point=(0.0, 0.0, 0.0), target=(1.0, 0.0, 0.0))
            wall(live, 0.2)
            reached.append(live.state.position[0, 0])
        assert np.ptp(reached) < 1e-6
        assert 0.2 < reached[0] < 1.0

    def test_mobility_is_that_of_a_free_body(self):
        live = playing(free_ball(2.0))
        do(live, "grab", body="ball", point=(0.0, 0.4, 0.0), target=(0.0, 0.4, 0.0))
        twin, point = live.twin, np.array((0.0, 0.4, 0.0))
        found = yielding(twin.model(live.state), twin.hands["ball"], live.state, {}, point)
        wanted = np.diag([0.5 + 0.16 / 0.3, 0.5, 0.5 + 0.16 / 0.1])  # 1/m + arm²/J
        assert np.allclose(found.mobility, wanted, rtol=1e-12)
        gyration = np.sqrt(0.5 * (0.1 + 0.2 + 0.3) / 2.0)
        assert found.swing == pytest.approx(gyration * 0.4 / 0.1)

    def test_small_mechanisms_take_stiffer_hands_and_no_hand_is_too_stiff_for_its_steps(self):
        light = Yielding(np.eye(3), 0.5)
        assert (
            firmness(light.most, light.swing, 0.01, 9.81, 0.0)[0]
            > firmness(light.most, light.swing, 10.0, 9.81, 0.0)[0]
        )
        stiffness, damping = firmness(light.most, light.swing, 1e-6, 9.81, 1e-3)
        assert np.sqrt(stiffness) == pytest.approx(300.0)
        assert damping == pytest.approx(2.0 * np.sqrt(stiffness))
        assert size_of(engine(free_ball()).model) > 0.0

    @pytest.mark.parametrize("size", [2e-3, 1.0, 200.0])
    @pytest.mark.parametrize("arm", [0.5, 0.02, 1e-3])
    def test_a_hand_near_a_hinge_throws_nothing_about(self, arm, size):
        """A rod pulled across its hinge turns by about as much, wherever it is grabbed."""
        mechanism, mass = bc.Mechanism("rod", gravity=(0.0, 0.0, 0.0)), 700.0 * size**3
        inertia = mass * size**2 / 12.0
        body = mechanism.add_body("rod", mass, (inertia, inertia, 1e-3 * inertia), position=(0.0, 0.0, 0.0))
        mechanism.add_joint("pivot", bc.RevoluteX(), mechanism.ground, body.marker((0.0, 0.0, -0.5 * size)))
        live = playing(mechanism)
        point = (0.0, 0.0, (arm - 0.5) * size)
        do(live, "grab", body="rod", point=point, target=(0.0, size, 0.0))
        frequency = np.sqrt(live.holds["rod"].stiffness * yielded(live, "rod", point).most)
        spins = []
        for _ in range(60):
            wall(live, PERIOD)
            spins.append(abs(live.state.angular_velocity[0, 0]))
        assert frequency <= 12.0 + 1e-9
        assert max(spins) < 2.0 * 12.0
        if arm == 0.5:
            assert frequency == pytest.approx(12.0, rel=0.02)
            assert live.state.position[0, 1] == pytest.approx(0.5 * size, rel=0.02)

    @pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
    def test_its_work_closes_the_energy_balance(self, formulation):
        live = playing(bc.gallery.double_pendulum(), formulation=formulation, step=5e-4)
        body = live.model.bodies[-1]
        wall(live, 0.2)
        do(live, "grab", body=body, point=(0.1, 0.0, 0.05), target=live.state.position[-1] + (0.2, 0.3, 0.4))
        rng = np.random.default_rng(7)
        for _ in range(12):
            wall(live, 0.1)
            do(live, "move", body=body, target=live.state.position[-1] + rng.normal(size=3))
        do(live, "release")
        wall(live, 0.3)
        run = live.trajectory()
        energy = run.energy
        in_play = np.abs(live.history.work).max() + np.ptp(energy.kinetic)
        assert np.abs(live.history.work).max() > 0.1
        assert np.abs(energy.total - energy.total[0] - live.history.work).max() < 1e-6 * in_play
        force = run.force(f"hand on {body}")
        assert np.abs(force.effort[~np.isnan(force.effort[:, 0])]).max() > 1.0
        assert np.allclose(force.effort[-1], 0.0)

    def test_work_of_a_known_motion(self):
        time = np.linspace(0.0, 1.0, 41)
        position = np.stack([time**2, 0 * time, 0 * time], axis=1)
        velocity = np.stack([2 * time, 0 * time, 0 * time], axis=1)
        rotation = np.tile([1.0, 0.0, 0.0, 0.0], (41, 1))
        hold = Hold(3.0, 0.5, np.zeros(3), np.array([2.0, 0.0, 0.0]))
        spring, damper = (
            0.5 * 3.0 * (4.0 - 1.0),
            0.5 * 4.0 / 3.0,
        )  # ½ k (2² - 1²); c times the integral of (2t)²
        assert hold.work(time, (position, rotation, velocity, 0 * position)) == pytest.approx(spring - damper)

    def test_what_is_led_cannot_be_pulled(self):
        mechanism = rod()
        mechanism.add_drive("motor", "pivot", position=bc.Harmonic(0.3, 2.0))
        live = playing(mechanism)
        wall(live, 0.1)
        with pytest.raises(bc.MechanismError, match="held by its joints"):
            do(live, "grab", body=live.model.bodies[0], point=(0.1, 0.0, 0.0), target=(1.0, 0.0, 0.0))
        wall(live, 0.1)
        assert live.status == "playing"

    def test_two_bodies_by_two_hands(self):
        live = playing(bc.gallery.double_pendulum())
        wall(live, 0.1)
        for body, target in zip(live.model.bodies, ((0.4, 0.0, 0.1), (0.5, 0.0, 0.5)), strict=True):
            do(live, "grab", body=body, point=(0.3, 0.0, 0.0), target=target)
        wall(live, 0.3)
        assert set(live.snapshot().holds) == set(live.model.bodies)
        do(live, "release")
        assert not live.snapshot().holds


class TestWithoutTime:
    def test_a_linkage_follows_the_pointer_on_its_constraints(self):
        live = engine(bc.gallery.four_bar())
        body = live.model.bodies[1]
        before = live.state.position[1]
        do(live, "grab", body=body, point=TIP, target=before + np.array((0.01, 0.0, 0.02)))
        after = live.state.position[1]
        assert live.run.time == 0.0
        assert np.linalg.norm(after - before) > 1e-3
        rows = bc.prepare(bc.gallery.four_bar(), "lagrange").rows(live.state.at_time(0.0))
        assert np.abs(rows.error).max() < 1e-7

    def test_out_of_reach_it_comes_close_and_stays_together(self):
        live = engine(bc.gallery.simple_pendulum())
        body, far = live.model.bodies[0], np.array([5.0, 0.0, 5.0])
        length = np.linalg.norm(live.state.position[0])
        do(live, "grab", body=body, point=TIP, target=far)
        assert np.linalg.norm(live.state.position[0]) == pytest.approx(length, abs=1e-7)

    def test_limits_are_kept(self):
        mechanism = bc.Mechanism("slide", gravity=(0.0, 0.0, 0.0))
        bead = mechanism.add_body("bead", 1.0, (1.0, 1.0, 1.0))
        mechanism.add_joint("slide", bc.PrismaticX(), mechanism.ground, bead, limits=bc.Limit(-0.1, 0.2))
        live = engine(mechanism)
        do(live, "grab", body="bead", point=TIP, target=(0.15, 0.0, 0.0))
        assert live.state.position[0, 0] == pytest.approx(0.15, abs=1e-7)
        do(live, "move", body="bead", target=(0.9, 0.0, 0.0))
        assert live.state.position[0, 0] <= 0.2 + 1e-7


class TestPins:
    def test_a_pinned_body_stays_and_is_released(self):
        live = engine(bc.gallery.double_pendulum())
        do(live, "step", count=200)
        body = live.model.bodies[0]
        there = live.state.rotation[0].copy()
        do(live, "pin", body=body)
        do(live, "step", count=300)
        assert np.allclose(live.state.rotation[0], there, atol=1e-9)
        assert live.snapshot().pins == (body,)
        do(live, "unpin", body=body)
        do(live, "step", count=300)
        assert not np.allclose(live.state.rotation[0], there, atol=1e-3)

    def test_runs_with_and_without_hands_and_pins_are_one_record(self, tmp_path):
        live = playing(bc.gallery.double_pendulum())
        wall(live, 0.1)
        do(live, "grab", body=live.model.bodies[1], point=TIP, target=(0.4, 0.0, 0.1))
        wall(live, 0.1)
        do(live, "release")
        do(live, "pin", body=live.model.bodies[0])
        wall(live, 0.1)
        do(live, "save", path=tmp_path / "run.h5")
        saved = bc.Trajectory.load(tmp_path / "run.h5")
        assert len(saved) == len(live.history)
        assert np.all(np.diff(saved.time) > 0)
        assert np.isfinite(saved.body(live.model.bodies[0]).position).all()
        assert f"hand on {live.model.bodies[1]}" in saved.forces

    def test_reset_releases_pins_that_the_start_does_not_meet(self):
        live = engine(bc.gallery.double_pendulum())
        start = live.state.position
        do(live, "step", count=300)
        do(live, "pin", body=live.model.bodies[0])
        do(live, "reset")
        assert np.array_equal(live.state.position, start)
        assert not live.snapshot().pins

    def test_bodies_behind_gears_follow_fully_and_keep_their_turns(self):
        live = engine(bc.gallery.prosthetic_arm(Posture(flexion=0.4, abduction=0.2, elbow=0.9)))
        number, motor = live.model.body_number("hand"), live.model.joint("front motor").coordinates[0]
        begin = live.state.position[number].copy()
        turns = [live.model.coordinate_values(live.state)[motor]]
        do(live, "grab", body="hand", point=TIP, target=begin)
        for way in ((0.05, -0.03, 0.05), (0.15, -0.1, 0.2), (-0.1, 0.1, 0.1), (0.0, 0.0, 0.0)):
            there = begin + np.array(way)
            do(live, "move", body="hand", target=there)
            assert np.allclose(live.state.position[number], there, atol=1e-7)
            turns.append(live.model.coordinate_values(live.state)[motor])
        assert np.ptp(turns) > 4 * np.pi
        assert turns[-1] == pytest.approx(turns[0], abs=0.1)  # the same place by another bend of the wrist
        do(live, "release")
        do(live, "pin", body="hand")
        do(live, "rewind", time=0.0)
        do(live, "step", count=5)
        assert live.run.time == pytest.approx(0.005)
        rows = bc.prepare(live.run.model, "lagrange").rows(live.state)
        assert np.abs(rows.error).max() < 1e-6
