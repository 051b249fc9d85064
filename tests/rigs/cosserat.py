"""The plane elastica with stretch and shear by shooting: what beams are compared with."""

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
