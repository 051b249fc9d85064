"""Glyphs of joints, built from what they lock: a pin, a ball or a cross, on a rail, on a plane or fixed.

Most joint kinds therefore need no drawing of their own; those on a cylinder, a cone, a helix or a curve show
it.

Guides and supports come with them: surfaces, wires, and the feet of bearings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.errors import BellcrankError
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.rotation import from_matrix, matrix
from bellcrank.scene import mesh as solids
from bellcrank.scene.bodies import hinge_axis
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.scene import Color, Glyph, Piece
from bellcrank.scene.setting import Setting

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
    from bellcrank.expression.compiled import evaluate

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


PIN: Final = (0.20, 0.22, 0.25, 1.0)
DRIVEN: Final = (0.86, 0.38, 0.10, 1.0)
ACTIVE: Final = (0.93, 0.06, 0.55, 1.0)  # of joints that moved in the last step, if others did not
BLOCK: Final = (0.38, 0.41, 0.45, 1.0)

_RODS: Final = ("Distance", "RevoluteSpherical", "ParallelLink", "PlungingParallelLink")


class GlyphBuilder:
    """Makes the glyph of one joint.

    drawn: for each of its bodies, whether it has shapes, so that glyphs are less prominent.
    stack: the range of material along a line through the joint, m.
    """

    def __init__(
        self,
        setting: Setting,
        joint: Joint,
        unit: float,
        driven: bool,
        stack: Callable[[Floats, Floats, tuple[int, int]], tuple[float, float]],
    ) -> None:
        self.setting, self.joint, self.unit, self.driven, self.stack = setting, joint, unit, driven, stack
        self.markers = (joint.marker_1, joint.marker_2)
        self.carriers = tuple(setting.number(marker.body) for marker in self.markers)
        self.drawn = tuple(setting.is_seen(number) for number in self.carriers)
        self.free, self.locked = set(joint.kind.free), set(joint.kind.locked)
        self.pieces: list[Piece] = []

    def glyph(self) -> Glyph:
        """The glyph."""
        kind = self.joint.kind
        axis = self._axis()
        special = GUIDES.get(kind.name)
        if special is not None:
            special(self)
        elif kind.name in _RODS:
            self._ends_of_rod()
        elif self.locked & {"x", "y", "z"}:
            self._way()
            self._turning()
        marker = self.markers[0]
        direction = None
        if axis is not None:
            x, y, z = getattr(marker, f"{axis}_axis")
            direction = (float(x), float(y), float(z))
        carriers = (self.carriers[0], self.carriers[1])
        return Glyph(
            self.joint.name, kind.name, carriers, marker.position, direction, self.driven, tuple(self.pieces)
        )

    def _axis(self) -> str | None:
        """The marker axis of the glyph: that of the hinge, else of the slide, else the normal of a plane."""
        if (hinge := hinge_axis(self.joint)) is not None:
            return hinge
        slides = [axis for axis in "xyz" if axis not in self.locked]
        held = [axis for axis in "xyz" if axis in self.locked]
        return slides[0] if len(slides) == 1 else held[0] if len(held) == 1 else None

    def add(
        self,
        end: int,
        mesh: TriangleMesh,
        color: Color,
        turn: Floats | None = None,
        offset: Sequence[float] | Floats = (0.0, 0.0, 0.0),
        role: str = "joint",
    ) -> None:
        """Add a mesh to marker 1 or 2 (end 0 or 1), turned and shifted in the axes of the marker."""
        marker = self.markers[end]
        axes = matrix(marker.rotation)
        x, y, z = (np.asarray(marker.position) + axes @ np.asarray(offset, dtype=float)).tolist()
        rotation = from_matrix(axes @ (np.eye(3) if turn is None else turn))
        name = f"joint {self.joint.name}/{len(self.pieces) + 1}"
        element = f"joint {self.joint.name!r}"
        self.pieces.append(Piece(name, element, role, self.carriers[end], mesh, color, (x, y, z), rotation))

    @property
    def color(self) -> Color:
        """The colour of the turning part; driven joints have a distinct one."""
        return DRIVEN if self.driven else PIN

    @property
    def offset(self) -> Floats:
        """Origin 2 seen from marker 1 at the start."""
        way = self.setting.place(self.markers[1]) - self.setting.place(self.markers[0])
        seen: Floats = self.setting.axes(self.markers[0]).T @ way
        return seen

    def _way(self) -> None:
        """The guide along which marker 2 moves: a rail or a plane; nothing for a point."""
        slides = [axis for axis in "xyz" if axis not in self.locked]
        if len(slides) == 1 and not all(self.drawn):
            self._rail(slides[0])
        elif len(slides) == 2 and not self.drawn[0]:
            (normal,) = {"x", "y", "z"} - set(slides)
            self.plane(normal)

    def _rail(self, axis: str) -> None:
        """A round bar along an axis, or two beside a pin that turns across it."""
        place = "xyz".index(axis)
        low, high = self._travel(axis, float(self.offset[place]))
        turn, middle = TO_Z[axis], np.zeros(3)
        middle[place] = 0.5 * (low + high)
        hinge = hinge_axis(self.joint)
        length = round(high - low, 12)
        if hinge is not None and hinge != axis:
            (across,) = {"x", "y", "z"} - {axis, hinge}
            for side in (-1.0, 1.0):
                shift = middle.copy()
                shift["xyz".index(across)] = side * 1.55 * self.unit
                self.add(0, solids.cylinder(0.45 * self.unit, length, 16), RAIL, turn, shift)
            return
        self.add(0, solids.cylinder(0.6 * self.unit, length, 16), RAIL, turn, middle)
        if self.joint.kind.name == "Screw":
            self._thread(axis, low, high)

    def _thread(self, axis: str, low: float, high: float) -> None:
        turns = np.clip((high - low) / abs(getattr(self.joint.kind, "pitch", 1.0)), 4.0, 40.0)
        angle = np.linspace(0.0, 2.0 * np.pi * turns, int(10 * turns))
        r = 0.75 * self.unit
        way = np.stack([r * np.cos(angle), r * np.sin(angle), np.linspace(low, high, len(angle))], axis=1)
        self.add(0, solids.tube(tuple(map(tuple, way.tolist())), 0.2 * self.unit, 6), BLOCK, TO_Z[axis])

    def _travel(self, axis: str, at: float) -> tuple[float, float]:
        """The range of a rail: over its limits, or somewhat beyond the present positions."""
        for name, limit in self.joint.limits:
            if name == axis and limit.lower is not None and limit.upper is not None:
                return min(limit.lower, at) - 2.0 * self.unit, max(limit.upper, at) + 2.0 * self.unit
        reach = 7.0 * self.unit
        return min(0.0, at - reach), max(0.0, at + reach)

    def plane(self, normal: str) -> None:
        """A patch of the plane across an axis of marker 1."""
        at = self.offset
        at["xyz".index(normal)] = 0.0
        side = round(14.0 * self.unit, 12)
        self.add(
            0, solids.box((side, side, round(0.3 * self.unit, 12))), FACE, TO_Z[normal], at, role="surface"
        )

    def _turning(self) -> None:
        """The part on marker 2: a pin, a ball, a cross, a block."""
        hinge, unit = hinge_axis(self.joint), self.unit
        slides = [axis for axis in "xyz" if axis not in self.locked]
        if hinge is not None:
            if slides == [hinge]:
                self.add(1, solids.ring(1.5 * unit, 0.62 * unit, 4.0 * unit), self.color, TO_Z[hinge])
            else:
                self._pin(hinge)
        elif "universal_1" in self.free or "dot_zz" in self.locked:
            first, second = ("x", "y") if "universal_1" in self.free else ("z", "z")
            for end, axis in ((0, first), (1, second)):
                self.add(end, solids.cylinder(0.6 * unit, 4.4 * unit, 20), self.color, TO_Z[axis])
        elif {"rot_x", "rot_y", "rot_z"} & self.free:
            self._ball(all(f"rot_{axis}" in self.free for axis in "xyz"))
        elif slides:
            axis = slides[0]
            if not self.drawn[1]:
                size = (3.4 * unit, 3.4 * unit, 5.0 * unit)
                self.add(
                    1,
                    solids.box(tuple(round(x, 12) for x in size)),
                    DRIVEN if self.driven else BLOCK,
                    TO_Z[axis],
                )
        else:
            self.add(1, solids.box((1.8 * unit,) * 3), BLOCK)

    def _pin(self, axis: str) -> None:
        """A pin that protrudes on both sides of the parts that it joins."""
        unit = self.unit
        way = self.setting.axes(self.markers[1])[:, "xyz".index(axis)]
        at = self.setting.place(self.markers[1])
        low, high = self.stack(at, way, (self.carriers[0], self.carriers[1]))
        material = high - low
        low, high = min(low, -unit) - 0.5 * unit, max(high, unit) + 0.5 * unit
        middle = np.zeros(3)
        middle["xyz".index(axis)] = 0.5 * (low + high)
        length = round(high - low, 9)
        self.add(1, solids.cylinder(unit, length, 24), self.color, TO_Z[axis], middle)
        if GROUND in (self.markers[0].body, self.markers[1].body) and not self.setting.shown(-1):
            foot(self, 0 if self.markers[0].body == GROUND else 1, axis, (low, high), material)

    def _ball(self, all_ways: bool) -> None:
        """A ball in a cup that opens away from the first body."""
        unit = self.unit
        self.add(1, solids.ball(round(1.45 * unit, 12)), self.color)
        if all_ways:
            arc = np.linspace(-0.5 * np.pi, 0.12 * np.pi, 9)
            r, z = 1.85 * unit * np.cos(arc), 1.85 * unit * np.sin(arc)
            profile = [
                *zip(r.tolist(), z.tolist(), strict=True),
                (1.5 * unit * np.cos(arc[-1]), float(z[-1])),
            ]
            self.add(0, solids.revolved(tuple(profile)), BLOCK, self._away())
        else:
            for axis in "xz":
                self.add(0, solids.torus(1.6 * unit, 0.5 * unit), BLOCK, TO_Z[axis])

    def _away(self) -> Floats:
        """A matrix in the axes of marker 1 whose third column points away from the first body, or up."""
        marker, number = self.markers[0], self.carriers[0]
        carrier = self.setting.carriers[number]
        away = self.setting.place(marker) - self.setting.position[number]
        if marker.body != GROUND:
            away = self.setting.turn[number] @ (np.asarray(marker.position) - np.asarray(carrier.com))
        if marker.body == GROUND or np.linalg.norm(away) < self.unit:
            away = -np.asarray(self.setting.mechanism.gravity, dtype=float)
        if np.linalg.norm(away) < 1e-12:
            away = np.array([0.0, 0.0, 1.0])
        z = self.setting.axes(marker).T @ away
        z /= np.linalg.norm(z)
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])

    def _ends_of_rod(self) -> None:
        """A small ball or pin at each end of a massless rod, which is a link."""
        name, unit = self.joint.kind.name, self.unit
        for end in (0, 1):
            if name == "Distance" or (name == "RevoluteSpherical" and end == 1):
                self.add(end, solids.ball(round(1.1 * unit, 12)), self.color)
            else:
                self.add(end, solids.cylinder(unit, 3.0 * unit, 20), self.color)
