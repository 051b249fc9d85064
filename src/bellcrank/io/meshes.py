"""Mesh files as mechanisms of one body (STL, OBJ, PLY, OFF, glTF)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, FaultList, Location, MechanismError
from bellcrank.io.robots.skeleton import element_name
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh import Mesh, convex_hull
from bellcrank.mechanism.mesh_files import TRIANGLES, mesh_content

_METRES: Final = (".gltf", ".glb")  # whose unit is the metre
SUFFIXES: Final = (".stl", ".obj", ".ply", ".off", *_METRES)
_LARGE: Final = 5.0  # m; what is larger is likely to be meant in another unit


def read(path: Path, density: Any = None, scale: Any = None) -> Mechanism:
    """A mechanism of one free body, named like the file, in the frame of the file; its mass fills the mesh.

    density: kg/m^3; without one its mass is not known (`Body.mass_known`). scale: from the file's unit to
    metres, one number or one for each axis; 1 by default, which is listed in `left_out` where it is doubtful.

    Raises MechanismError for a mesh that cannot be read or, if a density is given, is not closed; OSError if
    there is no such file.
    """
    path.stat()
    place, faults = Location(str(path)), FaultList()
    made = Mechanism(element_name(path.stem))
    with faults.collect(place):
        file = os.path.abspath(path)  # noqa: PTH100  (links stay)
        shape = Mesh(file=file, scale=(1.0, 1.0, 1.0) if scale is None else scale, density=density)
        size = np.ptp(shape.surface()[0], axis=0)
        if scale is None and path.suffix.lower() not in _METRES and size.max() > _LARGE:
            rule = "its file has no unit and is taken in metres; scale=0.001 takes it in millimetres"
            shown = " x ".join(f"{part:.3g} m" for part in size)
            made.left_out = (Fault(f"mesh {path.name!r}", rule, shown, location=place),)
        made.add_body(made.name, shapes=shape, mass_known=density is not None)
    faults.raise_any()
    return made


_HEAD: Final = 84  # bytes of a binary STL file before its triangles, of 50 bytes each


def triangles_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in the file's unit and triangles (m, 3).

    Raises MechanismError if the file cannot be read as a mesh, or needs trimesh and that is missing.
    """
    suffix = path.suffix.lower()
    found = None
    if suffix == ".stl":
        found = _stl(mesh_content(str(path)))
    elif suffix == ".msh":
        found = _msh(mesh_content(str(path)))
        if found is None:
            raise MechanismError(Fault(f"Mesh {str(path)!r}", "the file cannot be read as a mesh"))
    return Mesh(file=str(path)).surface() if found is None else found


def _stl(data: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    if len(data) < _HEAD:
        return None
    count = int.from_bytes(data[80:_HEAD], "little")
    if len(data) != _HEAD + 50 * count or count > TRIANGLES:
        return None
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    corners = np.frombuffer(data, kind, count, _HEAD)["corners"].astype(float)
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def _msh(data: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """Four counts (vertices, normals, texture coordinates, triangles), then these as floats and integers."""
    if len(data) < 16:
        return None
    vertices, normals, textures, triangles = np.frombuffer(data, "<i4", 4).tolist()
    if min(vertices, normals, textures, triangles) < 0:
        return None
    skipped = 16 + 4 * (3 * vertices + 3 * normals + 2 * textures)
    if len(data) != skipped + 12 * triangles or not 0 < triangles <= TRIANGLES:
        return None
    corners = np.frombuffer(data, "<f4", 3 * vertices, 16).astype(float).reshape(-1, 3)
    faces = np.frombuffer(data, "<i4", 3 * triangles, skipped).reshape(-1, 3)
    return (corners, faces) if faces.min() >= 0 and faces.max() < vertices else None


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
