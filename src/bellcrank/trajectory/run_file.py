"""The layout of runs in HDF5 files, version 1.

T frames, n bodies, q joint coordinates, m multipliers, r joint reactions. Every data set of numbers carries
the attributes "unit" and "meaning"; sets without columns are left out; text is UTF-8.

    /                 attributes: format = "bellcrank trajectory", version = 1, run (a random name),
                      bellcrank, created (UTC), mechanism (its name), status, message
    /time             (T,)
    /description      text of the mechanism file, if there was one
    /bodies           name (n,), com (n, 3);
                      position, velocity, angular_velocity (T, n, 3), rotation (T, n, 4);
                      acceleration, angular_acceleration (T, n, 3) if recorded
    /coordinates      joint, name, unit (q,); position, velocity (T, q)
                      acceleration (T, q) if recorded; turning (k,): see `FrameLayout.turning`
    /angles           joint, name, unit (a,); position, velocity (T, a): angles of gears and the like, for
                      their whole turns; if there are any
    /multipliers      element, kind, unit, sign, coordinate, name (m,); value (T, m); unique (T, m), see below
    /reactions        joint (r,); wrench (T, r, 6); unique (T, r, 2), of moment and force
    /energy           kinetic, potential (T,)
    /violation        position, velocity (T,)
    /statistics       attributes
    /events           name, time (e,); position, velocity, angular_velocity (e, n, 3), rotation (e, n, 4),
                      angles (e, k) of the state then; if anything happened

`unique` is 1 where the equations of motion determine a value, and 0 where redundant constraints leave it
open; then it is the one of least norm. Files with the attribute "uniqueness" have it, older ones do not.

The file is written in HDF5's single-writer-multiple-reader mode: other processes can read while it grows,
and a process that dies at any moment, killed or not, leaves a file that holds every frame up to the last
flush. `/time` is extended last, so its length says how many frames are complete. Such a file has status
"running"; `Trajectory.load` reads it, other programs need `h5clear -s FILE` first, or a clean copy made by
`Trajectory.save`.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import h5py
import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.trajectory.layout import CoordinateColumn, FrameLayout, MultiplierColumn

FORMAT: Final = "bellcrank trajectory"
VERSION: Final = 1


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
    "kinetic": DataSet("energy/kinetic", "J", "kinetic energy"),
    "potential": DataSet("energy/potential", "J", "potential energy of weight and springs"),
    "position_violation": DataSet("violation/position", "m, rad", "largest constraint error"),
    "velocity_violation": DataSet("violation/velocity", "m/s, rad/s", "largest rate of a constraint error"),
    "time": DataSet("time", "s", "simulated time"),  # last: its length tells how many frames are complete
}


def opened(path: Path) -> Any:
    """The file open for reading, whether it is finished or still being written.

    Raises MechanismError for a file that is missing, not HDF5, not a run, or of a later version.
    """
    element = f"file '{path}'"
    if not path.is_file():
        raise MechanismError(Fault(element, "there is no such file"))
    if not h5py.is_hdf5(path):
        raise MechanismError(
            Fault(element, "this is not an HDF5 file", advice="runs are saved by run.save(path)")
        )
    try:
        file = h5py.File(path, "r", libver="latest", swmr=True)
    except OSError as error:
        raise MechanismError(Fault(element, f"it cannot be read: {error}")) from error
    kind, written = file.attrs.get("format"), int(file.attrs.get("version", 0))
    if kind == FORMAT and written <= VERSION:
        return file
    file.close()
    if kind != FORMAT:
        raise MechanismError(Fault(element, "this HDF5 file does not hold a run of bellcrank"))
    advice = f"this bellcrank reads versions up to {VERSION}: update it"
    raise MechanismError(Fault(element, "a later version wrote this file", written, advice))


def write_names(file: Any, layout: FrameLayout, description: str) -> None:
    """Write everything that is known before the first frame, as of a run that has not ended."""
    text = h5py.string_dtype()
    file.attrs.update(
        format=FORMAT,
        version=VERSION,
        run=uuid.uuid4().hex,
        bellcrank=version("bellcrank"),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        mechanism=layout.mechanism,
        uniqueness=layout.uniqueness,
        status="running",
        message="the writing of this file did not end: its process is still running or was killed",
    )
    if description:
        file.create_dataset("description", data=description, dtype=text)
    file.create_group("statistics", track_order=True)
    file.create_dataset("bodies/name", data=list(layout.bodies), dtype=text)
    if layout.com:
        file.create_dataset("bodies/com", data=np.array(layout.com)).attrs.update(
            unit="m", meaning="centres of mass in the body frames"
        )
    for group, columns in (("coordinates", layout.coordinates), ("angles", layout.angles)):
        for field in ("joint", "name", "unit") if columns or group == "coordinates" else ():
            values = [getattr(column, field) for column in columns]
            file.create_dataset(f"{group}/{field}", data=values, dtype=text)
    file.create_dataset("coordinates/turning", data=list(layout.turning), dtype="i4")
    for field in ("element", "kind", "unit", "name"):
        values = [getattr(column, field) for column in layout.multipliers]
        file.create_dataset(f"multipliers/{field}", data=values, dtype=text)
    file.create_dataset("multipliers/sign", data=[column.sign for column in layout.multipliers], dtype="f8")
    numbers = [-1 if column.coordinate is None else column.coordinate for column in layout.multipliers]
    file.create_dataset("multipliers/coordinate", data=numbers, dtype="i4")
    file.create_dataset("reactions/joint", data=list(layout.reactions), dtype=text)


def read_names(file: Any) -> FrameLayout:
    """The layout of the frames, from what `write_names` wrote."""

    def texts(path: str) -> list[str]:
        return list(file[path].asstr()[:])

    def columns(group: str) -> tuple[CoordinateColumn, ...]:
        if group not in file:
            return ()
        fields = zip(*(texts(f"{group}/{field}") for field in ("joint", "name", "unit")), strict=True)
        return tuple(CoordinateColumn(*values) for values in fields)

    multipliers: Any = zip(
        *(texts(f"multipliers/{field}") for field in ("element", "kind", "unit")),
        file["multipliers/sign"][:].tolist(),
        (None if number < 0 else number for number in file["multipliers/coordinate"][:].tolist()),
        texts("multipliers/name"),
        strict=True,
    )
    return FrameLayout(
        mechanism=str(file.attrs["mechanism"]),
        bodies=tuple(texts("bodies/name")),
        coordinates=columns("coordinates"),
        multipliers=tuple(MultiplierColumn(*fields) for fields in multipliers),
        reactions=tuple(texts("reactions/joint")),
        accelerations="bodies/acceleration" in file,
        com=tuple(map(tuple, file["bodies/com"][:].tolist())) if "bodies/com" in file else (),
        angles=columns("angles"),
        turning=tuple(file["coordinates/turning"][:].tolist()) if "coordinates/turning" in file else (),
        uniqueness=bool(file.attrs.get("uniqueness", False)),
    )
