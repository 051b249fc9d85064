"""Parallel robots: platforms on several legs."""

from __future__ import annotations

from math import pi, radians

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import direction, vec


def stewart_platform(
    *,
    base_radius: float = 1.0,
    platform_radius: float = 0.6,
    height: float = 1.2,
    base_spacing: float = radians(25.0),
    platform_spacing: float = radians(25.0),
    platform_mass: float = 50.0,
    leg_mass: float = 8.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Stewart platform (Gough's hexapod): a platform on six legs whose lengths can be driven, at rest.

    Six degrees of freedom. Every leg is a cylinder on a universal joint and a piston that slides in it and
    carries the platform by a ball joint (6-UPS).

    V. E. Gough, S. G. Whitehall, Universal tyre test machine, Proc. 9th FISITA congress, 1962; D. Stewart,
    A platform with six degrees of freedom, Proc. Inst. Mech. Eng. 180, 1965.

    base_radius, platform_radius: of the circles on which the joints lie, m. height: of the platform, m.
    base_spacing, platform_spacing: angles between the two joints of a pair, rad. The pairs of the platform
        lie between those of the base: legs that stand close at the one end part at the other.
    platform_mass: kg; a disc 5 % as thick as its radius. leg_mass: of cylinder and piston together, kg.
    gravity: along -z, m/s^2.

    Bodies "platform", "cylinder 1" ... "cylinder 6", "piston 1" ... "piston 6"; joints "base 1", ...
    (universal), "leg 1", ... (prismatic; position: length of the leg, m), "top 1", ... (spherical). To drive
    a leg: ``mechanism.add_drive("drive 1", joint="leg 1", position=...)``.
    Raises ValueError for legs of no length.
    """
    if height <= 0.0:
        raise ValueError(f"stewart_platform: the platform must lie above the base, got height = {height} m")
    mech = bc.Mechanism("Stewart platform", gravity=(0.0, 0.0, -gravity))
    thickness = 0.05 * platform_radius
    across = platform_mass * (platform_radius**2 / 4 + thickness**2 / 12)
    platform = mech.add_body(
        "platform",
        mass=platform_mass,
        inertia=(across, across, platform_mass * platform_radius**2 / 2),
        position=(0.0, 0.0, height),
        shapes=[bc.Cylinder(radius=platform_radius, length=thickness)],
    )
    for k in range(6):
        pair, side = 2 * pi / 3 * (k // 2), 1.0 if k % 2 else -1.0
        low = base_radius * direction(pair + side * base_spacing / 2)
        high = platform_radius * direction(pair + side * (pi / 3 - platform_spacing / 2))
        _add_leg(mech, k + 1, low, high + np.array([0.0, 0.0, height]), leg_mass, platform)
    return mech


def _add_leg(
    mech: bc.Mechanism, number: int, low: np.ndarray, high: np.ndarray, mass: float, platform: bc.Body
) -> None:
    """A leg from a point of the base to one of the platform; cylinder and piston overlap."""
    length = float(np.linalg.norm(high - low))
    axis, foot, head = vec((high - low) / length), vec(low), vec(high)
    half = 0.6 * length
    halves = []
    for name, middle, radius in (
        ("cylinder", low + 0.5 * half * np.array(axis), 0.03),
        ("piston", high - 0.5 * half * np.array(axis), 0.018),
    ):
        across = 0.5 * mass * (half**2 / 12 + radius**2 / 4)
        frame = mech.ground.marker(axis=axis).rotation
        halves.append(
            mech.add_body(
                f"{name} {number}",
                mass=0.5 * mass,
                inertia=(across, across, 0.25 * mass * radius**2),
                position=vec(middle),
                rotation=frame,
                shapes=[bc.Cylinder(radius=radius, length=half)],
            )
        )
    cylinder, piston = halves
    base = cylinder.world_marker(foot, axis=axis)
    mech.add_joint(f"base {number}", bc.Universal(), mech.ground.marker(foot, axis=axis), base)
    mech.add_joint(f"leg {number}", bc.Prismatic(), base, piston.world_marker(head, axis=axis))
    mech.add_joint(f"top {number}", bc.Spherical(), piston.world_marker(head), platform.world_marker(head))
