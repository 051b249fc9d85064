"""Beams as bodies of one piece: the outline of a section, swept along the bent axis between the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats, Ints
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.rotation_arrays import between, relative_logarithm, rotate
from bellcrank.mechanism.section import Circle, IBeam, Rectangle, Section, Tapered, Tube
from bellcrank.scene.mesh import TriangleMesh, flat, joined, walls
from bellcrank.scene.setting import Setting

COLOR: Final = (0.62, 0.66, 0.70, 1.0)
_SIDES: Final = 24  # of round sections
_RINGS: Final = 96  # of a beam, about
_MOST: Final = 12  # of a segment
_THIN: Final = (0.002, 0.03)  # of the length: radii of what is drawn of sections without sizes


@dataclass(frozen=True, eq=False)
class Sweep:
    """A beam, drawn as one body.

    name: of the beam. element: such as "beam 'boom'". carriers: its nodes, (N,). color: unless it has others.
    mesh: of the straight beam; x counts nodes, from 0 to N - 1, y and z are those of the section, m.
    rings: places along x at which it has vertices, (R,). ring: the number of the ring of each vertex.

    >>> mech = bc.Mechanism("boom")
    >>> tube = bc.Section.tube(0.04, 0.002, E=210e9, nu=0.3, density=7850)
    >>> boom = mech.add_beam("boom", tube, start="ground", end=(2, 0, 0), segments=4)
    >>> sweep = bc.scene.of(mech).sweeps["boom"]
    >>> sweep.element, len(sweep.carriers), len(sweep.rings)
    ("beam 'boom'", 5, 49)
    """

    name: str
    element: str
    carriers: Ints
    mesh: TriangleMesh
    rings: Floats
    ring: Ints
    color: tuple[float, float, float, float] = COLOR

    @cached_property
    def _parts(self) -> tuple[Ints, Floats]:
        """The segments of the rings, and which part of them is before (R, 1)."""
        k = np.minimum(self.rings.astype(np.int32), len(self.carriers) - 2)
        return k, (self.rings - k)[:, None]

    def axis(self, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        """Poses of the sections at the rings, (..., R, 3) and (..., R, 4), at poses of all carriers.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start=(0, 0, 0), end=(2, 0, 0), segments=2)
        >>> turns = np.array([[1.0, 0, 0, 0]] * 3)
        >>> places = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
        >>> at, _ = bc.scene.of(mech).sweeps["boom"].axis(places, turns)
        >>> at[18].tolist()    # of 25 rings
        [1.5, 0.0, 0.0]
        """
        at, turn = position[..., self.carriers, :], rotation[..., self.carriers, :]
        return between(at, turn, relative_logarithm(at, turn), *self._parts)

    def placed(self, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        """Vertices and normals (..., n, 3) in the world at poses of all carriers.

        >>> mech = bc.Mechanism("boom")
        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> boom = mech.add_beam("boom", bar, start=(0, 0, 0), end=(2, 0, 0), segments=2)
        >>> turns = np.array([[1.0, 0, 0, 0]] * 3)
        >>> places = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
        >>> vertices, normals = bc.scene.of(mech).sweeps["boom"].placed(places, turns)
        >>> print(np.ptp(vertices, axis=0))    # m
        [2.   0.02 0.02]
        """
        at, turn = self.axis(position, rotation)
        across = self.mesh.vertices * np.array([0.0, 1.0, 1.0])
        own = turn[..., self.ring, :]
        return at[..., self.ring, :] + rotate(own, across), rotate(own, self.mesh.normals)


def sweeps_of(setting: Setting) -> dict[str, Sweep]:
    """The beams of a mechanism by name, those of which all nodes are there."""
    known = {carrier.name for carrier in setting.carriers}
    return {
        name: swept(beam, [setting.number(node) for node in beam.nodes])
        for name, beam in setting.mechanism.beams.items()
        if known.issuperset(beam.nodes)
    }


def swept(beam: Beam, carriers: Sequence[int]) -> Sweep:
    """A beam whose nodes are these carriers."""
    count = len(carriers) - 1
    each = max(1, min(_MOST, round(_RINGS / count)))
    rings = np.linspace(0.0, count, each * count + 1)
    mesh = _tapered(beam, rings) if isinstance(beam.section, Tapered) else _prism(beam, beam.section, rings)
    ring = np.rint(mesh.vertices[:, 0] * each).astype(np.int32)
    return Sweep(
        beam.name, f"beam {beam.name!r}", np.array(carriers, dtype=np.int32), mesh, rings, ring, COLOR
    )


def _prism(beam: Beam, section: Section, rings: Floats) -> TriangleMesh:
    """A straight piece of one section; x is the number of the ring's node."""
    sides, caps = profile(section, float(beam.length), beam.radius)
    ends = [flat(cap, x, forward) for cap in caps for x, forward in ((0.0, False), (rings[-1], True))]
    return joined([*(walls(points, normals, rings) for points, normals in sides), *ends])


def _tapered(beam: Beam, rings: Floats) -> TriangleMesh:
    """The same of sections that change: their outlines are linear in their sizes."""
    section: Any = beam.section
    whole = [_prism(beam, one, rings) for one in section.sections]
    stations = np.array(beam.grid.stations, dtype=float)
    s = np.interp(whole[0].vertices[:, 0], np.arange(len(stations)), stations)
    known = np.array(section.stations, dtype=float)
    k = np.clip(np.searchsorted(known, s, "right") - 1, 0, len(known) - 2)
    part = np.clip((s - known[k]) / (known[k + 1] - known[k]), 0.0, 1.0)[:, None]
    places, each = np.stack([one.vertices for one in whole]), np.arange(len(s))
    return replace(whole[0], vertices=(1.0 - part) * places[k, each] + part * places[k + 1, each])


def profile(
    section: Section, length: float, radius: float | None = None
) -> tuple[list[tuple[Floats, Floats]], list[Floats]]:
    """The outline of a section: its smooth parts, counter-clockwise about x, and patches that fill it.

    Parts are points (y, z) and unit normals, (c, 2) each; patches are grids (2, c, 2). A section without
    sizes is round, with the given radius, or that of a solid bar that bends and stretches alike, in limits.
    """
    if isinstance(section, Rectangle):
        sizes = float(section.width), float(section.height)
        sides, patches = _polygon(_corners(*sizes)), [_patch(*sizes)]
    elif isinstance(section, IBeam):
        width, height, thick, own = (
            float(x) for x in (section.width, section.height, section.flange, section.web)
        )
        tip, top, web, inner = 0.5 * width, 0.5 * height, 0.5 * own, 0.5 * height - thick
        half = [(web, -inner), (web, inner), (tip, inner), (tip, top), (-tip, top), (-tip, inner)]
        sides = _polygon([*half, *((-y, -z) for y, z in half)])
        patches = [_patch(own, 2.0 * inner)]
        patches += [_patch(width, thick) + np.array([0.0, z]) for z in (top - 0.5 * thick, 0.5 * thick - top)]
    else:
        outside, inside = _radii(section, length, radius)
        angle = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
        way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        sides = [(outside * way, way)]
        if inside > 0.0:
            sides.append((inside * way[::-1], -way[::-1]))
        patches = [np.stack([inside * way, outside * way])]
    return sides, patches


def _radii(section: Section, length: float, radius: float | None) -> tuple[float, float]:
    """Outside and inside of a round section, m."""
    if isinstance(section, Tube):
        return 0.5 * float(section.diameter), 0.5 * float(section.diameter) - float(section.wall)
    if isinstance(section, Circle):
        return 0.5 * float(section.diameter), 0.0
    if radius is not None:
        return float(radius), 0.0
    bending = np.sqrt(float(section.EI[0]) * float(section.EI[1]))
    low, high = (part * length for part in _THIN)
    return float(np.clip(2.0 * np.sqrt(bending / float(section.EA)), low, high)), 0.0


def _corners(width: float, height: float) -> list[tuple[float, float]]:
    y, z = 0.5 * width, 0.5 * height
    return [(y, -z), (y, z), (-y, z), (-y, -z)]


def _patch(width: float, height: float) -> Floats:
    a, b, c, d = _corners(width, height)
    return np.array([[d, c], [a, b]])


def _polygon(corners: Sequence[tuple[float, float]]) -> list[tuple[Floats, Floats]]:
    """The sides of a polygon, counter-clockwise."""
    points = np.array([*corners, corners[0]])
    ways = np.diff(points, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    normals = np.stack([ways[:, 1], -ways[:, 0]], axis=1)
    return [(points[k : k + 2], np.repeat(normals[k : k + 1], 2, axis=0)) for k in range(len(ways))]
