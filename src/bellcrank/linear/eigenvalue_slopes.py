"""Derivatives of the eigenvalues of a matrix from those of its entries, with estimated errors.

With right and left vectors X and Y of an eigenvalue, simple or multiple,

    δλ = eigenvalues of (Yᴴ X)⁻¹ Yᴴ δA X:

of a simple one that is yᴴ δA x / yᴴ x; one that is multiple parts into these (T. Kato, Perturbation Theory
for Linear Operators, 1966, section II.2). Where Yᴴ X is singular the eigenvalue has fewer vectors than its
multiplicity (a Jordan block), and parts like a root: there is no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.linear.differences import EPSILON, SURE, Eigen, balanced_scale

_COINCIDE: Final = 1e-10  # difference of eigenvalues, in parts of their size, that is rounding
_DEFECTIVE: Final = 1e-6  # Yᴴ X, of vectors of length one, that is singular; and what is no null vector


@dataclass(frozen=True, eq=False)
class EigenvalueSlopes:
    """Derivatives of eigenvalues that coincide, or of one.

    members: their numbers among those of the matrix. values: (parameters, members), by growing imaginary,
    then real part; nan where they have none. error: (parameters,), estimated.
    """

    members: tuple[int, ...]
    values: np.ndarray
    error: Floats


def eigenvalue_slopes(
    matrix: Floats, error: Floats, scale: Floats, found: Eigen, slopes: Floats, slope_errors: Floats
) -> list[EigenvalueSlopes]:
    """Of all nonzero eigenvalues of a matrix (states, states).

    error: of its entries. scale: typical sizes of the states. found: its eigenvalues. slopes, slope_errors:
    derivatives of the matrix (parameters, states, states), and their errors.
    """
    scale = balanced_scale(matrix, scale, error)
    to_scaled = scale / scale[:, None]
    left = matrix * to_scaled
    wrong = (SURE * error + EPSILON * len(matrix) * np.abs(matrix)) * to_scaled
    along, along_wrong = slopes * to_scaled, slope_errors * to_scaled
    return [
        EigenvalueSlopes(members, *_slopes(left, wrong, found.values[list(members)], along, along_wrong))
        for members in _coinciding(found.values, found.uncertainty)
    ]


def _coinciding(values: np.ndarray, uncertainty: Floats) -> list[tuple[int, ...]]:
    """Numbers of the values, put together where they may be equal."""
    groups: list[tuple[int, ...]] = []
    for k, value in enumerate(values):
        near = np.abs(values - value) <= uncertainty + uncertainty[k] + _COINCIDE * abs(value)
        joined = [group for group in groups if any(near[list(group)])]
        groups = [group for group in groups if group not in joined]
        groups.append((*(one for group in joined for one in group), k))
    return groups


def _slopes(
    matrix: Floats, wrong: Floats, values: np.ndarray, slopes: Floats, slope_errors: Floats
) -> tuple[np.ndarray, Floats]:
    """Derivatives (parameters, members), and their errors (parameters,)."""
    size, count = len(matrix), len(values)
    shifted = matrix - np.mean(values) * np.eye(size)
    columns, sizes, rows = np.linalg.svd(shifted)
    X, Y = rows[size - count :].conj().T, columns[:, size - count :]
    overlap = Y.conj().T @ X
    if sizes[size - count] > _DEFECTIVE * sizes[0] or np.linalg.norm(overlap, -2) < _DEFECTIVE:
        return np.full((len(slopes), count), np.nan + 0j), np.full(len(slopes), np.nan)
    W = np.linalg.solve(overlap, Y.conj().T)
    # Of vectors z with W z = 0: how eigenvectors turn with errors of the matrix.
    border = np.block([[shifted, X], [W, np.zeros((count, count))]])
    resolvent = np.linalg.inv(border)[:size, :size]
    parted, errors = [], []
    for slope, of_slope in zip(slopes, slope_errors, strict=True):
        found = np.linalg.eigvals(W @ slope @ X)
        parted.append(found[np.lexsort((found.real, found.imag))])
        of_vectors = np.abs(W) @ wrong @ np.abs(resolvent @ slope @ X)
        of_vectors += np.abs(W @ slope @ resolvent) @ wrong @ np.abs(X)
        errors.append(np.max(np.sum(np.abs(W) @ of_slope @ np.abs(X) + of_vectors, axis=1)))
    return np.array(parted).reshape(len(slopes), count), np.array(errors)


def numbers_near(values: np.ndarray, wanted: Sequence[complex]) -> list[int]:
    """The number of each wanted value among values, each used once."""
    free, numbers = np.ones(len(values), dtype=bool), []
    for one in wanted:
        numbers.append(int(np.argmin(np.where(free, np.abs(values - one), np.inf))))
        free[numbers[-1]] = False
    return numbers
