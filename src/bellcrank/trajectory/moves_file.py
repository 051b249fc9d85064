"""Records of what moved in HDF5 files, written whole.

/            attributes: format = "bellcrank moves", version = 2, bellcrank, mechanism (its name),
start (time of the mechanism's initial configuration, s), status, message
/description text of the mechanism file
/SECTION     one data set for each of the fields of `_core.MoveRecord`, with attributes unit and meaning
/statistics  attributes: what was counted
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np

from bellcrank import _core
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.trajectory.checked_file import CheckedFile
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.own_file import OwnFile
from bellcrank.trajectory.run_file import fixed_texts
from bellcrank.trajectory.status import Status

if TYPE_CHECKING:
    from bellcrank.trajectory.moves import MoveTrajectory

FORMAT: Final = "bellcrank moves"
VERSION: Final = 2


def save(run: MoveTrajectory, path: str | Path, replace: bool = False) -> None:
    """Write a run into a file, which has its name only once it is complete; see `MoveTrajectory.save`."""
    path = Path(path)
    own = None
    try:
        own = OwnFile(path, _judge_old, replace)
        own.begin(_content(run))
        own.sync()
        own.take_name()
    except OSError as error:
        raise MechanismError(Fault(f"file '{path}'", f"it cannot be written: {error}")) from error
    finally:
        if own is not None:
            own.release()


def _content(run: MoveTrajectory) -> bytes:
    with h5py.File("moves", "w", libver="latest", driver="core", backing_store=False) as file:
        file.attrs.update(
            format=fixed_texts(FORMAT),
            version=VERSION,
            bellcrank=fixed_texts(version("bellcrank")),
            mechanism=fixed_texts(run.model.name),
            start=run.origin.start,
            status=fixed_texts(run.status),
            message=fixed_texts(run.status.message),
        )
        file["description"] = fixed_texts(run.origin.text)
        for name, _, unit, meaning, *_ in _core.MoveRecord.fields():
            data = file.create_dataset(name, data=run.sections[name])
            data.attrs.update(unit=fixed_texts(unit), meaning=fixed_texts(meaning))
        statistics = {n: fixed_texts(v) if isinstance(v, str) else v for n, v in run.statistics.items()}
        file.create_group("statistics").attrs.update(statistics)
        file.flush()
        content: bytes = file.id.get_file_image()
        return content


def _judge_old(path: Path) -> None:
    """Raise MechanismError for a file that is not a record of moves, and must not be overwritten."""
    if path.stat().st_size == 0:
        return
    try:
        with CheckedFile(path) as file:
            _check_format(file)
    except MechanismError as error:
        rule = "it exists and is not a recorded quasi-static run, so it is not overwritten"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "choose another name")) from error


def _check_format(file: CheckedFile) -> None:
    if file.attribute("format", str, default="") != FORMAT:
        rule = "it holds no quasi-static run"
        raise file.error(rule, advice="runs with velocities are read by bc.Trajectory.load")
    file.check_version(VERSION)


def holds_moves(path: str | Path) -> bool:
    """Whether a file is marked as a quasi-static run. Raises MechanismError for a file that is not HDF5."""
    with CheckedFile(Path(path)) as file:
        return bool(file.attribute("format", str, default="") == FORMAT)


def load(path: str | Path) -> MoveTrajectory:
    """Read a run. Raises MechanismError with the faults of the file."""
    from bellcrank.trajectory.moves import MoveTrajectory

    with CheckedFile(Path(path)) as file:
        _check_format(file)
        sections = {
            name: file.numbers(name, empty.dtype.kind, (None,))
            for name, _, _, _, empty, _ in _core.MoveRecord.fields()
        }
        origin = Origin(file.text("description"), start=file.attribute("start", float))
        status = Status(file.attribute("status", str), file.attribute("message", str))
        run = MoveTrajectory(origin, sections, status, file.attributes("statistics"))
        _check(file, run)
        return run


def _check(file: CheckedFile, run: MoveTrajectory) -> None:
    """Raise MechanismError if sections do not match each other or the mechanism."""
    faults, sections = FaultList(), run.sections
    frames, count = len(sections["time"]), len(run.model.bodies)
    widths = np.array(_core.MoveReplay(run.model.core).widths())

    def fault(rule: str, value: Any) -> None:
        with faults.collect():
            raise file.error(rule, value)

    if not np.all(np.isfinite(sections["time"])) or np.any(np.diff(sections["time"]) <= 0.0):
        fault("'time' must increase", None)
    if not np.all(np.isfinite(sections["value"])):
        fault("'value' must be finite", None)
    body = sections["body"]
    if body.size and not 0 <= body.min() <= body.max() < count:
        fault(f"'body' must be from 0 to {count - 1}", int(body.max()))
    faults.raise_any()
    begins = np.concatenate([[0], np.cumsum(widths[body])])
    for name, length in (("rows", len(body)), ("values", len(sections["value"]))):
        found = sections[name]
        if len(found) != frames + 1 or found[0] != 0 or found[-1] != length or np.any(np.diff(found) < 0):
            fault(f"{name!r} must rise from 0 to {length} in {frames + 1} steps", None)
    faults.raise_any()
    if np.any(begins[sections["rows"]] != sections["values"]):
        fault("'values' does not fit the joints that moved", None)
    if not np.array_equal(np.unique(body[: sections["rows"][min(1, frames)]]), np.arange(count)):
        fault("the first frame must hold all joints", None)
    faults.raise_any()
