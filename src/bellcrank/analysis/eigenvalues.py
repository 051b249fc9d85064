"""Eigenvalues and eigenvectors of state matrices, with uncertainties; zero eigenvalues are deflated first.

States such as the position of a vehicle, the turns of its wheels or the place of a free body give a matrix
zeros in Jordan blocks, which rounding scatters over a circle whose radius is the square or cube root of its
own size. They are deflated one stage at a time: with N the null space of A and Q = [N, N_perp],

    Qᵀ A Q = [[0, X], [0, A₁]],

and A₁ has all other eigenvalues; its own null space is the next stage. V. N. Kublanovskaya, On a method of
solving the complete eigenvalue problem for a degenerate matrix, USSR Comput. Math. 6 (1966). An eigenvector
z₁ of A₁ with λ ≠ 0 is that of A with X z₁/λ in front.

The unit of time does not matter: matrices are balanced (E. E. Osborne, On pre-conditioning of matrices, J.
ACM 7,
1960), so that a speed counts in units of its coordinate times the frequency of its own motion. What is zero
is decided by the errors of the entries, not by the largest entry: a singular value is zero if errors of this
size could make it so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.assembly.state import Floats

_EPSILON: Final = 2.3e-16
_SWEEPS: Final = 30  # of the balancing
_EVEN: Final = 0.95  # reduction of a row and its column together below which a scale is changed
_SURE: Final = 5.0  # times an estimated error: what it may be


@dataclass(frozen=True, eq=False)
class Eigen:
    """Nonzero eigenvalues (n,), their eigenvectors (states, n), and what was deflated.

    uncertainty: (n,), how far each eigenvalue may be off. null: an orthonormal basis (states, k) of
    directions in
    which nothing changes. zeros: how many eigenvalues are zero; where there are more than k, some of these
    directions drift. zero: the size up to which eigenvalues count as zero.
    """

    values: np.ndarray
    vectors: np.ndarray
    uncertainty: Floats
    null: Floats
    zeros: int
    zero: float


def eigen(matrix: Floats, scale: Floats, error: Floats) -> Eigen:
    """Eigenvalues of a matrix (states, states).

    scale: typical sizes of the states, (states,). error: estimated absolute error of each entry.
    """
    certain = np.where(np.abs(matrix) > _SURE * error, np.abs(matrix), 0.0)
    scale = scale * _balanced(certain * scale / scale[:, None])
    left = matrix * scale / scale[:, None]
    wrong = _SURE * error * scale / scale[:, None]
    wrong = wrong + _EPSILON * len(left) * np.abs(left)
    null, zero = np.zeros((len(matrix), 0)), 0.0
    stages: list[tuple[Floats, Floats, Floats]] = []
    while len(left):
        columns, sizes, rows = np.linalg.svd(left)
        rounding = _EPSILON * len(matrix) * sizes[0]
        allowed = np.einsum("is,ij,sj->s", np.abs(columns), wrong, np.abs(rows)) + rounding
        zeros = sizes <= allowed
        if not np.any(zeros):
            break
        zero = max(zero, float(np.sqrt(np.max(allowed[zeros]) * sizes[0])))
        still, moving = rows[zeros].T, rows[~zeros].T
        if not stages:
            null = scale[:, None] * still
        stages.append((still, moving, still.T @ left @ moving))
        left, wrong = moving.T @ left @ moving, np.abs(moving).T @ wrong @ np.abs(moving)
    values, vectors = np.linalg.eig(left) if len(left) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    uncertainty = _uncertainty(left, vectors, wrong)
    for still, moving, coupling in reversed(stages):
        vectors = still @ ((coupling @ vectors) / values) + moving @ vectors
    return Eigen(values, scale[:, None] * vectors, uncertainty, null, len(matrix) - len(values), zero)


def _uncertainty(matrix: Floats, vectors: np.ndarray, error: Floats) -> Floats:
    """To first order, |yᴴ| E |x| / |yᴴ x| with left vectors y; infinite where eigenvectors are dependent."""
    if not len(matrix):
        return np.zeros(0)
    try:
        left = np.linalg.inv(vectors)  # yᴴ x = 1
    except np.linalg.LinAlgError:
        return np.full(len(matrix), np.inf)
    rounding = _EPSILON * len(matrix) * np.linalg.norm(matrix, 2)
    sizes = np.linalg.norm(left, axis=1) * np.linalg.norm(vectors, axis=0)
    of_entries = np.einsum("ki,ij,jk->k", np.abs(left), error, np.abs(vectors))
    return np.asarray(of_entries + rounding * sizes)


def _balanced(sizes: Floats) -> Floats:
    """Scales of states with which rows and columns of a matrix of sizes (n, n) are equally large."""
    sizes = sizes.copy()
    np.fill_diagonal(sizes, 0.0)
    scale = np.ones(len(sizes))
    for _ in range(_SWEEPS):
        changed = False
        for k in range(len(sizes)):
            column, row = float(np.linalg.norm(sizes[:, k])), float(np.linalg.norm(sizes[k]))
            if column == 0.0 or row == 0.0:
                continue
            factor = float(np.exp2(np.round(0.5 * np.log2(row / column))))  # no rounding
            if column * factor + row / factor < _EVEN * (column + row):
                scale[k] *= factor
                sizes[:, k] *= factor
                sizes[k] /= factor
                changed = True
        if not changed:
            break
    return scale
