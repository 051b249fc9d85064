"""Random expressions against the same arithmetic done in plain numbers while they were built."""

import math
import random

import pytest
from numbers_of import call, value_of

from bellcrank import expression as ex
from bellcrank.expression import Expression, symbol

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
            else (
                expression,
                points[0],
            )
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


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("seed", range(40))
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
