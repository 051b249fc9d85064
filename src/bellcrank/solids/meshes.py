"""Tetrahedra of a solid: of drawings (STEP) and surfaces (STL) by gmsh, of meshes by meshio, of arrays."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError, Unsupported
from bellcrank.extras import needed
from bellcrank.mechanism.checking import Check, nearest, required_path
from bellcrank.mechanism.units import size_of_unit
from bellcrank.named_files import opened
from bellcrank.solids.reduced import Floats

_DRAWINGS: Final = (".step", ".stp", ".iges", ".igs", ".brep")
_SURFACES: Final = (".stl",)
_ROOM: Final = 1024  # bytes, more than any struct sigaction has
_MOST_BYTES: Final = 500_000_000
_MOST_NODES: Final = 300_000
_EDGES: Final = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""Corners of the edges on which nodes 4 to 9 of a tetrahedron lie."""
_FACES: Final = ((0, 1, 2, 4, 5, 6), (0, 1, 3, 4, 8, 7), (0, 2, 3, 6, 9, 7), (1, 2, 3, 5, 9, 8))
"""Corners of the faces, then the nodes on their edges."""
_FLAT: Final = 1e-10  # volume of tetrahedra that have none, in parts of that of their edges
_SHARP: Final = 40.0  # degrees between triangles that belong to different faces


@dataclass(frozen=True, eq=False)
class Tetrahedra:
    """A solid in tetrahedra of ten nodes.

    points: (n, 3), m. cells: (m, 10), corners and nodes on edges in the order of `_EDGES`.
    groups: nodes of named surfaces, by name.
    """

    points: Floats
    cells: Any
    groups: dict[str, Any] = field(default_factory=dict)

    def surface(self) -> Any:
        """The faces that belong to one tetrahedron: their six nodes, (k, 6)."""
        faces = np.concatenate([self.cells[:, list(face)] for face in _FACES])
        key = np.sort(faces[:, :3], axis=1)
        _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
        return faces[first[count == 1]]


def of_file(element: str, path: Any, size: float | None, unit: Any) -> Tetrahedra:
    """The tetrahedra of a file. size: of elements that are made here, m. unit: of lengths in the file."""
    where = Path(required_path(element, path))
    with opened(where, element) as file:
        size_of_file = os.fstat(file.fileno()).st_size
    if size_of_file > _MOST_BYTES:
        raise MechanismError.of(element, f"the file has more than {_MOST_BYTES // 10**6} MB", str(where))
    kind = where.suffix.lower()
    if kind in _DRAWINGS:
        if unit is not None:
            raise MechanismError.of(element, "a drawing has its own unit", unit, "leave unit out")
        return _meshed(element, where, size, 1.0, surface=False)
    with Check(element) as check:
        if unit is None:
            check.fault(f"files {kind} do not tell their unit of length", None, 'give unit="mm" or unit="m"')
        elif not isinstance(unit, str) or (length := size_of_unit(unit)) is None:
            check.fault("unit must be one of length", unit, 'such as "mm"')
    length = float(size_of_unit(unit) or 1.0)
    if kind in _SURFACES:
        return _meshed(element, where, size, length, surface=True)
    return _read(element, where, length)


def of_arrays(element: str, points: Any, cells: Any) -> Tetrahedra:
    """The tetrahedra of arrays: points (n, 3), m, and cells (m, 4) or (m, 10), numbers from 0."""
    with Check(element) as check:
        at = check.array("points", points, (None, 3), "m")
        numbers = np.asarray(cells)
        if numbers.ndim != 2 or numbers.shape[1] not in (4, 10) or numbers.dtype.kind not in "iu":
            check.fault("cells must be whole numbers, 4 or 10 for each tetrahedron", np.shape(cells))
        elif numbers.size == 0 or numbers.min() < 0 or numbers.max() >= len(at):
            check.fault("cells must be numbers of points", None, f"from 0 to {len(at) - 1}")
    return _whole(element, at, numbers.astype(np.int64), {})


def _whole(element: str, points: Floats, cells: Any, groups: dict[str, Any]) -> Tetrahedra:
    """Tetrahedra of ten nodes each, turned the right way round, without points that none has."""
    if len(cells) == 0:
        advice = "mesh its volume with tetrahedra, or give a drawing or a closed surface"
        raise MechanismError.of(element, "there are no tetrahedra in it", None, advice)
    a, b, c, d = (points[cells[:, k]] for k in range(4))
    volumes = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
    edges = np.linalg.norm([b - a, c - a, d - a], axis=2).prod(axis=0)
    flat = int(np.sum(np.abs(volumes) <= _FLAT * edges))
    if flat > 0:
        raise MechanismError.of(element, f"{flat} of its tetrahedra are flat", None, "mesh it again")
    wrong = volumes < 0.0
    if np.any(wrong):
        turned = [0, 2, 1, 3] if cells.shape[1] == 4 else [0, 2, 1, 3, 6, 5, 4, 7, 9, 8]
        cells[wrong] = cells[wrong][:, turned]
    if cells.shape[1] == 4:
        ends = np.sort(np.concatenate([cells[:, list(edge)] for edge in _EDGES]), axis=1)
        edges, which = np.unique(ends, axis=0, return_inverse=True)
        middles = len(points) + np.ravel(which).reshape(6, -1).T
        points = np.concatenate([points, points[edges].mean(axis=1)])
        cells = np.hstack([cells, middles])
    used = np.unique(cells)
    if used.size > _MOST_NODES:
        rule = f"it has {used.size} nodes, more than {_MOST_NODES}"
        raise MechanismError.of(element, rule, None, "give larger elements by size")
    place = np.full(len(points), -1)
    place[used] = np.arange(used.size)
    kept = {name: place[nodes][place[nodes] >= 0] for name, nodes in groups.items()}
    return Tetrahedra(points[used], place[cells], {name: nodes for name, nodes in kept.items() if nodes.size})


def _read(element: str, path: Path, length: float) -> Tetrahedra:
    """A mesh file; groups are its sets of points and of triangles, and physical groups of gmsh."""
    meshio = needed("meshio", "reading a mesh of a solid", "solids")
    try:
        mesh = meshio.read(path)
    except SystemExit as error:  # by which meshio refuses a file
        raise MechanismError.of(element, "the file cannot be read as a mesh", str(path)) from error
    except Exception as error:
        rule = f"the file cannot be read as a mesh ({error})"
        raise MechanismError.of(element, rule, str(path)) from error
    points = np.asarray(mesh.points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.all(np.isfinite(points)):
        raise MechanismError.of(element, "its points must have three finite coordinates", str(path))
    kinds = {block.type for block in mesh.cells}
    solid = {"tetra", "tetra10"} & kinds
    if others := kinds & {"hexahedron", "hexahedron20", "hexahedron27", "wedge", "wedge15", "pyramid"}:
        rule = f"it has {', '.join(sorted(others))} elements; only tetrahedra are taken"
        raise MechanismError.of(
            element, rule, str(path), "mesh it with tetrahedra, or reduce its matrices by bc.reduce"
        )
    if len(solid) > 1:
        raise MechanismError.of(element, "its tetrahedra must all have 4 or all 10 nodes", str(path))
    cells = [block.data for block in mesh.cells if block.type in solid]
    groups: dict[str, Any] = {name: np.asarray(nodes) for name, nodes in mesh.point_sets.items()}
    named = {
        int(value[0]): name for name, value in mesh.field_data.items() if len(value) == 2 and value[1] == 2
    }
    physical = mesh.cell_data.get("gmsh:physical", [])
    for number, block in enumerate(mesh.cells):
        if not block.type.startswith("triangle"):
            continue
        if number < len(physical):
            for tag, name in named.items():
                _join(groups, name, block.data[np.asarray(physical[number]) == tag])
        for name, members in mesh.cell_sets.items():
            if number < len(members) and members[number] is not None and not name.startswith("gmsh:"):
                _join(groups, name, block.data[np.asarray(members[number], dtype=int)])
    stacked = np.concatenate(cells) if cells else np.zeros((0, 4), dtype=int)
    return _whole(element, length * points, stacked.astype(np.int64), groups)


def _join(groups: dict[str, Any], name: str, faces: Any) -> None:
    if len(faces):
        groups[name] = np.union1d(groups.get(name, np.empty(0, dtype=int)), np.ravel(faces))


def _meshed(element: str, path: Path, size: float | None, length: float, surface: bool) -> Tetrahedra:
    """A drawing or a closed surface, meshed with tetrahedra whose edges are curved."""
    with _gmsh(element) as gmsh:
        try:
            if surface:
                gmsh.merge(os.fspath(path))
                sharp = _SHARP * np.pi / 180.0
                gmsh.model.mesh.classifySurfaces(sharp, True, True, np.pi)
                gmsh.model.mesh.createGeometry()
                loop = gmsh.model.geo.addSurfaceLoop([tag for _, tag in gmsh.model.getEntities(2)])
                gmsh.model.geo.addVolume([loop])
                gmsh.model.geo.synchronize()
            else:
                # that of OpenCascade by itself, which keeps what it is told for the whole process
                gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
                length = 1e-3
                gmsh.model.occ.importShapes(os.fspath(path))
                gmsh.model.occ.synchronize()
            if not gmsh.model.getEntities(3):
                raise MechanismError.of(element, "there is no closed volume in it", str(path))
            low, high = (
                np.array(corner) for corner in np.split(np.array(gmsh.model.getBoundingBox(-1, -1)), 2)
            )
            edge = float(np.linalg.norm(high - low)) / 20.0 if size is None else size / length
            gmsh.option.setNumber("Mesh.MeshSizeMax", edge)
            gmsh.option.setNumber("Mesh.MeshSizeMin", 0.0 if size is None else 0.2 * edge)
            gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 12 if size is None else 8)
            gmsh.option.setNumber("Mesh.ElementOrder", 2)
            gmsh.option.setNumber("Mesh.HighOrderOptimize", 1)
            gmsh.option.setNumber("Mesh.MaxNumThreads3D", 1)
            gmsh.model.mesh.generate(3)
            tags, places, _ = gmsh.model.mesh.getNodes()
            _, cells = gmsh.model.mesh.getElementsByType(11)
        except MechanismError:
            raise
        except Exception as error:  # gmsh raises nothing narrower
            rule = f"it cannot be meshed ({error})"
            advice = "is it a closed, clean solid? give another size"
            raise MechanismError.of(element, rule, str(path), advice) from error
    place = np.zeros(int(np.max(tags, initial=0)) + 1, dtype=np.int64)
    place[np.asarray(tags, dtype=np.int64)] = np.arange(len(tags))
    # gmsh numbers the last two edges the other way round.
    numbers = place[np.asarray(cells, dtype=np.int64)].reshape(-1, 10)[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]
    return _whole(element, length * np.reshape(places, (-1, 3)), numbers, {})


@contextmanager
def signals_kept() -> Iterator[None]:
    """Put back what this process does with signals: gmsh lets a closed socket, or Ctrl-C, end it at once."""
    before: dict[int, Any] = {}
    # Python keeps its handlers beside the system's: who changes one and sets it back would set a wrong one.
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    if os.name == "posix":
        system = ctypes.CDLL(None)
        for number in signal.valid_signals():
            found = ctypes.create_string_buffer(_ROOM)  # a struct sigaction
            if system.sigaction(int(number), None, found) == 0:
                before[int(number)] = found
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():  # no other may set them
            for number, handler in handlers.items():
                if handler is not None and signal.getsignal(number) is not handler:
                    signal.signal(number, handler)
        for known, found in before.items():
            system.sigaction(known, found, None)


@contextmanager
def _gmsh(element: str) -> Iterator[Any]:
    """The module gmsh, with a model of its own; what the user does with it stays as it is."""
    try:
        gmsh = needed("gmsh", "meshing a solid", "solids")
    except OSError as error:  # of libraries of the system
        raise Unsupported(f"meshing a solid needs gmsh, which cannot be loaded here: {error}") from error
    running = bool(gmsh.isInitialized())
    if running:
        advice = "call gmsh.finalize() first"
        raise MechanismError.of(element, "gmsh is in use in this process", None, advice)
    with signals_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.add("solid")
        yield gmsh
    finally:
        gmsh.finalize()


def nodes_of(element: str, mesh: Tetrahedra, selection: Any, chosen: Any) -> Any:
    """The nodes of a part of the surface: of a named group, or the faces of which all corners are chosen."""
    if isinstance(selection, str):
        if selection not in mesh.groups:
            advice = (
                nearest(selection, mesh.groups)
                if mesh.groups
                else "it has none: select by OnPlane, OnCylinder, ..."
            )
            raise MechanismError.of(element, "the mesh has no surface of this name", selection, advice)
        return mesh.groups[selection]
    faces = mesh.surface()
    return np.unique(faces[chosen(mesh.points)[faces[:, :3]].all(axis=1)])
