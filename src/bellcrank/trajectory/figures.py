"""Figures of a run, ready for a report, made of panels (extra `plot`): one function for each kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.trajectory.histories import named, noun_of
from bellcrank.trajectory.panels import (
    GREY,
    MILLIMETRE,
    PAGE,
    SETTINGS,
    WIDTH,
    Panel,
    PathPanel,
    Series,
    SpanPanel,
    TimePanel,
    span_of,
)
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.trajectory.histories import EffortHistory, ForceHistory
    from bellcrank.trajectory.trajectory import Trajectory

    Exerted: TypeAlias = EffortHistory | ForceHistory

_PANEL_HEIGHT: Final = 58 * MILLIMETRE
_PATH_HEIGHT: Final = 95 * MILLIMETRE
_PAGE_ROW: Final = 72 * MILLIMETRE
_LABELS: Final = 20 * MILLIMETRE  # what labels and titles take off the width and the height
_HEAD: Final = 9 * MILLIMETRE
_PANELS_MOST: Final = 9  # on the page of an overview
_LINES_MOST: Final = 6  # in a panel when the user names none
_SAMPLE: Final = 400  # frames by which lines are judged
_NOTHING: Final = 1e-9  # of the largest
_PLANAR: Final = 1e-6  # of the largest extent: less is no motion
_ROUNDING: Final = 1e-14  # of the total energy
_UNITS: Final = {"rad": ("Angle", "Angular velocity"), "m": ("Travel", "Velocity"), "1": ("Value", "Rate")}


def _meant(run: Trajectory, what: object, kinds: Sequence[str]) -> str:
    """What to write in place of something that is no kind of plot."""
    name = getattr(what, "name", what)
    if isinstance(name, str):
        noun = noun_of(run, name)
        return f"write run.plot({noun!r}, {name!r})" if noun else nearest(name, kinds)
    return "arrays are plotted by matplotlib itself: plt.plot(run.time, run.joint(name).position)"


def plot(
    run: Trajectory,
    what: str,
    names: Sequence[str],
    path: str | Path | None,
    options: Mapping[str, Any],
) -> Figure:
    """A figure of one kind; see `Trajectory.plot`."""
    if path is not None:
        check_picture(path)
    kinds = ("overview", "picture", *KINDS)
    if not isinstance(what, str) or what not in kinds:
        raise MechanismError(Fault("plot", "there is no plot of this kind", what, _meant(run, what, kinds)))
    if len(run) == 0:
        raise MechanismError(Fault(f"run of {run.name!r}", "it holds no frames to plot"))
    _check_options(what, options)
    check_matplotlib()
    import matplotlib as mpl

    if what == "picture":
        _refuse_names(what, tuple(names))
        return run.draw(path, **options)
    with mpl.rc_context(SETTINGS), np.errstate(invalid="ignore", over="ignore"):
        heading = _heading(run) if what == "overview" else None
        panels = overview(run, tuple(names)) if heading else KINDS[what](run, tuple(names), **options)
        figure: Figure = _page(panels, heading, path is None) if heading else _column(panels, path is None)
        _fit_paths(figure, panels)
        if path is not None:
            write_figure(figure, path)
    return figure


def _check_options(what: str, options: Mapping[str, Any]) -> None:
    others = {"overview": [], "picture": ["times", "instants"]}
    known = others[what] if what in others else list(inspect.signature(KINDS[what]).parameters)[2:]
    for name in options:
        if name not in known:
            advice = f"it takes {', '.join(known)}" if known else "it takes none"
            raise MechanismError(Fault(f"plot of {what}", "there is no option of this name", name, advice))


def _column(panels: Sequence[Panel], on_screen: bool) -> Any:
    """Panels over time one below the other on one time axis; paths side by side."""
    if any(isinstance(panel, PathPanel) for panel in panels):
        width = WIDTH if len(panels) == 1 else 1.5 * WIDTH
        figure = new_figure((width, _PATH_HEIGHT), on_screen)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel.draw(axes, (width / len(panels) - _LABELS, _PATH_HEIGHT - _LABELS))
        return figure
    figure = new_figure((WIDTH, _PANEL_HEIGHT * len(panels)), on_screen)
    stacked = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(stacked, panels, strict=True):
        panel.draw(axes, (WIDTH - _LABELS, _PANEL_HEIGHT - _LABELS))
        axes.label_outer()
    figure.align_ylabels()
    return figure


def _page(panels: Sequence[Panel], heading: tuple[str, str], on_screen: bool) -> Any:
    """Panels on a page, in rows of up to three, each row as wide as the page."""
    counts = _rows(len(panels))
    width, height = PAGE
    height = min(height, len(counts) * _PAGE_ROW + _HEAD)
    figure = new_figure((width, height), on_screen)
    figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, 1.0 - _HEAD / height))
    grid = figure.add_gridspec(len(counts), 6)
    rest = iter(panels)
    for row, count in enumerate(counts):
        for column in range(count):
            span = slice(column * 6 // count, (column + 1) * 6 // count)
            size = (width / count - _LABELS, (height - _HEAD) / len(counts) - _LABELS)
            next(rest).draw(figure.add_subplot(grid[row, span]), size)
    base = 1.0 - 0.7 * _HEAD / height
    figure.text(0.008, base, heading[0], fontsize=12, fontweight="bold")
    figure.text(0.992, base, heading[1], ha="right", color=GREY)
    return figure


def _fit_paths(figure: Any, panels: Sequence[Panel]) -> None:
    """Give the paths one scale on both axes, whose size is known after a layout."""
    fitted = [axes for axes, panel in zip(figure.axes, panels, strict=True) if isinstance(panel, PathPanel)]
    if fitted:
        figure.draw_without_rendering()
    for axes in fitted:
        PathPanel.fit(axes)


def _rows(count: int) -> list[int]:
    """How many panels stand in each row: at most three, the longer rows first."""
    rows = -(-count // 3)
    return [count // rows + (row < count % rows) for row in range(rows)]


def _heading(run: Trajectory) -> tuple[str, str]:
    """Name of the mechanism, and how the run was made and ended."""
    made = [str(run.statistics[key]) for key in ("formulation", "method") if key in run.statistics]
    if "steps" in run.statistics:
        made.append(f"{run.statistics['steps']} steps")
    ended = "" if run.status == "finished" else f"{run.status.replace('_', ' ')} at t = {run.time[-1]:.6g} s"
    return run.name, ", ".join([*made, *([ended] if ended else [])])


def overview(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Joint motion, paths, reactions, drives, energy and errors, as far as the run contains them.

    Raises MechanismError if names are given.
    """
    _refuse_names("overview", names)
    panels: list[tuple[int, Panel]] = []  # with how soon they are left out: the greater, the sooner
    if run.layout.coordinates:
        panels += zip((0, 2, 0, 1), joint(run, ())[:4], strict=False)
    if run.bodies:
        panels.append((0, path(run, ())[0]))
    if run.drives:
        panels.append((0, drive(run, ())[0]))
    if run.layout.reactions:
        forces, moments = reaction(run, (), components=False)
        panels += [(0, forces)] + ([(3, moments)] if moments.speaks else [])
    panels += [(0, panel) for panel in energy(run, ())]
    if np.any(run.violation.position > 0.0):
        panels += [(0, panel) for panel in violation(run, ())]
    while len(panels) > _PANELS_MOST:
        panels.remove(max(panels, key=lambda entry: entry[0]))
    return [panel for _, panel in panels]


def joint(run: Trajectory, names: tuple[str, ...], degrees: bool = False) -> list[Panel]:
    """Free coordinates of joints and their rates.

    degrees: angles in degrees.
    """
    named = [k for name in names for k in _numbers(run, name)]
    columns = run.layout.coordinates
    panels: list[Panel] = []
    for unit, (position, rate) in _UNITS.items():
        every = [k for k in named or range(len(columns)) if (columns[k].unit or "1") == unit]
        shown = every if named else _moving_coordinates(run, unit) if every else []
        if not shown:
            continue
        plain = "" if unit == "1" else unit
        written, factor = ("°", 180.0 / np.pi) if unit == "rad" and degrees else (plain, 1.0)
        for quantity, section, of in (
            (position, "coordinates", written),
            (rate, "rates", f"{written or '1'}/s"),
        ):
            series = [Series(_column_name(run, k), factor * run.store.read(section, k)) for k in shown]
            title = _titled(f"Joint {quantity.lower()}", series, len(every))
            panels.append(TimePanel(title, quantity, of, run.time, series))
    if not panels:
        raise _nothing(run, "no joint coordinates", "the joints are fixed")
    return panels


def body(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Position, velocity and angular velocity of bodies, components in world axes."""
    return _moving(run, names or run.bodies[:1], run.body, {**_MOTION, "angular velocity": "rad/s"})


def marker(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Position and velocity of named markers, components in world axes."""
    return _moving(run, names or run.markers[:1] or run.bodies[:1], run.marker, _MOTION)


_MOTION: Final = {"position": "m", "velocity": "m/s"}


def _moving(
    run: Trajectory, names: tuple[str, ...], history_of: Callable[[str], Any], shown: Mapping[str, str]
) -> list[Panel]:
    """Vectors of what moves, by components. shown: which, and their units."""
    panels: list[Panel] = []
    for name in names:
        history = history_of(name)
        for title, unit in shown.items():
            series = _components(getattr(history, title.replace(" ", "_")))
            panels.append(TimePanel(f"{name}: {title}", title.capitalize(), unit, run.time, series))
    if not panels:
        raise _nothing(run, "no bodies")
    return panels


def path(run: Trajectory, names: tuple[str, ...], plane: str | None = None, point: Any = None) -> list[Panel]:
    """Paths of bodies: of their centres of mass, or of a point given in the body frame; and of named markers.

    plane: "xy", "xz" or "yz"; by default the plane of the motion, or all three.
    point: three numbers, m, in the frame of the body (of each body named).
    """
    if not run.bodies:
        raise _nothing(run, "no bodies")
    offset = None if point is None else run.origin.point("plot of a path", point, "point")
    markers = run.markers if set(names) - set(run.bodies) else ()
    if offset is not None and (given := [name for name in names if name in markers]):
        rule, advice = "a marker is a point itself", "leave out point=, or name the body"
        raise MechanismError(Fault("plot of a path", rule, given[0], advice))
    paths = []
    for name in names or _moving_bodies(run):
        if name in markers:
            paths.append((name, run.marker(name).position))
            continue
        body = run.body(named("body or marker" if markers else "body", name, (*run.bodies, *markers)))
        paths.append((name, body.com_position if offset is None else body.point(offset)))
    title = "Path" if len(paths) == 1 else "Paths"
    if offset is not None:
        title = f"Path of the point ({offset[0]:g}, {offset[1]:g}, {offset[2]:g}) m"
    elif not markers:
        title += " of the centre of mass" if len(paths) == 1 else " of the centres of mass"
    title = _titled(title, paths, len(names or run.bodies))
    planes = (_plane(plane),) if plane else _planes_of_motion([values for _, values in paths])
    return [PathPanel(title if k == 0 else "", letters, paths) for k, letters in enumerate(planes)]


def reaction(run: Trajectory, names: tuple[str, ...], components: bool | None = None) -> list[TimePanel]:
    """Reactions of joints: force and moment on the second body about its marker, world axes.

    components: x, y and z instead of magnitudes; by default if only one joint is shown.
    """
    if not run.layout.reactions:
        raise _nothing(run, "no reactions", "simulate with reactions=True")
    joints = [run.joint(name) for name in names or _loaded_joints(run)]
    panels: list[TimePanel] = []
    if components or (components is None and len(joints) == 1):
        for history in joints:
            for title, unit, values in (("force", "N", history.force), ("moment", "N m", history.moment)):
                series = [*_components(values), Series("magnitude", np.linalg.norm(values, axis=1), True)]
                heading, floor = f"{history.name}: reaction {title}", _rounding(history.reaction)
                panels.append(TimePanel(heading, title.capitalize(), unit, run.time, series, floor=floor))
        return panels
    floor = max(_rounding(history.reaction) for history in joints)
    for quantity, unit in (("Force", "N"), ("Moment", "N m")):
        halves = [(h.name, h.force if quantity == "Force" else h.moment) for h in joints]
        series = [Series(name, np.linalg.norm(values, axis=1)) for name, values in halves]
        title = _titled(f"Reaction {quantity.lower()}s", series, len(names or run.layout.reactions))
        panels.append(TimePanel(title, quantity, unit, run.time, series, floor=floor))
    return panels


def drive(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of drives and their power."""
    if not run.drives:
        raise _nothing(run, "no drives")
    return _exerted(run, "Drive", names, run.drives, run.drive, "Drive power")


def force(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of springs, motors, friction and other forces, and the power they supply."""
    listed = tuple(name for name in run.forces if run.force(name).columns)
    if not listed:
        raise _nothing(run, "no forces", "simulate with reactions=True")
    return _exerted(run, "Force", names, listed, run.force, "Power of forces", all_powers=True)


def limit(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Efforts of joint limits."""
    if not run.limits:
        raise _nothing(run, "no limits")
    return _exerted(run, "Limit", names, run.limits, run.limit)


def energy(run: Trajectory, names: tuple[str, ...]) -> list[Panel]:
    """Kinetic, potential and total energy, and how the total changes."""
    _refuse_names("energy", names)
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
    _refuse_names("violation", names)
    errors = [
        Series("positions (m, rad)", run.violation.position),
        Series("velocities (m/s, rad/s)", run.violation.velocity),
    ]
    if run.statistics.get("formulation") == "constraint forces":
        lasted = (run.time - run.time[0]) / float(run.statistics["time_constant"])
        decay = run.violation.position[0] * (1.0 + lasted) * np.exp(-lasted)
        errors.append(Series("critically damped", decay, True))
    return [TimePanel("Largest error of a constraint", "Error", "", run.time, errors, log=True)]


def section(
    run: Trajectory,
    names: tuple[str, ...],
    start: Any = None,
    end: Any = None,
    up: Any = None,
    mass: str | None = None,
) -> list[Panel]:
    """Section loads of a body along a line: their range over the run, and at the instant of the worst.

    start, end, up, mass: see `Trajectory.section`.
    """
    if len(names) != 1:
        advice = 'such as run.plot("section", "rod")'
        raise MechanismError(Fault("plot of section", "it takes the name of one body", names or None, advice))
    found = run.section(names[0], start, end, 201, up=up, mass=mass)
    panels: list[Panel] = []
    largest = {unit: float(np.max(np.abs(of))) for unit, of in (("N", found.force), ("N m", found.moment))}
    for load, unit, values in (
        ("axial", "N", found.axial[..., None]),
        ("shear", "N", found.shear),
        ("torsion", "N m", found.torsion[..., None]),
        ("bending", "N m", found.bending),
    ):
        sizes = found.size(load)
        quantity = "Force" if unit == "N" else "Moment"
        if np.max(sizes) > _NOTHING * largest[unit]:
            parts = [("yz"[k] if values.shape[2] > 1 else "", values[..., k]) for k in range(values.shape[2])]
            loads = [part for part in parts if np.max(np.abs(part[1])) > _NOTHING * largest[unit]]
            frame = int(np.argmax(np.max(sizes, axis=1)))
            title = f"{names[0]}: {load} {quantity.lower()}"
            panels.append(SpanPanel(title, quantity, unit, found.distance, found.time, loads, frame))
    if not panels:
        raise _nothing(run, f"no loads on body {names[0]!r}")
    return panels


KINDS: Final[dict[str, Callable[..., Sequence[Panel]]]] = {
    "joint": joint,
    "body": body,
    "marker": marker,
    "path": path,
    "reaction": reaction,
    "drive": drive,
    "force": force,
    "limit": limit,
    "section": section,
    "energy": energy,
    "violation": violation,
}


def _refuse_names(kind: str, names: tuple[str, ...]) -> None:
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


def _exerted(
    run: Trajectory,
    noun: str,
    names: tuple[str, ...],
    listed: tuple[str, ...],
    history: Callable[[str], Exerted],
    power: str = "",
    all_powers: bool = False,
) -> list[Panel]:
    """A panel for torques and one for forces, if there are any, and one for powers.

    power: its title. all_powers: whether elements whose power is not shown count there, too.
    """
    shown = [history(name) for name in names or _loaded(history, listed)]
    every = [history(name) for name in names or listed]
    panels: list[Panel] = []
    for unit, quantity in (("N m", "Torque"), ("N", "Force")):
        series = [
            Series(one.name if len(one.units) == 1 else f"{one.name}: {name}", effort)
            for one in shown
            for name, of, effort in zip(
                one.coordinates, one.units, one.effort.reshape(len(run), -1).T, strict=True
            )
            if of == unit
        ]
        if series:
            title = _titled(f"{noun} {quantity.lower()}", series, sum(one.units.count(unit) for one in every))
            panels.append(TimePanel(title, quantity, unit, run.time, series))
    powers = [
        Series(o.name, o.power) for o in shown if power and None not in {c.coordinate for c in o.columns}
    ]
    if powers:
        counted = len(every) if all_powers or len(powers) == len(shown) else 0
        title = _titled(power, powers, max(len(powers), counted))
        panels.append(TimePanel(title, "Power", "W", run.time, powers))
    return panels


def _plane(plane: str) -> str:
    letters = "".join(sorted(str(plane)))
    if letters not in ("xy", "xz", "yz"):
        raise MechanismError(Fault("plot of a path", "plane must be 'xy', 'xz' or 'yz'", plane))
    return letters


def _nothing(run: Trajectory, what: str, advice: str = "") -> MechanismError:
    return MechanismError(Fault(f"run of {run.name!r}", f"it holds {what} to plot", None, advice))


def _largest(sizes: FloatArray) -> list[int]:
    """Indices of the largest sizes (n,), in increasing order, without those negligible beside them.

    Among equal sizes the first ones are taken; the very first if all are zero.
    """
    known = np.nan_to_num(sizes)
    order = np.argsort(-known, kind="stable")[:_LINES_MOST]
    count = max(1, int(np.count_nonzero(known[order] > _NOTHING * known.max(initial=0.0))))
    return sorted(order[:count].tolist())


def _sample(run: Trajectory, section: str) -> FloatArray:
    """Some hundred frames of a section, with non-finite numbers set to zero."""
    rows = slice(0, None, max(1, len(run) // _SAMPLE))
    return np.nan_to_num(run.store.read(section, rows=rows), posinf=0.0, neginf=0.0)


def _moving_bodies(run: Trajectory) -> tuple[str, ...]:
    """The bodies whose frames travel farthest."""
    extents = np.ptp(_sample(run, "position"), axis=0).max(axis=1)
    return tuple(run.bodies[number] for number in _largest(extents))


def _moving_coordinates(run: Trajectory, unit: str) -> list[int]:
    """The joint coordinates of a unit that change most."""
    numbers = [k for k, column in enumerate(run.layout.coordinates) if (column.unit or "1") == unit]
    return [numbers[k] for k in _largest(np.ptp(_sample(run, "coordinates")[:, numbers], axis=0))]


def _loaded_joints(run: Trajectory) -> tuple[str, ...]:
    """The joints with the largest reaction forces."""
    forces = np.linalg.norm(_sample(run, "reactions")[:, :, 3:], axis=2).max(axis=0)
    return tuple(run.layout.reactions[number] for number in _largest(forces))


def _loaded(history: Callable[[str], Exerted], names: Sequence[str]) -> tuple[str, ...]:
    """The drives, limits or forces with the largest efforts."""
    efforts = np.array([np.max(np.abs(history(name).effort)) for name in names])
    return tuple(names[number] for number in _largest(efforts))


def _planes_of_motion(paths: Sequence[FloatArray]) -> tuple[str, ...]:
    """The coordinate plane that holds all of the paths (T, 3), or all three planes."""
    extent = np.max([np.subtract(*span_of(path)[::-1]) for path in paths], axis=0)
    still = [letter for letter, size in zip("xyz", extent, strict=True) if size <= _PLANAR * extent.max()]
    if not still:
        return ("xy", "xz", "yz")
    out = "y" if len(still) == 3 else still[-1]  # a line along x is shown in xy
    return ("xyz".replace(out, ""),)


def _rounding(values: FloatArray) -> float:
    """Forces (N) and moments (N m) that count as rounding errors beside these (T, k)."""
    return 1e-10 * float(np.max(np.abs(span_of(values)), initial=0.0))


def _titled(title: str, shown: Sequence[Any], count: int) -> str:
    """The title with the name of the only line, or with how many of all lines are shown."""
    if len(shown) < count:
        return f"{title} ({len(shown)} of {count})"
    return f"{shown[0][0]}: {title[0].lower()}{title[1:]}" if count == 1 else title
