"""What a session keeps between runs: its record, history, inputs and where it started."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.shell.session import Session, Situation

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


SWINGING = ("gravity 0 -9.81 0", "body bob mass=1 inertia=[0.1, 0.1, 0.1] position=[0.5, 0, 0]",
            "joint pin Revolute ground {body: bob, position: [-0.5, 0, 0]}",
            "sb bob -if damping air", "sf bob air -d 0.01",
            "sacc -r 1e-7 -a 1e-7", "sstepsize 0.1")  # fmt: skip


def calls(shell):
    return sum(int(run.statistics["evaluations"]) for run in shell.session.now.history)


def restarted(shell):
    """Whether the last run began anew."""
    last = shell.session.now.history[-1].statistics
    return last["steps_since_restart"] == last["steps"]


@pytest.fixture
def going(run):
    """A pendulum that has gone on for some steps."""
    run(*SWINGING, "step 3", "step 1")


@pytest.mark.parametrize("method", ["adams", "bdf"])
def test_ten_commands_are_one(shell, run, method):
    run(*SWINGING, f"method {method}", "run 1 output_step=0.1")
    whole, once = shell.session.trajectory(), calls(shell)
    run("reset", *["step 1"] * 10)
    parts = shell.session.trajectory()
    np.testing.assert_allclose(parts.time, whole.time, atol=1e-12)
    np.testing.assert_allclose(parts.body("bob").position, whole.body("bob").position, atol=1e-5)
    assert calls(shell) < 1.5 * once  # steps end at the commands' ends
    told = run("rlsode").data
    assert told["calls"] == pytest.approx(calls(shell), abs=5)
    assert told["order"] > 3


def test_it_goes_on(shell, going):
    assert not restarted(shell)


@pytest.mark.parametrize(
    "change",
    [
        "method adams max_order=5",
        "sacc -r 1e-8",
        "formulation recursive",
        "parameter other 1",
        "stime 0",
        "undo",
        "sb bob -vr 0 0 1",
        "body other mass=1 inertia=[1, 1, 1]",
        "gravity 0 -1.6 0",
    ],
)
def test_a_change_starts_anew(shell, run, going, change):
    run(change, "step 1")
    assert restarted(shell)


def test_a_changed_force_starts_anew_and_acts(shell, run, going):
    before = shell.session.state()
    run("sf bob air -d 50", "step 3")
    assert restarted(shell)
    assert abs(shell.session.state().angular_velocity[0, 2]) < 0.2 * abs(before.angular_velocity[0, 2])


def test_looking_changes_nothing(shell, run, going):
    run("rlsode", "rtime", "pf", "sstepsize 0.05", "step 1")
    assert not restarted(shell)


def test_a_ledger_is_kept_where_it_is_wanted(shell, run):
    run(*SWINGING)
    for _ in range(2):
        text = run("run 0.5 ledger=true").text
        assert "\nkinetic energy " in text
        assert "\nlargest residual, of " in text
    assert all(part.energy_balance().error < 1e-6 for part in shell.session.now.history)
    assert "residual" not in run("run 0.1").text


MAKE = (
    "body cart mass=2 inertia=[1,1,1]",
    "joint track PrismaticX ground cart",
    "input push 4 unit=N",
    "force motor JointMotor track effort=push",
    "method rk4",
)


def test_an_input_is_set_between_runs(shell, run):
    run(*MAKE)
    assert run("input push").text == "4 N"
    run("run 1")
    run("input push -8")
    run("run 1")
    run("step 3")
    motion = shell.session.trajectory()
    cart = motion.body("cart")
    at = motion.time.searchsorted(2.0)
    np.testing.assert_allclose(cart.velocity[at, 0], 2.0 - 4.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(cart.position[at, 0], 1.0 + 2.0 - 2.0, rtol=0, atol=1e-9)
    pushes = motion.input("push").value
    np.testing.assert_array_equal(pushes[motion.time <= 1.0], 4.0)
    np.testing.assert_array_equal(pushes[motion.time > 1.0], -8.0)
    run("undo")
    run("undo")
    run("undo")
    assert run("input push").data == {"input": "push", "value": 4.0}


def test_what_is_wrong_with_an_input_is_told(shell):
    for line in MAKE:
        assert shell.execute(line).ok
    for line, rule in (
        ("input pull", "there is none of this name; there are 'push'"),
        ("input push 3 unit=kN", "it is there already"),
        ("input sin 3", "meaning in expressions"),
        ("input pull 3 low=2", "it takes unit"),
        ("body load mass=push inertia=[1,1,1]", "must not depend on the input 'push'"),
    ):
        reply = shell.execute(line)
        assert not reply.ok
        assert rule in reply.text, reply.text


def test_going_on_keeps_rest_lengths_cables_and_turns():
    mech = bc.Mechanism("held", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_force("spring", bc.SpringDamper(100.0), mech.ground.marker(), body.marker())
    mech.add_constraint(
        "rope", bc.Cable(slack=True), mech.ground.marker((0, 0, 0.5)), body.marker((0, 0, 0.3))
    )
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1), angular_velocity=(0, 0, 10))
    mech.add_joint("axle", bc.Revolute(), mech.ground, wheel)
    mech.add_force("clock spring", bc.TorsionSpring(1.0), "axle")
    settings = {"method": "adams", "rtol": 1e-11, "atol": 1e-11}
    whole = bc.simulate(mech, 1.5, output_step=0.25, **settings)
    session = Session()
    session.now = Situation(mech)
    session.run(1.0, 0.25, **settings)
    session.commit()
    assert session.mechanism.forces["spring"].kind.rest_length == 1.0
    assert session.mechanism.constraints["rope"].kind.length == pytest.approx(1.2)
    rest = session.run(0.5, 0.25, **settings)
    assert rest.body("body").position[-1] == pytest.approx(whole.body("body").position[-1], abs=1e-8)
    assert rest.joint("axle").position[-1] == pytest.approx(whole.joint("axle").position[-1], abs=1e-7)
    assert abs(whole.joint("axle").position[-1]) > 6.0
    assert rest.energy.total[-1] == pytest.approx(whole.energy.total[-1], abs=1e-7)
