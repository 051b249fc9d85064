"""Pairs of meshes that nearly touch, with what is known of them."""

import numpy as np
from rigs import meshes
from rigs.convex_oracles import pose, poses, rotations

from bellcrank import _core

Shape = _core.CollisionShape
CUBE = meshes.box(0.5, 0.5, 0.5)
SHARP = meshes.hull([[0, 0, 0.5], [0.5, 0, -0.3], [-0.3, 0.4, -0.3], [-0.3, -0.4, -0.3]])
CONVEX = {
    "rock": meshes.rock(20, 3),
    "pebble": meshes.rock(80, 4),
    "box": meshes.box(0.5, 0.3, 0.2),
    "sharp": SHARP,
}
PAIRS = [
    ("rock", "rock"),
    ("rock", "box"),
    ("box", "box"),
    ("pebble", "rock"),
    ("sharp", "box"),
    ("sharp", "sharp"),
]
CONCAVE = [(meshes.L, meshes.L), (meshes.U, meshes.L), (meshes.U, meshes.U), (meshes.STAIR, meshes.U)]


def hull_shape(surface):
    return Shape.hull(surface.vertices, surface.triangles.tolist())


def rows_of(found):
    return np.repeat(np.arange(len(found.first) - 1), np.diff(found.first))


def least(found):
    gaps = np.full(len(found.first) - 1, np.inf)
    np.minimum.at(gaps, rows_of(found), np.asarray(found.points)[:, 6])
    return gaps


def one(a, b, at, position=(0, 0, 0), reach=0.1):
    """Points (n, 7) of a pair, the second one at the origin."""
    return np.asarray(_core.collide(a, pose(position, at), b, pose(), reach).points)


def ordered(found):
    points = np.asarray(found.points)
    return points[np.lexsort([*np.round(points[:, :3], 8).T, rows_of(found)])]


def touching(least_gap, count, seed, low, high):
    """Poses of two shapes, moved together until they touch, then apart by low to high."""
    at_a, at_b = poses(count, seed), poses(count, seed + 1)
    at_b[:, :3] = 0.0
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    aside = 0.05 * rng.normal(size=(count, 3))
    near, far = np.zeros(count), np.full(count, 3.0)
    for _ in range(45):
        middle = 0.5 * (near + far)
        at_a[:, :3] = aside + middle[:, None] * way
        overlap = least_gap(at_a, at_b, 0.0) < 0
        near, far = np.where(overlap, middle, near), np.where(overlap, far, middle)
    at_a[:, :3] = aside + (near + rng.uniform(low, high, count))[:, None] * way
    return at_a, at_b


def convex_case(pair, count, low, high):
    a, b = (CONVEX[name] for name in pair)

    def hulls(at_a, at_b, reach):
        return least(_core.collide(hull_shape(a), at_a, hull_shape(b), at_b, reach))

    at_a, at_b = touching(hulls, count, 11, low, high)
    return hulls(at_a, at_b, 0.1), _core.collide(a.shape(), at_a, b.shape(), at_b, 0.1)


def cube_case(cells, count, low, high, seed=5):
    """Unions of cubes: poses, the least gap of the cubes, shapes."""
    (a, at_own), (b, at_other) = (meshes.cubes(c, 0.3) for c in cells)
    cube = Shape.box((0.15, 0.15, 0.15))

    def pieces(at_a, at_b, reach):
        found = np.full(len(at_a), np.inf)
        for p in at_own:
            for q in at_other:
                of_a, of_b = at_a.copy(), at_b.copy()
                of_a[:, :3] += rotations(at_a).apply(p)
                of_b[:, :3] += rotations(at_b).apply(q)
                found = np.minimum(found, least(_core.collide(cube, of_a, cube, of_b, reach)))
        return found

    at_a, at_b = touching(pieces, count, seed, low, high)
    return (a, b), (at_a, at_b), pieces(at_a, at_b, 0.06)
