"""A live session: an engine in a thread of its own, which any number of front ends may watch and control."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from math import inf
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Condition, Lock, Thread
from typing import Any, Final, Protocol, Self

from bellcrank.errors import BellcrankError, Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.trajectory.moves import MoveTrajectory
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer import adaptive_commands, playing
from bellcrank.viewer.adaptive_engine import AdaptiveEngine, is_adaptive
from bellcrank.viewer.commands import COMMANDS
from bellcrank.viewer.editor import Editor
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.pace import PERIOD
from bellcrank.viewer.playing import Player
from bellcrank.viewer.replaying import Replayer
from bellcrank.viewer.settings import Settings
from bellcrank.viewer.snapshot import Snapshot

_TRIAL: Final = 50  # steps
_WAITING: Final = 10_000  # commands that may wait
_QUIET: Final = frozenset(("", "inspect", "loads", "trace"))  # questions, which change nothing that is shown
_AT_ONCE: Final = 0.05  # s on the wall for commands, after which their answers are given and time goes on


class Engine(Protocol):
    """What goes through time; it belongs to one thread. ranges: of inputs and parameters, by name."""

    name: str

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """What sliders of inputs and parameters run over, by name."""

    @property
    def markers(self) -> tuple[str, ...]:
        """What can be jogged: named markers and bodies."""

    @property
    def live(self) -> bool:
        """Whether it simulates."""

    @property
    def runs(self) -> bool:
        """Whether time goes on by itself."""

    def tick(self, now: float) -> None:
        """Do what is due at a moment of real time, s."""

    def wait(self, now: float) -> float:
        """How long, s on the wall, until `tick` has something to do."""

    def fail(self, message: str) -> None:
        """Pause after an unexpected error."""

    def interrupt(self) -> None:
        """End what a command runs; may be called in any thread."""

    def has_news(self, shown: Snapshot) -> bool:
        """Whether there is more than a snapshot shows."""

    def snapshot(self) -> Snapshot:
        """The current snapshot."""

    def trajectory(self) -> Trajectory:
        """What was recorded."""

    def window(self, seconds: float, frames: int) -> Trajectory:
        """At most so many frames of the last seconds."""


class Session:
    """An engine in a thread of its own, at its start and paused.

    `live` and `played` create sessions. `send` gives commands from any thread, `snapshot` is what is shown.
    Used as a context manager, it is closed at the end.
    """

    def __init__(
        self, engine: Engine, commands: Mapping[str, Callable[..., Any]], clock: Callable[[], float]
    ) -> None:
        self._engine, self._commands = engine, commands
        self._clock = clock
        self._queue: Queue[tuple[str, dict[str, Any], Future[Any]]] = Queue(_WAITING)
        self._gate = Lock()  # so that nothing is put into the queue after it was emptied for the last time
        self._news = Condition()
        self._moved, self._shown = False, 0.0  # a hand since the last snapshot; when that was, s
        self._snapshot = self._engine.snapshot()
        if isinstance(engine, LiveEngine):
            engine.publish = self._show
        self._open = True
        self.watchers: list[Callable[[], None]] = []  # called, in its thread, when there is a new snapshot
        self._thread = Thread(target=self._work, name="bellcrank session", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        now = self.snapshot
        return f"<live session of {self.name!r}, {now.status} at t = {now.time:.6g} s>"

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._engine.name

    @property
    def editor(self) -> Editor | None:
        """The editor, for reading only. None for a session that plays a recorded run."""
        return self._engine.editor if isinstance(self._engine, LiveEngine) else None

    @property
    def ranges(self) -> Mapping[str, tuple[float, float]]:
        """What sliders of inputs and parameters run over, by name."""
        return self._engine.ranges

    @property
    def markers(self) -> tuple[str, ...]:
        """What can be jogged: named markers and bodies; none if it plays a recorded run."""
        return self._engine.markers

    @property
    def is_live(self) -> bool:
        """Whether it simulates; otherwise it plays a recorded run."""
        return self._engine.live

    @property
    def snapshot(self) -> Snapshot:
        """What it shows now."""
        return self._snapshot

    def newer(self, number: int, timeout: float) -> Snapshot:
        """The snapshot after one of this number, once there is one; the same after a timeout, s."""
        with self._news:
            self._news.wait_for(lambda: self._snapshot.number > number or not self._open, timeout)
        return self._snapshot

    def send(self, command: str, **arguments: Any) -> Future[Any]:
        """Give it one of `commands.COMMANDS`; the future contains its result, or the error."""
        answer: Future[Any] = Future()
        try:
            if not isinstance(command, str) or command not in self._commands:
                rule = "there is no command of this name"
                raise MechanismError(
                    Fault(f"command {command!r}", rule, None, nearest(command, self._commands))
                )
            if not self._put(command, arguments, answer):
                raise _closed()
        except Full:
            answer.set_exception(MechanismError(Fault("session", "too many commands wait", _WAITING)))
        except MechanismError as error:
            answer.set_exception(error)
        return answer

    def do(self, command: str, **arguments: Any) -> Any:
        """Give it a command, and wait for the result. Raises its error."""
        return self.send(command, **arguments).result()

    def save(self, path: str | Path, replace: bool = False) -> str:
        """Write what was recorded into a file; return what was written, in words. See `Trajectory.save`."""
        return str(self.do("save", path=Path(path), replace=replace))

    @property
    def trajectory(self) -> Trajectory:
        """What was recorded."""
        return self._asked(lambda engine: engine.trajectory())

    def window(self, seconds: float, frames: int) -> Trajectory:
        """At most so many frames of the last seconds up to what is shown."""
        return self._asked(lambda engine: engine.window(seconds, frames))

    def look(self, question: Callable[[Any], Any]) -> Future[Any]:
        """Ask the engine something in the session's thread, which nothing that is shown changes by."""
        answer: Future[Any] = Future()
        try:
            if not self._put("", {"question": question}, answer):
                raise _closed()
        except Full:
            answer.set_exception(MechanismError(Fault("session", "too many commands wait", _WAITING)))
        except MechanismError as error:
            answer.set_exception(error)
        return answer

    def close(self) -> None:
        """End it, and what a command line runs in it; commands that wait are refused."""
        with self._gate:
            self._open = False
        self._engine.interrupt()
        self._thread.join()

    def _put(self, command: str, arguments: dict[str, Any], answer: Future[Any]) -> bool:
        """Let a command wait; False where the session is closed. Raises Full."""
        with self._gate:
            if not self._open:
                return False
            if self._queue.full():
                raise Full
            if command == "pause":  # first, for the command takes the interruption back when it is done
                self._engine.interrupt()
            self._queue.put_nowait((command, arguments, answer))
        return True

    def _asked(self, question: Callable[[Engine], Trajectory]) -> Trajectory:
        answer: Future[Trajectory] = Future()
        try:
            if not self._put("", {"question": question}, answer):
                self._thread.join()  # what it was at has an end
                return question(self._engine)
        except Full:
            raise MechanismError(Fault("session", "too many commands wait", _WAITING)) from None
        return answer.result()

    def _work(self) -> None:
        engine = self._engine
        while self._open:
            waits = engine.wait(self._clock())
            answers, shows = self._answer(waits)
            if shows:
                self._show()  # before who asked goes on to look
            for settle in answers:
                settle()
            try:
                engine.tick(self._clock())
            except Exception as error:  # noqa: BLE001  (whatever it is, the session goes on to answer)
                engine.fail(f"{type(error).__name__}: {error}")
            is_late = self._moved and time.monotonic() > self._shown + PERIOD
            if is_late or engine.has_news(self._snapshot):
                self._show()
        self._refuse_waiting()

    def _show(self) -> None:
        self._moved, self._shown = False, time.monotonic()
        with self._news:
            self._snapshot = self._engine.snapshot()
            self._news.notify_all()
        for watcher in tuple(self.watchers):
            watcher()

    def _answer(self, timeout: float) -> tuple[list[Callable[[], None]], bool]:
        """Do the commands that wait, for a while.

        What gives their answers to who asked; whether one of them may have changed what is shown. A hand that
        moves while time runs is seen with what it does, at the next step, if that does not take long.
        """
        answers, end, shows = list[Callable[[], None]](), inf, False
        while self._open and time.monotonic() < end:
            try:
                waiting = self._queue.get(timeout=timeout) if timeout > 0 else self._queue.get_nowait()
            except Empty:
                break
            timeout, end = 0.0, min(end, time.monotonic() + _AT_ONCE)
            if waiting[2].set_running_or_notify_cancel():  # else who asked has taken it back
                is_move = waiting[0] == "move" and self._engine.runs
                self._moved |= is_move
                shows |= waiting[0] not in _QUIET and not is_move
                answers.append(self._do(*waiting))
        return answers, shows

    def _do(self, command: str, arguments: dict[str, Any], answer: Future[Any]) -> Callable[[], None]:
        """Do a command; what gives its result, or what is wrong with it, whatever that is, to who asked."""
        try:
            done = self._commands[command] if command else arguments.pop("question")
            return partial(answer.set_result, done(self._engine, **arguments))
        except BellcrankError as error:
            return partial(answer.set_exception, error)
        except Exception as error:  # noqa: BLE001
            fault = Fault(f"command {command!r}", f"it cannot be done: {type(error).__name__}: {error}", None)
            return partial(answer.set_exception, MechanismError(fault))

    def _refuse_waiting(self) -> None:
        with self._news:
            self._news.notify_all()
        while not self._queue.empty():
            answer = self._queue.get_nowait()[2]
            if answer.set_running_or_notify_cancel():
                answer.set_exception(_closed())


def _closed() -> MechanismError:
    return MechanismError(Fault("session", "it is closed", None, "open another one"))


def live(
    mechanism: Mechanism,
    arguments: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    background: bool = True,
    folder: Path | None = None,
) -> Session:
    """A session that simulates a mechanism, which is not changed; editing in the session works on a copy.

    arguments: of `bc.simulate`, such as formulation, method, step; without a method and a step, rk4 with
        1 ms or, if that breaks down at once, adaptive methods.
    clock: real time, s. background: whether to make slow preparations in another thread.
    folder: the only one where commands read and write files, by default the working folder.
    With formulation="adaptive", or "auto" and a max_error that `bc.simulate` would take it for, few joints of
    a tree are free, and nothing can be built (`AdaptiveEngine`).
    A mechanism whose joints cannot all fit stands open where they come closest. Raises the errors of
    `bc.start` for one that cannot start otherwise.
    """
    given = dict(arguments or {})
    if is_adaptive(mechanism, given):
        return Session(AdaptiveEngine(mechanism.copy(), given, clock), adaptive_commands.COMMANDS, clock)
    begin = float(given.get("start") or 0.0)
    engine = LiveEngine(mechanism.copy(), Settings.of(given), clock, begin, background)
    if given.get("method") is None and given.get("step") is None and not engine.open:
        _try_steps(engine)
    engine.editor = Editor(engine, folder, begin)
    return Session(engine, COMMANDS, clock)


def _try_steps(engine: LiveEngine) -> None:
    """Use adaptive methods if fixed steps break down at once."""
    engine.advance(_TRIAL * engine.settings.step)
    if engine.status == "failed":
        engine.settings = engine.settings.changed(method="auto")
    engine.reset()


def played(run: Trajectory | MoveTrajectory, clock: Callable[[], float] = time.perf_counter) -> Session:
    """A session that plays a recorded run. Raises MechanismError for one without frames."""
    player = Replayer(run) if isinstance(run, MoveTrajectory) else Player(run)
    return Session(player, playing.COMMANDS, clock)
