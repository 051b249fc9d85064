"""How well data determine parameters: standard deviations and correlations from the residual Jacobian.

Near the solution, residuals r of unit variance change by  J δp , and the best parameters have the covariance
(JᵀJ)⁻¹ : G. A. F. Seber, C. J. Wild, Nonlinear Regression, 1989, section 2.1.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.assembly.state import Floats

_FROM_ACCURACY: Final = 10.0  # singular values below that many relative errors of the Jacobian are zero
_TAKES_PART: Final = 1e-3  # of a direction that is not determined


def deviations_of(jacobian: Floats, accuracy: float = 1e-9) -> tuple[Floats, Floats]:
    """Standard deviations (n,) and correlations (n, n) of parameters, from (residuals, n).

    accuracy: relative error of the Jacobian.

    Deviations are infinite, correlations zero, where the residuals do not determine a parameter.
    """
    sizes = np.linalg.norm(jacobian, axis=0)
    felt = sizes > 0.0
    scaled = jacobian / np.where(felt, sizes, 1.0)
    _, values, right = np.linalg.svd(scaled, full_matrices=True)
    values = np.concatenate([values, np.zeros(len(right) - len(values))])
    determined = values > _FROM_ACCURACY * accuracy * values[0]
    covariance = (right[determined].T / values[determined] ** 2) @ right[determined]
    open_ones = ~felt | (np.abs(right[~determined]) > _TAKES_PART).any(axis=0)
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(
        np.where(spread > 0.0, spread, 1.0), np.where(spread > 0.0, spread, 1.0)
    )
    correlation[open_ones] = correlation[:, open_ones] = 0.0
    np.fill_diagonal(correlation, 1.0)
    return np.where(open_ones, np.inf, spread / np.where(felt, sizes, 1.0)), correlation
