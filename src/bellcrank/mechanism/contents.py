"""The contents of a mechanism: its elements by name, as they were added, and with numbers for expressions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.expression.reading import symbols_of
from bellcrank.mechanism.attachment import Constraint, Force
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.changes import Change
from bellcrank.mechanism.checking import Check, Vec3, check_name
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.given import Numbers
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import (
    Parameter,
    comparable,
    evaluated,
    expressions_in,
    holds_expressions,
    is_input,
    is_parameter,
    present,
    values_of,
)
from bellcrank.mechanism.sensors import Sensor
from bellcrank.mechanism.units import in_si
from bellcrank.slips import Named, View

if TYPE_CHECKING:
    from bellcrank.mechanism.collisions import Collisions
    from bellcrank.mechanism.mechanism import Mechanism

E = TypeVar("E")

TABLES: Final = {
    "parameters": "parameter",
    "bodies": "body",
    "markers": "marker",
    "beams": "beam",
    "joints": "joint",
    "constraints": "constraint",
    "forces": "force",
    "drives": "drive",
    "sensors": "sensor",
    "changes": "change",
}
"""The tables of a mechanism, with the noun for their elements; a table is stored under "_" and its name."""
ELEMENTS: Final = {table: noun for table, noun in TABLES.items() if noun not in ("parameter", "marker")}
"""Those whose elements can be removed and replaced by name."""


class Contents:
    """Name, gravity and the tables of elements; two are equal if all of these are, order included.

    left_out: what a file of another program contained that the mechanism does not, with its place.
    collisions: what such files say of contacts, which `contacts_from_file` adds.
    """

    def __init__(self, name: str = "mechanism", gravity: Numbers = (0.0, 0.0, -9.81)) -> None:
        self.name = check_name("mechanism", name)
        self._parameters: Named[Parameter] = Named("parameter")
        self.gravity = cast(Any, gravity)
        self._ground = Ground()
        self._bodies: Named[Body] = Named("body")
        self._markers: Named[Marker] = Named("marker")
        self._beams: Named[Beam] = Named("beam")
        self._joints: Named[Joint] = Named("joint")
        self._constraints: Named[Constraint] = Named("constraint")
        self._forces: Named[Force] = Named("force")
        self._drives: Named[Drive | PathDrive] = Named("drive")
        self._sensors: Named[Sensor] = Named("sensor")
        self._changes: Named[Change] = Named("change")
        self.left_out: tuple[Fault, ...] = ()
        self.collisions: tuple[Collisions, ...] = ()

    @property
    def size(self) -> int:
        """The number of parameters, bodies, markers and other elements."""
        return sum(len(getattr(self, table)) for table in TABLES)

    @property
    def gravity(self) -> Vec3:
        """Acceleration of free fall, world axes, m/s^2."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        with Check("mechanism") as check:
            if isinstance(value, (int, float)):
                advice = f"such as (0, 0, {-abs(value):g}): z points up"
                check.fault("gravity must hold 3 numbers", value, advice)
                check.faults.raise_any()
            gravity = check.vector("gravity", present(value), "m/s^2")
        self._gravity: Vec3 = tuple(value) if holds_expressions(value) else gravity

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name."""
        return View(self._parameters)

    @property
    def ground(self) -> Ground:
        """The ground, to which markers can be fixed: mech.ground.marker(...)."""
        return self._ground

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The bodies by name, without the ground."""
        return View(self._bodies)

    @property
    def markers(self) -> Mapping[str, Marker]:
        """The named markers, by "body.name"."""
        return View(self._markers)

    @property
    def beams(self) -> Mapping[str, Beam]:
        """The beams by name; their nodes are among the bodies, their segments among the forces."""
        return View(self._beams)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name."""
        return View(self._joints)

    @property
    def constraints(self) -> Mapping[str, Constraint]:
        """The constraints by name."""
        return View(self._constraints)

    @property
    def forces(self) -> Mapping[str, Force]:
        """The forces by name."""
        return View(self._forces)

    @property
    def drives(self) -> Mapping[str, Drive | PathDrive]:
        """The drives by name."""
        return View(self._drives)

    @property
    def sensors(self) -> Mapping[str, Sensor]:
        """The sensors by name."""
        return View(self._sensors)

    @property
    def changes(self) -> Mapping[str, Change]:
        """The changes by name."""
        return View(self._changes)

    def copy(self) -> Self:
        """A copy that can be edited independently; the elements, which are immutable, are shared.

        >>> longer = pendulum.copy()
        >>> longer.gravity = (0, -1.62, 0)    # on the moon
        >>> pendulum.gravity, longer.gravity
        ((0.0, -9.81, 0.0), (0.0, -1.62, 0.0))
        """
        copy = type(self)(self.name)
        for table in TABLES:
            setattr(copy, f"_{table}", getattr(self, f"_{table}").copy())
        vars(copy).update(_gravity=self._gravity, _ground=self._ground, left_out=self.left_out)
        copy.collisions = self.collisions
        return copy

    __copy__ = copy

    def __deepcopy__(self, _memo: object) -> Self:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contents):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]

    def _state(self) -> tuple[object, ...]:
        tables = (list(getattr(self, table).items()) for table in ("parameters", *ELEMENTS))
        state = (self.name, self.gravity, self._ground, self._markers, *tables)
        compared: tuple[object, ...] = comparable(state)  # expressions by the names of their parameters
        return compared

    def __repr__(self) -> str:
        counts = [(len(getattr(self, table)), TABLES[table]) for table in ("parameters", *ELEMENTS)]
        held = ", ".join(counted(count, noun) for count, noun in counts if count)
        return f"<Mechanism {self.name!r}: {held or 'empty'}>"


def counted(count: int, noun: str) -> str:
    """A number with its noun, such as 1 body, 2 bodies, 0 joints."""
    plural = f"{noun[:-1]}ies" if noun.endswith("dy") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def required_mechanism(element: str, value: Any) -> None:
    """Raise MechanismError, naming the `element`, for anything but a mechanism."""
    if isinstance(value, Contents):
        return
    advice = "make one with bc.Mechanism(name), or read one with bc.load(path)"
    if isinstance(value, (str, os.PathLike)):
        advice = f"read it first: bc.load({os.fspath(value)!r})"
    elif isinstance(value, type):
        advice = f"write {value.__name__}(name), with parentheses"
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Contents):
        advice = "give one at a time; bc.sweep computes many"
    elif isinstance(getattr(value, "mechanism", None), Contents):
        advice = "give its mechanism: .mechanism"
    raise MechanismError.of(element, "a Mechanism is needed here", value, advice)


def with_numbers(mechanism: Mechanism) -> Mechanism:
    """The mechanism with each expression replaced by its present value; itself if it has none.

    Raises MechanismError naming the elements whose numbers break a rule at these values, and for anything but
    a Mechanism.
    """
    required_mechanism("mechanism", mechanism)
    held = {
        (table, name): element
        for table in TABLES
        if table != "parameters"
        for name, element in getattr(mechanism, table).items()
        if holds_expressions(element)
    }
    whole = [value for value in (mechanism.gravity, mechanism.ground) if holds_expressions(value)]
    if not held and not whole:
        return mechanism
    known = {parameter.symbol: parameter.value for parameter in mechanism.parameters.values()}
    faults = FaultList()
    numbers: dict[Any, float] = {}
    for (table, name), element in held.items():
        with _of(faults, table, name):
            numbers.update(values_of(expressions_in(element), known))
    faults.raise_any()
    numbers.update(values_of(expressions_in(whole), known))
    copy = mechanism.copy()
    for (table, name), element in held.items():
        with _of(faults, table, name):
            getattr(copy, f"_{table}")[name] = evaluated(element, numbers.__getitem__)
    faults.raise_any()
    copy.gravity = evaluated(mechanism.gravity, numbers.__getitem__)
    copy._ground = evaluated(mechanism.ground, numbers.__getitem__)  # noqa: SLF001
    return copy


def numbers_in(mechanism: Contents, value: E) -> E:
    """A value given beside a mechanism, such as a marker or a point, with numbers for its expressions.

    Parameters have the values that they have in the mechanism, by name: one read from a file has symbols of
    its own. Raises MechanismError for expressions of anything else.
    """
    if not holds_expressions(value):
        return value
    wanted = list(expressions_in(value))
    symbols = {symbol for one in wanted for symbol in symbols_of(one)}
    parameters = mechanism.parameters
    known = {
        symbol: parameters[symbol.name].value
        for symbol in symbols
        if is_parameter(symbol) and not is_input(symbol) and symbol.name in parameters
    }
    return evaluated(value, values_of(wanted, known).__getitem__)


def point_in(mechanism: Contents | None, element: str, value: Any, what: str = "the point") -> Vec3:
    """The three numbers, m, of a point given beside a mechanism by numbers, expressions, texts with units.

    mechanism: None where it is not known. Raises MechanismError for anything else.
    """
    with Check(element) as check:
        number = in_si(check, what, value, ("m",))
        if holds_expressions(number):
            if mechanism is None:
                check.fault("it depends on parameters, of which the values are not known here", value)
                return (0.0, 0.0, 0.0)
            try:
                number = numbers_in(mechanism, number)
            except MechanismError as error:
                for fault in error.faults:
                    check.fault(f"{what}: {fault.rule}", fault.value, fault.advice)
        check.faults.raise_any()
        return check.vector(what, number, "m")


@contextmanager
def _of(faults: FaultList, table: str, name: str) -> Iterator[None]:
    """Collect the faults of an element's numbers, under the name of the element."""
    element = f"{TABLES[table]} {name!r}"
    try:
        yield
    except MechanismError as error:
        for fault in error.faults:
            inner = "" if fault.element in ("expression", element) else f", {fault.element}"
            with faults.collect():
                raise MechanismError(replace(fault, element=f"{element}{inner}")) from None
