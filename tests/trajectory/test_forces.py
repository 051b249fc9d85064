"""What forces exert, as it is recorded: by every formulation, against closed forms, in files and tables."""

import csv
import math

import h5py
import numpy as np
import pytest

import bellcrank as bc
from bellcrank.expression import dot

FORMULATIONS = ("lagrange", "recursive", "symbolic")
Y = (0, 1, 0)
POINT, END = (-0.2, 0.0, 0.9), (0.35, 0.0, 0.02)


def arm():
    """A hinged arm with a slider on it, and every kind of force."""
    mech = bc.Mechanism("arm")
    inertia = (0.05, 0.2, 0.18)
    rod = mech.add_body("rod", 2.0, inertia, com=(0.05, 0.02, 0.01), position=(0.5, 0, 0))
    bead = mech.add_body("bead", 0.4, (0.01, 0.01, 0.01), com=(0.01, 0, 0.02), position=(0.6, 0, 0))
    hip, rail = (-0.5, 0, 0), (0.1, 0, 0)
    mech.add_joint("hip", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker(hip, axis=Y))
    mech.add_joint("rail", bc.Prismatic(), rod.marker(rail, axis=(1, 0, 0)), bead.marker(axis=(1, 0, 0)))
    mech.add_force("strut", bc.SpringDamper(80.0, 1.5, 0.7), mech.ground.marker(POINT), rod.marker(END))
    mech.add_force("coil", bc.TorsionSpring(6.0, 0.1, 0.2), "hip")
    mech.add_force("table", bc.TabulatedSpring(bc.Polynomial((0.0, -30.0)), 0.2), "rail")
    mech.add_force("motor", bc.JointMotor("2*sin(3*t)", 0.05), "hip")
    mech.add_force("geared", bc.GearedMotor(5.0, 1e-3, "0.1*cos(t)", 1e-3), "hip")
    mech.add_force("rubbing", bc.JointFriction(0.05, 0.1, 0.15, regularisation_velocity=0.5), "rail")
    mech.add_force("brake", bc.Brake("0.2 + 0.1*t", 0.5), "hip")
    rubber = bc.Bushing((20.0, 0.0, 30.0), (1.0, 2.0, 0.0), (0.3, 0.0, 0.2), (0.0, 0.1, 0.0))
    mech.add_force("bush", rubber, mech.ground.marker((0.9, 0, 0.1)), rod.marker((0.4, 0, 0)))
    mech.add_force("string", bc.RubberString(15.0, 0.4, 0.8), mech.ground.marker(POINT), bead.marker())
    mech.add_force("stop", bc.OneSidedSpring(50.0, -0.02, damping=0.5), "rail")
    mech.add_force("load", bc.Wrench(force=(0, 0, "-3*cos(t)"), moment=(0, 0.4, 0)), bead.marker((0, 0, 0.1)))
    thrust = bc.Wrench(force=(1.5, 0, 0), axes="marker")
    mech.add_force("thrust", thrust, rod.marker((0.3, 0, 0.1), axis=(1, 0, 0)))
    mech.add_force("air", bc.BodyDamping((0.1, 0.2, 0.3), 0.02), rod.marker((0.1, 0, 0)))
    one, two = bc.EndPose("a"), bc.EndPose("b")
    apart = one.position - two.position
    well = bc.CustomForce((one, two), potential=4.0 * dot(apart, apart))
    mech.add_force("well", well, rod.marker((0.2, 0, 0.1)), mech.ground.marker((0.3, 0, -0.4)))
    q, s = bc.EndCoordinate("q"), bc.EndCoordinate("s")
    mech.add_force("coupled", bc.CustomForce((q, s), efforts=(-0.3 * s.value, 0.2 * q.rate)), "hip", "rail")
    return mech


@pytest.fixture(scope="module")
def runs():
    options = {"method": "dopri5", "tolerance": 1e-12, "output_step": 2.5e-3, "accelerations": True}
    return {name: bc.simulate(arm(), 0.6, formulation=name, **options) for name in FORMULATIONS}


@pytest.fixture(scope="module")
def run(runs):
    return runs["lagrange"]


def test_formulations_agree_on_every_force(runs):
    first = runs["lagrange"]
    assert first.forces == tuple(arm().forces)
    for other in (runs["recursive"], runs["symbolic"]):
        for name in first.forces:
            one, two = first.force(name), other.force(name)
            for quantity in ("effort", "rate", "position", "power"):
                mine, theirs = getattr(one, quantity), getattr(two, quantity)
                scale = 1.0 + np.nanmax(np.abs(mine), initial=0.0)
                np.testing.assert_allclose(
                    theirs, mine, rtol=0, atol=1e-9 * scale, err_msg=f"{name} {quantity}"
                )
            for body in one.bodies:
                np.testing.assert_allclose(
                    two.wrench(body), one.wrench(body), rtol=0, atol=1e-8, err_msg=name
                )


def test_a_strut_is_what_its_law_says(run):
    strut, rod = run.force("strut"), run.body("rod")
    along = rod.point(END) - np.array(POINT)
    length = np.linalg.norm(along, axis=1)
    rate = np.sum(along * rod.point_velocity(END), axis=1) / length
    effort = -80.0 * (length - 0.7) - 1.5 * rate
    np.testing.assert_allclose(strut.position, length, rtol=1e-13)
    np.testing.assert_allclose(strut.rate, rate, atol=1e-12)
    np.testing.assert_allclose(strut.effort, effort, atol=1e-11)
    np.testing.assert_allclose(strut.energy, 40.0 * (length - 0.7) ** 2, atol=1e-12)
    force = effort[:, None] * along / length[:, None]
    on_rod, on_ground = strut.wrench("rod", END), strut.wrench("ground", POINT)
    np.testing.assert_allclose(on_rod, np.hstack([np.zeros_like(force), force]), atol=1e-10)
    np.testing.assert_allclose(on_ground, np.hstack([np.zeros_like(force), -force]), atol=1e-10)
    assert strut.bodies == ("ground", "rod")
    assert strut.units == ("N",)


def test_laws_on_joints_are_what_they_say(run):
    hip, rail = run.joint("hip"), run.joint("rail")
    angle, spin = hip.position[:, 0], hip.velocity[:, 0]
    travel, speed = rail.position[:, 0], rail.velocity[:, 0]
    expected = {
        "coil": -6.0 * (angle - 0.2) - 0.1 * spin,
        "table": -30.0 * travel - 0.2 * speed,
        "motor": 2.0 * np.sin(3.0 * run.time) - 0.05 * spin,
        "geared": 0.5 * np.cos(run.time) - 0.025 * spin,
        "brake": -(0.2 + 0.1 * run.time) * np.tanh(spin / 0.5),
    }
    for name, effort in expected.items():
        np.testing.assert_allclose(run.force(name).effort, effort, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(run.force("coil").position, angle)
    coupled = np.stack([-0.3 * travel, 0.2 * spin], axis=1)
    np.testing.assert_allclose(run.force("coupled").effort, coupled, atol=1e-12)
    np.testing.assert_allclose(run.force("table").energy, 15.0 * travel**2, atol=1e-12)


def test_wrenches_at_markers_have_components(run):
    load, bead = run.force("load"), run.body("bead")
    assert load.coordinates == ("moment_y", "force_z")
    assert load.units == ("N m", "N")
    assert np.isnan(load.position).all()
    np.testing.assert_allclose(load.effort, np.stack([0.4 + 0 * run.time, -3.0 * np.cos(run.time)], axis=1))
    speed = bead.point_velocity((0, 0, 0.1))[:, 2]
    np.testing.assert_allclose(load.rate, np.stack([bead.angular_velocity[:, 1], speed], axis=1), atol=1e-12)
    at_marker = load.wrench("bead", (0, 0, 0.1))
    np.testing.assert_allclose(at_marker[:, 1], 0.4, rtol=1e-12)
    np.testing.assert_allclose(at_marker[:, [0, 2, 3, 4]], 0.0, atol=1e-12)


def test_forces_balance_and_power_is_the_change_of_energy(run):
    """M a = weight, forces and reactions; the powers' integral is what the energy changes by."""
    verdict = bc.verify(arm(), run)
    assert verdict.passed, verdict
    assert verdict["forces"].value < 1e-10
    power = sum(run.force(name).power for name in run.forces)
    weight = sum(m * 9.81 * run.body(b).com_position[:, 2] for b, m in (("rod", 2.0), ("bead", 0.4)))
    total = run.energy.kinetic + weight
    step = run.time[1] - run.time[0]
    work = step / 3.0 * (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2])
    # Simpson's rule misses some at the kinks of string and stop.
    np.testing.assert_allclose(total[2::2] - total[0], np.cumsum(work), atol=3e-4)
    stored = sum(run.force(name).energy for name in set(run.layout.force_potentials))
    np.testing.assert_allclose(weight + stored, run.energy.potential, atol=1e-11)


def test_what_there_is_not_is_refused(run):
    with pytest.raises(bc.MechanismError, match="no potential energy"):
        _ = run.force("motor").energy
    with pytest.raises(bc.MechanismError, match="'strut'"):
        run.force("struts")
    with pytest.raises(bc.MechanismError, match="does not act on this body"):
        run.force("coil").wrench("bead")
    bare = bc.simulate(arm(), 0.01, reactions=False)
    assert bare.forces == ()
    assert bare.layout.width < run.layout.width


def test_files_and_tables_hold_forces(run, tmp_path):
    run.save(tmp_path / "run.h5")
    read = bc.Trajectory.load(tmp_path / "run.h5")
    assert read.forces == run.forces
    assert bc.loads(read.mechanism).forces == arm().forces
    for name in run.forces:
        np.testing.assert_array_equal(read.force(name).effort, run.force(name).effort)
        np.testing.assert_array_equal(read.force(name).power, run.force(name).power)
    assert bc.verify(bc.loads(read.mechanism), read[:9], samples=2).passed
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["forces/effort"].shape == (len(run), len(run.layout.force_columns))
        assert file.attrs["version"] == 3
    run.to_csv(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    last = {name: float(value) for name, value in rows[-1].items()}
    assert last["force.strut.distance.effort [N]"] == run.force("strut").effort[-1]
    assert last["force.strut.distance [m]"] == run.force("strut").position[-1]
    assert last["force.strut.energy [J]"] == run.force("strut").energy[-1]
    assert last["force.load.force_z.effort [N]"] == pytest.approx(-3.0 * math.cos(0.6))


def test_figures_show_forces(run):
    figure = run.plot("force", "strut", "coil")
    assert len(figure.axes) == 3
    (line,) = figure.axes[-1].lines[:1]
    assert line.get_label() == "strut"
