"""Figures of studies: sweeps, the history of an optimization, a fit and its residuals, sensitivities."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.state import Floats
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.trajectory.columns import quantity
from bellcrank.trajectory.panels import (
    COLOURS,
    GREY,
    MILLIMETRE,
    SETTINGS,
    WIDTH,
    label,
    line,
    prefixed,
    written,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.studies.fit import FitReport
    from bellcrank.studies.gradient import Gradient
    from bellcrank.studies.optimize import OptimizeReport
    from bellcrank.studies.result import SweepResult
    from bellcrank.studies.sensitivity import Sensitivity

_HEIGHT: Final = 85 * MILLIMETRE
_ROW: Final = 60 * MILLIMETRE
_FAILED: Final = {"marker": "x", "linestyle": "none", "color": COLOURS[1], "markersize": 4.0}
_LINES: Final = 7  # values of a second parameter that are drawn as lines, more as a map
_LEVELS: Final = 6
_TITLED: Final = 3  # parameters that fit into a title
_BAND: Final = 2.0  # standard deviations on each side
_SHOWN: Final = 98  # per cent of the values that the colours of a map distinguish


def plot_sweep(result: SweepResult, measure: int, path: str | Path | None) -> Figure:
    """See `SweepResult.plot`."""
    axes = result.points.axes
    values = result.values[:, measure]
    name = result.measures[measure]
    title = label(name, written(result.units.get(name, "")))
    figure: Figure
    with _figure(path) as made:
        if axes is not None and len(axes) == 1:
            figure, panel = made.single(_HEIGHT)
            _draw_lines(panel, result, axes[0], values[None], None)
        elif axes is not None and len(axes) == 2 and min(map(len, axes)) <= _LINES:
            figure, panel = made.single(_HEIGHT)
            over = int(len(axes[0]) < len(axes[1]))
            rows = values.reshape(len(axes[0]), len(axes[1]))
            _draw_lines(panel, result, axes[over], rows if over else rows.T, axes[1 - over], over)
        elif axes is not None and len(axes) == 2:
            figure, panel = made.single(1.35 * _HEIGHT)
            _draw_map(figure, panel, result, axes, values.reshape(len(axes[0]), len(axes[1])), title)
        else:
            figure, panels = made.row(len(result.points.names))
            for k, panel in enumerate(panels):
                _draw_cloud(panel, result, k, values)
            panels[0].set_ylabel(title)
            made.write(figure)
            return figure
        if panel.get_ylabel() == "":
            panel.set_ylabel(title)
        made.write(figure)
        return figure


def plot_course(report: OptimizeReport, path: str | Path | None) -> Figure:
    """See `OptimizeReport.plot`."""
    figure: Figure
    with _figure(path) as made:
        figure, panels = made.column(1 + len(report.parameters))
        runs = np.arange(1, len(report.history) + 1)
        values = np.array([entry.value for entry in report.history])
        good = np.array([entry.feasible for entry in report.history], dtype=bool)
        panels[0].plot(runs[good], values[good], ".", color=GREY, markersize=2.5, label="run")
        if np.any(other := ~good & np.isfinite(values)):
            panels[0].plot(
                runs[other], values[other], ".", color=COLOURS[4], markersize=2.5, label="constraint violated"
            )
        if np.any(failed := ~np.isfinite(values)):
            _mark_failed(panels[0], runs[failed])
        if good.any():
            better = np.maximum if report.maximize else np.minimum
            worst = -np.inf if report.maximize else np.inf
            so_far = better.accumulate(np.where(good, values, worst))
            panels[0].plot(
                runs, np.where(np.isfinite(so_far), so_far, np.nan), color=COLOURS[0], label="best so far"
            )
            _fit_range(panels[0], values[good])
        panels[0].set_ylabel(report.measure)
        panels[0].legend(loc="best")
        for panel, (name, unit) in zip(panels[1:], report.parameters.items(), strict=True):
            panel.plot(runs, [entry.point[name] for entry in report.history], ".", color=GREY, markersize=2.5)
            panel.axhline(report.values[name], color=COLOURS[0], linewidth=0.9)
            panel.set_ylabel(label(name, unit))
        panels[-1].set_xlabel("run")
        made.write(figure)
        return figure


def plot_fit(report: FitReport, path: str | Path | None) -> Figure:
    """See `FitReport.plot`."""
    figure: Figure
    with _figure(path) as made:
        figure, panels = made.column(2 * len(report.quantities), ratios=(3, 1) * len(report.quantities))
        for k, found in enumerate(report.quantities):
            above, below = panels[2 * k : 2 * k + 2]
            above.plot(found.times, found.data, ".", color=GREY, markersize=3.0, label="data")
            above.plot(
                found.times, found.data - found.residuals, color=COLOURS[k % len(COLOURS)], label="fitted run"
            )
            above.set_ylabel(label(found.name, written(found.unit)))
            above.legend(loc="best", ncols=2)
            below.axhspan(-found.noise, found.noise, color=GREY, alpha=0.15, linewidth=0.0)
            below.plot(found.times, found.residuals, ".", color=COLOURS[k % len(COLOURS)], markersize=2.5)
            below.axhline(0.0, color=GREY, linewidth=0.6)
            below.set_ylabel("residual")
        if len(report.values) <= _TITLED:
            panels[0].set_title(", ".join(f"{n} = {_with_deviation(report, n)}" for n in report.values))
        panels[-1].set_xlabel("time (s)")
        figure.align_ylabels()
        made.write(figure)
        return figure


def plot_parameters(report: FitReport, known: Mapping[str, float], path: str | Path | None) -> Figure:
    """See `FitReport.plot_parameters`."""
    names, values = list(report.values), np.array(list(report.values.values()))
    middle = np.array([known.get(name, report.values[name]) for name in names])
    percent = 100.0 / np.where(middle == 0.0, 1.0, np.abs(middle))
    bars = _BAND * percent * np.array([report.deviations[name] for name in names])
    places, shown = np.arange(len(names)), np.isfinite(bars)
    figure: Figure
    with _figure(path) as made:
        figure, (left, right) = made.row(2)
        at = percent * (values - middle)
        left.errorbar(at[shown], places[shown], xerr=bars[shown], fmt="o", color=COLOURS[0], markersize=3.0)
        if not shown.all():
            left.plot(at[~shown], places[~shown], label="not determined", **_FAILED)
            left.legend()
        left.axvline(0.0, color=GREY, linewidth=0.8)
        left.margins(x=0.05)
        left.set_yticks(places, names)
        left.set_ylim(len(names) - 0.5, -0.5)
        left.set_xlabel(f"Off the {'known' if known else 'fitted'} value, ± {_BAND:g} σ (%)")
        right.grid(visible=False)
        shades = right.imshow(report.correlation, cmap="RdBu_r", vmin=-1.0, vmax=1.0, aspect="auto")
        right.set_xticks(places, names, rotation=90)
        figure.colorbar(shades, ax=right, label="Correlation")
        made.write(figure)
    return figure


def plot_tornado(
    gradient: Gradient, measure: int, changes: Mapping[str, float] | None, path: str | Path | None
) -> Figure:
    """See `Gradient.plot`."""
    given = {n: 0.01 * abs(v) or 0.01 for n, v in zip(gradient.by, gradient.at, strict=True)}
    given |= dict(changes or {})
    sizes = np.array([given[name] for name in gradient.by])
    effects = gradient.gradient[measure] * sizes
    order = np.argsort(np.abs(effects))
    factor, unit = prefixed(gradient.of_units[measure], float(np.max(np.abs(effects), initial=0.0)))
    places = np.arange(len(order))
    figure: Figure
    with _figure(path) as made:
        figure, panel = made.single(max(0.5 * _HEIGHT, (22.0 + 6.0 * len(order)) * MILLIMETRE))
        for side, colour, text in ((1.0, COLOURS[0], "greater"), (-1.0, COLOURS[1], "smaller")):
            panel.barh(places, side * effects[order] / factor, height=0.62, color=colour, label=text)
        names = [f"{gradient.by[k]} ± {sizes[k]:.3g} {written(gradient.by_units[k])}".rstrip() for k in order]
        panel.set_yticks(places, names)
        panel.axvline(0.0, color=GREY, linewidth=0.8)
        panel.set_xlim(np.array([-1.08, 1.08]) * (float(np.max(np.abs(effects))) / factor or 1.0))
        panel.set_xlabel(label("Change", unit))
        value, whole = gradient.value[measure], written(gradient.of_units[measure])
        panel.set_title(f"{gradient.of[measure]}: {value:.5g} {whole}".rstrip())
        panel.legend(loc="lower right")
        made.write(figure)
    return figure


def plot_spread(found: Sensitivity, deviations: Mapping[str, float], path: str | Path | None) -> Figure:
    """See `Sensitivity.plot`."""
    spread = _BAND * found.spread(deviations)
    figure: Figure
    with _figure(path) as made:
        figure, panels = made.column(2 * len(found.of), (2, 1) * len(found.of))
        for k, name in enumerate(found.of):
            panel, below = panels[2 * k : 2 * k + 2]
            values = quantity(found.run, name).values
            factor, unit = prefixed(found.of_units[k], float(np.max(np.abs(values), initial=0.0)))
            low, high = ((values + side * spread[:, k]) / factor for side in (-1.0, 1.0))
            panel.fill_between(found.time, low, high, color=COLOURS[0], alpha=0.25, linewidth=0.0)
            panel.plot(found.time, values / factor, **line(0))
            panel.set_ylabel(unit or "1")
            panel.set_title(name)
            factor, unit = prefixed(found.of_units[k], float(np.max(spread[:, k], initial=0.0)))
            below.plot(found.time, spread[:, k] / factor, **line(1))
            below.set_ylabel(f"± {unit or '1'}")
            below.set_ylim(bottom=0.0)
        panels[-1].set_xlabel("Time (s)")
        panels[-1].set_xlim(found.time[0], found.time[-1])
        made.write(figure)
    return figure


def _with_deviation(report: FitReport, name: str) -> str:
    value, deviation, unit = report.values[name], report.deviations[name], report.units[name]
    if not 0.0 < deviation < np.inf:
        return f"{value:.6g} {unit}".rstrip()
    digits = max(0, 1 - int(np.floor(np.log10(deviation))))
    if digits > 6:
        return f"{value:.6g} ± {deviation:.1e} {unit}".rstrip()
    return f"{value:.{digits}f} ± {deviation:.{digits}f} {unit}".rstrip()


class _figure:  # noqa: N801  (a context manager)
    """The house style, and a figure for the screen or a file."""

    def __init__(self, path: str | Path | None) -> None:
        if path is not None:
            check_picture(path)
        check_matplotlib()
        import matplotlib as mpl

        self._path, self._style = path, mpl.rc_context(SETTINGS)

    def __enter__(self) -> _figure:
        self._style.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._style.__exit__(kind, error, trace)

    def single(self, height: float) -> tuple[Figure, Any]:
        figure = new_figure((WIDTH, height), self._path is None)
        return figure, figure.add_subplot()

    def row(self, count: int) -> tuple[Figure, list[Any]]:
        figure = new_figure((WIDTH if count < 4 else 1.4 * WIDTH, _HEIGHT), self._path is None)
        return figure, list(figure.subplots(1, count, sharey=True, squeeze=False)[0])

    def column(self, count: int, ratios: tuple[int, ...] | None = None) -> tuple[Figure, list[Any]]:
        figure = new_figure((WIDTH, max(_HEIGHT, 0.75 * _ROW * count)), self._path is None)
        panels = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
        return figure, list(panels)

    def write(self, figure: Any) -> None:
        if self._path is not None:
            write_figure(figure, self._path)


def _draw_lines(
    panel: Any, result: SweepResult, along: Floats, rows: Floats, others: Floats | None, over: int = 0
) -> None:
    """A measure over one parameter, a line for each value of another."""
    names, units = result.points.names, result.points.units
    order = np.argsort(along)
    for k, row in enumerate(rows):
        text = None if others is None else f"{others[k]:.4g} {units[1 - over]}".rstrip()
        marker = "o" if len(along) <= 60 and len(rows) == 1 else None
        panel.plot(along[order], row[order], marker=marker, markersize=2.5, label=text, **line(k))
    failed = np.isnan(rows).any(axis=0)
    if failed.any():
        _mark_failed(panel, along[failed])
    if others is not None:
        panel.legend(title=names[1 - over], ncols=2)
    elif failed.any():
        panel.legend()
    panel.set_xlabel(label(names[over], units[over]))
    panel.set_title(result.mechanism)


def _mark_failed(panel: Any, along: Floats) -> None:
    """Crosses at the lower edge."""
    edge = panel.get_xaxis_transform()
    panel.plot(along, np.zeros(len(along)), label="failed", clip_on=False, transform=edge, **_FAILED)


def _draw_map(
    figure: Any, panel: Any, result: SweepResult, axes: tuple[Floats, ...], values: Floats, title: str
) -> None:
    """A measure over two parameters, with lines of equal values."""
    (first, second), names, units = axes, result.points.names, result.points.units
    i, j = np.argsort(first), np.argsort(second)
    values = np.ma.masked_invalid(values[np.ix_(i, j)]).T
    from matplotlib.ticker import MaxNLocator

    known = values.compressed() if values.count() else np.zeros(1)
    low, high = np.percentile(known, (100 - _SHOWN, _SHOWN))  # a few points beside failures may be far off
    ends = {"vmin": low, "vmax": high} if high > low else {}
    shades = panel.pcolormesh(
        first[i], second[j], values, cmap="cividis", shading="nearest", rasterized=True, **ends
    )
    lines = None
    if values.count() > 3 and high > low:
        levels = MaxNLocator(_LEVELS).tick_values(low, high)
        lines = panel.contour(first[i], second[j], values, levels, colors="white", linewidths=0.6)
    panel.grid(visible=False)
    failed = np.argwhere(np.ma.getmaskarray(values))
    if len(failed):
        panel.plot(first[i][failed[:, 1]], second[j][failed[:, 0]], label="failed", clip_on=False, **_FAILED)
        panel.legend(loc="lower right", bbox_to_anchor=(1.0, 1.01))
    beyond = (known.min() < low, known.max() > high)
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(beyond, "neither")
    bar = figure.colorbar(shades, ax=panel, extend=extend, label=title)
    if lines is not None:  # marked on the bar, as labels in narrow places hide each other
        bar.add_lines(lines)
    panel.set_title(result.mechanism)
    panel.set_xlabel(label(names[0], units[0]))
    panel.set_ylabel(label(names[1], units[1]))


def _draw_cloud(panel: Any, result: SweepResult, parameter: int, values: Floats) -> None:
    """A measure of scattered points over one of their parameters."""
    along = result.points.table[:, parameter]
    panel.plot(along, values, ".", color=COLOURS[0], markersize=3.0)
    if np.any(failed := np.isnan(values)):
        _mark_failed(panel, along[failed])
    panel.set_xlabel(label(result.points.names[parameter], result.points.units[parameter]))


def _fit_range(panel: Any, values: Floats) -> None:
    """Show the range near the best value; the first runs of a search may be far off."""
    low, high = np.nanmin(values), np.nanpercentile(values, 90)
    if high > low:
        panel.set_ylim(low - 0.08 * (high - low), high + 0.08 * (high - low))
