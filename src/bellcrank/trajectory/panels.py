"""Panels, what one set of axes shows: figures are made of them. Their style: sizes, colours, units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import floor, isfinite, log10
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from bellcrank.trajectory.store import FloatArray

MILLIMETRE: Final = 1.0 / 25.4
WIDTH: Final = 170 * MILLIMETRE  # text width of an A4 page
PAGE: Final = (277 * MILLIMETRE, 190 * MILLIMETRE)  # A4 across, less margins
LETTER: Final = 1.65 * MILLIMETRE  # mean width of a letter in a legend

# Okabe and Ito's palette, which colour-blind eyes can distinguish, without its yellow, which is too pale for
# lines.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINE_STYLES: Final = ("-", "--", ":", "-.")
OVER: Final = (0, (4.0, 3.0))  # of a line that covers another, which shows through the gaps
GREY: Final = "#5A5A5A"

SETTINGS: Final[dict[str, object]] = {
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.06,
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": True,
    "grid.color": "#D9D9D9",
    "grid.linewidth": 0.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "lines.linewidth": 1.3,
    "lines.solid_capstyle": "round",
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.columnspacing": 1.3,
    "legend.borderaxespad": 0.0,
    "legend.borderpad": 0.15,
    "path.simplify": True,
}

_PREFIXES: Final = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_PREFIX_BELOW: Final = {"m": 1.0, "rad": 0.01, "rad/s": 0.01, "m/s": 0.1}
_PREFIX_ABOVE: Final = 1e4
_NEVER_LARGE: Final = ("s", "m", "rad", "rad/s", "m/s")


def prefixed(unit: str, peak: float) -> tuple[float, str]:
    """The power of ten to divide by, and the unit with its prefix, for values up to `peak` (both signs).

    Values from 0.1 to 10000 keep the plain unit; lengths below a metre are given in millimetres.
    """
    small = unit != "" and 0.0 < peak < _PREFIX_BELOW.get(unit, 0.1)
    large = unit not in ("", *_NEVER_LARGE) and peak >= _PREFIX_ABOVE
    if unit == "°" or not isfinite(peak) or not (small or large):
        return 1.0, written(unit)
    exponent = max(min(_PREFIXES), min(max(_PREFIXES), 3 * floor(log10(peak) / 3)))
    return 10.0**exponent, _PREFIXES[exponent] + written(unit)


def written(unit: str) -> str:
    """A unit as it is printed: "N m" with a raised dot."""
    return unit.replace(" ", "·")


def label(quantity: str, unit: str) -> str:
    """An axis label, e.g. "Force (kN)"."""
    return f"{quantity} ({unit})" if unit else quantity


def line(number: int) -> dict[str, Any]:
    """Colour and style of the line of that number: colours first, then other dashes."""
    style = LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": style}


_DRAWN: Final = 2000  # pairs of least and greatest values that a line is drawn with
_ENVELOPE: Final = 150  # points of the upper envelope that a logarithmic line is drawn with
_LEAST: Final = -18  # decade below which errors do not matter
_ROW: Final = 11.5  # height of a row of a legend, points
_HANDLE: Final = 5  # letters that a line's handle and the gap beside it take
_BOTH: Final = np.array([-1.0, 1.0])
_BELOW: Final[dict[str, Any]] = {
    "xycoords": "axes fraction",
    "textcoords": "offset points",
    "ha": "right",
    "va": "top",
    "color": GREY,
    "fontsize": 7.5,
}


class Series(NamedTuple):
    """One line (T,) and its name. A sum stands out from its parts in black."""

    name: str
    values: FloatArray
    is_sum: bool = False


@dataclass(frozen=True)
class TimePanel:
    """Quantities of one unit over time.

    log: a logarithmic axis for values greater than zero, drawn as their upper envelope.
    floor: values up to this are rounding errors, shown as zero; negative to show them all.
    """

    title: str
    quantity: str
    unit: str
    time: FloatArray
    series: Sequence[Series]
    log: bool = False
    floor: float = 0.0

    @property
    def peak(self) -> float:
        """The largest magnitude of all lines."""
        return max(_peak(series.values) for series in self.series)

    @property
    def speaks(self) -> bool:
        """Whether there is more to see than rounding errors."""
        return self.peak > self.floor

    def draw(self, axes: Any, size: tuple[float, float]) -> None:
        """Draw into matplotlib axes; `size` is about their width and height in inches."""
        span = float(self.time[-1] - self.time[0])
        slower, time_unit = prefixed("s", span)
        factor, unit = 1.0, written(self.unit)
        if self.speaks and not self.log:
            factor, unit = prefixed(self.unit, self.peak)
        covered = _covered([series.values for series in self.series])
        shown: list[FloatArray] = []
        for number, series in enumerate(self.series):
            time, values = (envelope if self.log else thinned)(self.time, series.values)
            shown.append(values / factor)
            style: dict[str, Any] = {"color": "black"} if series.is_sum else line(number)
            if covered[number] and not self.log:
                style["linestyle"] = OVER
            marker = "o" if len(time) == 1 else ""
            axes.plot(time / slower, shown[-1], label=series.name, marker=marker, **style)
        axes.set_xlabel(label("Time", time_unit))
        axes.set_ylabel(label(self.quantity, unit))
        if span > 0.0:
            axes.set_xlim(self.time[0] / slower, self.time[-1] / slower)
        if self.log:
            _decades(axes, np.concatenate(shown))
        else:
            _calm(axes, np.concatenate(shown), self.floor)
        if not self.speaks and not self.log:
            axes.text(
                0.5, 0.55, "zero up to rounding errors", ha="center", color=GREY, transform=axes.transAxes
            )
        head(axes, self.title, [series.name for series in self.series] if self.speaks else [], size[0])


@dataclass(frozen=True)
class PathPanel:
    """Paths of points in one coordinate plane, to scale; a dot marks the start."""

    title: str
    plane: str
    paths: Sequence[tuple[str, FloatArray]]

    def draw(self, axes: Any, size: tuple[float, float]) -> None:
        """Draw into matplotlib axes; `size` is about their width and height in inches."""
        across, up = ("xyz".index(letter) for letter in self.plane)
        peak = max((_peak(path) for _, path in self.paths), default=0.0)
        factor, unit = prefixed("m", peak)
        for number, (name, path) in enumerate(self.paths):
            drawn = path[:: max(1, len(path) // (4 * _DRAWN)), [across, up]] / factor
            style = line(number)
            axes.plot(drawn[:, 0], drawn[:, 1], label=name, **style)
            axes.plot(*drawn[0], "o", color=style["color"], markersize=3.5)
        axes.set_xlabel(label(self.plane[0], unit))
        axes.set_ylabel(label(self.plane[1], unit))
        axes.margins(0.06)
        axes.annotate("● start", (1.0, 0.0), (0.0, -19.0), **_BELOW)
        head(axes, self.title, [name for name, _ in self.paths] if self.title else [], size[0])

    @staticmethod
    def fit(axes: Any) -> None:
        """Give both axes one scale at which all paths are seen, once the layout has settled their size."""
        box = axes.get_window_extent()
        size = np.array([box.width, box.height])
        low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
        half = 0.5 * float(np.max((high - low) / size)) * size
        middle = 0.5 * (low + high)
        axes.set_xlim(middle[0] + half[0] * _BOTH, auto=None)
        axes.set_ylim(middle[1] + half[1] * _BOTH, auto=None)
        axes.set_aspect("equal", adjustable="datalim")


@dataclass(frozen=True)
class SpanPanel:
    """A load along a member: between which values it varies over time, and where it is at the worst instant.

    distance: (S,), m. time: (T,), s. loads: each a name and values (T, S). worst: the frame.
    """

    title: str
    quantity: str
    unit: str
    distance: FloatArray
    time: FloatArray
    loads: Sequence[tuple[str, FloatArray]]
    worst: int

    def draw(self, axes: Any, size: tuple[float, float]) -> None:
        """Draw into matplotlib axes; `size` is about their width and height in inches."""
        longer, metre = prefixed("m", float(np.max(np.abs(self.distance), initial=0.0)))
        factor, unit = prefixed(self.unit, max(_peak(values) for _, values in self.loads))
        at = f"t = {self.time[self.worst]:.4g} s"
        for number, (name, values) in enumerate(self.loads):
            style = line(number)
            low, high = values.min(axis=0) / factor, values.max(axis=0) / factor
            axes.fill_between(
                self.distance / longer, low, high, color=style["color"], alpha=0.2, linewidth=0.0
            )
            axes.plot(self.distance / longer, values[self.worst] / factor, label=name, **style)
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=1)
        axes.set_xlabel(label("Distance from the start", metre))
        axes.set_ylabel(label(self.quantity, unit))
        head(axes, f"{self.title}: range, and at {at}", [name for name, _ in self.loads], size[0])


Panel: TypeAlias = TimePanel | PathPanel | SpanPanel


def thinned(time: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At most some thousand points that draw the same line: least and greatest value of each interval."""
    stride = len(values) // _DRAWN
    if stride < 4:
        return time, values
    whole = len(values) // stride * stride
    blocks = values[:whole].reshape(-1, stride)
    picked = np.stack([np.argmin(blocks, axis=1), np.argmax(blocks, axis=1)], axis=1)
    picked.sort(axis=1)
    rows = (picked + stride * np.arange(len(blocks))[:, None]).ravel()
    rows = np.unique(np.concatenate([[0], rows, [len(values) - 1]]))
    return time[rows], values[rows]


def envelope(time: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest value of each interval, if it is greater than zero."""
    stride = max(1, len(values) // _ENVELOPE)
    starts = np.arange(0, len(values), stride)
    largest = np.maximum.reduceat(values, starts)
    return time[np.minimum(starts + stride // 2, len(time) - 1)], np.where(largest > 0.0, largest, np.nan)


def _covered(lines: Sequence[FloatArray]) -> list[bool]:
    """For each line (T,), whether it coincides with an earlier one, to within a hundredth of the range."""
    few = np.stack([np.nan_to_num(values[:: max(1, len(values) // 500)]) for values in lines])
    near = 0.01 * float(np.ptp(few))
    gaps = [np.abs(few[:number] - few[number]).max(axis=1, initial=0.0) for number in range(len(few))]
    return [bool(np.any(gap <= near)) for gap in gaps]


def head(axes: Any, title: str, names: Sequence[str], width: float) -> None:
    """The title and, where there are several lines, a legend between it and the axes: never over the data."""
    rows = 0
    if len(names) > 1:
        letters = int(width / LETTER)
        shown = shortened(names, letters // (2 if len(names) > 3 else 1) - _HANDLE)
        columns = max(1, min(len(names), letters // (max(map(len, shown)) + _HANDLE)))
        rows = -(-len(names) // columns)
        columns = -(-len(names) // rows)  # as even rows as can be
        legend = axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns)
        for text, name in zip(legend.get_texts(), shown, strict=True):
            text.set_text(name)
    axes.set_title(title, pad=5.0 + _ROW * rows)


def shortened(names: Sequence[str], letters: int) -> list[str]:
    """Names shortened to a number of letters, if they still differ; common endings are left out first."""
    if max(map(len, names)) <= letters:
        return list(names)
    ending = _common([name[::-1] for name in names])
    beginning = _common(names)
    bare = [name[: len(name) - ending] for name in names]
    short = [f"{name[: letters - 1].rstrip()}…" for name in bare]
    if len(set(short)) < len(names):
        short = [f"…{name[beginning:]}" for name in bare]
    return short if len(set(short)) == len(names) and max(map(len, short)) <= letters else list(names)


def _common(names: Sequence[str]) -> int:
    """How many letters all names begin with alike."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))


def span_of(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and greatest values (k,) of the finite points (n, k); zeros if there are none."""
    finite = points[np.isfinite(points).all(axis=1)]
    return (finite.min(axis=0), finite.max(axis=0)) if len(finite) else (np.zeros(points.shape[1]),) * 2


def _peak(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite), initial=0.0))


def _calm(axes: Any, shown: FloatArray, floor: float) -> None:
    """Show a constant as a constant, so that its rounding errors do not fill the axis."""
    values = shown[np.isfinite(shown)]
    if len(values) == 0:
        return
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if size <= floor or size == 0.0:
        axes.set_ylim(-1.0, 1.0)
    elif floor >= 0.0 and high - low < 1e-6 * size:
        axes.set_ylim(low - 0.1 * size, high + 0.1 * size)
    bottom, top = axes.get_ylim()
    if bottom < 0.0 < top:
        axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=1)


def _decades(axes: Any, shown: FloatArray) -> None:
    """A logarithmic axis over whole decades, with some room above."""
    values = shown[np.isfinite(shown)]
    axes.set_yscale("log")
    axes.minorticks_off()
    if len(values):
        low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(2.0 * values.max()))
        axes.set_ylim(10.0 ** max(low, min(_LEAST, high - 1)), 10.0**high)
