"""Guides and supports of joints: surfaces, wires, and the feet of bearings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.assembly.state import Floats
from bellcrank.errors import BellcrankError
from bellcrank.scene import mesh as solids
from bellcrank.scene.mesh import TriangleMesh

if TYPE_CHECKING:
    from bellcrank.scene.joints import GlyphBuilder

RAIL: Final = (0.62, 0.64, 0.67, 1.0)
FACE: Final = (0.55, 0.62, 0.70, 0.28)
_PIECE: Final = 60.0  # extent of a wire that does not close, units to each side
_SUPPORT: Final = (0.66, 0.66, 0.64, 1.0)

TO_Z: Final[Mapping[str, Floats]] = {
    "x": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "z": np.eye(3),
}
"""Matrices whose third column is that axis."""


def foot(glyph: GlyphBuilder, end: int, axis: str, reach: tuple[float, float], material: float) -> None:
    """The foot of a bearing on the ground: a wedge with a base plate, as textbooks draw it.

    reach: of the pin along its axis; material: thickness of the part that the bearing carries, m.
    """
    unit = glyph.unit
    axes = glyph.setting.axes(glyph.markers[end])
    along = axes[:, "xyz".index(axis)]
    down = np.asarray(glyph.setting.mechanism.gravity, dtype=float)
    down = down - (down @ along) * along
    if np.linalg.norm(down) < 1e-6:  # a vertical axis stands on a round foot
        weightless = not np.any(glyph.setting.mechanism.gravity)
        down = np.array([0.0, -1.0, 0.0] if abs(along[2]) > 0.9 else [0.0, 0.0, -1.0]) * weightless
        down = down - (down @ along) * along
    if np.linalg.norm(down) < 1e-6:
        side = -1.0 if along @ np.asarray(glyph.setting.mechanism.gravity) <= 0.0 else 1.0
        at = reach[0] if side < 0.0 else reach[1]
        foot = np.zeros(3)
        foot["xyz".index(axis)] = at + 0.4 * side * unit
        glyph.add(end, solids.cylinder(3.2 * unit, 0.8 * unit), _SUPPORT, TO_Z[axis], foot, "support")
        return
    y = -down / np.linalg.norm(down)
    turn = axes.T @ np.column_stack([np.cross(y, along), y, along])
    # Somewhat thinner than the part that turns in it, which is thus visible from every side.
    thick = round(0.8 * material or unit, 9)
    wedge = ((-2.2 * unit, -4.2 * unit), (2.2 * unit, -4.2 * unit), (1.3 * unit, 0.5 * unit),
             (0.8 * unit, 1.15 * unit), (0.0, 1.45 * unit), (-0.8 * unit, 1.15 * unit),
             (-1.3 * unit, 0.5 * unit))  # fmt: skip
    centre = 0.5 * (reach[0] + reach[1]) * along
    behind = axes.T @ (centre - 0.1 * unit * along)
    glyph.add(end, solids.extruded(wedge, thick), _SUPPORT, turn, behind, "support")
    base = solids.box((round(6.4 * unit, 12), round(0.7 * unit, 12), round(thick + 1.6 * unit, 12)))
    glyph.add(end, base, _SUPPORT, turn, behind - turn[:, 1] * 4.5 * unit, "support")


def _on_surface(glyph: GlyphBuilder, mesh: TriangleMesh) -> None:
    """A point on a surface about marker 1."""
    glyph.add(0, mesh, FACE, role="surface")
    glyph.add(1, solids.ball(round(1.1 * glyph.unit, 12)), glyph.color)


def _on_plane(glyph: GlyphBuilder) -> None:
    """The contact element on the plane of marker 1: a ball or a roller of the joint's radius."""
    kind: Any = glyph.joint.kind
    radius = kind.radius if kind.radius is not None else abs(float(glyph.offset[2]))
    glyph.plane("z")
    if not glyph.drawn[1] and radius > 0.0:
        ball = kind.name == "SphereOnPlane"
        glyph.add(1, solids.ball(radius) if ball else solids.cylinder(radius, 2.0 * radius), glyph.color)


def _on_wire(glyph: GlyphBuilder, points: Floats) -> None:
    """A bead on a wire of marker 1."""
    glyph.add(0, solids.tube(tuple(map(tuple, points.tolist())), 0.45 * glyph.unit), RAIL)
    if not glyph.drawn[1]:
        glyph.add(1, solids.ball(round(1.6 * glyph.unit, 12)), glyph.color)


def _cylinder(glyph: GlyphBuilder) -> None:
    kind: Any = glyph.joint.kind
    radius = kind.radius if kind.radius is not None else float(np.hypot(*glyph.offset[:2]))
    reach = abs(float(glyph.offset[2])) + 6.0 * glyph.unit
    if radius > 0.0:
        _on_surface(glyph, solids.cylinder(radius, 2.0 * reach))


def _cone(glyph: GlyphBuilder) -> None:
    kind: Any = glyph.joint.kind
    height = abs(float(glyph.offset[2])) + 6.0 * glyph.unit
    _on_surface(glyph, solids.revolved(((0.0, 0.0), (height * float(np.tan(kind.half_angle)), height))))


def _helix(glyph: GlyphBuilder) -> None:
    kind: Any = glyph.joint.kind
    middle = float(glyph.offset[2]) / kind.pitch
    turns = np.linspace(min(0.0, middle) - 1.0, max(0.0, middle) + 1.0, 40 * (2 + int(abs(middle))))
    angle = 2.0 * np.pi * turns
    way = [kind.radius * np.cos(angle), kind.radius * np.sin(angle), kind.pitch * turns]
    _on_wire(glyph, np.stack(way, axis=1))


def _curve(glyph: GlyphBuilder) -> None:
    kind: Any = glyph.joint.kind
    _on_wire(glyph, kind.curve.sampled(160))


def _points(kind: Any, at: Floats) -> Floats:
    """Points (n, 3) of a curve given by formulas; none if it has other symbols or no finite value."""
    from bellcrank.expression.evaluation import evaluate

    try:
        way = np.array([evaluate(kind.curve, {kind.parameter: value}) for value in at.tolist()])
    except (BellcrankError, KeyError):
        return np.zeros((0, 3))
    return way if np.all(np.isfinite(way)) else np.zeros((0, 3))


def _loop(glyph: GlyphBuilder, count: int) -> Floats:
    """Points of a curve that closes after one turn of its parameter; none if it does not."""
    way = _points(glyph.joint.kind, np.linspace(0.0, 2.0 * np.pi, count))
    return way if len(way) and np.linalg.norm(way[-1] - way[0]) < 1e-6 * glyph.unit else way[:0]


def _edge(glyph: GlyphBuilder) -> None:
    """The edge of a wheel or disc that touches a surface: a rim on marker 2, if it closes after a turn."""
    if len(way := _loop(glyph, 73)):
        glyph.add(1, solids.tube(tuple(map(tuple, way.tolist())), 0.6 * glyph.unit), glyph.color)


def _path(glyph: GlyphBuilder) -> None:
    """A wire given by a formula: all of it if it closes after a turn, else up to its limits, or a segment."""
    way = _loop(glyph, 241)
    if not len(way):
        name = glyph.joint.kind.free[0]
        at = float(dict((*glyph.joint.position, *glyph.joint.guess)).get(name, 0.0))
        near = _points(glyph.joint.kind, np.array([at - 1e-4, at + 1e-4]))
        speed = float(np.linalg.norm(near[1] - near[0])) / 2e-4 if len(near) else 0.0
        if speed > 0.0:
            reach = _PIECE * glyph.unit / speed
            limit = dict(glyph.joint.limits).get(name)
            low = at - reach if limit is None or limit.lower is None else min(limit.lower, at)
            high = at + reach if limit is None or limit.upper is None else max(limit.upper, at)
            way = _points(glyph.joint.kind, np.linspace(low, high, 241))
    if len(way):
        _on_wire(glyph, way)


GUIDES: Final[Mapping[str, Callable[[GlyphBuilder], None]]] = {
    "PointOnCylinder": _cylinder,
    "PointOnCone": _cone,
    "PointOnHelix": _helix,
    "PointOnCurve": _curve,
    "PathJoint": _path,
    "SphereOnPlane": _on_plane,
    "CylinderOnPlane": _on_plane,
    "RollingCurve": _edge,
    "CurveOnSurface": _edge,
}
"""How kinds of joints are shown that keep a point on something."""
