"""The language of expressions in files and commands: its tokens, its errors, and its parser.

Texts such as "0.5*sin(2*pi*t)" are parsed by operator precedence (V. R. Pratt, Top down operator precedence,
1973), by hand, so that every error is reported in the terms of the person who wrote the text, at the
character; a parser generator would only report the expected tokens. The depth is limited: no text exhausts
the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import e, isfinite, pi
from typing import Final, Generic, NoReturn, Protocol, TypeVar

from bellcrank.errors import Fault, MechanismError

_WIDTH = 76  # characters of a long text that a message shows


class ExpressionError(MechanismError):
    """A text that is not an expression.

    text: the text. position: the character at fault, from 0. rule, advice: what is wrong, and what to do.
    """

    def __init__(
        self, text: str, position: int, rule: str, advice: str = "", element: str = "expression"
    ) -> None:
        self.text = text
        self.position = position
        self.rule = rule
        self.advice = advice
        self.element = element
        super().__init__(Fault(element, rule, None, advice, None, excerpt(text, position)))


def excerpt(text: str, position: int) -> str:
    """The line of the text with a caret below the character; for a long line, the part around it."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    start = max(0, min(position - _WIDTH // 2, len(shown) - _WIDTH))
    end = min(len(shown), start + _WIDTH)
    head, tail = "..." if start > 0 else "", "..." if end < len(shown) else ""
    return f"{head}{shown[start:end]}{tail}\n{' ' * (len(head) + position - start)}^"


def nearest_name(name: str, known: Iterable[str], functions: Iterable[str]) -> str:
    """Advice that names similar names, or those available."""
    names = list(known)
    every = [*names, *functions]
    close = get_close_matches(name, every, n=3, cutoff=0.6)
    if not close:
        lower = {other.lower(): other for other in every}
        close = [lower[name.lower()]] if name.lower() in lower else []
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = names[:10]
    return f"known are {', '.join(shown)}" + (", ..." if len(names) > len(shown) else "")


CONSTANTS: Final = {"pi": pi, "e": e}
"""Names that stand for a number."""

TIME: Final = "t"
"""The name of the time, s."""

FUNCTIONS: Final[dict[str, tuple[int, int | None]]] = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), (1, 1)),
    **dict.fromkeys(("sinh", "cosh", "tanh", "exp", "log", "sqrt"), (1, 1)),
    **dict.fromkeys(("abs", "sign", "floor"), (1, 1)),
    **dict.fromkeys(("atan2", "pow"), (2, 2)),
    **dict.fromkeys(("min", "max"), (2, None)),
    "if": (3, 3),
    "piecewise": (3, None),
}
"""The functions, with the least and the greatest number of their operands (None: any)."""

WORDS: Final = ("and", "or", "not")
"""Words between conditions."""

RESERVED: Final = frozenset({TIME, *CONSTANTS, *FUNCTIONS, *WORDS})
"""Names that mean something already."""

COMPARISONS: Final = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal"}
"""The operators that make conditions, and the operations that builders take."""

LENGTH: Final = 50_000
"""How many characters an expression may have."""

DEPTH: Final = 80
"""How deep parentheses, signs and powers may be nested."""

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*(?:\.[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*)*)"
    r"|(?P<operator>\*\*|<=|>=|==|!=|&&|\|\||[-+*/^(),<>=\[\]])"
)
_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_\u0370-\u03ff][A-Za-z0-9_\u0370-\u03ff]*")

LOOKALIKES: Final = {
    **dict.fromkeys("−–", "write '-'"),
    **dict.fromkeys("·×", "write '*'"),
    "÷": "write '/'",
    "≤": "write '<='",
    "≥": "write '>='",
    "²": "write '^2'",
    "³": "write '^3'",
    "√": "write sqrt(...)",
    ";": "write ','",
    "{": "write '('",
    "}": "write ')'",
    "%": "write / 100",
}
"""Characters that look like something that the language has."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the text: "number", "name", "operator", "end", or "other" for anything invalid."""

    kind: str
    text: str
    start: int

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


def tokens(text: str) -> list[Token]:
    """The tokens of a text, ending with "end", or with "other" at the first invalid character."""
    found: list[Token] = []
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        at = at if blank is None else blank.end()
        if at == len(text):
            return [*found, Token("end", "", at)]
        match = _TOKEN.match(text, at)
        if match is None:
            return [*found, Token("other", text[at], at)]
        found.append(Token(str(match.lastgroup), match.group(), at))
        at = match.end()


def is_name(text: str) -> bool:
    """Whether a text can be the name of a parameter or symbol: letters (Latin, Greek), digits and "_"."""
    return _NAME.fullmatch(text) is not None


T = TypeVar("T")
_SUM, _PRODUCT, _SIGN, _POWER = 50, 60, 70, 80
_LEFT = {
    "or": 10, "and": 20, **dict.fromkeys(COMPARISONS, 40), "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT,
    "^": _POWER, "**": _POWER,
}  # fmt: skip
_NEGATION = 30
_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power", "**": "power"}
_FOREIGN = {
    "=": "write '==' in a condition", "!=": "write not(a == b)", "&&": "write 'and'", "||": "write 'or'",
    "[": "a vector is written as a list of expressions, outside of them",
    "]": "a vector is written as a list of expressions, outside of them",
}  # fmt: skip


class Builder(Protocol[T]):
    """An object that builds expressions from numbers and operations.

    apply takes: negate; add, subtract, multiply, divide, power; less, less_equal, greater, greater_equal,
    equal; and, or, not; select (condition, yes, no); and the functions of one or two operands by their names.
    ArithmeticError and ValueError become errors of the text, at the operation.
    """

    def number(self, value: float, /) -> T:
        """A constant."""

    def apply(self, operation: str, operands: Sequence[T], /) -> T:
        """An operation on expressions."""


def parse(
    text: str,
    builder: Builder[T],
    names: Mapping[str, T],
    element: str = "expression",
    condition: bool = False,
) -> T:
    """The expression that a text means.

    names: the names that it may use, besides the constants pi and e.
    element: the element named in errors. condition: whether it must be a condition, else a number.

    Raises ExpressionError, and nothing else, for any text that is not an expression.
    """
    try:
        return _Parser(text, builder, names, element).whole(condition)
    except RecursionError:  # the caller left almost no stack
        raise ExpressionError(text, 0, "nested too deep to be read here", "", element) from None


class _Parser(Generic[T]):
    """The state of parsing one text; a value is a pair of an expression and whether it is a condition."""

    def __init__(self, text: str, builder: Builder[T], names: Mapping[str, T], element: str) -> None:
        self.text = text
        self.builder = builder
        self.names = names
        self.element = element
        if len(text) > LENGTH:
            self.fail(LENGTH, f"the text is too long: {len(text)} characters", f"at most {LENGTH} are read")
        self.tokens = tokens(text)
        self.next = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def fail(self, position: int, rule: str, advice: str = "") -> NoReturn:
        raise ExpressionError(self.text, position, rule, advice, self.element) from None

    def step(self) -> Token:
        """Return the current token and advance."""
        token = self.token
        self.next += 1
        return token

    def whole(self, wanted: bool) -> T:
        if self.token.kind == "end":
            self.fail(0, "the text is empty", "an expression is needed, such as 0.5*sin(2*pi*t)")
        value, condition = self.expression(0)
        if self.token.kind != "end":
            self.unexpected()
        if wanted and not condition:
            self.fail(0, "this is a number, not a condition", "compare it: value > other")
        if condition and not wanted:
            self.fail(0, "this is a condition, not a number", "choose by it: if(condition, value, other)")
        return value

    def unexpected(self) -> NoReturn:
        """Raise the error for a token that cannot follow a value."""
        token = self.token
        if token.kind in ("number", "name") or token.text == "(":
            before = self.tokens[self.next - 1].text if self.next else ""
            rule = f"an operator is missing between {before!r} and {token}"
            self.fail(token.start, rule, f"for a product write {before}*{token.text}")
        if token.text == ")":
            self.fail(token.start, "this parenthesis was not opened")
        if token.text == ",":
            self.fail(
                token.start, "a comma parts the operands of a function", "for decimals write a point: 0.5"
            )
        self.fail(token.start, f"an operator or the end is expected, got {token}", self.foreign(token))

    def foreign(self, token: Token) -> str:
        """Advice on notation from other languages."""
        if token.kind == "other":
            return LOOKALIKES.get(token.text, "this character has no meaning in an expression")
        return _FOREIGN.get(token.text, "")

    def deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            self.fail(token.start, f"nested more than {DEPTH} deep", "give parts of it names, as parameters")

    def expression(self, binding: int) -> tuple[T, bool]:
        """A value with all subsequent operators that bind more tightly than `binding`."""
        self.deeper(self.token)
        start = self.token.start
        left = self.prefix()
        while (power := _LEFT.get(self.token.text, 0)) > binding:
            left = self.infix(left, power, start)
        self.depth -= 1
        return left

    def prefix(self) -> tuple[T, bool]:
        """A value that starts at the current token."""
        token = self.step()
        if token.kind == "number":
            return self.number(token), False
        if token.text == "not":
            value = self.condition(self.expression(_NEGATION), token)
            return self.apply(token, "not", value), True
        if token.kind == "name":
            return self.name(token), False
        if token.text == "-":
            return self.apply(token, "negate", self.value(self.expression(_SIGN), token)), False
        if token.text == "+":
            return self.value(self.expression(_SIGN), token), False
        if token.text == "(":
            inner = self.expression(0)
            self.close(token)
            return inner
        return self.missing(token)

    def missing(self, token: Token) -> NoReturn:
        """Raise the error for a token that cannot start a value."""
        before = self.tokens[self.next - 2] if self.next > 1 else None
        after = f" after {before}" if before is not None else ""
        advice = self.foreign(token)
        if token.text in ("*", "/", "^", "**") and before is not None and before.text == token.text:
            advice = "the operator is there twice"
        self.fail(token.start, f"a value is expected{after}, got {token}", advice)

    def close(self, opened: Token) -> None:
        """Consume the closing parenthesis that matches an opening one."""
        token = self.token
        if token.text == ")":
            self.step()
        elif token.kind == "end":
            self.fail(opened.start, "this parenthesis is not closed", "a ')' is missing")
        else:
            self.unexpected()

    def number(self, token: Token) -> T:
        value = float(token.text)
        if not isfinite(value):
            self.fail(token.start, f"the number {token} is too large")
        return self.builder.number(value)

    def name(self, token: Token) -> T:
        name = token.text
        if self.token.text == "(" and (name in FUNCTIONS or name not in self.names):
            return self.call(token)
        if name in self.names:
            return self.names[name]
        if name in CONSTANTS:
            return self.builder.number(CONSTANTS[name])
        if name in FUNCTIONS:
            self.fail(token.start, f"{name} is a function", f"write {name}(...)")
        if name in ("and", "or"):
            self.missing(token)
        known = [*self.names, *CONSTANTS]
        return self.fail(token.start, f"the name {token} is not known", nearest_name(name, known, FUNCTIONS))

    def call(self, token: Token) -> T:
        name, opened = token.text, self.step()
        if name not in FUNCTIONS:
            self.fail(token.start, f"there is no function {token}", nearest_name(name, FUNCTIONS, ()))
        starts, operands = [self.token.start], []
        if self.token.text != ")":
            operands.append(self.expression(0))
            while self.token.text == ",":
                self.step()
                starts.append(self.token.start)
                operands.append(self.expression(0))
        self.close(opened)
        least, most = FUNCTIONS[name]
        if len(operands) < least or (most is not None and len(operands) > most):
            wanted = f"{least}" if most == least else f"{least} or more"
            rule = f"{name} takes {wanted} operand{'s' * (wanted != '1')}, {len(operands)} given"
            self.fail(token.start, rule, _USE.get(name, ""))
        if name in ("if", "piecewise"):
            return self.choice(token, operands, starts)
        values = [self.number_of(operand, at) for operand, at in zip(operands, starts, strict=True)]
        if name in ("min", "max"):
            result = values[0]
            for value in values[1:]:
                result = self.apply(token, name, result, value)
            return result
        return self.apply(token, "power" if name == "pow" else name, *values)

    def choice(self, token: Token, operands: list[tuple[T, bool]], starts: list[int]) -> T:
        """Pairs of condition and value, and the value if no condition is true."""
        if len(operands) % 2 == 0:
            rule = f"{token.text} takes pairs of condition and value, then the value otherwise"
            self.fail(token.start, rule, _USE[token.text])
        result = self.number_of(operands[-1], starts[-1])
        for index in range(len(operands) - 3, -1, -2):
            value, is_condition = operands[index]
            if not is_condition:
                self.fail(starts[index], "a condition is needed here, not a number", "such as t < 1")
            yes = self.number_of(operands[index + 1], starts[index + 1])
            result = self.apply(token, "select", value, yes, result)
        return result

    def infix(self, left: tuple[T, bool], power: int, start: int) -> tuple[T, bool]:
        """The value of a binary operator and its two operands."""
        token = self.step()
        if token.text in ("and", "or"):
            first = self.condition(left, token)
            return self.apply(token, token.text, first, self.condition(self.expression(power), token)), True
        first = self.number_of(left, start)
        if token.text in COMPARISONS:
            return self.comparison(token, first), True
        right = self.expression(power - 1 if power == _POWER else power)
        return self.apply(token, _ARITHMETIC[token.text], first, self.value(right, token)), False

    def comparison(self, token: Token, left: T) -> T:
        """The condition a < b, or a < b <= c: both."""
        right = self.value(self.expression(_LEFT[token.text]), token)
        result = self.apply(token, COMPARISONS[token.text], left, right)
        while self.token.text in COMPARISONS:
            token, left = self.step(), right
            right = self.value(self.expression(_LEFT[token.text]), token)
            result = self.apply(token, "and", result, self.apply(token, COMPARISONS[token.text], left, right))
        return result

    def value(self, given: tuple[T, bool], operator: Token) -> T:
        """The operand of an operator, which must be a number."""
        return self.number_of(given, operator.start, f"{operator} needs numbers, not a condition")

    def number_of(
        self, given: tuple[T, bool], at: int, rule: str = "a number is needed here, not a condition"
    ) -> T:
        if given[1]:
            self.fail(at, rule, "choose by it: if(condition, value, other)")
        return given[0]

    def condition(self, given: tuple[T, bool], token: Token) -> T:
        if not given[1]:
            self.fail(token.start, f"{token} takes conditions, not numbers", "such as t < 1")
        return given[0]

    def apply(self, token: Token, operation: str, *operands: T) -> T:
        try:
            return self.builder.apply(operation, operands)
        except (ArithmeticError, ValueError) as error:
            self.fail(token.start, f"{token} has no value here", str(error))


_USE = {
    "if": "write if(condition, value, other)",
    "piecewise": "write piecewise(condition, value, ..., otherwise)",
}
