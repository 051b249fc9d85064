"""13 closed loops, ten of them overconstrained: accelerations, rank, and reactions where they are unique."""

import json
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc

CASES = json.loads((Path(__file__).parent / "data" / "random_loops.json").read_text())["cases"]
TOLERANCE = 1e-9
KINDS = {
    "revolute": bc.Revolute,
    "spherical": bc.Spherical,
    "prismatic": bc.Prismatic,
    "cylindrical": bc.Cylindrical,
    "universal": bc.Universal,
}


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


def markers(joint, first, second):
    """Both markers of a joint, at the world point P; z on its axis, x and y on those of a universal joint."""
    if joint["type"] == "universal":
        a, b = unit(joint["a"]), unit(joint["b"])
        z = unit(np.cross(a, b))
        one = first.world_marker(joint["P"], x_axis=a, z_axis=z)
        return one, second.world_marker(joint["P"], y_axis=b, z_axis=z)
    axis = unit(joint["a"] or (0.0, 0.0, 1.0))
    return first.world_marker(joint["P"], axis=axis), second.world_marker(joint["P"], axis=axis)


def mechanism_of(case):
    mechanism = bc.Mechanism(case["name"], gravity=case["gravity"])
    for number, body in enumerate(case["bodies"]):
        added = mechanism.add_body(
            f"body {number}",
            mass=body["m"],
            inertia=body["J"],
            position=body["r"],
            rotation=body["Q"],
            velocity=body["v"],
            angular_velocity=body["w"],
        )
        wrench = bc.Wrench(force=body["wrench"][:3], moment=body["wrench"][3:])
        mechanism.add_force(f"wrench {number}", wrench, added)
    carriers = [*mechanism.bodies.values(), mechanism.ground]  # -1 is the ground
    for number, joint in enumerate(case["joints"]):
        ends = markers(joint, carriers[joint["i"]], carriers[joint["j"]])
        mechanism.add_joint(f"joint {number}", KINDS[joint["type"]](), *ends)
    return mechanism


@pytest.fixture(params=CASES, ids=lambda case: case["name"].replace(",", "").replace(" ", "-"))
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
