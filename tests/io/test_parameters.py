"""Parameters and expressions in mechanism files."""

from math import pi

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.io import dumps, read
from bellcrank.mechanism.evaluation import with_numbers

PENDULUM = """\
bellcrank: 1
name: pendulum
parameters:
  length: {value: 500 mm, unit: m, low: 0.1, high: 2, doc: of the rod}
  stiffness: 100 N/m
  amplitude: 0.2
gravity: [0, 0, -9.81*stiffness/100]
bodies:
  rod: {mass: 2*length, inertia: [0.01, "length^2/6", "length^2/6"], position: [length/2, 0, 0]}
  bob: {shapes: [{type: Sphere, radius: length/10, density: 7.85 g/cm^3}], position: [length, 0, 0]}
markers:
  rod.tilted: {position: [0, 0, length], rotation: {axis: [0, 1, 0], angle: length/2}}
joints:
  pivot:
    type: Revolute
    first: {body: ground, axis: [0, 1, 0]}
    second: {body: rod, position: [-length/2, 0, 0], axis: [0, 1, 0]}
    limits: {lower: -pi/2}
    position: length/10
  weld: {type: Fixed, first: {body: rod, position: [length/2, 0, 0]}, second: bob}
forces:
  motor: {type: JointMotor, effort: "amplitude*sin(2*pi*t)", joint: pivot}
  wind: {type: Wrench, force: ["if(t < 1, 0, 0.1)", stiffness/1000, 0], ends: bob}
simulation: {duration: 2*0.5}
"""


def test_numbers():
    mech = bc.loads(PENDULUM)
    length = mech.parameters["length"]
    assert (length.value, length.unit, length.low, length.high, length.doc) == (
        0.5,
        "m",
        0.1,
        2.0,
        "of the rod",
    )
    assert mech.bodies["rod"].mass == 2 * length.symbol
    numeric = with_numbers(mech.with_parameters(length=0.8))
    assert numeric.bodies["rod"].mass == 1.6
    assert numeric.bodies["bob"].mass == pytest.approx(7850 * 4 / 3 * pi * 0.08**3)
    assert numeric.joints["pivot"].limits[0][1].lower == -pi / 2
    assert numeric.gravity == (0, 0, -9.81)
    np.testing.assert_allclose(numeric.markers["rod.tilted"].rotation, (np.cos(0.2), 0, np.sin(0.2), 0))
    force = numeric.forces["motor"].kind.effort
    np.testing.assert_allclose(force(np.array([0.1, 0.25])), 0.2 * np.sin(2 * pi * np.array([0.1, 0.25])))


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_round_trip_keeps_the_expressions(kind):
    mech = bc.loads(PENDULUM)
    again = bc.loads(dumps(mech, kind))
    assert again == mech
    assert again.with_parameters(length=0.7) != mech
    assert again.with_parameters(length=0.7) == mech.with_parameters(length=0.7)
    assert dumps(again, kind) == dumps(mech, kind)


def test_texts_as_they_are_written():
    text = dumps(bc.loads(PENDULUM))
    for line in ('mass: "2*length"', "stiffness: 100.0", 'effort: "amplitude*sin(6.283185307179586*t)"'):
        assert line in text


def test_arithmetic_without_parameters_gives_numbers(tmp_path):
    (tmp_path / "p.yaml").write_text(PENDULUM)
    assert read(tmp_path / "p.yaml").simulation.duration == 1.0


def test_placed_with_other_values(tmp_path):
    (tmp_path / "arm.yaml").write_text(
        "bellcrank: 1\nparameters: {length: 1, width: 0.2}\n"
        "bodies: {link: {mass: 2*length, inertia: [width, width, width]}}\n"
    )
    (tmp_path / "robot.yaml").write_text(
        "bellcrank: 1\nparameters: {reach: 3}\nmechanisms:\n"
        "  left: {file: arm.yaml}\n"
        "  right: {file: arm.yaml, position: [reach, 0, 0], parameters: {length: reach/2, width: 40 mm}}\n"
    )
    robot = bc.load(tmp_path / "robot.yaml")
    assert {n: p.value for n, p in robot.parameters.items()} == {
        "reach": 3.0, "left_length": 1.0, "left_width": 0.2, "right_width": 0.04,
    }  # fmt: skip
    bodies = with_numbers(robot.with_parameters(reach=5.0, left_length=7.0)).bodies
    assert (bodies["left/link"].mass, bodies["right/link"].mass) == (14.0, 5.0)
    bc.save(robot, tmp_path / "whole.json")
    assert bc.load(tmp_path / "whole.json") == robot


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "2*length",
            "2*lenght",
            "body 'rod': the name 'lenght' is not known; did you mean 'length'? [line 9, ",
        ),
        ("2*length", "-length", "body 'rod': mass must be greater than zero, got -0.5"),
        ("2*length", "2*length*t", "body 'rod': the name 't' is not known"),
        ("2*length", "(length", "this parenthesis is not closed"),
        ("2*length", "2 length", "this unit is not known"),
        ("value: 500 mm", "value: 5", "parameter 'length': value must not be greater than high = 2"),
        ("value: 500 mm", "valu: 5", "the key 'value' is missing"),
        (
            "stiffness: 100 N/m",
            "stiffness: amplitude",
            "parameter 'stiffness': the name 'amplitude' is not known",
        ),
        ("amplitude: 0.2", "pi: 3", "parameter 'pi': this name has a meaning in expressions"),
        ("0.2\n", "[1]\n", "parameter 'amplitude': "),
        ("sin(2*pi*t)", "sin(2*pi*tt)", "force 'motor': the name 'tt' is not known"),
    ],
)
def test_faults(old, new, said):
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(PENDULUM.replace(old, new, 1))
    assert said in str(caught.value), str(caught.value)
    assert "line " in str(caught.value)


def test_the_text_is_shown_with_a_caret():
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(PENDULUM.replace("2*length", "2*lenght", 1))
    assert "bodies.rod.mass]\n    2*lenght\n      ^" in str(caught.value)
