"""Judges of conserved quantities: energy against the work done, momentum of what floats freely."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.analysis.appeal import borne_out
from bellcrank.analysis.calm import groups_of
from bellcrank.analysis.contact_judge import steady
from bellcrank.analysis.contact_points import points_at
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.formula_judge import time_slope
from bellcrank.analysis.ledger_judge import (
    judge_balance_of_works,
    judge_beginning,
    judge_idle,
    judge_works,
)
from bellcrank.analysis.loads import (
    Loads,
    add_contact,
    add_formula_force,
    add_row,
    damping_at,
    dampings,
    known_at,
    law_effort,
    stored_energies,
    wrench_at,
    written_forces,
)
from bellcrank.analysis.quadrature import even, largest_nearby, windows, worked
from bellcrank.analysis.roughness import Roughness
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.model import Model
from bellcrank.assembly.records import CustomRecord
from bellcrank.assembly.state import Floats

_ENERGY = "energy gained less work done, relative to the energy in play"
_RECORD = 1e-9
_ROUNDING = 1e-9  # of the potential energy
_APPEALED = 1e-2  # of the limit, in speeds: by as much a motion may differ that explains energies
_ABSOLUTE = 50.0  # times the absolute tolerance: the errors of speeds that a run adds up
_RINGING = 5.0  # times the largest error found nearby, which motions between frames may have


def judge_energy(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The judge's own sums of energy: as recorded, and balanced by the work of what has no potential.

    limit: of what is off, or more where motions are so slow that the absolute tolerance of the run matters.
    """
    if evidence.run.layout.works:
        return _by_ledger(evidence, limit)
    count = len(evidence.time)
    every = evidence.every
    if len(every) < count:
        reason = "too many frames or forces to add up here"
        return [*judge_record(evidence), CheckResult("energy", _ENERGY, None, limit, reason)]
    kinetic, potential = energies(evidence, every)
    size = _in_play(kinetic, potential)
    results = _record(evidence, every, kinetic, potential)
    if evidence.run.statistics.get("impacts", 0) or _stops_met(evidence):
        reason = "impacts take energy that is not recorded"
        return [*results, CheckResult("energy", _ENERGY, None, limit, reason)]
    count = even(evidence.time)
    if count < 9:
        return [
            *results,
            CheckResult("energy", _ENERGY, None, limit, "it takes 9 evenly spaced frames or more"),
        ]
    limit = max(limit, _slow(evidence, size))
    stored = contact_energies(evidence)  # the whole power of contacts is counted as work
    return [*results, _balance(evidence, (kinetic + potential - stored)[:count], size, limit)]


def _by_ledger(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The balance of a run that has added up works, whatever its frames resolve."""
    size = _in_play(evidence.sections["kinetic"], evidence.sections["potential"])
    limit = max(limit, _slow(evidence, size))
    works = judge_works(evidence, size, limit)
    balance = judge_balance_of_works(evidence, size, limit)
    return [*judge_record(evidence), judge_beginning(evidence), judge_idle(evidence), balance, works]


def _in_play(kinetic: Floats, potential: Floats) -> float:
    """The scale of energies (T,) in a run; constant ones are exact to rounding."""
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    return max(size, _ROUNDING * float(np.max(np.abs(potential))))


def _slow(evidence: Evidence, size: float) -> float:
    """What the absolute tolerance of a run, that of speeds in SI units, makes of energies of this size."""
    tolerance = float(evidence.run.statistics.get("tolerance", 0.0))
    speeds = (evidence.sections[name] for name in ("velocity", "angular_velocity"))
    fast, spin = (np.max(np.linalg.norm(values, axis=2), axis=0) for values in speeds)
    inertia = np.linalg.eigvalsh(evidence.model.inertia)[:, -1]
    return _ABSOLUTE * tolerance * float(np.sum(evidence.model.mass * fast + inertia * spin)) / size


def contact_energies(evidence: Evidence) -> Floats:
    """Elastic energy (T,) of contacts at all frames, J."""
    numbers = range(len(evidence.model.contacts))
    found = [
        sum(points_at(p, n).stored(len(p)) for n in numbers) + np.zeros(len(p)) for p in evidence.parts()
    ]
    return np.concatenate(found)


def _stops_met(evidence: Evidence) -> bool:
    """Whether an event of a run, which may be joined from several runs, is a stop being reached."""
    model = evidence.model
    stops = {model.block_owner[b] for b in np.flatnonzero(model.arrays["block_unilateral"])}
    return any(event.name in stops for event in evidence.run.events)


def judge_record(evidence: Evidence) -> list[CheckResult]:
    """The recorded energies, kinetic and potential, against the judge's own."""
    return _record(evidence, evidence.every, *energies(evidence, evidence.every))


def _record(evidence: Evidence, frames: np.ndarray, kinetic: Floats, potential: Floats) -> list[CheckResult]:
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    rounding = size + float(np.max(np.abs(potential)))
    worst = Worst()
    for name, mine in (("kinetic", kinetic), ("potential", potential)):
        gaps = np.abs(mine - evidence.sections[name][frames]) / rounding
        worst.meet_all(gaps, f"{name} energy", evidence.time[frames])
    meaning = "recorded energies against the judge's own, relative"
    return [worst.result("energy record", meaning, _RECORD)]


def _balance(evidence: Evidence, total: Floats, size: float, limit: float) -> CheckResult:
    """Energy gained against the work done, over every four steps in which contacts stay as they are.

    Four steps whose energy the frames do not explain are left out if the model explains their motion.
    """
    step, groups = float(evidence.time[1] - evidence.time[0]), slice(None, None, 4)
    calm = np.all(windows(steady(evidence)[: len(total) - 1], 4), axis=1)[groups]
    works, errors = (values[groups] for values in worked(power(evidence)[: len(total)], step))
    apart = (total[4:] - total[:-4])[groups] - works
    if evidence.model.contacts:  # they may ring between frames: errors do not make up for each other
        errors = _RINGING * largest_nearby(np.abs(calm * errors))
    allowed_speed = _APPEALED * limit + Roughness.of(evidence).noise
    for window in np.argsort(-np.abs(calm * apart)).tolist():
        found = _summed(evidence, calm, works, apart, errors, size, limit)
        if found.passed or not calm[window]:
            break
        if not borne_out(evidence, range(4 * window, 4 * window + 4), allowed_speed):
            break
        calm[window] = False
    return found


def _summed(
    evidence: Evidence,
    calm: np.ndarray,
    works: Floats,
    apart: Floats,
    errors: Floats,
    size: float,
    limit: float,
) -> CheckResult:
    """What is left of energies (n,) of windows, added up over those that are calm."""
    left = np.abs(np.cumsum(calm * apart))
    uncertainty = float(np.max(np.abs(np.cumsum(calm * errors))))
    scale = max(size, float(np.max(np.abs(np.cumsum(calm * works)))))
    if uncertainty > 100.0 * limit * scale:
        reason = f"the frames are too far apart: they determine the work to {uncertainty / scale:.1e} only"
        return CheckResult("energy", _ENERGY, None, limit, reason)
    allowed = limit + 2.0 * uncertainty / scale
    worst = int(np.argmax(left))
    meaning, time = _ENERGY, float(evidence.time[4 * (worst + 1)])
    if uncertainty > 0.1 * limit * scale:
        meaning += f"; the work is known to {uncertainty / scale:.1e} from these frames"
    if not calm.all():
        left_out = f"{np.mean(~calm):.0%} of the run"
        meaning += f"; without {left_out}, where forces jump or frames are too far apart"
    return CheckResult("energy", meaning, float(left[worst]) / scale, allowed, time=time)


def energies(evidence: Evidence, frames: np.ndarray) -> tuple[Floats, Floats]:
    """Kinetic and potential energy (n,) at frames."""
    found = [_energies(part) for part in evidence.parts(frames)]
    kinetic, potential = (np.concatenate(values) for values in zip(*found, strict=True))
    return kinetic, potential


def _energies(part: Frames) -> tuple[Floats, Floats]:
    model, at = part.model, part.at
    spin = np.einsum("nbji,nbj->nbi", at.turn[:, :-1], at.spin[:, :-1])
    turning = np.einsum("nbi,bij,nbj->n", spin, model.inertia, spin, optimize=True)
    kinetic = 0.5 * (np.sum(at.com_velocity**2, axis=2) @ model.mass + turning)
    for block in np.flatnonzero(model.arrays["block_compliance"] > 0.0).tolist():
        kinetic += _rotor_energy(part, block)
    return kinetic, -(at.com @ model.gravity) @ model.mass + stored_energies(part).sum(axis=1)


def _rotor_energy(part: Frames, block: int) -> Floats:
    arrays = part.model.arrays
    (row,) = range(*arrays["block_row_start"][block : block + 2].tolist())
    term = int(arrays["row_term_start"][row])
    turning = part.coordinate(int(arrays["term_coordinate"][term]))
    rate = arrays["term_coefficient"][term] * turning.rate
    return np.asarray(0.5 * rate**2 / arrays["block_compliance"][block])


def power(evidence: Evidence) -> Floats:
    """Power (T,) of drives, wrenches, and of force laws as far as no potential accounts for it."""
    return np.concatenate([_power(part) for part in evidence.parts()])


def _power(part: Frames) -> Floats:
    model = part.model
    values, multipliers = np.zeros(len(part)), part.section("multipliers")
    for number, multiplier in enumerate(model.multipliers):
        if multiplier.kind == "drive":
            effort = multiplier.sign * multipliers[:, number]
            values += effort * part.coordinate(multiplier.coordinate).rate
    for law in range(len(model.arrays["law_kind"])):
        loss = law_effort(part, law) - law_effort(part, law, conservative=True)
        values += loss * part.coordinate(int(model.arrays["law_coordinate"][law])).rate
    exerted = Loads(part.at)
    for wrench in range(len(model.arrays["wrench_body"])):
        exerted.add(*wrench_at(part, wrench))
    for damping in dampings(model):
        exerted.add(*damping_at(part, damping))
    for number in range(len(model.contacts)):
        add_contact(part, number, exerted, recorded=False)
    for number, multiplier in enumerate(model.multipliers):
        if multiplier.kind == "constraint" and not _has_terms(model, multiplier.row):
            add_row(part, multiplier.row, multipliers[:, number], exerted)
    for record in written_forces(model):
        kind: Any = record.lowered.custom
        if kind.potential is None:
            add_formula_force(part, record, exerted)
        else:  # what a potential gains by time alone
            values += _gained_by_time(part, record)
    return np.asarray(values + exerted.power())


def _has_terms(model: Model, row: int) -> bool:
    begin, end = model.arrays["row_term_start"][row : row + 2]
    return bool(end > begin)


def _gained_by_time(part: Frames, record: CustomRecord) -> Floats:
    kind: Any = record.lowered.custom
    return np.array([time_slope([kind.potential], known)[0] for known in known_at(part, record)])


def judge_momentum(evidence: Evidence, limit: float) -> list[CheckResult]:
    """Momentum of free parts: gravity alone changes the linear one, nothing the angular one about the com."""
    results = []
    for bodies in _free_parts(evidence):
        linear, angular, size, angular_size = _momenta(evidence, bodies)
        mass = float(evidence.model.mass[bodies].sum())
        expected = linear[0] + mass * np.outer(evidence.time - evidence.time[0], evidence.model.gravity)
        name = ", ".join(repr(evidence.model.bodies[b]) for b in bodies[:3]) + (
            ", ..." if len(bodies) > 3 else ""
        )
        for what, history, target, scale in (
            ("momentum", linear, expected, size),
            ("angular momentum", angular, angular[:1], angular_size),
        ):
            error = float(np.max(np.abs(history - target))) / (scale + 1e-300)
            results.append(
                CheckResult(what, "change that nothing causes, relative", error, limit, f"bodies {name}")
            )
    return results


def _free_parts(evidence: Evidence) -> list[list[int]]:
    """Groups of bodies that act on each other only, gravity apart."""
    model = evidence.model
    arrays, ground = model.arrays, model.ground
    used = np.concatenate([arrays["law_coordinate"], arrays["term_coordinate"]])
    links = model.coordinate_bodies[np.unique(used)].tolist()
    held = [body for link in links if ground in link for body in link]
    held += [model.body_number(damping.marker.body) for damping in dampings(model)]
    held += [body for contact in model.contacts for body in contact.bodies]
    for record in (*evidence.formulas.forces, *evidence.formulas.constraints):
        for end in record.ends:  # formulas may say anything of where things are in the world
            held += (
                model.coordinate_bodies[end].tolist()
                if isinstance(end, int)
                else [model.body_index[end.body]]
            )
    groups, held = groups_of(model), [*held, *arrays["wrench_body"].tolist()]
    bound = {int(groups[body]) for body in held if body < ground}
    listed = [np.flatnonzero(groups == number).tolist() for number in range(int(groups.max(initial=-1)) + 1)]
    return [bodies for number, bodies in enumerate(listed) if number not in bound]


def _momenta(evidence: Evidence, bodies: list[int]) -> tuple[Floats, Floats, float, float]:
    """Linear and angular momentum (T, 3) about the common com, and the sizes of their parts."""
    model, count = evidence.model, len(evidence.time)
    linear, angular, size, angular_size = np.zeros((count, 3)), np.zeros((count, 3)), 0.0, 0.0
    mass = model.mass[bodies, None]
    for part in evidence.parts():
        at, frames = part.at, part.numbers
        com, spin = at.com[:, bodies], at.spin[:, bodies]
        momenta = mass * at.com_velocity[:, bodies]
        centre = np.sum(mass * com, axis=1, keepdims=True) / mass.sum()
        centre_velocity = momenta.sum(axis=1, keepdims=True) / mass.sum()
        own = np.einsum("nbij,nbj->nbi", at.inertia[:, bodies], spin)
        orbital = np.cross(com - centre, momenta - mass * centre_velocity)
        linear[frames], angular[frames] = momenta.sum(axis=1), (own + orbital).sum(axis=1)
        size = max(size, float(np.abs(momenta).sum(axis=(1, 2)).max()))
        sizes = np.abs(own).sum(axis=(1, 2)) + np.abs(orbital).sum(axis=(1, 2))
        angular_size = max(angular_size, float(sizes.max()))
    return linear, angular, size, angular_size
