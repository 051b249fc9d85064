"""Commands that take hold of bodies: dragging them in time and without, pinning and releasing them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.errors import AssemblyError, Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.hand import Hold, firmness, mobility, size_of
from bellcrank.viewer.names import known
from bellcrank.viewer.pulling import Puller

_PARTS: Final = 12  # of one way of the mouse, at most


def grab(engine: LiveEngine, body: Any, point: Any, target: Any) -> None:
    """Take hold of a point (3,) of a body, m, in its frame, and pull it to a target (3,), m, world axes.

    While the run stands the bodies follow without time, into the nearest configuration that satisfies all
    constraints; while it goes on they are pulled by a damped spring.
    """
    number, model = _body(engine, body), engine.ready()
    at, target = _point("point", point), _point("target", target)
    if engine.status != "playing":
        engine.from_shown()
        if engine.bench is not None and not engine.posed:
            engine.bench.begin_step()
        engine.posed = {body: (at, target)}
        _pull(engine, body)
        return
    twin, state = engine.coming[0].with_hand(body), engine.state
    w = mobility(twin.model(state), twin.hands[body], state, engine.values, at)
    largest = float(np.linalg.eigvalsh(0.5 * (w + w.T))[-1])
    gravity = float(np.linalg.norm(model.gravity))
    if not largest > 1e-9 / float(model.mass[number]):
        rule = "it is held by its joints and drives, and cannot be pulled"
        raise MechanismError(
            Fault(f"body {body!r}", rule, None, "release what holds it, or drag another one")
        )
    stiffness, damping = firmness(largest, size_of(model), gravity, engine.settings.fixed_step)
    engine.set_hold(body, Hold(stiffness, damping, at, target))
    if twin is not engine.coming[0]:
        engine.change(f"a hand on {body}", twin=twin)


def move(engine: LiveEngine, body: Any, target: Any) -> None:
    """Pull a body that was grabbed to another target."""
    _body(engine, body)
    target = _point("target", target)
    if body in engine.posed:
        engine.posed[body] = (engine.posed[body][0], target)
        _pull(engine, body)
    elif (hold := engine.holds.get(body)) is not None:
        engine.set_hold(body, Hold(hold.stiffness, hold.damping, hold.point, target))


def release(engine: LiveEngine, body: Any = None) -> None:
    """Let go of a body, or of all."""
    if body is None:
        engine.drop_all()
    else:
        _body(engine, body)
        engine.posed.pop(body, None)
        engine.set_hold(body, None)
    if engine.bench is not None and not engine.posed:
        engine.bench.end_step()


def pin(engine: LiveEngine, body: Any) -> None:
    """Hold a body where it is."""
    number = _body(engine, body)
    engine.set_hold(body, None)
    engine.change(f"pin of {body}", twin=engine.coming[0].with_pin(body, engine.state, number))


def unpin(engine: LiveEngine, body: Any) -> None:
    """Release a body that was pinned."""
    _body(engine, body)
    if body in engine.coming[0].pins:
        engine.change(f"release of {body}", twin=engine.coming[0].without_pin(body))


def _pull(engine: LiveEngine, body: str) -> None:
    """Go towards the target, in parts where bodies behind gears would turn more than half a turn at once."""
    number, (point, target) = _body(engine, body), engine.posed[body]
    part, gone = 1.0, False
    for last in (*[False] * (_PARTS - 1), True):
        state = engine.state
        at = Hold(0.0, 0.0, point, target).reach(state.position[number], state.rotation[number])
        try:
            found = _puller(engine, body).pull(state, engine.values, point, at + part * (target - at))
            run = engine.from_shown()
            run.set_state(found.at_time(run.time))
            engine.note_again()
        except AssemblyError:
            if last and not gone:
                raise
            part *= 0.25
            continue
        gone = True
        if part == 1.0:
            return


def _puller(engine: LiveEngine, body: str) -> Puller:
    """What drags a body without time."""
    twin, found = engine.pullers.get(body, (None, None))
    if found is None or twin is not engine.twin:
        found = Puller.of(engine.twin, body, engine.state)
        engine.pullers[body] = (engine.twin, found)
    return found


def _body(engine: LiveEngine, name: Any) -> int:
    bodies = engine.past.layout.bodies
    known("body", name, bodies)
    return bodies.index(name)


def _point(name: str, value: Any) -> Floats:
    with Check("hand") as check:
        found: Floats = check.array(name, value, (3,), "m")
    if np.abs(found).max() > 1e9:
        raise MechanismError(Fault("hand", f"{name} is too far away", found.tolist()))
    return found
