"""Figures made of panels, on the screen and in files."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import nearest
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.trajectory.plots.kinds import KINDS, refuse_names
from bellcrank.trajectory.plots.overview import overview
from bellcrank.trajectory.plots.panels import Panel, PathPanel
from bellcrank.trajectory.plots.style import GREY, MILLIMETRE, PAGE, SETTINGS, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.trajectory.trajectory import Trajectory

_PANEL_HEIGHT: Final = 58 * MILLIMETRE
_PATH_HEIGHT: Final = 95 * MILLIMETRE
_PAGE_ROW: Final = 72 * MILLIMETRE
_LABELS: Final = 20 * MILLIMETRE  # what labels and titles take off the width and the height
_HEAD: Final = 9 * MILLIMETRE


def plot(
    run: Trajectory,
    what: str,
    names: Sequence[str],
    path: str | Path | None,
    options: Mapping[str, Any],
) -> Figure:
    """A figure of one kind; see `Trajectory.plot`."""
    if path is not None:
        check_picture(path)
    kinds = ("overview", "picture", *KINDS)
    if what not in kinds:
        raise MechanismError(Fault("plot", "there is no plot of this kind", what, nearest(what, kinds)))
    if len(run) == 0:
        raise MechanismError(Fault(f"run of {run.name!r}", "it holds no frames to plot"))
    _check_options(what, options)
    check_matplotlib()
    import matplotlib as mpl

    if what == "picture":
        refuse_names(what, tuple(names))
        return run.draw(path, **options)
    with mpl.rc_context(SETTINGS), np.errstate(invalid="ignore", over="ignore"):
        heading = _heading(run) if what == "overview" else None
        panels = overview(run, tuple(names)) if heading else KINDS[what](run, tuple(names), **options)
        figure: Figure = _page(panels, heading, path is None) if heading else _column(panels, path is None)
        _fit_paths(figure, panels)
        if path is not None:
            write_figure(figure, path)
    return figure


def _check_options(what: str, options: Mapping[str, Any]) -> None:
    others = {"overview": [], "picture": ["times", "instants"]}
    known = others[what] if what in others else list(inspect.signature(KINDS[what]).parameters)[2:]
    for name in options:
        if name not in known:
            advice = f"it takes {', '.join(known)}" if known else "it takes none"
            raise MechanismError(Fault(f"plot of {what}", "there is no option of this name", name, advice))


def _column(panels: Sequence[Panel], on_screen: bool) -> Any:
    """Panels over time one below the other on one time axis; paths side by side."""
    if any(isinstance(panel, PathPanel) for panel in panels):
        width = WIDTH if len(panels) == 1 else 1.5 * WIDTH
        figure = new_figure((width, _PATH_HEIGHT), on_screen)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel.draw(axes, (width / len(panels) - _LABELS, _PATH_HEIGHT - _LABELS))
        return figure
    figure = new_figure((WIDTH, _PANEL_HEIGHT * len(panels)), on_screen)
    stacked = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(stacked, panels, strict=True):
        panel.draw(axes, (WIDTH - _LABELS, _PANEL_HEIGHT - _LABELS))
        axes.label_outer()
    figure.align_ylabels()
    return figure


def _page(panels: Sequence[Panel], heading: tuple[str, str], on_screen: bool) -> Any:
    """Panels on a page, in rows of up to three, each row as wide as the page."""
    counts = _rows(len(panels))
    width, height = PAGE
    height = min(height, len(counts) * _PAGE_ROW + _HEAD)
    figure = new_figure((width, height), on_screen)
    figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, 1.0 - _HEAD / height))
    grid = figure.add_gridspec(len(counts), 6)
    rest = iter(panels)
    for row, count in enumerate(counts):
        for column in range(count):
            span = slice(column * 6 // count, (column + 1) * 6 // count)
            size = (width / count - _LABELS, (height - _HEAD) / len(counts) - _LABELS)
            next(rest).draw(figure.add_subplot(grid[row, span]), size)
    base = 1.0 - 0.7 * _HEAD / height
    figure.text(0.008, base, heading[0], fontsize=12, fontweight="bold")
    figure.text(0.992, base, heading[1], ha="right", color=GREY)
    return figure


def _fit_paths(figure: Any, panels: Sequence[Panel]) -> None:
    """Give the paths one scale on both axes, whose size is known after a layout."""
    fitted = [axes for axes, panel in zip(figure.axes, panels, strict=True) if isinstance(panel, PathPanel)]
    if fitted:
        figure.draw_without_rendering()
    for axes in fitted:
        PathPanel.fit(axes)


def _rows(count: int) -> list[int]:
    """How many panels stand in each row: at most three, the longer rows first."""
    rows = -(-count // 3)
    return [count // rows + (row < count % rows) for row in range(rows)]


def _heading(run: Trajectory) -> tuple[str, str]:
    """Name of the mechanism, and how the run was made and ended."""
    made = [str(run.statistics[key]) for key in ("formulation", "method") if key in run.statistics]
    if "steps" in run.statistics:
        made.append(f"{run.statistics['steps']} steps")
    ended = "" if run.status == "finished" else f"{run.status.replace('_', ' ')} at t = {run.time[-1]:.6g} s"
    return run.name, ", ".join([*made, *([ended] if ended else [])])
