"""Mass properties of what a mesh encloses, in the ways in which MuJoCo reckons them."""

from __future__ import annotations

import numpy as np

from bellcrank.mechanism.mass import MassProperties


def solid(vertices: np.ndarray, triangles: np.ndarray, way: str) -> MassProperties:
    """Mass properties at density 1 of tetrahedra between a point and each triangle.

    vertices: (n, 3), m. triangles: (m, 3). way: "exact" counts volumes with their signs, about the origin;
    "legacy" takes each as positive, about the centroid of the surface, which is the same for convex meshes.
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = 0.5 * np.linalg.norm(normal, axis=1)
    whole = float(area.sum())
    if not whole > 0.0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    centre = (area @ (a + b + c)) / (3.0 * whole)
    a, b, c = a - centre, b - centre, c - centre
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = np.abs(volume) if way == "legacy" else volume
    mass = float(volume.sum())
    if mass < 0.0:
        volume, mass = -volume, -mass
    if mass == 0.0:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    com = volume @ (a + b + c) / (4.0 * mass)
    a, b, c = a - com, b - com, c - com
    d = np.broadcast_to(-com, a.shape)  # the common tip
    # Second moments of a tetrahedron: V/20 (sum of all products of corners, each with itself twice).
    total = a + b + c + d
    second = np.einsum("t,ti,tj->ij", volume, total, total)
    for corner in (a, b, c, d):
        second += np.einsum("t,ti,tj->ij", volume, corner, corner)
    second /= 20.0
    return MassProperties(mass, com + centre, np.trace(second) * np.eye(3) - second)
