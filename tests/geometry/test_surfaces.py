"""Meshes and height fields: divided planes are planes, edges count once, nothing is a ghost; rays."""

import numpy as np
import pytest
from rigs.convex_oracles import convex_shapes, pose, poses
from rigs.meshes import cubes
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

from bellcrank import _core

Shape = _core.CollisionShape
PLANE = Shape.plane()
SHAPES = convex_shapes()
BOX = [
    [0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4],
    [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5],
]  # fmt: skip


def box_mesh(x, y, z):
    corners = [[(i & 1) * 2 - 1, (i >> 1 & 1) * 2 - 1, (i >> 2) * 2 - 1] for i in range(8)]
    return Shape.mesh(np.array(corners) * [x, y, z], BOX)


def flat_mesh(kind, size=3.0, turn=None):
    """A square of the plane z = 0: two triangles, a grid, or random triangles with slivers; turned."""
    if kind == "coarse":
        p = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
    elif kind == "grid":
        p = np.array(np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))).reshape(2, -1).T
    else:
        rng = np.random.default_rng(7)
        p = np.vstack([[[-1, -1], [1, -1], [1, 1], [-1, 1.0]], rng.uniform(-1, 1, (300, 2)) ** 3])
        p = np.vstack([p, p[4:40] + 1e-5 * rng.normal(size=(36, 2))])
    triangles = Delaunay(p).simplices
    a, b, c = (p[triangles[:, k]] for k in range(3))
    left = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] > 0
    triangles[~left] = triangles[~left][:, ::-1]
    vertices = np.column_stack([size * p, np.zeros(len(p))])
    return Shape.mesh(vertices if turn is None else turn.apply(vertices), triangles.tolist())


def flat_field(size=3.0):
    return Shape.height_field(np.zeros((31, 41)), (-size, -size), (2 * size / 40, 2 * size / 30))


def near_the_ground(count, seed, height=0.3):
    at = poses(count, seed)
    at[:, :2] *= 0.4
    at[:, 2] = height * np.abs(at[:, 2])
    return at


def ordered(contacts, rows):
    points = np.asarray(contacts.points)
    row = np.repeat(np.arange(rows), np.diff(contacts.first))
    return points[np.lexsort([*np.round(points[:, :3], 8).T, row])], row


@pytest.mark.parametrize("ground", ["coarse", "grid", "random", "field"])
@pytest.mark.parametrize("kind", list(SHAPES))
def test_a_divided_plane_is_a_plane(kind, ground):
    count = 1000
    at = near_the_ground(count, 3)
    surface = flat_field() if ground == "field" else flat_mesh(ground)
    shape = SHAPES[kind].shape
    expected, rows = ordered(_core.collide(shape, at, PLANE, pose(), 0.02), count)
    found, same_rows = ordered(_core.collide(shape, at, surface, pose(), 0.02), count)
    # A mesh ends the search where the middle of the shape is inside.
    outside = np.ones(len(rows), dtype=bool) if ground == "field" else at[rows, 2] > 0.15
    if ground != "field":
        keep = at[same_rows, 2] > 0.15
        found, same_rows = found[keep], same_rows[keep]
    assert np.array_equal(rows[outside], same_rows)
    assert np.abs(found - expected[outside]).max() < 1e-12


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_turned_divided_plane_is_a_plane(scale):
    turn = Rotation.from_rotvec([0.4, -0.3, 0.9])
    q = np.roll(turn.as_quat(), 1)
    ground = flat_mesh("random", 3.0 * scale, turn)
    box = Shape.box((0.3 * scale, 0.2 * scale, 0.1 * scale))
    local = near_the_ground(400, 9)
    local[:, 2] += 0.05
    local[:, :3] *= scale
    world = np.hstack(
        [
            turn.apply(local[:, :3]),
            np.roll((turn * Rotation.from_quat(np.roll(local[:, 3:], -1, 1))).as_quat(), 1, 1),
        ]
    )
    expected, rows = ordered(_core.collide(box, world, PLANE, np.array([[0, 0, 0, *q]]), 0.02 * scale), 400)
    found, same = ordered(_core.collide(box, world, ground, pose(), 0.02 * scale), 400)
    assert np.array_equal(rows, same)
    assert np.abs(found - expected)[:, [0, 1, 2, 6]].max() < 1e-12 * scale
    assert np.abs(found - expected)[:, 3:6].max() < 1e-12


def test_a_sphere_rolls_over_a_flat_mesh_without_bumps():
    for ground in (flat_mesh("random"), flat_mesh("grid"), flat_field()):
        x = np.linspace(-2.0, 2.0, 20001)
        at = np.column_stack(
            [x, 0.37 * x, np.full_like(x, 0.1999)] + [np.ones_like(x)] + 3 * [np.zeros_like(x)]
        )
        found = _core.collide(Shape.sphere(0.2), at, ground, pose(), 0.01)
        assert (np.diff(found.first) == 1).all()
        points = np.asarray(found.points)
        assert np.abs(points[:, 6] + 1e-4).max() < 1e-12
        assert np.abs(points[:, 3:6] - [0, 0, 1]).max() < 1e-12
        assert len(set(map(tuple, np.asarray(found.features)))) == 1


def test_a_sphere_around_a_box_mesh_matches_the_box():
    """Faces, edges and corners from outside, and out of the nearest face from inside."""
    half = (0.5, 0.4, 0.3)
    mesh, box, sphere = box_mesh(*half), Shape.box(half), Shape.sphere(0.35)
    at = poses(20000, 6, 0.45)
    expected, found = (_core.collide(sphere, at, other, pose(), 0.2) for other in (box, mesh))
    assert np.array_equal(expected.first, found.first)
    assert np.asarray(found.points) == pytest.approx(np.asarray(expected.points), abs=1e-12)


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "cone", "ellipsoid", "box", "hull"])
def test_the_least_gap_to_a_box_mesh_is_that_to_the_box(kind):
    count = 3000
    half = (0.9, 0.8, 0.7)
    mesh, box, shape = box_mesh(*half), Shape.box(half), SHAPES[kind].shape
    at = poses(count, 8, 0.9)

    def least(other):
        found = _core.collide(shape, at, other, pose(), 0.2)
        out = np.full(count, np.inf)
        for i in range(count):
            own = np.asarray(found.points)[found.first[i] : found.first[i + 1], 6]
            if len(own):
                out[i] = own.min()
        return out

    expected, found = least(box), least(mesh)
    shallow = (expected > -0.02) & (expected < 0.19)
    assert shallow.sum() > 200
    # Beside a corner a triangle may be deeper along its own normal than the solid along that of an edge.
    off = np.abs(found[shallow] - expected[shallow])
    assert (off < 1e-8).mean() > 0.99
    assert off.max() < 0.01
    assert not np.isfinite(found[expected > 0.21]).any()


def test_a_box_over_the_rim_of_a_table():
    """Half of the box overhangs: two corners on the table and two points where its edges cross the rim."""
    box = Shape.box((0.5, 0.3, 0.2))
    for table in (box_mesh(1, 1, 1), Shape.box((1, 1, 1))):
        points = np.asarray(_core.collide(box, pose((1.1, 0, 1.1999)), table, pose(), 0.0).points)
        found = points[np.lexsort(np.round(points[:, :2], 9).T)]
        assert found[:, :2] == pytest.approx(
            np.array([[0.6, -0.3], [1, -0.3], [0.6, 0.3], [1, 0.3]]), abs=1e-9
        )
        assert points[:, 6] == pytest.approx(np.full(4, -1e-4), abs=1e-12)
        assert points[:, 5] == pytest.approx(np.ones(4))


def test_a_box_in_a_corner_touches_floor_and_wall():
    floor_and_wall = Shape.mesh(
        np.array([[-2, -2, 0], [0, -2, 0], [0, 2, 0], [-2, 2, 0], [0, -2, 2], [0, 2, 2.0]]),
        [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]],
    )
    box = Shape.box((0.5, 0.4, 0.3))
    for into_floor, into_wall in [(1e-4, 1e-5), (1e-5, 1e-4), (1e-4, -1e-5)]:
        at = pose((-0.5 + into_wall, 0, 0.3 - into_floor))
        points = np.asarray(_core.collide(box, at, floor_and_wall, pose(), 2e-5).points)
        up, aside = points[points[:, 5] > 0.9], points[points[:, 3] < -0.9]
        assert len(up) == len(aside) == 4
        assert up[:, 6] == pytest.approx(np.full(4, -into_floor), abs=1e-12)
        assert aside[:, 6] == pytest.approx(np.full(4, -into_wall), abs=1e-12)


def test_a_box_on_a_ridge():
    corners = np.array([[x, y, -abs(x)] for y in (-2.0, 0.0, 2.0) for x in (-1.0, 0.0, 1.0)])
    cells = [[v, v + 1, v + 4, v + 3] for v in (0, 1, 3, 4)]
    ridge = Shape.mesh(corners, [t for a, b, c, d in cells for t in ([a, b, c], [a, c, d])])
    points = np.asarray(
        _core.collide(Shape.box((0.5, 0.4, 0.3)), pose((0.1, 0, 0.2999)), ridge, pose(), 0.0).points
    )
    assert points[:, 5] == pytest.approx(np.ones(2), abs=1e-9)
    assert sorted(points[:, 1]) == pytest.approx([-0.4, 0.4], abs=1e-9)
    assert points[:, 6] == pytest.approx([-1e-4, -1e-4], abs=1e-12)


def test_a_prism_rests_on_all_three_points():
    """MuJoCo's issue 3524: on two of three points it slides."""
    from scipy.spatial import ConvexHull

    angles = np.array([0.3, 0.3 + 2 * np.pi / 3, 0.3 + 4 * np.pi / 3])
    rim = 0.3 * np.column_stack([np.cos(angles), np.sin(angles)])
    corners = np.vstack([np.column_stack([rim, np.full(3, z)]) for z in (-0.1, 0.1)])
    prism = Shape.hull(corners, ConvexHull(corners).simplices.tolist())
    for ground in (PLANE, flat_mesh("coarse"), flat_mesh("grid"), flat_mesh("random"), flat_field()):
        points = np.asarray(_core.collide(prism, pose((0.1, 0.2, 0.0999)), ground, pose(), 0.0).points)
        assert len(points) == 3
        assert points[:, 6] == pytest.approx(np.full(3, -1e-4), abs=1e-12)


@pytest.mark.parametrize("surface", ["mesh", "field"])
def test_rays_hit_a_terrain_where_brute_force_does(surface):
    rng = np.random.default_rng(5)
    heights = 0.3 * rng.normal(size=(20, 25))
    x, y = np.meshgrid(0.2 * np.arange(25) - 1, 0.25 * np.arange(20) - 2)
    vertices = np.column_stack([x.ravel(), y.ravel(), heights.ravel()])
    v = (np.arange(19)[:, None] * 25 + np.arange(24)).ravel()
    triangles = np.vstack([np.column_stack([v, v + 1, v + 26]), np.column_stack([v, v + 26, v + 25])])
    field = Shape.height_field(heights, (-1, -2), (0.2, 0.25))
    shape = field if surface == "field" else Shape.mesh(vertices, triangles.tolist())
    origins = np.column_stack([rng.uniform(-2, 5, 2000), rng.uniform(-3, 4, 2000), rng.uniform(1.5, 3, 2000)])
    d = (
        np.column_stack([rng.uniform(-1, 5, 2000), rng.uniform(-2, 3, 2000), rng.uniform(-1, 1, 2000)])
        - origins
    )
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    d[:100] = [0, 0, -1]
    hits = _core.cast_rays(shape, pose(), np.hstack([origins, d]), np.inf)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    for i in range(2000):
        down = n @ d[i] < 0
        t = np.sum(n * (a - origins[i]), axis=1)[down] / (n @ d[i])[down]
        p = origins[i] + t[:, None] * d[i]
        inside = t >= 0
        for u, w in ((a, b), (b, c), (c, a)):
            inside &= np.sum(np.cross((w - u)[down], p - u[down]) * n[down], axis=1) > -1e-12
        expected = t[inside].min(initial=np.inf)
        assert hits[i, 0] == pytest.approx(expected, rel=1e-10), i
    hit = np.isfinite(hits[:, 0])
    assert 300 < hit.sum() < 2000
    assert np.linalg.norm(hits[hit, 1:4], axis=1) == pytest.approx(np.ones(hit.sum()))


def test_a_sphere_on_rough_terrain_is_nearest_to_the_surface():
    rng = np.random.default_rng(5)
    heights = 0.1 * rng.normal(size=(20, 25))
    field = Shape.height_field(heights, (-1, -2), (0.2, 0.25))
    x, y = np.meshgrid(0.2 * np.arange(25) - 1, 0.25 * np.arange(20) - 2)
    vertices = np.column_stack([x.ravel(), y.ravel(), heights.ravel()])
    v = (np.arange(19)[:, None] * 25 + np.arange(24)).ravel()
    triangles = np.vstack([np.column_stack([v, v + 1, v + 26]), np.column_stack([v, v + 26, v + 25])])
    mesh = Shape.mesh(vertices, triangles.tolist())
    at = poses(3000, 2)
    at[:, :2] = rng.uniform(0, 1.5, (3000, 2))
    at[:, 2] = rng.uniform(0.1, 0.5, 3000)
    one, two = (_core.collide(Shape.sphere(0.2), at, s, pose(), 0.1) for s in (field, mesh))
    assert np.array_equal(one.first, two.first)
    found = ordered(one, 3000)[0]
    assert found == pytest.approx(ordered(two, 3000)[0], abs=1e-12)
    # No point of the surface is nearer than the nearest contact, and its own point is on the surface.
    u = rng.dirichlet((1, 1, 1), 20)
    cloud = (vertices[triangles][:, None] * u[None, :, :, None]).sum(axis=2).reshape(-1, 3)
    for i in range(0, 3000, 50):
        gaps = np.asarray(one.points)[one.first[i] : one.first[i + 1], 6]
        nearest = np.linalg.norm(cloud - at[i, :3], axis=1).min() - 0.2
        if len(gaps):
            assert nearest - 0.1 < gaps.min() <= nearest + 1e-12
        else:
            assert nearest > 0.099


def test_wrong_surfaces_are_refused_with_all_faults():
    with pytest.raises(ValueError, match=r"mesh: vertex 1 is not finite; triangle 1 refers to vertex 9 of 4"):
        Shape.mesh(np.array([[0, 0, 0], [np.inf, 0, 0], [0, 1, 0], [0, 0, 1.0]]), [[0, 1, 2], [0, 2, 9]])
    with pytest.raises(ValueError, match="at least two rows and columns"):
        Shape.height_field(np.zeros((1, 5)), (0, 0), (1, 1))
    with pytest.raises(
        ValueError, match="a plane and a height field is not computed; planes and height fields do not"
    ):
        _core.collide(PLANE, pose(), flat_field(), pose(), 0.0)


def rough_field(rng):
    return Shape.height_field(0.02 * rng.normal(size=(21, 21)), (-2.0, -2.0), (0.2, 0.2))


def slotted_mesh(_rng):
    """Cubes of 0.2 m: a block with a slot, and a wall along one of its edges."""
    slot = [(2, 0), (2, 1), (2, 2)]
    cells = [(i, j, 0) for i in range(5) for j in range(5)]
    cells += [(i, j, 1) for i in range(5) for j in range(5) if (i, j) not in slot]
    surface, _ = cubes([*cells, *((0, j, 2) for j in range(5))], 0.2)
    return Shape.mesh(surface.vertices, surface.triangles.tolist(), solid=True)


@pytest.mark.parametrize("known", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("made", [rough_field, slotted_mesh])
def test_a_wide_reach_finds_nothing_that_is_not_there(known, made):
    """Shapes float above the highest place: no reach shows them an overlap, and none a nearer point."""
    rng = np.random.default_rng(5)
    ground, at = made(rng), poses(20, seed=4)
    top = ground.bounds(pose())[0, 5]
    clearance = 0.05 + 0.1 * rng.random(len(at))
    at[:, :2] *= 0.2
    at[:, 2] = 0.0
    at[:, 2] = top + clearance - known.shape.bounds(at)[:, 2]
    nearest = []
    for reach in (0.5, 2.0, 20.0):
        contacts = _core.collide(known.shape, at, ground, pose(), reach)
        points, first = np.asarray(contacts.points), np.asarray(contacts.first)
        assert np.all(np.diff(first) > 0)
        nearest.append(np.minimum.reduceat(points[:, 6], first[:-1]))
        assert np.all(nearest[-1] >= clearance - 1e-9)
    np.testing.assert_allclose(nearest[1:], [nearest[0]] * 2, atol=1e-7)


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
