"""Beams with stretch and shear by shooting, in the plane and in space: what beams are compared with."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def clamped(EI, EA, GA, length=1.0, force=(0.0, 0.0), weight=(0.0, 0.0), moment=0.0):
    """The tip (x, z, angle up) of a beam that is clamped at the origin along x, in its plane xz.

    force, moment (turning x to z): at the tip; weight: force per unstretched length.
    """

    def rates(s, y):
        _, _, angle, bending = y
        along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        n = np.asarray(force) + (length - s) * np.asarray(weight)
        way = (1.0 + n @ along / EA) * along + (n @ across / GA) * across
        return [*way, bending / EI, way[1] * n[0] - way[0] * n[1]]

    def shot(first):
        return solve_ivp(rates, (0.0, length), (0.0, 0.0, 0.0, first), "DOP853", rtol=1e-12, atol=1e-13)

    reach = moment + length * (abs(force[1]) + abs(force[0]) + 0.5 * length * np.hypot(*weight))
    scan = np.linspace(-1.01 * reach - 1e-9, 1.01 * reach + 1e-9, 41)
    missed = [shot(first).y[3, -1] - moment for first in scan]
    near = np.argmin(np.abs(scan) + np.where(np.sign(missed) == np.sign(np.roll(missed, -1)), np.inf, 0.0))
    first = brentq(lambda one: shot(one).y[3, -1] - moment, scan[near], scan[near + 1], xtol=1e-14)
    return shot(first).y[:3, -1]


def clamped_in_space(C, length, forces):
    """Tips (n, 3) and turns (n, 3, 3) of a beam that is clamped at the origin along x, z up in its section.

    C: strain per load in tension, shear along y and z, twist, bending about y and z, (6,). forces: at its
    tip, in the world, (n, 3). Newton's method on the moments at the clamp, by differences; all loads at once.
    """
    C, forces = np.asarray(C), np.asarray(forces, dtype=float)
    count, steps = len(forces), np.concatenate([np.zeros((1, 3)), np.eye(3)])

    def shot(moments):
        """State (4 n, 13) at the tip: place, quaternion, moment; of the moments and of three beside them."""
        size = 1e-6 * (1.0 + np.abs(moments).max(axis=1))
        first = moments[:, None] + size[:, None, None] * steps
        load = np.repeat(forces, 4, axis=0)
        begin = np.zeros((4 * count, 10))
        begin[:, 3], begin[:, 7:] = 1.0, first.reshape(-1, 3)

        def rates(_, flat):
            y = flat.reshape(4 * count, 10)
            turn = _matrices(y[:, 3:7])
            stretch = np.array((1.0, 0.0, 0.0)) + C[:3] * np.einsum("nji,nj->ni", turn, load)
            bend = C[3:] * np.einsum("nji,nj->ni", turn, y[:, 7:])
            way = np.einsum("nij,nj->ni", turn, stretch)
            w, v = y[:, 3:4], y[:, 4:7]
            spin = 0.5 * np.concatenate(
                [-np.sum(v * bend, axis=1, keepdims=True), w * bend + np.cross(v, bend)], axis=1
            )
            return np.concatenate([way, spin, -np.cross(way, load)], axis=1).ravel()

        found = solve_ivp(rates, (0.0, length), begin.ravel(), "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        return found.reshape(count, 4, 10), size

    moments = np.cross((length, 0.0, 0.0), forces)
    for part in (0.25, 0.5, 0.75, *[1.0] * 6):  # of the loads, so that Newton's method finds its way
        whole, forces = forces, part * forces
        if part < 1.0:
            moments = np.cross((length, 0.0, 0.0), forces) if part == 0.25 else moments * part / (part - 0.25)
        for _ in range(4 if part < 1.0 else 1):
            ends, size = shot(moments)
            left = ends[:, 0, 7:]
            slopes = np.swapaxes((ends[:, 1:, 7:] - left[:, None]) / size[:, None, None], 1, 2)
            moments = moments - np.linalg.solve(slopes, left[..., None])[..., 0]
        forces = whole
    ends, _ = shot(moments)
    assert np.abs(ends[:, 0, 7:]).max() < 1e-9 * np.abs(np.cross((length, 0, 0), forces)).max()
    return ends[:, 0, :3], _matrices(ends[:, 0, 3:7])


def _matrices(q):
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
