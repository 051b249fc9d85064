"""Slender rods and the pins between them: the parts most mechanisms of the gallery are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.mechanism.body import Ground
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.rotation import between

Vector: TypeAlias = Sequence[float] | NDArray[np.floating[Any]]
Z_AXIS: Vec3 = (0.0, 0.0, 1.0)


def vec(values: Vector) -> Vec3:
    """Three numbers as a tuple of plain floats."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def rod_inertia(mass: float, length: float, thickness: float) -> Vec3:
    """Principal moments (kg m^2) of a slender rod along x: m L^2/12 across, those of a square bar along.

    A rod without any thickness has no moment about its axis, which no body may lack; in a plane motion that
    moment has no effect.
    """
    across = mass * length**2 / 12
    return (mass * thickness**2 / 6, across, across)


def bars(points: Sequence[Vector], radius: float) -> tuple[bc.Capsule, ...]:
    """Round bars from each point to the next (body axes, m), to look at; none where points coincide."""
    drawn = []
    for start, end in pairwise(np.asarray(points, dtype=float)):
        length = float(np.linalg.norm(end - start))
        if length > radius:
            turn = between(Z_AXIS, vec((end - start) / length))
            middle = vec(0.5 * (start + end))
            drawn.append(bc.Capsule(radius=radius, length=length, position=middle, rotation=turn))
    return tuple(drawn)


def add_rod(
    mech: bc.Mechanism,
    name: str,
    start: Vector,
    end: Vector,
    *,
    mass: float = 1.0,
    thickness: float = 0.04,
    start_velocity: Vector = (0.0, 0.0, 0.0),
    angular_velocity: Vector = (0.0, 0.0, 0.0),
) -> bc.Body:
    """Add a uniform slender rod between two world points; its frame is at its middle, x from start to end.

    start, end: m. mass: kg. thickness: of its square section, m.
    start_velocity, angular_velocity: of the point `start` and of the rod, world axes, m/s and rad/s.
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    middle = 0.5 * (a + b)
    velocity = np.asarray(start_velocity) + np.cross(angular_velocity, middle - a)
    return mech.add_body(
        name,
        mass=mass,
        inertia=rod_inertia(mass, length, thickness),
        position=vec(middle),
        rotation=between((1.0, 0.0, 0.0), vec((b - a) / length)),
        velocity=vec(velocity),
        angular_velocity=vec(angular_velocity),
        shapes=[bc.Box(size=(length, thickness, thickness))],
    )


def add_pin(
    mech: bc.Mechanism,
    name: str,
    body_1: bc.Body | Ground,
    body_2: bc.Body | Ground,
    point: Vector,
    axis: Vector = Z_AXIS,
) -> None:
    """Add a revolute joint at a world point about a world axis, its angle zero where it is."""
    place, direction = vec(point), vec(np.asarray(axis) / np.linalg.norm(axis))
    mech.add_joint(
        name,
        bc.Revolute(),
        body_1.world_marker(place, axis=direction),
        body_2.world_marker(place, axis=direction),
    )


def planar(angle: float) -> tuple[float, float, float, float]:
    """The quaternion (w, x, y, z) of a turn about z, angle in rad."""
    return (float(np.cos(angle / 2)), 0.0, 0.0, float(np.sin(angle / 2)))


def direction(angle: float) -> np.ndarray:
    """The unit vector in the xy-plane at an angle (rad) from x."""
    return np.array([np.cos(angle), np.sin(angle), 0.0])
