"""The commands that front ends may send to a session with adaptive dynamics; arguments are checked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.io.node import resolved
from bellcrank.shell.language import Reply
from bellcrank.viewer.adaptive_engine import AdaptiveEngine
from bellcrank.viewer.commands import SPEEDS, STEPS, number_of, whole
from bellcrank.viewer.dragging import point_of
from bellcrank.viewer.names import known
from bellcrank.viewer.twin import Hold

_LIMITS: Final = ("max_error", "max_joints", "max_loss", "measure")
_NONE: Final = ("", "none", "inf", None)  # as many joints, as much loss as it takes


def play(engine: AdaptiveEngine) -> None:
    """Run in real time."""
    if engine.status == "failed":
        rule = f"the run has failed: {engine.message}"
        raise MechanismError(Fault("play", rule, None, "go back to the start, and take a shorter step"))
    if engine.status != "playing":
        engine.pace.rest()
        engine.status = "playing"


def pause(engine: AdaptiveEngine) -> None:
    """Pause."""
    if engine.status == "playing":
        engine.status = "paused"


def step(engine: AdaptiveEngine, count: Any = 1) -> None:
    """Take some steps, and pause."""
    count = whole("step", count, 1, STEPS)
    pause(engine)
    if engine.status != "failed":
        engine.advance(count, np.inf)


def reset(engine: AdaptiveEngine) -> None:
    """Go back to the start, with nothing dragged; limits stay as they are."""
    engine.reset()


def rewind(engine: AdaptiveEngine, time: Any) -> None:
    """Refused, except for the start: no past is kept."""
    if number_of("rewind", time, "s") <= engine.model.initial.time:
        engine.reset()
        return
    rule = "adaptive dynamics keeps no past, for frames would be as wide as the mechanism"
    raise MechanismError(
        Fault("rewind", rule, time, "go back to the start, or record a run: bc.simulate(...)")
    )


def speed(engine: AdaptiveEngine, value: Any) -> None:
    """Set the speed: simulated seconds per second of real time."""
    engine.pace.speed = number_of("speed", value, "1", *SPEEDS)


def limit(
    engine: AdaptiveEngine, max_error: Any = None, max_joints: Any = None, max_loss: Any = None,
    measure: Any = None,
) -> None:  # fmt: skip
    """Change what may be left out: the error, how many joints are free ("none": as many as it takes), W."""
    joints = np.inf if isinstance(max_joints, str) and max_joints in _NONE else max_joints
    loss = np.inf if isinstance(max_loss, str) and max_loss in _NONE else max_loss
    engine.run.limit(max_error, loss, joints, measure)


def switch(engine: AdaptiveEngine, formulation: Any = None, method: Any = None, step: Any = None) -> None:
    """Go on by another method or step, s."""
    if formulation not in (None, "adaptive"):
        rule = "a session with adaptive dynamics keeps its equations"
        raise MechanismError(
            Fault("formulation", rule, formulation, f"view(formulation={formulation!r}) opens another")
        )
    if step is not None:
        step = number_of("step", step, "s", 1e-6, 0.1)
    engine.run.use(method, step)


def grab(engine: AdaptiveEngine, body: Any, point: Any, target: Any) -> None:
    """Grab a point (3,) of a body, m, in its frame, and pull it to a target (3,), m, world axes."""
    known("body", body, engine.model.bodies)
    at, target = point_of("point", point), point_of("target", target)
    engine.pull(body, engine.hold_at(body, at, target))


def move(engine: AdaptiveEngine, body: Any, target: Any, mark: tuple[str, int] | None = None) -> None:
    """Pull a body that was grabbed to another target; mark: the front end, and its number of this move."""
    target = point_of("target", target)
    if mark is not None:
        engine.marks[mark[0]] = mark[1]
    if (hold := engine.holds.get(body)) is not None:
        engine.pull(body, Hold(hold.stiffness, hold.damping, hold.point, target))


def release(engine: AdaptiveEngine, body: Any = None) -> None:
    """Release a body, or all bodies."""
    for one in [*engine.holds] if body is None else [body]:
        engine.let_go(one)


def trace(engine: AdaptiveEngine, body: Any, **_: Any) -> dict[str, Any]:
    """Where a point was: nowhere, for no past is kept; pages draw where it goes from now on."""
    known("body", body, engine.model.bodies)
    return {"time": [], "points": [], "rotations": []}


def inspect(engine: AdaptiveEngine, name: Any) -> dict[str, Any]:
    """Data of a body or a joint now."""
    return engine.inspected(name)


def execute(engine: AdaptiveEngine, line: Any, by: Any = None) -> Reply:  # noqa: ARG001
    """A line of the command language, of those that have a meaning here: formulation, method, reset."""
    words = line.split("#")[0].split() if isinstance(line, str) else []
    if not words:
        return Reply()
    plain, fields = [word for word in words if "=" not in word], _fields(words)
    if plain[:1] == ["formulation"] and len(plain) <= 2:
        switch(engine, *plain[1:])
        if wrong := next((name for name in fields if name not in _LIMITS), None):
            raise MechanismError(
                Fault("formulation", f"adaptive has no option {wrong!r}", None, ", ".join(_LIMITS))
            )
        limit(engine, **{name: _value(name, text) for name, text in fields.items()})
        now = engine.snapshot().adaptivity
        assert now is not None
        most = "as many joints as it takes" if now.max_joints is None else f"at most {now.max_joints} joints"
        return Reply(f"adaptive: error {now.error:.3g} of {now.max_error:g} ({now.measure}), {most}")
    if plain[:1] == ["method"] and len(plain) <= 2:
        switch(engine, None, *plain[1:], **{name: _value(name, text) for name, text in fields.items()})
        return Reply(f"{engine.run.method}, step {engine.run.step:g} s")
    if words == ["reset"]:
        engine.reset()
        return Reply(f"t = {engine.run.time:g} s")
    rule = "a session with adaptive dynamics cannot be built on"
    raise MechanismError(Fault(f"line {line!r}", rule, None, "formulation max_error=0.1, method, reset"))


def _fields(words: list[str]) -> dict[str, str]:
    parts = (word.partition("=") for word in words if "=" in word)
    return {name: text for name, _, text in parts}


def _value(name: str, text: str) -> Any:
    if name == "measure" or text in _NONE:
        return text
    value = resolved(text)
    return (
        round(value) if name == "max_joints" and isinstance(value, float) and value == round(value) else value
    )


COMMANDS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__: f
    for f in (
        play, pause, step, reset, rewind, speed, limit, switch, grab, move, release, trace, inspect,
        execute,
    )
}  # fmt: skip
"""All commands by name."""
