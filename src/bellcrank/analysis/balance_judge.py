"""Judges of forces: Newton's and Euler's equations with the recorded reactions; ideal joints."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.contact_points import is_rigid
from bellcrank.analysis.evidence import Evidence, Frames
from bellcrank.analysis.loads import Loads, acting, add_force, stored_energies
from bellcrank.analysis.state_coordinates import size_of
from bellcrank.analysis.stiff_rounding import force_sizes
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats

_BALANCE = "force or moment left over, relative to those that act"
_EXACT = 1e-8
_STANDING = 1e-9
"""The largest speed in a mechanism, m/s or rad/s, below which it stands still."""
_STANDING_RIGID = 1e-3
"""The same in steps by impulses: these are found relative to the speeds that weights make in a step."""

_LEVER = 1e-6  # of the mechanism's size: arms of forces whose moments do not count


def judge_balance(evidence: Evidence) -> list[CheckResult]:
    """M a = sum of all forces, body by body, each as it was recorded or follows from the description."""
    if not (evidence.has_accelerations and evidence.has_reactions):
        reason = "accelerations and reactions were not recorded"
        return [CheckResult("balance", _BALANCE, None, _EXACT, reason)]
    worst = Worst()
    for part in evidence.parts(evidence.every):
        force, moment, *scales = left_over(part)
        for left, scale in zip((force, moment), scales, strict=True):
            relative = np.linalg.norm(left, axis=2) / with_floor(scale)
            worst.meet_all(relative, lambda k: f"body {evidence.model.bodies[k]!r}", part.time)
    return [worst.result("balance", _BALANCE, _EXACT)]


def judge_forces(evidence: Evidence) -> list[CheckResult]:
    """The recorded efforts and energies of forces, against the description."""
    meaning = "recorded force or moment against the description, relative to those that act"
    if not evidence.run.forces:
        reason = "forces were not recorded"
        return [CheckResult("forces", meaning, None, _EXACT, reason)] if evidence.model.forces else []
    exerted, stored = Worst(), Worst()
    layout = evidence.run.layout
    for part in evidence.parts(evidence.every):
        _compare_forces(part, exerted)
        potentials = stored_energies(part)
        apart = np.abs(part.section("force_potentials") - potentials)
        size = np.abs(potentials).sum(axis=1) + np.abs(part.section("kinetic")) + 1e-12
        stored.meet_all(apart / size[:, None], lambda k: layout.element("force_potentials", k), part.time)
    results = [exerted.result("forces", meaning, _EXACT)]
    if layout.force_potentials:
        meaning = "recorded potential energy of a force against the description, relative"
        results.append(stored.result("forces: energy", meaning, _EXACT))
    return results


def _compare_forces(part: Frames, worst: Worst) -> None:
    """What forces exert on bodies by their recorded efforts, against what they do by the description."""
    floors = [with_floor(size) for size in sizes(part, acting(part))]
    told, own = Loads(part.at), Loads(part.at)
    for force in part.model.forces:
        add_force(part, force, told, recorded=True)
        add_force(part, force, own, recorded=False)
        bodies = sorted((told.touched | own.touched) - {part.model.ground})
        for one, other, scale in zip((told.force, told.moment), (own.force, own.moment), floors, strict=True):
            apart = np.linalg.norm(one[:, bodies] - other[:, bodies], axis=2) / scale[:, bodies]
            worst.meet_all(apart, f"force {force.name!r}", part.time)
        told.clear()
        own.clear()


def left_over(part: Frames) -> tuple[Floats, Floats, Floats, Floats]:
    """Force and moment (n, nb, 3) beyond M a at frames, and the sizes (n, nb) of those that act."""
    loads = acting(part)
    inertia_force, inertia_moment = rate_of_momentum(part)
    size, moment_size = sizes(part, loads)
    size += np.linalg.norm(inertia_force, axis=2)
    moment_size += np.linalg.norm(inertia_moment, axis=2)
    return loads.force[:, :-1] - inertia_force, loads.moment[:, :-1] - inertia_moment, size, moment_size


def with_floor(size: Floats) -> Floats:
    """Sizes (n, nb) to divide by: values negligible beside the largest count as a millionth of it."""
    return np.asarray(size + 1e-6 * np.max(size, axis=-1, keepdims=True, initial=0.0) + 1e-300)


def rate_of_momentum(part: Frames) -> tuple[Floats, Floats]:
    """Per body m a of the com, and the rate of the angular momentum about it (n, nb, 3), world axes."""
    model, at = part.model, part.at
    alpha = part.section("angular_acceleration")
    spin, arm = at.spin[:, :-1], at.com - at.position[:, :-1]
    acceleration = part.section("acceleration") + np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm))
    inertia = at.inertia
    momentum = np.einsum("nbij,nbj->nbi", inertia, spin)
    moment = np.einsum("nbij,nbj->nbi", inertia, alpha) + np.cross(spin, momentum)
    return model.mass[:, None] * acceleration, moment


def sizes(part: Frames, loads: Loads) -> tuple[Floats, Floats]:
    """Sizes (n, nb) of forces and of moments that act, with those that motion of this speed has by itself."""
    model, at = part.model, part.at
    spin = np.linalg.norm(at.spin[:, :-1], axis=2)
    speed = np.linalg.norm(at.com_velocity, axis=2)
    largest = np.max(np.abs(model.inertia), axis=(1, 2))
    floor = model.mass * spin * (speed + 1e-3 * spin)
    rounded, rounded_moment = force_sizes(model)
    force = loads.size[:, :-1] + floor + rounded
    # Where forces meet at the coms no moment acts: what rounding leaves of one is small beside their levers.
    levers = _LEVER * size_of(model, model.initial) * np.max(force, axis=1, keepdims=True, initial=0.0)
    return force, loads.moment_size[:, :-1] + largest * spin**2 + rounded_moment + levers


def judge_reactions(evidence: Evidence) -> list[CheckResult]:
    """Ideal joints: reactions do no work on the relative motion that the joints allow."""
    meaning = "power of a joint's reaction, relative to force times speed"
    if not evidence.has_reactions:
        return [CheckResult("ideal joints", meaning, None, 1e-8, "reactions were not recorded")]
    limit = 1e-5 if is_rigid(evidence) else 1e-8  # impulses leave speeds across joints: their residual
    worst = Worst()
    motion = (evidence.sections[name] for name in ("velocity", "angular_velocity"))
    standing = _STANDING_RIGID if is_rigid(evidence) else _STANDING
    fastest = max(standing, *(float(np.max(np.abs(values))) for values in motion))
    for part in evidence.parts(evidence.every):
        wrenches = part.section("reactions")
        largest = np.max(np.abs(wrenches), axis=(1, 2), initial=0.0)
        for number, (name, _, pair) in enumerate(evidence.model.reactions):
            _, drift, spin = part.at.relative_motion(pair)
            moment, force = wrenches[:, number, :3], wrenches[:, number, 3:]
            power = np.einsum("ni,ni->n", force, drift) + np.einsum("ni,ni->n", moment, spin)
            power = np.abs(power - _power_of_stops(part, name))
            size = np.linalg.norm(force, axis=1) + np.linalg.norm(moment, axis=1)
            speed = np.linalg.norm(drift, axis=1) + np.linalg.norm(spin, axis=1)
            found = power / (size * speed + 1e-3 * largest * fastest + 1e-300)
            worst.meet_all(found, f"joint {name!r}", part.time)
    return [worst.result("ideal joints", meaning, limit)] if evidence.model.reactions else []


def _power_of_stops(part: Frames, joint: str) -> Floats:
    """The power (n,) of the limits of a joint, which its reaction contains."""
    power, multipliers = np.zeros(len(part)), part.section("multipliers")
    for number, multiplier in enumerate(part.model.multipliers):
        if multiplier.kind == "limit" and multiplier.element == joint and np.any(multipliers[:, number]):
            power += multiplier.sign * multipliers[:, number] * part.coordinate(multiplier.coordinate).rate
    return power
