"""The scene of a mechanism as a message to browsers: everything that stays while its bodies move.

See web/src/protocol.ts, which says the same of the other side.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats, Ints
from bellcrank.io.encode import encoded
from bellcrank.mechanism import JOINT_KINDS
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.scene.color_scale import SCALE
from bellcrank.scene.scene import Glyph, Link, Piece, Scene
from bellcrank.scene.sweeps import Sweep
from bellcrank.scene.view import NAMES, View, view_of
from bellcrank.shell.language import plain
from bellcrank.trajectory.beam_values import QUANTITIES
from bellcrank.trajectory.beams import loaded_nodes
from bellcrank.trajectory.columns import recorded
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.pieces import FORCES, JOINTS, PALETTE, ends_of, points_of

SCENE: Final = 1
_TABLE: Final = {noun: table for table, noun in ELEMENTS.items()}
_TURNED: Final = (
    0.30,
    0.22,
)  # of the way to the right and up, from which a plane mechanism is seen, for depth
_HIDDEN: Final = ("qw", "qx", "qy", "qz", "hand_", "lead_", "violation")
_FIRST: Final = 3  # signals that are plotted at the beginning


@dataclass(frozen=True, eq=False)
class Picture:
    """A scene, with the order in which frames have what moves in it.

    edition: counts mechanisms. run: one frame or more of it, which says what is recorded. live: it simulates.
    described: the mechanism with its expressions. contacts: names of those whose points frames have.
    most: signals that are listed, at most.
    """

    scene: Scene
    edition: int
    run: Trajectory
    live: bool
    described: Mechanism
    contacts: tuple[str, ...] = ()
    most: int = 1_000_000

    @cached_property
    def signals(self) -> list[dict[str, Any]]:
        """What the run records, by element."""
        return _signals(self.run, self.most)

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the forces, which arrows number."""
        return tuple(name for name in self.scene.mechanism.forces if name not in self.contacts)

    @cached_property
    def bent(self) -> list[tuple[Link, slice]]:
        """Links that are drawn in several parts, and their places among the parts of all links."""
        found, begin = [], 0
        for link in self.scene.links.values():
            if link.parts > 1 or link.way is not None:
                found.append((link, slice(begin, begin + link.parts)))
            begin += link.parts
        return found

    @cached_property
    def beams(self) -> tuple[tuple[Sweep, Beam, np.ndarray], ...]:
        """Beams that are drawn, as described, and on which of their nodes other elements act."""
        mechanism = self.scene.mechanism
        return tuple(
            (sweep, mechanism.beams[name], loaded_nodes(mechanism, mechanism.beams[name]))
            for name, sweep in self.scene.sweeps.items()
        )

    @cached_property
    def joined(self) -> tuple[Ints, Floats, Ints]:
        """Of joints with a reaction: carriers (k,), places on them (k, 3), and numbers among the joints."""
        glyphs = self.scene.joints
        numbers = {name: number for number, name in enumerate(glyphs)}
        known = [name for name in self.run.layout.reactions if name in glyphs]
        carriers = np.array([glyphs[name].carriers[0] for name in known], dtype=int)
        points = np.array([glyphs[name].point for name in known], dtype=float).reshape(-1, 3)
        return carriers, points, np.array([numbers[name] for name in known], dtype=int)

    @cached_property
    def message(self) -> bytes:
        """The message."""
        scene, meshes, offsets = self.scene, list[Any](), dict[int, int]()
        drawn: list[Piece | Link | Sweep] = [*scene.pieces, *scene.links.values(), *scene.sweeps.values()]
        swept = {id(sweep.mesh) for sweep in scene.sweeps.values()}
        for what in drawn:
            if id(what.mesh) not in offsets:
                offsets[id(what.mesh)] = len(meshes)
                meshes.append(what.mesh)
        arrays, at, listed = list[bytes](), 0, list[dict[str, Any]]()
        for mesh in meshes:
            vertices = np.ascontiguousarray(mesh.vertices, dtype="<f4")
            triangles = np.ascontiguousarray(mesh.triangles, dtype="<u4")
            normals = np.ascontiguousarray(mesh.normals if id(mesh) in swept else (), dtype="<f4")
            listed.append(
                {"vertices": [at, vertices.size], "triangles": [at + vertices.size, triangles.size],
                 **({"normals": [at + vertices.size + triangles.size, normals.size]} if normals.size else {})}
            )  # fmt: skip
            at += vertices.size + triangles.size + normals.size
            arrays += [vertices.tobytes(), triangles.tobytes(), normals.tobytes()]
        more, parts = self._more(at)
        arrays += parts
        head = {**self._facts(), **self._drawn(offsets), "meshes": listed, **more}
        text = _written(head)
        text += b" " * (-len(text) % 8)
        return struct.pack("<BBHI", SCENE, 0, self.edition & 0xFFFF, len(text)) + text + b"".join(arrays)

    def _more(self, at: int) -> tuple[dict[str, Any], list[bytes]]:  # noqa: ARG002
        """More of the head, with arrays whose places, in numbers of 4 bytes, go on from one."""
        return {}, []

    def _document(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """As files write it, with expressions and with numbers."""
        document = encoded(self.described)
        return document, encoded(self.scene.mechanism) if self.described.parameters else document

    def _size(self) -> float:
        return self.scene.size

    def _facts(self) -> dict[str, Any]:
        scene = self.scene
        views = {name: _axes(view_of(scene, name)) for name in NAMES}
        usual, (document, numbers) = view_of(scene), self._document()
        return {
            "name": scene.name,
            "live": self.live,
            "size": self._size(),
            "up": scene.up,
            "views": {"start": _axes(usual, usual.plane), **views},
            "plane": usual.plane,
            "carriers": scene.carriers,
            "document": document,
            "numbers": numbers,
            "contacts": self.contacts,
            "forces": self.forces,
            "signals": self.signals,
            "palette": [{"kind": kind, "sizes": list(one.sizes.items())} for kind, one in PALETTE.items()],
            "scale": SCALE[::8].round(4).tolist(),
            "quantities": [[name, one.label, one.unit] for name, one in QUANTITIES.items()],
            "joint_kinds": [*JOINTS, *(name for name in JOINT_KINDS if name not in JOINTS)],
            "force_kinds": [
                {
                    "kind": name,
                    "numbers": [[field, one.usual.get(field, None if field in one.lengths else 0.0)]
                                for field in one.fields],
                }
                for name, one in FORCES.items()
            ],
        }  # fmt: skip

    def _drawn(self, meshes: Mapping[int, int]) -> dict[str, Any]:
        scene, mechanism = self.scene, self.scene.mechanism
        place = {id(piece): number for number, piece in enumerate(scene.pieces)}
        number = {name: k for k, name in enumerate(scene.carriers)}
        spans, first = {}, 0
        for link, _ in self.bent:
            spans[link.name] = (first, link.parts)
            first += link.parts
        points = [
            {"name": name, "body": number[body], "position": at}
            for body, there in points_of(mechanism).items()
            for name, at in _once(there)
        ]
        ends, gaps = list[dict[str, Any]](), list[tuple[int, int]]()
        for joint in mechanism.joints.values():
            both = ends_of(joint)
            if len(both) == 2 and {"x", "y", "z"} <= set(joint.kind.locked):
                gaps.append((len(ends), len(ends) + 1))
                ends += [
                    {"body": number[one.body], "position": one.position, "joint": joint.name} for one in both
                ]
        return {
            "pieces": [_piece(scene, piece, meshes) for piece in scene.pieces],
            "joints": [_joint(mechanism, glyph, place) for glyph in scene.joints.values()],
            "links": [_link(link, meshes, *spans.get(link.name, (0, 0))) for link in scene.links.values()],
            "sweeps": [
                {
                    "name": sweep.name,
                    "carriers": sweep.carriers.tolist(),
                    "mesh": meshes[id(sweep.mesh)],
                    "rings": sweep.rings.tolist(),
                    "color": sweep.color,
                }
                for sweep in scene.sweeps.values()
            ],
            "points": points,
            "ends": ends,
            "gaps": gaps,
        }


def _written(head: dict[str, Any]) -> bytes:
    """The text of a head. Few have numbers that JSON lacks, and to look for these takes long."""
    given: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    try:
        return json.dumps(head, default=plain, **given).encode()
    except ValueError:
        return json.dumps(plain(head), **given).encode()


def _axes(view: View, turned: bool = False) -> dict[str, Any]:
    """A view; turned: slightly from the side and from above, so that depth is visible."""
    toward = view.toward
    if turned:
        toward = toward + _TURNED[0] * view.right + _TURNED[1] * view.up
        toward = toward / np.linalg.norm(toward)
    return {"toward": toward, "up": view.up, "right": view.right}


def _element(text: str) -> tuple[str, str]:
    """The table and the name of "body 'crank'"; empty where it is in none."""
    noun, _, name = text.partition(" ")
    return _TABLE.get(noun, ""), name[1:-1] if name[:1] in ("'", '"') else name


def _piece(scene: Scene, piece: Piece, meshes: Mapping[int, int]) -> dict[str, Any]:
    joint = scene.glyph_of.get(id(piece))
    table, element = ("joints", joint) if joint is not None else _element(piece.element)
    if not table and piece.carrier < len(scene.carriers) - 1:
        table, element = "bodies", scene.carriers[piece.carrier]
    return {
        "table": table, "element": element, "role": piece.role, "carrier": piece.carrier,
        "mesh": meshes[id(piece.mesh)], "position": piece.position, "rotation": piece.rotation,
        "color": piece.color,
    }  # fmt: skip


def _joint(mechanism: Mechanism, glyph: Glyph, place: Mapping[int, int]) -> dict[str, Any]:
    joint = mechanism.joints.get(glyph.name)
    at = [glyph.point, glyph.point] if joint is None else [one.position for one in ends_of(joint)]
    return {
        "name": glyph.name, "kind": glyph.kind, "carriers": glyph.carriers, "point": glyph.point,
        "axis": glyph.axis, "driven": glyph.driven, "pieces": [place[id(piece)] for piece in glyph.pieces],
        "at": at,
    }  # fmt: skip


def _link(link: Link, meshes: Mapping[int, int], first: int, spans: int) -> dict[str, Any]:
    table, element = _element(link.element)
    return {
        "name": element or link.name, "table": table, "kind": link.kind, "carriers": link.carriers,
        "points": link.points, "mesh": meshes[id(link.mesh)], "color": link.color, "first": first,
        "spans": spans,
    }  # fmt: skip


def _once(points: Iterable[tuple[Floats, str]]) -> Iterable[tuple[str, Floats]]:
    """Points of a body to which clicks snap, each once; named ones first."""
    found: dict[tuple[float, ...], tuple[str, Floats]] = {}
    for at, name in points:
        key = tuple(at.round(9).tolist())
        if key not in found or (name and not found[key][0]):
            found[key] = (name, at)
    return found.values()


def _signals(run: Trajectory, most: int) -> list[dict[str, Any]]:
    """What a run records, by element; the first coordinates of joints are those worth showing first."""
    known = {f"body.{name}": ("bodies", name) for name in run.bodies}
    known |= {f"joint.{name}": ("joints", name) for name in run.joints}
    known |= {f"drive.{name}": ("drives", name) for name in run.drives}
    known |= {f"force.{name}": ("forces", name) for name in run.forces}
    known |= {f"constraint.{name}": ("constraints", name) for name in run.constraints}
    known |= {f"sensor.{name}": ("sensors", name) for name in run.sensors}
    groups: dict[str, list[list[Any]]] = {}
    left, count = _FIRST, 0
    for one in (*recorded(run[:1]), None):
        name, unit = ("energy.total", "J") if one is None else (one.name, one.unit)
        if name == "time" or (one is not None and one.flags):
            continue
        group = name.rpartition(".")[0] if name.count(".") > 1 else name.partition(".")[0]
        while group not in known and group.count(".") > 1:
            group = group.rpartition(".")[0]
        label, usual = name[len(group) + 1 :], 1
        if any(word in label or word in group for word in _HIDDEN):
            usual = 0
        elif left and group.startswith("joint.") and unit in ("rad", "m") and "." not in label:
            left, usual = left - 1, 2
        if (count := count + 1) <= most:
            groups.setdefault(group, []).append([label, unit, usual])
    if left == _FIRST and run.bodies:  # without joints, where the first body is
        for row in groups.get(f"body.{run.bodies[0]}", ()):
            row[2] = 2 if row[0] in ("x", "y", "z") else row[2]
    return [
        {"group": group, "table": known.get(group, ("", ""))[0], "element": known.get(group, ("", ""))[1],
         "signals": rows}
        for group, rows in groups.items()
    ]  # fmt: skip
