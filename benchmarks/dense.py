"""Accelerations from the whole dense system of equations, for comparison with sparse solution.

A. Tasora's paper (2000), section 6, compares his factorization with "a naive (full Gauss) solution" of the
equations for accelerations, positions and velocities (28, 30, 31): M u' - J' l = f and J u' = Q, all unknowns
at once.
"""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.formulations.preparing import prepare
from bellcrank.mechanism.rotation import matrix
from benchmarks.timing import Spread, timed

SOLUTIONS: Final = 3
"""Systems a naive step solves: for accelerations, velocities and positions (28, 31 and 30 in the paper)."""

_LAPACK = Path(__file__).parent / "peers" / "lapack.py"
_LEAST_SECONDS = 0.02  # of one sample


@dataclass(frozen=True)
class DenseEquations:
    """The whole system of equations of a model at its start, without its redundant rows.

    matrix: (n, n), [[M, J'], [J, 0]] with the masses and principal moments M and the rows' gradients J.
    right: (n,), forces over the rows' right-hand sides; the solution is the accelerations (six a body, of its
        centre of mass in world axes and of its spin in principal axes) over the multipliers, reversed.
    """

    matrix: Floats
    right: Floats


def dense_equations(model: Model) -> DenseEquations:
    """The equations of a model that starts from rest with its weight as the only force."""
    system = prepare(model, "lagrange")
    system.project()
    system.accelerate()
    kept = np.setdiff1d(np.arange(model.core.rows), [row.row for row in system.stats.dropped])
    _, _, bias, jacobian = (
        system.core.rows()
    )  # against centres of mass, world axes, and spins, principal axes
    turn = np.array([matrix((w, x, y, z)) for w, x, y, z in model.core.principal_rotation]).reshape(-1, 3, 3)
    moments = np.einsum("bki,bkl,bli->bi", turn, model.inertia, turn)
    masses = np.concatenate([np.repeat(model.mass[:, None], 3, axis=1), moments], axis=1)
    weight = np.concatenate([model.mass[:, None] * model.gravity, np.zeros_like(moments)], axis=1)
    rows, size = jacobian.reshape(len(bias), -1)[kept], masses.size
    whole = np.zeros((size + len(rows), size + len(rows)))
    whole[np.arange(size), np.arange(size)] = masses.ravel()
    whole[size:, :size], whole[:size, size:] = rows, rows.T
    return DenseEquations(whole, np.concatenate([weight.ravel(), bias[kept]]))


def gauss_time(equations: DenseEquations, repeats: int) -> Spread:
    """Microseconds for one solution by plain Gaussian elimination, compiled like the rest of the core."""

    def seconds(count: int) -> float:
        return timed(lambda: [_core.eliminate_dense(equations.matrix, equations.right) for _ in range(count)])

    count = max(1, round(_LEAST_SECONDS / max(seconds(1), 1e-6)))
    return Spread.of([seconds(count) for _ in range(repeats)], 1e6 / count)


def lapack_time(equations: DenseEquations, repeats: int) -> Spread:
    """Microseconds for one solution by LAPACK's LU factorization through numpy, on one thread."""
    packed = io.BytesIO()
    np.savez(packed, matrix=equations.matrix, right=equations.right)
    command = [sys.executable, str(_LAPACK), str(repeats), str(_LEAST_SECONDS)]
    told = subprocess.run(command, input=packed.getvalue(), capture_output=True, check=True).stdout
    return Spread.of([float(line) for line in told.split()])
