"""The broad phase: all overlapping pairs in order."""

import numpy as np
import pytest
from rigs.convex_oracles import pose

from bellcrank import _core


def brute_force(bounds, reach=0.0):
    meets = (bounds[:, None, :3] - reach <= bounds[None, :, 3:]).all(axis=2)
    meets &= meets.T
    return [(i, j) for i, j in np.argwhere(meets) if i < j]


def cloud(count, spread, seed):
    rng = np.random.default_rng(seed)
    centres, half = spread * rng.normal(size=(count, 3)), rng.uniform(0.01, 0.3, size=(count, 3))
    return np.hstack([centres - half, centres + half])


@pytest.mark.parametrize("spread", [0.3, 3.0, 1e3])
def test_it_finds_what_brute_force_finds_in_order(spread):
    """In a table of cells, and hashed where that would be empty for the most part."""
    bounds = cloud(400, spread, 1)
    bounds[:3] = np.hstack([bounds[:3, :3] * 1.0 - 20.0, bounds[:3, 3:] + 20.0])
    bounds[0] = _core.CollisionShape.plane().bounds(pose())[0]
    assert [tuple(p) for p in _core.broad_phase_pairs(bounds)] == brute_force(bounds)


@pytest.mark.parametrize("shape", [(400, 1, 1), (1, 20, 20), (7, 7, 7)])
def test_cells_at_the_rim_of_the_table(shape):
    """Unit cubes that touch side by side: a row, a wall, a block."""
    centres = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, 3).astype(float)
    bounds = np.hstack([centres - 0.5, centres + 0.5])
    assert [tuple(p) for p in _core.broad_phase_pairs(bounds)] == brute_force(bounds)


def test_nothing_and_points():
    assert len(_core.broad_phase_pairs(np.zeros((0, 6)))) == 0
    assert len(_core.broad_phase_pairs(np.ones((3, 6)))) == 3
