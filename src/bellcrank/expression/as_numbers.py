"""Expressions where Python and numpy expect numbers: what has an expression for a result gives it.

What needs a value (math, if, max) is refused, with what stands for it. numpy calls `__array_ufunc__` for an
expression, and for expressions in arrays of objects methods such as `sqrt`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import pi
from typing import Any, Final, NoReturn

import numpy as np

from bellcrank.errors import Fault
from bellcrank.expression import functions
from bellcrank.expression.expression import Expression
from bellcrank.slips import NoAttribute, WrongCall

_INSTEAD: Final = "bc.expression has sin, cos, sqrt, minimum, floor, piecewise and others for expressions"
_VALUE: Final = "the present value of a parameter p is p.value"


def _ratio(x: Any, y: Any) -> Any:
    return functions.floor(x / y)


def _rest(x: Any, y: Any) -> Any:
    return x - y * _ratio(x, y)


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{
        name: getattr(functions, name)
        for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign", "floor"]
    },
    **{name: getattr(functions, name) for name in ("minimum", "maximum")},
    "arcsin": functions.asin,
    "arccos": functions.acos,
    "arctan": functions.atan,
    "arctan2": functions.atan2,
    "fmin": functions.minimum,
    "fmax": functions.maximum,
    "hypot": lambda x, y: functions.sqrt(x**2 + y**2),
    "cbrt": lambda x: functions.sign(x) * abs(x) ** (1.0 / 3.0),
    "ceil": lambda x: -functions.floor(-x),
    "radians": lambda x: x * (pi / 180.0),
    "deg2rad": lambda x: x * (pi / 180.0),
    "degrees": lambda x: x * (180.0 / pi),
    "rad2deg": lambda x: x * (180.0 / pi),
    "log10": lambda x: functions.log(x) / np.log(10.0),
    "log2": lambda x: functions.log(x) / np.log(2.0),
    "log1p": lambda x: functions.log(1.0 + x),
    "expm1": lambda x: functions.exp(x) - 1.0,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "absolute": abs,
    "fabs": abs,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "float_power": lambda x, y: x**y,
    "floor_divide": _ratio,
    "remainder": _rest,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
}
"""Functions of numpy, by name, on expressions."""


def _of_arrays(_: Expression, function: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
    """A function of numpy, element by element, where an expression is among its arguments."""
    found = FUNCTIONS.get(function.__name__)
    if found is None or method != "__call__" or options:
        name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
        _refuse(f"numpy.{name} does not take expressions", _INSTEAD)
    numbers = (one.item() if isinstance(one, np.generic) else one for one in given)
    return np.frompyfunc(found, len(given), 1)(*(np.asarray(one, dtype=object) for one in numbers))


def _refuse(rule: str, advice: str) -> NoReturn:
    raise WrongCall(Fault("expression", rule, None, advice))


def _attribute(self: Expression, name: str) -> Any:
    """A function of numpy as a method, which numpy calls for elements of arrays."""
    if name in FUNCTIONS:
        return partial(FUNCTIONS[name], self)
    if name == "rint":
        return partial(_round, self)
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
    raise NoAttribute(self, name)


def _number(self: Expression) -> float:
    if not self.is_constant:
        _refuse(f"{self} has no value of its own: it is an expression with symbols", f"{_INSTEAD}; {_VALUE}")
    return _plain_number(self)


def _truth(self: Expression) -> bool:
    if not self.is_constant:
        _refuse(
            f"{self} is neither true nor false: it is an expression",
            "for max and min write bc.expression.maximum(a, b), minimum(a, b), for if piecewise(condition, "
            f"value, otherwise), for a < x < b all_of(a < x, x < b); {_VALUE}",
        )
    return _plain_truth(self)


def _whole(self: Expression) -> int:
    return int(_number(self))


def _round(self: Expression, digits: int | None = None) -> Any:
    advice = f"write bc.expression.floor(x + 0.5), or round its value: {_VALUE}"
    _refuse(f"round(x{'' if digits is None else f', {digits}'}) does not take {self}, an expression", advice)


def _format(self: Expression, form: str) -> str:
    """As text; as a number, at the present values of parameters, where a form is given."""
    if not form:
        return str(self)
    try:
        return format(str(self), form)
    except ValueError:  # a form of numbers
        from bellcrank.expression.compiled import evaluate
        from bellcrank.expression.reading import symbols_of
    symbols = symbols_of(self)
    if any(symbol.kind != "parameter" for symbol in symbols):
        _refuse(f"{self} is no number, which the form {form!r} is for", "only parameters have present values")
    return format(float(evaluate([self], {symbol: symbol.value for symbol in symbols})[0]), form)


_plain_number, _plain_truth = Expression.__float__, Expression.__bool__
_ADDED: Final[Mapping[str, Any]] = {
    "__array_ufunc__": _of_arrays,
    "__getattr__": _attribute,
    "__float__": _number,
    "__bool__": _truth,
    "__int__": _whole,
    "__round__": _round,
    "__format__": _format,
    "__floor__": functions.floor,
    "__ceil__": FUNCTIONS["ceil"],
    "__floordiv__": _ratio,
    "__rfloordiv__": lambda x, y: _ratio(y, x),
    "__mod__": _rest,
    "__rmod__": lambda x, y: _rest(y, x),
    "__divmod__": lambda x, y: (_ratio(x, y), _rest(x, y)),
}
for _name, _method in _ADDED.items():
    setattr(Expression, _name, _method)
