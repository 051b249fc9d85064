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
    """Sine.

    >>> x = bc.symbol("x")
    >>> bc.expression.sin(0), bc.expression.derivative(bc.expression.sin(x), x)
    (0, cos(x))
    """
    return _apply("sin", x)


def cos(x: Scalar) -> Expression:
    """Cosine.

    >>> x = bc.symbol("x")
    >>> bc.expression.cos(0), bc.expression.derivative(bc.expression.cos(x), x)
    (1, -sin(x))
    """
    return _apply("cos", x)


def tan(x: Scalar) -> Expression:
    """Tangent.

    >>> print(f"{float(bc.expression.tan(np.pi / 4)):.6f}")
    1.000000
    """
    return _apply("tan", x)


def asin(x: Scalar) -> Expression:
    """Arcsine, in [-pi/2, pi/2].

    >>> print(f"{float(bc.expression.asin(0.5)) * 6 / np.pi:.6f}")
    1.000000
    """
    return _apply("asin", x)


def acos(x: Scalar) -> Expression:
    """Arccosine, in [0, pi].

    >>> print(f"{float(bc.expression.acos(0.5)) * 3 / np.pi:.6f}")
    1.000000
    """
    return _apply("acos", x)


def atan(x: Scalar) -> Expression:
    """Arctangent, in (-pi/2, pi/2).

    >>> x = bc.symbol("x")
    >>> print(f"{float(bc.expression.atan(1.0)) * 4 / np.pi:.6f}")
    1.000000
    >>> bc.expression.derivative(bc.expression.atan(x), x) == 1 / (1 + x**2)
    True
    """
    return _apply("atan", x)


def atan2(y: Scalar, x: Scalar) -> Expression:
    """Angle of the point (x, y), in (-pi, pi].

    >>> print(np.degrees(float(bc.expression.atan2(1.0, -1.0))).round(6))    # the second quadrant
    135.0
    """
    return _apply("atan2", y, x)


def sinh(x: Scalar) -> Expression:
    """Hyperbolic sine.

    >>> x = bc.symbol("x")
    >>> bc.expression.sinh(0), bc.expression.derivative(bc.expression.sinh(x), x)
    (0, cosh(x))
    """
    return _apply("sinh", x)


def cosh(x: Scalar) -> Expression:
    """Hyperbolic cosine.

    >>> x = bc.symbol("x")
    >>> bc.expression.cosh(0), bc.expression.derivative(bc.expression.cosh(x), x)
    (1, sinh(x))
    """
    return _apply("cosh", x)


def tanh(x: Scalar) -> Expression:
    """Hyperbolic tangent.

    >>> x = bc.symbol("x")
    >>> slope = bc.expression.derivative(bc.expression.tanh(x), x)
    >>> bc.expression.tanh(0), slope == 1 - bc.expression.tanh(x) ** 2
    (0, True)
    """
    return _apply("tanh", x)


def exp(x: Scalar) -> Expression:
    """Exponential.

    >>> x = bc.symbol("x")
    >>> bc.expression.exp(0), bc.expression.derivative(bc.expression.exp(2 * x), x)
    (1, 2*exp(2*x))
    """
    return _apply("exp", x)


def log(x: Scalar) -> Expression:
    """Natural logarithm.

    >>> x = bc.symbol("x", positive=True)
    >>> bc.expression.log(1), bc.expression.derivative(bc.expression.log(x), x)
    (0, 1/x)
    """
    return _apply("log", x)


def sqrt(x: Scalar) -> Expression:
    """Square root.

    >>> x = bc.symbol("x", positive=True)
    >>> bc.expression.sqrt(16), bc.expression.sqrt(x**2)
    (4, x)
    """
    return _apply("sqrt", x)


def sign(x: Scalar) -> Expression:
    """-1, 0 or 1.

    >>> bc.expression.sign(-3.5), bc.expression.sign(0), bc.expression.sign(2)
    (-1, 0, 1)
    """
    return _apply("sign", x)


def floor(x: Scalar) -> Expression:
    """The greatest whole number not above x.

    >>> bc.expression.floor(2.7), bc.expression.floor(-0.5)
    (2, -1)
    """
    return _apply("floor", x)


def minimum(x: Scalar, *others: Scalar) -> Expression:
    """The smallest of the operands.

    >>> bc.expression.minimum(bc.symbol("x"), bc.symbol("x"))
    x
    >>> bc.expression.minimum(3, 7, 5)
    3
    """
    result = as_expression(x)
    for other in others:
        result = _apply("min", result, other)
    return result


def maximum(x: Scalar, *others: Scalar) -> Expression:
    """The largest of the operands.

    >>> bc.expression.maximum(3, 7, 5)
    7
    >>> bc.expression.maximum(bc.symbol("x"), bc.symbol("x"))
    x
    """
    result = as_expression(x)
    for other in others:
        result = _apply("max", result, other)
    return result


def piecewise(*conditions_and_values: Scalar) -> Expression:
    """The value of the first condition that is true: condition, value, ..., otherwise.

    Conditions are comparisons such as `x < 1`. Raises ValueError if the last value has a condition.

    >>> x = bc.symbol("x")
    >>> clipped = bc.expression.piecewise(x < 0, 0, x < 1, x, 1)
    >>> f = bc.expression.compile_function([clipped], [x])
    >>> f([[-1.0], [0.5], [2.0]]).ravel().tolist()
    [0.0, 0.5, 1.0]
    """
    if len(conditions_and_values) % 2 == 0:
        raise ValueError("piecewise: write piecewise(condition, value, ..., otherwise)")
    result = as_expression(conditions_and_values[-1])
    for index in range(len(conditions_and_values) - 3, -1, -2):
        condition, value = conditions_and_values[index : index + 2]
        result = _apply("select", condition, value, result)
    return result


def all_of(*conditions: Scalar) -> Expression:
    """A condition that is true if all of these are.

    >>> x = bc.symbol("x")
    >>> inside = bc.expression.all_of(x > 0, x < 1)
    >>> bump = bc.expression.compile_function([bc.expression.piecewise(inside, 1, 0)], [x])
    >>> bump([[-1.0], [0.5], [2.0]]).ravel().tolist()
    [0.0, 1.0, 0.0]
    """
    return minimum(*conditions)


def any_of(*conditions: Scalar) -> Expression:
    """A condition that is true if one of these is.

    >>> x = bc.symbol("x")
    >>> outside = bc.expression.any_of(x < 0, x > 1)
    >>> gate = bc.expression.compile_function([bc.expression.piecewise(outside, 1, 0)], [x])
    >>> gate([[-1.0], [0.5], [2.0]]).ravel().tolist()
    [1.0, 0.0, 1.0]
    """
    return maximum(*conditions)


def negation(condition: Scalar) -> Expression:
    """A condition that is true if this one is false.

    >>> x = bc.symbol("x")
    >>> above = bc.expression.negation(x < 1)
    >>> step = bc.expression.compile_function([bc.expression.piecewise(above, 1, 0)], [x])
    >>> step([[0.5], [2.0]]).ravel().tolist()
    [0.0, 1.0]
    """
    return _apply("select", condition, 0.0, 1.0)
