"""Contact points and contact forces drawn over a picture: marks, arrows, and their key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.scene.view import View

FORCE: Final = (0.80, 0.05, 0.33)
STICKS: Final = (0.07, 0.16, 0.47)
SLIPS: Final = (1.00, 0.82, 0.05)
COLORS: Final = (FORCE, STICKS, SLIPS)
"""Colours of arrows and of points, none of which is a body's."""
LONGEST: Final = 0.25  # of the smaller side of the picture: the arrow of the largest usual force of a run
CUT: Final = 0.5  # of the smaller side: longer arrows are cut
_SHAFT, _HEAD, _HEAD_LENGTH = 0.9, 2.6, 7.5  # half widths and a length, points
_MARK, _FINE = 17.0, 4.0  # areas of marks, square points
_WIDE: Final = 4.0  # inches: marks and arrows are smaller in narrower pictures
_WORDS: Final = 4  # arrows per instant that are cut and labelled with their force
_INK: Final = "#3c4043"
_KEY: Final = 0.2  # of the width: the longest arrow of the key


@dataclass(frozen=True, eq=False)
class ContactMarks:
    """Contact points at one instant, and the forces that are drawn, in the world.

    position: (n, 3), m. sticks: (n,), whether friction holds the point. fine: (n,), whether it is one of many
    whose forces are drawn as one. tail: (m, 3), m, where forces act. force: (m, 3), N.
    """

    position: Floats
    sticks: Any
    fine: Any
    tail: Floats
    force: Floats


@dataclass(frozen=True)
class ForceScale:
    """The scale from forces to arrows.

    usual, largest: the force, N, whose arrow has the usual length, and the largest that occurs; 0 where none
    does. newtons: that an arrow of 1 m stands for. longest: m; longer ones are cut.
    """

    usual: float
    largest: float
    newtons: float
    longest: float

    @staticmethod
    def of(usual: float, largest: float, size: float, newtons: float | None = None) -> ForceScale:
        """The given scale, N/m, or the one that makes the usual force a fraction of the picture's size, m."""
        if newtons is None:
            newtons = usual / (LONGEST * size) if usual > 0.0 else 1.0
        return ForceScale(usual, largest, newtons, CUT * size)

    def ways(self, force: Floats) -> tuple[Floats, Any]:
        """Arrows (m, 3), m, of forces (m, 3), N, and which of them are cut."""
        length = np.linalg.norm(force, axis=1) / self.newtons
        cut = length > self.longest * (1.0 + 1e-9)
        factor = np.where(cut, self.longest / np.maximum(length, 1e-300), 1.0)
        return force * (factor / self.newtons)[:, None], cut


@dataclass(frozen=True, eq=False)
class ContactMarking:
    """Marks of instants on one scale: the given one, N/m, or one that suits the picture.

    usual, largest: as in `ForceScale`.
    """

    marks: Sequence[ContactMarks]
    usual: float
    largest: float
    newtons: float | None = None

    def scaled(self, width: float, height: float) -> ContactLayer:
        """The marks scaled for a picture of a given size, m."""
        size = max(min(width, height), 0.3 * max(width, height))
        return ContactLayer(self.marks, ForceScale.of(self.usual, self.largest, size, self.newtons))


@dataclass(frozen=True, eq=False)
class ContactLayer:
    """Marks of instants, and the common scale of their forces."""

    marks: Sequence[ContactMarks]
    scale: ForceScale

    def outline(self, view: View) -> list[Floats]:
        """Points that a picture of these marks must contain, each (n, 2), in the projected world."""
        found = []
        for one in self.marks:
            ways, cut = self.scale.ways(one.force)
            tips = view.project(one.tail + ways)[:, :2]
            words = tips[cut] + np.array([0.22, 0.1]) * self.scale.longest  # beside them
            found += [view.project(np.concatenate([one.position, one.tail]))[:, :2], tips, words]
        return found

    def draw(self, axes: Any, view: View, number: int, strength: float = 1.0) -> list[Any]:
        """Draw the marks of an instant into axes. strength: 0 to 1."""
        one, made = self.marks[number], []
        ways, cut = self.scale.ways(one.force)
        tail, tip = view.project(one.tail)[:, :2], view.project(one.tail + ways)[:, :2]
        made += _arrows(axes, tail, tip, cut, strength)
        force = np.linalg.norm(one.force, axis=1)
        for which in sorted(np.flatnonzero(cut), key=lambda k: -force[k])[:_WORDS]:
            made.append(_words(axes, tip[which], force_text(float(force[which])), (3.0, 3.0)))
        places = view.project(one.position)[:, :2]
        area = np.where(one.fine, _FINE, _MARK)
        for which, color, shape in ((one.sticks, STICKS, "o"), (~one.sticks, SLIPS, "D")):
            if np.any(which):
                made.append(_marks(axes, places[which], area[which], color, shape, strength))
        return made

    def key(self, axes: Any, width: float, corner: Floats) -> None:
        """Draw an arrow of a round force, and samples of sticking and slipping points.

        width: of the picture, m. corner: its lower left, in the axes.
        """
        if self.scale.largest <= 0.0:
            return
        point = points_of(axes, width)
        longest = min(_KEY * width, 0.8 * self.scale.longest)
        newtons = round_down(min(self.scale.largest, longest * self.scale.newtons))
        length = newtons / self.scale.newtons
        x, y = corner[0] + 0.025 * width, corner[1] + 0.022 * width + 24.0 * point
        start, end = np.array([[x, y]]), np.array([[x + length, y]])
        _arrows(axes, start, end, np.array([False]), 1.0)
        after = max(length, 12.0 * point)
        text = _words(axes, np.array([x + after, y]), force_text(newtons), (4.0, 0.0), ("left", "center"))
        text.set_gid("force key")
        x += after + 48.0 * point
        for color, shape, word, step in ((STICKS, "o", "sticks", 34.0), (SLIPS, "D", "slips", 0.0)):
            _marks(axes, np.array([[x, y]]), np.array([_MARK]), color, shape, 1.0)
            _words(axes, np.array([x, y]), word, (4.0, 0.0), ("left", "center"))
            x += step * point


def points_of(axes: Any, width: float) -> float:
    """The length of a typographic point in a picture of a given width, m."""
    return width / (72.0 * _inches(axes))


def _inches(axes: Any) -> float:
    return float(axes.get_window_extent().width / axes.get_figure().dpi)


def _small(axes: Any) -> float:
    """The reduction factor of marks and arrows in a small picture."""
    return min(1.0, max(0.5, _inches(axes) / _WIDE))


def round_down(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not larger."""
    power = 10.0 ** floor(log10(most))
    return max(factor * power for factor in (1.0, 2.0, 5.0, 0.5) if factor * power <= most * (1.0 + 1e-12))


def force_text(force: float) -> str:
    """A force as text, with three digits."""
    for unit, newtons in (("MN", 1e6), ("kN", 1e3), ("N", 1.0), ("mN", 1e-3)):
        if force >= 0.9995 * newtons:
            return f"{float(f'{force / newtons:.3g}'):g} {unit}"
    return f"{force:.3g} N"


def _arrows(axes: Any, tail: Floats, tip: Floats, cut: Any, strength: float) -> list[Any]:
    """Arrows between points (m, 2) as one set of polygons; cut arrows have a gap."""
    from matplotlib.collections import PolyCollection

    point = _small(axes) * points_of(axes, float(np.ptp(axes.get_xlim())))
    shapes: list[Floats] = []
    for start, end, gap in zip(tail, tip, cut, strict=True):
        shapes += _arrow(start, end, point, bool(gap))
    if not shapes:
        return []
    drawn = PolyCollection(
        shapes, facecolor=FORCE, edgecolor="white", linewidth=0.5 * _small(axes), alpha=strength, zorder=2.5,
        joinstyle="round",
    )  # fmt: skip
    return [axes.add_collection(drawn, autolim=False)]


def _arrow(start: Floats, end: Floats, point: float, gap: bool) -> list[Floats]:
    """The outline of an arrow, in two parts if it has a gap; none if it is seen end on."""
    length = float(np.linalg.norm(end - start))
    if length < 0.8 * point:
        return []
    size = point * min(1.0, length / (1.6 * _HEAD_LENGTH * point))
    along = (end - start) / length
    side = np.array([-along[1], along[0]])
    neck = length - size * _HEAD_LENGTH

    def outline(*corners: tuple[float, float]) -> Floats:
        return np.array([start + a * along + b * size * side for a, b in corners])

    begin = 0.62 * neck if gap else 0.0
    head = outline(
        (begin, _SHAFT), (neck, _SHAFT), (neck, _HEAD), (length, 0.0), (neck, -_HEAD), (neck, -_SHAFT),
        (begin, -_SHAFT),
    )  # fmt: skip
    if not gap:
        return [head]
    rest = 0.5 * neck
    return [outline((0.0, _SHAFT), (rest, _SHAFT), (rest, -_SHAFT), (0.0, -_SHAFT)), head]


def _marks(axes: Any, places: Floats, area: Floats, color: Any, shape: str, strength: float) -> Any:
    small = _small(axes)
    return axes.scatter(
        *places.T, s=small**2 * area, color=[color], marker=shape, edgecolors="white", alpha=strength,
        zorder=2.6, linewidths=np.where(area > _FINE, 0.6 * small, 0.0), clip_on=False,
    )  # fmt: skip


def _words(
    axes: Any, at: Floats, text: str, shift: tuple[float, float], align: tuple[str, str] = ("left", "bottom")
) -> Any:
    """Draw text beside a point, shifted by some typographic points."""
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=2.0, foreground="white", alpha=0.8)]
    return axes.annotate(
        text, at, shift, textcoords="offset points", fontsize=7.5, color=_INK, ha=align[0], va=align[1],
        annotation_clip=False, path_effects=halo, zorder=2.7,
    )  # fmt: skip
