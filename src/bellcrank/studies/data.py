"""Recorded data that a fit compares with: times and values of quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.studies.measures import NoMeasure
from bellcrank.trajectory.columns import quantity
from bellcrank.trajectory.trajectory import Trajectory

TIMES = ("time [s]", "time", "t")


@dataclass(frozen=True, eq=False)
class Record:
    """Values (n,) of a quantity at increasing times (n,), s."""

    name: str
    times: Floats
    values: Floats


def records_of(data: Any) -> tuple[Record, ...]:
    """Records from a mapping of quantities to (times, values), or from a table with a column of times.

    A table is a mapping from names to columns (or a DataFrame) with a column "time [s]"; values that are not
    a number are gaps. Raises MechanismError with everything that is wrong.
    """
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        data = {str(name): data[name].to_numpy() for name in data.columns}
    if not isinstance(data, Mapping) or not data:
        rule = "data are a mapping from quantities to (times, values), or a table with a column 'time [s]'"
        raise MechanismError(Fault("data", rule, data, "such as {'joint.pivot.theta_z': (times, angles)}"))
    shared = next((name for name in TIMES if name in data), None)
    faults, found = FaultList(), []
    for name, given in data.items():
        if name == shared:
            continue
        with faults.collect():
            if shared is None and (
                isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2
            ):
                raise MechanismError(Fault(f"data of {name!r}", "they must be (times, values)", given))
            found.append(_record(str(name), *((data[shared], given) if shared is not None else given)))
    if not found and not len(faults):
        faults.add("data", "they hold no quantity", list(data), "beside the times a column is needed")
    faults.raise_any()
    return tuple(found)


def _record(name: str, times: Any, values: Any) -> Record:
    with Check(f"data of {name!r}") as check:
        try:
            values = np.array(values, dtype=np.float64)
        except (TypeError, ValueError):
            check.fault("values must be numbers", values)
            values = np.zeros(1)
        times = check.array("times", times, (None,), "s")
        if len(check.faults) == 0 and times.shape != values.shape:
            check.fault("there must be as many values as times", f"{len(times)} times, values {values.shape}")
        elif len(check.faults) == 0:
            known = np.isfinite(values)
            times, values = times[known], values[known]
            if len(times) == 0:
                check.fault("no value is a number")
            elif np.any(np.diff(times) <= 0.0):
                at = int(np.argmax(np.diff(times) <= 0.0))
                check.fault("times must increase", times[at : at + 2].tolist(), "sort them, drop doubles")
    return Record(name, times, values)


@dataclass(frozen=True)
class Predictions:
    """What a run predicts for records, one after the other, over the standard deviations of their noise.

    Values between frames are interpolated linearly; runs that record at these times give them exactly.
    """

    records: tuple[Record, ...]

    def __call__(self, run: Any) -> Floats:
        """The predictions of a run (data,). Raises NoMeasure where it has none."""
        if not isinstance(run, Trajectory):
            raise NoMeasure(f"a fit needs runs, and the analysis returned a {type(run).__name__}")
        return np.concatenate([self._of(run, record) for record in self.records])

    def _of(self, run: Trajectory, record: Record) -> Floats:
        values, time = quantity(run, record.name).values, run.time
        slack = 1e-9 * max(1.0, abs(float(time[-1])))
        if record.times[0] < time[0] - slack or record.times[-1] > time[-1] + slack:
            rule = f"the run goes from {time[0]:g} to {time[-1]:g} s, its data from {record.times[0]:g} to"
            raise NoMeasure(f"quantity {record.name!r}: {rule} {record.times[-1]:g} s")
        found = np.interp(record.times, time, values)
        if not np.isfinite(found).all():
            raise NoMeasure(f"quantity {record.name!r} is not finite in the run")
        return found


def union_of_times(records: Sequence[Record]) -> Floats:
    """All times of all records (n,), increasing."""
    return np.unique(np.concatenate([record.times for record in records]))
