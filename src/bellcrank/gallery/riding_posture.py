"""How a rider sits on a bicycle, and the efforts and loads that balance him so: statics in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.gallery.city_bicycle import CityBicycle
from bellcrank.gallery.rider import (
    Limb,
    Load,
    RiderData,
    bent,
    holding,
    pelvis_mass,
    trunk_mass,
    upper_body,
    weights,
)

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
