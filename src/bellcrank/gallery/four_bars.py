"""Four-bar linkages: one loop of any lengths, and rows of equal ones."""

from __future__ import annotations

from math import acos, atan2, hypot, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import Vector, add_pin, add_rod, direction, vec
from bellcrank.mechanism.body import Ground


def four_bar(
    crank: float = 0.12,
    coupler: float = 0.36,
    rocker: float = 0.28,
    base: float = 0.40,
    *,
    angle: float = np.pi / 3,
    rate: float = 0.0,
    density: float = 1.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Plane four-bar linkage: crank, coupler and rocker on a fixed base, uniform slender rods.

    One degree of freedom. The default lengths are those of a crank-rocker: by Grashof's criterion the
    shortest and the longest bar together are no longer than the other two, and the crank is the shortest.
    J. E. Shigley, J. J. Uicker, Theory of Machines and Mechanisms.

    crank, coupler, rocker, base: lengths, m. angle, rate: of the crank from x, rad and rad/s.
    density: mass per length, kg/m. gravity: along -y, m/s^2.

    Plane xy; the crank turns about the origin, the rocker about (base, 0); the loop is the open one, with
    the coupler's far end above the line between the crank pin and the rocker's pivot. Bodies "crank",
    "coupler", "rocker" with frames at their middles; revolute joints "crank pivot", "crank pin",
    "rocker pin", "rocker pivot" about z, all zero at the start. Three rows are redundant.
    Raises ValueError for lengths that do not close at this angle.
    """
    pin = crank * direction(angle)
    apart = hypot(base - pin[0], pin[1])
    if not abs(coupler - rocker) < apart < coupler + rocker:
        raise ValueError(
            f"four_bar: bars of {coupler} m and {rocker} m do not close a gap of {apart:.6g} m at this angle"
        )
    inner = acos((apart**2 + coupler**2 - rocker**2) / (2 * apart * coupler))
    slope = atan2(-pin[1], base - pin[0]) + inner
    tip = pin + coupler * direction(slope)
    lean = atan2(tip[1], tip[0] - base)
    # The rates of coupler and rocker from what the crank does to the pin, along and across the other bar.
    coupler_rate = -rate * crank * sin(lean - angle) / (coupler * sin(lean - slope))
    rocker_rate = rate * crank * sin(angle - slope) / (rocker * sin(lean - slope))
    pivot = np.array([base, 0.0, 0.0])
    mech = bc.Mechanism("four-bar", gravity=(0.0, -gravity, 0.0))
    bars = [
        add_rod(mech, name, start, end, mass=density * length, thickness=0.05 * base,
                start_velocity=start_velocity, angular_velocity=(0.0, 0.0, turning))
        for name, start, end, length, start_velocity, turning in (
            ("crank", np.zeros(3), pin, crank, np.zeros(3), rate),
            ("coupler", pin, tip, coupler, np.cross((0.0, 0.0, rate), pin), coupler_rate),
            ("rocker", pivot, tip, rocker, np.zeros(3), rocker_rate),
        )
    ]  # fmt: skip
    add_pin(mech, "crank pivot", mech.ground, bars[0], (0.0, 0.0, 0.0))
    add_pin(mech, "crank pin", bars[0], bars[1], pin)
    add_pin(mech, "rocker pin", bars[1], bars[2], tip)
    add_pin(mech, "rocker pivot", mech.ground, bars[2], pivot)
    return mech


def n_four_bar(
    n: int = 3,
    *,
    length: float = 1.0,
    mass: float = 1.0,
    tip_speed: float = 1.0,
    angle: float = np.pi / 2,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """N-four-bar: n + 1 equal cranks side by side, their tips joined by n couplers (2 n + 1 bodies).

    One degree of freedom. IFToMM benchmark A02.

    The cranks "crank 0" ... "crank n" turn about the ground points (k length, 0); the
    couplers "coupler 0", ... join their tips B_k = (k length, 0) + length (cos angle, sin angle). All rods
    are uniform and slender; the plane is xy, gravity along -y.

    length: of all rods, m. mass: of each, kg. tip_speed: of the tips along +x at angle = pi/2, m/s.
    angle: of the cranks from x, rad.
    The pins are revolute joints in space, so each window has three redundant rows. Where the cranks lie
    along x the number of degrees of freedom jumps from 1 to n + 1; started here, the motion goes through
    smoothly.
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
