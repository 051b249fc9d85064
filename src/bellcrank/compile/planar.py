"""Models that move in a plane, without the rows that keep them in it.

A mechanism described in space whose joints, masses, forces and motion are all those of a plane stays in it
with or without the rows that hold it there: their multipliers vanish. A revolute joint then needs two rows
instead of five. What has to hold for that is checked, not assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bellcrank.compile.model import Model, StartValues
from bellcrank.compile.state import Floats
from bellcrank.errors import Unsupported
from bellcrank.mechanism.rotation import matrix

_TOLERANCE: Final = 1e-9  # of directions, and of heights against the size of the mechanism
_AXES: Final = "xyz"
_MOST_NAMED: Final = 5


def planar_model(model: Model) -> Model:
    """The same mechanism with the rows that act in its plane alone; bodies, blocks, coordinates are the same.

    Raises Unsupported, naming what is at fault, if the motion is not sure to stay in a plane: gravity, forces
    and initial velocities in the plane, all forces at the height of the centres of mass that they act on, the
    plane's normal a principal axis of each body and a marker axis of each joint.
    """
    if model.custom:
        raise Unsupported(f"planar: elements given by formulas are not taken: {model.custom[0]}")
    if model.contacts:
        raise Unsupported(f"planar: contacts are not taken: force {model.contacts[0].name!r}")
    tried = []
    for normal in _candidates(model):
        plane = _Faults(model, normal)
        bodies, acting = plane.of_bodies(), plane.of_what_acts()
        if not bodies and not acting:
            return _reduced(model, normal)
        tried.append((len(bodies), len(acting), [*bodies, *acting]))
    faults = min(tried)[2] if tried else ["it has no joints"]
    more = f" and {len(faults) - _MOST_NAMED} more" if len(faults) > _MOST_NAMED else ""
    named = "; ".join(faults[:_MOST_NAMED]) + more
    raise Unsupported(f"planar: mechanism {model.name!r} does not move in a plane: {named}")


def _candidates(model: Model) -> list[Floats]:
    """The axes of the first marker of the first joint, z first: one of them is the normal."""
    if not len(model.arrays["pair_bodies"]):
        return []
    axes = _Frames(model).axes[0, 0]
    return [axes[2], axes[0], axes[1]]


@dataclass(frozen=True, eq=False)
class _Place:
    """Axes (rows of 3 x 3) and origin in the world."""

    axes: Floats
    origin: Floats


class _Frames:
    """Markers and bodies in the world at the model's initial state.

    axes: (pairs, 2, 3, 3), one axis a row. origins: (pairs, 2, 3). com: (nb + 1, 3), the ground's undefined.
    body: (nb + 1, 3, 3), rotations to the world.
    """

    def __init__(self, model: Model) -> None:
        arrays, state = model.arrays, model.initial
        self.body = np.concatenate([_matrices(state.rotation), np.eye(3)[None]])
        position = np.concatenate([state.position, np.zeros((1, 3))])
        offsets = np.concatenate([model.com.reshape(-1, 3), np.full((1, 3), np.nan)])
        self.com = position + np.einsum("nij,nj->ni", self.body, offsets)
        bodies = arrays["pair_bodies"]
        local = _matrices(arrays["pair_rotations"].reshape(-1, 4)).reshape(-1, 2, 3, 3)
        self.axes = np.einsum("npij,npjk->npki", self.body[bodies], local)
        reach = np.einsum("npij,npj->npi", self.body[bodies], arrays["pair_positions"])
        self.origins = position[bodies] + reach
        self._place = (self.body, position)

    def wrench(self, body: int, position: Floats, rotation: Floats) -> _Place:
        """The marker that a wrench acts at."""
        turns, positions = self._place
        axes = (turns[body] @ _matrices(rotation[None])[0]).T
        return _Place(axes, positions[body] + turns[body] @ position)


class _Faults:
    """What keeps a model from moving in the plane with a normal."""

    def __init__(self, model: Model, normal: Floats) -> None:
        self.model, self.normal, self.frames = model, normal, _Frames(model)
        spread = self.frames.origins.reshape(-1, 3)
        self.size = max(1e-3, float(np.ptp(spread, axis=0).max(initial=0.0)))

    def of_what_acts(self) -> list[str]:
        """Rows and forces that leave it, in words, each naming the element."""
        return [*self._rows(), *self._laws(), *self._wrenches()]

    def of_bodies(self) -> list[str]:
        """Gravity, inertias and initial velocities that leave it."""
        model, n, state = self.model, self.normal, self.model.initial
        found = []
        if abs(model.gravity @ n) > _TOLERANCE * np.linalg.norm(model.gravity):
            found.append("gravity leaves the plane")
        turned = np.einsum("nij,njk,nlk->nil", self.frames.body[:-1], model.inertia, self.frames.body[:-1])
        moment = turned @ n
        skew = np.linalg.norm(moment - (moment @ n)[:, None] * n, axis=1)
        along, spin = state.velocity @ n, state.angular_velocity
        out_of_plane = np.abs(along) + np.linalg.norm(spin - (spin @ n)[:, None] * n, axis=1)
        speed = 1.0 + np.linalg.norm(state.velocity, axis=1) + np.linalg.norm(spin, axis=1)
        for b, name in enumerate(model.bodies):
            if skew[b] > _TOLERANCE * np.linalg.norm(model.inertia[b]):
                found.append(f"the normal is no principal axis of body {name!r}")
            if out_of_plane[b] > _TOLERANCE * speed[b]:
                found.append(f"body {name!r} starts with a velocity out of the plane")
        return found

    def _rows(self) -> list[str]:
        arrays, found = self.model.arrays, []
        idle = idle_rows(self.model, self.normal)
        for row in range(self.model.row_count):
            begin, end = arrays["row_term_start"][row : row + 2]
            if idle[row]:
                if arrays["row_function"][row] >= 0:
                    found.append(f"{self.model.row_text(row)} is driven out of the plane")
                continue
            for coordinate in arrays["term_coordinate"][begin:end]:
                fault = self._coordinate(int(coordinate))
                if fault:
                    found.append(f"{self.model.row_text(row)} {fault}")
                    break
        return found

    def _laws(self) -> list[str]:
        found = []
        for record in self.model.forces:
            for law in record.laws:
                fault = self._coordinate(int(self.model.arrays["law_coordinate"][law]))
                if fault:
                    found.append(f"force {record.name!r} {fault}")
        return found

    def _coordinate(self, coordinate: int) -> str:
        """Why the gradient of a coordinate may leave the plane; empty if it does not."""
        arrays = self.model.arrays
        kind, pair = arrays["coordinate_kind"][coordinate], int(arrays["coordinate_pair"][coordinate])
        axis = _normal_axis(self.frames.axes[pair], self.normal)
        across = "has no marker axis along the normal"
        if kind == "distance":
            return self._heights(pair)
        if axis is None:
            return across
        if kind in _AXES:
            return "acts out of the plane" if kind == _AXES[axis] else self._heights(pair)
        if kind in (f"e{axis + 1}", f"theta_{_AXES[axis]}") or (kind == "cam_lift" and axis == 2):
            return ""
        if kind in ("cam_slide", "cam_swing") and axis == 2:
            return self._heights(pair)
        return f"is about {kind}, which may leave the plane"

    def _heights(self, pair: int) -> str:
        """A force between two origins passes through both bodies at the height of their centres of mass."""
        bodies = self.model.arrays["pair_bodies"][pair]
        origins = self.frames.origins[pair]
        level = [(origins[1] - origins[0]) @ self.normal]
        level += [
            (origins[1] - self.frames.com[body]) @ self.normal for body in bodies if body != self.model.ground
        ]
        if np.max(np.abs(level)) > _TOLERANCE * self.size:
            return "acts beside the plane of the centres of mass"
        return ""

    def _wrenches(self) -> list[str]:
        found = []
        for record in self.model.forces:
            for wrench in record.wrenches:
                fault = self._wrench(wrench)
                if fault:
                    found.append(f"force {record.name!r} {fault}")
        return found

    def _wrench(self, wrench: int) -> str:
        arrays, n = self.model.arrays, self.normal
        body = int(arrays["wrench_body"][wrench])
        place = self.frames.wrench(body, arrays["wrench_position"][wrench], arrays["wrench_rotation"][wrench])
        axes = place.axes if arrays["wrench_local"][wrench] else np.eye(3)
        acts = (arrays["wrench_function"][wrench] >= 0) | (arrays["wrench_constant"][wrench] != 0.0)
        for k in np.flatnonzero(acts):
            along = abs(axes[k % 3] @ n)
            if k < 3 and along < 1.0 - _TOLERANCE:
                return "has a moment that turns out of the plane"
            if k >= 3 and along > _TOLERANCE:
                return "has a force out of the plane"
        height = 0.0 if body == self.model.ground else abs((place.origin - self.frames.com[body]) @ n)
        if acts[3:].any() and height > _TOLERANCE * self.size:
            return "acts beside the centre of mass's plane"
        return ""


def idle_rows(model: Model, normal: Floats) -> np.ndarray:
    """Which rows lock what stays zero in the plane anyway (rows,); each block keeps a row at least."""
    arrays, frames = model.arrays, _Frames(model)
    starts, first = arrays["row_term_start"], arrays["term_coordinate"]
    idle = np.zeros(model.row_count, dtype=bool)
    listed = {record.row for record in model.multipliers}
    for row in range(model.row_count):
        if starts[row + 1] - starts[row] != 1 or row in listed:
            continue
        coordinate = first[starts[row]]
        axis = _normal_axis(frames.axes[arrays["coordinate_pair"][coordinate]], normal)
        kind = arrays["coordinate_kind"][coordinate]
        idle[row] = axis is not None and kind in (
            _AXES[axis],
            *(f"e{k + 1}" for k in range(3) if k != axis),
        )
    for begin, end in zip(arrays["block_row_start"][:-1], arrays["block_row_start"][1:], strict=True):
        if end > begin and idle[begin:end].all():
            idle[begin] = False
    return idle


def _normal_axis(axes: Floats, normal: Floats) -> int | None:
    """The axis of both markers (2, 3, 3) that is along the normal, the same way round, if there is one."""
    for axis in range(3):
        along = axes[:, axis] @ normal
        if np.all(np.abs(along) > 1.0 - _TOLERANCE) and along[0] * along[1] > 0.0:
            return axis
    return None


def _reduced(model: Model, normal: Floats) -> Model:
    arrays = model.arrays
    kept = ~idle_rows(model, normal)
    number = np.cumsum(kept) - 1
    terms = np.repeat(kept, np.diff(arrays["row_term_start"]))
    lengths = np.diff(arrays["row_term_start"])[kept]
    before = np.concatenate([[0], np.cumsum(kept)])
    frames = _Frames(model)
    return replace(
        model.with_arrays(
            block_row_start=before[arrays["block_row_start"]].astype(np.int32),
            row_term_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
            term_coordinate=arrays["term_coordinate"][terms],
            term_coefficient=arrays["term_coefficient"][terms],
            row_function=arrays["row_function"][kept],
            row_constant=arrays["row_constant"][kept],
            body_normal=np.ascontiguousarray(np.einsum("nij,i->nj", frames.body, normal)),
        ),
        multipliers=tuple(replace(record, row=int(number[record.row])) for record in model.multipliers),
        start=StartValues(
            _numbers(number, kept, model.start.rows),
            model.start.laws,
            tuple(x for row, x in zip(model.start.rows, model.start.offsets, strict=True) if kept[row]),
            wraps=model.start.wraps,
        ),
    )


def _numbers(number: np.ndarray, kept: np.ndarray, rows: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(number[row]) for row in rows if kept[row])


def _matrices(quaternions: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    listed = np.reshape(quaternions, (-1, 4)).tolist()
    return np.array([matrix((w, x, y, z)) for w, x, y, z in listed]).reshape(-1, 3, 3)
