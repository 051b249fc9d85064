"""30 random trees with nine joint types: accelerations of bodies and joints."""

import json
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery import TreeBody, TreeJoint, tree
from bellcrank.mechanism.rotation import from_matrix, matrix

DATA = Path(__file__).parent / "data" / "random_trees.json"
CASES = json.loads(DATA.read_text())["cases"]
TOLERANCE = 1e-9


def tree_joint(joint):
    """A joint of the reference; its rotation comes as a matrix."""
    placement = joint["placement"]
    return TreeJoint(
        joint["type"],
        joint["parent"],
        placement["p"],
        from_matrix(np.array(placement["R"])),
        joint.get("axis", joint.get("axis1", (0.0, 0.0, 1.0))),
        joint.get("axis2", (1.0, 0.0, 0.0)),
        joint.get("pitch", 0.0),
    )


def mechanism_of(case):
    model = case["model"]
    return tree(
        [TreeBody(**body) for body in model["bodies"]],
        [tree_joint(joint) for joint in model["joints"]],
        case["q"],
        case["v"],
        case["tau"],
        gravity=model["gravity"],
    )


@pytest.fixture(params=CASES, ids=lambda case: f"{case['id']}-{case['topology']}-{case['n_bodies']}")
def case(request):
    return request.param


def test_accelerations(case, check, formulation):
    mechanism = mechanism_of(case)
    found = bc.prepare(mechanism, formulation).accelerate()
    bodies = [found.body(name) for name in mechanism.bodies]
    accelerations = [np.concatenate((body.com.linear, body.angular)) for body in bodies]
    expected = np.array(case["body_acc_world"])
    check("bodies", accelerations, expected, TOLERANCE, np.max(np.abs(expected)))
    of_joints = np.concatenate(list(joint_accelerations(case, mechanism, bodies)))
    expected = np.concatenate(case["vdot_pinocchio"])
    check("joints", of_joints, expected, TOLERANCE, np.max(np.abs(expected)))


def test_coordinates_and_energies(case, check, formulation):
    """The joints' coordinates are those of the reference, and so are the energies of all bodies."""
    run = bc.simulate(mechanism_of(case), 1e-9, step=1e-9, formulation=formulation, reactions=False)
    for number, joint in enumerate(case["model"]["joints"]):
        if joint["type"] in ("spherical", "free", "fixed"):
            continue  # another parametrisation
        history, q, v = run.joint(f"joint {number}"), case["q"][number], case["v"][number]
        check(f"q {number}", history.position[0], q, 1e-12)
        check(f"v {number}", history.velocity[0], tree_joint(joint).of_coordinates(q, v), 1e-12)
    check("kinetic energy", run.energy.kinetic[0], case["kinetic_energy"], 1e-12, case["kinetic_energy"])
    check("potential energy", run.energy.potential[0], case["potential_energy"], 1e-12, 1e3)


def joint_accelerations(case, mechanism, accelerations):
    """Per joint dv/dt from the accelerations of its two bodies: relative acceleration = S dv/dt + dS/dt v.

    A relative velocity w = R s with R the child's rotation changes by R ds/dt + omega x w, omega the child's.
    """
    bodies = list(mechanism.bodies.values())
    for number, joint in enumerate(case["model"]["joints"]):
        child, own = bodies[number], accelerations[number]
        place, velocity, spin, linear, angular = np.zeros((5, 3))
        if joint["parent"] >= 0:
            parent, carried = bodies[joint["parent"]], accelerations[joint["parent"]]
            place, velocity, spin = map(np.array, (parent.position, parent.velocity, parent.angular_velocity))
            linear, angular = carried.linear, carried.angular
        arm, omega = child.position - place, np.array(child.angular_velocity)
        carried_velocity = np.cross(spin, arm)
        moving, turning = child.velocity - velocity - carried_velocity, omega - spin
        linear = linear + np.cross(angular, arm) + np.cross(spin, carried_velocity + moving)
        linear = own.linear - linear - np.cross(omega, moving)
        angular = own.angular - angular - np.cross(omega, turning)
        back = matrix(child.rotation).T
        subspace, bias = motion_subspace(tree_joint(joint), case["q"][number], case["v"][number])
        relative = np.concatenate((back @ angular, back @ linear)) - bias
        rates = np.linalg.lstsq(subspace, relative, rcond=None)[0] if subspace.size else np.zeros(0)
        np.testing.assert_allclose(subspace @ rates, relative, rtol=0.0, atol=1e-7)
        yield rates


def motion_subspace(joint, q, v):
    """S (6, d), angular over linear in child axes, and dS/dt v, which only a universal joint has."""
    columns = [np.concatenate(joint.relative(q, unit)[2:]) for unit in np.eye(len(v))]
    bias = np.zeros(6)
    if joint.type == "universal":
        first = joint.relative(q, (1.0, 0.0))[2]
        bias[:3] = -np.cross(np.array(joint.second_axis) * v[1], first) * v[0]
    return np.array(columns).T.reshape(6, len(v)), bias
