"""Plots in place of long tables: a mark in a page names the plot, the table after it holds the figures.

The mark is  <!-- plot: NAME -->  on a line of its own before the table, which stays on the page, folded up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

_MARKED: Final = re.compile(r"^<!-- plot: (?P<name>\w+) -->\n\n?(?P<table>(?:^\|.*\n)+)", re.M)
_COLOURS: Final = ("#1f6f8b", "#d9822b", "#6a4c93", "#3c8d53", "#b23a48", "#5c6770")
Rows = list[dict[str, str]]


def rows_of(table: str) -> Rows:
    """The rows of a Markdown table, by the headings of its columns; of equal headings the first counts."""
    head, _, *lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()
    ]
    return [dict(reversed(list(zip(head, cells, strict=True)))) for cells in lines]


def number(cell: str) -> float | None:
    """The number that a cell begins with."""
    found = re.match(r"[\d,]+(?:\.\d+)?(?:e-?\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None


def with_plots(text: str, folder: Path, place: str) -> str:
    """The page with a plot for each mark; place: of the folder with the plots, seen from the page."""

    def plotted(mark: re.Match[str]) -> str:
        name, table = mark["name"], mark["table"]
        figure, alt = PLOTS[name](rows_of(table))
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
        return f"![{alt}]({place}/{name}.svg)\n\n`````{{dropdown}} The figures\n\n{table}`````\n"

    return _MARKED.sub(plotted, text)


def _figure(width: float = 7.6, height: float = 3.6, panels: int = 1) -> tuple[Any, Any]:
    mpl.rcParams.update(
        {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "path"}
    )
    figure, axes = plt.subplots(1, panels, figsize=(width, height), layout="constrained", squeeze=False)
    return figure, axes[0]


def scaling(rows: Rows) -> tuple[Any, str]:
    """Time per body over the number of bodies, for each family."""
    figure, axes = _figure(panels=2)
    for axis, column, heading in (
        (axes[0], "acceleration, us", "one acceleration"),
        (axes[1], "step, us", "one projected step"),
    ):
        families = list(dict.fromkeys(row["family"] for row in rows))
        for family, colour in zip(families, _COLOURS, strict=False):
            of = [row for row in rows if row["family"] == family]
            bodies = [number(row["bodies"]) or 0.0 for row in of]
            each = [(number(row[column]) or 0.0) / count for row, count in zip(of, bodies, strict=True)]
            axis.plot(bodies, each, "o-", color=colour, label=family, markersize=4)
        axis.set(xscale="log", xlabel="bodies", ylabel="µs per body", title=heading, ylim=(0, None))
        axis.grid(alpha=0.3)
    axes[0].legend(frameon=False)
    return figure, "Time per body of chains, rings and ladders of 20 to 20,000 bodies"


def bars(labels: list[str], groups: dict[str, list[float | None]], unit: str) -> Any:
    """Horizontal bars on a logarithmic axis, a colour for each group."""
    figure, (axis,) = _figure(height=0.9 + 0.23 * len(labels) * len(groups))
    height = 0.8 / len(groups)
    for number_, ((name, values), colour) in enumerate(zip(groups.items(), _COLOURS, strict=False)):
        at = [place + number_ * height for place in range(len(labels))]
        shown = [value or 0.0 for value in values]
        drawn = axis.barh(at, shown, height * 0.92, color=colour, label=name)
        axis.bar_label(drawn, [f"{value:g}" if value else "" for value in values], padding=3, fontsize=8)
    axis.set(yticks=[place + 0.4 - height / 2 for place in range(len(labels))], xscale="log", xlabel=unit)
    axis.set_yticklabels(labels)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    if len(groups) > 1:
        axis.legend(frameon=False, loc="best")
    return figure


def loops(rows: Rows) -> tuple[Any, str]:
    """The fastest time of each engine for each problem, in logarithmic bars."""
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    best: dict[str, list[float | None]] = {}
    for engine in engines:
        best[engine] = []
        for problem in problems:
            times = [
                time
                for row in rows
                if (row["engine"], row["problem"]) == (engine, problem)
                and (time := number(row["time, ms"])) is not None
            ]
            best[engine].append(min(times) if times else None)
    return bars(problems, best, "ms until the solution is as accurate as required"), (
        "Fastest time of each engine for each closed loop"
    )


def robots(rows: Rows) -> tuple[Any, str]:
    """Times of engines for each robot."""
    names = [row["robot"] for row in rows]
    engines = [name for name in rows[0] if name != "robot"]
    engines.reverse()  # as the columns stand
    times = {engine: [number(row[engine]) for row in rows] for engine in engines}
    return bars(names, times, "µs per evaluation of forward dynamics"), "Forward dynamics of robots by engine"


def engines(rows: Rows) -> tuple[Any, str]:
    """Times of engines, a bar for each row."""
    labels = [f"{row['robot']}: {row['engine']}" for row in rows]
    return bars(labels, {"": [number(row["us"]) for row in rows]}, "µs per evaluation of accelerations"), (
        "Accelerations of robots by engine"
    )


def operations(rows: Rows) -> tuple[Any, str]:
    """Counts of sums and products over the number of coordinates."""
    figure, (axis,) = _figure()
    for column, colour in zip(
        [name for name in rows[0] if name != "coordinates"][::-1], _COLOURS, strict=False
    ):
        counts = [sum(map(float, row[column].split("/"))) for row in rows]
        axis.plot([float(row["coordinates"]) for row in rows], counts, "o-", color=colour, label=column)
    axis.set(xlabel="coordinates", ylabel="sums and products")
    axis.legend(frameon=False)
    axis.grid(alpha=0.3)
    return figure, "Operations of inverse and forward dynamics over the number of joints"


PLOTS: Final[dict[str, Callable[[Rows], tuple[Any, str]]]] = {
    "scaling": scaling,
    "loops": loops,
    "robots": robots,
    "engines": engines,
    "operations": operations,
}
