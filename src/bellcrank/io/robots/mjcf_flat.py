"""MJCF geoms without end: planes, and height fields, whose heights are written out or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.io.robots.mjcf_document import Document
from bellcrank.io.robots.pose import Pose
from bellcrank.io.robots.shapes import Color
from bellcrank.io.robots.xml_tree import Attributes, Element
from bellcrank.mechanism.shape import Plane, Shape
from bellcrank.mechanism.terrain import MOST, Terrain, brightness
from bellcrank.named_files import content_of

KINDS: Final = ("plane", "hfield")
_LARGEST: Final = 8 + 4 * MOST  # bytes of a file of heights: two counts, and numbers of four bytes


def flat(document: Document, at: Element, given: Attributes, pose: Pose, color: Color) -> Shape | None:
    """The plane or the terrain of a geom; None where a fault, or a part left out, says why."""
    common: dict[str, Any] = {"position": pose.position, "rotation": pose.rotation, "color": color}
    source = document.source
    if given.get("type") == "plane":
        halves = (source.numbers(at, "size", given.get("size"), 1, 3) or (0.0,))[:2]
        extent = 2.0 * max(halves) if min(halves) > 0.0 else 0.0  # 0 is without end
        return Plane(size=extent, **common) if extent else Plane(**common)
    name = given.get("hfield", "")
    fields = [one for one in document.items("asset") if one.tag == "hfield"]
    asset = next((one for one in fields if (one.name or Path(one.get("file")).stem) == name), None)
    if asset is None:
        source.fault(at, "there is no height field of this name", name)
        return None
    size = source.numbers(asset, "size", asset.get("size"), 4)
    heights = _heights(document, asset)
    if size is None or heights is None or min(size[:2]) <= 0.0 or min(heights.shape) < 2:
        source.leave(at, str(at), "its height field is not taken", name)
        return None
    low, high = heights.min(), heights.max()
    heights = (heights - low) / (high - low) if high > low else np.zeros_like(heights)
    spacing = tuple(2.0 * half / (count - 1) for half, count in zip(size, heights.shape[::-1], strict=False))
    with source.faults.collect(at.location):
        return Terrain(heights=size[2] * heights, spacing=spacing, origin=(-size[0], -size[1]), **common)
    return None


def _heights(document: Document, at: Element) -> np.ndarray | None:
    """Heights by rows along y, the least y first, as they are written."""
    source = document.source
    if text := at.get("file"):
        path = source.file(text, document.of(at).folders["mesh"])
        if path is None:
            source.leave(at, str(at), f"its file is not found in {source.searched}", text)
            return None
        try:
            if path.suffix.lower() == ".png":
                return brightness(path, str(at), MOST)[::-1]
            return _binary(content_of(path, str(at), _LARGEST))
        except MechanismError as error:
            source.leave(at, str(at), error.faults[0].rule, text)
            return None
    rows, columns = (int(document.number(at, at.attributes, key)) for key in ("nrow", "ncol"))
    if not 0 < rows * columns <= MOST:
        source.fault(at, f"must be at least 2 rows and columns, and {MOST} heights at most", (rows, columns))
        return None
    numbers = source.numbers(at, "elevation", at.attributes.get("elevation"), rows * columns)
    if numbers is None:
        return np.zeros((rows, columns))
    return np.array(numbers).reshape(rows, columns)[::-1]


def _binary(content: bytes) -> np.ndarray | None:
    """Two counts (rows, columns), then heights."""
    rows, columns = (int.from_bytes(content[start : start + 4], "little") for start in (0, 4))
    if rows * columns == 0 or len(content) != 8 + 4 * rows * columns:
        return None
    found: np.ndarray = np.frombuffer(content, "<f4", offset=8).astype(float).reshape(rows, columns)
    return found if np.all(np.isfinite(found)) else None
