"""The points and forces of contact that are shown for a run, and their scale."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Points
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.tyre import Tyre
from bellcrank.scene.contact_marks import CUT, LONGEST, ContactMarking, ContactMarks
from bellcrank.trajectory.contacts import starts_of
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_CROWD: Final = 12  # points of a pair of bodies: the forces of more are drawn as one
_USUAL: Final = 0.95  # of the frames in which bodies touch: their largest force is an arrow of usual length
_IMPACT: Final = CUT / LONGEST  # times that force: what is larger is an impact, and its arrow is cut
_BELOW: Final = -0.5  # of the upward part of a normal: the first body lies below the second


@dataclass(frozen=True, eq=False)
class Touching:
    """Points that touch. contacts: names of contacts. shapes: name of the body of each shape.

    rows: (n,), records of type `POINT`.
    """

    contacts: tuple[str, ...]
    shapes: tuple[str, ...]
    rows: Points

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def contact(self) -> Any:
        """The number (n,) of the contact of each point."""
        return self.rows["contact"].astype(int)

    @property
    def pairs(self) -> Any:
        """Numbers (n, 2) of the bodies of each point, as `names` has them."""
        numbers = {name: number for number, name in enumerate(self.names)}
        carrier = np.array([numbers[name] for name in self.shapes], dtype=int)
        return carrier[self.rows["shapes"].astype(int)]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bodies, each once."""
        return tuple(dict.fromkeys(self.shapes))


def summed_of(mechanism: Mechanism | None, touching: Touching, frame: Any = 0) -> set[str]:
    """Contacts whose forces are drawn as one for each pair of bodies: tyres, and where many points touch.

    frame: number of the frame (n,) of each point.
    """
    forces = {} if mechanism is None else mechanism.forces
    found = {name for name in touching.contacts if name in forces and isinstance(forces[name].kind, Tyre)}
    if len(touching):
        keys = np.column_stack([np.broadcast_to(frame, len(touching)), touching.contact, touching.pairs])
        kinds, counts = np.unique(keys, axis=0, return_counts=True)
        found |= {touching.contacts[number] for number in kinds[counts > _CROWD, 1].tolist()}
    return found


@dataclass(frozen=True, eq=False)
class Arrows:
    """Forces that are drawn. frame: (m,), of each. tail: (m, 3), m. force: (m, 3), N."""

    frame: Any
    tail: FloatArray
    force: FloatArray


def arrows_of(touching: Touching, summed: Collection[str], up: Any, frame: Any = 0) -> Arrows:
    """Forces at points, and where they are summed the resultant of a pair at its centre of pressure.

    Each acts on a body that is not the ground; between two bodies on the upper one, or on the first where
    neither is above. up: unit vector. frame: number of the frame (n,) of each point.
    """
    rows, frame = touching.rows, np.broadcast_to(frame, len(touching))
    force, normal, position = rows["force"], rows["normal"], rows["position"]
    weight = np.maximum(np.einsum("ij,ij->i", force, normal), 0.0)
    many = np.isin(touching.contact, [touching.contacts.index(name) for name in summed])
    pairs, one = touching.pairs, ~many
    keys = np.column_stack([frame, touching.contact, pairs])[many]
    kinds, which = np.unique(keys, axis=0, return_inverse=True)

    def total(values: FloatArray) -> FloatArray:
        sums = np.zeros((len(kinds), values.shape[1]))
        np.add.at(sums, which.ravel(), values[many])
        return sums

    pressed = np.maximum(total(weight[:, None]), 1e-300)
    tail = np.concatenate([position[one], total(weight[:, None] * position) / pressed])
    acting = np.concatenate([force[one], total(force)])
    upward = np.concatenate([normal[one], total(weight[:, None] * normal) / pressed]) @ np.asarray(up)
    ends = np.concatenate([pairs[one], kinds[:, 2:]])
    ground = np.array([name == GROUND for name in touching.names] or [False])[ends.astype(int)]
    second = ground[:, 0] | (~ground[:, 1] & (upward < _BELOW))
    acting = np.where(second[:, None], -acting, acting)
    kept = np.linalg.norm(acting, axis=1) > 0.0
    return Arrows(np.concatenate([frame[one], kinds[:, 0]])[kept], tail[kept], acting[kept])


class ContactPictures:
    """Marks of the contacts of a run at its frames, all of one scale.

    contacts: names, one name, or True for all. newtons: that an arrow of 1 m stands for; None for a scale
    that suits the picture.

    Raises MechanismError for unknown names, for a run that records no points of contact, and for a wrong
    scale.
    """

    def __init__(self, run: Trajectory, up: Any, contacts: Any, newtons: Any = None) -> None:
        names, newtons = _checked(run, contacts, newtons)
        counts = np.diff(starts_of(run.store)).astype(int)
        rows, frame = run.store.contacts, np.repeat(np.arange(len(counts)), counts)
        mine = np.isin(rows["contact"], [run.layout.contacts.index(name) for name in names])
        self._points = Touching(run.layout.contacts, run.layout.contact_shapes, rows[mine])
        self._time, self._frame = run.time, frame[mine]
        summed = summed_of(run.origin.mechanism, self._points, self._frame)
        self._fine = np.isin(self._points.contact, [run.layout.contacts.index(name) for name in summed])
        arrows = arrows_of(self._points, summed, up, self._frame)
        order = np.argsort(arrows.frame, kind="stable")
        self._arrows = Arrows(arrows.frame[order], arrows.tail[order], arrows.force[order])
        self._forces, self._newtons = usual_of(_largest(arrows, len(counts))), newtons

    def at(self, time: float) -> ContactMarks:
        """The marks of the frame nearest to a time, s."""
        frame = int(np.argmin(np.abs(self._time - time)))
        first, last = np.searchsorted(self._frame, [frame, frame + 1])
        begin, end = np.searchsorted(self._arrows.frame, [frame, frame + 1])
        rows = self._points.rows[first:last]
        return ContactMarks(
            rows["position"],
            rows["slips"] == 0.0,
            self._fine[first:last],
            self._arrows.tail[begin:end],
            self._arrows.force[begin:end],
        )

    def marking(self, times: Any) -> ContactMarking:
        """The marks to draw at times, s."""
        return ContactMarking([self.at(float(time)) for time in times], *self._forces, self._newtons)


def pictured(run: Trajectory, up: Any, contacts: Any, newtons: Any) -> ContactPictures | None:
    """Marks of the requested contacts, None if there are none. Raises the errors of `ContactPictures`."""
    if contacts is None or contacts is False:
        if newtons is not None:
            advice = "give contacts=True, too"
            raise MechanismError(Fault("force_scale", "it is that of contact forces", newtons, advice))
        return None
    return ContactPictures(run, up, contacts, newtons)


def _largest(arrows: Arrows, frames: int) -> FloatArray:
    """The largest force (T,), N, that is drawn in each frame."""
    found = np.zeros(frames)
    np.maximum.at(found, arrows.frame.astype(int), np.linalg.norm(arrows.force, axis=1))
    return found


def usual_of(largest: FloatArray) -> tuple[float, float]:
    """The force, N, that the scale is chosen for, and the largest of all; largest: (T,) of each frame.

    In one of twenty frames with contacts, forces may be larger. If they are more than twice as large, they
    are impacts, beside which all other arrows would vanish.
    """
    touching = largest[largest > 0.0]
    if not len(touching):
        return 0.0, 0.0
    most, usual = float(touching.max()), float(np.quantile(touching, _USUAL, method="higher"))
    return (usual if most > _IMPACT * usual else most), most


def _checked(run: Trajectory, contacts: Any, newtons: Any) -> tuple[list[str], float | None]:
    """The names of contacts and the scale, N/m, or None."""
    known = run.layout.contacts
    with Check("picture of a run") as check:
        if not known:
            advice = "it has none where the mechanism has no contact or tyre, and where it was resampled"
            check.fault("contacts: the run records no points of contact", None, advice)
        listed = [contacts] if isinstance(contacts, str) else contacts
        if contacts is True:
            listed = known
        elif isinstance(listed, bool) or not isinstance(listed, (list, tuple, set, frozenset)):
            check.fault("contacts: it takes True or names", contacts, nearest("", known))
            listed = ()
        for name in listed if known else ():
            if name not in known:
                check.fault("contacts: there is no contact of this name", name, nearest(name, known))
        if newtons is not None:
            newtons = check.positive("force_scale", newtons, "N/m")
    return list(listed), newtons
