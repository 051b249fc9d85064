"""Forces, efforts of constraints and the balance of energy in results, files and tables."""

import csv
import math
import pickle

import h5py
import numpy as np
import pytest
from rigs.forced_arm import END, POINT, arm

import bellcrank as bc
from bellcrank import gallery
from bellcrank.run import course
from bellcrank.trajectory.store import MemoryStore

FORMULATIONS = ("lagrange", "recursive", "symbolic")


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


G = 9.81


def wheels(kind, torque=0.5):
    mech = bc.Mechanism("wheels", gravity=(0, 0, 0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02))
    two = mech.add_body("two", 1.0, (0.03, 0.03, 0.05), position=(0.3, 0, 0))
    mech.add_joint("j1", bc.Revolute(), mech.ground, one)
    mech.add_joint("j2", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), two)
    mech.add_constraint("mesh", kind, one, two)
    mech.add_force("motor", bc.JointMotor(torque), joint="j1")
    return mech


@pytest.mark.parametrize(
    ("kind", "lever", "unit"),
    [
        (bc.Gear(radii=(0.1, 0.2)), 0.2, "N"),
        (bc.Gear(ratio=2.0), 2.0, "N m"),
        (bc.Gear(teeth=(20, 40)), 2.0, "N m"),
        (bc.Belt(radii=(0.1, 0.2)), 0.2, "N"),
    ],
)
def test_the_force_at_the_teeth(kind, lever, unit, tmp_path):
    """J1 a + J2 a / 4 = T for a ratio of two; what drives wheel 2 is J2 a / 2."""
    run = bc.simulate(wheels(kind), 0.1, path=tmp_path / "run.h5")
    angular = 0.5 / (0.02 + 0.05 / 4)
    mesh = run.constraint("mesh")
    assert run.constraints == ("mesh",)
    assert mesh.unit == unit
    assert np.abs(mesh.effort) == pytest.approx(0.05 * angular / 2 / lever, rel=1e-9)
    assert run.to_dict()[f"constraint.mesh.effort [{unit}]"] == pytest.approx(mesh.effort)


def test_the_tension_of_a_cable_and_of_a_winch():
    """Atwood's machine: 2 m1 m2 g / (m1 + m2); and a weight on a drum: m g J / (J + m r^2)."""
    mech = bc.Mechanism("atwood", gravity=(0, 0, -G))
    for name, mass, x in (("light", 1.0, -0.2), ("heavy", 2.0, 0.2)):
        body = mech.add_body(name, mass, (1, 1, 1), position=(x, 0, -1))
        guide = mech.ground.marker((x, 0, 0))
        mech.add_joint(f"guide {name}", bc.Prismatic(), guide, body)
    tops = [mech.ground.marker((-0.2, 0, 1)), mech.ground.marker((0.2, 0, 1))]
    mech.add_constraint("cable", bc.Cable(), mech.bodies["light"], *tops, mech.bodies["heavy"])
    drum = mech.add_body("drum", 1.0, (0.1, 0.1, 0.1), position=(2, 0, 0))
    load = mech.add_body("load", 4.0, (1, 1, 1), position=(2, 0, -2))
    mech.add_joint(
        "axle", bc.Revolute(), mech.ground.marker((2, 0, 0), axis=(0, 1, 0)), drum.marker(axis=(0, 1, 0))
    )
    mech.add_joint("shaft", bc.Prismatic(), mech.ground.marker((2, 0, 0)), load)
    mech.add_constraint("winch", bc.Winch(radius=0.2), "axle", mech.ground.marker((2, 0, 0)), load)
    run = bc.simulate(mech, 0.2)
    assert run.constraint("cable").effort == pytest.approx(2 * 2 * G / 3, rel=1e-9)
    assert run.constraint("winch").effort == pytest.approx(4 * G * 0.1 / (0.1 + 4 * 0.04), rel=1e-9)
    assert {run.constraint(name).unit for name in run.constraints} == {"N"}


def test_unknown_constraints():
    with pytest.raises(bc.MechanismError, match="no constraint of this name; did you mean 'mesh'"):
        bc.simulate(wheels(bc.Gear(ratio=2.0)), 0.01).constraint("mess")


def test_accelerations_of_joints(tmp_path):
    """A pendulum's: m g d sin / J. A universal and a sliding joint's: against differences of the rates."""
    mech = bc.Mechanism("swing", gravity=(0, 0, -G))
    rod = mech.add_body("rod", 1.0, (0.01, 0.1, 0.1), com=(0.5, 0, 0))
    y = {"axis": (0, 1, 0)}
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(**y), rod.marker(**y), velocity=2.0)
    bob = mech.add_body("bob", 0.5, (0.01, 0.02, 0.03), com=(0.1, 0.2, 0))
    joint = mech.add_joint("cross", bc.Universal(), mech.ground, bob, velocity=(3.0, -2.0))
    ring = mech.add_body("ring", 0.2, (0.01, 0.02, 0.03), position=(0, 0, 0.5))
    mech.add_joint("slide", bc.Cylindrical(), bob, ring, velocity={"theta_z": 4.0})
    run = bc.simulate(mech, 1.0, accelerations=True, output_step=1e-3, path=tmp_path / "run.h5")
    angle = run.joint("pivot").position[:, 0]
    expected = 0.5 * G * np.cos(angle) / (0.1 + 0.25)
    assert run.joint("pivot").acceleration[:, 0] == pytest.approx(expected, abs=1e-8)
    for name in (joint.name, "slide"):
        history = run.joint(name)
        slopes = (history.velocity[2:] - history.velocity[:-2]) / 2e-3
        size = np.max(np.abs(history.acceleration))
        assert history.acceleration[1:-1] == pytest.approx(slopes, abs=1e-4 * size)
    assert "joint.pivot.theta_z.acceleration [rad/s^2]" in run.to_dict()
    with pytest.raises(bc.MechanismError, match="simulate with accelerations=True"):
        _ = bc.simulate(mech, 0.01).joint("pivot").acceleration


def test_kinematics_tell_accelerations_of_joints():
    """A crank led by t^2 turns with an acceleration of 2."""
    mech = bc.Mechanism("crank", gravity=(0, 0, 0))
    crank = mech.add_body("crank", 1.0, (1, 1, 1))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, crank)
    mech.add_drive("motor", "pivot", position=bc.Polynomial((0.0, 0.0, 1.0)))
    assert bc.kinematics(mech, 1.0, 0.1).joint("pivot").acceleration == pytest.approx(2.0, abs=1e-10)


ABOUT_Y = {"axis": (0, 1, 0)}


def door():
    """A bar on a driven carriage, with a damper and a spring at its hinge."""
    mech = bc.Mechanism("door")
    carriage = mech.add_body("carriage", 1.0, (0.1, 0.1, 0.1))
    bar = mech.add_body("bar", 1.0, (0.1, 0.1, 0.1), com=(0.2, 0, 0))
    mech.add_joint("rail", bc.PrismaticX(), mech.ground.marker(), carriage.marker())
    mech.add_joint("hinge", bc.Revolute(), carriage.marker(**ABOUT_Y), bar.marker(**ABOUT_Y))
    mech.add_force("coil", bc.TorsionSpring(5.0), "hinge")
    mech.add_force("rubbing", bc.JointFriction(viscous=0.3), "hinge")
    mech.add_drive("shake", "rail", position=bc.Harmonic(0.1, 7.0))
    return mech


SETTINGS = {"output_step": 0.01, "tolerance": 1e-9, "ledger": True}


@pytest.fixture(scope="module")
def balanced():
    return bc.simulate(door(), 0.4, **SETTINGS)


def test_every_entry_is_there(balanced):
    balance = balanced.energy_balance()
    assert balanced.layout.works == (
        "force 'coil'", "force 'rubbing'", "drive 'shake'", "states set", "impacts",
    )  # fmt: skip
    assert list(balance.stored) == ["coil"]
    assert list(balance.lost) == ["coil", "rubbing"]
    assert list(balance.supplied) == ["drive 'shake'"]
    assert balance.error < 1e-6
    total = balance.kinetic + balance.weight + balance.stored["coil"]
    np.testing.assert_allclose(total, balanced.energy.total, rtol=0, atol=1e-14)
    assert "supplied by drive 'shake'" in str(balance)
    again = pickle.loads(pickle.dumps(balance))
    assert np.array_equal(again.lost["rubbing"], balance.lost["rubbing"])
    with pytest.raises(ValueError, match="read-only"):
        again.lost["rubbing"][0] = 1.0
    assert balance.exchanged == max(
        np.ptp(values)
        for values in (
            balance.kinetic,
            balance.weight,
            *balance.stored.values(),
            *balance.lost.values(),
            *balance.supplied.values(),
        )
    )


def test_works_are_integrals_of_powers(balanced):
    """Between frames, to what Simpson's rule makes of them."""
    for element in (balanced.force("rubbing"), balanced.force("coil"), balanced.drive("shake")):
        power, work = element.power, element.work
        simpson = 0.02 / 6.0 * (power[:-2] + 4.0 * power[1:-1] + power[2:])
        np.testing.assert_allclose(work[2:] - work[:-2], simpson, rtol=0, atol=1e-6 * np.ptp(work))


def test_without_a_ledger_it_says_so():
    balanced = bc.simulate(door(), 0.02)
    with pytest.raises(bc.MechanismError, match="ledger=True"):
        balanced.energy_balance()
    with pytest.raises(bc.MechanismError, match="ledger=True"):
        _ = balanced.force("coil").work


def test_parts_pickles_and_files_keep_it(balanced, tmp_path):
    balanced.save(tmp_path / "run.h5")
    recorded = bc.simulate(door(), 0.4, path=tmp_path / "recorded.h5", **SETTINGS)
    for other in (pickle.loads(pickle.dumps(balanced)), bc.Trajectory.load(tmp_path / "run.h5"), recorded):
        assert other.layout == balanced.layout
        assert np.array_equal(other.store.read("works"), balanced.store.read("works"))
    balance = balanced[10:30].energy_balance()
    assert balance.error < 1e-6
    assert balance.lost["rubbing"][0] == 0.0
    assert balanced.resample(step=0.004).energy_balance().error < 1e-6


def test_runs_that_follow_each_other_count_on(balanced):
    after = bc.simulate(door(), 0.3, state=balanced.at(0.4), **SETTINGS)
    whole = bc.concatenate([balanced[:8], balanced[8:20], balanced[19:], after[:7], after[7:]])
    assert np.array_equal(whole.store.read("works")[: len(balanced)], balanced.store.read("works"))
    assert whole.energy_balance().error < 1e-6
    assert whole.force("rubbing").work[-1] == pytest.approx(
        balanced.force("rubbing").work[-1] + after.force("rubbing").work[-1], rel=1e-12
    )


def test_tables_have_it(balanced):
    assert np.array_equal(balanced.to_dict()["drive.shake.work [J]"], balanced.drive("shake").work)
    assert np.array_equal(balanced.to_dict()["force.coil.work [J]"], balanced.force("coil").work)


def test_a_frame_of_now_has_it():
    live = bc.start(door(), output_step=0.1, ledger=True)
    live.advance(0.25)
    now, recorded = live.now(), live.trajectory
    assert now.time[0] == 0.25
    assert now.force("rubbing").work[0] < recorded.force("rubbing").work[-1] < 0.0


def test_it_is_handed_over_to_another_formulation(monkeypatch):
    """The first run of the core ends in the middle, as where a formulation breaks down."""
    made, real = [], course.core_run

    class Breaking:
        def __init__(self, run):
            self._run = run

        def __getattr__(self, name):
            return getattr(self._run, name)

        def advance(self, outputs, end, last, flush, *callbacks):
            self._run.advance([time for time in outputs if time <= 0.5], 0.5, False, False, *callbacks)
            return False

        def outcome(self):
            return {**self._run.outcome(), "status": "step_vanished", "body": 0}

    def started(*arguments):
        made.append(real(*arguments))
        return Breaking(made[-1]) if len(made) == 1 else made[-1]

    monkeypatch.setattr(course, "core_run", started)
    told = bc.simulate(gallery.chain(3, angle=0.3), 1.0, ledger=True)
    assert len(made) == 2
    assert told.energy_balance().error < 1e-6
    mech = door()
    made.clear()
    told = bc.simulate(mech, 1.0, **SETTINGS)
    assert len(made) == 2
    assert told.energy_balance().error < 1e-6


def falsified(balanced, account, change):
    sections = {name: np.array(balanced.store.read(name)) for name in balanced.layout.shapes}
    sections["works"][:, balanced.layout.works.index(account)] += change
    return bc.Trajectory(
        balanced.layout, MemoryStore(sections), balanced.status, balanced.statistics, balanced.origin
    )


def test_verify_judges_by_it(balanced):
    assert bc.verify(balanced), str(bc.verify(balanced))
    assert bc.verify(balanced)["works"].value is not None
    size = 1e-4 * np.sin(9.0 * balanced.time) * balanced.energy_balance().exchanged
    wrong = falsified(balanced, "force 'rubbing'", size)
    assert not bc.verify(wrong)["energy"].passed
    both = falsified(wrong, "force 'coil'", -size)  # their errors make up for each other
    assert bc.verify(both)["energy"].passed
    assert not bc.verify(both)["works"].passed
    assert "coil" in bc.verify(both)["works"].where or "rubbing" in bc.verify(both)["works"].where
