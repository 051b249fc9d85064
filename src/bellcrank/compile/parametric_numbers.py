"""The numbers of a model that follow the parameters of its mechanism, by the expressions that say how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.compile.compile import walked
from bellcrank.compile.particles import with_held_particles
from bellcrank.compile.state import Floats
from bellcrank.expression.derivatives import derivative
from bellcrank.mechanism.contents import ELEMENTS, with_numbers
from bellcrank.mechanism.formulas import Formulas
from bellcrank.mechanism.parameters import (
    evaluated,
    expressions_in,
    holds_expressions,
    is_expression,
    mapped,
    quiet,
    values_of,
)

if TYPE_CHECKING:
    from bellcrank.compile.flat import FlatBuilder
    from bellcrank.compile.model import Model
    from bellcrank.mechanism.mechanism import Mechanism

_STRUCTURE = ("pair_bodies", "coordinate_kind", "coordinate_pair", "block_row_start", "row_term_start",
              "term_coordinate", "row_function", "function_kind",
              "function_param_start", "law_kind", "law_coordinate", "law_param_start",
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

    def changes(self, names: Sequence[str]) -> tuple[list[tuple[str, int]], Floats] | None:
        """Places of numbers, and what they change by with each parameter (names, places).

        None where one of these is fixed.
        """
        if not self.fixed.isdisjoint(names):
            return None
        symbols = {name: symbol for name, symbol, _ in self.parameters}
        known = {symbol: value for _, symbol, value in self.parameters}
        rows = []
        for name in names:
            slopes = [derivative(value, symbols[name]) for _, _, value in self.entries]
            found = values_of(slopes, known)
            rows.append([float(found[one]) for one in slopes])
        along = np.array(rows).reshape(len(names), len(self.entries))
        moved = np.flatnonzero(np.any(along != 0.0, axis=0))
        return [self.entries[k][:2] for k in moved], along[:, moved]


def parametric_numbers(model: Model) -> ParametricNumbers | None:
    """Those of a model whose mechanism has parameters or inputs, else None."""
    mechanism = model.described
    if mechanism is None:
        return ParametricNumbers((), (), (), frozenset()) if model.inputs else None
    parameters = tuple((p.name, p.symbol, p.value) for p in mechanism.parameters.values())
    start = (
        *(("row_constant", row) for row in model.start.rows),
        *(("law_params", place) for place, _ in model.start.laws),
    )
    open_ones, not_followed = _with_expressions_alone(mechanism)
    half = with_held_particles(open_ones, with_numbers(mechanism))
    with quiet():
        flat, markers, left = walked(half)
    structure = flat.structure()
    if not all(np.array_equal(structure[name], model.arrays[name]) for name in _STRUCTURE):
        return ParametricNumbers(parameters, (), start, frozenset(name for name, _, _ in parameters))
    functions = {"function_params": [param for function in flat.functions for param in function.params]}
    arrays = _arrays(half, flat) | functions | _formula_markers(markers)
    entries = tuple(
        (array, index, value)
        for array, values in arrays.items()
        for index, value in enumerate(values)
        if is_expression(value) and not value.is_constant
    )
    return ParametricNumbers(
        parameters, entries, start, _fixed(mechanism, [*flat.others(), *left, *not_followed])
    )


def _formula_markers(markers: list[Any]) -> dict[str, list[Any]]:
    return {
        "formula_marker_positions": [x for marker in markers for x in marker.position],
        "formula_marker_rotations": [x for marker in markers for x in marker.rotation],
    }


def _with_expressions_alone(mechanism: Mechanism) -> tuple[Mechanism, list[Any]]:
    """The mechanism with numbers in its formulas, for what joints start from, and in fields not followed.

    And what stood in the latter.
    """
    known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}

    def number(expression: Any) -> float:
        return float(values_of([expression], known)[expression])

    def settled_formulas(function: Any) -> Any:
        return function.with_numbers(number) if isinstance(function, Formulas) else function

    def settled_field(value: Any) -> Any:
        not_followed.append(value)
        return evaluated(value, number)

    not_followed: list[Any] = []
    copy = mechanism.copy()
    for table in ELEMENTS:
        for name, element in getattr(mechanism, table).items():
            if not holds_expressions(element):
                continue
            settled: Any = mapped(element, lambda e: e, settled_formulas, settled_field)
            if table == "joints":
                start = (evaluated(settled.position, number), evaluated(settled.velocity, number))
                settled = replace(settled, position=start[0], velocity=start[1])
            getattr(copy, f"_{table}")[name] = settled
    return copy, not_followed


def _arrays(mechanism: Mechanism, flat: FlatBuilder) -> dict[str, list[Any]]:
    """Numbers and expressions in the order of the model's arrays."""
    bodies = list(mechanism.bodies.values())
    return {
        "gravity": list(mechanism.gravity),
        "body_mass": [body.mass for body in bodies],
        "body_com": [x for body in bodies for x in body.com],
        "body_inertia": [x for body in bodies for row in body.inertia for x in row],
        **flat.numbers(),
    }


def _fixed(mechanism: Mechanism, held: list[Any]) -> frozenset[str]:
    """Names of the parameters on which anything depends that is no entry."""
    found = list(expressions_in(held))
    if not found:
        return frozenset()
    from bellcrank.expression.reading import symbols_of

    used = set(symbols_of(*found))
    return frozenset(p.name for p in mechanism.parameters.values() if p.symbol in used)
