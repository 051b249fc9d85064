"""A snapshot as a message to browsers: where bodies are, what acts on them, what is dragged.

See web/src/protocol.ts. No loop over bodies: a frame is made sixty times a second.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bellcrank.errors import Unsupported
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.trajectory.beam_values import QUANTITIES, at_rings
from bellcrank.trajectory.beams import BeamHistory
from bellcrank.trajectory.contact_marks import arrows_of, summed_of
from bellcrank.trajectory.store import FloatArray
from bellcrank.viewer.page.picture import Picture
from bellcrank.viewer.page.pulls import pulls_of
from bellcrank.viewer.snapshot import Snapshot

FRAME: Final = 2
MOVED: Final = 40  # place of the number of the last move, which differs from browser to browser
HEAD: Final = struct.Struct("<BBHI3d2f2I3d6I")
STATUSES: Final = ("paused", "playing", "open", "failed")
LATE, _MOVING, _TWISTS, _ACCELERATIONS = 1, 2, 4, 8
_FORCE, _MOMENT, _PULL, _TURN, _CONTACT = range(5)  # kinds of arrows
_MOST: Final = 512  # points that touch, and as many arrows: those of the largest forces
_NOISE: Final = 1e-9  # of the largest arrow of its kind: what is smaller is rounding
_NO_ARROWS: Final = np.empty((0, 8))


@dataclass(frozen=True)
class Wanted:
    """What a browser wants in its frames."""

    reactions: bool = False
    forces: bool = False
    contacts: bool = False
    twists: bool = False
    accelerations: bool = False
    beams: str = ""  # the quantity by which they are coloured


def frame_of(now: Snapshot, picture: Picture, wanted: Wanted) -> bytearray:
    """The message of a snapshot, without the number of the last move."""
    position, rotation = now.position, now.rotation
    finite = np.isfinite(position).all(axis=1)
    origin = position[finite].mean(axis=0) if finite.any() else np.zeros(3)
    poses = np.concatenate([position - origin, rotation], axis=1)
    flags = LATE * now.is_late | _MOVING * now.moving
    parts: list[FloatArray] = [poses]
    for asked, flag, names in (
        (wanted.twists, _TWISTS, ("velocity", "angular_velocity")),
        (wanted.accelerations, _ACCELERATIONS, ("acceleration", "angular_acceleration")),
    ):
        if asked and names[0] in now.layout.shapes:
            flags |= flag
            parts.append(np.concatenate([_section(now, name) for name in names], axis=1))
    arrows = [_reactions(now, picture) if wanted.reactions else _NO_ARROWS]
    if wanted.forces:
        arrows.append(pulls_of(now, picture.forces, (_PULL, _TURN)))
    touching = np.empty((0, 6))
    if wanted.contacts and len(now.touching):
        touching, pushes = _contacts(now, picture, origin)
        arrows.append(pushes)
    every = np.concatenate(arrows)
    every[:, :3] -= origin
    hands, spans = _hands(now) - np.array([0.0, *origin, *origin]), _spans(picture, now)
    spans = (spans - origin).reshape(-1, 6)
    values = _beams(now, picture, wanted.beams)
    head = HEAD.pack(
        FRAME, STATUSES.index(now.status), now.edition & 0xFFFF, now.number & 0xFFFFFFFF, now.time,
        *now.past, now.speed, now.factor, 0, len(position), *origin, len(every), len(hands), len(spans),
        len(touching), flags, len(values),
    )  # fmt: skip
    numbers = np.concatenate([part.ravel() for part in (*parts, every, hands, spans, touching, values)])
    return bytearray(head) + numbers.astype("<f4").tobytes()


def _section(now: Snapshot, name: str) -> FloatArray:
    values: FloatArray = now.frame[now.layout.columns[name]].reshape(now.layout.shapes[name])
    return values


def _reactions(now: Snapshot, picture: Picture) -> FloatArray:
    """Arrows of the reactions of joints: forces, then moments, without what is rounding."""
    if "reactions" not in now.layout.shapes or now.layout.reactions != picture.run.layout.reactions:
        return _NO_ARROWS
    carriers, points, numbers = picture.joined
    known = [name in picture.scene.joints for name in now.layout.reactions]
    wrench = _section(now, "reactions")[known]
    wrench[np.isnan(wrench)] = 0.0
    tails = _placed(now, carriers, points)
    found = []
    for kind, part in ((_FORCE, slice(3, 6)), (_MOMENT, slice(0, 3))):
        way = wrench[:, part]
        size = np.linalg.norm(way, axis=1)
        kept = size > _NOISE * size.max(initial=0.0)
        kinds = np.full(int(kept.sum()), float(kind))
        found.append(np.column_stack([tails[kept], way[kept], kinds, numbers[kept]]))
    return np.concatenate(found)


def _contacts(now: Snapshot, picture: Picture, origin: Any) -> tuple[FloatArray, FloatArray]:
    """Points that touch, and arrows of their forces."""
    touching, scene = now.touching, picture.scene
    arrows = arrows_of(touching, summed_of(scene.mechanism, touching), scene.up)
    rows = touching.rows
    size = np.linalg.norm(rows["force"], axis=1)
    chosen = np.argsort(-size)[:_MOST]
    points = np.column_stack(
        [rows["position"] - origin, size, rows["slips"] != 0.0, touching.contact.astype(float)]
    )[chosen]
    strong = np.argsort(-np.linalg.norm(arrows.force, axis=1))[:_MOST]
    marks = np.tile([float(_CONTACT), 0.0], (len(strong), 1))
    return points, np.column_stack([arrows.tail[strong], arrows.force[strong], marks])


def _hands(now: Snapshot) -> FloatArray:
    """Where bodies are held and pulled to: few, one for each mouse."""
    rows = []
    for body, hold in now.holds.items():
        number = now.bodies.index(body)
        rows.append([number, *hold.reach(now.position[number], now.rotation[number]), *hold.target])
    return np.array(rows, dtype=float).reshape(-1, 7)


def _spans(picture: Picture, now: Snapshot) -> FloatArray:
    """Both ends (n, 2, 3) of the parts of links that are not straight."""
    if not picture.bent or len(now.bodies) + 1 != len(picture.scene.carriers):
        return np.empty((0, 2, 3))
    ends = picture.scene.parts(now.position, now.rotation)
    return np.concatenate([ends[place] for _, place in picture.bent])


def _beams(now: Snapshot, picture: Picture, name: str) -> FloatArray:
    """The values of a quantity at the rings of all beams, nan where it is not defined.

    None while bodies are on their way, for their poses strain what is between them.
    """
    if name not in QUANTITIES or now.moving or len(now.bodies) + 1 != len(picture.scene.carriers):
        return np.empty(0)
    found = []
    for sweep, beam, loaded in picture.beams:
        position, rotation = (part[None, sweep.carriers] for part in (now.position, now.rotation))
        history = BeamHistory(beam, loaded, np.array([now.time]), position, rotation)
        try:
            found.append(at_rings(QUANTITIES[name], history, sweep)[0])
        except Unsupported:
            found.append(np.full(len(sweep.rings), np.nan))
    return np.concatenate(found) if found else np.empty(0)


def _placed(now: Snapshot, carriers: Any, points: FloatArray) -> FloatArray:
    """Points of bodies, or of the ground, in the world."""
    position = np.vstack([now.position, np.zeros(3)])
    rotation = np.vstack([now.rotation, [1.0, 0.0, 0.0, 0.0]])
    found: FloatArray = position[carriers] + rotate(rotation[carriers], points)
    return found
