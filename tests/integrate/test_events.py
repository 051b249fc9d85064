"""Events and stops located on the dense output, discontinuities stepped onto, tolerances by kind."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from rigs import stops

import bellcrank as bc
from bellcrank.run.plan import method_options

METHODS = ("dopri5", "adams", "bdf")
CASES = json.loads(
    (Path(__file__).parents[1] / "reference" / "data" / "C01_contact_friction.json").read_text()
)


def falling(**more):
    mech = bc.Mechanism("stone", gravity=(0, 0, -9.81))
    mech.add_body("stone", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 2.0), velocity=(1.0, 0, 0), **more)
    return mech


def wheel(torque):
    mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    body = mech.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    mech.add_joint("axle", bc.Revolute(), mech.ground.marker(), body.marker())
    mech.add_force("push", bc.JointMotor(torque), "axle")
    return mech


def slider(force, gravity=(0, 0, 0), spring=0.0):
    """A block of 1 kg on a guide along x, pulled by a constant force."""
    mech = bc.Mechanism("slider", gravity=gravity)
    block = mech.add_body("block", mass=1.0, inertia=(1, 1, 1))
    along = (1.0, 0.0, 0.0)
    mech.add_joint("guide", bc.Prismatic(), mech.ground.marker(axis=along), block.marker(axis=along))
    mech.add_force("friction", bc.JointMotor(bc.Constant(force)), "guide")
    if spring:
        mech.add_force("spring", bc.TorsionSpring(stiffness=spring), "guide")
    return mech


@pytest.mark.parametrize("method", METHODS)
def test_the_impacts_of_a_bouncing_ball(method):
    """C01: fourteen impacts, times and speeds; each counts once, however many steps were refused."""
    problem = CASES["bouncing_ball"]
    times, e = problem["impact_times"], problem["params"]["e"]
    run = bc.simulate(stops.ball(e), times[-1] + 0.05, method=method, tolerance=1e-12)
    assert [event.name for event in run.events] == ["lower limit of joint 'fall'"] * len(times)
    assert [event.time for event in run.events] == pytest.approx(times, abs=1e-10)
    speeds = [event.state.velocity[0, 2] for event in run.events]
    first = math.sqrt(2 * 9.81)
    assert speeds == pytest.approx([first * e ** (k + 1) for k in range(len(times))], abs=1e-9)
    assert run.statistics["impacts"] == len(times)
    assert np.min(run.body("ball").position[:, 2]) > -1e-9


@pytest.mark.parametrize("method", METHODS)
def test_sliding_up_an_incline_and_back(method):
    """C01: friction turns round where the motion does; the run goes on from the event's state."""
    problem = CASES["incline_slides_back"]
    p = problem["params"]
    g, slope = p["g"], math.radians(p["incline_deg"])
    gravity = (-g * math.sin(slope), 0, -g * math.cos(slope))
    friction = p["mu"] * g * math.cos(slope)
    up = slider(-friction, gravity)
    up.replace(up.joints["guide"], velocity=p["v0_up"])
    turn = bc.Event("turn", "guide.rate", direction=-1, terminal=True)
    first = bc.simulate(up, 5.0, method=method, tolerance=1e-12, events=turn)
    assert first.time[-1] == first.events[0].time == pytest.approx(problem["t_turn"], abs=1e-10)
    assert first.joint("guide").position[-1, 0] == pytest.approx(problem["x_turn"], abs=1e-10)
    back = bc.Event("back", "guide", direction=-1, terminal=True)
    second = bc.simulate(
        slider(friction, gravity),
        5.0,
        method=method,
        tolerance=1e-12,
        state=first.events[0].state,
        events=back,
    )
    assert second.time[-1] == pytest.approx(problem["t_return_to_start"], abs=1e-10)
    assert abs(second.joint("guide").velocity[-1, 0]) == pytest.approx(problem["v_return"], abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_coulomb_oscillator_comes_to_rest(method):
    """C01: thirteen half periods, each from one turning point to the next."""
    problem = CASES["coulomb_oscillator"]
    p = problem["params"]
    limit = p["mu"] * p["m"] * p["g"]
    turn = bc.Event("turn", "guide.rate", terminal=True)
    mech = slider(limit, spring=p["k"])
    mech.replace(mech.joints["guide"], position=p["x0"])
    run = bc.simulate(mech, 1.0, method=method, tolerance=1e-13, events=turn)
    accuracy = 1e-9 if method == "bdf" else 1e-10  # of thirteen starts at order one
    turns = [p["x0"], run.joint("guide").position[-1, 0]]
    for half in range(1, 20):
        if p["k"] * abs(turns[-1]) <= limit:
            break
        sign = -1.0 if half % 2 else 1.0
        run = bc.simulate(
            slider(sign * limit, spring=p["k"]), 1.0, method=method, tolerance=1e-13,
            state=run.events[-1].state, events=turn,
        )  # fmt: skip
        turns.append(run.joint("guide").position[-1, 0])
    assert turns == pytest.approx(problem["turning_points"], abs=accuracy)
    assert run.time[-1] == pytest.approx(problem["t_stop"], abs=accuracy)


@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
@pytest.mark.parametrize("method", METHODS)
def test_functions_of_bodies_joints_and_time(method, formulation):
    """Crossings in closed form, several within one step, and none for the other direction."""
    mech = wheel(bc.Constant(4.0))  # the angle is t^2
    s = bc.EndPose("wheel")
    events = [
        bc.Event("angle", "axle - 0.25"),
        bc.Event("rate", "axle.theta_z.rate - 3"),
        bc.Event("both", "axle + t - 2"),
        bc.Event("falling", "axle - 0.25", direction=-1),
        bc.Event("turn", "cos(pin)", names={"pin": "axle"}),
        bc.Event("quaternion", s.quaternion[0] - math.cos(0.5)),
    ]
    run = bc.simulate(mech, 2.0, method=method, formulation=formulation, tolerance=1e-11, events=events)
    found = {name: [e.time for e in run.events if e.name == name] for name in (e.name for e in events)}
    assert found["angle"] == pytest.approx([0.5], abs=1e-10)
    assert found["rate"] == pytest.approx([1.5], abs=1e-10)
    assert found["both"] == pytest.approx([1.0], abs=1e-10)
    assert found["falling"] == []
    assert found["turn"] == pytest.approx([math.sqrt(math.pi / 2)], abs=1e-10)
    assert found["quaternion"] == pytest.approx([1.0], abs=1e-9)
    assert [e.time for e in run.events] == sorted(e.time for e in run.events)


def test_many_crossings_in_long_steps():
    """A free flight takes few steps; a fast function is seen where its signs change between quarters."""
    run = bc.simulate(falling(), 2.0, method="adams", max_step=0.2, events=bc.Event("tick", "sin(20*t)"))
    assert [e.time for e in run.events] == pytest.approx([k * math.pi / 20 for k in range(1, 13)], abs=1e-12)


def test_an_event_that_starts_at_zero_waits_until_it_comes_back():
    """A function that is zero at the start, and a body thrown up from the level that is looked at."""
    stone = falling()
    assert bc.simulate(stone, 1.0, method="dopri5", events=bc.Event("level", "stone.z - 2")).events == ()
    stone.replace(stone.bodies["stone"], velocity=(0, 0, 9.81))
    run = bc.simulate(stone, 3.0, method="dopri5", tolerance=1e-10, events=bc.Event("level", "stone.z - 2"))
    assert [e.time for e in run.events] == pytest.approx([2.0], abs=1e-10)


def test_a_terminal_event_ends_the_run_with_a_frame():
    run = bc.simulate(
        falling(), 2.0, method="dopri5", tolerance=1e-10, output_step=0.1,
        events=[bc.Event("ground", "stone.z", terminal=True), bc.Event("later", "t - 1.5")],
    )  # fmt: skip
    fall = math.sqrt(4.0 / 9.81)
    assert [e.name for e in run.events] == ["ground"]
    assert run.time[-1] == pytest.approx(fall, abs=1e-11)
    assert run.time[:-1] == pytest.approx(np.arange(0.0, fall, 0.1))
    assert run.status == "finished"
    assert run.events[0].state.position[0] == pytest.approx([fall, 0, 0], abs=1e-9)


def test_events_are_kept_in_files(tmp_path):
    run = bc.simulate(stops.ball(0.5), 1.2, method="adams", events=bc.Event("top", "ball.vz", direction=-1))
    run.save(tmp_path / "run.h5")
    other = bc.Trajectory.load(tmp_path / "run.h5")
    assert [(e.name, e.time) for e in other.events] == [(e.name, e.time) for e in run.events]
    assert {e.name for e in other.events} == {"top", "lower limit of joint 'fall'"}
    assert np.array_equal(other.events[-1].state.velocity, run.events[-1].state.velocity)
    direct = bc.simulate(stops.ball(0.5), 1.2, method="adams", path=tmp_path / "direct.h5")
    assert [e.name for e in direct.events] == ["lower limit of joint 'fall'"] * len(direct.events) != []


@pytest.mark.parametrize("method", METHODS)
def test_no_step_goes_beyond_a_discontinuity(method):
    """A torque that jumps at known times: steps end there, none is refused, and the speed is exact."""
    pulse = bc.Piecewise((0.0, 0.5, 1.25, 2.0), ((0.0,), (4.0,), (0.0,)), extrapolation="hold")
    run = bc.simulate(wheel(pulse), 2.0, method=method, tolerance=1e-9, output_step=0.25)
    assert run.statistics["rejected_steps"] <= 2
    speed = np.clip(2.0 * (run.time - 0.5), 0.0, 1.5)
    assert run.joint("axle").velocity[:, 0] == pytest.approx(speed, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_a_square_wave_for_ever(method):
    """Periodic functions jump in every period; smooth splines do not."""
    wave = bc.Piecewise((0.0, 0.1, 0.2), ((1.0,), (-1.0,)), extrapolation="periodic")
    run = bc.simulate(wheel(wave), 1.0, method=method, tolerance=1e-9, output_step=0.05)
    distance = np.abs((run.time + 0.1) % 0.2 - 0.1)
    assert run.joint("axle").velocity[:, 0] == pytest.approx(0.5 * distance, abs=1e-10)


def test_smooth_tables_are_no_discontinuities():
    x = np.linspace(0.0, 2.0, 41)
    run = bc.simulate(wheel(bc.CubicSpline(x, np.sin(x))), 2.0, method="adams", tolerance=1e-7)
    assert run.statistics["steps_since_restart"] == run.statistics["steps"]


def test_statistics_tell_what_comes_next():
    run = bc.simulate(stops.ball(0.8), 1.0, method="adams")
    s = run.statistics
    assert 0 < s["steps_since_restart"] < s["steps"]
    assert 0 < s["evaluations_since_restart"] < s["evaluations"]
    assert s["next_step"] > 0.0
    assert 1 <= s["last_order"] <= s["highest_order"]


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_tolerances_by_kind(method):
    """Loose for what turns: a spinning body takes fewer steps."""
    mech = bc.Mechanism("asymmetric", gravity=(0, 0, 0))
    mech.add_body("book", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0.3, 5.0, 0.2))
    tight = bc.simulate(mech, 2.0, method=method, tolerance=1e-10, output_step=2.0).statistics["steps"]
    options = {"rotation": 1e-4, "angular_velocity": 1e-4}
    loose = bc.simulate(
        mech, 2.0, method=method, tolerance=1e-10, rtol=options, atol=options, output_step=2.0
    )
    assert loose.statistics["steps"] < 0.5 * tight


def test_wrong_tolerances_are_refused():
    options = method_options("adams", 1.0, rtol={"rotation": 1e-6}, atol=1e-9)
    assert options.tolerances[1] == (1e-6, 1e-9)
    assert options.rtol == 1e-8
    with pytest.raises(bc.MechanismError, match="no kind 'angle'"):
        method_options("adams", 1.0, rtol={"angle": 1e-6})


def test_wrong_events_are_refused():
    mech = wheel(bc.Constant(1.0))
    for events, text in (
        (bc.Event("a", "axel"), "axel"),
        ([bc.Event("a", "axle"), bc.Event("a", "axle")], "different names"),
        ("axle", "bc.Event"),
        (bc.Event("a", "3"), "constant"),
        (bc.Event("a", "door", names={"door": "gate"}), "gate"),
    ):
        with pytest.raises(bc.MechanismError, match=text):
            bc.simulate(mech, 1.0, method="adams", events=events)
    with pytest.raises(bc.MechanismError, match="dopri5"):
        bc.simulate(mech, 1.0, method="rk4", events=bc.Event("a", "axle - 1"))
    with pytest.raises(bc.MechanismError, match="direction"):
        bc.Event("a", "axle", direction=2)


@pytest.mark.parametrize("apex", [0.25, 0.37, 0.5])
@pytest.mark.parametrize("method", ["dopri5", "adams", "bdf"])
def test_two_zeros_close_together_in_a_long_step(method, apex):
    """A parabola takes steps of any length; near its apex it is for a moment above a level, or at a stop."""
    g, above = 10.0, 1e-4
    top = 0.5 * g * apex**2
    half = np.sqrt(2.0 * above / g)
    mech = bc.Mechanism("thrown", gravity=(0, 0, -g))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1), velocity=(0, 0, g * apex))
    mech.add_joint("slide", bc.Prismatic(), mech.ground, body)
    level = bc.Event("level", f"slide - {top - above}")
    run = bc.simulate(mech, 2.0, method=method, tolerance=1e-9, events=level)
    np.testing.assert_allclose([e.time for e in run.events], [apex - half, apex + half], atol=1e-7)
    mech.replace(mech.joints["slide"], limits=bc.Limit(upper=top - above, restitution=0.5))
    run = bc.simulate(mech, 2.0, method=method, tolerance=1e-9)
    np.testing.assert_allclose(run.events[0].time, apex - half, atol=1e-7)


def carriage():
    """A body and its joint of one name, both with an x, which is not the same."""
    mech = bc.Mechanism("carriage")
    cart = mech.add_body("cart", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    mech.add_joint("cart", bc.PrismaticX(), mech.ground.marker((0.5, 0.0, 0.0)), cart, velocity=1.0)
    return mech


def test_a_word_of_a_body_and_a_joint_is_refused_until_it_says_which():
    mech = carriage()
    advice = r"""names=\{'one': "body 'cart'"\} or names=\{'one': "joint 'cart'"\}"""
    with pytest.raises(
        bc.MechanismError, match=rf"'cart.x' is a quantity of the body and of the joint.*{advice}"
    ):
        bc.simulate(mech, 1.0, events=bc.Event("there", "cart.x - 1.2"))
    for noun, time in (("body", 0.2), ("joint", 0.7)):
        event = bc.Event("there", "one.x - 1.2", names={"one": f"{noun} 'cart'"})
        assert bc.simulate(mech, 1.0, events=event).events[0].time == pytest.approx(time, abs=1e-9)
    assert bc.simulate(mech, 1.0, events=bc.Event("there", "cart - 0.7")).events[0].time == pytest.approx(0.2)
    assert bc.simulate(mech, 1.0, events=bc.Event("there", "cart.vx - 0.5*t - 0.8")).events
    with pytest.raises(bc.MechanismError, match=r"stands for \"joint 'cat'\", which is no element"):
        bc.simulate(mech, 1.0, events=bc.Event("there", "one.x", names={"one": "joint 'cat'"}))
