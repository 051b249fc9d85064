"""Expressions as text, which reads back as the same expression, and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from bellcrank import _core
from bellcrank.expression.expression import Expression
from bellcrank.expression.parser import LENGTH

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


_LONG = 400  # characters beyond which shared parts of an expression get names
_WORTH = 16  # length of a part above which it may get a name
_PART = 2000  # length of a part above which it gets a name even if it is used only once


def text(expression: Expression) -> str:
    """The expression as text: on one line, with names for its shared parts if it is long.

    Without such names `read` restores the same expression from it; `one_line` gives a text without them.
    """
    return _printed(expression, TEXT)


def latex(expression: Expression) -> str:
    """The expression as LaTeX, for math mode; a long one with names for its shared parts."""
    return _printed(expression, LATEX)


def listed(
    expressions: Sequence[Expression], most_nodes: int, notations: Sequence[Notation]
) -> tuple[list[list[str]], list[tuple[str, ...]]] | None:
    """Several expressions with names for their shared parts, in each of the notations.

    Returns their texts by notation, and the names, each with its texts. None above `most_nodes` operations.
    """
    pages = [_Page(expressions, notation) for notation in notations]
    if len(pages[0].nodes) > most_nodes:
        return None
    first = pages[0].name_shared()
    others = [page.name_shared(pages[0].names) for page in pages[1:]]
    names = pages[0].names.values()
    named = [(name, *(text for _, text in texts)) for name, *texts in zip(names, first, *others, strict=True)]
    return [[page.shown(e).text for e in expressions] for page in pages], named


def one_line(expression: Expression) -> str:
    """The expression as a text that reads back as the same expression.

    Raises ValueError if it has more characters than LENGTH, or holds a table of numbers.
    """
    page = _Page([expression], TEXT)
    if any(node.op == "table" for node in page.nodes):
        raise ValueError("it holds a table of numbers, which no text can")
    written = page.shown(expression).text if page.length(expression) <= 2 * LENGTH else ""  # 2: a guess
    if not 0 < len(written) <= LENGTH:
        raise ValueError(f"the expression takes more than {LENGTH} characters")
    return written


def _printed(expression: Expression, notation: Notation) -> str:
    page = _Page([expression], notation)
    if page.length(expression) <= _LONG:
        return page.shown(expression).text
    named = page.name_shared()
    lines = [page.shown(expression).text, *(f"{name} = {body}" for name, body in named)]
    return notation.lines(lines)


@dataclass
class _Page:
    """Nodes being written as text, each once."""

    roots: Iterable[Expression]
    notation: Notation
    nodes: list[Expression] = field(default_factory=list)
    written: dict[Expression, Printed] = field(default_factory=dict)
    lengths: dict[Expression, int] = field(default_factory=dict)
    names: dict[Expression, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = _core.expression_nodes(list(self.roots))
        for node in self.nodes:
            inner = sum(self.lengths[_unsigned(operand)] for operand in node.operands)
            self.lengths[node] = inner + (8 if node.operands else len(_leaf(node)))

    def length(self, expression: Expression) -> int:
        """The approximate number of characters, with shared parts written out."""
        return self.lengths[_unsigned(expression)]

    def name_shared(self, chosen: Mapping[Expression, str] | None = None) -> list[tuple[str, str]]:
        """Name the parts that are used more than once, or long; return names and texts, in the order of use.

        chosen: the parts and their names, if another page has already selected them.
        """
        users: dict[Expression, int] = {}
        for node in self.nodes:
            for operand in node.operands:
                users[_unsigned(operand)] = users.get(_unsigned(operand), 0) + 1
        taken = {node.name for node in self.nodes if node.op == "symbol"}
        free = (name for name in (f"s{i}" for i in count(1)) if name not in taken)
        named: list[tuple[str, str]] = []
        for node in self.nodes:
            printed = self._write(node)
            size = len(printed.text)
            worth = size > _PART or (users.get(node, 0) > 1 and size >= _WORTH and not node.is_constant)
            if worth if chosen is None else node in chosen:
                name = self.names[node] = next(free) if chosen is None else chosen[node]
                named.append((self.notation.symbol(name), printed.text))
                printed = Printed(self.notation.symbol(name))
            self.written[node] = printed
        return named

    def shown(self, expression: Expression) -> Printed:
        """The text of an expression, including its sign."""
        if _unsigned(expression) not in self.written:
            for node in self.nodes:
                if node not in self.written:
                    self.written[node] = self._write(node)
        printed = self.written[_unsigned(expression)]
        if not expression.negative:
            return printed
        a, b = expression.operands if expression.op == "add" else (expression, expression)
        if a.negative != b.negative and printed.level < ATOM:  # -(a - b)
            return self._sum(-a, -b)
        return self.notation.negated(printed)

    def _write(self, node: Expression) -> Printed:
        operation = node.op
        if not node.operands:
            leaf = _leaf(node)
            return (
                Printed(self.notation.symbol(leaf)) if operation == "symbol" else self.notation.number(leaf)
            )
        if operation == "table":
            number, order = node.table
            return self.notation.call(f"table_{number}" + "'" * order, [self.shown(node.operands[0])])
        if operation == "add":
            return self._sum(*node.operands)
        if operation == "multiply":
            return self._product(*node.operands)
        operands = [self.shown(operand) for operand in node.operands]
        if operation == "select":
            return self._choice(node, operands)
        return self.notation.operation(operation, operands, self._conditions(node))

    def _sum(self, a: Expression, b: Expression) -> Printed:
        if a.negative and not b.negative:
            a, b = b, a
        sign = "-" if b.negative else "+"
        return self.notation.sum(self.shown(a), sign, self.shown(_unsigned(b)))

    def _product(self, a: Expression, b: Expression) -> Printed:
        if a == b:
            return self.notation.square(self.shown(a))
        if a.op == "reciprocal" and b.op != "reciprocal":
            a, b = b, a
        if _simplicity(b) < _simplicity(a):  # the order of factors is irrelevant
            a, b = b, a
        if b.op == "reciprocal":
            return self.notation.quotient(self.shown(a), self.shown(b.operands[0]))
        return self.notation.product(self.shown(a), self.shown(b))

    def _choice(self, node: Expression, operands: list[Printed]) -> Printed:
        _, yes, no = node.operands
        if yes == 0.0 and no == 1.0 and operands[0].condition:
            return self.notation.negation(operands[0])
        if not operands[0].condition:  # a number, which is true if it is not zero
            operands[0] = self.notation.negation(self._equals_zero(operands[0]))
        return self.notation.choice(operands[0], *(self._number(o) for o in operands[1:]))

    def _conditions(self, node: Expression) -> bool:
        """Whether min and max of a node combine conditions: and, or."""
        return all(self.shown(operand).condition for operand in node.operands)

    def _number(self, printed: Printed) -> Printed:
        return self.notation.as_number(printed)

    def _equals_zero(self, printed: Printed) -> Printed:
        return self.notation.equal_to_zero(printed)


def _unsigned(expression: Expression) -> Expression:
    return -expression if expression.negative else expression


def _simplicity(factor: Expression) -> int:
    return 0 if factor.is_constant else 1 if factor.op == "symbol" else 2


def _leaf(node: Expression) -> str:
    if node.op == "symbol":
        return str(node.name)
    value = float(node)
    return repr(int(value)) if value == int(value) and value < 1e15 else repr(value)
