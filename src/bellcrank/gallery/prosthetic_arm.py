"""The prosthetic shoulder of Tasora's paper (section 6), alone and with elbow and wrist.

A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation in kinematic and
dynamical digital prototyping. The shoulder is a Cardan suspension driven through a differential gear: two
side gears sit on its second axis, and both mesh with a frontal pinion that is locked to the breast. In the
arm shield two motors turn ball screws; each nut pulls on a wire that is wound round the pulley of one side
gear. Side gears that turn the same way relative to the arm lift it sideways, against each other forwards.

World axes: x forward, y to the left, z up; the origin is the centre of a right shoulder. At zero angles the
arm hangs down. Positive angles lift it forwards (flexion) and sideways (abduction), and bend elbow and wrist
towards the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, asin, atan2, cos, sin
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.prosthetic_parts import BRASS, PINION, SHIELD, SKIN, STEEL, ArmParameters
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.mass import MassProperties, total
from bellcrank.mechanism.rotation import IDENTITY, from_rotation_vector, multiply, rotate
from bellcrank.mechanism.shape import Shape

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
