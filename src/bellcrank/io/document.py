"""A mechanism from the nodes of its file: version, head, then the sections in order of dependency."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from bellcrank.compile.validate import validate
from bellcrank.errors import FaultList, MechanismError
from bellcrank.io.custom import CustomReader, custom_kind, custom_kinds
from bellcrank.io.decode import FAILED, Failed, all_read, culprit
from bellcrank.io.fields import (
    BEAM_ENDS,
    BEAM_FIELDS,
    BODY_FIELDS,
    DRIVE_FIELDS,
    ENDS,
    GRAVITY_UNITS,
    INPUT_FIELDS,
    MARKER_KEYS,
    MEMBER_FIELDS,
    MEMBERS,
    PARAMETER_FIELDS,
    PLACEMENT_FIELDS,
    SECTIONS,
    SOURCES,
    TOP_KEYS,
    VERSION,
    Parameter,
    Simulation,
    parameters,
    size_fields,
    wanted,
)
from bellcrank.io.node import Entries, Node, Place, Scalar, plain
from bellcrank.io.references import MEETING_FIELDS, References
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    GROUND,
    JOINT_KINDS,
    SENSOR_KINDS,
    Ground,
    Joint,
    Limit,
    Marker,
    Mechanism,
)
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.mechanism.joint import STARTS
from bellcrank.mechanism.parameters import Input, inputs_of

_ORDER: Final = (
    "bodies", "mechanisms", "members", "markers", "beams", "joints", "constraints", "forces", "drives",
    "sensors", "changes",
)  # fmt: skip
"""The sections of elements, in the order in which they can refer to each other."""


@dataclass
class Document:
    """The contents of a file.

    places: the place of each element in the file, by noun and name.
    """

    mechanism: Mechanism = field(default_factory=Mechanism)
    simulation: Simulation = field(default_factory=Simulation)
    places: dict[tuple[str, str], tuple[Node, Place]] = field(default_factory=dict)


Include: TypeAlias = Callable[[Node, Place], Document | None]
"""Reads the document of a placed mechanism, from a file's name or from a mapping; None if that failed."""

_Joining: TypeAlias = tuple[Callable[..., Joint], dict[str, Any]]


class DocumentReader(References):
    """Reads a document from a tree of nodes, section by section; faulty parts are noted and left out.

    document: where elements are added, an empty one by default. A method `add_NOUN` adds an element of a
    section; it returns FAILED if it noted faults.
    """

    def __init__(
        self, faults: FaultList, folder: Path | None, include: Include, document: Document | None = None
    ) -> None:
        self.document = document or Document()
        super().__init__(self.document.mechanism, faults, folder)
        self.include = include
        self.inputs: dict[str, tuple[Node, Place]] = {}
        self.beams: tuple[str, ...] = ()
        self.nodes: list[tuple[str, Callable[[], object]]] = []

    def build(self, root: Node, place: Place, version_needed: bool = True) -> Document:
        """The document of a tree of nodes."""
        entries = self.entries(root, place, "a mapping with the key 'bellcrank'")
        if isinstance(entries, Failed) or not self.check_version(entries, root, place, version_needed):
            return self.document
        self.check_keys(root, place, entries, TOP_KEYS)
        self.head(entries, place)
        self.beams = tuple(name for name, _, _ in self.section(entries, "beams", place))
        for section in _ORDER:
            add: Callable[[str, Node, Place], object] = getattr(self, f"add_{SECTIONS[section]}")
            for name, node, at in self.section(entries, section, place):
                self.document.places.setdefault((SECTIONS[section], name), (node, at))
                if add(name, node, at) is FAILED:
                    self.failed.add((SECTIONS[section], name))
        return self.document

    def check_version(self, entries: Mapping[str, Node], root: Node, place: Place, needed: bool) -> bool:
        """Whether the file is of a supported version; a fault is noted if not."""
        node = entries.get("bellcrank")
        if node is None:
            if needed:
                advice = f"begin the file with 'bellcrank: {VERSION}'"
                self.fault(place, root, "the key 'bellcrank' is missing", None, advice)
            return not needed
        if isinstance(node, Scalar) and node.value == VERSION and not isinstance(node.value, (bool, float)):
            return True
        advice = f"this bellcrank reads version {VERSION}"
        if isinstance(node, Scalar) and isinstance(node.value, int) and node.value > VERSION:
            advice += "; a newer one may read this file"
        self.fault(
            place.at("bellcrank"), node, "this version of the format is not known", plain(node), advice
        )
        return False

    def head(self, entries: Mapping[str, Node], place: Place) -> None:
        """Name, parameters, inputs, gravity, the ground's shapes and the simulation."""
        mechanism = self.mechanism
        for name, given, at in self.section(entries, "parameters", place):
            self.add_parameter(name, given, at)
        self.names = {name: parameter.symbol for name, parameter in mechanism.parameters.items()}
        for name, given, at in self.section(entries, "inputs", place):
            if (symbol := self.add_input(name, given, at)) is not FAILED:
                self.names = {name: symbol, **self.names}
                self.inputs[name] = (given, at)
        for key, hint, units in (("name", str, ()), ("gravity", Vec3, GRAVITY_UNITS)):
            if (node := entries.get(key)) is not None:
                at = replace(place.at(key), element="mechanism")
                value = self.value(node, wanted(hint), at, units)
                if value is not FAILED:
                    self.made(node, at, partial(_set_head, mechanism, key, value))
        if (node := entries.get("ground")) is not None:
            at = replace(place.at("ground"), element="ground")
            self.whole(node, at, parameters(Ground), partial(mechanism.replace, mechanism.ground))
        if (node := entries.get("simulation")) is not None:
            self.add_simulation(node, replace(place.at("simulation"), element="simulation"))

    def add_simulation(self, node: Node, place: Place) -> None:
        """The defaults for a run."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return
        known = {name: parameter for name, parameter in parameters(Simulation).items() if name != "options"}
        given = self.fields(node, place, entries, known, ("options",))
        options = entries.get("options")
        if isinstance(options, Entries):
            given.values["options"] = plain(options)
        elif options is not None:
            self.fault(place.at("options"), options, "a mapping is needed here", plain(options))
        made = self.constructed(node, place, given, lambda: Simulation(**given.values))
        if made is not FAILED:
            self.document.simulation = made

    def section(
        self, entries: Mapping[str, Node], key: str, place: Place
    ) -> Iterator[tuple[str, Node, Place]]:
        """Name, node and place of each element in a section."""
        node = entries.get(key)
        if node is None or (isinstance(node, Scalar) and node.value is None):
            return
        found = self.entries(node, place.at(key), f"a mapping from the names of the {key}")
        if isinstance(found, Failed):
            self.lost = True
            return
        for name, child in found.items():
            yield name, child, place.of(key, name, SECTIONS[key])

    def check(self) -> None:
        """Check the mechanism as a whole, and note faults at the elements concerned."""
        if not self.mechanism.bodies:
            return  # a model still to be filled, or faulty bodies
        places = {f"{noun} {name!r}": where for (noun, name), where in self.document.places.items()}
        try:
            validate(self.mechanism)
        except MechanismError as error:
            for fault in error.faults:
                if isinstance(fault.value, str) and self.is_failed(fault.value):
                    continue
                node, place = places.get(fault.element, (None, Place()))
                location = place.location() if node is None else culprit(node, place, fault)
                with self.faults.collect():
                    raise MechanismError(replace(fault, location=location)) from None
        if len(self.faults) == 0:  # a faulty element may have been the one that uses the input
            for name in sorted(set(self.inputs) - set(inputs_of(self.mechanism))):
                node, place = self.inputs[name]
                self.fault(place, node, "nothing follows this input", None, "use it, or take it out")

    def whole(
        self, node: Node, place: Place, known: Mapping[str, Parameter], make: Callable[..., object]
    ) -> object:
        """The result of `make` for the values of a mapping that contains fields only."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.fields(node, place, entries, known)
        return self.constructed(node, place, given, lambda: make(**given.values))

    def add_parameter(self, name: str, node: Node, place: Place) -> object:
        """A parameter: a number, or a mapping with its value."""
        return self.number(node, place, PARAMETER_FIELDS, partial(self.mechanism.add_parameter, name))

    def add_input(self, name: str, node: Node, place: Place) -> object:
        """An input: a number, or a mapping with its value and unit; its symbol."""
        return self.number(node, place, INPUT_FIELDS, partial(Input, name))

    def number(
        self, node: Node, place: Place, known: Mapping[str, Parameter], make: Callable[..., object]
    ) -> object:
        """The result of `make` for a number alone, or for a mapping with its value."""
        if isinstance(node, Entries):
            return self.whole(node, place, known, make)
        value = self.value(node, wanted(float), place)
        return FAILED if value is FAILED else self.made(node, place, lambda: make(value))

    def add_body(self, name: str, node: Node, place: Place) -> object:
        """A body, with mass properties from numbers or from shapes."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        if self.of_beam(name):
            self.nodes.append((name, partial(self.add_node, name, node, place, entries)))
            return None
        given = self.fields(node, place, entries, BODY_FIELDS)
        # If one of these could not be read, a substitute lets the other fields be checked.
        stand_ins = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
        values = {**{key: stand_ins[key] for key in given.failed if key in stand_ins}, **given.values}
        return self.constructed(node, place, given, lambda: self.mechanism.add_body(name, **values))

    def of_beam(self, name: str) -> bool:
        """Whether a body is, by its name, a node of a beam that comes later."""
        beam, _, number = name.rpartition("/")
        return number.isdigit() and beam in self.beams and beam not in self.mechanism.beams

    def add_node(self, name: str, node: Node, place: Place, entries: Mapping[str, Node]) -> object:
        """A node that is not as its beam makes it: the fields that are given."""
        body = self.mechanism.bodies.get(name)
        if body is None:  # one of its own that is only called so
            return self.add_body(name, node, place)
        given = self.fields(node, place, entries, BODY_FIELDS)
        return self.constructed(node, place, given, lambda: self.mechanism.replace(body, **given.values))

    def add_beam(self, name: str, node: Node, place: Place) -> object:
        """A beam with its nodes and segments, and what the file says of nodes."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.fields(node, place, entries, BEAM_FIELDS)
        values = dict(given.values)
        for end in BEAM_ENDS:
            if (kind := values.pop(f"{end}_joint", None)) is not None and end in values:
                values[end] = (values[end], kind)
        added = self.constructed(node, place, given, lambda: self.mechanism.add_beam(name, **values))
        own = [read for one, read in self.nodes if one.rpartition("/")[0] == name]
        if added is not FAILED:
            for end in BEAM_ENDS:
                self.document.places["joint", f"{name}/{end}"] = (node, place)
            for one in added.nodes:
                self.document.places.setdefault(("body", one), (node, place))
            for one in added.pieces:
                self.document.places["force", one] = (node, place)
        return added if added is FAILED else all_read([read() for read in own])

    def add_marker(self, name: str, node: Node, place: Place) -> object:
        """A named marker: "body.name", or "name" with the body given inside."""
        body, _, inner = name.rpartition(".")
        if self.of_beam(body):
            self.nodes.append((body, partial(self.add_marker, name, node, place)))
            return None
        if not body and (name == GROUND or name in self.mechanism.bodies):
            return self.fault(place, node, "a body has this name", name, "choose another for the marker")
        marker = self.written_marker(node, place, body or None, inner)
        if isinstance(marker, Failed):
            return FAILED
        added = self.made(node, place, lambda: self.mechanism.add_marker(marker))
        if added is not FAILED and not body:
            self.aliases[name] = marker
            self.document.places["marker", str(marker.key)] = (node, place)
        return added

    def add_joint(self, name: str, node: Node, place: Place) -> object:
        """A joint: its kind, its markers, its limits and its initial values."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        starts = [key for key in STARTS if key not in self.known(entries, JOINT_KINDS)]
        meeting = tuple(MEETING_FIELDS) if "bodies" in entries else ()
        others = (*(("bodies", *meeting) if meeting else MARKER_KEYS), "limits", *starts)
        kind = self.kind_of(node, place, entries, JOINT_KINDS, "joint", others)
        read = self.meeting if meeting else self.markers_of_joint
        add, ends = read(node, place, entries)
        limits = self.limits(entries["limits"], place.at("limits")) if "limits" in entries else ()
        given = {key: self.start(key, entries[key], place.at(key)) for key in starts if key in entries}
        if all_read((kind, *ends.values(), limits, *given.values())) is FAILED:
            return FAILED
        before = set(self.mechanism.drives) if kind.shorthand else set()
        added = self.made(node, place, lambda: add(name, kind, **ends, limits=limits, **given))
        for drive in set(self.mechanism.drives) - before if kind.shorthand else ():
            self.document.places["drive", drive] = (node, place)
        return added

    def markers_of_joint(self, node: Node, place: Place, entries: Mapping[str, Node]) -> _Joining:
        """How a joint between two markers is added, and these."""
        return self.mechanism.add_joint, {
            name: self.marker(entries[key], place.at(key))
            if key in entries
            else self.fault(place, node, f"the key {key!r} is missing", None, "or give 'bodies' and 'at'")
            for key, name in MARKER_KEYS.items()
        }

    def meeting(self, node: Node, place: Place, entries: Mapping[str, Node]) -> _Joining:
        """How bodies are joined at a point of the world, and which, where, along what axes."""
        found: dict[str, Any] = {"bodies": self.carriers(entries["bodies"], place.at("bodies"))}
        for key, parameter in MEETING_FIELDS.items():
            if key in entries:
                found[key] = self.value(entries[key], wanted(parameter.hint), place.at(key), parameter.units)
            elif parameter.required:
                found[key] = self.fault(place, node, f"the key {key!r} is missing")
        return self.mechanism.join, found

    def known(self, entries: Mapping[str, Node], named: Mapping[str, type]) -> Collection[str]:
        """The fields of the kind that `type` names; none if it names none."""
        given = entries.get("type")
        cls = named.get(given.text) if isinstance(given, Scalar) else None
        return parameters(cls) if cls is not None else ()

    def start(self, key: str, node: Node, place: Place) -> Any:
        """A number, a list of them, or a mapping from coordinates to numbers."""
        units = parameters(Joint)[key].units
        if not isinstance(node, Entries):
            return self.value(node, wanted(float | tuple[float, ...]), place, units)
        return self.named(node, wanted(float), place, units)

    def limits(self, node: Node, place: Place) -> Any:
        """One limit, or a mapping from coordinates to limits."""
        limit = wanted(Limit)
        if isinstance(node, Entries) and any(
            key.text in parameters(Limit) and not isinstance(child, Entries) for key, child in node.entries
        ):  # a coordinate may have the name of a parameter
            return self.value(node, limit, place)
        return self.named(node, limit, place)

    def kind_of(
        self,
        node: Node,
        place: Place,
        entries: Mapping[str, Node],
        named: Mapping[str, type],
        noun: str,
        others: Collection[str],
        letters: str = "",
    ) -> Any:
        """The kind that `type` and its fields define, in a mapping that has other keys as well.

        letters: the ends, for kinds given by formulas: M for each marker, J for each joint.
        """
        custom = custom_kind(entries, noun)
        if custom is not None:
            reader = CustomReader(self, place, letters)
            return reader.kind(custom, node, entries, ("type", *others))
        cls = self.kind(node, place, entries, {**named, **custom_kinds(noun)}, noun)
        if isinstance(cls, Failed):
            return FAILED
        given = self.fields(node, place, entries, parameters(cls), ("type", *others))
        return self.constructed(node, place, given, lambda: cls(**given.values))

    def add_constraint(self, name: str, node: Node, place: Place) -> object:
        """A constraint of any kind between its ends."""
        return self.add_attached(name, node, place, CONSTRAINT_KINDS, self.mechanism.add_constraint)

    def add_force(self, name: str, node: Node, place: Place) -> object:
        """A force of any kind between its ends."""
        return self.add_attached(name, node, place, FORCE_KINDS, self.mechanism.add_force)

    def add_sensor(self, name: str, node: Node, place: Place) -> object:
        """A sensor of any kind at its ends."""
        return self.add_attached(name, node, place, SENSOR_KINDS, self.mechanism.add_sensor)

    def add_change(self, name: str, node: Node, place: Place) -> object:
        """A change of any kind at its ends."""
        return self.add_attached(name, node, place, CHANGE_KINDS, self.mechanism.add_change)

    def add_attached(
        self, name: str, node: Node, place: Place, named: Mapping[str, type], add: Callable[..., object]
    ) -> object:
        """A constraint, force, sensor or change: its kind and its ends."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        noun = place.element.split()[0]
        given = entries.get("type")
        cls = named.get(given.text) if isinstance(given, Scalar) else None
        custom = custom_kind(entries, noun) is not None
        ends = self.ends(node, place, entries, cls) if custom else FAILED
        if custom and isinstance(ends, Failed):
            return FAILED
        listed = [] if isinstance(ends, Failed) else ends
        letters = "".join("M" if isinstance(end, Marker) else "J" for end in listed)
        kind = self.kind_of(node, place, entries, named, noun, ENDS, letters)
        if not custom:
            ends = self.ends(node, place, entries, cls)
        if kind is FAILED or isinstance(ends, Failed):
            return FAILED
        return self.made(node, place, lambda: add(name, kind, *ends))

    def add_drive(self, name: str, node: Node, place: Place) -> object:
        """A drive of a joint's coordinate or of a marker."""
        return self.whole(node, place, DRIVE_FIELDS, partial(self.mechanism.add_drive, name))

    def add_member(self, name: str, node: Node, place: Place) -> object:
        """A rod, or a strut of some kind, between two points of the world, with its bodies and pins."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        cls = self.kind(node, place, entries, MEMBERS, "member")
        if isinstance(cls, Failed):
            return FAILED
        of_kind = {} if cls is Body else parameters(cls)
        known = {**MEMBER_FIELDS, **size_fields(cls), **of_kind}
        given = self.fields(node, place, entries, known, ("type", "between"))
        between: Any = None
        if "between" in entries:
            between = self.carriers(entries["between"], place.at("between"))
        if between is FAILED:
            return FAILED
        own = {key: value for key, value in given.values.items() if key in of_kind}
        more = {key: value for key, value in given.values.items() if key not in of_kind}

        def make() -> object:
            if cls is Body:
                return self.mechanism.add_rod(name, **more, between=between)
            return self.mechanism.add_strut(name, cls(**own), **more, between=between)

        before = {noun: set(getattr(self.mechanism, table)) for table, noun in ELEMENTS.items()}
        added = self.constructed(node, place, given, make)
        for table, noun in ELEMENTS.items():
            for new in set(getattr(self.mechanism, table)) - before[noun]:
                self.document.places[noun, new] = (node, place)
        return added

    def add_placement(self, name: str, node: Node, place: Place) -> object:
        """A placed mechanism, from another file or given inline, with its names after a prefix."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.fields(node, place, entries, PLACEMENT_FIELDS, (*SOURCES, "parameters"))
        sources = [key for key in SOURCES if key in entries]
        if len(sources) != 1:
            rule = "exactly one of 'file' and 'mechanism' must be given"
            return self.fault(place, node, rule, sources or None)
        inner = self.include(entries[sources[0]], place.at(sources[0]))
        values = {"prefix": name, **given.values}
        if not given.complete or inner is None:
            self.failed.add(("placement", str(values["prefix"])))
            return FAILED
        carrier = (
            self.carrier(entries["attach_to"], place.at("attach_to")) if "attach_to" in entries else None
        )
        if isinstance(carrier, Failed):
            return FAILED
        numbers: Any = {}
        if (given_numbers := entries.get("parameters")) is not None:
            what = "a mapping from names of parameters"
            numbers = self.named(given_numbers, wanted(float), place.at("parameters"), what=what)
        if numbers is FAILED:
            return FAILED
        placed = {**values, "attach_to": carrier, "parameters": numbers}
        if self.made(node, place, lambda: self.mechanism.place(inner.mechanism, **placed)) is FAILED:
            return FAILED
        for (noun, inner_name), where in inner.places.items():
            self.document.places[noun, f"{values['prefix']}/{inner_name}"] = where
        return None


def _set_head(mechanism: Mechanism, key: str, value: Any) -> None:
    fresh = Mechanism(**{key: value})  # its constructor checks the name as well
    setattr(mechanism, key, getattr(fresh, key))
