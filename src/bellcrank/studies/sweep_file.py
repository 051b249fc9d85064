"""The file of a sweep: the results so far, consistent after every chunk, however the process ends.

It is an SQLite database: table `study` (key, value as JSON), table `point` with a row for each point that is
done. Other programs can read it, and a sweep can be resumed from it.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.files import dumps
from bellcrank.mechanism.checking import required_path
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.named_files import opened
from bellcrank.studies.experiment import Experiment, Measures, Outcome
from bellcrank.studies.measures import source_of
from bellcrank.studies.points import Points
from bellcrank.trajectory.own_file import check_place

if sys.platform != "win32":
    import fcntl

_FORMAT: Final = 1
_SQLITE: Final = b"SQLite format 3\x00"
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
_PARTS: Final = ("mechanism", "parameters", "points", "measures", "analysis")
"""What makes a sweep another one."""


class SweepFile:
    """The file of a sweep, open for one process.

    Raises MechanismError for a file that is not of a sweep, belongs to another sweep, or is in use.
    """

    def __init__(self, path: str | Path, description: Mapping[str, Any]) -> None:
        required_path("sweep, path", path)
        check_place(path)
        self.path = Path(path)
        check_sweep(self.path, missing=True)
        self._lock = self._locked()
        self._base = sqlite3.connect(self.path)
        try:
            with self._base:
                self._begin(description)
        except sqlite3.DatabaseError as error:
            self.close()
            raise _damaged(self.path, error) from error
        except BaseException:
            self.close()
            raise

    def done(self, width: int) -> dict[int, Outcome]:
        """The outcomes in the file, by the index of their point."""
        return _outcomes(self._base, width)

    def add(self, results: Iterable[tuple[int, Outcome]]) -> None:
        """Write outcomes, all of them or none."""
        rows = [
            (number, outcome.reason, outcome.seconds, json.dumps(outcome.values.tolist()))
            for number, outcome in results
        ]
        with self._base:
            self._base.executemany("INSERT OR REPLACE INTO point VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._base.close()
        os.close(self._lock)

    def _begin(self, description: Mapping[str, Any]) -> None:
        self._base.execute("CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT)")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS point"
            " (number INTEGER PRIMARY KEY, reason TEXT, seconds REAL, measures TEXT)"
        )
        held = _described(self._base)
        if not held or not self._base.execute("SELECT 1 FROM point LIMIT 1").fetchone():
            rows = [(key, json.dumps(value)) for key, value in description.items()]
            self._base.executemany("INSERT OR REPLACE INTO study VALUES (?, ?)", rows)
        elif other := [part for part in _PARTS if held["digests"].get(part) != description["digests"][part]]:
            rule = f"it holds another sweep: other {' and '.join(other)}"
            advice = "give another path, or delete the file to begin anew"
            raise MechanismError(Fault(f"file '{self.path}'", rule, None, advice))

    def _locked(self) -> int:
        """A lock that is released when the process ends, however that happens."""
        descriptor = os.open(f"{self.path}", os.O_RDWR | os.O_CREAT, 0o666)
        if sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                rule, advice = "another process is computing this sweep", "wait for it, or give another path"
                raise MechanismError(Fault(f"file '{self.path}'", rule, None, advice)) from None
        return descriptor


def check_sweep(path: str | Path, missing: bool = False) -> None:
    """Raise MechanismError for a file that is not of a sweep. missing: whether the file may be missing."""
    where = Path(path)
    if not where.exists():
        if missing:
            return
        raise MechanismError(Fault(f"file '{path}'", "there is no such file"))
    with opened(where, f"file '{path}'") as file:
        begin = file.read(len(_SQLITE))
    if begin and begin != _SQLITE:
        rule, advice = "this is not the file of a sweep", "give another path"
        raise MechanismError(Fault(f"file '{path}'", rule, None, advice))


def read_sweep(path: str | Path) -> tuple[dict[str, Any], dict[int, Outcome]]:
    """The description of the sweep in a file, and its outcomes. Raises MechanismError for other files."""
    required_path("sweep", path)
    check_sweep(path)
    base = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    try:
        description = _described(base)
        return description, _outcomes(base, len(description["measures"]))
    except (sqlite3.DatabaseError, KeyError) as error:
        raise _damaged(path, error) from error
    finally:
        base.close()


def description_of(experiment: Experiment, points: Points, units: Mapping[str, str]) -> dict[str, Any]:
    """The stored description of a sweep, with digests that identify its parts."""
    assert isinstance(experiment.evaluate, Measures)
    measures = experiment.evaluate.measures
    analysis = experiment.analysis if isinstance(experiment.analysis, str) else source_of(experiment.analysis)
    parts = {
        "mechanism": _text_of(experiment.mechanism),
        "parameters": repr(points.names),
        "points": hashlib.sha256(np.ascontiguousarray(points.table).tobytes()).hexdigest(),
        "measures": repr([(measure.name, measure.source) for measure in measures]),
        "analysis": repr((analysis, sorted((k, _shown(v)) for k, v in experiment.arguments.items()))),
    }
    return {
        "format": _FORMAT,
        "name": experiment.mechanism.name,
        "digests": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in parts.items()},
        "parameters": list(zip(points.names, points.units, strict=True)),
        "points": points.table.tolist(),
        "axes": None if points.axes is None else [axis.tolist() for axis in points.axes],
        "measures": [measure.name for measure in measures],
        "units": dict(units),
        "runs": None if experiment.folder is None else str(experiment.folder),
    }


def _shown(value: Any) -> str:
    """A text for an argument, which is the same in every process."""
    if callable(value):
        return source_of(value)
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, (list, tuple)):
        return repr([_shown(item) for item in value])
    return _ADDRESS.sub("", repr(value))


def _text_of(mechanism: Mechanism) -> str:
    try:
        return dumps(mechanism, "json")
    except MechanismError:  # what files cannot hold
        return hashlib.sha256(pickle.dumps(mechanism)).hexdigest()


def _described(base: sqlite3.Connection) -> dict[str, Any]:
    return {key: json.loads(value) for key, value in base.execute("SELECT key, value FROM study")}


def _outcomes(base: sqlite3.Connection, width: int) -> dict[int, Outcome]:
    found = {}
    for number, reason, seconds, measures in base.execute("SELECT * FROM point ORDER BY number"):
        values = np.array(json.loads(measures), dtype=np.float64)
        if values.shape != (width,):
            raise sqlite3.DatabaseError(f"point {number} has {len(values)} measures, not {width}")
        found[int(number)] = Outcome(values, reason, seconds)
    return found


def _damaged(path: str | Path, error: Exception) -> MechanismError:
    rule = f"this is not the file of a sweep, or it is damaged: {error}"
    return MechanismError(Fault(f"file '{path}'", rule, None, "give another path, or delete the file"))
