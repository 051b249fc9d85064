"""Colours of numbers: a scale that is even to the eye, and its bar.

The scale goes from a dark blue to a bright yellow, in equal steps of lightness, and through hues at a chroma
that screens have, in the space Oklab, whose distances are those that are seen (B. Ottosson, A perceptual
color space for image processing, 2020). Printed in grey it still rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from bellcrank.compile.state import Floats

_LIGHTNESS: Final = (0.32, 0.93)
_HUES: Final = (283.0, 102.0)  # degrees
_CHROMA: Final = ((0.0, 0.5, 1.0), (0.13, 0.105, 0.155))
_TO_CONES: Final = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_TO_LINEAR: Final = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
_STEPS: Final = 256
_PREFIXES: Final = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6))
_ROUNDING: Final = 5e-5  # of the largest value, of which four digits are written: what is smaller is zero
_INK: Final = "#3c4043"
_PLACE: Final = (0.70, 0.975, 0.925, 0.95)  # of the bar in a picture: left, right, low, high


def _made() -> Floats:
    """The scale, (steps, 3), red, green and blue as screens take them."""
    part = np.linspace(0.0, 1.0, _STEPS)
    hue = np.radians(_HUES[0] + (_HUES[1] - _HUES[0]) * part)
    chroma = np.interp(part, *_CHROMA)
    lab = np.stack(
        [np.interp(part, (0.0, 1.0), _LIGHTNESS), chroma * np.cos(hue), chroma * np.sin(hue)], axis=1
    )
    linear = np.clip((lab @ _TO_CONES.T) ** 3 @ _TO_LINEAR.T, 0.0, 1.0)
    found: Floats = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return found


SCALE: Final = _made()
"""Red, green and blue, 0 to 1, from the least to the largest value, (256, 3)."""


@dataclass(frozen=True)
class ColorBar:
    """What colours stand for. label: what, with its unit. low, high: the values at its ends.

    factor: by which values are divided in what is written.
    """

    label: str
    low: float
    high: float
    factor: float = 1.0

    def colors(self, values: Any) -> Floats:
        """Colours (..., 3) of values (...,)."""
        span = self.high - self.low
        part = (np.asarray(values, dtype=float) - self.low) / (span if span > 0.0 else 1.0)
        found: Floats = SCALE[np.rint((_STEPS - 1) * np.clip(part, 0.0, 1.0)).astype(int)]
        return found

    @property
    def ends(self) -> tuple[str, str]:
        """The values at the ends in words."""
        least = _ROUNDING * max(abs(self.low), abs(self.high))
        low, high = (0.0 if abs(one) <= least else one / self.factor for one in (self.low, self.high))
        return f"{low:.4g}", f"{high:.4g}"

    def draw(self, axes: Any) -> None:
        """Draw the bar in the upper right corner of axes."""
        from matplotlib.collections import PolyCollection

        left, right, low, high = _PLACE
        edge = np.linspace(left, right, _STEPS // 4 + 1)
        boxes = [[(a, low), (b, low), (b, high), (a, high)] for a, b in pairwise(edge)]
        shown = {"transform": axes.transAxes, "zorder": 5.0}
        colors = SCALE[2::4]
        axes.add_collection(
            PolyCollection(boxes, facecolors=colors, edgecolors="none", antialiaseds=False, **shown),
            autolim=False,
        )
        text = {"transform": axes.transAxes, "color": _INK, "fontsize": 7.5, "zorder": 5.0}
        axes.text(0.5 * (left + right), high + 0.008, self.label, ha="center", va="bottom", **text)
        for x, words, side in zip((left, right), self.ends, ("left", "right"), strict=True):
            axes.text(x, low - 0.008, words, ha=side, va="top", **text)


def scaled(label: str, unit: str, values: Sequence[Any]) -> ColorBar:
    """The bar of values, with a prefix of their unit."""
    low = min((float(np.min(one)) for one in values), default=0.0)
    high = max((float(np.max(one)) for one in values), default=0.0)
    largest = max(abs(low), abs(high))
    known = [(p, f) for p, f in _PREFIXES if largest >= f and unit[0].isalpha()]
    prefix, factor = known[0] if known and largest < 1e12 else ("", 1.0)
    return ColorBar(f"{label}, {prefix}{unit}", low, high, factor)
