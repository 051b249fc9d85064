"""Judges of energy and momentum: gains against the work done, works against powers, what floats freely."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.compile.state import Floats
from bellcrank.trajectory.energy_balance import IMPACTS, MOVES, force_account
from bellcrank.verification.contacts import points_at
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.intervals import Calm, Roughness, bodies_at, broken_intervals, groups_of, steady
from bellcrank.verification.loads import (
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
from bellcrank.verification.reintegration import borne_out
from bellcrank.verification.snapshot import time_slope
from bellcrank.verification.verdict import CheckResult, Worst

_STILL = 1e-6  # 1/m, of the fastest motion: turns as slow are rounding of what flies without turning
_ENERGY = "energy gained less work done, relative to the energy in play"
_RECORD = 1e-9
_ROUNDING = 1e-9  # of the potential energy
_PLACES = 1e-15  # of what places are measured in
_APPEALED = 1e-2  # of the limit, in speeds: by as much a motion may differ that explains energies or works
_ABSOLUTE = 50.0  # times the absolute tolerance: the errors of speeds that a run adds up
_RINGING = 5.0  # times the largest error found nearby, which motions between frames may have
_WORKS = (
    "works of forces against the integrals of their recorded powers, beyond what frames resolve, relative"
)
_UNRESOLVED = 5.0  # times the error of such an integral, which motions between frames may add
_OF_EACH = 30.0  # times the limit: what works may be off by, relative to those of their own force
_SUSPECTS = 32  # windows that may be explained
_LEAST = 1e-2  # of the energies: works that are less are judged by this scale
_LEAST_RINGING = 1.0  # the same where something touches, and rings between frames


def judge_energy(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The judge's own sums of energy: as recorded, and balanced by the work of what has no potential.

    limit: of what is off, or more where motions are so slow that the absolute tolerance of the run matters.
    """
    if evidence.run.layout.works:
        return _by_ledger(evidence, limit)
    every = evidence.every
    if len(every) < len(evidence.time):
        reason = "too many frames or forces to add up here"
        return [*judge_record(evidence), CheckResult("energy", _ENERGY, None, limit, reason)]
    kinetic, potential = energies(evidence, every)
    size = max(in_play(kinetic, potential), evidence.energy)
    results = judge_record(evidence, (kinetic, potential))
    hits = evidence.run.statistics.get("impacts", 0)  # of the last run only, where several were joined
    if hits or any(event.name in evidence.model.stops for event in evidence.run.events):
        reason = "impacts take energy that is not recorded"
        return [*results, CheckResult("energy", _ENERGY, None, limit, reason)]
    count = _even(evidence.time)
    if count < 9:
        reason = "it takes 9 evenly spaced frames or more"
        return [*results, CheckResult("energy", _ENERGY, None, limit, reason)]
    limit = max(limit, _slow(evidence, size))
    stored = contact_energies(evidence)  # the whole power of contacts is counted as work
    return [*results, _balance(evidence, (kinetic + potential - stored)[:count], size, limit)]


def _by_ledger(evidence: Evidence, limit: float) -> list[CheckResult]:
    """The balance of a run that has added up works, whatever its frames resolve."""
    size = max(in_play(evidence.sections["kinetic"], evidence.sections["potential"]), evidence.energy)
    limit = max(limit, _slow(evidence, size))
    works = _judge_works(evidence, size, limit)
    balance = _judge_balance_of_works(evidence, size, limit)
    return [*judge_record(evidence), _judge_beginning(evidence), _judge_idle(evidence), balance, works]


def in_play(kinetic: Floats, potential: Floats) -> float:
    """The scale of energies (T,) in a run; constant ones are exact to rounding."""
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    return max(size, _ROUNDING * float(np.max(np.abs(potential))))


def _slow(evidence: Evidence, size: float) -> float:
    """What the absolute tolerance of a run, and the rounding of places, make of energies of this size.

    The tolerance is that of speeds in SI units. Where nothing moves, forces do their work on rounding.
    """
    tolerance = float(evidence.run.statistics.get("tolerance", 0.0))
    speeds = (evidence.sections[name] for name in ("velocity", "angular_velocity"))
    fast, spin = (np.max(np.linalg.norm(values, axis=2), axis=0) for values in speeds)
    inertia = np.linalg.eigvalsh(evidence.model.inertia)[:, -1]
    by_speeds = _ABSOLUTE * tolerance * float(np.sum(evidence.model.mass * fast + inertia * spin))
    efforts = np.max(np.abs(evidence.sections["force_efforts"]), axis=0, initial=0.0).sum()
    efforts += evidence.model.mass.sum() * np.linalg.norm(evidence.model.gravity)
    reach = max(1.0, float(np.max(np.abs(evidence.sections["position"]), initial=0.0)))
    return (by_speeds + _PLACES * float(efforts) * reach) / size


def contact_energies(evidence: Evidence) -> Floats:
    """Elastic energy (T,) of contacts at all frames, J."""
    numbers = range(len(evidence.model.contacts))
    found = [
        sum(points_at(p, n).stored(len(p)) for n in numbers) + np.zeros(len(p)) for p in evidence.parts()
    ]
    return np.concatenate(found)


def judge_record(evidence: Evidence, found: tuple[Floats, Floats] | None = None) -> list[CheckResult]:
    """The recorded energies, kinetic and potential, against the judge's own. found: these, if known."""
    frames, worst = evidence.every, Worst()
    kinetic, potential = energies(evidence, frames) if found is None else found
    size = float(np.max(np.abs(kinetic)) + np.max(np.abs(potential - potential[0]))) + 1e-12
    rounding = size + float(np.max(np.abs(potential)))
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
    calm = np.all(sliding_window_view(steady(evidence)[: len(total) - 1], 4), axis=1)[groups]
    works, errors = (values[groups] for values in _worked(power(evidence)[: len(total)], step))
    apart = (total[4:] - total[:-4])[groups] - works
    if evidence.model.contacts:  # they may ring between frames: errors do not make up for each other
        errors = _RINGING * _largest_nearby(np.abs(calm * errors))
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
    (row,) = part.model.rows_of(block)
    turning, factor = part.model.terms(row)[0]
    rate = factor * part.coordinate(turning).rate
    return np.asarray(0.5 * rate**2 / part.model.arrays["block_compliance"][block])


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
        if multiplier.kind == "constraint" and not model.terms(multiplier.row):
            add_row(part, multiplier.row, multipliers[:, number], exerted)
    for record in written_forces(model):
        kind: Any = record.lowered.custom
        if kind.potential is None:
            add_formula_force(part, record, exerted)
        else:  # what a potential gains by time alone
            values += [time_slope([kind.potential], known)[0] for known in known_at(part, record)]
    return np.asarray(values + exerted.power())


def judge_momentum(evidence: Evidence, limit: float) -> list[CheckResult]:
    """Momentum of free parts: gravity alone changes the linear one, nothing the angular one about the com."""
    results = []
    for bodies in _free_parts(evidence):
        linear, angular, size, angular_size = _momenta(evidence, bodies)
        mass = float(evidence.model.mass[bodies].sum())
        expected = linear[0] + mass * np.outer(evidence.time - evidence.time[0], evidence.model.gravity)
        names = [repr(evidence.model.bodies[b]) for b in bodies]
        where = "bodies " + ", ".join([*names[:3], *(["..."] if len(names) > 3 else [])])
        for what, history, target, scale in (
            ("momentum", linear, expected, size),
            ("angular momentum", angular, angular[:1], angular_size),
        ):
            error = float(np.max(np.abs(history - target))) / (scale + 1e-300)
            meaning = "change that nothing causes, relative"
            results.append(CheckResult(what, meaning, error, limit, where))
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
        held += bodies_at(model, record)  # formulas may say anything of where things are in the world
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
        still = _STILL * float(np.abs(at.inertia[:, bodies]).sum(axis=(1, 2, 3)).max() * at.fastest.max())
        angular_size = max(angular_size, float(sizes.max()), still)
    return linear, angular, size, angular_size


def _judge_balance_of_works(evidence: Evidence, size: float, limit: float) -> CheckResult:
    """The gain of energy less the recorded work. size: scale of the energies, J."""
    balance = evidence.run.energy_balance()
    scale = max(size, balance.exchanged)
    worst = int(np.argmax(np.abs(balance.residual)))
    meaning = "energy gained less the works that were added up, relative to the energy in play"
    value = float(np.abs(balance.residual[worst])) / scale
    return CheckResult("energy", meaning, value, limit, time=float(evidence.time[worst]))


def _judge_beginning(evidence: Evidence) -> CheckResult:
    """Works are counted from the start of a run on."""
    meaning = "works in the first frame, J"
    run, worst = evidence.run, Worst()
    begins = abs(evidence.time[0] - evidence.model.initial.time) <= 1e-9 * (1.0 + abs(evidence.time[0]))
    if "part" in run.statistics or not (begins or "started_from" in run.statistics):
        return CheckResult("works: start", meaning, None, 0.0, "the run does not begin with its first frame")
    works = np.abs(evidence.sections["works"][0])
    worst.meet(works, lambda k: run.layout.element("works", k), float(evidence.time[0]))
    return worst.result("works: start", meaning, 0.0)


def _judge_idle(evidence: Evidence) -> CheckResult:
    """Works of states that were set, and of impacts, change only where the run records such."""
    meaning = "works of impacts and of states set, changed where there was none, J"
    model, worst, works = evidence.model, Worst(), evidence.sections["works"]
    hit = np.full(len(evidence.time) - 1, bool(model.stops) and not evidence.locates_events)
    for event in evidence.run.events:
        if event.name in model.stops:
            hit[evidence.intervals_at(event.time)] = True
    for account, happened in ((MOVES, broken_intervals(evidence)), (IMPACTS, hit)):
        column = evidence.run.layout.works.index(account)
        changed = np.where(happened, 0.0, np.abs(np.diff(works[:, column])))
        worst.meet_all(changed, account, evidence.time[1:])
    return worst.result("works: idle", meaning, 0.0)


def _judge_works(evidence: Evidence, size: float, limit: float) -> CheckResult:
    """The work of forces over every four steps between frames, against the powers recorded there."""
    run, time = evidence.run, evidence.time
    steps, count = np.diff(time), _even(time)
    if count < 9:
        return CheckResult("works", _WORKS, None, limit, "it takes 9 evenly spaced frames or more")
    calm, worst = np.all(sliding_window_view(steady(evidence)[: count - 1], 4), axis=1), Worst()
    smooth = np.all(sliding_window_view(evidence.once(Calm).smooth[: count - 1], 4), axis=1)
    histories: list[tuple[str, Any]] = [(force_account(name), run.force(name)) for name in run.forces]
    if not evidence.model.stops:  # impacts act on drives as well
        known = {m.element for m in run.layout.multipliers if m.kind == "drive" and m.coordinate is not None}
        histories += [(f"drive {name!r}", run.drive(name)) for name in run.drives if name in known]
    rings = any(not contact.of_tyre for contact in evidence.model.contacts)
    touching = {force_account(contact.name) for contact in evidence.model.contacts}
    allowed = _APPEALED * limit + Roughness.of(evidence).noise
    for account, history in histories:
        if account in run.layout.works:
            kept = calm if run.contacts else smooth  # powers have kinks where contacts change
            least = (_LEAST_RINGING if rings or account in touching else _LEAST) * size
            work, power, step = history.work[:count], history.power[:count], float(steps[0])
            gained = account, work, limit * max(float(np.max(np.abs(work))), least)
            strange = np.abs(work[4:] - work[:-4] - _worked(power, step)[0])
            left, end = _left(work, power, step, kept, least, rings)
            for window in np.argsort(-strange)[:_SUSPECTS].tolist():
                # What powers at frames do not explain the motion of the model may.
                if left <= limit or not borne_out(evidence, range(window, window + 4), allowed, gained):
                    break
                kept = kept & (np.arange(len(kept)) != window)
                left, end = _left(work, power, step, kept, least, rings)
            worst.meet(left, account, float(time[end]))
    return worst.result("works", _WORKS, limit)


def _left(
    work: Floats, power: Floats, step: float, kept: np.ndarray, least: float, rings: bool
) -> tuple[float, int]:
    """How far works (T,) are off, by four steps and all together, and the frame at which they are.

    kept: (T - 4,), whether to judge the four steps from each frame on. least: scale of the works at least, J.
    rings: whether something rings between frames, which may look the same at all of them: no sum is known.
    """
    found, errors = _worked(power, step)
    apart = kept * (work[4:] - work[:-4] - found)
    unknown = _UNRESOLVED * _largest_nearby(np.abs(errors))
    beyond = np.maximum(0.0, np.abs(apart) - unknown)
    beyond /= _OF_EACH * max(float(np.max(np.abs(found))), least)
    one = int(np.argmax(beyond))
    if rings:
        return float(beyond[one]), one + 4
    # What frames do not show differs in sign from one to the next: it adds up as a random walk does.
    gone, walked = np.cumsum(apart[::4]), np.sqrt(np.cumsum((kept * unknown)[::4] ** 2))
    drifted = np.maximum(0.0, np.abs(gone) - walked)
    drifted /= _OF_EACH * max(float(np.max(np.abs(work))), least)
    all_together = int(np.argmax(drifted))
    if beyond[one] >= drifted[all_together]:
        return float(beyond[one]), one + 4
    return float(drifted[all_together]), 4 * all_together + 4


def _even(time: Floats) -> int:
    """How many frames from the first on are evenly spaced: a run that ends at an event may have one more."""
    steps = np.diff(time)
    apart = (
        np.flatnonzero(np.abs(steps - steps[0]) > 1e-6 * steps[0]) if len(steps) else np.zeros(0, dtype=int)
    )
    count = len(time) if not len(apart) else int(apart[0]) + 1
    return count if count >= len(time) - 1 else 0


def _worked(values: Floats, step: float) -> tuple[Floats, Floats]:
    """Integrals (T - 4,) of power (T,) over the four steps from each frame, by Simpson's rule; their errors.

    An error is half the difference from the integral by doubled steps, not a fifteenth: power may have
    kinks, where a drive's acceleration jumps.
    """
    found = sliding_window_view(values, 5)
    fine, double = np.array([1.0, 4.0, 2.0, 4.0, 1.0]) / 3.0, np.array([2.0, 0.0, 8.0, 0.0, 2.0]) / 3.0
    return step * (found @ fine), 0.5 * step * (found @ (fine - double))


def _largest_nearby(values: Floats) -> Floats:
    """The largest of each value and of two on either side (n,)."""
    return np.asarray(np.max(sliding_window_view(np.pad(values, 2), 5), axis=1))
