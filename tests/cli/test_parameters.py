"""`bellcrank run --set` and what `info` tells of parameters."""

import numpy as np
import pytest

import bellcrank as bc

PENDULUM = """\
bellcrank: 1
parameters:
  length: {value: 0.5, unit: m, low: 0.1, high: 2, doc: of the rod}
  push: 0.2
bodies:
  rod: {mass: 2*length, inertia: [0.01, length^2/6, length^2/6], position: [length/2, 0, 0]}
joints:
  pivot: {type: Revolute, first: {body: ground, axis: [0, 1, 0]}, second: {body: rod, position: [-length/2, 0, 0], axis: [0, 1, 0]}}
forces:
  motor: {type: JointMotor, joint: pivot, effort: push*cos(3*t)}
simulation: {duration: 0.2, step: 0.01}
"""  # noqa: E501


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    return str(path)


def test_parameters_are_set(pendulum, program):
    result = program("run", pendulum, "--set", "length = 600 mm", "--set", "push=pi/2", "--out", "run.h5")
    assert result.exit_code == 0
    run = bc.Trajectory.load("run.h5")
    mech = bc.loads(PENDULUM).with_parameters(length=0.6, push=np.pi / 2)
    library = bc.simulate(mech, 0.2, step=0.01)
    assert np.array_equal(run.body("rod").position, library.body("rod").position)
    assert bc.loads(run.mechanism) == mech


def test_info_lists_them(pendulum, program):
    output = program("info", pendulum).stdout
    for text in ("Parameters (2)", "length", "[0.1, 2]", "of the rod", "push"):
        assert text in output


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("lenght=1", "did you mean 'length'?"),
        ("length=3", "value must not be greater than high = 2"),
        ("length", "it is written as NAME=VALUE"),
        ("length=1 parsec", "this unit is not known"),
        ("length=2*x", "the name 'x' is not known"),
    ],
)
def test_faults(pendulum, program, setting, said):
    result = program("run", pendulum, "--set", setting)
    assert result.exit_code != 0
    assert said in " ".join((result.stdout + result.stderr).split())
