"""A judge of beams: what segments exert and store, by the judge's own formulas from the poses of their nodes.

None of the core's coordinates of beams is used for that. With the pose r, q = exp(φ) of node 2 seen from
node 1, ε = (u, φ) with r = V(φ) u, the flexibility f of a segment of length h (docs/theory/beams.md, (3)) and
d = ε − h ξ⁰ the energy is ½ dᵀ f⁻¹ d, and its gradient by ε, e = (e_u, e_φ), is (4) there. A motion of node 2
by ṙ and a spin Ω changes φ by V⁻ᵀ Ω and u by V⁻¹ (ṙ − ∂(V u)/∂φ φ̇), so that node 2 is pulled by

    force −V⁻ᵀ e_u,    moment −V⁻¹ (e_φ − (∂(V u)/∂φ)ᵀ V⁻ᵀ e_u),

since the left Jacobian of rotations V has the transpose V(−φ), by which turns are carried back. The
derivative of V u is a difference, which has nothing of the core's derivatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import ElementRecord, Model
from bellcrank.compile.state import Floats
from bellcrank.mechanism.rotation_arrays import cross, inverse_left_jacobian, left_jacobian, logarithm
from bellcrank.verification.evidence import Evidence, Frames
from bellcrank.verification.snapshot import slope
from bellcrank.verification.verdict import CheckResult, Worst

_MEANING: Final = "loads and energies of segments of beams against the judge's own, relative"
_LIMIT: Final = 1e-7
_UNIFORM: Final = 28  # numbers of a segment that is the same from end to end
_ROUNDED: Final = 1e-9  # of a load: what poses of 16 digits leave of it, times stiffness by length


def judge_beams(evidence: Evidence) -> list[CheckResult]:
    """What segments of beams exert on their nodes and store, at the frames that are examined closely."""
    segments = list(_segments(evidence.model))
    if not segments:
        return []
    worst = Worst()
    for part in evidence.parts(evidence.frames):
        for segment in segments:
            worst.meet_all(_off(part, segment), f"force {segment.name!r}", part.time)
    return [worst.result("beams", _MEANING, _LIMIT)]


def _segments(model: Model) -> Iterator[ElementRecord]:
    """The segments: forces of six laws along the coordinates beam_1 to beam_6."""
    kinds, along = model.arrays["coordinate_kind"], model.arrays["law_coordinate"]
    for force in model.forces:
        if len(force.laws) == 6 and str(kinds[int(along[force.laws[0]])]) == "beam_1":
            yield force


def _off(part: Frames, segment: ElementRecord) -> Floats:
    """How far loads and energies (n,) of the core are from the judge's own, in parts of their sizes."""
    arrays = part.model.arrays
    numbers = [int(arrays["law_coordinate"][law]) for law in segment.laws]
    found = [part.coordinate(number) for number in numbers]
    values = np.array([one.value for one in found])
    force, moment = (-np.einsum("kn,kni->ni", values, [getattr(one, name) for one in found])
                     for name in ("force", "moment"))  # fmt: skip
    pair = int(arrays["coordinate_pair"][numbers[0]])
    _, first, r, q, _, _ = (table[:, pair] for table in part.at.pairs)
    begin, end = arrays["coordinate_param_start"][numbers[0] : numbers[0] + 2]
    own_force, own_moment, energy, floor = own_loads(r, q, np.asarray(arrays["coordinate_params"][begin:end]))
    gaps = [
        np.linalg.norm(core - np.einsum("nij,nj->ni", first, own), axis=1)
        for core, own in ((force, own_force), (moment, own_moment))
    ]
    sizes = np.linalg.norm(own_force, axis=1) + floor[0], np.linalg.norm(own_moment, axis=1) + floor[1]
    stored = np.abs(0.5 * np.sum(values**2, axis=0) - energy) / (energy + floor[2])
    return np.asarray(np.max([gaps[0] / sizes[0], gaps[1] / sizes[1], stored], axis=0))


def own_loads(r: Floats, q: Floats, numbers: Floats) -> tuple[Floats, Floats, Floats, tuple[float, ...]]:
    """Force and moment on node 2 (n, 3), axes of node 1, energies (n,), and what of these is rounding.

    r, q: the pose of node 2 seen from node 1, (n, 3), (n, 4). numbers: the length, the upper triangle of the
    flexibility by rows, the unloaded strain; of a segment that varies then two triangles more, C₁ and W of
    docs/theory/beams.md, (4a).
    """
    h, unloaded = float(numbers[0]), numbers[22:28]
    C = _symmetric(numbers[1:22])
    varied = len(numbers) > _UNIFORM  # where the section or the curvature change along the segment
    growth, change = (_symmetric(numbers[at : at + 21]) if varied else 0.0 * C for at in (28, 49))
    phi = logarithm(q / np.linalg.norm(q, axis=1, keepdims=True))
    u = inverse_left_jacobian(phi, r)
    strain = np.concatenate([u, phi], axis=1)
    A = _along(u / h, phi / h)
    tilted = growth @ A
    f = h * (C - change) + h**3 / 12.0 * (np.swapaxes(A, 1, 2) @ C @ A + tilted + np.swapaxes(tilted, 1, 2))
    d = strain - h * unloaded
    F = np.linalg.solve(f, d[..., None])[..., 0]
    energy = 0.5 * np.sum(d * F, axis=1)
    w = np.einsum("ij,njk,nk->ni", C, A, F) + F @ growth
    (n, m), (w_n, w_m) = np.split(F, 2, axis=1), np.split(w, 2, axis=1)
    e_u = n + h**2 / 12.0 * cross(n, w_m)
    e_phi = m + h**2 / 12.0 * (cross(n, w_n) + cross(m, w_m))
    pull = inverse_left_jacobian(-phi, e_u)  # V(φ)ᵀ = V(−φ)
    ways = np.stack([slope(partial(_carried, phi, u, axis)) for axis in np.eye(3)], axis=2)
    turning = inverse_left_jacobian(-phi, e_phi - np.einsum("nik,ni->nk", ways, pull))
    sliding, bending = stiffness(numbers)
    force, moment = _ROUNDED * sliding * h, _ROUNDED * (bending + sliding * h**2)
    return -pull, -turning, energy, (force, moment, _ROUNDED * moment)


def _carried(phi: Floats, u: Floats, axis: Floats, step: float) -> Floats:
    """V(φ) u (n, 3) where φ is a step further along an axis."""
    return left_jacobian(phi + step * axis, u)


def stiffness(numbers: Floats) -> tuple[float, float]:
    """The largest stiffness of a straight segment, N/m and N m/rad."""
    h, C = float(numbers[0]), _symmetric(numbers[1:22])
    A = _along(np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3)))[0]
    whole = np.diag(np.linalg.inv(h * C + h**3 / 12.0 * A.T @ C @ A))
    return float(whole[:3].max()), float(whole[3:].max())


def _symmetric(triangle: Floats) -> Floats:
    """The matrix (6, 6) by its upper triangle in rows."""
    C = np.zeros((6, 6))
    C[np.triu_indices(6)] = triangle
    return np.asarray(C + np.triu(C, 1).T)


def _along(gamma: Floats, kappa: Floats) -> Floats:
    """What makes the loads change along a segment, A (n, 6, 6), by its strains (n, 3)."""
    A = np.zeros((len(gamma), 6, 6))
    A[:, :3, :3] = A[:, 3:, 3:] = -_hat(kappa)
    A[:, 3:, :3] = -_hat(gamma)
    return A


def _hat(v: Any) -> Floats:
    """The matrices (n, 3, 3) of cross products with vectors (n, 3)."""
    x, y, z = v.T
    zero = np.zeros_like(x)
    return np.moveaxis(np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]), 2, 0)
