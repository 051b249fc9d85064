"""Rays that are cast together: the same hits as one by one, to the last bit."""

import numpy as np
import pytest
from rigs.convex_oracles import convex_shapes, pose, poses

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


SURFACES = rough()


def tyre(centre, radius=0.34, length=0.03):
    """60 slices with 7 rays each, outwards from the rim."""
    angle = np.repeat(np.linspace(0, 2 * np.pi, 60, endpoint=False), 7)
    out = np.column_stack([np.sin(angle), np.zeros(420), -np.cos(angle)])
    origins = np.asarray(centre) + (radius - length) * out
    origins[:, 1] += np.tile(0.004 * np.arange(-3, 4), 60)
    return np.hstack([origins, out]), np.full(420, length)


def scattered(count, seed, length):
    """Rays of random directions above and below a terrain, some of them along its axes."""
    rng = np.random.default_rng(seed)
    d = rng.normal(size=(count, 3))
    d[::7] = np.eye(3)[rng.integers(0, 3, len(d[::7]))] * rng.choice([-1.0, 1.0], (len(d[::7]), 1))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    origins = rng.uniform([-0.5, -0.7, -0.2], [3.0, 2.5, 0.5], (count, 3))
    return np.hstack([origins, d]), length * rng.uniform(0.5, 1.0, count)


def one_by_one(shape, at, rays, limits):
    return np.vstack(
        [_core.cast_rays(shape, at, ray[None], limit) for ray, limit in zip(rays, limits, strict=True)]
    )


@pytest.mark.parametrize("name", list(SURFACES))
def test_the_rays_of_a_tyre_hit_where_each_alone_does(name):
    shape, hits = SURFACES[name], 0
    for k in range(12):
        rays, limits = tyre((0.5 + 0.1 * k, 0.4 + 0.1 * k, 0.3 + 0.02 * k))
        found = _core.cast_rays_together(shape, AT, rays, limits)
        assert np.array_equal(found, one_by_one(shape, AT, rays, limits))
        hits += np.isfinite(found[:, 0]).sum()
    assert 100 < hits < 4000


@pytest.mark.parametrize("length", [0.02, 0.3, 5.0, np.inf])
@pytest.mark.parametrize("name", list(SURFACES))
def test_scattered_rays_hit_where_each_alone_does(name, length):
    shape = SURFACES[name]
    rays, limits = scattered(1000, 3, length)
    found = _core.cast_rays_together(shape, AT, rays, limits)
    assert np.array_equal(found, one_by_one(shape, AT, rays, limits))
    assert 5 < np.isfinite(found[:, 0]).sum() < 900


@pytest.mark.parametrize("kind", [*convex_shapes(), "plane"])
def test_rays_of_convex_shapes_hit_where_each_alone_does(kind):
    shape = Shape.plane() if kind == "plane" else convex_shapes()[kind].shape
    at = poses(1, 13)
    rays, _ = scattered(600, 4, 1.0)
    rays[:, :3] += at[:, :3] - [1.2, 0.9, 0.1]
    for length in (0.2, 2.0, np.inf):
        limits = np.full(600, length)
        found = _core.cast_rays_together(shape, at, rays, limits)
        assert np.array_equal(found, one_by_one(shape, at, rays, limits))
        assert np.isfinite(found[:, 0]).any()
        assert not np.isfinite(found[:, 0]).all()


def test_the_field_and_the_mesh_of_a_terrain_are_hit_alike():
    rays, limits = scattered(3000, 7, 2.0)
    rays[:, 5] = -np.abs(rays[:, 5])
    one, two = (_core.cast_rays_together(shape, AT, rays, limits) for shape in SURFACES.values())
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


def test_each_ray_needs_a_limit():
    with pytest.raises(ValueError, match="each ray needs a limit, got 2 for 3"):
        _core.cast_rays_together(Shape.plane(), pose(), np.zeros((3, 6)), np.ones(2))
