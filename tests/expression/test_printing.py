"""Expressions as text, which reads back as the same node, and as LaTeX."""

import random

import pytest

import bellcrank.expression as ex
from bellcrank.expression.printing import latex, one_line, text
from bellcrank.expression.reading import read, symbols_of

X, Y, THETA = ex.symbol("x"), ex.symbol("y"), ex.symbol("theta_1")
NAMES = {"x": X, "y": Y, "theta_1": THETA, "t": ex.t}


def again(expression):
    return read(one_line(expression), NAMES)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (0.5 * ex.sin(2 * X), "0.5*sin(2*x)"),
        (X - Y, "x - y"),
        (-X, "-x"),
        (-(X + Y), None),
        (X * X, "x^2"),
        (X / Y, "x/y"),
        (1 / X, "1/x"),
        (X ** 0.3, "x^0.3"),
        (X**Y, "x^y"),
        ((X + Y) * (X - Y), None),
        (X - (Y - X * Y), None),
        (X / (Y * THETA), None),
        (X / (Y / THETA), None),
        (ex.exp(-X) * 1e-9, None),
        (ex.piecewise(X < 1, X, Y), "if(x < 1, x, y)"),
        (ex.piecewise(ex.all_of(X < 1, Y <= X), X, Y), "if(x < 1 and y <= x, x, y)"),
        (ex.piecewise(ex.any_of(X < 1, ex.negation(Y <= X)), X, Y), "if(x < 1 or not y <= x, x, y)"),
        (ex.minimum(X, Y, 3.0) + ex.maximum(X, Y), None),
        (ex.atan2(X, Y) + abs(X) + ex.sign(Y) + ex.floor(X), None),
        (ex.sqrt(X * X + Y * Y + 1), None),
        (2 - X, "2 - x"),
        (-X * Y + 2 * X, None),
    ],
)  # fmt: skip
def test_read_back_as_the_same_node(expression, expected):
    shown = text(expression)
    assert expected is None or shown == expected
    assert again(expression) == expression, shown


def test_equal_means_both_bounds():
    same = read("if(x == y, 1, 2)", NAMES)
    assert again(same) == same


def random_expression(rng, depth):
    if depth == 0:
        return rng.choice([X, Y, THETA, ex.t, rng.uniform(-3, 3), float(rng.randrange(1, 5))])
    one, two = random_expression(rng, depth - 1), random_expression(rng, rng.randrange(depth))
    kind = rng.randrange(12)
    if kind < 5:
        return (one + two, one - two, one * two, -one, one * one)[kind]
    if kind == 5:
        return one / (two * two + 1.5)
    if kind == 6:
        return ex.piecewise(ex.as_expression(one) < two, two, one) if hasattr(ex, "as_expression") else one
    if kind < 10:
        return (ex.sin, ex.cos, ex.exp)[kind - 7](one)
    return (ex.maximum(one, two), ex.sqrt(one * one + 1.0))[kind - 10]


def test_random_expressions_read_back():
    rng = random.Random(7)
    texts = set()
    for _ in range(500):
        expression = random_expression(rng, 5)
        if isinstance(expression, float) or expression.is_constant:
            continue
        texts.add(one_line(expression))
        assert again(expression) == expression, text(expression)
    assert len(texts) > 300


def test_shared_parts_of_a_long_expression_get_names():
    part = X
    for _ in range(40):
        part = ex.sin(part) * (part + Y)
    shown = text(part)
    assert len(shown) < 3000
    assert "\n  with s1 = " in shown
    with pytest.raises(ValueError, match="more than 50000 characters"):
        one_line(part)


def test_a_name_of_a_part_is_no_symbol_of_the_expression():
    part, symbol = X, ex.symbol("s1")
    for _ in range(40):
        part = ex.sin(part) * (part + symbol)
    names = [line.split(" = ")[0].split()[-1] for line in text(part).split("\n")[1:]]
    assert "s1" not in names
    assert len(set(names)) == len(names) > 10


def test_what_is_printed_is_the_text():
    assert repr(X / 2 + Y) == text(X / 2 + Y)


def test_tables_have_no_text():
    curve = ex.table("harmonic", (0.0, 0.0, 1.0, 2.0, 0.0), X)
    assert "table_" in text(curve)
    with pytest.raises(ValueError, match="a table of numbers"):
        one_line(curve)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (X / Y, r"\frac{x}{y}"),
        (ex.sin(THETA) ** 0.3, r"\sin\left(\theta_{1}\right)^{0.3}"),
        (ex.sqrt(X), r"\sqrt{x}"),
        (ex.symbol("length") * X, None),
        (
            ex.piecewise(X <= 1, X, Y),
            r"\begin{cases} x & \text{if } x \le 1 \\ y & \text{otherwise} \end{cases}",
        ),
        (1e-9 * X, r"1 \cdot 10^{-9} \, x"),
        (abs(X), r"\left|x\right|"),
        (ex.symbol("q12"), "q_{12}"),
    ],
)
def test_latex(expression, expected):
    assert latex(expression) == expected or expected is None


def test_latex_of_names():
    assert latex(ex.symbol("length_max")) == r"\mathrm{length}_{max}"
    assert latex(ex.symbol("omega")) == r"\omega"


def test_symbols_of_an_expression():
    assert symbols_of(Y * X + X) == (X, Y)
    assert symbols_of(ex.sin(X), ex.t * 2) == (ex.t, X)


def test_deep_expressions_are_cut_into_parts():
    deep = ex.symbol("x")
    for _ in range(20_000):
        deep = ex.sin(deep) + 1
    text = str(deep)
    assert max(map(len, text.split("\n"))) < 3000
    assert len(text) < 30 * 20_000
