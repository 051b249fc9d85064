"""Vectors, matrices, rotations and rigid transforms of expressions against arrays of numbers."""

import numpy as np
import pytest
from rigs.expressions import value_of, values_of
from scipy.spatial.transform import Rotation as Turned

from bellcrank import expression as ex
from bellcrank.expression import Matrix, Rotation, Transform, Vector, symbols

q1, q2, q3 = symbols("q1 q2 q3")
KNOWN = {q1: 0.7, q2: -1.3, q3: 2.1}
Q1, Q2, Q3 = KNOWN.values()


def numbers(thing):
    if isinstance(thing, Matrix):
        return np.array([values_of(list(row), KNOWN) for row in thing])
    if isinstance(thing, Vector):
        return np.array(values_of(list(thing), KNOWN))
    return value_of(thing, KNOWN)


OFFSET = np.array([1.0, 2.0, 3.0])
A, B = Vector(q1, q1 * q2, 3.0), Vector(q3, 1.0, ex.sin(q2))
M, N = Matrix([[q1, q2, 1.0], [0.0, q3, q1]]), Matrix([[1.0, q2], [q3, q1], [q1, 2.0]])


@pytest.mark.parametrize(
    ("thing", "wanted"),
    [
        (A + B, lambda a, b: a + b),
        (A - B, lambda a, b: a - b),
        (-A, lambda a, b: -a),
        (2.0 * A * q1, lambda a, b: 2 * a * Q1),
        (A / q3, lambda a, b: a / Q3),
        (A + OFFSET, lambda a, b: a + OFFSET),
        (A - OFFSET, lambda a, b: a - OFFSET),
        (OFFSET - A, lambda a, b: OFFSET - a),
        (A @ B, lambda a, b: a @ b),
        (A.cross(B), np.cross),
        (A.norm(), lambda a, b: np.linalg.norm(a)),
        (A.normalized(), lambda a, b: a / np.linalg.norm(a)),
        (Vector(A.z, A.y, A.x), lambda a, b: a[::-1]),
    ],
)
def test_vectors(thing, wanted):
    np.testing.assert_allclose(numbers(thing), wanted(numbers(A), numbers(B)), rtol=1e-14)


@pytest.mark.parametrize(
    ("thing", "wanted"),
    [
        (M + M, lambda m, n: 2 * m),
        (M - 2.0 * M, lambda m, n: -m),
        (-M * q1, lambda m, n: -m * Q1),
        (M.T, lambda m, n: m.T),
        (M @ N, lambda m, n: m @ n),
        (M @ A, lambda m, n: m @ numbers(A)),
        (M @ (1.0, 2.0, 3.0), lambda m, n: m @ [1, 2, 3]),
    ],
)
def test_matrices(thing, wanted):
    np.testing.assert_allclose(numbers(thing), wanted(numbers(M), numbers(N)), rtol=1e-14)
    assert M.shape == (2, 3)
    assert M[1, 2] == q1


def pose(transform: Transform) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = numbers(transform.rotation), numbers(transform.position)
    return result


def turned(rotation: Turned) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3] = rotation.as_matrix()
    return result


QUATERNION = np.array([0.7, -1.3, 2.1, 0.4])


@pytest.mark.parametrize(
    ("transform", "wanted"),
    [
        (ex.rotation_x(q1), Turned.from_rotvec([Q1, 0, 0])),
        (ex.rotation_y(q1), Turned.from_rotvec([0, Q1, 0])),
        (ex.rotation_z(q1), Turned.from_rotvec([0, 0, Q1])),
        (ex.rotation_about((1.0, -2.0, 2.0), q2), Turned.from_rotvec(Q2 / 3 * np.array([1, -2, 2]))),
        (ex.rotation_from_vector((q1, q2, q3)), Turned.from_rotvec([Q1, Q2, Q3])),
        (ex.rotation_from_vector((1e-3 * q1, 1e-3 * q2, 0.0)), Turned.from_rotvec([1e-3 * Q1, 1e-3 * Q2, 0])),
        (ex.rotation_from_vector((0.0, 0.0, 0.0)), Turned.identity()),
        (ex.rotation_from_quaternion((q1, q2, q3, 0.4)), Turned.from_quat(np.roll(QUATERNION, -1))),
        (ex.rotation_z(q1) @ ex.rotation_x(q2), Turned.from_euler("ZX", [Q1, Q2])),
    ],
)
def test_rotations(transform, wanted):
    np.testing.assert_allclose(pose(transform), turned(wanted), atol=1e-14)


def test_transforms_compose_and_invert():
    a = ex.rotation_z(q1) @ ex.translation(q2, 0.3, 1.0) @ ex.rotation_x(q3)
    b = ex.rotation_from_vector((q2, 0.1, q1))
    np.testing.assert_allclose(pose(a @ b), pose(a) @ pose(b), atol=1e-14)
    np.testing.assert_allclose(pose(a.inverse()), np.linalg.inv(pose(a)), atol=1e-13)
    np.testing.assert_allclose(
        numbers(a @ Vector(1.0, q1, 2.0)), (pose(a) @ [1.0, Q1, 2.0, 1.0])[:3], rtol=1e-13
    )
    np.testing.assert_allclose(pose(a @ a.inverse()), np.eye(4), atol=1e-14)


@pytest.mark.parametrize("invert", [False, True])
def test_factors_multiply_to_the_transform(invert):
    a = (
        ex.rotation_z(q1)
        @ ex.translation(q2, 0.3, 1.0)
        @ ex.rotation_y(0.5)
        @ ex.rotation_from_vector((q2, q1, 0.2))
    )
    if invert:
        a = a.inverse()
    product = np.eye(4)
    for factor in a.factors:
        if hasattr(factor, "axis"):
            product = product @ pose(
                {"x": ex.rotation_x, "y": ex.rotation_y, "z": ex.rotation_z}[factor.axis](factor.angle)
            )
        elif hasattr(factor, "rotation"):
            product = product @ pose(Transform(factor.rotation, factor.offset))
        else:
            product = product @ pose(Transform(position=factor.offset))
    np.testing.assert_allclose(product, pose(a), atol=1e-13)
    assert len(a.factors) == 4


def test_angular_velocity_of_a_rotation_vector_is_smooth_at_zero():
    """d/dt exp(v) at v = 0 turns with the rate of v."""
    v = symbols("v1 v2 v3")
    rotation = ex.rotation_from_vector(v).rotation
    rates = dict(zip(v, (0.4, -0.2, 1.1), strict=True))
    spin = ex.rate(rotation, rates)
    at_zero = np.array([values_of(list(row), dict.fromkeys(v, 0.0)) for row in spin])
    np.testing.assert_allclose(at_zero, [[0, -1.1, -0.2], [1.1, 0, -0.4], [0.2, 0.4, 0]], atol=1e-15)


def test_a_torus_frame_is_simplified_to_sines_and_cosines():
    from rigs.expressions import torus_frame

    frame = torus_frame(q1, q2)
    s, c = ex.sin(q1), ex.cos(q1)
    assert frame.rotation.columns[1] == Vector(-ex.sin(q2), ex.cos(q2), 0.0)
    assert frame.rotation.columns[0] == Vector(-s * ex.cos(q2), -s * ex.sin(q2), c)


def test_what_has_no_shape_is_refused():
    with pytest.raises(ValueError, match="three components"):
        ex.cross((1.0, 2.0), (1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="one length"):
        Matrix([[1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"\(3, 3\)"):
        Transform([[1.0]])
    with pytest.raises(ValueError, match="axis"):
        ex.rotation_about((0.0, 0.0, 0.0), q1)
    with pytest.raises(ValueError, match="zip"):
        A + OFFSET[:1]
    assert isinstance(Rotation(M @ N), Rotation)
