"""Arrows of what forces exert on bodies: springs, cylinders, strings, motors."""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.trajectory.loads import exerted
from bellcrank.trajectory.observation import force_efforts
from bellcrank.trajectory.store import FloatArray, MemoryStore
from bellcrank.viewer.snapshot import Snapshot

_NOISE: Final = 1e-9  # of the largest arrow: what is smaller is rounding


def pulls_of(now: Snapshot, names: tuple[str, ...], kinds: tuple[int, int]) -> FloatArray:
    """Arrows (n, 8): tail (3,), m, vector (3,), N or N m, kind of arrow, and number of the force.

    names: of the forces, which arrows number. kinds: of forces and of moments. Contacts are left out.
    """
    model, layout = now.model, now.layout
    if model is None or not layout.force_columns:
        return np.empty((0, 8))
    listed = _listed(model, names)
    every = [column.force for column in layout.force_columns]
    known = [(name, core, every.index(name) + k) for name, core, k in listed if name in every]
    if not known:
        return np.empty((0, 8))
    store = MemoryStore.from_frames(layout, now.frame[None])
    sides, wrenches, _ = exerted(model, layout, store, [core for _, core, _ in known])
    efforts = now.frame[layout.columns["force_efforts"]]
    entry = np.array([side.entry for side in sides], dtype=int)
    body = np.array([side.body for side in sides], dtype=int)
    effort = efforts[[column for _, _, column in known]][entry]
    wrench = np.nan_to_num(effort[:, None] * wrenches[0])
    position, rotation = (
        np.vstack([now.position, np.zeros(3)]),
        np.vstack([now.rotation, [1.0, 0.0, 0.0, 0.0]]),
    )
    arm = rotate(rotation[body], np.array([side.place for side in sides], dtype=float).reshape(-1, 3))
    force, moment = wrench[:, 3:], wrench[:, :3] - np.cross(arm, wrench[:, 3:])
    number = np.array([names.index(known[k][0]) for k in entry], dtype=float)
    tails, on_body = position[body] + arm, body < len(now.position)
    found = []
    for kind, way in zip(kinds, (force, moment), strict=True):
        size = np.linalg.norm(way, axis=1)
        kept = on_body & (size > _NOISE * size.max(initial=0.0))
        found.append(
            np.column_stack([tails[kept], way[kept], np.full(int(kept.sum()), float(kind)), number[kept]])
        )
    return np.concatenate(found)


def _listed(model: Model, names: tuple[str, ...]) -> list[tuple[str, tuple[str, int, int], int]]:
    """Efforts of forces that are shown, as the core takes them, and their numbers within the force."""
    return [
        (name, effort.core, k)
        for name, efforts in force_efforts(model).items()
        if name in names
        for k, effort in enumerate(efforts)
        if effort.core[0] != "contact"
    ]
