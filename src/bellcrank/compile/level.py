"""Weight that does nothing: it acts along the axes of the joints, or through them.

A pendulum whose axis is vertical does not swing, nothing slides down a level slide, and a body whose centre
of mass lies on its axis stays as it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bellcrank.compile.model import JointRecord, Model
from bellcrank.compile.state import Floats, State
from bellcrank.compile.stray_axes import Axes, shown
from bellcrank.mechanism.rotation_arrays import rotate

_PARALLEL: Final = 1e-7  # sine of angles that count as none
_STILL: Final = 1e-12  # m/s, rad/s
_NAMED: Final = 3
_MOST: Final = 300  # joints


def idle_weight(model: Model, at: State) -> str:
    """Why weight moves nothing in a mechanism that nothing else moves; empty if it may, or something does.

    Nothing is said of mechanisms with forces, drives, velocities or changes.
    """
    changes = model.source is not None and bool(model.source.changes)
    moved = model.forces or model.drives or model.constraints or model.inputs or changes
    if moved or model.core.velocity_rows:
        return ""
    if max(np.abs(at.velocity).max(initial=0.0), np.abs(at.angular_velocity).max(initial=0.0)) > _STILL:
        return ""
    return held_level(model, at)


def held_level(model: Model, at: State) -> str:
    """Why the joints let weight do nothing, in words; empty if one of them lets it do work."""
    if not model.gravity.any() or len(model.joints) > _MOST or not all(model.graph.grounded):
        return ""
    axes, down = Axes(model, model.joints, at), model.gravity / np.linalg.norm(model.gravity)
    reasons: dict[str, list[str]] = {}
    for joint in model.joints:
        if joint.coordinate_names:
            reasons.setdefault(_reason(model, at, axes, joint, down), []).append(joint.name)
    if not reasons or "" in reasons:
        return ""
    return "; ".join(reason.format(_of(names)) for reason, names in reasons.items())


def _of(names: list[str]) -> str:
    """Joints by name, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"joint{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:_NAMED]))}{more}"


def _reason(model: Model, at: State, axes: Axes, joint: JointRecord, down: Floats) -> str:
    """Why weight does no work along the one coordinate of a joint; empty if it may, or there are more."""
    if (axis := axes.sliding.get(joint.name)) is not None and abs(axis @ down) <= _PARALLEL:
        return "weight acts across {}, whose slide is level: give another axis, or mech.gravity"
    axis = axes.turning.get(joint.name)
    if axis is None or len(joint.coordinate_names) > 1:
        return ""
    if np.linalg.norm(np.cross(axis, down)) <= _PARALLEL:
        return f"weight acts along the axis {shown(axis)} of {{}}: give another axis, or mech.gravity"
    held = [body for body in joint.bodies if body != model.ground]
    if len(held) == 1 and sum(held[0] in other.bodies for other in model.joints) == 1:
        body, end = held[0], joint.bodies.index(held[0])
        arm = model.com[body] - model.arrays["pair_positions"].reshape(-1, 2, 3)[joint.pair, end]
        if np.linalg.norm(np.cross(rotate(at.rotation[body], arm), axis)) <= _PARALLEL * model.size(at):
            return (
                f"the centre of mass of body {model.bodies[body]!r} lies on the axis of {{}}: "
                "give the joint, or the body, or its com another place"
            )
    return ""
