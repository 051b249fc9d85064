"""Initial values of joints given by formulas: the pose of the second body is the value of the formulas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bellcrank.assembly.formula_coordinates import (
    POLE,
    coordinates_at,
    formula_of,
    markers,
    takes,
    twists,
)
from bellcrank.assembly.model import Model
from bellcrank.assembly.motion import Motion
from bellcrank.assembly.records import GivenValue, JointRecord
from bellcrank.assembly.state import Floats
from bellcrank.errors import FaultList

_NEAR_POLE = 0.05  # the same for what is close enough to a pole to be the reason of a failure
_NO_VALUE = "its formulas have no finite value or derivative"


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
        there = coordinates_at(model, formula, described, np.array(at))
        columns = twists(model, formula, there)
        if takes(model, formula, described, there) and np.isfinite(columns).all():
            speed = dict(zip(speed, np.linalg.lstsq(columns, twist, POLE)[0].tolist(), strict=True))
    speed |= {g.coordinate: g.value for g in velocities}
    posed = model.core.formula_motion(formula, at, [speed[c] for c in joint.coordinates])
    motion = two.inverse().carried_by(Motion.of(*posed)).carried_by(one)
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
