"""A Geneva drive: a pin on a crank turns a slotted wheel step by step; a disc locks it in between."""

from __future__ import annotations

from itertools import pairwise
from math import acos, cos, pi, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import Vector, planar

_FACET = 0.16  # rad, of the wheel's arcs; flat parts of the locking disc are about a quarter of that
_STEEL, _BRASS, _PIN = (0.55, 0.60, 0.66), (0.80, 0.66, 0.36), (0.25, 0.27, 0.30)


def geneva_drive(
    slots: int = 4,
    centre_distance: float = 0.1,
    *,
    pin_radius: float = 0.005,
    clearance: float = 2e-5,
    speed: float = 2 * pi,
    thickness: float = 0.01,
    density: float = 7800.0,
    stiffness: float = 2e7,
    friction: float = 0.1,
    load: float = 0.0,
) -> bc.Mechanism:
    """External Geneva drive: each turn of the crank turns the wheel by one slot, by contact of pin and slot.

    One degree of freedom, the wheel: a motor turns the crank, and contact alone moves the wheel. While the
    pin is out of the slots, the disc on the crank lies in one of the wheel's hollow arcs and locks it.
    J. H. Bickford, Mechanisms for intermittent motion, 1972: with the ratio q = sin(pi/slots) of crank to
    centre distance and the crank angle a from the line of centres the wheel's angle is
    atan(q sin a/(1 - q cos a)), and its speed at most q/(1 - q) times the crank's. To be simulated by
    steps of impulses, `method="moreau"`: many flat faces touch, and compliant contacts take short steps.

    slots: three or more. centre_distance: from the crank's axis to the wheel's, m. pin_radius: m.
    clearance: of the pin to either wall of its slot, and of the disc to the arcs, m. speed: of the crank,
    rad/s. thickness: along z, m. density: kg/m^3. stiffness, friction: of the contacts, N/m and 1. load:
    friction torque of the wheel's bearing, N m.

    Plane xy without gravity: the crank's axis at the origin, the wheel's at (centre_distance, 0). The pin
    starts opposite the wheel. Bodies "crank", "wheel"; joints "crank pivot" and "wheel pivot" (both 0 at the
    start), drive "motor", force "contact". Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("geneva_drive")
    demands.whole("slots", slots, least=3)
    demands.positive(centre_distance=centre_distance, pin_radius=pin_radius, thickness=thickness)
    demands.positive(density=density, stiffness=stiffness, clearance=clearance)
    demands.not_negative(friction=friction, load=load)
    demands.that(np.isfinite(speed), "speed must be finite", speed)
    demands.check()
    plan = _Plan(slots, centre_distance, pin_radius, clearance)
    demands.that(plan.lock > 3 * pin_radius and plan.deepest > 2 * pin_radius,
                 "pin_radius leaves no room for the locking disc or the wheel's hub", pin_radius,
                 f"less than {plan.largest_pin():.3g} m fits")  # fmt: skip
    demands.check()
    mech = bc.Mechanism("Geneva drive", gravity=(0.0, 0.0, 0.0))
    crank, wheel = _add_bodies(mech, plan, speed, thickness, density)
    mech.add_joint("crank pivot", bc.Revolute(), mech.ground.marker(rotation=planar(pi)), crank.marker())
    axis = mech.ground.marker((centre_distance, 0.0, 0.0), rotation=planar(pi))
    mech.add_joint("wheel pivot", bc.Revolute(), axis, wheel.marker())
    mech.add_drive("motor", joint="crank pivot", velocity=speed)
    if load > 0.0:
        mech.add_force("bearing", bc.JointFriction(load), mech.joints["wheel pivot"])
    contact = bc.Contact(stiffness, restitution=0.0, friction=friction)
    mech.add_force("contact", contact, crank, wheel)
    return mech


def _add_bodies(
    mech: bc.Mechanism, plan: _Plan, speed: float, thickness: float, density: float
) -> tuple[bc.Body, bc.Body]:
    wheel = mech.add_body(
        "wheel",
        position=(plan.distance, 0.0, 0.0),
        rotation=planar(pi),
        shapes=_wheel_shapes(plan, thickness, density),
    )
    crank = mech.add_body(
        "crank",
        rotation=planar(pi),
        angular_velocity=(0.0, 0.0, speed),
        shapes=_crank_shapes(plan, thickness, density),
    )
    return crank, wheel


class _Plan:
    """Lengths (m) and angles of the drive."""

    def __init__(self, slots: int, distance: float, pin: float, clearance: float) -> None:
        self.slots, self.distance, self.pin, self.clearance = slots, distance, pin, clearance
        self.half = pi / slots
        self.crank, self.rim = distance * sin(self.half), distance * cos(self.half)
        self.slot = pin + clearance  # half of its width
        self.lock = self.crank - 2.5 * pin
        self.deepest = distance - self.crank
        """Of the pin, from the wheel's axis."""

    def opening(self) -> float:
        """Half of the angle that is cut out of the locking disc: where the wheel's rim passes through it."""
        cosine = (self.distance**2 + self.lock**2 - self.rim**2) / (2.0 * self.distance * self.lock)
        return acos(cosine) + 0.01

    def largest_pin(self) -> float:
        """What fits, m."""
        return min(self.crank / 5.5, self.deepest / 2.0)


def _wheel_shapes(plan: _Plan, thickness: float, density: float) -> list[bc.Shape]:
    """Arms between slots, which lie at odd multiples of the half step: fans of prisms about their feet."""
    radius, away = plan.lock + plan.clearance, plan.distance
    # The arc about the crank's axis, which lies at (away, 0) from the wheel's, as far as the horns.
    end = pi / 2 - plan.half
    count = 2 * int(np.ceil(end / _FACET))
    middles = (np.arange(count) + 0.5) / count * 2.0 * end - end
    reach = radius / cos(end / count)  # corners of facets that touch the arc with their middles
    angles = np.append(middles - end / count, end)
    arc = np.column_stack([away - reach * np.cos(angles), reach * np.sin(angles)])
    horn = _at_slot(plan, plan.rim)
    outline = np.vstack([horn * [1, -1], arc, horn])
    foot = np.array([plan.slot / sin(plan.half), 0.0])
    shapes: list[bc.Shape] = []
    for arm in range(plan.slots):
        turn = planar(2.0 * arm * plan.half)
        shapes += [
            bc.Prism(outline=[foot, a, b], length=thickness, density=density, color=_BRASS, rotation=turn)
            for a, b in pairwise(outline)
        ]
    hub = min(plan.deepest - plan.pin, 0.6 * plan.rim)
    shapes.append(
        bc.Cylinder(radius=hub, length=0.5 * thickness, density=density, color=_BRASS, touches=False,
                    position=(0.0, 0.0, 0.75 * thickness))
    )  # fmt: skip
    return shapes


def _at_slot(plan: _Plan, along: float) -> np.ndarray:
    """The point of the wall of the upper slot of the arm along x at a distance from the wheel's axis."""
    direction = np.array([cos(plan.half), sin(plan.half)])
    return along * direction - plan.slot * np.array([-direction[1], direction[0]])


def _crank_shapes(plan: _Plan, thickness: float, density: float) -> list[bc.Shape]:
    """The pin on its arm, along x, and the locking disc: three sectors of a polygon."""
    opening = plan.opening()
    shapes: list[bc.Shape] = []
    for edges in np.array_split(np.linspace(opening, 2.0 * pi - opening, 3 * 36 + 1)[:-1], 3):
        last = edges[-1] + (edges[1] - edges[0])
        angles = np.append(edges, last)
        outline: list[Vector] = [(0.0, 0.0)]
        outline += [plan.lock * np.array([cos(angle), sin(angle)]) for angle in angles]
        shapes.append(bc.Prism(outline=outline, length=thickness, density=density, color=_STEEL))
    shapes.append(
        bc.Cylinder(radius=plan.pin, length=thickness, density=density, color=_PIN,
                    position=(plan.crank, 0.0, 0.0))
    )  # fmt: skip
    shapes.append(
        bc.Box(size=(plan.crank + 3 * plan.pin, 3 * plan.pin, 0.5 * thickness), density=density, color=_STEEL,
               touches=False, position=(0.5 * plan.crank, 0.0, -0.75 * thickness))
    )  # fmt: skip
    return shapes
