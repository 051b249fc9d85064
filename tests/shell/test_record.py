"""The record of a session goes on where forces, drives and values change between runs."""

import numpy as np
import pytest

import bellcrank as bc

CAR = ("ib car", "sb car -m 2 -if damping air -if brake br", "sf car air -d 0.1", "sf car br -d 1",
       "sb car -vl 1 0 0", "sstepsize 0.1")  # fmt: skip
PENDULUM = ("gravity 0 -9.81 0", "body bob mass=1 inertia=[0.1, 0.1, 0.1] position=[0.5, 0, 0]",
            "joint pin Revolute ground {body: bob, position: [-0.5, 0, 0]}",
            "force spring TorsionSpring pin stiffness=3", "sstepsize 0.1")  # fmt: skip


def slowed(times, *pieces):
    """Speed from 1 m/s under rates of decay (until a time, 1/s)."""
    speed, begin, found = 1.0, 0.0, np.empty(len(times))
    for end, rate in pieces:
        inside = (times >= begin - 1e-9) & (times <= end + 1e-9)
        found[inside] = speed * np.exp(-rate * (times[inside] - begin))
        speed, begin = speed * np.exp(-rate * (end - begin)), end
    return found


def test_switched_forces_keep_the_record(shell, run, tmp_path):
    run(*CAR, "sb car -f br", "step 10", "sb car -f br", "step 10", "sb car -f br", "step 10")
    record = shell.session.trajectory()
    np.testing.assert_allclose(record.time, np.linspace(0.0, 3.0, 31), atol=1e-12)
    known = slowed(record.time, (1.0, 0.05), (2.0, 0.55), (3.0, 0.05))
    np.testing.assert_allclose(record.body("car").velocity[:, 0], known, rtol=1e-5)
    brake = record.force("car.br").effort
    assert not brake[:10].any()
    assert not brake[20:].any()
    assert np.abs(brake[10:20]).max(axis=1).min() > 0.1
    assert np.abs(record.force("car.air").effort).max(axis=1).min() > 0.01
    assert record.statistics["changed_at"] == "1 s, 2 s"
    record.save(tmp_path / "run.h5")
    again = bc.Trajectory.load(tmp_path / "run.h5")
    for name in record.layout.shapes:
        np.testing.assert_array_equal(again.store.read(name), record.store.read(name))
    for one in (record, again):
        with pytest.raises(bc.MechanismError, match="its mechanism was changed at t = 1 s, 2 s"):
            bc.verify(one)
        with pytest.raises(bc.MechanismError, match="changed at t = 1 s, 2 s"):
            one.force("car.br").wrench("car")


@pytest.mark.parametrize(
    "change",
    [
        ("sf bob air -d 2",),
        ("sb bob -f air",),
        ("sb bob -if motor push", "sf bob push -f 1 0 0 0 0 2"),
        ("force other TorsionSpring pin stiffness=1 damping=1",),
        ("force pull SpringDamper {body: ground, position: [2, 0, 0]} bob stiffness=10",),
        ("remove spring",),
        ("drive motor pin velocity=1",),
        ("sb bob -m 3",),
        ("gravity 0 -1.6 0",),
        ("input torque 2", "force drive JointMotor pin effort=torque"),
        (
            "joint rail Prismatic ground slider",
            "constraint pulley Coupling pin.theta_z rail coefficients=[1, 2]",
        ),
    ],
)
def test_changes_keep_the_record(shell, run, change):
    slider = "body slider mass=1 inertia=[1, 1, 1] position=[0, 1, 0]"
    first = [line for line in change if line.startswith("joint")]
    run(*PENDULUM, slider, *first, "sb bob -if damping air", "step 10")
    before = shell.session.trajectory()
    run(*[line for line in change if line not in first], "step 10")
    record = shell.session.trajectory()
    np.testing.assert_allclose(record.time, np.linspace(0.0, 2.0, 21), atol=1e-12)
    np.testing.assert_array_equal(record.body("bob").position[:10], before.body("bob").position[:10])
    np.testing.assert_array_equal(
        record.force("spring").effort[:10].ravel(), before.force("spring").effort[:10].ravel()
    )
    last = shell.session.now.history[-1]
    for name in last.forces:
        mine, its = record.force(name), last.force(name)
        for column, values in zip(its.columns, its.effort.reshape(len(last), -1).T, strict=True):
            place = [(c.name, c.coordinate is None) for c in mine.columns].index(
                (column.name, column.coordinate is None)
            )
            np.testing.assert_array_equal(mine.effort.reshape(len(record), -1)[10:, place], values)
    for name in last.drives:
        np.testing.assert_array_equal(record.drive(name).effort[10:], last.drive(name).effort)
        assert not record.drive(name).effort[:10].any()
    assert len(record.to_dict()) >= len(last.to_dict())


def test_a_body_more_begins_another_record(shell, run):
    run(*PENDULUM, "step 3", "body other mass=1 inertia=[1, 1, 1]", "step 3")
    np.testing.assert_allclose(shell.session.trajectory().time, [0.3, 0.4, 0.5, 0.6], atol=1e-12)


def test_the_balance_of_energy_counts_on(shell, run):
    """Switching a stretched spring off loses its energy; a push by hand brings some in."""
    run(*PENDULUM, "run 1 output_step=0.1 ledger=true", "remove spring", "run 1 output_step=0.1 ledger=true",
        "sb bob -vr 0 0 3", "run 1 output_step=0.1 ledger=true")  # fmt: skip
    record = shell.session.trajectory()
    assert len(record) == 31
    balance = record.energy_balance()
    assert balance.error < 1e-5
    spring = record.force("spring").energy
    assert balance.lost["spring"][-1] == pytest.approx(
        shell.session.now.history[0].force("spring").energy[-1], rel=1e-5
    )
    assert not spring[10:].any()
    pieces = shell.session.now.history
    jump = pieces[2].energy.total[0] - pieces[1].energy.total[-1]
    assert balance.supplied["states set"][-1] == pytest.approx(jump, rel=1e-9)


def test_contacts_that_are_switched_keep_their_points(shell, run):
    ball = "mass=1 shapes=[{type: Sphere, radius: 0.1}] inertia=[0.004, 0.004, 0.004]"
    run("gravity 0 0 -9.81", "body floor mass=1 inertia=[1, 1, 1] shapes=[{type: Plane}]",
        "joint nail Fixed ground floor",
        f"body one {ball} position=[0, 0, 0.1]", f"body two {ball} position=[1, 0, 0.1]",
        "force first Contact one floor stiffness=1e4", "force second Contact two floor stiffness=1e4",
        "sstepsize 0.05", "step 4", "remove first", "step 4", "remove second", "step 1")  # fmt: skip
    record = shell.session.trajectory()
    assert record.contact("first").count.tolist()[1:4] == [1, 1, 1]
    assert not record.contact("first").count[4:].any()
    assert record.contact("second").count.tolist()[1:] == [*[1] * 7, 0, 0]
    for contact, body in (("first", "one"), ("second", "two")):
        points = record.contact(contact).points()
        assert len({*points.bodies}) == 1
        up = 1.0 if points.bodies[0] == (body, "floor") else -1.0
        np.testing.assert_allclose(points.normal[:, 2], up, atol=1e-12)
        assert points.normal_force.min() >= 0.0
        assert points.normal_force.max() == pytest.approx(9.81, rel=0.5)
