"""Readable texts: expressions multiplied out, and the shortest of several equal forms of such sums.

An expression becomes a sum of monomials times sines and cosines of sums of angles. Products of sines and
cosines become sines and cosines of sums and differences of their angles, so that equal expressions have one
form: m l^2 (sin(q)^2 + cos(q)^2) is m l^2. Anything that is neither a sum nor a product is an atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import cos, sin
from typing import Any, Final, NamedTuple

from bellcrank.expression.cleaning import short
from bellcrank.expression.expression import Expression
from bellcrank.expression.printing import Notation, Printed

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
                    for whole, w in self._without_squared_roots(term).items():
                        _add(out, whole, x * y * z * w)
        return _short(out)

    def _without_squared_roots(self, term: Term) -> Sum:
        """A term in which sqrt(x)^2 is x."""
        for atom, power in term.factors:
            if self.atoms[atom].op == "sqrt" and abs(power) > 1:
                left = power - 2 if power > 0 else power + 2
                others = _multiplied(tuple(p for p in term.factors if p[0] != atom), ((atom, left),))
                (under,) = self.atoms[atom].operands
                return self.product(
                    {Term(others, term.kind, term.angle): 1.0}, under if power > 0 else self.reciprocal(under)
                )
        return {term: 1.0}

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


Powers = dict[tuple[Monomial, str], int]
Polynomial = dict[tuple[Monomial, tuple[tuple[tuple[Monomial, str], int], ...]], float]
"""Coefficients of monomials times powers of sines and cosines of single angles."""

_MOST_TURNS: Final = 4  # multiples of an angle that are expanded, at most
_DENOMINATORS: Final = 720


class Writer:
    """Writes sums of an expansion in a notation."""

    def __init__(self, expansion: Expansion, notation: Notation) -> None:
        self.expansion, self.notation = expansion, notation

    def written(self, found: Sum) -> Printed:
        """The sum as the shortest of its forms."""
        kept = without_rounding(found)
        forms = [self._sum([(term.factors, _one_angle(term), x) for term, x in kept.items()])]
        for eliminated in ("sin", "cos"):
            polynomial = _polynomial(kept, eliminated)
            if polynomial is not None and len(polynomial) <= len(kept):
                forms.append(
                    self._sum(
                        [
                            (factors, tuple((kind, ((of, 1.0),), p) for (of, kind), p in powers), x)
                            for (factors, powers), x in polynomial.items()
                        ]
                    )
                )
        return min(forms, key=lambda printed: len(printed.text))

    def _sum(self, terms: list[tuple[Monomial, Turns, float]]) -> Printed:
        if not terms:
            return self.notation.number("0")
        groups: dict[Turns, list[tuple[Monomial, float]]] = {}
        for factors, turns, x in sorted(terms, key=lambda t: (len(t[1]), str(t[1]), _order(t[0]))):
            groups.setdefault(turns, []).append((factors, x))
        shown = [part for turns, group in groups.items() for part in self._group(turns, group)]
        positive = [one for one in shown if not one[0]]
        first, *rest = positive[:1] + [one for one in shown if one is not positive[0]] if positive else shown
        out = self.notation.negated(first[1]) if first[0] else first[1]
        for negative, printed in rest:
            out = self.notation.sum(out, "-" if negative else "+", printed)
        return out

    def _group(self, turns: Turns, group: list[tuple[Monomial, float]]) -> Iterator[tuple[bool, Printed]]:
        """Terms with the same sines and cosines, with their common factor in front of a parenthesis."""
        if len(group) < 2 or not turns:
            for factors, x in group:
                yield x < 0.0, self._product(factors, turns, abs(x))
            return
        common = reduce(_common, (factors for factors, _ in group))
        scale = min((x for _, x in group), key=abs)
        ratios = [x / scale for _, x in group]
        if any(_fraction(ratio) is None for ratio in ratios):
            scale, ratios = (
                (1.0 if scale > 0.0 else -1.0),
                [x * (1.0 if scale > 0.0 else -1.0) for _, x in group],
            )
        inside = self._sum(
            [(_divided(factors, common), (), x) for (factors, _), x in zip(group, ratios, strict=True)]
        )
        yield scale < 0.0, self._product(common, turns, abs(scale), inside)

    def _product(self, factors: Monomial, turns: Turns, x: float, last: Printed | None = None) -> Printed:
        fraction = _fraction(x)
        over = [self._power(atom, power) for atom, power in factors if power > 0]
        under = [self._power(atom, -power) for atom, power in factors if power < 0]
        over += [self._turn(*turn) for turn in turns]
        if last is not None:
            over.append(last)
        if fraction is None:
            over.insert(0, self._number(x))
        else:
            if fraction.numerator != 1 or not over:
                over.insert(0, self._number(fraction.numerator))
            if fraction.denominator != 1:
                under.insert(0, self._number(fraction.denominator))
        top = reduce(self.notation.product, over)
        return self.notation.quotient(top, reduce(self.notation.product, under)) if under else top

    def _power(self, atom: int, power: int) -> Printed:
        made = self.expansion.atoms[atom]
        if not made.op:
            base = Printed(self.notation.symbol(made.name))
        elif made.op == "sum":
            base = self.written(made.operands[0])
        else:
            base = self.notation.operation(made.op, [self.written(s) for s in made.operands], False)
        return base if power == 1 else self.notation.power(base, self._number(power))

    def _turn(self, kind: str, angle: tuple[tuple[Monomial, float], ...], power: int) -> Printed:
        inside = self._sum([(factors, (), x) for factors, x in angle])
        turn = self.notation.call(kind, [inside])
        return turn if power == 1 else self.notation.power(turn, self._number(power))

    def _number(self, x: float) -> Printed:
        value = short(x, 15)
        text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
        return self.notation.number(text)


Turns = tuple[tuple[str, tuple[tuple[Monomial, float], ...], int], ...]
"""Sines and cosines of angles with their powers."""


def _one_angle(term: Term) -> Turns:
    return ((term.kind, term.angle, 1),) if term.kind else ()


def _order(factors: Monomial) -> tuple[int, Monomial]:
    return (-sum(power for _, power in factors), factors)


def _common(a: Monomial, b: Monomial) -> Monomial:
    other = dict(b)
    pairs = ((atom, min(power, other.get(atom, 0))) for atom, power in a)
    return tuple((atom, power) for atom, power in pairs if power > 0)


def _divided(a: Monomial, common: Monomial) -> Monomial:
    taken = dict(common)
    pairs = ((atom, power - taken.get(atom, 0)) for atom, power in a)
    return tuple((atom, power) for atom, power in pairs if power)


def _fraction(x: float) -> Fraction | None:
    """A fraction of small integers equal to the number, to within rounding."""
    found = Fraction(x).limit_denominator(_DENOMINATORS)
    if found == 0 or abs(float(found) - x) > 2e-15 * abs(x):
        return None
    # 0.4 is easier to read than 2/5, and 1/3 than 0.333...
    decimals = len(f"{x:.15g}".partition(".")[2])
    return found if found.denominator in (1, 2, 3, 4, 6, 8, 12) or decimals > 6 else None


def _polynomial(found: Sum, eliminated: str) -> Polynomial | None:
    """Powers of sines and cosines of single angles; for one of each pair the square is 1 less the other's."""
    out: Polynomial = {}
    for term, x in found.items():
        if any(n != int(n) or abs(n) > _MOST_TURNS for _, n in term.angle):
            return None
        for powers, y in _multiple_angle(term):
            for reduced, z in _reduced(powers, eliminated):
                key = (term.factors, tuple(sorted((k, p) for k, p in reduced.items() if p)))
                after = out.get(key, 0.0) + x * y * z
                if abs(after) <= 1e-14 * abs(x * y * z):
                    out.pop(key, None)
                else:
                    out[key] = after
    return out


def _multiple_angle(term: Term) -> list[tuple[Powers, float]]:
    """Real or imaginary part of the product of (c + i s)^n."""
    if not term.kind:
        return [({}, 1.0)]
    parts: list[tuple[Powers, complex]] = [({}, 1.0 + 0.0j)]
    for monomial, n in term.angle:
        unit = 1j if n > 0 else -1j
        for _ in range(abs(int(n))):
            parts = [
                (_with(powers, (monomial, kind)), z * factor)
                for powers, z in parts
                for kind, factor in (("cos", 1.0 + 0.0j), ("sin", unit))
            ]
    values = [(powers, z.real if term.kind == "cos" else z.imag) for powers, z in parts]
    return [(powers, x) for powers, x in values if x]


def _with(powers: Powers, key: tuple[Monomial, str]) -> Powers:
    return {**powers, key: powers.get(key, 0) + 1}


def _reduced(powers: Powers, eliminated: str) -> list[tuple[Powers, float]]:
    for (monomial, kind), power in powers.items():
        if kind == eliminated and power >= 2:
            left = {**powers, (monomial, kind): power - 2}
            other = "sin" if eliminated == "cos" else "cos"
            twice = _with(_with(left, (monomial, other)), (monomial, other))
            return _reduced(left, eliminated) + [(p, -x) for p, x in _reduced(twice, eliminated)]
    return [(powers, 1.0)]
