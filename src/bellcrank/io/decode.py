"""Decoding of nodes to the values that fields require, with every fault noted at its line.

FAILED replaces a value that could not be read. Texts that are no numbers are expressions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Fault, FaultList, Location, MechanismError, Unsupported
from bellcrank.io.fields import NOUNS, Parameter, Wanted, parameters, wanted
from bellcrank.io.node import Entries, Items, Node, Place, Scalar, described, plain
from bellcrank.mechanism import Function
from bellcrank.mechanism.checking import Vec3, nearest
from bellcrank.mechanism.rotation import orientation, rotation
from bellcrank.mechanism.units import UnitError, number_in
from bellcrank.named_files import admit

AXES: Final = ("axis", "x_axis", "y_axis", "z_axis")
"""The keys that give an orientation by axes, as in body.marker(...)."""


Reader = Callable[[Node, Place], Any]


def expression(text: str, names: Mapping[str, Any], timed: bool, element: str) -> Any:
    """The meaning of a text: an expression in the given names, and in the time t if `timed`, or a number.

    Raises ExpressionError for a text that is not an expression; MechanismError for one that could not be
    written again, as runs do, because it becomes too long in the form in which expressions are stored.
    """
    from bellcrank.expression.reading import TIME, read

    known = {**names, "t": TIME} if timed else names
    found = read(text, known, element)
    if not isinstance(found, float):
        try:
            written_expression(found)
        except Unsupported as error:
            shown = f"{text[:60]}..." if len(text) > 60 else text
            advice = "give parts of it names, as parameters, or split it"
            raise MechanismError(Fault(element, str(error), shown, advice)) from None
    return found


def written_expression(expression: Any) -> str:
    """The text of an expression, which reads back as the same expression.

    Raises Unsupported if there is no such text: it is too long, or the expression has a table of numbers.
    """
    from bellcrank.expression.printing import one_line

    try:
        return one_line(expression)
    except ValueError as error:
        raise Unsupported(f"an expression cannot be written into a file: {error}") from None


class Failed:
    """The type of FAILED, which replaces a value whose faults have been noted."""

    def __repr__(self) -> str:
        return "FAILED"


FAILED: Final = Failed()


def all_read(values: Any) -> Any:
    """These values, in a tuple or a mapping; FAILED if one of them could not be read."""
    each = values.values() if isinstance(values, dict) else values
    return FAILED if any(value is FAILED for value in each) else values


@dataclass(frozen=True)
class Given:
    """The fields given for an object.

    values: those that could be read. failed: the names of the others. complete: whether there are no faults.
    usable: whether no required field is missing or failed.
    """

    values: dict[str, Any]
    failed: frozenset[str]
    complete: bool
    usable: bool


class Decoder:
    """Decodes the nodes of one file; its faults are collected in `faults`.

    folder: to which relative paths in fields called `file` are relative; None leaves them unchanged.
    readers: classes with a reader of their own.
    names: the names that expressions may use, besides the time where a function of time is required.
    """

    def __init__(self, faults: FaultList, folder: Path | None = None) -> None:
        self.faults = faults
        self.folder = folder
        self.readers: dict[type, Reader] = {}
        self.names: Mapping[str, Any] = {}

    def fault(
        self, place: Place, node: Node | None, rule: str, value: object = None, advice: str = ""
    ) -> Failed:
        """Note a fault at a node."""
        self.faults.add(place.element, rule, value, advice, place.location(node))
        return FAILED

    def constructed(self, node: Node, place: Place, given: Given, make: Callable[[], Any]) -> Any:
        """The result of `make`, or FAILED if it raises or if the fields passed to it had faults.

        If they had, `make` is called anyway, to report the faults of the other fields. What it then adds to
        the mechanism may stay there: the file is refused anyway, and other elements can refer to it.
        """
        if given.complete:
            return self.made(node, place, make)
        if given.usable:
            try:
                make()
            except MechanismError as error:
                for fault in error.faults:
                    words = set(words_of(fault.rule))
                    if words & set(given.values) and not words & given.failed:
                        self.take(node, place, fault)
        return FAILED

    def made(self, node: Node, place: Place, make: Callable[[], Any]) -> Any:
        """The result of `make`, or FAILED with the faults that it raises mapped to lines."""
        try:
            return make()
        except MechanismError as error:
            for fault in error.faults:
                self.take(node, place, fault)
            return FAILED

    def take(self, node: Node, place: Place, fault: Fault) -> None:
        """Note a fault that a constructor raised, at the entry of the node that it refers to."""
        named = "'" in fault.element or fault.element == place.element
        element = fault.element if named else f"{place.element}, {fault.element}"
        location = fault.location or culprit(node, place, fault)
        with self.faults.collect():
            raise MechanismError(replace(fault, element=element, location=location))

    def entries(self, node: Node, place: Place, what: str = "a mapping") -> dict[str, Node] | Failed:
        """The entries of a mapping by key; duplicate keys are noted."""
        if not isinstance(node, Entries):
            return self.fault(
                place, node, f"{what} is needed here", _shown(node), f"this is {described(node)}"
            )
        found: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key, value in node.entries:
            if key.text in found:
                rule = f"the key {key.text!r} is there twice"
                self.fault(
                    place.at(key.text), key, rule, None, f"the first one stands in line {lines[key.text]}"
                )
                continue
            found[key.text], lines[key.text] = value, key.line
        return found

    def check_keys(
        self,
        node: Node,
        place: Place,
        entries: Mapping[str, Node],
        known: Collection[str],
        required: Iterable[str] = (),
    ) -> bool:
        """Whether the keys are valid and complete; faults are noted."""
        before = len(self.faults)
        keys = {key.text: key for key, _ in node.entries} if isinstance(node, Entries) else {}
        for name in entries:
            if name not in known:
                self.fault(
                    place.at(name), keys.get(name, node), "this key is not known", name, nearest(name, known)
                )
        for name in required:
            if name not in entries:
                self.fault(place, node, f"the key {name!r} is missing")
        return len(self.faults) == before

    def value(self, node: Node, want: Wanted, place: Place, units: tuple[str, ...] = ()) -> Any:
        """The value of a node, or FAILED. units: the units that a number may have; empty for any."""
        if isinstance(node, Scalar):
            reader = self.reader(want)
            return reader(node, place) if reader else self.scalar(node, want, place, units)
        if isinstance(node, Items):
            inner = want.items
            if inner is None:
                return self.fault(place, node, "a list has no place here", plain(node))
            return all_read(
                tuple(self.value(item, inner, place.at(str(i)), units) for i, item in enumerate(node.items))
            )
        assert isinstance(node, Entries)
        if want.rotation:
            return self.rotation(node, place)
        if reader := self.reader(want):
            return reader(node, place)
        if want.classes:
            return self.object(node, want, place)
        if want.items and want.items.classes:  # a single value where a list is required
            only = self.object(node, want.items, place)
            return FAILED if only is FAILED else (only,)
        return self.fault(place, node, "a mapping has no place here", plain(node))

    def reader(self, want: Wanted) -> Reader | None:
        """The dedicated reader for one of the classes, if there is one."""
        return next((self.readers[cls] for cls in want.classes if cls in self.readers), None)

    def scalar(self, node: Scalar, want: Wanted, place: Place, units: tuple[str, ...]) -> Any:
        """A number, text or truth value; a text with a unit becomes a number where a number is required."""
        if want.text and not want.number:
            return node.text if node.value is not None else None
        if want.flag and not isinstance(node.value, bool):
            return self.fault(place, node, "true or false is needed here", node.value)
        if not isinstance(node.value, str) or not want.number or want.text:
            return node.value
        try:
            found = number_in(node.value, units)
        except UnitError as error:
            return self.fault(place, node, str(error), node.value, error.advice)
        if found is None:
            timed = Function in want.classes
            return self.made(node, place, partial(expression, node.value, self.names, timed, place.element))
        # Which of several units fits is decided when the element is attached to a joint.
        return found if len(units) < 2 else node.value

    def named(
        self, node: Node, want: Wanted, place: Place, units: tuple[str, ...] = (), what: str = "a mapping"
    ) -> Any:
        """The values of a mapping by key, or FAILED."""
        entries = self.entries(node, place, what)
        if isinstance(entries, Failed):
            return FAILED
        return all_read(
            {key: self.value(child, want, place.at(key), units) for key, child in entries.items()}
        )

    def object(self, node: Entries, want: Wanted, place: Place) -> Any:
        """An object of one of several classes, selected by the key `type` unless there is only one."""
        named = want.named
        entries = self.entries(node, place)
        if isinstance(entries, Failed):
            return FAILED
        if len(named) == 1 and "type" not in entries:
            (cls,) = named.values()
        else:
            noun = next((NOUNS[base] for base in want.classes if base in NOUNS), "thing")
            chosen = self.kind(node, place, entries, named, noun)
            if isinstance(chosen, Failed):
                return FAILED
            cls = chosen
        given = self.fields(node, place, entries, parameters(cls), ("type",))
        if isinstance(given.values.get("file"), str):
            if self.folder is not None:
                given.values["file"] = whole_path(self.folder, given.values["file"])
            with self.faults.collect(place.location(node)):
                admit(given.values["file"])
        return self.constructed(node, place, given, lambda: cls(**given.values))

    def kind(
        self, node: Node, place: Place, entries: Mapping[str, Node], named: Mapping[str, type], noun: str
    ) -> type | Failed:
        """The class that the key `type` names."""
        given = entries.get("type")
        if given is None:
            names = ", ".join(list(named)[:12]) + (", ..." if len(named) > 12 else "")
            return self.fault(place, node, "the key 'type' is missing", None, f"say which {noun}: {names}")
        if not isinstance(given, Scalar) or given.text not in named:
            value = _shown(given)
            return self.fault(
                place.at("type"), given, f"there is no {noun} of this type", value, nearest(value, named)
            )
        return named[given.text]

    def fields(
        self,
        node: Node,
        place: Place,
        entries: Mapping[str, Node],
        known: Mapping[str, Parameter],
        others: Collection[str] = (),
    ) -> Given:
        """The values of the given fields that are valid keys; `others` are keys that are read elsewhere."""
        required = [name for name, parameter in known.items() if parameter.required]
        complete = self.check_keys(node, place, entries, [*others, *known], required)
        values = {
            name: self.value(entries[name], wanted(parameter.hint), place.at(name), parameter.units)
            for name, parameter in known.items()
            if name in entries
        }
        failed = frozenset(name for name, value in values.items() if value is FAILED)
        good = {name: value for name, value in values.items() if name not in failed}
        return Given(good, failed, complete and not failed, all(name in good for name in required))

    def rotation(self, node: Entries, place: Place) -> Any:
        """A unit quaternion from `axis` and `angle`, from `rpy`, or from one or two axes."""
        entries = self.entries(node, place)
        if isinstance(entries, Failed) or not self.check_keys(node, place, entries, (*AXES, "angle", "rpy")):
            return FAILED
        axes = all_read(
            {
                name: self.value(entries[name], wanted(Vec3 | str), place.at(name), ("1",))
                for name in AXES
                if name in entries
            }
        )
        if axes is FAILED:
            return FAILED
        axes = {name: value for name, value in axes.items() if value is not None}
        if "rpy" in entries:
            if len(entries) > 1:
                return self.fault(place, node, "rpy stands alone", plain(node))
            angles = self.value(entries["rpy"], wanted(Vec3), place.at("rpy"), ("rad",))
            return FAILED if angles is FAILED else self.made(node, place, lambda: rotation(rpy=angles))
        if "angle" not in entries:
            return self.made(node, place, lambda: orientation(place.element, **axes))
        if list(axes) != ["axis"]:
            return self.fault(place, node, "an angle needs an axis, and nothing else", plain(node))
        angle = self.value(entries["angle"], wanted(float), place.at("angle"), ("rad",))
        if angle is FAILED:
            return FAILED

        def turned() -> Any:
            orientation(place.element, axis=axes["axis"])  # which names the element in its faults
            return rotation(axes["axis"], angle)

        return self.made(node, place, turned)


def whole_path(folder: Path, file: str) -> str:
    """The absolute path of a file given relative to a folder, without dots; links are not followed."""
    return os.path.abspath(folder / file)  # noqa: PTH100  (Path.resolve follows links)


def _shown(node: Node) -> Any:
    return node.text if isinstance(node, Scalar) and isinstance(node.value, str) else plain(node)


def culprit(node: Node, place: Place, fault: Fault) -> Location:
    """The location of the entry that a constructor's fault refers to, by the field it names or the value."""
    if not isinstance(node, Entries):
        return place.location(node)
    words = words_of(fault.rule)
    keys = [key.text for key, _ in node.entries if key.text in words and key.text != "type"]
    if keys:
        key = min(keys, key=words.index)
        child = node.find(key)
        return place.at(key).location(child)
    return _showing(node, place, fault.value) or place.location(node)


def words_of(rule: str) -> list[str]:
    """The words of a fault's rule, among them the name of the field concerned."""
    return re.findall(r"\w+", rule)


def _showing(node: Node, place: Place, value: object) -> Location | None:
    """The location of the first text or key in a node that equals this value."""
    if not isinstance(value, str):
        return None
    if isinstance(node, Scalar):
        return place.location(node) if node.value == value else None
    if isinstance(node, Items):
        found = (_showing(item, place.at(str(i)), value) for i, item in enumerate(node.items))
        return next((location for location in found if location), None)
    assert isinstance(node, Entries)
    for key, child in node.entries:
        if key.text == value:
            return place.at(key.text).location(key)
        if location := _showing(child, place.at(key.text), value):
            return location
    return None
