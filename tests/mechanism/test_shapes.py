"""Mass properties of shapes against quadrature over their volume, symmetry, and rigid motions."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.mass import MassProperties, total

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def interval(low, high):
    """Gauss points and weights on an interval."""
    return 0.5 * (high - low) * NODES + 0.5 * (high + low), 0.5 * (high - low) * WEIGHTS


def of_revolution(radius, pieces):
    """Points and weights over a solid of revolution about z with this radius(z), smooth on each piece."""
    points, weights = [], []
    angles = 2 * np.pi * np.arange(8) / 8  # exact for the second harmonic
    for low, high in pieces:
        for z, dz in zip(*interval(low, high), strict=True):
            for s, ds in zip(*interval(0.0, 1.0), strict=True):  # r = s radius, dA = r dr dphi
                r = s * radius(z)
                for angle in angles:
                    points.append((r * np.cos(angle), r * np.sin(angle), z))
                    weights.append(dz * ds * s * radius(z) ** 2 * 2 * np.pi / 8)
    return np.array(points), np.array(weights)


def box(size):
    grids = [interval(-s / 2, s / 2) for s in size]
    points = np.stack(np.meshgrid(*(g[0] for g in grids), indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.einsum("i,j,k->ijk", *(g[1] for g in grids)).ravel()
    return points, weights


def ball(radii):
    # In z = sin(u) the ball's radius is smooth up to the poles.
    points, weights = [], []
    lower, upper = interval(-np.pi / 2, 0.0), interval(0.0, np.pi / 2)
    for u, du in zip(*np.hstack([lower, upper]), strict=True):
        flat, area = of_revolution(lambda _, u=u: np.cos(u), [(0.0, 1.0)])
        first = flat[:, 2] == flat[0, 2]  # one slice of unit height
        slice_area = area[first] / interval(0.0, 1.0)[1][0]
        slice_points = flat[first].copy()
        slice_points[:, 2] = np.sin(u)
        points.append(slice_points)
        weights.append(slice_area * np.cos(u) * du)
    return np.concatenate(points) * radii, np.concatenate(weights) * np.prod(radii)


def capsule(radius, length):
    half = length / 2
    tube = of_revolution(lambda z: radius, [(-half, half)])
    points, weights = ball((radius,) * 3)
    points = points + np.where(points[:, 2:] > 0, half, -half) * [0, 0, 1]
    return np.concatenate([tube[0], points]), np.concatenate([tube[1], weights])


def wedge():
    """A triangle with one corner at (0.1, -0.3), extended along z by 0.35 to either side."""
    u, wu = np.polynomial.legendre.leggauss(8)
    u, wu = 0.5 * (u + 1.0), 0.5 * wu
    r, s, z = (axis.ravel() for axis in np.meshgrid(u, u, 0.7 * (u - 0.5), indexing="ij"))
    weights = np.einsum("i,j,k->ijk", wu, wu, 0.7 * wu).ravel() * r * abs(0.8 * 1.4 - 0.4 * 0.5)
    x = 0.1 + r * (0.8 * (1.0 - s) + 0.4 * s)
    y = -0.3 + r * (0.5 * (1.0 - s) + 1.4 * s)
    return np.column_stack([x, y, z]), weights


CASES = [
    (bc.Box(size=(0.4, 1.1, 2.3)), box((0.4, 1.1, 2.3))),
    (bc.Sphere(radius=0.7), ball((0.7,) * 3)),
    (bc.Ellipsoid(radii=(0.3, 0.9, 1.7)), ball((0.3, 0.9, 1.7))),
    (bc.Cylinder(radius=0.4, length=1.9), of_revolution(lambda z: 0.4, [(-0.95, 0.95)])),
    (bc.Cone(radius=0.6, height=1.5), of_revolution(lambda z: 0.6 * (0.75 - z) / 1.5, [(-0.75, 0.75)])),
    (bc.Capsule(radius=0.35, length=1.2), capsule(0.35, 1.2)),
    (bc.Prism(outline=[(0.1, -0.3), (0.9, 0.2), (0.5, 1.1)], length=0.7), wedge()),
]


@pytest.mark.parametrize(("shape", "volume"), CASES, ids=[type(c[0]).__name__ for c in CASES])
def test_mass_properties_are_integrals_over_the_volume(shape, volume):
    points, weights = volume
    properties = shape.volume_properties()
    assert properties.mass == pytest.approx(weights.sum(), rel=1e-12)
    com = weights @ points / weights.sum()
    np.testing.assert_allclose(properties.com, com, atol=1e-13)
    d = points - com
    inertia = np.einsum(
        "n,nij->ij", weights, np.einsum("nk,nk,ij->nij", d, d, np.eye(3)) - d[:, :, None] * d[:, None]
    )
    np.testing.assert_allclose(properties.inertia, inertia, rtol=1e-11, atol=1e-13)


def test_every_shape_is_tested():
    from bellcrank.mechanism import SHAPES

    assert {type(case[0]).__name__ for case in CASES} | {"Mesh", "Plane", "Terrain"} == set(SHAPES)


def test_a_placed_shape_is_moved_and_turned():
    q = np.array([0.5, 0.1, -0.7, 0.3])
    q = tuple(q / np.linalg.norm(q))
    plain = bc.Cone(radius=0.2, height=0.5, density=3.0)
    placed = bc.Cone(radius=0.2, height=0.5, density=3.0, position=(1.0, -2.0, 0.5), rotation=q)
    from bellcrank.mechanism.rotation import matrix

    turn, before, after = matrix(q), plain.mass_properties(), placed.mass_properties()
    assert after.mass == pytest.approx(before.mass)
    np.testing.assert_allclose(after.com, turn @ before.com + [1.0, -2.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(after.inertia, turn @ before.inertia @ turn.T, atol=1e-16)


def test_parts_add_up_to_the_whole():
    whole = bc.Box(size=(0.2, 0.3, 1.0), density=7.0).mass_properties()
    lower = bc.Box(size=(0.2, 0.3, 0.4), density=7.0, position=(0, 0, -0.3)).mass_properties()
    upper = bc.Box(size=(0.2, 0.3, 0.6), density=7.0, position=(0, 0, 0.2)).mass_properties()
    sum_ = total([lower, upper])
    assert sum_.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(sum_.com, whole.com, atol=1e-16)
    np.testing.assert_allclose(sum_.inertia, whole.inertia, rtol=1e-13, atol=1e-16)


def test_moving_the_frame_of_a_shape_moves_its_mass():
    shape = bc.Cone(radius=0.2, height=0.5, density=3.0, position=(0.3, 0, 0.1), rotation=(0.6, 0.8, 0, 0))
    moved = shape.moved((1.0, 2.0, 3.0), (0.8, 0.0, 0.6, 0.0))
    expected = shape.mass_properties().moved((1.0, 2.0, 3.0), (0.8, 0.0, 0.6, 0.0))
    got = moved.mass_properties()
    np.testing.assert_allclose(got.com, expected.com, atol=1e-15)
    np.testing.assert_allclose(got.inertia, expected.inertia, atol=1e-15)


class TestBodyFromShapes:
    rod = bc.Cylinder(
        radius=0.01, length=1.0, density=7800.0, position=(0.5, 0.0, 0.0), rotation=(0.5**0.5, 0, 0.5**0.5, 0)
    )

    def test_mass_comes_from_density(self):
        body = bc.Mechanism().add_body("rod", shapes=[self.rod])
        assert body.mass == pytest.approx(7800.0 * np.pi * 0.01**2)
        assert body.com == pytest.approx((0.5, 0.0, 0.0))
        axial, across = body.mass * 0.01**2 / 2, body.mass * (3 * 0.01**2 + 1.0) / 12
        np.testing.assert_allclose(body.inertia, np.diag([axial, across, across]), atol=1e-12)

    def test_a_given_mass_scales_the_shapes(self):
        plain = bc.Mechanism().add_body("rod", shapes=[self.rod])
        body = bc.Mechanism().add_body("rod", mass=2.0, shapes=[self.rod])
        assert body.mass == pytest.approx(2.0)
        np.testing.assert_allclose(body.inertia, np.array(plain.inertia) * 2.0 / plain.mass)

    def test_given_numbers_win_over_shapes(self):
        body = bc.Mechanism().add_body("rod", mass=2.0, inertia=(1, 2, 3), shapes=self.rod)
        assert (body.mass, body.com) == (2.0, (0.0, 0.0, 0.0))
        assert body.inertia == ((1, 0, 0), (0, 2, 0), (0, 0, 3))
        assert body.shapes == (self.rod,)

    def test_a_shape_without_density_has_no_mass(self):
        body = bc.Mechanism().add_body("b", shapes=[self.rod, bc.Sphere(radius=3.0)])
        assert body.mass == pytest.approx(7800.0 * np.pi * 0.01**2)


class TestMesh:
    @pytest.fixture
    def tetrahedron(self, tmp_path):
        """The corner of a cube with unit edges along the axes, in millimetres."""
        trimesh = pytest.importorskip("trimesh")
        corners = np.array([[0, 0, 0], [1000, 0, 0], [0, 1000, 0], [0, 0, 1000.0]])
        mesh = trimesh.Trimesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        return mesh, tmp_path / "corner.stl"

    def test_mass_properties(self, tetrahedron):
        mesh, path = tetrahedron
        mesh.export(path)
        got = bc.Mesh(file=str(path), scale=0.001).volume_properties()
        assert got.mass == pytest.approx(1 / 6, rel=1e-6)
        np.testing.assert_allclose(got.com, [0.25] * 3, rtol=1e-6)
        # Integrals of x^2 and x y over the corner: 1/60 and 1/120, moved to the centroid.
        square, product = 1 / 60 - 1 / 96, 1 / 120 - 1 / 96
        expected = 2 * square * np.eye(3) - product * (1 - np.eye(3))
        np.testing.assert_allclose(got.inertia, expected, rtol=1e-5)

    def test_scale_for_each_axis(self, tetrahedron):
        mesh, path = tetrahedron
        mesh.export(path)
        got = bc.Mesh(file=path, scale=(0.001, 0.002, 0.003)).volume_properties()
        assert got.mass == pytest.approx(1.0, rel=1e-6)
        np.testing.assert_allclose(got.com, [0.25, 0.5, 0.75], rtol=1e-6)

    def test_inside_out_is_the_same_solid(self, tetrahedron):
        mesh, path = tetrahedron
        mesh.invert()
        mesh.export(path)
        got = bc.Mesh(file=path, scale=0.001).volume_properties()
        assert got.mass == pytest.approx(1 / 6, rel=1e-6)
        assert np.all(np.linalg.eigvalsh(got.inertia) > 0)


def test_total_of_point_like_parts():
    small = MassProperties(2.0, np.array([1.0, 0, 0]), 1e-9 * np.eye(3))
    other = MassProperties(1.0, np.array([-2.0, 0, 0]), 1e-9 * np.eye(3))
    sum_ = total([small, other])
    np.testing.assert_allclose(sum_.com, 0.0, atol=1e-15)
    np.testing.assert_allclose(np.diag(sum_.inertia), [2e-9, 6.0, 6.0], rtol=1e-6)
