"""Judges of forces: Newton's and Euler's equations with the recorded reactions; ideal joints."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.contact_judge import is_rigid
from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import Loads, acting, add_force, stored_energies
from bellcrank.analysis.stiff_rounding import force_sizes
from bellcrank.analysis.verdict import CheckResult, Worst
from bellcrank.assembly.state import Floats

_BALANCE = "force or moment left over, relative to those that act"
_EXACT = 1e-8
_STANDING = 1e-9
"""The largest speed in a mechanism, m/s or rad/s, below which it stands still."""
_STANDING_RIGID = 1e-3
"""The same in steps by impulses: these are found relative to the speeds that weights make in a step."""


def judge_balance(evidence: Evidence) -> list[CheckResult]:
    """M a = sum of all forces, body by body, each as it was recorded or follows from the description."""
    if not (evidence.has_accelerations and evidence.has_reactions):
        reason = "accelerations and reactions were not recorded"
        return [CheckResult("balance", _BALANCE, None, _EXACT, reason)]
    worst = Worst()
    for frame in evidence.frames:
        force, moment, *scales = left_over(evidence, frame)
        for left, scale in zip((force, moment), scales, strict=True):
            relative = np.linalg.norm(left, axis=1) / with_floor(scale)
            worst.meet(relative, lambda k: f"body {evidence.model.bodies[k]!r}", float(evidence.time[frame]))
    return [worst.result("balance", _BALANCE, _EXACT)]


def judge_forces(evidence: Evidence) -> list[CheckResult]:
    """The recorded efforts and energies of forces, against the description."""
    meaning = "recorded force or moment against the description, relative to those that act"
    if not evidence.run.forces:
        reason = "forces were not recorded"
        return [CheckResult("forces", meaning, None, _EXACT, reason)] if evidence.model.forces else []
    exerted, stored = Worst(), Worst()
    for frame in evidence.frames:
        loads, time = acting(evidence, frame), float(evidence.time[frame])
        floors = [with_floor(size) for size in sizes(evidence, frame, loads)]
        for force in evidence.model.forces:
            told, own = Loads(evidence.at(frame)), Loads(evidence.at(frame))
            add_force(evidence, frame, force, told, recorded=True)
            add_force(evidence, frame, force, own, recorded=False)
            for one, other, scale in zip(
                (told.force, told.moment), (own.force, own.moment), floors, strict=True
            ):
                apart = np.linalg.norm(one[:-1] - other[:-1], axis=1) / scale
                exerted.meet(apart, f"force {force.name!r}", time)
        potentials = stored_energies(evidence, frame)
        apart = np.abs(evidence.sections["force_potentials"][frame] - potentials)
        size = float(np.abs(potentials).sum()) + abs(float(evidence.sections["kinetic"][frame])) + 1e-12
        stored.meet(apart / size, lambda k: evidence.run.layout.element("force_potentials", k), time)
    results = [exerted.result("forces", meaning, _EXACT)]
    if evidence.run.layout.force_potentials:
        meaning = "recorded potential energy of a force against the description, relative"
        results.append(stored.result("forces: energy", meaning, _EXACT))
    return results


def left_over(evidence: Evidence, frame: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Force (nb, 3) and moment (nb, 3) beyond M a at a frame, and the sizes (nb,) of those that act."""
    loads = acting(evidence, frame)
    inertia_force, inertia_moment = _rate_of_momentum(evidence, frame)
    size, moment_size = sizes(evidence, frame, loads)
    size += np.linalg.norm(inertia_force, axis=1)
    moment_size += np.linalg.norm(inertia_moment, axis=1)
    return loads.force[:-1] - inertia_force, loads.moment[:-1] - inertia_moment, size, moment_size


def with_floor(size: Floats) -> Floats:
    """Sizes (nb,) to divide by: values negligible beside the largest count as a millionth of it."""
    return np.asarray(size + 1e-6 * np.max(size, initial=0.0) + 1e-300)


def _rate_of_momentum(evidence: Evidence, frame: int) -> tuple[Floats, Floats]:
    """Per body m a of the com, and the rate of the angular momentum about it, world axes."""
    model, at = evidence.model, evidence.at(frame)
    linear = evidence.sections["acceleration"][frame]
    alpha = evidence.sections["angular_acceleration"][frame]
    spin, arm = at.spin[:-1], at.com - at.position[:-1]
    acceleration = linear + np.cross(alpha, arm) + np.cross(spin, np.cross(spin, arm))
    turn = at.turn[:-1]
    inertia = turn @ model.inertia @ turn.transpose(0, 2, 1)
    momentum = np.einsum("bij,bj->bi", inertia, spin)
    moment = np.einsum("bij,bj->bi", inertia, alpha) + np.cross(spin, momentum)
    return model.mass[:, None] * acceleration, moment


def sizes(evidence: Evidence, frame: int, loads: Loads) -> tuple[Floats, Floats]:
    """Sizes (nb,) of forces and of moments that act, with those that motion of this speed has by itself."""
    model, at = evidence.model, evidence.at(frame)
    spin = np.linalg.norm(at.spin[:-1], axis=1)
    speed = np.linalg.norm(at.com_velocity, axis=1)
    largest = np.max(np.abs(model.inertia), axis=(1, 2))
    floor = model.mass * spin * (speed + 1e-3 * spin)
    rounded, rounded_moment = force_sizes(model)
    return (
        loads.size[:-1] + floor + rounded,
        loads.moment_size[:-1] + largest * spin**2 + rounded_moment,
    )


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
    for frame in evidence.frames:
        at = evidence.at(frame)
        wrenches = evidence.sections["reactions"][frame]
        largest = float(np.max(np.abs(wrenches), initial=0.0))
        for (name, _, pair), wrench in zip(evidence.model.reactions, wrenches, strict=True):
            _, drift, spin = at.relative_motion(pair)
            power = float(wrench[3:] @ drift + wrench[:3] @ spin)
            size = np.linalg.norm(wrench[3:]) + np.linalg.norm(wrench[:3])
            scale = size * (np.linalg.norm(drift) + np.linalg.norm(spin)) + 1e-3 * largest * fastest
            if scale > 0.0:
                found = abs(power) / float(scale)
                worst.meet(found, f"joint {name!r}", float(evidence.time[frame]))
    return [worst.result("ideal joints", meaning, limit)] if evidence.model.reactions else []
