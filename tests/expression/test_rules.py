"""Simplification as expressions are built: what each rule gives, and random expressions by plain numbers."""

import math
import pickle
import random
import subprocess
import sys
from itertools import permutations

import pytest
from rigs.expressions import call, value_of
from rigs.seeds import over

from bellcrank import _core
from bellcrank import expression as ex
from bellcrank.expression import Expression, cos, derivative, sin, sqrt, symbol, symbols
from bellcrank.expression.expression import fresh_symbol

x, y, z, w = symbols("x y z w")
k = symbol("k", positive=True)
n = symbol("n", high=-1.0)
ranged = symbol("r", low=2.0, high=5.0)


@pytest.fixture
def plain():
    """Expressions are built without trigonometric merging."""
    before = _core.expression_rules(False, False)
    yield
    _core.expression_rules(*before)


@pytest.fixture
def factoring():
    before = _core.expression_rules(True, True)
    yield
    _core.expression_rules(*before)


@pytest.mark.parametrize(
    ("built", "wanted"),
    [
        (x + 0.0, x),
        (x * 0.0, 0.0),
        (x * 1.0, x),
        (x - x, 0.0),
        (x + x, 2.0 * x),
        (x + 2.0 * x, 3.0 * x),
        (0.5 * x + 0.5 * x, x),
        (3.0 * x - 3.0 * x, 0.0),
        (2.0 * (3.0 * x), 6.0 * x),
        (((0.3 * x) * y) / 0.3, x * y),
        (((49.0 * x) * y) * z / 49.0, (x * y) * z),
        (x + y, y + x),
        (x - y, -(y - x)),
        (x * y, y * x),
        (-x * y, x * -y),
        (-x * -y, x * y),
        (-(0.0 - x), x),
        ((x + y) - x, y),
        ((x + 1.0) + 2.0, x + 3.0),
        (2.0 - (x + 2.0), -x),
        (x * y * z - z * (y * x), 0.0),
        (w + x * (y * z) - w - (z * x) * y, 0.0),
        ((2.0 * x) * y + x * (3.0 * y), 5.0 * (x * y)),
        (1.0 / (1.0 / x), x),
        (x / sqrt(x), sqrt(x)),  # zero at zero, as its limit is
        (x * y / sqrt(x), y * sqrt(x)),
        (x * x / sqrt(x), x * sqrt(x)),
        (x * x**2.3, x**3.3),
        (x**0.25 * x**0.5, x**0.75),
        (x**2.3 / x, x**1.2999999999999998),
        (x**-0.3 * (y * x), y * x**0.7),
        ((4.0 * x) ** 2.5, 32.0 * x**2.5),
        (1.0 / (4.0 * x), 0.25 * (1.0 / x)),
        (1.0 / (x / y), y / x),
        (1.0 / -x, -(1.0 / x)),
        (x / k * k, x),
        ((y * k) * (x / k), x * y),
        (x / ranged * (y * ranged), x * y),
        (x / (k * ranged) * ranged * k, x),
        (sqrt(k) * sqrt(k), k),
        (sqrt(x) * sqrt(x), x),
        (k / sqrt(k), sqrt(k)),
        (sqrt(k) / k, 1.0 / sqrt(k)),
        (sqrt(k * k), k),
        (sqrt(n * n), -n),
        (sqrt(x * x), abs(x)),
        (sqrt(4.0 * x * x * k * k), 2.0 * (abs(x) * k)),
        (sqrt(x**4), x * x),
        (abs(x) * abs(x), x * x),
        (abs(-x), abs(x)),
        (abs(abs(x)), abs(x)),
        (abs(k), k),
        (abs(n), -n),
        (abs(x * x), x * x),
        (sin(-x), -sin(x)),
        (ex.tan(-x), -ex.tan(x)),
        (ex.asin(-x), -ex.asin(x)),
        (ex.atan(-x), -ex.atan(x)),
        (ex.sinh(-x), -ex.sinh(x)),
        (ex.tanh(-x), -ex.tanh(x)),
        (ex.sign(-x), -ex.sign(x)),
        (cos(-x), cos(x)),
        (ex.cosh(-x), ex.cosh(x)),
        (ex.sign(k), 1.0),
        (ex.sign(n), -1.0),
        (sin(x - x), 0.0),
        (cos(x - x), 1.0),
        (sin(ex.asin(x)), x),
        (cos(ex.acos(x)), x),
        (ex.tan(ex.atan(x)), x),
        (ex.log(ex.exp(x)), x),
        (ex.exp(ex.log(x)), x),
        (ex.atan2(0.0, k), 0.0),
        (ex.atan2(-x, k), -ex.atan2(x, k)),
        (x**0, 1.0),
        (x**1, x),
        (x**2, x * x),
        (x**3, x * (x * x)),
        (x**-1, 1.0 / x),
        (x**0.5, sqrt(x)),
        (x**-0.5, 1.0 / sqrt(x)),
        (x**1.5, x * sqrt(x)),
        ((-x) ** 3, -(x**3)),
        ((-x) ** 4, x**4),
        (ex.minimum(x, x), x),
        (ex.minimum(n, k), n),
        (ex.maximum(n, k), k),
        (ex.minimum(x, y), ex.minimum(y, x)),
        (n < k, 1.0),
        (k < n, 0.0),
        (x < x, 0.0),
        (x <= x, 1.0),
        (ranged <= 5.0, 1.0),
        (ex.piecewise(n < k, x, y), x),
        (ex.piecewise(x < y, z, z), z),
        (ex.piecewise(x < y, -z, -w), -ex.piecewise(x < y, z, w)),
        (ex.floor(ex.floor(x)), ex.floor(x)),
        (ex.Expression(2.0) + 3.0, 5.0),
        (ex.Expression(6.0) / 49.0, 6.0 / 49.0),
        (ex.Expression(2.0) ** 0.3, 2.0**0.3),
        (sin(ex.Expression(0.3)), math.sin(0.3)),
    ],
)
def test_equal_expressions_are_one(built, wanted):
    assert built == ex.Expression(wanted) if isinstance(wanted, float) else built == wanted
    if not isinstance(wanted, float):
        assert hash(built) == hash(wanted)


@pytest.mark.parametrize(
    ("built", "not_this"),
    [
        (x / y * y, x),  # y may be zero
        (x / x, 1.0),
        (sqrt(x * x), x),
        (sqrt(x * x * y), abs(x)),
        (ex.asin(sin(x)), x),
        (ex.acos(cos(x)), x),
        (ex.atan2(-x, y), -ex.atan2(x, y)),  # at x = 0, y < 0 both are pi
        (ex.floor(-x), -ex.floor(x)),
        (ex.acos(-x), -ex.acos(x)),
        (ex.minimum(x, ranged), ranged),
        (ranged < 5.0, 1.0),
        (abs(ranged - 3.0), ranged - 3.0),
        (x**2.3, x * x),
        (x**0.25 * x**0.75, x),  # x may be negative
        (x**2.3 / x**2.3, 1.0),
        (y / sqrt(x), sqrt(x)),
        (sqrt(x) / x, sqrt(x)),
        (1e-200 * (1e-200 * x), 0.0),  # would vanish
        (1e200 * (1e200 * x), x),
    ],
)
def test_rules_that_would_change_a_value(built, not_this):
    assert built != not_this


SINE, COSINE = sin(x), cos(x)


@pytest.mark.parametrize(
    ("factor", "wanted"),
    [
        (1.0, 1.0),
        (3.5, 3.5),
        (y, y),
        (-y, -y),
        (k + w, k + w),
        (2.0 * y * (z + 1.0), 2.0 * y * (z + 1.0)),
        (SINE * SINE, SINE * SINE),
        (COSINE * y, COSINE * y),
    ],
)
def test_squares_of_sine_and_cosine_merge(factor, wanted):
    left, right = [factor, SINE, SINE], [factor, COSINE, COSINE]
    for order in permutations(range(3)):
        a, b, c = (left[i] for i in order)
        p, q, r = (right[i] for i in reversed(order))
        merged = a * (b * c) + (p * q) * r
        assert merged - wanted == 0.0, (order, merged)


def test_squares_merge_between_other_terms():
    others = [y, z * w, k, sqrt(z), sin(y) * cos(w), ex.exp(w)]
    total = y * SINE * SINE
    for term in others:
        total = total + term
    assert total + COSINE * (COSINE * y) - sum(others, start=ex.Expression(0.0)) == y


def test_nothing_merges_where_the_rule_is_off(plain):
    assert SINE * SINE + COSINE * COSINE != 1.0


def test_squares_of_different_factors_stay():
    assert ex.count_operations(2.0 * SINE * SINE + COSINE * COSINE).additions == 1
    assert ex.count_operations(y * SINE * SINE + z * COSINE * COSINE).additions == 1
    assert ex.count_operations(y * SINE * SINE - y * COSINE * COSINE).additions == 1


def test_common_factors_on_request(factoring):
    a, b, c = symbols("a b c")
    assert a * b + a * c == a * (b + c)
    assert a * b - c * a == a * (b - c)


def test_common_factors_stay_otherwise():
    a, b, c = symbols("a b c")
    assert ex.count_operations(a * b + a * c).multiplications == 2


def test_a_positive_length_is_proved():
    u = symbol("u")
    tube = 1.0 + 0.3 * cos(u)  # the distance from the axis of a torus
    assert tube.range[0] == pytest.approx(0.7, abs=1e-6)
    assert sqrt((tube * SINE) ** 2 + (tube * COSINE) ** 2) == tube
    narrow = 1.0 + 1.5 * cos(u)
    assert sqrt(narrow * narrow) == abs(narrow)


@pytest.mark.parametrize("power", [1, 2, 3, 5, 7, 8, 15, 64, 1024])
def test_whole_powers_are_products_of_few(power):
    counted = ex.count_operations(x**power)
    assert counted.multiplications == power.bit_length() + power.bit_count() - 2
    assert counted.total == counted.multiplications


def test_constants_of_no_number_are_refused():
    for value in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="finite"):
            ex.Expression(value)
        with pytest.raises(ValueError, match="finite"):
            x + value


def test_no_value_is_made_of_what_has_none():
    undefined = ex.Expression(1.0) / 0.0
    assert not undefined.is_constant
    assert not ex.log(ex.Expression(-1.0)).is_constant
    assert ex.exp(ex.Expression(1e3)).op == "exp"


def test_a_name_is_one_symbol():
    assert symbol("a") == symbol("a")
    assert (
        symbol("a", positive=True)
        == symbol("a", positive=True, low=-1.0)
        == symbol("a", positive=True, low=0.0)
    )
    assert symbol("a", low=0.0) == symbol("a", low=0)
    assert symbol("t") == ex.t
    assert derivative(symbol("a") ** 2, symbol("a")) == 2 * symbol("a")


def test_a_symbol_declared_otherwise_is_another_one():
    declared = [
        symbol("a"),
        symbol("a", positive=True),
        symbol("a", low=0.0),
        symbol("a", low=-1.0, high=1.0),
    ]
    assert len({*declared, fresh_symbol("a"), fresh_symbol("a")}) == 6
    assert ex.sqrt(symbol("a", positive=True) ** 2) == symbol("a", positive=True)
    assert ex.sqrt(symbol("a") ** 2) != symbol("a")
    with pytest.raises(ValueError, match="no inputs: 'a'; 'a' is also the name of an input"):
        ex.compile_function([symbol("a", positive=True)], [symbol("a")])


def test_a_symbol_is_known_by_its_name_in_another_process():
    """A pickled expression meets the symbol of that process."""
    sent = pickle.dumps(symbol("met") ** 2 + symbol("met", positive=True))
    code = (
        "import pickle, sys, bellcrank as bc; found = pickle.loads(sys.stdin.buffer.read()); "
        "u, v = bc.symbol('met'), bc.symbol('met', positive=True); assert found == u**2 + v; "
        "sys.stdout.buffer.write(pickle.dumps(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert pickle.loads(done.stdout) == symbol("met") ** 2 + symbol("met", positive=True)


def test_a_symbol_without_values_is_refused():
    with pytest.raises(ValueError, match="no value lies"):
        symbol("a", low=2.0, high=1.0)


EPS = 2.3e-16
UNARY = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "sign",
    "floor",
]
JUMPS = {"sign", "floor"}


class Point:
    """A number, as it was computed, and how wrong rounding may have made it."""

    def __init__(self, value: float, error: float) -> None:
        self.value, self.error = value, error

    @property
    def good(self) -> bool:
        return (
            math.isfinite(self.value)
            and abs(self.value) < 1e9
            and self.error < 1e-7 * (1.0 + abs(self.value))
        )


def binary(name: str, a: Point, b: Point) -> Point:
    value = call(name, a.value, b.value)
    if name in ("add", "min", "max"):
        error = a.error + b.error
    elif name == "multiply":
        error = abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error
    elif name == "atan2":
        error = (a.error + b.error) / max(math.hypot(a.value, b.value), 1e-300)
        if b.value <= 0.0 and abs(a.value) <= 1e3 * a.error + 1e-12:
            error = math.inf  # beside the cut
    else:
        error = math.inf if abs(a.value - b.value) <= a.error + b.error + 1e-12 else 0.0
    return Point(value, error + EPS * abs(value))


def unary(name: str, a: Point) -> Point:
    value = call(name, a.value)
    if name in JUMPS:
        edge = abs(a.value) if name == "sign" else abs(a.value - round(a.value))
        return Point(value, math.inf if edge <= 10.0 * a.error + 1e-12 else 0.0)
    h = max(a.error, 1e-9)
    nearby = [call(name, a.value + step) for step in (-h, h)]
    slope = max((abs(v - value) / h for v in nearby), default=math.inf)
    if not all(math.isfinite(v) for v in nearby):
        slope = math.inf
    return Point(value, 2.0 * slope * a.error + 4.0 * EPS * (1.0 + abs(value)))


class Grower:
    """Builds random expressions, in the graph and in numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        uniform = self.random.uniform
        self.known: dict[Expression, float] = {}
        ranges = [
            (None, None),
            (None, None),
            (None, None),
            (0.0, None),
            (0.5, 2.0),
            (None, -0.25),
            (-1.0, 1.0),
        ]
        for low, high in ranges:
            s = symbol("s", low=low, high=high, positive=low == 0.0)
            self.known[s] = uniform(-2.0 if low is None else max(low, 1e-3), 2.0 if high is None else high)
        self.pool: list[tuple[Expression, list[Point]]] = [
            (s, [Point(v, 0.0)]) for s, v in self.known.items()
        ]

    def leaf(self) -> tuple[Expression, Point]:
        if self.random.random() < 0.15:
            value = self.random.choice([0.0, 1.0, -1.0, 2.0, 0.5, -3.0, self.random.uniform(-2.0, 2.0)])
            return Expression(value), Point(value, 0.0)
        recent = self.pool[-12:] if self.random.random() < 0.6 else self.pool
        expression, points = self.random.choice(recent)
        return (
            (-expression, Point(-points[0].value, points[0].error))
            if self.random.random() < 0.2
            else (expression, points[0])
        )

    def step(self) -> tuple[Expression, Point]:
        (a, p), (b, q) = self.leaf(), self.leaf()
        kind = self.random.random()
        if kind < 0.35:
            return a + b, binary("add", p, q)
        if kind < 0.65:
            return a * b, binary("multiply", p, q)
        if kind < 0.75:
            inverse = 1.0 / q.value if q.value != 0.0 else math.nan
            error = q.error / max(q.value * q.value, 1e-300) + EPS * abs(inverse)
            return a / b, binary("multiply", p, Point(inverse, error))
        if kind < 0.78:
            return abs(a), Point(abs(p.value), p.error)
        if kind < 0.84:
            name = self.random.choice(["min", "max", "atan2"])
            function = {"min": ex.minimum, "max": ex.maximum, "atan2": ex.atan2}[name]
            return function(a, b), binary(name, p, q)
        if kind < 0.88:
            (c, r) = self.leaf()
            less = binary("less", p, q)
            chosen = q if less.value else r
            return ex.piecewise(a < b, b, c), Point(chosen.value, chosen.error + less.error)
        if kind < 0.92:
            power = self.random.choice([2, 3, 4, -1, -2, 0.5, 1.5, -0.5])
            value = call("pow", p.value, float(power))
            slope = abs(power * value / p.value) if p.value else math.inf
            return a**power, Point(value, 2.0 * slope * p.error + 8.0 * EPS * abs(value))
        name = self.random.choice(UNARY)
        return getattr(ex, name)(a), unary(name, p)


@over(range(60))
def test_simplified_expressions_have_the_values_of_what_was_written(seed):
    grower = Grower(seed)
    compared = 0
    for _ in range(150):
        expression, point = grower.step()
        if not point.good:
            continue
        found = value_of(expression, grower.known)
        assert abs(found - point.value) <= 50.0 * point.error + 1e-12 * (1.0 + abs(point.value)), repr(
            expression
        )
        low, high = expression.range
        assert low <= point.value + 50.0 * point.error + 1e-12
        assert high >= point.value - 50.0 * point.error - 1e-12
        grower.pool.append((expression, [point]))
        compared += 1
    assert compared > 60


@over(range(40))
def test_sums_of_products_of_few_factors(seed):
    """Where most of the rules apply: terms that cancel, combine, merge, and quotients that cancel."""
    rng = random.Random(seed)
    x, y = symbol("x"), symbol("y")
    k = symbol("k", positive=True)
    known = {x: rng.uniform(-2, 2), y: rng.uniform(-2, 2), k: rng.uniform(0.5, 2)}
    letters = [
        ex.sin(x),
        ex.cos(x),
        ex.sin(y),
        ex.cos(y),
        y,
        k,
        1.0 / k,
        ex.sqrt(k),
        abs(y),
        1.0 / ex.sqrt(k),
        1.0 / y,
    ]
    alphabet = [(e, Point(value_of(e, known), EPS)) for e in letters]
    alphabet += [(Expression(c), Point(c, 0.0)) for c in (2.0, 0.5, -1.0, 3.0)]
    pool = list(alphabet)
    for _ in range(400):
        name = "multiply" if rng.random() < 0.6 else "add"
        (a, p), (b, q) = (rng.choice(alphabet if rng.random() < 0.5 else pool) for _ in range(2))
        if name == "add" and rng.random() < 0.4:
            b, q = -b, Point(-q.value, q.error)
        expression, point = (a * b if name == "multiply" else a + b), binary(name, p, q)
        if not point.good:
            continue
        found = value_of(expression, known)
        assert abs(found - point.value) <= 50.0 * point.error + 1e-12 * (1.0 + abs(point.value)), repr(
            expression
        )
        pool.append((expression, point))
    assert len(pool) > 200
