"""The scene: the drawable content of a mechanism, independent of the renderer.

Meshes are given in frames of their own; each piece specifies the body that carries it and its pose on that
body; `Scene.placed` transforms all meshes to the world for given poses of the bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats, Ints, State
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rope_path import rope_path
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.mechanism.rotation_arrays import product, rotate
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.sweeps import Sweep

Color = tuple[float, float, float, float]
_PARTS = 10  # of a string that may be slack
_BENDS = 24  # straight parts of an arc around a wheel


@dataclass(frozen=True, eq=False)
class RopeWay:
    """The ends that a rope or belt passes.

    carriers: (ends,), their bodies. points: (ends, 3), where they are in the frames of these, m; axes:
    (ends, 3), their z axes there. radii: (ends,), signed, m. closed: it returns to the first end. lifting:
    places of wheels that it leaves.
    """

    carriers: Ints
    points: Floats
    axes: Floats
    radii: Floats
    closed: bool
    lifting: tuple[int, ...] = ()

    @property
    def parts(self) -> int:
        """Number of straight parts in which it is drawn."""
        spans = len(self.radii) - (not self.closed)
        return spans + _BENDS * int(np.count_nonzero(self.radii))

    def placed(self, position: Floats, rotation: Floats) -> Floats:
        """The ends of its straight parts (..., parts, 2, 3) at poses of all carriers."""
        turn = rotation[..., self.carriers, :]
        at, axes = position[..., self.carriers, :] + rotate(turn, self.points), rotate(turn, self.axes)
        path = rope_path(self.radii.tolist(), self.closed, at, axes, _BENDS + 1, self.lifting)
        arcs = path.arcs[..., self.radii != 0.0, :, :]
        bends = np.stack([arcs[..., :-1, :], arcs[..., 1:, :]], axis=-2)
        found: Floats = np.concatenate([path.straight, bends.reshape(*bends.shape[:-4], -1, 2, 3)], axis=-3)
        return found


@dataclass(frozen=True, eq=False)
class Piece:
    """A mesh that a body carries.

    name: unique in the scene, such as "crank/1". element: what it shows, such as "body 'crank'".
    role: "shape" (described), "body" (made up from markers and inertia), "joint", "support" or "surface".
    carrier: number of the body in the scene, the ground last. position, rotation: pose of the mesh in the
        frame of the body. color: red, green, blue, opacity. Pieces that look alike share their mesh.

    >>> piece = bc.scene.of(cube).pieces[0]
    >>> piece.element, piece.role
    ("body 'cube'", 'shape')
    >>> print(np.ptp(piece.mesh.vertices, axis=0))    # m
    [1. 1. 1.]
    """

    name: str
    element: str
    role: str
    carrier: int
    mesh: TriangleMesh
    color: Color
    position: Vec3 = (0.0, 0.0, 0.0)
    rotation: Quat = IDENTITY

    @cached_property
    def vertices(self) -> Floats:
        """Vertices (n, 3) in the frame of the body, m."""
        turned = rotate(np.asarray(self.rotation)[None], self.mesh.vertices)
        moved: Floats = turned + np.asarray(self.position)
        return moved


@dataclass(frozen=True, eq=False)
class Glyph:
    """The glyph of a joint.

    kind: name of its kind. carriers: the two bodies. point: its place on the first, in the frame of that
    body, m. axis: unit vector along its axis there, or None. `driven`: whether a drive or motor acts on it.
    pieces: fixed to the one body or the other.

    >>> hinge = bc.scene.of(pendulum).joints["hinge"]
    >>> hinge.kind, hinge.driven, hinge.point
    ('Revolute', False, (0.0, 0.0, 0.0))
    """

    name: str
    kind: str
    carriers: tuple[int, int]
    point: Vec3
    axis: Vec3 | None
    driven: bool
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, eq=False)
class Link:
    """A connection from a point of one body to a point of another: a spring, a string, a massless rod.

    name: unique in the scene. element: such as "force 'spring'". kind: name of its kind.
    carriers: the two bodies. points: (2, 3), the ends in the frames of the bodies, m.
    mesh: along z from 0 to 1, to be stretched to the distance of the ends; x and y in m.
    slack: the length below which it is slack, m; 0 if it is never slack. way: of a rope over wheels or a
    belt, of which `points` then are the first and last end.

    >>> ends = block.ground.marker((0, 0, 1)), "block"
    >>> spring = block.add_force("spring", bc.SpringDamper(100.0), *ends)
    >>> scene = bc.scene.of(block)
    >>> link = scene.links[list(scene.links)[0]]
    >>> link.element, link.points[0].tolist()
    ("force 'spring'", [0.0, 0.0, 1.0])
    """

    name: str
    element: str
    kind: str
    carriers: tuple[int, int]
    points: Floats
    mesh: TriangleMesh
    color: Color
    slack: float = 0.0
    way: RopeWay | None = None

    @property
    def parts(self) -> int:
        """Number of straight parts in which it is drawn: a link that may be slack sags, a rope bends."""
        if self.way is not None:
            return self.way.parts
        return _PARTS if self.slack > 0.0 else 1


@dataclass(frozen=True, eq=False, repr=False)
class Placed:
    """Meshes in the world, in the order of the scene's pieces, of its links, and of its sweeps.

    position: (..., n, 3), m. rotation: (..., n, 4), unit quaternions (w, x, y, z).
    stretch: (..., n), by which a mesh is longer along its own z; 1 for pieces. What is swept is placed
    by `Scene.bent` and stands still here.

    >>> placed = bc.scene.of(cube).placed(position=[(0, 0, 2)], rotation=[(1, 0, 0, 0)])
    >>> placed.position[0].tolist()    # m, of the box where the cube is
    [0.0, 0.0, 2.0]
    """

    position: Floats
    rotation: Floats
    stretch: Floats

    def __repr__(self) -> str:
        return f"<Placed, {self.position.shape[-2]} meshes>"


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """The drawable content of a mechanism.

    mechanism: with numbers in the place of expressions. carriers: names of the bodies in the order of states,
    then "ground". bodies: pieces by the name of the body that carries them, the ground's among them.
    joints, links: by name; sweeps: beams by name. state: the assembled start, or the description where that
    fails; faults: why. size: a length that says how large the mechanism is, m. up: unit vector against
    gravity, or the usual one.

    >>> scene = bc.scene.of(four_bar)
    >>> scene.name, list(scene.joints)
    ('four-bar', ['motor', 'pin 1', 'pin 2', 'pivot'])
    """

    mechanism: Mechanism
    carriers: tuple[str, ...]
    bodies: Mapping[str, tuple[Piece, ...]]
    joints: Mapping[str, Glyph]
    links: Mapping[str, Link]
    state: State
    size: float
    up: Vec3
    faults: tuple[str, ...] = ()
    sweeps: Mapping[str, Sweep] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Scene of {self.name!r}, {len(self.pieces)} pieces, {len(self.links)} links>"

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.mechanism.name

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces: those of bodies in their order, then those of joints."""
        of_bodies = [piece for pieces in self.bodies.values() for piece in pieces]
        return (*of_bodies, *(piece for glyph in self.joints.values() for piece in glyph.pieces))

    @cached_property
    def drawn(self) -> tuple[Piece | Link | Sweep, ...]:
        """Pieces, links, each once for each of its parts, and sweeps, in the order of `placed`."""
        parts = (link for link in self.links.values() for _ in range(link.parts))
        return (*self.pieces, *parts, *self.sweeps.values())

    @cached_property
    def copies(self) -> Mapping[int, Ints]:
        """Indices in `drawn` of the parts that share a mesh, by the identity of the mesh: one batch each."""
        found: dict[int, list[int]] = {}
        for number, what in enumerate(self.drawn):
            found.setdefault(id(what.mesh), []).append(number)
        return MappingProxyType({key: np.array(numbers, dtype=np.int32) for key, numbers in found.items()})

    @cached_property
    def _local(self) -> tuple[Ints, Floats, Floats]:
        """Carriers (p,), positions (p, 3) and rotations (p, 4) of the pieces."""
        carrier = np.array([piece.carrier for piece in self.pieces], dtype=np.int32)
        position = np.array([piece.position for piece in self.pieces], dtype=float).reshape(-1, 3)
        rotation = np.array([piece.rotation for piece in self.pieces], dtype=float).reshape(-1, 4)
        return carrier, position, rotation

    @cached_property
    def _spans(self) -> tuple[Ints, Floats]:
        """Carriers (l, 2) and points (l, 2, 3) of the links."""
        links = self.links.values()
        carriers = np.array([link.carriers for link in links], dtype=np.int32).reshape(-1, 2)
        return carriers, np.array([link.points for link in links], dtype=float).reshape(-1, 2, 3)

    def placed(self, position: Any = None, rotation: Any = None) -> Placed:
        """Placement of all meshes at poses of the bodies, (..., nb, 3), m, and (..., nb, 4), or the start.

        >>> scene = bc.scene.of(block)
        >>> run = bc.simulate(block, 1.0)
        >>> state = run.at(1.0)
        >>> scene.placed(state.position, state.rotation).position[0].round(6).tolist()    # m: -g t^2 / 2
        [0.0, 0.0, -4.905]
        """
        position, rotation = self._poses(position, rotation)
        carrier, own_position, own_rotation = self._local
        turn = rotation[..., carrier, :]
        at = position[..., carrier, :] + rotate(turn, own_position)
        ends = self._every_part(position, rotation)
        span = ends[..., 1, :] - ends[..., 0, :]
        length = np.linalg.norm(span, axis=-1)
        many = at.shape[:-2], len(self.sweeps)
        still = np.broadcast_to(np.array([IDENTITY]), (*many[0], many[1], 4))
        return Placed(
            np.concatenate([at, ends[..., 0, :], np.zeros((*many[0], many[1], 3))], axis=-2),
            np.concatenate([product(turn, own_rotation), from_z(span), still], axis=-2),
            np.concatenate([np.ones(at.shape[:-1]), length, np.ones((*many[0], many[1]))], axis=-1),
        )

    def sections(self, position: Any = None, rotation: Any = None) -> dict[str, tuple[Floats, Floats]]:
        """Poses (..., rings, 3) and (..., rings, 4) of the sections of what is swept, by name.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> at, _ = bc.scene.of(mech).sections()["boom"]
        >>> at[-1].tolist()    # m
        [2.0, 0.0, 0.0]
        """
        position, rotation = self._poses(position, rotation)
        return {name: sweep.axis(position, rotation) for name, sweep in self.sweeps.items()}

    def bent(self, position: Any = None, rotation: Any = None) -> dict[str, tuple[Floats, Floats]]:
        """Vertices and normals (..., n, 3) of what is swept, by name, in the world at poses of the bodies.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start="ground", end=(2, 0, 0))
        >>> vertices, _ = bc.scene.of(mech).bent()["boom"]
        >>> print(np.ptp(vertices, axis=0))    # m
        [2.   0.02 0.02]
        """
        position, rotation = self._poses(position, rotation)
        return {name: sweep.placed(position, rotation) for name, sweep in self.sweeps.items()}

    def parts(self, position: Any = None, rotation: Any = None) -> Floats:
        """Both ends of all parts of links (..., parts, 2, 3) at poses of the bodies, m.

        >>> ends = block.ground.marker((0, 0, 1)), "block"
        >>> spring = block.add_force("spring", bc.SpringDamper(100.0), *ends)
        >>> bc.scene.of(block).parts()[0].tolist()    # m, both ends of the spring
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        """
        return self._every_part(*self._poses(position, rotation))

    def _every_part(self, position: Floats, rotation: Floats) -> Floats:
        ends = self._parts_of(self._ends(position, rotation))
        for place, way in self._ways:
            ends[..., place, :, :] = way.placed(position, rotation)
        return ends

    def ends(self, position: Any = None, rotation: Any = None) -> Floats:
        """Both ends of all links (..., links, 2, 3) at poses of the bodies, m.

        >>> ends = block.ground.marker((0, 0, 1)), "block"
        >>> spring = block.add_force("spring", bc.SpringDamper(100.0), *ends)
        >>> bc.scene.of(block).ends([(0, 0, 0.2)], [(1, 0, 0, 0)])[0].tolist()    # m, with the block at 0.2 m
        [[0.0, 0.0, 1.0], [0.0, 0.0, 0.2]]
        """
        return self._ends(*self._poses(position, rotation))

    def _ends(self, position: Floats, rotation: Floats) -> Floats:
        carriers, points = self._spans
        moved: Floats = position[..., carriers, :] + rotate(rotation[..., carriers, :], points)
        return moved

    def _parts_of(self, ends: Floats) -> Floats:
        """Ends of the parts of links (..., parts, 2, 3).

        A string of length L that spans d sags by the root of 3/16 (L^2 - d^2), as a flat parabola does.
        """
        number, share, slack = self._shares
        if len(number) == len(self.links):
            return ends
        first, span = ends[..., 0, :], ends[..., 1, :] - ends[..., 0, :]
        square = np.sum(span * span, axis=-1)
        depth = np.sqrt(0.1875 * np.maximum(slack**2 - square, 0.0))
        down = -np.asarray(self.up) + 0.3 * np.roll(self.up, 1)  # beside the string if that is vertical
        along = np.sum(span * down, axis=-1, keepdims=True) / np.maximum(square, 1e-300)[..., None]
        side = down - along * span
        side = side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-300)
        bow = (4.0 * share * (1.0 - share))[..., None]
        found: Floats = (
            first[..., number, None, :]
            + share[..., None] * span[..., number, None, :]
            + bow * (depth[..., None] * side)[..., number, None, :]
        )
        return found

    @cached_property
    def _shares(self) -> tuple[Ints, Floats, Floats]:
        """Link index (p,) and ends as fractions of the span (p, 2) of each part; slack lengths of links."""
        links = list(self.links.values())
        counts = [link.parts for link in links]
        number = np.repeat(np.arange(len(links), dtype=np.int32), counts)
        share = [[part / count, (part + 1) / count] for count in counts for part in range(count)]
        slack = np.array([link.slack for link in links])
        return number, np.array(share, dtype=float).reshape(-1, 2), slack

    @cached_property
    def _ways(self) -> list[tuple[slice, RopeWay]]:
        """The ways of ropes and belts, and the places of their parts among those of all links."""
        found, begin = [], 0
        for link in self.links.values():
            if link.way is not None:
                found.append((slice(begin, begin + link.parts), link.way))
            begin += link.parts
        return found

    def _poses(self, position: Any, rotation: Any) -> tuple[Floats, Floats]:
        """Poses of the bodies and of the ground."""
        position = self.state.position if position is None else np.asarray(position, dtype=float)
        rotation = self.state.rotation if rotation is None else np.asarray(rotation, dtype=float)
        shape = position.shape[:-2]
        ground = np.broadcast_to(np.zeros((1, 3)), (*shape, 1, 3))
        still = np.broadcast_to(np.array([IDENTITY]), (*shape, 1, 4))
        return np.concatenate([position, ground], axis=-2), np.concatenate([rotation, still], axis=-2)

    @cached_property
    def glyph_of(self) -> Mapping[int, str]:
        """The name of the joint that a piece belongs to, by the identity of the piece."""
        return {id(piece): name for name, glyph in self.joints.items() for piece in glyph.pieces}

    def carrier(self, name: str) -> int:
        """The index of a body or of the ground.

        >>> scene = bc.scene.of(arm)
        >>> scene.carrier("forearm"), scene.carrier("ground")
        (1, 2)
        """
        return self.carriers.index(name)


def from_z(span: Floats) -> Floats:
    """Quaternions (..., 4) that turn z into directions (..., 3): (1 + c, -y, x, 0) / |...|, c the cosine."""
    length = np.linalg.norm(span, axis=-1, keepdims=True)
    x, y, z = np.moveaxis(span / np.where(length > 0.0, length, 1.0), -1, 0)
    flat = np.zeros_like(x)
    back = 1.0 + z < 1e-12
    q = np.stack(
        [np.where(back, 0.0, 1.0 + z), np.where(back, 1.0, -y), np.where(back, 0.0, x), flat], axis=-1
    )
    q[..., 0] = np.where(length[..., 0] > 0.0, q[..., 0], 1.0)
    turn: Floats = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return turn
