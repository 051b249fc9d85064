"""A bicycle with a rider who holds still: two frames, and two wheels that roll on their sharp edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, pi, sin, tan
from typing import Any

import bellcrank as bc
from bellcrank import expression as ex
from bellcrank.gallery.rods import Vector, bars, vec
from bellcrank.mechanism.checking import Vec3

_ACROSS = (cos(pi / 4), sin(pi / 4), 0.0, 0.0)  # from z to the axle, along y
_TUBE = 0.02  # m


@dataclass(frozen=True)
class BicycleWheel:
    """A wheel. radius: m. mass: kg. ixx, iyy: moments about a diameter and about the axle, kg m^2."""

    radius: float
    mass: float
    ixx: float
    iyy: float


@dataclass(frozen=True)
class BicycleFrame:
    """A frame, in the axes of the literature: x forwards, z down, from where the rear wheel touches.

    x, z: its centre of mass, m. mass: kg. ixx, ixz, iyy, izz: entries of its inertia tensor there, kg m^2.
    """

    x: float
    z: float
    mass: float
    ixx: float
    ixz: float
    iyy: float
    izz: float


@dataclass(frozen=True)
class BicycleData:
    """The numbers of a bicycle.

    wheelbase: m. trail: how far the front wheel touches behind the steer axis, m. steer_axis_tilt: of that
    axis, backwards from upright, rad, less than a right angle. gravity: m/s^2.
    """

    wheelbase: float
    trail: float
    steer_axis_tilt: float
    gravity: float
    rear_wheel: BicycleWheel
    rear_frame: BicycleFrame
    front_frame: BicycleFrame
    front_wheel: BicycleWheel


BENCHMARK_BICYCLE = BicycleData(
    wheelbase=1.02,
    trail=0.08,
    steer_axis_tilt=pi / 10,
    gravity=9.81,
    rear_wheel=BicycleWheel(0.3, 2.0, 0.0603, 0.12),
    rear_frame=BicycleFrame(0.3, -0.9, 85.0, 9.2, 2.4, 11.0, 2.8),
    front_frame=BicycleFrame(0.9, -0.7, 4.0, 0.05892, -0.00756, 0.06, 0.00708),
    front_wheel=BicycleWheel(0.35, 3.0, 0.1405, 0.28),
)
"""Table 1 of Meijaard and others (2007)."""


def benchmark_bicycle(
    speed: float = 4.6, *, data: BicycleData = BENCHMARK_BICYCLE, tyres: Mapping[str, Any] | None = None
) -> bc.Mechanism:
    """The benchmark bicycle "rear_frame" (with the rider), "front_frame", "rear_wheel", "front_wheel".

    It starts upright and straight on along x, with the rear wheel on the origin and z upwards. The wheels
    roll without slip on sharp edges: "rear contact" and "front contact" are joints of the kind
    `RollingCurve` with the coordinates "x", "y", "s", "heading" and "lean". "steer" is positive to the
    right, as "lean" is. Three degrees of freedom of velocities (lean, steer, speed) and seven of positions.
    Between 4.292 m/s (weave) and 6.024 m/s (capsize) it is stable without control.
    Source: J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the
    balance and steer of a bicycle, Proc. R. Soc. A 463 (2007), table 1.

    speed: at the start, m/s. data: the bicycle's numbers. tyres: fields of `Tyre` but the radius, for wheels
    on tyres, "rear tyre" and "front tyre", instead of sharp edges; under its load each is as high as the
    edge. On hard, narrow ones it leans and steers as on edges, with six degrees of freedom more.

    Raises `ValueError` for a steer axis that is not between upright and level.
    """
    if not abs(data.steer_axis_tilt) < pi / 2:
        raise ValueError(
            "a steer axis tilts by less than a right angle (1.571 rad), "
            f"got steer_axis_tilt = {data.steer_axis_tilt} rad"
        )
    mech = bc.Mechanism("benchmark bicycle", gravity=(0.0, 0.0, -data.gravity))
    rear = _frame(mech, "rear_frame", data.rear_frame, speed, _rider(data))
    front = _frame(mech, "front_frame", data.front_frame, speed, _fork(data))
    ends = (("rear", data.rear_wheel, rear, 0.0), ("front", data.front_wheel, front, data.wheelbase))
    for (name, numbers, frame, at), load in zip(ends, _loads(data), strict=True):
        wheel = _wheel(mech, name, numbers, frame, at, speed)
        if tyres is None:
            _roll(mech, name, numbers, wheel, at, speed)
        else:
            _add_tyre(mech, name, numbers, wheel, load, tyres)
    tilt, foot = data.steer_axis_tilt, _on_steer_axis(data, 0.0)
    axis = (sin(tilt), 0.0, -cos(tilt))
    head = rear.marker(_seen_from(rear.position, foot), axis=axis)
    mech.add_joint("steer", bc.Revolute(), head, front.marker(_seen_from(front.position, foot), axis=axis))
    return mech


def _frame(mech: bc.Mechanism, name: str, p: BicycleFrame, speed: float, points: tuple[Vec3, ...]) -> bc.Body:
    """Add a frame; its frame of reference is at its centre of mass. points: of its tubes, world, m."""
    place = (p.x, 0.0, -p.z)
    return mech.add_body(
        name,
        mass=p.mass,
        # Seen with z upwards, products of inertia with z have the other sign.
        inertia=((p.ixx, 0.0, -p.ixz), (0.0, p.iyy, 0.0), (-p.ixz, 0.0, p.izz)),
        position=place,
        velocity=(speed, 0.0, 0.0),
        shapes=bars([_seen_from(place, point) for point in points], _TUBE),
    )


def _wheel(
    mech: bc.Mechanism, name: str, p: BicycleWheel, frame: bc.Body, at: float, speed: float
) -> bc.Body:
    """Add a wheel with its hub on a frame, above the ground at x = `at`."""
    wheel = mech.add_body(
        f"{name}_wheel",
        mass=p.mass,
        inertia=(p.ixx, p.iyy, p.ixx),
        shapes=[bc.Cylinder(radius=p.radius, length=_TUBE, rotation=_ACROSS)],
        position=(at, 0.0, p.radius),
        velocity=(speed, 0.0, 0.0),
        angular_velocity=(0.0, speed / p.radius, 0.0),
    )
    hub = frame.marker(_seen_from(frame.position, wheel.position), axis=(0, 1, 0))
    mech.add_joint(f"{name} hub", bc.Revolute(), hub, wheel.marker(axis=(0, 1, 0)))
    return wheel


def _roll(mech: bc.Mechanism, name: str, p: BicycleWheel, wheel: bc.Body, at: float, speed: float) -> None:
    """A wheel's edge on the ground."""
    x, y, s, heading, lean = (ex.symbol(word) for word in ("x", "y", "s", "heading", "lean"))
    edge = (p.radius * ex.cos(s), p.radius * ex.sin(s), 0.0)
    rolling = bc.RollingCurve((x, y), (x, y, 0.0), s, edge, heading, lean)
    begin = {"x": at, "y": 0.0, "s": -pi / 2, "heading": 0.0, "lean": 0.0}
    rates = {"x": speed, "y": 0.0, "s": speed / p.radius, "heading": 0.0, "lean": 0.0}
    axle = wheel.marker(x_axis=(1, 0, 0), y_axis=(0, 0, 1))
    mech.add_joint(f"{name} contact", rolling, mech.ground, axle, position=begin, velocity=rates)


def _add_tyre(
    mech: bc.Mechanism, name: str, p: BicycleWheel, wheel: bc.Body, load: float, fields: Mapping[str, Any]
) -> None:
    """A tyre that is as much larger than the wheel as its load, N, presses it in."""
    if not mech.ground.shapes:
        mech.replace(mech.ground, shapes=[bc.Plane(size=4.0)])
    sunk = 0.0
    for _ in range(20):  # the radius is in the law of the load, but hardly
        tyre = bc.Tyre(radius=p.radius + sunk, **fields)
        sunk = tyre.sunk(load)
    mech.add_force(f"{name} tyre", tyre, wheel.marker(axis=(0, 1, 0)), mech.ground)


def _loads(data: BicycleData) -> tuple[float, float]:
    """What the rear and the front wheel carry, N."""
    parts = [(data.rear_wheel.mass, 0.0), (data.front_wheel.mass, data.wheelbase)]
    parts += [(frame.mass, frame.x) for frame in (data.rear_frame, data.front_frame)]
    front = sum(mass * x for mass, x in parts) * data.gravity / data.wheelbase
    return sum(mass for mass, _ in parts) * data.gravity - front, front


def _on_steer_axis(data: BicycleData, height: float) -> Vec3:
    """The point of the steer axis at a height, m."""
    return (data.wheelbase + data.trail - height * tan(data.steer_axis_tilt), 0.0, height)


def _rider(data: BicycleData) -> tuple[Vec3, ...]:
    """The rear frame to look at: hub, saddle where the centre of mass is, head, and back along the ground."""
    saddle = (data.rear_frame.x, 0.0, -data.rear_frame.z)
    hub = (0.0, 0.0, data.rear_wheel.radius)
    pedals = (0.4 * data.wheelbase, 0.0, data.rear_wheel.radius)
    head = _on_steer_axis(data, 0.9 * saddle[2])
    return (saddle, hub, pedals, saddle, head, pedals)


def _fork(data: BicycleData) -> tuple[Vec3, ...]:
    """The front frame to look at: hub, along the steer axis, and back to the hands."""
    low = _on_steer_axis(data, 2.0 * data.front_wheel.radius)
    high = _on_steer_axis(data, -1.1 * data.rear_frame.z)
    hands = (high[0] - 0.15, 0.0, high[2])
    return ((data.wheelbase, 0.0, data.front_wheel.radius), low, high, hands)


def _seen_from(place: Vector, point: Vector) -> Vec3:
    """A world point in the axes of a body that is not turned, m."""
    return vec([a - b for a, b in zip(point, place, strict=True)])
