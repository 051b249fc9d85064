"""Triangle meshes: as shapes, and as convex hulls of points."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.fields import checked, described
from bellcrank.mechanism.given import VectorField
from bellcrank.mechanism.mass import MassProperties
from bellcrank.mechanism.mesh_files import loaded
from bellcrank.mechanism.shape import Shape
from bellcrank.mechanism.slicing import MassBeyond, of_surface

_FLAT: Final = 1e-9
"""Thickness of a cloud of points, by its largest extent, below which rounding decides about its hull."""
_SHAPES: Final = ("at one place", "on one line", "in one plane")


def convex_hull(points: Any, element: str = "convex hull") -> tuple[np.ndarray, np.ndarray]:
    """The convex hull of points: its vertices (n, 3), m, and triangles (m, 3) counterclockwise from outside.

    points: (k, 3), m, in any order; those inside and within faces are left out. element: their owner, for
    messages.

    Raises MechanismError if points are not finite, are fewer than four, or lie in one plane, and if scipy
    is missing. By Qhull (C. Barber, D. Dobkin, H. Huhdanpaa, The quickhull algorithm for convex hulls, 1996),
    on points moved and scaled to the unit cube, so that its tolerances do not depend on where they are.
    """
    cloud = np.asarray(points, dtype=float)
    _check_cloud(cloud, element)
    centre, size = 0.5 * (cloud.max(axis=0) + cloud.min(axis=0)), float(np.ptp(cloud, axis=0).max())
    unit = (cloud - centre) / (0.5 * size)
    triangles = _triangles(unit, element)
    used, numbers = np.unique(triangles, return_inverse=True)
    return cloud[used], numbers.reshape(triangles.shape)


def _check_cloud(cloud: np.ndarray, element: str) -> None:
    if cloud.ndim != 2 or cloud.shape[1] != 3:
        _refuse(element, "points must be rows of three numbers, an array of shape (n, 3)", cloud.shape)
    faults = FaultList()
    for row in np.flatnonzero(~np.isfinite(cloud).all(axis=1))[:10]:
        faults.add(element, f"point {row} is not finite", cloud[row].tolist(), "give x, y, z in m")
    faults.raise_any()
    distinct = len(np.unique(cloud, axis=0))
    if distinct < 4:
        _refuse(element, "a hull needs at least four different points", distinct)
    spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False) / np.sqrt(len(cloud))
    flat = int(np.sum(spread > _FLAT * spread[0]))
    if flat < 3:
        extent = float(spread[flat]) if spread[0] > 0.0 else 0.0
        _refuse(element, f"the points lie {_SHAPES[flat]}, but for a spread in m", extent)


def _triangles(unit: np.ndarray, element: str) -> np.ndarray:
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError as error:
        fault = Fault(element, "this needs the package scipy", advice="pip install 'bellcrank[mesh]'")
        raise MechanismError(fault) from error
    try:
        hull = ConvexHull(unit)
    except QhullError as error:
        _refuse(element, f"no hull was found ({str(error).splitlines()[0]})", None)
    triangles = np.array(hull.simplices)
    a, b, c = (unit[triangles[:, k]] for k in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def _refuse(element: str, rule: str, value: Any) -> NoReturn:
    advice = "give points of a body with a thickness, or use a box, capsule or cylinder"
    raise MechanismError.of(element, rule, value, advice)


def _file(check: Check, _: str, value: Any) -> str:
    if not isinstance(value, (str, Path)) or not str(value):
        check.fault("file must be the path of a mesh file", value)
    return str(value)


def _scale(check: Check, name: str, value: Any) -> Vec3:
    scale = check.vector(name, (value,) * 3 if np.ndim(value) == 0 else value)
    if min(scale) <= 0.0:
        check.fault("scale must be greater than zero", value, "mirrored meshes are not available")
    return scale


@described
class Mesh(Shape):
    """A triangle mesh read from a file: STL, OBJ, PLY, OFF, glTF, GLB, COLLADA, 3MF, or a ZIP of these.

    file: path of the file, which may have 1,200,000 triangles, and 60 MB (PLY and COLLADA 40 MB, 3MF 30 MB
    unpacked, OFF 25 MB) with the files that it names and copies of its parts. Colours are not read.
    scale: factor from the file's unit to metres (0.001 for millimetres), one number or one for each axis.

    A mesh without a density is not read here. With one it must be closed ("watertight"), and the package
    trimesh must be installed (extra `mesh`).

    >>> import trimesh
    >>> path = trimesh.creation.box((100, 200, 300)).export("part.stl")
    >>> part = bc.Mesh("part.stl", scale=0.001, density=2000.0)    # its numbers are millimetres
    >>> print(f"{part.mass_properties().mass:.3f} kg, by hand {0.1 * 0.2 * 0.3 * 2000:.3f} kg")
    12.000 kg, by hand 12.000 kg
    """

    file: str = checked(_file)
    scale: VectorField = checked(_scale, "1", default=(1.0, 1.0, 1.0), parametric=True)

    def volume_properties(self) -> MassProperties:
        """Mass properties at density 1, by the exact integrals over the enclosed volume.

        Raises MechanismError if trimesh is missing, the file cannot be read, or the mesh is not closed.
        """
        mesh = self._load()
        mesh.apply_scale(self.scale)
        if not mesh.is_watertight or not mesh.is_winding_consistent:
            raise MechanismError.of(
                f"Mesh {self.file!r}",
                "a mesh with a density must be closed (watertight), with all triangles facing one way",
                advice="repair it, or give the body its mass and inertia and leave the density out",
            )
        volume = float(mesh.volume)
        if volume < 0.0:  # every triangle faces inward: the same solid
            mesh.invert()
            volume = float(mesh.volume)
        return MassProperties(
            volume, np.array(mesh.center_mass, dtype=float), np.array(mesh.moment_inertia, dtype=float)
        )

    def volume_beyond(self, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
        """The part beyond planes at density 1."""
        return of_surface(*self.surface(), normal, offsets)

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3), m, and triangles (m, 3) of the mesh, in the shape's frame.

        Raises MechanismError if trimesh is missing or the file cannot be read.

        >>> import trimesh
        >>> path = trimesh.creation.box((100, 200, 300)).export("part.stl")
        >>> vertices, triangles = bc.Mesh("part.stl", scale=0.001).surface()
        >>> print(np.ptp(vertices, axis=0).round(6), len(triangles))    # m
        [0.1 0.2 0.3] 12
        """
        mesh = self._load()
        return np.asarray(mesh.vertices, dtype=float) * self.scale, np.asarray(mesh.faces, dtype=np.int32)

    def _load(self) -> Any:
        try:
            import trimesh
        except ImportError as error:
            raise MechanismError.of(
                f"Mesh {self.file!r}",
                "reading a mesh needs the package trimesh",
                advice="pip install 'bellcrank[mesh]', or give the body its mass and inertia",
            ) from error
        return loaded(self.file, trimesh)
