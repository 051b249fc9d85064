"""Triangles of mesh files: binary STL and MuJoCo's own format are read here, all others by trimesh."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.mesh import TRIANGLES, Mesh, mesh_content

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
