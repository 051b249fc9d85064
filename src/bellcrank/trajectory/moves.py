"""Runs that record only what moved: frames of varying length, poses of selected bodies.

In HDF5 files, written whole, they are

/            attributes: format = "bellcrank moves", version = 4, bellcrank, mechanism (its name),
start (time of the mechanism's initial configuration, s), status, message
/description text of the mechanism file
/SECTION     one data set for each of the fields of `_core.MoveRecord`, with attributes unit and meaning
/statistics  attributes: what was counted

Version 2, of quasi-static runs alone, has no sections error, lost and free; version 3 no energies.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.compile.state import Ints, State
from bellcrank.errors import Fault, FaultList, MechanismError
from bellcrank.mechanism.given import MarkerLike
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation import IDENTITY
from bellcrank.mechanism.rotation_arrays import product, rotate
from bellcrank.slips import answering
from bellcrank.trajectory.clusters import heads
from bellcrank.trajectory.histories import named
from bellcrank.trajectory.markers import marker_in
from bellcrank.trajectory.move_energy import MoveEnergy
from bellcrank.trajectory.origin import Origin
from bellcrank.trajectory.own_file import OwnFile, check_recorded
from bellcrank.trajectory.pictures import Shown
from bellcrank.trajectory.store import FloatArray, read_only
from bellcrank.trajectory.trajectory import Status, Trajectory

if TYPE_CHECKING:
    from bellcrank.trajectory.checked_file import CheckedFile

_VERSION: Final = 4
_FROM_3: Final = ("error", "lost", "free")
_FROM_4: Final = ("kinetic", "potential", "work")
"""Sections that earlier versions do not have."""


@answering
class MoveTrajectory(Shown):
    """Results of a quasi-static or adaptive run, a record of what moved: T frames at increasing times, SI.

    origin: the mechanism of the run. status: how the run ended. statistics: what was counted.
    sections: arrays by name, the fields of `_core.MoveRecord`. The first frame holds all joints, each
    later one those that moved since the one before it; every pose of every frame follows exactly. World axes.

    >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
    >>> run
    <MoveTrajectory of 'chain of 20': 6 frames, finished>
    >>> len(run.bodies), run.span()
    (20, (0.0, 0.05))
    """

    def __init__(
        self,
        origin: Origin,
        sections: Mapping[str, Any],
        status: Status | str = "finished",
        statistics: Mapping[str, str | int | float] | None = None,
        model: Model | None = None,
    ) -> None:
        self.origin = origin
        self.sections = MappingProxyType(dict(sections))
        self.status = status if isinstance(status, Status) else Status(status)
        self.statistics = MappingProxyType(dict(statistics or {}))
        self._given = model
        self._at = -1  # the frame that the replay is at

    def __len__(self) -> int:
        return len(self.sections["time"])

    def __repr__(self) -> str:
        return f"<MoveTrajectory of {self.model.name!r}: {len(self)} frames, {self.status}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return MoveTrajectory, (self.origin, dict(self.sections), self.status, dict(self.statistics))

    @cached_property
    def model(self) -> Model:
        """The mechanism compiled."""
        return self.origin.model if self._given is None else self._given

    @property
    def time(self) -> FloatArray:
        """(T,), s."""
        return read_only(self.sections["time"])

    @property
    def error(self) -> FloatArray:
        """(T,), the error of the accelerations of the step before each frame, in the run's measure; first 0.

        The unit is that of `statistics["measure"]`. Raises MechanismError for a file of an earlier version.
        """
        return read_only(self._section("error"))

    @property
    def free(self) -> Ints:
        """(T,), how many joints could move in the step before each frame.

        Of a quasi-static run those whose accelerations were computed. Raises as `error`.
        """
        view: Ints = self._section("free").view()
        view.flags.writeable = False
        return view

    @property
    def lost_energy(self) -> FloatArray:
        """(T,), the kinetic energy that locking joints had taken since the start, J.

        Raises MechanismError for a quasi-static run: its steps start at rest, whatever the one before it did.
        """
        if self._rests:
            rule = "each of its steps starts at rest, so it counts no energy"
            advice = "runs with formulation='adaptive' and without mode='quasistatic' do"
            raise MechanismError(Fault(f"quasi-static run of {self.name!r}", rule, None, advice))
        return read_only(self._section("lost"))

    @property
    def energy(self) -> MoveEnergy:
        """Kinetic and potential energy, work and losses in each frame; raises as `lost_energy`.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.5, formulation="adaptive", step=1e-3, max_error=0.1)
        >>> run.energy
        <energy, 501 frames>
        """
        lost = self.lost_energy
        kinetic, potential, work = (read_only(self._section(name)) for name in _FROM_4)
        return MoveEnergy(kinetic, potential, work, lost)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.model.name

    def span(self) -> tuple[float, float]:
        """First and last time, s. Raises MechanismError for a run without frames.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.span()
        (0.0, 0.05)
        """
        if len(self) == 0:
            raise MechanismError(Fault(f"run of {self.name!r}", "it holds no frames"))
        return float(self.time[0]), float(self.time[-1])

    def at(self, time: float) -> State:
        """The state in the last frame up to a time, s. Raises MechanismError outside the run.

        A quasi-static run is at rest; velocities of an adaptive run are nan, since it records none.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> state = run.at(0.03)
        >>> state.position.shape, abs(state.velocity).max().tolist()    # at rest
        ((20, 3), 0.0)
        """
        first, last = self.span()
        if not first <= time <= last * (1.0 + 1e-12):
            rule = f"the run goes from t = {first:g} s to {last:g} s, this time lies outside"
            raise MechanismError(Fault(f"run of {self.name!r}", rule, time))
        self._replay_to(self.frame_at(time))
        poses = [self._replay.pose(self.model.core, number) for number in range(len(self.bodies))]
        position = np.array([one for one, _ in poses]).reshape(-1, 3)
        still = np.full_like(position, 0.0 if self._rests else np.nan)
        return State(time, position, np.array([one for _, one in poses]).reshape(-1, 4), still, still)

    def frame_at(self, time: float) -> int:
        """The number of the last frame up to a time, s.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.frame_at(0.035)    # frames are 0.01 s apart
        3
        """
        return max(int(np.searchsorted(self.time, time, "right")) - 1, 0)

    def active(self, time: float, since: float | None = None) -> frozenset[str]:
        """Joints that moved in the last frame up to a time, s, or since an earlier one; none at the start."""
        last = self.frame_at(time)
        first = last if since is None else self.frame_at(since) + 1
        found = (self.moved(frame) for frame in range(max(first, 1), last + 1))
        return frozenset(name for names in found for name in names if name)

    def clusters(self, time: float, since: float | None = None) -> Ints:
        """Which bodies moved as one in the last frame up to a time, s, or since an earlier one; (nb,).

        Per body the number of the first of those that it moved with, -1 for those that stand on the ground:
        joints within them did not move. At the start these are all but floating bodies and what they carry.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.2, step=0.01, formulation="adaptive", max_error=0.1)
        >>> numbers = run.clusters(0.2)
        >>> len(numbers), len(set(numbers.tolist())) == len(run.active(0.2))
        (20, True)
        """
        active = self.active(time, since)
        moves = np.array([not name or name in active for name in self.joints], dtype=bool)
        return heads(self.carriers, moves)

    @cached_property
    def carriers(self) -> Ints:
        """(nb,), per body the number of the one that carries it in the tree; -1 for the ground."""
        found, ground = np.full(len(self.bodies), -1), len(self.bodies)
        for body, name in enumerate(self.joints):
            if name:
                one, two = self.model.joint(name).bodies
                found[body] = one if two == body else two
        return np.where(found == ground, -1, found)

    def body_poses(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Positions (T, 3), m, and rotations (T, 4) of a body's frame in all frames."""
        position, rotation = self.poses(body)
        return position[:, 0], rotation[:, 0]

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers on bodies, "body.name"."""
        return tuple(name for name, one in self.origin.mechanism.markers.items() if one.body in self.bodies)

    def marker(self, marker: MarkerLike) -> tuple[FloatArray, FloatArray]:
        """Positions (T, 3), m, and rotations (T, 4) of a marker in all frames, in world axes.

        marker: as in `Trajectory.marker`. Raises MechanismError with close matches for an unknown name.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> positions, rotations = run.marker(run.bodies[-1])    # the frame of the last link
        >>> positions.shape, rotations.shape
        ((6, 3), (6, 4))
        """
        _, found = marker_in(self.origin, self.bodies, "marker", marker)
        position, rotation = np.zeros((len(self), 3)), np.tile(IDENTITY, (len(self), 1))
        if found.body != GROUND:
            position, rotation = self.body_poses(found.body)
        place, turn = np.asarray(found.position), np.asarray(found.rotation)
        return read_only(position + rotate(rotation, place)), read_only(product(rotation, turn))

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies."""
        return self.model.bodies

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """For each body, the name of the joint that carries it; empty for a floating body."""
        return joint_names(self.model, self._replay.blocks())

    @cached_property
    def _carried(self) -> dict[str, int]:
        """The body that each joint carries."""
        return {name: body for body, name in enumerate(self.joints)}

    def moved(self, frame: int) -> tuple[str, ...]:
        """Names of the joints that moved since the frame before, of all in the first.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> len(run.moved(0)), len(run.moved(1)) <= 20    # all are in the first frame
        (20, True)
        """
        return tuple(self.joints[body] for body in self._rows(self._number(frame))[0])

    def pose(self, body: str, frame: int = -1) -> tuple[FloatArray, FloatArray]:
        """Position (3,), m, and rotation (4,) of a body's frame in a frame of the run.

        Raises MechanismError with close matches for an unknown name, or if there is no such frame.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> position, rotation = run.pose(run.bodies[-1])
        >>> print(np.linalg.norm(rotation).round(9))
        1.0
        """
        self._replay_to(self._number(frame))
        return self._replay.pose(self.model.core, self._body(body))

    def poses(self, bodies: str | Iterable[str]) -> tuple[FloatArray, FloatArray]:
        """Positions (T, n, 3), m, and rotations (T, n, 4) of n bodies in all frames; raises as `pose`.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> position, rotation = run.poses(run.bodies[:2])
        >>> position.shape, rotation.shape
        ((6, 2, 3), (6, 2, 4))
        """
        numbers = [self._body(name) for name in ([bodies] if isinstance(bodies, str) else bodies)]
        position = np.empty((len(self), len(numbers), 3))
        rotation = np.empty((len(self), len(numbers), 4))
        for frame in range(len(self)):
            self._replay_to(frame)
            for place, number in enumerate(numbers):
                position[frame, place], rotation[frame, place] = self._replay.pose(self.model.core, number)
        return position, rotation

    def joint(self, name: str) -> FloatArray:
        """Coordinates (T, c) of a joint: slides, then its turn, m, rad; a ball's is a quaternion.

        Raises MechanismError with close matches for an unknown name.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.joint(run.joints[0]).shape
        (6, 1)
        """
        body, widths = self._carried[named("joint", name, self._carried)], self._widths
        rows = np.flatnonzero(self.sections["body"] == body)
        begins = np.concatenate([[0], np.cumsum(widths[self.sections["body"]])])
        frames = np.searchsorted(self.sections["rows"], rows, side="right") - 1
        last = rows[np.searchsorted(frames, np.arange(len(self)), side="right") - 1]
        return read_only(self.sections["value"][begins[last, None] + np.arange(widths[body])])

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write the run into an HDF5 file (.h5, .hdf5), whole.

        replace: whether it may replace an existing run of this kind. Raises MechanismError if that fails, for
        another suffix, and for a file that exists and must not be replaced.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.save("chain.h5", replace=True)
        >>> bc.MoveTrajectory.load("chain.h5").span() == run.span()
        True
        """
        check_recorded(path)
        path = Path(path)
        own = None
        try:
            own = OwnFile(path, _judge_old, replace)
            own.begin(_content(self))
            own.sync()
            own.take_name()
        except OSError as error:
            raise MechanismError(Fault(f"file '{path}'", f"it cannot be written: {error}")) from error
        finally:
            if own is not None:
                own.release()

    @staticmethod
    def load(path: str | Path) -> MoveTrajectory:
        """Read a run from a file. Raises MechanismError for a damaged file or one without such a run.

        >>> run = bc.simulate(bc.gallery.chain(20), 0.05, step=0.01, mode="quasistatic", max_error=0.1)
        >>> run.save("chain.h5", replace=True)
        >>> bc.MoveTrajectory.load("chain.h5")
        <MoveTrajectory of 'chain of 20': 6 frames, finished>
        """
        from bellcrank.trajectory.checked_file import CheckedFile

        with CheckedFile(Path(path)) as file:
            version = _check_format(file)
            absent = (*(_FROM_3 if version < 3 else ()), *(_FROM_4 if version < 4 else ()))
            sections = {
                name: file.numbers(name, empty.dtype.kind, (None,))
                for name, _, _, _, empty, _ in _core.MoveRecord.fields()
                if name not in absent
            }
            origin = Origin(file.text("description"), start=file.attribute("start", float))
            status = Status(file.attribute("status", str), file.attribute("message", str))
            run = MoveTrajectory(origin, sections, status, file.attributes("statistics"))
            _check(file, run)
            return run

    @property
    def _rests(self) -> bool:
        """Whether it is quasi-static."""
        return self.statistics.get("mode") != "adaptive"

    def _section(self, name: str) -> Any:
        if name not in self.sections:
            rule = "its file is of an earlier version, which does not hold this"
            raise MechanismError(Fault(f"run of {self.name!r}", rule, None, "simulate again"))
        return self.sections[name]

    @cached_property
    def _replay(self) -> _core.MoveReplay:
        return _core.MoveReplay(self.model.core)

    @cached_property
    def _widths(self) -> np.ndarray:
        return np.array(self._replay.widths())

    def _number(self, frame: int) -> int:
        if not -len(self) <= frame < len(self):
            rule = f"it has {len(self)} frames, and not this one"
            raise MechanismError(Fault(f"run of {self.model.name!r}", rule, frame))
        return frame % len(self)

    def _body(self, name: str) -> int:
        return self.model.body_index[named("body", name, self.model.body_index)]

    def _rows(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        rows, values = (self.sections[name][frame : frame + 2] for name in ("rows", "values"))
        return self.sections["body"][slice(*rows)], self.sections["value"][slice(*values)]

    def _replay_to(self, frame: int) -> None:
        if frame < self._at:
            self._at = -1
        while self._at < frame:
            self._at += 1
            self._replay.apply(*self._rows(self._at))


def joint_names(model: Model, carrying: Iterable[int]) -> tuple[str, ...]:
    """Names of joints from blocks of their rows; empty for -1, as of a floating body."""
    names = {block: joint.name for joint in model.joints for block in joint.blocks}
    return tuple(names.get(block, "") for block in carrying)


def _content(run: MoveTrajectory) -> bytes:
    import h5py

    from bellcrank.trajectory.run_file import MOVES_FORMAT, fixed_texts

    with h5py.File("moves", "w", libver="latest", driver="core", backing_store=False) as file:
        file.attrs.update(
            format=fixed_texts(MOVES_FORMAT),
            version=_version_of(run.sections),
            bellcrank=fixed_texts(version("bellcrank")),
            mechanism=fixed_texts(run.model.name),
            start=run.origin.start,
            status=fixed_texts(run.status),
            message=fixed_texts(run.status.message),
        )
        file["description"] = fixed_texts(run.origin.text)
        for name, _, unit, meaning, *_ in _core.MoveRecord.fields():
            if name not in run.sections:
                continue
            data = file.create_dataset(name, data=run.sections[name])
            data.attrs.update(unit=fixed_texts(unit), meaning=fixed_texts(meaning))
        statistics = {n: fixed_texts(v) if isinstance(v, str) else v for n, v in run.statistics.items()}
        file.create_group("statistics").attrs.update(statistics)
        file.flush()
        content: bytes = file.id.get_file_image()
        return content


def _version_of(sections: Mapping[str, Any]) -> int:
    """The first version that has all of these sections."""
    if any(name not in sections for name in _FROM_3):
        return 2
    return _VERSION if all(name in sections for name in _FROM_4) else 3


def _judge_old(path: Path) -> None:
    """Raise MechanismError for a file that is not a record of moves, and must not be overwritten."""
    from bellcrank.trajectory.checked_file import CheckedFile

    if path.stat().st_size == 0:
        return
    try:
        with CheckedFile(path) as file:
            _check_format(file)
    except MechanismError as error:
        rule = "it exists and is not a recorded quasi-static or adaptive run, so it is not overwritten"
        raise MechanismError(Fault(f"file '{path}'", rule, None, "choose another name")) from error


def _check_format(file: CheckedFile) -> int:
    """The version of a file."""
    from bellcrank.trajectory.run_file import MOVES_FORMAT

    if file.attribute("format", str, default="") != MOVES_FORMAT:
        rule = "it holds no quasi-static and no adaptive run"
        raise file.error(rule, advice="runs with velocities are read by bc.Trajectory.load")
    return file.check_version(_VERSION, 2)


def _check(file: CheckedFile, run: MoveTrajectory) -> None:
    """Raise MechanismError if sections do not match each other or the mechanism."""
    faults, sections = FaultList(), run.sections
    frames, count = len(sections["time"]), len(run.model.bodies)
    widths = np.array(_core.MoveReplay(run.model.core).widths())

    def fault(rule: str, value: Any) -> None:
        with faults.collect():
            raise file.error(rule, value)

    if not np.all(np.isfinite(sections["time"])) or np.any(np.diff(sections["time"]) <= 0.0):
        fault("'time' must increase", None)
    if not np.all(np.isfinite(sections["value"])):
        fault("'value' must be finite", None)
    for name in (name for name in (*_FROM_3, *_FROM_4) if name in sections):
        found = sections[name]
        if len(found) != frames or (name in _FROM_3 and not np.all(found >= 0)):
            fault(f"{name!r} must be {frames} numbers{' from 0 up' * (name in _FROM_3)}", None)
    body = sections["body"]
    if body.size and not 0 <= body.min() <= body.max() < count:
        fault(f"'body' must be from 0 to {count - 1}", int(body.max()))
    faults.raise_any()
    begins = np.concatenate([[0], np.cumsum(widths[body])])
    for name, length in (("rows", len(body)), ("values", len(sections["value"]))):
        found = sections[name]
        if len(found) != frames + 1 or found[0] != 0 or found[-1] != length or np.any(np.diff(found) < 0):
            fault(f"{name!r} must rise from 0 to {length} in {frames + 1} steps", None)
    faults.raise_any()
    if np.any(begins[sections["rows"]] != sections["values"]):
        fault("'values' does not fit the joints that moved", None)
    if not np.array_equal(np.unique(body[: sections["rows"][min(1, frames)]]), np.arange(count)):
        fault("the first frame must hold all joints", None)
    faults.raise_any()


def run_in(path: str | Path) -> Trajectory | MoveTrajectory:
    """The run in a file, of either kind. Raises MechanismError for a damaged file or one without a run."""
    from bellcrank.trajectory.checked_file import CheckedFile
    from bellcrank.trajectory.run_file import MOVES_FORMAT

    with CheckedFile(Path(path)) as file:
        moves = file.attribute("format", str, default="") == MOVES_FORMAT
    return MoveTrajectory.load(path) if moves else Trajectory.load(path)
