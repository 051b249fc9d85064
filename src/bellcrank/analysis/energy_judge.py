"""Judges of conserved quantities: energy against the work done, momentum of what floats freely."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.analysis.contact_judge import points_at, steady
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.formula_judge import time_slope
from bellcrank.analysis.ledger_judge import judge_balance_of_works, judge_works
from bellcrank.analysis.loads import (
    Loads,
    add_contact,
    add_formula_force,
    add_row,
    damping_at,
    dampings,
    law_effort,
    stored_energies,
    wrench_at,
    written_forces,
)
from bellcrank.analysis.quadrature import largest_nearby, windows, worked
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.model import Model
from bellcrank.assembly.records import CustomRecord
from bellcrank.assembly.state import Floats

_ENERGY = "energy gained less work done, relative to the energy in play"
_RECORD = 1e-9
_ROUNDING = 1e-9  # of the potential energy
_RINGING = 5.0  # times the largest error found nearby, which motions between frames may have
_EVALUATIONS = 400_000  # frames times laws, beyond which the work is not added up in Python


def judge_energy(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The judge's own sums of energy: as recorded, and balanced by the work of what has no potential."""
    if evidence.run.layout.works:
        return _by_ledger(evidence, limit)
    count = len(evidence.time)
    laws = len(evidence.model.arrays["law_kind"])
    if count * max(laws, 1) > _EVALUATIONS:
        reason = "too many frames or forces to add up here"
        return [*judge_record(evidence), CheckResult("energy", _ENERGY, None, limit, reason)]
    every = list(range(count))
    kinetic, potential = energies(evidence, every)
    size = _in_play(kinetic, potential)
    results = _record(evidence, every, kinetic, potential)
    if evidence.run.statistics.get("impacts", 0) or _stops_met(evidence):
        reason = "impacts take energy that is not recorded"
        return [*results, CheckResult("energy", _ENERGY, None, limit, reason)]
    step = np.diff(evidence.time)
    if count < 9 or np.max(np.abs(step[:-1] - step[0])) > 1e-6 * step[0]:
        return [
            *results,
            CheckResult("energy", _ENERGY, None, limit, "it takes 9 evenly spaced frames or more"),
        ]
    stored = contact_energies(evidence, every)  # the whole power of contacts is counted as work
    return [*results, _balance(evidence, kinetic + potential - stored, size, limit)]


def _by_ledger(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The balance of a run that has added up works, whatever its frames resolve."""
    size = _in_play(evidence.sections["kinetic"], evidence.sections["potential"])
    works = judge_works(evidence, size, limit)
    return [*judge_record(evidence), judge_balance_of_works(evidence, size, limit), works]


def _in_play(kinetic: Floats, potential: Floats) -> float:
    """The scale of energies (T,) in a run; constant ones are exact to rounding."""
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    return max(size, _ROUNDING * float(np.max(np.abs(potential))))


def contact_energies(evidence: Evidence, frames: list[int]) -> Floats:
    """Elastic energy (n,) of contacts at frames, J."""
    return np.array(
        [sum(points_at(evidence, f, n).stored() for n in range(len(evidence.model.contacts))) for f in frames]
    )


def _stops_met(evidence: Evidence) -> bool:
    """Whether an event of a run, which may be joined from several runs, is a stop being reached."""
    model = evidence.model
    stops = {model.block_owner[b] for b in np.flatnonzero(model.arrays["block_unilateral"])}
    return any(event.name in stops for event in evidence.run.events)


def judge_record(evidence: Evidence) -> list[CheckResult]:
    """The recorded energies, kinetic and potential, against the judge's own."""
    return _record(evidence, evidence.frames, *energies(evidence, evidence.frames))


def _record(evidence: Evidence, frames: list[int], kinetic: Floats, potential: Floats) -> list[CheckResult]:
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    rounding = size + float(np.max(np.abs(potential)))
    worst = Worst()
    for name, mine in (("kinetic", kinetic), ("potential", potential)):
        gaps = np.abs(mine - evidence.sections[name][frames]) / rounding
        frame = frames[int(np.argmax(gaps))]
        worst.meet(np.max(gaps), f"{name} energy", float(evidence.time[frame]))
    meaning = "recorded energies against the judge's own, relative"
    return [worst.result("energy record", meaning, _RECORD)]


def _balance(evidence: Evidence, total: Floats, size: float, limit: float) -> CheckResult:
    """Energy gained against the work done, over every four steps in which contacts stay as they are."""
    step, groups = float(evidence.time[1] - evidence.time[0]), slice(None, None, 4)
    calm = np.all(windows(steady(evidence), 4), axis=1)
    works, errors = worked(power(evidence), step)
    gains = total[4:] - total[:-4]
    work = np.cumsum((calm * works)[groups])
    left = np.abs(np.cumsum((calm * (gains - works))[groups]))
    if evidence.model.contacts:  # they may ring between frames: errors do not make up for each other
        errors = _RINGING * largest_nearby(np.abs(calm * errors))
    uncertainty = float(np.max(np.abs(np.cumsum((calm * errors)[groups]))))
    scale = max(size, float(np.max(np.abs(work))))
    if uncertainty > 100.0 * limit * scale:
        reason = f"the frames are too far apart: they determine the work to {uncertainty / scale:.1e} only"
        return CheckResult("energy", _ENERGY, None, limit, reason)
    allowed = limit + 2.0 * uncertainty / scale
    worst = int(np.argmax(left))
    meaning, time = _ENERGY, float(evidence.time[4 * (worst + 1)])
    if uncertainty > 0.1 * limit * scale:
        meaning += f"; the work is known to {uncertainty / scale:.1e} from these frames"
    if not calm[groups].all():
        meaning += f"; without {np.mean(~calm[groups]):.0%} of the run, where contacts change"
    return CheckResult("energy", meaning, float(left[worst]) / scale, allowed, time=time)


def energies(evidence: Evidence, frames: list[int]) -> tuple[Floats, Floats]:
    """Kinetic and potential energy (n,) at frames."""
    model = evidence.model
    kinetic, potential = np.zeros(len(frames)), np.zeros(len(frames))
    for part, at in evidence.motions(frames):
        spin = np.einsum("nbji,nbj->nbi", at.turn[:, :-1], at.spin[:, :-1])
        turning = np.einsum("nbi,bij,nbj->n", spin, model.inertia, spin, optimize=True)
        kinetic[part] = 0.5 * (np.sum(at.com_velocity**2, axis=2) @ model.mass + turning)
        potential[part] = -(at.com @ model.gravity) @ model.mass
    if evidence.potentials:
        potential += [stored_energies(evidence, frame).sum() for frame in frames]
    rotors = np.flatnonzero(model.arrays["block_compliance"] > 0.0).tolist()
    for block in rotors:
        kinetic += [_rotor_energy(evidence, block, frame) for frame in frames]
    return kinetic, potential


def _rotor_energy(evidence: Evidence, block: int, frame: int) -> float:
    arrays = evidence.model.arrays
    (row,) = range(*arrays["block_row_start"][block : block + 2].tolist())
    term = int(arrays["row_term_start"][row])
    turning = evidence.coordinate(int(arrays["term_coordinate"][term]), frame)
    rate = arrays["term_coefficient"][term] * turning.rate
    return float(0.5 * rate**2 / arrays["block_compliance"][block])


def power(evidence: Evidence) -> Floats:
    """Power (T,) of drives, wrenches, and of force laws as far as no potential accounts for it."""
    model = evidence.model
    values = np.zeros(len(evidence.time))
    driven = [(k, m) for k, m in enumerate(model.multipliers) if m.kind == "drive"]
    laws = range(len(model.arrays["law_kind"]))
    wrenches = range(len(model.arrays["wrench_body"]))
    damped = dampings(model)
    written = written_forces(model)
    equations = [
        (k, m)
        for k, m in enumerate(model.multipliers)
        if m.kind == "constraint" and not _has_terms(model, m.row)
    ]
    contacts = range(len(model.contacts))
    if not (driven or laws or wrenches or damped or written or equations or contacts):
        return values
    for frame in range(len(values)):
        at = evidence.at(frame)
        for number, multiplier in driven:
            effort = multiplier.sign * float(evidence.sections["multipliers"][frame, number])
            values[frame] += effort * evidence.coordinate(multiplier.coordinate, frame).rate
        for law in laws:
            loss = law_effort(evidence, law, frame) - law_effort(evidence, law, frame, conservative=True)
            values[frame] += loss * evidence.coordinate(int(model.arrays["law_coordinate"][law]), frame).rate
        acting = [wrench_at(model, at, wrench) for wrench in wrenches]
        acting += [damping_at(model, at, damping) for damping in damped]
        for body, force, moment, point in acting:
            speed = at.velocity[body] + np.cross(at.spin[body], point - at.position[body])
            values[frame] += float(force @ speed + moment @ at.spin[body])
        for number in contacts:
            exerted = Loads(at)
            add_contact(evidence, frame, number, exerted, recorded=False)
            values[frame] += exerted.power()
        for record in written:
            values[frame] += _formula_power(evidence, frame, record)
        for number, multiplier in equations:
            exerted = Loads(at)
            load = float(evidence.sections["multipliers"][frame, number])
            add_row(evidence, frame, multiplier.row, load, exerted)
            values[frame] += exerted.power()
    return values


def _has_terms(model: Model, row: int) -> bool:
    begin, end = model.arrays["row_term_start"][row : row + 2]
    return bool(end > begin)


def _formula_power(evidence: Evidence, frame: int, record: CustomRecord) -> float:
    """What a force given by formulas brings in: of a potential what it gains by time alone."""
    kind: Any = record.lowered.custom
    if kind.potential is not None:
        known = evidence.formulas.numbers(record, evidence.at(frame), lambda c: evidence.motion(c, frame))
        return float(time_slope([kind.potential], known)[0])
    exerted = Loads(evidence.at(frame))
    add_formula_force(evidence, frame, record, exerted)
    return exerted.power()


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
    links = model.coordinate_bodies[np.unique(used)]
    leader = np.arange(ground + 1)
    changed = True
    while changed:  # every link takes the lesser of its ends' numbers, until nothing changes
        lower = np.min(leader[links], axis=1, initial=ground) if len(links) else np.zeros(0, dtype=int)
        before = leader.copy()
        for end in range(2 if len(links) else 0):
            np.minimum.at(leader, links[:, end], lower)
        leader = leader[leader]
        changed = bool(np.any(leader != before))
    pushed = [model.body_number(damping.marker.body) for damping in dampings(model)]
    pushed += [body for contact in model.contacts for body in contact.bodies]
    for record in (*evidence.formulas.forces, *evidence.formulas.constraints):
        for end in record.ends:  # formulas may say anything of where things are in the world
            pushed += (
                model.coordinate_bodies[end].tolist()
                if isinstance(end, int)
                else [model.body_index[end.body]]
            )
    held = {int(leader[ground]), *leader[[*arrays["wrench_body"].tolist(), *pushed]].tolist()}
    groups: dict[int, list[int]] = {}
    for body in range(ground):
        groups.setdefault(int(leader[body]), []).append(body)
    return [bodies for first, bodies in groups.items() if first not in held]


def _momenta(evidence: Evidence, bodies: list[int]) -> tuple[Floats, Floats, float, float]:
    """Linear and angular momentum (T, 3) about the common com, and the sizes of their parts."""
    model, count = evidence.model, len(evidence.time)
    linear, angular, size, angular_size = np.zeros((count, 3)), np.zeros((count, 3)), 0.0, 0.0
    mass, inertia = model.mass[bodies, None], model.inertia[bodies]
    for part, at in evidence.motions(range(count)):
        com, spin, turn = at.com[:, bodies], at.spin[:, bodies], at.turn[:, bodies]
        momenta = mass * at.com_velocity[:, bodies]
        centre = np.sum(mass * com, axis=1, keepdims=True) / mass.sum()
        centre_velocity = momenta.sum(axis=1, keepdims=True) / mass.sum()
        own = np.einsum("nbij,bjk,nblk,nbl->nbi", turn, inertia, turn, spin, optimize=True)
        orbital = np.cross(com - centre, momenta - mass * centre_velocity)
        linear[part], angular[part] = momenta.sum(axis=1), (own + orbital).sum(axis=1)
        size = max(size, float(np.abs(momenta).sum(axis=(1, 2)).max()))
        sizes = np.abs(own).sum(axis=(1, 2)) + np.abs(orbital).sum(axis=(1, 2))
        angular_size = max(angular_size, float(sizes.max()))
    return linear, angular, size, angular_size
