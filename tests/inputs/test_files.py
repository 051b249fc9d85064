"""Inputs in mechanism files."""

import json

import pytest

import bellcrank as bc
from bellcrank.io.files import dumps

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
