"""Successive runs as one.

Forces, drives and constraints may come, go and change between them: their layouts are united.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Points
from bellcrank.errors import FaultList
from bellcrank.mechanism.checking import required
from bellcrank.slips import answered
from bellcrank.trajectory.energy_balance import MOVES
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.recorder import spanned
from bellcrank.trajectory.store import POINT, FloatArray, MemoryStore
from bellcrank.trajectory.trajectory import Trajectory

_ELEMENTS: Final = {
    "coordinates": "coordinates",
    "rates": "coordinates",
    "coordinate_accelerations": "coordinates",
    "angles": "angles",
    "angle_rates": "angles",
    "force_coordinates": "force_coordinates",
    "force_rates": "force_coordinates",
    "multipliers": "multipliers",
    "unique_multipliers": "multipliers",
    "reactions": "reactions",
    "unique_reactions": "reactions",
    "force_efforts": "force_columns",
    "force_potentials": "force_potentials",
    "inputs": "inputs",
    "sensors": "sensors",
    "works": "works",
}
"""The field of a layout that names what a section holds."""

_ABSENT: Final = {
    "multipliers": 0.0,
    "unique_multipliers": 1.0,
    "force_efforts": 0.0,
    "force_potentials": 0.0,
    "works": 0.0,
    "contact_points": 0.0,
}
"""What sections hold of an element that is not there: it exerts nothing. Of all others no number is known."""

_ODD: Final = ("shear", "normal", "force", "slip", "moment")
"""What of a touching point has the other sign seen from the other body."""

_LASTING: Final = ("bodies", "com", "coordinates", "reactions", "accelerations")


@answered
def concatenate(runs: Iterable[Trajectory]) -> Trajectory:
    """Concatenate successive runs of one mechanism into one run, in memory.

    If a run begins at the time at which the previous one ends, that frame is taken once, from the previous
    one. Status, statistics and mechanism are those of the last.

    Raises MechanismError listing all runs that do not fit (other layouts, times that go back), and for no
    runs.

    >>> first = bc.simulate(block, 0.5)
    >>> second = bc.simulate(block, 0.5, state=first.at(0.5), start=0.5)
    >>> run = bc.concatenate([first, second])
    >>> print(run, run.joint("guide").position[-1].round(4))    # m: -g t^2 / 2
    <Trajectory of 'block': 2001 frames, t = 0 to 1 s, finished> [-4.905]
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
    statistics = {**last.statistics, **_seams(held), **spanned(sections["time"])}
    # What is in force follows from the start.
    origin = held[0].origin if held and last.changes else last.origin
    return Trajectory(last.layout, store, last.status, statistics, origin, events)


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


def _seams(runs: list[Trajectory]) -> dict[str, str | int | float]:
    """What statistics say of where successive runs begin, end, and were joined at other states."""
    if not runs:
        return {}
    first = runs[0]
    statistics: dict[str, str | int | float] = {
        name: first.statistics.get(name, "") for name in ("started_from", "part")
    }
    times = [f"{float(two.time[0]):.17g}" for one, two in pairwise(runs) if not _continues(one, two)]
    statistics |= {"joined_at": ", ".join(times)}
    return {name: text for name, text in statistics.items() if text}


def _continues(one: Trajectory, two: Trajectory) -> bool:
    """Whether a run begins where another ends."""
    ends = ((one.store.read(name)[-1], two.store.read(name)[0]) for name in ("time", *STATE_SECTIONS))
    return all(np.allclose(end, begin, rtol=1e-9, atol=1e-9) for end, begin in ends)


def goes_on(one: FrameLayout, two: FrameLayout) -> bool:
    """Whether a record can go on in another layout: bodies, joints and kinds of results are the same."""
    alike = all(getattr(one, name) == getattr(two, name) for name in _LASTING)
    return alike and bool(one.works) == bool(two.works)


def united(old: FrameLayout, new: FrameLayout) -> FrameLayout:
    """The layout with the elements of the later one and, behind them, those that only the earlier one has."""
    if old == new:
        return new
    angles, along = _both(old, new, "angles"), _both(old, new, "force_coordinates")
    layout = replace(new, angles=angles, force_coordinates=along)
    forces = tuple(dict.fromkeys((*new.forces, *old.forces)))
    columns = _both(old, new, "force_columns", lambda of, c: _moved(of, layout, c))
    return replace(
        layout,
        turning=tuple(_place(new, layout, number) for number in new.turning),
        multipliers=_both(old, new, "multipliers"),
        forces=forces,
        force_columns=tuple(sorted(columns, key=lambda column: forces.index(column.force))),
        force_potentials=_both(old, new, "force_potentials"),
        inputs=_both(old, new, "inputs"),
        sensors=_both(old, new, "sensors"),
        contacts=_both(old, new, "contacts"),
        contact_shapes=_both(old, new, "contact_shapes"),
        works=_both(old, new, "works"),
    )


def relaid(run: Trajectory, layout: FrameLayout) -> Trajectory:
    """The run in a layout that unites its own with others: what is not there exerts nothing."""
    if run.layout == layout:
        return run
    frames = laid(frames_of(run), run.layout, layout, _ABSENT)
    rows = np.empty(0, POINT)
    if len(run.store.contacts):
        rows = relaid_points(run.store.contacts, run.layout, layout)
    store = MemoryStore.from_frames(layout, frames, rows if layout.contacts else None)
    return Trajectory(layout, store, run.status, run.statistics, run.origin, run.events)


def relaid_points(points: Points, old: FrameLayout, new: FrameLayout) -> Points:
    """Touching points (n,) with the numbers that shapes and contacts have in another layout."""
    rows = _renumbered(points, old.contact_shapes, new.contact_shapes)
    groups = np.full(len(old.contacts), -1.0)
    for here, there in _shared(old, new, "contacts"):
        groups[here] = there
    rows["contact"] = groups[rows["contact"].astype(int)]
    return rows


def remembered(memory: Points, old: Sequence[str], new: Sequence[str]) -> Points:
    """What points remember of friction (n,), with the numbers that shapes have in another list.

    old, new: the body of each shape, as in `FrameLayout.contact_shapes`. Points of shapes that are not there
    any more are left out.
    """
    found = _renumbered(memory, old, new)
    return found[(found["shapes"] >= 0.0).all(axis=1)]


def _renumbered(points: Points, old: Sequence[str], new: Sequence[str]) -> Points:
    """Touching points (n,) with other numbers of shapes, -1 for none, the lower first."""
    known = {name: number for number, name in enumerate(_counted(new))}
    numbers = np.array([known.get(name, -1) for name in _counted(old)], dtype=float)
    found = points.copy()
    found["shapes"] = numbers[points["shapes"].astype(int)]
    turned = found["shapes"][:, 0] > found["shapes"][:, 1]
    for name in ("shapes", "features"):
        found[name][turned] = found[name][turned, ::-1]
    for name in set(_ODD).intersection(found.dtype.names or ()):
        found[name][turned] *= -1.0
    return found


def frames_of(run: Trajectory) -> FloatArray:
    """All frames of a run, (T, 1 + width)."""
    whole, count = getattr(run.store, "whole", None), len(run)
    if whole is not None and whole[0] is run.layout:
        return np.asarray(whole[1][:, : 1 + run.layout.width])
    return np.concatenate([run.store.read(name).reshape(count, -1) for name in run.layout.shapes], axis=1)


def laid(
    frames: FloatArray, old: FrameLayout, new: FrameLayout, absent: Mapping[str, float] | None = None
) -> FloatArray:
    """Frames (T, 1 + width) of one layout in another one.

    absent: by section, the values for elements that the old layout does not have; NaN if not named.
    """
    found = np.full((len(frames), 1 + new.width), np.nan)
    for section, value in (absent or {}).items():
        if section in new.columns:
            found[:, new.columns[section]] = value
    for there, here in _common(new, old):
        found[:, there] = frames[:, here]
    return found


def _common(new: FrameLayout, old: FrameLayout) -> Iterator[tuple[slice, slice]]:
    """The columns of what is in both layouts."""
    for section, place in new.columns.items():
        if section not in old.columns:
            continue
        before, named = old.columns[section], _ELEMENTS.get(section)
        if named is None:  # of bodies, and of the whole mechanism
            yield place, before
            continue
        width = int(np.prod(new.shapes[section][1:], dtype=int))
        for here, there in _shared(old, new, named):
            begin, was = place.start + width * there, before.start + width * here
            yield slice(begin, begin + width), slice(was, was + width)


def _shared(old: FrameLayout, new: FrameLayout, field: str) -> list[tuple[int, int]]:
    """The numbers, in both layouts, of each element of a field that both have."""
    known = {element: number for number, element in enumerate(_names(new, field))}
    numbered = enumerate(_names(old, field))
    return [(number, known[element]) for number, element in numbered if element in known]


def _both(
    old: FrameLayout, new: FrameLayout, field: str, moved: Any = lambda _of, item: item
) -> tuple[Any, ...]:
    """The elements of a field of the new layout, then those of the old one only. moved: into the union."""
    known = set(_names(new, field))
    gone = [
        item for item, name in zip(getattr(old, field), _names(old, field), strict=True) if name not in known
    ]
    return (*(moved(new, item) for item in getattr(new, field)), *(moved(old, item) for item in gone))


def _moved(of: FrameLayout, layout: FrameLayout, column: Any) -> Any:
    """The column of an effort with the number that its coordinate has in the union."""
    if column.coordinate is None:
        return column
    return replace(column, coordinate=_place(of, layout, column.coordinate))


def _place(of: FrameLayout, layout: FrameLayout, number: int) -> int:
    """The number in a union of a coordinate that has a number in one of its parts."""
    section, _, place = of.every_coordinate[number]
    there = dict(_shared(of, layout, section))[place]
    before = {"coordinates": 0, "angles": len(layout.coordinates)}
    return before.get(section, len(layout.coordinates) + len(layout.angles)) + there


def _names(layout: FrameLayout, field: str) -> list[tuple[object, int]]:
    """What stands for each element of a field, and how many of these come before.

    Numbers of columns in it differ between layouts, and one constraint may have several angles of a name.
    """
    listed: list[object] = list(getattr(layout, field))
    if field == "multipliers":
        listed = [(item.element, item.kind, item.name, item.sign) for item in layout.multipliers]
    if field == "force_columns":
        listed = [(item.force, item.name, _along(layout, item.coordinate)) for item in layout.force_columns]
    return _counted(listed)


def _counted(listed: Sequence[object]) -> list[tuple[object, int]]:
    counts: Counter[object] = Counter()
    found = []
    for item in listed:
        found.append((item, counts[item]))
        counts[item] += 1
    return found


def _along(layout: FrameLayout, number: int | None) -> object:
    """The name of the coordinate along which an effort acts; None for a component at a marker."""
    if number is None:
        return None
    section, _, place = layout.every_coordinate[number]
    return _names(layout, section)[place]
