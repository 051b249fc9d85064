"""The results of a trajectory for an applied force. T frames; arrays are read-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE, TURNED
from bellcrank.trajectory.accounts import force_account
from bellcrank.trajectory.efforts import Efforts, work_of
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import ForceColumn, FrameLayout
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.rotations import rotate
from bellcrank.trajectory.store import FloatArray, Store, read_only


@dataclass(frozen=True, repr=False)
class ForceHistory(Efforts):
    """History of a spring, a motor, friction, an applied wrench or another force: positions and efforts.

    Its efforts are along coordinates, or components of force and moment at markers (names such as "force_x",
    in the axes in which they were given); components that are always zero have no column. Of a geared motor
    it is the torque's effort; the inertia of its rotor is `run.drive(name)`.
    """

    name: str
    layout: FrameLayout
    store: Store
    origin: Origin

    def __repr__(self) -> str:
        return f"<force {self.name!r} ({', '.join(self.coordinates)}), {self.store.frames} frames>"

    @property
    def columns(self) -> tuple[ForceColumn, ...]:
        """Its efforts."""
        return self.layout.force_columns[self._slice]

    @property
    def effort(self) -> FloatArray:
        """(T,), or (T, k) if there is not exactly one; N or N m, positive if it drives the coordinate up."""
        return _squeezed(self._efforts)

    @property
    def position(self) -> FloatArray:
        """(T,) or (T, k), m or rad: of the coordinates; NaN for components at markers."""
        return _squeezed(self._along(0))

    @property
    def rate(self) -> FloatArray:
        """(T,) or (T, k), m/s or rad/s: of the coordinates, and of markers along the components there."""
        return _squeezed(self._rates)

    @property
    def power(self) -> FloatArray:
        """(T,), W: its power on the bodies, efforts times rates."""
        return read_only(np.sum(self._efforts * self._rates, axis=1))

    @property
    def work(self) -> FloatArray:
        """(T,), J: the integral of its power since the run began, along the run's steps.

        Raises MechanismError for a run without it (`simulate(..., ledger=True)`).
        """
        return work_of(force_account(self.name), self.layout, self.store)

    @property
    def energy(self) -> FloatArray:
        """(T,), J: its potential energy. Raises MechanismError if its kind has none, such as friction."""
        places = [n for n, name in enumerate(self.layout.force_potentials) if name == self.name]
        if not places:
            rule, advice = "it has no potential energy", "its work is recorded with ledger=True"
            raise MechanismError(Fault(f"force {self.name!r}", rule, None, advice))
        return read_only(np.sum([self.store.read("force_potentials", n) for n in places], axis=0))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it acts on, "ground" among them where it does."""
        names, numbers = self._model.bodies, _core.force_bodies(self._model.core, self._in_core)
        return tuple(names[n] if n < len(names) else "ground" for n in numbers)

    def wrench(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> FloatArray:
        """(T, 6), N m and N: moment about a point of a body, then force, exerted on that body, world axes.

        body: one of `bodies`. point: in the body's frame, m. Raises MechanismError for another body, and for
        a run that does not contain its mechanism.
        """
        if body not in self.bodies:
            rule = "it does not act on this body"
            raise MechanismError(Fault(f"force {self.name!r}", rule, body, nearest(body, self.bodies)))
        wrenches, _ = self._exerted
        moment, force = np.split(wrenches[:, self._moving.index(body) if body != "ground" else -1], 2, axis=1)
        arm = np.asarray(point, dtype=float)
        if body != "ground":
            arm = rotate(self.store.read("rotation", self.layout.body_number[body]), arm)
        return read_only(np.concatenate([moment - np.cross(arm, force), force], axis=1))

    @property
    def _slice(self) -> slice:
        return self.layout.force_numbers[self.name]

    @property
    def _efforts(self) -> FloatArray:
        return self.store.read("force_efforts", self._slice)

    def _along(self, which: int) -> FloatArray:
        """(T, k): values (0) or rates (1) of the coordinates."""
        found = np.full((self.store.frames, len(self.columns)), np.nan)
        for k, column in enumerate(self.columns):
            if column.coordinate is not None:
                *sections, place = self.layout.every_coordinate[column.coordinate]
                found[:, k] = self.store.read(sections[which], place)
        return found

    @property
    def _rates(self) -> FloatArray:
        recorded = all(column.coordinate is not None for column in self.columns)
        return self._along(1) if recorded else self._exerted[1]

    @cached_property
    def _model(self) -> Model:
        """The model of the mechanism, which must be that of the run."""
        model = self.origin.model
        listed = force_efforts(model).get(self.name, [])
        same = [(e.name, e.unit) for e in listed] == [(c.name, c.unit) for c in self.columns]
        if model.bodies != self.layout.bodies or not same:
            raise MechanismError(
                Fault(f"force {self.name!r}", "the mechanism kept with the run is another one")
            )
        return model

    @cached_property
    def _in_core(self) -> list[tuple[str, int, int]]:
        return [e.core for e in force_efforts(self._model)[self.name]]

    @property
    def _moving(self) -> list[str]:
        return [body for body in self.bodies if body != "ground"]

    @cached_property
    def _exerted(self) -> tuple[FloatArray, FloatArray]:
        """Moment about the origin and force on moving bodies, then the ground (T, n + 1, 6); rates (T, k)."""
        model, numbers = self._model, [self.layout.body_number[body] for body in self._moving]
        motion = [
            np.stack([self.store.read(section, number) for number in numbers], axis=1)
            if numbers
            else np.empty((self.store.frames, 0, width))
            for section, width in zip(STATE_SECTIONS, (3, 4, 3, 3), strict=True)
        ]
        followed = self._followed()
        values = np.empty((self.store.frames, len(followed)))
        for k, (section, place) in enumerate(followed.values()):
            values[:, k] = self.store.read(section, place)
        efforts = np.ascontiguousarray(self._efforts)
        wrench, rates = _core.force_wrenches(
            model.core, self._in_core, numbers, tuple(motion), list(followed), values, efforts
        )
        return wrench.reshape(self.store.frames, len(numbers) + 1, 6), rates

    def _followed(self) -> dict[int, tuple[str, int]]:
        """Section and column of coordinates whose gradient depends on where they were.

        These are coordinates of joints given by formulas, and rotation vectors beyond half a turn.
        """
        kinds, layout = self._model.arrays["coordinate_kind"], self.layout
        listed = [index for joint in self._model.joints for index in joint.coordinates]
        found = {c: ("coordinates", n) for n, c in enumerate(listed) if kinds[c] == FORMULA_COORDINATE}
        for c, number in zip(self._model.angular.tolist(), layout.turning, strict=False):
            if kinds[c].startswith(TURNED):
                section, *_, place = layout.every_coordinate[number]
                found[c] = (section, place)
        return found


def _squeezed(values: FloatArray) -> FloatArray:
    return read_only(values[:, 0] if values.shape[1] == 1 else values)
