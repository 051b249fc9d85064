"""Cams by their outlines, and what rolls or slides on them, for bodies without shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from bellcrank.mechanism.attachment import Attachment
from bellcrank.mechanism.cams import CamFollower
from bellcrank.mechanism.marker import Marker
from bellcrank.scene import mesh as solids
from bellcrank.scene.bodies import color_of
from bellcrank.scene.scene import Piece
from bellcrank.scene.setting import Setting

_POINTS: Final = 360  # of an outline
_EDGE: Final = 1.2  # half the width of a knife edge, in radii of pins


def cam_pieces(setting: Setting, unit: float) -> Iterator[Piece]:
    """The cam of each cam follower, and its roller, edge or face; unit: radius of pins, m."""
    for element in setting.mechanism.constraints.values():
        kind = element.kind
        if not isinstance(kind, CamFollower):
            continue
        thick = round(kind.width or 3.0 * unit, 12)
        cam, follower = (_marker(setting, end) for end in element.ends)
        outline = kind.profile(np.linspace(0.0, 2.0 * np.pi, _POINTS, endpoint=False)).outline[::-1]
        plate = solids.extruded(tuple(map(tuple, outline.round(12).tolist())), thick)
        yield from _on(setting, cam, element.name, plate)
        if not isinstance(element.ends[1], Marker):
            continue
        if kind.follower == "flat":
            face = 2.2 * float(np.max(np.linalg.norm(outline, axis=1)))
            mesh = solids.box((round(face, 12), round(unit, 12), thick))
            yield from _on(setting, follower, element.name, mesh, 0.5 * unit)
        elif kind.follower == "knife":
            wide = round(_EDGE * unit, 12)
            mesh = solids.extruded(((0.0, 0.0), (wide, 4.0 * wide), (-wide, 4.0 * wide)), thick)
            yield from _on(setting, follower, element.name, mesh)
        else:
            mesh = solids.cylinder(round(float(kind.roller_radius or 0.0), 12), thick)
            yield from _on(setting, follower, element.name, mesh)


def _marker(setting: Setting, end: Attachment) -> Marker:
    return end if isinstance(end, Marker) else setting.mechanism.joints[end.joint].marker_2


def _on(
    setting: Setting, marker: Marker, name: str, mesh: solids.TriangleMesh, up: float = 0.0
) -> Iterator[Piece]:
    """A piece at a marker, a little up its y axis, unless its body has shapes of its own."""
    number = setting.number(marker.body)
    if setting.shown(number):
        return
    x, y, z = (np.asarray(marker.position) + up * np.asarray(marker.y_axis)).tolist()
    color = color_of(None, number)
    body = f"body {marker.body!r}" if number < len(setting.carriers) - 1 else "ground"
    yield Piece(f"{marker.body}/{name}", body, "body", number, mesh, color, (x, y, z), marker.rotation)
