"""Derivatives of expressions, coefficients, substitution and operation counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bellcrank import _core
from bellcrank.expression.arrays import Matrix, Vector
from bellcrank.expression.expression import Expression, Scalar, as_expression
from bellcrank.expression.poses import Factor, General, Rotation, Shift, Transform, Turn
from bellcrank.overloads import overload

Form: TypeAlias = Literal["least", "forward", "reverse", "factored", "eliminated"]
Whole: TypeAlias = Expression | Vector | Matrix | Transform


@dataclass(frozen=True)
class OperationCount:
    """Operations that expressions need together, each shared one counted once.

    A sum or a product is of two operands, 2x is a product, signs are free; a quotient is a product with one
    division; trigonometric are sin, cos and tan.

    >>> x = bc.symbol("x")
    >>> count = bc.expression.count_operations(x**2 + x + 1)
    >>> count.total
    3
    """

    additions: int
    multiplications: int
    divisions: int
    trigonometric: int
    other: int

    @property
    def total(self) -> int:
        """The total number of operations."""
        return self.additions + self.multiplications + self.divisions + self.trigonometric + self.other


@overload
def derivative(f: Scalar, x: Expression, form: Form = "least") -> Expression: ...
@overload
def derivative(f: Scalar, x: Iterable[Expression], form: Form = "least") -> Vector: ...
@overload
def derivative(f: Matrix, x: Expression, form: Form = "least") -> Matrix: ...
@overload
def derivative(f: Iterable[Scalar], x: Expression, form: Form = "least") -> Vector: ...
@overload
def derivative(f: Iterable[Scalar], x: Iterable[Expression], form: Form = "least") -> Matrix: ...
def derivative(
    f: Scalar | Iterable[Scalar] | Matrix, x: Expression | Iterable[Expression], form: Form = "least"
) -> Expression | Vector | Matrix:
    """The derivative of f by the symbol or symbols x.

    f: a scalar, a vector (rows of the result) or, by one symbol, a matrix. form: "forward" or "reverse"
    accumulation, "factored" (D*), "eliminated" (vertices by Markowitz's rule), or the one that needs the
    "least" operations together with f.

    Raises ValueError unless x are symbols, and for a fourth derivative of a table.

    >>> x = bc.symbol("x")
    >>> bc.expression.derivative(bc.expression.sin(3 * x), x)
    3*cos(3*x)
    """
    symbols = [x] if isinstance(x, Expression) else list(x)
    if isinstance(f, Matrix):
        if not isinstance(x, Expression):
            raise ValueError("the derivative of a matrix is by one symbol")
        flat = _core.expression_derivative([item for row in f for item in row], symbols, form)
        return Matrix(_rows(flat, f.shape[1]))
    scalar = isinstance(f, Expression | float | int)
    outputs = [as_expression(f)] if scalar else [as_expression(item) for item in f]  # type: ignore[arg-type, union-attr]
    flat = _core.expression_derivative(outputs, symbols, form)
    if scalar:
        return flat[0] if isinstance(x, Expression) else Vector(flat)
    return Vector(flat) if isinstance(x, Expression) else Matrix(_rows(flat, len(symbols)))


def _rows(flat: Sequence[Expression], columns: int) -> list[Sequence[Expression]]:
    return [flat[start : start + columns] for start in range(0, len(flat), columns)]


@overload
def rate(f: Expression, rates: Mapping[Expression, Scalar]) -> Expression: ...
@overload
def rate(f: Vector, rates: Mapping[Expression, Scalar]) -> Vector: ...
@overload
def rate(f: Matrix, rates: Mapping[Expression, Scalar]) -> Matrix: ...
def rate(f: Expression | Vector | Matrix, rates: Mapping[Expression, Scalar]) -> Expression | Vector | Matrix:
    """The rate of change of f for given rates of the symbols: {q: q_dot, t: 1}.

    >>> q, speed = bc.symbols("q speed")
    >>> found = bc.expression.rate(bc.expression.sin(q) + bc.t**2, {q: speed, bc.t: 1})
    >>> found == speed * bc.expression.cos(q) + 2 * bc.t
    True
    """
    symbols = list(rates)
    flat = _core.expression_rate(_flat(f), symbols, [as_expression(rates[symbol]) for symbol in symbols])
    if isinstance(f, Expression):
        return flat[0]
    return Vector(flat) if isinstance(f, Vector) else Matrix(_rows(flat, f.shape[1]))


@overload
def coefficient(f: Expression, x: Expression) -> Expression: ...
@overload
def coefficient(f: Iterable[Scalar], x: Expression) -> Vector: ...
def coefficient(f: Expression | Iterable[Scalar], x: Expression) -> Expression | Vector:
    """The coefficient of the symbol x in f, or in each component of f.

    Raises ValueError unless f is linear in x.

    >>> x, v = bc.symbols("x v")
    >>> bc.expression.coefficient(3 * v + x, v)
    3
    """
    if isinstance(f, Expression):
        return _core.expression_coefficients([f], x)[0]
    return Vector(_core.expression_coefficients([as_expression(item) for item in f], x))


@overload
def substitute(f: Expression, values: Mapping[Expression, Scalar]) -> Expression: ...
@overload
def substitute(f: Vector, values: Mapping[Expression, Scalar]) -> Vector: ...
@overload
def substitute(f: Rotation, values: Mapping[Expression, Scalar]) -> Rotation: ...
@overload
def substitute(f: Matrix, values: Mapping[Expression, Scalar]) -> Matrix: ...
@overload
def substitute(f: Transform, values: Mapping[Expression, Scalar]) -> Transform: ...
def substitute(f: Whole, values: Mapping[Expression, Scalar]) -> Whole:
    """F with values (numbers or expressions) in place of symbols, simultaneously, and simplified again.

    >>> x, y = bc.symbols("x y")
    >>> bc.expression.substitute(x**2 * y, {x: 3})
    9*y
    """
    symbols = list(values)
    images = [as_expression(values[symbol]) for symbol in symbols]
    found = iter(_core.expression_substitute(_flat(f), symbols, images))
    if isinstance(f, Vector):
        return _vector(f, found)
    if isinstance(f, Matrix):
        return type(f)(_vector(row, found) for row in f)
    if isinstance(f, Transform):
        rotation, position = _rotation(f.rotation, found), _vector(f.position, found)
        return Transform(rotation, position, factors=tuple(_factor(factor, found) for factor in f.factors))
    return next(found)


def _vector(f: Vector, found: Iterator[Expression]) -> Vector:
    return Vector([next(found) for _ in f])


def _rotation(f: Rotation, found: Iterator[Expression]) -> Rotation:
    return Rotation(_vector(row, found) for row in f)


def _factor(factor: Factor, found: Iterator[Expression]) -> Factor:
    if isinstance(factor, Turn):
        return Turn(factor.axis, next(found))
    if isinstance(factor, Shift):
        return Shift(_vector(factor.offset, found))
    return General(_rotation(factor.rotation, found), _vector(factor.offset, found))


def _flat(f: Whole) -> list[Expression]:
    if isinstance(f, Expression):
        return [f]
    if isinstance(f, Vector):
        return list(f)
    if isinstance(f, Matrix):
        return [item for row in f for item in row]
    parts = [*_flat(f.rotation), *f.position]
    for factor in f.factors:
        if isinstance(factor, Turn):
            parts.append(factor.angle)
        elif isinstance(factor, Shift):
            parts.extend(factor.offset)
        else:
            parts.extend([*_flat(factor.rotation), *factor.offset])
    return parts


def count_operations(*expressions: float | Whole) -> OperationCount:
    """The operations that all given expressions need together.

    >>> x = bc.symbol("x")
    >>> bc.expression.count_operations(x * x + bc.expression.sin(x)).total
    3
    """
    outputs = [
        item for f in expressions for item in _flat(as_expression(f) if isinstance(f, float | int) else f)
    ]
    return OperationCount(**_core.expression_count(outputs))


def count_path_operations(f: Iterable[Scalar], x: Iterable[Expression]) -> int:
    """Sums and products of f and its derivatives by x if every path were multiplied out separately.

    This is the sum that D* factors: nothing is shared between paths. A float beyond 2**53 is rounded.

    >>> x = bc.symbol("x")
    >>> bc.expression.count_path_operations([bc.expression.sin(x * x)], [x])
    4
    """
    return int(sum(_core.expression_path_count([as_expression(item) for item in f], list(x)).values()))
