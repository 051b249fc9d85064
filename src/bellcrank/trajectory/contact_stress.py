"""The stress, after Hertz, at points where curved shapes of bodies touch in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.hertz import point_contact
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.mechanism.shape import Box, Capsule, Cylinder, Ellipsoid, Plane, Shape, Sphere
from bellcrank.trajectory.store import FloatArray

_ALONG: Final = 1e-6  # of a unit vector, across a direction that it has
_FLAT: Final = 1e-9  # of the greater curvature, that counts as none


@dataclass(frozen=True, eq=False)
class ContactStress:
    """The stress at n points of contact, in the order of `ContactHistory.points`; SI units.

    force: (n,), along the normal, N. pressure: (n,), greatest, in the middle of the contact, Pa.
    half_widths: (n, 2), of the ellipse, the greater first, m. approach: (n,), of the bodies, m.

    NaN where the shapes do not touch at a point with two curvatures: along lines, at edges and corners, on
    faces, and for shapes other than spheres, capsules, cylinders, ellipsoids, boxes and planes.

    >>> mech = bc.Mechanism("ball")
    >>> floor = mech.replace(mech.ground, shapes=[bc.Plane()])
    >>> ball = mech.add_body("ball", shapes=[bc.Sphere(0.01, density=7850.0)], position=(0, 0, 0.01 - 1e-7))
    >>> touch = mech.add_force("touch", bc.Contact(stiffness=1e6), ball, "ground")
    >>> stress = bc.simulate(mech, 0.01).contact("touch").stress(modulus=206e9)
    >>> by_hand = bc.hertz(stress.force[0], radius_1=0.01, modulus=206e9)
    >>> print(f"{stress.pressure[0] / 1e6:.1f} MPa, {by_hand.pressure / 1e6:.1f} MPa")
    135.3 MPa, 135.3 MPa
    """

    force: FloatArray
    pressure: FloatArray
    half_widths: FloatArray
    approach: FloatArray


def stress_at(
    curvature: FloatArray, normal: FloatArray, force: FloatArray, compliance: float
) -> ContactStress:
    """The stress from the sum of both shapes' curvatures, (n, 3, 3), across the normal, (n, 3)."""
    one = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    across = np.stack([one, np.cross(normal, one)], axis=1)
    bend = np.linalg.eigvalsh(across @ curvature @ np.swapaxes(across, 1, 2))
    nothing = np.full(len(force), np.nan)
    pressure, approach, widths = nothing.copy(), nothing.copy(), np.full((len(force), 2), np.nan)
    good = bend[:, 0] > _FLAT * bend[:, 1]  # of NaN, not
    if np.any(good):
        pairs, which = np.unique(np.round(0.5 * bend[good], 12), axis=0, return_inverse=True)
        square, unit, stiffness = (
            one[which.ravel()] for one in point_contact(pairs[:, 0], pairs[:, 1], compliance)
        )
        root = np.cbrt(force[good])
        widths[good] = (unit * root)[:, None] * np.stack([np.ones_like(square), np.sqrt(square)], axis=1)
        pressure[good] = 1.5 * root / (pi * np.sqrt(square) * unit**2)
        approach[good] = (force[good] / stiffness) ** (2.0 / 3.0)
    return ContactStress(force, pressure, widths, approach)


def curvature_of(shape: Shape, rotation: FloatArray, normal: FloatArray) -> FloatArray:
    """The curvature (n, 3, 3), 1/m, world axes, of a shape where its normal is the given one; or NaN.

    rotation: (n, 4), of its body. It maps a step along the surface to the change of the outward normal.
    """
    turn = rotate(
        rotation[:, None, :], np.swapaxes(_axes(shape), 0, 1)[None]
    )  # (n, 3, 3): the shape's axes, rows
    local = np.einsum("nij,nj->ni", turn, normal)
    found = np.full((len(normal), 3, 3), np.nan)
    across = np.eye(3) - local[:, :, None] * local[:, None, :]
    along_z = np.abs(local[:, 2]) > 1.0 - _ALONG
    side = np.abs(local[:, 2]) < _ALONG
    barrel = across - np.diag([0.0, 0.0, 1.0])
    kind: Any = shape
    if isinstance(shape, Sphere):
        found = across / kind.radius
    elif isinstance(shape, Plane):
        found = np.zeros_like(across)
    elif isinstance(shape, Box):
        found[np.max(np.abs(local), axis=1) > 1.0 - _ALONG] = 0.0
    elif isinstance(shape, Cylinder):
        found[along_z] = 0.0
        found[side] = barrel[side] / kind.radius
    elif isinstance(shape, Capsule):
        found = np.where(side[:, None, None], barrel, across) / kind.radius
    elif isinstance(shape, Ellipsoid):
        squares = np.asarray(kind.radii, dtype=float) ** 2
        size = np.sqrt(np.sum(squares * local**2, axis=1))
        found = size[:, None, None] * (across @ np.diag(1.0 / squares) @ across)
    return np.asarray(np.swapaxes(turn, 1, 2) @ found @ turn)


def _axes(shape: Shape) -> FloatArray:
    """The axes of a shape, as columns, in those of its body."""
    return np.stack([rotate(np.asarray(shape.rotation), axis) for axis in np.eye(3)], axis=1)


def shapes_by_number(names: Sequence[str], bodies: Mapping[str, Sequence[Shape]]) -> list[Shape | None]:
    """The shape of each number in a run: those of a body stand in its order; None of one with a tyre."""
    found: list[Shape | None] = [None] * len(names)
    for body in dict.fromkeys(names):
        places = [k for k, name in enumerate(names) if name == body]
        touching = [shape for shape in bodies[body] if shape.touches]
        if len(touching) == len(places):
            for place, shape in zip(places, touching, strict=True):
                found[place] = shape
    return found
