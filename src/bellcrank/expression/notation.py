"""Notations for operations: the language of expressions, and LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_OR, _AND, _NOT, _COMPARISON, _SUM, _MINUS, _PRODUCT, _POWER, ATOM = 10, 20, 30, 40, 50, 55, 60, 80, 100


@dataclass(frozen=True)
class Printed:
    """A text, its precedence level, and whether it is a condition.

    number: the form of the condition where a number is required, if it has one.
    """

    text: str
    level: int = ATOM
    condition: bool = False
    number: str = ""


class Notation:
    """The language that the parser reads."""

    def symbol(self, name: str) -> str:
        """A name."""
        return name

    def number(self, text: str) -> Printed:
        """A constant, not negative, as Python writes it."""
        return Printed(text)

    def lines(self, lines: list[str]) -> str:
        """A result, followed by the definitions of the names in it."""
        return "\n".join([lines[0], *(f"  with {line}" for line in lines[1:])])

    def wrapped(self, printed: Printed, above: int) -> str:
        """The text, in parentheses unless it binds more tightly than `above`."""
        return printed.text if printed.level > above else f"({printed.text})"

    def call(self, name: str, operands: list[Printed]) -> Printed:
        """A function of operands."""
        return Printed(f"{name}({', '.join(self.as_number(o).text for o in operands)})")

    def as_number(self, printed: Printed) -> Printed:
        """A condition used as a number: 1 if it is true, else 0."""
        if printed.number:
            return Printed(printed.number)
        return self.choice(printed, self.number("1"), self.number("0")) if printed.condition else printed

    def choice(self, condition: Printed, yes: Printed, no: Printed) -> Printed:
        """One value if a condition is true, else the other."""
        return Printed(f"if({condition.text}, {yes.text}, {no.text})")

    def negation(self, condition: Printed) -> Printed:
        """The negation of a condition."""
        number = self.choice(condition, self.number("0"), self.number("1")).text
        return Printed(f"not {self.wrapped(condition, _NOT)}", _NOT, True, number)

    def equal_to_zero(self, value: Printed) -> Printed:
        """Whether a number is zero."""
        return Printed(f"{self.wrapped(self.as_number(value), _COMPARISON)} == 0", _COMPARISON, True)

    def negated(self, printed: Printed) -> Printed:
        """A number with a minus."""
        return Printed(f"-{self.wrapped(self.as_number(printed), _MINUS)}", _MINUS)

    def sum(self, a: Printed, sign: str, b: Printed) -> Printed:
        """A + b or a - b."""
        a, b = self.as_number(a), self.as_number(b)
        return Printed(f"{self.wrapped(a, _COMPARISON)} {sign} {self.wrapped(b, _MINUS)}", _SUM)

    def product(self, a: Printed, b: Printed) -> Printed:
        """A times b."""
        a, b = self.as_number(a), self.as_number(b)
        return Printed(f"{self.wrapped(a, _MINUS)}*{self.wrapped(b, _PRODUCT)}", _PRODUCT)

    def quotient(self, a: Printed, b: Printed) -> Printed:
        """A over b."""
        a, b = self.as_number(a), self.as_number(b)
        return Printed(f"{self.wrapped(a, _MINUS)}/{self.wrapped(b, _PRODUCT)}", _PRODUCT)

    def square(self, a: Printed) -> Printed:
        """A times itself."""
        return self.power(a, self.number("2"))

    def power(self, a: Printed, b: Printed) -> Printed:
        """A to the power b."""
        a, b = self.as_number(a), self.as_number(b)
        return Printed(f"{self.wrapped(a, _POWER)}^{self.wrapped(b, _POWER)}", _POWER)

    def compared(self, a: Printed, sign: str, b: Printed) -> Printed:
        """A comparison of two numbers."""
        a, b = self.as_number(a), self.as_number(b)
        return Printed(
            f"{self.wrapped(a, _COMPARISON)} {sign} {self.wrapped(b, _COMPARISON)}", _COMPARISON, True
        )

    def joined(self, word: str, operands: list[Printed]) -> Printed:
        """Conditions with "and" or "or" between them."""
        level = _AND if word == "and" else _OR
        first, second = operands
        return Printed(f"{self.wrapped(first, level - 1)} {word} {self.wrapped(second, level)}", level, True)

    def operation(self, name: str, operands: list[Printed], conditions: bool) -> Printed:
        """An operation of the graph that is neither a sum nor a product nor a choice.

        conditions: whether the operands are conditions, so that min means "and", max means "or".
        """
        if conditions and name in ("min", "max"):
            return self.joined("and" if name == "min" else "or", operands)
        if name in ("less", "less_equal"):
            return self.compared(operands[0], "<" if name == "less" else "<=", operands[1])
        if name == "reciprocal":
            return self.quotient(self.number("1"), operands[0])
        return self.power(*operands) if name == "pow" else self.call(name, operands)


class Latex(Notation):
    """LaTeX for math mode."""

    def symbol(self, name: str) -> str:
        """A name: Greek letters by name, digits and what follows "_" as an index, longer ones upright."""
        stem, _, index = name.partition("_")
        if not index and (found := re.fullmatch(r"([^\W\d]+?)([0-9]+)", name)):
            stem, index = found.groups()
        if stem in _GREEK:
            stem = f"\\{stem}"
        elif len(stem) > 1:
            stem = f"\\mathrm{{{stem}}}"
        return f"{stem}_{{{index}}}".replace("_{_", "_{") if index else stem

    def number(self, text: str) -> Printed:
        """A constant; powers of ten are written out."""
        digits, exponent, power = text.partition("e")
        return Printed(f"{digits} \\cdot 10^{{{int(power)}}}", _PRODUCT) if exponent else Printed(text)

    def lines(self, lines: list[str]) -> str:
        """A result, followed by the definitions of the names in it."""
        return "\\begin{gathered}" + " \\\\ ".join(lines) + "\\end{gathered}"

    def wrapped(self, printed: Printed, above: int) -> str:
        """The text, in parentheses unless it binds more tightly than `above`."""
        return printed.text if printed.level > above else f"\\left({printed.text}\\right)"

    def call(self, name: str, operands: list[Printed]) -> Printed:
        """A function of operands."""
        inner = ", ".join(self.as_number(operand).text for operand in operands)
        if name in _BRACKETS:
            left, right = _BRACKETS[name]
            return Printed(f"{left}{inner}{right}")
        shown = _NAMES.get(name, f"\\operatorname{{{name}}}")
        return Printed(f"{shown}\\left({inner}\\right)")

    def choice(self, condition: Printed, yes: Printed, no: Printed) -> Printed:
        """One value if a condition is true, else the other."""
        cases = f"{yes.text} & \\text{{if }} {condition.text} \\\\ {no.text} & \\text{{otherwise}}"
        return Printed(f"\\begin{{cases}} {cases} \\end{{cases}}")

    def negation(self, condition: Printed) -> Printed:
        """The negation of a condition."""
        number = self.choice(condition, self.number("0"), self.number("1")).text
        return Printed(f"\\neg {self.wrapped(condition, _COMPARISON)}", _NOT, True, number)

    def product(self, a: Printed, b: Printed) -> Printed:
        """A times b."""
        right = self.wrapped(self.as_number(b), _PRODUCT)
        sign = "\\cdot" if right[0].isdigit() else "\\,"
        return Printed(f"{self.wrapped(self.as_number(a), _MINUS)} {sign} {right}", _PRODUCT)

    def quotient(self, a: Printed, b: Printed) -> Printed:
        """A over b."""
        return Printed(f"\\frac{{{self.as_number(a).text}}}{{{self.as_number(b).text}}}", _PRODUCT + 1)

    def power(self, a: Printed, b: Printed) -> Printed:
        """A to the power b."""
        return Printed(f"{self.wrapped(self.as_number(a), _POWER)}^{{{self.as_number(b).text}}}", _POWER)

    def compared(self, a: Printed, sign: str, b: Printed) -> Printed:
        """A comparison of two numbers."""
        return super().compared(a, "\\le" if sign == "<=" else sign, b)

    def joined(self, word: str, operands: list[Printed]) -> Printed:
        """Conditions with "and" or "or" between them."""
        return super().joined("\\wedge" if word == "and" else "\\vee", operands)


_GREEK_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi "
    "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK: Final = frozenset(_GREEK_NAMES.split())
_NAMES: Final = {
    **{name: f"\\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "min", "max", "exp")},
    **{name: f"\\{name.replace('a', 'arc', 1)}" for name in ("asin", "acos", "atan")},
    "log": "\\ln",
}
_BRACKETS: Final = {
    "sqrt": ("\\sqrt{", "}"),
    "abs": ("\\left|", "\\right|"),
    "floor": ("\\left\\lfloor ", "\\right\\rfloor"),
}
TEXT: Final = Notation()
LATEX: Final = Latex()
