"""Accelerations and multipliers from the equations of motion in decimal arithmetic of fifty digits.

What goes in (the Jacobian, its right-hand side, masses and forces) is taken as given; nothing is lost after
that, so that this is the answer for these numbers, whatever the masses.
"""

from decimal import Decimal, getcontext

import numpy as np
from rigs.machine import matrix

DIGITS = 50


def _decimals(array):
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, dtype=float))


def _solve(S, b):
    """Gaussian elimination with the largest pivot of each column."""
    S, b = S.copy(), b.copy()
    n = len(b)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(S[k:, k]).astype(float)))
        S[[k, pivot]], b[[k, pivot]] = S[[pivot, k]], b[[pivot, k]]
        factor = S[k + 1 :, k] / S[k, k]
        S[k + 1 :, k:] -= np.outer(factor, S[k, k:])
        b[k + 1 :] -= factor * b[k]
    x = np.empty(n, dtype=object)
    for k in reversed(range(n)):
        x[k] = (b[k] - S[k, k + 1 :] @ x[k + 1 :]) / S[k, k] if k + 1 < n else b[k] / S[k, k]
    return x


def accelerations(machine):
    """Of the machine's bodies under gravity: (nb, 6) as in `Machine.twists`, and multipliers (rows,)."""
    getcontext().prec = DIGITS
    model = machine.model
    _, _, Qc, J = machine.system.rows()
    P = matrix(machine.core_model.principal_rotation)
    inertia = np.einsum("bji,bjk,bki->bi", P, model.inertia, P)
    omega = machine.twists()[:, 3:]
    force = _decimals(
        np.hstack([model.mass[:, None] * model.gravity, -np.cross(omega, inertia * omega)])
    ).ravel()
    inverse = 1 / _decimals(np.hstack([np.repeat(model.mass[:, None], 3, axis=1), inertia])).ravel()
    rows = _decimals(J)
    multipliers = _solve((rows * inverse) @ rows.T, _decimals(Qc) - rows @ (inverse * force))
    found = inverse * (force + rows.T @ multipliers)
    return found.astype(float).reshape(-1, 6), multipliers.astype(float)


def found(machine):
    """The same from the core."""
    linear, angular, multipliers = machine.system.accelerate()
    _, _, rotation, _, omega = machine.system.state()
    R = matrix(rotation)
    arm = np.einsum("bij,bj->bi", R, machine.model.com)
    com = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
    principal = R @ matrix(machine.core_model.principal_rotation)
    return np.hstack([com, np.einsum("bji,bj->bi", principal, angular)]), multipliers
