"""Expressions multiplied out: sums of monomials times sines and cosines of sums of angles.

Products of sines and cosines become sines and cosines of sums and differences of their angles, so that equal
expressions have one form: m l^2 (sin(q)^2 + cos(q)^2) is m l^2. Anything that is neither a sum nor a
product is an atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, sin
from typing import Any, Final, NamedTuple

from bellcrank.expression.expression import Expression

MOST_TERMS: Final = 200
"""Beyond these a sum is not for reading."""

Monomial = tuple[tuple[int, int], ...]
"""Atoms by number, each with its power, which may be negative."""

Combination = tuple[tuple[Monomial, float], ...]
"""A sum of angles: monomials with their factors, the first of which is positive."""

_SMALL: Final = 1e-14  # of what terms were summed from: smaller ones are rounding
_ATOMS: Final = frozenset(
    [
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "pow",
        "sqrt",
        "abs",
        "sign",
        "min",
        "max",
        "floor",
    ]
)


class Term(NamedTuple):
    """A monomial, times the sine or cosine ("sin", "cos") of an angle, or neither ("")."""

    factors: Monomial
    kind: str = ""
    angle: Combination = ()


Sum = dict[Term, float]
"""Terms with their coefficients."""


class TooLongError(Exception):
    """The sum has too many terms, or contains something that cannot be expanded."""


@dataclass(frozen=True)
class Atom:
    """A symbol by its name (op ""), or an operation on sums."""

    name: str
    op: str = ""
    operands: tuple[Sum, ...] = field(default=(), compare=False)


class Expansion:
    """Sums of expressions over common atoms. symbols: names in the order in which products list them."""

    def __init__(self, symbols: Iterable[str] = ()) -> None:
        self.atoms: list[Atom] = []
        self._numbers: dict[Any, int] = {}
        self._sums: dict[Expression, Sum] = {}
        for name in symbols:
            self._atom(name, Atom(name))

    def of(self, expression: Expression) -> Sum:
        """The expression as a sum. Raises TooLongError."""
        return self._signed(expression, self._sum_of(-expression if expression.negative else expression))

    def product(self, a: Sum, b: Sum) -> Sum:
        """A product, multiplied out. Raises TooLongError."""
        out: Sum = {}
        for first, x in a.items():
            for second, y in b.items():
                factors = _multiplied(first.factors, second.factors)
                for term, z in _angles_multiplied(factors, first, second):
                    _add(out, term, x * y * z)
        return _short(out)

    def reciprocal(self, a: Sum) -> Sum:
        """The reciprocal of a sum; with more than one term it is an atom."""
        if len(a) == 1:
            ((term, value),) = a.items()
            own: Sum = {Term(tuple((atom, -power) for atom, power in term.factors)): 1.0 / value}
            if not term.kind:
                return own
            return self.product(own, self._power_of_atom("", ({Term((), term.kind, term.angle): 1.0},), -1))
        return self._power_of_atom("", (a,), -1)

    def _sum_of(self, node: Expression) -> Sum:
        found = self._sums.get(node)
        if found is None:
            found = self._sums[node] = _short(self._made(node))
        return found

    def _made(self, node: Expression) -> Sum:
        op, operands = node.op, node.operands
        if op == "constant":
            value = float(node)
            return {Term(()): value} if value != 0.0 else {}
        if op == "symbol":
            return {Term(((self._atom(node.name, Atom(node.name)), 1),)): 1.0}
        sums = [self.of(operand) for operand in operands]
        if op == "add":
            out = dict(sums[0])
            for term, value in sums[1].items():
                _add(out, term, value)
            return out
        if op == "multiply":
            return self.product(sums[0], sums[1])
        if op == "reciprocal":
            return self.reciprocal(sums[0])
        if op in ("sin", "cos"):
            return self._turn(op, sums[0])
        if op in _ATOMS:
            return self._power_of_atom(op, tuple(sums), 1)
        raise TooLongError

    def _turn(self, kind: str, angle: Sum) -> Sum:
        phase = 0.0
        combination: dict[Monomial, float] = {}
        for term, value in angle.items():
            if term == Term(()):
                phase = value
            elif not term.kind:
                combination[term.factors] = value
            else:
                (atom,) = self._power_of_atom("", (angle,), 1)
                phase, combination = 0.0, {atom.factors: 1.0}
                break
        out: Sum = {}
        c, s = _clean(cos(phase)), _clean(sin(phase))
        other, sign = ("sin", -1.0) if kind == "cos" else ("cos", 1.0)
        for one, factor in ((kind, c), (other, sign * s)):
            for term, value in _angle((), one, combination):
                _add(out, term, factor * value)
        return {term: value for term, value in out.items() if value != 0.0}

    def _power_of_atom(self, op: str, operands: tuple[Sum, ...], power: int) -> Sum:
        key = (op, tuple(frozenset(operand.items()) for operand in operands))
        return {Term(((self._atom(key, Atom("", op or "sum", operands)), power),)): 1.0}

    def _atom(self, key: Any, made: Atom) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.atoms)
            self.atoms.append(made)
        return number

    @staticmethod
    def _signed(expression: Expression, found: Sum) -> Sum:
        return {term: -value for term, value in found.items()} if expression.negative else found


def _short(found: Sum) -> Sum:
    if len(found) > MOST_TERMS:
        raise TooLongError
    return found


def _add(to: Sum, term: Term, value: float) -> None:
    before = to.get(term, 0.0)
    after = before + value
    if abs(after) <= _SMALL * max(abs(before), abs(value)):
        to.pop(term, None)
    else:
        to[term] = after


def without_rounding(found: Sum) -> Sum:
    """The sum without terms that are rounding errors relative to the largest one."""
    largest = max(map(abs, found.values()), default=0.0)
    return {term: value for term, value in found.items() if abs(value) > 1e-15 * largest}


def _clean(value: float) -> float:
    nearest = round(value)
    return float(nearest) if abs(value - nearest) < 1e-15 else value


def _multiplied(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def _angles_multiplied(factors: Monomial, a: Term, b: Term) -> Sequence[tuple[Term, float]]:
    if not a.kind or not b.kind:
        return [(Term(factors, a.kind or b.kind, a.angle or b.angle), 1.0)]
    plus, minus = dict(a.angle), dict(a.angle)
    for monomial, factor in b.angle:
        plus[monomial] = plus.get(monomial, 0.0) + factor
        minus[monomial] = minus.get(monomial, 0.0) - factor
    if a.kind == b.kind:  # cos a cos b and sin a sin b
        sign = 1.0 if a.kind == "cos" else -1.0
        parts = (("cos", minus, 0.5), ("cos", plus, 0.5 * sign))
    else:  # sin a cos b, and cos a sin b = (sin(a + b) - sin(a - b))/2
        parts = (("sin", plus, 0.5), ("sin", minus, 0.5 if a.kind == "sin" else -0.5))
    return [(term, half * sign) for kind, angle, half in parts for term, sign in _angle(factors, kind, angle)]


def _angle(factors: Monomial, kind: str, angle: dict[Monomial, float]) -> Sequence[tuple[Term, float]]:
    """The sine or cosine of a sum of angles, with the sign normalised by its first coefficient."""
    kept = sorted((monomial, float(f"{x:.12g}")) for monomial, x in angle.items() if abs(x) > 1e-12)
    if not kept:
        return [(Term(factors), 1.0)] if kind == "cos" else []
    if kept[0][1] > 0.0:
        return [(Term(factors, kind, tuple(kept)), 1.0)]
    turned = tuple((monomial, -x) for monomial, x in kept)
    return [(Term(factors, kind, turned), 1.0 if kind == "cos" else -1.0)]
