"""Models of PyPI's packages, where installed: masses and accelerations as Pinocchio and MuJoCo have them."""

from __future__ import annotations

import numpy as np
import pytest
from rigs import robot_oracles
from rigs.robot_packages import MODELS

import bellcrank as bc


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


def test_there_are_models_enough():
    assert len({model.path for model in MODELS}) == len(MODELS) >= 60
