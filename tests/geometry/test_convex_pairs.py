"""Pairs of convex shapes, hulls and aligned poses among them: certified distances, times of impact."""

import itertools

import numpy as np
import pytest
from rigs.convex_oracles import best_gap, convex_shapes, gap_along, least_points, moved, pose, poses
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bellcrank import MechanismError, _core
from bellcrank.mechanism.mesh import convex_hull

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


ALIGNED = list(itertools.combinations_with_replacement(convex_shapes(), 2))


def nearly_aligned(count, seed):
    rng = np.random.default_rng(seed)
    quarter = Rotation.from_euler("zyx", 90 * rng.integers(0, 4, (count, 3)), degrees=True)
    tilt = (
        10.0 ** rng.uniform(-16, -3, (count, 1))
        * rng.normal(size=(count, 3))
        * (rng.random((count, 1)) < 0.7)
    )
    places = rng.choice([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0], (count, 3))
    places = places * rng.choice([-1, 1], (count, 3)) + 10.0 ** rng.uniform(-17, -4, (count, 3))
    return np.hstack([places, np.roll((quarter * Rotation.from_rotvec(tilt)).as_quat(), 1, axis=1)])


@pytest.mark.parametrize("pair", ALIGNED, ids="-".join)
def test_nearly_aligned_shapes(pair):
    count = 4000
    shapes = convex_shapes()
    a, b = (shapes[name] for name in pair)
    at_a, at_b = nearly_aligned(count, 1), nearly_aligned(count, 2)
    found = _core.collide(a.shape, at_a, b.shape, at_b, np.inf)
    points = np.asarray(found.points)
    assert (np.diff(found.first) > 0).all()
    assert np.isfinite(points).all()
    assert np.abs(np.linalg.norm(points[:, 3:6], axis=1) - 1).max() < 1e-12
    gap = least_points(found, count)[:, 6]
    unsure = np.flatnonzero(found.uncertainty[:, 0])  # where the search for a depth did not settle
    assert len(unsure) < 0.01 * count
    for i in unsure[:5].tolist():
        best = best_gap(a, at_a[i : i + 1], b, at_b[i : i + 1])
        assert abs(gap[i] - best) < found.uncertainty[i, 0] + 2e-6 + 6e-3 * abs(best), i
    for i in range(0, count, 800):
        best = best_gap(a, at_a[i : i + 1], b, at_b[i : i + 1])
        assert gap[i] == pytest.approx(best, abs=2e-6, rel=6e-3), i
    swapped = least_points(_core.collide(b.shape, at_b, a.shape, at_a, np.inf), count)[:, 6]
    # Which of two equal depths is found depends on rounding; how deep they are does not.
    assert np.abs(gap - swapped).max() < 1e-5 + 0.006 * max(0.0, -gap.min())


def rollers_on_prisms(count, seed):
    """Cylinders on a facet of regular prisms of the same height: pairs, poses, gaps and normals.

    The ends of both lie in common planes, and the gaps are those at which rounding decides.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        sides, half, radius = int(rng.integers(4, 30)), rng.uniform(0.05, 0.3), rng.uniform(0.02, 0.3)
        angle = 2 * np.pi * np.arange(sides) / sides
        outline = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        ends = [np.column_stack([outline, np.full(sides, z)]) for z in (-half, half)]
        vertices, triangles = convex_hull(np.concatenate(ends))
        facet = (2 * rng.integers(sides) + 1) * np.pi / sides
        normal, along = (
            np.array([np.cos(facet), np.sin(facet), 0]),
            np.array([-np.sin(facet), np.cos(facet), 0]),
        )
        gap = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-16, -4)
        place = (0.5 * np.cos(np.pi / sides) + radius + gap) * normal
        place = place + rng.uniform(-0.3, 0.3) * np.sin(np.pi / sides) * along
        turn = Rotation.random(random_state=rng)
        q = np.roll(turn.as_quat(), 1)
        shapes = (
            _core.CollisionShape.cylinder(radius, half),
            _core.CollisionShape.hull(vertices, triangles.tolist()),
        )
        yield shapes, np.array([[*turn.apply(place), *q]]), np.array([[0, 0, 0, *q]]), gap, turn.apply(normal)


def test_rollers_on_prisms_of_their_height():
    """One in 2,000 had a normal that lies in the facet: numbers 325, 802, 1277 and 1582 of these."""
    for (roller, prism), at_roller, at_prism, gap, normal in rollers_on_prisms(2_000, 7):
        points = np.asarray(_core.collide(roller, at_roller, prism, at_prism, 1e-3).points)
        assert len(points) > 0
        assert np.abs(points[:, 3:6] @ normal - 1.0).max() < 1e-6
        assert np.abs(points[:, 6] - gap).max() < 1e-9


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


STILL = (0.0, 0.0, 0.0)


def impact(a, at_a, v_a, w_a, b, at_b, v_b=STILL, w_b=STILL, duration=1.0, tolerance=1e-9):
    return _core.time_of_impact(a, at_a, v_a, w_a, b, at_b, v_b, w_b, duration, tolerance)


def test_two_spheres_meet_when_their_distance_says():
    a, b = Shape.sphere(0.1), Shape.sphere(0.2)
    found = impact(a, pose((0, 0.1, 10)), (0, 0, -20), STILL, b, pose(), (0, 0, 5))
    assert found[0] == pytest.approx((10 - np.sqrt(0.3**2 - 0.1**2)) / 25, abs=1e-9)
    assert found[7] == pytest.approx(0.0, abs=1e-9)
    assert impact(a, pose((0, 0.31, 10)), (0, 0, -20), STILL, b, pose(), (0, 0, 5)) is None
    assert impact(a, pose((0, 0.1, 10)), (0, 0, -9), STILL, b, pose()) is None


def test_a_fast_ball_does_not_pass_a_thin_wall():
    wall = Shape.box((1.0, 1.0, 5e-4))
    for ground in (wall, Shape.plane(), Shape.height_field(np.zeros((9, 9)), (-1, -1), (0.25, 0.25))):
        found = impact(
            Shape.sphere(0.01), pose((0.1, 0.2, 3)), (0, 0, -900), STILL, ground, pose(), tolerance=1e-7
        )
        top = 5e-4 if ground is wall else 0.0
        assert found[0] == pytest.approx((2.99 - top) / 900, abs=1e-9)
        assert found[4:7] == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "cone", "ellipsoid", "box", "hull"])
def test_a_tumbling_shape_meets_a_box_at_the_first_small_gap(kind):
    known, box = convex_shapes()[kind], Shape.box((0.6, 0.5, 0.4))
    v, w = np.array([-3.0, 0.4, -0.3]), np.array([2.0, 5.0, -3.0])
    found = impact(known.shape, pose((2.5, 0, 0.2)), v, w, box, pose(), w_b=(0, 0, 1.0), tolerance=1e-8)
    t = np.linspace(0.0, found[0], 4000)
    turn_a, turn_b = Rotation.from_rotvec(t[:, None] * w), Rotation.from_rotvec(t[:, None] * [0, 0, 1.0])
    at_a = np.hstack([[2.5, 0, 0.2] + t[:, None] * v, np.roll(turn_a.as_quat(), 1, axis=1)])
    at_b = np.hstack([np.zeros((4000, 3)), np.roll(turn_b.as_quat(), 1, axis=1)])
    gaps = least_points(_core.collide(known.shape, at_a, box, at_b, np.inf), 4000)[:, 6]
    assert 0.1 < found[0] < 1.0
    assert gaps[:-1].min() > 0
    assert gaps[-1] == pytest.approx(found[7], abs=1e-7)
    assert 0 < found[7] <= 1e-8


def test_what_cannot_be_bounded_is_refused():
    sphere = Shape.sphere(0.1)
    with pytest.raises(ValueError, match="a plane has no bounds and must not turn"):
        impact(sphere, pose((0, 0, 1)), STILL, STILL, Shape.plane(), pose(), w_b=(0, 1, 0))
    with pytest.raises(ValueError, match="the tolerance must be positive, got 0"):
        impact(sphere, pose((0, 0, 1)), STILL, STILL, Shape.plane(), pose(), tolerance=0.0)
