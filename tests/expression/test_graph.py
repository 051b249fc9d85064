"""Large graphs, deep graphs, copied graphs; the graph keeps what is in use, and nothing else."""

import copy
import gc
import pickle
import subprocess
import sys

import numpy as np
import pytest
from rigs.expressions import value_of
from rigs.growth import FILE

import bellcrank as bc
from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.compile.compile import compile_mechanism
from bellcrank.expression import Expression, derivative, symbol, symbols
from bellcrank.expression.reading import symbols_of

x, y = symbols("x y")


def tower(height: int) -> Expression:
    result = x
    for _ in range(height):
        result = ex.sin(result + result * y)
    return result


DEEP = 100_000


def test_depth_takes_no_stack():
    """A hundred thousand operations one upon the other: walks keep stacks of their own."""
    top = tower(DEEP)
    for form in ("forward", "reverse", "factored", "eliminated"):
        by_x, by_y = derivative(top, [x, y], form)
        assert not by_x.is_constant
        assert not by_y.is_constant
    rates = ex.rate(top, {x: 1.0, y: 0.0})
    assert not rates.is_constant
    assert ex.substitute(top, {x: 0.3, y: 0.0}) != top
    assert ex.count_operations(top).total == 3 * DEEP
    total = top
    for _ in range(1000):
        total = total * (1.0 / symbol("s"))
    assert (1.0 / total) * total != 0.0


def test_long_products_and_sums_take_no_stack():
    given = [symbol(f"a{i}") for i in range(20_000)]
    product, quotient, total = Expression(1.0), Expression(1.0), Expression(0.0)
    for s in given:
        product, quotient, total = product * s, quotient / s, total + s
    back = Expression(0.0)
    for s in reversed(given):
        back = back - s
    known = dict.fromkeys(given, 1.25)
    assert value_of(total + back, known) == 0.0
    assert value_of(1.0 / quotient, dict.fromkeys(given, 1.0)) == 1.0
    assert ex.sqrt(product * product).op in ("sqrt", "abs", "multiply")


def test_choices_upon_choices():
    result = x
    for i in range(20_000):
        result = ex.piecewise(result < i, result * y, ex.cos(result))
    assert not derivative(result, x, "reverse").is_constant


def test_a_node_takes_little_memory():
    before, _ = _core.expression_graph_size()
    tower(DEEP + 1)  # the first were there
    fresh = symbol("fresh")
    for _ in range(DEEP):
        fresh = ex.sin(fresh + fresh * y)
    nodes, now = _core.expression_graph_size()
    assert nodes - before <= 3 * DEEP + 10
    assert now <= 110 * nodes  # 24 + 16 + 11, and up to twice as much where arrays have just grown


def test_the_same_again_makes_no_nodes():
    tower(1000)
    size, _ = _core.expression_graph_size()
    tower(1000)
    assert _core.expression_graph_size()[0] == size


@pytest.mark.parametrize(
    "f",
    [
        x,
        -x,
        ex.t * 2.0,
        Expression(0.0),
        -ex.sin(x * y) + ex.piecewise(x < y, 1.0, -x),
        ex.table("harmonic", [0.0, 1.0, 2.0, 3.0, 4.0], x * x),
        derivative(ex.table("harmonic", [0.0, 1.0, 2.0, 3.0, 4.0], x * x), x),
        symbol("k", positive=True) * symbol("r", low=1.0, high=2.0),
    ],
)
def test_pickled_and_copied_is_the_same(f):
    assert pickle.loads(pickle.dumps(f)) == f
    assert copy.copy(f) == f
    assert copy.deepcopy([f])[0] == f


def test_pickled_into_another_process(tmp_path):
    k = symbol("k", positive=True)
    (tmp_path / "f.pickle").write_bytes(pickle.dumps([ex.sqrt(k * x) + ex.t, k, x]))
    (tmp_path / "g.pickle").write_bytes(pickle.dumps([k, ex.t]))
    program = f"""
import pickle
from pathlib import Path
from bellcrank import expression as ex
here = Path({str(tmp_path)!r})
f, k, x = pickle.loads((here / "f.pickle").read_bytes())
again, t = pickle.loads((here / "g.pickle").read_bytes())
assert again == k and t == ex.t and k.name == "k" and ex.sqrt(k * k) == k
assert f == ex.sqrt(k * x) + ex.t
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_truth_and_numbers():
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x < y)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x)
    with pytest.raises(TypeError, match="no value of its own"):
        float(x)
    assert float(Expression(2.5) * 2.0) == 5.0
    assert bool(Expression(1.0) < 2.0)
    assert x == x
    assert {x: 1, y: 2}[x + 0.0] == 1
    assert Expression(2.0) == 2.0
    assert x != "x"


def nodes():
    gc.collect()
    _core.collect_expressions()
    return _core.expression_graph_size()[0]


def tall(height, seed):
    f = ex.sin(seed)
    for k in range(height):
        f = ex.cos(f * (k + 0.5)) + f
    return f


def test_what_nobody_holds_is_let_go():
    before = nodes()
    f = tall(500, bc.symbol("let go"))
    assert nodes() > before + 1000
    assert f.op == "add"
    del f
    assert nodes() == before


def test_the_graph_is_collected_without_being_asked():
    held = nodes()
    made = 0
    for k in range(400 + held // 50):
        tall(100, bc.symbol(f"passing {k}"))
        made += 200
    assert _core.expression_graph_size()[0] < 2 * held + 20_000 < made  # it is collected once it has doubled


def test_an_expression_stays_what_it_is():
    garbage = tall(100, bc.symbol("early"))
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
    garbage = [tall(50, bc.symbol(f"other {k}")) for k in range(20)]
    del garbage
    nodes()
    np.testing.assert_array_equal(bc.prepare(model, formulation).accelerate().linear, expected)
