"""A city bicycle on two tyres. Sizes are those of usual ones; masses and moments are assumed."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, tan
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import bars, vec
from bellcrank.mechanism.checking import Vec3

PAINT: Final = (0.16, 0.34, 0.30)
STEEL: Final = (0.62, 0.64, 0.66)
RUBBER: Final = (0.14, 0.14, 0.15)
ACROSS: Final = (0.0, 1.0, 0.0)
_FROM_Z: Final = (cos(pi / 4), -sin(pi / 4), 0.0, 0.0)  # a cylinder's axis onto the axle


@dataclass(frozen=True)
class CityBicycle:
    """A bicycle in its plane: x forwards from below the rear hub, z up from the ground, tyres not pressed in.

    wheelbase, trail: m. steer_tilt: of the steering axis, backwards from upright, rad. bracket: of the
    crank's axle, (x, z), m. crank: its length, m. seat_tube: the saddle's height above the bracket, and how
    far it lies behind, m. grips: (x, z), m. tread: distance of the pedals' middles, m.
    radius, width: of the tyres (28-622), m.
    frame, fork: mass, kg, centre of mass (x, z), m, moments about x, y, z, kg m^2; the fork with bar.
    rear, front: mass and moments of a wheel across and about its axle. crank_mass: with pedals, kg.
    """

    wheelbase: float = 1.06
    trail: float = 0.06
    steer_tilt: float = 0.35
    bracket: tuple[float, float] = (0.44, 0.28)
    crank: float = 0.17
    seat_tube: tuple[float, float] = (0.67, 0.21)
    grips: tuple[float, float] = (0.72, 1.06)
    tread: float = 0.22
    radius: float = 0.338
    width: float = 0.028
    frame: tuple[float, float, float, Vec3] = (8.7, 0.40, 0.55, (0.45, 1.10, 0.80))
    fork: tuple[float, float, float, Vec3] = (2.6, 0.86, 0.80, (0.18, 0.16, 0.08))
    rear: tuple[float, float, float] = (2.5, 0.09, 0.17)
    front: tuple[float, float, float] = (1.9, 0.08, 0.15)
    crank_mass: float = 0.8

    @property
    def saddle(self) -> np.ndarray:
        """The middle of the saddle's top (3,), m."""
        up, behind = self.seat_tube
        return np.array([self.bracket[0] - behind, 0.0, self.bracket[1] + up])

    def on_steering_axis(self, height: float) -> np.ndarray:
        """The point of the steering axis at a height, m."""
        return np.array([self.wheelbase + self.trail - height * tan(self.steer_tilt), 0.0, height])

    @property
    def steering_axis(self) -> Vec3:
        """Upwards, a unit vector: turning about it by a positive angle is to the left."""
        return (-sin(self.steer_tilt), 0.0, cos(self.steer_tilt))

    @property
    def masses(self) -> list[tuple[float, float]]:
        """Masses, kg, and where along x they are, m."""
        wheels = [(self.rear[0], 0.0), (self.front[0], self.wheelbase)]
        return [(self.frame[0], self.frame[1]), (self.fork[0], self.fork[1]), *wheels,
                (self.crank_mass, self.bracket[0])]  # fmt: skip


def add_city_bicycle(
    mech: bc.Mechanism,
    data: CityBicycle,
    tyre: bc.Tyre,
    loads: tuple[float, float],
    speed: float,
    ground: list[bc.Shape],
) -> None:
    """Add "frame", "fork", "crank", "rear_wheel" and "front_wheel", their joints and the tyres.

    Joints: "rear hub", "front hub", "steering", "bottom bracket". Forces: "rear tyre", "front tyre".
    tyre: of both wheels. loads: on the rear and on the front wheel, N, by which the tyres are pressed in at
    the start. speed: m/s. ground: shapes of the ground.
    """
    mech.replace(mech.ground, shapes=ground)
    sunk = [tyre.sunk(load) for load in loads]
    hubs = [np.array([x, 0.0, tyre.radius - d]) for x, d in zip((0.0, data.wheelbase), sunk, strict=True)]
    frame = _frame(mech, data, speed, hubs[0])
    fork = _fork(mech, data, speed, hubs[1])
    foot = vec(data.on_steering_axis(0.5))
    axis = data.steering_axis
    mech.add_joint(
        "steering", bc.Revolute(), frame.world_marker(foot, axis=axis), fork.world_marker(foot, axis=axis)
    )
    _add_crank(mech, data, frame, speed)
    places = (("rear", data.rear, frame), ("front", data.front, fork))
    for (name, numbers, carrier), hub, depth in zip(places, hubs, sunk, strict=True):
        wheel = _add_wheel(mech, f"{name}_wheel", data, numbers, hub, speed, depth)
        at = carrier.world_marker(vec(hub), axis=ACROSS)
        mech.add_joint(f"{name} hub", bc.Revolute(), at, wheel.marker(axis=ACROSS))
        mech.add_force(f"{name} tyre", tyre, wheel.marker(axis=ACROSS), mech.ground)


def _frame(mech: bc.Mechanism, data: CityBicycle, speed: float, hub: np.ndarray) -> bc.Body:
    mass, x, z, inertia = data.frame
    at = np.array([x, 0.0, z])
    bracket = np.array([data.bracket[0], 0.0, data.bracket[1]])
    top, low = data.saddle - (0.0, 0.0, 0.06), data.on_steering_axis(0.62)
    head = data.on_steering_axis(0.80)
    drawn = bars([p - at for p in (hub, bracket, top, hub)], 0.011) + bars(
        [p - at for p in (bracket, low)], 0.02
    )
    drawn += bars([p - at for p in (low, head)], 0.021) + bars(
        [top - at, 0.6 * top + 0.4 * bracket - at], 0.016
    )
    saddle = bc.Box(size=(0.27, 0.15, 0.06), position=vec(data.saddle - at - (0.0, 0.0, 0.03)), color=RUBBER)
    return mech.add_body(
        "frame", mass=mass, inertia=inertia, position=vec(at), velocity=(speed, 0.0, 0.0),
        shapes=[*_painted(drawn, PAINT), saddle],
    )  # fmt: skip


def _fork(mech: bc.Mechanism, data: CityBicycle, speed: float, hub: np.ndarray) -> bc.Body:
    mass, x, z, inertia = data.fork
    at = np.array([x, 0.0, z])
    low, high = data.on_steering_axis(0.66), data.on_steering_axis(data.grips[1])
    middle = np.array([0.5 * (high[0] + data.grips[0]), 0.0, data.grips[1]])
    drawn = bars([p - at for p in (low, high, middle)], 0.013)
    for side in (-1.0, 1.0):
        blade = side * np.array([0.0, 0.05, 0.0])
        grip = np.array([data.grips[0], side * 0.24, data.grips[1]])
        back = np.array([0.1, 0.0, 0.0])
        drawn += bars([low - at, low + blade - at, hub + blade - at], 0.010)
        drawn += bars([middle - at, grip + 0.4 * back - at, grip - back - at], 0.012)
    return mech.add_body(
        "fork", mass=mass, inertia=inertia, position=vec(at), velocity=(speed, 0.0, 0.0),
        shapes=_painted(drawn, STEEL),
    )  # fmt: skip


def _add_crank(mech: bc.Mechanism, data: CityBicycle, frame: bc.Body, speed: float) -> None:
    """Level: the left pedal in front."""
    at = np.array([data.bracket[0], 0.0, data.bracket[1]])
    mass, length, half = data.crank_mass, data.crank, 0.5 * data.tread
    about = mass * length**2 / 3.0
    arms = [
        bars(
            [
                (0.0, 0.4 * s * half, 0.0),
                (s * length, 0.6 * s * half, 0.0),
                (s * length, s * 1.3 * half, 0.0),
            ],
            0.01,
        )
        for s in (1.0, -1.0)
    ]
    crank = mech.add_body(
        "crank", mass=mass, inertia=(0.4 * about, about, about), position=vec(at), velocity=(speed, 0.0, 0.0),
        shapes=_painted(arms[0] + arms[1], STEEL),
    )  # fmt: skip
    bracket = frame.world_marker(vec(at), axis=ACROSS)
    mech.add_joint("bottom bracket", bc.Revolute(), bracket, crank.marker(axis=ACROSS))


def _add_wheel(
    mech: bc.Mechanism,
    name: str,
    data: CityBicycle,
    numbers: tuple[float, float, float],
    hub: np.ndarray,
    speed: float,
    sunk: float,
) -> bc.Body:
    mass, across, along = numbers
    rim, radius = data.radius - data.width, data.radius
    spokes = [
        (0.6 * rim * np.cos(a), 0.0, 0.6 * rim * np.sin(a)) for a in np.linspace(0.0, pi, 5, endpoint=False)
    ]
    drawn: list[bc.Shape] = [
        bc.Cylinder(radius=0.02, length=0.08, rotation=_FROM_Z, color=STEEL, touches=False)
    ]
    for p in spokes:
        drawn += _painted(bars([-np.array(p) / 0.6, np.array(p) / 0.6], 0.002), STEEL)
    turn = np.linspace(0.0, 2.0 * pi, 49)
    middle = radius - 0.5 * data.width
    ring = bars([(middle * np.cos(a), 0.0, middle * np.sin(a)) for a in turn], 0.5 * data.width)
    return mech.add_body(
        name, mass=mass, inertia=(across, along, across), position=vec(hub), velocity=(speed, 0.0, 0.0),
        angular_velocity=(0.0, speed / (radius - sunk / 3.0), 0.0), shapes=[*drawn, *_painted(ring, RUBBER)],
    )  # fmt: skip


def _painted(shapes: tuple[bc.Capsule, ...], color: tuple[float, ...]) -> list[bc.Shape]:
    """The same bars in a colour; they touch nothing."""
    return [
        bc.Capsule(radius=s.radius, length=s.length, position=s.position, rotation=s.rotation, color=color,
                   touches=False)
        for s in shapes
    ]  # fmt: skip
