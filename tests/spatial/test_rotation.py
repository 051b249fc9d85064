"""Exponential map, logarithm, rotation matrices, and inertia, against SciPy, NumPy and point masses."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank import _core as core

SIZES = [0.0, 1e-12, 1e-5, 0.049, 0.051, 0.5, 2.0, 3.1, np.pi - 1e-9]


def scalar_first(rotation):
    return np.roll(rotation.as_quat(), 1)


@pytest.mark.parametrize("size", SIZES)
def test_exponential_and_logarithm(size):
    for direction in np.random.default_rng(0).normal(size=(10, 3)):
        phi = size * direction / np.linalg.norm(direction)
        q = core.quaternion_exp(phi)
        expected = scalar_first(Rotation.from_rotvec(phi))
        assert q == pytest.approx(expected * np.sign(expected @ q), abs=1e-15)
        assert core.quaternion_log(q) == pytest.approx(phi, rel=1e-13, abs=1e-15)
        assert core.quaternion_log(-q) == pytest.approx(phi, rel=1e-13, abs=1e-15)


def test_exponential_beyond_one_turn():
    phi = np.array([4.0, -7.0, 2.0])
    rotation = Rotation.from_rotvec(phi)
    assert core.rotation_matrix(core.quaternion_exp(phi)) == pytest.approx(rotation.as_matrix(), abs=1e-14)
    assert core.quaternion_log(core.quaternion_exp(phi)) == pytest.approx(rotation.as_rotvec(), abs=1e-13)


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1.0, 3.0, np.pi])
def test_quaternion_from_matrix_takes_every_branch(angle):
    directions = [*np.eye(3), *np.random.default_rng(1).normal(size=(20, 3))]
    for direction in directions:
        rotation = Rotation.from_rotvec(angle * np.asarray(direction) / np.linalg.norm(direction))
        q = core.quaternion_from_matrix(rotation.as_matrix())
        assert q[0] >= 0.0
        assert q @ q == pytest.approx(1.0, abs=1e-15)
        assert core.rotation_matrix(q) == pytest.approx(rotation.as_matrix(), abs=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-6, 0.0999, 0.1001, 1.0, 3.0])
def test_rotation_vector_rate(size):
    """φ of R = R0 exp(φ) along a motion with known local angular velocity, by central differences of φ."""
    rng = np.random.default_rng(2)
    direction, omega = rng.normal(size=(2, 3))
    phi = size * direction / np.linalg.norm(direction)
    start, h = Rotation.from_rotvec(phi), 1e-3

    def at(t):
        return (start * Rotation.from_rotvec(t * omega)).as_rotvec()

    difference = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    assert core.rotation_vector_rate(phi, omega) == pytest.approx(difference, abs=1e-9)


def test_principal_inertia_rebuilds_the_tensor():
    rng = np.random.default_rng(3)
    for scale in (1e-6, 1.0, 1e6):
        for _ in range(20):
            factor = rng.normal(size=(3, 3))
            inertia = scale * factor @ factor.T
            moments, q = core.principal_inertia(inertia)
            rotation = core.rotation_matrix(q)
            assert rotation @ np.diag(moments) @ rotation.T == pytest.approx(
                inertia, abs=1e-14 * np.trace(inertia)
            )
            assert np.sort(moments) == pytest.approx(
                np.linalg.eigvalsh(inertia), abs=1e-13 * np.trace(inertia)
            )
            assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_diagonal_inertia_stays_as_it_is():
    for diagonal in ([3.0, 1.0, 2.0], [2.0, 2.0, 2.0], [0.0, 5.0, 5.0]):
        moments, q = core.principal_inertia(np.diag(diagonal))
        assert moments.tolist() == diagonal
        assert q.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_nearly_diagonal_inertia_turns_little():
    inertia = np.diag([3.0, 1.0, 2.0])
    inertia[0, 1] = inertia[1, 0] = 1e-4
    moments, q = core.principal_inertia(inertia)
    assert 2.0 * np.linalg.norm(q[1:]) == pytest.approx(0.5 * np.arctan(1e-4), rel=1e-6)
    assert moments == pytest.approx([3.0, 1.0, 2.0], abs=1e-7)


def test_degenerate_inertia():
    turned = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix()
    for diagonal in ([1.0, 1.0, 4.0], [1.0, 4.0, 4.0]):
        inertia = turned @ np.diag(diagonal) @ turned.T
        moments, q = core.principal_inertia(inertia)
        assert np.sort(moments) == pytest.approx(diagonal, abs=1e-14)
        rotation = core.rotation_matrix(q)
        assert rotation @ np.diag(moments) @ rotation.T == pytest.approx(inertia, abs=1e-14)


def test_parallel_axes_on_point_masses():
    rng = np.random.default_rng(4)
    masses, points = rng.uniform(0.5, 2.0, size=7), rng.normal(size=(7, 3))

    def about(point):
        arms = points - point
        return sum(m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, arms, strict=True))

    com = masses @ points / masses.sum()
    place = np.array([1.0, -2.0, 0.5])
    moved = core.inertia_about_point(about(com), masses.sum(), place - com)
    assert moved == pytest.approx(about(place), rel=1e-13)
    assert core.inertia_about_point(moved, -masses.sum(), place - com) == pytest.approx(about(com), rel=1e-12)


# The quaternions' algebra as complex 2×2 matrices: 1, i, j, k with i² = j² = k² = ijk = −1.
UNITS = np.array([np.eye(2), [[1j, 0], [0, -1j]], [[0, 1], [-1, 0]], [[0, 1j], [1j, 0]]])


def product(a, b):
    matrix = np.tensordot(a, UNITS, 1) @ np.tensordot(b, UNITS, 1)
    return np.array([0.5 * np.trace(matrix @ unit.conj().T).real for unit in UNITS])


@pytest.mark.parametrize("seed", range(5))
def test_products_conjugates_and_rotated_points(seed):
    """Quaternions that are not unit, by another representation; (0, v) rotates to q (0, v) q*."""
    a, b = np.random.default_rng(seed).normal(size=(2, 4))
    np.testing.assert_allclose(core.quaternion_product(a, b), product(a, b), rtol=1e-13, atol=1e-13)
    conjugate = core.quaternion_conjugate(a)
    np.testing.assert_array_equal(conjugate, a * [1, -1, -1, -1])
    np.testing.assert_allclose(core.quaternion_product(conjugate, a), [a @ a, 0, 0, 0], atol=1e-13)
    turned = core.quaternion_product(core.quaternion_product(a, np.array([0.0, *b[:3]])), conjugate)
    expected = a @ a * Rotation.from_quat(np.roll(a, -1)).apply(b[:3])
    np.testing.assert_allclose(turned, [0.0, *expected], atol=1e-12)
    rotation = Rotation.from_quat(np.roll(a, -1))
    np.testing.assert_allclose(core.rotation_matrix(scalar_first(rotation)), rotation.as_matrix(), atol=1e-14)
