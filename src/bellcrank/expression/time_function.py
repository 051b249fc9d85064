"""Expressions of time as functions: derivatives, for repeated evaluation, and simple antiderivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.errors import Unsupported
from bellcrank.expression import functions
from bellcrank.expression.derivatives import derivative
from bellcrank.expression.expression import Expression, as_expression
from bellcrank.expression.reading import TIME, symbols_of

SMOOTH: Final = 99
"""Smoothness of a function that has all derivatives."""

_SWITCHES: Final = ("abs", "sign", "min", "max", "floor", "less", "less_equal")
_WINDOW: Final = np.concatenate([np.linspace(-10.0, 0.0, 2001), np.linspace(0.0, 100.0, 20001)[1:]])
_STEPS: Final = (1e-5, 1e-6)  # relative, on both sides of a point where a derivative may jump
_WHOLE: Final = range(-2, 4)  # values of floor whose jumps are examined


class TimeFunction:
    """An expression of t and of parameters, with two derivatives, as one program.

    parameters: the symbols besides t, in the order in which the program takes them. core: in the form that
    models store.
    """

    def __init__(self, expression: Expression) -> None:
        self.parameters = tuple(symbol for symbol in symbols_of(expression) if symbol != TIME)
        self.forms = [expression]
        self.core = _core.ExpressedFunction(list(self._orders(2)), [TIME, *self.parameters])
        self.program = self.core.program

    def _orders(self, order: int) -> Sequence[Expression]:
        """The expression and its derivatives up to an order."""
        while len(self.forms) <= order:
            self.forms.append(rate(self.forms[-1]))
        return self.forms[: order + 1]

    def _program(self, outputs: Sequence[Expression]) -> _core.CompiledProgram:
        _, main = _core.lower_expressions(list(outputs), [TIME, *self.parameters])
        return _core.CompiledProgram(main)

    def _values(self, values: Mapping[Expression, float]) -> np.ndarray:
        return np.array([values[symbol] for symbol in self.parameters], dtype=np.float64)

    def derivative(self, x: np.ndarray, order: int, values: Mapping[Expression, float]) -> np.ndarray:
        """The derivative of that order (0: the value) at times x, in their shape."""
        program = self.program if order <= 2 else self._program(self._orders(order))
        return self._evaluated(program, np.asarray(x), values)[..., order]

    def _evaluated(
        self, program: _core.CompiledProgram, x: np.ndarray, values: Mapping[Expression, float]
    ) -> np.ndarray:
        rows = np.ascontiguousarray(x, dtype=np.float64).reshape(-1, 1)
        out = np.empty((len(rows), len(program.program.outputs)))
        program.evaluate_batch(rows, self._values(values), out, 1)
        return out.reshape(*x.shape, -1)

    def params(self, values: Mapping[Expression, float]) -> tuple[Any, ...]:
        """The arguments of the program after the time; parameters without values as their symbols."""
        return tuple(values.get(symbol, symbol) for symbol in self.parameters)

    def smoothness(self, values: Mapping[Expression, float]) -> int:
        """The number of continuous derivatives, determined at the times where the expression switches.

        These times are exact if the switching expression is linear in t, else sampled from t = -10 to 100 s.
        """
        places = self._places(values)
        if places is None:
            return SMOOTH
        found = 2
        for place in places:
            both = []
            for step in _STEPS:
                h = step * (1.0 + abs(place))
                left, right = self._evaluated(self.program, np.array([place - h, place + h]), values)
                both.append((np.abs(right - left), np.maximum(np.abs(left), np.abs(right))))
            (wide, _), (near, size) = both
            scale = np.maximum.accumulate(size)
            jumps = (near > 0.5 * wide) & (near > 1e-7 * scale)
            if jumps.any():
                found = min(found, int(np.argmax(jumps)) - 1)
        return found

    def _places(self, values: Mapping[Expression, float]) -> list[float] | None:
        """The times at which a piecewise part switches; None if there is no such part."""
        nodes = [node for node in _core.expression_nodes([self.forms[0]]) if node.op in _SWITCHES]
        timed = [node for node in nodes if TIME in symbols_of(node)]
        if not timed:
            return None
        places: list[float] = []
        for node in timed:
            first, *others = node.operands
            gap = first - others[0] if others else first
            places += self._crossings(gap, node.op == "floor", values)
        return places

    def _crossings(self, gap: Expression, whole: bool, values: Mapping[Expression, float]) -> list[float]:
        """The times at which an expression is zero, or an integer."""
        slope = rate(gap)
        program = self._program([gap, slope])
        levels = np.array(_WHOLE if whole else [0], dtype=np.float64)
        if TIME not in symbols_of(slope):
            start, rise = self._evaluated(program, np.array([0.0]), values)[0]
            return [] if rise == 0.0 else ((levels - start) / rise).tolist()
        sampled = self._evaluated(program, _WINDOW, values)[:, 0]
        places: list[float] = []
        for level in levels:
            below = sampled < level
            crossed = np.flatnonzero(below[1:] != below[:-1]).tolist()
            places.extend(self._bisected(program, values, float(level), index) for index in crossed)
        return places

    def _bisected(
        self, program: _core.CompiledProgram, values: Mapping[Expression, float], level: float, index: int
    ) -> float:
        low, high = float(_WINDOW[index]), float(_WINDOW[index + 1])
        ends = self._evaluated(program, np.array([low, high]), values)[:, 0] < level
        for _ in range(60):
            middle = 0.5 * (low + high)
            same = (self._evaluated(program, np.array([middle]), values)[0, 0] < level) == ends[0]
            low, high = (middle, high) if same else (low, middle)
        return 0.5 * (low + high)


def rate(expression: Expression) -> Expression:
    """The derivative with respect to time."""
    if TIME not in symbols_of(expression):
        return as_expression(0.0)
    return derivative(expression, TIME)


def antiderivative(expression: Expression) -> Expression:
    """An antiderivative with respect to time: sums of constants, powers of t, and sin, cos, exp of a t + b.

    Factors that do not depend on time may stand before each. Raises Unsupported for anything else.
    """
    if expression.negative:
        return -antiderivative(-expression)
    if not _timed(expression):
        return expression * TIME
    if expression == TIME:
        return 0.5 * TIME * TIME
    if expression.op == "add":
        a, b = expression.operands
        return antiderivative(a) + antiderivative(b)
    if expression.op == "multiply":
        return _product(expression)
    if expression.op in ("sin", "cos", "exp"):
        (inner,) = expression.operands
        slope = rate(inner)
        if not _timed(slope):
            outer = {"sin": -functions.cos(inner), "cos": functions.sin(inner), "exp": expression}
            return outer[expression.op] / slope
    raise _unknown(expression)


def _product(expression: Expression) -> Expression:
    """An antiderivative of constant factors times one time-dependent factor or a power of t."""
    constant, timed = as_expression(1.0), []
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if node.op == "multiply":
            constant = -constant if node.negative else constant
            waiting += node.operands
        elif _timed(node):
            timed.append(node)
        else:
            constant = constant * node
    if len(timed) == 1:
        return constant * antiderivative(timed[0])
    if all(factor == TIME for factor in timed):
        power = len(timed) + 1
        return constant * TIME**power / power
    raise _unknown(expression)


def _timed(expression: Expression) -> bool:
    return TIME in symbols_of(expression)


def _unknown(expression: Expression) -> Unsupported:
    return Unsupported(
        f"no antiderivative of {expression} is known; give the position instead of the velocity"
    )
