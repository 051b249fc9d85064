"""Controllers: functions that are called at multiples of a period and set inputs."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery.arms import DhLink, dh_arm

FORMULATIONS = ("lagrange", "recursive", "symbolic")
Y = {"axis": (0, 1, 0)}


def pendulum():
    """A bar on a hinge with a motor, and a spring at its end."""
    mech = bc.Mechanism("pendulum")
    bar = mech.add_body("bar", mass=2.0, inertia=(0.02, 0.2, 0.2), position=(0.5, 0, 0))
    mech.add_joint("hinge", bc.Revolute(), mech.ground.marker(**Y), bar.marker((-0.5, 0, 0), **Y))
    mech.add_force("motor", bc.JointMotor(bc.Input("torque", unit="N m")), "hinge")
    mech.add_force(
        "spring", bc.SpringDamper(30.0, 1.0, 0.5), bar.marker((0.5, 0, 0)), mech.ground.marker((1, 0, 1))
    )
    return mech


def towards(angle):
    def held(_time, readings):
        return {"torque": 80.0 * (angle - readings.coordinate("hinge")) - 15.0 * readings.rate("hinge")}

    return held


@pytest.mark.parametrize("method", ["rk4", "dopri5", "bdf"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_controller_is_a_loop_over_advance(formulation, method):
    options = {"formulation": formulation, "method": method, **({"step": 1e-3} if method == "rk4" else {})}
    run = bc.simulate(
        pendulum(), 0.2, output_step=0.02, controllers=bc.Controller(towards(0.4), 0.01), **options
    )
    live = bc.start(pendulum(), output_step=0.02, **options)
    bar, control = "hinge", towards(0.4)
    for _ in range(20):
        readings = Readings(live.state, pendulum_angle(live.state))
        live.inputs.update(control(live.time, readings))
        live.advance(0.01)
    by_hand = live.stop()
    tight = {"rk4": 1e-10, "dopri5": 1e-6, "bdf": 1e-5}[method]
    np.testing.assert_allclose(run.joint(bar).position, by_hand.joint(bar).position, rtol=0, atol=tight)
    assert run.statistics["samples"] == 20
    np.testing.assert_allclose(
        run.input("torque").value, by_hand.input("torque").value, rtol=0, atol=1e3 * tight
    )


def pendulum_angle(state):
    (w, _, y, _), spin = state.rotation[0], state.angular_velocity[0]
    return 2.0 * np.arctan2(y, w), spin[1]


class Readings:
    """What a controller reads, by hand."""

    def __init__(self, state, hinge):
        self.state, self._hinge = state, hinge

    def coordinate(self, name):
        assert name == "hinge"
        return self._hinge[0]

    def rate(self, name):
        assert name == "hinge"
        return self._hinge[1]


@pytest.mark.parametrize("method", ["rk4", "dopri5", "adams"])
def test_samples_are_taken_at_multiples_of_the_period(method):
    fast, slow = [], []

    def note(times, value):
        return lambda time, readings: times.append(time) or {"torque": value * readings.time}

    controllers = [bc.Controller(note(fast, 1.0), 0.003), bc.Controller(note(slow, 2.0), 0.01, name="slow")]
    step = {"step": 0.004} if method == "rk4" else {"max_step": 0.5}
    run = bc.simulate(pendulum(), 0.1, output_step=0.005, method=method, controllers=controllers, **step)
    np.testing.assert_allclose(fast, 0.003 * np.arange(34), rtol=0, atol=1e-15)
    np.testing.assert_allclose(slow, 0.01 * np.arange(10), rtol=0, atol=1e-15)
    assert run.statistics["samples"] == 44
    np.testing.assert_allclose(run.time, 0.005 * np.arange(21), rtol=0, atol=1e-15)
    recorded = run.input("torque").value
    assert recorded[0] == 0.0
    last = np.array([max([(0.003 * k, 0.003 * k) for k in range(34) if 0.003 * k < t - 1e-9]
                         + [(0.01 * k, 0.02 * k) for k in range(10) if 0.01 * k < t - 1e-9])[1]
                     for t in run.time[1:]])  # fmt: skip
    np.testing.assert_allclose(recorded[1:], last, rtol=0, atol=1e-15)


def test_parts_do_not_matter():
    one = bc.simulate(pendulum(), 0.3, output_step=0.1, controllers=bc.Controller(towards(0.2), 0.004))
    live = bc.start(pendulum(), output_step=0.1, controllers=[bc.Controller(towards(0.2), 0.004)])
    for part in (0.05, 0.001, 0.049, 0.1, 0.1):
        live.advance(part)
    parts = live.stop()
    assert parts.statistics["samples"] == one.statistics["samples"] == 75
    np.testing.assert_allclose(parts.joint("hinge").position, one.joint("hinge").position, rtol=0, atol=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_readings_are_what_is_recorded(formulation):
    read = []

    def note(time, readings):
        body = readings.body("bar")
        read.append([time, readings.coordinate("hinge.theta_z"), readings.rate("hinge"), *body.position,
                     *body.rotation, *body.velocity, *body.angular_velocity, readings.effort("spring"),
                     readings.effort("motor"), readings.inputs["torque"]])  # fmt: skip
        return {"torque": 3.0 + time}

    run = bc.simulate(
        pendulum(), 0.1, output_step=0.01, controllers=bc.Controller(note, 0.01), formulation=formulation
    )
    bar, hinge = run.body("bar"), run.joint("hinge")
    efforts = run.force("spring").effort, run.force("motor").effort, run.input("torque").value
    motion = bar.position, bar.rotation, bar.velocity, bar.angular_velocity
    recorded = np.column_stack([run.time, hinge.position, hinge.velocity, *motion, *efforts])[:-1]
    recorded[0, -2:] = 0.0  # the first frame is recorded after the first sample
    np.testing.assert_allclose(read, recorded, rtol=0, atol=1e-14)


def test_a_controller_that_raises_ends_the_run_with_its_name():
    def fails(time, _readings):
        if time > 0.05:
            raise ValueError("out of ideas")
        return {}

    with pytest.raises(
        bc.SimulationError, match=r"controller 'fails' failed at t = 0.06 s: ValueError: out of"
    ) as told:
        bc.simulate(pendulum(), 1.0, output_step=0.01, controllers=bc.Controller(fails, 0.01))
    assert isinstance(told.value.__cause__, ValueError)
    run = told.value.trajectory
    assert (run.status, len(run), run.statistics["samples"]) == ("failed", 7, 7)
    assert "out of ideas" in run.status.message
    live = bc.start(pendulum(), controllers=bc.Controller(fails, 0.01, name="pilot"))
    with pytest.raises(bc.SimulationError, match="controller 'pilot' failed"):
        live.advance(1.0)
    assert live.time == pytest.approx(0.06)
    with pytest.raises(bc.MechanismError, match=r"it has ended at t = 0\.06 s"):
        live.advance(0.1)


@pytest.mark.parametrize(
    ("returned", "rule"),
    [
        (None, "controller 'faulty': it must return a dict of inputs"),
        ({"torke": 1.0}, "there is no input of this name, got 'torke'; did you mean 'torque'"),
        ({"torque": np.nan}, "torque must be finite"),
    ],
)
def test_what_a_controller_must_not_return(returned, rule):
    controller = bc.Controller(lambda _time, _readings: returned, 0.01, name="faulty")
    with pytest.raises(bc.SimulationError, match=rule):
        bc.simulate(pendulum(), 1.0, controllers=controller)


def test_a_controller_reads_by_names_that_there_are():
    for wrong, rule in (
        (lambda r: r.coordinate("hing"), "no coordinate of this name; did you mean 'hinge'"),
        (lambda r: r.body("baar"), "no body of this name; did you mean 'bar'"),
        (lambda r: r.effort("sprung"), "no drive or force of this name; did you mean 'spring'"),
    ):
        controller = bc.Controller(lambda _time, readings, wrong=wrong: {"torque": wrong(readings)}, 0.01)
        with pytest.raises(bc.SimulationError, match=rule):
            bc.simulate(pendulum(), 1.0, controllers=controller)


def test_a_controller_cannot_take_the_run_on():
    runs = []

    def meddles(_time, _readings):
        for act in (lambda: runs[0].advance(0.1), runs[0].stop, lambda: runs[0].set_state(runs[0].state)):
            with pytest.raises(bc.MechanismError, match="it is on its way"):
                act()
        runs[0].inputs["torque"] = 7.0
        return {}

    runs.append(bc.start(pendulum(), controllers=bc.Controller(meddles, 0.1)))
    runs[0].advance(0.2)
    assert runs[0].inputs["torque"] == 7.0


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: bc.Controller("f", 1e-3), "it must be a function"),
        (lambda: bc.Controller(towards(1.0), 0.0), "period must be greater than zero"),
        (
            lambda: bc.simulate(pendulum(), 1.0, controllers=towards(1.0)),
            "controllers: they must be bc.Controller",
        ),
    ],
)
def test_what_is_no_controller_is_refused(make, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        make()


def test_drives_follow_controllers():
    mech = pendulum()
    mech.add_drive("lead", "hinge", velocity=bc.Input("speed"))
    control = bc.Controller(lambda time, r: {"speed": 0.5 - r.coordinate("hinge")}, 0.01)
    run = bc.simulate(mech, 0.5, output_step=0.01, controllers=control)
    expected = [0.0]
    for _ in range(50):
        expected.append(expected[-1] + 0.01 * (0.5 - expected[-1]))
    np.testing.assert_allclose(run.joint("hinge").position[:, 0], expected, rtol=0, atol=1e-11)


def test_steered_runs_are_kept(tmp_path):
    path = tmp_path / "steered.h5"
    control = bc.Controller(lambda time, _r: {"torque": round(100 * time)}, 0.01)
    run = bc.simulate(pendulum(), 0.1, output_step=0.01, controllers=control, path=path)
    again = bc.Trajectory.load(path)
    for which in (run, again):
        assert which.inputs == ("torque",)
        np.testing.assert_array_equal(which.input("torque").value, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
        assert which.input("torque").unit == "N m"
        assert list(which.to_dict()["input.torque [N m]"][-2:]) == [8, 9]
        between = which.resample([0.02, 0.025, 0.03]).input("torque").value
        np.testing.assert_array_equal(between, [1, 2, 2])
    with pytest.raises(bc.MechanismError, match="no input of this name; did you mean 'torque'"):
        run.input("torqe")
    joined = bc.concatenate([run[:5], run[5:]])
    np.testing.assert_array_equal(joined.input("torque").value, run.input("torque").value)
    with pytest.raises(bc.Unsupported, match="the inputs 'torque' have not kept"):
        bc.verify(pendulum(), run)
    assert bc.verify(pendulum(), bc.simulate(pendulum(), 0.1, accelerations=True)).passed


def steered_arm():
    """An arm of six revolute joints, each with a torque input: "torque_1" and so on; the wrist is light."""
    shapes = ((0.09, 0, 1.57), (0, -0.43, 0), (0, -0.39, 0), (0.11, 0, 1.57), (0.09, 0, -1.57), (0.08, 0, 0))
    links = [
        DhLink(*shape, mass, (0.0, 0.0, 0.02), (0.02 * mass,) * 3, 0.0, 1.0, 0.0, (0.0, 0.0))
        for shape, mass in zip(shapes, (3.7, 8.4, 2.3, 1.2, 1.2, 0.2), strict=True)
    ]
    start = [(0.3 * k, 0.0, 0.0) for k in range(6)]
    arm = dh_arm(start, links, motors=False, friction=False, driven=False, name="6R arm")
    for k in range(1, 7):
        arm.add_force(f"motor {k}", bc.JointMotor(bc.Input(f"torque_{k}", unit="N m")), f"joint {k}")
    return arm


def test_energy_that_a_controller_takes_out_again_is_not_the_method_s():
    """Gains too high for 1 kHz shake the light wrist: energy rises and falls from sample to sample."""

    def shaking(_time, readings):
        joints = [(f"torque_{k}", f"joint {k}") for k in range(1, 7)]
        return {name: -40.0 * readings.coordinate(j) - 8.0 * readings.rate(j) for name, j in joints}

    run = bc.simulate(steered_arm(), 0.2, step=1e-3, controllers=bc.Controller(shaking, 1e-3))
    assert run.status == "finished"
    assert np.diff(run.energy.total).max() > 0.0 > np.diff(run.energy.total).min()
