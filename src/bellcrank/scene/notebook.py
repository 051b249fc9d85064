"""The display of a mechanism in notebooks: picture, facts, and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Final

import numpy as np

from bellcrank.compile.model import Model
from bellcrank.compile.state import Floats, State
from bellcrank.errors import BellcrankError, Unsupported
from bellcrank.mechanism.contents import counted
from bellcrank.mechanism.html import page
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.scene.figure import check_matplotlib
from bellcrank.scene.making import of
from bellcrank.scene.scene import Scene
from bellcrank.scene.still import faded, instant_of, picture

_MOST: Final = 3000  # pieces of a scene that is drawn without a request
_DPI: Final = 110


def of_mechanism(mechanism: Mechanism) -> str:
    """The HTML of a mechanism. It shows faults and never raises."""
    try:
        scene = of(mechanism)
    except BellcrankError as error:
        wrong = [str(fault) for fault in getattr(error, "faults", ())] or [str(error)]
        return page(mechanism.name, facts_of(mechanism), wrong)
    return page(mechanism.name, facts_of(mechanism), scene.faults, image(scene))


def of_model(model: Model, state: State, title: str, facts: Mapping[str, str]) -> str:
    """The HTML of a compiled mechanism, at its present state. It never raises."""
    try:
        shown = None if model.source is None else image(of(model.source, state))
    except BellcrankError:
        shown = None  # a shape that cannot be read is no reason to hide the facts
    counts = {"bodies": str(len(model.bodies)), "joints": str(len(model.joints)), "time": f"{state.time:g} s"}
    return page(title, {**facts, **counts}, (), shown)


def facts_of(mechanism: Mechanism) -> dict[str, str]:
    """The contents of the mechanism."""
    joints = Counter(joint.kind.name for joint in mechanism.joints.values())
    forces = Counter(type(force.kind).__name__ for force in mechanism.forces.values())
    constraints = Counter(type(one.kind).__name__ for one in mechanism.constraints.values())
    return {
        "bodies": str(len(mechanism.bodies)),
        "joints": _tally(joints),
        "constraints": _tally(constraints),
        "forces": _tally(forces),
        "drives": ", ".join(list(mechanism.drives)[:8]) + (", …" if len(mechanism.drives) > 8 else ""),
        "sensors": ", ".join(mechanism.sensors),
        "changes": ", ".join(mechanism.changes),
        "parameters": counted(len(mechanism.parameters), "parameter") if mechanism.parameters else "",
        "gravity": f"({', '.join(map(_number, mechanism.gravity))}) m/s²",
    }


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _tally(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(counts.items(), key=lambda one: -one[1]))
    return f"{total} ({kinds})" if total else ""


def image(
    scene: Scene, states: Sequence[State] = (), traces: Mapping[str, Floats] | None = None
) -> bytes | None:
    """A PNG of a scene at its start or at states; None without matplotlib, or if the scene is very large."""
    if not scene.drawn or len(scene.drawn) > _MOST:
        return None
    try:
        check_matplotlib()
    except Unsupported:
        return None
    start = [instant_of(scene.mechanism, scene.state)]
    instants = faded(scene.mechanism, states) if states else start
    if not all(np.all(np.isfinite(instant.position)) for instant in instants):
        return None
    out: Any = BytesIO()
    picture(scene, instants, out, None, {"dpi": _DPI}, traces)
    return bytes(out.getvalue())
