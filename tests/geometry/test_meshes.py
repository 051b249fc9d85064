"""Meshes against closed forms, hulls and cubes; contacts do not depend on triangles, order or axes."""

import numpy as np
import pytest
from rigs import meshes
from rigs.convex_oracles import pose, poses, rotations
from scipy.spatial.transform import Rotation

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


@pytest.mark.parametrize("gap", [0.02, 0.0, -0.003])
@pytest.mark.parametrize("turn", [0.0, 0.3, np.pi / 4])
def test_a_face_on_a_face_has_the_corners_of_the_common_part(gap, turn):
    about = Rotation.from_rotvec([0, 0, turn])
    found = one(CUBE.divided(1).shape(), CUBE.divided(2).shape(), about, (0.07, 0.02, 1.0 + gap))
    wanted = one(Shape.box((0.5,) * 3), Shape.box((0.5,) * 3), about, (0.07, 0.02, 1.0 + gap))
    assert np.abs(found[:, 3:6] - [0, 0, 1]).max() < 1e-12
    assert found[:, 6] == pytest.approx(gap, abs=1e-12)
    at, other = (p[np.lexsort(np.round(p[:, :2], 9).T), :3] for p in (found, wanted))
    assert at == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("gap", [0.05, 0.0003, -0.0003, -0.02])
def test_edges_that_cross_touch_in_one_point(gap):
    edge_down = Rotation.from_euler("xz", [np.pi / 4, 0.4])
    edge_up = Rotation.from_euler("xz", [np.pi / 4, 1.5])
    at_a, at_b = pose((0.1, 0.05, np.sqrt(2) + gap), edge_down), pose((0, 0, 0), edge_up)
    points = np.asarray(_core.collide(CUBE.shape(), at_a, CUBE.divided(3).shape(), at_b, 0.1).points)
    assert len(points) == 1
    along, across = edge_down.apply([1, 0, 0]), edge_up.apply([1, 0, 0])
    s, _ = np.linalg.solve(np.column_stack([along, -across])[:2], [-0.1, -0.05])
    middle = np.array([0.1, 0.05, 0]) + s * along + [0, 0, np.sqrt(0.5) + 0.5 * gap]
    assert points[0] == pytest.approx([*middle, 0, 0, 1, gap], abs=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 0.002, -0.03])
def test_an_edge_along_a_face_touches_at_both_of_its_ends(tilt):
    bar, table = meshes.box(2.0, 0.5, 0.5), meshes.box(0.5, 0.7, 0.2)
    edge_down = Rotation.from_euler("xy", [np.pi / 4, tilt])
    found = one(bar.shape(), table.divided(3).shape(), edge_down, (0, 0, 0.2 + np.sqrt(0.5)), reach=0.03)
    found = found[np.argsort(found[:, 0])]
    assert found[:, 0] == pytest.approx([-0.5, 0.5], abs=0.02)
    assert np.abs(found[:, 3:6] - [0, 0, 1]).max() < 1.1 * abs(tilt) + 1e-12
    assert found[1, 6] - found[0, 6] == pytest.approx(-np.tan(tilt), abs=1e-3)


@pytest.mark.parametrize("gap", [0.05, 0.0, -0.02])
def test_a_corner_on_a_face_touches_in_one_point(gap):
    corner_down, _ = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])
    height = 0.5 + np.sqrt(0.75) + gap
    found = one(CUBE.shape(), CUBE.divided(4).shape(), corner_down, (0.1, -0.2, height))
    assert len(found) == 1
    assert found[0] == pytest.approx([0.1, -0.2, 0.5 + 0.5 * gap, 0, 0, 1, gap], abs=1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_open_convex_meshes_have_the_distance_of_their_hulls(pair):
    expected, found = convex_case(pair, 400, 0.0005, 0.05)
    assert (expected < 0.1).mean() > 0.95
    near = expected < 0.1
    assert least(found)[near] == pytest.approx(expected[near], abs=1e-10)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_overlapping_convex_meshes_have_the_depth_of_their_hulls(pair):
    expected, found = convex_case(pair, 1000, -0.005, -1e-6)
    overlap = expected < 0
    assert overlap.mean() > 0.95
    depth, expected = least(found)[overlap], expected[overlap]
    assert (depth < 0).all()
    # A face that is aligned makes up to 1/2 % of difference; sharp edges that go through each other, more.
    off = np.abs(depth / expected - 1.0)
    assert np.median(off) < 1e-9
    assert (off > 6e-3).sum() <= 5


def test_deep_overlap_of_convex_meshes_is_never_without_contact():
    expected, found = convex_case(("sharp", "sharp"), 1000, -0.05, -0.005)
    overlap = expected < 0
    assert overlap.mean() > 0.9
    assert (least(found)[overlap] < 0).all()
    assert (np.abs(least(found)[overlap] / expected[overlap] - 1.0) > 6e-3).mean() <= 0.025
    assert (np.asarray(found.uncertainty) > 0).sum() < 50


@pytest.mark.parametrize("cells", CONCAVE, ids=["L-L", "U-L", "U-U", "stair-U"])
def test_concave_meshes_are_as_far_apart_as_their_parts(cells):
    (a, b), at, expected = cube_case(cells, 600, 0.0005, 0.05)
    found = least(_core.collide(a.divided(5).shape(), at[0], b.shape(), at[1], 0.06))
    within = expected < 0.06
    assert within.sum() > 500
    assert found[within] == pytest.approx(expected[within], abs=1e-10)
    assert (found[~within] >= 0.06).all()


@pytest.mark.parametrize("cells", CONCAVE, ids=["L-L", "U-L", "U-U", "stair-U"])
def test_concave_meshes_overlap_where_their_parts_do(cells):
    (a, b), at, expected = cube_case(cells, 1500, -0.003, 0.003)
    found = least(_core.collide(a.shape(), at[0], b.divided(6).shape(), at[1], 0.06))
    clear = np.abs(expected) > 1e-9
    assert np.array_equal(found[clear] < 0, expected[clear] < 0)
    # A part may leave through its neighbour, where the whole does not: the depth is that of the whole.
    inside = clear & (expected < 0)
    ratio = found[inside] / expected[inside]
    assert ratio.min() > 0.99
    assert (ratio > 1.01).mean() < 0.01
    assert ratio.max() < 3.0


def test_a_cube_in_a_corner_touches_floor_and_wall():
    corner, _ = meshes.cubes(meshes.L, 1.0)
    low = corner.vertices.min(axis=0)
    cube = meshes.box(0.2, 0.2, 0.2).shape()
    at = low + np.array([1.199, 1.198, 0.5])  # 1 mm in the wall, 2 mm in the floor
    found = one(cube, corner.divided(2).shape(), None, at)
    wall, floor = (found[np.abs(found[:, 3:6] - n).max(axis=1) < 1e-12] for n in ([1, 0, 0], [0, 1, 0]))
    assert len(wall) == 4
    assert len(floor) == 4
    assert len(found) == 8
    assert wall[:, 6] == pytest.approx(-0.001, abs=1e-12)
    assert floor[:, 6] == pytest.approx(-0.002, abs=1e-12)


def same_contacts(one, two, within=1e-10):
    assert np.array_equal(one.first, two.first)
    first, second = ordered(one), ordered(two)
    assert len(first) > 50
    assert np.abs(first - second).max() < within


@pytest.mark.parametrize("span", [(0.0005, 0.02), (-0.004, -1e-5)], ids=["open", "overlap"])
@pytest.mark.parametrize("cells", CONCAVE[:3], ids=["L-L", "U-L", "U-U"])
def test_contact_does_not_depend_on_triangles(cells, span):
    (a, b), at, _ = cube_case(cells, 300, *span)
    plain = _core.collide(a.shape(), at[0], b.shape(), at[1], 0.01)
    divided = _core.collide(a.divided(7).shape(), at[0], b.divided(9).shape(), at[1], 0.01)
    same_contacts(plain, divided)


@pytest.mark.parametrize("span", [(0.0005, 0.02), (-0.004, -1e-5)], ids=["open", "overlap"])
@pytest.mark.parametrize("cells", CONCAVE, ids=["L-L", "U-L", "U-U", "stair-U"])
def test_exchanged_meshes_have_the_same_contacts(cells, span):
    (a, b), at, _ = cube_case(cells, 500, *span)
    a, b = a.shape(), b.shape()
    there = _core.collide(a, at[0], b, at[1], 0.01)
    back = _core.collide(b, at[1], a, at[0], 0.01)
    points, others = np.asarray(there.points), np.asarray(back.points) * [1, 1, 1, -1, -1, -1, 1]
    # Two parts of one plane at the same depth may name the same point, and rounding decides which of them.
    same = np.diff(there.first) == np.diff(back.first)
    assert same.mean() > 0.99
    keep, kept = same[rows_of(there)], same[rows_of(back)]
    features, exchanged = np.asarray(there.features)[keep], np.asarray(back.features)[kept][:, ::-1]
    rows = rows_of(there)[keep]
    one, two = (np.lexsort([*f.T, rows]) for f in (features, exchanged))
    named = (features[one] == exchanged[two]).all(axis=1)
    assert named.mean() > 0.99
    assert np.abs(points[keep][one] - others[kept][two])[named].max() < 1e-10
    assert len(np.unique(np.column_stack([rows, features]), axis=0)) == len(rows)


@pytest.mark.parametrize("span", [(0.0005, 0.01), (-0.004, -1e-4)], ids=["open", "overlap"])
def test_gaps_change_as_their_points_move(span):
    """The rate of a gap is the normal part of the relative velocity at its point, while features stay."""
    count, h = 400, 1e-6
    (a, b), at, _ = cube_case((meshes.U, meshes.L), count, *span)
    rng = np.random.default_rng(2)
    velocity, spin = rng.normal(size=(2, count, 3))
    found = []
    for t in (-h, 0.0, h):
        moved = at[0].copy()
        moved[:, :3] += t * velocity
        turned = Rotation.from_rotvec(t * spin) * rotations(at[0])
        moved[:, 3:] = np.roll(turned.as_quat(), 1, axis=1)
        found.append(_core.collide(a.shape(), moved, b.shape(), at[1], 0.02))
    gaps = [
        {
            (r, *f): p[6]
            for r, f, p in zip(rows_of(c), np.asarray(c.features).tolist(), np.asarray(c.points), strict=True)
        }
        for c in found
    ]
    off, now = [], found[1]
    for row, feature, p in zip(
        rows_of(now), np.asarray(now.features).tolist(), np.asarray(now.points), strict=True
    ):
        key = (row, *feature)
        if key in gaps[0] and key in gaps[2]:
            rate = (gaps[2][key] - gaps[0][key]) / (2 * h)
            middle = (
                p[:3] + 0.5 * p[6] * p[3:6]
            )  # of a; half a gap aside changes the rate by gap × turning of n
            wanted = p[3:6] @ (velocity[row] + np.cross(spin[row], middle - at[0][row, :3]))
            off.append(abs(rate - wanted) / (1.0 + abs(wanted)))
    off = np.array(off)
    assert len(off) > 0.99 * len(rows_of(now))
    # Where a face is used for a normal that is not quite its own, gaps change by its angle as well.
    assert np.median(off) < 1e-7
    assert (off > 0.15).mean() < 0.01


def test_separating_a_pair_along_its_deepest_normal_opens_that_contact():
    (a, b), at, _ = cube_case((meshes.L, meshes.L), 500, -0.004, -1e-5)
    now = _core.collide(a.shape(), at[0], b.shape(), at[1], 0.01)
    points, rows = np.asarray(now.points), rows_of(now)
    moved = at[0].copy()
    for row in np.unique(rows):
        mine = points[rows == row]
        deepest = mine[np.argmin(mine[:, 6])]
        moved[row, :3] += (1e-9 - deepest[6]) * deepest[3:6]
    opened = least(_core.collide(a.shape(), moved, b.shape(), at[1], 0.01))
    assert (opened >= 0).mean() > 0.98
    assert opened.min() > -0.004


@pytest.mark.parametrize("ground", ["plane", "mesh", "height field"])
def test_a_box_mesh_on_a_ground_is_a_box_on_a_plane(ground):
    x = np.linspace(-3, 3, 41)
    corners = np.column_stack([np.tile(x, 41), np.repeat(x, 41), np.zeros(41 * 41)])
    v = (np.arange(40)[:, None] * 41 + np.arange(40)).ravel()
    flat = meshes.Surface(
        corners, np.vstack([np.column_stack([v, v + 1, v + 42]), np.column_stack([v, v + 42, v + 41])])
    )
    shapes = {
        "plane": Shape.plane(),
        "mesh": Shape.mesh(flat.vertices, flat.triangles.tolist()),
        "height field": Shape.height_field(np.zeros((41, 41)), (-3, -3), (0.15, 0.15)),
    }
    at = poses(1000, 3)
    at[:, :2] *= 0.4
    at[:, 2] = 0.3 * np.abs(at[:, 2])
    wanted = _core.collide(Shape.box((0.3, 0.2, 0.1)), at, Shape.plane(), pose(), 0.02)
    for solid in (meshes.box(0.3, 0.2, 0.1), meshes.box(0.3, 0.2, 0.1).divided(8)):
        same_contacts(_core.collide(solid.shape(), at, shapes[ground], pose(), 0.02), wanted, 1e-12)


def test_a_height_field_is_the_mesh_of_its_triangles():
    rng = np.random.default_rng(4)
    heights = 0.04 * rng.normal(size=(12, 12))
    field = Shape.height_field(heights, (-1.1, -1.1), (0.2, 0.2))
    x = np.arange(12) * 0.2 - 1.1
    corners = np.column_stack([np.tile(x, 12), np.repeat(x, 12), heights.ravel()])
    v = (np.arange(11)[:, None] * 12 + np.arange(11)).ravel()
    triangles = np.vstack([np.column_stack([v, v + 1, v + 13]), np.column_stack([v, v + 13, v + 12])])
    mesh = Shape.mesh(corners, triangles.tolist())
    solid = meshes.cubes(meshes.U, 0.2)[0].shape()
    at = poses(400, 8)
    at[:, :2] = rng.uniform(-0.4, 0.4, (400, 2))
    low, high = np.zeros(400), np.full(400, 2.0)
    for _ in range(40):
        at[:, 2] = 0.5 * (low + high)
        overlap = least(_core.collide(solid, at, field, pose(), 0.0)) < 0
        low, high = np.where(overlap, at[:, 2], low), np.where(overlap, high, at[:, 2])
    for above in (0.002, -0.002):
        at[:, 2] = low + above
        on_field, on_mesh = (_core.collide(solid, at, s, pose(), 0.01) for s in (field, mesh))
        least_of_field, least_of_mesh = least(on_field), least(on_mesh)
        assert ((least_of_field < 0) == (above < 0)).all()
        # In rough terrain a ridge may find a second way out of a mesh, through a groove: at few poses.
        assert (np.abs(least_of_mesh - least_of_field) < 1e-12).mean() > 0.98


def test_meshes_meet_when_their_faces_do():
    cube = CUBE.shape()
    hit = _core.time_of_impact(
        cube, pose((0, 0, 3)), (0, 0, -2.0), (0, 0, 0), cube, pose(), (0, 0, 0), (0, 0, 0), 5.0, 1e-6
    )
    assert hit[0] == pytest.approx(1.0, abs=1e-6)
    assert hit[4:7] == pytest.approx([0, 0, 1], abs=1e-12)


def test_points_that_are_not_finite_have_no_contact():
    cube = CUBE.shape()
    at = pose((np.nan, 0, 0))
    assert len(np.asarray(_core.collide(cube, at, cube, pose(), 0.1).points)) == 0
    assert len(np.asarray(_core.collide(cube, pose((0, 0, 50)), cube, pose(), np.inf).points)) > 0
