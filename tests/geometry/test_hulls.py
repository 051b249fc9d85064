"""Hulls of clouds of points, as collision shapes: support functions, volumes and refusals."""

import numpy as np
import pytest
from rigs.convex_oracles import pose
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bellcrank import MechanismError, _core
from bellcrank.mechanism.hull import convex_hull

Shape = _core.CollisionShape


def grid(n):
    return np.array(np.meshgrid(*3 * [np.linspace(-1, 1, n)])).reshape(3, -1).T


def ball(count, seed):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def prism(sides, inside):
    """Both rims of a prism, with points within its faces."""
    angle = 2 * np.pi * np.arange(sides) / sides
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = [np.column_stack([s * rim, np.full(sides, z)]) for z in (-0.4, 0.4) for s in (1.0, *inside)]
    return np.vstack(rows)


CLOUDS = {
    "normal": np.random.default_rng(1).normal(size=(500, 3)),
    "few": np.random.default_rng(2).normal(size=(4, 3)),
    "ball": ball(400, 3),
    "cube, 9 points along each edge": grid(9),
    "cube, repeated": np.repeat(grid(3), 5, axis=0),
    "prism": prism(60, (0.5, 0.9)),
    "needle": np.random.default_rng(4).normal(size=(200, 3)) * [1.0, 1e-3, 1e-4],
    "plate": np.random.default_rng(5).uniform(-1, 1, (300, 3)) * [1.0, 1.0, 1e-6],
}
PLACES = {
    "as it is": (1.0, 0.0, Rotation.identity()),
    "turned": (1.0, 0.0, Rotation.from_rotvec([0.4, -0.3, 0.9])),
    "small": (1e-4, 0.0, Rotation.from_rotvec([0.4, -0.3, 0.9])),
    "large": (1e4, 0.0, Rotation.from_rotvec([0.1, 0.3, -0.9])),
    "far away": (1.0, 50.0, Rotation.from_rotvec([0.1, 0.3, -0.9])),
}


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("kind", list(CLOUDS))
def test_a_hull_reaches_as_far_as_its_points(kind, place):
    scale, away, turn = PLACES[place]
    cloud = turn.apply(scale * CLOUDS[kind]) + away
    vertices, triangles = convex_hull(cloud)
    assert {tuple(v) for v in vertices} <= {tuple(p) for p in cloud}
    size = np.ptp(cloud, axis=0).max()
    d = ball(300, 7)
    assert np.abs((vertices @ d.T).max(axis=0) - (cloud @ d.T).max(axis=0)).max() < 1e-12 * (size + away)
    # The core finds the same faces convex, and its bounds are those of the cloud.
    bounds = Shape.hull(vertices, triangles.tolist()).bounds(pose())[0]
    assert bounds == pytest.approx(
        np.hstack([cloud.min(axis=0), cloud.max(axis=0)]), abs=1e-12 * (size + away)
    )
    # Counterclockwise from outside: the tetrahedra below the triangles fill the hull.
    a, b, c = (vertices[triangles[:, k]] - vertices.mean(axis=0) for k in range(3))
    volumes = np.sum(np.cross(a, b) * c, axis=1) / 6
    flat = 1e-6 if kind == "plate" else 1.0
    assert volumes.sum() == pytest.approx(ConvexHull(cloud - away).volume, rel=1e-9 / flat)


def test_a_hull_of_a_grid_is_a_box():
    vertices, triangles = convex_hull(grid(9))
    hull, box = Shape.hull(vertices, triangles.tolist()), Shape.box((1, 1, 1))
    rng = np.random.default_rng(3)
    at = np.hstack([rng.uniform(-1.5, 1.5, (500, 3)), rng.normal(size=(500, 4))])
    at[:, 3:] /= np.linalg.norm(at[:, 3:], axis=1, keepdims=True)
    one, two = (_core.collide(Shape.capsule(0.2, 0.4), at, other, pose(), 0.1) for other in (hull, box))
    assert np.array_equal(one.first, two.first)
    assert np.sort(np.asarray(one.points)[:, 6]) == pytest.approx(
        np.sort(np.asarray(two.points)[:, 6]), abs=1e-9
    )


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((0, 3)), "at least four different points, got 0"),
        (np.ones((50, 3)), "at least four different points, got 1"),
        (np.zeros((5, 2)), r"rows of three numbers, .*, got \(5, 2\)"),
        (np.outer(np.arange(9.0), [1, 2, 3]), "the points lie on one line"),
        (CLOUDS["normal"] * [1, 1, 0], "the points lie in one plane"),
        (CLOUDS["normal"] * [1, 1, 1e-11] + 5.0, "the points lie in one plane"),
    ],
)
def test_clouds_without_a_thickness_are_refused(points, message):
    with pytest.raises(MechanismError, match=message):
        convex_hull(points)


def test_all_points_that_are_not_finite_are_named():
    cloud = CLOUDS["normal"].copy()
    cloud[3, 1], cloud[7, 0] = np.nan, np.inf
    with pytest.raises(MechanismError, match=r"(?s)stone.*point 3 is not finite.*point 7 is not finite"):
        convex_hull(cloud, "stone")
