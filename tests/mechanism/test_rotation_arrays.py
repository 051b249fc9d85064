"""Rotations in arrays beside numpy's products of matrices and vectors."""

import numpy as np
import pytest

from bellcrank.mechanism.rotation_arrays import cross, product, rotate


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((7, 3), (3,)), ((4, 1, 3), (5, 3)), ((0, 3), (0, 3))], ids=str
)
def test_cross_products_are_those_of_numpy(shapes):
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=shape) for shape in shapes)
    assert np.array_equal(cross(a, b), np.cross(a, b))


def test_products_of_quaternions_turn_vectors_one_after_the_other():
    rng = np.random.default_rng(2)
    p, q = (one / np.linalg.norm(one, axis=-1, keepdims=True) for one in rng.normal(size=(2, 6, 4)))
    v = rng.normal(size=(6, 3))
    assert np.allclose(rotate(product(p, q), v), rotate(p, rotate(q, v)), atol=1e-14)
