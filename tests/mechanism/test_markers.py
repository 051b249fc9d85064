"""Markers and rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.mechanism.rotation import between, from_matrix, from_rotation_vector, matrix, multiply

RANDOM = np.random.default_rng(3)


def quaternions(count):
    q = RANDOM.normal(size=(count, 4))
    return [tuple(row) for row in (q / np.linalg.norm(q, axis=1, keepdims=True)).tolist()]


def as_scipy(q):
    return Rotation.from_quat(np.roll(q, -1))


@pytest.fixture
def body():
    q = (0.5, 0.1, -0.7, 0.5)
    return bc.Body("b", 1.0, (1, 1, 1), position=(1, 2, 3), rotation=tuple(np.array(q)))


class TestRotation:
    def test_matrix_and_product(self):
        for p, q in zip(quaternions(20), quaternions(20), strict=True):
            np.testing.assert_allclose(matrix(p), as_scipy(p).as_matrix(), atol=1e-15)
            np.testing.assert_allclose(matrix(multiply(p, q)), matrix(p) @ matrix(q), atol=1e-14)

    def test_from_matrix_in_all_branches(self):
        special = [(0.01, 1, 0, 0), (0.01, 0, 1, 0), (0.01, 0, 0, 1), (0, 0.6, 0.8, 0), (0, 0, 0.6, -0.8)]
        for q in [*quaternions(50), *special]:
            q = np.array(q) / np.linalg.norm(q)
            got = from_matrix(matrix(tuple(q)))
            assert got[0] >= 0
            np.testing.assert_allclose(matrix(got), matrix(tuple(q)), atol=1e-14)

    def test_rotation_vector(self):
        for v in [(0, 0, 0), (1e-9, 0, 0), (0.3, -1.2, 2.0)]:
            np.testing.assert_allclose(
                matrix(from_rotation_vector(v)), Rotation.from_rotvec(v).as_matrix(), atol=1e-15
            )

    def test_between_is_the_shortest(self):
        for _ in range(20):
            a, b = RANDOM.normal(size=(2, 3))
            a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
            q = between(tuple(a), tuple(b))
            np.testing.assert_allclose(matrix(q) @ a, b, atol=1e-14)
            assert 2 * np.arccos(q[0]) == pytest.approx(np.arccos(a @ b), abs=1e-7)

    @pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
    def test_between_opposite(self, axis):
        q = between(axis, tuple(-np.array(axis)))
        np.testing.assert_allclose(matrix(q) @ axis, -np.array(axis), atol=1e-15)


class TestMarker:
    def test_axis_is_z(self, body):
        marker = body.marker((1, 2, 3), axis=(0, 0.6, 0.8))
        assert marker.z_axis == pytest.approx((0, 0.6, 0.8))
        assert (marker.body, marker.position) == ("b", (1.0, 2.0, 3.0))
        assert body.marker(z_axis=(0, 0.6, 0.8)) == body.marker(axis=(0, 0.6, 0.8))

    def test_same_axis_same_frame(self, body):
        """Revolute joints made with axis= alone have angle zero where the bodies' frames are parallel."""
        other = bc.Mechanism().ground
        assert body.marker(axis=(0, 1, 0)).rotation == other.marker(axis=(0, 1, 0)).rotation

    @pytest.mark.parametrize("first", "xyz")
    @pytest.mark.parametrize("second", "xyz")
    def test_two_axes(self, body, first, second):
        frame = Rotation.from_rotvec((0.3, -1.0, 2.0)).as_matrix()
        given = {f"{k}_axis": frame[:, "xyz".index(k)] for k in {first, second}}
        marker = body.marker(**given)
        for name, vector in given.items():
            assert getattr(marker, name) == pytest.approx(tuple(vector))
        if first != second:
            np.testing.assert_allclose(matrix(marker.rotation), frame, atol=1e-14)

    def test_rotation(self, body):
        assert body.marker(rotation=(0.6, 0, 0.8, 0)).rotation == (0.6, 0.0, 0.8, 0.0)

    def test_nearly_unit_values_are_made_exact(self, body):
        marker = body.marker(axis=(0, 0.6, 0.8000003))
        assert np.linalg.norm(marker.z_axis) == pytest.approx(1.0, abs=1e-15)
        assert bc.Marker("b", rotation=marker.rotation) == bc.Marker("b", rotation=marker.rotation)

    def test_a_stored_quaternion_is_kept_to_the_bit(self):
        for q in quaternions(200):
            once = bc.Marker("b", rotation=q).rotation
            assert bc.Marker("b", rotation=once).rotation == once

    def test_world_marker(self, body):
        marker = body.world_marker((2, 2, 4), axis=(0, 0, 1), name="top")
        turn = matrix(body.rotation)
        np.testing.assert_allclose(turn @ marker.position + body.position, (2, 2, 4), atol=1e-14)
        np.testing.assert_allclose(turn @ marker.z_axis, (0, 0, 1), atol=1e-14)
        assert marker.key == "b.top"

    def test_turned(self, body):
        marker = body.marker((1, 0, 0), axis=(0, 1, 0)).turned((0.5**0.5, 0, 0, 0.5**0.5))
        plain = body.marker((1, 0, 0), axis=(0, 1, 0))
        assert marker.x_axis == pytest.approx(plain.y_axis)
        assert marker.z_axis == pytest.approx(plain.z_axis)
