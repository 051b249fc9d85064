"""A man on a bicycle: Tasora's second example, from data of one's own.

A. Tasora, An optimized Lagrangian-multiplier approach for interactive multibody simulation ..., 2000,
section 6: 17 bodies, 18 links with 92 constraints, tyres by slices, a seat with a measured curve. The paper
lists neither its bodies nor their data; these are chosen so that the counts are the paper's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.city_bicycle import ACROSS, CityBicycle, add_city_bicycle
from bellcrank.gallery.rider import (
    GRAVITY,
    SHIRT,
    SIDES,
    SKIN,
    TROUSERS,
    RiderData,
    RidingPosture,
    add_limb,
    pelvis_centre,
    pelvis_mass,
    sitting,
    trunk_mass,
    wheel_loads,
)
from bellcrank.gallery.rods import bars, vec
from bellcrank.mechanism.rotation import about

_BALANCE: Final = (150.0, 30.0, 2.0, 20.0)
"""Torque on the bar for lean, its rate and the bar's, N m/rad and N m s/rad, and its most, N m: assumed."""


def misplaced_stone(
    height: float, at: float = 2.0, length: float = 0.3, angle: float = 0.0, width: float = 1.0
) -> list[bc.Shape]:
    """A road with a stone of the pavement that stands out of it by a height, m; a plane alone for 0.

    at: where its first edge is, from below the rear hub at the start, m. length: along the road, m.
    angle: by which the stone is turned about the vertical, rad. width: across the road, m.
    """
    road: list[bc.Shape] = [bc.Plane(size=4.0, position=(at - 1.0, 0.0, 0.0), color=(0.80, 0.81, 0.80))]
    if height <= 0.0:
        return road
    depth = 0.2
    middle = (at + 0.5 * length, 0.0, height - 0.5 * depth)
    turn = about((0.0, 0.0, 1.0), angle)
    size = (length, width, depth)
    return [*road, bc.Box(size=size, position=middle, rotation=turn, color=(0.70, 0.64, 0.55))]


def man_on_bicycle(
    speed: float = 5.0,
    *,
    ground: list[bc.Shape] | None = None,
    rider: RiderData | None = None,
    bicycle: CityBicycle | None = None,
    seat: bc.Seat | None = None,
    pressure: float = 6e5,
    **tyre: Any,
) -> bc.Mechanism:
    """A man who coasts on a city bicycle along x, over a stone of 20 mm unless the ground is given.

    Bodies: "frame", "fork", "crank", "rear_wheel", "front_wheel", "pelvis", "trunk" (with the head), and
    "left_" and "right_" "foot", "shank", "thigh", "upper_arm", "forearm" (with the hand): 17, 18 joints.
    17 degrees of freedom; 7 of 92 rows are redundant. Muscles are springs and dampers about the posture in
    which he sits, which is an equilibrium; he steers into a fall by the torque "balance" on the bar.

    speed: at the start, m/s. ground: its shapes. rider, bicycle: their data. seat: the saddle.
    pressure: of both tyres, Pa. tyre: other fields of both, such as surface.

    Raises ValueError where arms or legs do not reach, and for a back or a seat that cannot carry him.
    """
    rider, bicycle, seat = rider or RiderData(), bicycle or CityBicycle(), seat or bc.Seat()
    if not (rider.spine > 0.0 and rider.lumbar[1] > 0.0):
        raise ValueError(f"the back must be stiff, got spine = {rider.spine} and lumbar = {rider.lumbar}")
    posture = sitting(rider, bicycle)
    mech = bc.Mechanism("man on a bicycle", gravity=(0.0, 0.0, -GRAVITY))
    kind = bc.Tyre(bicycle.radius, bicycle.width, pressure, **tyre)
    loads = wheel_loads(rider, bicycle, posture)
    add_city_bicycle(mech, bicycle, kind, loads, speed, misplaced_stone(0.02) if ground is None else ground)
    _add_torso(mech, rider, posture, speed)
    for side in SIDES:
        _add_arm(mech, rider, posture, side, speed)
        _add_leg(mech, rider, posture, side, speed)
    _sit_down(mech, bicycle, posture, seat)
    _balance(mech)
    return mech


def _add_torso(mech: bc.Mechanism, rider: RiderData, posture: RidingPosture, speed: float) -> None:
    """Pelvis and trunk, with the back between them."""
    pelvis_at = pelvis_centre(posture.hips, posture.lumbar)
    chest, skull = trunk_mass(rider)
    at = (chest * posture.trunk + skull * posture.head) / (chest + skull)
    wide = 0.5 * rider.length("hips") * np.array([0.0, 1.0, 0.0])
    broad = 0.5 * rider.length("shoulders") * np.array([0.0, 1.0, 0.0])
    pelvis = mech.add_body(
        "pelvis", mass=pelvis_mass(rider), inertia=(0.09, 0.07, 0.09), position=vec(pelvis_at),
        velocity=(speed, 0.0, 0.0),
        shapes=_drawn(TROUSERS, pelvis_at, (0.085, posture.hips - 0.8 * wide, posture.hips + 0.8 * wide)),
    )  # fmt: skip
    height = rider.height
    along = chest * (0.12 * height) ** 2 + skull * float(np.sum((posture.head - at) ** 2))
    trunk = mech.add_body(
        "trunk", mass=chest + skull, inertia=(along, along, 0.25 * along), position=vec(at),
        velocity=(speed, 0.0, 0.0),
        shapes=[
            *_drawn(SHIRT, at, (0.105, posture.lumbar, 0.75 * posture.neck + 0.25 * posture.lumbar)),
            *_drawn(SHIRT, at, (0.06, posture.neck - 0.9 * broad, posture.neck + 0.9 * broad)),
            *_drawn(SKIN, at, (0.05, posture.neck, posture.head)),
            bc.Sphere(radius=0.105, position=vec(posture.head - at), color=SKIN, touches=False),
        ],
    )  # fmt: skip
    _add_back(mech, rider, posture, pelvis, trunk)


def _add_back(
    mech: bc.Mechanism, rider: RiderData, posture: RidingPosture, pelvis: bc.Body, trunk: bc.Body
) -> None:
    """A bushing that is out of its rest by what it carries."""
    force, moment = posture.back
    stiffness = rider.spine
    turn = about(ACROSS, moment / rider.lumbar[1])
    mech.add_force(
        "back",
        bc.Bushing(
            stiffness=(stiffness,) * 3,
            damping=(0.01 * stiffness,) * 3,
            rotational_stiffness=rider.lumbar,
            rotational_damping=tuple(rider.posture_damping * k for k in rider.lumbar),
        ),
        pelvis.world_marker(vec(posture.lumbar + force / stiffness), rotation=turn),
        trunk.world_marker(vec(posture.lumbar)),
    )


def _add_arm(mech: bc.Mechanism, rider: RiderData, posture: RidingPosture, side: str, speed: float) -> None:
    limb = posture.limbs[side][0]
    upper, forearm = add_limb(mech, side, limb, rider.mass, speed, (SHIRT, SKIN))
    _add_joint(mech, rider, posture, f"{side} shoulder", mech.bodies["trunk"], upper, limb.points[0])
    _add_joint(mech, rider, posture, f"{side} elbow", upper, forearm, limb.points[1])
    grip, frame = vec(limb.points[2]), mech.bodies["frame"]
    mech.add_joint(f"{side} hand", bc.Fixed(), frame.world_marker(grip), forearm.world_marker(grip))


def _add_leg(mech: bc.Mechanism, rider: RiderData, posture: RidingPosture, side: str, speed: float) -> None:
    limb = posture.limbs[side][1]
    thigh, shank, foot = add_limb(mech, side, limb, rider.mass, speed, (TROUSERS, TROUSERS, SKIN))
    chain = (("hip", mech.bodies["pelvis"], thigh), ("knee", thigh, shank), ("ankle", shank, foot))
    for (name, one, two), point in zip(chain, limb.points, strict=False):
        _add_joint(mech, rider, posture, f"{side} {name}", one, two, point)
    pedal = vec(limb.points[3])
    at = mech.bodies["crank"].world_marker(pedal, axis=ACROSS)
    mech.add_joint(f"{side} pedal", bc.Revolute(), at, foot.world_marker(pedal, axis=ACROSS))


def _add_joint(
    mech: bc.Mechanism,
    rider: RiderData,
    posture: RidingPosture,
    name: str,
    one: bc.Body,
    two: bc.Body,
    point: np.ndarray,
) -> None:
    """A joint of the rider, with the spring that keeps it where it is."""
    at = vec(point)
    mech.add_joint(name, bc.Revolute(), one.world_marker(at, axis=ACROSS), two.world_marker(at, axis=ACROSS))
    stiffness = getattr(rider, name.split()[1])
    muscle = bc.TorsionSpring(
        stiffness=stiffness, damping=rider.posture_damping * stiffness, preload=posture.efforts[name]
    )
    mech.add_force(f"{name} muscle", muscle, joint=name)


def _sit_down(mech: bc.Mechanism, bicycle: CityBicycle, posture: RidingPosture, seat: bc.Seat) -> None:
    """The seat below the pelvis, pressed in by what it carries; the crank is held level."""
    load, x = posture.seat
    ends = np.roots([float(seat.hardening), 0.0, float(seat.stiffness), -load])
    depth = float(ends[np.isreal(ends)].real.max())
    top = np.array([x, 0.0, bicycle.saddle[2]])
    frame, pelvis = mech.bodies["frame"], mech.bodies["pelvis"]
    lowest = vec(top - (0.0, 0.0, depth))
    mech.add_force("seat", seat, frame.world_marker(vec(top)), pelvis.world_marker(lowest))
    mech.add_force("held level", bc.TorsionSpring(stiffness=200.0, damping=10.0), joint="bottom bracket")


def _balance(mech: bc.Mechanism) -> None:
    """He turns the bar into a fall, as far as his arms can."""
    lean, rate, damping, most = _BALANCE
    pose, steer = bc.EndPose("frame"), bc.EndPose("fork")
    ex = bc.expression
    turning = ex.dot(steer.angular_velocity - pose.angular_velocity, steer.z_axis)
    wanted = -lean * pose.y_axis.z - rate * ex.dot(pose.angular_velocity, pose.x_axis) - damping * turning
    torque = most * ex.tanh(wanted / most)
    fork, frame = mech.bodies["fork"], mech.bodies["frame"]
    axis = mech.joints["steering"].marker_2
    moment = tuple(torque * component for component in steer.z_axis)
    mech.add_force(
        "balance", bc.CustomForce((steer, pose), moment=moment),
        fork.marker(axis.position, rotation=axis.rotation), frame.marker(),
    )  # fmt: skip


def _drawn(
    color: tuple[float, ...], at: np.ndarray, bar: tuple[float, np.ndarray, np.ndarray]
) -> list[bc.Shape]:
    radius, start, end = bar
    return [replace(shape, color=color, touches=False) for shape in bars([start - at, end - at], radius)]
