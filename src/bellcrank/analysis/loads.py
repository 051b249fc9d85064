"""An independent account of the loads on the bodies: the model's laws, and what was recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.analysis.contact_judge import points_at
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.formula_judge import evaluated
from bellcrank.analysis.snapshot import CoordinateAt, Snapshot
from bellcrank.assembly.model import Model
from bellcrank.assembly.records import CustomRecord, ElementRecord
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.rotation import matrix

CONSERVATIVE = frozenset(kind for kind, has_potential in _core.law_kinds().items() if has_potential)
"""The kinds of force laws that have a potential."""

_DAMPING = "BodyDamping"


class Loads:
    """Forces (nb + 1, 3) on the bodies and moments (nb + 1, 3) about their coms, world axes; the ground last.

    size, moment_size: sums of the sizes of what was added, per body: the scale of rounding.
    """

    def __init__(self, at: Snapshot) -> None:
        count = len(at.position)
        self.at = at
        self.centre = np.vstack([at.com, np.zeros((1, 3))])
        self.force = np.zeros((count, 3))
        self.moment = np.zeros((count, 3))
        self.size = np.zeros(count)
        self.moment_size = np.zeros(count)

    def add(self, body: int, force: Floats, moment: Floats, point: Floats) -> None:
        """A force at a point and a moment on a body."""
        lever = np.cross(point - self.centre[body], force)
        self.force[body] += force
        self.moment[body] += moment + lever
        self.size[body] += float(np.linalg.norm(force))
        self.moment_size[body] += float(np.linalg.norm(moment) + np.linalg.norm(lever))

    def add_all(self, other: Loads) -> None:
        """Add the loads of another one."""
        for name in ("force", "moment", "size", "moment_size"):
            getattr(self, name).__iadd__(getattr(other, name))

    def power(self) -> float:
        """The power of all that was added, W."""
        at, bodies = self.at, len(self.at.com)
        linear = np.sum(self.force[:bodies] * at.com_velocity)
        return float(linear + np.sum(self.moment[:bodies] * at.spin[:bodies]))

    def along(self, coordinate: CoordinateAt, effort: float) -> None:
        """An effort along a coordinate: on its second body, and the opposite on its first."""
        for body, sign in zip(coordinate.bodies, (-effort, effort), strict=True):
            self.add(body, sign * coordinate.force, sign * coordinate.moment, coordinate.point)


def applied(evidence: Evidence, frame: int) -> Loads:
    """Gravity and the loads of forces: as recorded, or from the description if they were not."""
    model, at = evidence.model, evidence.at(frame)
    loads = Loads(at)
    for body, mass in enumerate(model.mass):
        loads.add(body, mass * model.gravity, np.zeros(3), at.com[body])
    for force in model.forces:
        add_force(evidence, frame, force, loads, recorded=bool(evidence.run.forces))
    return loads


def acting(evidence: Evidence, frame: int) -> Loads:
    """All loads on the bodies, including reactions as far as they were recorded."""
    loads = applied(evidence, frame)
    if evidence.has_reactions:
        add_reactions(evidence, frame, loads)
    return loads


def add_force(evidence: Evidence, frame: int, force: ElementRecord, loads: Loads, recorded: bool) -> None:
    """Add the load of a force, from its recorded efforts or its description."""
    model, at = evidence.model, evidence.at(frame)
    for law in force.laws:
        coordinate = evidence.coordinate(int(model.arrays["law_coordinate"][law]), frame)
        effort = evidence.effort(("law", law, 0), frame) if recorded else law_effort(evidence, law, frame)
        loads.along(coordinate, effort)
    for wrench in force.wrenches:
        told = [evidence.effort(("wrench", wrench, k), frame) for k in range(6)] if recorded else None
        loads.add(*wrench_at(model, at, wrench, told))
    for number, contact in enumerate(model.contacts):
        if contact.name == force.name:
            add_contact(evidence, frame, number, loads, recorded)
    for number, record in enumerate(evidence.formulas.forces):
        if record.name != force.name:
            continue
        if recorded:
            _add_recorded_formula(evidence, frame, number, loads)
        elif record.kind == _DAMPING:
            loads.add(*damping_at(model, at, record.lowered.custom))
        else:
            add_formula_force(evidence, frame, record, loads)


def add_contact(evidence: Evidence, frame: int, number: int, loads: Loads, recorded: bool) -> None:
    """Add the load of a contact: the recorded sums on its bodies, or the sum over its points."""
    points = points_at(evidence, frame, number)
    own = Loads(evidence.at(frame))
    for first, second, force, moment, where in zip(
        points.first, points.second, points.force, points.moment, points.position, strict=True
    ):
        own.add(int(first), force, moment, where)
        own.add(int(second), -force, -moment, where)
    if not recorded:
        loads.add_all(own)
        return
    loads.size += own.size  # what points exert may cancel in the sums
    loads.moment_size += own.moment_size
    for place, body in enumerate(evidence.model.contacts[number].bodies):
        told = np.array([evidence.effort(("contact", number, 6 * place + k), frame) for k in range(6)])
        loads.add(body, told[:3], told[3:], evidence.at(frame).position[body])


def _add_recorded_formula(evidence: Evidence, frame: int, number: int, loads: Loads) -> None:
    """Force over moment at each marker, then efforts along coordinates."""
    ends = evidence.formulas.forces[number].ends
    begin = 0
    for held in sorted(ends, key=lambda end: isinstance(end, int)):  # markers first, in their order
        count = 1 if isinstance(held, int) else 6
        told = [evidence.effort(("formula", number, begin + k), frame) for k in range(count)]
        add_along(evidence, frame, held, np.array(told), loads)
        begin += count


def dampings(model: Model) -> list[Any]:
    """The body dampings: each with its marker and its description."""
    return [record.lowered.custom for record in model.custom if record.kind == _DAMPING]


def written_forces(model: Model) -> list[CustomRecord]:
    """The other forces given by formulas."""
    return [r for r in model.custom if r.category == "force" and r.lowered.custom and r.kind != _DAMPING]


def add_formula_force(evidence: Evidence, frame: int, record: CustomRecord, loads: Loads) -> None:
    """Add the load of a force given by formulas on its ends."""
    kind: Any = record.lowered.custom
    known = evidence.formulas.numbers(record, evidence.at(frame), lambda c: evidence.motion(c, frame))
    if kind.potential is not None:
        for _, held, gradient in evidence.formulas.effects(record, known, [kind.potential]):
            add_along(evidence, frame, held, -gradient[0], loads)
    elif kind.efforts is not None:
        for held, effort in zip(record.ends, evaluated(kind.efforts, known), strict=True):
            add_along(evidence, frame, held, np.array([effort]), loads)
    else:
        zero = [0.0, 0.0, 0.0]
        force, moment = (
            np.array(zero if formulas is None else evaluated(formulas, known))
            for formulas in (kind.force, kind.moment)
        )
        (first, point), *others = [marker_at(evidence, frame, marker) for marker in record.ends]
        loads.add(first, force, moment, point)
        for body, _ in others:
            loads.add(body, -force, -moment, point)


def add_along(evidence: Evidence, frame: int, held: Any, effort: Floats, loads: Loads) -> None:
    """Force over moment (6,) at a marker, or an effort (1,) along a coordinate."""
    if isinstance(held, int):
        loads.along(evidence.coordinate(held, frame), float(effort[0]))
        return
    body, point = marker_at(evidence, frame, held)
    loads.add(body, effort[:3], effort[3:], point)


def marker_at(evidence: Evidence, frame: int, marker: Any) -> tuple[int, Floats]:
    """The body of a marker, and where the marker is in the world."""
    at, body = evidence.at(frame), evidence.model.body_index[marker.body]
    return body, at.position[body] + at.turn[body] @ np.asarray(marker.position, dtype=float)


def damping_at(model: Model, at: Snapshot, damping: Any) -> tuple[int, Floats, Floats, Floats]:
    """Body, force, moment and point of a damping, world axes: against each component in the marker's axes."""
    marker, kind = damping.marker, damping.description
    body = model.body_number(marker.body)
    axes = at.turn[body] @ matrix(marker.rotation)
    point = at.position[body] + at.turn[body] @ np.asarray(marker.position)
    speed = at.velocity[body] + np.cross(at.spin[body], point - at.position[body])
    force = -axes @ (np.asarray(kind.damping) * (axes.T @ speed))
    moment = -axes @ (np.asarray(kind.rotational_damping) * (axes.T @ at.spin[body]))
    return body, force, moment, point


def law_effort(evidence: Evidence, law: int, frame: int, conservative: bool = False) -> float:
    """Effort of a law; only the part that its potential accounts for, if wanted."""
    arrays = evidence.model.arrays
    kind = arrays["law_kind"][law]
    params, function = evidence.law(law)
    coordinate = int(arrays["law_coordinate"][law])
    rate = evidence.coordinate(coordinate, frame).rate
    if conservative:
        if kind not in CONSERVATIVE:
            return 0.0
        rate, function = 0.0, None if kind == "linear" else function
    value, time = evidence.value(coordinate, frame), float(evidence.time[frame])
    return float(_core.law_effort(kind, value, rate, time, params, function))


def stored_energies(evidence: Evidence, frame: int) -> Floats:
    """Potential energies (p,) of forces, in the order in which they are recorded, J."""
    return np.array([_stored(evidence, frame, *which) for which in evidence.potentials])


def _stored(evidence: Evidence, frame: int, what: str, number: int) -> float:
    if what == "law":
        params, function = evidence.law(number)
        value = evidence.value(int(evidence.model.arrays["law_coordinate"][number]), frame)
        return float(_core.law_potential(evidence.model.arrays["law_kind"][number], value, params, function))
    if what == "contact":
        return points_at(evidence, frame, number).stored()
    record = evidence.formulas.forces[number]
    kind: Any = record.lowered.custom
    known = evidence.formulas.numbers(record, evidence.at(frame), lambda c: evidence.motion(c, frame))
    return float(evaluated([kind.potential], known)[0])


def wrench_at(
    model: Model, at: Snapshot, wrench: int, told: list[float] | None = None
) -> tuple[int, Floats, Floats, Floats]:
    """Body, force, moment and point of an applied wrench, world axes.

    told: its components, moment over force in its own axes, instead of those of the description.
    """
    arrays = model.arrays
    body = int(arrays["wrench_body"][wrench])
    components = arrays["wrench_constant"][wrench].copy() if told is None else np.array(told)
    for k, function in enumerate(arrays["wrench_function"][wrench].tolist() if told is None else ()):
        if function >= 0:
            components[k] += model.function_value(function, at.state.time)
    turn = at.turn[body]
    if arrays["wrench_local"][wrench]:
        rotation = _core.rotation_matrix(tuple(arrays["wrench_rotation"][wrench]))
        axes = turn @ rotation
        components = np.concatenate([axes @ components[:3], axes @ components[3:]])
    point = at.position[body] + turn @ arrays["wrench_position"][wrench]
    return body, components[3:], components[:3], point


def add_reactions(evidence: Evidence, frame: int, loads: Loads) -> None:
    """Add joint reactions (limits included) and efforts of drives, rotors and constraints, as recorded."""
    model, at = evidence.model, evidence.at(frame)
    bodies = model.arrays["pair_bodies"]
    for (_, _, pair), wrench in zip(model.reactions, evidence.sections["reactions"][frame], strict=True):
        point, _, _ = at.relative_motion(pair)
        first, second = bodies[pair].tolist()
        loads.add(second, wrench[3:], wrench[:3], point)
        loads.add(first, -wrench[3:], -wrench[:3], point)
    for number, multiplier in enumerate(model.multipliers):
        if multiplier.kind != "limit":
            add_row(
                evidence, frame, multiplier.row, float(evidence.sections["multipliers"][frame, number]), loads
            )


def add_row(evidence: Evidence, frame: int, row: int, multiplier: float, loads: Loads) -> None:
    """Add the load of a row with a multiplier: along its coordinates, or along its formula's ends."""
    arrays = evidence.model.arrays
    terms = range(*arrays["row_term_start"][row : row + 2].tolist())
    for term in terms:
        coordinate = evidence.coordinate(int(arrays["term_coordinate"][term]), frame)
        loads.along(coordinate, float(arrays["term_coefficient"][term]) * multiplier)
    if not terms:
        record, equation = evidence.equation_of(row)
        known = evidence.formulas.numbers(record, evidence.at(frame), lambda c: evidence.motion(c, frame))
        for _, held, gradient in evidence.formulas.effects(record, known, [equation]):
            add_along(evidence, frame, held, multiplier * gradient[0], loads)
