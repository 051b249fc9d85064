"""Inputs: numbers that change while a mechanism runs, in elements, in files, and where runs start."""

import copy
import json
import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.io.files import dumps

FORMULATIONS = ("lagrange", "recursive", "symbolic")
TIGHT = {"method": "dopri5", "tolerance": 1e-12}
Y = {"axis": (0, 1, 0)}


def arm(torque, links=2):
    """Links on hinges, whose first is turned by a motor."""
    mech, before = bc.Mechanism("arm"), None
    for k in range(links):
        link = mech.add_body(f"link {k}", mass=1.0, inertia=(0.02, 0.05, 0.05), position=(k + 0.5, 0, 0))
        hinge = mech.ground.marker(**Y) if before is None else before.marker((0.5, 0, 0), **Y)
        mech.add_joint(f"hinge {k}", bc.Revolute(), hinge, link.marker((-0.5, 0, 0), **Y))
        before = link
    if torque is not None:
        mech.add_force("motor", bc.JointMotor(torque, droop=0.5), "hinge 0")
    return mech


def held(values, step):
    """A function of time that is one value after another."""
    return bc.Piecewise(tuple(step * np.arange(len(values) + 1)), tuple((v,) for v in values))


def steered(mech, values, step, **given):
    """A run whose input u is one value after another."""
    live = bc.start(mech, **given)
    for value in values:
        live.inputs["u"] = value
        live.advance(step)
    return live


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_an_input_that_changes_is_a_function_of_time(formulation):
    values = 20.0 * np.sin(0.7 * np.arange(100))
    options = {**TIGHT, "formulation": formulation}
    one = bc.simulate(arm(held(values, 0.004)), 0.4, output_step=0.004, **options)
    run = steered(arm(bc.Input("u", unit="N m")), values, 0.004, **options).stop()
    for joint in ("hinge 0", "hinge 1"):
        np.testing.assert_allclose(run.joint(joint).position, one.joint(joint).position, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(run.input("u").value[1:], values)
    assert (run.input("u").value[0], run.input("u").unit) == (values[0], "N m")


def test_ten_thousand_changes_are_a_table_of_time():
    values = 5.0 * np.sin(0.01 * np.arange(10_000))
    options = {**TIGHT, "formulation": "recursive", "reactions": False}
    one = bc.simulate(arm(held(values, 1e-3), 1), 10.0, output_step=1.0, **options).at(10.0)
    there = steered(arm(bc.Input("u"), 1), values, 1e-3, output_step=1.0, **options).state
    np.testing.assert_allclose(there.position, one.position, rtol=0, atol=1e-10)
    np.testing.assert_allclose(there.velocity, one.velocity, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["adams", "bdf", "dopri5"])
def test_methods_with_a_history_start_anew_where_an_input_changes(method):
    values = [30.0, -30.0, 10.0, 10.0]
    options = {"method": method, "tolerance": 1e-9, "formulation": "symbolic"}
    one = bc.simulate(arm(held(values, 0.25)), 1.0, output_step=0.25, **options)
    live = steered(arm(bc.Input("u")), values, 0.25, **options)
    np.testing.assert_allclose(live.state.position, one.at(1.0).position, rtol=0, atol=1e-6)
    last = live.stop().statistics
    assert last["steps_since_restart"] < last["steps"]


def test_two_systems_of_one_mechanism_have_inputs_of_their_own():
    mech = arm(bc.Input("u", 3.0))
    one, two = bc.prepare(mech, "recursive"), bc.prepare(mech, "recursive")
    before = one.accelerate().angular
    two.inputs["u"] = -100.0
    np.testing.assert_array_equal(one.accelerate().angular, before)
    assert np.abs(two.accelerate().angular - before).max() > 1.0
    two.inputs["u"] = 3.0
    np.testing.assert_array_equal(two.accelerate().angular, before)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_motor_whose_velocity_changes_goes_on_from_where_it_is(formulation):
    mech = arm(None)
    mech.add_drive("turn", "hinge 0", velocity=bc.Input("u", 0.5) + 0.2 * bc.t)
    live = bc.start(mech, formulation=formulation)
    live.advance(0.5)
    live.inputs["u"] = -1.0
    live.advance(0.25)
    live.inputs["u"] = 2.0
    live.advance(0.25)
    run = live.stop()
    angle, rate = run.joint("hinge 0").position[:, 0], run.joint("hinge 0").velocity[:, 0]
    there = [0.0, 0.25 + 0.1 * 0.25, 0.0, 0.0]
    there[2] = there[1] - 0.25 + 0.1 * (0.75**2 - 0.5**2)
    there[3] = there[2] + 0.5 + 0.1 * (1.0 - 0.75**2)
    np.testing.assert_allclose(angle, there, rtol=0, atol=1e-10)
    np.testing.assert_allclose(rate, [0.5, 0.6, -1.0 + 0.15, 2.2], rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_position_that_jumps_takes_the_bodies_with_it(formulation):
    mech = arm(None)
    mech.add_drive("turn", "hinge 0", position=bc.Input("u") + 0.0 * bc.t)
    live = bc.start(mech, formulation=formulation)
    live.advance(0.1)
    live.inputs["u"] = 0.3
    np.testing.assert_allclose(live.state.position[0], [0.5 * np.cos(0.3), 0, -0.5 * np.sin(0.3)], atol=1e-12)
    live.advance(0.1)
    run = live.stop()
    np.testing.assert_allclose(run.joint("hinge 0").position[:, 0], [0, 0, 0.3], rtol=0, atol=1e-10)
    assert run.violation.position.max() < 1e-12


def rails(shift):
    """A sledge on a rail whose height is given, above a bead that a rod of given length holds."""
    mech = bc.Mechanism("rails")
    sledge = mech.add_body("sledge", mass=2.0, inertia=(0.1, 0.1, 0.1))
    bead = mech.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    s = bc.symbol("s")
    mech.add_joint("rail", bc.PathJoint(s, (s, 0.1 * s**2, shift)), mech.ground, sledge)
    a, b = bc.EndPose("a"), bc.EndPose("b")
    rod = bc.CustomConstraint((a, b), (a.position - b.position).norm() - 1.0 - 0.5 * shift)
    mech.add_constraint("rod", rod, sledge, bead)
    return mech


@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
@pytest.mark.parametrize("height", [0.0, 0.2])
def test_joints_and_constraints_by_formulas_follow_an_input(formulation, height):
    live = bc.start(rails(bc.Input("h", height)), formulation=formulation)
    live.advance(0.1)
    live.inputs["h"] = 0.4
    live.advance(0.2)
    sledge, bead = live.state.position
    assert abs(sledge[2] - 0.4) < 1e-11
    assert abs(np.linalg.norm(sledge - bead) - 1.2) < 1e-11
    live.inputs["h"] = height
    live.advance(0.1)
    run = live.stop()
    assert run.violation.position.max() < 1e-11
    np.testing.assert_allclose(run.body("sledge").position[[1, -1], 2], height, rtol=0, atol=1e-11)


def test_formulations_agree_after_inputs_of_formulas_changed():
    u, a, b = bc.Input("u", 0.0), bc.EndCoordinate("a"), bc.EndPose("b")
    mech = rails(0.1 * u)
    mech.add_force("pull", bc.CustomForce(a, efforts=3.0 * u - u * a.rate), "rail")
    mech.add_force("push", bc.CustomForce(b, force=(u, -u * b.velocity.y, u**2)), mech.bodies["bead"])
    mech.add_force(
        "blow", bc.Wrench(force=(u * bc.t, 0, "0.1"), moment=(0, 2.0 * u, 0)), mech.bodies["sledge"]
    )
    found = {}
    for formulation in ("lagrange", "symbolic"):
        live = bc.start(mech, formulation=formulation, method="dopri5", tolerance=1e-11)
        live.advance(0.2)
        live.inputs["u"] = 1.7
        live.advance(0.3)
        found[formulation] = live.state
    one, other = found.values()
    np.testing.assert_allclose(one.position, other.position, rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.velocity, other.velocity, rtol=0, atol=1e-7)
    assert np.abs(one.velocity).max() > 0.5


def test_recursive_joints_by_formulas_follow_an_input():
    mech = bc.Mechanism("rail")
    sledge = mech.add_body("sledge", mass=2.0, inertia=(0.1, 0.1, 0.1))
    s, h = bc.symbol("s"), bc.Input("h")
    mech.add_joint("rail", bc.PathJoint(s, (s, 0.0, h * s)), mech.ground, sledge)
    slopes = {}
    for formulation in FORMULATIONS:
        live = bc.start(mech, formulation=formulation, method="dopri5", tolerance=1e-10)
        live.inputs["h"] = -0.5
        live.advance(1.0)
        slopes[formulation] = live.state.position[0]
    along = 0.5 * 9.81 * 0.5 / 1.25
    for place in slopes.values():
        np.testing.assert_allclose(place, [along, 0, -0.5 * along], rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_what_cannot_be_followed_leaves_everything_as_it_was(formulation):
    mech = bc.Mechanism("lift")
    box = mech.add_body("box", mass=1.0, inertia=(0.1, 0.1, 0.1))
    side = mech.add_body("side", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.8, 0, 0))
    mech.add_joint("up", bc.Prismatic(), mech.ground, box)
    mech.add_joint("out", bc.PrismaticX(), mech.ground, side)
    mech.add_joint("rod", bc.Distance(1.0), box, side)
    mech.add_drive("lift", "up", position=bc.Input("height", 0.6) + bc.Input("more"))
    live = bc.start(mech, formulation=formulation)
    live.inputs["height"] = 0.5
    live.advance(0.1)
    before = live.state
    with pytest.raises(
        bc.AssemblyError, match=r"'height' = 2, 'more' = 1 cannot be followed.*'(rod|up|out|lift)'"
    ):
        live.inputs.update({"height": 2.0, "more": 1.0})
    assert dict(live.inputs) == {"height": 0.5, "more": 0.0}
    np.testing.assert_array_equal(live.state.position, before.position)
    live.advance(0.1)
    run = live.stop()
    assert run.violation.position.max() < 1e-11
    np.testing.assert_allclose(run.body("side").position[:, 0], np.sqrt(0.75), rtol=0, atol=1e-11)


def test_inputs_read_like_a_mapping():
    live = bc.start(arm(bc.Input("u", 2.0, unit="N m") + bc.Input("v")))
    assert dict(live.inputs) == {"u": 2.0, "v": 0.0}
    assert "u" in live.inputs
    assert "w" not in live.inputs
    assert repr(live.inputs) == "<inputs u: 2 N m, v: 0>"
    live.inputs.update({"u": 1, "v": -1.0})
    assert pickle.loads(pickle.dumps(live.inputs)) == dict(live.inputs) == {"u": 1.0, "v": -1.0}
    with pytest.raises(bc.MechanismError, match=r"no input of this name, got 'uu'; did you mean 'u'"):
        live.inputs["uu"] = 1.0
    with pytest.raises(bc.MechanismError, match="there are 'u', 'v'"):
        live.inputs["torque"]
    for value in (np.nan, np.inf, "1", None):
        with pytest.raises(bc.MechanismError, match="u must be"):
            live.inputs.update({"v": 5.0, "u": value})
    assert live.inputs["v"] == -1.0
    live.stop()
    with pytest.raises(bc.MechanismError, match="it has ended"):
        live.inputs["u"] = 3.0


def test_a_second_thread_cannot_set_inputs_while_the_run_goes_on():
    refused = []

    def meddle():
        try:
            live.inputs["u"] = 1.0
        except bc.Unsupported as error:
            refused.append(str(error))

    def sampled(_time, _readings):
        other = threading.Thread(target=meddle)
        other.start()
        other.join()
        return {}

    live = bc.start(arm(bc.Input("u")), controllers=bc.Controller(sampled, 0.05))
    live.advance(0.1)
    assert len(refused) == 2
    assert "another thread is at work" in refused[0]
    meddle()
    assert live.inputs["u"] == 1.0


def test_a_name_is_one_input():
    assert bc.Input("u", 1.0) == bc.Input("u", 1)
    mech = arm(bc.Input("u", 1.0, unit="N m"))
    mech.add_force("brake", bc.JointMotor(-bc.Input("u", 1.0, unit="N m")), "hinge 1")
    bc.validate(mech)
    mech.add_force("other", bc.JointMotor(bc.Input("u", 2.0)), "hinge 1")
    with pytest.raises(bc.MechanismError, match=r"input 'u': two inputs have this name, got '1 N m, and 2'"):
        bc.prepare(mech)
    mech = arm(bc.Input("length"))
    mech.add_parameter("length", 1.0)
    with pytest.raises(bc.MechanismError, match="input 'length': a parameter has this name too"):
        bc.validate(mech)


def test_an_input_is_one_object_from_the_description_to_the_run():
    pull = bc.Input("u", -0.25, unit="N m, at hinge 0")
    assert (pull.name, pull.value, pull.unit, pull.kind) == ("u", -0.25, "N m, at hinge 0", "input")
    assert pull not in (bc.Input("u", -0.25), bc.Input("u", 0.25, unit=pull.unit), bc.symbol("u"))
    model = bc.prepare(arm(2.0 * pull)).model
    assert list(model.inputs) == [pull] == [pickle.loads(pickle.dumps(pull))]
    assert bc.symbol("u").kind == "plain"
    with pytest.raises(TypeError, match="neither a parameter nor an input"):
        _ = bc.symbol("u").value


@pytest.mark.parametrize("name", ["", "two words", "sin", "t", 3])
def test_names_that_expressions_cannot_use_are_refused(name):
    with pytest.raises(bc.MechanismError, match="input"):
        bc.Input(name)


def test_inputs_are_refused_where_they_would_tell_what_a_mechanism_is():
    mech = bc.Mechanism("heavy")
    with pytest.raises(bc.MechanismError, match=r"'load'.*must not depend on the input 'm'"):
        mech.add_body("load", mass=bc.Input("m", 1.0), inertia=(1, 1, 1))
    length = mech.add_parameter("length", 1.0)
    with pytest.raises(bc.MechanismError, match="must not depend on the input 'm'"):
        mech.add_body("rod", mass=length + bc.Input("m"), inertia=(1, 1, 1))


def test_inputs_stand_beside_parameters():
    mech = arm(None)
    gain = mech.add_parameter("gain", 2.0)
    mech.add_force("motor", bc.JointMotor(gain * bc.Input("u", 1.0) * bc.t), "hinge 0")
    other = mech.with_parameters(gain=4.0)
    for formulation in FORMULATIONS:
        ends = []
        for which, value in ((mech, 3.0), (other, 1.5)):
            live = bc.start(which, formulation=formulation)
            live.inputs["u"] = value
            live.advance(0.2)
            ends.append(live.state.position)
        np.testing.assert_allclose(*ends, rtol=0, atol=1e-13)


def test_linearization_tells_what_inputs_do():
    system = bc.prepare(arm(bc.Input("u")), "symbolic")
    lines = system.linearize()
    assert "u" not in lines.parameters


def test_mechanisms_with_inputs_are_copied_pickled_and_placed():
    mech = arm(bc.Input("u", 4.0, unit="N m"))
    for twin in (copy.deepcopy(mech), pickle.loads(pickle.dumps(mech))):
        assert twin == mech
        assert dict(bc.prepare(twin).inputs) == {"u": 4.0}
    assert mech != arm(bc.Input("u", 5.0, unit="N m"))
    both = bc.Mechanism("two arms")
    for side, y in (("left", 1.0), ("right", -1.0)):
        both.place(mech, side, position=(0, y, 0))
    live = bc.start(both, formulation="recursive")
    assert dict(live.inputs) == {"left_u": 4.0, "right_u": 4.0}
    live.inputs["left_u"] = 50.0
    live.advance(0.1)
    left, right = live.state.velocity[[0, 2], 2]
    assert abs(left - right) > 0.1


def test_tables_take_formulas():
    speeds, torques = (0.0, 5.0, 10.0, 20.0), (8.0, 8.0, 4.0, 0.0)
    hinge = bc.EndCoordinate("hinge")
    x = bc.symbol("x")
    for kind, interpolation in (("hold", "linear"), ("linear", "linear"), ("hold", "pchip")):
        table = bc.Table(speeds, torques, interpolation=interpolation, extrapolation=kind)
        at = np.linspace(-5.0, 30.0, 141)
        formula = ex.compile_function([table(x)], [x])
        np.testing.assert_allclose(np.ravel([formula(value) for value in at]), table(at), rtol=0, atol=1e-12)
    periodic = bc.Table((0.0, 1.0, 3.0), (1.0, 2.0, 1.0), extrapolation="periodic")
    again = ex.compile_function([periodic(x)], [x])
    np.testing.assert_allclose(np.ravel([again(value) for value in at]), periodic(at), rtol=0, atol=1e-12)
    mech = arm(None, 1)
    curve = bc.Table(speeds, torques)
    mech.add_force(
        "motor", bc.CustomForce(hinge, efforts=bc.Input("gas", 1.0) * curve(abs(hinge.rate))), "hinge 0"
    )
    for formulation in FORMULATIONS:
        live = bc.start(mech, formulation=formulation)
        live.advance(0.5)
        live.inputs["gas"] = 0.5
        live.advance(0.5)
        live.advance(1e-3)
        run = live.stop()
        rate = run.joint("hinge 0").velocity[-1, 0]
        assert abs(run.force("motor").effort[-1] - 0.5 * curve(abs(rate))) < 1e-12
    assert bc.loads(dumps(mech)) == mech


TEXT = """
bellcrank: 1
parameters: {gain: 2}
inputs:
  torque: {value: 1.5 N m, unit: N m}
  speed: 0.25
  height: {unit: m}
bodies:
  bar: {mass: 1, inertia: [1, 1, 1], position: [0.5, 0, 0]}
  box: {mass: 1, inertia: [1, 1, 1]}
joints:
  hinge: {type: Revolute, first: ground, second: {body: bar, position: [-0.5, 0, 0]}}
  rail: {type: PathJoint, first: ground, second: box, parameter: s, curve: [s, 0, height]}
forces:
  motor: {type: JointMotor, joint: hinge, effort: gain*torque*sin(t)}
drives:
  lead: {joint: rail, velocity: speed}
"""


def test_inputs_are_read_and_written():
    mech = bc.loads(TEXT)
    inputs = {"torque": 1.5, "speed": 0.25, "height": 0.0}
    assert dict(bc.prepare(mech).inputs) == inputs
    for form in ("yaml", "json"):
        text = dumps(mech, form)
        again = bc.loads(text)
        assert again == mech
        assert dict(bc.prepare(again).inputs) == inputs
    written = json.loads(dumps(mech, "json"))["inputs"]
    assert written == {
        "height": {"value": 0.0, "unit": "m"},
        "torque": {"value": 1.5, "unit": "N m"},
        "speed": 0.25,
    }


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        (("torque: {value: 1.5 N m", "torqe: {value: 1.5 N m"), "torque"),
        (("speed: 0.25", "speed: 0.25\n  idle: 3"), "input 'idle': nothing follows this input"),
        (("speed: 0.25", "speed: fast"), "speed"),
        (("speed: 0.25", "speed: 0.25\n  gain: 3"), "gain"),
        (("{unit: m}", "{unit: m, least: 0}"), "least"),
        (
            ("mass: 1, inertia: [1, 1, 1]}", "mass: torque, inertia: [1, 1, 1]}"),
            "must not depend on the input 'torque'",
        ),
        (("speed: 0.25", "2nd speed: 0.25"), "2nd speed"),
    ],
)
def test_faulty_inputs_are_told(changed, rule):
    with pytest.raises(bc.MechanismError, match=rule):
        bc.loads(TEXT.replace(*changed))


def rod(**drive):
    """A rod on a pivot that a drive leads."""
    mechanism = bc.Mechanism("rod")
    held = mechanism.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.5, 0.0))
    mechanism.add_joint("pivot", bc.RevoluteX(), mechanism.ground, held.marker((0.0, -0.5, 0.0)))
    mechanism.add_drive("motor", "pivot", **drive)
    return mechanism


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
def test_a_position_is_that_of_the_value(formulation):
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    run = bc.simulate(mechanism, 0.1, inputs={"angle": 0.7}, formulation=formulation)
    assert np.allclose(run.joint("pivot").position, 0.7, atol=1e-12)
    assert np.allclose(run.input("angle").value, 0.7)


def test_a_run_goes_on_from_a_state_with_the_values_that_led_there():
    mechanism = rod(velocity=bc.Input("speed", 0.0, "rad/s"))
    with bc.start(mechanism) as run:
        run.advance(0.1)
        run.inputs["speed"] = 2.0
        run.advance(0.5)
        state, values = run.state, dict(run.inputs)
    after = bc.start(mechanism, state=state, inputs=values)
    assert np.allclose(after.state.rotation, state.rotation, atol=1e-12)
    assert np.allclose(after.state.angular_velocity, state.angular_velocity, atol=1e-12)
    after.advance(0.5)
    assert after.trajectory.joint("pivot").position[-1] == pytest.approx(2.0)


def test_unknown_names_and_what_is_no_mapping_are_refused():
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    with pytest.raises(bc.MechanismError, match="did you mean 'angle'"):
        bc.start(mechanism, inputs={"angel": 1.0})
    with pytest.raises(bc.MechanismError, match="Mapping"):
        bc.start(mechanism, inputs=[1.0])
    with pytest.raises(bc.MechanismError, match="no input can be set"):
        bc.start(mechanism, inputs={"angle": 1.0}, assemble="constraint_forces")


def test_where_a_run_is_can_be_read_before_it_is_recorded():
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    with bc.start(mechanism) as run:
        assert run.formulation in ("lagrange", "recursive")
        assert run.now().joint("pivot").position == pytest.approx([0.2])
        run.inputs["angle"] = 0.9
        assert run.now().joint("pivot").position == pytest.approx([0.9])
        assert len(run.trajectory) == 0


def test_a_part_begins_where_the_run_was_moved_to():
    mechanism = bc.gallery.double_pendulum()
    with bc.start(mechanism, step=1e-3) as run:
        run.part(np.array([0.0, 0.1]))
        moved = run.state
        run.set_state(
            replace(moved, velocity=0 * moved.velocity, angular_velocity=0 * moved.angular_velocity)
        )
        part = run.part(np.array([0.1, 0.2]))
        assert np.allclose(part.body(mechanism.bodies["link 2"].name).angular_velocity[0], 0.0)


def test_a_part_may_be_ended_from_outside_and_ends_with_where_the_run_is():
    with bc.start(bc.gallery.chain(60), formulation="lagrange", step=1e-4) as run:
        asked = []
        part = run.part(np.array([0.0, 50.0]), lambda: asked.append(1) or len(asked) > 2)
        assert 0.0 < run.time < 50.0
        assert part.time[-1] == run.time
        more = run.part(np.array([run.time, run.time + 1e-3]))
        assert more.time[0] == part.time[-1]


LENGTH, INERTIA = 1.0, 0.1  # m, kg m² about the centre of a link of 1 kg


def chain(count, closed=False):
    """Links in a row on parallel hinges, the first one led by an input."""
    mech = bc.Mechanism("chain", gravity=(0, 0, 0))
    body = None
    for number in range(count):
        link = mech.add_body(
            f"link {number}", mass=1.0, inertia=(INERTIA,) * 3, position=(number + 0.5, 0, 0)
        )
        before = mech.ground.marker() if body is None else body.marker((0.5, 0, 0))
        mech.add_joint(f"hinge {number}", bc.Revolute(), before, link.marker((-0.5, 0, 0)))
        body = link
    if closed:
        mech.add_joint("slot", bc.PinInSlot(), mech.ground.marker((count, 0, 0)), body.marker((0.5, 0, 0)))
    mech.add_drive("motor", "hinge 0", velocity=bc.Input("speed", 0.0))
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_links_by_hand(formulation):
    """One impulse at the second hinge, which moves with LENGTH ω: ω₂ = −ω m h LENGTH / (J + m h²)."""
    run = bc.start(chain(2), 1.0, formulation=formulation, method="dopri5")
    run.advance(0.1)
    run.inputs["speed"] = 0.5
    half = LENGTH / 2
    expected = -0.5 * half * LENGTH / (INERTIA + half**2)
    assert_allclose(run.state.angular_velocity[:, 2], [0.5, expected], rtol=1e-12)


@pytest.mark.parametrize("closed", [False, True])
def test_formulations_agree(closed):
    found = []
    for formulation in FORMULATIONS:
        run = bc.start(chain(5, closed), 1.0, formulation=formulation, method="dopri5")
        run.advance(0.1)
        run.inputs["speed"] = 0.5
        found.append(run.state.angular_velocity[:, 2])
    assert np.ptp(found[0]) > 0.5
    for other in found[1:]:
        assert_allclose(other, found[0], atol=1e-10)
