"""The state of a live session at one moment, for any number of front ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bellcrank.compile.model import Model
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.contact_marks import Touching
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.store import FloatArray
from bellcrank.viewer.history import NONE
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.twin import Hold

if TYPE_CHECKING:
    from bellcrank.viewer.adaptive_engine import Adaptivity
    from bellcrank.viewer.engine import LiveEngine


@dataclass(frozen=True)
class Entry:
    """A command line that was done or refused.

    number: counts them. by: who gave it. text: the answer. time: that was shown when it was given, s.
    moment: on the wall, s since 1970.
    """

    number: int
    by: str
    line: str
    text: str
    ok: bool
    time: float = 0.0
    moment: float = 0.0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A session at one moment; immutable.

    number: counts snapshots. status: "paused", "playing", or "failed" with a message that says why.
    time: s. position (nb, 3) and rotation (nb, 4) of all bodies, in the order of `bodies`.
    frame: (1 + width,), everything that was recorded then, as layout tells. past: first and last time, s.
    speed: simulated seconds in a second on the wall, as asked; factor: as achieved, nan where it stands.
    is_late: whether less is achieved than was asked for. inputs: by name, those of hands left out.
    holds: what is dragged, by name of the body. pins: names of pinned bodies. preparing: what is being
    prepared while the run goes on, "" for nothing. work: of hands since the start, J.
    mechanism: what is shown, with numbers in the place of expressions; where edition has changed it is
    another one. moving: whether bodies are shown on the way to where they are. log: the last of what was done
    by command lines. touching: points at which bodies touch. active: names of the joints that moved in the
    last step, of a quasi-static run; None where all may move. marks: of the last move of each front end that
    counts its moves. model: of the run, with hands and pins, if there is one. jogged: whether joints are
    driven by a jog. limits: the joints at whose limits it cannot go on. misfits: joints that cannot all fit.
    adaptivity: of adaptive dynamics, whose frame has the time alone; where bodies are says its tree.
    """

    number: int
    status: str
    message: str
    bodies: tuple[str, ...]
    layout: FrameLayout
    frame: FloatArray
    past: tuple[float, float]
    speed: float
    factor: float
    is_late: bool
    settings: Settings
    formulation: str
    inputs: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    holds: Mapping[str, Hold] = field(default_factory=dict)
    pins: tuple[str, ...] = ()
    preparing: str = ""
    work: float = 0.0
    mechanism: Mechanism | None = None
    edition: int = 0
    moving: bool = False
    log: tuple[Entry, ...] = ()
    touching: Touching = NONE
    active: frozenset[str] | None = None
    marks: Mapping[str, int] = field(default_factory=dict)
    model: Model | None = field(default=None, repr=False)
    jogged: bool = False
    limits: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    adaptivity: Adaptivity | None = None

    @property
    def time(self) -> float:
        """The displayed time, s."""
        return float(self.frame[0])

    @property
    def position(self) -> FloatArray:
        """(nb, 3), m."""
        return self._section("position") if self.adaptivity is None else self.adaptivity.tree.poses()[0]

    @property
    def rotation(self) -> FloatArray:
        """(nb, 4)."""
        return self._section("rotation") if self.adaptivity is None else self.adaptivity.tree.poses()[1]

    def _section(self, name: str) -> FloatArray:
        values: FloatArray = self.frame[self.layout.columns[name]].reshape(self.layout.shapes[name])
        return values


def snapshot_of(engine: LiveEngine, number: int) -> Snapshot:
    """What a live engine shows."""
    past, at = engine.history, len(engine.history) - 1 if engine.shown is None else engine.shown
    frame, motion = past.frames[at].copy(), engine.motion
    if motion is not None and motion.bodies == past.layout.bodies:
        for name, values in zip(("position", "rotation"), motion.pose, strict=True):
            frame[past.layout.columns[name]] = values.ravel()
        frame[0] = frame[0] if motion.time is None else motion.time
    return Snapshot(
        number=number,
        status=engine.status,
        message=engine.message or engine.open,
        bodies=past.layout.bodies,
        layout=past.layout,
        frame=frame,
        past=(float(past.time[0]), float(past.time[-1])),
        speed=engine.pace.speed,
        factor=engine.pace.factor,
        is_late=engine.status == "playing" and engine.pace.is_late,
        settings=engine.settings,
        formulation=engine.settings.formulation if engine.run is None else engine.run.formulation,
        inputs=dict(engine.values),
        parameters={name: one.value for name, one in engine.twin.base.parameters.items()},
        holds=dict(engine.holds),
        pins=tuple(engine.twin.pins),
        preparing=engine.preparing.what,
        work=float(past.work[at]),
        mechanism=engine.numbers,
        edition=engine.edition,
        moving=motion is not None,
        log=engine.log,
        touching=past.touched.at(float(past.time[at])) if motion is None else NONE,
        marks=dict(engine.marks),
        model=None if engine.run is None else engine.run.model,
        jogged=bool(engine.twin.driven),
        limits=() if engine.jog is None else engine.jog.limits,
        misfits=engine.misfits,
    )
