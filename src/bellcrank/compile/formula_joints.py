"""Joints given by formulas: their coordinates at a pose, and the poses at their initial values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank.compile.model import GivenValue, JointRecord, Model
from bellcrank.compile.state import Floats
from bellcrank.errors import FaultList
from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE
from bellcrank.mechanism.rotation import IDENTITY, conjugate, matrix, multiply, unit

POLE: Final = 1e-6  # part of the largest singular value of the twists below which a coordinate moves nothing
_STILL: Final = (0.0, 0.0, 0.0)
_STEPS: Final = 100
_DAMPING: Final = 1e-4  # of the first step, relative
_LEAST: Final = 1e-10  # of all steps, relative
_THERE: Final = 4e-15  # of 1 and the distance: an error that is none
_ON: Final = 1e-9  # m or rad/2: the error of a pose that the joint can take
_ASIDE: Final = 0.3  # where a search goes on that stands still at a pole
_FAR: Final = 1.0  # how far from here the core may find coordinates; further, it ran away
_NEAR_POLE: Final = 0.05  # as `POLE`, for what is close enough to a pole to be the reason of a failure
_NO_VALUE: Final = "its formulas have no finite value or derivative"

Begins: TypeAlias = Mapping[str, Mapping[str, float]]
"""Values of coordinates, by joint and name."""

NONE: Final[Begins] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Motion:
    """Where a frame is and how it moves, in some other frame."""

    position: Floats
    rotation: Quat
    velocity: Floats
    spin: Floats

    @classmethod
    def of(
        cls,
        position: Sequence[float],
        rotation: Sequence[float],
        velocity: Sequence[float],
        spin: Sequence[float],
    ) -> Motion:
        """From plain numbers."""
        w, x, y, z = rotation
        return cls(np.array(position), (w, x, y, z), np.array(velocity), np.array(spin))

    def as_tuple(self) -> tuple[Vec3, Quat, Vec3, Vec3]:
        """As plain numbers."""
        numbers = [tuple(v.tolist()) for v in (self.position, self.velocity, self.spin)]
        return numbers[0], self.rotation, numbers[1], numbers[2]

    def seen_from(self, base: Motion) -> Motion:
        """The same in the axes of `base`, which moves as well."""
        back = matrix(base.rotation).T
        arm = self.position - base.position
        return Motion(
            back @ arm,
            multiply(conjugate(base.rotation), self.rotation),
            back @ (self.velocity - base.velocity - np.cross(base.spin, arm)),
            back @ (self.spin - base.spin),
        )

    def inverse(self) -> Motion:
        """The motion of the other frame seen from this one."""
        zero = np.zeros(3)
        return Motion(zero, IDENTITY, zero, zero).seen_from(self)

    def carried_by(self, base: Motion) -> Motion:
        """Given in the axes of `base`, in the frame that `base` is given in."""
        turn = matrix(base.rotation)
        arm = turn @ self.position
        return Motion(
            base.position + arm,
            unit(multiply(base.rotation, self.rotation)),
            base.velocity + np.cross(base.spin, arm) + turn @ self.velocity,
            base.spin + turn @ self.spin,
        )


def formula_of(model: Model, joint: int) -> int | None:
    """The number of a joint among those given by formulas, None if it is none of them."""
    coordinates = model.joints[joint].coordinates
    arrays = model.arrays
    if not coordinates or arrays["coordinate_kind"][coordinates[0]] != FORMULA_COORDINATE:
        return None
    return int(arrays["coordinate_params"][arrays["coordinate_param_start"][coordinates[0]]])


def sought(model: Model, given: Sequence[GivenValue]) -> Begins:
    """Coordinates of joints given by formulas, by joint, that must be known before poses determine them.

    Of joints of which some coordinates are given, the others, as described; of those of which none are, all
    where the search of the core, from zero, runs away or stands still at a pole.
    """
    found: dict[str, Mapping[str, float]] = {}
    for number, joint in enumerate(model.joints):
        values = {g.coordinate: g.value for g in given if g.joint == number}
        formula = formula_of(model, number)
        if formula is None or len(values) == len(joint.coordinates):
            continue
        motion, near = _seen_pose(model, joint), np.array([values.get(c, 0.0) for c in joint.coordinates])
        if not values and not _lost(model, formula, motion, near):
            continue
        open_ = np.array([c not in values for c in joint.coordinates])
        at = _coordinates_at(model, formula, motion, near, open_)
        names = np.array(joint.coordinate_names)[open_]
        found[joint.name] = dict(zip(names.tolist(), at[open_].tolist(), strict=True))
    return found


def _lost(model: Model, formula: int, motion: Motion, zero: Floats) -> bool:
    """Whether the search of the core, from zero, does not come to the coordinates nearby."""
    listed, _ = model.core.formula_coordinates(formula, motion.as_tuple(), zero.tolist())
    core = np.array(listed or np.full(len(zero), np.nan))
    if np.abs(core).max() <= _FAR and takes(model, formula, motion, core):
        return False
    return not np.abs(_coordinates_at(model, formula, motion, zero) - core).max() <= _FAR


def _seen_pose(model: Model, joint: JointRecord) -> Motion:
    """Marker 2 of a joint seen from marker 1, as described."""
    one, two = markers(model, joint)
    bodies = [Motion.of(_STILL, IDENTITY, _STILL, _STILL)] * 2
    for side, body in enumerate(joint.bodies):
        if body != model.ground:
            bodies[side] = Motion.of(*(array[body].tolist() for array in model.initial.arrays[1:5]))
    return two.carried_by(bodies[1]).seen_from(one.carried_by(bodies[0]))


def markers(model: Model, joint: JointRecord) -> tuple[Motion, Motion]:
    """The markers of a joint in their bodies, at rest."""
    arrays: Any = model.arrays
    positions, rotations = arrays["pair_positions"][joint.pair], arrays["pair_rotations"][joint.pair]
    one, two = (Motion.of(p, q, _STILL, _STILL) for p, q in zip(positions, rotations.tolist(), strict=True))
    return one, two


def twists(model: Model, formula: int, at: Sequence[float] | Floats) -> Floats:
    """Velocity and angular velocity per rate of each coordinate (6, coordinates); NaN if they have none."""
    columns = []
    for rates in np.eye(len(at)).tolist():
        position, _, velocity, spin = model.core.formula_motion(formula, [float(s) for s in at], rates)
        columns.append([*velocity, *spin] if np.isfinite(position).all() else [np.nan] * 6)
    return np.array(columns).T


def _coordinates_at(
    model: Model, formula: int, motion: Motion, near: Floats, open_: np.ndarray | None = None
) -> Floats:
    """The coordinates whose pose is that of a motion, or comes nearest to it.

    Sought from `near`, from zero, and aside from there if neither gets away from a pole; of several that
    reach the pose, those whose open coordinates (by default all) are nearest to `near`.
    """
    found: list[tuple[float, float, list[float]]] = []
    which = slice(None) if open_ is None else open_
    for start in (near, np.zeros(len(near)), near + _ASIDE * (1.0 + np.arange(len(near)))):
        if len(found) == 2 and not (min(found)[0] > 0.0 and _at_pole(model, formula, near)):
            break
        at = _damped(model, formula, motion, start)
        error = float(np.linalg.norm(_error(model, formula, motion, at)))
        error = np.inf if np.isnan(error) else error if error > _ON else 0.0
        found.append((error, float(np.linalg.norm((at - near)[which])), at.tolist()))
    return np.array(min(found)[2])


def takes(model: Model, formula: int, motion: Motion, at: Floats) -> bool:
    """Whether the coordinates have the pose of a motion, which a joint may be unable to take."""
    return bool(np.linalg.norm(_error(model, formula, motion, at)) <= _ON)


def _at_pole(model: Model, formula: int, at: Floats) -> bool:
    columns = twists(model, formula, at)
    if not np.isfinite(columns).all():
        return False
    sizes = np.linalg.svd(columns, compute_uv=False)
    return bool(sizes[-1] <= POLE * sizes[0])


def _damped(model: Model, formula: int, motion: Motion, start: Floats) -> Floats:
    """The coordinates at which a damped search comes to rest.

    D. Marquardt, An algorithm for least-squares estimation of nonlinear parameters (1963). Its steps stay
    short where coordinates move nothing, alone or together: what a pose does not determine stays.
    """
    at, damping = start, _DAMPING
    error = _error(model, formula, motion, at)
    there = _THERE * (1.0 + float(np.abs(motion.position).max()))
    for _ in range(_STEPS):
        columns = twists(model, formula, at)
        pull = columns.T @ error
        if np.abs(error).max() <= there or not np.isfinite(pull).all() or not pull.any():
            break
        square = columns.T @ columns
        step = np.linalg.solve(square + damping * np.trace(square) * np.eye(len(at)), pull)
        tried = _error(model, formula, motion, at + step)
        if tried @ tried < error @ error:
            at, error, damping = at + step, tried, max(0.1 * damping, _LEAST)
        elif damping > 1.0:
            break
        else:
            damping *= 10.0
    return at


def _error(model: Model, formula: int, motion: Motion, at: Floats) -> Floats:
    """What is missing from the pose of a joint at coordinates to that of a motion: m, then rad/2 (6,)."""
    position, rotation, _, _ = model.core.formula_motion(formula, at.tolist(), [0.0] * len(at))
    w, x, y, z = rotation
    w, x, y, z = multiply(motion.rotation, conjugate((w, x, y, z)))
    turn = np.array([x, y, z]) * (-2.0 if w < 0.0 else 2.0)
    return np.concatenate([motion.position - np.array(position), turn])


def formula_posed(
    model: Model,
    joint: JointRecord,
    formula: int,
    child: int,
    relative: Motion,
    positions: Sequence[GivenValue],
    velocities: Sequence[GivenValue],
) -> Motion:
    """The motion of a body seen from the one before it, with its coordinates as they are given, all of them.

    relative: the same as it is described; of it those rates are taken that are not given, if the joint allows
        its pose: elsewhere rates have no meaning, and near poles they are large.
    """
    one, two = markers(model, joint)
    onwards = joint.bodies[1] == child
    back = (relative if onwards else relative.inverse()).seen_from(one)  # body 2 in marker 1
    described = two.carried_by(back)
    values = {g.coordinate: g.value for g in positions}
    at = [values[c] for c in joint.coordinates]
    speed = dict.fromkeys(joint.coordinates, 0.0)
    twist = [*described.velocity, *described.spin]
    if any(twist):
        there = _coordinates_at(model, formula, described, np.array(at))
        columns = twists(model, formula, there)
        if takes(model, formula, described, there) and np.isfinite(columns).all():
            speed = dict(zip(speed, np.linalg.lstsq(columns, twist, POLE)[0].tolist(), strict=True))
    speed |= {g.coordinate: g.value for g in velocities}
    posed = model.core.formula_motion(formula, at, [speed[c] for c in joint.coordinates])
    motion = two.inverse().carried_by(Motion.of(*(part.tolist() for part in posed))).carried_by(one)
    return motion if onwards else motion.inverse()


def check_starts(model: Model, positions: Sequence[GivenValue], guesses: Sequence[GivenValue]) -> None:
    """Raise MechanismError for joints whose formulas have no value where they start.

    Also where all coordinates are given and some of them moves nothing there.
    """
    faults = FaultList()
    for number, joint in enumerate(model.joints):
        if formula_of(model, number) is None:
            continue
        values = {g.coordinate: g.value for g in positions if g.joint == number}
        about = {g.coordinate: g.value for g in guesses if g.joint == number}
        at = [values.get(c, about.get(c, 0.0)) for c in joint.coordinates]
        trouble = _pole_of(model, number, at)
        if trouble is not None and (len(values) == len(at) or _NO_VALUE in trouble):
            advice = "start elsewhere by position=, or describe it by other coordinates"
            faults.add(f"joint {joint.name!r}", f"it cannot start here: {trouble}", None, advice)
    faults.raise_any()


def poles_near(model: Model, values: Floats, tolerance: float = _NEAR_POLE) -> list[str]:
    """Joints given by formulas that are near a pole where all coordinates of the model have these values.

    tolerance: part of the largest twist below which a coordinate counts as moving nothing.
    """
    found = []
    for number, joint in enumerate(model.joints):
        trouble = _pole_of(model, number, values[list(joint.coordinates)].tolist(), tolerance)
        if trouble is not None:
            found.append(f"joint {joint.name!r}: {trouble}")
    return found


def _pole_of(model: Model, joint: int, at: Sequence[float], tolerance: float = POLE) -> str | None:
    """Why a joint given by formulas cannot be where its coordinates have these values; None if it can."""
    record, formula = model.joints[joint], formula_of(model, joint)
    if formula is None:
        return None
    place = ", ".join(
        f"{name} = {value:.6g}" for name, value in zip(record.coordinate_names, at, strict=True)
    )
    columns = twists(model, formula, at)
    if not np.isfinite(columns).all():
        return f"{_NO_VALUE} at {place}"
    _, sizes, ways = np.linalg.svd(columns, full_matrices=False)
    if sizes[-1] > tolerance * sizes[0]:
        return None
    moving = [n for n, part in zip(record.coordinate_names, ways[-1], strict=True) if abs(part) > 1e-3]
    return f"at {place} it hardly moves with {' and '.join(moving)} (a pole or a cusp)"
