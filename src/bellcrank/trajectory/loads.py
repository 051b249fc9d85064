"""What acts on the bodies of a run: efforts and multipliers as wrenches, and every load on one body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE, TURNED
from bellcrank.mechanism.joint import JOINT_KINDS
from bellcrank.mechanism.rotation_arrays import conjugate, rotate
from bellcrank.trajectory.contacts import ContactHistory
from bellcrank.trajectory.interpolate import STATE_SECTIONS
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.store import FloatArray, Store

Entry = tuple[str, int, int]
"""An effort of a force, or ("row", number, 0) for a row's multiplier, as the core takes them."""

_RUBBING: Final = {"friction", "brake"}
"""Force laws that act where the parts of a joint touch, as its reaction does."""


class Side(NamedTuple):
    """A body that an effort acts on. entry: of a list. body: the ground comes last. place: in its frame."""

    entry: int
    body: int
    place: tuple[float, float, float]


def sides_of(model: Model, entries: Sequence[Entry]) -> list[Side]:
    """The sides of efforts, in their order."""
    found = _core.exerted_sides(model.core, list(entries))
    return [Side(entry, body, (x, y, z)) for entry, body, (x, y, z) in found]


def exerted(
    model: Model, layout: FrameLayout, store: Store, entries: Sequence[Entry]
) -> tuple[list[Side], FloatArray, FloatArray]:
    """What efforts of one exert: their sides, wrenches (T, sides, 6), and rates (T, k) along the efforts.

    A wrench is the moment about the origin of the body's frame, then the force, in world axes.
    """
    sides = sides_of(model, entries)
    bodies = sorted({side.body for side in sides} - {model.ground})
    motion = [
        np.stack([store.read(section, number) for number in bodies], axis=1)
        if bodies
        else np.empty((store.frames, 0, width))
        for section, width in zip(STATE_SECTIONS, (3, 4, 3, 3), strict=True)
    ]
    known = _followed(model, layout)
    values = np.empty((store.frames, len(known)))
    for k, (section, place) in enumerate(known.values()):
        values[:, k] = store.read(section, place)
    times = np.ascontiguousarray(store.read("time"))
    wrenches, rates = _core.exerted(
        model.core, list(entries), bodies, tuple(motion), times, list(known), values
    )
    return sides, wrenches.reshape(store.frames, len(sides), 6), rates


def wrench_on(body: int, found: tuple[list[Side], FloatArray, FloatArray], efforts: FloatArray) -> FloatArray:
    """What efforts (T, k) exert on a body, of what `exerted` found: moment about its frame's origin, force.

    (T, 6), N m and N, world axes. body: its number, the ground's being that of bodies.
    """
    sides, wrenches, _ = found
    mine = [(place, side.entry) for place, side in enumerate(sides) if side.body == body]
    places, entries = np.array(mine, dtype=int).reshape(-1, 2).T
    return np.asarray(np.einsum("tk,tkj->tj", efforts[:, entries], wrenches[:, places]))


def _followed(model: Model, layout: FrameLayout) -> dict[int, tuple[str, int]]:
    """Section and column of coordinates whose gradient depends on where they were.

    These are coordinates of joints given by formulas, and rotation vectors beyond half a turn.
    """
    kinds = model.arrays["coordinate_kind"]
    listed = [index for joint in model.joints for index in joint.coordinates]
    found = {c: ("coordinates", n) for n, c in enumerate(listed) if kinds[c] == FORMULA_COORDINATE}
    for c, number in zip(model.angular.tolist(), layout.turning, strict=False):
        if kinds[c].startswith(TURNED):
            section, *_, place = layout.every_coordinate[number]
            found[c] = (section, place)
    return found


@dataclass(frozen=True, eq=False)
class Load:
    """What an element exerts on a body at n instants of a run; body axes.

    name: such as "joint 'pivot'".
    frames: (n,), the frame of each; None where they are the T frames of the run, one after the other.
    place: where it enters the body, (3,) or (n, 3), m, in its frame.
    wrench: (n, 6), N m and N, moment about the origin of the body's frame, then force.
    unique: (n, 2), whether the equations of motion determine its moment and its force.
    """

    name: str
    frames: np.ndarray | None
    place: FloatArray
    wrench: FloatArray
    unique: np.ndarray

    def add_to(self, total: FloatArray, share: FloatArray | float = 1.0) -> None:
        """Add it to sums of wrenches at all frames (T, ..., 6). share: of it, (n, ..., 1) or one for all."""
        wrench = self.wrench.reshape(len(self.wrench), *(1,) * (total.ndim - 2), 6)
        if self.frames is None:
            total += share * wrench
        else:
            np.add.at(total, self.frames, share * wrench)


def loads_on(body: str, model: Model, layout: FrameLayout, store: Store) -> list[Load]:
    """All loads on a body but its weight: of joints, constraints, drives, forces and contacts.

    A load enters the body at the marker of its element there. What a joint transmits enters both bodies where
    its second marker is, a massless rod's load at its ends, that of a contact at the points that touch.

    Raises MechanismError if reactions were not recorded, or if contacts were resampled.
    """
    found = _Loads(body, model, layout, store)
    return [*found.reactions(), *found.multipliers(), *found.forces(), *found.contacts()]


class _Loads:
    def __init__(self, body: str, model: Model, layout: FrameLayout, store: Store) -> None:
        self._model, self._layout, self._store = model, layout, store
        self._body, self._name = model.body_number(body), body
        if len(layout.reactions) < len(model.reactions) or len(layout.forces) < len(model.forces):
            rule, advice = "the loads on it were not recorded", "simulate with reactions=True"
            raise MechanismError(Fault(f"body {body!r}", rule, None, advice))
        self._back = conjugate(store.read("rotation", self._body))
        self._certain = np.ones((store.frames, 2), dtype=bool)

    def reactions(self) -> list[Load]:
        """Of joints, limits included."""
        found = []
        for number, (name, _, pair) in enumerate(self._model.reactions):
            bodies = self._model.arrays["pair_bodies"][pair].tolist()
            for side in (side for side in (0, 1) if bodies[side] == self._body):
                exerted = (-1.0, 1.0)[side] * self._store.read("reactions", number)
                touching = self._touching(pair)
                moment, force = self._local(exerted[:, :3]), self._local(exerted[:, 3:])
                wrench = np.concatenate([moment + np.cross(touching, force), force], axis=1)
                flags = self._store.read("unique_reactions", number) > 1.0 - 1e-9
                place = touching if self._slides(name) else self._model.arrays["pair_positions"][pair][side]
                found.append(Load(f"joint {name!r}", None, place, wrench, flags))
        return found

    def _slides(self, joint: str) -> bool:
        """Whether the second marker of a joint leaves the first, and takes what is transmitted along."""
        kind = JOINT_KINDS.get(self._model.joint(joint).kind)  # None: given by formulas
        return kind is None or not (kind.massless_rod or {"x", "y", "z"} <= set(kind.locked))

    def multipliers(self) -> list[Load]:
        """Of drives, rotors and constraints."""
        listed = [(k, m) for k, m in enumerate(self._model.multipliers) if m.kind != "limit"]
        recorded = self._store.read("multipliers")
        flags = np.repeat(self._store.read("unique_multipliers")[..., None] > 1.0 - 1e-9, 2, axis=2)
        return self._along(
            [(f"{m.kind} {m.element!r}", ("row", m.row, 0), recorded[:, k], flags[:, k]) for k, m in listed]
        )

    def forces(self) -> list[Load]:
        """Of forces other than contacts."""
        recorded = self._store.read("force_efforts")
        listed = [(f"force {name!r}", e.core) for name, es in force_efforts(self._model).items() for e in es]
        return self._along(
            [
                (name, core, recorded[:, k], self._certain)
                for k, (name, core) in enumerate(listed)
                if core[0] != "contact"
            ]
        )

    def _along(self, efforts: list[tuple[str, Entry, FloatArray, np.ndarray]]) -> list[Load]:
        sides = sides_of(self._model, [entry for _, entry, _, _ in efforts])
        mine = sorted({side.entry for side in sides if side.body == self._body})
        efforts = [efforts[k] for k in mine]
        sides, wrenches, _ = exerted(
            self._model, self._layout, self._store, [entry for _, entry, _, _ in efforts]
        )
        found = []
        for k, side in enumerate(sides):
            if side.body == self._body:
                name, entry, effort, unique = efforts[side.entry]
                moment, force = (self._local(wrenches[:, k, part]) for part in (slice(0, 3), slice(3, 6)))
                wrench = effort[:, None] * np.concatenate([moment, force], axis=1)
                found.append(Load(name, None, self._place(entry, side), wrench, unique))
        return found

    def _place(self, entry: Entry, side: Side) -> FloatArray:
        arrays = self._model.arrays
        if entry[0] == "law" and arrays["law_kind"][entry[1]] in _RUBBING:
            return self._touching(int(arrays["coordinate_pair"][arrays["law_coordinate"][entry[1]]]))
        return np.asarray(side.place)

    def contacts(self) -> list[Load]:
        """Of the points of contacts."""
        mine = [c for c in self._model.contacts if self._body in c.bodies]
        if mine and not self._layout.contacts:
            rule = "the points of its contacts are known at recorded frames only, and the run was resampled"
            raise MechanismError(Fault(f"body {self._name!r}", rule, None, "take the run before"))
        found = []
        for contact in mine:
            history = ContactHistory(contact.name, self._layout, self._store)
            points = history.points()
            frames = np.repeat(np.arange(len(history)), history.count)
            for side, sign in enumerate((1.0, -1.0)):
                on = np.array([names[side] == self._name for names in points.bodies], dtype=bool)
                force, moment = sign * points.force[on], sign * points.moment[on]
                place = self._local(
                    points.position[on] - self._store.read("position", self._body)[frames[on]], frames[on]
                )
                force, moment = self._local(force, frames[on]), self._local(moment, frames[on])
                wrench = np.concatenate([moment + np.cross(place, force), force], axis=1)
                certain = np.ones((len(place), 2), dtype=bool)
                found.append(Load(f"contact {contact.name!r}", frames[on], place, wrench, certain))
        return found

    def _touching(self, pair: int) -> FloatArray:
        """Where the second marker of a pair is, in the body's frame (3,) or (T, 3)."""
        second = int(self._model.arrays["pair_bodies"][pair][1])
        point = np.asarray(self._model.arrays["pair_positions"][pair][1])
        if second == self._body:
            return point
        if second != self._model.ground:
            point = self._store.read("position", second) + rotate(self._store.read("rotation", second), point)
        return self._local(point - self._store.read("position", self._body))

    def _local(self, vectors: FloatArray, frames: np.ndarray | None = None) -> FloatArray:
        return rotate(self._back if frames is None else self._back[frames], vectors)
