"""Functions of one variable (time, or a coordinate), with exact derivatives: constant, harmonic, expressions.

A function has its value and derivatives in numpy, for plots and tests, and the flat form in which C++
evaluates it. Other kinds stand in files of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import pi, sin
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bellcrank.errors import MechanismError, Unsupported
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import as_expression, table
from bellcrank.expression.reading import TIME, read, symbols_of
from bellcrank.expression.time_function import TimeFunction, antiderivative
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.fields import Description, described, quantity
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.parameters import Evaluate, is_expression, is_input, is_parameter, is_steered, offset

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
    """A function f(x) of one variable.

    >>> wave = bc.Harmonic(amplitude=0.1, omega=2.0)
    >>> isinstance(wave, bc.Function), wave.derivative(0.0).tolist()    # 0.1 x 2
    (True, 0.2)
    """

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            FUNCTIONS[cls.__name__] = cls

    @abstractmethod
    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """The derivative of that order at x (a number or an array); order 0 is the value. Same shape as x.

        >>> bc.Polynomial([1.0, 2.0, 3.0]).derivative([0.0, 1.0], 2).tolist()    # of 1 + 2 x + 3 x^2
        [6.0, 6.0]
        >>> ramp = bc.Ramp(0.0, 1.0, duration=2.0)
        >>> print(ramp.derivative(1.0).round(6))    # 15/8 of height over duration
        0.9375
        """

    def __call__(self, x: Any) -> Any:
        """The value at x (a number or an array), in the shape of x; at an expression, an expression.

        So a torque tabulated over speed is `table(rate)`, with the symbol of a joint's rate.
        """
        return self.formula(x) if is_expression(x) else self.derivative(x, 0)

    def formula(self, x: Any) -> Any:
        """The value at an expression, as an expression.

        >>> wave = bc.Harmonic(amplitude=2.0, omega=3.0).formula(bc.t)
        >>> speed = bc.expression.compile_function([bc.expression.derivative(wave, bc.t)], [bc.t])
        >>> speed(0.0)    # amplitude times omega
        array([6.])
        """
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
        """The function factor * f(x).

        >>> bc.Ramp(0.0, 1.0).scaled(5.0).derivative([0.0, 0.5, 1.0], 0).tolist()
        [0.0, 2.5, 5.0]
        """

    def integral(self) -> Function:
        """An antiderivative. Raises Unsupported if none of the available functions is one.

        >>> work = bc.Polynomial([0.0, 100.0]).integral()    # of the force 100 N/m x
        >>> print(work.derivative(0.2, 0) - work.derivative(0.0, 0))    # J: k x^2 / 2
        2.0
        """
        raise Unsupported(f"{type(self).__name__} has no antiderivative in closed form")


def as_function(element: str, field: str, value: Any) -> Function:
    """A Function from user input: a Function, a number (a Constant), an expression of t, or its text.

    Raises MechanismError for anything else; ExpressionError, which is one, for a text that is no expression.
    """
    if isinstance(value, Function):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with Check(element) as check:
            number = check.number(field, value)
        return Constant(number)
    if isinstance(value, str) or is_expression(value):
        try:
            return FunctionOfTime(value)
        except MechanismError as error:
            named = [replace(fault, element=element, rule=f"{field}: {fault.rule}") for fault in error.faults]
            raise MechanismError(named) from None
    advice = (
        f"use a number, an expression such as '0.5*sin(2*pi*t)', or one of {', '.join(sorted(FUNCTIONS))}"
    )
    raise MechanismError.of(element, f"{field} must be a function", value, advice)


if TYPE_CHECKING:
    from bellcrank.mechanism.given import Declared, FunctionLike

    FunctionField: TypeAlias = Declared[Function, FunctionLike]
    OptionalFunctionField: TypeAlias = Declared[Function | None, FunctionLike | None]
else:  # as for the fields of given.py
    FunctionField, OptionalFunctionField = Function, Function | None


@described
class Harmonic(Function):
    """The function  offset + slope x + amplitude sin(omega x + phase).

    amplitude, offset: in the unit of what is driven; slope: the same per unit of x.
    omega: angular frequency, rad/s (2 pi times the frequency in Hz).
    phase: rad.

    >>> wave = bc.Harmonic(amplitude=0.1, omega=2 * np.pi, offset=1.0)
    >>> print(wave.derivative([0.0, 0.25, 0.75], 0).round(6))
    [1.  1.1 0.9]
    """

    amplitude: FloatField = quantity()
    omega: FloatField = quantity("rad/s")
    phase: FloatField = quantity("rad", default=0.0)
    offset: FloatField = quantity(default=0.0)
    slope: FloatField = quantity(default=0.0)

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return SMOOTH

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        at = np.asarray(x, dtype=float)
        wave = self.amplitude * self.omega**order * np.sin(self.omega * at + self.phase + order * (pi / 2))
        if order == 0:
            return np.asarray(self.offset + self.slope * at + wave)
        return np.asarray(self.slope + wave if order == 1 else wave)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        return FlatFunction("harmonic", (self.offset, self.slope, self.amplitude, self.omega, self.phase))

    def scaled(self, factor: float) -> Harmonic:
        """See Function.scaled."""
        return replace(
            self, amplitude=factor * self.amplitude, offset=factor * self.offset, slope=factor * self.slope
        )

    def integral(self) -> Harmonic:
        """Offset x - amplitude/omega cos(omega x + phase). Raises Unsupported if there is a slope."""
        if self.slope != 0.0:
            raise Unsupported(
                "a Harmonic with a slope has no antiderivative of its kind; use slope=0 or give a position"
            )
        if self.omega == 0.0:
            return Harmonic(0.0, 0.0, slope=self.offset + self.amplitude * sin(self.phase))
        return Harmonic(self.amplitude / self.omega, self.omega, self.phase - pi / 2, slope=self.offset)


@described
class Constant(Function):
    """The same value everywhere. A plain number given as a function becomes a Constant.

    >>> drive = shafts.add_drive("motor", "output", velocity=2.0)
    >>> drive.velocity
    Constant(value=2.0)
    >>> drive.velocity.integral().derivative(3.0, 0).tolist()    # rad after 3 s
    6.0
    """

    value: FloatField = quantity()

    @property
    def smoothness(self) -> int:
        """See Function.smoothness."""
        return SMOOTH

    def derivative(self, x: Any, order: int = 1) -> np.ndarray:
        """See Function.derivative."""
        return np.full(np.shape(x), self.value if order == 0 else 0.0)

    def flat(self) -> FlatFunction:
        """See Function.flat."""
        return FlatFunction("harmonic", (self.value, 0.0, 0.0, 0.0, 0.0))

    def scaled(self, factor: float) -> Constant:
        """See Function.scaled."""
        return Constant(factor * self.value)

    def integral(self) -> Harmonic:
        """See Function.integral."""
        return Harmonic(0.0, 0.0, slope=self.value)


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
            raise MechanismError.of("expression", f"it depends on {names}", str(self), advice)

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


def number_of(function: Any) -> Any:
    """The number, or the expression of parameters, that a function is at all times."""
    return function.value if isinstance(function, Constant) else function.expression


def _read(text: str) -> Any:
    return as_expression(read(text, {"t": TIME}, "expression"))


@lru_cache(maxsize=256)
def _compiled(expression: Any) -> TimeFunction:
    return TimeFunction(expression)
