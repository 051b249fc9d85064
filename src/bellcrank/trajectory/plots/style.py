"""The style of figures: sizes, colours, and the format of numbers and units."""

from __future__ import annotations

from math import floor, isfinite, log10
from typing import Any, Final

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
