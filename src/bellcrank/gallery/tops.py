"""Single rigid bodies: free ones and spinning tops."""

from __future__ import annotations

import bellcrank as bc
from bellcrank.gallery.rods import Vector, bars, vec


def free_body(
    inertia: Vector = (1.0, 2.0, 3.0),
    angular_velocity: Vector = (0.01, 2.0, 0.02),
    *,
    mass: float = 1.0,
    velocity: Vector = (0.0, 0.0, 0.0),
    gravity: Vector = (0.0, 0.0, 0.0),
) -> bc.Mechanism:
    """A free body "body" that spins, by default near its middle axis, where it tumbles (Dzhanibekov).

    Six degrees of freedom.

    inertia: principal moments, kg m^2. mass: kg. angular_velocity: world axes, those
    of the body at the start, rad/s. velocity: of the centre of mass, m/s. gravity: m/s^2.
    """
    mech = bc.Mechanism("free body", gravity=vec(gravity))
    mech.add_body(
        "body",
        mass=mass,
        inertia=vec(inertia),
        velocity=vec(velocity),
        angular_velocity=vec(angular_velocity),
        shapes=[bc.Ellipsoid(radii=(0.6, 0.4, 0.2))],
    )
    return mech


def heavy_top(
    *,
    mass: float = 15.0,
    inertia: Vector = (0.234375, 0.46875, 0.234375),
    com: Vector = (0.0, 1.0, 0.0),
    angular_velocity: Vector = (0.0, 150.0, -4.61538),
    gravity: Vector = (0.0, 0.0, -9.81),
) -> bc.Mechanism:
    """A heavy top "top" on a ball joint "tip" at the origin; its frame is there.

    The default is the top of M. Geradin and A. Cardona, Flexible Multibody Dynamics, 2001, section 5.8.
    Three degrees of freedom.

    mass: kg. inertia: principal moments about the com, body axes (world axes at the
    start), kg m^2. com: m. angular_velocity: rad/s. gravity: m/s^2.
    """
    mech = bc.Mechanism("heavy top", gravity=vec(gravity))
    top = mech.add_body(
        "top",
        mass=mass,
        inertia=vec(inertia),
        com=vec(com),
        angular_velocity=vec(angular_velocity),
        shapes=[bc.Ellipsoid(radii=(0.3, 0.1, 0.3), position=vec(com)), *bars([(0.0, 0.0, 0.0), com], 0.04)],
    )
    mech.add_joint("tip", bc.Spherical(), mech.ground.marker(), top.marker())
    return mech
