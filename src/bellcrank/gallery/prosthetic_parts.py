"""Parts of the prosthetic arm: sizes and masses, each with where it comes from.

Segments: D. A. Winter, Biomechanics and Motor Control of Human Movement, 3rd edition, 2005, chapter 3:
lengths as fractions of the stature (figure 3.1), masses, centres of mass and radii of gyration as fractions
of the body's mass and the segment's length (table 3.1). The drive is chosen, with round numbers that are
usual for parts of this size; Tasora's paper gives none.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

import bellcrank as bc
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.mass import MassProperties, total
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
