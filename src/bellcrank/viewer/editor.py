"""The editor of a live session: the shell whose commands build its mechanism, whoever gives them.

Mechanism, settings and undo history belong to the shell's situation; the motion of bodies to the engine.
Before a command line, the situation is updated with what the engine did since the last one; afterwards the
engine takes over the new situation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, BellcrankError
from bellcrank.mechanism.body import Body, Ground
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.mesh import Mesh
from bellcrank.mechanism.parameters import inputs_of
from bellcrank.shell.interpreter import Shell
from bellcrank.shell.language import Reply, failure
from bellcrank.shell.places import Places
from bellcrank.shell.session import Session as Worked
from bellcrank.shell.session import Settings as ShellSettings
from bellcrank.shell.session import Situation
from bellcrank.trajectory.joining import frames_of
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.built import Built, gapes, nearest_to_closed, open_one, running
from bellcrank.viewer.history import without_points
from bellcrank.viewer.motion import Motion
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.snapshot import Entry
from bellcrank.viewer.steering import steer, switch

if TYPE_CHECKING:
    from bellcrank.viewer.engine import LiveEngine


_SAME: Final = 1e-12  # m, m/s, rad/s: where bodies are nearer to each other they have not moved
_ENTRIES: Final = 60  # of the log
_TEXT: Final = 4000  # characters of an answer in it
_LEFT_OPEN: Final = 400  # mechanisms that are remembered as open


class _Work(Worked):
    """The session of the shell, in which what was run is what the engine has recorded."""

    engine: LiveEngine

    def trajectory(self) -> Trajectory:
        """What the engine recorded; where it stands at its start, what was shown last."""
        return self.engine.trajectory() if len(self.engine.history) > 1 else super().trajectory()


class Editor:
    """The shell of a live engine. folder: the only one where commands read and write files.

    interrupt: ends what a command line runs, until it is cleared. followers: called in the session's thread
    with new entries of the log.
    """

    def __init__(self, engine: LiveEngine, folder: Path | None = None, begin: float = 0.0) -> None:
        self.engine, self.folder, self.interrupt = engine, folder or Path.cwd(), Event()
        self.followers: list[Callable[[Sequence[Entry]], None]] = []
        self._work = _Work(Places(self.folder, True, _files_of(engine.mechanism)))
        self._work.engine, self._work.watch = engine, self._watched
        self.shell = Shell(session=self._work)
        settings = _for_shell(engine.settings, ShellSettings())
        self._work.now = self._taken = Situation(engine.mechanism, begin, settings=settings)
        self._reached = engine.state  # when the situation was taken up
        self._left_open: dict[int, Mechanism] = {}
        self._held: Situation | None = None  # before a body was dragged without time
        self.reshaping: tuple[Any, ...] | None = None  # what is reshaped by and by, and how all was before

    @property
    def session(self) -> Worked:
        """The session on which the commands operate."""
        return self._work

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism as it is described."""
        return self._work.now.mechanism

    def do(self, lines: Sequence[str], by: str = "", may_fail: bool = False, is_told: bool = True) -> Reply:
        """Execute command lines as one step, and let the engine continue with the result.

        by: their author. may_fail: a refusal is not reported. is_told: whether they stand in the log. Nothing
        is raised: a refused line leaves everything unchanged.
        """
        self.end_step()  # of a drag that goes on meanwhile: the line comes after it
        self.note()
        before, began = self._work.everything, self.engine.time
        reply = self.shell.execute_all(lines) if len(lines) > 1 else self.shell.execute(lines[0])
        if reply.ok:
            try:
                self._follow(lines[-1].split()[:1] == ["load"])
            except BellcrankError as error:
                reply = failure(error)
        if not reply.ok:
            self._work.restore(before)
            self._follow()
            if self.engine.open and self.mechanism.bodies and lines[0].split()[:1] == ["assemble"]:
                nearest = nearest_to_closed(self.mechanism, self._work.now.start)
                if nearest is not None:
                    self.engine.take(nearest)
        if self.engine.motion is not None and self.engine.motion.still:
            self.engine.motion = None
        if self.engine.posed:
            self.begin_step()
        if is_told and (reply.ok or not may_fail):
            self._tell(lines, reply, by, began)
        return reply

    def take(self, mechanism: Mechanism, line: str, by: str = "") -> None:
        """Go on with another mechanism, as one step. line: that says so in the log. Raises as `bc.start`."""
        self.end_step()
        self.note()
        before, was, began = self._work.everything, self._work.now, self.engine.time
        self._work.now = Situation(mechanism, settings=was.settings)
        self._work.remember(was)
        try:
            self._follow(True)
        except BellcrankError:
            self._work.restore(before)
            self._follow()
            raise
        self._tell([line], Reply(repr(mechanism)), by, began)

    def back_to(self, everything: Any) -> None:
        """Return to an earlier state of the session; the engine follows with what is done next."""
        self._work.restore(everything)

    def combine(self, everything: Any) -> None:
        """Make all since an earlier state of the session one step."""
        self._work.combine(everything)

    def note(self) -> None:
        """Update the situation to the engine's current state."""
        engine, now, changes = self.engine, self._work.now, dict[str, Any]()
        if not engine.open:
            state, described = engine.state, self._work.state()
            if not (_same(state, self._reached, 0.0) and _placed(state, described)):
                changes["live"] = state
        if _for_engine(now.settings) != engine.coming[1]:
            changes["settings"] = _for_shell(engine.coming[1], now.settings)
        known = {one.name: one for one in (*now.inputs, *inputs_of(now.mechanism).values())}
        values = {one: engine.values[name] for name, one in known.items() if name in engine.values}
        if any(now.inputs.get(one, one.value) != value for one, value in values.items()):
            changes["inputs"] = {**now.inputs, **values}
        if changes:
            self._work.set(**changes)
        self._taken, self._reached = self._work.now, engine.state

    def back_at_start(self) -> None:
        """Note that the engine has gone back to its start."""
        self._held = None
        self._work.set(live=None, history=())
        self.note()

    def set_parameter(self, name: str, value: float) -> None:
        """Set another value of a parameter; this is not a step that can be undone."""
        self._work.set(mechanism=self.mechanism.with_parameters(**{name: value}))
        self._taken = self._work.now
        self.engine.mechanism, self.engine.numbers = self.mechanism, with_numbers(self.mechanism)
        self.engine.looks_old = True

    def begin_step(self) -> None:
        """Note the poses of the bodies before they are dragged without time."""
        self.note()
        self._held = self._work.now

    def end_step(self) -> None:
        """Make the dragging since `begin_step` a step that can be undone, if anything has moved."""
        before, self._held = self._held, None
        if before is not None:
            self.note()
            self._work.remember(before)

    def _follow(self, is_loaded: bool = False) -> None:
        """Let the engine take over the situation. Raises as `bc.start`, with everything unchanged."""
        now, taken, engine = self._work.now, self._taken, self.engine
        if now is taken:
            return
        settings = _for_engine(now.settings) if now.settings is not taken.settings else engine.coming[1]
        if now.mechanism is taken.mechanism and now.live is taken.live and now.start == taken.start:
            if settings != engine.coming[1]:
                switch(engine, settings)
            steer(engine, {one.name: value for one, value in now.inputs.items()})
        else:
            new = self._built(now, settings, is_loaded)
            goes_on = now.live is not None and now.start == taken.start
            stays = now.time == taken.time  # as where the present becomes the start, or that is undone
            follows = (
                new.run is not None and (goes_on or stays) and not engine.open and not is_loaded
                and new.layout.bodies == engine.history.layout.bodies
            )  # fmt: skip
            engine.settings = settings
            if follows:
                engine.history.cut(taken.time)
            engine.take(new, follows, not is_loaded and (follows or now.mechanism is not taken.mechanism))
            self._show_what_ran(now, taken)
        self._taken, self._reached = now, engine.state

    def _show_what_ran(self, now: Situation, taken: Situation) -> None:
        """Record what a command ran, or show how it brought bodies together."""
        last = now.history[-1] if now.history else None
        if last is None or (taken.history and taken.history[-1] is last):
            return
        if last.statistics.get("formulation") == "constraint forces":
            self.engine.motion = Motion(last)
        elif without_points(last.layout) == self.engine.history.layout:
            self.engine.history.put_before_last(frames_of(last), self.engine.work)
            self.engine.history.touched.note(last)

    def _built(self, now: Situation, settings: Settings, is_loaded: bool) -> Built:
        inputs = {one.name: value for one, value in now.inputs.items()}
        if now.live is not None:
            return running(now.mechanism, settings, now.start, now.live, inputs)
        if is_loaded and now.mechanism.bodies:
            try:
                return running(now.mechanism, settings, now.start, None, inputs)
            except AssemblyError:
                if (nearest := nearest_to_closed(now.mechanism, now.start)) is not None:
                    self._leave_open(now.mechanism)
                    return nearest
        if id(now.mechanism) in self._left_open or gapes(now.mechanism, now.start):
            self._leave_open(now.mechanism)
            return open_one(now.mechanism, now.start)
        return running(now.mechanism, settings, now.start, None, inputs)

    def _leave_open(self, mechanism: Mechanism) -> None:
        """Remember that a mechanism stands open."""
        self._left_open[id(mechanism)] = mechanism
        for key in list(self._left_open)[:-_LEFT_OPEN]:
            del self._left_open[key]

    def _watched(self, part: Trajectory) -> bool:
        """Show a part of what a command runs; whether it is to end."""
        if self._work.now is not self._taken:
            self._follow()
        self.engine.motion = Motion(part, still=True)
        self.engine.publish()
        return self.interrupt.is_set()

    def _tell(self, lines: Sequence[str], reply: Reply, by: str, began: float) -> None:
        """Enter lines in the log. began: the time that was shown when they were given, s."""
        engine = self.engine
        number = engine.log[-1].number if engine.log else 0
        entered = [line for line in lines if line.strip()]
        texts = [*([""] * (len(entered) - 1)), reply.text[:_TEXT]]
        made = [
            Entry(number + k, by, line, text, reply.ok, began, time())
            for k, (line, text) in enumerate(zip(entered, texts, strict=False), start=1)
        ]
        engine.log = (*engine.log, *made)[-_ENTRIES:]
        for follower in tuple(self.followers):
            follower(made)


def _files_of(mechanism: Mechanism) -> set[str]:
    """The meshes of a mechanism, which whoever opens a session has chosen, wherever they lie."""
    carriers: list[Body | Ground] = [mechanism.ground, *mechanism.bodies.values()]
    return {shape.file for carrier in carriers for shape in carrier.shapes if isinstance(shape, Mesh)}


def _same(one: State, other: State, tolerance: float = _SAME) -> bool:
    """Whether bodies have the same poses and velocities at the same time."""
    pairs: list[tuple[Floats, Floats]] = list(zip(one.arrays[1:], other.arrays[1:], strict=True))
    if one.time != other.time or any(a.shape != b.shape for a, b in pairs):
        return False
    return all(bool(np.all(np.abs(a - b) <= tolerance)) for a, b in pairs)


def _placed(one: State, other: State) -> bool:
    """Whether bodies have the same poses at the same time."""
    still = np.zeros_like(one.velocity)
    a, b = (replace(state, velocity=still, angular_velocity=still) for state in (one, other))
    return _same(a, b)


def _for_engine(settings: ShellSettings) -> Settings:
    """The settings of a shell as those of an engine."""
    return Settings.of(settings.arguments())


def _for_shell(settings: Settings, kept: ShellSettings) -> ShellSettings:
    """The settings of an engine as those of a shell."""
    others = dict(settings.others)
    given: dict[str, Any] = {name: others.pop(name) for name in ("max_step", "max_order") if name in others}
    if settings.fixed_step:
        given["step"] = settings.fixed_step
    both = others.pop("tolerance", None)
    goals = {name: others.pop(name, both) for name in ("rtol", "atol")}
    goals = {name: value for name, value in goals.items() if isinstance(value, float)}
    return replace(
        kept,
        formulation=settings.formulation,
        method=settings.method,
        method_options=given,
        options=others,
        **goals,
    )
