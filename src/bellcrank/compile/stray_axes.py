"""Axes that point the wrong way: joints that hold still what would move if they lay as those around them.

In a loop of hinges a single axis out of parallel takes away the one degree of freedom that is left. What
would be left if it pointed as the axes of the joints around it do is counted, not guessed: its markers are
turned, and the rank of the rows is found anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from bellcrank.compile.dependence import degrees_of_freedom, redundant_at
from bellcrank.compile.model import JointRecord, Model
from bellcrank.compile.positions import without_rows
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.rotation import IDENTITY, unit
from bellcrank.mechanism.rotation_arrays import conjugate, product, rotate

_PARALLEL: Final = 1e-7  # sine of the angle between axes that count as parallel
_TURNING: Final[Mapping[tuple[str, ...], int]] = {
    ("theta_z",): 2,
    ("z", "theta_z"): 2,
    ("theta_x",): 0,
    ("x", "theta_x"): 0,
}
_SLIDING: Final[Mapping[tuple[str, ...], int]] = {("z",): 2, ("x",): 0}
"""Which axis of its markers a joint turns about or slides along, by its free coordinates."""
_MOST_BODIES, _MOST_TRIED = 300, 20


def stray_axes(model: Model, at: State) -> str:
    """Why a mechanism cannot move that would, if some axes pointed as those around them; else empty.

    Drives do not count.
    """
    if not model.joints or len(model.bodies) > _MOST_BODIES or model.core.velocity_rows:
        return ""
    of_drives = [block for drive in model.drives for block in drive.blocks]
    rows = np.flatnonzero(np.isin(model.row_block, of_drives))
    free = without_rows(model, rows) if len(rows) else model
    if _freedom(free, at) > 0:
        return ""
    axes = Axes(free, model.joints, at)
    tried = [one for joint in model.joints for one in axes.proposals(joint)][:_MOST_TRIED]
    found = {}
    for joint, way in tried:
        if joint.name not in found and (left := _freedom(axes.turned({joint: way}), at)) > 0:
            found[joint.name] = (joint, way, left)
    if not found and tried:
        together = dict(reversed(tried))
        if (left := _freedom(axes.turned(together), at)) > 0:
            found = {joint.name: (joint, way, left) for joint, way in together.items()}
    return "; ".join(axes.text(*one) for one in found.values())


def _freedom(model: Model, at: State) -> int:
    return degrees_of_freedom(model, redundant_at(model, at))


class Axes:
    """The axes of joints in the world.

    turning, sliding: by the name of a joint the unit vector, (3,), about or along which it moves.
    """

    def __init__(self, model: Model, joints: tuple[JointRecord, ...], at: State) -> None:
        self._model, self._joints = model, joints
        self._body = np.concatenate([at.rotation, [IDENTITY]])
        self._local = model.arrays["pair_rotations"].reshape(-1, 2, 4)
        self.turning, self.sliding = self._axes(_TURNING), self._axes(_SLIDING)

    def _axes(self, kinds: Mapping[tuple[str, ...], int]) -> dict[str, Floats]:
        """Of the joints of some kinds, those that are not given by formulas."""
        found = {}
        for joint in self._joints:
            which = kinds.get(joint.coordinate_names)
            if which is not None and joint.pair >= 0:
                turn = product(self._body[joint.bodies[0]], self._local[joint.pair, 0])
                found[joint.name] = rotate(turn, np.eye(3)[which])
        return found

    def proposals(self, joint: JointRecord) -> Iterator[tuple[JointRecord, Floats]]:
        """Directions in which the axis of a joint may have been meant to point, where it does not."""
        normal = self._around(joint)
        if normal is None:
            return
        if (axis := self.turning.get(joint.name)) is not None:
            if np.linalg.norm(np.cross(axis, normal)) > _PARALLEL:
                yield joint, normal if axis @ normal >= 0.0 else -normal
        elif (axis := self.sliding.get(joint.name)) is not None and abs(axis @ normal) > _PARALLEL:
            within = axis - (axis @ normal) * normal
            if np.linalg.norm(within) > 0.1:
                yield joint, within / np.linalg.norm(within)
            else:
                first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
                first /= np.linalg.norm(first)
                yield joint, first
                yield joint, np.cross(normal, first)

    def _around(self, joint: JointRecord) -> Floats | None:
        """The direction of most of the hinges on the two bodies of a joint, where at least two agree."""
        near = [
            self.turning[other.name]
            for other in self._joints
            if other is not joint and other.name in self.turning and set(other.bodies) & set(joint.bodies)
        ]
        for axis in near:
            like = sum(bool(np.linalg.norm(np.cross(axis, one)) <= _PARALLEL) for one in near)
            if like >= 2 and 2 * like > len(near):
                return axis
        return None

    def turned(self, ways: Mapping[JointRecord, Floats]) -> Model:
        """The model with the markers of joints turned in the world, so that their axes point other ways."""
        rotations = self._local.copy()
        for joint, way in ways.items():
            turn = self._way(self._of(joint), way)
            for end, body in enumerate(joint.bodies):
                world = product(turn, product(self._body[body], rotations[joint.pair, end]))
                rotations[joint.pair, end] = product(conjugate(self._body[body]), world)
        return self._model.with_arrays(
            pair_rotations=rotations.reshape(self._model.arrays["pair_rotations"].shape)
        )

    def text(self, joint: JointRecord, way: Floats, left: int) -> str:
        """What is wrong with a joint, in words."""
        axis = self._of(joint)
        cosine = float(np.clip(abs(axis @ way), 0.0, 1.0))
        angle = np.degrees(np.arctan2(np.linalg.norm(np.cross(axis, way)), cosine))
        what = "the hinges around it" if joint.name in self.turning else "the plane of the hinges around it"
        freedom = "1 degree of freedom" if left == 1 else f"{left} degrees of freedom"
        return (
            f"the axis of joint {joint.name!r} points along {shown(axis)} in the world, {angle:.3g}° off "
            f"what is parallel to {what}, such as {shown(way)}; with that axis {freedom} would be left"
        )

    def _of(self, joint: JointRecord) -> Floats:
        turning = self.turning.get(joint.name)
        return self.sliding[joint.name] if turning is None else turning

    @staticmethod
    def _way(axis: Floats, way: Floats) -> Floats:
        """The quaternion of the shortest turn from one unit vector to another."""
        if axis @ way < -1.0 + 1e-12:
            way = -way
        x, y, z = np.cross(axis, way).tolist()
        return np.array(unit((1.0 + float(axis @ way), x, y, z)))


def shown(axis: Floats) -> str:
    """A direction as messages show it."""
    return f"({', '.join(f'{x:.4g}' for x in (axis + 0.0).round(6))})"
