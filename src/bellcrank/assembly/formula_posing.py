"""Initial values of joints given by formulas: the pose of the second body is the value of the formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.assembly.model import Model
from bellcrank.assembly.motion import Motion
from bellcrank.assembly.records import GivenValue, JointRecord
from bellcrank.assembly.state import Floats
from bellcrank.errors import FaultList
from bellcrank.mechanism.coordinate import FORMULA_COORDINATE

POLE = 1e-6  # part of the largest singular value of the twists below which a coordinate moves nothing
_NEAR_POLE = 0.05  # the same for what is close enough to a pole to be the reason of a failure
_NO_VALUE = "its formulas have no finite value or derivative"


def formula_of(model: Model, joint: int) -> int | None:
    """The number of a joint among those given by formulas, None if it is none of them."""
    coordinates = model.joints[joint].coordinates
    arrays = model.arrays
    if not coordinates or arrays["coordinate_kind"][coordinates[0]] != FORMULA_COORDINATE:
        return None
    return int(arrays["coordinate_params"][arrays["coordinate_param_start"][coordinates[0]]])


def formula_posed(
    model: Model,
    joint: JointRecord,
    formula: int,
    child: int,
    relative: Motion,
    positions: Sequence[GivenValue],
    velocities: Sequence[GivenValue],
) -> Motion:
    """The motion of a body seen from the one before it, with its coordinates as they are given.

    relative: the same as it is described; of it those coordinates and rates are taken that are not given.
    """
    one, two = _markers(model, joint)
    onwards = joint.bodies[1] == child
    back = (relative if onwards else relative.inverse()).seen_from(one)  # body 2 in marker 1
    described = two.carried_by(back)
    values = {g.coordinate: g.value for g in positions}
    near = [values.get(c, 0.0) for c in joint.coordinates]
    found, rates = model.core.formula_coordinates(formula, described.as_tuple(), near)
    if len(values) < len(near) and not found:
        return relative
    rate = dict(zip(joint.coordinates, rates or np.zeros(len(near)), strict=True))
    at = [values.get(c, s) for c, s in zip(joint.coordinates, found or near, strict=True)]
    speed = rate | {g.coordinate: g.value for g in velocities}
    posed = model.core.formula_motion(formula, at, [speed[c] for c in joint.coordinates])
    motion = two.inverse().carried_by(Motion.of(*posed)).carried_by(one)
    return motion if onwards else motion.inverse()


def check_starts(model: Model, positions: Sequence[GivenValue]) -> None:
    """Raise MechanismError for joints whose formulas have no value where they start.

    Also where all coordinates are given and some of them moves nothing there.
    """
    faults = FaultList()
    for number, joint in enumerate(model.joints):
        if formula_of(model, number) is None:
            continue
        values = {g.coordinate: g.value for g in positions if g.joint == number}
        at = [values.get(c, 0.0) for c in joint.coordinates]
        trouble = pole_of(model, number, at)
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
        trouble = pole_of(model, number, values[list(joint.coordinates)].tolist(), tolerance)
        if trouble is not None:
            found.append(f"joint {joint.name!r}: {trouble}")
    return found


def pole_of(model: Model, joint: int, at: Sequence[float], tolerance: float = POLE) -> str | None:
    """Why a joint given by formulas cannot be where its coordinates have these values; None if it can."""
    record, formula = model.joints[joint], formula_of(model, joint)
    if formula is None:
        return None
    count = len(record.coordinates)
    place = ", ".join(
        f"{name} = {value:.6g}" for name, value in zip(record.coordinate_names, at, strict=True)
    )
    twists = [_twist(model, formula, at, row) for row in np.eye(count)]
    if not np.isfinite(twists).all():
        return f"{_NO_VALUE} at {place}"
    _, sizes, ways = np.linalg.svd(np.array(twists).T, full_matrices=False)
    if sizes[-1] > tolerance * sizes[0]:
        return None
    moving = [n for n, part in zip(record.coordinate_names, ways[-1], strict=True) if abs(part) > 1e-3]
    return f"at {place} it hardly moves with {' and '.join(moving)} (a pole or a cusp)"


def _twist(model: Model, formula: int, at: Sequence[float], rates: Floats) -> Floats:
    position, _, velocity, spin = model.core.formula_motion(formula, list(at), rates.tolist())
    return np.array([*velocity, *spin]) if np.isfinite(position).all() else np.full(6, np.nan)


def _markers(model: Model, joint: JointRecord) -> list[Motion]:
    """The markers of a joint in their bodies, at rest."""
    arrays: Any = model.arrays
    zero = np.zeros(3)
    found = []
    for side in (0, 1):
        w, x, y, z = arrays["pair_rotations"][joint.pair][side].tolist()
        found.append(Motion(arrays["pair_positions"][joint.pair][side], (w, x, y, z), zero, zero))
    return found
