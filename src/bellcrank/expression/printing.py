"""Expressions as text, which reads back as the same expression, and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from bellcrank import _core
from bellcrank.expression.expression import Expression
from bellcrank.expression.grammar import LENGTH
from bellcrank.expression.notation import ATOM, LATEX, TEXT, Notation, Printed

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


def one_line(expression: Expression, limit: int = LENGTH) -> str:
    """The expression as a text that reads back as the same expression.

    Raises ValueError if it has more characters than `limit`, or holds a table of numbers.
    """
    page = _Page([expression], TEXT)
    if any(node.op == "table" for node in page.nodes):
        raise ValueError("it holds a table of numbers, which no text can")
    written = page.shown(expression).text if page.length(expression) <= 2 * limit else ""  # 2: a guess
    if not 0 < len(written) <= limit:
        raise ValueError(f"the expression takes more than {limit} characters")
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
            worth = size > _PART or (users.get(node, 0) > 1 and size >= _WORTH)
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
