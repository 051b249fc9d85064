"""A trajectory as named columns, for tables and text files."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from bellcrank.trajectory.efforts import EffortHistory
from bellcrank.trajectory.store import FloatArray
from bellcrank.whole_files import whole_file

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

Wanted: TypeAlias = Callable[[str, str], bool]
"""Whether columns of an element are wanted, by its kind and name."""

_BODY: Final = {
    "position": ("x [m]", "y [m]", "z [m]"),
    "rotation": ("qw", "qx", "qy", "qz"),
    "velocity": ("vx [m/s]", "vy [m/s]", "vz [m/s]"),
    "angular_velocity": ("wx [rad/s]", "wy [rad/s]", "wz [rad/s]"),
    "acceleration": ("ax [m/s^2]", "ay [m/s^2]", "az [m/s^2]"),
    "angular_acceleration": ("alphax [rad/s^2]", "alphay [rad/s^2]", "alphaz [rad/s^2]"),
}
_REACTION: Final = ("Mx [N m]", "My [N m]", "Mz [N m]", "Fx [N]", "Fy [N]", "Fz [N]")


def columns(run: Trajectory, name: str = "") -> dict[str, FloatArray]:
    """Every recorded quantity as a column (T,), by a name such as "body.crank.x [m]".

    If a reaction or an effort is not always determined, a column shows where it is: 1 or 0.
    name: of one quantity; the columns of elements with which it does not begin are left out.
    """

    def wanted(noun: str, element: str) -> bool:
        return not name or name.startswith(f"{noun}.{element}")

    found = {"time [s]": run.time, **_of_bodies(run, wanted), **_of_joints(run, wanted)}
    efforts = (
        ("drive", run.drives, run.drive),
        ("limit", run.limits, run.limit),
        ("constraint", run.constraints, run.constraint),
    )
    for noun, names, effort_of in efforts:
        for element in filter(partial(wanted, noun), names):
            found |= _efforts(noun, effort_of(element))
    for force in filter(partial(wanted, "force"), run.forces):
        found |= _of_force(run, force)
    for entry in run.inputs:
        steered = run.input(entry)
        found[f"input.{entry}" + (f" [{steered.unit}]" if steered.unit else "")] = steered.value
    for number, account in enumerate(run.layout.works):
        kind, _, element = account.partition(" ")
        part = f"{kind}.{element[1:-1]}" if element.startswith(("'", '"')) else f"energy.{account}"
        found[f"{part}.work [J]"] = run.store.read("works", number)
    found["energy.kinetic [J]"] = run.energy.kinetic
    found["energy.potential [J]"] = run.energy.potential
    found["violation.position"] = run.violation.position
    found["violation.velocity"] = run.violation.velocity
    return found


def _of_bodies(run: Trajectory, wanted: Wanted) -> dict[str, FloatArray]:
    found: dict[str, FloatArray] = {}
    for section, names in _BODY.items():
        if section in run.layout.shapes:
            values = run.store.read(section)
            for number, body in enumerate(run.bodies):
                if wanted("body", body):
                    found |= {f"body.{body}.{part}": values[:, number, k] for k, part in enumerate(names)}
    return found


def _of_joints(run: Trajectory, wanted: Wanted) -> dict[str, FloatArray]:
    """Coordinates, then reactions."""
    found: dict[str, FloatArray] = {}
    position, rate = run.store.read("coordinates"), run.store.read("rates")
    for number, column in enumerate(run.layout.coordinates):
        if not wanted("joint", column.joint):
            continue
        unit = "" if column.unit in ("", "1") else column.unit
        found[f"joint.{column}" + (f" [{unit}]" if unit else "")] = position[:, number]
        found[f"joint.{column}.rate [{unit or '1'}/s]"] = rate[:, number]
        if "coordinate_accelerations" in run.layout.shapes:
            acceleration = run.store.read("coordinate_accelerations", number)
            found[f"joint.{column}.acceleration [{unit or '1'}/s^2]"] = acceleration
    reactions = run.store.read("reactions")
    for number, joint in enumerate(run.layout.reactions):
        if not wanted("joint", joint):
            continue
        found |= {f"joint.{joint}.{part}": reactions[:, number, k] for k, part in enumerate(_REACTION)}
        if run.layout.uniqueness:
            history = run.joint(joint)
            found |= _where_open(f"joint.{joint}.moment unique", history.moment_unique)
            found |= _where_open(f"joint.{joint}.force unique", history.force_unique)
    return found


def _efforts(noun: str, history: EffortHistory) -> dict[str, FloatArray]:
    efforts = history.effort.reshape(len(history.effort), math.prod(history.effort.shape[1:]))
    alone = len(history.columns) == 1
    found: dict[str, FloatArray] = {}
    for k, column in enumerate(history.columns):
        name = f"{noun}.{history.name}.effort{'' if alone else f'.{column.name}'}"
        found[f"{name} [{column.unit}]"] = efforts[:, k]
        if history.layout.uniqueness:
            found |= _where_open(f"{name} unique", history.unique.reshape(efforts.shape)[:, k])
    return found


def _of_force(run: Trajectory, name: str) -> dict[str, FloatArray]:
    """What was recorded of a force: efforts, with value and rate of what it alone acts along, and energy."""
    layout, found = run.layout, {}
    for number, column in enumerate(layout.force_columns):
        if column.force != name:
            continue
        part = f"force.{name}.{column.name}"
        value, rate, place = ("", "", 0)
        if column.coordinate is not None:
            value, rate, place = layout.every_coordinate[column.coordinate]
        if value == "force_coordinates":
            unit = layout.force_coordinates[place].unit
            found[f"{part} [{unit}]"] = run.store.read(value, place)
            found[f"{part}.rate [{unit}/s]"] = run.store.read(rate, place)
        found[f"{part}.effort [{column.unit}]"] = run.store.read("force_efforts", number)
    if name in layout.force_potentials:
        found[f"force.{name}.energy [J]"] = run.force(name).energy
    return found


def _where_open(name: str, unique: np.ndarray) -> dict[str, FloatArray]:
    return {} if unique.all() else {name: unique.astype(np.float64)}


def write_csv(run: Trajectory, path: str | Path, replace: bool = True) -> None:
    """Write the columns as comma-separated text with one line of names; numbers with all their digits.

    An existing file remains until the new one is complete. replace: whether it may be replaced. Raises
    MechanismError if the file cannot be written.
    """
    table = columns(run)
    header = ",".join(
        '"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name for name in table
    )
    with whole_file(path, replace) as draft, draft.open("w", encoding="utf-8") as file:
        np.savetxt(file, np.column_stack(list(table.values())), "%.17g", ",", header=header, comments="")
