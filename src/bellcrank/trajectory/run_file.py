"""The layout of runs in HDF5 files, version 3, and what of it is written before the first frame.

T frames, n bodies, q joint coordinates, m multipliers, r joint reactions. Every data set of numbers carries
the attributes "unit" and "meaning"; sets without columns are left out; text is UTF-8.

    /                 attributes: format = "bellcrank trajectory", version = 3, run (a random name),
                      bellcrank, created (UTC), mechanism (its name),
                      start (time of the mechanism's initial configuration, s)
    /time             (T,)
    /description      text of the mechanism file, if it is known
    /start_values     JSON: what elements took from the start (gear phases, rest lengths), by what they are;
                      if it is known
    /bodies           name (n,), com (n, 3);
                      position, velocity, angular_velocity (T, n, 3), rotation (T, n, 4);
                      acceleration, angular_acceleration (T, n, 3) if recorded
    /coordinates      joint, name, unit (q,); position, velocity (T, q)
                      acceleration (T, q) if recorded; turning (k,): see `FrameLayout.turning`
    /angles           joint, name, unit (a,); position, velocity (T, a): angles of gears and the like, for
                      their whole turns; if there are any
    /multipliers      element, kind, unit, sign, coordinate, name (m,); value (T, m); unique (T, m), see below
    /reactions        joint (r,); wrench (T, r, 6); unique (T, r, 2), of moment and force
    /forces           name (f,) of the forces; force, effort_name, unit, coordinate (e,) of their efforts:
                      coordinate counts /coordinates, /angles and /along in this order, -1 is a component at a
                      marker; effort (T, e); energy_of (p,), energy (T, p): potential energies
    /along            joint, name, unit (a,); position, velocity (T, a): coordinates that forces act along and
                      that are not among the others; if there are any
    /inputs           name, unit (i,); value (T, i), what acted up to the frame; if there are any
    /sensors          sensor, name, unit (s,) of their channels; value (T, s), what could be read just before
                      the frame; if there are any
    /contacts         name (c,) of the contacts, body (s,) of each shape that touches; count (T,) of points;
                      points (N, 26), those of one frame after those of another; if there are any
    /ledger           account (b,), work (T, b): of forces and drives since the run began; if it was added up
    /energy           kinetic, potential (T,)
    /violation        position, velocity (T,)
    /events           time (e,); position, velocity, angular_velocity (e, n, 3), rotation (e, n, 4),
                      angles (e, k) of the state then
    /end              JSON text as bytes, UTF-8: status, message, statistics by name, names of the events;
                      nothing as long as the run has not ended

`unique` is 1 where the equations of motion determine a value, and 0 where redundant constraints leave it
open; then it is the one of least norm.

The file is written in HDF5's single-writer-multiple-reader mode, from before it has its name to its end:
other processes can read while it grows, and a process that dies at any moment, killed or not, leaves a file
that holds every frame up to the last flush, or none. `/time` is extended last of the frames, so its length
says how many are complete; `/end` is the very last. A file without an end is marked as being written:
`Trajectory.load` reads it, other programs need `h5clear -s FILE` first, or a clean copy made by
`Trajectory.save`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from math import prod
from typing import Any, Final, NamedTuple

import h5py
import numpy as np

from bellcrank import _core
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import POINT

FORMAT: Final = "bellcrank trajectory"
MOVES_FORMAT: Final = "bellcrank moves"  # of records of what moved
VERSION: Final = 3
_CHUNK_BYTES: Final = 1 << 16
_CHUNK_FRAMES: Final = 1024
_CHUNK_EVENTS: Final = 16


class DataSet(NamedTuple):
    """Where a section of the frames stands in the file, its unit, what it is, and how a number is stored."""

    path: str
    unit: str
    meaning: str
    stored: str = "f8"


SETS: Final[dict[str, DataSet]] = {
    "position": DataSet("bodies/position", "m", "origins of the body frames, world axes"),
    "rotation": DataSet("bodies/rotation", "1", "unit quaternions w, x, y, z from body axes to world axes"),
    "velocity": DataSet("bodies/velocity", "m/s", "velocities of the body frames' origins, world axes"),
    "angular_velocity": DataSet("bodies/angular_velocity", "rad/s", "angular velocities, world axes"),
    "acceleration": DataSet("bodies/acceleration", "m/s^2", "accelerations of the origins, world axes"),
    "angular_acceleration": DataSet("bodies/angular_acceleration", "rad/s^2", "world axes"),
    "coordinates": DataSet(
        "coordinates/position", "see unit", "free joint coordinates, angles count whole turns"
    ),
    "rates": DataSet("coordinates/velocity", "unit/s", "their rates"),
    "angles": DataSet("angles/position", "rad", "angles that are no joint's, for their whole turns"),
    "angle_rates": DataSet("angles/velocity", "rad/s", "their rates"),
    "coordinate_accelerations": DataSet(
        "coordinates/acceleration", "unit/s^2", "accelerations of the free joint coordinates"
    ),
    "multipliers": DataSet("multipliers/value", "see unit", "effort along the coordinate = sign * value"),
    "reactions": DataSet(
        "reactions/wrench",
        "N m, N",
        "moment x, y, z and force x, y, z on the second body about marker 2, world axes",
    ),
    "unique_multipliers": DataSet("multipliers/unique", "1", "1: determined, 0: one of many", "u1"),
    "unique_reactions": DataSet("reactions/unique", "1", "the same of moment and force", "u1"),
    "force_coordinates": DataSet("along/position", "see unit", "other coordinates that forces act along"),
    "force_rates": DataSet("along/velocity", "unit/s", "their rates"),
    "force_efforts": DataSet(
        "forces/effort", "see unit", "what forces exert along coordinates or at markers"
    ),
    "force_potentials": DataSet("forces/energy", "J", "potential energies of forces"),
    "inputs": DataSet("inputs/value", "see unit", "inputs, the values that acted up to then"),
    "sensors": DataSet("sensors/value", "see unit", "sensors, what could be read just before then"),
    "contact_points": DataSet("contacts/count", "1", "points that touch"),
    "works": DataSet("ledger/work", "J", "work of forces and drives on the bodies since the run began"),
    "kinetic": DataSet("energy/kinetic", "J", "kinetic energy"),
    "potential": DataSet("energy/potential", "J", "potential energy of weight and springs"),
    "position_violation": DataSet("violation/position", "m, rad", "largest constraint error"),
    "velocity_violation": DataSet("violation/velocity", "m/s, rad/s", "largest rate of a constraint error"),
    "time": DataSet("time", "s", "simulated time"),  # last: its length is the number of complete frames
}


CONTACTS: Final = DataSet(
    "contacts/points",
    "see meaning",
    ", ".join(
        f"{name} ({count}) {unit}".replace(" (1)", "").rstrip()
        for name, count, unit, *_ in _core.RecordedContact.fields()
    )
    + "; of shapes a and b, normal from b to a, forces on a, world axes, frame by frame",
)
"""The points that touch: a row each, the fields of `POINT` side by side."""

FORCE_FIELDS: Final = {"force": "force", "effort_name": "name", "unit": "unit"}
"""Data sets of the columns of forces, and what they hold of each."""


SENSOR_FIELDS: Final = ("sensor", "name", "unit")
"""Data sets of the channels of sensors."""


def begun(layout: FrameLayout, origin: Origin) -> bytes:
    """The content of a file that holds everything known before the first frame, and no frames yet."""
    with h5py.File("run", "w", libver="latest", driver="core", backing_store=False) as file:
        _write_names(file, layout, origin)
        for about, shape in frame_sets(layout).values():
            _make(file, about, shape, _CHUNK_FRAMES)
        for about, shape in event_sets(layout).values():
            _make(file, about, shape, _CHUNK_EVENTS)
        if layout.contacts:
            _make(file, CONTACTS, (POINT.itemsize // 8,), _CHUNK_FRAMES)
            file["contacts/name"] = fixed_texts(layout.contacts)
            file["contacts/body"] = fixed_texts(layout.contact_shapes)
        _make(file, DataSet("end", "1", "JSON text, UTF-8: how the run ended", "u1"), (), _CHUNK_FRAMES)
        file.flush()
        content: bytes = file.id.get_file_image()
        return content


def frame_sets(layout: FrameLayout) -> dict[str, tuple[DataSet, tuple[int, ...]]]:
    """The sections of the frames that have columns, the time last: data sets, and shapes of one frame."""
    found = {name: layout.shapes[name] for name in SETS if prod(layout.shapes.get(name, (0,)))}
    return {name: (SETS[name], shape) for name, shape in found.items()}


def event_sets(layout: FrameLayout) -> dict[str, tuple[DataSet, tuple[int, ...]]]:
    """The data sets of the states in which something happened that have columns, and shapes of one state."""
    found: dict[str, tuple[tuple[int, ...], str]] = {"time": ((), "s")}
    found |= {name: (layout.shapes[name], SETS[name].unit) for name in STATE_SECTIONS}
    found["angles"] = ((len(layout.turning),), "rad")
    return {
        name: (DataSet(f"events/{name}", unit, "then"), shape)
        for name, (shape, unit) in found.items()
        if prod(shape)
    }


def _make(file: Any, about: DataSet, shape: tuple[int, ...], most: int) -> None:
    data = file.create_dataset(
        about.path,
        (0, *shape),
        maxshape=(None, *shape),
        chunks=_chunk(shape, most),
        dtype=about.stored,
        fillvalue=np.nan if about.stored == "f8" else 0,
    )
    data.attrs.update(unit=fixed_texts(about.unit), meaning=fixed_texts(about.meaning))


def fixed_texts(values: str | Sequence[str]) -> np.ndarray:
    """A text, or several (n,), with room for the longest: HDF5 keeps others in a heap without checksums.

    Bytes that are no Unicode, as a damaged file may hold them, stay what they are.
    """
    how = ("utf-8", "surrogateescape")
    raw = values.encode(*how) if isinstance(values, str) else [value.encode(*how) for value in values]
    longest = len(raw) if isinstance(raw, bytes) else max(map(len, raw), default=0)
    return np.array(raw, dtype=h5py.string_dtype("utf-8", max(longest, 1)))


def _chunk(shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Chunks of about 64 kB, with many frames of some bodies: mostly, few bodies are read over all time."""
    if not shape:
        return (most,)
    columns = min(shape[0], 64)
    row_bytes = 8 * columns * prod(shape[1:])
    return (max(1, min(most, _CHUNK_BYTES // row_bytes)), columns, *shape[1:])


def _write_names(file: Any, layout: FrameLayout, origin: Origin) -> None:
    """Write everything that is known before the first frame."""
    file.attrs.update(
        format=fixed_texts(FORMAT),
        version=VERSION,
        run=fixed_texts(uuid.uuid4().hex),
        bellcrank=fixed_texts(version("bellcrank")),
        created=fixed_texts(datetime.now(UTC).isoformat(timespec="seconds")),
        mechanism=fixed_texts(layout.mechanism),
        start=origin.start,
    )
    if origin.text:
        file["description"] = fixed_texts(origin.text)
    if origin.values is not None:
        file["start_values"] = fixed_texts(json.dumps(dict(origin.values)))
    file["bodies/name"] = fixed_texts(layout.bodies)
    if layout.com:
        file.create_dataset("bodies/com", data=np.array(layout.com)).attrs.update(
            unit=fixed_texts("m"), meaning=fixed_texts("centres of mass in the body frames")
        )
    groups = (
        ("coordinates", layout.coordinates),
        ("angles", layout.angles),
        ("along", layout.force_coordinates),
    )
    for group, columns in groups:
        for field in ("joint", "name", "unit") if columns or group == "coordinates" else ():
            file[f"{group}/{field}"] = fixed_texts([getattr(column, field) for column in columns])
    file.create_dataset("coordinates/turning", data=list(layout.turning), dtype="i4")
    for field in ("element", "kind", "unit", "name"):
        file[f"multipliers/{field}"] = fixed_texts([getattr(column, field) for column in layout.multipliers])
    file.create_dataset("multipliers/sign", data=[column.sign for column in layout.multipliers], dtype="f8")
    numbers = [-1 if column.coordinate is None else column.coordinate for column in layout.multipliers]
    file.create_dataset("multipliers/coordinate", data=numbers, dtype="i4")
    file["reactions/joint"] = fixed_texts(layout.reactions)
    file["forces/name"] = fixed_texts(layout.forces)
    for field, attribute in FORCE_FIELDS.items():
        file[f"forces/{field}"] = fixed_texts([getattr(column, attribute) for column in layout.force_columns])
    numbers = [-1 if column.coordinate is None else column.coordinate for column in layout.force_columns]
    file.create_dataset("forces/coordinate", data=numbers, dtype="i4")
    file["forces/energy_of"] = fixed_texts(layout.force_potentials)
    if layout.works:
        file["ledger/account"] = fixed_texts(layout.works)
    for field in ("name", "unit") if layout.inputs else ():
        file[f"inputs/{field}"] = fixed_texts([getattr(column, field) for column in layout.inputs])
    for field in SENSOR_FIELDS if layout.sensors else ():
        file[f"sensors/{field}"] = fixed_texts([getattr(column, field) for column in layout.sensors])
