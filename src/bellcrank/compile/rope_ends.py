"""Where the ends and wheels of ropes and belts are at a state, and whether their wheels guide them there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.rope_path import rope_path
from bellcrank.mechanism.ropes import Way
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.mechanism.timing_belts import TimingBelt

_STEEPEST: Final = np.radians(60.0)  # between a rope and the plane of a wheel that guides it


def ways_of(mechanism: Any) -> dict[str, Any]:
    """The ropes and belts of a mechanism by name: constraints and forces."""
    elements = (*mechanism.constraints.values(), *mechanism.forces.values())
    return {element.name: element for element in elements if isinstance(element.kind, Way)}


def ends_at(model: Model, element: Any, state: State) -> tuple[Floats, Floats]:
    """Positions and z axes (ends, 3) of the markers of an element with numbers, in the world."""
    carriers = [model.body_index[marker.body] for marker in element.markers]
    position = np.concatenate([state.position, np.zeros((1, 3))])[carriers]
    turn = np.concatenate([state.rotation, [[1.0, 0.0, 0.0, 0.0]]])[carriers]
    points = position + rotate(turn, np.array([marker.position for marker in element.markers], dtype=float))
    return points, rotate(turn, np.array([marker.z_axis for marker in element.markers], dtype=float))


def check_ropes(model: Model) -> None:
    """Raise MechanismError for ropes that leave the plane of a wheel at the start: none is guided so."""
    if model.source is None or not ways_of(model.source):
        return
    faults = []
    for name, element in ways_of(with_numbers(model.source)).items():
        radii = np.asarray(element.kind.drawn_radii, dtype=float)
        points, axes = ends_at(model, element, model.initial)
        path = rope_path(radii.tolist(), element.kind.closed, points, axes)
        if isinstance(element.kind, TimingBelt) and (rule := element.kind.check_start(path)):
            faults.append(Fault(f"{element.category} {name!r}", rule))
        spans = np.diff(path.straight, axis=1)[:, 0]
        ways = spans / np.maximum(np.linalg.norm(spans, axis=1, keepdims=True), 1e-300)
        for number in np.flatnonzero(radii):
            near = [k % len(ways) for k in (number - 1, number) if element.kind.closed or 0 <= k < len(ways)]
            steepest = max((abs(float(axes[number] @ ways[k])) for k in near), default=0.0)
            if steepest > np.sin(_STEEPEST):
                rule = f"it leaves the plane of wheel {element.markers[number].body!r}"
                advice = (
                    "wheels turn about z of their markers, as axis='y' says; give ends in the rope's order"
                )
                angle = f"by {np.degrees(np.arcsin(min(1.0, steepest))):.0f} degrees"
                faults.append(Fault(f"{element.category} {name!r}", rule, angle, advice))
    if faults:
        raise MechanismError(faults)
