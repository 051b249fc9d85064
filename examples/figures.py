"""Where the examples put their figures, and how these look."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl

from bellcrank.trajectory.panels import COLOURS, GREY, SETTINGS

mpl.use("Agg")
from matplotlib import pyplot as plt

BLUE, ORANGE, GREEN, PINK, YELLOW, LIGHT_BLUE, BLACK = COLOURS
__all__ = ["BLACK", "BLUE", "COLOURS", "GREEN", "GREY", "LIGHT_BLUE", "ORANGE", "PINK", "YELLOW"]

mpl.rcParams.update(SETTINGS)
mpl.rcParams.update(
    {
        "figure.constrained_layout.use": True,
        "axes.prop_cycle": mpl.cycler(color=COLOURS),
        "axes.xmargin": 0.04,
        "lines.linewidth": 1.6,
    }
)


def output_folder() -> Path:
    """The folder given by --out, made if it is not there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out", help="folder for figures")
    folder: Path = parser.parse_known_args()[0].out
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def subplots(rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.7, 3.6), **options: Any) -> Any:
    """A figure and its axes, as pyplot.subplots gives them; size in inches."""
    return plt.subplots(rows, columns, figsize=size, **options)


def figure(size: tuple[float, float] = (6.7, 3.6)) -> Any:
    """An empty figure; size in inches."""
    return plt.figure(figsize=size)


def note(axes: Any, text: str, point: Any, offset: tuple[float, float] = (0.0, 0.0), **options: Any) -> None:
    """A small grey text beside a point; offset in points."""
    look = {"fontsize": 7.5, "color": GREY, **options}
    axes.annotate(text, point, xytext=offset, textcoords="offset points", **look)


def save(fig: Any, path: Path) -> None:
    """Write a figure and say so."""
    fig.savefig(path)
    plt.close(fig)
    print(f"figure: {path.name}")
