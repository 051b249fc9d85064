"""Meshes whose solids are known: hulls, unions of cubes, and the same surfaces divided in other ways."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

from bellcrank import _core

Shape = _core.CollisionShape
L = ((0, 0, 0), (1, 0, 0), (0, 1, 0))
U = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (2, 1, 0))
STAIR = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 1, 1))


@dataclass(frozen=True)
class Surface:
    """Vertices (n, 3) and triangles (m, 3), counterclockwise from outside."""

    vertices: np.ndarray
    triangles: np.ndarray

    def shape(self):
        return Shape.mesh(self.vertices, self.triangles.tolist(), True)

    def divided(self, seed):
        """The same solid: triangles quartered, some of these divided at a point inside, all numbers mixed."""
        rng = np.random.default_rng(seed)
        points, numbers = list(self.vertices), {}

        def middle(i, j):
            key = (min(i, j), max(i, j))
            if key not in numbers:
                numbers[key] = len(points)
                at = 0.5 if seed % 2 else rng.uniform(0.2, 0.8)
                points.append(at * points[key[0]] + (1 - at) * points[key[1]])
            return numbers[key]

        parts = []
        for a, b, c in self.triangles:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            parts += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = []
        for a, b, c in parts:
            if rng.random() < 0.4:
                points.append(rng.dirichlet((2, 2, 2)) @ [points[a], points[b], points[c]])
                n = len(points) - 1
                triangles += [(a, b, n), (b, c, n), (c, a, n)]
            else:
                triangles.append((a, b, c))
        order = rng.permutation(len(points))
        place = np.argsort(order)
        return Surface(np.array(points)[order], place[rng.permutation(triangles)])


def hull(points):
    """The surface of a convex hull."""
    points = np.asarray(points, dtype=float)
    found = ConvexHull(points)
    triangles = found.simplices.copy()
    a, b, c = (points[triangles[:, k]] for k in range(3))
    wrong = np.sum(np.cross(b - a, c - a) * found.equations[:, :3], axis=1) < 0
    triangles[wrong] = triangles[wrong][:, ::-1]
    used, triangles = np.unique(triangles, return_inverse=True)
    return Surface(points[used], triangles.reshape(-1, 3))


def rock(count, seed, size=0.5):
    """Of random points on a sphere."""
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return hull(size * points / np.linalg.norm(points, axis=1, keepdims=True))


def box(x, y, z):
    """By its half sizes."""
    return hull(
        np.array([[(i & 1) * 2 - 1, (i >> 1 & 1) * 2 - 1, (i >> 2) * 2 - 1] for i in range(8)]) * [x, y, z]
    )


def cubes(cells, size):
    """The boundary of a union of cubes with edges `size`, about the mean of its vertices; their centres."""
    inside, numbers, triangles = set(cells), {}, []
    for cell in cells:
        for axis in range(3):
            for side in (0, 1):
                beyond = list(cell)
                beyond[axis] += 2 * side - 1
                if tuple(beyond) in inside:
                    continue
                ring = []
                for du, dw in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    p = list(cell)
                    p[axis] += side
                    p[(axis + 1) % 3] += du
                    p[(axis + 2) % 3] += dw
                    ring.append(numbers.setdefault(tuple(p), len(numbers)))
                if not side:
                    ring.reverse()
                triangles += [(ring[0], ring[1], ring[2]), (ring[0], ring[2], ring[3])]
    vertices = np.array(list(numbers), dtype=float)
    middle = vertices.mean(axis=0)
    centres = size * (np.array(cells) + 0.5 - middle)
    return Surface(size * (vertices - middle), np.array(triangles)), centres


def write_obj(path, surface):
    """A file of a surface; its path as a text."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in surface.vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (surface.triangles + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)
