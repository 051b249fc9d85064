"""Cost of collision geometry: pairs of shapes, rays, the broad phase and the trees of meshes."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any, Final

import click
import numpy as np

from bellcrank import _core
from bellcrank.assembly.state import Floats
from benchmarks.command_line import Form, form_option, invoke, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.timing import Spread

_Shape = _core.CollisionShape
REACH: Final = 0.01
"""m, of shapes about 1 m long."""
_TREAD: Final = 0.03
"""Length of the rays of a tyre, m."""
_FLAT: Final = np.array([[0.0, 0, 0, 1, 0, 0, 0]])
_CALLS: Final = (Column("pair", "pair"), Column("ns", "ns"), Column("points", "points"))
_RAYS: Final = (Column("shape", "shape"), Column("ns", "ns a ray"), Column("hits", "share of hits"))
_BROAD: Final = (Column("bodies", "bodies"), Column("us", "us"), Column("pairs", "pairs", 6))
_BUILDS: Final = (Column("triangles", "triangles", 6), Column("ms", "ms to build"))


def _icosahedron() -> _core.CollisionShape:
    """A hull of 12 vertices and 20 faces: triples of vertices at the smallest distance."""
    golden = 0.5 * (1.0 + 5.0**0.5)
    half = [(0.0, a, b * golden) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    p = np.array([np.roll(v, turn) for turn in range(3) for v in half]) * 0.5 / np.hypot(1.0, golden)
    edge = 2.0 * 0.5 / np.hypot(1.0, golden)
    near = np.linalg.norm(p[:, None] - p[None], axis=2) < 1.01 * edge
    faces = [t for t in combinations(range(12), 3) if all(near[i, j] for i, j in combinations(t, 2))]
    return _Shape.hull(p, faces)


def _shapes() -> dict[str, _core.CollisionShape]:
    return {
        "sphere": _Shape.sphere(0.4),
        "capsule": _Shape.capsule(0.2, 0.5),
        "cylinder": _Shape.cylinder(0.3, 0.5),
        "cone": _Shape.cone(0.4, 0.4),
        "ellipsoid": _Shape.ellipsoid((0.5, 0.3, 0.2)),
        "box": _Shape.box((0.5, 0.3, 0.2)),
        "icosahedron": _icosahedron(),
    }


def _touching(a: _core.CollisionShape, b: _core.CollisionShape, count: int = 500) -> tuple[Floats, Floats]:
    """Random poses at which two shapes overlap by up to 5 mm or are within reach, as in contact."""
    rng = np.random.default_rng(1)
    at_a, at_b = np.zeros((count, 7)), np.zeros((count, 7))
    for at in (at_a, at_b):
        q = rng.normal(size=(count, 4))
        at[:, 3:] = q / np.linalg.norm(q, axis=1, keepdims=True)
    away = rng.normal(size=(count, 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    near, far = np.zeros(count), np.full(count, 3.0)
    for _ in range(30):  # bisection for the distance at which they touch
        middle = 0.5 * (near + far)
        at_a[:, :3] = middle[:, None] * away
        touching = np.diff(_core.collide(a, at_a, b, at_b, 0.0).first) > 0
        near, far = np.where(touching, middle, near), np.where(touching, far, middle)
    at_a[:, :3] = (near + rng.uniform(-0.005, 0.005, count))[:, None] * away
    return at_a, at_b


def _height(x: Any, y: Any) -> Any:
    return 0.2 * np.sin(1.3 * y) * np.cos(1.7 * x) + 0.02 * np.sin(9.0 * x)


def terrain(side: int) -> tuple[Floats, Floats, list[list[int]]]:
    """Heights over a square of 10 m, as a grid, and as vertices and triangles."""
    x = np.linspace(-5.0, 5.0, side)
    heights = _height(x[None], x[:, None])
    vertices = np.column_stack([np.tile(x, side), np.repeat(x, side), heights.ravel()])
    v = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    triangles = np.vstack(
        [np.column_stack([v, v + 1, v + side + 1]), np.column_stack([v, v + side + 1, v + side])]
    )
    return heights, vertices, triangles.tolist()


def _pair_rows(repeats: int) -> list[Row]:
    shapes = _shapes()
    rows: list[Row] = []
    names = list(shapes)
    pairs = [(names[i], names[j]) for i in range(len(names)) for j in range(i, len(names))]
    for a, b in pairs:
        at_a, at_b = _touching(shapes[a], shapes[b])
        rows.append(_pair_row(f"{a} - {b}", shapes[a], at_a, shapes[b], at_b, repeats))
    heights, vertices, triangles = terrain(51)
    step = 10.0 / 50
    grounds = {
        "plane": _Shape.plane(),
        "mesh, 0.2 m": _Shape.mesh(vertices, triangles),
        "height field, 0.2 m": _Shape.height_field(heights, (-5.0, -5.0), (step, step)),
    }
    for name, shape in shapes.items():
        for ground, surface in grounds.items():
            at = _resting(shape, surface)
            rows.append(_pair_row(f"{name} - {ground}", shape, at, surface, _FLAT, repeats))
    box, stacked = shapes["box"], np.zeros((500, 7))
    angle = 0.5 * np.random.default_rng(5).uniform(0.0, np.pi, 500)
    stacked[:, 2], stacked[:, 3], stacked[:, 6] = 0.3999, np.cos(angle), np.sin(angle)
    rows.append(_pair_row("box - box, face on face", box, stacked, box, _FLAT, repeats))
    return rows + _mesh_rows(grounds, repeats)


def _torus(around: int, across: int) -> _core.CollisionShape:
    """A mesh of 2 around across triangles, 1 m wide: a body that is not convex."""
    u, v = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, around, endpoint=False),
        np.linspace(0.0, 2.0 * np.pi, across, endpoint=False),
        indexing="ij",
    )
    out = 0.35 + 0.15 * np.cos(v)
    vertices = np.stack([out * np.cos(u), out * np.sin(u), 0.15 * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return _Shape.mesh(vertices, np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])]).tolist())


def _mesh_rows(grounds: dict[str, _core.CollisionShape], repeats: int) -> list[Row]:
    """Meshes on each other and on grounds."""
    mesh, name = _torus(24, 12), "torus of 576"
    rows: list[Row] = []
    for other, shape in {"itself": mesh, **grounds}.items():
        at = _arriving(mesh, shape, 100)
        still = np.repeat(_FLAT, len(at), axis=0)
        rows.append(_pair_row(f"{name} - {other}", mesh, at, shape, still, repeats))
    return rows


def _arriving(mesh: _core.CollisionShape, other: _core.CollisionShape, count: int) -> Floats:
    """Random poses 2 mm deep where a mesh arrives at another shape from above, never deeper."""
    rng = np.random.default_rng(2)
    at = np.zeros((count, 7))
    at[:, 3:] = rng.normal(size=(count, 4))
    at[:, 3:] /= np.linalg.norm(at[:, 3:], axis=1, keepdims=True)
    at[:, :2], at[:, 2] = rng.uniform(-0.3, 0.3, (count, 2)), 1.2
    on_the_way = np.arange(count)
    for _ in range(400):
        found = _core.collide(mesh, at[on_the_way], other, np.repeat(_FLAT, len(on_the_way), axis=0), 0.02)
        gap = np.full(len(on_the_way), 0.02)
        rows = np.repeat(np.arange(len(on_the_way)), np.diff(found.first))
        np.minimum.at(gap, rows, np.asarray(found.points)[:, 6])
        at[on_the_way, 2] -= np.maximum(gap, 1e-5)
        on_the_way = on_the_way[(gap > 1e-5) & (at[on_the_way, 2] > -1.2)]
        if not len(on_the_way):
            break
    arrived = at[:, 2] > -1.2
    at[:, 2] -= 0.002
    return at[arrived]


def _resting(shape: _core.CollisionShape, ground: _core.CollisionShape, count: int = 500) -> Floats:
    """Random poses above a ground, 2 mm deep."""
    rng = np.random.default_rng(2)
    at = np.zeros((count, 7))
    at[:, 3:] = rng.normal(size=(count, 4))
    at[:, 3:] /= np.linalg.norm(at[:, 3:], axis=1, keepdims=True)
    at[:, :2] = rng.uniform(-3.0, 3.0, (count, 2))
    low, high = np.zeros(count), np.full(count, 1.5)
    for _ in range(30):
        at[:, 2] = 0.5 * (low + high)
        touching = np.diff(_core.collide(shape, at, ground, _FLAT, 0.0).first) > 0
        low, high = np.where(touching, at[:, 2], low), np.where(touching, high, at[:, 2])
    at[:, 2] = low - 0.002
    return at


def _pair_row(
    name: str,
    a: _core.CollisionShape,
    at_a: Floats,
    b: _core.CollisionShape,
    at_b: Floats,
    repeats: int,
) -> Row:
    measured = [_core.time_collide(a, at_a, b, at_b, REACH, 20) for _ in range(repeats)]
    return {"pair": name, "ns": Spread.of([m[0] for m in measured], 1e9), "points": measured[0][1]}


def _ray_rows(repeats: int) -> tuple[list[Row], list[Row]]:
    heights, vertices, triangles = terrain(225)
    step = 10.0 / 224
    builds = []
    for _ in range(repeats):
        start = time.process_time()
        mesh = _Shape.mesh(vertices, triangles)
        builds.append(time.process_time() - start)
    targets = {
        **_shapes(),
        f"mesh, {len(triangles):,} triangles": mesh,
        "height field, 224 x 224 cells": _Shape.height_field(heights, (-5.0, -5.0), (step, step)),
    }
    rows: list[Row] = []
    rng = np.random.default_rng(4)
    for name, shape in targets.items():
        if name.startswith(("mesh", "height")):  # short ones in a patch, like those of a tyre
            origins = np.array([1.0, 0.5, 0.7]) + rng.uniform(-0.15, 0.15, (2000, 3))
            ends = origins + rng.normal(size=(2000, 3)) * [0.2, 0.2, 0.0] - [0, 0, 0.7]
        else:
            origins, ends = 3.0 * rng.normal(size=(2000, 3)), rng.uniform(-0.4, 0.4, (2000, 3))
        d = ends - origins
        d /= np.linalg.norm(d, axis=1, keepdims=True)
        rows.append(_ray_row(name, shape, np.hstack([origins, d]), np.inf, repeats))
    for name, shape in list(targets.items())[-2:]:
        rows.append(_ray_row(f"{name}, 420 of a tyre", shape, _tyre(), _TREAD, repeats))
    return rows, [{"triangles": len(triangles), "ms": Spread.of(builds, 1e3)}]


def _tyre() -> Floats:
    """Rays outwards from a rim: 60 slices with 7 each, a few of which touch the ground."""
    angle = np.repeat(np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False), 7)
    out = np.column_stack([np.sin(angle), np.zeros(420), -np.cos(angle)])
    origins = np.array([1.03, 0.52, _height(1.03, 0.52) + 0.332]) + 0.308 * out
    origins[:, 1] += np.tile(0.004 * np.arange(-3, 4), 60)
    return np.hstack([origins, out])


def _ray_row(name: str, shape: _core.CollisionShape, rays: Floats, limit: float, repeats: int) -> Row:
    measured = [_core.time_rays(shape, _FLAT, rays, limit, 20) for _ in range(repeats)]
    return {"shape": name, "ns": Spread.of([m[0] for m in measured], 1e9), "hits": measured[0][1]}


def _broad_rows(repeats: int, largest: int) -> list[Row]:
    rows: list[Row] = []
    for bodies in (n for n in (200, 1000, 10000) if n <= largest):
        centres = np.random.default_rng(0).uniform(0.0, 1.5 * bodies ** (1 / 3), (bodies, 3))
        bounds = np.hstack([centres - 0.5, centres + 0.5])
        measured = [_core.time_broad_phase(bounds, max(1, 20000 // bodies)) for _ in range(repeats)]
        rows.append(
            {"bodies": bodies, "us": Spread.of([m[0] for m in measured], 1e6), "pairs": measured[0][1]}
        )
    return rows


def run(repeats: int = 5, largest: int = 10000) -> Report:
    """Time everything; the broad phase up to a number of bodies."""
    rays, builds = _ray_rows(repeats)
    tables = [
        Table(
            "pairs",
            f"Contact of shapes about 1 m long that touch, reach {REACH} m",
            _CALLS,
            _pair_rows(repeats),
        ),
        Table("rays", "Rays", _RAYS, rays),
        Table("builds", "Meshes: neighbours, facets and the tree", _BUILDS, builds),
        Table("broad_phase", "Broad phase, unit cubes", _BROAD, _broad_rows(repeats, largest)),
    ]
    notes = (
        f"Processor time of the calls alone, medians of {repeats} measurements (smallest .. largest).",
        "Poses are rotation matrices here; a quaternion adds about 5 ns.",
    )
    settings: dict[str, Any] = {"repeats": repeats, "reach_m": REACH, "largest": largest}
    return Report("geometry", environment(), settings, tables, notes)


@click.command()
@click.option("--largest", default=10000, show_default=True, type=click.IntRange(200), help="Bodies at most.")
@repeats_option(5)
@form_option
def command(largest: int, repeats: int, form: Form) -> None:
    """Time collision geometry."""
    publish([run(repeats, largest)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "geometry", arguments)
