"""Faults with their locations: each fault is noted, and FAILED replaces a value that could not be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.io.culprit import culprit, words_of
from bellcrank.io.node import Node, Place


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


class Notes:
    """The faults of one file, collected in `faults`."""

    def __init__(self, faults: FaultList) -> None:
        self.faults = faults

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
