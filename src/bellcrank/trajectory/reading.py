"""Runs in HDF5 files: reading them, whole or in parts on demand, with all that they hold checked.

The names must match each other, and the frames the names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, get_args

import numpy as np

from bellcrank.compile.state import Points, State
from bellcrank.errors import FaultList
from bellcrank.trajectory.checked_file import (
    NOT_OURS,
    CheckedFile,
    check_distinct,
    check_finite,
    check_within,
)
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import (
    CoordinateColumn,
    ForceColumn,
    FrameLayout,
    InputColumn,
    MultiplierColumn,
    MultiplierKind,
    SensorColumn,
)
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.run_file import (
    CONTACTS,
    FORCE_FIELDS,
    FORMAT,
    MOVES_FORMAT,
    SENSOR_FIELDS,
    VERSION,
    event_sets,
    frame_sets,
)
from bellcrank.trajectory.store import (
    ALL_ROWS,
    POINT,
    FloatArray,
    Item,
    MemoryStore,
    Rows,
    Store,
    points_of,
    read_only,
)
from bellcrank.trajectory.trajectory import EventRecord

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
        found = file.attribute("format", str, default="")
        if found != FORMAT:
            kept = (
                "runs that record what moved are read by bc.MoveTrajectory.load, and shown by draw and view"
            )
            raise file.error(NOT_OURS, advice=kept if found == MOVES_FORMAT else "")
        file.check_version(VERSION)
        yield file


def read_layout(file: CheckedFile) -> FrameLayout:
    """The layout of the frames. Raises MechanismError with all faults of the names."""
    faults = FaultList()
    found: dict[str, Any] = {"accelerations": file.has("bodies/acceleration")}
    with faults.collect():
        found["mechanism"] = file.attribute("mechanism", str)
    of_loads = (_multipliers, _reactions, _forces)
    for part in (_bodies, _coordinates, *of_loads, _inputs, _sensors, _contacts, _works):
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


def _sensors(file: CheckedFile, _: dict[str, Any]) -> dict[str, Any]:
    if not file.has("sensors"):
        return {}
    rows = _table(file, "sensors", [file.texts(f"sensors/{field}") for field in SENSOR_FIELDS])
    owners = [str(row[0]) for row in rows]
    if len([o for k, o in enumerate(owners) if k == 0 or owners[k - 1] != o]) > len(set(owners)):
        raise file.error("'sensors/sensor' must have the channels of a sensor side by side")
    return {"sensors": tuple(SensorColumn(*row) for row in rows)}


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
        end = json.loads(raw.decode("utf-8")) if raw else None
    except (ValueError, RecursionError) as error:
        if not file.written:
            raise file.error(f"'end' is not a text of JSON: {error}") from None
        end = None  # it has been written in part
    if end is None:
        return End("running", _WRITTEN, {})
    wanted = {"status": str, "message": str, "statistics": dict, "events": list}
    end = end if isinstance(end, dict) else {}
    for name, kind in wanted.items():
        if not isinstance(end.get(name), kind):
            raise file.error(f"'end' must hold {name!r}", end.get(name))
    for name, value in end["statistics"].items():
        if not isinstance(value, str | int | float):
            raise file.error(f"statistic {name!r} must be a number or a text", value)
    for name in end["events"]:
        if not isinstance(name, str):
            raise file.error("'end' must name the events", name)
    events = _events(file, layout, end["events"])
    return End(end["status"], end["message"], end["statistics"], events)


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


_MOST_POINTS: Final = 1e9  # that touch in a frame


def read_contacts(file: CheckedFile, layout: FrameLayout, counts: Any) -> Any:
    """The points that touch, checked against how many there are in each frame."""
    if not layout.contacts:
        return None
    counts = np.asarray(counts)
    if not np.all((counts >= 0) & (counts == np.floor(counts)) & (counts < _MOST_POINTS)):
        raise file.error("'contacts/count' must be whole numbers, not negative")
    total = int(counts.sum())
    rows = file.rows(CONTACTS.path, "f", (None, POINT.itemsize // 8), total)[:total]
    check_finite(file, CONTACTS.path, rows)
    points = points_of(rows)
    check_within(file, CONTACTS.path, np.unique(points["contact"]).tolist(), 0, len(layout.contacts))
    check_within(file, CONTACTS.path, np.unique(points["shapes"]).tolist(), 0, len(layout.contact_shapes))
    return points


_CACHE_BYTES: Final = 1 << 28


class FileStore:
    """Sections read from a file on demand. The file is open only while it is read.

    frames: number of frames, fixed when the store is made, even if the file still grows.
    """

    def __init__(self, path: Path, layout: FrameLayout, run: str, frames: int) -> None:
        self.path = path.resolve()
        self.frames = frames
        self._layout = layout
        self._run = run
        self._recent: dict[tuple[str, str], FloatArray] = {}

    def read(self, section: str, item: Item | None = None, rows: Rows = ALL_ROWS) -> FloatArray:
        """See `Store.read`. Recently read data are kept, up to 256 MB.

        Raises MechanismError if the file is gone, is damaged or now contains another run.
        """
        if not isinstance(rows, slice):
            first = int(rows.min(initial=self.frames))
            near = slice(first, int(rows.max(initial=first - 1)) + 1)
            return read_only(self._from_file(section, item, near)[rows - first])
        if rows != ALL_ROWS:
            return read_only(self._from_file(section, item, rows))
        key = (section, str(item))
        values = self._recent.pop(key, None)
        if values is None:
            values = read_only(self._from_file(section, item, rows))
        if values.nbytes <= _CACHE_BYTES:
            self._recent[key] = values
            while sum(kept.nbytes for kept in self._recent.values()) > _CACHE_BYTES:
                del self._recent[next(iter(self._recent))]
        return values

    @property
    def contacts(self) -> Points:
        """See `Store.contacts`."""
        if not self._layout.contacts:
            return np.empty(0, POINT)
        counts = self.read("contact_points")
        with self._opened() as file:
            points: Points = read_contacts(file, self._layout, counts)
            return points

    @contextmanager
    def _opened(self) -> Iterator[CheckedFile]:
        with opened(self.path) as file:
            if file.attribute("run", str) != self._run:
                raise file.error("it holds another run than the one that was loaded", advice="load it again")
            yield file

    def _from_file(self, section: str, item: Item | None, rows: slice) -> FloatArray:
        chosen = slice(*rows.indices(self.frames))
        with self._opened() as file:
            return _section(file, self._layout, section, self.frames, item, chosen)


class Contents(NamedTuple):
    """The content of a file; its numbers are read through `store`."""

    layout: FrameLayout
    store: Store
    end: End
    origin: Origin


def load(path: str | Path, lazy: bool | None = None) -> Contents:
    """Read a run. `lazy` leaves the numbers in the file until they are needed (None: if over 256 MB).

    Raises MechanismError for a file that is missing, damaged, not HDF5, not a run, or of another version.
    """
    with opened(Path(path)) as file:
        layout = read_layout(file)
        end = read_end(file, layout)
        frames = count_frames(file, layout)
        run = file.attribute("run", str)
        if lazy is None:
            lazy = frames * (layout.width + 1) * 8 > _CACHE_BYTES
        store: Store
        if lazy:
            store = FileStore(Path(path), layout, run, frames)
        else:
            rows = slice(0, frames)
            sections = {name: _section(file, layout, name, frames, None, rows) for name in layout.shapes}
            store = MemoryStore(sections, read_contacts(file, layout, sections.get("contact_points")))
        text = file.text("description") if file.has("description") else ""
        start = file.attribute("start", float)
        if not isfinite(start):
            raise file.error("attribute 'start' must be finite", start)
        return Contents(layout, store, end, Origin(text, start=start, values=_start_values(file)))


def _start_values(file: CheckedFile) -> Mapping[str, float] | None:
    """What elements took from the start, by `state_source.start_values`; None if it is not there."""
    if not file.has("start_values"):
        return None
    try:
        values = json.loads(file.text("start_values"))
    except ValueError:
        values = None
    if not isinstance(values, dict) or not all(
        isinstance(value, int | float) and isfinite(value) for value in values.values()
    ):
        raise file.error("'start_values' must be numbers by name, in JSON", None)
    return values


def _section(
    file: CheckedFile, layout: FrameLayout, section: str, frames: int, item: Item | None, rows: slice
) -> FloatArray:
    if section not in frame_sets(layout):  # it has no columns
        empty = np.empty((len(range(rows.start, rows.stop, rows.step or 1)), *layout.shapes[section]))
        return empty if item is None else empty[:, item]
    data = section_rows(file, layout, section, frames)
    values: FloatArray = data[rows] if item is None else data[rows, item]
    return values
