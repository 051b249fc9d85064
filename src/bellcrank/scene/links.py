"""Links from body to body: springs, dampers, strings, cables and massless rods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from bellcrank.mechanism.attachment import Constraint
from bellcrank.mechanism.beams import BeamSegment
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.ropes import Way
from bellcrank.scene import mesh as solids
from bellcrank.scene.mesh import TriangleMesh
from bellcrank.scene.scene import Color, Link, Piece, RopeWay
from bellcrank.scene.setting import Setting

SPRING: Final = (0.72, 0.24, 0.20, 1.0)
DAMPER: Final = (0.36, 0.40, 0.45, 1.0)
STRING: Final = (0.76, 0.52, 0.20, 1.0)
BELT: Final = (0.25, 0.26, 0.28, 1.0)
ROD: Final = (0.45, 0.48, 0.52, 1.0)
_ANCHOR: Final = (0.66, 0.66, 0.64, 1.0)
_COILS: Final = 9
_SPRING: Final = (
    25.0  # pins: length of a spring of so many coils; longer ones have more, shorter ones are thinner
)
_STOUTEST: Final = 0.06  # of its length, of a spring's pins
_MOST_COILS: Final = 60
_SHAPED: Final = (BeamSegment,)  # a part of a beam, which is drawn as a whole
_RODS: Final = ("Distance", "RevoluteSpherical", "ParallelLink", "PlungingParallelLink")


def links_of(setting: Setting, unit: float) -> dict[str, Link]:
    """The links of a mechanism by name; unit: radius of pins, m."""
    mechanism = setting.mechanism
    found: dict[str, Link] = {}
    known = {carrier.name for carrier in setting.carriers}
    forces = [force for force in mechanism.forces.values() if not isinstance(force.kind, (Contact, *_SHAPED))]
    forces += [force for force in mechanism.forces.values() if _is_bare(setting, force)]
    elements: list[Any] = [*forces, *mechanism.constraints.values()]
    elements += [joint for joint in mechanism.joints.values() if joint.kind.name in _RODS]
    for element in elements:
        if isinstance(element.kind, Way):
            if all(marker.body in known for marker in element.markers):
                rope = _rope(setting, element, unit)
                found[rope.name] = rope
            continue
        for number, (one, two) in enumerate(_spans(element), start=1):
            if one.body not in known or two.body not in known:
                continue
            length = float(np.linalg.norm(setting.place(two) - setting.place(one)))
            look = _look(element, unit, length)
            if look is None:
                continue
            mesh, color, slack = look
            category = getattr(element, "category", "joint")
            name = f"{category} {element.name}" + ("" if number == 1 else f"/{number}")
            found[name] = Link(
                name,
                f"{category} {element.name!r}",
                element.kind.name if hasattr(element.kind, "name") else type(element.kind).__name__,
                (setting.number(one.body), setting.number(two.body)),
                np.array([one.position, two.position], dtype=float),
                mesh,
                color,
                slack,
            )
    return found


def _is_bare(setting: Setting, force: Any) -> bool:
    """Whether a segment of a beam stands alone, and its bodies show nothing."""
    return isinstance(force.kind, _SHAPED) and not all(
        setting.is_seen(setting.number(marker.body)) or marker.body == GROUND for marker in force.markers
    )


def _rope(setting: Setting, element: Any, unit: float) -> Link:
    """A rope over wheels, or a belt."""
    kind, at = element.kind, element.markers
    carriers = np.array([setting.number(marker.body) for marker in at], dtype=np.int32)
    points = np.array([marker.position for marker in at], dtype=float)
    axes = np.array([marker.z_axis for marker in at], dtype=float)
    way = RopeWay(carriers, points, axes, np.array(kind.drawn_radii, dtype=float), kind.closed, kind.lifting)
    name = f"{element.category} {element.name}"
    thick, color = (0.5, BELT) if kind.closed else (0.3, STRING)
    ends = [0, 0 if kind.closed else -1]
    held = (int(carriers[ends[0]]), int(carriers[ends[1]]))
    shown = f"{element.category} {element.name!r}"
    return Link(name, shown, kind.name, held, points[ends], rod(thick * unit), color, way=way)


def anchors(links: Sequence[Link], ground: int, unit: float) -> list[Piece]:
    """Small blocks where links are fixed to the ground, without duplicates."""
    places = [
        points
        for link in links
        for end, points in zip(link.carriers, link.points, strict=True)
        if end == ground and (link.way is None or not link.way.radii[[0, -1]].any())
    ]
    found: dict[tuple[float, ...], Piece] = {}
    for point in places:
        x, y, z = point.tolist()
        name, mesh = f"ground/{len(found) + 1}", solids.box((round(1.8 * unit, 12),) * 3)
        found.setdefault((x, y, z), Piece(name, "ground", "support", ground, mesh, _ANCHOR, (x, y, z)))
    return list(found.values())


def _spans(element: Any) -> Iterator[tuple[Marker, Marker]]:
    """Pairs of markers that the element connects."""
    markers = (element.marker_1, element.marker_2) if hasattr(element, "marker_1") else element.markers
    if isinstance(element, Constraint):
        markers = markers if type(element.kind).__name__ in ("Cable", "Winch") else ()
    return pairwise(markers)


def _look(element: Any, unit: float, length: float) -> tuple[TriangleMesh, Color, float] | None:
    """Mesh, colour and slack length of an element, by its kind, its ends at a distance."""
    kind = element.kind
    name = type(kind).__name__
    if name == "RubberString":
        return rod(0.35 * unit), STRING, float(kind.rest_length)
    if name in ("Cable", "Winch"):
        return rod(0.3 * unit), ROD, 0.0
    if name in _RODS:
        return rod(0.6 * unit), ROD, 0.0
    if name in ("SpringDamper", "TabulatedSpring", "OneSidedSpring"):
        if getattr(kind, "stiffness", 1.0) == 0.0 and getattr(kind, "curve", None) is None:
            return damper(unit), DAMPER, 0.0
        return coil(unit, length), SPRING, 0.0
    if hasattr(kind, "stroke") and element.markers:
        thick, thin = (0.5 * kind.bore, 0.5 * kind.rod) if hasattr(kind, "bore") else (0.9 * unit, 0.4 * unit)
        return strut(thick, thin), DAMPER, 0.0
    if name in ("Bushing", "BearingClearance", "Tyre"):
        return None
    return (rod(0.25 * unit), DAMPER, 0.0) if element.markers else None


def rod(radius: float) -> TriangleMesh:
    """A round bar along z from 0 to 1."""
    radius = round(radius, 12)
    return solids.revolved(((0.0, 0.0), (radius, 0.0), (radius, 1.0), (0.0, 1.0)), 16)


def coil(unit: float, length: float) -> TriangleMesh:
    """A coil spring along z from 0 to 1, with straight ends; length: at which its wire is round, m."""
    length = round(length, 6) or _SPRING * unit
    unit = min(unit, _STOUTEST * length)
    coils = int(np.clip(round(_COILS * length / (_SPRING * unit)), _COILS, _MOST_COILS))
    turns = np.linspace(0.0, 1.0, 24 * coils + 1)
    fade = np.clip(np.minimum(turns, 1.0 - turns) * coils / 0.75, 0.0, 1.0)
    radius = 1.9 * unit * fade
    angle = 2.0 * np.pi * coils * turns
    z = 0.12 + 0.76 * turns
    way = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    way = np.concatenate([[[0.0, 0.0, 0.0]], way, [[0.0, 0.0, 1.0]]]) * (1.0, 1.0, length)
    wire = solids.tube(tuple(map(tuple, way.round(12).tolist())), round(0.33 * unit, 12), 8)
    return _narrowed(wire, length)


def damper(unit: float) -> TriangleMesh:
    """A dashpot along z from 0 to 1: a cylinder with a thinner rod."""
    wide, thin = round(1.3 * unit, 12), round(0.5 * unit, 12)
    profile = (
        (0.0, 0.0),
        (thin, 0.0),
        (thin, 0.2),
        (wide, 0.2),
        (wide, 0.6),
        (thin, 0.6),
        (thin, 1.0),
        (0.0, 1.0),
    )
    return solids.revolved(profile)


def strut(thick: float, thin: float) -> TriangleMesh:
    """A barrel along z from 0 on, and the rod that comes out of it, to 1."""
    barrel, rod_ = round(thick, 12), round(thin, 12)
    return solids.revolved(((0.0, 0.0), (barrel, 0.0), (barrel, 0.55), (rod_, 0.55), (rod_, 1.0), (0.0, 1.0)))


def _narrowed(mesh: TriangleMesh, length: float) -> TriangleMesh:
    """A mesh of the given length along z scaled to length one, its normals adjusted accordingly."""
    normals = mesh.normals * (1.0, 1.0, length)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return TriangleMesh(mesh.vertices / (1.0, 1.0, length), mesh.triangles, normals)
