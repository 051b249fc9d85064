"""The kinds of figures, and the panels of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.trajectory.plots import selection
from bellcrank.trajectory.plots.panels import Panel, PathPanel, Series, TimePanel
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.efforts import EffortHistory
    from bellcrank.trajectory.forces import ForceHistory
    from bellcrank.trajectory.trajectory import Trajectory

    Exerted: TypeAlias = EffortHistory | ForceHistory

_UNITS: Final = {"rad": ("Angle", "Angular velocity"), "m": ("Travel", "Velocity"), "1": ("Value", "Rate")}
_ROUNDING: Final = 1e-14  # of the total energy


def joint(run: Trajectory, names: tuple[str, ...], degrees: bool = False) -> list[Panel]:
    """Free coordinates of joints and their rates.

    degrees: angles in degrees.
    """
    named = [k for name in names for k in _numbers(run, name)]
    columns = run.layout.coordinates
    panels: list[Panel] = []
    for unit, (position, rate) in _UNITS.items():
        every = [k for k in named or range(len(columns)) if (columns[k].unit or "1") == unit]
        shown = every if named else selection.moving_coordinates(run, unit) if every else []
        if not shown:
            continue
        plain = "" if unit == "1" else unit
        written, factor = ("°", 180.0 / np.pi) if unit == "rad" and degrees else (plain, 1.0)
        for quantity, section, of in (
            (position, "coordinates", written),
            (rate, "rates", f"{written or '1'}/s"),
        ):
            series = [Series(_column_name(run, k), factor * run.store.read(section, k)) for k in shown]
            title = selection.titled(f"Joint {quantity.lower()}", series, len(every))
            panels.append(TimePanel(title, quantity, of, run.time, series))
    if not panels:
        raise _nothing(run, "no joint coordinates", "the joints are fixed")
    return panels


def body(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Position, velocity and angular velocity of bodies, components in world axes."""
    panels: list[Panel] = []
    for name in names or run.bodies[:1]:
        history = run.body(name)
        for title, unit, values in (
            ("position", "m", history.position),
            ("velocity", "m/s", history.velocity),
            ("angular velocity", "rad/s", history.angular_velocity),
        ):
            series = _components(values)
            panels.append(TimePanel(f"{name}: {title}", title.capitalize(), unit, run.time, series))
    if not panels:
        raise _nothing(run, "no bodies")
    return panels


def path(run: Trajectory, names: tuple[str, ...], plane: str | None = None, point: Any = None) -> list[Panel]:
    """Paths of bodies: of their centres of mass, or of a point given in the body frame.

    plane: "xy", "xz" or "yz"; by default the plane of the motion, or all three.
    point: three numbers, m, in the frame of the body (of each body named).
    """
    if not run.bodies:
        raise _nothing(run, "no bodies")
    offset = None if point is None else _vector(point)
    bodies = [run.body(name) for name in names or selection.moving_bodies(run)]
    paths = [(b.name, b.com_position if offset is None else b.point(offset)) for b in bodies]
    of = "centre of mass" if offset is None else f"point ({offset[0]:g}, {offset[1]:g}, {offset[2]:g}) m"
    title = f"Path of the {of}" if offset is not None or len(paths) == 1 else "Paths of the centres of mass"
    title = selection.titled(title, paths, len(names or run.bodies))
    planes = (_plane(plane),) if plane else selection.planes_of_motion([values for _, values in paths])
    return [PathPanel(title if k == 0 else "", letters, paths) for k, letters in enumerate(planes)]


def reaction(run: Trajectory, names: tuple[str, ...], components: bool | None = None) -> list[TimePanel]:
    """Reactions of joints: force and moment on the second body about its marker, world axes.

    components: x, y and z instead of magnitudes; by default if only one joint is shown.
    """
    if not run.layout.reactions:
        raise _nothing(run, "no reactions", "simulate with reactions=True")
    joints = [run.joint(name) for name in names or selection.loaded_joints(run)]
    panels: list[TimePanel] = []
    if components or (components is None and len(joints) == 1):
        for history in joints:
            for title, unit, values in (("force", "N", history.force), ("moment", "N m", history.moment)):
                series = [*_components(values), Series("magnitude", np.linalg.norm(values, axis=1), True)]
                heading, floor = f"{history.name}: reaction {title}", selection.rounding(history.reaction)
                panels.append(TimePanel(heading, title.capitalize(), unit, run.time, series, floor=floor))
        return panels
    floor = max(selection.rounding(history.reaction) for history in joints)
    for quantity, unit in (("Force", "N"), ("Moment", "N m")):
        halves = [(h.name, h.force if quantity == "Force" else h.moment) for h in joints]
        series = [Series(name, np.linalg.norm(values, axis=1)) for name, values in halves]
        title = selection.titled(f"Reaction {quantity.lower()}s", series, len(names or run.layout.reactions))
        panels.append(TimePanel(title, quantity, unit, run.time, series, floor=floor))
    return panels


def drive(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of drives and their power."""
    if not run.drives:
        raise _nothing(run, "no drives")
    drives = [run.drive(name) for name in names or selection.loaded(run.drive, run.drives)]
    panels = _efforts(run, "Drive", drives, [run.drive(name) for name in names or run.drives])
    powers = [Series(d.name, d.power) for d in drives if None not in {c.coordinate for c in d.columns}]
    if powers:
        count = max(len(powers), len(names or run.drives) if len(powers) == len(drives) else 0)
        title = selection.titled("Drive power", powers, count)
        panels.append(TimePanel(title, "Power", "W", run.time, powers))
    return panels


def force(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of springs, motors, friction and other forces, and the power they supply."""
    listed = [name for name in run.forces if run.force(name).columns]
    if not listed:
        raise _nothing(run, "no forces", "simulate with reactions=True")
    forces = [run.force(name) for name in names or selection.loaded(run.force, listed)]
    panels = _efforts(run, "Force", forces, [run.force(name) for name in names or listed])
    powers = [Series(f.name, f.power) for f in forces if None not in {c.coordinate for c in f.columns}]
    if powers:
        title = selection.titled("Power of forces", powers, max(len(powers), len(names or listed)))
        panels.append(TimePanel(title, "Power", "W", run.time, powers))
    return panels


def limit(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of joint limits."""
    if not run.limits:
        raise _nothing(run, "no limits")
    limits = [run.limit(name) for name in names or selection.loaded(run.limit, run.limits)]
    return _efforts(run, "Limit", limits, [run.limit(name) for name in names or run.limits])


def energy(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Kinetic, potential and total energy, and how the total changes."""
    refuse_names("energy", names)
    history = run.energy
    parts = [
        Series("kinetic", history.kinetic),
        Series("potential", history.potential),
        Series("total", history.total, True),
    ]
    whole = TimePanel("Energy", "Energy", "J", run.time, parts)
    change = [Series("total", history.drift)]
    floor = _ROUNDING * whole.peak
    return [whole, TimePanel("Change of the total energy", "Change", "J", run.time, change, floor=floor)]


def violation(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Constraint errors on a logarithmic axis.

    While constraint forces close a mechanism, the intended critically damped decay is shown as well.
    """
    refuse_names("violation", names)
    errors = [
        Series("positions (m, rad)", run.violation.position),
        Series("velocities (m/s, rad/s)", run.violation.velocity),
    ]
    if run.statistics.get("formulation") == "constraint forces":
        lasted = (run.time - run.time[0]) / float(run.statistics["time_constant"])
        decay = run.violation.position[0] * (1.0 + lasted) * np.exp(-lasted)
        errors.append(Series("critically damped", decay, True))
    return [TimePanel("Largest error of a constraint", "Error", "", run.time, errors, log=True)]


KINDS: Final[dict[str, Callable[..., Sequence[Panel]]]] = {
    "joint": joint,
    "body": body,
    "path": path,
    "reaction": reaction,
    "drive": drive,
    "force": force,
    "limit": limit,
    "energy": energy,
    "violation": violation,
}


def refuse_names(kind: str, names: tuple[str, ...]) -> None:
    """Refuse names if a figure shows the whole mechanism."""
    if names:
        rule = "it is of the whole mechanism and takes no names"
        raise MechanismError(Fault(f"plot of {kind}", rule, names[0]))


def _numbers(run: Trajectory, name: str) -> list[int]:
    """Numbers of a joint's coordinates. Raises MechanismError if it is unknown or has none."""
    if not run.joint(name).columns:
        advice = "its reaction can be plotted"
        raise MechanismError(Fault(f"joint {name!r}", "it has no free coordinates to plot", None, advice))
    slot = run.layout.joint_coordinates[name]
    return list(range(slot.start, slot.stop))


def _column_name(run: Trajectory, number: int) -> str:
    column = run.layout.coordinates[number]
    slot = run.layout.joint_coordinates[column.joint]
    return column.joint if slot.stop - slot.start == 1 else f"{column.joint}: {column.name}"


def _components(values: FloatArray) -> list[Series]:
    return [Series(letter, values[:, k]) for k, letter in enumerate("xyz")]


def _efforts(run: Trajectory, noun: str, shown: Sequence[Exerted], every: Sequence[Exerted]) -> list[Panel]:
    """A panel for torques and one for forces, if there are any."""
    panels: list[Panel] = []
    for unit, quantity in (("N m", "Torque"), ("N", "Force")):
        series = [
            Series(history.name if len(history.units) == 1 else f"{history.name}: {name}", effort)
            for history in shown
            for name, of, effort in zip(
                history.coordinates, history.units, history.effort.reshape(len(run), -1).T, strict=True
            )
            if of == unit
        ]
        if series:
            title = selection.titled(
                f"{noun} {quantity.lower()}", series, sum(history.units.count(unit) for history in every)
            )
            panels.append(TimePanel(title, quantity, unit, run.time, series))
    return panels


def _vector(point: Any) -> Vec3:
    with Check("plot of a path") as check:
        return check.vector("point", point)


def _plane(plane: str) -> str:
    letters = "".join(sorted(str(plane)))
    if letters not in ("xy", "xz", "yz"):
        raise MechanismError(Fault("plot of a path", "plane must be 'xy', 'xz' or 'yz'", plane))
    return letters


def _nothing(run: Trajectory, what: str, advice: str = "") -> MechanismError:
    return MechanismError(Fault(f"run of {run.name!r}", f"it holds {what} to plot", None, advice))
