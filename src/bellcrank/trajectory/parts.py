"""Parts of runs, resampling, concatenation of successive runs, and a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from bellcrank.compile.state import State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import Check, required
from bellcrank.mechanism.contents import counted
from bellcrank.trajectory.accounts import MOVES
from bellcrank.trajectory.contact_log import memory_at, rows_of
from bellcrank.trajectory.interpolate import STATE_SECTIONS, interpolated
from bellcrank.trajectory.recorder import spanned
from bellcrank.trajectory.store import FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

_FRAMES_MOST = 10_000_000  # of a run at other times


def state_at(run: Trajectory, time: float) -> State:
    """See `Trajectory.at`."""
    turning = list(run.layout.turning)
    counted = [name for name in ("coordinates", "angles") if turning and name in run.layout.shapes]
    sections = (*STATE_SECTIONS, *counted)
    with Check("run") as check:
        time = check.number("the time", time, "s")
    values = interpolated(run.store, sections, run.within(np.array([time], dtype=float)))
    angles = np.concatenate([values[name][0] for name in counted])[turning] if counted else None
    position, rotation, velocity, spin = (values[section][0] for section in STATE_SECTIONS)
    contacts = memory_at(run.store, float(time)) if run.layout.contacts else None
    return State(float(time), position, rotation, velocity, spin, angles, contacts, run.state_source)


def part(run: Trajectory, frames: slice) -> Trajectory:
    """See `Trajectory.__getitem__`."""
    if not isinstance(frames, slice) or (frames.step is not None and frames.step < 1):
        rule, advice = (
            "a part is a slice of frames, forwards",
            "such as run[10:20]; times: run.between(0, 1)",
        )
        raise MechanismError(Fault(f"run of {run.name!r}", rule, frames, advice))
    rows = slice(*frames.indices(len(run)))
    inside = run.time[rows]
    sections = {name: run.store.read(name, rows=rows) for name in run.layout.shapes}
    events = [e for e in run.events if len(inside) and inside[0] <= e.time <= inside[-1]]
    store = MemoryStore(sections, rows_of(run.store, rows) if run.layout.contacts else None)
    told = dict(run.statistics)
    if len(inside) < len(run) and len(inside):
        told |= {"part": f"{len(inside)} of {len(run)} frames", **spanned(inside)}
    return Trajectory(run.layout, store, run.status, told, run.origin, events)


def resampled(run: Trajectory, times: Any, step: float | None) -> Trajectory:
    """See `Trajectory.resample`."""
    if (times is None) == (step is None):
        raise MechanismError(Fault("resample", "it takes either times or a step; such as step=0.01"))
    first, last = run.span()
    with Check("resample") as check:
        if step is None:
            listed = [times] if isinstance(times, (int, float)) else times
            times = check.array("times", listed, (None,), "s")
        elif (last - first) / (step := check.positive("step", step, "s")) > _FRAMES_MOST:
            check.fault(f"a run holds at most {_FRAMES_MOST} frames", step)
    if step is not None:
        times = first + step * np.arange(int((last - first) / step * (1 + 1e-12) + 1e-9) + 1)
    wanted = run.within(times)
    if np.any(np.diff(wanted) <= 0.0):
        raise MechanismError(Fault("resample", "times must be increasing; sort them, drop doubles"))
    layout = replace(run.layout, contacts=(), contact_shapes=())  # points come and go between frames
    sections = interpolated(run.store, tuple(layout.shapes), wanted)
    told = {**run.statistics, "resampled": f"from {len(run)} frames"}
    return Trajectory(layout, MemoryStore(sections), run.status, told, run.origin, run.events)


def summary(run: Trajectory) -> str:
    """See `Trajectory.summary`."""
    lines = [f"run of {run.name!r}: {run.extent()}"]
    lines.append(f"status: {run.status}" + (f" ({run.status.message})" if run.status.message else ""))
    counts = (("body", run.bodies), ("joint", run.joints), ("drive", run.drives))
    lines.append(", ".join(counted(len(names), noun) for noun, names in counts))
    if len(run):
        worst = float(np.max(run.violation.position))
        drift = float(np.max(np.abs(run.energy.drift)))
        lines.append(f"largest constraint error {worst:.2g}, largest change of energy {drift:.3g} J")
    lines += [f"{name}: {value}" for name, value in run.statistics.items()]
    return "\n".join(lines)


def _works_before(runs: list[Trajectory], changed: bool) -> list[FloatArray]:
    """The work (b,) accumulated before each of successive runs, for those that start anew.

    A run that starts anew counts from zero; parts of one run continue counting. changed: what the energy
    without that of forces changes by from one run to the next is brought in there.
    """
    before, found, last = np.zeros(len(runs[0].layout.works)), [], np.zeros(len(runs[0].layout.works))
    moves = runs[0].layout.works.index(MOVES)
    for number, run in enumerate(runs):
        works = run.store.read("works")
        if not works[0].any():
            before = before + last
        if changed and number:
            before = before.copy()
            before[moves] += _free_energy(run, 0) - _free_energy(runs[number - 1], -1)
        found.append(before)
        last = works[-1]
    return found


def _free_energy(run: Trajectory, frame: int) -> float:
    """Kinetic energy and that of the weight, J."""
    one = slice(frame, frame + 1 or None)
    kinetic, potential = (run.store.read(name, rows=one).item() for name in ("kinetic", "potential"))
    return float(kinetic + potential - run.store.read("force_potentials", rows=one).sum())


def joined(runs: Sequence[Trajectory], changed: bool = False) -> Trajectory:
    """Successive runs of one layout as one run, in memory.

    changed: something may have been changed where one run follows another, so that a frame which both have is
    the later one's; otherwise it is the earlier one's.
    """
    held = [run for run in runs if len(run)]
    meets = [bool(one.time[-1] == two.time[0]) for one, two in pairwise(held)]
    begins = [0, *(int(meet and not changed) for meet in meets)]
    ends = [*(-1 if meet and changed else None for meet in meets), None]
    last = runs[-1]
    parts = [run[begin:end] for run, begin, end in zip(held, begins, ends, strict=False)] or [last]
    sections = {
        name: np.concatenate([part.store.read(name) for part in parts]) for name in last.layout.shapes
    }
    if last.layout.works and held:
        before = np.repeat(_works_before(held, changed), [len(part) for part in parts], axis=0)
        sections["works"] = sections["works"] + before
    touching = np.concatenate([part.store.contacts for part in parts]) if last.layout.contacts else None
    events = [event for run in runs for event in run.events]
    store = MemoryStore(sections, touching)
    told = {**last.statistics, **_seams(held), **spanned(sections["time"])}
    return Trajectory(last.layout, store, last.status, told, last.origin, events)


def concatenate(runs: Iterable[Trajectory]) -> Trajectory:
    """Concatenate successive runs of one mechanism into one run, in memory.

    If a run begins at the time at which the previous one ends, that frame is taken once, from the previous
    one. Status, statistics and mechanism are those of the last.

    Raises MechanismError listing all runs that do not fit (other layouts, times that go back), and for no
    runs.
    """
    listed = list(runs)
    faults = FaultList()
    if not listed:
        faults.add("concatenate", "there is no run", None, "give one or more")
    for number, run in enumerate(listed, start=1):
        with faults.collect():
            required(f"concatenate, run {number}", run, Trajectory)
    faults.raise_any()
    held = [run for run in listed if len(run)]
    for number, (one, two) in enumerate(pairwise(listed), start=2):
        if one.layout != two.layout:
            rule = "it records other things than the one before"
            faults.add(f"concatenate, run {number}", rule, two.name, "take the same mechanism and options")
    for one, two in pairwise(held):
        if two.time[0] < one.time[-1]:
            rule = f"it begins before t = {one.time[-1]:g} s, where the one before ends"
            faults.add("concatenate", rule, float(two.time[0]), "take the part after it, by run.between(...)")
    faults.raise_any()
    return joined(listed)


def _seams(runs: list[Trajectory]) -> dict[str, str | int | float]:
    """What statistics say of where successive runs begin, end, and were joined at other states."""
    if not runs:
        return {}
    first = runs[0]
    told: dict[str, str | int | float] = {
        name: first.statistics.get(name, "") for name in ("started_from", "part")
    }
    times = [f"{float(two.time[0]):.17g}" for one, two in pairwise(runs) if not _continues(one, two)]
    told |= {"joined_at": ", ".join(times)}
    return {name: text for name, text in told.items() if text}


def _continues(one: Trajectory, two: Trajectory) -> bool:
    """Whether a run begins where another ends."""
    ends = ((one.store.read(name)[-1], two.store.read(name)[0]) for name in ("time", *STATE_SECTIONS))
    return all(np.allclose(end, begin, rtol=1e-9, atol=1e-9) for end, begin in ends)
