"""The reference's random loops as mechanisms."""

import json
from pathlib import Path

import numpy as np

import bellcrank as bc

CASES = json.loads((Path(__file__).parent.parent / "reference" / "data" / "random_loops.json").read_text())[
    "cases"
]
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


def name_of(case):
    return case["name"].replace(",", "").replace(" ", "-")
