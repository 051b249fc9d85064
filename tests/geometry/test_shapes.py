"""Closed forms of simple pairs, whole faces, bounds, rays, the broad phase; what is no shape is refused."""

import numpy as np
import pytest
from rigs.convex_oracles import convex_shapes, pose, poses, rotations, support_in_world
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bellcrank import _core

Shape = _core.CollisionShape
PLANE = Shape.plane()
FLOOR = pose()
SHAPES = convex_shapes()


def points_of(a, at_a, b, at_b, reach=0.0):
    return np.asarray(_core.collide(a, at_a, b, at_b, reach).points)


def test_two_spheres():
    points = points_of(Shape.sphere(1.0), pose((0, 0, 2.5)), Shape.sphere(2.0), pose((0, 0, 0)), 1.0)
    assert points == pytest.approx(np.array([[0, 0, 1.75, 0, 0, 1, -0.5]]), abs=1e-15)


def test_a_sphere_deep_in_a_plane_keeps_its_gap():
    for height in (1.0, 0.1, -0.1, -5.0, -1e4):
        points = points_of(Shape.sphere(0.2), pose((3, 4, height)), PLANE, FLOOR, 2.0)
        assert points[0] == pytest.approx([3, 4, (height - 0.2) / 2, 0, 0, 1, height - 0.2], abs=1e-12)


def test_parallel_capsules_touch_along_their_common_length():
    at = pose((0.4, 0, 0.3))
    points = points_of(Shape.capsule(0.25, 1.0), pose(), Shape.capsule(0.25, 1.0), at, 0.1)
    assert sorted(points[:, 2]) == pytest.approx([-0.7, 1.0])
    assert points[:, 6] == pytest.approx([-0.1, -0.1])
    assert points[:, 3:6] == pytest.approx(np.tile([-1.0, 0, 0], (2, 1)))


def test_crossed_and_coaxial_capsules():
    crossed = pose((0, 0.3, 0), Rotation.from_euler("y", 90, degrees=True))
    points = points_of(Shape.capsule(0.25, 1.0), pose(), Shape.capsule(0.25, 1.0), crossed)
    assert points == pytest.approx(np.array([[0, 0.15, 0, 0, -1, 0, -0.2]]), abs=1e-15)
    points = points_of(Shape.capsule(0.25, 1.0), pose(), Shape.capsule(0.25, 1.0), pose((0, 0, 2.4)))
    assert points[:, 6] == pytest.approx([-0.1])
    same = points_of(Shape.capsule(0.25, 1.0), pose(), Shape.capsule(0.25, 1.0), pose())
    assert same[:, 6] == pytest.approx([-0.5, -0.5])


@pytest.mark.parametrize("kind", list(SHAPES))
def test_a_plane_is_met_by_the_support_point(kind):
    known = SHAPES[kind]
    at = poses(20000, 4)
    ground = poses(1, 5)
    n = np.repeat(rotations(ground).apply([[0, 0, 1]]), len(at), 0)
    expected = np.sum(n * (support_in_world(known, at, -n) - ground[:, :3]), axis=1)
    found = _core.collide(known.shape, at, PLANE, ground, np.inf)
    points, first = np.asarray(found.points), np.asarray(found.first)
    assert np.minimum.reduceat(points[:, 6], first[:-1]) == pytest.approx(expected, abs=1e-13)
    assert np.abs(points[:, 3:6] - n[0]).max() < 1e-14


@pytest.mark.parametrize(
    ("kind", "count"), [("box", 4), ("cylinder", 4), ("cone", 4), ("capsule", 1), ("ellipsoid", 1)]
)
def test_what_stands_on_a_plane_touches_it_with_its_whole_face(kind, count):
    known = SHAPES[kind]
    height = -known.shape.bounds(pose())[0, 2]
    points = points_of(known.shape, pose((0, 0, height - 1e-4)), PLANE, FLOOR)
    assert points[:, 6] == pytest.approx(np.full(count, -1e-4), abs=1e-12)


def test_a_lying_cylinder_touches_along_a_line():
    lying = pose((0, 0, 0.29), Rotation.from_euler("x", 90, degrees=True))
    points = points_of(SHAPES["cylinder"].shape, lying, PLANE, FLOOR)
    assert points[:, 6] == pytest.approx([-0.01, -0.01])
    assert sorted(points[:, 1]) == pytest.approx([-0.5, 0.5])
    on_box = points_of(SHAPES["cylinder"].shape, lying, Shape.box((1, 0.3, 1)), pose((0, 0, -1)))
    assert on_box[:, 6] == pytest.approx([-0.01, -0.01])
    assert sorted(on_box[:, 1]) == pytest.approx([-0.3, 0.3])


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-6, 1e-3])
@pytest.mark.parametrize(("angle", "count"), [(0.0, 4), (10.0, 8), (45.0, 8)])
def test_boxes_meet_with_whole_faces(tilt, angle, count):
    a = Shape.box((1, 1, 0.5))
    turn = Rotation.from_euler("x", tilt) * Rotation.from_euler("z", angle, degrees=True)
    points = points_of(a, pose((0, 0, 0.99), turn), a, pose(), 0.1)
    assert len(points) == count
    assert points[:, 6] == pytest.approx(np.full(count, -0.01), abs=2 * tilt + 1e-12)
    assert points[:, 5] == pytest.approx(np.ones(count), abs=1e-6)
    assert np.abs(points[:, :2]).max() <= 1 + 1e-9 + 0.01 * tilt


@pytest.mark.parametrize("kind", ["box", "hull"])
@pytest.mark.parametrize("noise", [1e-17, 1e-16, -1e-15, 1e-13, 1e-11])
def test_rounding_makes_no_more_points_of_equal_boxes(noise, kind):
    corners = 0.1 * np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    a = (
        Shape.box((0.1, 0.1, 0.1))
        if kind == "box"
        else Shape.hull(corners, ConvexHull(corners).simplices.tolist())
    )
    for x in (0.0, noise, -0.3 * noise):
        points = points_of(a, pose((x, -x, 0.199), Rotation.from_rotvec([x, 2 * x, noise])), a, pose())
        assert np.sort(np.sign(points[:, :2]), axis=0).tolist() == [[-1, -1], [-1, -1], [1, 1], [1, 1]]
        assert np.abs(points[:, :2]) == pytest.approx(np.full((4, 2), 0.1), abs=1e-10)


def test_parallel_edges_and_faces_exactly_on_faces():
    a = Shape.box((1, 1, 1))
    for shift in ((2, 0, 0), (2, 2, 0), (2, 2, 2), (0, 0, 2), (1.5, 0.5, 2)):
        points = points_of(a, pose(), a, pose(shift), 1e-6)
        assert len(points) > 0
        assert np.isfinite(points).all()
        assert points[:, 6] == pytest.approx(np.zeros(len(points)), abs=1e-12)


def test_a_small_box_on_a_large_disc_and_a_large_box_under_it():
    disc = Shape.cylinder(2.0, 0.5)
    small = points_of(Shape.box((0.3, 0.2, 0.1)), pose((1, 0.5, 0.599)), disc, pose())
    assert small[:, 6] == pytest.approx(np.full(4, -0.001))
    large = points_of(disc, pose((0, 0, 0.999)), Shape.box((5, 5, 0.5)), pose())
    assert large[:, 6] == pytest.approx(np.full(4, -0.001))
    across = points_of(Shape.box((3, 0.2, 0.1)), pose((0, 0, 0.599)), disc, pose())
    assert across[:, 6] == pytest.approx(np.full(len(across), -0.001))
    rim = np.hypot(across[:, 0], across[:, 1])
    corners = np.sort(across[np.abs(across[:, 1]) > 0.19][:, 0])
    assert rim.max() < 2 + 1e-9
    assert corners == pytest.approx(np.sqrt(4 - 0.04) * np.array([-1, -1, 1, 1]))


def test_equal_discs_on_each_other():
    disc = Shape.cylinder(1.0, 0.5)
    points = points_of(disc, pose((0, 0, 0.999)), disc, pose())
    assert len(points) >= 4
    assert points[:, 6] == pytest.approx(np.full(len(points), -0.001))
    aside = points_of(disc, pose((1.0, 0, 0.999)), disc, pose())
    assert aside[:, 6] == pytest.approx(np.full(len(aside), -0.001))
    assert np.abs(aside[:, 1]).max() == pytest.approx(np.sqrt(0.75))


def test_a_rim_above_an_edge_has_points_that_move_smoothly():
    """A flat end leans a little on the edge of a box: the box alone says where its rim is deepest."""
    roof, disc = Shape.box((0.3, 0.2, 0.2)), Shape.cylinder(0.04, 0.02)
    turn = Rotation.from_euler("y", -0.6)
    top = turn.apply((0.3, 0.0, 0.2))
    rng = np.random.default_rng(3)
    for lean in rng.uniform(-5e-5, 5e-5, (40, 3)):
        at = np.add(top, (rng.uniform(0.0399, 0.04) * rng.choice([-1, 1]), 0.01, 0.02 - 1e-5))
        leans = [Rotation.from_rotvec(lean + noise) for noise in rng.normal(scale=1e-11, size=(8, 3))]
        seen = [points_of(disc, pose(at, one), roof, pose((0, 0, 0), turn)) for one in leans]
        for found in seen:
            assert found.shape == seen[0].shape
            assert found == pytest.approx(seen[0], abs=1e-8)


def test_features_persist_while_a_box_slides():
    a, b = Shape.box((1, 1, 0.5)), Shape.box((3, 3, 0.5))
    seen = set()
    for x in np.linspace(-1.0, 1.0, 21):
        turn = Rotation.from_euler("z", 0.2 + 0.1 * x)
        found = _core.collide(a, pose((x, 0.1, 0.99), turn), b, pose(), 0.0)
        seen.add(tuple(sorted(map(tuple, np.asarray(found.features)))))
    assert len(seen) == 1
    assert len(set(next(iter(seen)))) == 4


def test_bounds_are_tight():
    at = poses(500, 8)
    for known in SHAPES.values():
        bounds = known.shape.bounds(at)
        for axis in range(3):
            d = np.zeros((len(at), 3))
            d[:, axis] = 1.0
            high, low = support_in_world(known, at, d)[:, axis], support_in_world(known, at, -d)[:, axis]
            assert bounds[:, axis] == pytest.approx(low, abs=1e-14)
            assert bounds[:, 3 + axis] == pytest.approx(high, abs=1e-14)


@pytest.mark.parametrize("kind", list(SHAPES))
def test_rays_end_on_the_surface(kind):
    """A sphere of no size where the ray ends touches the shape, and no step before does."""
    known = SHAPES[kind]
    at = poses(1, 13)
    rng = np.random.default_rng(2)
    targets = at[:, :3] + 0.3 * rng.normal(size=(3000, 3))
    d = rng.normal(size=(3000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    origins = targets - 5.0 * d
    hits = _core.cast_rays(known.shape, at, np.hstack([origins, d]), np.inf)
    hit = np.isfinite(hits[:, 0])
    assert 100 < hit.sum() < 3000
    point = Shape.sphere(1e-9)

    def gap(where):
        table = np.hstack([where, np.tile([1.0, 0, 0, 0], (len(where), 1))])
        contacts = _core.collide(point, table, known.shape, at, np.inf)
        return np.minimum.reduceat(np.asarray(contacts.points)[:, 6], np.asarray(contacts.first)[:-1]) + 1e-9

    ends = origins[hit] + hits[hit, :1] * d[hit]
    assert np.abs(gap(ends)).max() < 1e-7
    assert np.sum(hits[hit, 1:4] * d[hit], axis=1).max() < 0
    for part in (0.2, 0.7, 0.97, 0.999):
        assert gap(origins[hit] + part * hits[hit, :1] * d[hit]).min() > -1e-12
    for along in np.linspace(3.0, 7.0, 41):
        assert gap(origins[~hit] + along * d[~hit]).min() > -1e-12
    inside = _core.cast_rays(known.shape, at, np.array([[*at[0, :3], 0, 0, 1.0]]), 1.0)
    assert inside[0, :4] == pytest.approx([0, 0, 0, -1])


def test_wrong_sizes_are_refused_together():
    with pytest.raises(
        ValueError, match=r"cylinder: sizes must be positive.*radius = -1.*half_length = 0.*in m"
    ):
        Shape.cylinder(-1.0, 0.0)
    with pytest.raises(ValueError, match="box"):
        Shape.box((1.0, np.nan, 1.0))
    with pytest.raises(ValueError, match="hull: the surface is open"):
        Shape.hull(np.eye(4, 3), [[0, 1, 2], [1, 2, 3]])
    with pytest.raises(ValueError, match="a plane and a plane is not computed"):
        _core.collide(PLANE, FLOOR, PLANE, FLOOR, 0.0)


def test_hulls_join_coplanar_triangles():
    corners = np.array(np.meshgrid([-0.5, 0.5], [-0.3, 0.3], [-0.2, 0.2])).reshape(3, 8).T
    cube = Shape.hull(corners, ConvexHull(corners).simplices.tolist())
    same = Shape.box((0.5, 0.3, 0.2))
    a, b = poses(3000, 1, 0.4), poses(3000, 2, 0.4)
    for other in (Shape.box((0.4, 0.4, 0.1)), Shape.capsule(0.1, 0.4), PLANE):
        one, two = _core.collide(cube, a, other, b, 0.05), _core.collide(same, a, other, b, 0.05)
        assert np.array_equal(one.first, two.first)

        def ordered(contacts):
            points = np.asarray(contacts.points)
            rows = np.repeat(np.arange(len(a)), np.diff(contacts.first))
            return points[np.lexsort([*np.round(points[:, :3], 7).T, rows])]

        close = np.abs(ordered(one) - ordered(two)).max(axis=1) < 1e-9
        assert close.mean() > 0.995


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


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def test_a_whole_solid_is_taken_whole():
    Shape.mesh(CORNERS, TETRAHEDRON, solid=True)
    # Vertices of its own for each triangle, as in STL files.
    separate = CORNERS[np.array(TETRAHEDRON).ravel()]
    Shape.mesh(separate, np.arange(12).reshape(4, 3).tolist(), solid=True)


def test_an_open_surface_is_no_solid():
    Shape.mesh(CORNERS, TETRAHEDRON[:3])
    with pytest.raises(ValueError, match="mesh: it is open") as refused:
        Shape.mesh(CORNERS, TETRAHEDRON[:3], solid=True)
    for triangle, edge in enumerate(("1 and 2", "1 and 3", "2 and 3")):
        assert f"it is open at the edge between vertices {edge} of triangle {triangle};" in str(refused.value)


def test_triangles_that_face_opposite_ways_are_named():
    triangles = [*TETRAHEDRON[:3], TETRAHEDRON[3][::-1]]
    message = "triangles 0 and 3 face opposite ways at the edge between vertices 1 and 2"
    for solid in (False, True):
        with pytest.raises(ValueError, match=message):
            Shape.mesh(CORNERS, triangles, solid=solid)


def test_a_surface_that_faces_inwards_is_refused():
    with pytest.raises(ValueError, match="all triangles face inwards"):
        Shape.mesh(CORNERS, [t[::-1] for t in TETRAHEDRON])


def test_triangles_without_area_are_no_part_of_a_solid():
    vertices = np.vstack([CORNERS, [[0.5, 0.0, 0.0]]])
    triangles = [*TETRAHEDRON, [0, 1, 4], [2, 2, 3]]
    with pytest.raises(ValueError, match=r"triangle 4 has no area; triangle 5 has no area|5 has.*4 has"):
        Shape.mesh(vertices, triangles, solid=True)


def test_more_than_two_triangles_at_an_edge_are_no_solid():
    vertices = np.vstack([CORNERS, [[1.0, 1, 1]]])
    with pytest.raises(ValueError, match="3 triangles meet at the edge between vertices 0 and 1"):
        Shape.mesh(vertices, [*TETRAHEDRON, [0, 1, 4]], solid=True)


def test_a_sheet_with_two_sides_has_no_thickness():
    sheet = [[0, 1, 2], [2, 1, 0]]
    with pytest.raises(ValueError, match="no thickness: it encloses no volume"):
        Shape.mesh(CORNERS, sheet, solid=True)


@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("again", [[0, 3, 2], [3, 2, 0], [2, 3, 0]])
def test_a_triangle_that_is_there_twice_is_named(again, solid):
    with pytest.raises(ValueError, match="triangles 2 and 4 have the same corners: remove one of them"):
        Shape.mesh(CORNERS, [*TETRAHEDRON, again], solid=solid)


def test_absurd_sizes_are_refused():
    for scale in (1e12, 1e-20):
        with pytest.raises(ValueError, match=r"mesh: points reach over .* allowed"):
            Shape.mesh(scale * CORNERS, TETRAHEDRON)
        with pytest.raises(ValueError, match=r"hull: points reach over .* allowed"):
            Shape.hull(scale * CORNERS, TETRAHEDRON)
        with pytest.raises(ValueError, match=r"capsule: .*from 1e-12 to 1e\+09 m.*radius = .*half_length = "):
            Shape.capsule(scale, scale)
    with pytest.raises(ValueError, match="height field: it reaches 1e\\+15 m from the origin"):
        Shape.height_field(np.full((3, 3), 1e15), (0, 0), (1, 1))


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_is_positive(radius):
    with pytest.raises(ValueError, match=r"sphere: sizes must be positive and finite.*radius ="):
        Shape.sphere(radius)


def test_all_faults_of_a_height_field_are_named():
    heights = np.zeros((3, 4))
    heights[1, 2], heights[2, 0] = np.nan, np.inf
    message = (
        "steps must be positive and finite, got 0 and -1; .*row 1, column 2 .* row 2, column 0 is not finite"
    )
    with pytest.raises(ValueError, match=message):
        Shape.height_field(heights, (0, 0), (0.0, -1.0))
    with pytest.raises(ValueError, match="at least two rows and columns"):
        Shape.height_field(np.zeros((1, 5)), (0, 0), (1, 1))
    with pytest.raises(ValueError, match="at least two rows and columns"):
        Shape.height_field(np.zeros((5, 1)), (0, 0), (1, 1))
