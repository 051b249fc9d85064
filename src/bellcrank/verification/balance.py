"""Judges of forces: Newton's and Euler's equations at frames, and momenta gained between frames."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bellcrank.compile.state import Floats
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.intervals import Calm, Roughness
from bellcrank.verification.loads import Loads, acting, add_force, force_sizes, stored_energies
from bellcrank.verification.verdict import CheckResult, Worst, not_known

_BALANCE = "force or moment left over, relative to those that act"
_EXACT = 1e-8
_LEVER = 1e-6  # of the mechanism's size: arms of forces whose moments do not count
_AROUND = (0, -4, -3, 3, 4)
"""Frames around one that show how well it is predicted, without its own numbers."""
_IMPULSES = "momentum gained between frames less impulse of the forces, relative to that of those that act"
_HIDDEN = 10.0  # times the limit: what friction and slices that come and go between frames leave, see `Calm`
_CLEAR = 1e-2  # of the forces: where frames determine impulses no better than that, they are not judged


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
            worst.meet_all(relative, evidence.body_text, part.time)
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
    recorded, own = Loads(part.at), Loads(part.at)
    for force in part.model.forces:
        add_force(part, force, recorded, recorded=True)
        add_force(part, force, own, recorded=False)
        bodies = sorted((recorded.touched | own.touched) - {part.model.ground})
        for one, other, scale in zip(
            (recorded.force, recorded.moment), (own.force, own.moment), floors, strict=True
        ):
            apart = np.linalg.norm(one[:, bodies] - other[:, bodies], axis=2) / scale[:, bodies]
            worst.meet_all(apart, f"force {force.name!r}", part.time)
        recorded.clear()
        own.clear()


def left_over(part: Frames) -> tuple[Floats, Floats, Floats, Floats]:
    """Force and moment (n, nb, 3) beyond M a at frames, and the sizes (n, nb) of those that act."""
    loads = acting(part)
    inertia_force, inertia_moment = _rate_of_momentum(part)
    size, moment_size = sizes(part, loads)
    size += np.linalg.norm(inertia_force, axis=2)
    moment_size += np.linalg.norm(inertia_moment, axis=2)
    return loads.force[:, :-1] - inertia_force, loads.moment[:, :-1] - inertia_moment, size, moment_size


def with_floor(size: Floats) -> Floats:
    """Sizes (n, nb) to divide by: values negligible beside the largest count as a millionth of it."""
    return np.asarray(size + 1e-6 * np.max(size, axis=-1, keepdims=True, initial=0.0) + 1e-300)


def _rate_of_momentum(part: Frames) -> tuple[Floats, Floats]:
    """Per body m a of the com, and the rate of the angular momentum about it (n, nb, 3), world axes."""
    acceleration, alpha = part.accelerations()
    inertia, spin = part.at.inertia, part.at.spin[:, :-1]
    momentum = np.einsum("nbij,nbj->nbi", inertia, spin)
    moment = np.einsum("nbij,nbj->nbi", inertia, alpha) + np.cross(spin, momentum)
    return part.model.mass[:, None] * acceleration, moment


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
    levers = _LEVER * model.size(model.initial) * np.max(force, axis=1, keepdims=True, initial=0.0)
    return force, loads.moment_size[:, :-1] + largest * spin**2 + rounded_moment + levers


def judge_impulses(evidence: Evidence, calm: Calm, limit: float) -> list[CheckResult]:
    """Gains of momentum against forces and moments that act, by Simpson's rule over two steps and over four.

    The difference of the two shows how well the frames determine impulses, see `_unclear`.
    """
    if not evidence.has_reactions or len(evidence.every) < len(evidence.time):
        reason = "reactions were not recorded" if not evidence.has_reactions else "too many frames and bodies"
        return [CheckResult("balance: impulses", _IMPULSES, None, limit, reason)]
    frames = _inner(evidence)
    judged = np.zeros(len(evidence.model.bodies), dtype=bool)
    worst = Worst()
    if len(frames):
        loads, momenta, *scales = _totals(evidence)
        near, far = (_rates(evidence, loads, momenta, reach) for reach in (1, 2))
        apart = np.linalg.norm(near - far, axis=3)  # (T, 2, nb), from the third frame on
        places = frames[:, None] + np.array(_AROUND)
        bounds = (
            _unclear(apart[places])
            + (_kinks(loads) + _rough(evidence, loads, np.stack(scales, axis=1)))[frames]
            + _off(evidence, momenta)[frames]
        )
        # What touches may be pushed for as short as one frame: there its own numbers count, too.
        touched = (calm.touched[frames - 1] | calm.touched[frames])[:, None]
        bent = np.linalg.norm(loads[frames - 1] - 2.0 * loads[frames] + loads[frames + 1], axis=3)
        bounds = bounds + np.where(touched, bent, 0.0)
        hidden = _HIDDEN * limit * (calm.hidden[frames - 1] | calm.hidden[frames])
        steady = calm.bodies[frames - 1] & calm.bodies[frames]
        beside = np.moveaxis(np.linalg.norm(near[frames], axis=3), 1, 0)
        for left, bound, size in zip(beside, np.moveaxis(bounds, 1, 0), scales, strict=True):
            scale = with_floor(size[frames])
            clear = steady & (bound < _CLEAR * scale)
            judged |= np.any(clear, axis=0)
            beyond = np.where(clear, np.maximum(left - bound - hidden * scale, 0.0), 0.0) / scale
            worst.meet_all(beyond, evidence.body_text, evidence.time[frames])
    if not judged.any():
        reason = "the frames are too far apart, too few or not evenly spaced"
        if not calm.bodies.all():
            reason += ", or contacts change between them"
        return [CheckResult("balance: impulses", _IMPULSES, None, limit, reason)]
    return [worst.result("balance: impulses", _IMPULSES + not_known(judged), limit)]


def unmatched(evidence: Evidence, frame: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Force and moment (nb, 3) that no gain of momentum answers about a frame, and sizes (nb,) that act."""
    frames = np.arange(max(frame - 1, 0), min(frame + 2, len(evidence.time)))
    (part,) = evidence.parts(frames)
    loads, momenta = _loads(part), _momenta(part)
    middle = int(np.flatnonzero(frames == frame)[0])
    weights = np.array([1.0, 4.0, 1.0]) / 6.0 if len(frames) == 3 else np.full(len(frames), 1.0 / len(frames))
    mean = np.einsum("n,nkbi->kbi", weights, loads)
    force, moment = mean - (momenta[-1] - momenta[0]) / (part.time[-1] - part.time[0])
    size, moment_size = (values[middle] for values in sizes(part, acting(part)))
    return force, moment, size, moment_size


def _unclear(apart: Floats) -> Floats:
    """How far predictions at frames (frames, ...) may be wrong.

    apart: (frames, _AROUND, ...), by how much those from nearby and from further away differ. That does not
    depend on a number that is wrong at the frame itself, nor on what is wrong smoothly. Where something
    happens between frames it is large there; where frames are too far apart for the motion it is large at
    most of them, and passes zero at others.
    """
    if len(apart) == 0:
        return apart[:, 0]
    return np.asarray(4.0 * np.maximum(np.max(apart, axis=1), np.quantile(apart[:, 0], 0.8, axis=0)))


def _totals(evidence: Evidence) -> tuple[Floats, ...]:
    """Forces and moments (T, 2, nb, 3) at all frames, momenta alike, and the sizes (T, nb) of what acts."""
    found = [(_loads(part), _momenta(part), *sizes(part, acting(part))) for part in evidence.parts()]
    return tuple(np.concatenate(values) for values in zip(*found, strict=True))


def _loads(part: Frames) -> Floats:
    loads = acting(part)
    return np.stack([loads.force[:, :-1], loads.moment[:, :-1]], axis=1)


def _momenta(part: Frames) -> Floats:
    """Momenta and angular momenta about the coms (n, 2, nb, 3), world axes."""
    at = part.at
    angular = np.einsum("nbij,nbj->nbi", at.inertia, at.spin[:, :-1])
    return np.stack([part.model.mass[:, None] * at.com_velocity, angular], axis=1)


def _rates(evidence: Evidence, loads: Floats, momenta: Floats, reach: int) -> Floats:
    """Mean forces and moments (T, 2, nb, 3) about each frame, less those by momenta; 0 at the ends."""
    found, time = np.zeros_like(loads), evidence.time
    mean = (loads[: -2 * reach] + 4.0 * loads[reach:-reach] + loads[2 * reach :]) / 6.0
    span = (time[2 * reach :] - time[: -2 * reach])[:, None, None, None]
    found[reach:-reach] = mean - (momenta[2 * reach :] - momenta[: -2 * reach]) / span
    return found


def _kinks(loads: Floats) -> Floats:
    """What a jump or kink of forces and moments within two steps does to means about frames (T, 2, nb).

    By the four frames around each, without its own numbers.
    """
    found = np.zeros(loads.shape[:3])
    if len(loads) > 4:
        bent = loads[:-4] - 2.0 * loads[1:-3] + 2.0 * loads[3:-1] - loads[4:]
        found[2:-2] = np.linalg.norm(bent, axis=3) / 3.0
    return found


def _rough(evidence: Evidence, loads: Floats, sizes: Floats) -> Floats:
    """What a method of first order leaves of mean forces and moments (T, 2, nb)."""
    method, found = Roughness.of(evidence), np.zeros(loads.shape[:3])
    rough = method.rough
    if rough and len(loads) > 4:
        gone = np.linalg.norm(np.diff(loads, axis=0), axis=3)
        most = np.max(sliding_window_view(gone, 4, axis=0), axis=3)
        found[2:-2] = np.minimum(2.0 * rough / np.diff(evidence.time)[1:-2, None, None], 2.0) * most
        spins = np.linalg.norm(evidence.sections["angular_velocity"], axis=2)
        found += method.share * rough * np.max(spins, axis=1)[:, None, None] * sizes
    return found


def _off(evidence: Evidence, momenta: Floats) -> Floats:
    """What the tolerance of a run leaves of mean forces and moments (T, 2, nb), by momenta at both ends."""
    found, span = np.zeros(momenta.shape[:3]), evidence.time[2:] - evidence.time[:-2]
    largest = np.max(np.linalg.norm(momenta, axis=3), axis=0)
    found[1:-1] = Roughness.of(evidence).noise * largest / np.maximum(span, 1e-300)[:, None, None]
    return found


def _inner(evidence: Evidence) -> np.ndarray:
    """The frames that have enough evenly spaced neighbours."""
    reach, steps = max(_AROUND) + 2, np.diff(evidence.time)
    if len(steps) < 2 * reach:
        return np.zeros(0, dtype=int)
    around = sliding_window_view(steps, 2 * reach)
    even = np.ptp(around, axis=1) <= 1e-6 * np.min(around, axis=1)
    return np.flatnonzero(even & (np.min(around, axis=1) > 0.0)) + reach
