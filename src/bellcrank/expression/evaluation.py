"""Numerical evaluation of expressions for given values of their symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from bellcrank import _core
from bellcrank.expression.expression import Expression
from bellcrank.expression.reading import symbols_of

__all__ = ["evaluate", "symbols_of"]


def evaluate(expressions: Sequence[Expression], known: Mapping[Expression, float]) -> list[float]:
    """The values of expressions, computed by one program, for given values of their symbols.

    The program is cached: further values cost only its evaluation.
    """
    symbols = symbols_of(*expressions)
    program = _program(tuple(expressions), symbols)
    out = np.empty(len(expressions))
    program.evaluate(np.array([known[symbol] for symbol in symbols], dtype=np.float64), out)
    found: list[float] = out.tolist()
    return found


@lru_cache(maxsize=256)
def _program(outputs: tuple[Expression, ...], inputs: tuple[Expression, ...]) -> _core.CompiledProgram:
    _, main = _core.lower_expressions(list(outputs), list(inputs))
    return _core.CompiledProgram(main)
