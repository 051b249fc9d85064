"""The numbers of a model that follow the parameters of its mechanism, by the expressions that say how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.assembly.compile import walked
from bellcrank.assembly.particles import with_held_particles
from bellcrank.errors import MechanismError
from bellcrank.mechanism.evaluation import with_numbers
from bellcrank.mechanism.formulas import Formulas
from bellcrank.mechanism.parameter import values_of
from bellcrank.mechanism.parametric import (
    evaluated,
    expressions_in,
    holds_expressions,
    is_expression,
    mapped,
    quiet,
)

if TYPE_CHECKING:
    from bellcrank.assembly.flat import FlatBuilder
    from bellcrank.assembly.model import Model
    from bellcrank.mechanism.mechanism import Mechanism

_TABLES = ("_bodies", "_joints", "_constraints", "_forces", "_drives")
_STRUCTURE = ("pair_bodies", "coordinate_kind", "coordinate_pair", "block_row_start", "row_term_start",
              "term_coordinate", "row_function", "law_kind", "law_coordinate", "law_param_start",
              "wrench_body")  # fmt: skip


@dataclass(frozen=True, eq=False)
class ParametricNumbers:
    """What follows parameters.

    parameters: name, symbol and value. entries: array of the model, index of the number in it, expression.
    start: array and index of numbers that were taken from the initial configuration.
    fixed: names of parameters on which other numbers depend too, such as points of splines and restitutions,
        which are followed by compiling anew only.
    """

    parameters: tuple[tuple[str, Any, float], ...]
    entries: tuple[tuple[str, int, Any], ...]
    start: tuple[tuple[str, int], ...]
    fixed: frozenset[str]


def parametric_numbers(model: Model) -> ParametricNumbers | None:
    """Those of a model whose mechanism has parameters, else None."""
    mechanism = model.described
    if mechanism is None:
        return None
    parameters = tuple((p.name, p.symbol, p.value) for p in mechanism.parameters.values())
    start = (
        *(("row_constant", row) for row in model.start.rows),
        *(("law_params", place) for place, _ in model.start.laws),
    )
    try:
        half = with_held_particles(_with_expressions_alone(mechanism), with_numbers(mechanism))
        with quiet():
            flat, markers, left = walked(half)
        structure = flat.structure()
        same = all(np.array_equal(structure[name], model.arrays[name]) for name in _STRUCTURE)
    except (MechanismError, TypeError, ValueError):  # an element whose rows are more than arithmetic
        same = False
    if not same:
        return ParametricNumbers(parameters, (), start, frozenset(name for name, _, _ in parameters))
    given, shapes = _functions(model, flat)
    arrays = _arrays(half, flat) | given | _formula_markers(markers)
    entries = tuple(
        (array, index, value)
        for array, values in arrays.items()
        for index, value in enumerate(values)
        if is_expression(value) and not value.is_constant
    )
    return ParametricNumbers(parameters, entries, start, _fixed(mechanism, [*flat.others(), *left, *shapes]))


def _functions(model: Model, flat: FlatBuilder) -> tuple[dict[str, list[Any]], list[Any]]:
    """Parameters of the functions, and what those hold whose form follows no parameters."""
    starts, kinds = model.arrays["function_param_start"], model.arrays["function_kind"]
    params: list[Any] = list(model.arrays["function_params"])
    left: list[Any] = []
    for number, function in enumerate(flat.functions):
        places = slice(starts[number], starts[number + 1])
        if function.kind == kinds[number] and len(function.params) == len(params[places]):
            params[places] = function.params
        else:
            left.extend(function.params)
    return {"function_params": params}, left


def _formula_markers(markers: list[Any]) -> dict[str, list[Any]]:
    return {
        "formula_marker_positions": [x for marker in markers for x in marker.position],
        "formula_marker_rotations": [x for marker in markers for x in marker.rotation],
    }


def _with_expressions_alone(mechanism: Mechanism) -> Mechanism:
    """The mechanism with numbers in its formulas, and for what joints start from."""
    known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}

    def number(expression: Any) -> float:
        return float(values_of([expression], known)[expression])

    def settled_formulas(function: Any) -> Any:
        return function.with_numbers(number) if isinstance(function, Formulas) else function

    copy = mechanism.copy()
    for table in _TABLES:
        for name, element in getattr(mechanism, table).items():
            if not holds_expressions(element):
                continue
            settled: Any = mapped(element, lambda e: e, settled_formulas)
            if table == "_joints":
                start = (evaluated(settled.position, number), evaluated(settled.velocity, number))
                settled = replace(settled, position=start[0], velocity=start[1])
            getattr(copy, table)[name] = settled
    return copy


def _arrays(mechanism: Mechanism, flat: FlatBuilder) -> dict[str, list[Any]]:
    """Numbers and expressions in the order of the model's arrays."""
    bodies = list(mechanism.bodies.values())
    return {
        "gravity": list(_flat(mechanism.gravity)),
        "body_mass": [body.mass for body in bodies],
        "body_com": list(_flat([body.com for body in bodies])),
        "body_inertia": list(_flat([body.inertia for body in bodies])),
        **flat.numbers(),
    }


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _fixed(mechanism: Mechanism, held: list[Any]) -> frozenset[str]:
    """Names of the parameters on which anything depends that is no entry."""
    found = list(expressions_in(held))
    if not found:
        return frozenset()
    from bellcrank.expression.reading import symbols_of

    used = set(symbols_of(*found))
    return frozenset(p.name for p in mechanism.parameters.values() if p.symbol in used)
