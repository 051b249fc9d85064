"""The result of a sweep: a row for each point, with the reason where it failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.extras import needed
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.html import displayed
from bellcrank.slips import answering
from bellcrank.studies.experiment import run_path
from bellcrank.studies.points import Points
from bellcrank.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

NOT_DONE: Final = "not computed"
_SHOWN_REASONS: Final = 5


@displayed("_picture")
@answering
@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """The outcomes of a sweep, in the order of its points.

    mechanism: its name. points: the points of the sweep. measures: their names. values: (points, measures),
    NaN where a point failed. reasons: why points failed; empty texts where they did not. seconds: computing
    time of each point. status: "finished" or "interrupted". folder: where runs are recorded, if they are;
    held: those in memory. units: of the measures that are texts.

    >>> lengths = {"length": [0.5, 1.0, 2.0]}
    >>> speeds = bc.sweep(pendulum, lengths, "max joint.hinge.theta_z.rate", duration=3.0, processes=1)
    >>> speeds
    <SweepResult sweep of 'pendulum': 3 points, 0 failed, finished>
    >>> print(speeds.values[:, 0].round(3))    # rad/s: sqrt(3 g / L)
    [7.672 5.425 3.836]
    """

    mechanism: str
    points: Points
    measures: tuple[str, ...]
    values: Floats
    reasons: tuple[str, ...]
    seconds: Floats
    status: str = "finished"
    folder: Path | None = None
    held: Mapping[int, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]}>"

    @property
    def failed(self) -> np.ndarray:
        """Indices of the points without values, failed or not computed."""
        return np.flatnonzero(np.array([bool(reason) for reason in self.reasons], dtype=bool))

    def __getitem__(self, name: str) -> Floats:
        """The values of a parameter or a measure at all points (points,)."""
        if name in self.points.names:
            return self.points.table[:, self.points.names.index(name)]
        return self.values[:, self.measure_number(name)]

    def measure_number(self, name: str | None) -> int:
        """The index of a measure; None means the first. Raises MechanismError with close matches."""
        if name is None:
            return 0
        if name not in self.measures:
            known = (*self.points.names, *self.measures)
            raise MechanismError(
                Fault(f"column {name!r}", "the sweep has no such column", None, nearest(name, known))
            )
        return self.measures.index(name)

    def best(self, measure: str | None = None, maximize: bool = False) -> dict[str, float]:
        """The point with the least (or largest) value of a measure, and its measures, by name.

        Raises MechanismError where no point has a value.

        >>> lengths = {"length": [0.5, 1.0, 2.0]}
        >>> result = bc.sweep(pendulum, lengths, "final joint.hinge.theta_z", duration=0.3, processes=1)
        >>> result.best()["length"]    # the least angle: the shortest rod falls fastest
        0.5
        """
        values = self.values[:, self.measure_number(measure)]
        if np.isnan(values).all():
            raise MechanismError(Fault("sweep", "no point has a value", None, "see its reasons"))
        number = int(np.nanargmax(values) if maximize else np.nanargmin(values))
        return self.points.at(number) | dict(zip(self.measures, self.values[number].tolist(), strict=True))

    def run(self, number: int) -> Any:
        """What the analysis returned at a point, if runs were kept: from a file, or from memory.

        >>> measure = "final joint.hinge.theta_z"
        >>> result = bc.sweep(pendulum, {"length": [0.5, 1.0]}, measure, runs=True, duration=0.3, processes=1)
        >>> result.run(1)
        <Trajectory of 'pendulum': 1001 frames, t = 0 to 0.3 s, finished>
        """
        if not 0 <= number < len(self) or self.reasons[number]:
            reason = self.reasons[number] if 0 <= number < len(self) else f"there are {len(self)} points"
            raise MechanismError(Fault(f"point {number}", f"it has no run: {reason}"))
        if self.folder is not None:
            return Trajectory.load(run_path(self.folder, number))
        if number not in self.held:
            raise MechanismError(Fault("sweep", "its runs were not kept", None, "sweep with runs=True"))
        return self.held[number]

    def table(self) -> DataFrame:
        """A pandas DataFrame: parameters, measures, `reason`. Raises Unsupported without pandas.

        >>> lengths = {"length": [0.5, 1.0]}
        >>> result = bc.sweep(pendulum, lengths, "final joint.hinge.theta_z", duration=0.3, processes=1)
        >>> print(result.table().round(3).to_string())
           length  final joint.hinge.theta_z reason
        0     0.5                     -1.253
        1     1.0                     -0.653
        """
        pandas = needed("pandas", "a table")
        columns = {name: self.points.table[:, k] for k, name in enumerate(self.points.names)}
        columns |= {name: self.values[:, k] for k, name in enumerate(self.measures)}
        return pandas.DataFrame({**columns, "reason": list(self.reasons)})

    def to_xarray(self) -> Dataset:
        """An xarray Dataset, with the parameters of a grid as its axes, else along `point`.

        Raises Unsupported without xarray.

        >>> lengths = {"length": [0.5, 1.0]}
        >>> result = bc.sweep(pendulum, lengths, "final joint.hinge.theta_z", duration=0.3, processes=1)
        >>> dict(result.to_xarray().sizes)
        {'length': 2}
        """
        xarray = needed("xarray", "a Dataset", "xarray")
        points = self.points
        shape: tuple[int, ...]
        axes: tuple[str, ...]
        if points.axes is None:
            shape, axes = (len(points),), ("point",)
            coordinates = {n: ("point", points.table[:, k]) for k, n in enumerate(points.names)}
        else:
            shape, axes = tuple(len(axis) for axis in points.axes), points.names
            coordinates = {n: (n, axis) for n, axis in zip(points.names, points.axes, strict=True)}
        found = {name: (axes, self.values[:, k].reshape(shape)) for k, name in enumerate(self.measures)}
        found["reason"] = (axes, np.array(self.reasons, dtype=object).reshape(shape))
        dataset = xarray.Dataset(found, coordinates, {"mechanism": self.mechanism, "status": self.status})
        for name, unit in zip(points.names, points.units, strict=True):
            dataset[name].attrs["units"] = unit
        for name, unit in self.units.items():
            dataset[name].attrs["units"] = unit
        return dataset

    def plot(self, measure: str | None = None, path: str | Path | None = None) -> Figure:
        """Plot a measure, by default the first; failed points are marked.

        The figure has lines over one parameter, is a map over two, and otherwise has a panel for each
        parameter. path: PNG, PDF or SVG to write.

        Raises Unsupported without matplotlib.

        >>> lengths = {"length": [0.5, 1.0]}
        >>> result = bc.sweep(pendulum, lengths, "final joint.hinge.theta_z", duration=0.3, processes=1)
        >>> result.plot(path="sweep.png").axes[0].get_xlabel()
        'length (m)'
        """
        from bellcrank.studies.plots import plot_sweep

        return plot_sweep(self, self.measure_number(measure), path)

    def _picture(self, path: Path) -> None:
        self.plot(path=path)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, as it is printed as JSON.

        >>> lengths = {"length": [0.5, 1.0]}
        >>> result = bc.sweep(pendulum, lengths, "final joint.hinge.theta_z", duration=0.3, processes=1)
        >>> result.to_dict()["parameters"], result.to_dict()["failed"]
        (['length'], 0)
        """
        rows = [
            self.points.at(k)
            | dict(zip(self.measures, self.values[k].tolist(), strict=True))
            | {"reason": self.reasons[k] or None}
            for k in range(len(self))
        ]
        return {
            "mechanism": self.mechanism,
            "status": self.status,
            "parameters": list(self.points.names),
            "measures": list(self.measures),
            "units": dict(zip(self.points.names, self.points.units, strict=True)) | dict(self.units),
            "failed": len(self.failed),
            "points": rows,
        }

    def __str__(self) -> str:
        lines = [f"sweep of {self.mechanism!r}: {len(self)} points, {len(self.failed)} failed, {self.status}"]
        for k, name in enumerate(self.points.names):
            lines.append(_range_line(name, self.points.table[:, k], self.points.units[k]))
        for k, name in enumerate(self.measures):
            lines.append(_range_line(name, self.values[:, k], self.units.get(name, "")))
        counted = Counter(reason for reason in self.reasons if reason)
        for reason, count in counted.most_common(_SHOWN_REASONS):
            lines.append(f"  {count} x  {reason:.160}")
        if len(counted) > _SHOWN_REASONS:
            lines.append(f"  and {len(counted) - _SHOWN_REASONS} other reasons")
        return "\n".join(lines)


def _range_line(name: str, values: Floats, unit: str) -> str:
    if np.isnan(values).all():
        return f"  {name:24} no values"
    text = f"  {name:24} {np.nanmin(values):.6g} to {np.nanmax(values):.6g} {unit}"
    return text.rstrip()


def result_of(
    mechanism: str,
    points: Points,
    measures: Sequence[str],
    outcomes: Mapping[int, Any],
    status: str,
    folder: Path | None,
    units: Mapping[str, str],
) -> SweepResult:
    """The result made from outcomes by index of their points; missing ones were not computed."""
    values = np.full((len(points), len(measures)), np.nan)
    seconds, reasons = np.zeros(len(points)), [NOT_DONE] * len(points)
    for number, outcome in outcomes.items():
        values[number], seconds[number], reasons[number] = outcome.values, outcome.seconds, outcome.reason
    held = {number: outcome.run for number, outcome in outcomes.items() if outcome.run is not None}
    return SweepResult(
        mechanism, points, tuple(measures), values, tuple(reasons), seconds, status, folder, held, units
    )
