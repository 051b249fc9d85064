"""Collision shapes with support functions in NumPy, random poses, and certificates of distance and depth."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bellcrank import _core


@dataclass(frozen=True)
class Known:
    """A shape of the core beside its support function, vectorized over directions (n, 3) in its axes."""

    name: str
    shape: _core.CollisionShape
    support: object
    size: float


def _signs(d):
    return np.where(d < 0, -1.0, 1.0)


def _across(d):
    size = np.linalg.norm(d[:, :2], axis=1, keepdims=True)
    return np.divide(d[:, :2], size, out=np.zeros((len(d), 2)), where=size > 0)


def sphere(radius):
    def support(d):
        return radius * d / np.linalg.norm(d, axis=1, keepdims=True)

    return Known("sphere", _core.CollisionShape.sphere(radius), support, radius)


def capsule(radius, half):
    def support(d):
        p = radius * d / np.linalg.norm(d, axis=1, keepdims=True)
        p[:, 2] += half * _signs(d[:, 2])
        return p

    return Known("capsule", _core.CollisionShape.capsule(radius, half), support, radius + half)


def cylinder(radius, half):
    def support(d):
        return np.column_stack([radius * _across(d), half * _signs(d[:, 2])])

    return Known("cylinder", _core.CollisionShape.cylinder(radius, half), support, np.hypot(radius, half))


def cone(radius, half):
    def support(d):
        rim = np.column_stack([radius * _across(d), np.full(len(d), -half)])
        apex = np.array([0.0, 0.0, half])
        return np.where((d @ apex >= np.sum(d * rim, axis=1))[:, None], apex, rim)

    return Known("cone", _core.CollisionShape.cone(radius, half), support, np.hypot(radius, half))


def ellipsoid(*half):
    def support(d):
        scaled = d * half
        return scaled * half / np.linalg.norm(scaled, axis=1, keepdims=True)

    return Known("ellipsoid", _core.CollisionShape.ellipsoid(half), support, max(half))


def box(*half):
    return Known("box", _core.CollisionShape.box(half), lambda d: _signs(d) * half, np.linalg.norm(half))


def hull(points):
    solid = ConvexHull(points)
    vertices = np.asarray(points)[solid.vertices]

    def support(d):
        return vertices[np.argmax(d @ vertices.T, axis=1)]

    shape = _core.CollisionShape.hull(points, solid.simplices.tolist())
    return Known("hull", shape, support, np.linalg.norm(vertices, axis=1).max())


def convex_shapes(scale=1.0):
    """One of each convex kind, of sizes around `scale`."""
    s = scale
    points = np.random.default_rng(3).normal(size=(20, 3))
    points *= 0.5 * s / np.linalg.norm(points, axis=1, keepdims=True)
    known = [
        sphere(0.4 * s),
        capsule(0.2 * s, 0.5 * s),
        cylinder(0.3 * s, 0.5 * s),
        cone(0.4 * s, 0.4 * s),
        ellipsoid(0.5 * s, 0.3 * s, 0.2 * s),
        box(0.5 * s, 0.3 * s, 0.2 * s),
        hull(points),
    ]
    return {k.name: k for k in known}


def poses(count, seed, spread=1.0):
    """Random poses (count, 7) with positions of standard deviation `spread`."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.hstack([spread * rng.normal(size=(count, 3)), q])


def pose(position=(0, 0, 0), rotation=None):
    """One pose (1, 7) from a position and a SciPy rotation."""
    q = [1, 0, 0, 0] if rotation is None else np.roll(rotation.as_quat(), 1)
    return np.array([[*position, *q]], dtype=float)


def rotations(table):
    """SciPy rotations of poses."""
    return Rotation.from_quat(np.roll(table[:, 3:], -1, axis=1))


def moved(table, position, rotation):
    """Poses after a common rigid motion."""
    turned = np.roll((rotation * rotations(table)).as_quat(), 1, axis=1)
    return np.hstack([rotation.apply(table[:, :3]) + position, turned])


def support_in_world(known, table, d):
    """Farthest points along world directions (n, 3) at poses (n, 7)."""
    R = rotations(table)
    return R.apply(known.support(R.inv().apply(d))) + table[:, :3]


def gap_along(a, poses_a, b, poses_b, n):
    """How far a lies from b along unit directions n from b to a."""
    return np.sum(n * (support_in_world(a, poses_a, -n) - support_in_world(b, poses_b, n)), axis=1)


def best_gap(a, pose_a, b, pose_b, seed=0):
    """The largest gap along any direction by random search and Nelder-Mead: distance, or minus the depth."""
    n = np.random.default_rng(seed).normal(size=(3000, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    R_a, R_b = (rotations(at).as_matrix()[0] for at in (pose_a, pose_b))
    apart = (pose_a - pose_b)[0, :3]

    def gaps(n):
        of_a, of_b = n @ R_a, n @ R_b
        return np.sum(of_a * a.support(-of_a), 1) - np.sum(of_b * b.support(of_b), 1) + n @ apart

    found = gaps(n)
    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 600}

    def climb(start):
        return minimize(
            lambda x: -gaps((x / np.linalg.norm(x))[None])[0], start, method="Nelder-Mead", options=options
        )

    return max(-climb(start).fun for start in n[np.argsort(-found)[:3]])


def least_points(contacts, count):
    """Of each pose the point with the least gap (count, 7); NaN where there is none."""
    out = np.full((count, 7), np.nan)
    first, points = np.asarray(contacts.first), np.asarray(contacts.points)
    for i in range(count):
        if first[i + 1] > first[i]:
            own = points[first[i] : first[i + 1]]
            out[i] = own[np.argmin(own[:, 6])]
    return out
