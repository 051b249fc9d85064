"""Rays on a terrain, as a height field and as a mesh."""

import numpy as np
import pytest
from rigs.convex_oracles import pose

from bellcrank import _core

Shape = _core.CollisionShape
AT = pose((0.3, -0.2, 0.1))


def rough(rows=40, columns=50, step=0.05):
    """A rough terrain as a height field and as a mesh."""
    heights = 0.05 * np.random.default_rng(5).normal(size=(rows, columns))
    x, y = np.meshgrid(step * np.arange(columns), step * np.arange(rows))
    vertices = np.column_stack([x.ravel(), y.ravel(), heights.ravel()])
    v = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    triangles = np.vstack(
        [np.column_stack([v, v + 1, v + columns + 1]), np.column_stack([v, v + columns + 1, v + columns])]
    )
    return {
        "height field": Shape.height_field(heights, (0, 0), (step, step)),
        "mesh": Shape.mesh(vertices, triangles.tolist()),
    }


def scattered(count, seed):
    """Rays of random directions above and below a terrain, some of them along its axes."""
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(count, 3))
    d[::7] = np.eye(3)[rng.integers(0, 3, len(d[::7]))] * rng.choice([-1.0, 1.0], (len(d[::7]), 1))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    origins = rng.uniform([-0.5, -0.7, -0.2], [3.0, 2.5, 0.5], (count, 3))
    return np.hstack([origins, d])


def test_the_field_and_the_mesh_of_a_terrain_are_hit_alike():
    rays = scattered(3000, 7)
    rays[:, 5] = -np.abs(rays[:, 5])
    one, two = (_core.cast_rays(shape, AT, rays, 2.0) for shape in rough().values())
    down = rays[:, 2] - AT[0, 2] > 0.3  # from above: the mesh is open, and seen from below it has no front
    hit = np.isfinite(one[:, 0]) & down
    assert hit.sum() > 100
    assert np.array_equal(np.isfinite(one[down, 0]), np.isfinite(two[down, 0]))
    assert one[hit, :4] == pytest.approx(two[hit, :4], abs=1e-12)


def test_a_ray_straight_down_on_a_level_field():
    """The range of heights is empty there, and with an infinite limit nothing else ends the ray."""
    level = Shape.height_field(np.full((3, 4), 0.7), (-1, -1), (1, 1))
    for height in (0.7, 0.8, 1e6 + 0.7):
        for limit in (2e6, np.inf):
            hit = _core.cast_rays(level, pose(), np.array([[0.3, 0.2, height, 0, 0, -1.0]]), limit)
            assert hit[0, :4] == pytest.approx([height - 0.7, 0, 0, 1], abs=1e-9)
    assert not np.isfinite(
        _core.cast_rays(level, pose(), np.array([[0.3, 0.2, 0.6, 0, 0, -1.0]]), np.inf)[0, 0]
    )
