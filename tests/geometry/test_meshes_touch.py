"""Two meshes: gaps, normals and depths against closed forms, hulls and cubes."""

import numpy as np
import pytest
from rigs import meshes
from rigs.convex_oracles import pose
from rigs.mesh_pairs import CONCAVE, CUBE, PAIRS, Shape, convex_case, cube_case, least, one
from scipy.spatial.transform import Rotation

from bellcrank import _core


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
