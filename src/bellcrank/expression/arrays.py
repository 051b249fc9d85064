"""Vectors and matrices of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bellcrank.expression.expression import Expression, Scalar, as_expression
from bellcrank.expression.functions import sqrt
from bellcrank.overloads import overload

__all__ = ["Matrix", "Vector", "cross", "dot", "norm"]


def _sum(terms: Iterable[Expression]) -> Expression:
    return sum(terms, start=Expression(0.0))


class Vector:
    """A column of expressions: `Vector(x, y, z)`, with +, -, scalar factors, indices, dot, cross, norm.

    >>> x, y = bc.symbols("x y")
    >>> v = bc.expression.Vector((x, y, 0))
    >>> v.norm() == bc.expression.sqrt(x**2 + y**2), v.y
    (True, y)
    """

    __array_priority__ = 1000  # numpy leaves mixed arithmetic to us
    __slots__ = ("_items",)

    def __init__(self, *items: Scalar | Iterable[Scalar]) -> None:
        given = items[0] if len(items) == 1 and np.iterable(items[0]) else items
        self._items = tuple(as_expression(item) for item in given)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Expression]:
        return iter(self._items)

    def __getitem__(self, index: int) -> Expression:
        return self._items[index]

    @property
    def x(self) -> Expression:
        """The first component."""
        return self._items[0]

    @property
    def y(self) -> Expression:
        """The second component."""
        return self._items[1]

    @property
    def z(self) -> Expression:
        """The third component."""
        return self._items[2]

    def __neg__(self) -> Vector:
        return Vector(-a for a in self)

    def __add__(self, other: Iterable[Scalar]) -> Vector:
        return Vector(a + b for a, b in zip(self, other, strict=True))

    __radd__ = __add__

    def __sub__(self, other: Iterable[Scalar]) -> Vector:
        return Vector(a - b for a, b in zip(self, other, strict=True))

    def __rsub__(self, other: Iterable[Scalar]) -> Vector:
        return -self + other

    def __mul__(self, factor: Scalar) -> Vector:
        return Vector(a * factor for a in self)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Scalar) -> Vector:
        return self * (1.0 / as_expression(divisor))

    def __matmul__(self, other: Iterable[Scalar]) -> Expression:
        return dot(self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def dot(self, other: Iterable[Scalar]) -> Expression:
        """Scalar product.

        >>> x, y = bc.symbols("x y")
        >>> bc.expression.Vector((x, y, 0)).dot((1, 2, 3)) == x + 2 * y
        True
        """
        return dot(self, other)

    def cross(self, other: Iterable[Scalar]) -> Vector:
        """Vector product of two vectors of three components.

        >>> x = bc.symbol("x")
        >>> bc.expression.Vector((x, 0, 0)).cross((0, 2, 0))
        Vector(0, 0, 2*x)
        """
        return cross(self, other)

    def norm(self) -> Expression:
        """Euclidean length.

        >>> bc.expression.Vector((3, 4, 0)).norm()
        5
        """
        return norm(self)

    def normalized(self) -> Vector:
        """The vector divided by its length, which must not vanish.

        >>> bc.expression.Vector((0, 0, 5)).normalized()
        Vector(0, 0, 1)
        """
        return self / norm(self)

    def __repr__(self) -> str:
        return f"Vector({', '.join(map(repr, self))})"


def dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Expression:
    """Scalar product. Raises ValueError if the lengths differ.

    >>> x, y = bc.symbols("x y")
    >>> bc.expression.dot((x, y, 0), (x, y, 0)) == x**2 + y**2
    True
    """
    return _sum(as_expression(p) * q for p, q in zip(a, b, strict=True))


def cross(a: Iterable[Scalar], b: Iterable[Scalar]) -> Vector:
    """Vector product of two vectors of three components.

    >>> x = bc.symbol("x")
    >>> bc.expression.cross((x, 0, 0), (0, 2, 0))    # an area, along z
    Vector(0, 0, 2*x)
    """
    p, q = Vector(a), Vector(b)
    if len(p) != 3 or len(q) != 3:
        raise ValueError(f"a vector product needs three components, got {len(p)} and {len(q)}")
    return Vector(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x)


def norm(a: Iterable[Scalar]) -> Expression:
    """Euclidean length.

    >>> x, y = bc.symbols("x y")
    >>> bc.expression.norm((x, y, 0)) == bc.expression.sqrt(x**2 + y**2)
    True
    """
    items = [as_expression(p) for p in a]
    return sqrt(_sum(p * p for p in items))


class Matrix:
    """Rows of expressions: `Matrix([[a, b], [c, d]])`, with +, -, products (`@`, with vectors too), `.T`.

    >>> q = bc.symbol("q")
    >>> stretch = bc.expression.Matrix([[2, 0, 0], [0, 1, 0], [0, 0, q]])
    >>> stretch.shape, stretch @ bc.expression.Vector((1, 1, 1))
    ((3, 3), Vector(2, 1, q))
    """

    __array_priority__ = 1000
    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[Iterable[Scalar]]) -> None:
        self._rows = tuple(Vector(row) for row in rows)
        if len({len(row) for row in self._rows}) > 1:
            raise ValueError("the rows of a matrix must have one length")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return len(self._rows), len(self._rows[0]) if self._rows else 0

    @property
    def rows(self) -> tuple[Vector, ...]:
        """The rows."""
        return self._rows

    @property
    def columns(self) -> tuple[Vector, ...]:
        """The columns."""
        return tuple(Vector(column) for column in zip(*self._rows, strict=True))

    @property
    def T(self) -> Matrix:  # noqa: N802 (the word of the field)
        """The transposed matrix."""
        return Matrix(self.columns)

    def __getitem__(self, index: tuple[int, int]) -> Expression:
        row, column = index
        return self._rows[row][column]

    def __iter__(self) -> Iterator[Vector]:
        return iter(self._rows)

    def __neg__(self) -> Matrix:
        return Matrix(-row for row in self)

    def __add__(self, other: Iterable[Iterable[Scalar]]) -> Matrix:
        return Matrix(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Iterable[Iterable[Scalar]]) -> Matrix:
        return Matrix(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, factor: Scalar) -> Matrix:
        return Matrix(row * factor for row in self)

    __rmul__ = __mul__

    @overload
    def __matmul__(self, other: Matrix) -> Matrix: ...
    @overload
    def __matmul__(self, other: Iterable[Scalar]) -> Vector: ...
    def __matmul__(self, other: Matrix | Iterable[Scalar]) -> Matrix | Vector:
        if isinstance(other, Matrix):
            columns = other.columns
            return Matrix([dot(row, column) for column in columns] for row in self)
        items = Vector(other)
        return Vector(dot(row, items) for row in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self._rows == other._rows

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return f"Matrix({[list(row) for row in self]!r})"
