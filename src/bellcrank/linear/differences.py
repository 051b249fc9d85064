"""Derivatives of smooth functions by differences, and eigenvalues of such matrices, with estimated errors.

L. F. Richardson, J. A. Gaunt, The deferred approach to the limit, Phil. Trans. R. Soc. A 226 (1927): central
differences have an error in even powers of the step, and halved steps take these away one after another.
Steps may thus be large, so that rounding costs two digits, not half of them.

States such as the position of a vehicle, the turns of its wheels or the place of a free body give a matrix
zeros in Jordan blocks, which rounding scatters over a circle whose radius is the square or cube root of its
own size. They are deflated one stage at a time: with N the null space of A and Q = [N, N_perp],

    Qᵀ A Q = [[0, X], [0, A₁]],

and A₁ has all other eigenvalues; its own null space is the next stage. V. N. Kublanovskaya, On a method of
solving the complete eigenvalue problem for a degenerate matrix, USSR Comput. Math. 6 (1966). An eigenvector
z₁ of A₁ with λ ≠ 0 is that of A with X z₁/λ in front.

The unit of time does not matter: matrices are balanced (E. E. Osborne, On pre-conditioning of matrices, J.
ACM 7, 1960), so that a speed counts in units of its coordinate times the frequency of its own motion. What is
zero is decided by the errors of the entries, not by the largest entry: a singular value is zero if errors of
this size could make it so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.compile.state import Floats

LEVELS: Final = 5  # steps, each half of the one before
_SHRINK: Final = 8.0
_TRIES: Final = 5
EPSILON: Final = 2.3e-16
_GOOD: Final = 1e-11  # error, in parts of the largest derivative of a column, with which it is done
_CLOSE: Final = 1e-6  # of a step: distance of points whose values differ by rounding beside a smooth change
_PLACES: Final = (0.0, 0.4)  # in parts of a step, where rounding is measured
_NOISES: Final = 4  # times the noise: what a value may be off
_SWEEPS: Final = 30  # of the balancing
_EVEN: Final = 0.95  # reduction of a row and its column together below which a scale is changed
SURE: Final = 5.0  # times an estimated error: what it may be


class OutOfReach(Exception):
    """There is no value at a point, because constraints cannot be satisfied there, for instance."""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Derivatives (values, variables) at a point, and the estimated error of each."""

    matrix: Floats
    error: Floats


def derivatives(
    sample: Callable[[Floats], Floats],
    point: Floats,
    steps: Floats,
    by: Sequence[int] | None = None,
) -> Derivatives:
    """Derivatives of values by variables.

    sample: values (points, m) at points (points, n). steps: the largest ones tried, (n,); smaller ones follow
        if these go out of reach, or if the function is not smooth enough for them. by: numbers of the
        variables; None for all.

    Raises OutOfReach if no step is small enough.
    """
    middle = sample(point[None])[0]
    by = range(len(steps)) if by is None else by
    if not len(by):
        return Derivatives(np.zeros((len(middle), 0)), np.zeros((len(middle), 0)))
    noise = _noise(sample, point, steps)
    columns = [_column(sample, point, (middle, noise), number, float(steps[number])) for number in by]
    matrix, error = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Derivatives(matrix, error)


def _noise(sample: Callable[[Floats], Floats], point: Floats, steps: Floats) -> Floats:
    """The rounding of each value: what is left of fourth differences of values at points close to each other.

    R. W. Hamming, Introduction to Applied Numerical Analysis, 1971, section 6.4. At the point and away from
    it, as at the point many terms may vanish.
    """
    way = steps * np.where(np.arange(len(steps)) % 2 == 0, 1.0, -0.7)
    found = 0.0
    for part in _PLACES:
        try:
            values = sample(point + (part + _CLOSE * np.arange(-4.0, 5.0)[:, None]) * way)
        except OutOfReach:
            continue
        found = np.maximum(found, np.sqrt(np.mean(np.diff(values, n=4, axis=0) ** 2, axis=0) / 70.0))
    return np.asarray(found)


def _column(
    sample: Callable[[Floats], Floats],
    point: Floats,
    here: tuple[Floats, Floats],
    variable: int,
    step: float,
) -> tuple[Floats, Floats]:
    """Derivatives by one variable, and their errors. here: values at the point, and their noise."""
    best: tuple[Floats, Floats] | None = None
    reason: OutOfReach | None = None
    for _ in range(_TRIES):
        try:
            found = _extrapolated(sample, point, here, variable, step)
        except OutOfReach as error:
            reason = error
        else:
            if best is None:
                best = found
            else:
                better = found[1] < best[1]
                best = np.where(better, found[0], best[0]), np.where(better, found[1], best[1])
            if np.max(best[1], initial=0.0) <= _GOOD * np.max(np.abs(best[0]), initial=0.0):
                break
        step /= _SHRINK
    if best is None:
        raise OutOfReach(str(reason)) from reason
    return best


def _extrapolated(
    sample: Callable[[Floats], Floats],
    point: Floats,
    here: tuple[Floats, Floats],
    variable: int,
    step: float,
) -> tuple[Floats, Floats]:
    """The entry of Neville's table that changes least from its neighbours, and by how much, of each value.

    Where there is a kink in the middle, half the jump of the slope counts as the error. Entries that happen
    to agree are no better than the noise of the values allows.
    """
    middle, noise = here
    steps = step * 0.5 ** np.arange(LEVELS)
    points = np.repeat(point[None], 2 * LEVELS, axis=0)
    points[:, variable] += np.concatenate([steps, -steps])
    away = points[:LEVELS, variable] - points[LEVELS:, variable]  # as rounded
    values = sample(points)
    rows = [(values[:LEVELS] - values[LEVELS:]) / away[:, None]]
    best, least = rows[0][-1], np.full(values.shape[1], np.inf)
    rounding = np.maximum(_NOISES * noise, EPSILON * np.max(np.abs(values), axis=0))
    for order in range(1, LEVELS):
        before = rows[-1]
        after = before[1:] + (before[1:] - before[:-1]) / (4.0**order - 1.0)
        rows.append(after)
        finest = steps[order:]
        for now, coarse, fine, least_step in zip(after, before[:-1], before[1:], finest, strict=True):
            error = np.maximum(np.abs(now - coarse), np.abs(now - fine))
            error = np.maximum(error, rounding / least_step)
            best, least = np.where(error < least, now, best), np.minimum(error, least)
    # (f(h) + f(-h) - 2 f(0)) / h is odd in h, and goes to the jump of the slope.
    jump = (values[:LEVELS] + values[LEVELS:] - 2.0 * middle) / steps[:, None]
    for order in range(LEVELS - 1):
        factor = 2.0 ** (2 * order + 1)
        jump = (factor * jump[1:] - jump[:-1]) / (factor - 1.0)
    return best, np.maximum(least, 0.5 * np.abs(jump[0]))


@dataclass(frozen=True, eq=False)
class Eigen:
    """Nonzero eigenvalues (n,), their eigenvectors (states, n), and what was deflated.

    uncertainty: (n,), how far each eigenvalue may be off. null: an orthonormal basis (states, k) of
    directions in which nothing changes. zeros: how many eigenvalues are zero; where there are more than k,
    some of these directions drift. zero: the size up to which eigenvalues count as zero.
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
    scale = balanced_scale(matrix, scale, error)
    left = matrix * scale / scale[:, None]
    wrong = SURE * error * scale / scale[:, None]
    wrong = wrong + EPSILON * len(left) * np.abs(left)
    null, zero = np.zeros((len(matrix), 0)), 0.0
    stages: list[tuple[Floats, Floats, Floats]] = []
    while len(left):
        split = singular_values(left, wrong, len(matrix))
        if not np.any(split.zero):
            break
        zero = max(zero, float(np.sqrt(np.max(split.allowed[split.zero]) * split.sizes[0])))
        still, moving = split.null.T, split.rows[~split.zero].T
        if not stages:
            null = scale[:, None] * still
        stages.append((still, moving, still.T @ left @ moving))
        left, wrong = moving.T @ left @ moving, np.abs(moving).T @ wrong @ np.abs(moving)
    values, vectors = np.linalg.eig(left) if len(left) else (np.zeros(0, complex), np.zeros((0, 0), complex))
    uncertainty = _uncertainty(left, vectors, wrong)
    for still, moving, coupling in reversed(stages):
        vectors = still @ ((coupling @ vectors) / values) + moving @ vectors
    return Eigen(values, scale[:, None] * vectors, uncertainty, null, len(matrix) - len(values), zero)


@dataclass(frozen=True, eq=False)
class SingularValues:
    """A singular value decomposition (m, n), m <= n:  matrix = columns sizes rows, and what of it is zero.

    rows: (m, n), those of singular values. allowed: the size up to which each counts as zero. zero: (m,),
    which do. null: (k, n), an orthonormal basis of what the matrix does not see.
    """

    columns: Floats
    sizes: Floats
    rows: Floats
    allowed: Floats
    zero: np.ndarray
    null: Floats

    def solved(self, right: Floats) -> Floats:
        """The least x with  matrix x = right (m, k), up to what the zero values leave."""
        kept = ~self.zero
        return np.asarray(self.rows[kept].T @ ((self.columns[:, kept].T @ right) / self.sizes[kept, None]))


def singular_values(matrix: Floats, wrong: Floats, size: int | None = None) -> SingularValues:
    """Of a matrix (m, n), m <= n, with errors of its entries. size: by which rounding grows, n by default."""
    columns, sizes, rows = np.linalg.svd(matrix)
    own = rows[: len(sizes)]
    rounding = EPSILON * (matrix.shape[1] if size is None else size) * np.max(sizes, initial=0.0)
    allowed = np.einsum("is,ij,sj->s", np.abs(columns), wrong, np.abs(own)) + rounding
    zero = sizes <= allowed
    return SingularValues(columns, sizes, own, allowed, zero, np.vstack([own[zero], rows[len(sizes) :]]))


def balanced_scale(matrix: Floats, scale: Floats, error: Floats) -> Floats:
    """Sizes of states (n,), from typical ones, with which the certain entries of a matrix are balanced."""
    certain = np.where(np.abs(matrix) > SURE * error, np.abs(matrix), 0.0)
    return scale * _balanced(certain * scale / scale[:, None])


def _uncertainty(matrix: Floats, vectors: np.ndarray, error: Floats) -> Floats:
    """To first order, |yᴴ| E |x| / |yᴴ x| with left vectors y; infinite where eigenvectors are dependent."""
    if not len(matrix):
        return np.zeros(0)
    try:
        left = np.linalg.inv(vectors)  # yᴴ x = 1
    except np.linalg.LinAlgError:
        return np.full(len(matrix), np.inf)
    rounding = EPSILON * len(matrix) * np.linalg.norm(matrix, 2)
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
