"""Contacts of meshes do not depend on triangles, order or axes; meshes on planes and height fields."""

import numpy as np
import pytest
from rigs import meshes
from rigs.convex_oracles import pose, poses, rotations
from rigs.mesh_pairs import CONCAVE, CUBE, Shape, cube_case, least, ordered, rows_of
from scipy.spatial.transform import Rotation

from bellcrank import _core


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
