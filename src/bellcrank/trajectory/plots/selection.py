"""Selection of the lines to show: those with the largest range, judged by a sample of the frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.trajectory.plots.panels import span_of
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.efforts import EffortHistory
    from bellcrank.trajectory.forces import ForceHistory
    from bellcrank.trajectory.trajectory import Trajectory

MOST: Final = 6  # lines in a panel when the user names none
_SAMPLE: Final = 400
_NOTHING: Final = 1e-9  # of the largest
_PLANAR: Final = 1e-6  # of the largest extent: less is no motion


def largest(sizes: FloatArray, most: int = MOST) -> list[int]:
    """Indices of the largest sizes (n,), in increasing order, without those negligible beside them.

    Among equal sizes the first ones are taken; the very first if all are zero.
    """
    known = np.nan_to_num(sizes)
    order = np.argsort(-known, kind="stable")[:most]
    count = max(1, int(np.count_nonzero(known[order] > _NOTHING * known.max(initial=0.0))))
    return sorted(order[:count].tolist())


def sample(run: Trajectory, section: str) -> FloatArray:
    """Some hundred frames of a section, with non-finite numbers set to zero."""
    rows = slice(0, None, max(1, len(run) // _SAMPLE))
    return np.nan_to_num(run.store.read(section, rows=rows), posinf=0.0, neginf=0.0)


def moving_bodies(run: Trajectory) -> tuple[str, ...]:
    """The bodies whose frames travel farthest."""
    extents = np.ptp(sample(run, "position"), axis=0).max(axis=1)
    return tuple(run.bodies[number] for number in largest(extents))


def moving_coordinates(run: Trajectory, unit: str) -> list[int]:
    """The joint coordinates of a unit that change most."""
    numbers = [k for k, column in enumerate(run.layout.coordinates) if (column.unit or "1") == unit]
    return [numbers[k] for k in largest(np.ptp(sample(run, "coordinates")[:, numbers], axis=0))]


def loaded_joints(run: Trajectory) -> tuple[str, ...]:
    """The joints with the largest reaction forces."""
    forces = np.linalg.norm(sample(run, "reactions")[:, :, 3:], axis=2).max(axis=0)
    return tuple(run.layout.reactions[number] for number in largest(forces))


def loaded(history: Callable[[str], EffortHistory | ForceHistory], names: Sequence[str]) -> tuple[str, ...]:
    """The drives, limits or forces with the largest efforts."""
    efforts = np.array([np.max(np.abs(history(name).effort)) for name in names])
    return tuple(names[number] for number in largest(efforts))


def planes_of_motion(paths: Sequence[FloatArray]) -> tuple[str, ...]:
    """The coordinate plane that holds all of the paths (T, 3), or all three planes."""
    extent = np.max([np.subtract(*span_of(path)[::-1]) for path in paths], axis=0)
    still = [letter for letter, size in zip("xyz", extent, strict=True) if size <= _PLANAR * extent.max()]
    if not still:
        return ("xy", "xz", "yz")
    out = "y" if len(still) == 3 else still[-1]  # a line along x is shown in xy
    return ("xyz".replace(out, ""),)


def rounding(values: FloatArray) -> float:
    """Forces (N) and moments (N m) that count as rounding errors beside these (T, k)."""
    return 1e-10 * float(np.max(np.abs(span_of(values)), initial=0.0))


def titled(title: str, shown: Sequence[Any], count: int) -> str:
    """The title with the name of the only line, or with how many of all lines are shown."""
    if len(shown) < count:
        return f"{title} ({len(shown)} of {count})"
    return f"{shown[0][0]}: {title[0].lower()}{title[1:]}" if count == 1 else title
