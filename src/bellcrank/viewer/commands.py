"""The commands that front ends may send to a live session, by name; untrusted arguments are checked here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.viewer import steering
from bellcrank.viewer.building import (
    add_body,
    assemble,
    execute,
    free,
    gravity,
    join,
    keep,
    motor,
    nail,
    open_file,
    open_text,
    redo,
    remove,
    undo,
)  # fmt: skip
from bellcrank.viewer.dragging import grab, jog, move, pin, release, unpin
from bellcrank.viewer.editing import add, array, copy, edit, length, mirror, rename, reshape, rod
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.inspecting import inspected_in, loads_in, traced_in
from bellcrank.viewer.names import known
from bellcrank.viewer.settings import LIVE_STEP

SPEEDS: Final = (1e-4, 100.0)
"""Simulated seconds per second of real time."""
STEPS: Final = 10_000
"""That one command may take."""


def play(engine: LiveEngine) -> None:
    """Run in real time, from the frame that is shown."""
    if engine.open and engine.editor is not None and engine.mechanism.bodies:
        assemble(engine)
    engine.from_shown()
    if engine.status != "playing":
        release(engine)
    if engine.status != "playing":
        engine.pace.rest()
        engine.status, engine.message = "playing", ""


def pause(engine: LiveEngine) -> None:
    """Pause."""
    if engine.editor is not None:
        engine.editor.interrupt.clear()
    if engine.status == "playing":
        engine.status = "paused"


def step(engine: LiveEngine, count: Any = 1) -> None:
    """Take some steps of the method, and pause; steps of 1 ms if the method is adaptive."""
    count = whole("step", count, 1, STEPS)
    pause(engine)
    engine.advance(count * (engine.settings.fixed_step or LIVE_STEP))


def reset(engine: LiveEngine) -> None:
    """Go back to the start, with nothing dragged and nothing pinned."""
    engine.reset()
    if engine.editor is not None:
        engine.editor.back_at_start()


def rewind(engine: LiveEngine, time: Any) -> None:
    """Show the recorded frame nearest to a time, s, and pause; the run continues from there."""
    time = number_of("rewind", time, "s")
    if engine.status == "playing":
        engine.status = "paused"
    release(engine)
    number = engine.history.nearest(time)
    is_last = number == len(engine.history) - 1 and engine.run is not None
    engine.shown = None if is_last else number


def speed(engine: LiveEngine, value: Any) -> None:
    """Set the speed: simulated seconds per second of real time."""
    engine.pace.speed = number_of("speed", value, "1", *SPEEDS)


def switch(engine: LiveEngine, formulation: Any = None, method: Any = None, step: Any = None) -> None:
    """Continue with another formulation, method or step, s, from the current state."""
    steering.switch(engine, engine.coming[1].changed(formulation, method, step))


def set_input(engine: LiveEngine, name: Any, value: Any) -> None:
    """Give an input another value."""
    known("input", name, engine.values)
    number = number_of(f"input {name!r}", value, "")
    steering.steer(engine, {name: number})


def set_parameter(engine: LiveEngine, name: Any, value: Any) -> None:
    """Give a parameter another value; the current state, projected onto the constraints, is kept."""
    known("parameter", name, engine.twin.base.parameters)
    number = number_of(f"parameter {name!r}", value, "")
    engine.change(f"parameter {name!r}", twin=engine.coming[0].with_parameters({name: number}))
    if engine.editor is not None:
        engine.editor.set_parameter(name, number)


def inspect(engine: LiveEngine, name: Any) -> dict[str, Any]:
    """Data of an element in the frame that is shown."""
    return inspected_in(engine.frame_shown(), engine.model, name, engine.numbers)


def loads(engine: LiveEngine, name: Any) -> dict[str, Any]:
    """Section loads of a body in the frame that is shown."""
    engine.ready()
    return loads_in(engine.frame_shown(), name)


def trace(
    engine: LiveEngine, body: Any, point: Any = (0.0, 0.0, 0.0), seconds: Any = 1e9, frames: Any = 400
) -> dict[str, Any]:
    """Where a point (3,) of a body, m, in its frame, was in the last seconds that were recorded."""
    count = whole("trace", frames, 1, STEPS)
    return traced_in(engine.window(number_of("trace", seconds, "s", 0.0), count), body, point)


def save(engine: LiveEngine, path: Path, replace: bool = False) -> str:
    """Write what was recorded into a file; its path has been checked by the caller."""
    run = engine.trajectory()
    run.save(path, replace)
    return f"{len(run)} frames in {path.name}"


def number_of(element: str, value: Any, unit: str, low: float = -1e12, high: float = 1e12) -> float:
    """A number within bounds, checked."""
    with Check(element) as check:
        found = check.number("the value", value, unit)
        if not low <= found <= high:
            check.fault(f"it must lie between {low:g} and {high:g}", found)
    return found


def whole(element: str, value: Any, low: int, high: int) -> int:
    """A whole number within bounds, checked."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise MechanismError(Fault(element, f"it takes a whole number from {low} to {high}", value))
    return value


COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__: f
    for f in (
        play, pause, step, reset, rewind, speed, switch, set_input, set_parameter,
        grab, move, release, pin, unpin, jog, inspect, loads, trace, save,
        execute, add_body, rod, add, edit, rename, length, reshape, copy, mirror, array, join, nail, free,
        motor, remove, gravity, undo, redo, assemble, keep, open_file, open_text,
    )
}  # fmt: skip
"""All commands by name."""
