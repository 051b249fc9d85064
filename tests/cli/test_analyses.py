"""Analyses on the command line: statics, modes, linearize, inverse."""

import json

import pytest

import bellcrank as bc


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    """A file of a pendulum, in the folder where the programs run."""
    monkeypatch.chdir(tmp_path)
    mech = bc.Mechanism("pendulum")
    length = mech.add_parameter("l", 0.7, "m")
    bob = mech.add_body("bob", mass=2.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, -length))
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker(axis="y"), bob.marker((0, 0, length), axis="y"))
    mech.add_marker(bob.marker(name="tip"))
    bc.save(mech, "pendulum.yaml")
    return "pendulum.yaml"


def test_modes(pendulum, program):
    told = json.loads(program("modes", pendulum, "--json").stdout)
    assert told["modes"][0]["frequency"] == pytest.approx(0.589819, rel=1e-5)
    shorter = json.loads(program("modes", pendulum, "--set", "l=0.35", "--json").stdout)
    assert shorter["modes"][0]["frequency"] > told["modes"][0]["frequency"]
    assert "0.589819 Hz" in program("modes", pendulum, "--formulation", "dca").stdout


def test_modes_are_drawn(pendulum, program, tmp_path):
    pytest.importorskip("matplotlib")
    assert program("modes", pendulum, "--draw", "modes.png").exit_code == 0
    assert (tmp_path / "modes.png").stat().st_size > 1000


def test_linearize(pendulum, program):
    arguments = ("--input", "pivot", "--output", "joint.pivot.Fz", "--output", "body.bob.vx")
    told = json.loads(program("linearize", pendulum, *arguments, "--json").stdout)
    assert told["states"] == ["pivot.theta_z", "pivot.theta_z.rate"]
    assert told["C"][1] == pytest.approx([0.0, -0.7], abs=1e-12)
    assert told["B"][1] == pytest.approx([1.0])
    refused = program("linearize", pendulum, "--input", "pivott")
    assert refused.exit_code == 2
    assert "did you mean 'pivot'" in refused.stderr


def test_statics(pendulum, program):
    told = json.loads(program("statics", pendulum, "--json").stdout)
    assert told["stability"] == "stable"
    assert told["joints"]["pivot"]["force"][2] == pytest.approx(2.0 * 9.81)
    assert "at rest: stable" in program("statics", pendulum).stdout


def test_inverse(pendulum, program):
    path = "bob.tip=-l*sin(0.3*t^2); 0; -l*cos(0.3*t^2)".replace("l*", "0.7*")
    told = json.loads(program("inverse", pendulum, "-d", "1", "-s", "0.5", "--along", path, "--json").stdout)
    # The angle is 0.3 t^2: inertia times 0.6, and weight.
    assert told["drives"]["pivot"]["effort"][0] == pytest.approx(0.6)
    assert "N m" in program("inverse", pendulum, "-d", "1", "-s", "0.5", "--along", path).stdout
    wrong = program("inverse", pendulum, "-d", "1", "--along", "bob.tip=1;2")
    assert wrong.exit_code == 2
    assert "MARKER=X;Y;Z" in wrong.stderr
    alone = program("inverse", pendulum, "-d", "1", "--keep", "motor")
    assert alone.exit_code == 2
    open_one = program("inverse", pendulum, "-d", "1")
    assert "degree of freedom open" in open_one.stderr
