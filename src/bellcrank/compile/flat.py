"""Collects rows, laws and wrenches as flat arrays of the core; equal pairs, coordinates, functions once.

The arrays and their meaning are those of `ModelData` in cpp/model/model.hpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bellcrank.mechanism.coordinate import BEAM, FORMULA_COORDINATE, OWN, TURNED, Coordinate
from bellcrank.mechanism.functions.function import FlatFunction, Function
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import FROM_START, LAW_PARAMETERS, AppliedWrench, Block, Law, Row

_RIGID = (False, 0.0, 0.0)  # neither one-sided nor compliant, and no restitution
_ROTATION = "rot_"
_REST = LAW_PARAMETERS["linear"].index("rest")


class FlatBuilder:
    """Grows the flat arrays element by element.

    Markers, coordinates and functions handed in must stay alive until the end: they are recognised by
    identity first, by value second.

    distinct: functions are distinguished by identity alone, since equal ones may follow different parameters.
    start_rows: rows whose constant is FROM_START (zero in the arrays). start_offsets: what they are there.
    start_laws: (place in law_params, coordinate) of law parameters that are FROM_START.
    start_formulas: (place in the values of formulas, coordinate) of values taken from there.
    """

    def __init__(self, body_index: dict[str, int], distinct: bool = False) -> None:
        self._body = body_index
        self._distinct = distinct
        self._pair_ids: dict[tuple[int, int], int] = {}
        self._pairs: dict[tuple[Any, ...], int] = {}
        self._coordinates: dict[tuple[str, int, tuple[float, ...]], int] = {}
        self._function_ids: dict[int, int] = {}
        self._functions: dict[FlatFunction, int] = {}
        self.functions: list[FlatFunction] = []
        self.formula_joints: dict[int, int] = {}  # pair: number of the joint formula
        self.block_formula: list[int] = []
        self.block_friction: list[int] = []
        self.friction_loads: list[tuple[Any, ...]] = []
        self.block_start = [0]
        self.blocks: list[tuple[bool, float, float]] = []
        self.term_start = [0]
        self.term_coordinate: list[int] = []
        self.term_coefficient: list[float] = []
        self.row_function: list[int] = []
        self.row_constant: list[float] = []
        self.start_rows: list[int] = []
        self.start_offsets: list[float] = []
        self.law_kind: list[str] = []
        self.law_coordinate: list[int] = []
        self.law_function: list[int] = []
        self.law_friction: list[int] = []
        self.law_start = [0]
        self.law_params: list[float] = []
        self.start_laws: list[tuple[int, int]] = []
        self.start_formulas: list[tuple[int, int]] = []
        self.start_wraps: list[tuple[int, int]] = []
        self.wrenches: list[tuple[int, Marker, bool, list[int], list[float]]] = []

    def pair(self, marker_1: Marker, marker_2: Marker) -> int:
        """Index of a pair of markers."""
        ids = (id(marker_1), id(marker_2))
        index = self._pair_ids.get(ids)
        if index is None:
            key = (*self._marker_key(marker_1), *self._marker_key(marker_2))
            index = self._pair_ids[ids] = self._pairs.setdefault(key, len(self._pairs))
        return index

    def _marker_key(self, marker: Marker) -> tuple[Any, ...]:
        return (self._body[marker.body], marker.position, marker.rotation)

    def coordinate(self, coordinate: Coordinate) -> int:
        """Index of a coordinate."""
        one, two = coordinate.marker_1, coordinate.marker_2
        found = self._pair_ids.get((id(one), id(two)))
        pair = self.pair(one, two) if found is None else found
        kind, params = coordinate.kind, coordinate.params
        if kind == OWN:
            kind, params = FORMULA_COORDINATE, (float(self.formula_joints[pair]), *params)
        if kind.startswith(TURNED):  # side by side, for each is followed with the others
            for axis in "xyz":
                self._coordinates.setdefault((TURNED + axis, pair, params), len(self._coordinates))
        key = (kind, pair, params)
        return self._coordinates.setdefault(key, len(self._coordinates))

    def function(self, function: Function | None) -> int:
        """Index of a function, -1 for None."""
        if function is None:
            return -1
        index = self._function_ids.get(id(function))
        if index is None:
            flat = function.flat()
            index = len(self.functions)
            if not self._distinct:
                index = self._functions.setdefault(flat, index)
            if index == len(self.functions):
                self.functions.append(flat)
            self._function_ids[id(function)] = index
        return index

    def block(self, block: Block) -> int:
        """Append a block with its rows; its index."""
        for row in block.rows:
            self._row(row)
        self.block_start.append(len(self.row_constant))
        self.blocks.append((block.unilateral, block.compliance, block.restitution))
        self.block_formula.append(block.formula)
        # Laws of an element follow its blocks.
        self.block_friction.append(len(self.law_kind) + block.law if block.role == "friction" else -1)
        return len(self.blocks) - 1

    def locks(self, marker_1: Marker, marker_2: Marker, names: Sequence[str]) -> int:
        """Append the block of a joint that holds these coordinates at zero; its index.

        The same as `block` of the joint's rows, of which large mechanisms have hundreds of thousands.
        """
        pair, known, count = self.pair(marker_1, marker_2), self._coordinates, len(names)
        self.term_coordinate += [known.setdefault((name, pair, ()), len(known)) for name in names]
        self.term_coefficient += [1.0] * count
        first = len(self.term_coordinate) - count + 1
        self.term_start += range(first, first + count)
        self.row_function += [-1] * count
        self.row_constant += [0.0] * count
        self.block_start.append(len(self.row_constant))
        self.blocks.append(_RIGID)
        self.block_formula.append(-1)
        self.block_friction.append(-1)
        return len(self.blocks) - 1

    def free(self, marker_1: Marker, marker_2: Marker, names: Sequence[str]) -> tuple[int, ...]:
        """Indices of coordinates without numbers of their own."""
        pair, known = self.pair(marker_1, marker_2), self._coordinates
        return tuple([known.setdefault((name, pair, ()), len(known)) for name in names])

    def _row(self, row: Row) -> None:
        for term in row.terms:
            self.term_coordinate.append(self.coordinate(term.coordinate))
            self.term_coefficient.append(term.coefficient)
        self.term_start.append(len(self.term_coordinate))
        self.row_function.append(-1 if row.function is None else self.function(row.function))
        if row.constant is FROM_START:
            self.start_rows.append(len(self.row_constant))
            self.start_offsets.append(row.start)
        self.row_constant.append(0.0 if row.constant is None else row.constant)

    def law(self, law: Law) -> int:
        """Append a force law; its index. Along a rotation vector it follows whole turns."""
        along = law.coordinate
        if along.kind.startswith(_ROTATION):
            along = replace(along, kind=TURNED + along.kind.removeprefix(_ROTATION))
        coordinate = self.coordinate(along)
        if law.kind == "linear" and law.params[_REST] is FROM_START:
            self.start_laws.append((len(self.law_params) + _REST, coordinate))
        self.law_kind.append(law.kind)
        self.law_coordinate.append(coordinate)
        self.law_function.append(self.function(law.function))
        self.law_friction.append(len(self.law_friction) - law.place)
        self.law_params.extend(0.0 if value is None else value for value in law.params)
        self.law_start.append(len(self.law_params))
        return len(self.law_kind) - 1

    def wrench(self, wrench: AppliedWrench) -> int:
        """Append an applied wrench; its index."""
        body = self._body[wrench.marker.body]
        functions, constants = [], []
        for component in wrench.components:
            driven = isinstance(component, Function)
            functions.append(self.function(component) if isinstance(component, Function) else -1)
            constants.append(0.0 if driven else float(component))  # type: ignore[arg-type]
        self.wrenches.append((body, wrench.marker, wrench.local, functions, constants))
        return len(self.wrenches) - 1

    def numbers(self) -> dict[str, list[Any]]:
        """Those arrays whose numbers may be expressions, as they were given."""
        return {
            "pair_positions": [x for pair in self._pairs for place in (pair[1], pair[4]) for x in place],
            "pair_rotations": [x for pair in self._pairs for turn in (pair[2], pair[5]) for x in turn],
            "block_compliance": [block[1] for block in self.blocks],
            "block_restitution": [block[2] for block in self.blocks],
            "term_coefficient": list(self.term_coefficient),
            "row_constant": list(self.row_constant),
            "law_params": list(self.law_params),
            "wrench_rotation": [x for wrench in self.wrenches for x in wrench[1].rotation],
            "wrench_position": [x for wrench in self.wrenches for x in wrench[1].position],
            "wrench_constant": [x for wrench in self.wrenches for x in wrench[4]],
        }

    def steered(self) -> list[tuple[int, int, Any]]:
        """The numbers of functions that may change in a run: function, place in function_params, symbol."""
        starts = _starts([len(f.params) for f in self.functions]).tolist()
        return [
            (number, starts[number] + place, symbol)
            for number, function in enumerate(self.functions)
            for place, symbol in function.steered
        ]

    def coordinate_numbers(self) -> list[Any]:
        """What coordinates depend on, which may hold expressions, those of beams apart."""
        return [params for kind, _, params in self._coordinates if not kind.startswith(BEAM)]

    def beam_numbers(self) -> list[Any]:
        """The numbers of all coordinates, in their order: those of beams may be expressions."""
        numbers: list[Any] = []
        for kind, _, params in self._coordinates:
            numbers += params if kind.startswith(BEAM) else [0.0] * len(params)
        return numbers

    def structure(self) -> dict[str, Any]:
        """The arrays that say what belongs to what."""
        return {
            "pair_bodies": _ints([(p[0], p[3]) for p in self._pairs], 2),
            "coordinate_kind": [c[0] for c in self._coordinates],
            "coordinate_pair": _ints([c[1] for c in self._coordinates]),
            "coordinate_param_start": _starts([len(c[2]) for c in self._coordinates]),
            "block_row_start": _ints(self.block_start),
            "row_term_start": _ints(self.term_start),
            "term_coordinate": _ints(self.term_coordinate),
            "row_function": _ints(self.row_function),
            "function_kind": [f.kind for f in self.functions],
            "function_param_start": _starts([len(f.params) for f in self.functions]),
            "law_kind": self.law_kind,
            "law_coordinate": _ints(self.law_coordinate),
            "law_param_start": _ints(self.law_start),
            "wrench_body": _ints([w[0] for w in self.wrenches]),
        }

    def arrays(self) -> dict[str, Any]:
        """All arrays but those of the bodies and gravity, by the names that the core takes."""
        pairs, coordinates, functions = list(self._pairs), list(self._coordinates), self.functions
        blocks, wrenches = self.blocks, self.wrenches
        return {
            **self.structure(),
            "pair_positions": _floats([(p[1], p[4]) for p in pairs], 2, 3),
            "pair_rotations": _floats([(p[2], p[5]) for p in pairs], 2, 4),
            "coordinate_params": _floats([x for c in coordinates for x in c[2]]),
            "function_params": _floats([x for f in functions for x in f.params]),
            "function_expressions": {i: f.expression for i, f in enumerate(functions) if f.expression},
            "block_unilateral": np.array([b[0] for b in blocks], dtype=np.uint8),
            "block_compliance": _floats([b[1] for b in blocks]),
            "block_restitution": _floats([b[2] for b in blocks]),
            "block_formula": _ints(self.block_formula),
            "block_friction": _ints(self.block_friction),
            **({"friction_loads": self.friction_loads} if self.friction_loads else {}),
            "term_coefficient": _floats(self.term_coefficient),
            "row_constant": _floats(self.row_constant),
            "law_function": _ints(self.law_function),
            "law_friction": _ints(self.law_friction),
            "law_params": _floats(self.law_params),
            "wrench_position": _floats([w[1].position for w in wrenches], 3),
            "wrench_rotation": _floats([w[1].rotation for w in wrenches], 4),
            "wrench_local": np.array([w[2] for w in wrenches], dtype=np.uint8),
            "wrench_function": _ints([w[3] for w in wrenches], 6),
            "wrench_constant": _floats([w[4] for w in wrenches], 6),
        }


def _ints(values: Sequence[Any], *shape: int) -> np.ndarray:
    return np.array(values, dtype=np.int32).reshape(-1, *shape)


def _floats(values: Sequence[Any], *shape: int) -> np.ndarray:
    return np.array(values, dtype=np.float64).reshape(-1, *shape)


def _starts(lengths: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)]).astype(np.int32)
