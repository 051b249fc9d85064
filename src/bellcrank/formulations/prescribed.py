"""Coordinates that drives prescribe, eliminated from equations of motion.

A drive is a row  C = ±(q_d - f(t)) = 0. With q_d, u_d and a_d known, the equations of the others are

    M_oo a_o = b_o - M_od f'' + J_o^T lambda,    J_o a_o = -(gamma + J_d f''),

and those of the driven ones give the efforts of the drives:  E = M_do a_o + M_dd f'' - b_d - J_d^T lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bellcrank.expression.derivatives import coefficient, rate, substitute
from bellcrank.expression.expression import Expression, as_expression
from bellcrank.expression.reading import symbols_of

Entries: TypeAlias = dict[tuple[int, ...], Expression]
"""Entries of a vector or matrix by index; those that are zero are left out."""


@dataclass(frozen=True)
class Driven:
    """A coordinate that a drive prescribes: row of the drive, number of the coordinate and of its speed.

    law: position, velocity and acceleration as functions of time.
    """

    row: int
    coordinate: int
    speed: int
    law: tuple[Expression, Expression, Expression]


def driven(
    error: Entries,
    jacobian: Entries,
    coordinates: Sequence[Expression],
    time: Expression,
    known: set[Expression],
) -> list[Driven]:
    """The rows that prescribe a single coordinate as a function of time.

    error: the rows by number. jacobian: derivatives of their rates by the speeds. known: symbols that are
    constants: parameters.
    """
    found = []
    for (row,), value in error.items():
        speeds = {k: entry for (r, k), entry in jacobian.items() if r == row}
        involved = [k for k, q in enumerate(coordinates) if q in symbols_of(value)]
        if len(speeds) != 1 or len(involved) != 1:
            continue
        ((speed, factor),) = speeds.items()
        (coordinate,) = involved
        q = coordinates[coordinate]
        try:
            alone = coefficient(value, q)
        except ValueError:  # it is not linear
            continue
        if not (factor.is_constant and alone == factor and abs(float(factor)) == 1.0):
            continue
        law = -substitute(value, {q: 0.0}) / float(factor)
        if set(symbols_of(law)) <= known | {time}:
            velocity = rate(law, {time: 1.0})
            found.append(Driven(row, coordinate, speed, (law, velocity, rate(velocity, {time: 1.0}))))
    return found


class Elimination:
    """What is left of equations when driven coordinates are replaced by functions of time.

    others: numbers of the speeds that are left; rows: of the rows. laws: of what is driven.
    """

    def __init__(
        self, laws: Sequence[Driven], speeds: int, rows: int, images: Mapping[Expression, Any]
    ) -> None:
        self.laws, self._images = tuple(laws), images
        by_drives, by_rows = {one.speed for one in laws}, {one.row for one in laws}
        self.others = [k for k in range(speeds) if k not in by_drives]
        self.rows = [k for k in range(rows) if k not in by_rows]

    def known(self, entries: Entries) -> Entries:
        """The entries with functions of time for driven coordinates, speeds and accelerations."""
        found = {index: substitute(e, self._images) for index, e in entries.items()}
        return {index: e for index, e in found.items() if e != 0.0}

    def vector(self, entries: Entries, kept: Sequence[int]) -> Entries:
        """Some entries of a vector, numbered anew."""
        return {(k,): entries[i,] for k, i in enumerate(kept) if (i,) in entries}

    def matrix(self, entries: Entries, rows: Sequence[int], columns: Sequence[int]) -> Entries:
        """Some rows and columns of a matrix, numbered anew."""
        places = ((i, j, row, column) for i, row in enumerate(rows) for j, column in enumerate(columns))
        return {(i, j): entries[row, column] for i, j, row, column in places if (row, column) in entries}

    def times(self, matrix: Entries, factors: Mapping[int, Expression], kept: Sequence[int]) -> Entries:
        """Products (kept,) of rows of a matrix and factors by column."""
        out: Entries = {}
        for k, row in enumerate(kept):
            terms = [matrix[row, column] * x for column, x in factors.items() if (row, column) in matrix]
            total = sum(terms, as_expression(0.0))
            if total != 0.0:
                out[k,] = total
        return out

    @property
    def velocities(self) -> dict[int, Expression]:
        """The speeds of what is driven, by number."""
        return {one.speed: one.law[1] for one in self.laws}

    @property
    def accelerations(self) -> dict[int, Expression]:
        """Its accelerations."""
        return {one.speed: one.law[2] for one in self.laws}


def added(a: Entries, b: Entries, sign: float = 1.0) -> Entries:
    """The sum of two vectors, the second times a sign."""
    zero = as_expression(0.0)
    found = {index: a.get(index, zero) + sign * b.get(index, zero) for index in sorted({*a, *b})}
    return {index: e for index, e in found.items() if e != 0.0}
