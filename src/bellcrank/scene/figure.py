"""Matplotlib figures: checking for matplotlib, creating figures for the screen or a file, and saving them."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from bellcrank.errors import Fault, MechanismError, Unsupported
from bellcrank.mechanism.checking import required_path
from bellcrank.whole_files import write_whole

_SUFFIXES: Final = (".pdf", ".png", ".svg")


def check_matplotlib() -> None:
    """Raise Unsupported if matplotlib is not installed."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise Unsupported("plots need matplotlib: pip install 'bellcrank[plot]'") from error
    del mpl


def check_picture(path: str | Path) -> None:
    """Raise MechanismError if no picture can be written under this name, because of its suffix."""
    required_path("picture", path)
    if Path(path).suffix.lower() not in _SUFFIXES:
        advice = f"end its name in one of {', '.join(_SUFFIXES)}"
        raise MechanismError(Fault(f"file '{path}'", "this kind of picture is not known", None, advice))


def new_figure(size: tuple[float, float], on_screen: bool, **settings: Any) -> Any:
    """A figure registered with pyplot, which shows it, or, for a file, an unregistered one. size: inches."""
    settings = {"layout": "constrained", **settings}
    if on_screen:
        from matplotlib import pyplot as plt

        return plt.figure(figsize=size, FigureClass=_figure_class(on_screen), **settings)
    return _figure_class(on_screen)(figsize=size, **settings)


def _figure_class(on_screen: bool) -> Any:
    """The class of figures; in notebooks one that a cell shows as its result, in a file as well or not."""
    from matplotlib import get_backend
    from matplotlib.figure import Figure

    if (on_screen or "IPython" in sys.modules) and "inline" in get_backend():
        from bellcrank.scene.notebook_figure import NotebookFigure

        return NotebookFigure
    return Figure


def write_figure(figure: Any, path: str | Path | BytesIO) -> None:
    """Write the figure; the suffix of the path selects the format, and a stream gets a PNG.

    Raises NotWritten if the file cannot be written.
    """
    if isinstance(path, BytesIO):
        figure.savefig(path, format="png")
        return
    image = BytesIO()  # not into the file: matplotlib gives errors of its own where a disk is full
    figure.savefig(image, format=Path(path).suffix[1:].lower())
    write_whole(path, image.getvalue())
