"""Construction of the elements of a mechanism from their nodes: one method for each section of a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from bellcrank.io.custom import CustomReader, custom_kind, custom_kinds
from bellcrank.io.decode import Decoder
from bellcrank.io.fields import Parameter, parameters, wanted
from bellcrank.io.node import Entries, Node, Place, Scalar
from bellcrank.io.notes import FAILED, Failed, all_read
from bellcrank.io.references import References
from bellcrank.io.sections import (
    BODY_FIELDS,
    DRIVE_FIELDS,
    ENDS,
    INPUT_FIELDS,
    MARKER_KEYS,
    PARAMETER_FIELDS,
    PLACEMENT_FIELDS,
    SOURCES,
)
from bellcrank.io.simulation import Simulation
from bellcrank.mechanism import (
    CONSTRAINT_KINDS,
    FORCE_KINDS,
    GROUND,
    JOINT_KINDS,
    Joint,
    Limit,
    Marker,
    Mechanism,
)
from bellcrank.mechanism.joint import STARTS
from bellcrank.mechanism.parameters import Input


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


class Elements:
    """Adds elements to a document's mechanism; each method returns FAILED if it noted faults."""

    def __init__(self, document: Document, decoder: Decoder, include: Include) -> None:
        self.document = document
        self.mechanism = document.mechanism
        self.decoder = decoder
        self.include = include
        self.references = References(self.mechanism, decoder)

    def whole(
        self, node: Node, place: Place, known: Mapping[str, Parameter], make: Callable[..., object]
    ) -> object:
        """The result of `make` for the values of a mapping that contains fields only."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.decoder.fields(node, place, entries, known)
        return self.decoder.constructed(node, place, given, lambda: make(**given.values))

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
        value = self.decoder.value(node, wanted(float), place)
        return FAILED if value is FAILED else self.decoder.made(node, place, lambda: make(value))

    def add_body(self, name: str, node: Node, place: Place) -> object:
        """A body, with mass properties from numbers or from shapes."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.decoder.fields(node, place, entries, BODY_FIELDS)
        # If one of these could not be read, a substitute lets the other fields be checked.
        stand_ins = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
        values = {**{key: stand_ins[key] for key in given.failed if key in stand_ins}, **given.values}
        return self.decoder.constructed(node, place, given, lambda: self.mechanism.add_body(name, **values))

    def add_marker(self, name: str, node: Node, place: Place) -> object:
        """A named marker: "body.name", or "name" with the body given inside."""
        body, _, inner = name.rpartition(".")
        if not body and (name == GROUND or name in self.mechanism.bodies):
            return self.decoder.fault(
                place, node, "a body has this name", name, "choose another for the marker"
            )
        marker = self.references.written_marker(node, place, body or None, inner)
        if isinstance(marker, Failed):
            return FAILED
        added = self.decoder.made(node, place, lambda: self.mechanism.add_marker(marker))
        if added is not FAILED and not body:
            self.references.aliases[name] = marker
            self.document.places["marker", str(marker.key)] = (node, place)
        return added

    def add_joint(self, name: str, node: Node, place: Place) -> object:
        """A joint: its kind, its markers, its limits and its initial values."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        starts = [key for key in STARTS if key not in self.known(entries, JOINT_KINDS)]
        others = (*MARKER_KEYS, "limits", *starts)
        kind = self.kind(node, place, entries, JOINT_KINDS, "joint", others)
        markers: list[Any] = [
            self.references.marker(entries[key], place.at(key))
            if key in entries
            else self.decoder.fault(place, node, f"the key {key!r} is missing")
            for key in MARKER_KEYS
        ]
        limits = self.limits(entries["limits"], place.at("limits")) if "limits" in entries else ()
        given = {key: self.start(key, entries[key], place.at(key)) for key in starts if key in entries}
        if all_read((kind, *markers, limits, *given.values())) is FAILED:
            return FAILED
        before = set(self.mechanism.drives) if kind.shorthand else set()
        added = self.decoder.made(
            node, place, lambda: self.mechanism.add_joint(name, kind, markers[0], markers[1], limits, **given)
        )
        for drive in set(self.mechanism.drives) - before if kind.shorthand else ():
            self.document.places["drive", drive] = (node, place)
        return added

    def known(self, entries: Mapping[str, Node], named: Mapping[str, type]) -> Collection[str]:
        """The fields of the kind that `type` names; none if it names none."""
        given = entries.get("type")
        cls = named.get(given.text) if isinstance(given, Scalar) else None
        return parameters(cls) if cls is not None else ()

    def start(self, key: str, node: Node, place: Place) -> Any:
        """A number, a list of them, or a mapping from coordinates to numbers."""
        units = parameters(Joint)[key].units
        if not isinstance(node, Entries):
            return self.decoder.value(node, wanted(float | tuple[float, ...]), place, units)
        return self.decoder.named(node, wanted(float), place, units)

    def limits(self, node: Node, place: Place) -> Any:
        """One limit, or a mapping from coordinates to limits."""
        limit = wanted(Limit)
        if isinstance(node, Entries) and any(
            key.text in parameters(Limit) and not isinstance(child, Entries) for key, child in node.entries
        ):  # a coordinate may have the name of a parameter
            return self.decoder.value(node, limit, place)
        return self.decoder.named(node, limit, place)

    def kind(
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
            reader = CustomReader(self.decoder, place, letters)
            return reader.kind(custom, node, entries, ("type", *others))
        cls = self.decoder.kind(node, place, entries, {**named, **custom_kinds(noun)}, noun)
        if isinstance(cls, Failed):
            return FAILED
        given = self.decoder.fields(node, place, entries, parameters(cls), ("type", *others))
        return self.decoder.constructed(node, place, given, lambda: cls(**given.values))

    def add_constraint(self, name: str, node: Node, place: Place) -> object:
        """A constraint of any kind between its ends."""
        return self.add_attached(name, node, place, CONSTRAINT_KINDS, self.mechanism.add_constraint)

    def add_force(self, name: str, node: Node, place: Place) -> object:
        """A force of any kind between its ends."""
        return self.add_attached(name, node, place, FORCE_KINDS, self.mechanism.add_force)

    def add_attached(
        self, name: str, node: Node, place: Place, named: Mapping[str, type], add: Callable[..., object]
    ) -> object:
        """A constraint or force: its kind and its ends."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        noun = place.element.split()[0]
        given = entries.get("type")
        cls = named.get(given.text) if isinstance(given, Scalar) else None
        custom = custom_kind(entries, noun) is not None
        ends = self.references.ends(node, place, entries, cls) if custom else FAILED
        if custom and isinstance(ends, Failed):
            return FAILED
        listed = [] if isinstance(ends, Failed) else ends
        letters = "".join("M" if isinstance(end, Marker) else "J" for end in listed)
        kind = self.kind(node, place, entries, named, noun, ENDS, letters)
        if not custom:
            ends = self.references.ends(node, place, entries, cls)
        if kind is FAILED or isinstance(ends, Failed):
            return FAILED
        return self.decoder.made(node, place, lambda: add(name, kind, *ends))

    def add_drive(self, name: str, node: Node, place: Place) -> object:
        """A drive of a joint's coordinate or of a marker."""
        return self.whole(node, place, DRIVE_FIELDS, partial(self.mechanism.add_drive, name))

    def add_placement(self, name: str, node: Node, place: Place) -> object:
        """A placed mechanism, from another file or given inline, with its names after a prefix."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        given = self.decoder.fields(node, place, entries, PLACEMENT_FIELDS, (*SOURCES, "parameters"))
        sources = [key for key in SOURCES if key in entries]
        if len(sources) != 1:
            rule = "exactly one of 'file' and 'mechanism' must be given"
            return self.decoder.fault(place, node, rule, sources or None)
        inner = self.include(entries[sources[0]], place.at(sources[0]))
        values = {"prefix": name, **given.values}
        if not given.complete or inner is None:
            self.references.failed.add(("placement", str(values["prefix"])))
            return FAILED
        carrier = (
            self.references.carrier(entries["attach_to"], place.at("attach_to"))
            if "attach_to" in entries
            else None
        )
        if isinstance(carrier, Failed):
            return FAILED
        numbers: Any = {}
        if (given_numbers := entries.get("parameters")) is not None:
            what = "a mapping from names of parameters"
            numbers = self.decoder.named(given_numbers, wanted(float), place.at("parameters"), what=what)
        if numbers is FAILED:
            return FAILED
        placed = {**values, "attach_to": carrier, "parameters": numbers}
        if self.decoder.made(node, place, lambda: self.mechanism.place(inner.mechanism, **placed)) is FAILED:
            return FAILED
        for (noun, inner_name), where in inner.places.items():
            self.document.places[noun, f"{values['prefix']}/{inner_name}"] = where
        return None
