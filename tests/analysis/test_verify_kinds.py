"""The judge, which knows nothing of the solver, passes every kind of joint, constraint, drive and path."""

import pytest
from rigs import examples, floating

import bellcrank as bc
from bellcrank.mechanism import JOINT_KINDS


def judged(machine):
    return bc.verify(machine.mechanism, duration=0.3, samples=3, states=1, formulation="lagrange")


@pytest.mark.parametrize("name", list(JOINT_KINDS))
def test_joints(name):
    verdict = judged(floating.pair(examples.joint(name)))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(
    ("kind", "letters"), [pytest.param(k, s, id=i) for i, k, s in examples.constraints()]
)
def test_constraints(kind, letters):
    verdict = judged(floating.carried(kind, letters))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize(("kind", "letters"), [pytest.param(k, s, id=i) for i, k, s in examples.forces()])
def test_forces(kind, letters):
    verdict = judged(floating.forced(kind, letters))
    assert verdict.passed, str(verdict)
    assert verdict["energy"].value is not None


@pytest.mark.parametrize("name", list(examples.FUNCTIONS_OF_TIME))
def test_drives(name):
    verdict = judged(floating.led(examples.FUNCTIONS_OF_TIME[name]))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("name", list(examples.PATHS))
def test_paths(name):
    verdict = judged(floating.along(*examples.PATHS[name]))
    assert verdict.passed, str(verdict)
