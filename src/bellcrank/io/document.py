"""A mechanism from the nodes of its file: version, head, then the sections in order of dependency."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bellcrank.compile.validate import validate
from bellcrank.errors import FaultList, MechanismError
from bellcrank.io.culprit import culprit
from bellcrank.io.decode import Decoder
from bellcrank.io.elements import Document, Elements, Include
from bellcrank.io.fields import parameters, wanted
from bellcrank.io.node import Entries, Node, Place, Scalar, plain
from bellcrank.io.notes import FAILED, Failed
from bellcrank.io.sections import GRAVITY_UNITS, SECTIONS, TOP_KEYS, VERSION
from bellcrank.io.simulation import Simulation
from bellcrank.mechanism import Ground, Mechanism
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.parameters import inputs_of


class Builder:
    """Builds a mechanism section by section; faulty parts are noted in `faults` and left out."""

    def __init__(self, faults: FaultList, folder: Path | None, include: Include) -> None:
        self.faults = faults
        self.document = Document()
        self.mechanism = self.document.mechanism
        self.decoder = Decoder(faults, folder)
        self.elements = Elements(self.document, self.decoder, include)
        self.inputs: dict[str, tuple[Node, Place]] = {}

    def build(self, root: Node, place: Place, version_needed: bool = True) -> Document:
        """The document of a tree of nodes."""
        entries = self.decoder.entries(root, place, "a mapping with the key 'bellcrank'")
        if isinstance(entries, Failed) or not self.check_version(entries, root, place, version_needed):
            return self.document
        self.decoder.check_keys(root, place, entries, TOP_KEYS)
        self.head(entries, place)
        for section in ("bodies", "mechanisms", "markers", "joints", "constraints", "forces", "drives"):
            add: Callable[[str, Node, Place], object] = getattr(self.elements, f"add_{SECTIONS[section]}")
            for name, node, at in self.section(entries, section, place):
                self.document.places.setdefault((SECTIONS[section], name), (node, at))
                if add(name, node, at) is FAILED:
                    self.elements.references.failed.add((SECTIONS[section], name))
        return self.document

    def check_version(self, entries: Mapping[str, Node], root: Node, place: Place, needed: bool) -> bool:
        """Whether the file is of a supported version; a fault is noted if not."""
        node = entries.get("bellcrank")
        if node is None:
            if needed:
                advice = f"begin the file with 'bellcrank: {VERSION}'"
                self.decoder.fault(place, root, "the key 'bellcrank' is missing", None, advice)
            return not needed
        if isinstance(node, Scalar) and node.value == VERSION and not isinstance(node.value, (bool, float)):
            return True
        advice = f"this bellcrank reads version {VERSION}"
        if isinstance(node, Scalar) and isinstance(node.value, int) and node.value > VERSION:
            advice += "; a newer one may read this file"
        self.decoder.fault(
            place.at("bellcrank"), node, "this version of the format is not known", plain(node), advice
        )
        return False

    def head(self, entries: Mapping[str, Node], place: Place) -> None:
        """Name, parameters, inputs, gravity, the ground's shapes and the simulation."""
        mechanism, decoder = self.mechanism, self.decoder
        for name, given, at in self.section(entries, "parameters", place):
            self.elements.add_parameter(name, given, at)
        decoder.names = {name: parameter.symbol for name, parameter in mechanism.parameters.items()}
        for name, given, at in self.section(entries, "inputs", place):
            if (symbol := self.elements.add_input(name, given, at)) is not FAILED:
                decoder.names = {name: symbol, **decoder.names}
                self.inputs[name] = (given, at)
        for key, hint, units in (("name", str, ()), ("gravity", Vec3, GRAVITY_UNITS)):
            if (node := entries.get(key)) is not None:
                at = replace(place.at(key), element="mechanism")
                value = decoder.value(node, wanted(hint), at, units)
                if value is not FAILED:
                    decoder.made(node, at, partial(_set_head, mechanism, key, value))
        if (node := entries.get("ground")) is not None:
            at = replace(place.at("ground"), element="ground")
            self.elements.whole(node, at, parameters(Ground), partial(mechanism.replace, mechanism.ground))
        if (node := entries.get("simulation")) is not None:
            self.add_simulation(node, replace(place.at("simulation"), element="simulation"))

    def add_simulation(self, node: Node, place: Place) -> None:
        """The defaults for a run."""
        entries = self.decoder.entries(node, place)
        if isinstance(entries, Failed):
            return
        known = {name: parameter for name, parameter in parameters(Simulation).items() if name != "options"}
        given = self.decoder.fields(node, place, entries, known, ("options",))
        options = entries.get("options")
        if isinstance(options, Entries):
            given.values["options"] = plain(options)
        elif options is not None:
            self.decoder.fault(place.at("options"), options, "a mapping is needed here", plain(options))
        made = self.decoder.constructed(node, place, given, lambda: Simulation(**given.values))
        if made is not FAILED:
            self.document.simulation = made

    def section(
        self, entries: Mapping[str, Node], key: str, place: Place
    ) -> Iterator[tuple[str, Node, Place]]:
        """Name, node and place of each element in a section."""
        node = entries.get(key)
        if node is None or (isinstance(node, Scalar) and node.value is None):
            return
        found = self.decoder.entries(node, place.at(key), f"a mapping from the names of the {key}")
        if isinstance(found, Failed):
            self.elements.references.lost = True
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
                if isinstance(fault.value, str) and self.elements.references.is_failed(fault.value):
                    continue
                node, place = places.get(fault.element, (None, Place()))
                location = place.location() if node is None else culprit(node, place, fault)
                with self.faults.collect():
                    raise MechanismError(replace(fault, location=location)) from None
        if len(self.faults) == 0:  # a faulty element may have been the one that uses the input
            for name in sorted(set(self.inputs) - set(inputs_of(self.mechanism))):
                node, place = self.inputs[name]
                self.decoder.fault(place, node, "nothing follows this input", None, "use it, or take it out")


def _set_head(mechanism: Mechanism, key: str, value: Any) -> None:
    fresh = Mechanism(**{key: value})  # its constructor checks the name as well
    setattr(mechanism, key, getattr(fresh, key))
