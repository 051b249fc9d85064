"""Degrees of freedom at a configuration: how many, and which coordinates to drive so that none is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.dependence import degrees_of_freedom, redundant_at
from bellcrank.compile.model import Model
from bellcrank.compile.positions import without_rows
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, Fault, MechanismError
from bellcrank.expression.expression import t
from bellcrank.mechanism.coordinate import MIRRORED, coordinate_kind, unit_of
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.parameters import Input

BEGIN: Final = "lead_time"
"""The input that is the time t0 of the cubics that driven coordinates follow."""

_UNITS: Final = ("", "/s", "/s^2", "/s^3")
_DENSE = 3000  # columns of the Jacobian up to which degrees of freedom are found by name
_RANK = 1e-9  # singular values below this part of the largest are zero


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom at a configuration.

    count: 6 per body less the rank of the active rows.
    of_positions: the same without velocity constraints: a rolling wheel may go anywhere.
    redundant: rows that follow from others there.
    independent: coordinates whose rates determine all motion, such as "joint 'crank'"; bodies where
        no joint coordinate shows the motion. Empty if the mechanism is too large for dense matrices.
    """

    count: int
    of_positions: int
    redundant: tuple[int, ...]
    independent: tuple[str, ...]


def mobility(model: Model, state: State | None = None) -> Mobility:
    """The degrees of freedom at a state, by default the initial one.

    Raises AssemblyError where rows have no finite gradients there.
    """
    at = model.initial if state is None else state
    redundant = redundant_at(model, at)
    count = degrees_of_freedom(model, redundant)
    of_velocity = model.core.velocity_rows
    of_positions = count
    if of_velocity:
        holding = without_rows(model, of_velocity)
        of_positions = degrees_of_freedom(holding, redundant_at(holding, at))
    columns = 6 * len(model.bodies)
    jacobian = np.zeros((0, columns))
    if columns <= _DENSE:
        bodies = _core.Bodies(model.core)
        bodies.set_state(*at.arrays)
        jacobian = bodies.rows()[3][model.rigid_rows]
    if not np.isfinite(jacobian).all():
        number = np.flatnonzero(model.rigid_rows)[np.flatnonzero(~np.isfinite(jacobian).all(axis=1))[0]]
        row = model.row_text(int(number))
        message = (
            f"degrees of freedom cannot be counted where {row} has no finite gradient; "
            "start elsewhere by position="
        )
        raise AssemblyError(message, [(row, float("nan"))])
    independent: tuple[str, ...] = ()
    if count > 0 and columns <= _DENSE:
        independent = _independent(model, at, jacobian)
    return Mobility(count, of_positions, redundant, independent)


def independent_coordinates(model: Model, state: State, *parts: Sequence[int]) -> tuple[int, ...] | None:
    """Coordinates whose rates determine all motion if no coordinate is driven.

    parts: coordinates of the model to choose from, those of a part before those of the next. Returns None if
    they do not determine the motion.
    """
    system = _core.Bodies(model.core)
    system.set_state(*state.arrays)
    drives = [block for drive in model.drives for block in drive.blocks]
    holding = model.rigid_rows & ~np.isin(model.row_block, drives)
    null = null_space(system.rows()[3][holding], 6 * len(model.bodies))
    if null.shape[1] == 0:
        return ()
    listed, counts = list[int](), list[int]()
    for part in parts:
        new = [one for one in dict.fromkeys(part) if one not in listed]
        listed += new
        counts.append(len(new))
    if not listed:
        return None
    chosen = pivots(coordinate_jacobian(model, listed, state) @ null, *counts)
    return tuple(listed[k] for k in chosen) if len(chosen) == null.shape[1] else None


def _independent(model: Model, state: State, jacobian: Floats) -> tuple[str, ...]:
    """Names of coordinates that parametrise the null space of the Jacobian, proximal joints first."""
    null = null_space(jacobian, 6 * len(model.bodies))
    listed = [(joint, k) for joint in model.joints for k in range(len(joint.coordinates))]
    names, rates = [joint.coordinate_text(k) for joint, k in listed], list[Floats]()
    if listed:
        rows = coordinate_jacobian(model, [joint.coordinates[k] for joint, k in listed], state)
        sound = np.isfinite(rows.sum(axis=1))  # at a pole of its formulas a coordinate has no rate
        rates = list(np.where(sound[:, None], rows, 0.0) @ null)
    for i, body in enumerate(model.bodies):
        names += [f"body {body!r}"] * 6
        rates += list(null[6 * i : 6 * i + 6])
    return tuple(dict.fromkeys(names[k] for k in pivots(np.array(rates), len(names) - 6 * len(model.bodies))))


def null_space(jacobian: Floats, columns: int) -> Floats:
    """An orthonormal basis (columns, degrees of freedom) of the null space of a Jacobian."""
    if len(jacobian) == 0:
        return np.eye(columns)
    _, values, right = np.linalg.svd(jacobian)
    return np.asarray(right[_rank(values) :].T)


def null_dimension(jacobian: Floats, columns: int) -> int:
    """The degrees of freedom that a Jacobian leaves, without a basis of them."""
    return columns - (_rank(np.asarray(np.linalg.svd(jacobian, compute_uv=False))) if len(jacobian) else 0)


def _rank(values: Floats) -> int:
    return int(np.count_nonzero(values > _RANK * values[0]))


def coordinate_jacobian(model: Model, coordinates: Sequence[int], state: State) -> Floats:
    """Gradients (coordinates, 6 nb) in com and principal axes: the Jacobian of a model with these as rows."""
    count = len(coordinates)
    starts = np.arange(count + 1, dtype=np.int32)
    only = {
        "block_row_start": starts,
        "block_unilateral": np.zeros(count, dtype=np.uint8),
        "block_compliance": np.zeros(count),
        "block_restitution": np.zeros(count),
        **dict.fromkeys(("block_formula", "block_friction"), np.full(count, -1, dtype=np.int32)),
        **({"friction_loads": []} if "friction_loads" in model.arrays else {}),
        "row_term_start": starts,
        "term_coordinate": np.array(coordinates, dtype=np.int32),
        "term_coefficient": np.ones(count),
        "row_function": np.full(count, -1, dtype=np.int32),
        "row_constant": np.zeros(count),
    }
    system = _core.Bodies(_core.Model(**{**model.arrays, **only}))
    system.set_state(*state.arrays)
    return system.rows()[3]


def pivots(rates: Floats, *preferred: int) -> list[int]:
    """Rows of full rank, found by elimination with pivoting, those of a part before those of the next.

    preferred: how many rows each part has; what is left is the last one. Among rows that are nearly as good
    as the best, the first is taken.
    """
    left, chosen = rates.copy(), list[int]()
    smallest = 1e-7 * float(np.max(np.linalg.norm(rates, axis=1), initial=0.0))
    ends = [0, *np.cumsum(preferred).tolist(), len(rates)]
    for begin, end in pairwise(ends):
        part = slice(begin, end)
        while True:
            sizes = np.linalg.norm(left[part], axis=1)
            if np.max(sizes, initial=0.0) <= smallest:
                break
            k = int(np.argmax(sizes > 0.1 * np.max(sizes)))
            direction = left[part][k] / sizes[k]
            chosen.append(k + begin)
            left = left - np.outer(left @ direction, direction)
    return chosen


@dataclass(frozen=True)
class DrivenCoordinate:
    """A joint's coordinate that is driven in place of the mechanism's drives.

    It follows a cubic of time,  c0 + c1 s + c2 s^2 + c3 s^3  with s = t - t0,  whose coefficients are inputs:
    one preparation serves all motions, and the efforts of the drives are ordinary results.

    name: of its drive. which: its number in the joint, or its name if it is none of the joint's free ones.
    unit: m or rad. text: for messages. number: among those driven at once, from 1.
    """

    name: str
    joint: str
    which: int | str
    unit: str
    text: str
    number: int = 0

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs of its cubic."""
        return tuple(f"lead_{self.number}_{power}" for power in range(4))

    def coordinate(self, model: Model) -> int:
        """Its number in a model that has this one's drive."""
        if isinstance(self.which, int):
            return model.joint(self.joint).coordinates[self.which]
        return next(
            one.coordinate for one in model.multipliers if one.kind == "drive" and one.element == self.name
        )

    def add_to(self, mechanism: Mechanism) -> None:
        """Give a mechanism its drive."""
        c = [Input(name, 0.0, self.unit + per) for name, per in zip(self.inputs, _UNITS, strict=True)]
        s = t - Input(BEGIN, 0.0, "s")
        place = c[0] + s * (c[1] + s * (c[2] + s * c[3]))
        mechanism.add_drive(self.name, joint=self.joint, coordinate=self.which, position=place)


def driving_coordinates(model: Model, state: State) -> tuple[DrivenCoordinate, ...]:
    """The coordinates to drive so that nothing is free: those with drives and motors first.

    model: with its drives. Raises MechanismError where joint coordinates do not determine all motion.
    """
    places = _places(model)
    found = independent_coordinates(
        model, state, tuple(_driven(model)), _with_motors(model, places), tuple(places)
    )
    if found is None:
        rule = "its joints do not determine where all its bodies are, so no drives can move it"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, "hold what is free by joints"))
    return _numbered(places, found)


def supplying_coordinates(model: Model, state: State) -> tuple[DrivenCoordinate, ...]:
    """The coordinates that supply the efforts of a motion: all that have drives, then what lacks one.

    That is what motors drive, or joints that turn or slide along axes of their own, those with fewest
    coordinates first. Raises MechanismError with the coordinates that nothing drives if that is not enough.
    """
    places, drives = _places(model), tuple(_driven(model))
    turning = [joint for joint in model.joints if all(_along_axes(name) for name in joint.coordinate_names)]
    turning.sort(key=lambda joint: len(joint.coordinates))
    axes = tuple(coordinate for joint in turning for coordinate in joint.coordinates)
    found = independent_coordinates(model, state, drives, _with_motors(model, places), axes, tuple(places))
    able = {*drives, *_with_motors(model, places), *axes}
    if found is None or not able.issuperset(found):
        lacking = [places[one].text for one in found or () if one not in able]
        rule = "its drives and motors do not supply all efforts of the motion"
        advice = f"add drives: nothing moves {', '.join(lacking)}" if lacking else "add drives to its joints"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, advice))
    return _numbered(places, tuple(dict.fromkeys((*drives, *found))))


def _driven(model: Model) -> dict[int, str]:
    """The coordinates of joints that have drives, and the drives' names."""
    known = model.source.drives if model.source is not None else {}
    return {
        one.coordinate: one.element
        for one in model.multipliers
        if one.kind == "drive" and isinstance(known.get(one.element), Drive)
    }


def _places(model: Model) -> dict[int, DrivenCoordinate]:
    """Driven coordinates, which need not be free ones of their joints, and all free ones."""
    places, drives = dict[int, DrivenCoordinate](), _driven(model)
    for joint in model.joints:
        for which, (coordinate, own, unit) in enumerate(
            zip(joint.coordinates, joint.coordinate_names, joint.units, strict=True)
        ):
            several = f" {own}" if len(joint.coordinates) > 1 else ""
            name = drives.get(coordinate, joint.name + several)
            text = joint.coordinate_text(which)
            places[coordinate] = DrivenCoordinate(name, joint.name, which, unit, text)
    for coordinate, name in drives.items():
        if coordinate in places or model.source is None:
            continue
        drive = model.source.drives[name]
        if isinstance(drive, Drive):
            of = model.source.joints[drive.coordinate.joint]
            own = of.coordinate_name(drive.coordinate.coordinate)
            text = f"joint {of.name!r} ({own})"
            places[coordinate] = DrivenCoordinate(name, of.name, own, unit_of(of.kind, own), text)
    return places


def _with_motors(model: Model, places: Collection[int]) -> tuple[int, ...]:
    """The coordinates of joints that motors drive."""
    motors = [one.coordinate for one in model.multipliers if one.kind == "motor"]
    motors += [
        int(model.arrays["law_coordinate"][law])
        for force in model.forces
        for law in force.laws
        if model.arrays["law_kind"][law] == "motor"
    ]
    return tuple(one for one in motors if one in places)


def _along_axes(name: str) -> bool:
    """Whether a coordinate turns or slides along an axis of a joint; those of formulas may."""
    base = name.removeprefix(MIRRORED)
    return (
        base in ("x", "y", "z") or base.startswith(("theta_", "universal_")) or coordinate_kind(name) is None
    )


def _numbered(places: Mapping[int, DrivenCoordinate], found: Iterable[int]) -> tuple[DrivenCoordinate, ...]:
    return tuple(replace(places[coordinate], number=k) for k, coordinate in enumerate(found, start=1))
