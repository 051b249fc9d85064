"""The prosthetic shoulder of Tasora's paper (section 6), alone and with elbow and wrist.

A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation in kinematic and
dynamical digital prototyping. The shoulder is a Cardan suspension driven through a differential gear: two
side gears sit on its second axis, and both mesh with a frontal pinion that is locked to the breast. In the
arm shield two motors turn ball screws; each nut pulls on a wire that is wound round the pulley of one side
gear. Side gears that turn the same way relative to the arm lift it sideways, against each other forwards.

World axes: x forward, y to the left, z up; the origin is the centre of a right shoulder. At zero angles the
arm hangs down. Positive angles lift it forwards (flexion) and sideways (abduction), and bend elbow and wrist
towards the front.

Segments: D. A. Winter, Biomechanics and Motor Control of Human Movement, 3rd edition, 2005, chapter 3:
lengths as fractions of the stature (figure 3.1), masses, centres of mass and radii of gyration as fractions
of the body's mass and the segment's length (table 3.1). The drive is chosen, with round numbers that are
usual for parts of this size; Tasora's paper gives none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, asin, atan2, cos, pi, sin
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import IDENTITY, from_rotation_vector, multiply, rotate
from bellcrank.mechanism.shape import Shape

SKIN = (0.87, 0.72, 0.60)
SHIELD = (0.62, 0.70, 0.78, 0.45)
STEEL = (0.55, 0.57, 0.60)
PINION = (0.35, 0.42, 0.55)
BRASS = (0.80, 0.66, 0.30)


@dataclass(frozen=True)
class Segment:
    """A limb segment along -z of its frame, whose origin is the proximal joint.

    length, com (distance from the proximal joint), gyration (radius about the com, across), radius: m.
    mass: kg.
    """

    length: float
    mass: float
    com: float
    gyration: float
    radius: float

    @property
    def tip(self) -> Vec3:
        """The distal joint, or the finger tips."""
        return (0.0, 0.0, -self.length)

    @property
    def mass_properties(self) -> MassProperties:
        """In the segment's frame; about its length the segment counts as a cylinder."""
        across, along = self.mass * self.gyration**2, 0.5 * self.mass * self.radius**2
        return MassProperties(self.mass, np.array([0.0, 0.0, -self.com]), np.diag([across, across, along]))

    def drawn(self, color: tuple[float, ...], start: float = 0.0) -> tuple[Shape, ...]:
        """A capsule from `start`, m from the proximal joint, to the end of the segment."""
        middle = (0.0, 0.0, -0.5 * (start + self.length))
        straight = self.length - start - 2.0 * self.radius
        return (bc.Capsule(radius=self.radius, length=straight, position=middle, color=color),)


def winter(
    stature: float, body: float, length: float, mass: float, com: float, gyration: float, radius: float
) -> Segment:
    """A segment from Winter's fractions; radius in m."""
    extent = length * stature
    return Segment(extent, mass * body, com * extent, gyration * extent, radius)


@dataclass(frozen=True)
class ArmParameters:
    """Sizes and masses of the arm, SI units.

    stature, body_mass: of the wearer.
    gear_module, pinion_teeth, side_teeth: of the differential's bevel gears.
    gear_mass: a side gear with its pulley. pulley_radius: of the groove for the wire.
    screw_lead: travel of a nut for each turn of its motor. screw_length: of its shaft.
    rotor_inertia: of motor rotor and ball screw about their axis. rotor_mass, nut_mass: of one each.
    nut_height: distance of a nut below the shoulder axis when its gear stands at zero.
    drive_offset: distance of pulley, wire and screw from the middle of the arm shield, to the front and rear.
    """

    stature: float = 1.75
    body_mass: float = 75.0
    gear_module: float = 0.0015
    pinion_teeth: int = 32
    side_teeth: int = 32
    gear_mass: float = 0.12
    pulley_radius: float = 0.025
    screw_lead: float = 0.002
    screw_length: float = 0.15
    rotor_inertia: float = 4e-6
    rotor_mass: float = 0.12
    nut_mass: float = 0.03
    nut_height: float = 0.13
    drive_offset: float = 0.031

    @property
    def upper_arm(self) -> Segment:
        """The upper arm as a whole, drive included."""
        return winter(self.stature, self.body_mass, 0.186, 0.028, 0.436, 0.322, 0.05)

    @property
    def forearm(self) -> Segment:
        """Elbow to wrist."""
        return winter(self.stature, self.body_mass, 0.146, 0.016, 0.430, 0.303, 0.035)

    @property
    def hand(self) -> Segment:
        """Wrist to finger tips, empty."""
        return winter(self.stature, self.body_mass, 0.108, 0.006, 0.506, 0.297, 0.025)

    @property
    def shield(self) -> MassProperties:
        """The arm shield: what the drive leaves of the upper arm's mass, distributed like the upper arm."""
        drive = 2.0 * (self.gear_mass + self.rotor_mass + self.nut_mass)
        whole = self.upper_arm.mass_properties
        return whole.scaled(1.0 - drive / whole.mass)

    def loaded_hand(self, payload: float) -> MassProperties:
        """The hand with a load, a ball of 4 cm radius, at its centre of mass."""
        hand = self.hand.mass_properties
        if payload == 0.0:
            return hand
        ball = MassProperties(payload, hand.com, 0.4 * payload * 0.04**2 * np.eye(3))
        return total([hand, ball])

    @property
    def pitch_radii(self) -> tuple[float, float]:
        """Pitch radii of pinion and side gears, m."""
        return (0.5 * self.gear_module * self.pinion_teeth, 0.5 * self.gear_module * self.side_teeth)

    @property
    def gear_ratio(self) -> float:
        """Turns of a side gear, relative to the Cardan's cross, for a turn of the cross about the pinion."""
        return self.pinion_teeth / self.side_teeth

    @property
    def reduction(self) -> float:
        """Turns of a motor for a turn of its side gear relative to the arm."""
        return 2.0 * pi * self.pulley_radius / self.screw_lead

    @property
    def gear(self) -> MassProperties:
        """A side gear with its pulley: a disc about x."""
        radius = self.pitch_radii[1]
        axial, across = 0.5 * self.gear_mass * radius**2, 0.25 * self.gear_mass * radius**2
        return MassProperties(self.gear_mass, np.zeros(3), np.diag([axial, 1.1 * across, 1.1 * across]))

    @property
    def screw(self) -> MassProperties:
        """Rotor and ball screw: a rod about z with the given inertia about it."""
        across = self.rotor_mass * self.screw_length**2 / 12
        return MassProperties(self.rotor_mass, np.zeros(3), np.diag([across, across, self.rotor_inertia]))

    @property
    def nut(self) -> MassProperties:
        """A ball nut: a ball of 12 mm radius."""
        return MassProperties(self.nut_mass, np.zeros(3), 0.4 * self.nut_mass * 0.012**2 * np.eye(3))


SIDES: Final = {"front": 1.0, "rear": -1.0}
"""The two halves of the drive, and on which side of the shoulder they lie along x."""

FLEXION_AXIS: Final[Vec3] = (0.0, -1.0, 0.0)
ABDUCTION_AXIS: Final[Vec3] = (-1.0, 0.0, 0.0)
DOWN: Final[Vec3] = (0.0, 0.0, -1.0)
_LYING_ALONG_X: Final[Quat] = from_rotation_vector((0.0, np.pi / 2, 0.0))
_LYING_ALONG_Y: Final[Quat] = from_rotation_vector((np.pi / 2, 0.0, 0.0))


@dataclass(frozen=True)
class Posture:
    """Angles of the arm, rad."""

    flexion: float = 0.0
    abduction: float = 0.0
    elbow: float = 0.0
    wrist: float = 0.0

    @property
    def arm(self) -> Quat:
        """Rotation of the upper arm: the first axis is fixed to the breast, the second turns about it."""
        return multiply(_turn(FLEXION_AXIS, self.flexion), _turn(ABDUCTION_AXIS, self.abduction))

    @property
    def forearm(self) -> Quat:
        """Rotation of the forearm relative to the upper arm."""
        return _turn(FLEXION_AXIS, self.elbow)

    @property
    def hand(self) -> Quat:
        """Rotation of the hand relative to the upper arm."""
        return _turn(FLEXION_AXIS, self.elbow + self.wrist)

    def gear_angle(self, side: str, parameters: ArmParameters) -> float:
        """Angle of a side gear relative to the arm, about the abduction axis: +-ratio flexion - abduction."""
        return SIDES[side] * parameters.gear_ratio * self.flexion - self.abduction


def reaching(point: Vec3, parameters: ArmParameters) -> Posture:
    """The posture that brings the wrist to a point, elbow bent forwards, hand straight: in closed form.

    Raises ValueError for a point out of reach.
    """
    upper, lower = parameters.upper_arm.length, parameters.forearm.length
    x, y, z = point
    cosine = (x * x + y * y + z * z - upper**2 - lower**2) / (2 * upper * lower)
    if not -1.0 <= cosine <= 1.0:
        raise ValueError(f"the wrist does not reach {point} m")
    elbow = acos(cosine)
    ahead, below = lower * sin(elbow), upper + lower * cos(elbow)
    if abs(y) > below:
        raise ValueError(f"the wrist does not reach so far sideways: {point} m")
    abduction = asin(-y / below)
    flexion = atan2(z, x) - atan2(-below * cos(abduction), ahead)
    return Posture(flexion, abduction, elbow)


def prosthetic_shoulder(
    posture: Posture | None = None, parameters: ArmParameters | None = None, payload: float = 0.0
) -> bc.Mechanism:
    """Prosthetic shoulder: a Cardan suspension driven by two ball screws through a bevel differential.

    Two degrees of freedom; 7 bodies, 40 constraint rows. A. Tasora, An optimized Lagrangian-multiplier
    approach for interactive multibody simulation in kinematic and dynamical digital prototyping, 2000,
    section 6.

    posture: where it starts, at rest; elbow and wrist are locked at their angles, forearm and hand belong to
        body "arm".
    parameters: sizes and masses. payload: mass in the hand, kg.
    """
    posture, parameters = posture or Posture(), parameters or ArmParameters()
    elbow, wrist = parameters.upper_arm.tip, _wrist_in_arm(posture, parameters)
    mass = total(
        [
            parameters.shield,
            parameters.forearm.mass_properties.moved(elbow, posture.forearm),
            parameters.loaded_hand(payload).moved(wrist, posture.hand),
        ]
    )
    shapes = [shape.moved(elbow, posture.forearm) for shape in parameters.forearm.drawn(SKIN)]
    shapes += [shape.moved(wrist, posture.hand) for shape in parameters.hand.drawn(SKIN)]
    builder = _Builder("prosthetic shoulder", posture, parameters)
    builder.shoulder(mass, shapes)
    return builder.mechanism


def prosthetic_arm(
    posture: Posture | None = None, parameters: ArmParameters | None = None, payload: float = 0.0
) -> bc.Mechanism:
    """Prosthetic arm: the shoulder of `prosthetic_shoulder` with elbow and wrist.

    Four degrees of freedom; 9 bodies, 50 constraint rows.

    posture: where it starts, at rest. parameters: sizes and masses. payload: mass in the hand, kg.

    Joints with an actuator: "front motor" and "rear motor" (angles of the rotors from where they start),
    "elbow" and "wrist". "cardan" has the angles flexion and abduction, "front gear" and "rear gear" those of
    the side gears relative to the arm. The marker "hand.wrist" is at the centre of the wrist.
    """
    posture, parameters = posture or Posture(), parameters or ArmParameters()
    builder = _Builder("prosthetic arm", posture, parameters)
    arm = builder.shoulder(parameters.shield, [])
    elbow, wrist = parameters.upper_arm.tip, _wrist_in_arm(posture, parameters)
    segment = parameters.forearm
    forearm = builder.body("forearm", segment.mass_properties, elbow, posture.forearm, segment.drawn(SKIN))
    properties = parameters.loaded_hand(payload)
    hand = builder.body("hand", properties, wrist, posture.hand, parameters.hand.drawn(SKIN))
    mechanism, axis = builder.mechanism, FLEXION_AXIS
    mechanism.add_joint("elbow", bc.Revolute(), arm.marker(elbow, axis), forearm.marker(axis=axis))
    mechanism.add_joint("wrist", bc.Revolute(), forearm.marker(segment.tip, axis), hand.marker(axis=axis))
    mechanism.add_marker(hand.marker(name="wrist"))
    return mechanism


def _wrist_in_arm(posture: Posture, parameters: ArmParameters) -> Vec3:
    x, y, z = rotate(posture.forearm, parameters.forearm.tip)
    return (x, y, z - parameters.upper_arm.length)


def _turn(axis: Vec3, angle: float) -> Quat:
    return from_rotation_vector((angle * axis[0], angle * axis[1], angle * axis[2]))


class _Builder:
    """Adds parts by their place in the arm, in the axes of the upper arm."""

    def __init__(self, name: str, posture: Posture, parameters: ArmParameters) -> None:
        self.mechanism = bc.Mechanism(name)
        self.posture = posture
        self.parameters = parameters

    def body(self, name: str, mass: MassProperties, at: Vec3, turn: Quat, shapes: Sequence[Shape]) -> bc.Body:
        """Add a body at a place and with a rotation given in the axes of the upper arm."""
        com, inertia = tuple(mass.com.tolist()), mass.inertia.tolist()
        return self.mechanism.add_body(
            name,
            mass=mass.mass,
            inertia=inertia,
            com=com,
            position=rotate(self.posture.arm, at),
            rotation=multiply(self.posture.arm, turn),
            shapes=shapes,
        )

    def shoulder(self, mass: MassProperties, shapes: Sequence[Shape]) -> bc.Body:
        """Add the arm shield with its suspension and both halves of the drive; returns it."""
        mechanism = self.mechanism
        shaft = bc.Cylinder(radius=0.005, length=0.078, rotation=_LYING_ALONG_X, color=STEEL)
        shapes = [shaft, *self.parameters.upper_arm.drawn(SHIELD, start=0.025), *shapes]
        arm = self.body("arm", mass, (0.0, 0.0, 0.0), IDENTITY, shapes)
        breast = mechanism.ground.marker(x_axis=FLEXION_AXIS, y_axis=ABDUCTION_AXIS)
        carried = arm.marker(x_axis=FLEXION_AXIS, y_axis=ABDUCTION_AXIS)
        mechanism.add_joint("cardan", bc.Universal(), breast, carried)
        pinion_radius, gear_radius = self.parameters.pitch_radii
        pinion = bc.Cylinder(
            radius=pinion_radius,
            length=0.008,
            position=(0.0, gear_radius, 0.0),
            rotation=_LYING_ALONG_Y,
            color=PINION,
        )
        mechanism.replace(mechanism.ground, shapes=[pinion])
        for side in SIDES:
            self._half(side, arm)
        return arm

    def _half(self, side: str, arm: bc.Body) -> None:
        """One half of the drive: side gear with pulley, motor with ball screw, nut, wire."""
        mechanism, p, sign = self.mechanism, self.parameters, SIDES[side]
        angle = self.posture.gear_angle(side, p)
        pinion_radius, gear_radius = p.pitch_radii
        centre = (sign * pinion_radius, 0.0, 0.0)
        gear = self.body(
            f"{side} gear", p.gear, centre, _turn(ABDUCTION_AXIS, angle), self._gear_shapes(sign)
        )
        mechanism.add_joint(
            f"{side} gear",
            bc.Revolute(),
            arm.marker(centre, ABDUCTION_AXIS),
            gear.marker(axis=ABDUCTION_AXIS),
        )
        pinion = mechanism.ground.marker((0.0, gear_radius, 0.0), axis=(0.0, 1.0, 0.0))
        mesh = bc.BevelGear(radii=p.pitch_radii)
        mechanism.add_constraint(f"{side} mesh", mesh, pinion, gear.marker(axis=(sign, 0.0, 0.0)))

        x, y = sign * p.drive_offset, -p.pulley_radius  # the wire runs down on the outer side of the pulley
        place = (x, y, -p.nut_height + p.pulley_radius * angle)
        low = (x, y, -p.nut_height)
        screw = self.body(f"{side} screw", p.screw, low, IDENTITY, self._screw_shapes())
        nut = self.body(f"{side} nut", p.nut, place, IDENTITY, [bc.Sphere(radius=0.012, color=BRASS)])
        mechanism.add_joint(f"{side} motor", bc.Revolute(), arm.marker(low, DOWN), screw.marker(axis=DOWN))
        height = (0.0, 0.0, place[2] - low[2])
        screw_joint = bc.Screw(pitch=p.screw_lead)
        mechanism.add_joint(
            f"{side} ball screw", screw_joint, screw.marker(height, DOWN), nut.marker(axis=DOWN)
        )
        mechanism.add_joint(f"{side} key", bc.NoTwist(), arm.marker(low, DOWN), nut.marker(axis=DOWN))
        rotation = mechanism.joints[f"{side} gear"]
        wire = bc.Winch(radius=-p.pulley_radius)
        mechanism.add_constraint(f"{side} wire", wire, rotation, arm.marker((x, y, 0.0)), nut.marker())

    def _gear_shapes(self, sign: float) -> Sequence[Shape]:
        p = self.parameters
        gear = bc.Cylinder(radius=p.pitch_radii[1], length=0.008, rotation=_LYING_ALONG_X, color=STEEL)
        at = (sign * (p.drive_offset - p.pitch_radii[0]), 0.0, 0.0)
        pulley = bc.Cylinder(
            radius=p.pulley_radius, length=0.006, position=at, rotation=_LYING_ALONG_X, color=BRASS
        )
        return [gear, pulley]

    def _screw_shapes(self) -> Sequence[Shape]:
        length = self.parameters.screw_length
        shaft = bc.Cylinder(radius=0.004, length=length, color=STEEL)
        motor = bc.Cylinder(
            radius=0.015, length=0.068, position=(0.0, 0.0, -0.5 * length - 0.034), color=STEEL
        )
        return [shaft, motor]
