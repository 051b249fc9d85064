"""What ropes over wheels assume, frame by frame: wraps that are not negative, wheels apart, parallel axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rope_path import rope_path
from bellcrank.mechanism.ropes import Way
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.mechanism.timing_belts import TOOTH_LOAD, TimingBelt

_ROUNDING: Final = 1e-9  # rad or m
_TILT: Final = 1e-2  # rad between axes of neighbouring wheels: lengths are then off by a twenty-thousandth
_TURN: Final = 2.0 * np.pi


def watched_ropes(model: Model, poses: tuple[slice, slice], turning: dict[int, int]) -> Iterator[RopeWatch]:
    """The ropes and belts of a model.

    poses: columns of positions and rotations in a frame. turning: columns of angles, by their coordinate.
    """
    if model.source is None or not has_ropes(model):
        return
    for element in _attached(with_numbers(model.source)):
        if isinstance(element.kind, Way):
            yield RopeWatch(model, element, poses, turning)


def has_ropes(model: Model) -> bool:
    """Whether there are ropes or belts in a model."""
    return model.source is not None and any(isinstance(e.kind, Way) for e in _attached(model.source))


def lost_rope(model: Model, states: Sequence[State]) -> str:
    """Why a rope or belt has lost its meaning at one of these states in a row; "" if none has."""
    position, rotation = (
        np.array([getattr(one, name) for one in states]) for name in ("position", "rotation")
    )
    angles = np.array([model.coordinate_values(state)[model.angular] for state in states])
    found = first_lost(model, position, rotation, angles)
    return "" if found is None else found[1]


def first_lost(model: Model, position: Floats, rotation: Floats, angles: Floats) -> tuple[int, str] | None:
    """The first of some frames in which a rope or belt has lost its meaning, and why.

    position (n, nb, 3) and rotation (n, nb, 4) of the bodies; angles (n, angular coordinates).
    """
    count, bodies = len(position), len(model.bodies)
    frames = np.hstack([position.reshape(count, -1), rotation.reshape(count, -1), angles])
    turning = {c: 7 * bodies + k for k, c in enumerate(model.angular.tolist())}
    watched = list(watched_ropes(model, (slice(0, 3 * bodies), slice(3 * bodies, 7 * bodies)), turning))
    lost = [(bad, watch.message) for watch in watched if (bad := watch.first_bad(frames)) is not None]
    return min(lost, default=None)


def _attached(mechanism: Any) -> tuple[Any, ...]:
    return (*mechanism.constraints.values(), *mechanism.forces.values())


class RopeWatch:
    """Whether the way of one rope or belt has a meaning; message: why not."""

    def __init__(
        self, model: Model, element: Any, poses: tuple[slice, slice], turning: dict[int, int]
    ) -> None:
        self.message = ""
        self._name = f"{element.category} {element.name!r}"
        self._way: Way = element.kind
        self._poses, self._bodies = poses, len(model.bodies)
        self._carriers = np.array([model.body_index[m.body] for m in element.markers])
        self._points = np.array([m.position for m in element.markers], dtype=float)
        self._axes = np.array([m.z_axis for m in element.markers], dtype=float)
        self._wraps: Floats | None = None
        self._drum = _drum_of(model, element, turning)
        self._model, self._turning = model, turning
        self._limit = float(element.kind.limit or 0.0) if isinstance(element.kind, TimingBelt) else 0.0
        self._record = next(
            (r for r in model.custom if (r.category, r.name) == (element.category, element.name)), None
        )

    def first_bad(self, frames: Floats) -> int | None:
        """The number of the first frame in which the way has no meaning."""
        if not len(frames):
            return None
        at, axes = self._ends(frames)
        path = rope_path(self._way.radii, self._way.closed, at, axes, lifting=self._way.lifting)
        found = [
            (bad, text)
            for violated, text in (
                *self._apart(path.gaps),
                *self._parallel(axes),
                *self._around(path.wraps),
                *self._wound(frames),
                *self._jumping(frames),
            )
            if (bad := _first(violated)) is not None
        ]
        if not found:
            return None
        number, text = min(found)
        self.message = f"{self._name}: {text}"
        return number

    def _ends(self, frames: Floats) -> tuple[Floats, Floats]:
        """Positions and z axes (n, ends, 3) of the ends."""
        count = len(frames)
        position = np.zeros((count, self._bodies + 1, 3))
        rotation = np.zeros((count, self._bodies + 1, 4))
        rotation[:, -1, 0] = 1.0
        position[:, :-1] = frames[:, self._poses[0]].reshape(count, self._bodies, 3)
        rotation[:, :-1] = frames[:, self._poses[1]].reshape(count, self._bodies, 4)
        turn = rotation[:, self._carriers]
        return position[:, self._carriers] + rotate(turn, self._points), rotate(turn, self._axes)

    def _pairs(self) -> list[tuple[int, int]]:
        count = len(self._way.radii)
        return [(k, (k + 1) % count) for k in range(count if self._way.closed else count - 1)]

    def _apart(self, gaps: Floats) -> Iterator[tuple[Any, str]]:
        for place, (one, two) in enumerate(self._pairs()):
            text = (
                f"no straight line leads from end {one + 1} to end {two + 1}: one is within the other's wheel"
            )
            yield gaps[:, place] < -_ROUNDING, f"{text}; place them apart"

    def _parallel(self, axes: Floats) -> Iterator[tuple[Any, str]]:
        for one, two in self._pairs():
            if self._way.radii[one] and self._way.radii[two]:
                between = np.linalg.norm(axes[:, one] - axes[:, two], axis=1)
                text = f"the z axes of the wheels at ends {one + 1} and {two + 1} are not parallel"
                yield between > _TILT, f"{text}; hold the axes, or pass a point between the wheels"

    def _around(self, wraps: Floats) -> Iterator[tuple[Any, str]]:
        """Angles of wrap, continued from frame to frame; a rope with less than none lifts off."""
        before = wraps[:1] if self._wraps is None else self._wraps
        followed = np.unwrap(np.concatenate([before, wraps]), axis=0)[1:]
        self._wraps = followed[-1:]
        for place, radius in enumerate(self._way.radii):
            if radius and place not in self._way.lifting:
                text = f"it lifts off the wheel at end {place + 1}, where its length has no meaning"
                yield followed[:, place] < -_ROUNDING, f"{text}; end the run before, or leave the wheel out"

    def _wound(self, frames: Floats) -> Iterator[tuple[Any, str]]:
        if self._drum is not None:
            column, begin, forward, wound = self._drum
            left = wound + forward * (frames[:, column] - begin)
            yield left < 0.0, "its drum is bare: no turn is left; give more by `wound`"

    def _jumping(self, frames: Floats) -> Iterator[tuple[Any, str]]:
        """Loads on teeth of a timing belt, where they have a limit."""
        if not self._limit or self._record is None:
            return
        custom: Any = self._record.lowered.custom
        values = np.array([self._values(frame) for frame in frames])
        found = custom.found(values, np.zeros_like(values))
        for name, (_, loads) in found.items():
            if name.startswith(TOOTH_LOAD):
                over = loads > self._limit
                most = loads[np.argmax(over)]
                text = (
                    f"its teeth jump at end {name.removeprefix(TOOTH_LOAD).strip()}: {most:.6g} N on one is"
                )
                yield (
                    over,
                    f"{text} above the limit of {self._limit:g} N; give it more pretension or a wider belt",
                )

    def _values(self, frame: Floats) -> Floats:
        """Those of the coordinates of its way."""
        model, count = self._model, self._bodies
        position = frame[self._poses[0]].reshape(count, 3)
        rotation = frame[self._poses[1]].reshape(count, 4)
        still = np.zeros_like(position)
        turned = frame[[self._turning[c] for c in model.angular.tolist()]]
        state = State(model.initial.time, position, rotation, still, still, turned)
        assert self._record is not None
        values: Floats = model.coordinate_values(state)[list(self._record.ends)]
        return values


def _first(violated: Any) -> int | None:
    found = np.flatnonzero(violated)
    return int(found[0]) if found.size else None


def _drum_of(model: Model, element: Any, turning: dict[int, int]) -> tuple[int, float, float, float] | None:
    """Of a rope in layers: column and initial value of its drum's angle, the way it winds, what is on it."""
    for record in model.custom:
        custom: Any = record.lowered.custom
        if (
            record.name == element.name
            and record.category == element.category
            and getattr(custom, "drum", None) is not None
        ):
            place, start, forward = custom.drum
            column = turning.get(record.ends[place])
            if column is not None:
                return column, custom.values[start][1], forward, _TURN * element.kind.wound
    return None
