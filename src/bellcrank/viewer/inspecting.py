"""What is known of a body or a joint in one recorded frame, as names, numbers and units."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.rotations import conjugate, rotate
from bellcrank.trajectory.status import Status
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.engine import Engine
from bellcrank.viewer.names import known


def inspected(engine: Engine, name: Any) -> dict[str, Any]:
    """Lines of what a body or a joint does in the frame that is shown: {"position [m]": [x, y, z], ...}.

    Raises MechanismError for a name that there is not.
    """
    number = len(engine.past) - 1 if engine.shown is None else engine.shown
    run = Trajectory(
        engine.past.layout, engine.past.store(slice(number, number + 1)), Status("running"), {}, Origin()
    )
    known("body or joint", name, (*run.bodies, *run.joints))
    found = {"name": name, "time [s]": float(run.time[0])}
    return found | (_of_body(engine, run, name) if name in run.bodies else _of_joint(run, name))


def _of_body(engine: Engine, run: Trajectory, name: str) -> dict[str, Any]:
    body, number = run.body(name), engine.model.body_number(name)
    position, rotation = body.position[0], body.rotation[0]
    velocity, spin = body.velocity[0], body.angular_velocity[0]
    mass, arm = float(engine.model.mass[number]), rotate(rotation, engine.model.com[number])
    moving = velocity + np.cross(spin, arm)
    local = rotate(conjugate(rotation), spin)
    kinetic = 0.5 * (mass * moving @ moving + local @ engine.model.inertia[number] @ local)
    return {
        "kind": "body",
        "mass [kg]": mass,
        "position [m]": position.tolist(),
        "rotation (w, x, y, z)": rotation.tolist(),
        "velocity [m/s]": velocity.tolist(),
        "angular velocity [rad/s]": spin.tolist(),
        "kinetic energy [J]": float(kinetic),
        "potential energy of its weight [J]": float(-mass * engine.model.gravity @ (position + arm)),
    }


def _of_joint(run: Trajectory, name: str) -> dict[str, Any]:
    joint = run.joint(name)
    found: dict[str, Any] = {"kind": "joint"}
    for column, value, rate in zip(
        joint.columns, np.ravel(joint.position[0]), np.ravel(joint.velocity[0]), strict=True
    ):
        unit = f" {column.unit}" if column.unit not in ("", "1") else ""
        found[f"{column.name} [{unit.strip() or '1'}]"] = float(value)
        found[f"{column.name} rate [{unit.strip() or '1'}/s]"] = float(rate)
    if name in run.layout.reactions:
        found["moment of the reaction [N m]"] = joint.moment[0].tolist()
        found["force of the reaction [N]"] = joint.force[0].tolist()
        if run.layout.uniqueness and not (joint.moment_unique[0] and joint.force_unique[0]):
            found["remark"] = "redundant constraints share the reaction; this is the one of least norm"
    return found
