"""13 closed loops, ten of them overconstrained: accelerations, rank, and reactions where they are unique."""

import numpy as np
import pytest
from rigs.random_loops import CASES, mechanism_of, name_of

import bellcrank as bc

TOLERANCE = 1e-9


@pytest.fixture(params=CASES, ids=name_of)
def case(request):
    return request.param


@pytest.fixture
def system(case, formulation):
    return bc.prepare(mechanism_of(case), formulation)


def test_accelerations(case, system, check):
    found = system.accelerate()
    bodies = [found.body(name) for name in system.model.bodies]
    accelerations = [np.concatenate((body.com.linear, body.angular)) for body in bodies]
    expected = np.array(case["acc"])
    check("bodies", accelerations, expected, TOLERANCE, np.max(np.abs(expected)))


def test_rank(case, system):
    system.accelerate()
    assert system.model.row_count == case["rows"]
    assert len(system.stats.dropped) == case["redundant"]


def test_reactions(case, system, check):
    """The least multipliers must leave alone what is unique, and it must be known what that is."""
    found = system.accelerate()
    references = case["reactions"]
    unique = [vector for reference in references for vector in known(reference).values()]
    scale = np.max(np.abs(unique), initial=0.0)
    for number, reference in enumerate(references):
        joint = found.joint(f"joint {number}")
        assert joint.force_unique == reference["force_unique"]
        assert joint.moment_unique == reference["torque_unique"]
        for name, vector in known(reference).items():
            check(f"{name} of joint {number}", getattr(joint, name), vector, TOLERANCE, scale)


def known(reference):
    named = {"force": reference["force_on_j"], "moment": reference["torque_on_j_about_P"]}
    return {name: vector for name, vector in named.items() if vector is not None}
