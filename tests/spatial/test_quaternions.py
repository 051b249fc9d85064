"""Quaternion kinematics: equations 3 to 26 and 32 of Tasora's paper, each against other code.

A. Tasora, "An optimized Lagrangian-multiplier approach for interactive multibody simulation in kinematic and
dynamical digital prototyping". q rotates local to world axes, q = q_{1,w} of the text; * conjugates. Where
the text prints a relation that is not true, the test says so and tests what is.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank import _core as core

# The algebra of eq. 1 and 2 as complex 2×2 matrices: 1, i, j, k with i² = j² = k² = ijk = −1.
UNITS = np.array([np.eye(2), [[1j, 0], [0, -1j]], [[0, 1], [-1, 0]], [[0, 1j], [1j, 0]]])
CONJUGATE = np.diag([1.0, -1.0, -1.0, -1.0])


def product(a, b):
    matrix = np.tensordot(a, UNITS, 1) @ np.tensordot(b, UNITS, 1)
    return np.array([0.5 * np.trace(matrix @ unit.conj().T).real for unit in UNITS])


def pure(v):
    return np.array([0.0, *v])


def close(a, b, tolerance=1e-13):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.fixture(params=range(5))
def pair(request):
    return np.random.default_rng(request.param).normal(size=(2, 4))  # not unit: eq. 3 to 7 are general


class Spin:
    """A rotation along a smooth path, its quaternion and derivatives, and ω and α in either axes, at t = 0.

    The path is a rotation about the fixed world axis n2 by a2(t) after one about n1 by a1(t) after a constant
    one, q = exp(a2 n2) exp(a1 n1) q0, so that ω_w = a2' n2 + exp(a2 n2) a1' n1. Derivatives of q are
    differences of eighth order, independent of any relation tested.
    """

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n = rng.normal(size=(2, 3))
        n /= np.linalg.norm(n, axis=1)[:, None]
        q0 = Rotation.from_quat(rng.normal(size=4))
        a = rng.normal(size=(2, 3))  # angle, rate, acceleration of each turn

        def rotation(t):
            angle = a[:, 0] + a[:, 1] * t + 0.5 * a[:, 2] * t**2
            return Rotation.from_rotvec(angle[1] * n[1]) * Rotation.from_rotvec(angle[0] * n[0]) * q0

        start = np.roll(rotation(0.0).as_quat(), 1)

        def quaternion(t):
            q = np.roll(rotation(t).as_quat(), 1)
            return q if q @ start > 0.0 else -q

        nodes = np.arange(-4, 5)
        powers = np.vander(nodes.astype(float), increasing=True).T
        step = 0.01
        samples = np.array([quaternion(step * k) for k in nodes])
        self.rotation, self.q = rotation(0.0), start
        self.qd = np.linalg.solve(powers, np.eye(9)[1]) @ samples / step
        self.qdd = np.linalg.solve(powers, 2.0 * np.eye(9)[2]) @ samples / step**2
        outer = Rotation.from_rotvec(a[1, 0] * n[1])
        inner = outer.apply(a[0, 1] * n[0])
        self.omega_w = a[1, 1] * n[1] + inner
        self.alpha_w = a[1, 2] * n[1] + outer.apply(a[0, 2] * n[0]) + np.cross(a[1, 1] * n[1], inner)
        self.omega_l = self.rotation.inv().apply(self.omega_w)
        # d/dt (Rᵀ ω_w) = Rᵀ α_w, the term ω×ω being nil: α has the same components rule as ω.
        self.alpha_l = self.rotation.inv().apply(self.alpha_w)


@pytest.fixture(params=range(5))
def spin(request):
    return Spin(100 + request.param)


def test_eq_2_the_reference_algebra():
    one, i, j, k = np.eye(4)
    for unit in (i, j, k):
        close(product(unit, unit), -one)
    close(product(product(i, j), k), -one)
    close(product(i, j), k)
    close(product(j, i), -k)


def test_eq_3_product(pair):
    a, b = pair
    close(core.quaternion_product(a, b), product(a, b))


def test_eq_4_and_5_conjugate_and_norm(pair):
    a, b = pair
    close(core.quaternion_conjugate(a), CONJUGATE @ a)
    close(core.quaternion_conjugate(core.quaternion_product(a, b)), product(CONJUGATE @ b, CONJUGATE @ a))
    # Eq. 5 calls q* ∘ q the norm; with ∘ the dot product that would be e0² − e1² − e2² − e3². What the sum of
    # squares is, is the product q* q, and the square of the Euclidean norm.
    close(core.quaternion_product(core.quaternion_conjugate(a), a), [np.sum(a**2), 0.0, 0.0, 0.0])
    close(core.quaternion_normalized(a), a / np.sqrt(np.sum(a**2)))


def test_eq_6_and_7_product_matrices(pair):
    a, b = pair
    close(core.left_product_matrix(a) @ b, product(a, b))
    # The text at hand gives eq. 7 the + of eq. 6; its matrix is the other one, [q]₋.
    close(core.right_product_matrix(b) @ a, product(a, b))
    assert not np.allclose(core.left_product_matrix(b) @ a, product(a, b))


def test_eq_8_rotation_matrix():
    for rotation in Rotation.from_quat(np.random.default_rng(1).normal(size=(20, 4))):
        close(core.rotation_matrix(np.roll(rotation.as_quat(), 1)), rotation.as_matrix())


def test_eq_9_rotation_of_a_point(spin):
    # The text writes q_{a,b} before and q_{b,a} in eq. 9a; q is the one that takes coordinates a to b.
    p = np.array([0.3, -1.2, 0.7])
    there = core.quaternion_product(
        core.quaternion_product(spin.q, pure(p)), core.quaternion_conjugate(spin.q)
    )
    close(there, pure(spin.rotation.apply(p)))
    back = core.quaternion_product(core.quaternion_product(core.quaternion_conjugate(spin.q), there), spin.q)
    close(back, pure(p))


def test_eq_10_to_12_rate(spin):
    # Printed with ω*, that is −ω. True is q̇ = ½ q ω_l = ½ ω_w q, as the text's own eq. 21 and 22 have it.
    close(0.5 * product(spin.q, pure(spin.omega_l)), spin.qd, 1e-11)
    close(0.5 * product(pure(spin.omega_w), spin.q), spin.qd, 1e-11)
    assert not np.allclose(0.5 * product(spin.q, -pure(spin.omega_l)), spin.qd)
    close(product(product(CONJUGATE @ spin.q, pure(spin.omega_w)), spin.q), pure(spin.omega_l))  # eq. 11


def test_eq_13_and_14_second_derivative(spin):
    # Again without the conjugation of ω and α.
    local = 0.5 * product(spin.q, pure(spin.alpha_l)) + 0.5 * product(spin.qd, pure(spin.omega_l))
    world = 0.5 * product(pure(spin.alpha_w), spin.q) + 0.5 * product(pure(spin.omega_w), spin.qd)
    close(local, spin.qdd, 1e-9)
    close(world, spin.qdd, 1e-9)
    # The form the coordinates e0..e3 use: q̈ = ½ α_w q − ¼ |ω|² q.
    short = 0.5 * product(pure(spin.alpha_w), spin.q) - 0.25 * spin.omega_w @ spin.omega_w * spin.q
    close(short, spin.qdd, 1e-9)


def test_eq_15_and_16_angular_velocity(spin):
    # True: ω_l = 2 q* q̇ = −2 q̇* q and ω_w = 2 q̇ q* = −2 q q̇*. The text prints the first of each pair for
    # ω*, and has the second ones exchanged: −2 q q̇* is ω_w, −2 q̇* q is ω_l.
    conjugate, rate_conjugate = CONJUGATE @ spin.q, CONJUGATE @ spin.qd
    close(2.0 * product(conjugate, spin.qd), pure(spin.omega_l), 1e-11)
    close(2.0 * product(spin.qd, conjugate), pure(spin.omega_w), 1e-11)
    close(-2.0 * product(spin.q, rate_conjugate), pure(spin.omega_w), 1e-11)
    close(-2.0 * product(rate_conjugate, spin.q), pure(spin.omega_l), 1e-11)


def test_eq_17_and_18_angular_acceleration(spin):
    # Printed with −2; true with +2.
    conjugate, rate_conjugate = CONJUGATE @ spin.q, CONJUGATE @ spin.qd
    local = 2.0 * (product(conjugate, spin.qdd) + product(rate_conjugate, spin.qd))
    world = 2.0 * (product(spin.qdd, conjugate) + product(spin.qd, rate_conjugate))
    close(local, pure(spin.alpha_l), 1e-9)
    close(world, pure(spin.alpha_w), 1e-9)
    # "The second addenda can be neglected": they have no vector part, so that α is the vector part of the
    # first addenda alone. As quaternions they do not vanish: they cancel a scalar part of −½|ω|².
    first = 2.0 * product(conjugate, spin.qdd)
    close(first[1:], spin.alpha_l, 1e-9)
    close(first[0], -0.5 * spin.omega_l @ spin.omega_l, 1e-9)


def test_eq_19_and_20_rate_matrices():
    e0, e1, e2, e3 = q = np.array([0.1, 0.2, 0.3, 0.4])
    close(
        core.local_rate_matrix(q),
        2.0 * np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]]),
    )
    close(
        core.world_rate_matrix(q),
        2.0 * np.array([[-e1, e0, -e3, e2], [-e2, e3, e0, -e1], [-e3, -e2, e1, e0]]),
    )


def test_eq_21_and_22_in_matrix_form(spin):
    local, world = core.local_rate_matrix(spin.q), core.world_rate_matrix(spin.q)
    close(local @ spin.qd, spin.omega_l, 1e-11)
    close(world @ spin.qd, spin.omega_w, 1e-11)
    close(0.25 * local.T @ spin.omega_l, spin.qd, 1e-11)
    close(0.25 * world.T @ spin.omega_w, spin.qd, 1e-11)


def test_eq_23_to_26_in_matrix_form(spin):
    local, world = core.local_rate_matrix(spin.q), core.world_rate_matrix(spin.q)
    local_rate, world_rate = core.local_rate_matrix(spin.qd), core.world_rate_matrix(spin.qd)
    close(local @ spin.qdd + local_rate @ spin.qd, spin.alpha_l, 1e-9)
    close(world @ spin.qdd + world_rate @ spin.qd, spin.alpha_w, 1e-9)
    close(0.25 * local.T @ spin.alpha_l + 0.25 * local_rate.T @ spin.omega_l, spin.qdd, 1e-9)
    close(0.25 * world.T @ spin.alpha_w + 0.25 * world_rate.T @ spin.omega_w, spin.qdd, 1e-9)
    # "The second addenda vanish under unimodularity": those of eq. 23 and 24 do, and for any four numbers,
    # since G(p) p = 0 identically; those of eq. 25 and 26 do not, they are −¼|ω|² q.
    for any_four in (spin.qd, np.array([3.0, -1.0, 2.0, 5.0])):
        close(core.local_rate_matrix(any_four) @ any_four, np.zeros(3))
        close(core.world_rate_matrix(any_four) @ any_four, np.zeros(3))
    close(0.25 * local_rate.T @ spin.omega_l, -0.25 * spin.omega_l @ spin.omega_l * spin.q, 1e-10)


def test_eq_32_products_of_the_rate_matrices(spin):
    # Printed as ¼ GᵀG = I. True is ¼ G Gᵀ = I (3×3), while ¼ GᵀG = I − q qᵀ projects onto the tangent of the
    # unit sphere: it takes from q̈ its part along q, −¼|ω|² q, which is the second addendum of eq. 25.
    for matrix in (core.local_rate_matrix(spin.q), core.world_rate_matrix(spin.q)):
        close(0.25 * matrix @ matrix.T, np.eye(3))
        close(0.25 * matrix.T @ matrix, np.eye(4) - np.outer(spin.q, spin.q))
    # G_w G_lᵀ is the rotation matrix, four times.
    close(0.25 * core.world_rate_matrix(spin.q) @ core.local_rate_matrix(spin.q).T, spin.rotation.as_matrix())
