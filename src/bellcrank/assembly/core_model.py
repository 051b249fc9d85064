"""The core's model of flat arrays; what the core refuses, by the element that it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank import _core
from bellcrank.assembly.records import ElementRecord
from bellcrank.errors import Fault, MechanismError

_ENTRY = re.compile(r"(\w+)\[(\d+)\]: (.*)", re.DOTALL)


def core_model(
    name: str,
    arrays: dict[str, Any],
    bodies: Sequence[str],
    owners: Sequence[str],
    forces: Sequence[ElementRecord],
) -> _core.Model:
    """The core's model.

    name: of the mechanism. owners: of the blocks of rows, such as "joint 'pivot'".
    Raises MechanismError, naming the element where the core reports the entry of an array, for what it
    refuses.
    """
    try:
        return _core.Model(**arrays)
    except ValueError as error:
        rule, element = str(error), ""
        if found := _ENTRY.match(rule):
            rule = found[3]
            element = _element(found[1], int(found[2]), arrays, bodies, owners, forces)
        raise MechanismError(Fault(element or f"mechanism {name!r}", rule)) from error


def _element(
    array: str,
    entry: int,
    arrays: dict[str, Any],
    bodies: Sequence[str],
    owners: Sequence[str],
    forces: Sequence[ElementRecord],
) -> str:
    """The element that an entry of an array belongs to; nothing where it cannot be found."""
    if array.startswith("body_"):
        return f"body {bodies[entry]!r}" if entry < len(bodies) else ""
    if array.startswith("block_"):
        return owners[entry] if entry < len(owners) else ""
    laws = {entry} if array.startswith("law_") else set()
    wrenches = {entry} if array.startswith("wrench_") else set()
    rows: set[int] = set()
    if array.startswith("function_"):
        laws = set(np.flatnonzero(np.asarray(arrays["law_function"]) == entry).tolist())
        led = np.asarray(arrays["wrench_function"]).reshape(-1, 6) == entry
        wrenches = set(np.flatnonzero(led.any(axis=1)).tolist())
        rows = set(np.flatnonzero(np.asarray(arrays["row_function"]) == entry).tolist())
    elif array.startswith("coordinate_"):
        laws = set(np.flatnonzero(np.asarray(arrays["law_coordinate"]) == entry).tolist())
        terms = np.flatnonzero(np.asarray(arrays["term_coordinate"]) == entry)
        rows = {int(np.searchsorted(arrays["row_term_start"], term, side="right")) - 1 for term in terms}
    for row in sorted(rows):
        return owners[int(np.searchsorted(arrays["block_row_start"], row, side="right")) - 1]
    held = [f for f in forces if laws & set(f.laws) or wrenches & set(f.wrenches)]
    return f"force {held[0].name!r}" if held else ""
