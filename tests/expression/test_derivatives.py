"""Derivatives of every function and in every form, against differences, and what they cost."""

import math
import random

import numpy as np
import pytest
from rigs.expressions import Arm, differences, torus_frame, torus_link, transform_items, value_of, values_of
from rigs.seeds import over

from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.expression import Expression, count_operations, derivative, symbol, symbols
from bellcrank.expression.expression import fresh_symbol

FORMS = ["forward", "reverse", "factored", "eliminated", "least"]
x, y, z = symbols("x y z")
k = symbol("k", positive=True)
CUBIC = ("piecewise", [4.0, 1.0, 1.0, 0.0, 1.0, 0.3, -0.7, 1.1, 0.4])


@pytest.mark.parametrize(
    ("f", "points"),
    [
        (x + 3.0, [-1.3, 0.4]),
        (x * x * x, [-1.3, 0.4]),
        (1.0 / x, [-1.3, 0.4]),
        (y / (x * y + 2.0), [-1.3, 0.4]),
        (ex.sqrt(x), [0.4, 2.0]),
        (ex.sqrt(x * x + y), [-1.3, 0.4]),
        (ex.sin(x), [-1.3, 0.4]),
        (ex.cos(x), [-1.3, 0.4]),
        (ex.tan(x), [-1.3, 0.4]),
        (ex.asin(x), [-0.6, 0.4]),
        (ex.acos(x), [-0.6, 0.4]),
        (ex.atan(x), [-1.3, 0.4]),
        (ex.atan2(x, y), [-1.3, 0.4]),
        (ex.atan2(y, x), [-1.3, 0.4]),
        (ex.atan2(x * y, x - 3.0), [-1.3, 0.4]),
        (ex.sinh(x), [-1.3, 0.4]),
        (ex.cosh(x), [-1.3, 0.4]),
        (ex.tanh(x), [-1.3, 0.4]),
        (ex.exp(x), [-1.3, 0.4]),
        (ex.log(x), [0.4, 2.0]),
        (x**5, [-1.3, 0.4]),
        (x**-3, [-1.3, 0.4]),
        (x**2.5, [0.4, 2.0]),
        (x**0.3, [0.4, 2.0]),
        (2.0**x, [-1.3, 0.4]),
        (x**y, [0.4, 2.0]),
        ((x + 3.0) ** (x * y), [-1.3, 0.4]),
        (abs(x), [-1.3, 0.4]),
        (abs(x * y - 1.0), [-1.3, 0.4]),
        (ex.sign(x) * x, [-1.3, 0.4]),
        (ex.floor(x) * x, [-1.3, 0.4]),
        (ex.minimum(x, y * x * x), [-1.3, 0.4, 2.0]),
        (ex.maximum(x, y * x * x, ex.sin(x)), [-1.3, 0.4, 2.0]),
        (ex.piecewise(x < 0.0, x * x, x < 1.0, ex.sin(x), y * x), [-1.3, 0.4, 2.0]),
        (ex.piecewise(x <= y, ex.exp(x * y), ex.log(x)), [-1.3, 0.4, 2.0]),
        (ex.table(*CUBIC, x * x), [-0.6, 0.4]),
        (ex.sin(-x) * ex.cos(y - x) / -(x + 4.0), [-1.3, 0.4]),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_of_every_function(f, points, form):
    for point in points:
        known = {x: point, y: 0.8}
        for s in (x, y):
            first = derivative(f, s, form)
            wanted = differences(f, s, known)
            assert value_of(first, known) == pytest.approx(wanted, rel=1e-8, abs=1e-8)
    if "table" in repr(f):
        return
    second = derivative(derivative(f, x, form), x, form)
    for point in points:
        known = {x: point, y: 0.8}
        wanted = differences(derivative(f, x, form), x, known)
        assert value_of(second, known) == pytest.approx(wanted, rel=1e-8, abs=1e-8)


def test_three_derivatives_of_a_table_and_no_fourth():
    f = ex.table(*CUBIC, x)
    second = derivative(derivative(f, x), x)
    third = derivative(second, x)
    known = {x: 0.4}
    assert value_of(second, known) == pytest.approx(differences(derivative(f, x), x, known), rel=1e-8)
    assert value_of(third, known) == pytest.approx(differences(second, x, known), rel=1e-8)
    with pytest.raises(ValueError, match="three derivatives"):
        derivative(third, x)
    assert derivative(third, y) == 0.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_the_side_not_taken_may_be_no_number(form, value):
    safe = ex.piecewise(x <= 0.0, y * x, ex.sqrt(x) * ex.log(x) * y)
    outer = ex.exp(safe) * safe + y
    known = {x: value, y: 0.3}
    got = values_of(list(derivative(outer, [x, y], form)), known)
    assert all(map(math.isfinite, got))
    if value:
        assert got == pytest.approx([differences(outer, s, known) for s in (x, y)], rel=1e-8)
    else:
        assert got == pytest.approx([0.3, 1.0])


def random_functions(
    seed: int, inputs: int, outputs: int, size: int
) -> tuple[list[Expression], list[Expression]]:
    rng = random.Random(seed)
    given = list(symbols(" ".join(f"x{i}" for i in range(inputs))))
    pool = list(given)
    for _ in range(size):
        a, b = (rng.choice(pool[-10:] if rng.random() < 0.7 else pool) for _ in range(2))
        kind = rng.randrange(8)
        pool.append(
            [
                a * b,
                a + b,
                a - 0.5 * b,
                ex.sin(a),
                ex.cos(a) * b,
                a / (1.5 + ex.sin(b)),
                ex.sqrt(1.0 + a * a),
                ex.piecewise(a < b, ex.sin(b), ex.cos(a)),
            ][kind]
        )
    return pool[-outputs:], given


@over(range(30))
def test_forms_agree_on_random_functions(seed):
    rng = random.Random(seed)
    f, given = random_functions(seed, rng.randint(1, 6), rng.randint(1, 6), rng.randint(5, 80))
    known = {s: rng.uniform(-1.0, 1.0) for s in given}
    matrices = []
    for form in FORMS:
        jacobian = derivative(ex.Vector(f), given, form)
        matrices.append(np.array([values_of(list(row), known) for row in jacobian]))
    for matrix in matrices[1:]:
        np.testing.assert_allclose(matrix, matrices[0], rtol=1e-10, atol=1e-10)
    wanted = np.array([[differences(row, s, known) for s in given] for row in f])
    scale = 1.0 + np.abs(np.array(values_of(f, known)))[:, None] + np.abs(wanted)
    assert np.median(np.abs(matrices[0] - wanted) / scale) < 1e-8


@over(range(30))
def test_least_is_never_above_forward_and_reverse(seed):
    rng = random.Random(1000 + seed)
    f, given = random_functions(1000 + seed, rng.randint(1, 8), rng.randint(1, 8), rng.randint(5, 120))
    counts = {}
    for form in FORMS:
        counts[form] = ex.count_operations(ex.Vector(f), derivative(ex.Vector(f), given, form)).total
    assert counts["least"] == min(counts.values())


@pytest.mark.parametrize("form", FORMS)
def test_shapes_and_outputs_without_derivative(form):
    assert derivative(x * y, x, form) == y
    assert derivative(x * y, [x, y], form) == ex.Vector(y, x)
    assert derivative(ex.Vector(x * y, x), x, form) == ex.Vector(y, 1.0)
    assert derivative(ex.Vector(x * y, -x, 3.0, z), [x, y], form) == ex.Matrix(
        [[y, x], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    )
    assert derivative(ex.Matrix([[x, y], [x * y, 2.0]]), x, form) == ex.Matrix([[1.0, 0.0], [y, 0.0]])
    assert derivative(3.0, x, form) == 0.0
    assert derivative(-x, x, form) == -1.0


def test_only_by_symbols():
    for wrong in (x * y, -x, Expression(2.0)):
        with pytest.raises(ValueError, match="by symbols"):
            derivative(x, wrong)
    with pytest.raises(ValueError, match="form must be"):
        derivative(x, x, "best")
    with pytest.raises(ValueError, match="one symbol"):
        derivative(ex.Matrix([[x]]), [x, y])


def test_rate_is_the_derivative_along_the_motion():
    q, v = symbols("q v")
    f = ex.Vector(ex.sin(q) * q, q / (k + ex.t), ex.Expression(2.0), -q)
    got = ex.rate(f, {q: v, ex.t: 1.0})
    known = {q: 0.7, v: -1.2, k: 0.9, ex.t: 0.3}
    by_q, by_t = derivative(f, q), derivative(f, ex.t)
    assert values_of(list(got), known) == pytest.approx(values_of(list(by_q * v + by_t), known), rel=1e-14)
    assert ex.rate(q * q, {q: v}) == 2.0 * (q * v)
    assert ex.rate(q, {q: 0.0}) == 0.0


def test_coefficients_of_linear_expressions():
    a, b = symbols("a b")
    f = a * (x + ex.sin(y)) * 3.0 - ex.cos(z) * (b + 2.0 * a) / y + ex.piecewise(x < y, a, b * x)
    known = {a: 0.0, b: 1.1, x: 0.3, y: 0.7, z: -0.4}
    assert value_of(ex.coefficient(f, a), known) == pytest.approx(
        value_of(f, {**known, a: 1.0}) - value_of(f, known), rel=1e-13
    )
    assert ex.coefficient(ex.Vector(a * y, b, 2.0), a) == ex.Vector(y, 0.0, 0.0)
    assert ex.coefficient(f, symbol("absent")) == 0.0


@pytest.mark.parametrize(
    "f",
    [
        x * x,
        ex.sin(x),
        ex.floor(x),
        x < y,
        1.0 / x,
        (x + y) * (x - z),
        ex.minimum(x, y),
        ex.piecewise(x < y, 1, 2),
    ],
)
def test_coefficients_of_others_are_refused(f):
    with pytest.raises(ValueError, match="not linear in 'x'"):
        ex.coefficient(f, x)


def test_substitution_is_simultaneous_and_simplifies():
    assert ex.substitute(x - 2.0 * y, {x: y, y: x}) == y - 2.0 * x
    assert ex.substitute(ex.sin(x) * y + z, {x: 0.0}) == z
    assert ex.substitute(ex.sqrt(x * x), {x: k}) == k
    assert ex.substitute(ex.Vector(x, y), {x: 1.0}) == ex.Vector(1.0, y)
    turned = ex.substitute(ex.rotation_z(x) @ ex.translation(y, 0.0, 0.0), {x: 0.0, y: 2.0})
    assert turned.position == ex.Vector(2.0, 0.0, 0.0)
    assert turned.factors[0].angle == 0.0
    assert (
        ex.substitute(ex.rotation_about((1.0, 2.0, 2.0), x), {x: 0.0}).rotation
        == ex.translation(0, 0, 0).rotation
    )


@pytest.fixture
def plain():
    """Expressions are built without trigonometric merging."""
    before = _core.expression_rules(False, False)
    yield
    _core.expression_rules(*before)


@pytest.mark.parametrize(
    ("f", "counts"),
    [
        (x, (0, 0, 0, 0, 0)),
        (-x, (0, 0, 0, 0, 0)),
        (x - y, (1, 0, 0, 0, 0)),
        (x + y + z + 2.0, (3, 0, 0, 0, 0)),
        (2.0 * x, (0, 1, 0, 0, 0)),
        (-x * y * z, (0, 2, 0, 0, 0)),
        (x / y, (0, 1, 1, 0, 0)),
        (ex.Vector(x / y, z / y), (0, 2, 1, 0, 0)),
        (ex.sin(x) * ex.cos(x) + ex.tan(x), (1, 1, 0, 3, 0)),
        (ex.exp(ex.sqrt(x)) + abs(x), (1, 0, 0, 0, 3)),
        (ex.Vector(ex.sin(x), ex.sin(x), ex.sin(x) + 1.0), (1, 0, 0, 1, 0)),
        (ex.piecewise(x < y, 1.0, 2.0), (0, 0, 0, 0, 2)),
    ],
)
def test_the_counting_rule(f, counts):
    found = count_operations(f)
    assert (
        found.additions,
        found.multiplications,
        found.divisions,
        found.trigonometric,
        found.other,
    ) == counts
    assert found.total == sum(counts)


def arithmetic(f, given, form):
    found = count_operations(ex.Vector(f), derivative(ex.Vector(f), given, form))
    return found.additions + found.multiplications


def poses():
    q = [fresh_symbol(f"q{i}") for i in range(12)]  # of which nothing is in the graph under other rules
    frame = torus_frame(*q[:2])
    link = torus_link(*q[:4])
    two = link @ torus_link(*q[4:8])
    return {
        "frame": (transform_items(frame), q[:2]),
        "link": (transform_items(link), q[:4]),
        "two links": (transform_items(two), q[:8]),
        "three links": (transform_items(two @ torus_link(*q[8:])), q),
    }


# What a prototype took for the same derivatives, forward and factored, without trigonometric merging.
PROTOTYPE = {"frame": (93, 96), "link": (377, 438), "two links": (1098, 1220), "three links": (2010, 2193)}


@pytest.mark.parametrize("name", PROTOTYPE)
def test_not_above_the_prototype(plain, name):
    f, given = poses()[name]
    assert arithmetic(f, given, "forward") <= PROTOTYPE[name][0]
    assert arithmetic(f, given, "factored") <= PROTOTYPE[name][1]
    assert arithmetic(f, given, "least") <= min(
        arithmetic(f, given, "forward"), arithmetic(f, given, "reverse")
    )


def test_merging_halves_the_derivatives_of_a_link(plain):
    before = arithmetic(*poses()["link"], "least")
    _core.expression_rules(True, False)
    assert arithmetic(*poses()["link"], "least") <= before / 2


def test_sharing_on_two_links_beats_unshared_paths_a_hundred_times(plain):
    paths = ex.count_path_operations(*poses()["two links"])
    _core.expression_rules(True, False)
    assert paths >= 100 * arithmetic(*poses()["two links"], "least")


def funnel(width: int, neck: int = 1):
    """16 symbols, a few sums of them, still fewer numbers, 16 outputs."""
    given = symbols(" ".join(f"x{i}" for i in range(16)))
    middle = []
    for i in range(width):
        total = 0.3 * given[i]
        for j, s in enumerate(given):
            total = total + (0.1 * j + 0.2 * i + 0.5) * ex.sin(s) * given[(j + i + 1) % 16]
        middle.append(ex.sin(total))
    numbers = [ex.exp(sum(middle[i::neck], start=ex.Expression(0.0))) for i in range(neck)]
    outputs = []
    for i in range(16):
        phase = sum(
            ((0.3 + 0.1 * i + j) * number for j, number in enumerate(numbers)), start=ex.Expression(0.2)
        )
        outputs.append(ex.sin(phase) * numbers[i % neck])
    return outputs, given


@pytest.mark.parametrize(("width", "neck"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3)])
def test_factoring_and_elimination_win_on_funnels(width, neck):
    f, given = funnel(width, neck)
    least = arithmetic(f, given, "least")
    assert least == min(arithmetic(f, given, "factored"), arithmetic(f, given, "eliminated"))
    assert least <= 0.9 * arithmetic(f, given, "forward")
    assert least <= 0.9 * arithmetic(f, given, "reverse")


def test_path_counts_of_a_ladder():
    """n rungs of two edges each: 2^n paths; those through k products have k factors."""
    f, rungs = x, 20
    for _ in range(rungs):
        f = f * f
    # each rung is two edges with one factor: 2^n paths of n factors
    paths = 2**rungs
    assert ex.count_path_operations([f], [x]) == rungs + (paths - 1) + paths * (rungs - 1)


def test_derivatives_leave_nothing_behind_of_the_forms_that_lost():
    f, given = poses()["two links"]
    least = derivative(ex.Vector(f), given)
    size, _ = _core.expression_graph_size()
    assert derivative(ex.Vector(f), given) == least
    assert _core.expression_graph_size()[0] == size
    assert symbol("later") != given[0]


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
