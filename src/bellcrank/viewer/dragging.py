"""Commands that grab bodies: dragging them during a run or without time, pinning and releasing them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank.analysis.mobility import driving_coordinates
from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.marker import Marker
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.jogging import Jog, held
from bellcrank.viewer.names import known
from bellcrank.viewer.twin import Hold, Puller, Twin, firmness, size_of, yielding

_LONGEST: Final = 5.0  # s, of a jog


def grab(engine: LiveEngine, body: Any, point: Any, target: Any) -> None:
    """Grab a point (3,) of a body, m, in its frame, and pull it to a target (3,), m, world axes.

    While the run is paused, the bodies follow without time, into the nearest configuration that satisfies all
    constraints; while it plays, they are pulled by a damped spring.
    """
    number, model = _body(engine, body), engine.ready()
    at, target = point_of("point", point), point_of("target", target)
    if engine.status != "playing":
        engine.from_shown()
        if engine.editor is not None and not engine.posed:
            engine.editor.begin_step()
        engine.posed[body] = (at, target)
        _pull(engine)
        return
    twin, state = engine.coming[0].with_hand(body), engine.state
    given = yielding(twin.model(state), twin.hands[body], state, engine.values, at)
    gravity = float(np.linalg.norm(model.gravity))
    if not given.most > 1e-9 / float(model.mass[number]):
        rule = "it is held by its joints and drives, and cannot be pulled"
        raise MechanismError(
            Fault(f"body {body!r}", rule, None, "release what holds it, or drag another one")
        )
    stiffness, damping = firmness(
        given.most, given.swing, size_of(model), gravity, engine.settings.fixed_step
    )
    engine.set_hold(body, Hold(stiffness, damping, at, target))
    if twin is not engine.coming[0]:
        engine.change(f"a hand on {body}", twin=twin)


def move(engine: LiveEngine, body: Any, target: Any, mark: tuple[str, int] | None = None) -> None:
    """Pull a body that was grabbed to another target.

    mark: the front end and its number of this move, which snapshots have from now on.
    """
    _body(engine, body)
    target = point_of("target", target)
    if mark is not None:
        engine.marks[mark[0]] = mark[1]
    if body in engine.posed:
        engine.posed[body] = (engine.posed[body][0], target)
        _pull(engine)
    elif (hold := engine.holds.get(body)) is not None:
        engine.set_hold(body, Hold(hold.stiffness, hold.damping, hold.point, target))


def release(engine: LiveEngine, body: Any = None) -> None:
    """Release a body, or all bodies."""
    if body is None:
        engine.drop_all()
    else:
        _body(engine, body)
        engine.posed.pop(body, None)
        engine.set_hold(body, None)
    if engine.editor is not None and not engine.posed:
        engine.editor.end_step()


def pin(engine: LiveEngine, body: Any) -> None:
    """Fix a body where it is."""
    number = _body(engine, body)
    engine.set_hold(body, None)
    twin = engine.coming[0].with_pin(body, engine.state, number)
    engine.change(f"pin of {body}", twin=_driven_anew(engine, twin))


def unpin(engine: LiveEngine, body: Any) -> None:
    """Release a body that was pinned."""
    _body(engine, body)
    if body in engine.coming[0].pins:
        twin = engine.coming[0].without_pin(body)
        engine.change(f"release of {body}", twin=_driven_anew(engine, twin))


def jog(
    engine: LiveEngine,
    marker: Any = None,
    velocity: Any = (0.0, 0.0, 0.0),
    duration: Any = 0.3,
    level: Any = False,
) -> None:
    """Move a marker, "body.marker" or a body's frame, at a velocity (3,), m/s, world axes, for a while.

    Drives, motors and, where these do not determine the motion, other joints are driven so that it moves that
    way; without a marker they are released. duration: s of real time, after which it slows down to rest.
    level: whether joints that cannot move the marker turn so that it keeps its axes, as a hand does that
    carries a glass; else they stand still.
    """
    model = engine.ready()
    if marker is None:
        if engine.coming[0].driven:
            engine.change("joints let go", twin=replace(engine.coming[0], driven=()))
        return
    with Check("jog") as check:
        wanted: Floats = check.array("the velocity", velocity, (3,), "m/s")
        duration = check.positive("the duration", duration, "s")
        level = check.flag("level", level)
    place = _marker(engine, model, marker)
    twin = engine.coming[0]
    if not twin.driven:
        twin = replace(twin, driven=driving_coordinates(twin.model(engine.state), engine.state))
    now = engine.jog
    if now is None or (now.marker, now.level) != (place, level) or not engine.coming[0].driven:
        engine.jog = now = Jog.of(twin, place, engine.state, level)
    now.wanted, now.until = wanted, engine.clock() + min(duration, _LONGEST)
    if twin is not engine.coming[0]:
        engine.change(f"{marker} jogged", twin=twin)


def _driven_anew(engine: LiveEngine, twin: Twin) -> Twin:
    """A twin that is jogged, with other pins than before: other coordinates determine its motion."""
    if not twin.driven:
        return twin
    free = replace(twin, driven=())
    return replace(free, driven=driving_coordinates(free.model(engine.state), engine.state))


def _marker(engine: LiveEngine, model: Model, name: Any) -> Marker:
    markers = engine.coming[0].numbers.markers
    if isinstance(name, str) and name in markers and markers[name].body in model.bodies:
        return replace(markers[name], name=None)  # its numbers, while the mechanism keeps what it is given by
    known("body or marker", name, (*model.bodies, *markers))
    return Marker(name)


def _pull(engine: LiveEngine) -> None:
    """Move the dragged points, without time, to their targets, or as near as possible."""
    run, twin = engine.from_shown(), engine.twin
    if engine.puller is None or engine.puller[0] is not twin:
        engine.puller = (twin, Puller.of(twin, engine.state))
    state = engine.puller[1].pull(engine.state, engine.values, engine.posed).at_time(run.time)
    run.inputs.update(held(twin.driven, run.model, state))
    run.set_state(state)
    engine.note_again()


def _body(engine: LiveEngine, name: Any) -> int:
    bodies = engine.history.layout.bodies
    known("body", name, bodies)
    return bodies.index(name)


def point_of(name: str, value: Any) -> Floats:
    """A point of a front end (3,), m, checked."""
    with Check("hand") as check:
        found: Floats = check.array(name, value, (3,), "m")
    if np.abs(found).max() > 1e9:
        raise MechanismError(Fault("hand", f"{name} is too far away", found.tolist()))
    return found
