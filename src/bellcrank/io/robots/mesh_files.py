"""Triangles of mesh files: binary STL and MuJoCo's own format are read here, all others by trimesh."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.mesh import Mesh

_HEAD: Final = 84  # bytes of a binary STL file before its triangles, of 50 bytes each
_MOST: Final = 200_000_000  # bytes of a file, at most


def triangles_of(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in the file's unit and triangles (m, 3).

    Raises MechanismError if the file cannot be read as a mesh, or needs trimesh and that is missing.
    """
    if path.stat().st_size > _MOST:
        raise MechanismError(Fault(f"Mesh {str(path)!r}", f"the file has more than {_MOST} bytes"))
    suffix = path.suffix.lower()
    found = None
    if suffix == ".stl":
        found = _stl(path.read_bytes())
    elif suffix == ".msh":
        found = _msh(path.read_bytes())
        if found is None:
            raise MechanismError(Fault(f"Mesh {str(path)!r}", "the file cannot be read as a mesh"))
    return Mesh(file=str(path)).surface() if found is None else found


def _stl(data: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    if len(data) < _HEAD:
        return None
    count = int.from_bytes(data[80:_HEAD], "little")
    if len(data) != _HEAD + 50 * count:
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
    if len(data) != skipped + 12 * triangles or triangles == 0:
        return None
    corners = np.frombuffer(data, "<f4", 3 * vertices, 16).astype(float).reshape(-1, 3)
    faces = np.frombuffer(data, "<i4", 3 * triangles, skipped).reshape(-1, 3)
    return (corners, faces) if faces.min() >= 0 and faces.max() < vertices else None
