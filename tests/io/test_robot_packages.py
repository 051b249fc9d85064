"""Models of PyPI's packages, where installed: masses and accelerations as Pinocchio and MuJoCo have them."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import robot_oracles
from rigs.robot_packages import MODELS, UNWEIGHED

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix


@pytest.mark.oracle
@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_masses_and_accelerations_are_those_of_others(model):
    """At a random state and inputs; bodies whose inertia had to be changed are named in what is left out."""
    pytest.importorskip(model.oracle)
    if model.file is None:
        pytest.skip(f"{model.package} is not installed")
    mech = bc.load(model.file)
    answers = getattr(robot_oracles, model.oracle)(model.file, mech, np.random.default_rng(3))
    assert not answers.lost
    assert robot_oracles.off_start(mech, answers) < 1e-9
    bare = robot_oracles.free_of_limits(mech)
    mass, acceleration, gap = robot_oracles.compared(bare, answers)
    assert gap < 1e-9
    if model.mass is None:
        assert any("moments are raised" in fault.rule for fault in mech.left_out)
    else:
        assert mass < model.mass
    if model.acceleration is not None:
        assert acceleration < model.acceleration


@pytest.mark.oracle
@pytest.mark.parametrize("model", UNWEIGHED, ids=[model.name for model in UNWEIGHED])
def test_links_without_masses_are_where_others_have_them(model):
    pytest.importorskip(model.oracle)
    if model.file is None:
        pytest.skip(f"{model.package} is not installed")
    mech = bc.load(model.file)
    with pytest.raises(bc.MechanismError, match="masses are not known"):
        bc.prepare(mech)
    answers = getattr(robot_oracles, model.oracle)(model.file, mech, np.random.default_rng(3))
    assert {*answers.start} == {*mech.bodies}
    for name, (position, rotation) in answers.start.items():
        np.testing.assert_allclose(mech.bodies[name].position, position, atol=1e-12)
        np.testing.assert_allclose(matrix(mech.bodies[name].rotation), rotation, atol=1e-12)


def test_there_are_models_enough():
    assert len({model.path for model in MODELS}) == len(MODELS) >= 60
