"""Judges of forces: Newton's and Euler's equations with the recorded reactions; ideal joints."""

from __future__ import annotations

import numpy as np

from bellcrank.analysis.evidence import Evidence
from bellcrank.analysis.loads import Loads, add_force, add_reactions, applied
from bellcrank.analysis.verdict import CheckResult
from bellcrank.assembly.state import Floats

_BALANCE = "force or moment left over, relative to those that act"


def judge_balance(evidence: Evidence) -> list[CheckResult]:
    """M a = sum of all forces, body by body, each as it was recorded or follows from the description."""
    if not (evidence.has_accelerations and evidence.has_reactions):
        reason = "accelerations and reactions were not recorded"
        return [CheckResult("balance", _BALANCE, None, 1e-8, reason)]
    worst, where = 0.0, ""
    for frame in evidence.frames:
        force, moment, size, moment_size = left_over(evidence, frame)
        for left, scale in ((force, size), (moment, moment_size)):
            relative = np.linalg.norm(left, axis=1) / (scale + 1e-6 * np.max(scale) + 1e-300)
            body = int(np.argmax(relative))
            if relative[body] > worst:
                worst, where = float(relative[body]), f"body {evidence.model.bodies[body]!r}"
    return [CheckResult("balance", _BALANCE, worst, 1e-8, where)]


def judge_forces(evidence: Evidence) -> list[CheckResult]:
    """What forces exert, as it was recorded, against the description."""
    if not evidence.run.forces or not evidence.has_accelerations:
        return []
    worst, where = 0.0, ""
    for frame in evidence.frames:
        _, _, *sizes = left_over(evidence, frame)
        floors = [size + 1e-6 * np.max(size, initial=0.0) + 1e-300 for size in sizes]
        for force in evidence.model.forces:
            told, own = Loads(evidence.at(frame)), Loads(evidence.at(frame))
            add_force(evidence, frame, force, told, recorded=True)
            add_force(evidence, frame, force, own, recorded=False)
            for one, other, scale in zip(
                (told.force, told.moment), (own.force, own.moment), floors, strict=True
            ):
                apart = np.linalg.norm(one[:-1] - other[:-1], axis=1) / scale
                if np.max(apart, initial=0.0) > worst:
                    worst, where = float(np.max(apart)), f"force {force.name!r}"
    meaning = "recorded force or moment against the description, relative to those that act"
    return [CheckResult("forces", meaning, worst, 1e-8, where)]


def left_over(evidence: Evidence, frame: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Force (nb, 3) and moment (nb, 3) beyond M a at a frame, and the sizes (nb,) of those that act."""
    loads = applied(evidence, frame)
    add_reactions(evidence, frame, loads)
    inertia_force, inertia_moment = _rate_of_momentum(evidence, frame)
    floor, moment_floor = _floors(evidence, frame)
    size = loads.size[:-1] + np.linalg.norm(inertia_force, axis=1) + floor
    moment_size = loads.moment_size[:-1] + np.linalg.norm(inertia_moment, axis=1) + moment_floor
    return loads.force[:-1] - inertia_force, loads.moment[:-1] - inertia_moment, size, moment_size


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


def _floors(evidence: Evidence, frame: int) -> tuple[Floats, Floats]:
    """Forces and moments of the size that motion of this speed has, for bodies on which nothing acts."""
    model, at = evidence.model, evidence.at(frame)
    spin = np.linalg.norm(at.spin[:-1], axis=1)
    speed = np.linalg.norm(at.com_velocity, axis=1)
    largest = np.max(np.abs(model.inertia), axis=(1, 2))
    return model.mass * spin * (speed + 1e-3 * spin), largest * spin**2


def judge_reactions(evidence: Evidence) -> list[CheckResult]:
    """Ideal joints: their reactions do no work on the relative motion that they allow."""
    meaning = "power of a joint's reaction, relative to force times speed"
    if not evidence.has_reactions:
        return [CheckResult("ideal joints", meaning, None, 1e-8, "reactions were not recorded")]
    worst, where = 0.0, ""
    motion = (evidence.sections[name] for name in ("velocity", "angular_velocity"))
    fastest = max(float(np.max(np.abs(values))) for values in motion)
    for frame in evidence.frames:
        at = evidence.at(frame)
        wrenches = evidence.sections["reactions"][frame]
        largest = float(np.max(np.abs(wrenches), initial=0.0))
        for (name, _, pair), wrench in zip(evidence.model.reactions, wrenches, strict=True):
            _, drift, spin = at.relative_motion(pair)
            power = float(wrench[3:] @ drift + wrench[:3] @ spin)
            sizes = np.linalg.norm(wrench[3:]) + np.linalg.norm(wrench[:3])
            scale = sizes * (np.linalg.norm(drift) + np.linalg.norm(spin)) + 1e-3 * largest * fastest
            if abs(power) > worst * scale and scale > 0.0:
                worst, where = abs(power) / float(scale), f"joint {name!r}"
    return [CheckResult("ideal joints", meaning, worst, 1e-8, where)] if evidence.model.reactions else []
