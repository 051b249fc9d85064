"""A ratchet wheel that a pawl holds: it turns one way only."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar

_STEEL, _BRASS, _ROLLER = (0.55, 0.60, 0.66), (0.80, 0.66, 0.36), (0.25, 0.27, 0.30)


def ratchet_and_pawl(
    teeth: int = 12,
    radius: float = 0.05,
    *,
    depth: float = 0.008,
    roller_radius: float = 0.002,
    pawl_length: float = 0.05,
    offset: float = 0.002,
    spring: float = 0.05,
    load: float = 1.0,
    angle: float = 0.0,
    inertia: float = 1e-3,
    damping: float = 0.0,
    thickness: float = 0.01,
    friction: float = 0.0,
) -> bc.Mechanism:
    """Ratchet wheel and pawl: the wheel turns against its load, and the pawl does not let it turn back.

    2 degrees of freedom, the wheel and the pawl. The working faces of the teeth are radial, and the pawl ends
    in a roller, which touches a working face and the flank before it. Let c be its centre, p the pawl's pivot,
    e and n the unit normals of face and flank. Without friction their forces A and B follow from the balance
    of moments, A c x e + B c x n = -load and A (c - p) x e + B (c - p) x n = -spring. If the pivot lies below
    the roller (offset < 0) the face lifts the pawl, and the ratchet slips at loads above
    spring |c x e|/|(c - p) x e|. To be simulated by steps of impulses, `method="moreau"`.

    teeth: six or more. radius: to the teeth's tips, m. depth: of the teeth, m. roller_radius: m. pawl_length:
    from its pivot to the roller along the force of the working face, m. offset: of the pivot from the line of
    that force, outwards, m. spring: torque that presses the pawl on the wheel, N m. load: torque that turns
    the wheel back, N m. angle: by which the wheel is turned forwards at the start, rad; the pawl lies on the
    wheel. inertia: of the wheel, kg m^2. damping: of its bearing, N m s/rad. thickness: along z, m. friction:
    between roller and teeth.

    Plane xy without gravity; the wheel turns about the origin, forwards about +z, and the roller lies above.
    Bodies "wheel", "pawl" (frame at its pivot); joints "shaft" and "pivot", forces "load", "spring",
    "bearing", "contact". Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("ratchet_and_pawl")
    demands.whole("teeth", teeth, least=6)
    demands.positive(radius=radius, depth=depth, roller_radius=roller_radius, pawl_length=pawl_length)
    demands.positive(inertia=inertia, thickness=thickness)
    demands.not_negative(spring=spring, damping=damping, friction=friction)
    demands.that(np.isfinite(load), "load must be finite", load)
    demands.that(np.isfinite(angle), "angle must be finite", angle)
    demands.that(abs(offset) < 0.5 * pawl_length, "offset must be less than half of pawl_length", offset)
    demands.check()
    plan = _Plan(teeth, radius, depth, roller_radius)
    demands.that(depth < 0.5 * radius, "depth must be less than half of radius", depth)
    demands.that(plan.seat[1] + 0.5 * roller_radius < radius,
                 "roller_radius leaves no hold on the working face", roller_radius)  # fmt: skip
    demands.check()
    mech = bc.Mechanism("ratchet and pawl", gravity=(0.0, 0.0, 0.0))
    wheel = _add_wheel(mech, plan, inertia, thickness, angle)
    pivot = plan.seat + np.array([pawl_length, offset])
    pawl = _add_pawl(mech, plan, pivot, thickness, angle)
    mech.add_joint("shaft", bc.Revolute(), mech.ground.marker(), wheel.marker())
    mech.add_joint("pivot", bc.Revolute(), mech.ground.marker((*pivot, 0.0)), pawl.marker())
    mech.add_force("load", bc.JointMotor(-load), mech.joints["shaft"])
    mech.add_force("spring", bc.JointMotor(spring), mech.joints["pivot"])
    if damping > 0.0:
        mech.add_force("bearing", bc.JointMotor(0.0, droop=damping), mech.joints["shaft"])
    mech.add_force("contact", bc.Contact(1e8, restitution=0.0, friction=friction), wheel, pawl)
    return mech


class _Plan:
    """Lengths (m) of the teeth, and where the roller lies between two of them."""

    def __init__(self, teeth: int, radius: float, depth: float, roller: float) -> None:
        self.teeth, self.radius, self.root, self.roller = teeth, radius, radius - depth, roller
        self.pitch = 2.0 * pi / teeth
        along = self.foot - self.tip
        normal = np.array([along[1], -along[0]]) / hypot(*along)
        self.seat = np.array([roller, self.root + roller * (1.0 - normal[0]) / normal[1]])

    @property
    def tip(self) -> np.ndarray:
        """Of the tooth on whose flank the roller lies."""
        return self.radius * np.array([sin(self.pitch), cos(self.pitch)])

    @property
    def foot(self) -> np.ndarray:
        """Of the working face that the roller touches."""
        return np.array([0.0, self.root])

    def gap(self, centre: np.ndarray) -> float:
        """Between the roller with its centre at a point of the wheel's frame, and the wheel, m."""
        sides = np.array([self.foot, self.tip, self.tip * self.root / self.radius])
        turns = self.pitch * np.arange(self.teeth)
        cosine, sine = np.cos(turns)[:, None], np.sin(turns)[:, None]
        x, y = cosine * sides[:, 0] - sine * sides[:, 1], sine * sides[:, 0] + cosine * sides[:, 1]
        corners = np.stack([x, y], axis=-1)
        start, way = corners[:, :-1].reshape(-1, 2), np.diff(corners, axis=1).reshape(-1, 2)
        share = np.clip(np.sum((centre - start) * way, axis=1) / np.sum(way**2, axis=1), 0.0, 1.0)
        return float(np.hypot(*(centre - start - share[:, None] * way).T).min()) - self.roller

    def lift(self, pivot: np.ndarray, angle: float) -> float:
        """Turn of the pawl about its pivot (rad) with which the roller lies on the wheel at an angle."""
        arm, back = self.seat - pivot, np.array([[cos(angle), sin(angle)], [-sin(angle), cos(angle)]])

        def gap(turn: float) -> float:
            turned = np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
            return self.gap(back @ (pivot + turned @ arm))

        lifted, lying = -2.0 * (self.radius - self.root) / hypot(*arm), 0.0
        for _ in range(60):
            middle = 0.5 * (lifted + lying)
            lifted, lying = (middle, lying) if gap(middle) > 0.0 else (lifted, middle)
        return lifted


def _add_wheel(
    mech: bc.Mechanism, plan: _Plan, inertia: float, thickness: float, angle: float
) -> bc.Body:
    """Teeth are triangles from the axis; each reaches into the next one, below its working face."""
    beyond = plan.foot + 0.1 * (plan.foot - plan.tip)
    outline = [(0.0, 0.0), tuple(plan.tip), tuple(beyond)]
    shapes: list[bc.Shape] = [
        bc.Prism(outline=outline, length=thickness, color=_BRASS, rotation=planar(number * plan.pitch))
        for number in range(plan.teeth)
    ]
    hub = bc.Cylinder(radius=0.4 * plan.root, length=1.4 * thickness, color=_STEEL, touches=False)
    return mech.add_body(
        "wheel",
        mass=2.0 * inertia / plan.radius**2,
        inertia=(0.6 * inertia, 0.6 * inertia, inertia),
        rotation=planar(angle),
        shapes=[*shapes, hub],
    )


def _add_pawl(
    mech: bc.Mechanism, plan: _Plan, pivot: np.ndarray, thickness: float, angle: float
) -> bc.Body:
    tip, wide = plan.seat - pivot, plan.roller
    arm = bc.Prism(
        outline=[tuple(tip), (0.0, -1.5 * wide), (1.5 * wide, 0.0), (0.0, 1.5 * wide)],
        length=0.6 * thickness, density=7800.0, color=_STEEL, touches=False,
    )  # fmt: skip
    roller = bc.Cylinder(
        radius=plan.roller, length=thickness, density=7800.0, color=_ROLLER, position=(*tip, 0.0)
    )
    turn = planar(plan.lift(pivot, angle))
    return mech.add_body("pawl", position=(*pivot, 0.0), rotation=turn, shapes=[arm, roller])
