"""Derivatives of sampled functions: central differences, Richardson-extrapolated."""

from itertools import pairwise

import numpy as np

LEVELS = 4  # steps h, 2h, 4h, 8h; errors of order h⁸


def _extrapolated(estimates):
    """Estimates at steps h, 2h, 4h, ... with errors in even powers of the step, extrapolated to step zero."""
    table = list(estimates)
    factor = 4.0
    while len(table) > 1:
        table = [(factor * fine - coarse) / (factor - 1.0) for fine, coarse in pairwise(table)]
        factor *= 4.0
    return table[0]


def derivatives(f, step):
    """f', f'' at 0 of a function of one variable with array values."""
    middle = np.asarray(f(0.0), dtype=float)
    first, second = [], []
    for level in range(LEVELS):
        h = step * 2**level
        plus, minus = np.asarray(f(h), dtype=float), np.asarray(f(-h), dtype=float)
        first.append((plus - minus) / (2.0 * h))
        second.append(((plus - middle) + (minus - middle)) / h**2)
    return _extrapolated(first), _extrapolated(second)
