"""Functions of time written as expressions of t and of parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import as_expression
from bellcrank.expression.integral import antiderivative
from bellcrank.expression.reading import TIME, read, symbols_of
from bellcrank.expression.time_function import TimeFunction
from bellcrank.mechanism.functions.function import FlatFunction, Function
from bellcrank.mechanism.functions.harmonic import Constant, Harmonic
from bellcrank.mechanism.input import is_input, is_steered, offset
from bellcrank.mechanism.parameter import is_parameter
from bellcrank.mechanism.parametric import Evaluate


@dataclass(frozen=True, repr=False)
class FunctionOfTime(Function, listed=False):
    """A function of time given by an expression; its derivatives are derived symbolically.

    expression: of t (s), of parameters and of inputs; a text is parsed, with t and the constants pi and e.
    values: numbers of the parameters that already have them.
    """

    expression: Any
    values: tuple[tuple[Any, float], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.expression, str):
            object.__setattr__(self, "expression", _read(self.expression))
        known = {symbol for symbol, _ in self.values}
        strangers = [s for s in self._symbols if s not in known and not is_parameter(s)]
        if strangers:
            names = " and ".join(repr(str(symbol)) for symbol in strangers)
            advice = (
                "a function of time takes t, parameters, which add_parameter returns, and inputs, bc.Input"
            )
            raise MechanismError(Fault("expression", f"it depends on {names}", str(self), advice))

    @property
    def _symbols(self) -> tuple[Any, ...]:
        """The symbols beside t."""
        return tuple(s for s in symbols_of(self.expression) if s != TIME)

    @property
    def input_symbols(self) -> tuple[Any, ...]:
        """The inputs on which it depends."""
        return tuple(filter(is_input, self._symbols))

    @property
    def _known(self) -> dict[Any, float]:
        """Numbers of parameters that have them, and initial values of inputs."""
        return {**{s: s.value for s in self._symbols if is_steered(s)}, **dict(self.values)}

    @property
    def open_parameters(self) -> tuple[Any, ...]:
        """The parameters that have no numbers yet; the whole expression where it depends on nothing else."""
        known = self._known
        missing = tuple(symbol for symbol in self._symbols if symbol not in known)
        alone = missing and len(symbols_of(self.expression)) == len(missing)
        return (self.expression,) if alone else missing

    def with_numbers(self, number: Evaluate) -> Function:
        """The function with numbers for its parameters; a Constant if it depends on nothing else."""
        missing = self.open_parameters
        if missing == (self.expression,):
            return Constant(number(self.expression))
        return replace(self, values=(*self.values, *((symbol, number(symbol)) for symbol in missing)))

    def with_formulas(self, change: Callable[[Any], Any]) -> FunctionOfTime:
        """The same with the expression changed."""
        return replace(self, expression=change(self.expression))

    def formula(self, x: Any) -> Any:
        """See Function.formula."""
        return substitute(self.expression, {TIME: x})

    @property
    def compiled(self) -> TimeFunction:
        """The compiled evaluator, the same for all values of its parameters; cached."""
        return _compiled(self.expression)

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return repr(str(self.expression))  # as it was written

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        at = np.asarray(x, dtype=float)
        found: np.ndarray = self.compiled.derivative(at, order, self._known)
        return found

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        found: int = self.compiled.smoothness(self._known)
        return found

    def flat(self) -> FlatFunction:
        """See Function.flat; if it depends only on parameters, that of a Constant."""
        if self.open_parameters == (self.expression,):
            return FlatFunction("harmonic", (self.expression, 0.0, 0.0, 0.0, 0.0))
        made, places = self.compiled, enumerate(self.compiled.parameters)
        steered = tuple((place, symbol) for place, symbol in places if is_steered(symbol))
        return FlatFunction("expression", made.params(self._known), made.core, steered)

    def scaled(self, factor: float) -> FunctionOfTime:
        """See Function.scaled."""
        return replace(self, expression=factor * self.expression)

    def integral(self) -> Function:
        """See Function.integral; when an input changes, the integral continues from its current value."""
        if self.open_parameters == (self.expression,):
            return Harmonic(0.0, 0.0, slope=self.expression)
        found = antiderivative(self.expression)
        return replace(self, expression=found + offset() if self.input_symbols else found)


def _read(text: str) -> Any:
    return as_expression(read(text, {"t": TIME}, "expression"))


@lru_cache(maxsize=256)
def _compiled(expression: Any) -> TimeFunction:
    return TimeFunction(expression)
