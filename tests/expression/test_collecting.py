"""The graph keeps what is in use, and nothing else; collecting changes nothing that anybody sees."""

import gc
import pickle

import numpy as np
import pytest
from rigs.growth import FILE

import bellcrank as bc
from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.expression.reading import symbols_of


def nodes():
    gc.collect()
    _core.collect_expressions()
    return _core.expression_graph_size()[0]


def tower(height, seed):
    f = ex.sin(seed)
    for k in range(height):
        f = ex.cos(f * (k + 0.5)) + f
    return f


def test_what_nobody_holds_is_let_go():
    before = nodes()
    f = tower(500, bc.symbol("let go"))
    assert nodes() > before + 1000
    assert f.op == "add"
    del f
    assert nodes() == before


def test_the_graph_is_collected_without_being_asked():
    nodes()
    for k in range(400):
        tower(100, bc.symbol(f"passing {k}"))
    assert _core.expression_graph_size()[0] < 20_000  # of 80,000 that were made


def test_an_expression_stays_what_it_is():
    garbage = tower(100, bc.symbol("early"))
    x, y = bc.symbol("x"), bc.symbol("y")
    f = ex.table("piecewise", [2, 1, 0, 0.0, 1.0, 0.5, 2.0], x) * y - ex.sqrt(x**2 + 1.0) / (y - 3.0)
    known = {f: "f", -f: "minus f", x: "x"}
    value = ex.compile_function([f], [x, y])([0.4, 0.7])
    text, number = str(f), hash(f)
    del garbage
    nodes()
    assert (str(f), hash(f), known[f], known[-f], known[x]) == (text, number, "f", "minus f", "x")
    assert f - ex.table("piecewise", [2, 1, 0, 0.0, 1.0, 0.5, 2.0], x) * y == -ex.sqrt(x**2 + 1.0) / (y - 3.0)
    np.testing.assert_array_equal(ex.compile_function([f], [x, y])([0.4, 0.7]), value)


def test_a_symbol_is_the_same_while_anything_is_made_of_it():
    f = ex.exp(2.0 * bc.symbol("only here", positive=True))
    nodes()
    assert f == ex.exp(2.0 * bc.symbol("only here", positive=True))
    assert f != ex.exp(2.0 * bc.symbol("only here"))


def test_a_symbol_of_its_own_comes_back_as_itself():
    a = bc.Mechanism("m").add_parameter("a", 2.0)
    data = pickle.dumps(a + 1.0)
    nodes()
    assert pickle.loads(data) == a + 1.0
    del a
    nodes()
    again = pickle.loads(data)
    assert [(s.name, s.value) for s in symbols_of(again)] == [("a", 2.0)]
    assert pickle.loads(data) == again


@pytest.mark.parametrize("formulation", ["lagrange", "symbolic"])
def test_a_model_keeps_its_formulas(formulation):
    """Also where the numbers that follow parameters are read after collecting."""
    mechanism = bc.loads(FILE, "yaml")
    mechanism.remove(mechanism.drives["turn"])
    expected = bc.prepare(mechanism, formulation).accelerate().linear
    model = compile_mechanism(mechanism)
    garbage = [tower(50, bc.symbol(f"other {k}")) for k in range(20)]
    del garbage
    nodes()
    np.testing.assert_array_equal(bc.prepare(model, formulation).accelerate().linear, expected)
