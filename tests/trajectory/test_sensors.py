"""Sensors: what they measure, when they are sampled, what controllers read, records, files, edits."""

from __future__ import annotations

import numpy as np
import pytest
from rigs.forced_arm import arm

import bellcrank as bc
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.run.simulate import start_with_tape

Y = (0, 1, 0)
AT, AXES = (0.2, 0.1, -0.05), (0.6, 0.0, 0.8, 0.0)


def watched(period=0.01, **options):
    mech = arm()
    rod = mech.bodies["rod"]
    gauge = rod.marker(AT, rotation=AXES)
    mech.add_sensor("imu", bc.IMU(period=period, **options), gauge)
    mech.add_sensor("hip load", bc.WrenchSensor("hip", period=period, **options))
    mech.add_sensor("hip gauge", bc.WrenchSensor("hip", period=period, **options), gauge)
    mech.add_sensor("spring", bc.ForceSensor("strut", period=period, **options))
    mech.add_sensor("spring on rod", bc.ForceSensor("strut", period=period, **options), gauge)
    mech.add_sensor("angle", bc.Encoder(period=period, **options), "hip")
    mech.add_sensor("rate", bc.Encoder(period=period, measures="velocity", **options), "hip")
    mech.add_sensor("travel", bc.Encoder(period=period, **options), "rail")
    mech.add_sensor("gap", bc.DistanceSensor(period=period, **options), mech.ground.marker((1, 0, 1)), gauge)
    return mech


SETTINGS = {"method": "dopri5", "tolerance": 1e-10, "output_step": 0.01, "accelerations": True}


@pytest.fixture(scope="module")
def run():
    return bc.simulate(watched(), 0.3, **SETTINGS)


def local(history, vectors):
    """World vectors in the axes of the gauge."""
    return rotate(conjugate(np.array(AXES)), rotate(conjugate(history.rotation), vectors))


def expected(run):
    """By sensor, what it should have measured at frames, from the histories of the run."""
    rod, hip, strut = run.body("rod"), run.joint("hip"), run.force("strut")
    gauge = rod.point(AT)
    hinge = rod.point((-0.5, 0, 0))
    about = hip.moment + np.cross(hinge - gauge, hip.force)
    own = [rotate(conjugate(rod.rotation), v) @ _axes_along_y() for v in (hip.moment, hip.force)]
    pull = strut.wrench("rod", AT)
    felt = rod.point_acceleration(AT) - np.array([0, 0, -9.81])
    return {
        "imu": np.hstack([local(rod, felt), local(rod, rod.angular_velocity)]),
        "hip load": np.hstack(own),
        "hip gauge": np.hstack([local(rod, about), local(rod, hip.force)]),
        "spring": strut.effort[:, None],
        "spring on rod": np.hstack([local(rod, pull[:, :3]), local(rod, pull[:, 3:])]),
        "angle": hip.position,
        "rate": hip.velocity,
        "travel": run.joint("rail").position,
        "gap": np.linalg.norm(gauge - [1, 0, 1], axis=1)[:, None],
    }


def _axes_along_y():
    """Columns: axes of a marker whose z axis is y of the body, turned by the shortest rotation."""
    return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def test_sensors_read_what_the_run_has_a_sample_before(run):
    for name, values in expected(run).items():
        found = run.sensor(name).values
        np.testing.assert_allclose(found[1:], values[:-1], rtol=1e-9, atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(found[0], found[1])
    assert run.sensors == tuple(watched().sensors)
    assert run.sensor("imu").units == ("m/s^2",) * 3 + ("rad/s",) * 3
    assert run.sensor("travel").units == ("m",)
    assert run.sensor("rate").units == ("rad/s",)
    assert run.sensor("angle").value.shape == (len(run),)
    np.testing.assert_array_equal(
        run.sensor("hip gauge").channel("force_x"), run.sensor("hip gauge").value[:, 3]
    )


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
def test_formulations_agree(run, formulation):
    other = bc.simulate(watched(), 0.3, **SETTINGS, formulation=formulation)
    for name in run.sensors:
        size = 1.0 + np.abs(run.sensor(name).values).max()
        np.testing.assert_allclose(
            other.sensor(name).values, run.sensor(name).values, atol=1e-8 * size, err_msg=name
        )


def test_sensors_change_nothing(run):
    plain = bc.simulate(arm(), 0.3, **SETTINGS)
    np.testing.assert_allclose(plain.body("bead").position, run.body("bead").position, atol=1e-9)
    without = bc.simulate(watched(), 0.1)
    assert without.layout.accelerations  # which the IMU needs
    assert not plain.sensors


def test_rest_and_spin_of_an_imu():
    """At rest it feels -g upwards; on a turntable the centripetal acceleration."""
    mech = bc.Mechanism("turntable")
    disc = mech.add_body("disc", 1.0, (1, 1, 1))
    mech.add_joint("axle", bc.Revolute(), mech.ground, disc, velocity=5.0)
    mech.add_sensor("imu", bc.IMU(), disc.marker((0.4, 0, 0)))
    run = bc.simulate(mech, 0.1)
    np.testing.assert_allclose(
        run.sensor("imu").values, np.tile([-10.0, 0, 9.81, 0, 0, 5.0], (len(run), 1)), atol=1e-9
    )


def held(time, period, delay):
    """The instants that readings just before times are of; the start until one is available."""
    count = np.ceil(np.round((time - delay) / period, 9)) - 1.0
    return np.maximum(count, 0.0) * period


@pytest.mark.parametrize(("period", "delay"), [(0.01, 0.0), (0.02, 0.005), (0.005, 0.012), (0.03, 0.1)])
def test_period_and_delay(period, delay):
    mech = bc.Mechanism("shaft")
    disc = mech.add_body("disc", 1.0, (1, 1, 1))
    mech.add_joint("axle", bc.Revolute(), mech.ground, disc, velocity=2.0)
    mech.add_sensor("angle", bc.Encoder(period=period, delay=delay), "axle")
    run = bc.simulate(mech, 0.3, output_step=0.01)
    np.testing.assert_allclose(run.sensor("angle").value, 2.0 * held(run.time, period, delay), atol=1e-9)


def test_controllers_read_a_sample_of_the_same_instant():
    mech = bc.Mechanism("servo")
    torque = bc.Input("torque", unit="N m")
    disc = mech.add_body("disc", 1.0, (0.1, 0.1, 0.1))
    mech.add_joint("axle", bc.Revolute(), mech.ground, disc, position=0.3)
    mech.add_force("motor", bc.JointMotor(torque), "axle")
    mech.add_sensor("angle", bc.Encoder(period=1e-3), "axle")
    mech.add_sensor("slow", bc.Encoder(period=1e-3, delay=4e-3), "axle")
    mech.add_sensor("load", bc.WrenchSensor("axle", period=1e-3))
    seen = []

    def servo(time, readings):
        seen.append((readings.sensor("angle"), readings.coordinate("axle"), readings.sensor("slow")))
        assert readings.sensor("load").shape == (6,)
        return {"torque": -4.0 * readings.sensor("angle") - 0.5 * readings.rate("axle")}

    run = bc.simulate(mech, 1.0, controllers=bc.Controller(servo, 2e-3))
    angle, truth, slow = np.array(seen).T
    np.testing.assert_allclose(angle, truth, atol=1e-12)
    np.testing.assert_allclose(slow[2:], truth[:-2], atol=1e-12)
    assert abs(run.joint("axle").position[-1, 0]) < 0.05

    def lost(time, readings):
        return {"torque": readings.sensor("angel")}

    with pytest.raises(bc.SimulationError, match=r"no sensor of this name.*did you mean 'angle'"):
        bc.simulate(mech, 0.1, controllers=bc.Controller(lost, 2e-3))


def test_bias_noise_and_resolution():
    def readings(**options):
        mech = bc.Mechanism("still")
        disc = mech.add_body("disc", 1.0, (1, 1, 1))
        mech.add_joint("axle", bc.Revolute(), mech.ground, disc, position=0.123)
        mech.add_sensor("angle", bc.Encoder(period=1e-3, **options), "axle")
        return bc.simulate(mech, 4.0, output_step=1e-3, method="rk4", step=1e-3).sensor("angle").value[1:]

    np.testing.assert_allclose(readings(bias=0.5), 0.623, atol=1e-12)
    np.testing.assert_allclose(readings(resolution=0.05), 0.1, atol=1e-12)
    noisy = readings(noise=0.01, seed=3)
    assert noisy.std() == pytest.approx(0.01, rel=0.05)
    assert noisy.mean() == pytest.approx(0.123, abs=1e-3)
    assert np.abs(np.corrcoef(noisy[1:], noisy[:-1])[0, 1]) < 0.06
    np.testing.assert_array_equal(noisy, readings(noise=0.01, seed=3))
    assert np.any(noisy != readings(noise=0.01, seed=4))
    rounded = readings(noise=0.01, resolution=0.005, seed=3)
    np.testing.assert_allclose(rounded, np.round(noisy / 0.005) * 0.005, atol=1e-12)


def test_a_contact_is_felt():
    mech = bc.Mechanism("scale")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    ball = mech.add_body("ball", shapes=[bc.Sphere(radius=0.1, density=1000.0)], position=(0, 0, 0.1))
    mech.add_force("touch", bc.Contact(1e5, dissipation=3.0), mech.ground, ball)
    mech.add_sensor("scale", bc.ForceSensor("touch"), ball.marker())
    run = bc.simulate(mech, 1.0, method="dopri5")
    weight = ball.mass * 9.81
    assert run.sensor("scale").channel("force_z")[-1] == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize(
    "options", [{"method": "rk4", "step": 1e-3}, {"method": "moreau", "step": 1e-3}, {"method": "bdf"}]
)
def test_methods(options):
    mech = bc.Mechanism("pendulum")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    mech.add_sensor("load", bc.WrenchSensor("pivot", period=0.01), mech.ground.marker())
    run = bc.simulate(mech, 0.2, output_step=0.01, formulation="lagrange", **options)
    np.testing.assert_allclose(
        run.sensor("load").values[2:, 3:], run.joint("pivot").force[1:-1], rtol=1e-2, atol=0.05
    )


def test_parts_of_a_run_and_states_that_are_set(run):
    going = bc.start(watched(), **{**SETTINGS, "output_step": None})
    for _ in range(30):
        going.advance(0.01)
    whole = going.stop()
    for name in run.sensors:
        found = whole.sensor(name).values
        np.testing.assert_allclose(found[-1], run.sensor(name).values[-1], rtol=1e-5, atol=1e-5, err_msg=name)
    other = bc.start(watched())
    other.advance(0.02)
    other.set_state(run.at(0.1))
    other.advance(0.02)
    assert other.now().sensor("imu").values.shape == (1, 6)
    ended = other.stop()
    assert [event.name for event in ended.events] == ["state set"]
    assert np.isfinite(ended.sensor("imu").values).all()


def test_constraint_forces_close_a_mechanism_without_readings():
    mech = bc.Mechanism("apart")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.6, 0, 0.05))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    mech.add_sensor("angle", bc.Encoder(), "pivot")
    run = bc.simulate(mech, 3.0, assemble="constraint_forces", output_step=0.01)
    closed = run.time >= run.statistics["closed_at"]
    assert np.isnan(run.sensor("angle").value[~closed]).all()
    assert np.isfinite(run.sensor("angle").value[closed]).all()


def test_files_tables_and_parts(run, tmp_path):
    run.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    assert again.layout == run.layout
    recorded = bc.simulate(watched(), 0.3, **SETTINGS, path=tmp_path / "grown.h5")
    for other in (again, recorded, bc.Trajectory.load(tmp_path / "grown.h5")):
        for name in run.sensors:
            np.testing.assert_allclose(other.sensor(name).values, run.sensor(name).values, atol=1e-9)
    np.testing.assert_array_equal(run[3:9].sensor("gap").value, run.sensor("gap").value[3:9])
    finer = run.resample(step=0.005).sensor("gap").value
    np.testing.assert_array_equal(finer[::2], run.sensor("gap").value)
    np.testing.assert_array_equal(finer[1::2], run.sensor("gap").value[1:])  # held
    table = run.to_dict()
    np.testing.assert_array_equal(table["sensor.imu.acceleration_z [m/s^2]"], run.sensor("imu").values[:, 2])
    data = run.to_xarray()
    np.testing.assert_array_equal(
        data.sensor_reading.sel(sensor_channel="gap.distance"), run.sensor("gap").value
    )
    with pytest.raises(bc.MechanismError, match="no sensor of this name; did you mean 'gap'"):
        run.sensor("gapp")
    joined = bc.concatenate([run, bc.simulate(watched(), 0.1, state=run.at(0.3), start=0.3, **SETTINGS)])
    assert joined.sensor("gap").value.shape == (len(joined),)


def test_files_of_mechanisms_with_sensors(tmp_path):
    mech = watched(noise=0.1, bias=(0.2,), seed=4)
    for suffix in ("yaml", "json"):
        bc.save(mech, tmp_path / f"arm.{suffix}")
    text = (tmp_path / "arm.yaml").read_text()
    assert "sensors:" in text
    assert "of: hip" in text
    assert list(bc.load(tmp_path / "arm.json").sensors.values()) == list(mech.sensors.values())
    with pytest.raises(bc.MechanismError, match=r"sensor 'imu'.*period must be greater than zero") as caught:
        bc.loads(text.replace("period: 0.01", "period: -1", 1))
    assert caught.value.faults[0].location.line is not None


def test_sensors_follow_their_elements():
    mech = watched()
    mech.replace(mech.joints["hip"], name="hinge")
    mech.replace(mech.forces["strut"], name="spring")
    mech.replace(mech.bodies["rod"], name="boom")
    assert mech.sensors["hip load"].kind.of == "hinge"
    assert mech.sensors["spring"].kind.of == "spring"
    assert mech.sensors["angle"].ends[0].joint == "hinge"
    assert mech.sensors["imu"].markers[0].body == "boom"
    with pytest.raises(
        bc.MechanismError, match="others refer to it: sensor 'spring', sensor 'spring on rod'"
    ):
        mech.remove(mech.forces["spring"])
    mech.remove(mech.forces["spring"], cascade=True)
    assert "spring" not in mech.sensors
    mech.remove(mech.sensors["imu"])
    whole = bc.Mechanism("two")
    placed = whole.place(mech, "left")
    assert placed.sensor("hip load").kind.of == "left/hinge"
    assert bc.simulate(whole, 0.02).sensors == tuple(whole.sensors)
    assert mech.copy() == mech
    assert mech != watched()


def test_parameters_in_sensors():
    mech = watched()
    period, place = mech.add_parameter("dt", 0.02, "s"), mech.add_parameter("place", 0.1, "m")
    mech.add_sensor("own", bc.IMU(period=period), mech.bodies["rod"].marker((place, 0, 0)))
    coarse, fine = (bc.simulate(m, 0.1, **SETTINGS) for m in (mech, mech.with_parameters(dt=0.01)))
    assert len(np.unique(fine.sensor("own").values[:, 0])) > len(np.unique(coarse.sensor("own").values[:, 0]))


def test_faults():
    mech = watched()
    rod = mech.bodies["rod"]
    mech.add_sensor("none", bc.WrenchSensor("hipp"))
    mech.add_sensor("nothing", bc.ForceSensor("strutt"))
    mech.add_sensor("ground", bc.IMU(), mech.ground)
    mech.add_sensor("same", bc.DistanceSensor(), rod.marker(), rod.marker((1, 0, 0)))
    mech.add_sensor("lost", bc.Encoder(), "elbow")
    with pytest.raises(bc.MechanismError) as caught:
        bc.simulate(mech, 0.1)
    texts = [str(fault) for fault in caught.value.faults]
    assert len(texts) == 5
    for text, part in zip(
        texts, ("'hipp'", "'strutt'", "on the ground", "on one body", "'elbow'"), strict=True
    ):
        assert part in text
    with pytest.raises(bc.MechanismError, match="IMU takes one marker"):
        watched().add_sensor("bare", bc.IMU())
    with pytest.raises(bc.MechanismError, match="noise must not be negative"):
        bc.IMU(noise=-1.0)
    with pytest.raises(bc.MechanismError, match="period must be greater than zero"):
        bc.Encoder(period=0.0)
    several = watched()
    several.add_sensor("odd", bc.IMU(noise=(0.1, 0.2)), several.bodies["rod"])
    with pytest.raises(bc.MechanismError, match="noise must be a number, or one for each of its 6 channels"):
        bc.simulate(several, 0.1)
    with pytest.raises(
        bc.MechanismError, match="it measures loads, which reactions=False leaves out"
    ) as caught:
        bc.simulate(watched(), 0.1, reactions=False)
    assert len(caught.value.faults) == 4
    idle = watched()
    rod, bead = idle.bodies["rod"], idle.bodies["bead"]
    idle.add_joint("free", bc.Free(), rod, bead)
    idle.add_sensor("of none", bc.WrenchSensor("free"))
    idle.add_sensor("elsewhere", bc.ForceSensor("strut"), bead)
    with pytest.raises(bc.MechanismError, match="its joint locks nothing") as caught:
        bc.simulate(idle, 0.1)
    assert "does not act on the body of its marker, got 'bead'" in str(caught.value)


def test_runs_with_sensors_are_verified_and_followed(run):
    assert bc.verify(run)
    tape = start_with_tape(watched(), 0.1)
    assert not tape.complete().sensors


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_files_of_others_leave_sensors_out_by_name(tmp_path, suffix):
    mech = bc.Mechanism("pendulum")
    rod = mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    mech.add_sensor("load", bc.WrenchSensor("pivot"))
    left = bc.save(mech, tmp_path / f"pendulum.{suffix}")
    assert [fault.element for fault in left if fault.element.startswith("sensor")] == ["sensor 'load'"]


def test_kinds_and_elements_in_commands_and_reports(tmp_path):
    from click.testing import CliRunner

    from bellcrank.cli.main import bellcrank

    bc.save(watched(), tmp_path / "arm.yaml")
    bc.simulate(watched(), 0.05, path=tmp_path / "arm.h5")
    told = CliRunner().invoke(bellcrank, ["info", str(tmp_path / "arm.yaml"), "--all"]).output
    assert "hip gauge" in told
    assert "joint 'hip'" in told
    assert "hip gauge" in CliRunner().invoke(bellcrank, ["info", str(tmp_path / "arm.h5"), "--json"]).output
    assert "sensors" in watched()._repr_html_()
