"""The broad phase: all overlapping pairs in order, and pairs that are kept from step to step."""

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


def test_kept_pairs_contain_all_that_are_near():
    rng = np.random.default_rng(2)
    bounds, kept, margins = cloud(300, 1.0, 3), _core.KeptPairs(), np.full(300, 0.1)
    bounds[0] = _core.CollisionShape.plane().bounds(pose())[0]
    margins[0] = 0.0
    speed = 0.01 * rng.normal(size=(300, 3))
    speed[0] = 0.0
    for step in range(60):
        pairs = [tuple(p) for p in kept.pairs(bounds, 0.02, margins)]
        assert pairs == sorted(set(pairs))
        assert set(brute_force(bounds, 0.02)) <= set(pairs), step
        bounds += np.tile(speed, 2)
    assert 2 < kept.searches < 40


def test_pairs_are_found_anew_for_a_larger_reach_or_other_bodies():
    bounds, kept = cloud(50, 1.0, 3), _core.KeptPairs()
    for reach in (0.1, 0.1, 0.05):
        kept.pairs(bounds, reach, np.full(50, 0.01))
    assert kept.searches == 1
    found = [tuple(p) for p in kept.pairs(bounds, 0.3, np.full(50, 0.01))]
    assert kept.searches == 2
    assert set(brute_force(bounds, 0.3)) <= set(found)
    kept.pairs(bounds[:40], 0.3, np.full(40, 0.01))
    assert kept.searches == 3
    with pytest.raises(ValueError, match="each of the bounds needs a margin, got 2 for 50"):
        kept.pairs(bounds, 0.3, np.ones(2))
