"""N-four-bar mechanisms: cranks side by side, their tips joined by couplers."""

from __future__ import annotations

import numpy as np

import bellcrank as bc
from bellcrank.bench.generators.rods import add_pin, add_rod, direction


def n_four_bar(
    n: int,
    *,
    length: float = 1.0,
    mass: float = 1.0,
    tip_speed: float = 1.0,
    angle: float = np.pi / 2,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """N windows of a plane ladder that lies on its side: n + 1 equal cranks and n couplers (2 n + 1 bodies).

    IFToMM benchmark A02. The cranks "crank 0" ... "crank n" turn about the ground points (k length, 0); the
    couplers "coupler 0", ... join their tips B_k = (k length, 0) + length (cos angle, sin angle). All rods
    are uniform and slender; the plane is xy, gravity along -y.

    length: of all rods, m. mass: of each, kg. tip_speed: of the tips along +x at angle = pi/2, m/s.
    angle: of the cranks from x, rad.
    The pins are revolute joints in space, so each window has three redundant rows. Where the cranks lie
    along x the freedom leaps from 1 to n + 1; started here, the motion goes through smoothly.
    """
    if n < 1:
        raise ValueError(f"n_four_bar: there must be at least one window, got n = {n}")
    mech = bc.Mechanism(f"{n}-four-bar", gravity=(0.0, -gravity, 0.0))
    rate = (0.0, 0.0, -tip_speed / length)
    pivots = [np.array([k * length, 0.0, 0.0]) for k in range(n + 1)]
    tips = [pivot + length * direction(angle) for pivot in pivots]
    tip_velocity = np.cross(rate, length * direction(angle))
    cranks = [
        add_rod(mech, f"crank {k}", pivots[k], tips[k], mass=mass, angular_velocity=rate)
        for k in range(n + 1)
    ]
    couplers = [
        add_rod(mech, f"coupler {k}", tips[k], tips[k + 1], mass=mass, start_velocity=tip_velocity)
        for k in range(n)
    ]
    for k, crank in enumerate(cranks):
        add_pin(mech, f"pivot {k}", mech.ground, crank, pivots[k])
    for k, coupler in enumerate(couplers):
        add_pin(mech, f"left {k}", cranks[k], coupler, tips[k])
        add_pin(mech, f"right {k}", coupler, cranks[k + 1], tips[k + 1])
    return mech
