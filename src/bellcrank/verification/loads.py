"""An independent account of the loads on the bodies: the model's laws, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import CustomRecord, ElementRecord, Model
from bellcrank.compile.state import Floats
from bellcrank.expression.compiled import evaluate
from bellcrank.expression.expression import t
from bellcrank.mechanism.coordinate import COORDINATE_KINDS
from bellcrank.mechanism.rotation import matrix
from bellcrank.trajectory.rubbing import AT_REST, as_a_whole, limits
from bellcrank.verification.beams import stiffness as segment_stiffness
from bellcrank.verification.contacts import PointsAt, points_at
from bellcrank.verification.evidence import Frames
from bellcrank.verification.snapshot import CoordinateAt, Numbers, Snapshots

CONSERVATIVE = frozenset(kind for kind, has_potential in _core.law_kinds().items() if has_potential)
"""The kinds of force laws that have a potential."""

_DAMPING = "BodyDamping"
_ROUNDED: Final = 1e-6  # rad, or parts of the mechanism's size; a millionth of a hundredth of it is rounding
_STEP: Final = 1e-3  # rad or m, for slopes of laws


class Loads:
    """Forces and moments about the coms (n, nb + 1, 3) on bodies at n frames, world axes; the ground last.

    size, moment_size: sums of the sizes of what was added (n, nb + 1): the scale of rounding.
    """

    def __init__(self, at: Snapshots) -> None:
        frames, count = at.position.shape[:2]
        self.at = at
        self.centre = np.concatenate([at.com, np.zeros((frames, 1, 3))], axis=1)
        self.force = np.zeros((frames, count, 3))
        self.moment = np.zeros((frames, count, 3))
        self.size = np.zeros((frames, count))
        self.moment_size = np.zeros((frames, count))
        self.touched: set[int] = set()

    def clear(self) -> None:
        """Take away all that was added."""
        bodies = list(self.touched)
        for values in (self.force, self.moment, self.size, self.moment_size):
            values[:, bodies] = 0.0
        self.touched.clear()

    def add(self, body: int, force: Floats, moment: Floats, point: Floats) -> None:
        """Forces (n, 3) at points (n, 3) and moments (n, 3) on a body."""
        lever = np.cross(point - self.centre[:, body], force)
        self.touched.add(body)
        self.force[:, body] += force
        self.moment[:, body] += moment + lever
        self.size[:, body] += np.linalg.norm(force, axis=-1)
        self.moment_size[:, body] += np.linalg.norm(moment, axis=-1) + np.linalg.norm(lever, axis=-1)

    def add_points(self, points: PointsAt, bodies: np.ndarray, sign: float) -> None:
        """What the points of a contact exert on their bodies (points,), with a sign."""
        where = points.frame, bodies
        self.touched.update(bodies.tolist())
        force, moment = sign * points.force, sign * points.moment
        lever = np.cross(points.position - self.centre[where], force)
        np.add.at(self.force, where, force)
        np.add.at(self.moment, where, moment + lever)
        np.add.at(self.size, where, np.linalg.norm(force, axis=1))
        np.add.at(self.moment_size, where, np.linalg.norm(moment, axis=1) + np.linalg.norm(lever, axis=1))

    def add_all(self, other: Loads) -> None:
        """Add the loads of another one."""
        self.touched |= other.touched
        for name in ("force", "moment", "size", "moment_size"):
            getattr(self, name).__iadd__(getattr(other, name))

    def power(self) -> Floats:
        """The power (n,) of all that was added, W."""
        at, bodies = self.at, self.at.com.shape[1]
        linear = np.sum(self.force[:, :bodies] * at.com_velocity, axis=(1, 2))
        return np.asarray(linear + np.sum(self.moment[:, :bodies] * at.spin[:, :bodies], axis=(1, 2)))

    def along(self, coordinate: CoordinateAt, effort: Floats) -> None:
        """Efforts (n,) along a coordinate: on its second body, and the opposite on its first."""
        for body, sign in zip(coordinate.bodies, (-1.0, 1.0), strict=True):
            by = (sign * effort)[:, None]
            self.add(body, by * coordinate.force, by * coordinate.moment, coordinate.point)


def applied(part: Frames) -> Loads:
    """Gravity and the loads of forces: as recorded, or from the description if they were not."""
    model = part.model
    loads = Loads(part.at)
    weights = model.mass[:, None] * model.gravity
    loads.force[:, :-1] += weights
    loads.size[:, :-1] += np.linalg.norm(weights, axis=1)
    for force in model.forces:
        add_force(part, force, loads, recorded=bool(part.evidence.run.forces))
    return loads


def acting(part: Frames) -> Loads:
    """All loads on the bodies, including reactions as far as they were recorded."""
    loads = applied(part)
    if part.evidence.has_reactions:
        add_reactions(part, loads)
    return loads


def add_force(part: Frames, force: ElementRecord, loads: Loads, recorded: bool) -> None:
    """Add the load of a force, from its recorded efforts or its description."""
    model = part.model
    for law in force.laws:
        coordinate = part.coordinate(int(model.arrays["law_coordinate"][law]))
        effort = part.efforts("law", law, 1)[:, 0] if recorded else law_effort(part, law)
        loads.along(coordinate, effort)
    for wrench in force.wrenches:
        loads.add(*wrench_at(part, wrench, part.efforts("wrench", wrench, 6) if recorded else None))
    for number, contact in enumerate(model.contacts):
        if contact.name == force.name:
            add_contact(part, number, loads, recorded)
    for number, record in enumerate(part.evidence.formulas.forces):
        if record.name != force.name:
            continue
        if recorded:
            _add_recorded_formula(part, number, loads)
        elif record.kind == _DAMPING:
            loads.add(*damping_at(part, record.lowered.custom))
        else:
            add_formula_force(part, record, loads)


def add_contact(part: Frames, number: int, loads: Loads, recorded: bool) -> None:
    """Add the load of a contact: the recorded sums on its bodies, or the sum over its points."""
    points = points_at(part, number)
    own = Loads(part.at)
    own.add_points(points, points.first, 1.0)
    own.add_points(points, points.second, -1.0)
    if not recorded:
        loads.add_all(own)
        return
    loads.size += own.size  # what points exert may cancel in the sums
    loads.moment_size += own.moment_size
    for place, body in enumerate(part.model.contacts[number].bodies):
        exerted = part.efforts("contact", number, 6, 6 * place)
        loads.add(body, exerted[:, :3], exerted[:, 3:], part.at.position[:, body])


def _add_recorded_formula(part: Frames, number: int, loads: Loads) -> None:
    """Force over moment at each marker, then efforts along coordinates."""
    ends = part.evidence.formulas.forces[number].ends
    begin = 0
    for held in sorted(ends, key=lambda end: isinstance(end, int)):  # markers first, in their order
        count = 1 if isinstance(held, int) else 6
        add_along(part, held, part.efforts("formula", number, count, begin), loads)
        begin += count


def dampings(model: Model) -> list[Any]:
    """The body dampings: each with its marker and its description."""
    return [record.lowered.custom for record in model.custom if record.kind == _DAMPING]


def written_forces(model: Model) -> list[CustomRecord]:
    """The other forces given by formulas."""
    return [r for r in model.custom if r.category == "force" and r.lowered.custom and r.kind != _DAMPING]


def add_formula_force(part: Frames, record: CustomRecord, loads: Loads) -> None:
    """Add the load of a force given by formulas on its ends."""
    kind: Any = record.lowered.custom
    if kind.potential is not None or kind.efforts is not None:
        for held, effort in _formula_efforts(part, record):
            add_along(part, held, effort, loads)
        return
    zero = [0.0, 0.0, 0.0]
    found = [
        [zero if formulas is None else evaluate(formulas, known) for formulas in (kind.force, kind.moment)]
        for known in known_at(part, record)
    ]
    force, moment = np.moveaxis(np.array(found), 1, 0)
    (first, point), *others = [marker_at(part, marker) for marker in record.ends]
    loads.add(first, force, moment, point)
    for body, _ in others:
        loads.add(body, -force, -moment, point)


def known_at(part: Frames, record: CustomRecord) -> Iterator[Numbers]:
    """The values of all symbols of a force or constraint given by formulas, frame by frame."""
    evidence = part.evidence
    for frame in part.numbers.tolist():
        yield evidence.formulas.numbers(record, evidence.at(frame), partial(evidence.motion, frame=frame))


def _formula_efforts(part: Frames, record: CustomRecord) -> list[tuple[Any, Floats]]:
    """What a force by a potential or by efforts exerts along each of its ends (n, 6 or 1)."""
    kind: Any = record.lowered.custom
    written = kind.efforts if kind.potential is None else getattr(kind, "pulls", ())
    if written:
        efforts = np.array([evaluate(written, known) for known in known_at(part, record)])
        return [(held, efforts[:, k : k + 1]) for k, held in enumerate(record.ends)]
    formulas = part.evidence.formulas
    found = [formulas.effects(record, known, [kind.potential]) for known in known_at(part, record)]
    return [(held, np.array([-frame[k][2][0] for frame in found])) for k, held in enumerate(record.ends)]


def add_along(part: Frames, held: Any, effort: Floats, loads: Loads) -> None:
    """Force over moment (n, 6) at a marker, or an effort (n, 1) along a coordinate."""
    if isinstance(held, int):
        loads.along(part.coordinate(held), effort[:, 0])
        return
    body, point = marker_at(part, held)
    loads.add(body, effort[:, :3], effort[:, 3:], point)


def marker_at(part: Frames, marker: Any) -> tuple[int, Floats]:
    """The body of a marker, and where the marker is in the world (n, 3)."""
    at, body = part.at, part.model.body_index[marker.body]
    return body, at.position[:, body] + at.turn[:, body] @ np.asarray(marker.position, dtype=float)


def damping_at(part: Frames, damping: Any) -> tuple[int, Floats, Floats, Floats]:
    """Body, force, moment and point of a damping, world axes: against each component in the marker's axes."""
    marker, kind, at = damping.marker, damping.description, part.at
    body, point = part.model.body_number(marker.body), marker_at(part, marker)[1]
    axes = at.turn[:, body] @ matrix(marker.rotation)

    def against(speed: Floats, factor: Any) -> Floats:
        return np.asarray(-np.einsum("nij,j,nkj,nk->ni", axes, np.asarray(factor), axes, speed))

    force = against(at.speed(body, point), kind.damping)
    return body, force, against(at.spin[:, body], kind.rotational_damping), point


def law_effort(part: Frames, law: int, conservative: bool = False) -> Floats:
    """Efforts (n,) of a law; only the part that its potential accounts for, if wanted."""
    arrays = part.model.arrays
    kind = arrays["law_kind"][law]
    params, function = part.evidence.law(law)
    coordinate = int(arrays["law_coordinate"][law])
    rate = part.coordinate(coordinate).rate
    if part.model.is_friction_that_holds(law):
        first, terms = part.model.rubs_along(law)
        return terms[law - first][1] * _friction(part, first) * (not conservative)
    if conservative:
        if kind not in CONSERVATIVE:
            return np.zeros(len(part))
        rate, function = 0.0 * rate, None if kind == "linear" else function
    return _core.law_efforts(kind, part.value(coordinate), rate, part.time, params, function)


def _friction(part: Frames, law: int) -> Floats:
    """Efforts (n,) of friction that holds: against what slips, else as recorded, up to the most."""
    kind, (params, function) = part.model.arrays["law_kind"][law], part.evidence.law(law)
    params = as_a_whole(kind, params)
    _, terms = part.model.rubs_along(law)
    recorded = part.efforts("law", law, 1)[:, 0] / terms[0][1]
    speed = np.sum([factor * part.coordinate(c).rate for c, factor in terms], axis=0)
    rests = np.abs(speed) < AT_REST
    rate = np.where(rests, 0.0, speed)
    slips = _core.law_efforts(kind, 0.0 * rate, rate, part.time, params, function)
    most = _core.law_holds(kind, -np.sign(recorded), part.time, params, function)
    if part.model.arrays.get("friction_loads") and part.evidence.has_reactions:
        read = lambda section, number: part.section(section)[:, number]  # noqa: E731
        zero = np.zeros(len(part))
        load = limits(part.model, law, recorded, speed, zero, read, part.value)
        slips = slips - np.sign(rate) * load
        most = most + load
    return np.where(rests, np.clip(recorded, -most, most), slips)


def stored_energies(part: Frames) -> Floats:
    """Potential energies (n, p) of forces, in the order in which they are recorded, J."""
    found = [_stored(part, *which) for which in part.evidence.potentials]
    return np.stack(found, axis=1) if found else np.zeros((len(part), 0))


def _stored(part: Frames, what: str, number: int) -> Floats:
    model = part.model
    if what == "law":
        params, function = part.evidence.law(number)
        value = part.value(int(model.arrays["law_coordinate"][number]))
        return _core.law_potentials(model.arrays["law_kind"][number], value, params, function)
    if what == "contact":
        return points_at(part, number).stored(len(part))
    record = part.evidence.formulas.forces[number]
    kind: Any = record.lowered.custom
    return np.array([evaluate([kind.potential], known)[0] for known in known_at(part, record)])


def wrench_at(
    part: Frames, wrench: int, recorded: Floats | None = None
) -> tuple[int, Floats, Floats, Floats]:
    """Body, force, moment and point of an applied wrench, world axes.

    recorded: its components (n, 6), moment over force in its own axes, instead of those of the description.
    """
    model, arrays, at = part.model, part.model.arrays, part.at
    body = int(arrays["wrench_body"][wrench])
    if recorded is None:
        components = np.tile(arrays["wrench_constant"][wrench], (len(part), 1))
        for k, function in enumerate(arrays["wrench_function"][wrench].tolist()):
            if function >= 0:
                components[:, k] += model.core_function(function)(part.time)[:, 0]
    else:
        components = recorded
    turn = at.turn[:, body]
    if arrays["wrench_local"][wrench]:
        axes = turn @ _core.rotation_matrix(tuple(arrays["wrench_rotation"][wrench]))
        components = np.einsum("nij,nkj->nki", axes, components.reshape(-1, 2, 3)).reshape(-1, 6)
    point = at.position[:, body] + turn @ arrays["wrench_position"][wrench]
    return body, components[:, 3:], components[:, :3], point


def add_reactions(part: Frames, loads: Loads) -> None:
    """Add joint reactions (limits included) and efforts of drives, rotors and constraints, as recorded."""
    model = part.model
    bodies, wrenches = model.arrays["pair_bodies"], part.section("reactions")
    for number, (_, _, pair) in enumerate(model.reactions):
        point, _, _ = part.at.relative_motion(pair)
        first, second = bodies[pair].tolist()
        moment, force = wrenches[:, number, :3], wrenches[:, number, 3:]
        loads.add(second, force, moment, point)
        loads.add(first, -force, -moment, point)
    multipliers = part.section("multipliers")
    for number, multiplier in enumerate(model.multipliers):
        if multiplier.kind != "limit":
            add_row(part, multiplier.row, multipliers[:, number], loads)


def add_row(part: Frames, row: int, multiplier: Floats, loads: Loads) -> None:
    """Add the load of a row with multipliers (n,): along its coordinates, or along its formula's ends."""
    evidence, terms = part.evidence, part.model.terms(row)
    for coordinate, factor in terms:
        loads.along(part.coordinate(coordinate), factor * multiplier)
    if not terms:
        record, equation = evidence.equation_of(row)
        found = [evidence.formulas.effects(record, known, [equation]) for known in known_at(part, record)]
        for k, held in enumerate(record.ends):
            gradients = np.array([frame[k][2][0] for frame in found])
            add_along(part, held, multiplier[:, None] * gradients, loads)


def force_sizes(model: Model) -> tuple[Floats, Floats]:
    """Sizes (nb,) of forces and of moments on bodies, such that 1e-8 of them is rounding.

    A law that should exert nothing exerts its stiffness, that at the initial state, times the rounding of its
    coordinate.
    """
    arrays = model.arrays
    force, moment = np.zeros(len(model.bodies) + 1), np.zeros(len(model.bodies) + 1)
    values = model.coordinate_values(model.initial)
    length = model.size(model.initial)
    along = list(enumerate(arrays["law_coordinate"].tolist()))
    laws = [(coordinate, _stiffness(model, law, float(values[coordinate]))) for law, coordinate in along]
    for coordinate, stiffness in (*laws, *_rope_stiffness(model, values)):
        kind = COORDINATE_KINDS.get(str(arrays["coordinate_kind"][coordinate]))
        bodies = arrays["pair_bodies"].reshape(-1, 2)[int(arrays["coordinate_pair"][coordinate])]
        turns = kind is not None and kind.unit == "rad"
        if str(arrays["coordinate_kind"][coordinate]).startswith(
            "beam_"
        ):  # by roots of stiffness, of all six
            begin, end = arrays["coordinate_param_start"][coordinate : coordinate + 2]
            sliding, bending = segment_stiffness(np.asarray(arrays["coordinate_params"][begin:end]))
            force[bodies] += _ROUNDED * stiffness * sliding * length
            moment[bodies] += _ROUNDED * stiffness * (bending + sliding * length**2)
            continue
        force[bodies] += 0.0 if turns else _ROUNDED * stiffness * length
        moment[bodies] += _ROUNDED * stiffness * (1.0 if turns else length**2)
    return force[:-1], moment[:-1]


def acceleration_size(model: Model) -> float:
    """The size of accelerations, m/s^2 or rad/s^2, such that 1e-8 of it is rounding."""
    force, moment = force_sizes(model)
    lightest = np.array([np.linalg.eigvalsh(one)[0] for one in model.inertia])
    parts = [
        np.divide(size, inertia, out=np.zeros_like(size), where=inertia > 0.0)
        for size, inertia in ((force, np.asarray(model.mass)), (moment, lightest))
    ]
    return float(np.max(np.concatenate(parts), initial=0.0))


def _rope_stiffness(model: Model, values: Floats) -> Iterator[tuple[int, float]]:
    """Coordinates along which elastic ropes act, and how stiff these are as they become taut."""
    for record in written_forces(model):
        kind: Any = record.lowered.custom
        if not getattr(kind, "tensions", ()):
            continue
        written = kind.pulls or kind.efforts
        known = {**kind.known, t: model.initial.time}
        for end, held in zip(kind.ends, record.ends, strict=True):
            known |= {end.value: float(values[held]), end.rate: 0.0}
        for place, (end, held) in enumerate(zip(kind.ends, record.ends, strict=True)):
            ahead, back = (
                evaluate(written[place : place + 1], known | {end.value: known[end.value] + step})[0]
                for step in (_STEP, -_STEP)
            )
            yield held, abs(float(ahead - back)) / (2.0 * _STEP)


def _stiffness(model: Model, law: int, value: float) -> float:
    kind, (params, function), time = model.arrays["law_kind"][law], model.law(law), model.initial.time
    ahead, back = (
        _core.law_effort(kind, value + step, 0.0, time, params, function) for step in (_STEP, -_STEP)
    )
    return abs(float(ahead - back)) / (2.0 * _STEP)
