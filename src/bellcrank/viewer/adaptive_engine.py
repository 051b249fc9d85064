"""The engine of a live session with adaptive dynamics: few joints of a tree are free, and the error is known.

It keeps no past of poses, which would be as wide as the mechanism at every frame, but that of a few numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, Ints
from bellcrank.errors import BellcrankError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.run.adaptive import LARGE, preferred
from bellcrank.run.simulate import start_unrecorded
from bellcrank.trajectory.layout import FrameLayout
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.names import known
from bellcrank.viewer.pace import Pace
from bellcrank.viewer.settings import LIVE_STEP, Settings
from bellcrank.viewer.snapshot import Snapshot
from bellcrank.viewer.tree_motion import TreeMotion
from bellcrank.viewer.twin import Hold, firmness, size_of

_PATIENCE: Final = 0.25  # s on the wall for a part, beyond which commands would wait too long
_LOOK: Final = 0.02  # s on the wall between looks at the clock within a part
_REACH: Final = 3.0  # distances between joined bodies: a hand pulls no harder at what is farther away
_KEPT: Final = 36_000  # numbers of the past
_WITHOUT: Final = (
    "formulation", "duration", "output_step", "controllers", "events", "path", "mode", "reactions",
    "accelerations", "ledger", "rtol", "atol", "tolerance", "max_step",
)  # fmt: skip
SERIES: Final = (("error", "rms"), ("free joints", "1"), ("lost energy", "J"), ("kinetic energy", "J"))
"""What is kept of the past, with units; the error has that of its measure."""


@dataclass(frozen=True)
class Adaptivity:
    """What an adaptive run leaves out at a moment, and what it may.

    error: of the accelerations, in the measure; max_error: what it may be. free: number of joints that are;
    joints: of all. max_joints: that may be, None for as many as the error takes. is_bounded: whether this
    keeps the error above what was asked for. lost, kinetic: energy, J. max_loss: W, None for 1 % of the
    kinetic energy per second. tree: where the bodies are. hands: (n, 7), number of the body that one holds,
    where it holds it and where it pulls it to, m.
    """

    error: float
    max_error: float
    measure: str
    free: int
    joints: int
    max_joints: int | None
    is_bounded: bool
    lost: float
    kinetic: float
    max_loss: float | None
    tree: TreeMotion
    hands: Floats


def is_adaptive(mechanism: Mechanism, arguments: Mapping[str, Any]) -> bool:
    """Whether a session of a mechanism is one with adaptive dynamics. arguments: of `bc.simulate`."""
    name, error = arguments.get("formulation") or "auto", arguments.get("max_error")
    if name != "auto" or not isinstance(error, (int, float)) or len(mechanism.joints) < LARGE:
        return bool(name == "adaptive")
    usual = {"method": "auto", "step": LIVE_STEP, "output_step": None, "duration": None}
    model = compile_mechanism(mechanism, float(arguments.get("start") or 0.0))
    return preferred(
        model, {**usual, **{k: v for k, v in arguments.items() if k in ("method", "max_error")}}
    )[0]


def apart(model: Model, carriers: Ints) -> float:
    """The usual distance between the centres of mass of bodies that a joint connects, m; 0 for none."""
    centres = model.initial.position + rotate(model.initial.rotation, model.com)
    carried = carriers >= 0
    if not carried.any():
        return 0.0
    return float(np.median(np.linalg.norm(centres[carried] - centres[carriers[carried]], axis=1)))


class AdaptiveEngine:
    """A tree of joints live, by adaptive dynamics; it stands at its start, "paused".

    arguments: of `bc.simulate`. clock: s on the wall. holds: what hands do, by body. marks: of the last moves
    of front ends, which count them. Raises the errors of `bc.start` if it cannot start.
    """

    live: ClassVar[bool] = False  # nothing can be built in it
    markers: ClassVar[tuple[str, ...]] = ()
    edition: ClassVar[int] = 0

    def __init__(
        self, mechanism: Mechanism, arguments: Mapping[str, Any], clock: Callable[[], float]
    ) -> None:
        given = {name: value for name, value in arguments.items() if name not in _WITHOUT}
        if given.get("step") is None:
            given["step"] = LIVE_STEP
        self.clock, self.mechanism, self.name = clock, mechanism, mechanism.name
        self.ranges: Mapping[str, tuple[float, float]] = {}
        self.pace = Pace()
        self.status, self.message = "paused", ""
        self.holds: dict[str, Hold] = {}
        self.marks: dict[str, int] = {}
        self._given, self._number = given, 0
        self.run = start_unrecorded(mechanism, **given)
        self.model: Model = self.run.model
        self.tree = TreeMotion(self.run.carriers)
        self._layout = FrameLayout(self.name, tuple(self.model.bodies))
        self._size, self._joints = size_of(self.model), len(self.run.joints)
        self._apart = apart(self.model, self.tree.carriers) or self._size
        self._series: list[tuple[float, ...]] = []
        self._told = 0  # numbers of the past that were discarded
        self._note()

    @property
    def runs(self) -> bool:
        """Whether time goes on by itself."""
        return self.status == "playing"

    def tick(self, now: float) -> None:
        """Do what is due at a moment of real time, s."""
        if self.status != "playing":
            self.pace.rest()
            return
        due = self.pace.due(now, self.run.step)
        if due > 0.0:
            began, before = self.clock(), self.run.time
            self.advance(round(due / self.run.step))
            if self.run.time > before:
                self.pace.took(began, self.clock(), self.run.time - before)

    def wait(self, now: float) -> float:
        """How long, s of real time, until `tick` has something to do, if no command arrives."""
        return self.pace.wait(now, self.run.step) if self.status == "playing" else 0.25

    def advance(self, steps: int, patience: float = _PATIENCE) -> None:
        """Take steps, fewer where they take longer than so many s of real time; keep why they fail."""
        begin, part = perf_counter(), 1
        try:
            while steps > 0 and (took := perf_counter() - begin) < patience:
                if took > 0.0 and part < _LOOK / took:
                    part *= 4
                self.run.advance(steps=min(steps, part))
                steps -= part
        except BellcrankError as error:
            self.fail(str(error))
        self._note()

    def pull(self, body: str, hold: Hold) -> None:
        """Have a hand hold a body."""
        self.holds[body] = hold
        strongest = _REACH * self._apart * hold.stiffness
        self.run.pull(
            body, hold.target.tolist(), hold.point.tolist(), hold.stiffness, hold.damping, strongest
        )

    def hold_at(self, body: str, point: Floats, target: Floats) -> Hold:
        """A hand that holds a point of a body as firmly as the mechanism allows."""
        yields = self.run.yielding(body, point.tolist())
        if not max(yields) > 1e-9 / float(self.model.mass[self.model.body_number(body)]):
            rule = "it is held by its joints, and cannot be pulled"
            raise MechanismError(Fault(f"body {body!r}", rule, None, "drag another one"))
        gravity = float(np.linalg.norm(self.model.gravity))
        return Hold(*firmness(*yields, self._size, gravity, self.run.step), point, target)

    def let_go(self, body: str) -> None:
        """Take the hand of a body away."""
        if self.holds.pop(body, None) is not None:
            self.run.let_go(body)

    def reset(self) -> None:
        """Go back to the start, paused, with nothing held; limits, method and step stay as they are."""
        run = self.run
        limits = {"max_error": run.max_error, "measure": run.measure, "max_loss": run.max_loss}
        limits |= {"max_joints": run.max_joints, "method": run.method, "step": run.step}
        self.run = start_unrecorded(self.model, **{**self._given, **limits})
        self.holds.clear()
        self.status, self.message = "paused", ""
        self._told += len(self._series)
        self._series.clear()
        self._note()

    def interrupt(self) -> None:
        """Nothing else is run."""

    def fail(self, message: str) -> None:
        """Stop after an error; going back to the start helps."""
        self.status, self.message = "failed", message

    def has_news(self, shown: Snapshot) -> bool:
        """Whether there is anything newer than a snapshot."""
        return (self.run.time, self.status, self.message) != (shown.time, shown.status, shown.message)

    def snapshot(self) -> Snapshot:
        """The current snapshot."""
        self._number += 1
        run, pace, time = self.run, self.pace, self.run.time
        settings = Settings("adaptive", run.method, run.step)
        return Snapshot(
            self._number, self.status, self.message, self._layout.bodies, self._layout, np.array([time]),
            (time, time), pace.speed, pace.factor, self.status == "playing" and pace.is_late, settings,
            "adaptive", holds=dict(self.holds), marks=dict(self.marks), adaptivity=self._adaptivity(),
            model=self.model, mechanism=self.mechanism,
        )  # fmt: skip

    def series(self, mark: int) -> tuple[int, Floats]:
        """Numbers (t, 1 + 4) of the past, time and those of SERIES, from a mark on, and the next mark."""
        begin = max(mark - self._told, 0)
        rows = np.array(self._series[begin:], dtype=float).reshape(-1, 1 + len(SERIES))
        return self._told + len(self._series), rows

    @property
    def first_mark(self) -> int:
        """The mark of the first number that is kept."""
        return self._told

    def trajectory(self) -> Trajectory:
        """Refused: nothing is recorded."""
        rule = "a live session with adaptive dynamics records no poses: bc.simulate(...).save(...) does"
        raise Unsupported(rule)

    def window(self, seconds: float, frames: int) -> Trajectory:  # noqa: ARG002
        """Refused: nothing is recorded."""
        return self.trajectory()

    def inspected(self, name: Any) -> dict[str, Any]:
        """Where a body is and how far off its acceleration; or whether a joint is free and how it moves."""
        run = self.run
        known("body or joint", name, {*self._layout.bodies, *run.joints})
        found = {"name": name, "time [s]": run.time}
        if name in self.model.bodies:
            position, rotation = run.pose(name)
            return {
                **found, "kind": "body", "position [m]": np.asarray(position).tolist(),
                "rotation (w, x, y, z)": np.asarray(rotation).tolist(),
                "mass [kg]": float(self.model.mass[self.model.body_number(name)]),
                "error of its acceleration, at most [m/s^2]": run.error_of(name),
            }  # fmt: skip
        found |= {"kind": "joint", "free": "yes" if name in run.free else "no: it is locked"}
        for label, numbers in (("speed [rad/s, m/s]", run.speeds), ("acceleration [SI]", run.accelerations)):
            if name in numbers:
                found[label] = np.asarray(numbers[name]).tolist()
        return found

    def _adaptivity(self) -> Adaptivity:
        run = self.run
        return Adaptivity(
            run.error, run.max_error, run.measure, run.free_count, self._joints, run.max_joints,
            run.is_bounded, run.lost_energy, run.kinetic_energy, run.max_loss, self.tree, self._hands(),
        )  # fmt: skip

    def _hands(self) -> Floats:
        rows = []
        for body, hold in self.holds.items():
            at = hold.reach(*map(np.asarray, self.run.pose(body)))
            rows.append([self._layout.body_number[body], *at, *hold.target])
        return np.array(rows, dtype=float).reshape(-1, 7)

    def _note(self) -> None:
        """Take up what has moved, and keep the numbers of the run."""
        run = self.run
        self.tree.take(*run.moves(), run.free_bodies)
        if self._series and self._series[-1][0] >= run.time:
            return
        self._series.append((run.time, run.error, run.free_count, run.lost_energy, run.kinetic_energy))
        if len(self._series) > _KEPT:
            del self._series[: _KEPT // 4]
            self._told += _KEPT // 4
