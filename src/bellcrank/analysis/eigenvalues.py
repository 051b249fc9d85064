"""Eigenvalues and eigenvectors of state matrices, with zero eigenvalues deflated first.

States such as the position of a vehicle, the turns of its wheels or the place of a free body give a matrix
zeros in Jordan blocks, which rounding scatters over a circle whose radius is the square or cube root of its
own size. They are deflated one stage at a time: with N the null space of A and Q = [N, N_perp],

    Qᵀ A Q = [[0, X], [0, A₁]],

and A₁ has all other eigenvalues; its own null space is the next stage. V. N. Kublanovskaya, On a method of
solving the complete eigenvalue problem for a degenerate matrix, USSR Comput. Math. 6 (1966). An eigenvector
z₁ of A₁ with λ ≠ 0 is that of A with X z₁/λ in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.assembly.state import Floats

_ZERO: Final = 1e-9  # singular values below this part of the largest are zero


@dataclass(frozen=True, eq=False)
class Eigen:
    """Nonzero eigenvalues (n,), their eigenvectors (states, n), and what was deflated.

    null: an orthonormal basis (states, k) of directions in which nothing changes. zeros: how many
    eigenvalues are zero; where there are more than k, some of these directions drift.
    """

    values: np.ndarray
    vectors: np.ndarray
    null: Floats
    zeros: int


def eigen(matrix: Floats, scale: Floats, error: float = 0.0) -> Eigen:
    """Eigenvalues of a matrix (states, states); scale: typical sizes of the states, (states,).

    error: absolute, of its scaled entries; eigenvalues that this error could cause count as zero.
    """
    scaled = matrix * scale / scale[:, None]
    least = max(_ZERO * float(np.linalg.norm(scaled, 2)) if scaled.size else 0.0, 10.0 * error)
    null, left = np.zeros((len(matrix), 0)), scaled
    stages: list[tuple[Floats, Floats, Floats]] = []
    while len(left):
        _, sizes, rows = np.linalg.svd(left)
        count = int(np.count_nonzero(sizes <= least))
        if count == 0:
            break
        still, moving = rows[len(rows) - count :].T, rows[: len(rows) - count].T
        if not stages:
            null = scale[:, None] * still
        stages.append((still, moving, still.T @ left @ moving))
        left = moving.T @ left @ moving
    values, vectors = np.linalg.eig(left) if len(left) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    for still, moving, coupling in reversed(stages):
        vectors = still @ ((coupling @ vectors) / values) + moving @ vectors
    return Eigen(values, scale[:, None] * vectors, null, len(matrix) - len(values))
