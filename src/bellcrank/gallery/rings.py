"""Rings, chains and ladders of equal slender rods, to any size."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.gallery.rods import Z_AXIS, Vector, add_pin, add_rod, direction, vec
from bellcrank.mechanism.body import Ground


def polyline(
    points: Sequence[Vector] | NDArray[np.float64],
    *,
    mass: float = 1.0,
    kind: str = "revolute",
    pinned_end: bool = False,
    gravity: Vector = (0.0, -9.81, 0.0),
    name: str = "chain",
) -> bc.Mechanism:
    """Rods "rod 0", ... between consecutive points, joined in series and to the ground at the first point.

    points: (n + 1, 3), m. mass: of each rod, kg. pinned_end: join the last point to the ground as well.
    kind: "revolute" (about z) or "spherical". Joints "joint 0", ... are at the points of these numbers.
    """
    places = np.asarray(points, dtype=float)
    mech = bc.Mechanism(name, gravity=vec(gravity))
    rods = [add_rod(mech, f"rod {k}", places[k], places[k + 1], mass=mass) for k in range(len(places) - 1)]
    carriers: list[bc.Body | Ground] = [mech.ground, *rods, *([mech.ground] if pinned_end else [])]
    for k in range(len(carriers) - 1):
        if kind == "revolute":
            add_pin(mech, f"joint {k}", carriers[k], carriers[k + 1], places[k])
        else:
            at = vec(places[k])
            ends = (carriers[k].world_marker(at), carriers[k + 1].world_marker(at))
            mech.add_joint(f"joint {k}", bc.Spherical(), *ends)
    return mech


def chain(
    n: int = 5, *, length: float = 1.0, mass: float = 1.0, kind: str = "revolute", angle: float = 0.0
) -> bc.Mechanism:
    """A chain of n rods from the origin, straight at an angle (rad) from x, at rest; gravity along -y.

    Degrees of freedom: n with revolute joints, 3 n with spherical ones.

    length, mass: of each rod, m and kg.
    kind: "revolute" (about z) or "spherical".
    """
    points = [k * length * direction(angle) for k in range(n + 1)]
    return polyline(points, mass=mass, kind=kind, name=f"chain of {n}")


def ring(n: int = 8, *, length: float = 1.0, mass: float = 1.0) -> bc.Mechanism:
    """A ring of n rods in the xy-plane, n even: a regular polygon hung by its top corner, at rest.

    Degrees of freedom: n - 2.

    length, mass: of each rod, m and kg.

    Rods "left 0", ... and "right 0", ... go down from the ground pin at the origin and meet at the bottom in
    the joint "closure". With gravity 9.81 m/s^2 and rods of 1 m it collapses like a whip about 1.2 s (n = 20)
    or 1.7 s (n = 40) after it is let go.
    Raises ValueError for an odd n or less than four rods.
    """
    if n % 2 or n < 4:
        raise ValueError(f"ring: the number of rods must be even and at least 4, got {n}")
    mech = bc.Mechanism(f"ring of {n}", gravity=(0.0, -9.81, 0.0))
    turn = 2.0 * pi / n
    ends = []
    for side, mirror in (("left", 1.0), ("right", -1.0)):
        before: bc.Body | Ground = mech.ground
        place = np.zeros(3)
        for k in range(n // 2):
            step = direction(pi + (k + 0.5) * turn)
            end = place + length * step * (mirror, 1.0, 1.0)
            rod = add_rod(mech, f"{side} {k}", place, end, mass=mass)
            add_pin(mech, f"{side} joint {k}", before, rod, place)
            before, place = rod, end
        ends.append((before, place))
    (left, bottom), (right, _) = ends
    add_pin(mech, "closure", left, right, bottom)
    return mech


def free_ring(
    n: int = 6, *, radius: float = 1.0, mass: float = 1.0, spin: Vector = (0.0, 0.0, 1.0)
) -> bc.Mechanism:
    """A ring of n rods with ball joints, floating without gravity, turning as a whole.

    Degrees of freedom: 3 n.

    radius: of the corners, m. mass: of each rod, kg. spin: angular velocity of all, rad/s.
    """
    mech = bc.Mechanism(f"free ring of {n}", gravity=(0.0, 0.0, 0.0))
    corners = [radius * direction(2 * pi * k / n) for k in range(n)]
    rods = []
    for k in range(n):
        begin, end = corners[k], corners[(k + 1) % n]
        velocity = np.cross(spin, begin)
        rods.append(
            add_rod(mech, f"rod {k}", begin, end, mass=mass, start_velocity=velocity, angular_velocity=spin)
        )
    for k in range(n):
        at = vec(corners[k])
        mech.add_joint(f"joint {k}", bc.Spherical(), rods[k - 1].world_marker(at), rods[k].world_marker(at))
    return mech


def ladder(n: int = 3, *, length: float = 1.0, mass: float = 1.0, angle: float = 0.3) -> bc.Mechanism:
    """A ladder of n rungs, hung from the ground: 3 n rods, n loops, revolute joints about z, at rest.

    Degrees of freedom: n.

    Side rods "left k" and "right k" hang at an angle (rad) from the vertical, with the rungs "rung k" between
    their lower ends. length, mass: of each rod, m and kg. Gravity along -y. All loops are parallelograms;
    each has three redundant rows.
    """
    mech = bc.Mechanism(f"ladder of {n}", gravity=(0.0, -9.81, 0.0))
    down, across = length * direction(angle - pi / 2), length * np.array([1.0, 0.0, 0.0])
    left: bc.Body | Ground = mech.ground
    right: bc.Body | Ground = mech.ground
    for k in range(n):
        top, low = k * down, (k + 1) * down
        sides = []
        for side, carrier, offset in (("left", left, 0.0), ("right", right, 1.0)):
            rod = add_rod(mech, f"{side} {k}", top + offset * across, low + offset * across, mass=mass)
            add_pin(mech, f"{side} joint {k}", carrier, rod, top + offset * across, Z_AXIS)
            sides.append(rod)
        rung = add_rod(mech, f"rung {k}", low, low + across, mass=mass)
        add_pin(mech, f"rung {k} left", sides[0], rung, low)
        add_pin(mech, f"rung {k} right", rung, sides[1], low + across)
        left, right = sides
    return mech
