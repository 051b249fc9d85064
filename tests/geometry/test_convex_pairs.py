"""All pairs of convex shapes: certified distances, depths, symmetry, rigid motions, scales."""

import itertools

import numpy as np
import pytest
from rigs.convex_oracles import best_gap, convex_shapes, gap_along, least_points, moved, poses
from scipy.spatial.transform import Rotation

from bellcrank import _core

KINDS = list(convex_shapes())
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))
CURVED = {"cylinder", "cone", "ellipsoid"}


def tolerance(pair, size):
    """Polytopes and closed forms are exact. Iterations on curved surfaces end where the gap is constant;
    the normal then has half of its digits, and the bound along it beside flat faces no more."""
    return (1e-7 if CURVED & set(pair) else 1e-11) * size


def contacts_of(pair, count, seed, scale=1.0, spread=1.0, reach=np.inf):
    shapes = convex_shapes(scale)
    a, b = (shapes[name] for name in pair)
    at_a, at_b = poses(count, seed, spread * scale), poses(count, seed + 1, spread * scale)
    return a, at_a, b, at_b, _core.collide(a.shape, at_a, b.shape, at_b, reach)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_gap_is_certified_by_its_normal_and_its_points(pair, scale):
    count = 3000
    a, at_a, b, at_b, found = contacts_of(pair, count, 11, scale)
    least = least_points(found, count)
    assert np.isfinite(least).all()
    n, gap = least[:, 3:6], least[:, 6]
    assert np.abs(np.linalg.norm(np.asarray(found.points)[:, 3:6], axis=1) - 1).max() < 1e-12
    small = tolerance(pair, scale)
    # Points of both surfaces bound the distance above; planes across the normal separate by as much.
    along = gap_along(a, at_a, b, at_b, n)
    is_open = gap > 0
    assert 0.2 * count < is_open.sum()
    assert np.abs(along - gap)[is_open].max() < small
    # No overlap is deeper than along its normal. It may be less: where the normal of two edges gives way to
    # that of a face that is nearly parallel, the depth is measured where the edges cross.
    assert (along - gap)[~is_open].max(initial=0.0) < small


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_least_gap_is_the_best_of_all_directions(pair):
    count = 6
    a, at_a, b, at_b, found = contacts_of(pair, count, 5, spread=0.3)
    least = least_points(found, count)
    for i in range(count):
        best = best_gap(a, at_a[i : i + 1], b, at_b[i : i + 1])
        assert least[i, 6] == pytest.approx(best, abs=2e-6, rel=6e-3), i


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_exchanging_the_shapes_turns_the_normals(pair):
    count = 2000
    a, at_a, b, at_b, found = contacts_of(pair, count, 7, spread=0.4)
    back = _core.collide(b.shape, at_b, a.shape, at_a, np.inf)
    here, there = least_points(found, count), least_points(back, count)
    assert np.abs(here[:, 6] - there[:, 6]).max() < 1e-8
    # Depths along several directions may be the same to rounding.
    same = np.linalg.norm(here[:, 3:6] + there[:, 3:6], axis=1) < 1e-4
    assert same.mean() > 0.98
    if pair[0] != pair[1]:
        assert np.array_equal(np.asarray(found.first), np.asarray(back.first))
        assert np.array_equal(np.asarray(found.features), np.asarray(back.features)[:, ::-1])


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_common_rigid_motion_changes_nothing(pair):
    count = 2000
    a, at_a, b, at_b, found = contacts_of(pair, count, 9, spread=0.5)
    turn, shift = Rotation.from_rotvec([0.3, -1.2, 0.7]), np.array([0.4, 0.2, -0.9])
    other = _core.collide(a.shape, moved(at_a, shift, turn), b.shape, moved(at_b, shift, turn), np.inf)
    here, there = least_points(found, count), least_points(other, count)
    limit = 1e-8 if CURVED & set(pair) else 1e-12
    assert np.abs(here[:, 6] - there[:, 6]).max() < limit
    gone = np.linalg.norm(turn.apply(here[:, 3:6]) - there[:, 3:6], axis=1)
    assert (gone < (1e-4 if CURVED & set(pair) else 1e-9)).mean() > 0.99


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_coincident_centres_have_a_normal(pair):
    shapes = convex_shapes()
    a, b = (shapes[name].shape for name in pair)
    turned = poses(50, 3)
    turned[:, :3] = 0.0
    straight = np.tile([0.0, 0, 0, 1, 0, 0, 0], (50, 1))
    for at_a, at_b in ((straight, straight), (straight, turned), (turned, turned)):
        found = _core.collide(a, at_a, b, at_b, 0.0)
        points = np.asarray(found.points)
        assert (np.diff(found.first) > 0).all()
        assert np.isfinite(points).all()
        assert np.abs(np.linalg.norm(points[:, 3:6], axis=1) - 1).max() < 1e-12
        assert (points[:, 6] < 0).all()


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_gaps_are_continuous(pair):
    """Along a path the least gap changes no faster than the motion."""
    shapes = convex_shapes()
    a, b = (shapes[name] for name in pair)
    start = poses(1, 17, 0.2)
    count = 4000
    t = np.linspace(0.0, 1.0, count)
    turn = Rotation.from_rotvec(t[:, None] * [2.0, 1.0, 0.5]) * Rotation.from_quat(np.roll(start[:, 3:], -1))
    at_a = np.hstack(
        [start[:, :3] + t[:, None] * [1.5, 0.3, -0.2] - [0.7, 0, 0], np.roll(turn.as_quat(), 1, axis=1)]
    )
    at_b = np.array([[0.0, 0, 0, 1, 0, 0, 0]])
    gap = least_points(_core.collide(a.shape, at_a, b.shape, at_b, np.inf), count)[:, 6]
    fastest = np.linalg.norm([1.5, 0.3, -0.2]) + np.linalg.norm([2.0, 1.0, 0.5]) * a.size
    depth = np.maximum(-gap[1:], 0.0)
    # Where a face's normal takes over from that of two edges, 5.7 degrees away, the depth changes by 1/2 %.
    assert (np.abs(np.diff(gap)) <= fastest / count + 0.006 * depth + 1e-8).all()


def test_reach_limits_what_is_reported():
    shapes = convex_shapes()
    for pair in PAIRS:
        a, b = (shapes[name].shape for name in pair)
        at_a, at_b = poses(500, 21), poses(500, 22)
        every = least_points(_core.collide(a, at_a, b, at_b, np.inf), 500)[:, 6]
        near = _core.collide(a, at_a, b, at_b, 0.1)
        assert (np.asarray(near.points)[:, 6] < 0.1).all()
        assert np.array_equal(np.diff(near.first) > 0, every < 0.1), pair
