"""A live session without a page and a thread: pace by a clock set by hand, rewinding, switching, failures."""

import numpy as np
import pytest
from rigs.live import Clock, do, engine, rod, wall

import bellcrank as bc
from bellcrank.viewer.pace import Pace


def final(mechanism, duration, **arguments):
    return bc.simulate(mechanism, duration, **arguments).at(duration)


class TestPace:
    def test_a_quick_run_goes_as_fast_as_asked(self):
        live = engine()
        do(live, "speed", value=0.25)
        do(live, "play")
        wall(live, 2.0)
        assert live.run.time == pytest.approx(0.5, abs=0.01)
        assert live.pace.factor == pytest.approx(0.25, rel=0.05)
        assert not live.snapshot().is_late

    def test_a_slow_run_goes_more_slowly_by_the_same_steps(self):
        live = engine(clock=Clock(of_a_part=0.1))
        do(live, "play")
        wall(live, 3.0)
        assert live.snapshot().is_late
        assert live.pace.factor < 0.2
        alone = final(bc.gallery.double_pendulum(), live.run.time, method="rk4", step=1e-3)
        assert np.allclose(live.run.state.position, alone.position, rtol=0, atol=1e-12)

    def test_slow_motion_takes_whole_steps(self):
        live = engine()
        do(live, "speed", value=0.01)
        do(live, "play")
        wall(live, 1.0)
        assert live.run.time == pytest.approx(0.01, abs=1.5e-3)
        assert np.allclose(
            np.diff(live.history.time) / 1e-3, np.round(np.diff(live.history.time) / 1e-3), atol=1e-6
        )

    def test_what_the_wall_took_while_it_stood_is_not_due(self):
        live = engine()
        do(live, "play")
        wall(live, 0.5)
        do(live, "pause")
        reached = live.run.time
        wall(live, 100.0)
        do(live, "play")
        wall(live, 0.1)
        assert reached < live.run.time < reached + 0.15

    def test_parts_of_a_costly_run_are_short(self):
        pace = Pace()
        pace.due(0.0, 1e-3)
        pace.took(0.0, 0.4, 0.02)
        assert pace.due(1.0, 1e-3) == pytest.approx(1e-3)


class TestTime:
    def test_the_same_motion_as_a_run_alone(self):
        live = engine(step=2e-3)
        do(live, "step", count=250)
        alone = final(bc.gallery.double_pendulum(), 0.5, method="rk4", step=2e-3)
        assert np.allclose(live.state.position, alone.position, rtol=0, atol=1e-12)
        assert live.status == "paused"

    def test_rewound_it_goes_on_from_there(self):
        live = engine()
        do(live, "play")
        wall(live, 1.0)
        do(live, "rewind", time=0.5)
        shown = live.snapshot()
        assert shown.time == pytest.approx(0.5, abs=0.02)
        assert shown.past[1] > 0.9
        do(live, "step", count=100)
        assert live.snapshot().past[1] == pytest.approx(shown.time + 0.1)
        alone = final(bc.gallery.double_pendulum(), live.run.time, method="rk4", step=1e-3)
        assert np.allclose(live.state.position, alone.position, rtol=0, atol=1e-9)

    def test_reset_goes_back_to_the_start(self):
        live = engine()
        start = live.state.position
        do(live, "step", count=300)
        assert not np.allclose(live.state.position, start, atol=1e-3)
        do(live, "reset")
        assert np.array_equal(live.state.position, start)
        assert len(live.history) == 1

    @pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
    def test_switched_it_goes_on_with_the_same_motion(self, formulation):
        live = engine()
        do(live, "step", count=200)
        before = live.state
        do(live, "switch", formulation=formulation, method="dopri5")
        assert live.snapshot().formulation == formulation
        assert np.allclose(live.state.position, before.position, rtol=0, atol=1e-12)
        assert np.allclose(live.state.velocity, before.velocity, rtol=0, atol=1e-10)
        do(live, "step", count=300)
        alone = final(bc.gallery.double_pendulum(), live.run.time, method="dopri5", tolerance=1e-10)
        assert np.allclose(live.state.position, alone.position, rtol=0, atol=1e-6)

    def test_what_cannot_be_prepared_leaves_everything(self):
        live = engine()
        do(live, "step", count=10)
        with pytest.raises(bc.Unsupported):
            do(live, "switch", formulation="lagrnge")
        with pytest.raises(bc.MechanismError, match="between 1e-6 and"):
            do(live, "switch", step=5.0)
        do(live, "step", count=10)
        assert live.run.time == pytest.approx(0.02)

    def test_a_run_that_breaks_down_tells_why_and_keeps_what_it_computed(self):
        mechanism = bc.Mechanism("stiff")
        bead = mechanism.add_body("bead", 1.0, (1.0, 1.0, 1.0), position=(0.1, 0.0, 0.0))
        slide = mechanism.add_joint("slide", bc.PrismaticX(), mechanism.ground, bead)
        mechanism.add_force("spring", bc.TorsionSpring(1e8), joint=slide)
        live = engine(mechanism)
        do(live, "play")
        wall(live, 1.0)
        assert live.status == "failed"
        assert "step" in live.message
        kept = len(live.history)
        assert kept >= 1
        do(live, "switch", method="dopri5")
        do(live, "rewind", time=0.0)
        do(live, "play")
        wall(live, 0.1)
        assert live.status == "playing"

    def test_the_past_does_not_grow_without_end(self, monkeypatch):
        monkeypatch.setattr("bellcrank.viewer.history._FRAMES", 40)
        live = engine()
        for _ in range(200):
            do(live, "step")
        assert len(live.history) <= 40
        assert live.history.time[-1] == pytest.approx(0.2)
        assert np.all(np.diff(live.history.time) > 0)


class TestInputs:
    def mechanism(self):
        mechanism = rod()
        mechanism.add_drive("motor", "pivot", position=bc.Input("angle", 0.3, "rad"))
        return mechanism, "pivot"

    def test_a_drive_that_follows_an_input_is_steered_and_rewound(self):
        mechanism, joint = self.mechanism()
        live = engine(mechanism)
        do(live, "step", count=10)
        do(live, "set_input", name="angle", value=1.2)
        do(live, "step", count=10)
        do(live, "switch", formulation="lagrange")
        do(live, "step", count=10)
        angles = live.trajectory().joint(joint).position
        assert angles[-1] == pytest.approx(1.2)
        do(live, "rewind", time=0.0)
        do(live, "step", count=5)
        assert live.trajectory().joint(joint).position[-1] == pytest.approx(0.3)
        assert live.values["angle"] == pytest.approx(0.3)

    def test_an_unknown_name_is_told(self):
        live = engine(self.mechanism()[0])
        with pytest.raises(bc.MechanismError, match="did you mean 'angle'"):
            do(live, "set_input", name="angel", value=1.0)

    def test_another_value_of_a_parameter(self):
        mechanism = bc.Mechanism("pendulum")
        mass = mechanism.add_parameter("mass", 1.0, "kg", low=0.1)
        rod = mechanism.add_body("rod", mass, (0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
        mechanism.add_joint("pivot", bc.RevoluteX(), mechanism.ground, rod.marker((-0.5, 0.0, 0.0)))
        live = engine(mechanism)
        do(live, "step", count=10)
        do(live, "set_parameter", name="mass", value=3.0)
        assert live.snapshot().parameters == {"mass": 3.0}
        do(live, "step", count=10)
        assert live.trajectory().joint("pivot").force[-1, 2] == pytest.approx(3.0 * 9.81)
        with pytest.raises(bc.MechanismError):
            do(live, "set_parameter", name="mass", value=-1.0)
