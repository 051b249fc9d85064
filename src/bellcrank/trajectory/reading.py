"""The checked content of a run's file: its names match each other, and its frames match the names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, get_args

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import FaultList
from bellcrank.trajectory.checked_file import NOT_OURS, CheckedFile
from bellcrank.trajectory.checked_values import check_distinct, check_finite, check_within
from bellcrank.trajectory.events import EventRecord
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import (
    CoordinateColumn,
    ForceColumn,
    FrameLayout,
    InputColumn,
    MultiplierColumn,
    MultiplierKind,
)
from bellcrank.trajectory.run_file import FORCE_FIELDS, FORMAT, VERSION, event_sets, frame_sets

Scalar: TypeAlias = str | int | float
_WRITTEN: Final = "the writing of this file did not end: its process is still running or was killed"


class End(NamedTuple):
    """How a run ended."""

    status: str
    message: str
    statistics: dict[str, Scalar]
    events: tuple[EventRecord, ...] = ()


@contextmanager
def opened(path: Path) -> Iterator[CheckedFile]:
    """The file of a run open for reading, whether it is finished or still being written.

    Raises MechanismError for a file that is missing, damaged, not HDF5, not a run, or of another version.
    """
    with CheckedFile(path) as file:
        if file.attribute("format", str, default="") != FORMAT:
            raise file.error(NOT_OURS)
        file.check_version(VERSION)
        yield file


def read_layout(file: CheckedFile) -> FrameLayout:
    """The layout of the frames. Raises MechanismError with all faults of the names."""
    faults = FaultList()
    found: dict[str, Any] = {"accelerations": file.has("bodies/acceleration")}
    with faults.collect():
        found["mechanism"] = file.attribute("mechanism", str)
    for part in (_bodies, _coordinates, _multipliers, _reactions, _forces, _inputs, _contacts, _works):
        with faults.collect():
            found |= part(file, found)
    faults.raise_any()
    return FrameLayout(**found)


def _bodies(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    names = check_distinct(file, "bodies/name", file.texts("bodies/name"))
    if not file.has("bodies/com"):
        return {"bodies": names, "com": ()}
    com = file.numbers("bodies/com", "f", (len(names), 3))
    check_finite(file, "bodies/com", com)
    return {"bodies": names, "com": tuple(map(tuple, com.tolist()))}


def _coordinates(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    coordinates = _columns(file, "coordinates")
    angles = _columns(file, "angles") if file.has("angles") else ()
    turning = file.numbers("coordinates/turning", "i", (None,)).tolist()
    check_within(file, "coordinates/turning", turning, 0, len(coordinates) + len(angles))
    return {"coordinates": coordinates, "angles": angles, "turning": tuple(turning)}


def _columns(file: CheckedFile, group: str) -> tuple[CoordinateColumn, ...]:
    rows = _table(file, group, [file.texts(f"{group}/{field}") for field in ("joint", "name", "unit")])
    return tuple(CoordinateColumn(*row) for row in rows)


def _multipliers(file: CheckedFile, found: dict[str, Any]) -> dict[str, Any]:
    element, kind, unit, name = (
        file.texts(f"multipliers/{field}") for field in ("element", "kind", "unit", "name")
    )
    sign = file.numbers("multipliers/sign", "f", (None,))
    check_finite(file, "multipliers/sign", sign)
    along = file.numbers("multipliers/coordinate", "i", (None,)).tolist()
    if "coordinates" in found:
        check_within(file, "multipliers/coordinate", along, -1, len(found["coordinates"]))
    for text in kind:
        if text not in get_args(MultiplierKind):
            raise file.error("'multipliers/kind' has a kind that there is not", text)
    numbers = [None if number < 0 else number for number in along]
    rows = _table(file, "multipliers", [element, kind, unit, sign.tolist(), numbers, name])
    return {"multipliers": tuple(MultiplierColumn(*row) for row in rows)}


def _reactions(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    return {"reactions": check_distinct(file, "reactions/joint", file.texts("reactions/joint"))}


def _forces(file: CheckedFile, found: dict[str, Any]) -> dict[str, Any]:
    names = check_distinct(file, "forces/name", file.texts("forces/name"))
    along = _columns(file, "along") if file.has("along") else ()
    numbers = file.numbers("forces/coordinate", "i", (None,)).tolist()
    if "coordinates" in found:
        count = len(found["coordinates"]) + len(found["angles"]) + len(along)
        check_within(file, "forces/coordinate", numbers, -1, count)
    texts = [file.texts(f"forces/{field}") for field in FORCE_FIELDS]
    rows = _table(file, "forces", [*texts, [None if number < 0 else number for number in numbers]])
    energy_of = file.texts("forces/energy_of")
    for name in (*(row[0] for row in rows), *energy_of):
        if name not in names:
            raise file.error("'forces' has an effort or energy of a force that there is not", name)
    owners = [row[0] for row in rows]
    if len([o for k, o in enumerate(owners) if k == 0 or owners[k - 1] != o]) > len(set(owners)):
        raise file.error("'forces/force' must have the efforts of a force side by side")
    columns = tuple(ForceColumn(*row) for row in rows)
    return {
        "forces": names,
        "force_columns": columns,
        "force_coordinates": along,
        "force_potentials": tuple(energy_of),
    }


def _inputs(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    if not file.has("inputs"):
        return {}
    names = check_distinct(file, "inputs/name", file.texts("inputs/name"))
    rows = _table(file, "inputs", [list(names), file.texts("inputs/unit")])
    return {"inputs": tuple(InputColumn(*row) for row in rows)}


def _contacts(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    if not file.has("contacts"):
        return {}
    names = check_distinct(file, "contacts/name", file.texts("contacts/name"))
    return {"contacts": names, "contact_shapes": tuple(file.texts("contacts/body"))}


def _works(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    if not file.has("ledger"):
        return {}
    return {"works": check_distinct(file, "ledger/account", file.texts("ledger/account"))}


def count_frames(file: CheckedFile, layout: FrameLayout) -> int:
    """The number of complete frames.

    Raises MechanismError with all sections that lack frames or do not match the names.
    """
    time = file.numbers("time", "f", (None,))
    empty = np.isnan(time)
    frames = int(np.argmax(empty)) if empty.any() else len(time)
    if not empty[frames:].all():
        raise file.error("'time' has a gap: it goes on after what is not a number", frames)
    check_finite(file, "time", time[:frames])
    back = np.flatnonzero(np.diff(time[:frames]) < 0.0)
    if back.size:
        raise file.error("'time' goes back", time[back[0] : back[0] + 2].tolist())
    faults = FaultList()
    if file.cut:
        frames = min(frames, *(section_rows(file, layout, name, 0).count for name in frame_sets(layout)))
    for name in frame_sets(layout):
        with faults.collect():
            section_rows(file, layout, name, frames)
    faults.raise_any()
    return frames


def section_rows(file: CheckedFile, layout: FrameLayout, section: str, frames: int) -> Any:
    """What to index for frames of a section that has columns, given the number of frames."""
    about, shape = frame_sets(layout)[section]
    return file.rows(about.path, "f" if about.stored == "f8" else "iu", (None, *shape), frames)


def read_end(file: CheckedFile, layout: FrameLayout) -> End:
    """How the run ended, if it did. In a file that is being written, read it before the frames."""
    raw = file.numbers("end", "iu", (None,)).astype(np.uint8).tobytes()
    try:
        told = json.loads(raw.decode("utf-8")) if raw else None
    except (ValueError, RecursionError) as error:
        if not file.written:
            raise file.error(f"'end' is not a text of JSON: {error}") from None
        told = None  # it has been written in part
    if told is None:
        return End("running", _WRITTEN, {})
    wanted = {"status": str, "message": str, "statistics": dict, "events": list}
    told = told if isinstance(told, dict) else {}
    for name, kind in wanted.items():
        if not isinstance(told.get(name), kind):
            raise file.error(f"'end' must hold {name!r}", told.get(name))
    for name, value in told["statistics"].items():
        if not isinstance(value, str | int | float):
            raise file.error(f"statistic {name!r} must be a number or a text", value)
    for name in told["events"]:
        if not isinstance(name, str):
            raise file.error("'end' must name the events", name)
    events = _events(file, layout, told["events"])
    return End(told["status"], told["message"], told["statistics"], events)


def _events(file: CheckedFile, layout: FrameLayout, names: list[str]) -> tuple[EventRecord, ...]:
    if not names:
        return ()
    count, sets = len(names), event_sets(layout)

    def part(name: str) -> Any:
        if name not in sets:  # it has no columns
            return np.empty((count, *layout.shapes[name]))
        about, shape = sets[name]
        return file.rows(about.path, "f", (None, *shape), count)[:count]

    time = part("time")
    check_finite(file, "events/time", time)
    angles = part("angles") if layout.turning else [None] * count
    states = zip(time.tolist(), *map(part, STATE_SECTIONS), angles, strict=True)
    return tuple(
        EventRecord(state[0], name, State(*state)) for name, state in zip(names, states, strict=True)
    )


def _table(file: CheckedFile, group: str, columns: list[list[Any]]) -> list[tuple[Any, ...]]:
    if len(set(map(len, columns))) > 1:
        raise file.error(f"the columns of {group!r} differ in length", [len(column) for column in columns])
    return list(zip(*columns, strict=True))
