"""The numbers of a model that follow the parameters of its mechanism, by the expressions that say how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.compile import walked
from bellcrank.compile.contacts import CONTACT_NUMBERS, law_numbers, laws_of, touching_sizes
from bellcrank.compile.particles import with_held_particles
from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.mechanism.contents import ELEMENTS, with_numbers
from bellcrank.mechanism.formulas import Formulas
from bellcrank.mechanism.parameters import (
    evaluated,
    expressions_in,
    holds_expressions,
    is_expression,
    mapped,
    quiet,
    slopes_of,
    values_of,
)

if TYPE_CHECKING:
    from bellcrank.compile.flat import FlatBuilder
    from bellcrank.compile.model import Model
    from bellcrank.mechanism.mechanism import Mechanism

_STRUCTURE = ("pair_bodies", "coordinate_kind", "coordinate_pair", "coordinate_param_start",
              "block_row_start", "row_term_start", "term_coordinate", "row_function", "function_kind",
              "function_param_start", "law_kind", "law_coordinate", "law_param_start",
              "wrench_body")  # fmt: skip
# Why a parameter is fixed.
_DECIDES: Final = "parameters decide of which numbers the model consists"
_OF_COORDINATES: Final = "a coordinate is made with it"
_IN_FORMULAS: Final = "formulas are made with it, as those of BodyDamping"
_POINTS: Final = "points of a curve, or places of a spline, follow it"
_AT_START: Final = "it decides where ropes start, and formulas are made with what they take from there"
_OF_SHAPES: Final = "shapes that touch are made with it"


@dataclass(frozen=True, eq=False)
class ParametricNumbers:
    """What follows parameters.

    parameters: name, symbol and value. entries: array of the model, index of the number in it, expression.
    in_formulas: what stands among the values of formulas, and where: parameters themselves.
    start: array and index of numbers that were taken from the initial configuration.
    fixed: names of parameters on which anything depends that is no number of the model, and what that is;
        it is followed by compiling anew only.
    """

    parameters: tuple[tuple[str, Any, float], ...]
    entries: tuple[tuple[str, int, Any], ...]
    in_formulas: tuple[tuple[int, Any], ...]
    start: tuple[tuple[str, int], ...]
    fixed: Mapping[str, str]

    def changes(self, names: Sequence[str]) -> tuple[list[tuple[str, int]], Floats]:
        """Places of numbers, and what they change by with each parameter (names, places).

        A parameter that acts on initial values alone changes none. Raises Unsupported, naming them, for
        parameters that are fixed.
        """
        if held := [f"{name!r}: {self.fixed[name]}" for name in names if name in self.fixed]:
            raise Unsupported(f"derivatives are not implemented for parameter {', and '.join(held)}")
        entries = [*self.entries, *(("formula_values", place, symbol) for place, symbol in self.in_formulas)]
        along = self.slopes(names, [value for _, _, value in entries])
        moved = np.flatnonzero(np.any(along != 0.0, axis=0))
        return [entries[k][:2] for k in moved], along[:, moved]

    def slopes(self, names: Sequence[str], values: Sequence[Any]) -> Floats:
        """Derivatives (names, values) of numbers and expressions by parameters."""
        symbols = {name: symbol for name, symbol, _ in self.parameters}
        known = {symbol: value for _, symbol, value in self.parameters}
        out = np.zeros((len(names), len(values)))
        of = [k for k, value in enumerate(values) if is_expression(value)]
        out[:, of] = slopes_of([values[k] for k in of], known, [symbols[name] for name in names])
        return out


def parametric_numbers(model: Model, everywhere: bool = False) -> ParametricNumbers | None:
    """Those of a model whose mechanism has parameters or inputs, else None.

    everywhere: the expressions are to hold at all values of the parameters. Else those of functions through
        points hold to first order about the values that the parameters have.
    """
    mechanism = model.described
    if mechanism is None:
        return ParametricNumbers((), (), (), (), {}) if model.inputs else None
    parameters = tuple((p.name, p.symbol, p.value) for p in mechanism.parameters.values())
    start = (
        *(("row_constant", row) for row in model.start.rows),
        *(("law_params", place) for place, _ in model.start.laws),
    )
    open_ones, not_followed = _with_expressions_alone(mechanism, everywhere)
    half = with_held_particles(open_ones, with_numbers(mechanism))
    with quiet():
        flat, markers, places, left = walked(half)
    structure = flat.structure()
    if not all(np.array_equal(structure[name], model.arrays[name]) for name in _STRUCTURE):
        return ParametricNumbers(parameters, (), (), start, {name: _DECIDES for name, _, _ in parameters})
    functions = {"function_params": [param for function in flat.functions for param in function.params]}
    arrays = _arrays(half, flat) | functions | _formula_markers(markers)
    if not everywhere:
        arrays["coordinate_params"] = flat.beam_numbers()
    if model.contacts and not everywhere:
        arrays["contact_laws"] = _of_contacts(half, {symbol: value for _, symbol, value in parameters})
    entries = tuple(
        (array, index, value)
        for array, values in arrays.items()
        for index, value in enumerate(values)
        if is_expression(value) and not value.is_constant
    )
    symbols = {symbol for _, symbol, _ in parameters}
    in_formulas = tuple((place, symbol) for symbol, place in places.items() if symbol in symbols)
    of_coordinates = [*flat.coordinate_numbers(), *(flat.beam_numbers() if everywhere else ())]
    held = {_OF_COORDINATES: of_coordinates, _IN_FORMULAS: left, _POINTS: not_followed}
    held |= {_OF_SHAPES: touching_sizes(half)} if model.contacts else {}
    held |= {_AT_START: _of_start(mechanism, arrays)} if model.start.formulas else {}
    return ParametricNumbers(parameters, entries, in_formulas, start, _fixed(mechanism, held))


def _of_start(mechanism: Mechanism, arrays: Mapping[str, list[Any]]) -> list[Any]:
    """What decides where a mechanism starts, which may hold expressions."""
    places = ("pair_positions", "pair_rotations", "row_constant", "function_params")
    bodies = [x for body in mechanism.bodies.values() for x in (*body.position, *body.rotation)]
    joints = [value for joint in mechanism.joints.values() for _, value in (*joint.position, *joint.guess)]
    return [*bodies, *joints, *(x for name in places for x in arrays[name])]


def _formula_markers(markers: list[Any]) -> dict[str, list[Any]]:
    return {
        "formula_marker_positions": [x for marker in markers for x in marker.position],
        "formula_marker_rotations": [x for marker in markers for x in marker.rotation],
    }


def _with_expressions_alone(mechanism: Mechanism, everywhere: bool) -> tuple[Mechanism, list[Any]]:
    """The mechanism with numbers in its formulas, for what joints start from, and in fields not followed.

    And what stood in the latter.
    """
    known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}

    def number(expression: Any) -> float:
        return float(values_of([expression], known)[expression])

    def settled_function(function: Any) -> Any:
        if isinstance(function, Formulas):
            return function.with_numbers(number)
        if not hasattr(function, "first_order"):
            return function
        followed = None if everywhere else function.first_order(known)
        return settled_field(function) if followed is None else followed

    def settled_field(value: Any) -> Any:
        not_followed.append(value)
        return evaluated(value, number)

    not_followed: list[Any] = []
    copy = mechanism.copy()
    for table in ELEMENTS:
        for name, element in getattr(mechanism, table).items():
            if not holds_expressions(element):
                continue
            settled: Any = mapped(element, lambda e: e, settled_function, settled_field)
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


def _of_contacts(mechanism: Mechanism, known: Mapping[Any, float]) -> list[Any]:
    """The numbers of all laws of contacts; to first order about the values that the parameters have."""

    def value(number: Any) -> float:
        return float(values_of([number], known)[number]) if is_expression(number) else float(number)

    laws = [law_numbers(mechanism, law, value) for _, law in laws_of(mechanism)]
    return [law[name] for law in laws for name in CONTACT_NUMBERS]


def _fixed(mechanism: Mechanism, held: Mapping[str, list[Any]]) -> dict[str, str]:
    """The parameters on which anything depends that is no entry, by name, and what that is."""
    found: dict[str, str] = {}
    for what, values in held.items():
        expressions = list(expressions_in(values))
        if not expressions:
            continue
        from bellcrank.expression.reading import symbols_of

        used = set(symbols_of(*expressions))
        found |= {p.name: what for p in mechanism.parameters.values() if p.symbol in used}
    return found
