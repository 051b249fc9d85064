"""A tangent cam, which lifts a follower with a round end against a spring."""

from __future__ import annotations

from math import acos, cos, pi, sin

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar

_STEEL, _FOLLOWER = (0.55, 0.60, 0.66), (0.80, 0.66, 0.36)


def cam_and_follower(
    base_radius: float = 0.02,
    nose_radius: float = 0.008,
    lift: float = 0.012,
    *,
    roller_radius: float = 0.008,
    follower_mass: float = 0.2,
    stiffness: float = 4000.0,
    preload: float = 40.0,
    speed: float = 10 * pi,
    width: float = 0.012,
    density: float = 7800.0,
    contact_stiffness: float = 1e7,
    friction: float = 0.0,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Tangent cam and a follower with a round end, which a spring presses on it: contact without a joint.

    One degree of freedom, the follower: a motor turns the cam. The cam is a base circle and a nose circle
    with two straight flanks, which touch both. With R = base_radius + roller_radius the follower rises by
    R (1/cos v - 1) at the angle v from where the flank begins, and over the nose it moves like a slider-crank
    (J. E. Shigley, J. J. Uicker, Theory of Machines and Mechanisms).

    base_radius, nose_radius, lift, roller_radius: of the cam and of the follower's round end, m.
    follower_mass: kg. stiffness, preload: of the spring, N/m, and N at the lowest place. speed: of the cam,
    rad/s. width: of the cam, m. density: of the cam, kg/m^3. contact_stiffness, friction: of the contact, N/m
    and 1. gravity: along -y, m/s^2.

    Plane xy; the cam turns about the origin, its nose down at the start; the follower slides along y. Bodies
    "cam", "follower"; joints "shaft" (0 at the start), "guide" (position: the lift, m), drive "motor", forces
    "spring", "contact". Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("cam_and_follower")
    demands.positive(base_radius=base_radius, nose_radius=nose_radius, lift=lift, roller_radius=roller_radius)
    demands.positive(follower_mass=follower_mass, width=width, density=density)
    demands.positive(contact_stiffness=contact_stiffness)
    demands.not_negative(stiffness=stiffness, preload=preload, friction=friction, gravity=gravity)
    demands.check()
    demands.that(nose_radius < base_radius, "nose_radius must be less than base_radius", nose_radius)
    demands.check()
    mech = bc.Mechanism("cam and follower", gravity=(0.0, -gravity, 0.0))
    shapes = _profile(base_radius, nose_radius, base_radius + lift - nose_radius, width, density)
    cam = mech.add_body("cam", rotation=planar(-pi / 2), angular_velocity=(0.0, 0.0, speed), shapes=shapes)
    low = base_radius + roller_radius
    follower = _add_follower(mech, low, roller_radius, follower_mass, width)
    mech.add_joint("shaft", bc.Revolute(), mech.ground.marker(rotation=planar(-pi / 2)), cam.marker())
    up = (0.0, 1.0, 0.0)
    mech.add_joint(
        "guide", bc.Prismatic(), mech.ground.marker((0.0, low, 0.0), axis=up), follower.marker(axis=up)
    )
    mech.add_drive("motor", joint="shaft", velocity=speed)
    if stiffness > 0.0 or preload > 0.0:
        spring = bc.TorsionSpring(stiffness, preload=-preload)
        mech.add_force("spring", spring, mech.joints["guide"])
    contact = bc.Contact(contact_stiffness, restitution=0.0, friction=friction)
    mech.add_force("contact", contact, cam, follower)
    return mech


def _add_follower(mech: bc.Mechanism, low: float, radius: float, mass: float, width: float) -> bc.Body:
    length = 5.0 * radius
    return mech.add_body(
        "follower",
        mass=mass,
        inertia=(mass * length**2 / 3,) * 3,
        position=(0.0, low, 0.0),
        shapes=[
            bc.Sphere(radius=radius, color=_FOLLOWER),
            bc.Box(size=(radius, length, 0.6 * width), position=(0.0, 0.5 * length, 0.0),
                   color=_FOLLOWER, touches=False),
        ],
    )  # fmt: skip


def _profile(base: float, nose: float, offset: float, width: float, density: float) -> list[bc.Shape]:
    """Two circles and the straight part between them. The nose lies along x.

    The mass counts overlaps twice, which does not matter as the cam is driven.
    """
    flank = acos((base - nose) / offset)
    n_x, n_y = cos(flank), sin(flank)
    outline = [
        (base * n_x, -base * n_y),
        (offset + nose * n_x, -nose * n_y),
        (offset + nose * n_x, nose * n_y),
        (base * n_x, base * n_y),
    ]
    deep = 0.5 * nose  # of the boxes that are the flanks, inwards
    length = offset * n_y
    flanks = [
        bc.Box(
            size=(length, deep, width),
            position=(
                0.5 * (base + nose - deep) * n_x + 0.5 * offset,
                side * 0.5 * (base + nose - deep) * n_y,
                0.0,
            ),
            rotation=planar(side * (flank - pi / 2)),
            color=_STEEL,
        )
        for side in (1.0, -1.0)
    ]
    return [
        bc.Cylinder(radius=base, length=width, density=density, color=_STEEL),
        bc.Cylinder(radius=nose, length=width, position=(offset, 0.0, 0.0), density=density, color=_STEEL),
        bc.Prism(outline=outline, length=width, density=density, color=_STEEL, touches=False),
        *flanks,
    ]
