"""What the core evaluates for many instants at once is what it evaluates for each."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import _core
from bellcrank.compile.compile import compile_mechanism


@pytest.mark.parametrize("kind", ["x", "distance", "theta_z", "universal_1"])
def test_coordinates(kind):
    rng = np.random.default_rng(3)
    r, rdot, omega = rng.normal(size=(3, 5, 3))
    q = rng.normal(size=(5, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    many = _core.evaluate_coordinates(kind, r, q, rdot, omega, np.zeros((1, 0)))
    for k in range(5):
        one = _core.evaluate_coordinate(kind, r[k], q[k], rdot[k], omega[k], [])
        for all_of_it, part in zip(many, one, strict=True):
            np.testing.assert_array_equal(all_of_it[k], part)
    with pytest.raises(ValueError, match="as many rows"):
        _core.evaluate_coordinates(kind, r, q[:4], rdot, omega, np.zeros((1, 0)))


def test_laws():
    value, rate, time = np.random.default_rng(4).normal(size=(3, 6))
    params = [20.0, 1.5, 0.3, 1.0, 0.1, 1.5, 0.2, 0.8]
    efforts = _core.law_efforts("one_sided", value, rate, time, params)
    assert efforts.tolist() == [
        _core.law_effort("one_sided", *numbers, params)
        for numbers in zip(value.tolist(), rate.tolist(), time.tolist(), strict=True)
    ]
    assert _core.law_potentials("one_sided", value, params).tolist() == [
        _core.law_potential("one_sided", v, params) for v in value.tolist()
    ]
    with pytest.raises(ValueError, match="as many"):
        _core.law_efforts("one_sided", value, rate[:2], time, params)


def test_gaps():
    """Of a ball above a plane; what counts as closed is left out, and what is beyond the reach."""
    mech = bc.Mechanism("ball")
    mech.add_body("ball", shapes=[bc.Sphere(radius=0.1, density=1000.0)], position=(0, 0, 1))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    mech.add_force("floor", bc.Contact(stiffness=1e5), "ball", "ground")
    core = compile_mechanism(mech).arrays["contacts"]
    heights = np.array([0.35, 0.15, 0.09, 0.15])
    positions = np.stack([0.0 * heights, 0.0 * heights, heights], axis=1)
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    gaps = core.gaps(positions, rotations, np.array([0.5, 0.5, 0.5, 0.01]), 1e-6)
    np.testing.assert_allclose(gaps[:, 0], [0.25, 0.05, np.inf, np.inf])
    np.testing.assert_allclose(gaps[:, 0], gaps[:, 1])
    assert core.gaps(positions, rotations, np.full(4, 0.5), -np.inf)[2, 0] == pytest.approx(-0.01)
