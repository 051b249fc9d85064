"""What is told quickly is what the full checks say: stored forms, refusals, and the rows of joints."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.errors import MechanismError
from bellcrank.mechanism import mass, plain
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.joint import Joint

VECTORS = [
    (1.0, 2.0, 3.0), [1.0, 2.0, 3.0], (1, 2, 3), (1, 2.5, -3),
    np.array([1.0, -2.0, 3.0]), np.array([1, 2, 3]),
    tuple(np.array([0.5, 1.5, 2.5])), (1.0, 2.0), (1.0, 2.0, np.nan), (1e15, 0.0, 0.0), (1.1e15, 0.0, 0.0),
    (True, False, True), ("1", "2", "3"), None, 5.0, [[1.0, 2.0, 3.0]], np.eye(3),
    np.array([1.0, 2.0, 3.0], dtype=object), np.float32([1.0, 2.0, 3.0]),
]  # fmt: skip


@pytest.mark.parametrize("value", VECTORS, ids=repr)
def test_vectors(value):
    """As the check of any array stores them, as a tuple of floats; never what that refuses."""
    found = plain.plain_vector(value, 1e15)
    if found is None:
        return
    with Check("x") as check:
        assert found == tuple(check.array("field", value, (3,), "m").tolist())
    assert type(found) is tuple
    assert {type(number) for number in found} == {float}


def test_common_vectors_are_told_quickly():
    assert all(plain.plain_vector(value, 1e15) is not None for value in VECTORS[:7])
    assert all(plain.plain_vector(value, 1e15) is None for value in VECTORS[10:-1])


def test_quaternions():
    turn = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)
    for value in (turn, list(turn), np.array(turn), (1, 0, 0, 0), (1.0, 0, 0, 0)):
        found = plain.plain_quaternion(value)
        assert found == tuple(value)
        assert {type(number) for number in found} == {float}
    for value in ((1.0, 1e-7, 0.0, 0.0), (0.0,) * 4, (np.nan, 0.0, 0.0, 0.0), np.eye(3), "1000", (1.0,) * 3):
        assert plain.plain_quaternion(value) is None or value[1] == 1e-7


def judged(value):
    """What the full check stores; None if it refuses."""
    try:
        with Check("body 'x'") as check:
            given = np.asarray(value, dtype=float)
            full = np.diag(given) if given.ndim == 1 else given
            mass._check_symmetric(check, full)
            mass._check_moments(check, full, triangle=True)
    except MechanismError:
        return None
    return full


def test_inertias():
    """Whatever is told quickly is right by the full check; what is far from every bound is told quickly."""
    rng = np.random.default_rng(1)
    quick = 0
    for case in range(400):
        second = 10.0 ** rng.uniform(-9, 0, 3) if case % 2 else rng.uniform(0.2, 1.0, 3)
        second[0] *= -1.0 if case % 5 == 0 else 1.0
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = turn @ np.diag(second) @ turn.T
        tensor = np.trace(moments) * np.eye(3) - 0.5 * (moments + moments.T)
        for value in (tensor, np.diag(tensor) if case % 2 else second.sum() - second):
            found = mass.plain_inertia(value)
            quick += found is not None
            if found is not None:
                expected = judged(value)
                assert expected is not None
                np.testing.assert_array_equal(found, expected)
        if case % 2 and case % 5:
            continue
        assert (mass.plain_inertia(tensor) is not None) == (case % 5 != 0)
    assert quick > 300


@pytest.mark.parametrize("name", ["link 5", "a_b", "crank", "ä-1", "A 17 phi"])
def test_plain_names(name):
    assert plain.plain_name(name)
    assert bc.Mechanism("x").add_body(name, 1.0, (1.0, 1.0, 1.0)).name == name


@pytest.mark.parametrize("name", ["", " a", "a ", "a/b", "a.b", "a\n", "a\tb", "/a", "-"])
def test_other_names(name):
    assert not plain.plain_name(name)


@pytest.mark.parametrize("make", bc.gallery.catalogue().values(), ids=bc.gallery.catalogue())
def test_rows_of_locks_are_those_of_the_lowered_joint(make, monkeypatch):
    """The same arrays and the same records, bit for bit."""
    quick = compile_mechanism(make())
    monkeypatch.setattr(Joint, "only_locks", lambda _: False)
    full = compile_mechanism(make())
    assert quick.joints == full.joints
    assert quick.block_owner == full.block_owner
    for name, array in full.arrays.items():
        if isinstance(array, (np.ndarray, list)):
            np.testing.assert_array_equal(quick.arrays[name], array, err_msg=name)
