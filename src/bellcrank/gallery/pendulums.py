"""Pendulums: a point mass in a plane and on a sphere, and plane chains of compound links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import Vector, bars, planar, vec


def simple_pendulum(
    position: Vector = (1.0, 0.0, 0.0),
    velocity: Vector = (0.0, 0.5, 0.0),
    *,
    mass: float = 1.0,
    gravity: Vector = (0.0, 0.0, -9.81),
    name: str = "simple pendulum",
) -> bc.Mechanism:
    """Simple pendulum, plane or spherical: a point mass on a massless rod from the origin.

    Five degrees of freedom: two of the point on its sphere, and three turns of the body about its centre of
    mass, which nothing starts. IFToMM benchmark A01 with position and velocity in the xy-plane and gravity
    along -y.

    position, velocity: initial ones of the mass, m and m/s; the velocity must be across the rod. mass: kg.
    gravity: m/s^2. name: of the mechanism.
    Body "bob"; joint "rod" holds the length. The rod pulls at the centre of mass, so that the body, which
    needs some inertia, does not turn.
    """
    mech = bc.Mechanism(name, gravity=vec(gravity))
    length = float(np.linalg.norm(position))
    radius = 0.05 * length
    bob = mech.add_body(
        "bob",
        mass=mass,
        inertia=(0.4 * mass * radius**2,) * 3,
        position=vec(position),
        velocity=vec(velocity),
        shapes=[bc.Sphere(radius=radius)],
    )
    mech.add_joint("rod", bc.Distance(length), mech.ground.marker(), bob.marker())
    return mech


@dataclass(frozen=True)
class Link:
    """A link of a plane chain.

    mass: kg. length: from its joint to the next, m. com: distance of the centre of mass from its joint, m.
    inertia: about the centre of mass, across the plane, kg m^2; None for a uniform slender rod.
    """

    mass: float
    length: float
    com: float
    inertia: float | None = None


def link_chain(
    links: Sequence[Link],
    angles: Sequence[float],
    rates: Sequence[float] | None = None,
    *,
    gravity: Vector = (0.0, -9.81, 0.0),
    name: str = "link chain",
) -> bc.Mechanism:
    """Links in the xy-plane, hinged in series to the origin; one degree of freedom each.

    angles: of the links from x, counter-clockwise, rad; rates: theirs, rad/s (at rest if not given).
    Bodies "link 1", ...: frames at their joints, x along the link. Joints "joint 1", ...: their angles are
    that of the first link from x, then each one relative to the link before.
    """
    mech = bc.Mechanism(name, gravity=vec(gravity))
    joint, moving = np.zeros(3), np.zeros(3)
    before = mech.ground.marker()
    for number, (link, angle) in enumerate(zip(links, angles, strict=True), start=1):
        rate = 0.0 if rates is None else rates[number - 1]
        across = link.mass * link.length**2 / 12 if link.inertia is None else link.inertia
        body = mech.add_body(
            f"link {number}",
            mass=link.mass,
            inertia=(0.1 * across, across, across),
            com=(link.com, 0.0, 0.0),
            position=vec(joint),
            rotation=planar(angle),
            velocity=vec(moving),
            angular_velocity=(0.0, 0.0, rate),
            shapes=[bc.Box(size=(link.length, 0.05, 0.05), position=(link.length / 2, 0.0, 0.0))],
        )
        mech.add_joint(f"joint {number}", bc.Revolute(), before, body.marker())
        along = link.length * np.array([cos(angle), sin(angle), 0.0])
        joint, moving = joint + along, moving + np.cross((0.0, 0.0, rate), along)
        before = body.marker((link.length, 0.0, 0.0))
    return mech


def double_pendulum(
    *,
    length: tuple[float, float] = (1.0, 1.0),
    mass: tuple[float, float] = (1.0, 1.0),
    angles: tuple[float, float] = (-np.pi / 4, np.pi / 6),
    rates: tuple[float, float] = (0.0, 0.0),
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Double pendulum of two uniform slender rods in the xy-plane.

    Two degrees of freedom.

    length, mass: of the rods, m and kg. angles, rates: of both rods from x,
    counter-clockwise, rad and rad/s. gravity: along -y, m/s^2. Names as in `link_chain`.
    """
    links = [Link(m, extent, extent / 2) for m, extent in zip(mass, length, strict=True)]
    return link_chain(links, angles, rates, gravity=(0.0, -gravity, 0.0), name="double pendulum")


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
