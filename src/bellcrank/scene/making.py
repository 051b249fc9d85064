"""Construction of the scene of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.flexible import amplitudes, frames
from bellcrank.mechanism.flywheels import flywheels_in
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.marker import GROUND
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import joints_of
from bellcrank.mechanism.rotation_arrays import cross, rotate
from bellcrank.scene.bodies import hidden_pieces, hinge_axis, made_up, shape_pieces
from bellcrank.scene.cams import cam_pieces
from bellcrank.scene.joints import GlyphBuilder
from bellcrank.scene.links import anchors, links_of
from bellcrank.scene.scene import Glyph, Piece, Scene
from bellcrank.scene.setting import Setting, pin_of, setting_of, size_of
from bellcrank.scene.sweeps import sweeps_of
from bellcrank.scene.wheels import wheel_pieces

_FEW = 20_000  # triangles, up to which several lines meet them at once
_MOTORS = ("JointMotor", "GearedMotor", "DCMotor", "Servo", "StepperMotor")


def of(mechanism: Mechanism, state: State | None = None) -> Scene:
    """The scene of a mechanism.

    state: at which its sizes and the lengths of guides are chosen; by default the assembled start. If the
    mechanism cannot be assembled, the scene shows it as described, and its `faults` give the reason.

    >>> scene = bc.scene.of(four_bar)
    >>> scene.name, list(scene.joints)
    ('four-bar', ['motor', 'pin 1', 'pin 2', 'pivot'])
    >>> len([piece for piece in scene.pieces if piece.role == "shape"])    # three bars
    3
    """
    setting = setting_of(mechanism, state)
    faults = list(setting.faults)
    shapes = shape_pieces(setting, faults)
    corners = [corners_of(setting, pieces) for pieces in shapes[:-1] if pieces]
    size = size_of(setting, corners)
    unit = round(pin_of(setting, size), 12)
    layers = layers_of(setting)
    cams = list(cam_pieces(setting, unit))
    seen = {piece.carrier for piece in cams}
    unseen = flywheels_in(setting.mechanism)
    seen |= {setting.number(name) for name in amplitudes(setting.mechanism) | frames(setting.mechanism)}
    for number, name in enumerate(carrier.name for carrier in setting.carriers[:-1]):
        if not setting.is_seen(number) and name not in unseen:
            shapes[number] = made_up(setting, number, unit, layers[number], number in seen)
    names = tuple(carrier.name for carrier in setting.carriers)
    for piece in (*wheel_pieces(setting, unit), *cams):
        shapes[piece.carrier].append(piece)
    links = links_of(setting, unit)
    if not setting.shown(-1):
        shapes[-1] += anchors(list(links.values()), len(names) - 1, unit)
    gravity = np.asarray(setting.mechanism.gravity, dtype=float)
    return Scene(
        setting.mechanism,
        names,
        MappingProxyType({name: tuple(pieces) for name, pieces in zip(names, shapes, strict=True)}),
        MappingProxyType(_glyphs(setting, shapes, unit)),
        MappingProxyType(links),
        setting.state,
        size,
        _up(gravity),
        tuple(faults),
        MappingProxyType(sweeps_of(setting)),
    )


def _up(gravity: Floats) -> tuple[float, float, float]:
    weight = float(np.linalg.norm(gravity))
    x, y, z = (-gravity / weight if weight > 0.0 else np.array([0.0, 0.0, 1.0])).tolist()
    return (x, y, z)


def corners_of(setting: Setting, pieces: Sequence[Piece]) -> Floats:
    """Corners of the boxes about the pieces of a body, in the world (n, 3)."""
    found = []
    for piece in pieces:
        low, high = piece.mesh.corners
        box = np.array([[(low, high)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)])
        own = rotate(np.asarray(piece.rotation)[None], box) + np.asarray(piece.position)
        found.append(own @ setting.turn[piece.carrier].T + setting.position[piece.carrier])
    return np.concatenate(found)


def layers_of(setting: Setting) -> list[int]:
    """A plane for each body: bodies with a joint between them lie side by side instead of overlapping."""
    neighbours: dict[str, set[str]] = {carrier.name: set() for carrier in setting.carriers}
    for joint in setting.mechanism.joints.values():
        one, two = joint.marker_1.body, joint.marker_2.body
        if GROUND not in (one, two) and one in neighbours and two in neighbours and hinge_axis(joint):
            neighbours[one].add(two)
            neighbours[two].add(one)
    layers: dict[str, int] = {}
    for name in (carrier.name for carrier in setting.carriers):
        taken = {layers[other] for other in neighbours[name] if other in layers}
        layers[name] = next(k for k in (0, 1, -1, 2, -2, *range(3, len(layers) + 4)) if k not in taken)
    return list(layers.values())


def _glyphs(setting: Setting, pieces: list[list[Piece]], unit: float) -> dict[str, Glyph]:
    mechanism = setting.mechanism
    driven = {
        name for drive in mechanism.drives.values() if isinstance(drive, Drive) for name in joints_of(drive)
    }
    for force in mechanism.forces.values():
        if type(force.kind).__name__ in _MOTORS:
            driven.update(joints_of(force))
    stack = _Stack(setting, pieces, unit)
    known = {carrier.name for carrier in setting.carriers} - amplitudes(mechanism)
    unseen = flywheels_in(mechanism)
    return {
        name: GlyphBuilder(setting, joint, unit, name in driven, stack).glyph()
        for name, joint in mechanism.joints.items()
        if _is_there(joint, known) and name not in unseen
    }


def _is_there(joint: Joint, known: set[str]) -> bool:
    return joint.marker_1.body in known and joint.marker_2.body in known


class _Stack:
    """The thickness of two bodies' material along a line through a joint."""

    def __init__(self, setting: Setting, pieces: list[list[Piece]], unit: float) -> None:
        self._setting, self._pieces, self._unit = setting, pieces, unit
        self._corners: dict[int, Any] = {}

    def __call__(self, at: Floats, way: Floats, carriers: tuple[int, int]) -> tuple[float, float]:
        """The range of material, m along the line; both 0 if there is none."""
        unit = self._unit
        side = np.cross(way, np.eye(3)[int(np.argmin(np.abs(way)))])
        side /= np.linalg.norm(side)
        other = np.cross(way, side)
        reach = np.zeros(2)
        for carrier in carriers:
            corners = self._triangles(carrier)
            if not len(corners):
                continue
            lines = at + 0.7 * unit * np.array([0.0 * side, side, -side, other, -other])
            at_once = len(lines) if len(corners) < _FEW else 1
            depths = np.concatenate(
                [crossings(corners, lines[k : k + at_once], way) for k in range(0, len(lines), at_once)]
            )
            depths = depths[np.abs(depths) < 9.0 * unit]
            if len(depths):
                reach = np.array([min(reach[0], depths.min()), max(reach[1], depths.max())])
        return float(reach[0]), float(reach[1])

    def _triangles(self, carrier: int) -> Floats:
        """The triangles (n, 3, 3) of a body in the world; none of the ground."""
        if carrier == len(self._setting.carriers) - 1:
            return np.empty((0, 3, 3))
        if carrier not in self._corners:
            position, turn = self._setting.position[carrier], self._setting.turn[carrier]
            pieces = [*self._pieces[carrier], *hidden_pieces(self._setting, carrier)]
            found = [(piece.vertices @ turn.T + position)[piece.mesh.triangles] for piece in pieces]
            self._corners[carrier] = np.concatenate(found) if found else np.empty((0, 3, 3))
        kept: Floats = self._corners[carrier]
        return kept


def crossings(corners: Floats, at: Floats, way: Floats) -> Floats:
    """Depths at which lines through points (k, 3) meet triangles (n, 3, 3), m along `way` (3,).

    T. Moeller, B. Trumbore, 1997.
    """
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = cross(way, second)
    volume = np.einsum("nk,nk->n", first, across)
    scale = np.where(np.abs(volume) > 1e-30, volume, np.inf)
    from_corner = at[:, None] - corners[:, 0]
    u = np.einsum("lnk,nk->ln", from_corner, across) / scale
    bend = cross(from_corner, first)
    v = (bend @ way) / scale
    depth = np.einsum("nk,lnk->ln", second, bend) / scale
    meets = (np.abs(volume) > 1e-30) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    found: Floats = depth[meets]
    return found
