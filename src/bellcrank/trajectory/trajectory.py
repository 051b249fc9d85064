"""The Trajectory: results of a run by name. It does not depend on how they were computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.compile.state import State, StateSource
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.trajectory.elements import Elements
from bellcrank.trajectory.energy_balance import EnergyBalance, energy_balance
from bellcrank.trajectory.events import EventRecord
from bellcrank.trajectory.histories import EnergyHistory, ViolationHistory
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.showing import Shown
from bellcrank.trajectory.status import Status
from bellcrank.trajectory.store import FloatArray, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


class Trajectory(Elements, Shown):
    """Results of a run: T frames at increasing times. SI units, world axes; all arrays are read-only.

    layout: what was recorded. status: how the run ended. statistics: what the solver counted.
    origin: the mechanism of the run.
    events: requested events and stops that were reached, in the order of time, each with its name, time and
        state.
    """

    def __init__(
        self,
        layout: FrameLayout,
        store: Store,
        status: Status | str = "finished",
        statistics: Mapping[str, str | int | float] | None = None,
        mechanism: str | Origin = "",
        events: Sequence[EventRecord] = (),
    ) -> None:
        self.layout = layout
        self.store = store
        self.status = status if isinstance(status, Status) else Status(status)
        self.statistics = MappingProxyType(dict(statistics or {}))
        self.origin = Origin.of(mechanism)
        if (changed := self.statistics.get("changed_at", "")) != self.origin.changed:
            self.origin = self.origin.changed_at(str(changed))
        self.state_source = StateSource(layout.bodies, layout.angle_labels(), self.origin.values)
        self.events = tuple(
            e if e.state.source else replace(e, state=replace(e.state, source=self.state_source))
            for e in events
        )

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.layout.mechanism

    @property
    def mechanism(self) -> str:
        """Text of the mechanism's file, shapes included; empty if the run does not contain its mechanism."""
        return self.origin.text

    @property
    def time(self) -> FloatArray:
        """(T,), s."""
        return self.store.read("time")

    def __len__(self) -> int:
        return self.store.frames

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.layout, self.store, self.status, dict(self.statistics), self.origin, self.events)
        return Trajectory, parts

    def __repr__(self) -> str:
        return f"<Trajectory of {self.name!r}: {self.extent()}, {self.status}>"

    @property
    def energy(self) -> EnergyHistory:
        """Kinetic, potential and total energy."""
        return EnergyHistory(self.store)

    def energy_balance(self) -> EnergyBalance:
        """The energy that every force and drive has supplied, stored and lost, and the residual.

        Raises MechanismError for a run without recorded work (`simulate(..., ledger=True)`).
        """
        return energy_balance(self.layout, self.store)

    @property
    def violation(self) -> ViolationHistory:
        """Errors of the constraints."""
        return ViolationHistory(self.store)

    def at(self, time: float) -> State:
        """The bodies' state at any time within the run, interpolated between frames (see `interpolate`).

        It contains the whole turns of all angles, so that `simulate(..., state=run.at(t))` continues from
        there. Raises MechanismError for a time outside the run.
        """
        from bellcrank.trajectory.parts import state_at

        return state_at(self, time)

    def resample(self, times: Any = None, *, step: float | None = None) -> Trajectory:
        """Resample the run at other times, in memory.

        times: increasing, within the run; or step: one frame every `step` seconds, from the first on.
        Positions, rotations and joint coordinates are interpolated to third order, the rest linearly.

        Raises MechanismError for times outside the run or not increasing.
        """
        from bellcrank.trajectory.parts import resampled

        return resampled(self, times, step)

    def __getitem__(self, frames: slice) -> Trajectory:
        """A part of the run by frame indices, such as run[10:20] or run[::5], in memory.

        Raises MechanismError for anything but a forward slice.
        """
        from bellcrank.trajectory.parts import part

        return part(self, frames)

    def between(self, start: float, end: float) -> Trajectory:
        """The frames from one time to another, s, both included."""
        with Check("between") as check:
            start, end = check.number("start", start, "s"), check.number("end", end, "s")
        first, last = np.searchsorted(self.time, start, "left"), np.searchsorted(self.time, end, "right")
        return self[int(first) : int(last)]

    def summary(self) -> str:
        """The content of the run, in a few lines."""
        from bellcrank.trajectory.parts import summary

        return summary(self)

    def to_dict(self) -> dict[str, FloatArray]:
        """Every quantity as a column (T,), by name with unit, e.g. "body.crank.x [m]"; for tables."""
        from bellcrank.trajectory.columns import columns

        return columns(self)

    def to_csv(self, path: str | Path) -> None:
        """Write the columns of `to_dict` as text, one line for each frame."""
        from bellcrank.trajectory.columns import write_csv

        write_csv(self, path)

    def to_xarray(self) -> Dataset:
        """Everything as an `xarray.Dataset` with axes time, body, joint, ..., units and meanings.

        For a table of the axes see `dataset`. Raises Unsupported without xarray (extra `xarray`).
        """
        from bellcrank.trajectory.dataset import dataset

        return dataset(self)

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write the run into a file; the suffix of the path chooses the kind.

        .h5, .hdf5: everything, which `load` reads (layout: see `run_file`); .nc: NetCDF with named axes, the
        data of `to_xarray`; .csv, .npz, .mat: the columns of `to_dict`, see `kinds_of_files`.
        replace: whether it may replace an existing file; in place of a recorded run only a run is written.

        Raises MechanismError for another suffix, for a file that exists and must not be replaced, and if
        writing fails, when an existing file is unchanged; Unsupported if a package is missing that writes it.

        >>> run.save("pendulum.h5")
        """
        from bellcrank.trajectory.kinds_of_files import save

        save(self, path, replace)

    @staticmethod
    def load(path: str | Path, lazy: bool | None = None) -> Trajectory:
        """Read a run from a file, even one that is still being written or whose process was killed.

        lazy: leave the numbers in the file until they are needed; by default if they exceed 256 MB.

        Raises MechanismError, listing all faults, for a file that is missing, damaged or not a run.
        """
        from bellcrank.trajectory.storage import load

        read = load(path, lazy)
        status = Status(read.end.status, read.end.message)
        end = (read.end.statistics, read.origin, read.end.events)
        return Trajectory(read.layout, read.store, status, *end)

    def plot(
        self, what: str = "overview", *names: str, path: str | Path | None = None, **options: Any
    ) -> Figure:
        """Plot the run (needs matplotlib, extra `plot`).

        what: "overview", "joint", "body", "path", "reaction", "drive", "force", "limit", "energy",
            "violation"; or "picture", which is `draw`.
        names: the joints, bodies, drives or forces to show; by default the most significant ones.
        path: file to write the figure into (PNG, PDF or SVG).
        options: those of the kind, see `plots.kinds`.
        Raises MechanismError for an unknown kind or name, Unsupported without matplotlib.
        """
        from bellcrank.trajectory.plots import plot

        return plot(self, what, names, path, options)

    def span(self) -> tuple[float, float]:
        """First and last time, s. Raises MechanismError for a run without frames."""
        if len(self) == 0:
            raise MechanismError(Fault(f"run of {self.name!r}", "it holds no frames"))
        return float(self.time[0]), float(self.time[-1])

    def within(self, times: FloatArray) -> FloatArray:
        """The times, moved onto the ends of the run if they miss them only by rounding."""
        first, last = self.span()
        slack = 1e-9 * (last - first)
        if np.any(outside := ~((times >= first - slack) & (times <= last + slack))):
            rule = f"the run goes from t = {first:g} s to {last:g} s, this time lies outside"
            raise MechanismError(Fault(f"run of {self.name!r}", rule, float(times[outside][0])))
        return np.clip(times, first, last)

    def extent(self) -> str:
        """The number of frames and the time span, in words."""
        if len(self) == 0:
            return "no frames"
        return f"{len(self)} frames, t = {self.time[0]:g} to {self.time[-1]:g} s"
