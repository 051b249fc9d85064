"""The quantities of a run by name: as columns of tables and text files, and one at a time for studies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.marker import Marker
from bellcrank.trajectory.histories import EffortHistory
from bellcrank.trajectory.store import FloatArray
from bellcrank.whole_files import whole_file

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory


Wanted: TypeAlias = Callable[[str, str], bool]
"""Whether columns of an element are wanted, by its kind and name."""

_BODY: Final = {
    "position": (("x", "y", "z"), "m"),
    "rotation": (("qw", "qx", "qy", "qz"), ""),
    "velocity": (("vx", "vy", "vz"), "m/s"),
    "angular_velocity": (("wx", "wy", "wz"), "rad/s"),
    "acceleration": (("ax", "ay", "az"), "m/s^2"),
    "angular_acceleration": (("alphax", "alphay", "alphaz"), "rad/s^2"),
}
_REACTION: Final = (("Mx", "N m"), ("My", "N m"), ("Mz", "N m"), ("Fx", "N"), ("Fy", "N"), ("Fz", "N"))


class Quantity(NamedTuple):
    """A recorded quantity: its name, such as "body.crank.x", its unit ("" for none), and its values (T,).

    flags: whether the values say where something is unique, 1 or 0.
    """

    name: str
    unit: str
    values: FloatArray
    flags: bool = False

    @property
    def title(self) -> str:
        """Name and unit: "body.crank.x [m]"."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns(run: Trajectory, chosen: Any = None) -> dict[str, FloatArray]:
    """Every recorded quantity as a column (T,), by a name such as "body.crank.x [m]".

    chosen: as in `Trajectory.to_dict`. If a reaction or an effort is not always determined, a column shows
    where it is: 1 or 0. Raises MechanismError for a choice that nothing fits.
    """
    if chosen is None:
        return {one.title: one.values for one in recorded(run)}
    patterns = _patterns(chosen)
    fits = [_fitting(pattern) for pattern in patterns]
    found, met = {"time [s]": run.time}, set[str]()
    for one in recorded(run, lambda noun, element: any(_may_fit(p, noun, element) for p in patterns)):
        if kept := [p for p, fit in zip(patterns, fits, strict=True) if fit(one.name)]:
            found[one.title] = one.values
            met.update(kept)
    faults = FaultList()
    for pattern in patterns:
        if pattern not in met:
            names = dict.fromkeys(one.name.split(".")[1] for one in recorded(run) if "." in one.name)
            faults.add(
                f"columns {pattern!r}", "the run has no column that fits", None, nearest(pattern, names)
            )
    faults.raise_any()
    return found


def _patterns(chosen: Any) -> list[str]:
    """The patterns of a choice: one or several names, patterns, or elements."""
    listed = list(chosen) if isinstance(chosen, (list, tuple, set, frozenset)) else [chosen]
    found = []
    for one in listed:
        noun, name = type(one).__name__.lower(), getattr(one, "name", None)
        if isinstance(one, Marker):
            noun, name = "marker", one.key
        if isinstance(one, str):
            found.append(one)
        elif isinstance(name, str):
            found.append(f"{noun}.{name}")
        else:
            rule, advice = "a column is chosen by a name, a pattern or an element", "such as 'joint.*'"
            raise MechanismError(Fault("columns", rule, one, advice))
    return found


def _fitting(pattern: str) -> Callable[[str], bool]:
    """Whether a name fits: as a whole, or what it begins with up to a point; its noun may be left out."""
    whole = re.compile(f"{translate(pattern)}|{translate(f'{pattern}.*')}").fullmatch
    return lambda name: bool(whole(name) or whole(name.partition(".")[2]))


def _may_fit(pattern: str, noun: str, element: str) -> bool:
    """Whether a quantity of an element may fit, from what the pattern begins with."""
    begins = re.split(r"[*?\[]", pattern)[0]
    return any(name.startswith(begins) or begins.startswith(name) for name in (f"{noun}.{element}", element))


def recorded(run: Trajectory, name: str | Wanted = "") -> Iterator[Quantity]:
    """Every recorded quantity.

    name: of one quantity; the quantities of elements with which it does not begin are left out. Or a
        function of noun and name, whether an element is wanted.
    """

    def begins(noun: str, element: str) -> bool:
        return not name or str(name).startswith(f"{noun}.{element}")

    wanted: Wanted = begins if isinstance(name, str) else name
    yield Quantity("time", "s", run.time)
    yield from _of_bodies(run, wanted)
    if wanted("marker", ""):
        yield from _of_markers(run, wanted)
    yield from _of_joints(run, wanted)
    efforts = (
        ("drive", run.drives, run.drive),
        ("limit", run.limits, run.limit),
        ("constraint", run.constraints, run.constraint),
    )
    for noun, names, effort_of in efforts:
        for element in filter(partial(wanted, noun), names):
            yield from _efforts(noun, effort_of(element))
    for force in filter(partial(wanted, "force"), run.forces):
        yield from _of_force(run, force)
    for entry in run.inputs:
        steered = run.input(entry)
        yield Quantity(f"input.{entry}", steered.unit, steered.value)
    for sensor in filter(partial(wanted, "sensor"), run.sensors):
        history = run.sensor(sensor)
        for channel, unit, values in zip(history.channels, history.units, history.values.T, strict=True):
            yield Quantity(f"sensor.{sensor}.{channel}", unit, values)
    for number, account in enumerate(run.layout.works):
        kind, _, element = account.partition(" ")
        part = f"{kind}.{element[1:-1]}" if element.startswith(("'", '"')) else f"energy.{account}"
        yield Quantity(f"{part}.work", "J", run.store.read("works", number))
    yield Quantity("energy.kinetic", "J", run.energy.kinetic)
    yield Quantity("energy.potential", "J", run.energy.potential)
    yield Quantity("violation.position", "", run.violation.position)
    yield Quantity("violation.velocity", "", run.violation.velocity)


def _of_bodies(run: Trajectory, wanted: Wanted) -> Iterator[Quantity]:
    for section, (names, unit) in _BODY.items():
        if section in run.layout.shapes:
            values = run.store.read(section)
            for number, body in enumerate(run.bodies):
                if wanted("body", body):
                    for k, part in enumerate(names):
                        yield Quantity(f"body.{body}.{part}", unit, values[:, number, k])


def _of_markers(run: Trajectory, wanted: Wanted) -> Iterator[Quantity]:
    """Position, velocity and acceleration of the named markers on bodies."""
    for marker in filter(partial(wanted, "marker"), run.markers):
        history = run.marker(marker)
        for section in ("position", "velocity", "acceleration"):
            if section in run.layout.shapes:
                names, unit = _BODY[section]
                for part, values in zip(names, getattr(history, section).T, strict=True):
                    yield Quantity(f"marker.{marker}.{part}", unit, values)


def _of_joints(run: Trajectory, wanted: Wanted) -> Iterator[Quantity]:
    """Coordinates, then reactions."""
    position, rate = run.store.read("coordinates"), run.store.read("rates")
    for number, column in enumerate(run.layout.coordinates):
        if not wanted("joint", column.joint):
            continue
        unit, name = "" if column.unit == "1" else column.unit, f"joint.{column}"
        yield Quantity(name, unit, position[:, number])
        yield Quantity(f"{name}.rate", f"{unit or '1'}/s", rate[:, number])
        if "coordinate_accelerations" in run.layout.shapes:
            acceleration = run.store.read("coordinate_accelerations", number)
            yield Quantity(f"{name}.acceleration", f"{unit or '1'}/s^2", acceleration)
    reactions = run.store.read("reactions")
    for number, joint in enumerate(run.layout.reactions):
        if not wanted("joint", joint):
            continue
        for k, (part, unit) in enumerate(_REACTION):
            yield Quantity(f"joint.{joint}.{part}", unit, reactions[:, number, k])
        history = run.joint(joint)
        yield from _where_open(f"joint.{joint}.moment", history.moment_unique)
        yield from _where_open(f"joint.{joint}.force", history.force_unique)


def _efforts(noun: str, history: EffortHistory) -> Iterator[Quantity]:
    efforts = history.effort.reshape(len(history.effort), math.prod(history.effort.shape[1:]))
    alone = len(history.columns) == 1
    for k, column in enumerate(history.columns):
        name = f"{noun}.{history.name}.effort{'' if alone else f'.{column.name}'}"
        yield Quantity(name, column.unit, efforts[:, k])
        yield from _where_open(name, history.unique.reshape(efforts.shape)[:, k])
    for further, unit in history.quantities.items():
        yield Quantity(f"{noun}.{history.name}.{further}", unit, history.quantity(further))


def _of_force(run: Trajectory, name: str) -> Iterator[Quantity]:
    """Efforts of a force, with value and rate of what it alone acts along, its energy and quantities."""
    layout, along = run.layout, set[int]()
    for number, column in enumerate(layout.force_columns):
        if column.force != name:
            continue
        value, rate, place = ("", "", 0)
        if column.coordinate is not None:
            value, rate, place = layout.every_coordinate[column.coordinate]
        if value == "force_coordinates" and place not in along:
            along.add(place)
            coordinate = layout.force_coordinates[place]
            part = f"force.{name}.{coordinate.name}"
            yield Quantity(part, coordinate.unit, run.store.read(value, place))
            yield Quantity(f"{part}.rate", f"{coordinate.unit}/s", run.store.read(rate, place))
        effort = f"force.{name}.{column.name}.effort"
        yield Quantity(effort, column.unit, run.store.read("force_efforts", number))
    history = run.force(name)
    if name in layout.force_potentials:
        yield Quantity(f"force.{name}.energy", "J", history.energy)
    for further, unit in history.quantities.items():
        yield Quantity(f"force.{name}.{further}", unit, history.quantity(further))


def _where_open(name: str, unique: np.ndarray) -> Iterator[Quantity]:
    if not unique.all():
        yield Quantity(f"{name} unique", "", unique.astype(np.float64), flags=True)


def write_csv(run: Trajectory, path: str | Path, replace: bool = True, chosen: Any = None) -> None:
    """Write the columns as comma-separated text with one line of names; numbers with all their digits.

    chosen: as in `columns`. replace: whether an existing file may be replaced, which remains until the new
    one is complete. Raises MechanismError if the file cannot be written.
    """
    table = columns(run, chosen)
    header = ",".join(
        '"{}"'.format(name.replace('"', '""')) if "," in name or '"' in name else name for name in table
    )
    with whole_file(path, replace) as draft, draft.open("w", encoding="utf-8") as file:
        np.savetxt(file, np.column_stack(list(table.values())), "%.17g", ",", header=header, comments="")


_WITH_UNIT: Final = re.compile(r"^(?P<name>.*?)(?: \[(?P<unit>[^\]]*)\])?$")
_MAGNITUDES: Final = {
    "force": (("joint.",), ("Fx", "Fy", "Fz")),
    "moment": (("joint.",), ("Mx", "My", "Mz")),
    "speed": (("body.", "marker."), ("vx", "vy", "vz")),
}
"""Names of magnitudes, what the names of elements that have them begin with, and the components."""


class UnknownQuantity(MechanismError):
    """A run records nothing of this name."""


def quantity(run: Trajectory, name: str) -> Quantity:
    """A quantity that a run recorded.

    name: of a column of `Trajectory.to_dict`, with or without its unit, such as "joint.pivot.theta_z"; or
        "energy.total"; or a magnitude: "joint.pivot.force", "joint.pivot.moment", "body.crank.speed",
        "marker.crank.tip.speed". For an element with one effort, or only one quantity, its name is enough:
        "drive.motor".

    Raises UnknownQuantity, a MechanismError, with close matches for quantities that were not recorded.
    """
    asked = _WITH_UNIT.match(name)
    assert asked is not None
    text, unit = asked["name"].strip(), asked["unit"]
    table = list({one.title: one for one in recorded(run, text) if not one.flags}.values())
    table += _magnitude(table, text)
    if text == "energy.total":
        table.append(Quantity(text, "J", run.energy.total))
    found = [one for one in table if one.name == text] or _of_element(table, text)
    if unit is not None:
        found = [one for one in found if one.unit == unit]
    if len(found) != 1:
        raise _unknown(run, name, [one.name for one in found])
    return found[0]


def _magnitude(table: list[Quantity], name: str) -> list[Quantity]:
    """The magnitude of this name, if its components are in the table."""
    element, _, last = name.rpartition(".")
    kinds, components = _MAGNITUDES.get(last, ((), ()))
    if not element.startswith(kinds):
        return []
    parts = [one for one in table if one.name in [f"{element}.{c}" for c in components]]
    if len(parts) != len(components):
        return []
    return [Quantity(name, parts[0].unit, np.linalg.norm([one.values for one in parts], axis=0))]


def _of_element(table: list[Quantity], name: str) -> list[Quantity]:
    """The quantities of an element: only the efforts if there are others too."""
    of_it = [one for one in table if one.name.startswith(f"{name}.")]
    efforts = [one for one in of_it if one.name.endswith(".effort") or ".effort." in one.name]
    return of_it if len(of_it) == 1 else efforts or of_it


def _unknown(run: Trajectory, name: str, several: list[str]) -> UnknownQuantity:
    if several:
        rule, advice = "this may be several quantities", f"name one of {', '.join(several[:8])}"
    else:
        known = [one.name for one in recorded(run) if not one.flags]
        rule, advice = "the run records no quantity of this name", nearest(name, known)
    return UnknownQuantity(Fault(f"quantity {name!r}", rule, None, advice))
