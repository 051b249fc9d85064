"""The input of the checks: a model and its recorded run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from bellcrank.compile.model import CustomRecord, Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.coordinate import COORDINATE_KINDS, TURNED
from bellcrank.run.plan import METHODS, Method
from bellcrank.trajectory.observation import force_efforts, observation
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.verification.snapshot import MOTION, CoordinateAt, Formulas, Snapshot, Snapshots

_TURN = 2.0 * np.pi
_HALF_TURN = 1e-6  # angles this close to -pi count as +pi, as in the core
_HELD = 200_000  # body poses that are held at once
_MOST = 5_000_000  # body poses that are judged in all
_WRITTEN = 1000  # frames times elements given by formulas that are judged
_AT_ONCE = 2000  # bodies and pairs, at all frames that are found together

OF_WHOLE = ("speed_of_whole_run", "energy_of_whole_run")
"""The statistics in which a part of a run has the largest speed, m/s, and energy in play, J, of all of it."""

_Found = TypeVar("_Found")


class Evidence:
    """A recorded run, as the checks read it.

    frames: indices of the frames that are examined closely, spread over the run but not at round times; with
        samples None all of them, which may then be of unrelated states.
    """

    def __init__(self, model: Model, run: Trajectory, samples: int | None) -> None:
        self.model = model
        self.run = run
        self.time = np.asarray(run.time)
        self.formulas = Formulas(model)
        self.frames: list[int] = list(range(len(self.time)))
        if samples is not None:
            inner = np.arange(1, max(len(self.time) - 1, 2))
            spread = np.unique((len(inner) * (np.arange(samples) + 0.618) / samples).astype(int))
            self.frames = inner[spread[spread < len(inner)]].tolist()
        self.at = lru_cache(max(16, _HELD // (1 + len(model.bodies))))(self._at)
        # Frames side by side are found together, fewer of them the larger the mechanism is.
        parts = 1 + len(model.bodies) + len(model.arrays["pair_bodies"])
        self._size = max(1, _AT_ONCE // parts)
        self._block = lru_cache(8)(self._frames_of)
        self._held: dict[type, Any] = {}
        self.angle_history = cache(self._angle_history)
        self.law = cache(model.law)
        # Of the run that this is a part of: parts that stand still are no motions of rounding.
        self.speed, self.energy = (float(run.statistics.get(name, 0.0)) for name in OF_WHOLE)

    def once(self, kind: type[_Found]) -> _Found:
        """What several checks need of a run, found once."""
        if kind not in self._held:
            self._held[kind] = kind(self)  # type: ignore[call-arg]
        found: _Found = self._held[kind]
        return found

    @property
    def method(self) -> Method | None:
        """The method of integration that the run names; None where it is not known."""
        return METHODS.get(str(self.run.statistics.get("method")))

    @property
    def is_rigid(self) -> bool:
        """Whether the run stepped by impulses: its contacts do not deform."""
        return self.method is not None and self.method.by_impulses

    @property
    def locates_events(self) -> bool:
        """Whether the method of the run looks for events within its steps, and records them."""
        return self.method is None or self.method.adaptive

    def intervals_at(self, time: float) -> slice:
        """The intervals between frames that an event at a time may lie in."""
        slack = 1e-9 * float(np.ptp(self.time))
        first = int(np.searchsorted(self.time, time - slack, side="left")) - 1
        return slice(max(first, 0), int(np.searchsorted(self.time, time + slack, side="right")))

    @cached_property
    def _reported(self) -> dict[int, int]:
        """Column of each coordinate that a joint reports."""
        listed = [index for joint in self.model.joints for index in joint.coordinates]
        return {index: column for column, index in enumerate(listed)}

    @cached_property
    def _other_angles(self) -> dict[int, int]:
        """Column of each other angle that is recorded for its whole turns."""
        layout = self.run.layout
        if not layout.angles:
            return {}
        first = len(layout.coordinates)
        return {
            int(c): n - first for c, n in zip(self.model.angular, layout.turning, strict=True) if n >= first
        }

    @cached_property
    def sections(self) -> dict[str, Floats]:
        """The recorded sections by name, all frames."""
        return {name: np.asarray(self.run.store.read(name)) for name in self.run.layout.shapes}

    def state(self, frame: int) -> State:
        """The State of a frame."""
        return State(float(self.time[frame]), *(self.sections[name][frame] for name in MOTION))

    def _at(self, frame: int) -> Snapshot:
        return Snapshot(self.model, self.state(frame), self._block(frame // self._size), frame % self._size)

    def _frames_of(self, block: int) -> Snapshots:
        return self.snapshots(range(block * self._size, min((block + 1) * self._size, len(self.time))))

    def parts(self, frames: Sequence[int] | np.ndarray | None = None) -> Iterator[Frames]:
        """Frames, or all of them, in parts that memory bears."""
        listed = np.arange(len(self.time)) if frames is None else np.asarray(frames, dtype=int)
        size = max(1, _HELD // (1 + len(self.model.bodies) + 2 * len(self.model.arrays["pair_bodies"])))
        for begin in range(0, len(listed), size):
            yield Frames(self, listed[begin : begin + size])

    @property
    def every(self) -> np.ndarray:
        """The frames at which all is judged that numbers alone show: all, or as many as time bears.

        Formulas are evaluated frame by frame, as they are written.
        """
        custom = len(self.formulas.forces) + len(self.formulas.constraints) + len(self.formulas.joints)
        size = 1 + len(self.model.bodies) + 2 * len(self.model.arrays["pair_bodies"])
        most = min(_MOST // size, _WRITTEN // custom if custom else _MOST)
        count = len(self.time)
        if count <= most:
            return np.arange(count)
        spread = np.linspace(0, count - 1, max(most, 1)).astype(int)
        return np.unique([*spread, *self.frames])

    def at_frame(self, frame: int) -> Frames:
        """One frame."""
        return Frames(self, np.array([frame]))

    def snapshots(self, frames: Sequence[int] | np.ndarray) -> Snapshots:
        """The bodies and marker pairs at frames."""
        return Snapshots(self.model, {name: self.sections[name][list(frames)] for name in MOTION})

    def coordinate(self, index: int, frame: int) -> CoordinateAt:
        """A coordinate of the model at a frame; angles between -pi and pi."""
        if index not in self.formulas.owner:
            near = self.near(index, np.array([frame]))
            if near is None:
                return self.at(frame).coordinate(index)
            return self.snapshots([frame]).coordinate(index, near).at(0)
        joint, _ = self.formulas.owner[index]
        values = [self.value(c, frame) for c in joint.coordinates]
        return self.formulas.own(index, self.at(frame), values, self.recorded("rates", index, frame))

    def body_text(self, number: int) -> str:
        """A body, in words."""
        return f"body {self.model.bodies[number]!r}"

    def column(self, coordinate: int) -> int:
        """The column of a coordinate that a joint reports."""
        return self._reported[coordinate]

    def near(self, index: int, frames: np.ndarray) -> Floats | None:
        """What components (n, 3) of a followed rotation vector were recorded as; None for other kinds."""
        kind = self.model.arrays["coordinate_kind"][index]
        if not kind.startswith(TURNED) or index not in self._other_angles:
            return None
        first = index - "xyz".index(kind[-1])
        return np.stack([self.angle_history(first + k)[frames] for k in range(3)], axis=1)

    def recorded(self, section: str, coordinate: int, frame: int) -> float:
        """What was recorded of a joint's coordinate."""
        return float(self.sections[section][frame, self._reported[coordinate]])

    def motion(self, index: int, frame: int) -> tuple[float, float]:
        """Value and rate of a coordinate, as formulas take them."""
        return self.value(index, frame), self.coordinate(index, frame).rate

    def value(self, coordinate: int, frame: int) -> float:
        """A coordinate's value at a frame; whole turns of angles are counted from the first frame on."""
        if coordinate in self.formulas.owner:
            return self.recorded("coordinates", coordinate, frame)
        if COORDINATE_KINDS[self.model.arrays["coordinate_kind"][coordinate]].angular:
            return float(self.angle_history(coordinate)[frame])
        return float(self.at(frame).coordinate(coordinate).value)

    def _angle_history(self, coordinate: int) -> Floats:
        """An angle at all frames: as recorded if a joint reports it, else followed from frame to frame."""
        if coordinate in self._reported:
            return self.sections["coordinates"][:, self._reported[coordinate]]
        if coordinate in self._other_angles:
            return self.sections["angles"][:, self._other_angles[coordinate]]
        principal = [part.at.coordinate(coordinate).value for part in self.parts()]
        followed = np.unwrap(np.concatenate(principal), period=_TURN)
        return followed + (_TURN if followed[0] < _HALF_TURN - np.pi else 0.0)

    def equation_of(self, row: int) -> tuple[CustomRecord, Any]:
        """The constraint given by formulas that a row is of, and its equation."""
        block = int(self.model.row_block[row])
        for record in self.formulas.constraints:
            element = next(e for e in self.model.constraints if e.name == record.name)
            if block in element.blocks:
                kind: Any = record.lowered.custom
                return record, kind.equations[row - self.model.rows_of(element.blocks[0]).start]
        raise KeyError(f"row {row} is of no constraint given by formulas")

    @cached_property
    def _efforts(self) -> list[Any]:
        return [effort for found in force_efforts(self.model).values() for effort in found]

    @cached_property
    def potentials(self) -> list[tuple[str, int]]:
        """Per recorded potential energy what has it: ("law", its number) or ("formula", its number)."""
        return [effort.core[:2] for effort in self._efforts if effort.has_potential]

    @cached_property
    def force_columns(self) -> dict[tuple[str, int, int], int]:
        """Column of each effort that was recorded, as `force_efforts` passes it to the core."""
        return {effort.core: column for column, effort in enumerate(self._efforts)}

    @cached_property
    def recorded_coordinates(self) -> list[int]:
        """The coordinate of the model behind each of `FrameLayout.every_coordinate`."""
        return list(observation(self.model).coordinates[: len(self.run.layout.every_coordinate)])

    @property
    def has_accelerations(self) -> bool:
        """Whether body accelerations were recorded."""
        return self.run.layout.accelerations

    @property
    def has_reactions(self) -> bool:
        """Whether the reactions of all joints were recorded."""
        return len(self.run.layout.reactions) == len(self.model.reactions)


class Frames:
    """Several frames of a run at once; the first index of all arrays is the frame.

    numbers: (n,), of the frames in the run. time: (n,), s. at: the bodies and marker pairs there.
    """

    def __init__(self, evidence: Evidence, numbers: np.ndarray) -> None:
        self.evidence = evidence
        self.model = evidence.model
        self.numbers = numbers
        self.time = evidence.time[numbers]
        self.at = evidence.snapshots(numbers)
        self.coordinate = cache(self._coordinate)

    def __len__(self) -> int:
        return len(self.numbers)

    def section(self, name: str) -> Floats:
        """What was recorded (n, ...) in a section."""
        return np.asarray(self.evidence.sections[name][self.numbers])

    def _coordinate(self, index: int) -> CoordinateAt:
        """A coordinate of the model; angles between -pi and pi."""
        if index not in self.evidence.formulas.owner:
            return self.at.coordinate(index, self.evidence.near(index, self.numbers))
        found = [self.evidence.coordinate(index, frame) for frame in self.numbers.tolist()]
        value, rate, force, moment, point = (
            np.array([getattr(one, name) for one in found])
            for name in ("value", "rate", "force", "moment", "point")
        )
        return CoordinateAt(value, rate, force, moment, point, found[0].bodies, np.full(len(found), np.nan))

    def value(self, coordinate: int) -> Floats:
        """A coordinate's value (n,); whole turns of angles are counted from the first frame on."""
        evidence = self.evidence
        if coordinate in evidence.formulas.owner:
            return np.asarray(self.section("coordinates")[:, evidence.column(coordinate)])
        if COORDINATE_KINDS[self.model.arrays["coordinate_kind"][coordinate]].angular:
            return np.asarray(evidence.angle_history(coordinate)[self.numbers])
        return np.asarray(self.at.coordinate(coordinate).value)

    def accelerations(self) -> tuple[Floats, Floats]:
        """Of coms and angular ones (n, nb, 3), as they were recorded."""
        angular, spin = self.section("angular_acceleration"), self.at.spin[:, :-1]
        arm = self.at.com - self.at.position[:, :-1]
        centripetal = np.cross(spin, np.cross(spin, arm))
        return self.section("acceleration") + np.cross(angular, arm) + centripetal, angular

    def efforts(self, kind: str, number: int, count: int, first: int = 0) -> Floats:
        """Recorded efforts (n, count) of a law, wrench, contact or formula; zero where one has no column."""
        columns = [self.evidence.force_columns.get((kind, number, first + k)) for k in range(count)]
        found = self.section("force_efforts")
        return np.stack([np.zeros(len(self)) if c is None else found[:, c] for c in columns], axis=1)
