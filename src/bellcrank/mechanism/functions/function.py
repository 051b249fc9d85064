"""The base of all functions of one variable (time, or a coordinate), with exact derivatives.

A function has its value and derivatives in numpy, for plots and tests, and the flat form in which C++
evaluates it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.expression.expression import table
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description
from bellcrank.mechanism.parametric import is_expression

if TYPE_CHECKING:
    from bellcrank._core import ExpressedFunction

FUNCTIONS: dict[str, type[Function]] = {}
"""Every public function class by name, as files and tables refer to it. All are frozen dataclasses."""

SMOOTH = 99
"""Smoothness of a function that has all derivatives."""


@dataclass(frozen=True)
class FlatFunction:
    """A function as C++ takes it: its kind, numbers, and an expression where the kind is "expression".

    steered: indices of the numbers that may change during a run, with their symbols.

    piecewise: order k, pieces n, extrapolation, breaks (n + 1), coefficients (n, k) in ascending powers
        of (x - break).
    rational: the same with numerator coefficients (n, k), then denominator coefficients (n, k).
    expression: the values of its parameters.
    harmonic: offset, slope, amplitude, omega, phase:  offset + slope x + amplitude sin(omega x + phase).

    Extrapolation: 0 hold the end values, 1 continue linearly, 2 periodic.
    """

    kind: str
    params: tuple[float, ...]
    expression: ExpressedFunction | None = None
    steered: tuple[tuple[int, Any], ...] = ()


class Function(Description, ABC):
    """A function f(x) of one variable."""

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            FUNCTIONS[cls.__name__] = cls

    @abstractmethod
    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """The derivative of that order at x (a number or an array); order 0 is the value. Same shape as x."""

    def __call__(self, x: Any) -> Any:
        """The value at x (a number or an array), in the shape of x; at an expression, an expression.

        So a torque tabulated over speed is `table(rate)`, with the symbol of a joint's rate.
        """
        return self.formula(x) if is_expression(x) else self.derivative(x, 0)

    def formula(self, x: Any) -> Any:
        """The value at an expression, as an expression."""
        flat = self.flat()
        return table(flat.kind, flat.params, x)

    @property
    @abstractmethod
    def smoothness(self) -> int:
        """How many derivatives are continuous everywhere.

        -1 for jumps, 0 for a polygon, 1 and 2 for that many derivatives, SMOOTH for all. The ends of the
        range count too: a curve that ends with a slope and is then held has a kink there.
        """

    @abstractmethod
    def flat(self) -> FlatFunction:
        """The form that C++ evaluates."""

    @abstractmethod
    def scaled(self, factor: float) -> Function:
        """The function factor * f(x)."""

    def integral(self) -> Function:
        """An antiderivative. Raises Unsupported if none of the available functions is one."""
        raise Unsupported(f"{type(self).__name__} has no antiderivative in closed form")


def as_function(element: str, field: str, value: Any) -> Function:
    """A Function from user input: a Function, a number (a Constant), an expression of t, or its text.

    Raises MechanismError for anything else; ExpressionError, which is one, for a text that is no expression.
    """
    from bellcrank.mechanism.functions.harmonic import Constant

    if isinstance(value, Function):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with Check(element) as check:
            number = check.number(field, value)
        return Constant(number)
    if isinstance(value, str) or is_expression(value):
        from bellcrank.mechanism.functions.function_of_time import FunctionOfTime

        try:
            return FunctionOfTime(value)
        except MechanismError as error:
            named = [replace(fault, element=element, rule=f"{field}: {fault.rule}") for fault in error.faults]
            raise MechanismError(named) from None
    advice = (
        f"use a number, an expression such as '0.5*sin(2*pi*t)', or one of {', '.join(sorted(FUNCTIONS))}"
    )
    raise MechanismError(Fault(element, f"{field} must be a function", value, advice))


if TYPE_CHECKING:
    from bellcrank.mechanism.given import Declared, FunctionLike

    FunctionField: TypeAlias = Declared[Function, FunctionLike]
    OptionalFunctionField: TypeAlias = Declared[Function | None, FunctionLike | None]
else:  # as for the fields of given.py
    FunctionField, OptionalFunctionField = Function, Function | None
