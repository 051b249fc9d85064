"""Functions of expressions, which also accept numbers. Angles in rad.

At the edge of a domain they behave as the floating-point functions do: sqrt(-1) and log(-1) are not numbers.
The derivatives of abs, sign, floor, minimum, maximum and piecewise are those of the active branch.
"""

from __future__ import annotations

from bellcrank import _core
from bellcrank.expression.expression import Expression, Scalar, as_expression


def _apply(operation: str, *operands: Scalar) -> Expression:
    return _core.expression_apply(operation, [as_expression(a) for a in operands])


def sin(x: Scalar) -> Expression:
    """Sine."""
    return _apply("sin", x)


def cos(x: Scalar) -> Expression:
    """Cosine."""
    return _apply("cos", x)


def tan(x: Scalar) -> Expression:
    """Tangent."""
    return _apply("tan", x)


def asin(x: Scalar) -> Expression:
    """Arcsine, in [-pi/2, pi/2]."""
    return _apply("asin", x)


def acos(x: Scalar) -> Expression:
    """Arccosine, in [0, pi]."""
    return _apply("acos", x)


def atan(x: Scalar) -> Expression:
    """Arctangent, in (-pi/2, pi/2)."""
    return _apply("atan", x)


def atan2(y: Scalar, x: Scalar) -> Expression:
    """Angle of the point (x, y), in (-pi, pi]."""
    return _apply("atan2", y, x)


def sinh(x: Scalar) -> Expression:
    """Hyperbolic sine."""
    return _apply("sinh", x)


def cosh(x: Scalar) -> Expression:
    """Hyperbolic cosine."""
    return _apply("cosh", x)


def tanh(x: Scalar) -> Expression:
    """Hyperbolic tangent."""
    return _apply("tanh", x)


def exp(x: Scalar) -> Expression:
    """Exponential."""
    return _apply("exp", x)


def log(x: Scalar) -> Expression:
    """Natural logarithm."""
    return _apply("log", x)


def sqrt(x: Scalar) -> Expression:
    """Square root."""
    return _apply("sqrt", x)


def sign(x: Scalar) -> Expression:
    """-1, 0 or 1."""
    return _apply("sign", x)


def floor(x: Scalar) -> Expression:
    """The greatest whole number not above x."""
    return _apply("floor", x)


def minimum(x: Scalar, *others: Scalar) -> Expression:
    """The smallest of the operands."""
    result = as_expression(x)
    for other in others:
        result = _apply("min", result, other)
    return result


def maximum(x: Scalar, *others: Scalar) -> Expression:
    """The largest of the operands."""
    result = as_expression(x)
    for other in others:
        result = _apply("max", result, other)
    return result


def piecewise(*conditions_and_values: Scalar) -> Expression:
    """The value of the first condition that is true: condition, value, ..., otherwise.

    Conditions are comparisons such as `x < 1`. Raises ValueError if the last value has a condition.
    """
    if len(conditions_and_values) % 2 == 0:
        raise ValueError("piecewise: write piecewise(condition, value, ..., otherwise)")
    result = as_expression(conditions_and_values[-1])
    for index in range(len(conditions_and_values) - 3, -1, -2):
        condition, value = conditions_and_values[index : index + 2]
        result = _apply("select", condition, value, result)
    return result


def all_of(*conditions: Scalar) -> Expression:
    """A condition that is true if all of these are."""
    return minimum(*conditions)


def any_of(*conditions: Scalar) -> Expression:
    """A condition that is true if one of these is."""
    return maximum(*conditions)


def negation(condition: Scalar) -> Expression:
    """A condition that is true if this one is false."""
    return _apply("select", condition, 0.0, 1.0)
