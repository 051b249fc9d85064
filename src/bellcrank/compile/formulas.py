"""Elements given by formulas, for the core: joints, constraints and forces over symbols of motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bellcrank import _core
from bellcrank.compile.flat import FlatBuilder
from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.arrays import Vector, cross
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import Expression, fresh_symbol, t
from bellcrank.expression.functions import piecewise
from bellcrank.mechanism.coordinate import FORMULA_ROW, OWN, Coordinate
from bellcrank.mechanism.custom_joints import CustomJoint, chain_of
from bellcrank.mechanism.formulas import EndPose
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression
from bellcrank.mechanism.rotation import IDENTITY, multiply
from bellcrank.mechanism.rows import FROM_START, Block, Lowered, Row, lock

_ROWS = 6  # of a block at most
_NOTHING = Vector(0.0, 0.0, 0.0)


class FormulaBuilder:
    """Collects formulas beside the flat arrays.

    kinds: all kinds with formulas, for the values of their parameters and inputs.
    places: of their symbols in `Formulas::values` of the core.
    """

    def __init__(self, flat: FlatBuilder, body_index: Mapping[str, int], kinds: Iterable[Any]) -> None:
        values = {symbol: value for kind in kinds for symbol, value in kind.known.items()}
        self.places = {symbol: place for place, symbol in enumerate(values)}
        self._flat = flat
        self._body = body_index
        self._markers: tuple[list[Marker], list[Marker]] = ([], [])
        self.core = _core.Formulas(t, list(values), [float(value) for value in values.values()])

    @property
    def markers(self) -> list[Marker]:
        """The markers of the core's constraints, then those of its forces."""
        return [*self._markers[0], *self._markers[1]]

    def joint(self, joint: Joint, lowered: Lowered, starts: Mapping[str, float]) -> Lowered:
        """A joint's rows over its own coordinates, which start from what is given or from zero.

        Raises MechanismError where another joint given by formulas has the same markers.
        """
        kind: Any = joint.kind
        one, two = joint.marker_1, joint.marker_2
        pair, own = self._flat.pair(one, two), kind.own_symbols
        if pair in self._flat.formula_joints:
            rule = "another joint given by formulas connects the same markers"
            raise MechanismError(Fault(f"joint {joint.name!r}", rule, None, "give it markers of its own"))
        pose = kind.transform
        entries = [entry for row in pose.rotation for entry in row]
        begin = [float(starts.get(name, 0.0)) for name in kind.free]
        number = self.core.add_joint(list(own), list(pose.position), entries, begin, _chain(kind))
        self._flat.formula_joints[pair] = number
        rows = tuple(
            lock(Coordinate(FORMULA_ROW, one, two, (float(number), float(k)))) for k in range(6 - len(own))
        )
        blocks = (Block("joint", rows),) if rows else ()
        coordinates = tuple(Coordinate(OWN, one, two, (float(k),)) for k in range(len(own)))
        return Lowered((*blocks, *self._rolling(kind, coordinates), *lowered.blocks), coordinates=coordinates)

    def _rolling(self, kind: Any, coordinates: Sequence[Coordinate]) -> list[Block]:
        """The conditions  sum of factor * rate = 0  on the coordinates' rates."""
        if not kind.rolling:
            return []
        rates = [fresh_symbol(f"{own.name}.rate") for own in kind.own_symbols]
        ends = [
            self._symbols(coordinate, own, rate)
            for coordinate, own, rate in zip(coordinates, kind.own_symbols, rates, strict=True)
        ]
        rows = [
            sum((f * rate for f, rate in zip(factors, rates, strict=True)), start=Expression(0.0))
            for factors in kind.rolling
        ]
        return self._blocks("joint", [], ends, rows, of_velocity=True)

    def constraint(self, kind: Any, ends: Sequence[Marker | Coordinate]) -> Lowered:
        """A constraint's equations."""
        for _ in range(0, len(kind.equations), _ROWS):  # the core has its markers once for each block
            self._markers[0].extend(end for end in ends if isinstance(end, Marker))
        markers, coordinates = self._ends(kind, ends)
        constant = FROM_START if kind.starts else 0.0
        rows = list(kind.equations)
        blocks = self._blocks("equations", markers, coordinates, rows, kind.of_velocity, constant)
        return Lowered(tuple(blocks))

    def _blocks(
        self,
        role: str,
        markers: list[Any],
        coordinates: list[Any],
        rows: list[Any],
        of_velocity: bool = False,
        constant: float | None = 0.0,
    ) -> list[Block]:
        blocks = []
        for begin in range(0, len(rows), _ROWS):
            part = rows[begin : begin + _ROWS]
            number = self.core.add_constraint(markers, coordinates, part, of_velocity)
            blocks.append(Block(role, tuple(Row((), constant) for _ in part), formula=number))
        return blocks

    def force(self, kind: Any, ends: Sequence[Marker | Coordinate]) -> None:
        """A force: what it does to each of its ends."""
        self._markers[1].extend(end for end in ends if isinstance(end, Marker))
        markers, coordinates = self._ends(kind, ends)
        if kind.potential is not None:
            self.core.add_force(markers, coordinates, [], [], [], kind.potential)
            return
        forces, moments = [_NOTHING] * len(markers), [_NOTHING] * len(markers)
        if kind.efforts is None:
            poses = [end for end in kind.ends if isinstance(end, EndPose)]
            force = _NOTHING if kind.force is None else Vector(kind.force)
            moment = _NOTHING if kind.moment is None else Vector(kind.moment)
            forces[0], moments[0] = force, moment
            if len(markers) > 1:  # the opposite at the point of the first
                arm = poses[0].position - poses[1].position
                forces[1], moments[1] = -force, -moment - cross(arm, force)
        efforts = [Expression(0.0)] * len(coordinates) if kind.efforts is None else list(kind.efforts)
        self.core.add_force(
            markers, coordinates, [list(f) for f in forces], [list(m) for m in moments], efforts
        )

    def _symbols(self, of: Coordinate, value: Any, rate: Any) -> _core.CoordinateSymbols:
        return _core.CoordinateSymbols(coordinate=self._flat.coordinate(of), value=value, rate=rate)

    def _ends(self, kind: Any, ends: Sequence[Marker | Coordinate]) -> tuple[list[Any], list[Any]]:
        """The markers and the coordinates among the ends, with the symbols that stand for them."""
        markers, coordinates = [], []
        for end, held in zip(kind.ends, ends, strict=True):
            symbols = list(end.symbols)
            if isinstance(held, Marker):
                body = self._body[held.body]
                offset, attitude = (
                    [0.0 if is_expression(x) else x for x in v] for v in (held.position, held.rotation)
                )
                markers.append(
                    _core.MarkerSymbols(
                        body=body,
                        offset=offset,
                        attitude=attitude,
                        position=symbols[:3],
                        rotation=symbols[3:7],
                        velocity=symbols[7:10],
                        angular_velocity=symbols[10:],
                    )
                )
            else:
                coordinates.append(self._symbols(held, *symbols))
        return markers, coordinates


def _chain(kind: Any) -> _core.Chain:
    """The lines of a joint that is turns and slides, one after the other, and its pose at zero; else nothing.

    Numbers of parameters and inputs may change: a pose that depends on them is no chain.
    """
    chain = chain_of(kind) if isinstance(kind, CustomJoint) else None
    if chain is None:
        return _core.Chain()
    lines = [_core.ChainLine(**vars(line)) for line in chain.lines]
    return _core.Chain(lines=lines, rotation=chain.rotation, position=chain.position)


def on_described_side(kind: Any, ends: Sequence[Marker | Coordinate], rotation: Callable[[str], Any]) -> Any:
    """A constraint or force whose formulas see quaternions on the side of those described.

    q and -q are the same rotation. Of the two, formulas see the one within half a turn of the marker's
    rotation as it
    is described, with the sign that it has there. Formulas that are the same for both, such as those of
    rotation matrices and axes, stay as they are.

    rotation: of a body, by name, as it is described.
    """
    for end, held in zip(kind.ends, ends, strict=True):
        if isinstance(end, EndPose) and isinstance(held, Marker):
            kind = kind.with_formulas(_on_side(end, _described(held, rotation)), symbols=True)
    return kind


def _described(marker: Marker, rotation: Callable[[str], Any]) -> Any:
    """The rotation of a marker in the world; of expressions of parameters, none."""
    body = IDENTITY if marker.body == "ground" else rotation(marker.body)
    if any(is_expression(x) for x in (*body, *marker.rotation)):
        return IDENTITY
    return multiply(body, marker.rotation)


def _on_side(end: EndPose, described: Any) -> Callable[[Any], Any]:
    symbols = end.quaternion
    opposite = {symbol: -symbol for symbol in symbols}
    beside = sum((float(x) * symbol for x, symbol in zip(described, symbols, strict=True)), start=0.0)
    chosen = {symbol: piecewise(beside < 0.0, -symbol, symbol) for symbol in symbols}

    def change(formula: Any) -> Any:
        return formula if substitute(formula, opposite) == formula else substitute(formula, chosen)

    return change
