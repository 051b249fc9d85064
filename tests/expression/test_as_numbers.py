"""Parameters in numpy, math and the statements of Python: expressions, or an answer in our form."""

import math
import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.expression.as_numbers import FUNCTIONS

AT = {"p": 0.7, "r": -0.3}


@pytest.fixture(scope="module")
def names():
    mech = bc.Mechanism("m")
    return {"bc": bc, "np": np, "math": math} | {n: mech.add_parameter(n, v) for n, v in AT.items()}


def value(found):
    """At the values with which the parameters were made."""
    from bellcrank.mechanism.parameters import present

    return np.array(present(np.asarray(found).tolist()), dtype=float)


WORKS = [
    "p // 0.2", "r % 0.2", "0.5 // p", "2.0 % p", "divmod(p, 0.2)", "math.floor(r)", "math.ceil(p)",
    "np.linalg.norm([p, 0, 1])", "np.array([p, 0, 1]) * 2", "np.float64(2) * p", "p * np.float64(2)",
    "np.array([1.0, 2.0]) * p", "p - np.array([1.0, 2.0])", "np.cross([p, 0, 0], [0, 1, r])",
    "np.sin([p, r])",
    "np.maximum(p, 1.0)", "np.arctan2(p, [1.0, 2.0])", "np.sum([p, r])",
    "np.linspace(0, p, 3)", "np.array([p, r]) @ np.array([1.0, r])",
    "np.dot([p, r], [1.0, 2.0])", "sum([p, r])",
]  # fmt: skip


@pytest.mark.parametrize("code", WORKS)
def test_what_works(code, names):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = eval(code, dict(names))  # noqa: S307
    assert value(found) == pytest.approx(np.array(eval(code, {**names, **AT}), dtype=float))  # noqa: S307


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name, names):
    function = getattr(np, name)
    given = (0.7, 0.3)[: function.nin]
    expressions = (names["p"], 0.3)[: function.nin]
    assert value(function(*expressions)) == pytest.approx(float(function(*given)), rel=1e-14)


REFUSED = {
    "math.cos(p)": "p has no value of its own: it is an expression with symbols; bc.expression has sin, cos",
    "float(2 * p)": "2*p has no value of its own: it is an expression with symbols",
    "int(p)": "the present value of a parameter p is p.value",
    "max(p, 1)": "neither true nor false: it is an expression; for max and min write bc.expression.maximum",
    "1 if p > 1 else 2": "for if piecewise(condition, value, otherwise)",
    "round(p)": "round(x) does not take p, an expression; write bc.expression.floor(x + 0.5), or round",
    "round(p, 2)": "round(x, 2) does not take p",
    "np.isnan(p)": "numpy.isnan does not take expressions",
    "np.clip(p, 0, 1)": "is neither true nor false",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_is_refused(code, names):
    with pytest.raises(TypeError) as caught:
        eval(code, dict(names))  # noqa: S307
    assert isinstance(caught.value, bc.MechanismError)
    assert REFUSED[code] in str(caught.value)


def test_texts(names):
    p = names["p"]
    assert (f"{p}", f"{p:.2f}", f"{2 * p:.3e}", f"{p:>3}") == ("p", "0.70", "1.400e+00", "  p")
    with pytest.raises(bc.MechanismError, match="free"):
        f"{bc.symbol('free'):.2f}"


def test_attributes(names):
    assert not hasattr(names["p"], "T")
    with pytest.raises(bc.MechanismError, match="it has no attribute 'vaule'; did you mean 'value'"):
        names["p"].vaule  # noqa: B018


def test_constants_are_numbers():
    three = bc.symbol("x") * 0 + 3
    assert (float(three), int(three), bool(three)) == (3.0, 3, True)
