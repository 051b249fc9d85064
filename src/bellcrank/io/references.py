"""References in files: names of bodies, markers and joints, and markers and joint coordinates written out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import FaultList
from bellcrank.io.decode import AXES, FAILED, Decoder, Failed
from bellcrank.io.fields import Parameter, parameters
from bellcrank.io.node import Entries, Items, Node, Place, Scalar, described
from bellcrank.mechanism import GROUND, JointCoordinate, Marker, Mechanism
from bellcrank.mechanism.attachment import AttachedKind
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.checking import Vec3, nearest
from bellcrank.mechanism.references import beam_as_end

MARKER_FIELDS: Final[dict[str, Parameter]] = {
    **{name: parameter for name, parameter in parameters(Marker).items() if name != "body"},
    **{name: Parameter(name, Vec3 | str, units=("1",)) for name in AXES},
    "world": Parameter("world", bool, default=False),
}
"""The keys of a marker beside its body: its fields, axes, and whether it is given in the world."""

MEETING_FIELDS: Final[dict[str, Parameter]] = {
    "at": replace(MARKER_FIELDS["position"], name="at", required=True),
    **{name: MARKER_FIELDS[name] for name in ("axis", "x_axis", "y_axis", "rotation")},
}
"""The keys of a joint at a point of the world beside its bodies."""

_PARTED: Final = {"placement": "/", "beam": "/", "member": " "}
"""What follows the name of an element in the names of what it consists of."""


class References(Decoder):
    """Decodes nodes, among them references, which are resolved in the mechanism as far as it is built.

    aliases: markers by their names in a file's section `markers`, for names that do not include the body.
    failed: pairs (noun, name) of elements that could not be created; a reference to one is no fault.
    lost: whether a whole section could not be read.
    """

    def __init__(self, mechanism: Mechanism, faults: FaultList, folder: Path | None = None) -> None:
        super().__init__(faults, folder)
        self.mechanism = mechanism
        self.aliases: dict[str, Marker] = {}
        self.failed: set[tuple[str, str]] = set()
        self.lost = False
        self.readers = {Marker: self.marker, JointCoordinate: self.joint}

    def is_failed(self, name: str) -> bool:
        """Whether a name refers to an element of the file that could not be created."""
        return self.lost or any(
            name == failed or name.startswith(f"{failed}{_PARTED.get(noun, '.')}")
            for noun, failed in self.failed
        )

    def failed_names(self, noun: str) -> list[str]:
        """The names of the elements that could not be created."""
        return sorted(name for failed, name in self.failed if failed == noun)

    def carrier(self, node: Node, place: Place) -> Body | Ground | Failed:
        """The body of a name, or the ground."""
        if not isinstance(node, Scalar):
            return self.fault(
                place, node, "the name of a body is needed here", None, f"this is {described(node)}"
            )
        if node.text == GROUND:
            return self.mechanism.ground
        if node.text in self.mechanism.bodies:
            return self.mechanism.bodies[node.text]
        if self.is_failed(node.text):
            return FAILED
        known = dict.fromkeys([GROUND, *self.mechanism.bodies, *self.failed_names("body")])
        advice = nearest(node.text, known)
        return self.fault(place, node, "there is no body of this name", node.text, advice)

    def carriers(self, node: Node, place: Place) -> list[Body | Ground] | Failed:
        """Bodies by their names, in a list."""
        listed = node.items if isinstance(node, Items) else (node,)
        found = [self.carrier(item, place.at(str(number))) for number, item in enumerate(listed)]
        good = [one for one in found if not isinstance(one, Failed)]
        return good if len(good) == len(found) else FAILED

    def marker(self, node: Node, place: Place) -> Marker | Failed:
        """A marker by name, the frame of a body by its name, or a marker written out."""
        found = self.end(node, place, "M")
        assert not isinstance(found, JointCoordinate)
        return found

    def joint(self, node: Node, place: Place) -> JointCoordinate | Failed:
        """A joint's coordinate as "joint", "joint.coordinate" or {joint: ..., coordinate: ...}."""
        found = self.end(node, place, "J")
        assert not isinstance(found, Marker)
        return found

    def end(self, node: Node, place: Place, letters: Collection[str]) -> Marker | JointCoordinate | Failed:
        """A marker (if `letters` has M) or a joint coordinate (J), by name or written out."""
        if isinstance(node, Entries):
            written_as_joint = node.find("joint") is not None
            if "J" in letters and (written_as_joint or "M" not in letters):
                return self.written_joint(node, place)
            return self.written_marker(node, place)
        nouns = [noun for letter, noun in (("M", "marker"), ("J", "joint")) if letter in letters]
        if not isinstance(node, Scalar) or not node.text:
            rule = f"the name of a {' or '.join(nouns)} is needed here"
            return self.fault(place, node, rule, None, f"this is {described(node)}")
        return self.named_end(node, place, letters, nouns)

    def named_end(
        self, node: Scalar, place: Place, letters: Collection[str], nouns: list[str]
    ) -> Marker | JointCoordinate | Failed:
        """The marker, body or joint with this name, among the kinds that are allowed."""
        name = node.text
        found: dict[str, Marker | JointCoordinate] = {}
        if "M" in letters:
            if (marker := self.known_marker(name)) is not None:
                found["a marker"] = marker
            elif name == GROUND or name in self.mechanism.bodies:
                found["a body"] = Marker(name)
        if "J" in letters and (joint := self.known_joint(name)) is not None:
            found["a joint"] = joint
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            advice = f"write {{joint: {name}}} for the joint" + (
                f", {{body: {name}}} for the body" if "a body" in found else ""
            )
            return self.fault(place, node, f"{' and '.join(found)} have this name", name, advice)
        if self.is_failed(name):
            return FAILED
        known: list[str] = []
        if "M" in letters:
            known += [*self.aliases, *self.mechanism.markers, GROUND, *self.mechanism.bodies]
            known += self.failed_names("marker") + self.failed_names("body")
        if "J" in letters:
            known += [*self.mechanism.joints, *self.failed_names("joint")]
        rule = f"there is no {' and no '.join(nouns)} of this name"
        return self.fault(place, node, rule, name, nearest(name, dict.fromkeys(known)))

    def ends(
        self, node: Node, place: Place, entries: Mapping[str, Node], kind: type[AttachedKind] | None
    ) -> list[Marker | JointCoordinate] | Failed:
        """The ends of a constraint or force, from its key `ends` or from `joint` and `coordinate`.

        kind: determines whether markers or joints are expected; None if it is unknown.
        """
        letters = [letter for letter in "MJ" if kind is None or letter in kind.pattern]
        if kind is not None and not {"ends", "joint"} & set(entries) and re.fullmatch(kind.pattern, ""):
            return []
        if ("ends" in entries) == ("joint" in entries):
            advice = "" if kind is None else f"{kind.__name__} takes {kind.ends_text}"
            return self.fault(place, node, "exactly one of 'ends' and 'joint' must be given", None, advice)
        if "joint" in entries:
            pairs = tuple((key, value) for key, value in entries.items() if key in ("joint", "coordinate"))
            keyed = tuple((Scalar(value.line, value.column, key, key), value) for key, value in pairs)
            end = self.written_joint(Entries(node.line, node.column, keyed), place)
            return FAILED if isinstance(end, Failed) else [end]
        if "coordinate" in entries:
            rule = "'coordinate' belongs to 'joint', not to 'ends'"
            return self.fault(place.at("coordinate"), entries["coordinate"], rule)
        given, at = entries["ends"], place.at("ends")
        listed = given.items if isinstance(given, Items) else (given,)
        plain = [letter for letter in letters if kind is None or letter in kind.named_ends]
        found = list[Any]()
        for number, item in enumerate(listed):
            text = item.text if isinstance(item, Scalar) else None
            if (beam := beam_as_end(self.mechanism, kind, text)) is not None:
                found += map(Marker, beam.nodes)
            else:
                found.append(self.end(item, at.at(str(number)), plain if text is not None else letters))
        good = [end for end in found if not isinstance(end, Failed)]
        return good if len(good) == len(found) else FAILED

    def known_marker(self, name: str) -> Marker | None:
        """The marker with this name, as in the file or as "body.name"."""
        return self.aliases.get(name) or self.mechanism.markers.get(name)

    def known_joint(self, name: str) -> JointCoordinate | None:
        """The joint "joint" or its coordinate "joint.coordinate", if there is such a joint."""
        if name in self.mechanism.joints:
            return JointCoordinate(name)
        joint, _, coordinate = name.rpartition(".")
        return JointCoordinate(joint, coordinate) if joint in self.mechanism.joints else None

    def written_joint(self, node: Entries, place: Place) -> JointCoordinate | Failed:
        """A joint coordinate as a mapping."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        known = parameters(JointCoordinate)
        complete = self.check_keys(node, place, entries, known, ["joint"])
        base = self.joint(entries["joint"], place.at("joint")) if "joint" in entries else FAILED
        which = entries.get("coordinate")
        if not complete or isinstance(base, Failed):
            return FAILED
        if which is None:
            return base
        if not isinstance(which, Scalar) or isinstance(which.value, (bool, float)):
            rule = "the name or number of a coordinate is needed here"
            return self.fault(place.at("coordinate"), which, rule, None, f"this is {described(which)}")
        given: Any = which.value
        return JointCoordinate(base.joint, base.coordinate if given is None else given)

    def written_marker(
        self, node: Node, place: Place, body: str | None = None, name: str | None = None
    ) -> Marker | Failed:
        """A marker as a mapping; `body` and `name` may come from the key in the section `markers`."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        known = {key: field for key, field in MARKER_FIELDS.items() if key != "name" or name is None}
        given = self.fields(node, place, entries, known, ("body",) if body is None else ())
        carrier: Body | Ground | Failed = FAILED
        if body is not None:
            carrier = self.carrier(Scalar(node.line, node.column, body, body), place)
        elif "body" in entries:
            carrier = self.carrier(entries["body"], place.at("body"))
        else:
            self.fault(place, node, "the key 'body' is missing")
        values = {"name": name, **given.values}
        world = values.pop("world", False)
        base = self.mechanism.ground if isinstance(carrier, Failed) else carrier
        make = base.world_marker if world is True else base.marker
        marker = self.constructed(node, place, given, lambda: make(**values))
        if isinstance(carrier, Failed):
            return FAILED
        assert isinstance(marker, (Marker, Failed))
        return marker
