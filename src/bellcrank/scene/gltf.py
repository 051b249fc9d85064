"""Scenes in motion as glTF 2.0, for Blender, Unity, Godot and browsers.

Source: The Khronos Group, glTF 2.0 specification, 2021: a binary file holds a chunk of JSON, whose accessors
say what lies where in a chunk of numbers. Lengths are metres, y is up, colours of materials are linear.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank.compile.state import Floats
from bellcrank.mechanism.rotation import from_matrix, matrix
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.scene import Link, Piece, Scene
from bellcrank.scene.sweeps import Sweep
from bellcrank.whole_files import whole_file

SUFFIX: Final = ".glb"
_FLOAT, _INDEX, _SHORT = 5126, 5125, 5123  # types of components
_TYPES: Final = {_FLOAT: "<f4", _INDEX: "<u4", _SHORT: "<u2"}
_VERTICES, _TRIANGLES = 34962, 34963  # what a view of the buffer is for
_SHAPES: Final = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_STILL: Final = 1e-9  # a motion of less, m or 1, is none


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses over time. time: (T,), s. position: (T, bodies, 3), m. rotation: (T, bodies, 4).

    absent: by element, such as "force 'spring'", where it is not in force, (T,).

    >>> from pathlib import Path
    >>> run = bc.simulate(block, 0.1)
    >>> motion = bc.scene.Motion(run.time, *(part[:, None] for part in run.body_poses("block")))
    >>> bc.scene.write_gltf("block.glb", bc.scene.of(block), motion)
    >>> Path("block.glb").read_bytes()[:4]
    b'glTF'
    """

    time: Floats
    position: Floats
    rotation: Floats
    absent: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


def write_gltf(path: str | Path, scene: Scene, motion: Motion | None = None) -> None:
    """Write a scene at its start, or in motion; the path appears once the file is complete.

    Each body is a node with its shapes below it; each straight part of a spring or rope is one that moves. A
    beam is one mesh with a skin, whose joints are its sections, so that it bends smoothly; in its own colour.

    >>> from pathlib import Path
    >>> bc.scene.write_gltf("four-bar.glb", bc.scene.of(four_bar))
    >>> Path("four-bar.glb").read_bytes()[:4]
    b'glTF'
    """
    with whole_file(path) as draft:
        draft.write_bytes(_Writer(scene, motion).file())


class _Writer:
    """The objects of a file, in lists by kind, and the numbers that they refer to."""

    def __init__(self, scene: Scene, motion: Motion | None) -> None:
        self._scene, self._motion = scene, motion
        self._lists: dict[str, list[Any]] = {
            kind: [] for kind in ("nodes", "meshes", "materials", "accessors", "bufferViews", "skins")
        }
        self._numbers = bytearray()
        self._meshes: dict[tuple[int, Any], int] = {}
        self._materials: dict[Any, int] = {}
        self._surfaces: dict[int, dict[str, Any]] = {}
        self._channels: list[dict[str, Any]] = []
        self._samplers: list[dict[str, Any]] = []
        self._input = -1

    def file(self) -> bytes:
        """The file."""
        if self._motion is not None:
            self._input = self._accessor(self._motion.time, bounded=True)
        below = [*self._bodies(), *self._links(), *self._sweeps()]
        root = self._add("nodes", name=self._scene.name, rotation=self._upright(), children=below)
        found: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "bellcrank"},
            "scene": 0,
            "scenes": [{"name": self._scene.name, "nodes": [root]}],
            **{kind: objects for kind, objects in self._lists.items() if objects},
        }
        if self._channels:
            found["animations"] = [{"name": "run", "channels": self._channels, "samplers": self._samplers}]
        if self._numbers:
            found["buffers"] = [{"byteLength": len(self._numbers)}]
        text = json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()
        chunks = _chunk(b"JSON", text, b" ") + (
            _chunk(b"BIN\0", bytes(self._numbers), b"\0") if self._numbers else b""
        )
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def _bodies(self) -> list[int]:
        """A node for each body and for the ground, their pieces below them."""
        scene = self._scene
        pieces: list[list[int]] = [[] for _ in scene.carriers]
        for piece in scene.pieces:
            pieces[piece.carrier].append(self._piece(piece))
        nodes = []
        for number, (name, below) in enumerate(zip(scene.carriers, pieces, strict=True)):
            children = {"children": below} if below else {}
            if number == len(scene.carriers) - 1:
                nodes.append(self._add("nodes", name=name, **children))
                continue
            at, turn = scene.state.position[number], scene.state.rotation[number]
            node = self._add(
                "nodes", name=name, translation=at.tolist(), rotation=_scalar_last(turn), **children
            )
            if self._motion is not None:
                self._move(node, "translation", self._motion.position[:, number])
                self._move(node, "rotation", _unwound(self._motion.rotation[:, number]))
            nodes.append(node)
        return nodes

    def _piece(self, piece: Piece) -> int:
        turn = _scalar_last(np.asarray(piece.rotation))
        node = self._add(
            "nodes", name=piece.name, mesh=self._mesh(piece), translation=list(piece.position), rotation=turn
        )
        self._hide(node, piece.element, np.ones(3))
        return node

    def _links(self) -> list[int]:
        """Nodes of the straight parts of links, in the world."""
        scene, motion, first = self._scene, self._motion, len(self._scene.pieces)
        start = scene.placed()
        over = None if motion is None else scene.placed(motion.position, motion.rotation)
        nodes = []
        parts = scene.drawn[first : len(scene.drawn) - len(scene.sweeps)]
        for number, link in enumerate(parts, start=first):
            stretch = [1.0, 1.0, float(start.stretch[number])]
            at, turn = start.position[number].tolist(), _scalar_last(start.rotation[number])
            node = self._add(
                "nodes", name=link.name, mesh=self._mesh(link), translation=at, rotation=turn, scale=stretch
            )
            nodes.append(node)
            if over is None:
                continue
            self._move(node, "translation", over.position[:, number])
            self._move(node, "rotation", _unwound(over.rotation[:, number]))
            scales = np.ones((len(over.stretch), 3))
            scales[:, 2] = over.stretch[:, number]
            if not self._hide(node, link.element, scales):
                self._move(node, "scale", scales)
        return nodes

    def _sweeps(self) -> list[int]:
        """Nodes of the sections of beams, in the world, and of their meshes, which these carry."""
        scene, nodes = self._scene, list[int]()
        start = scene.sections()
        over = None if self._motion is None else scene.sections(self._motion.position, self._motion.rotation)
        surfaces = scene.bent()
        for name, sweep in scene.sweeps.items():
            at, turn = start[name]
            joints = []
            for ring in range(len(sweep.rings)):
                pose = {"translation": at[ring].tolist(), "rotation": _scalar_last(turn[ring])}
                joints.append(self._add("nodes", name=f"{name}, section {ring + 1}", **pose))
                if over is not None:
                    self._move(joints[-1], "translation", over[name][0][:, ring])
                    self._move(joints[-1], "rotation", _unwound(over[name][1][:, ring]))
            vertices, normals = surfaces[name]
            surface = self._surface(TriangleMesh(vertices, sweep.mesh.triangles, normals))
            carried = np.zeros((len(vertices), 4))
            carried[:, 0] = 1.0
            surface["attributes"] |= {
                "JOINTS_0": self._accessor(sweep.ring[:, None] * carried, _VERTICES, kind=_SHORT),
                "WEIGHTS_0": self._accessor(carried, _VERTICES),
            }
            mesh = self._add("meshes", primitives=[{**surface, "material": self._material(sweep.color)}])
            bound = self._accessor(np.stack([_into(*pose) for pose in zip(at, turn, strict=True)]))
            skin = self._add("skins", joints=joints, inverseBindMatrices=bound)
            nodes += [*joints, self._add("nodes", name=f"beam {name}", mesh=mesh, skin=skin)]
        return nodes

    def _hide(self, node: int, element: str, scales: Floats) -> bool:
        """Makes a node as small as nothing while its element is not in force; whether it ever is not."""
        absent = None if self._motion is None else self._motion.absent.get(element)
        if absent is None or not np.any(absent):
            return False
        self._move(node, "scale", np.where(absent[:, None], 0.0, scales), "STEP")
        return True

    def _move(self, node: int, path: str, values: Floats, way: str = "LINEAR") -> None:
        """A channel of the animation, unless nothing changes."""
        if np.max(np.ptp(values, axis=0)) < _STILL:
            self._lists["nodes"][node][path] = values[0].tolist()
            return
        output = self._accessor(values)
        self._samplers.append({"input": self._input, "output": output, "interpolation": way})
        target = {"node": node, "path": path}
        self._channels.append({"sampler": len(self._samplers) - 1, "target": target})

    def _mesh(self, what: Piece | Link | Sweep) -> int:
        """A mesh in a colour; the numbers of its surface are shared by all its colours."""
        key = (id(what.mesh), what.color)
        if key not in self._meshes:
            if id(what.mesh) not in self._surfaces:
                self._surfaces[id(what.mesh)] = self._surface(what.mesh)
            surface = self._surfaces[id(what.mesh)]
            self._meshes[key] = self._add(
                "meshes", primitives=[{**surface, "material": self._material(what.color)}]
            )
        return self._meshes[key]

    def _surface(self, mesh: TriangleMesh) -> dict[str, Any]:
        normals = mesh.normals / np.maximum(np.linalg.norm(mesh.normals, axis=1, keepdims=True), 1e-300)
        attributes = {
            "POSITION": self._accessor(mesh.vertices, _VERTICES, bounded=True),
            "NORMAL": self._accessor(normals, _VERTICES),
        }
        return {"attributes": attributes, "indices": self._accessor(mesh.triangles.ravel(), _TRIANGLES)}

    def _material(self, color: Any) -> int:
        if color not in self._materials:
            rgb = np.clip(np.asarray(color[:3], dtype=float), 0.0, 1.0)
            linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)  # IEC 61966-2-1
            look: dict[str, Any] = {"baseColorFactor": [*linear.round(6).tolist(), float(color[3])]}
            look |= {"metallicFactor": 0.0, "roughnessFactor": 0.6}
            clear = {"alphaMode": "BLEND"} if color[3] < 1.0 else {}
            number = self._add("materials", pbrMetallicRoughness=look, doubleSided=True, **clear)
            self._materials[color] = number
        return self._materials[color]

    def _accessor(
        self, values: Any, target: int | None = None, bounded: bool = False, kind: int = _FLOAT
    ) -> int:
        """Numbers in the buffer."""
        kind = _INDEX if target == _TRIANGLES else kind
        array = np.ascontiguousarray(values, dtype=_TYPES[kind])
        view = {"buffer": 0, "byteOffset": len(self._numbers), "byteLength": array.nbytes}
        self._numbers += array.tobytes()
        number = self._add("bufferViews", **view, **({} if target is None else {"target": target}))
        shape = _SHAPES[1 if array.ndim == 1 else array.shape[1]]
        flat = np.atleast_2d(array.T)
        bounds = {"min": flat.min(axis=1).tolist(), "max": flat.max(axis=1).tolist()} if bounded else {}
        return self._add(
            "accessors", bufferView=number, componentType=kind, count=len(array), type=shape, **bounds
        )

    def _add(self, kind: str, **fields: Any) -> int:
        self._lists[kind].append(fields)
        return len(self._lists[kind]) - 1

    def _upright(self) -> list[float]:
        """The turn that takes up in the scene to y, and x to the right as far as possible."""
        up = np.asarray(self._scene.up, dtype=float)
        side = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        right = side - (side @ up) * up
        right /= np.linalg.norm(right)
        return _scalar_last(np.asarray(from_matrix(np.array([right, up, np.cross(right, up)]))))


def _into(position: Floats, rotation: Floats) -> Floats:
    """The matrix (16,), column by column, that takes places of the world to a frame."""
    turn = matrix(tuple(rotation.tolist()))
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = turn.T, -turn.T @ position
    flat: Floats = found.T.ravel()
    return flat


def _chunk(kind: bytes, data: bytes, filler: bytes) -> bytes:
    padded = data + filler * (-len(data) % 4)
    return struct.pack("<I4s", len(padded), kind) + padded


def _scalar_last(turn: Floats) -> list[float]:
    """A quaternion with its scalar last."""
    w, x, y, z = np.clip(turn, -1.0, 1.0).tolist()
    return [x, y, z, w]


def _unwound(turns: Floats) -> Floats:
    """Quaternions (T, 4) with their scalar last, none of which is far from the one before it."""
    same = np.sum(turns[1:] * turns[:-1], axis=1) >= 0.0
    sign = np.concatenate([[1.0], np.cumprod(np.where(same, 1.0, -1.0))])
    found: Floats = (turns * sign[:, None])[:, [1, 2, 3, 0]]
    return found
