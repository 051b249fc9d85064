"""Data of a body or a joint in one recorded frame, as names, numbers and units."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, cast

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.errors import Unsupported
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.trajectory.beam_values import QUANTITIES
from bellcrank.trajectory.beams import beam_history
from bellcrank.trajectory.columns import recorded
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.names import known

_SECTIONS: Final = 41  # cuts of a member
_TABLES: Final = {"drive": "drives", "constraint": "constraints", "force": "forces", "sensor": "sensors"}


def inspected_in(
    run: Trajectory, model: Model | None, name: Any, mechanism: Mechanism | None = None
) -> dict[str, Any]:
    """Lines of what an element does in the one frame of a run: {"position [m]": [x, y, z], ...}.

    model: of the mechanism, if available. mechanism: which says what drives joints. Raises MechanismError for
    an unknown name.
    """
    others = {one: noun for noun, table in _TABLES.items() for one in getattr(run, table)}
    beams = () if mechanism is None else tuple(mechanism.beams)
    known("element", name, (*run.bodies, *run.joints, *others, *beams))
    found = {"name": name, "time [s]": float(run.time[0])}
    if name in run.bodies:
        return found | _of_body(model, run, name)
    if name in run.joints:
        return found | _of_joint(run, name) | _efforts_at(run, mechanism, name)
    if name in beams:
        return found | _of_beam(run, cast("Mechanism", mechanism), name)
    return found | {"kind": others[name]} | _recorded(run, f"{others[name]}.{name}.")


def loads_in(run: Trajectory, name: Any) -> dict[str, Any]:
    """Section loads of a body in the one frame of a run, along the line between its farthest joints."""
    known("body", name, run.bodies)
    found = run.section(name, None, None, _SECTIONS)
    unique = bool(found.force_unique.all() and found.moment_unique.all())
    return {
        "start": found.start, "end": found.end, "place": found.distance.tolist(),
        "force": found.force[0].tolist(), "moment": found.moment[0].tolist(),
        "remark": "" if unique else "redundant constraints share the loads; these are of least norm",
    }  # fmt: skip


def _recorded(run: Trajectory, begin: str) -> dict[str, Any]:
    """What is recorded of an element, by what follows its name."""
    listed = [one for one in recorded(run, begin.removesuffix(".")) if one.name.startswith(begin)]
    return {
        f"{one.name.removeprefix(begin)} [{one.unit or '1'}]": float(one.values[0])
        for one in listed
        if not one.flags
    }


def _efforts_at(run: Trajectory, mechanism: Mechanism | None, joint: str) -> dict[str, Any]:
    """Efforts of the drives and motors that act on a joint."""
    if mechanism is None:
        return {}
    drives = [d.name for d in mechanism.drives.values() if getattr(d, "coordinate", None) is not None
              and d.coordinate.joint == joint]  # type: ignore[union-attr]  # fmt: skip
    forces = [f.name for f in mechanism.forces.values() if joint in {c.joint for c in f.joint_coordinates}]
    found: dict[str, Any] = {}
    for noun, names, there in (("drive", drives, run.drives), ("force", forces, run.forces)):
        for name in (name for name in names if name in there):
            for label, value in _recorded(run, f"{noun}.{name}.").items():
                if "effort" in label:
                    what, _, unit = label.partition(" [")
                    word = {"N m": "torque", "N": "force"}.get(unit.removesuffix("]"), what)
                    found[f"{word} of {name} [{unit}"] = value
    return found


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


def _of_beam(run: Trajectory, mechanism: Mechanism, name: str) -> dict[str, Any]:
    """The largest numbers of a beam, at its nodes and between them."""
    beam = beam_history(mechanism, name, run.time, run.body_poses)
    where = np.linspace(0.0, beam.length, _SECTIONS)
    found: dict[str, Any] = {"kind": "beam", "length [m]": beam.length}
    for quantity in QUANTITIES.values():
        with suppress(Unsupported):
            values = quantity.values(beam, where)[0]
            found[f"largest {quantity.label} [{quantity.unit}]"] = float(values[np.argmax(np.abs(values))])
    return found | {"strain energy [J]": float(beam.strain_energy[0])}


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
