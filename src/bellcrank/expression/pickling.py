"""Expressions as plain data, so that they can be pickled and copied.

A symbol is identified by its fields, in this and in other processes. A unique symbol, such as that of a
parameter, has its origin among them: it is restored as itself, and in another process all expressions that
arrive share it.
"""

from __future__ import annotations

from typing import Any

from bellcrank import _core
from bellcrank.expression.expression import Expression


def reduced(expression: Expression) -> tuple[Any, ...]:
    """The result of `__reduce__` for pickle: a function and its arguments."""
    nodes = _core.expression_nodes([expression])
    place = {node: number for number, node in enumerate(nodes)}
    return _restored, ([_record(node, place) for node in nodes], expression.negative)


def _signed_place(operand: Expression, place: dict[Expression, int]) -> int:
    """The signed index of an operand, counted from 1 so that it can carry a sign."""
    return -(place[-operand] + 1) if operand.negative else place[operand] + 1


def _record(node: Expression, place: dict[Expression, int]) -> tuple[Any, ...]:
    if node.is_constant:
        return ("constant", float(node))
    if node.op == "symbol":
        return ("symbol", node.symbol_data)
    operands = [_signed_place(operand, place) for operand in node.operands]
    return ("table", *node.table_data, operands) if node.op == "table" else (node.op, operands)


def _restored(records: list[tuple[Any, ...]], negative: bool) -> Expression:
    made: list[Expression] = []
    for kind, *data in records:
        if kind == "constant":
            made.append(Expression(data[0]))
        elif kind == "symbol":
            made.append(_core.expression_symbol(**data[0]))
        else:
            operands = [made[number - 1] if number > 0 else -made[-number - 1] for number in data[-1]]
            if kind == "table":
                name, params, order = data[:-1]
                made.append(_core.expression_table(name, params, operands[0], order))
            else:
                made.append(_core.expression_apply(kind, operands))
    return -made[-1] if negative else made[-1]
