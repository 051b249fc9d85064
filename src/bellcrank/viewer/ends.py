"""Points and places of what is built, as front ends name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.names import known
from bellcrank.viewer.pieces import End, points_of, snapped


def free_place(engine: LiveEngine, kind: str, sizes: Sequence[float]) -> tuple[float, float, float]:
    """A free place above everything else."""
    tops = [0.0]
    if len(engine.history.layout.bodies):
        state = engine.state
        there = points_of(engine.numbers)
        for number, body in enumerate(engine.numbers.bodies.values()):
            reach = float(np.sqrt(max(np.max(np.asarray(body.inertia)) * 3.0 / body.mass, 0.0)))
            points = [p for p, _ in there[body.name]] or [np.zeros(3)]
            high = max(float(rotate(state.rotation[number], p)[2]) for p in points)
            tops.append(float(state.position[number, 2]) + (high if high > 1e-9 else 0.0) + 0.1 * reach)
    tall = {"rod": sizes[-1], "box": sizes[-1], "plate": sizes[-1], "wheel": sizes[0]}.get(kind, 0.0)
    gap = 0.15 * max(sizes)
    above = max(tops) + gap + 0.5 * tall if len(tops) > 1 else 0.0
    return (0.0, 0.0, float(f"{above:.3g}"))


def end_of(engine: LiveEngine, label: str, end: Any, reach: float) -> End:
    """A point named by a front end. Raises MechanismError for an invalid one."""
    mechanism, advice = engine.numbers, "click a body, or a marker on it"
    if not isinstance(end, Mapping) or not ({"body", "marker"} & set(end)):
        raise MechanismError(Fault(label, "there is nothing to take hold of", end, advice))
    name = end.get("marker")
    if name is not None:
        known("marker", name, mechanism.markers)
        marker = mechanism.markers[name]
        return End(
            marker.body, np.array(marker.position, dtype=float), rotation_of(engine, marker.body), name
        )
    body = end["body"]
    known("body", body, (GROUND, *mechanism.bodies))
    with Check(label) as check:
        point: Floats = check.array("point", end.get("point", (0.0, 0.0, 0.0)), (3,), "m")
    point, name = snapped(mechanism, body, point, reach)
    return End(body, point, rotation_of(engine, body), name)


def rotation_of(engine: LiveEngine, body: str) -> Floats:
    """The current rotation of a body, (4,)."""
    if body == GROUND:
        return np.array([1.0, 0.0, 0.0, 0.0])
    turn: Floats = engine.state.rotation[list(engine.numbers.bodies).index(body)]
    return turn


def in_world(engine: LiveEngine, end: End) -> Floats:
    """The current world position of a point, (3,), m."""
    if end.body == GROUND:
        return end.point
    number = list(engine.numbers.bodies).index(end.body)
    found: Floats = engine.state.position[number] + rotate(engine.state.rotation[number], end.point)
    return found
