"""Mass properties of the volume enclosed by a mesh, computed in the ways offered by MuJoCo."""

from __future__ import annotations

import numpy as np

from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh import convex_hull

_NOTHING = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


def solid(vertices: np.ndarray, triangles: np.ndarray, way: str) -> MassProperties:
    """Mass properties at density 1, of tetrahedra between a point and each triangle.

    vertices: (n, 3), m. triangles: (m, 3). way: "exact" counts volumes with their signs; "legacy" takes each
    as positive, first about the centroid of the surface, then about the centre of mass that this gives, the
    result is the same for convex meshes; "convex" fills the convex hull; "shell" spreads the mass over the
    surface.
    """
    if way == "convex":
        vertices, triangles = convex_hull(vertices)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    whole = float(area.sum())
    if not whole > 0.0:
        return _NOTHING
    centre = (area @ (a + b + c)) / (3.0 * whole)
    if way == "shell":
        return _summed(area / 12.0, centre, (a - centre, b - centre, c - centre), whole)
    absolute = way != "exact"
    volume = _volumes(a - centre, b - centre, c - centre, absolute)
    if float(volume.sum()) == 0.0:
        return _NOTHING
    com = centre + volume @ (a + b + c - 3.0 * centre) / (4.0 * float(volume.sum()))
    a, b, c = a - com, b - com, c - com
    volume = _volumes(
        a, b, c, absolute
    )  # where the mesh is not closed or not convex they depend on the point
    return _summed(volume / 20.0, com, (a, b, c), float(volume.sum()))


def _summed(
    weight: np.ndarray, com: np.ndarray, corners: tuple[np.ndarray, ...], mass: float
) -> MassProperties:
    """Mass properties from second moments, weight (Σ corner cornerᵀ + (Σ corner)(Σ corner)ᵀ), about the com.

    weight: V/20 of tetrahedra with their fourth corner at the com, A/12 of triangles.
    """
    second = np.zeros((3, 3))
    for part in (*corners, sum(corners)):
        second += np.einsum("t,ti,tj->ij", weight, part, part)
    sign = 1.0 if mass > 0.0 else -1.0  # all triangles may face inward
    return MassProperties(sign * mass, com, sign * (np.trace(second) * np.eye(3) - second))


def _volumes(a: np.ndarray, b: np.ndarray, c: np.ndarray, absolute: bool) -> np.ndarray:
    """The volumes of the tetrahedra between the origin and triangles."""
    volume: np.ndarray = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return np.abs(volume) if absolute else volume
