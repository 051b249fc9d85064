"""Closed loops in space that move although counting degrees of freedom says that they cannot."""

from __future__ import annotations

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import Vector, add_pin, vec
from bellcrank.mechanism.body import Ground

_CUBE = np.array(
    [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]],
    dtype=float,
)
_AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)


def bricard_linkage(
    length: float = 1.0,
    mass: float = 1.0,
    *,
    thickness: float = 0.1,
    gravity: Vector = (0.0, -9.81, 0.0),
) -> bc.Mechanism:
    """Bricard's linkage on six edges of a cube: five rods and the ground, six revolute joints, at rest.

    One degree of freedom where the count gives none: one row is redundant everywhere, and which one changes
    along the motion. IFToMM benchmark A04.

    length: of the edges, m. mass: of each rod, kg. thickness: of their square sections, m: with the default
    the moments of a rod are m (L^2 + t^2)/12 across and m t^2/6 along it, as in the benchmark.
    gravity: m/s^2.

    Bodies "rod 0" ... "rod 4" with frames at their middles, in world axes at the start; joints "joint 0"
    (ground - rod 0) ... "joint 5" (rod 4 - ground). "rod 2" ends in the point P3 = (1, -1, 1) length.
    """
    mech = bc.Mechanism("Bricard", gravity=vec(gravity))
    points = length * _CUBE
    across, along = mass * (length**2 + thickness**2) / 12, mass * thickness**2 / 6
    rods = []
    for k in range(5):
        edge = np.abs(points[k + 1] - points[k]) / length
        size = np.where(edge > 0.5, length, thickness)
        rods.append(
            mech.add_body(
                f"rod {k}",
                mass=mass,
                inertia=vec(np.where(edge > 0.5, along, across)),
                position=vec(0.5 * (points[k] + points[k + 1])),
                shapes=[bc.Box(size=vec(size))],
            )
        )
    links: list[bc.Body | Ground] = [mech.ground, *rods, mech.ground]
    for k in range(6):
        add_pin(mech, f"joint {k}", links[k], links[k + 1], points[k], _AXES[k])
    return mech
