"""Inverse dynamics of driven joints and of markers on paths, by closed forms, by hand and by runs."""

import math

import numpy as np
import pytest
from rigs.swinging import G
from rigs.upright_linkages import Y, four_bar, slider_crank

import bellcrank as bc
from bellcrank.gallery import prosthetic_tasks

SPEED = 3.0
FORMULATIONS = ("lagrange", "recursive", "symbolic")


def piston(angle, speed):
    """Position, velocity and acceleration of a centric slider at constant speed of the crank."""
    r, rod = 0.5, 2.0
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(rod**2 - (r * s) ** 2)
    x = r * c + root
    v = -r * s * speed - r**2 * s * c * speed / root
    a = -r * c * speed**2 - r**2 * speed**2 * ((c**2 - s**2) / root + r**2 * s**2 * c**2 / root**3)
    return x, v, a


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_slider_crank(formulation):
    """Closed form over two turns; nothing drifts, for nothing is integrated."""
    run = bc.kinematics(slider_crank(SPEED), 4 * math.pi / SPEED, 0.01, formulation=formulation)
    x, v, a = piston(SPEED * run.time, SPEED)
    slider = run.body("piston")
    assert np.max(np.abs(slider.position[:, 0] - x)) < 1e-9
    assert np.max(np.abs(slider.velocity[:, 0] - v)) < 1e-9
    assert np.max(np.abs(slider.acceleration[:, 0] - a)) < 1e-7
    assert run.joint("main").position[-1, 0] == pytest.approx(4 * math.pi, abs=1e-9)


def test_the_effort_of_the_motor_balances_the_power():
    """Without gravity the motor's power is the rate of the kinetic energy."""
    run = bc.inverse_dynamics(slider_crank(SPEED), 2 * math.pi / SPEED, 0.005)
    energy = run.energy.kinetic
    rate = np.gradient(energy, run.time, edge_order=2)
    power = run.drive("motor").effort.ravel() * SPEED
    assert np.max(np.abs(power - rate)[2:-2]) < 2e-3 * np.max(np.abs(rate))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_piston_s_force_by_hand(formulation):
    """The rod's force along x on the piston is its mass times its acceleration; the bore holds it across."""
    run = bc.inverse_dynamics(slider_crank(SPEED), 1.0, 0.05, formulation=formulation)
    _, _, a = piston(SPEED * run.time, SPEED)
    along = run.joint("gudgeon").reaction[:, 3]
    assert along == pytest.approx(3.0 * a, abs=1e-7)
    across = run.joint("gudgeon").reaction[:, 5] + run.joint("bore").reaction[:, 5]
    assert across == pytest.approx(0.0 * a, abs=1e-7)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_long_step_stays_on_its_branch(formulation):
    """A quarter turn and more between frames: the motion in between is followed in smaller steps."""
    run = bc.kinematics(slider_crank(SPEED), 4.0, 0.6, formulation=formulation)
    x, _, _ = piston(SPEED * run.time, SPEED)
    assert np.max(np.abs(run.body("piston").position[:, 0] - x)) < 1e-9
    assert run.statistics["steps"] > len(run)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_whole_turns_between_frames_are_counted(formulation):
    """A wheel led at constant speed is so easy to predict that one step could hold many turns."""
    mech = bc.Mechanism("wheel")
    wheel = mech.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_drive("motor", joint="axle", velocity=100.0)
    run = bc.kinematics(mech, 1.0, 0.1, formulation=formulation)
    assert run.joint("axle").position[:, 0] == pytest.approx(100.0 * run.time, abs=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_simulation_agrees(formulation):
    mech = four_bar()
    mech.add_drive("motor", joint="A", velocity=bc.Constant(5.0))
    led = bc.inverse_dynamics(mech, 2.0, 0.02, formulation=formulation)
    run = bc.simulate(mech, 2.0, method="dopri5", tolerance=1e-11, output_step=0.02, accelerations=True)
    for name in run.bodies:
        assert np.max(np.abs(led.body(name).position - run.body(name).position)) < 1e-8
        assert np.max(np.abs(led.body(name).acceleration - run.body(name).acceleration)) < 1e-6
    assert np.max(np.abs(led.drive("motor").effort - run.drive("motor").effort)) < 1e-6
    assert np.max(np.abs(led.joint("D").reaction - run.joint("D").reaction)) < 1e-6


def test_what_is_not_driven_is_named():
    with pytest.raises(bc.MechanismError, match=r"leave 1 degree of freedom open; drive .* joint 'A'"):
        bc.kinematics(four_bar(), 1.0)


def test_a_redundant_drive_that_agrees_is_no_fault():
    """Both wheels of a gear are driven, in ratio: one drive is redundant, the motion is determined."""
    mech = bc.Mechanism("gears")
    for k, name in enumerate(("one", "two")):
        wheel = mech.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.1), position=(float(k), 0, 0))
        mech.add_joint(
            name, bc.Revolute(), mech.ground.marker((float(k), 0, 0), axis=Y), wheel.marker(axis=Y)
        )
    mech.add_constraint("mesh", bc.Gear(ratio=2.0), mech.joints["one"], mech.joints["two"])
    mech.add_drive("first", joint="one", velocity=2.0)
    mech.add_drive("second", joint="two", velocity=-1.0)
    run = bc.kinematics(mech, 1.0)
    assert run.joint("two").position[-1, 0] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_end_of_the_reach_is_a_failure_with_what_was_computed(formulation):
    """A rocker of a four-bar that cannot go all the way round, driven beyond its dead point."""
    mech = four_bar()
    mech.add_drive("motor", joint="D", velocity=1.0)
    with pytest.raises(bc.SimulationError, match="drive") as caught:
        bc.kinematics(mech, 10.0, 0.01, formulation=formulation)
    kept = caught.value.trajectory
    assert 0.01 < kept.time[-1] < 3.0
    assert np.max(kept.violation.position) < 1e-9
    assert caught.value.time == pytest.approx(kept.time[-1], abs=0.02)


@pytest.mark.parametrize(("arguments", "message"), [((0.0,), "duration"), ((1.0, -0.1), "step")])
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(bc.MechanismError, match=message):
        bc.kinematics(slider_crank(1.0), *arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"formulation": "symbolik"}, bc.Unsupported, "no formulation 'symbolik'; did you mean 'symbolic'"),
        ({"formulation": "recursive", "planar": True}, bc.MechanismError, "planar"),
        ({"stepp": 0.1}, bc.MechanismError, "stepp"),
    ],
)
@pytest.mark.parametrize("analysis", [bc.kinematics, bc.inverse_dynamics])
def test_formulations_and_options_that_there_are_not(analysis, arguments, error, message):
    with pytest.raises(error, match=message):
        analysis(slider_crank(1.0), 1.0, **arguments)


def test_stops_under_every_formulation():
    mech = slider_crank(1.0)
    mech.replace(mech.joints["bore"], limits={"z": bc.Limit(-9.0, 9.0)})
    expected = bc.kinematics(mech, 0.1, 0.1).body("piston").position
    for formulation in ("recursive", "symbolic"):
        found = bc.kinematics(mech, 0.1, 0.1, formulation=formulation).body("piston").position
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_functions_are_read_from_the_start_time_on():
    """x = r cos + ... at angles from 1.5 rad/s * 2 s on."""
    run = bc.kinematics(slider_crank(1.5), 1.0, 0.1, start=2.0)
    x, _, _ = piston(1.5 * run.time, 1.5)
    assert run.time[0] == 2.0
    assert np.max(np.abs(run.body("piston").position[:, 0] - x)) < 1e-8


@pytest.mark.parametrize("step", [0.05, 0.2, 0.5])
def test_far_apart_frames_are_reached_all_the_same(step):
    """The arm on its path, with screws that turn many times between two frames: as with short steps."""
    task = prosthetic_tasks.TAKE_A_BOOK
    mech = prosthetic_tasks.driven_by_path(task)
    fine = bc.kinematics(mech, task.end, 0.01)
    coarse = bc.kinematics(mech, task.end, step)
    for name in prosthetic_tasks.ACTUATORS:
        expected = fine.joint(name).position[np.searchsorted(fine.time, coarse.time - 1e-9)]
        assert coarse.joint(name).position == pytest.approx(expected, abs=1e-7)


def test_a_drive_that_starts_at_a_stop_leaves_no_degree_of_freedom_open():
    """Whether rounding closes the stop or not: a closed one makes the drive redundant for a moment only."""
    for k in range(1, 80):
        start = -0.002 * k
        mech = bc.Mechanism("latch", gravity=(0, 0, 0))
        handle = mech.add_body("handle", mass=0.075, com=(0.03, 0, -0.015), inertia=(3e-6, 2.5e-5, 2.3e-5))
        mech.add_joint("pivot", bc.Revolute(), "ground", handle, bc.Limit(start, 2.6), position=start)
        hook = bc.SpringDamper(3e4, rest_length=0.05)
        mech.add_force("hook", hook, mech.ground.marker((-0.04, 0, 0)), handle.marker((0.02, 0, 0)))
        mech.add_drive("hand", "pivot", position=bc.Ramp(start, 0.5, duration=1.0))
        assert bc.info(mech).freedom == 0
        assert len(bc.inverse_dynamics(mech, duration=1.0, step=0.5)) == 3


AXIS = (0.0, -1.0, 0.0)
HAND = ("0.65 + 0.1*cos(2*t)", "0", "0.2 + 0.1*sin(2*t)")


def arm(drives=("shoulder", "elbow")):
    """Two links in a vertical plane, and a hand."""
    mech = bc.Mechanism("arm")
    upper = mech.add_body("upper", mass=3.0, inertia=(0.1, 0.1, 0.02), position=(0.25, 0, 0))
    lower = mech.add_body("lower", mass=2.0, inertia=(0.05, 0.05, 0.01), position=(0.7, 0, 0))
    first = mech.ground.marker(axis=AXIS), upper.marker((-0.25, 0, 0), axis=AXIS)
    second = upper.marker((0.25, 0, 0), axis=AXIS), lower.marker((-0.2, 0, 0), axis=AXIS)
    mech.add_joint("shoulder", bc.Revolute(), *first, position=0.8)
    mech.add_joint("elbow", bc.Revolute(), *second, position=-1.2)
    mech.add_marker(lower.marker((0.2, 0, 0), name="hand"))
    for joint in drives:
        mech.add_drive(f"{joint} motor", joint, position={"shoulder": 0.8, "elbow": -1.2}[joint])
    return mech


def efforts(run):
    """Torques of the arm by Lagrange's equations, written out."""
    q, v, a = (run.store.read(section) for section in ("coordinates", "rates", "coordinate_accelerations"))
    (t1, t2), (w1, w2), (a1, a2) = q.T, v.T, a.T
    l1, c1, c2, m1, m2, i1, i2 = 0.5, 0.25, 0.2, 3.0, 2.0, 0.1, 0.05
    coupled = m2 * (c2**2 + l1 * c2 * np.cos(t2)) + i2
    inertia = i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(t2))
    h = -m2 * l1 * c2 * np.sin(t2)
    g2 = m2 * c2 * G * np.cos(t1 + t2)
    g1 = (m1 * c1 + m2 * l1) * G * np.cos(t1) + g2
    first = inertia * a1 + coupled * a2 + h * (2 * w1 * w2 + w2**2) + g1
    return first, coupled * a1 + (i2 + m2 * c2**2) * a2 - h * w1**2 + g2


@pytest.mark.parametrize("chosen", ["lagrange", "recursive", "symbolic", "dca"])
def test_a_hand_on_a_circle(chosen):
    run = bc.inverse_dynamics(arm(), 3.0, 0.05, along={"lower.hand": HAND}, formulation=chosen)
    assert run.drives == ("shoulder motor", "elbow motor")
    first, second = efforts(run)
    np.testing.assert_allclose(run.drive("shoulder motor").effort, first, atol=1e-9)
    np.testing.assert_allclose(run.drive("elbow motor").effort, second, atol=1e-9)
    hand = run.body("lower").point((0.2, 0, 0))
    np.testing.assert_allclose(hand[:, 0], 0.65 + 0.1 * np.cos(2 * run.time), atol=1e-10)
    np.testing.assert_allclose(hand[:, 2], 0.2 + 0.1 * np.sin(2 * run.time), atol=1e-10)
    assert np.max(run.violation.position) < 1e-11


def test_joints_supply_the_efforts_where_there_are_no_drives():
    run = bc.inverse_dynamics(arm(drives=()), 1.0, 0.1, along={"lower.hand": bc.Path(HAND)})
    assert run.drives == ("shoulder", "elbow")
    np.testing.assert_allclose(run.drive("elbow").effort, efforts(run)[1], atol=1e-9)


def test_a_drive_may_go_on_beside_a_path():
    mech = arm(drives=("shoulder",))
    # Both joints of the arm are driven on; a body beside it follows a path along its rail.
    rail = mech.add_body("rail", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 1.0, 0.0))
    X = (1.0, 0.0, 0.0)
    mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((0, 1, 0), axis=X), rail.marker(axis=X))
    mech.add_drive("hold", "elbow", position=-1.2)
    run = bc.inverse_dynamics(
        mech, 1.0, 0.1, along={rail.marker(): ("0.1*t^2", "1", "0")}, keep=["shoulder motor", "hold"]
    )
    assert set(run.drives) == {"shoulder motor", "hold", "slide"}
    np.testing.assert_allclose(run.drive("slide").effort, 0.2, atol=1e-10)


def test_the_efforts_found_make_the_same_motion():
    """A run forwards by these torques, as splines, follows the path."""
    run = bc.inverse_dynamics(arm(), 1.0, 0.002, along={"lower.hand": HAND})
    mech = arm(drives=())
    for name in ("shoulder", "elbow"):
        table = bc.CubicSpline(run.time, run.drive(f"{name} motor").effort)
        mech.add_force(name, bc.JointMotor(table), joint=name)
    forward = bc.simulate(mech, 1.0, state=run.at(0.0), method="dopri5", tolerance=1e-11)
    np.testing.assert_allclose(forward.at(1.0).position, run.at(1.0).position, atol=1e-7)


def test_wrong_paths_are_refused_together():
    with pytest.raises(bc.MechanismError, match=r"no marker of this name|hnad") as error:
        bc.inverse_dynamics(arm(), 1.0, along={"lower.hnad": HAND}, keep=["shoulder"])
    assert len(error.value.faults) == 2
    for along, text in (
        ({}, "it must name markers"),
        ({"lower.hand": {"curve": HAND}}, "a path takes"),
        ({"lower.hand": ("t", "0")}, "three functions"),
    ):
        with pytest.raises(bc.MechanismError, match=text):
            bc.inverse_dynamics(arm(), 1.0, along=along)
    three = arm()
    tool = three.add_body("tool", mass=0.2, inertia=(0.01, 0.01, 0.01), position=(0.9, 0, 0))
    three.add_joint(
        "wrist", bc.Revolute(), three.bodies["lower"].marker((0.2, 0, 0), axis=AXIS), tool.marker(axis=AXIS)
    )
    with pytest.raises(bc.MechanismError, match="leave 1 degrees of freedom open"):
        bc.inverse_dynamics(three, 1.0, along={"lower.hand": HAND})
    with pytest.raises(bc.MechanismError, match="need a Mechanism"):
        bc.inverse_dynamics(bc.prepare(arm()).model, 1.0, along={"lower.hand": HAND})
    with pytest.raises(bc.MechanismError, match="keep: it is for markers on paths"):
        bc.inverse_dynamics(arm(), 1.0, keep=["shoulder motor"])


def boom(**cylinder):
    """A boom on a hinge, lifted by a cylinder whose length is measured by a joint that holds nothing."""
    mech = bc.Mechanism("boom", gravity=(0.0, -G, 0.0))
    body = mech.add_body("boom", mass=10.0, inertia=(1, 1, 1), com=(1, 0, 0), rotation=bc.rotation("z", 0.2))
    mech.add_joint("hinge", bc.Revolute(), mech.ground, body)
    mech.add_joint("cylinder", bc.Free(), mech.ground.marker((0.5, -0.8, 0)), body.marker((1, 0, 0)))
    if cylinder:
        mech.add_drive("ram", "cylinder", coordinate="distance", **cylinder)
    return mech, {body.marker((2, 0, 0)): ("2*cos(0.2 + 0.1*t)", "2*sin(0.2 + 0.1*t)", "0")}


class TestWhatSuppliesTheEfforts:
    @pytest.mark.parametrize("cylinder", [{"position": 0.0, "relative": True}, {"velocity": 0.0}])
    def test_a_drive_of_any_coordinate(self, cylinder):
        mech, along = boom(**cylinder)
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert run.drives == ("ram",)
        turned = 0.2 + 0.1 * run.time
        x, y = np.cos(turned) - 0.5, np.sin(turned) + 0.8
        lever = (np.cos(turned) * y - np.sin(turned) * x) / np.hypot(x, y)
        np.testing.assert_allclose(run.drive("ram").effort, 10 * G * np.cos(turned) / lever, rtol=1e-12)

    def test_all_drives_share_what_one_could_supply(self):
        mech, along = boom(position=0.0, relative=True)
        mech.add_drive("motor", "hinge", position=0.0, relative=True)
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert set(run.drives) == {"ram", "motor"}
        turned = 0.2 + 0.1 * run.time
        x, y = np.cos(turned) - 0.5, np.sin(turned) + 0.8
        lever = (np.cos(turned) * y - np.sin(turned) * x) / np.hypot(x, y)
        torque = run.drive("motor").effort + lever * run.drive("ram").effort
        np.testing.assert_allclose(torque, 10 * G * np.cos(turned), rtol=1e-12)

    def test_without_drives_joints_that_turn_do_and_none_of_a_rod(self):
        mech, along = boom()
        rod = mech.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 1.0, 0.0))
        mech.add_joint("strut", bc.Distance(), mech.ground, rod.marker((0.1, 0.0, 0.0)))
        mech.add_joint("slide", bc.Prismatic(), mech.ground.marker((0, 1, 0), axis="x"), rod.marker(axis="x"))
        run = bc.inverse_dynamics(mech, 1.0, 0.1, along=along)
        assert run.drives == ("hinge",)

    def test_what_nothing_moves_is_named(self):
        mech = bc.Mechanism("ball")
        body = mech.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(0.0, 0.0, -1.0))
        mech.add_joint("ball", bc.Spherical(), mech.ground, body.marker((0.0, 0.0, 1.0)))
        along = {body.marker(): {"path": ("0", "0", "-1"), "orientation": ("0", "0", "0.1*t")}}
        with pytest.raises(bc.MechanismError, match=r"add drives: nothing moves joint 'ball' \(rot_x\)"):
            bc.inverse_dynamics(mech, 1.0, along=along)

    def test_a_path_that_would_be_lost_is_named(self):
        mech, along = boom()
        cart = mech.add_body("cart", mass=1.0, inertia=(1, 1, 1))
        mech.add_joint("slide", bc.Prismatic(), mech.ground, cart)
        mech.add_drive("cart's path", marker=cart.marker(), path=bc.Path(("0", "0", "0.1*t")))
        with pytest.raises(bc.MechanismError, match=r"cart's path.*no path in along="):
            bc.inverse_dynamics(mech, 1.0, along=along)
        both = along | {cart.marker(): ("0", "0", "0.1*t")}
        assert set(bc.inverse_dynamics(mech, 1.0, 0.1, along=both).drives) == {"hinge", "slide"}
