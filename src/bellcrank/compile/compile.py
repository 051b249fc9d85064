"""Compiles a mechanism to a Model: elements as flat arrays of the core, with their names."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bellcrank import _core
from bellcrank.compile.contacts import ContactBuilder, laws_of
from bellcrank.compile.flat import FlatBuilder
from bellcrank.compile.formula_joints import NONE, Begins, check_starts, sought
from bellcrank.compile.model import (
    EFFORT_UNITS,
    EQUATION_UNIT,
    MULTIPLIER_KINDS,
    CustomRecord,
    ElementRecord,
    Given,
    GivenValue,
    InputPlaces,
    JointRecord,
    Model,
    MultiplierRecord,
    StartValues,
)
from bellcrank.compile.particles import with_held_particles
from bellcrank.compile.posing import carried
from bellcrank.compile.standing import Standing, at_start, in_force
from bellcrank.compile.state import State
from bellcrank.compile.undefined import check_driven_rows
from bellcrank.compile.validate import validate
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, OWN, Coordinate
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.lowering import LoweredElement, lower, resolve_ends
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import inputs_of, is_input
from bellcrank.mechanism.rows import Block, FrictionLoad, Law, LoadOf, Lowered

if TYPE_CHECKING:
    from bellcrank._core import Expression
    from bellcrank.compile.formulas import FormulaBuilder

_MOTION = (("position", 3), ("rotation", 4), ("velocity", 3), ("angular_velocity", 3))
_ENTRY = re.compile(r"(\w+)\[(\d+)\]: (.*)", re.DOTALL)


def compile_mechanism(mechanism: Mechanism, time: float = 0.0, standing: Standing | None = None) -> Model:
    """The Model of a mechanism in its described configuration, which need not satisfy the constraints.

    Joints that are given initial values have them where they are part of no loop, and carry with them what
    hangs on them; in loops, assembly brings them there.

    time: of the initial state, s. standing: which elements are in force; by default those that are so at the
    start. Raises MechanismError with everything that is wrong with the mechanism.
    """
    with _without_collector():
        numeric = with_numbers(mechanism)
        validate(numeric)
        followed = numeric is not mechanism
        standing = (standing or at_start(numeric)) if numeric.changes else None
        inputs = inputs_of(numeric)
        numeric = in_force(numeric, standing) if standing else numeric
        model = _Compiler(with_held_particles(numeric, numeric), time, followed, inputs=inputs).model()
        source = mechanism.copy()
        return replace(model, source=source, described=source if followed else None, standing=standing)


class Walked(NamedTuple):
    """What a mechanism lowers to.

    markers: those that formulas speak of. places: of symbols among the values of formulas. open_parameters:
    of formulas that were made with them in place.
    """

    flat: FlatBuilder
    markers: list[Marker]
    places: dict[Any, int]
    open_parameters: list[Any]


def walked(mechanism: Mechanism) -> Walked:
    """The flat arrays of a valid mechanism in which expressions may stand for numbers."""
    compiler = _Compiler(mechanism, 0.0, True)
    compiler.walk()
    made: list[Any] = [r.lowered.custom for r in compiler.custom if r.lowered.custom is not None]
    left = [parameter for kind in made for parameter in kind.open_parameters]
    formulas = compiler.formulas
    if formulas is None:
        return Walked(compiler.flat, [], {}, left)
    return Walked(compiler.flat, formulas.markers, formulas.places, left)


class _Compiler:
    """Walks the lowered elements once.

    followed: whether numbers follow parameters. begins: as `sought`. inputs: by default those of elements.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        time: float,
        followed: bool,
        begins: Begins = NONE,
        inputs: Mapping[str, Expression] | None = None,
    ) -> None:
        self.mechanism, self.begins = mechanism, begins
        self.inputs = inputs_of(mechanism) if inputs is None else inputs
        self.time, self.followed = time, followed
        self.bodies = list(mechanism.bodies.values())
        index = {body.name: number for number, body in enumerate(self.bodies)}
        index["ground"] = len(self.bodies)
        self.body_index = index
        self.flat = FlatBuilder(index, followed)
        self.owners: list[str] = []
        self.multipliers: list[MultiplierRecord] = []
        self.joints: list[JointRecord] = []
        self.custom: list[CustomRecord] = []
        self.formulas: FormulaBuilder | None = None
        self.records: dict[str, list[ElementRecord]] = {"constraint": [], "force": [], "drive": []}

    def walk(self) -> None:
        """Collect what all elements lower to."""
        elements = lower(self.mechanism, locks=False)
        kinds = [element.lowered.custom for element in elements if element.lowered.custom is not None]
        if kinds:
            from bellcrank.compile.formulas import FormulaBuilder

            self.formulas = FormulaBuilder(self.flat, self.body_index, kinds)
        others = iter(elements)
        for joint in self.mechanism.joints.values():
            if joint.only_locks():
                self._locks(joint)
            else:
                self._joint(self._lowered(next(others)))
        for element in others:
            self.records[element.category].append(self._element(self._lowered(element)))

    def model(self) -> Model:
        self.walk()
        positions, velocities, guesses = map(self._given, ("position", "velocity", "guess"))
        places = {} if self.formulas is None else self.formulas.places
        inputs = _input_places(self.inputs.values(), self.flat, places, self.custom)
        contacts = ContactBuilder(self.mechanism, self.body_index)
        touching = tuple(contacts.add(name, law) for name, law in laws_of(self.mechanism))
        arrays = {
            "gravity": np.array(self.mechanism.gravity, dtype=np.float64),
            "body_mass": self._stacked("mass"),
            "body_com": self._stacked("com", 3),
            "body_inertia": self._stacked("inertia", 3, 3),
            **self.flat.arrays(),
            **({} if self.formulas is None else {"formulas": self.formulas.core}),
            **_input_arrays(inputs, self.flat),
            **({"contacts": contacts.core} if touching else {}),
        }
        name, bodies, forces = self.mechanism.name, self.mechanism.bodies, self.records["force"]
        position, rotation, velocity, spin = (self._stacked(*part) for part in _MOTION)
        described = Model(
            name=name,
            bodies=tuple(bodies),
            joints=tuple(self.joints),
            constraints=tuple(self.records["constraint"]),
            forces=tuple(forces),
            drives=tuple(self.records["drive"]),
            multipliers=tuple(self.multipliers),
            block_owner=tuple(self.owners),
            start=StartValues(
                tuple(self.flat.start_rows),
                tuple(self.flat.start_laws),
                tuple(self.flat.start_offsets),
                tuple(self.flat.start_formulas),
                tuple(self.flat.start_wraps),
            ),
            initial=State(self.time, position, rotation, velocity, spin),
            arrays=arrays,
            core=self._core_model(arrays),
            custom=tuple(self.custom),
            inputs=inputs,
            contacts=touching,
        )
        check_driven_rows(described)
        if self.formulas is not None:
            check_starts(described, positions, guesses)
            if not self.begins and (begins := sought(described, (*positions, *guesses))):
                return _Compiler(self.mechanism, self.time, self.followed, begins, self.inputs).model()
        if not positions and not velocities and not guesses:
            return described.started(described.initial)
        given = Given(positions, velocities, guesses, self._given("begin"), described.initial)
        return described.starting(carried(described, given), given)

    def _stacked(self, field: str, *shape: int) -> np.ndarray:
        """A field of all bodies (nb, ...)."""
        return np.array([getattr(body, field) for body in self.bodies], dtype=np.float64).reshape(-1, *shape)

    def _core_model(self, arrays: dict[str, Any]) -> _core.Model:
        """Of these arrays; what the core refuses by the element that the entry of an array belongs to."""
        try:
            return _core.Model(**arrays)
        except ValueError as error:
            rule, element = str(error), ""
            if found := _ENTRY.match(rule):
                rule, element = found[3], self._element_of(found[1], int(found[2]), arrays)
            raise MechanismError(Fault(element or f"mechanism {self.mechanism.name!r}", rule)) from error

    def _element_of(self, array: str, entry: int, arrays: dict[str, Any]) -> str:
        """The element that an entry of an array belongs to; nothing where it cannot be found."""
        if array.startswith("body_"):
            return f"body {self.bodies[entry].name!r}" if entry < len(self.bodies) else ""
        if array.startswith("block_"):
            return self.owners[entry] if entry < len(self.owners) else ""

        def holding(name: str) -> set[int]:
            return set(np.flatnonzero(np.ravel(arrays[name]) == entry).tolist())

        laws = {entry} if array.startswith("law_") else set()
        wrenches = {entry} if array.startswith("wrench_") else set()
        rows: set[int] = set()
        if array.startswith("function_"):
            laws, rows = holding("law_function"), holding("row_function")
            wrenches = {place // 6 for place in holding("wrench_function")}
        elif array.startswith("coordinate_"):
            laws = holding("law_coordinate")
            terms = holding("term_coordinate")
            rows = {int(np.searchsorted(arrays["row_term_start"], term, side="right")) - 1 for term in terms}
        if rows:
            return self.owners[int(np.searchsorted(arrays["block_row_start"], min(rows), side="right")) - 1]
        held = [f for f in self.records["force"] if laws & set(f.laws) or wrenches & set(f.wrenches)]
        return f"force {held[0].name!r}" if held else ""

    def _given(self, which: str) -> tuple[GivenValue, ...]:
        """The initial positions, velocities or guesses that joints are given."""
        found = []
        for number, joint in enumerate(self.mechanism.joints.values()):
            begins = tuple(self.begins.get(joint.name, {}).items())
            for name, value in begins if which == "begin" else getattr(joint, which):
                coordinate = self.flat.coordinate(joint.resolved(name))
                found.append(GivenValue(number, coordinate, value, f"{which} of joint {joint.name!r}"))
        return tuple(found)

    def _owner_of(self, coordinate: Coordinate) -> Joint:
        """The joint that a coordinate of its own belongs to."""
        pair = self.flat.pair(coordinate.marker_1, coordinate.marker_2)
        return next(
            joint
            for joint in self.mechanism.joints.values()
            if joint.kind.custom is not None and self.flat.pair(joint.marker_1, joint.marker_2) == pair
        )

    def _named(self, coordinate: Coordinate) -> str:
        if coordinate.kind != OWN:
            return coordinate.kind
        return self._owner_of(coordinate).kind.free[int(coordinate.params[0])]

    def _unit(self, coordinate: Coordinate) -> str:
        if coordinate.kind != OWN:
            return COORDINATE_KINDS[coordinate.kind].unit
        return _unit_of(self._owner_of(coordinate), coordinate)

    def _lowered(self, element: LoweredElement) -> LoweredElement:
        return self._custom(element) if _is_custom(element.lowered) else element

    def _custom(self, element: LoweredElement) -> LoweredElement:
        """Note an element given by formulas, and lower it to rows over them."""
        held = element.lowered.custom
        kind = "on a coordinate given by formulas" if held is None else type(held).__name__.lstrip("_")
        if held is None or self.formulas is None:
            self.custom.append(CustomRecord(element.category, element.name, kind, element.lowered))
            return element
        if element.category == "joint":
            self.custom.append(CustomRecord(element.category, element.name, kind, element.lowered))
            joint = self.mechanism.joints[element.name]
            begin = {**dict((*joint.position, *joint.guess)), **self.begins.get(joint.name, {})}
            lowered = self.formulas.joint(joint, element.lowered, begin)
        else:
            from bellcrank.compile.formulas import on_described_side

            table = self.mechanism.constraints if element.category == "constraint" else self.mechanism.forces
            ends = element.lowered.ends
            ends = resolve_ends(self.mechanism, table[element.name]) if ends is None else ends
            numbered = tuple(e if isinstance(e, Marker) else self.flat.coordinate(e) for e in ends)
            held = on_described_side(held, ends, lambda body: self.mechanism.bodies[body].rotation)
            element = replace(element, lowered=replace(element.lowered, custom=held))
            places = self.formulas.places
            starts = tuple((places[symbol], self.flat.coordinate(c)) for symbol, c in held.starts)
            self.flat.start_formulas += starts
            record = CustomRecord(element.category, element.name, kind, element.lowered, numbered, starts)
            self.custom.append(record)
            if element.category == "constraint":
                lowered = self.formulas.constraint(held, ends)
            else:
                self.formulas.force(held, ends)
                lowered = Lowered()
        return LoweredElement(element.category, element.name, lowered)

    def _locks(self, joint: Joint) -> None:
        """A joint that is no more than locks of coordinates."""
        one, two, kind = joint.marker_1, joint.marker_2, joint.kind
        free = self.flat.free(one, two, kind.free)
        record = JointRecord(
            name=joint.name,
            kind=kind.name,
            bodies=(self.body_index[one.body], self.body_index[two.body]),
            pair=self.flat.pair(one, two),
            coordinates=free,
            coordinate_names=kind.free,
            units=_units_of(kind.free),
            blocks=(self.flat.locks(one, two, kind.locked),),
        )
        self.joints.append(record)
        self.owners.append(f"joint {joint.name!r}")

    def _joint(self, element: LoweredElement) -> None:
        joint = self.mechanism.joints[element.name]
        coordinates = element.lowered.coordinates
        self.joints.append(
            JointRecord(
                name=joint.name,
                kind=joint.kind.name,
                bodies=(self.body_index[joint.marker_1.body], self.body_index[joint.marker_2.body]),
                pair=self.flat.pair(joint.marker_1, joint.marker_2),
                coordinates=tuple(self.flat.coordinate(c) for c in coordinates),
                coordinate_names=joint.kind.free[: len(coordinates)],
                units=tuple(_unit_of(joint, c) for c in coordinates),
                blocks=self._blocks(element),
            )
        )

    def _law(self, law: Law) -> int:
        number = self.flat.law(law)
        for load in law.loads:
            source = self._source(load)
            forms = [number for form in load.forms for number in form]
            wrap = [self.flat.coordinate(term.coordinate) for term in load.wrap]
            factors = [term.coefficient for term in load.wrap]
            weights = (load.slipping, load.holding)
            if load.turns is not None:
                self.flat.start_wraps.append((len(self.flat.friction_loads), load.turns))
            self.flat.friction_loads.append((number, *source, forms, *weights, wrap, factors, load.wrapped))
        return number

    def _source(self, load: FrictionLoad) -> tuple[int, list[int], list[int]]:
        """Of a load the pair and the blocks of a joint, or the rows of a constraint."""
        if load.of is LoadOf.NOTHING:
            return -1, [], []
        known: Any = self.joints if load.of is LoadOf.JOINT else self.records["constraint"]
        record = next(one for one in known if one.name == load.element)
        limits = [self.flat.blocks[block][0] and load.of is LoadOf.JOINT for block in record.blocks]
        blocks = [block for block, limit in zip(record.blocks, limits, strict=True) if not limit]
        if load.of is LoadOf.JOINT:
            return record.pair, blocks, []
        return -1, [], [row for block in blocks for row in range(*self.flat.block_start[block : block + 2])]

    def _element(self, element: LoweredElement) -> ElementRecord:
        lowered = element.lowered
        return ElementRecord(
            element.name,
            self._blocks(element),
            tuple(map(self._law, lowered.laws)),
            tuple(self.flat.wrench(wrench) for wrench in lowered.wrenches),
            tuple(law.label for law in lowered.laws),
        )

    def _blocks(self, element: LoweredElement) -> tuple[int, ...]:
        indices = []
        for block in element.lowered.blocks:
            indices.append(self.flat.block(block))
            self.owners.append(_owner_of(element, block))
            if block.role in MULTIPLIER_KINDS:
                self._multipliers(element.name, block)
        return tuple(indices)

    def _multipliers(self, name: str, block: Block) -> None:
        first = self.flat.block_start[-2]
        kind = MULTIPLIER_KINDS[block.role]
        coupled = self.mechanism.constraints[name].kind if kind == "constraint" else None
        for number, row in enumerate(block.rows):
            place = sum(m.element == name for m in self.multipliers)
            called = coupled.effort_name(place) if coupled else ""
            if not row.terms:  # an equation, whose unit is known if formulas are not the user's
                unit = EQUATION_UNIT if coupled is None or not called else coupled.effort_unit(())
                text = called or f"equation {place + 1}"
                record = MultiplierRecord(name, "constraint", first + number, -1, text, unit, 1.0)
                self.multipliers.append(record)
                continue
            term = row.terms[0]
            names = [self._named(t.coordinate) for t in row.terms]
            self.multipliers.append(
                MultiplierRecord(
                    element=name,
                    kind=kind,
                    row=first + number,
                    coordinate=-1 if coupled else self.flat.coordinate(term.coordinate),
                    coordinate_name=called or " and ".join(dict.fromkeys(names)),
                    unit=coupled.effort_unit({self._unit(t.coordinate) for t in row.terms})
                    if coupled
                    else EFFORT_UNITS[self._unit(term.coordinate)],
                    sign=coupled.effort_sign(row) if coupled else term.coefficient,
                )
            )


def _input_places(
    inputs: Iterable[Expression],
    flat: FlatBuilder,
    formula_places: Mapping[Any, int],
    custom: Iterable[CustomRecord],
) -> dict[Expression, InputPlaces]:
    """The inputs of a mechanism, in their order, with their places in its model.

    formula_places: of symbols among the values of formulas. custom: what formulas give.
    """
    steered = flat.steered()
    driven = {symbol for function, _, symbol in steered if function in flat.row_function}
    for record in custom:
        if record.category in ("joint", "constraint") and record.lowered.custom is not None:
            kind: Any = record.lowered.custom
            driven.update(kind.input_symbols)
    return {
        one: InputPlaces(
            tuple(place for _, place, symbol in steered if symbol == one),
            formula_places.get(one, -1),
            one in driven,
        )
        for one in inputs
    }


def _input_arrays(inputs: Mapping[Expression, InputPlaces], flat: FlatBuilder) -> dict[str, Any]:
    """The inputs as the core takes them, with the functions that go on from where they are; none: nothing."""
    places = [(list(one.params), one.formula) for one in inputs.values()]
    offsets = [(function, place) for function, place, symbol in flat.steered() if not is_input(symbol)]
    return {"inputs": places, "input_offsets": offsets} if places else {}


@cache
def _units_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """The units of coordinates that are given by no formulas."""
    return tuple(COORDINATE_KINDS[name].unit for name in names)


def _unit_of(joint: Joint, coordinate: Coordinate) -> str:
    """The unit of one of a joint's coordinates."""
    if coordinate.kind != OWN:
        return COORDINATE_KINDS[coordinate.kind].unit
    units: tuple[str, ...] = joint.kind.units_of_coordinates  # type: ignore[attr-defined]
    return units[int(coordinate.params[0])]


def _is_custom(lowered: Lowered) -> bool:
    """Whether there are formulas in it, or rows and laws on coordinates of joints given by formulas."""
    terms = [term.coordinate for block in lowered.blocks for row in block.rows for term in row.terms]
    laws = [law.coordinate for law in lowered.laws]
    return lowered.custom is not None or any(coordinate.kind == OWN for coordinate in (*terms, *laws))


def _owner_of(element: LoweredElement, block: Block) -> str:
    """What messages call the element that a block of rows belongs to."""
    if block.role in ("limit_lower", "limit_upper"):
        return f"{block.role.removeprefix('limit_')} limit of joint {element.name!r}"
    return f"{element.category} {element.name!r}"


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the garbage collector, which would go through the many small new objects again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
