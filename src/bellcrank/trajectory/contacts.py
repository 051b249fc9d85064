"""The points at which bodies touched in a run, by contact and in time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bellcrank.compile.state import MEMORY, Points
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.hertz import materials, plane_modulus
from bellcrank.mechanism.marker import GROUND
from bellcrank.trajectory.contact_stress import ContactStress, curvature_of, shapes_by_number, stress_at
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.store import POINT, FloatArray, Store, read_only


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """Points at which pairs of bodies touch: n points, SI units, world axes.

    time: (n,), s, of the frame that each point belongs to.
    bodies: names of the first and second body of each point; the same pair always has the same order.
    position: (n, 3), m, midway between the surfaces. normal: (n, 3), unit, from the second body to the first.
    gap: (n,), m, negative where the shapes overlap. approach: (n,), m/s, at which the overlap grows.
    force: (n, 3), N, on the first body. moment: (n, 3), N m, on it about the point: resistance to rolling
        and spinning. slip: (n, 3), m/s, of the first body relative to the second.
    sticks: (n,), whether the point sticks by friction. feature: (n, 2), numbers of the vertices, edges or
        faces that touch.
    """

    time: FloatArray
    bodies: tuple[tuple[str, str], ...]
    position: FloatArray
    normal: FloatArray
    gap: FloatArray
    approach: FloatArray
    force: FloatArray
    moment: FloatArray
    slip: FloatArray
    sticks: np.ndarray
    feature: np.ndarray

    def __len__(self) -> int:
        return len(self.time)

    @property
    def normal_force(self) -> FloatArray:
        """(n,), N, not negative."""
        return np.asarray(np.einsum("ij,ij->i", self.force, self.normal))

    @property
    def friction(self) -> FloatArray:
        """(n, 3), N, on the first body, across the normal."""
        return np.asarray(self.force - self.normal_force[:, None] * self.normal)


class ContactHistory:
    """A contact in a run of T frames: `len` is T."""

    def __init__(self, name: str, layout: FrameLayout, store: Store, origin: Origin | None = None) -> None:
        self.name = name
        self._origin = Origin() if origin is None else origin
        self._layout = layout
        self._store = store
        self._number = layout.contacts.index(name)

    def __len__(self) -> int:
        return self._store.frames

    def __repr__(self) -> str:
        return f"<contact {self.name!r}, {len(self)} frames>"

    @cached_property
    def _starts(self) -> np.ndarray:
        return starts_of(self._store)

    @cached_property
    def count(self) -> np.ndarray:
        """How many points touch (T,)."""
        mine = self._store.contacts["contact"] == self._number
        return np.add.reduceat(np.append(mine, False).astype(int), self._starts[:-1]) * (
            np.diff(self._starts) > 0
        )

    def points(self, frame: int | None = None) -> ContactPoints:
        """The points of a frame, or of all frames in the order of time.

        Raises MechanismError if there is no such frame.
        """
        count = len(self)
        if frame is not None and not -count <= frame < count:
            raise MechanismError(Fault(f"contact {self.name!r}", f"the run has {count} frames", frame))
        starts = self._starts
        first, last = (0, count) if frame is None else (frame % count, frame % count + 1)
        rows = self._store.contacts[starts[first] : starts[last]]
        time = np.repeat(self._store.read("time")[first:last], np.diff(starts[first : last + 1]))
        mine = rows["contact"] == self._number
        return self._points(time[mine], rows[mine])

    def stress(
        self, modulus: float | tuple[float, float], poisson: float | tuple[float, float] = 0.3
    ) -> ContactStress:
        """The stress at the points of all frames, in their order, after Hertz, where shapes allow it.

        modulus, poisson: Young's modulus, Pa, and Poisson's ratio; of both bodies, or (first, second). Raises
        MechanismError for a run that does not contain its mechanism, or several.
        """
        moduli, ratios = materials(f"contact {self.name!r}", modulus, poisson)
        bodies = self._origin.model.bodies  # refuses a run that has several
        mechanism, names = with_numbers(self._origin.mechanism), self._layout.contact_shapes
        carriers = {
            GROUND: mechanism.ground.shapes,
            **{name: mechanism.bodies[name].shapes for name in bodies},
        }
        shapes = shapes_by_number(names, carriers)
        rows = self._store.contacts
        frames = np.repeat(np.arange(len(self)), np.diff(self._starts))
        mine = rows["contact"] == self._number
        rows, frames = rows[mine], frames[mine]
        points = self._points(frames, rows)
        curvature = np.zeros((len(rows), 3, 3))
        for side in range(2):
            for number in np.unique(rows["shapes"][:, side]).astype(int).tolist():
                here, shape, body = rows["shapes"][:, side] == number, shapes[number], names[number]
                turn = np.tile([1.0, 0.0, 0.0, 0.0], (int(np.sum(here)), 1))
                if body != GROUND:
                    turn = self._store.read("rotation", self._layout.bodies.index(body))[frames[here]]
                bend = np.nan if shape is None else curvature_of(shape, turn, points.normal[here])
                curvature[here] += bend
        return stress_at(curvature, points.normal, points.normal_force, 1.0 / plane_modulus(moduli, ratios))

    def _points(self, time: FloatArray, rows: Points) -> ContactPoints:
        names = self._layout.contact_shapes
        same = ("position", "normal", "gap", "approach", "force", "moment", "slip")
        return ContactPoints(
            time=read_only(time),
            bodies=tuple((names[a], names[b]) for a, b in rows["shapes"].astype(int).tolist()),
            sticks=rows["slips"] == 0.0,
            feature=rows["features"].astype(np.int64),
            **{name: read_only(rows[name]) for name in same},
        )


def starts_of(store: Store) -> np.ndarray:
    """The index at which the points of each frame begin (T + 1,) among all points."""
    counts = store.read("contact_points").astype(np.int64)
    return np.concatenate([[0], np.cumsum(counts)])


def rows_of(store: Store, frames: slice) -> Points:
    """The points of some frames, a slice forwards."""
    starts = starts_of(store)
    chosen = range(*frames.indices(store.frames))
    parts = [store.contacts[starts[frame] : starts[frame + 1]] for frame in chosen]
    return np.concatenate(parts) if parts else np.empty(0, POINT)


def memory_at(store: Store, time: float) -> Points | None:
    """The stored state of contacts in the frame at a time; None between frames."""
    recorded = store.read("time")
    frame = int(np.argmin(np.abs(recorded - time))) if len(recorded) else -1
    if frame < 0 or abs(recorded[frame] - time) > 1e-12 * max(1.0, abs(time)):
        return None
    starts = starts_of(store)
    return store.contacts[starts[frame] : starts[frame + 1]][list(MEMORY.names or ())].astype(MEMORY)
