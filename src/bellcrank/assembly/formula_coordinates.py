"""Where the coordinates of joints given by formulas are at a pose that the bodies have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank.assembly.model import Model
from bellcrank.assembly.motion import Motion
from bellcrank.assembly.records import GivenValue, JointRecord
from bellcrank.assembly.state import Floats
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE
from bellcrank.mechanism.rotation import IDENTITY, conjugate, multiply

POLE: Final = 1e-6  # part of the largest singular value of the twists below which a coordinate moves nothing
_STILL: Final = (0.0, 0.0, 0.0)
_STEPS: Final = 100
_DAMPING: Final = 1e-4  # of the first step, relative
_LEAST: Final = 1e-10  # of all steps, relative
_THERE: Final = 4e-15  # of 1 and the distance: an error that is none
_ON: Final = 1e-9  # m or rad/2: the error of a pose that the joint can take
_ASIDE: Final = 0.3  # where a search goes on that stands still at a pole
_FAR: Final = 1.0  # how far from here the core may find coordinates; further, it ran away


Begins: TypeAlias = Mapping[str, Mapping[str, float]]
"""Values of coordinates, by joint and name."""

NONE: Final[Begins] = MappingProxyType({})


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
        at = coordinates_at(model, formula, motion, near, open_)
        names = np.array(joint.coordinate_names)[open_]
        found[joint.name] = dict(zip(names.tolist(), at[open_].tolist(), strict=True))
    return found


def _lost(model: Model, formula: int, motion: Motion, zero: Floats) -> bool:
    """Whether the search of the core, from zero, does not come to the coordinates nearby."""
    listed, _ = model.core.formula_coordinates(formula, motion.as_tuple(), zero.tolist())
    core = np.array(listed or np.full(len(zero), np.nan))
    if np.abs(core).max() <= _FAR and takes(model, formula, motion, core):
        return False
    return not np.abs(coordinates_at(model, formula, motion, zero) - core).max() <= _FAR


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


def coordinates_at(
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
