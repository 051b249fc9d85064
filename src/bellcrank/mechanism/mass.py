"""Mass properties: mass, centre of mass and inertia of shapes, transformed and summed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.mechanism.checking import Check, Mat3, Quat, Vec3, plain_vector, range_of
from bellcrank.mechanism.fields import as_tuple
from bellcrank.mechanism.rotation import matrix

_SYMMETRY = 1e-9  # relative
_SPREAD = 1e-15  # least of the greatest moment that double precision distinguishes from none
_TRIANGLE = 1e-9  # relative slack of the triangle inequality: rods and plates lie on its edge


@dataclass(frozen=True)
class MassProperties:
    """mass in kg, com (3,) in m, inertia (3, 3) in kg m^2 about the com; all in one frame's axes.

    >>> cube = bc.Box((1, 1, 1), density=6.0).mass_properties()
    >>> cube.mass, cube.com.tolist(), np.diag(cube.inertia).round(6).tolist()    # m a^2 / 6
    (6.0, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray

    def moved(self, position: Vec3, rotation: Quat) -> MassProperties:
        """The same in the frame in which this one's frame has the given pose.

        >>> ball = bc.Sphere(0.1, density=1000.0).mass_properties()
        >>> ball.moved((1.0, 0, 0), bc.rotation("z", 0.0)).com.tolist()
        [1.0, 0.0, 0.0]
        """
        turn = matrix(rotation)
        return MassProperties(self.mass, np.asarray(position) + turn @ self.com, turn @ self.inertia @ turn.T)

    def scaled(self, factor: float) -> MassProperties:
        """The same distribution with `factor` times the mass.

        >>> double = bc.Box((1, 1, 1), density=3.0).mass_properties().scaled(2.0)
        >>> double.mass, np.diag(double.inertia).round(6).tolist()
        (6.0, [1.0, 1.0, 1.0])
        """
        return MassProperties(factor * self.mass, self.com, factor * self.inertia)


def total(parts: Iterable[MassProperties]) -> MassProperties:
    """The sum of parts given in the same frame (parallel axes theorem)."""
    known = list(parts)
    mass = sum(part.mass for part in known)
    com = sum((part.mass * part.com for part in known), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in known:
        d = part.com - com
        inertia = inertia + part.inertia + part.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, com, inertia)


def check_inertia(check: Check, value: Any, triangle: bool = True) -> Mat3:
    """An inertia about the com in body axes, kg m^2: three principal numbers or a symmetric 3 x 3 matrix.

    It must be positive definite and its principal moments must obey the triangle inequality, unless
    `triangle` is False; or zero altogether, for a particle.
    """
    noted = len(check.faults)
    if (plain := plain_inertia(value)) is not None:
        return plain
    try:
        principal = np.ndim(value) == 1
    except ValueError:
        principal = True
    given = check.array("inertia", value, (3,) if principal else (3, 3), "kg m^2")
    full = np.diag(given) if principal else given
    if len(check.faults) == noted:
        _check_symmetric(check, full)
        full = 0.5 * (full + full.T)
        if len(check.faults) == noted:
            _check_moments(check, full, triangle)
    x, y, z = as_tuple(full)
    return (x, y, z)


def plain_inertia(value: Any) -> Mat3 | None:
    """Valid principal moments or a valid tensor of floats, as they are stored; None for any other."""
    if (moments := _plain_moments(value)) is not None:
        return ((moments[0], 0.0, 0.0), (0.0, moments[1], 0.0), (0.0, 0.0, moments[2]))
    return _plain_tensor(value)


def _plain_moments(value: Any) -> Vec3 | None:
    """Valid principal moments given as three floats: the common case, recognised quickly."""
    bounds = range_of("kg m^2")
    if (
        type(value) is tuple
        and len(value) == 3
        and all(type(row) is tuple and len(row) == 3 for row in value)
    ):
        (a, *ab), (ba, b, bc), (*ca, c) = value  # as it is kept
        value = (a, b, c) if all(type(x) in (int, float) and x == 0 for x in (*ab, ba, bc, *ca)) else None
    if (plain := plain_vector(value, bounds.most)) is None:
        return None
    low, middle, high = sorted(plain)
    return plain if bounds.least <= low and low > _SPREAD * high and high <= low + middle else None


def _plain_tensor(value: Any) -> Mat3 | None:
    """A symmetric tensor of floats that is valid by a wide margin, recognised quickly.

    I = tr(P) 1 - P with the second moments P, and moments obey the triangle inequality if P is positive
    definite, that is, if its leading minors are positive.
    """
    is_array = type(value) is np.ndarray and value.shape == (3, 3) and value.dtype.kind in "fiu"
    rows = value.tolist() if is_array else value
    if type(rows) not in (tuple, list) or len(rows) != 3:
        return None
    bounds = range_of("kg m^2")
    x, y, z = (plain_vector(row, bounds.most) for row in rows)
    if x is None or y is None or z is None or x[1] != y[0] or x[2] != z[0] or y[2] != z[1]:
        return None
    half = 0.5 * (x[0] + y[1] + z[2])
    a, b, c, d, e, f = half - x[0], half - y[1], half - z[2], -x[1], -x[2], -y[2]
    plane = a * b - d * d
    volume = plane * c - a * f * f - b * e * e + 2.0 * d * e * f
    far = 1e-6 * half
    clear = far > bounds.least and a > far and plane > far * half and volume > far * half * half
    return (x, y, z) if clear else None


def _check_symmetric(check: Check, full: np.ndarray) -> None:
    gap = np.abs(full - full.T)
    if np.max(gap) > _SYMMETRY * np.max(np.abs(full)):
        i, j = np.unravel_index(int(np.argmax(gap)), (3, 3))
        i, j = min(i, j), max(i, j)
        check.fault(
            "inertia must be symmetric",
            full.tolist(),
            f"I{'xyz'[i]}{'xyz'[j]} = {full[i, j]:.9g} differs from I{'xyz'[j]}{'xyz'[i]} = {full[j, i]:.9g}",
        )


def _check_moments(check: Check, full: np.ndarray, triangle: bool) -> None:
    low, middle, high = (float(moment) for moment in np.linalg.eigvalsh(full))
    moments = f"the principal moments are {low:.9g}, {middle:.9g}, {high:.9g} kg m^2"
    if not np.any(full):
        return
    advice = "give even a thin rod a small moment about every axis; a particle has all three zero"
    if low <= 0.0:
        check.fault("inertia must be positive definite", full.tolist(), f"{moments}; {advice}")
    elif low <= _SPREAD * high:
        rule = "the principal moments of the inertia must lie within a factor of 1e15 of each other"
        check.fault(
            rule,
            full.tolist(),
            f"{moments}: double precision cannot distinguish the least from zero; {advice}",
        )
    elif low < (least := range_of("kg m^2").least):
        check.fault(f"the principal moments must be at least {least:g} kg m^2", full.tolist(), moments)
    elif triangle and low + middle < high * (1.0 - _TRIANGLE):
        check.fault(
            "inertia must obey the triangle inequality (no principal moment above the sum of the others)",
            full.tolist(),
            f"{moments}, and {low:.9g} + {middle:.9g} < {high:.9g}; no mass distribution has such moments. "
            "Is it in kg m^2, about the centre of mass? check_inertia=False takes published data as they are",
        )
