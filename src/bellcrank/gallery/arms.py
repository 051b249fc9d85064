"""Serial robot arms whose joints are driven, so that the efforts of the drives are the inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.pendulums import Link, link_chain
from bellcrank.gallery.rods import Vector, bars, vec
from bellcrank.mechanism.checking import Quat
from bellcrank.mechanism.rotation import multiply

Motion = Sequence[tuple[float, float, float]]
"""Position, velocity and acceleration (rad, rad/s, rad/s^2) of each joint at time 0."""


def quadratic(motion: tuple[float, float, float]) -> bc.Polynomial:
    """Position q + v t + a t^2/2 for (q, v, a)."""
    position, velocity, acceleration = motion
    return bc.Polynomial((position, velocity, 0.5 * acceleration))


def add_drives(mech: bc.Mechanism, motion: Motion) -> bc.Mechanism:
    """Add drives "drive 1", ... that drive the joints "joint 1", ... by constant accelerations."""
    for number, values in enumerate(motion, start=1):
        mech.add_drive(f"drive {number}", joint=f"joint {number}", position=quadratic(values))
    return mech


def rr_arm(
    motion: Motion = ((0.5, 0.0, 1.0), (0.8, 0.0, -1.0)),
    *,
    mass: tuple[float, float] = (2.3, 1.7),
    com: tuple[float, float] = (0.35, 0.3),
    inertia: tuple[float, float] = (0.11, 0.07),
    length: float = 0.8,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Two-link arm in the xy-plane, both revolute joints driven; gravity along -y.

    No degree of freedom: the drives "drive 1" and "drive 2" drive both joints, so that their efforts are the
    inverse dynamics; without them two. J. J. Craig, Introduction to Robotics, chapter 6.

    motion: of "joint 1" (from x) and "joint 2" (relative to the first link).
    mass, com, inertia: of the links, kg, m from their joints, kg m^2 about the com. length: of the first, m.
    """
    links = [Link(mass[0], length, com[0], inertia[0]), Link(mass[1], 2 * com[1], com[1], inertia[1])]
    angles = np.cumsum([values[0] for values in motion])
    rates = np.cumsum([values[1] for values in motion])
    arm = link_chain(
        links, angles.tolist(), rates.tolist(), gravity=(0.0, -gravity, 0.0), name="two-link arm"
    )
    return add_drives(arm, motion)


@dataclass(frozen=True)
class DhLink:
    """A link in standard Denavit-Hartenberg parameters, with its mass and its motor.

    offset, length, twist: d, a (m) and alpha (rad).
    mass: kg; 0 for a link whose mass has no effect because it turns about an upright axis through its com.
    com: in the link's frame, m. inertia: principal moments about the com in the link's axes, kg m^2.
    motor_inertia: of the rotor, kg m^2. ratio: of the gear. viscous: at the motor, N m s/rad.
    coulomb: friction torques at the motor for turning forward and backward, N m; the second is negative.
    """

    offset: float
    length: float
    twist: float
    mass: float
    com: Vector
    inertia: Vector
    motor_inertia: float
    ratio: float
    viscous: float
    coulomb: tuple[float, float]


def dh_arm(
    motion: Motion,
    links: Sequence[DhLink],
    *,
    motors: bool = True,
    friction: bool = True,
    driven: bool = True,
    gravity: float = 9.81,
    name: str = "arm",
) -> bc.Mechanism:
    """A serial arm from Denavit-Hartenberg parameters; base z up, gravity along -z.

    motion: of the joints "joint 1", ...; it gives the initial configuration, and the drives "drive 1", ...
        if `driven`. Bodies "link 1", ... have the frames of the convention, and
        markers "link 1.joint", ... whose z axes lie on their joints' axes.
    motors: whether the rotors' inertias act, in geared motors "motor 1", ....
    friction: whether viscous and Coulomb friction act at the joints. A joint at rest has no Coulomb friction;
        the level is that of the direction it moves in at the start, which is exact as long as it does not
        turn round.
    """
    mech = bc.Mechanism(name, gravity=(0.0, 0.0, -gravity))
    place, turn = np.zeros(3), np.eye(3)
    moving, spin = np.zeros(3), np.zeros(3)
    carrier = mech.ground.marker()
    rotation: Quat = (1.0, 0.0, 0.0, 0.0)
    for number, (link, (angle, rate, _)) in enumerate(zip(links, motion, strict=True), start=1):
        held = _dh_rotation(0.0, link.twist)
        spin = spin + rate * turn[:, 2]
        rotation = multiply(rotation, _dh_rotation(angle, link.twist))
        shift = turn @ np.array([link.length * cos(angle), link.length * sin(angle), link.offset])
        place, moving = place + shift, moving + np.cross(spin, shift)
        turn = turn @ _dh_matrix(angle, link.twist)
        # The joint's frame in the link: turned back by the twist, a before and d above its joint.
        origin = -_dh_matrix(0.0, link.twist).T @ np.array([link.length, 0.0, link.offset])
        body = mech.add_body(
            f"link {number}",
            mass=link.mass or 1.0,
            inertia=_moments(link),
            com=vec(link.com),
            position=vec(place),
            rotation=rotation,
            velocity=vec(moving),
            angular_velocity=vec(spin),
            shapes=[bc.Sphere(radius=0.06), *bars([origin, (-link.length, 0.0, 0.0), (0.0, 0.0, 0.0)], 0.05)],
        )
        back = (held[0], -held[1], -held[2], -held[3])
        joint = f"joint {number}"
        mech.add_joint(joint, bc.Revolute(), carrier, body.marker(vec(origin), rotation=back, name="joint"))
        carrier = body.marker()
        if motors:
            mech.add_force(f"motor {number}", bc.GearedMotor(link.ratio, link.motor_inertia), joint=joint)
        if friction:
            level = abs(link.ratio) * abs(link.coulomb[0] if rate > 0 else link.coulomb[1])
            law = bc.JointFriction(
                viscous=link.ratio**2 * link.viscous, coulomb=level, regularisation_velocity=1e-4
            )
            mech.add_force(f"friction {number}", law, joint=joint)
    return add_drives(mech, motion) if driven else mech


def _dh_matrix(angle: float, twist: float) -> np.ndarray:
    """Rot(z, angle) Rot(x, twist)."""
    c, s, ct, st = cos(angle), sin(angle), cos(twist), sin(twist)
    return np.array([[c, -s * ct, s * st], [s, c * ct, -c * st], [0.0, st, ct]])


def _dh_rotation(angle: float, twist: float) -> Quat:
    about_z = (cos(angle / 2), 0.0, 0.0, sin(angle / 2))
    return multiply(about_z, (cos(twist / 2), sin(twist / 2), 0.0, 0.0))


def _moments(link: DhLink) -> tuple[float, float, float]:
    """The link's moments; those of a link that can only turn about one axis are filled up to a body's."""
    largest = max(link.inertia)
    return vec([value or largest for value in link.inertia])
