"""Compilation: what is equal is stored once, names find their rows; functions without a value are named."""

import dataclasses
import gc
import math
import sys

import numpy as np
import pytest
from rigs.chains import hinged_rods

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism

Y = (0.0, 1.0, 0.0)


def pendulum():
    mech = bc.Mechanism("pendulum")
    rod = mech.add_body("rod", mass=1.0, inertia=(0.001, 0.083, 0.083), position=(0.5, 0, 0))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    return mech


def test_a_pair_and_a_coordinate_are_stored_once():
    mech = pendulum()
    pivot = mech.joints["pivot"]
    mech.add_drive("motor", joint="pivot", position=bc.Harmonic(0.1, 2.0))
    mech.add_force("spring", bc.TorsionSpring(stiffness=2.0), "pivot")
    mech.add_force("bushing", bc.Bushing(stiffness=(1.0, 1.0, 1.0)), pivot.marker_1, pivot.marker_2)
    arrays = compile_mechanism(mech).arrays
    assert len(arrays["pair_bodies"]) == 1
    # x y z e1 e2 of the joint (three of them shared with the bushing) and theta_z (joint, drive and spring).
    assert sorted(arrays["coordinate_kind"]) == ["e1", "e2", "theta_z", "x", "y", "z"]


def test_equal_markers_are_one_even_if_they_were_made_apart():
    mech = pendulum()
    rod = mech.bodies["rod"]
    mech.add_joint("again", bc.Free(), mech.ground.marker(axis=Y), rod.marker((-0.5, 0, 0), axis=Y))
    assert len(compile_mechanism(mech).arrays["pair_bodies"]) == 1


def test_equal_functions_are_stored_once():
    mech = bc.Mechanism("three")
    for name in "abc":
        body = mech.add_body(name, mass=1.0, inertia=(1, 1, 1))
        force = (bc.Harmonic(1.0, 2.0), bc.Harmonic(1.0, 2.0), 3.0)
        mech.add_force(name, bc.Wrench(force=force), body.marker())
    arrays = compile_mechanism(mech).arrays
    assert arrays["function_kind"] == ["harmonic"]
    assert arrays["wrench_constant"][0].tolist() == [0, 0, 0, 0, 0, 3.0]


def test_rows_have_names():
    mech = pendulum()
    mech.add_joint(
        "stop",
        bc.Free(),
        mech.ground.marker(),
        mech.bodies["rod"].marker(),
        limits={"z": bc.Limit(-1.0, 1.0)},
    )
    model = compile_mechanism(mech)
    assert [model.row_text(row) for row in range(model.row_count)] == [
        "joint 'pivot' (x)",
        "joint 'pivot' (y)",
        "joint 'pivot' (z)",
        "joint 'pivot' (e1)",
        "joint 'pivot' (e2)",
        "lower limit of joint 'stop' (z)",
        "upper limit of joint 'stop' (z)",
    ]
    assert [(m.kind, m.row, m.sign, m.unit) for m in model.multipliers] == [
        ("limit", 5, 1.0, "N"),
        ("limit", 6, -1.0, "N"),
    ]


def test_values_from_the_start_make_their_rows_zero():
    mech = bc.Mechanism("rods")
    ball = mech.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(3.0, 0.0, 4.0))
    mech.add_joint("rod", bc.Distance(), mech.ground.marker(), ball.marker())
    mech.add_force("spring", bc.SpringDamper(stiffness=1.0), mech.ground.marker(), ball.marker())
    model = compile_mechanism(mech)
    assert model.arrays["row_constant"].tolist() == [5.0]
    assert model.arrays["law_params"].tolist() == [1.0, 0.0, 5.0, 0.0]


def test_a_velocity_drive_starts_where_the_joint_stands():
    mech = pendulum()
    turn = math.radians(20.0)
    mech.replace(
        mech.bodies["rod"],
        rotation=(math.cos(turn / 2), 0, math.sin(turn / 2), 0),
        position=(0.5 * math.cos(turn), 0, -0.5 * math.sin(turn)),
    )
    mech.add_drive("motor", joint="pivot", velocity=bc.Harmonic(1.0, 2.0, phase=math.pi / 2))
    run = bc.simulate(mech, 1.0)
    expected = math.radians(20.0) + 0.5 * np.sin(2.0 * run.time)
    assert np.max(np.abs(run.joint("pivot").position[:, 0] - expected)) < 1e-10


def test_a_drive_beyond_half_a_turn_is_met_on_its_own_branch():
    mech = pendulum()
    mech.add_drive("motor", joint="pivot", position=bc.Harmonic(0.0, 0.0, offset=25.0, slope=2.0))
    run = bc.simulate(mech, 1.0)
    assert run.joint("pivot").position[[0, -1], 0] == pytest.approx([25.0, 27.0], abs=1e-10)


def test_half_a_turn_does_not_flip_by_rounding():
    """Gears in line: the direction from one wheel to the other is exactly pi."""
    mech = bc.Mechanism("gears")
    one = mech.add_body("one", mass=1.0, inertia=(0.1, 0.2, 0.1), angular_velocity=(0, 3.0, 0))
    two = mech.add_body("two", mass=1.0, inertia=(0.1, 0.2, 0.1), position=(1.0, 0, 0))
    mech.add_joint("first", bc.Revolute(), mech.ground.marker(axis=Y), one.marker(axis=Y))
    mech.add_joint("second", bc.Revolute(), mech.ground.marker((1, 0, 0), axis=Y), two.marker(axis=Y))
    mech.add_constraint("mesh", bc.Gear(radii=(0.3, 0.7)), one.marker(axis=Y), two.marker(axis=Y))
    run = bc.simulate(mech, 20.0, step=0.01)
    first, second = (run.joint(name).position[:, 0] for name in ("first", "second"))
    assert np.max(np.abs(0.3 * first + 0.7 * second)) < 1e-8
    assert abs(first[-1]) > 6 * math.pi


@pytest.mark.parametrize("wrong", ["pivott", "ground"])
def test_unknown_names_are_refused_with_what_was_meant(wrong):
    model = compile_mechanism(pendulum())
    with pytest.raises(bc.MechanismError, match="pivot"):
        model.joint(wrong)
    with pytest.raises(bc.MechanismError, match="rod"):
        model.body_number("ground")


def test_the_collector_is_left_as_it_was():
    compile_mechanism(pendulum())
    assert gc.isenabled()


def operations(work):
    """How many instructions of Python `work` takes."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_the_work_of_compiling_grows_with_the_number_of_bodies():
    """Not with its square: the third hundred bodies take no more than the second."""
    compile_mechanism(hinged_rods(3))  # modules are loaded by now
    chains = [hinged_rods(count) for count in (100, 200, 300)]
    first, second, third = (operations(lambda mech=mech: compile_mechanism(mech)) for mech in chains)
    assert second - first > 1000
    assert third - second == pytest.approx(second - first, rel=0.02)


class NotCopied(tuple):
    """Names that may be counted, but not gone through."""

    def __iter__(self):
        raise AssertionError("names were copied to look one of them up")


def test_names_are_looked_up_without_copying_them():
    model = bc.prepare(bc.gallery.double_pendulum(), "recursive").model
    names = model.bodies
    watched = dataclasses.replace(model, bodies=NotCopied(names))
    watched.__dict__["body_index"] = model.body_index
    assert [watched.body_number(name) for name in names] == list(range(len(names)))


def hinge():
    mech = bc.Mechanism("m")
    body = mech.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    mech.add_joint("j", bc.Revolute(), mech.ground, body)
    return mech, body


@pytest.mark.parametrize(("text", "said"), [("1/t", "no finite value"), ("sqrt(t)", "no finite rate")])
def test_a_drive_at_the_start(text, said):
    mech, _ = hinge()
    mech.add_drive("d", "j", position=text)
    with pytest.raises(bc.MechanismError, match=f"drive 'd': its function of time has {said}.* at t = 0 s"):
        bc.assemble(mech)
    assert bc.simulate(mech, duration=0.1, start=1.0).status == "finished"


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("t^2.5", 0.0),
        ("(2*t)^2.5", 0.0),
        ("sqrt(t)^5 + t^2", 2.0),
        ("t*t^1.5", 0.0),
        ("t*t^(4/3)", 0.0),
        ("t^2/sqrt(t)*t", 0.0),
    ],
)
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_fractional_powers_at_zero(text, second, formulation):
    """Their first two derivatives there are limits: 0/0 as they come, but no poles."""
    mech, _ = hinge()
    mech.add_drive("d", "j", position=text)
    run = bc.simulate(mech, duration=1.0, step=1e-2, formulation=formulation, accelerations=True)
    assert run.body("b").angular_acceleration[0, 2] == pytest.approx(second, abs=1e-12)
    assert run.joint("j").position[0, 0] == run.joint("j").velocity[0, 0] == 0.0


def test_an_infinite_second_derivative():
    mech, _ = hinge()
    mech.add_drive("d", "j", position="t^1.5")
    with pytest.raises(bc.MechanismError, match=r"drive 'd': .* no finite second derivative at t = 0 s"):
        bc.assemble(mech)


@pytest.mark.parametrize("text", ["1/(t - 0.02)", "sqrt(0.0195 - t)", "log(-1 - t)"])
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_a_force_during_the_run(text, formulation):
    mech, body = hinge()
    mech.add_force("free", bc.Wrench((0.0, "1 + t", 0.0)), body)
    mech.add_force("bad", bc.JointMotor(text), "j")
    with pytest.raises(
        bc.SimulationError, match="function of time of force 'bad' has no finite value"
    ) as told:
        bc.simulate(mech, duration=0.1, step=1e-3, formulation=formulation, method="rk4")
    assert "step of" not in str(told.value)


@pytest.mark.parametrize(
    ("method", "formula", "time"),
    [
        ("rk4", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("adams", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("bdf", lambda s: s + ex.log(0.05 - ex.t), 0.05),
        ("dopri5", lambda s: ex.sqrt(0.2 - s), 0.195),
    ],
)
@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_a_force_given_by_formulas(method, formula, time, formulation):
    mech = bc.Mechanism("m", gravity=(0, 0, 0))
    body = mech.add_body("b", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("j", bc.Prismatic(), mech.ground, body, velocity=1.0)
    end = bc.EndCoordinate("s")
    mech.add_force("good", bc.CustomForce(end, efforts=-0.1 * end.rate), "j")
    mech.add_force("odd", bc.CustomForce(end, efforts=formula(end.value)), "j")
    step = 0.01 if method == "rk4" else None
    with pytest.raises(bc.SimulationError, match="formulas of force 'odd' have no finite value") as told:
        bc.simulate(mech, 1.0, step=step, method=method, formulation=formulation)
    assert "step of" not in str(told.value)
    assert "good" not in str(told.value)
    assert float(str(told.value).rsplit("t = ", 1)[1].split()[0]) == pytest.approx(time, abs=0.002)
