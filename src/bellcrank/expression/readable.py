"""Readable texts of expanded sums: the shortest of several equal forms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import Final

from bellcrank.expression.expanded import Expansion, Monomial, Sum, Term, without_rounding
from bellcrank.expression.notation import Notation, Printed

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
        value = float(f"{x:.15g}")
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
