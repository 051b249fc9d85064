"""The calls into the core that take a system through time, and what they report of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.state import Floats
from bellcrank.run.events import CompiledEvents
from bellcrank.run.plan import MethodOptions

_TAPE_ROOM: Final = 4.0 * 2**30  # bytes


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    status: "finished", "interrupted", "not_finite", "constraints_lost", "step_vanished", "energy_made",
        "pole_reached", "impulses_not_found", "friction_not_found" or "friction_jams"; "endless" where the run
        would not have ended; "singular" where it was ended for a joint that lost its meaning.
    time: reached, s. steps, rejected: counts. rounding: steps with an error that is large, but rounding.
    last_step, next_step: taken and to be tried next, s.
    steps_since_restart, evaluations_since_restart: since the motion last started anew.
    last_order, highest_order: of a method of variable order, else 0.
    body, row: index of the first body that is not finite, of the worst row; -1 where that is not the trouble.
    friction_law, friction_part: index of the law of friction that jams, -1 for none, and up to which part of
        its coefficient it would not.
    tyre: number of the contact of a tyre whose force had no value at the end, or -1.
    method: in use, of "auto"; where it took over, s, from gave_way, which did not get on.
    slow_since: where the run was found not to get on, s, or nan; then attempts_left: steps to be tried up to
        the end at the pace, s, of the last ones, of which seen were counted; slow_event: as in events, the
        one that cut ended_by_event of these short, or (-3, -1); slow_sample: number of the controller that
        is called too often; slow_body: index of the body that is accelerated most.
    events: what happened: (number of an event, -1), or (-1, model row of a stop that was met).
    event_frames: (n, 1 + width), a frame of each.
    ended: whether by a terminal event.
    samples: number of calls of controllers.
    stiff_since: when adams or auto found the motion stiff, s; nan where they did not.
    residual, penetration, impacts, weakened, halved: of methods that step by impulses: the largest residual
        of a step, the deepest penetration at the end of one, m; what was hit, steps in which restitution
        was reduced because it would have gained energy, and steps that were taken in halves. between:
        bodies of the contact whose impulses were not found, -1 for none.
    lost_to_impacts, lost_to_friction: the same: energy that contacts and limits have taken, J.
    energy_before, energy_after: if energy was created numerically, its values before and after, J.
    """

    status: str
    time: float
    steps: int = 0
    rejected: int = 0
    rounding: int = 0
    last_step: float = 0.0
    next_step: float = 0.0
    steps_since_restart: int = 0
    evaluations_since_restart: int = 0
    last_order: int = 0
    highest_order: int = 0
    body: int = -1
    row: int = -1
    events: Sequence[tuple[int, int]] = ()
    event_frames: Floats = field(default_factory=lambda: np.empty((0, 0)))
    stiff_since: float = np.nan
    energy_before: float = 0.0
    energy_after: float = 0.0
    ended: bool = False
    samples: int = 0
    residual: float = 0.0
    penetration: float = 0.0
    impacts: int = 0
    weakened: int = 0
    halved: int = 0
    lost_to_impacts: float = 0.0
    lost_to_friction: float = 0.0
    between: tuple[int, int] = (-1, -1)
    friction_law: int = -1
    friction_part: float = 0.0
    tyre: int = -1
    method: str = ""
    gave_way: str = ""
    changed_since: float = np.nan
    slow_since: float = np.nan
    attempts_left: float = 0.0
    pace: float = 0.0
    seen: int = 0
    ended_by_event: int = 0
    slow_event: tuple[int, int] = (-3, -1)
    slow_sample: int = -1
    slow_body: int = -1


def core_run(
    core: Any,
    options: MethodOptions,
    max_step: float,
    observed: _core.Observation,
    events: CompiledEvents | None = None,
    periods: Sequence[float] = (),
    keeps_tape: bool = False,
    sampling: tuple[float, list[int]] = (np.nan, []),
) -> Any:
    """The core's run of a system, which starts at the system's state and must satisfy the constraints there.

    max_step: s, of adaptive methods; 0 for no limit. periods: of samples, s. keeps_tape: whether it can be
    followed along directions afterwards. sampling: of a run that this one goes on with.
    """
    events = events or CompiledEvents()
    return _core.Run(
        core,
        method=options.method.name,
        step=options.step,
        max_step=max_step,
        rtol=options.rtol,
        atol=options.atol,
        what=observed,
        events=events.functions,
        measured=events.measured,
        max_order=options.max_order,
        tolerances=options.tolerances,
        periods=list(periods),
        sampling=sampling,
        tape_room=_TAPE_ROOM if keeps_tape else 0.0,
    )


def advance(
    core: Any,
    options: MethodOptions,
    times: Floats,
    observed: _core.Observation,
    on_block: Callable[[Floats], None],
    on_progress: Callable[[float], None],
) -> Outcome:
    """Advance a system, whose state must satisfy the constraints, from its own time through the output times.

    observed: what to record. on_block: receives frames (n, 1 + width), valid during the call.
    on_progress: receives the time reached, about twenty times a second.
    Ctrl-C ends the run with the status "interrupted".
    """
    run = core_run(core, options, options.max_step or float(times[-1] - times[0]), observed)
    with _attended(on_progress) as alive:
        try:
            run.advance(times.tolist(), float(times[-1]), True, True, on_block, alive)
        except KeyboardInterrupt:  # raised within a callback, by a handler that is not Python's own
            return replace(Outcome(**run.outcome()), status="interrupted")
    return Outcome(**run.outcome())


def follow(
    core: Any,
    times: Floats,
    observed: _core.Observation,
    on_block: Callable[[Floats], None],
    on_progress: Callable[[float], None],
) -> Outcome:
    """Advance a system whose drives leave no degree of freedom; everything else is as for `advance`."""
    reached = float(times[0])

    def reach(time: float) -> None:
        nonlocal reached
        reached = time
        on_progress(time)

    with _attended(reach) as alive:
        try:
            found: dict[str, Any] = _core.kinematics(core, times.tolist(), observed, on_block, alive)
            return Outcome(**found)
        except KeyboardInterrupt:  # raised within a callback, by a handler that is not Python's own
            return Outcome("interrupted", reached)


@contextmanager
def _attended(on_progress: Callable[[float], None]) -> Iterator[Callable[[float], bool]]:
    """What the core calls on the way: it passes the time reached on; False after Ctrl-C."""
    with deferred_interrupt() as interrupted:

        def alive(time: float) -> bool:
            on_progress(time)
            return not interrupted()

        yield alive


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Report Ctrl-C instead of raising in the middle of a callback; raise at the second Ctrl-C."""
    happened = False
    default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not default or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal happened
        if happened:
            signal.default_int_handler(number, frame)
        happened = True

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: happened
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
