"""A rider: segments by Winter's table, how they sit on a bicycle, and the efforts that hold them so.

Segments: D. A. Winter, Biomechanics and Motor Control of Human Movement, 4th edition, 2009, table 4.1
(masses, centres of mass, radii of gyration, after Dempster) and figure 4.1 (lengths, after Drillis and
Contini).
What the table does not give is assumed, and said to be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.city_bicycle import CityBicycle
from bellcrank.gallery.rods import bars, vec

SIDES: Final = {"left": 1.0, "right": -1.0}
GRAVITY: Final = 9.81
_ARM: Final = ("upper_arm", "forearm")
_LEG: Final = ("thigh", "shank", "foot")


@dataclass(frozen=True)
class RidingPosture:
    """Points of a rider who sits, m, and the efforts that hold them, N m and N.

    efforts: by joint. back: force (3,) and moment about y on the trunk at the lumbar joint. seat: the load,
    and where along x it acts.
    """

    limbs: dict[str, tuple[Limb, Limb]]
    lumbar: np.ndarray
    neck: np.ndarray
    trunk: np.ndarray
    head: np.ndarray
    hips: np.ndarray
    efforts: dict[str, float]
    back: tuple[np.ndarray, float]
    seat: tuple[float, float]


def sitting(rider: RiderData, bicycle: CityBicycle) -> RidingPosture:
    """Where the joints are, and the efforts in equilibrium."""
    hips = bicycle.saddle + np.array([0.0, 0.0, rider.length("ischium")])
    lumbar, neck, trunk, head = upper_body(rider, hips)
    limbs = {
        side: (_arm(rider, bicycle, neck, s), _leg(rider, bicycle, hips, s)) for side, s in SIDES.items()
    }
    weight = rider.mass * GRAVITY
    up = np.array([0.0, 0.0, 1.0])
    efforts, on_trunk, on_pelvis = {}, [], []
    for side, (arm, leg) in limbs.items():
        pedal = Load(leg.points[3], rider.foot_load * weight * up)
        for joint, name in enumerate(("hip", "knee", "ankle")):
            efforts[f"{side} {name}"] = holding(leg, joint, rider.mass, GRAVITY, pedal)
        on_pelvis.append(_passed_on(leg, [*weights(leg, rider.mass, GRAVITY), pedal], efforts[f"{side} hip"]))
        # The forearm hangs on the bar: without effort at the elbow it takes and gives a force alone.
        upper = Limb(arm.names[:1], arm.points[:2])
        elbow = Load(arm.points[1], rider.hand_load * weight * up)
        efforts[f"{side} shoulder"] = holding(upper, 0, rider.mass, GRAVITY, elbow)
        efforts[f"{side} elbow"] = 0.0
        loads = [*weights(upper, rider.mass, GRAVITY), elbow]
        on_trunk.append(_passed_on(arm, loads, efforts[f"{side} shoulder"]))
    chest, skull = trunk_mass(rider)
    on_trunk += [Load(trunk, -chest * GRAVITY * up), Load(head, -skull * GRAVITY * up)]
    force = -sum((load.force for load in on_trunk), np.zeros(3))
    moment = -sum(load.about(lumbar) for load in on_trunk)
    on_pelvis += [
        Load(lumbar, -force, -moment),
        Load(pelvis_centre(hips, lumbar), -pelvis_mass(rider) * GRAVITY * up),
    ]
    carried = -sum(load.force[2] for load in on_pelvis)
    x = sum(load.about(np.zeros(3)) for load in on_pelvis) / carried
    return RidingPosture(limbs, lumbar, neck, trunk, head, hips, efforts, (force, moment), (carried, x))


def _passed_on(limb: Limb, loads: list[Load], effort: float) -> Load:
    """What a limb in equilibrium exerts where it hangs: its loads, and the reaction of the effort there."""
    return Load(limb.points[0], sum((load.force for load in loads), np.zeros(3)), -effort)


def pelvis_centre(hips: np.ndarray, lumbar: np.ndarray) -> np.ndarray:
    """By Winter 0.105 of the way from L4-L5 to the hips."""
    return np.asarray(lumbar + 0.105 * (hips - lumbar))


def _arm(rider: RiderData, bicycle: CityBicycle, neck: np.ndarray, side: float) -> Limb:
    half = 0.5 * side * rider.length("shoulders")
    shoulder = neck + np.array([0.0, half, 0.0])
    grip = np.array([bicycle.grips[0], half, bicycle.grips[1]])
    elbow = bent(shoulder, grip, rider.length("upper_arm"), rider.length("forearm"), forwards=False)
    return Limb(_ARM, np.stack([shoulder, elbow, grip]))


def _leg(rider: RiderData, bicycle: CityBicycle, hips: np.ndarray, side: float) -> Limb:
    x, z = bicycle.bracket
    hip = hips + np.array([0.0, 0.5 * side * rider.length("hips"), 0.0])
    pedal = np.array([x + side * bicycle.crank, 0.5 * side * bicycle.tread, z])
    ankle = pedal + np.array([-rider.length("foot"), 0.0, rider.length("ankle_height")])
    knee = bent(hip, ankle, rider.length("thigh"), rider.length("shank"), forwards=True)
    return Limb(_LEG, np.stack([hip, knee, ankle, pedal]))


def wheel_loads(rider: RiderData, bicycle: CityBicycle, posture: RidingPosture) -> tuple[float, float]:
    """What the rear and the front wheel carry, N."""
    masses = list(bicycle.masses)
    for limbs in posture.limbs.values():
        for limb in limbs:
            masses += [
                (-load.force[2] / GRAVITY, load.point[0]) for load in weights(limb, rider.mass, GRAVITY)
            ]
    chest, skull = trunk_mass(rider)
    masses += [(chest, posture.trunk[0]), (skull, posture.head[0])]
    masses.append((pelvis_mass(rider), pelvis_centre(posture.hips, posture.lumbar)[0]))
    total = sum(mass for mass, _ in masses) * GRAVITY
    front = sum(mass * x for mass, x in masses) * GRAVITY / bicycle.wheelbase
    return total - front, front


SKIN: Final = (0.87, 0.72, 0.60)
SHIRT: Final = (0.35, 0.52, 0.68)
TROUSERS: Final = (0.30, 0.32, 0.38)
_DOWN: Final = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class BodySegment:
    """A segment between a proximal and a distal point.

    mass: part of the rider's. com: of the length, from the proximal point. gyration: radius about the centre
    of mass, across, by the length. radius: of its cylinder, m, which gives the moment about the length.
    """

    mass: float
    com: float
    gyration: float
    radius: float


SEGMENTS: Final = {
    "foot": BodySegment(0.0145, 0.500, 0.475, 0.035),
    "shank": BodySegment(0.0465, 0.433, 0.302, 0.05),
    "thigh": BodySegment(0.100, 0.433, 0.323, 0.07),
    "upper_arm": BodySegment(0.028, 0.436, 0.322, 0.04),
    "forearm": BodySegment(0.022, 0.569, 0.390, 0.035),  # with the hand; 0.682, 0.468 of 0.146 to the wrist
}
"""Of legs and arms; proximal points are those nearer the trunk."""

_PELVIS: Final = 0.142
_TRUNK: Final = 0.355  # thorax and abdomen
_HEAD: Final = 0.081


@dataclass(frozen=True)
class RiderData:
    """A rider. Lengths in parts of the height, but for the height, m; mass in kg; angles in rad.

    lean: of the trunk, forwards. pelvis: from the hips to the lumbar joint. ischium: from the hips down to
    the seat. hand_load, foot_load: parts of the weight that each elbow and each pedal carries.
    ankle, knee, hip, shoulder, elbow: stiffness of posture, N m/rad. lumbar: of the back about x, y and z,
    N m/rad; spine: along, N/m. posture_damping: of all of them by their stiffness, s.
    Stiffness, damping and loads are assumed.
    """

    height: float = 1.75
    mass: float = 75.0
    lean: float = 0.25
    foot: float = 0.080  # from the ankle to the ball, along
    ankle_height: float = 0.039
    shank: float = 0.246
    thigh: float = 0.245
    pelvis: float = 0.095
    trunk: float = 0.288  # from hip to shoulder
    hips: float = 0.191
    shoulders: float = 0.259
    upper_arm: float = 0.186
    forearm: float = 0.175  # from elbow to grip
    head: float = 0.116  # from C7-T1 to the ear canal
    ischium: float = 0.045
    hand_load: float = 0.08
    foot_load: float = 0.08
    ankle: float = 100.0
    knee: float = 150.0
    hip: float = 200.0
    shoulder: float = 100.0
    elbow: float = 100.0
    lumbar: tuple[float, float, float] = (300.0, 300.0, 20.0)
    spine: float = 1e5
    posture_damping: float = 0.06

    def __post_init__(self) -> None:
        if not (0.0 < self.height < 3.0 and 0.0 < self.mass < 1000.0):
            raise ValueError(f"a rider has a height in m and a mass in kg, got {self.height} and {self.mass}")

    def length(self, name: str) -> float:
        """A length in m."""
        return float(getattr(self, name)) * self.height


@dataclass(frozen=True)
class Limb:
    """A limb: names of its n segments, and the points (n + 1, 3) between which they lie, world axes, m."""

    names: tuple[str, ...]
    points: np.ndarray

    def centre(self, place: int) -> np.ndarray:
        """The centre of mass of a segment, m."""
        start, end = self.points[place], self.points[place + 1]
        return np.asarray(start + SEGMENTS[self.names[place]].com * (end - start))


def bent(start: np.ndarray, end: np.ndarray, first: float, second: float, forwards: bool) -> np.ndarray:
    """The joint between two points, at distances from either, in the plane along x and z through both.

    Distances are those in that plane. Raises ValueError where they do not reach.
    """
    way = (end - start)[[0, 2]]
    far = float(np.hypot(*way))
    if not abs(first - second) < far < first + second:
        raise ValueError(f"limbs of {first:.3f} and {second:.3f} m do not reach over {far:.3f} m")
    along = 0.5 * (far**2 + first**2 - second**2) / far
    side = sqrt(first**2 - along**2)
    x, z = way / far
    aside = np.array([-z, x]) if (-z > 0.0) == forwards else np.array([z, -x])
    place = start[[0, 2]] + along * np.array([x, z]) + side * aside
    share = along / far
    return np.array([place[0], start[1] + share * (end[1] - start[1]), place[1]])


def add_limb(
    mech: bc.Mechanism,
    side: str,
    limb: Limb,
    mass: float,
    speed: float,
    colors: tuple[tuple[float, ...], ...],
) -> list[bc.Body]:
    """Add the segments of a limb, frames at their centres of mass. mass: the rider's, kg; speed: m/s."""
    added = []
    for place, name in enumerate(limb.names):
        segment, centre = SEGMENTS[name], limb.centre(place)
        span = limb.points[place + 1] - limb.points[place]
        length = float(np.linalg.norm(span))
        axis = span / length
        across = segment.mass * mass * (segment.gyration * length) ** 2
        along = 0.5 * segment.mass * mass * segment.radius**2
        ends = [limb.points[place] - centre, limb.points[place + 1] - centre]
        added.append(
            mech.add_body(
                f"{side}_{name}",
                mass=segment.mass * mass,
                inertia=across * np.eye(3) + (along - across) * np.outer(axis, axis),
                position=vec(centre),
                velocity=(speed, 0.0, 0.0),
                shapes=[_painted(shape, colors[place]) for shape in bars(ends, segment.radius)],
            )
        )
    return added


def _painted(shape: bc.Capsule, color: tuple[float, ...]) -> bc.Capsule:
    return bc.Capsule(
        radius=shape.radius, length=shape.length, position=shape.position, rotation=shape.rotation,
        color=color, touches=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Load:
    """Forces and a moment on what they hold: force (3,), N, at a point (3,), m; moment about y, N m."""

    point: np.ndarray
    force: np.ndarray
    moment: float = 0.0

    def about(self, point: np.ndarray) -> float:
        """The moment about the y axis through a point, N m."""
        return self.moment + float(np.cross(self.point - point, self.force)[1])


def weights(limb: Limb, mass: float, gravity: float, first: int = 0) -> list[Load]:
    """The weights of a limb's segments, from one on. mass: the rider's, kg; gravity: m/s^2."""
    return [
        Load(limb.centre(place), SEGMENTS[limb.names[place]].mass * mass * gravity * _DOWN)
        for place in range(first, len(limb.names))
    ]


def holding(limb: Limb, joint: int, mass: float, gravity: float, end: Load) -> float:
    """The effort of a joint, N m about y on what is beyond, that holds a limb; end: the load at its end."""
    beyond = [*weights(limb, mass, gravity, joint), end]
    return -sum(load.about(limb.points[joint]) for load in beyond)


def upper_body(rider: RiderData, hips: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Lumbar joint, middle of the shoulders, centres of mass of trunk and head, m, above the hips' middle."""
    up = np.array([np.sin(rider.lean), 0.0, np.cos(rider.lean)])
    lumbar = hips + rider.length("pelvis") * up
    neck = hips + rider.length("trunk") * up
    trunk = neck + 0.63 * (lumbar - neck)  # thorax and abdomen: from C7-T1 to L4-L5
    head = neck + rider.length("head") * np.array([0.5 * np.sin(rider.lean), 0.0, 1.0])
    return lumbar, neck, trunk, head


def pelvis_mass(rider: RiderData) -> float:
    """Of the rider's pelvis, kg."""
    return _PELVIS * rider.mass


def trunk_mass(rider: RiderData) -> tuple[float, float]:
    """Thorax with abdomen, and head with neck, kg."""
    return _TRUNK * rider.mass, _HEAD * rider.mass
