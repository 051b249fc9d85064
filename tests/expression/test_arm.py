"""The inverse dynamics of a six-hinge arm, differentiated by angles and rates."""

import numpy as np
import pytest
from arm import Arm
from numbers_of import differences, values_of

from bellcrank import expression as ex


@pytest.mark.parametrize("alphas", [[0.0, -np.pi / 2] * 3, [0.3, -1.1, 0.7, 1.3, -0.4, 0.9]])
def test_derivatives_of_torques(alphas):
    q, v, a = (list(ex.symbols(" ".join(f"{letter}{i}" for i in range(6)))) for letter in "qva")
    torques = ex.Vector(Arm(alphas).torques(q, v, a))
    rng = np.random.default_rng(1)
    known = dict(zip([*q, *v, *a], rng.uniform(-1.5, 1.5, 18).tolist(), strict=True))
    counts, matrices = {}, {}
    for form in ("forward", "reverse", "factored", "eliminated", "least"):
        jacobian = ex.derivative(torques, [*q, *v], form)
        counts[form] = ex.count_operations(torques, jacobian).total
        matrices[form] = np.array([values_of(list(row), known) for row in jacobian])
    wanted = np.array([[differences(torque, s, known) for s in [*q, *v]] for torque in torques])
    for matrix in matrices.values():
        np.testing.assert_allclose(matrix, wanted, rtol=1e-8, atol=1e-8)
    assert counts["least"] == min(counts.values())


def test_the_mass_matrix_is_the_coefficient_of_the_accelerations():
    q, v, a = (list(ex.symbols(" ".join(f"{letter}{i}" for i in range(4)))) for letter in "qva")
    torques = ex.Vector(Arm([0.3, -1.1, 0.7, 1.3]).torques(q, v, a))
    known = {s: 0.3 + 0.2 * i for i, s in enumerate([*q, *v, *a])}
    mass = np.array([values_of(list(ex.coefficient(torques, s)), known) for s in a])
    np.testing.assert_allclose(mass, mass.T, rtol=1e-13)
    assert np.linalg.eigvalsh(mass).min() > 0.0
    rest = np.array(values_of(list(ex.substitute(torques, dict.fromkeys(a, 0.0))), known))
    np.testing.assert_allclose(
        mass @ [known[s] for s in a] + rest, values_of(list(torques), known), rtol=1e-12
    )
