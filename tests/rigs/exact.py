"""Accelerations and multipliers from the equations of motion in decimal arithmetic of fifty digits.

What goes in (the Jacobian, its right-hand side, masses and forces) is taken as given; nothing is lost after
that, so that this is the answer for these numbers, whatever the masses.
"""

from decimal import Decimal, getcontext
from types import SimpleNamespace

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


def _answer(model, inertia, spin, bias, jacobian):
    """Accelerations (nb, 6), linear of the coms and angular in principal axes, and multipliers (rows,)."""
    getcontext().prec = DIGITS
    force = _decimals(
        np.hstack([model.mass[:, None] * model.gravity, -np.cross(spin, inertia * spin)])
    ).ravel()
    inverse = 1 / _decimals(np.hstack([np.repeat(model.mass[:, None], 3, axis=1), inertia])).ravel()
    rows = _decimals(jacobian)
    multipliers = _solve((rows * inverse) @ rows.T, _decimals(bias) - rows @ (inverse * force))
    found = inverse * (force + rows.T @ multipliers)
    return found.astype(float).reshape(-1, 6), multipliers.astype(float)


def accelerations(machine, kept=None):
    """Of the machine's bodies under gravity: (nb, 6) as in `Machine.twists`, and multipliers (rows,).

    kept: the rows that hold, which must not depend on each other; by default all.
    """
    model = machine.model
    _, _, bias, jacobian = machine.system.rows()
    if kept is not None:
        bias, jacobian = bias[kept], jacobian[kept]
    P = matrix(machine.core_model.principal_rotation)
    inertia = np.einsum("bji,bjk,bki->bi", P, model.inertia, P)
    return _answer(model, inertia, machine.twists()[:, 3:], bias, jacobian)


def accelerations_at(system):
    """Of the bodies' frames of a System, whose rows are independent, under gravity: (nb, 6), world axes."""
    model, state = system.model, system.state()
    _, _, bias, jacobian = system.core.rows()
    local = matrix(np.asarray(model.core.principal_rotation).reshape(-1, 4))
    R = matrix(state.rotation)
    axes = R @ local
    arrays = SimpleNamespace(mass=model.arrays["body_mass"], gravity=model.arrays["gravity"])
    inertia = np.einsum("bji,bjk,bki->bi", local, model.arrays["body_inertia"], local)
    spin = np.einsum("bji,bj->bi", axes, state.angular_velocity)
    rows = np.asarray(jacobian).reshape(len(bias), -1)
    answer, _ = _answer(arrays, inertia, spin, bias, rows)
    angular = np.einsum("bij,bj->bi", axes, answer[:, 3:])
    arm, omega = np.einsum("bij,bj->bi", R, model.com), state.angular_velocity
    return np.hstack(
        [answer[:, :3] - np.cross(angular, arm) - np.cross(omega, np.cross(omega, arm)), angular]
    )


def found(machine):
    """The same from the core."""
    linear, angular, multipliers = machine.system.accelerate()
    _, _, rotation, _, omega = machine.system.state()
    R = matrix(rotation)
    arm = np.einsum("bij,bj->bi", R, machine.model.com)
    com = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
    principal = R @ matrix(machine.core_model.principal_rotation)
    return np.hstack([com, np.einsum("bji,bj->bi", principal, angular)]), multipliers
