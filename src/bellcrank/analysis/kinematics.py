"""Kinematics and inverse dynamics: the motion of a fully driven mechanism, by its constraints alone.

Inverse dynamics of markers on paths takes two runs. First the motion: the markers are driven along their
paths, and the drives of joints are released. Then the efforts: the released coordinates are driven again, by
functions that match their values, rates and accelerations at every frame, and the paths are removed. At
frames both are exact to the solver's tolerance.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import signature
from time import perf_counter
from typing import Any, Final, Unpack

import numpy as np

from bellcrank.analysis.mobility import DrivenCoordinate, mobility, supplying_coordinates
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.dependence import dead_points
from bellcrank.compile.flank_watch import watched_flanks
from bellcrank.compile.initial import assembled
from bellcrank.compile.model import Model
from bellcrank.compile.rope_watch import first_lost, has_ropes
from bellcrank.compile.standing import refuse_changes
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, FaultList, MechanismError, SimulationError
from bellcrank.formulations.contract import FormulationOptions
from bellcrank.formulations.preparing import check_request, prepare, prepare_positions
from bellcrank.mechanism.checking import Check, nearest, required_names, required_path, required_progress
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.drive import Drive, PathDrive
from bellcrank.mechanism.functions.path import Path
from bellcrank.mechanism.functions.piecewise import Piecewise
from bellcrank.mechanism.joint import JointKind
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import as_marker
from bellcrank.progress import Progress
from bellcrank.run.advance import follow
from bellcrank.run.ending import explain
from bellcrank.run.plan import Method, MethodOptions, check_resolved, checked_times, output_times
from bellcrank.slips import answered
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.observation import observation
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory

_FOLLOWING: Final = MethodOptions(Method("kinematics", 0, True, "Along the constraints."), 0.0, 0.0, 0.0, 0.0)
_OF_MASSES: Final = ("multipliers", "reactions", "kinetic", "potential")
"""Sections of frames that masses and loads determine."""

_ARGUMENTS: Final = ("path", "orientation", "reference")
"""What `Mechanism.add_drive` takes for a marker on a path."""


@answered
def kinematics(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    step: float | None = None,
    *,
    times: Any = None,
    formulation: str = "auto",
    start: float = 0.0,
    path: str | pathlib.Path | None = None,
    progress: bool | Callable[[float], None] = False,
    **options: Unpack[FormulationOptions],
) -> Trajectory:
    """Positions, velocities and accelerations of a mechanism whose drives determine its motion.

    They satisfy the constraints at every recorded time to the solver's tolerance; nothing is integrated, so
    no error accumulates. Masses and forces have no influence, and the masses of bodies need not be known
    (`Body.mass_known`): efforts of drives and energies are not numbers then.

    duration, start: s. step: between frames, s; by default a thousandth of the duration. times: of the
        frames, s, in place of these two, increasing.
    formulation, path, progress, options: as for `simulate`.

    Raises Unsupported for a formulation that cannot take the mechanism; MechanismError naming the
    coordinates that no drive prescribes, if there are any; AssemblyError if the mechanism cannot be
    assembled; SimulationError, with what was computed, where the motion cannot go on.

    >>> run = bc.kinematics(slider_crank, duration=2 * np.pi / 10)
    >>> travel = run.joint("guide").position[:, 0]
    >>> print(f"{np.ptp(travel):.4f} m")    # the stroke: twice the crank
    0.2000 m
    """
    times = _Times.of(duration, step, start, times)
    return _run(mechanism, times, formulation, path, progress, options, dynamics=False)


@answered
def inverse_dynamics(
    mechanism: Mechanism | Model,
    duration: float | None = None,
    step: float | None = None,
    *,
    times: Any = None,
    along: Mapping[Any, Any] | None = None,
    keep: Iterable[str] = (),
    formulation: str = "auto",
    start: float = 0.0,
    path: str | pathlib.Path | None = None,
    progress: bool | Callable[[float], None] = False,
    **options: Unpack[FormulationOptions],
) -> Trajectory:
    """Compute the drive efforts and joint reactions that the motion of a fully driven mechanism requires.

    along: markers, or their names, and the path that each follows: a `Path`, three functions of time, or a
        dict of path, orientation and reference as `Mechanism.add_drive` takes them. Drives of joints are
        released and follow the motion, and all of them supply its efforts; what lacks one, motors or else
        joints that turn or slide along axes: `run.drive(name).effort`, by the name of the drive or joint. The
        paths exert nothing. keep: names of drives that stay as they are. Refuses what nothing supplies.

    The other arguments and errors are those of `kinematics`.

    >>> run = bc.inverse_dynamics(slider_crank, duration=2 * np.pi / 10)
    >>> torque = run.drive("motor").effort
    >>> print(f"{torque.max():.3f} N m, {abs(torque[:-1].mean()):.6f} N m on average")    # nothing is lost
    1.384 N m, 0.000000 N m on average
    """
    times = _Times.of(duration, step, start, times)
    if along is None:
        if required_names("keep", keep):
            advice = "without paths all drives go on"
            raise MechanismError(Fault("keep", "it is for markers on paths: give along=", keep, advice))
        return _run(mechanism, times, formulation, path, progress, options, dynamics=True)
    required_progress("inverse_dynamics", progress)
    if path is not None:
        required_path("inverse_dynamics, path", path)

    driven, bare, driving = _on_paths(mechanism, along, keep, times.start)
    motion = _run(driven, times, formulation, None, False, options, dynamics=False)
    model = _driven_along(bare, motion, driving)
    return _run(model, times, formulation, path, progress, options, dynamics=True)


@dataclass(frozen=True)
class _Times:
    """The times of frames, s; start: of the drives' time, from where the mechanism is followed."""

    start: float
    frames: Floats

    @staticmethod
    def of(duration: Any, step: Any, start: Any, times: Any) -> _Times:
        """From a duration and a step, None for a thousandth of it; or from times."""
        with Check("kinematics") as check:
            start = check.number("start", start, "s")
            if times is not None:
                frames = checked_times(check, times, start)
                for name, value in (("duration", duration), ("step", step)):
                    if value is not None:
                        rule = f"times determine it, so {name} has no meaning"
                        check.fault(rule, value, "leave one of them out")
                check.faults.raise_any()
                return _Times(start, frames)
            if duration is None:
                check.fault("it needs a duration, or times", None, "such as duration=1.0")
                check.faults.raise_any()
            duration = check.positive("duration", duration, "s")
            step = None if step is None else check.positive("step", step, "s")
            check_resolved(check, start, duration, step=step)
        return _Times(start, output_times(start, duration, step, _FOLLOWING))

    @property
    def followed(self) -> Floats:
        """The times of frames, and the start, from where the mechanism gets to the first."""
        return self.frames if self.frames[0] == self.start else np.insert(self.frames, 0, self.start)

    def only(self, record: Callable[..., None]) -> Callable[..., None]:
        """`record`, without the frame at the start where that was not asked for."""
        first = float(self.frames[0])
        return record if first == self.start else lambda frames: record(frames[frames[:, 0] >= first])

    @property
    def duration(self) -> float:
        """From the start to the last frame, s."""
        return float(self.frames[-1]) - self.start


def _run(
    mechanism: Mechanism | Model,
    times: _Times,
    formulation: str,
    path: str | pathlib.Path | None,
    progress: bool | Callable[[float], None],
    options: Mapping[str, Any],
    dynamics: bool,
) -> Trajectory:
    required_progress("kinematics", progress)
    if path is not None:
        required_path("kinematics, path", path)
    check_request(formulation, options, signature(kinematics).parameters, "kinematics")
    model = _driven(mechanism, times.start)
    system = (prepare if dynamics else prepare_positions)(model, formulation, **options)
    system.project()
    what = observation(model, reactions=dynamics, accelerations=True)
    recorder = Recorder(what.layout, path, description=Origin.of_model(model))
    begun = perf_counter()
    with Progress(progress, times.start, times.duration) as shown, recorder:
        take = times.only(_without_loads(model, what.layout, recorder.on_block))
        outcome = follow(system.core, times.followed, what.core, take, shown.at)
    explained = explain(model, system.core, _FOLLOWING, outcome)
    trajectory = recorder.finish(
        {
            "status": outcome.status,
            "message": explained.message,
            "formulation": system.formulation,
            "method": "kinematics",
            "steps": outcome.steps,
            "rejected_steps": outcome.rejected,
            "wall_seconds": perf_counter() - begun,
            "redundant_rows": ", ".join(map(str, system.stats.dropped)),
        }
    )
    if outcome.status not in ("finished", "interrupted"):
        raise SimulationError(explained.message, outcome.time, explained.body, trajectory, explained.row)
    _refuse_lost_ropes(model, trajectory)
    if dynamics:
        _refuse_pulling_teeth(model, trajectory)
    return trajectory


def _refuse_pulling_teeth(model: Model, found: Trajectory) -> None:
    """Raise SimulationError for gears whose teeth would have to pull."""
    multipliers = np.asarray(found.store.read("multipliers"))
    for watch in watched_flanks(model, slice(0, multipliers.shape[1])):
        if (bad := watch.first_bad(multipliers)) is not None:
            time = float(found.time[bad])
            raise SimulationError(f"at t = {time:.6g} s: {watch.message}", time, None, found)


def _refuse_lost_ropes(model: Model, found: Trajectory) -> None:
    """Raise SimulationError for ropes and belts that lose their meaning on the way."""
    if not has_ropes(model):
        return
    poses, values = found.store.read("position"), found.store.read("coordinates")
    angles = np.hstack([values, found.store.read("angles")])[:, list(found.layout.turning)]
    lost = first_lost(model, poses, found.store.read("rotation"), angles)
    if lost is not None:
        time = float(found.time[lost[0]])
        raise SimulationError(f"singular at t = {time:.6g} s: {lost[1]}", time, None, found)


def _without_loads(model: Model, layout: FrameLayout, record: Callable[..., None]) -> Callable[..., None]:
    """`record`, with "not a number" for what depends on masses where these are not known."""
    if not model.unweighed:
        return record

    def cleared(frames: Floats, contacts: Floats | None = None) -> None:
        known = frames.copy()
        for section in _OF_MASSES:
            known[:, layout.columns[section]] = np.nan
        record(known, contacts)

    return cleared


def _driven(mechanism: Mechanism | Model, start: float) -> Model:
    """The assembled model. Raises MechanismError if drives do not prescribe all motion."""
    refuse_changes(mechanism.source if isinstance(mechanism, Model) else mechanism, "kinematics")
    model = mechanism if isinstance(mechanism, Model) else compile_mechanism(mechanism, start)
    model, _ = assembled(
        model if model.initial.time == start else model.started(model.initial.at_time(start))
    )
    found = mobility(model)
    if found.count > 0:
        names = ", ".join(found.independent[:8]) or "too many to name"
        dead = dead_points(model, model.initial)
        left = "1 degree of freedom" if found.count == 1 else f"{found.count} degrees of freedom"
        raise MechanismError(
            Fault(
                f"mechanism {model.name!r}",
                f"its drives leave {left} open",
                None,
                f"{f'{dead}; ' if dead else ''}drive what is free, for instance: {names}; or use bc.simulate",
            )
        )
    if found.of_positions > 0:
        rule = f"its drives prescribe velocities only: {found.of_positions} positions are open"
        advice = "positions follow from velocities by integration, which bc.simulate does"
        raise MechanismError(Fault(f"mechanism {model.name!r}", rule, None, advice))
    return model


def _on_paths(
    mechanism: Mechanism | Model, along: Mapping[Any, Any], kept: Iterable[str], start: float
) -> tuple[Model, Mechanism, tuple[DrivenCoordinate, ...]]:
    """The model driven along the paths, assembled; the mechanism without its drives; what is to drive it.

    kept: names of drives that stay as they are. Raises MechanismError for all faults of the paths, and if
    paths and drives leave degrees of freedom open.
    """
    if not isinstance(mechanism, Mechanism):
        raise MechanismError(Fault("inverse_dynamics", "paths need a Mechanism, not its Model"))
    held = required_names("keep", kept)
    faults = FaultList()
    for name in held:
        if name not in mechanism.drives:
            rule = "there is no drive of this name"
            faults.add(f"keep {name!r}", rule, None, nearest(str(name), mechanism.drives))
        elif not isinstance(mechanism.drives[name], Drive):
            faults.add(f"keep {name!r}", "only drives of joints can go on", None, "give its path in along=")
    bare = mechanism.copy()
    for name, drive in mechanism.drives.items():
        if name not in held:
            bare.remove(drive)
    driven = bare.copy()
    if not isinstance(along, Mapping) or not along:
        faults.add("along", "it must name markers and their paths", along, "such as {'hand': bc.Path(...)}")
    else:
        for number, (marker, given) in enumerate(along.items(), start=1):
            with faults.collect():
                _add_path(driven, marker, given, number)
    faults.raise_any()
    _check_paths_go_on(mechanism, along, held, faults)
    faults.raise_any()
    refuse_changes(mechanism, "inverse dynamics")
    own, _ = assembled(compile_mechanism(mechanism, start))
    driving = tuple(one for one in supplying_coordinates(own, own.initial) if one.name not in held)
    for one in driving:
        _measure(driven, one)
    # What joints were given to start with has placed them; paths may take them elsewhere.
    there, _ = assembled(compile_mechanism(driven, start).started(own.initial))
    found = mobility(there)
    if found.count > 0:
        names = ", ".join(found.independent[:8])
        rule = f"its paths and drives leave {found.count} degrees of freedom open"
        advice = f"give an orientation, another path, or keep=[...] drives of what is free: {names}"
        raise MechanismError(Fault(f"mechanism {mechanism.name!r}", rule, None, advice))
    return there, bare, driving


def _check_paths_go_on(
    mechanism: Mechanism, along: Mapping[Any, Any], held: Iterable[str], faults: FaultList
) -> None:
    """Faults of drives along paths that another path does not replace: the motion would lack them."""
    given = [as_marker(mechanism, f"along {marker!r}", marker) for marker in along]
    for name, drive in mechanism.drives.items():
        if isinstance(drive, PathDrive) and name not in held and drive.marker not in given:
            rule = "it moves a marker that has no path in along="
            faults.add(f"drive {name!r}", rule, None, "give its path there as well, or remove it")


def _measure(driven: Mechanism, one: DrivenCoordinate) -> None:
    """Add a joint without rows that shows a coordinate, where no joint does."""
    if isinstance(one.which, int):
        return
    joint = driven.joints[one.joint]
    shown = type("Measured", (_Measured,), {"free": (one.which,), "__module__": __name__})
    driven.add_joint(_measuring(one), shown(joint.kind), joint.marker_1, joint.marker_2)


@dataclass(frozen=True)
class _Measured(JointKind):
    """A joint that holds nothing and shows a coordinate of another one's markers."""

    of: JointKind

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """As the other joint has it."""
        return self.of.coordinate(name, marker_1, marker_2)


def _measuring(one: DrivenCoordinate) -> str:
    return f"{one.joint} {one.which} of {one.name}"


def _add_path(driven: Mechanism, marker: Any, given: Any, number: int) -> None:
    """A drive along a path. given: a Path, three functions of time, or arguments of `add_drive` by name."""
    arguments: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"path": given}
    if unknown := [name for name in arguments if name not in _ARGUMENTS]:
        rule = f"a path takes {', '.join(_ARGUMENTS)}"
        raise MechanismError(Fault(f"along {marker!r}", rule, ", ".join(map(str, unknown))))
    path: Any = arguments.get("path")
    if not isinstance(path, Path):
        arguments["path"] = Path(path)
    name = f"path {number}"
    while name in driven.drives:
        name += "'"
    driven.add_drive(name, marker=marker, **arguments)


def _driven_along(bare: Mechanism, motion: Trajectory, driving: tuple[DrivenCoordinate, ...]) -> Model:
    """The mechanism whose own coordinates follow a motion, where that motion begins.

    At every frame a drive has the value, rate and acceleration that its coordinate has there; between two
    frames the polynomial of degree five that meets both.
    """
    columns = [_column(motion, one) for one in driving]
    values, rates, accelerations = (
        motion.store.read(section)[:, columns]
        for section in ("coordinates", "rates", "coordinate_accelerations")
    )
    driven = bare.copy()
    for k, one in enumerate(driving):
        place = _meeting(motion.time, values[:, k], rates[:, k], accelerations[:, k])
        driven.add_drive(one.name, joint=one.joint, coordinate=one.which, position=place)
    begin = float(motion.time[0])
    return compile_mechanism(driven, begin).started(motion.at(begin))


def _meeting(time: Floats, value: Floats, rate: Floats, acceleration: Floats) -> Piecewise:
    """Quintic Hermite pieces; a last one begins at the last frame, so that all frames are beginnings.

    With d = p(h) - (value + rate h + acceleration h^2/2) and its two derivatives d' and d'' at the end of a
    piece, the coefficients of s^3, s^4, s^5 are

        (10 d - 4 d' h + d'' h^2/2)/h^3,  (-15 d + 7 d' h - d'' h^2)/h^4,  (6 d - 3 d' h + d'' h^2/2)/h^5 .
    """
    h = np.diff(time)
    taylor = value[:-1] + h * (rate[:-1] + 0.5 * h * acceleration[:-1])
    d = value[1:] - taylor
    d1 = (rate[1:] - rate[:-1] - h * acceleration[:-1]) * h
    d2 = (acceleration[1:] - acceleration[:-1]) * h * h
    rest = np.stack(
        [(10 * d - 4 * d1 + d2 / 2) / h**3, (-15 * d + 7 * d1 - d2) / h**4, (6 * d - 3 * d1 + d2 / 2) / h**5]
    )
    rest = np.concatenate([rest, np.zeros((3, 1))], axis=1)
    rows = np.stack([value, rate, 0.5 * acceleration, *rest], axis=1)
    breaks = [*time.tolist(), float(time[-1] + h[-1])]
    return Piecewise(tuple(breaks), tuple(map(tuple, rows.tolist())), "linear")


def _column(motion: Trajectory, one: DrivenCoordinate) -> int:
    """The place of the coordinate of a one among those of a run."""
    if isinstance(one.which, str):
        return int(motion.layout.joint_coordinates[_measuring(one)].start)
    first: int = motion.layout.joint_coordinates[one.joint].start
    return first + one.which
