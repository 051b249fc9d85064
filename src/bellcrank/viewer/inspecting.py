"""Data of a body or a joint in one recorded frame, as names, numbers and units."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.names import known


def inspected_in(run: Trajectory, model: Model | None, name: Any) -> dict[str, Any]:
    """Lines of what a body or a joint does in the one frame of a run: {"position [m]": [x, y, z], ...}.

    model: of the mechanism, if available. Raises MechanismError for an unknown name.
    """
    known("body or joint", name, (*run.bodies, *run.joints))
    found = {"name": name, "time [s]": float(run.time[0])}
    return found | (_of_body(model, run, name) if name in run.bodies else _of_joint(run, name))


def _of_body(model: Model | None, run: Trajectory, name: str) -> dict[str, Any]:
    body = run.body(name)
    found = {
        "kind": "body",
        "position [m]": body.position[0].tolist(),
        "rotation (w, x, y, z)": body.rotation[0].tolist(),
        "velocity [m/s]": body.velocity[0].tolist(),
        "angular velocity [rad/s]": body.angular_velocity[0].tolist(),
    }
    return found if model is None else found | _energies(model, run, name)


def _energies(model: Model, run: Trajectory, name: str) -> dict[str, Any]:
    body, number = run.body(name), model.body_number(name)
    position, rotation = body.position[0], body.rotation[0]
    velocity, spin = body.velocity[0], body.angular_velocity[0]
    mass, arm = float(model.mass[number]), rotate(rotation, model.com[number])
    moving, local = velocity + np.cross(spin, arm), rotate(conjugate(rotation), spin)
    kinetic = 0.5 * (mass * moving @ moving + local @ model.inertia[number] @ local)
    return {
        "mass [kg]": mass,
        "kinetic energy [J]": float(kinetic),
        "potential energy of its weight [J]": float(-mass * model.gravity @ (position + arm)),
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
        if not (joint.moment_unique[0] and joint.force_unique[0]):
            found["remark"] = "redundant constraints share the reaction; this is the one of least norm"
    return found


def traced_in(run: Trajectory, body: Any, point: Any) -> dict[str, Any]:
    """Times, places of a point (3,) of a body, m, in its frame, and rotations of the body in a run."""
    known("body", body, run.bodies)
    with Check("trace") as check:
        local = check.array("point", point, (3,), "m")
    number = run.layout.body_number[body]
    position, rotation = run.store.read("position", number), run.store.read("rotation", number)
    points = position + rotate(rotation, np.broadcast_to(local, position.shape))
    return {"time": run.time.tolist(), "points": points.tolist(), "rotations": rotation.tolist()}
