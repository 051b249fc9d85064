"""Gears with teeth, belts round their pulleys, and tyres, for bodies without shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.mechanism.attachment import Constraint
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.ropes import Way
from bellcrank.mechanism.rotation import from_matrix
from bellcrank.mechanism.tyre import Tyre
from bellcrank.scene import mesh as solids
from bellcrank.scene.bodies import color_of
from bellcrank.scene.links import BELT
from bellcrank.scene.scene import Color, Piece
from bellcrank.scene.setting import Setting

_FIXED: Final = (0.66, 0.66, 0.64, 1.0)
_MODULE: Final = 1.6  # pins' radii, of teeth whose number is not given
_LEAST, _MOST = 8, 160  # fewest and most teeth of a wheel that are drawn


def wheel_pieces(setting: Setting, unit: float) -> Iterator[Piece]:
    """The wheels of gears and belts, belts that run in one frame, and tyres; unit: radius of pins, m."""
    known = {carrier.name for carrier in setting.carriers}
    mechanism = setting.mechanism
    elements: list[Any] = [*mechanism.constraints.values(), *mechanism.forces.values()]
    for element in elements:
        if isinstance(element.kind, Way):
            yield from _sheaves(setting, element, unit, known)
            continue
        if isinstance(element.kind, Tyre):
            yield from _tyre(setting, element, known)
            continue
        markers = element.markers
        if len(markers) != 2 or any(marker.body not in known for marker in markers):
            continue
        kind = type(element.kind).__name__
        outside = kind == "Gear" or (kind == "ElasticGear" and not element.kind.internal)
        if (outside or kind == "Belt") and (radii := _radii(setting, element)) is not None:
            if outside:
                yield from _gears(setting, element, radii, unit)
            else:
                yield from _belt(setting, element, radii, unit)


def _tyre(setting: Setting, element: Any, known: set[str]) -> Iterator[Piece]:
    """A tyre of round section."""
    marker, kind = element.markers[0], element.kind
    if marker.body in known and not setting.shown(setting.number(marker.body)):
        width = round(float(kind.width), 12)
        yield _piece(
            setting, element, marker, solids.torus(round(kind.radius - 0.5 * width, 12), width), BELT
        )


def _sheaves(setting: Setting, element: Any, unit: float, known: set[str]) -> Iterator[Piece]:
    """The wheels of a rope or belt, one where several are next to each other on an axle."""
    drawn = set()
    for number, (marker, radius) in enumerate(zip(element.markers, element.kind.drawn_radii, strict=True)):
        key = (marker, abs(radius))
        if radius == 0.0 or key in drawn or marker.body not in known:
            continue
        if setting.shown(setting.number(marker.body)):
            continue
        drawn.add(key)
        radius = max(abs(radius) - 0.4 * unit, 0.2 * abs(radius))
        disc = solids.cylinder(round(radius, 12), round(1.6 * unit, 12))
        color = _color(setting, marker) if marker.body != GROUND else _FIXED
        piece = _piece(setting, element, marker, disc, color)
        yield replace(piece, name=f"{piece.name}/{number + 1}")


def _radii(setting: Setting, element: Constraint) -> tuple[float, float] | None:
    """Pitch radii, m: as given, or those at which external gears touch; None if they are unknown."""
    kind: Any = element.kind
    if kind.radii is not None:
        return (float(kind.radii[0]), float(kind.radii[1]))
    if type(kind).__name__ == "Belt":
        return None
    away = _across(setting, *element.markers)
    first, second = kind.weights
    distance = float(np.linalg.norm(away))
    return (
        (distance * first / (first + second), distance * second / (first + second))
        if distance > 0.0
        else None
    )


def _across(setting: Setting, one: Marker, two: Marker) -> Floats:
    """The vector from one axis to the other, in the axes of marker 1, (3,), m."""
    away = setting.axes(one).T @ (setting.place(two) - setting.place(one))
    away[2] = 0.0
    found: Floats = away
    return found


def _gears(setting: Setting, element: Constraint, radii: tuple[float, float], unit: float) -> Iterator[Piece]:
    """Two toothed wheels; a tooth of the one lies in a gap of the other."""
    one, two = element.markers
    given: Any = getattr(element.kind, "teeth", None)
    least = min(radii)
    small = int(np.clip(round(2.0 * least / (_MODULE * unit)), _LEAST, _MOST))
    counts = given or tuple(round(small * radius / least) for radius in radii)
    for end, (marker, other) in enumerate(((one, two), (two, one))):
        if max(counts) > _MOST or setting.shown(setting.number(marker.body)):
            continue
        away = _across(setting, marker, other)
        turn = float(np.arctan2(away[1], away[0])) + (np.pi / counts[end] if end else 0.0)
        mesh = solids.extruded(_toothed(radii[end], int(counts[end]), turn), round(2.5 * unit, 12))
        yield _piece(setting, element, marker, mesh, _color(setting, marker))


def _toothed(radius: float, teeth: int, turn: float) -> solids.Points:
    """The outline of a wheel with trapezoidal teeth, one of them at an angle, rad."""
    module = 2.0 * radius / teeth
    pitch = 2.0 * np.pi / teeth
    angles = turn + pitch * (np.arange(teeth)[:, None] + np.array([-0.36, -0.16, 0.16, 0.36]))
    heights = radius + module * np.array([-1.1, 0.9, 0.9, -1.1])
    x, y = heights * np.cos(angles), heights * np.sin(angles)
    return tuple(map(tuple, np.stack([x.ravel(), y.ravel()], axis=1).round(12).tolist()))


def _belt(setting: Setting, element: Constraint, radii: tuple[float, float], unit: float) -> Iterator[Piece]:
    """Two pulleys and, if both turn in one frame, the belt round them."""
    one, two = element.markers
    for marker, radius in zip((one, two), radii, strict=True):
        if not setting.shown(setting.number(marker.body)):
            disc = solids.cylinder(round(radius - 0.4 * unit, 12), round(1.6 * unit, 12))
            yield _piece(setting, element, marker, disc, _color(setting, marker))
    carriers = _bearing(setting, one.body) & _bearing(setting, two.body)
    crossed = bool(getattr(element.kind, "crossed", False))
    way = belt_way(radii, _across(setting, one, two)[:2], crossed)
    if not carriers or way is None:
        return
    number = min(carriers)
    mesh = solids.tube(tuple(map(tuple, way.round(12).tolist())), round(0.5 * unit, 12), 8)
    turn = setting.turn[number].T @ setting.axes(one)
    at = setting.turn[number].T @ (setting.place(one) - setting.position[number])
    x, y, z = at.tolist()
    name = f"{setting.carriers[number].name}/{element.name}"
    yield Piece(
        name, f"constraint {element.name!r}", "joint", number, mesh, BELT, (x, y, z), from_matrix(turn)
    )


def belt_way(radii: tuple[float, float], away: Floats, crossed: bool) -> Floats | None:
    """The closed path (n, 3), m, of a belt round pulleys; away (2,): from the first. None without room."""
    distance = float(np.linalg.norm(away))
    lift = (radii[0] + radii[1] if crossed else radii[0] - radii[1]) / max(distance, 1e-300)
    if abs(lift) >= 1.0:
        return None
    bend, ahead = float(np.arccos(lift)), float(np.arctan2(away[1], away[0]))
    reach = bend - np.pi if crossed else bend
    first, second = np.linspace(bend, 2.0 * np.pi - bend, 40), np.linspace(-reach, reach, 40)
    arcs = [np.stack([np.cos(ahead + angle), np.sin(ahead + angle)], axis=1) for angle in (first, second)]
    way = np.concatenate([radii[0] * arcs[0], away + radii[1] * arcs[1]])
    return np.column_stack([np.vstack([way, way[:1]]), np.zeros(len(way) + 1)])


def _bearing(setting: Setting, body: str) -> set[int]:
    """The carriers that joints connect to a body."""
    found = set()
    for joint in setting.mechanism.joints.values():
        pair = (joint.marker_1.body, joint.marker_2.body)
        if body in pair:
            found.add(setting.number(pair[1] if pair[0] == body else pair[0]))
    return found


def _color(setting: Setting, marker: Marker) -> Color:
    return color_of(None, setting.number(marker.body))


def _piece(
    setting: Setting, element: Constraint, marker: Marker, mesh: solids.TriangleMesh, color: Color
) -> Piece:
    name = f"{marker.body}/{element.name}"
    place, number = marker.position, setting.number(marker.body)
    return Piece(name, f"body {marker.body!r}", "body", number, mesh, color, place, marker.rotation)
