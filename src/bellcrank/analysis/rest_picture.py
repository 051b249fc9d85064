"""Pictures of rests: the mechanism, the forces of its joints as arrows, and what drives hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.mechanism.contents import with_numbers
from bellcrank.scene.figure import check_matplotlib, check_picture, write_figure
from bellcrank.scene.making import of
from bellcrank.scene.painter import Instant
from bellcrank.scene.still import picture
from bellcrank.scene.view import view_of
from bellcrank.trajectory.beam_values import coloring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.analysis.statics import Statics

_LONGEST: Final = 0.2  # of the picture's width: the arrow of the largest force
_LEAST: Final = 0.01  # of the largest force: smaller ones are not drawn
_RED: Final = "#b3261e"
_INK: Final = "#3c4043"


def draw_rest(
    found: Statics, path: str | Path | None, options: Mapping[str, Any], beams: str | None
) -> Figure:
    """See `Statics.draw`."""
    if path is not None:
        check_picture(path)
    check_matplotlib()
    numbers = with_numbers(found.at)
    scene = of(numbers, found.state)
    options = dict(options)
    view = view_of(scene, options.get("view"))
    colors = coloring(beams, scene, found.beam, options.get("only"))
    tints = {} if colors is None else colors.tints(0)
    instants = [Instant(found.state.position, found.state.rotation, tints=tints)]
    bar = None if colors is None else colors.bar
    figure = picture(scene, instants, path, options={**options, "view": view}, bar=bar)  # written again
    axes: Any = figure.axes[0]
    left, right = axes.get_xlim()
    forces = {name: view.project(r.force)[:2] for name, r in found.joints.items()}
    largest = max((float(np.linalg.norm(f)) for f in forces.values()), default=0.0)
    box = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.0}
    reach = [axes.get_xlim(), axes.get_ylim()]
    for name, force in forces.items():
        size = float(np.linalg.norm(force))
        if not size > _LEAST * largest or largest == 0.0:
            continue
        place = numbers.position_in_world(numbers.joints[name].marker_2, found.state)
        point = view.project(np.array(place))[:2]
        tail = point - force / largest * _LONGEST * (right - left)
        style = {"arrowstyle": "-|>", "color": _RED, "linewidth": 1.4, "shrinkA": 0.0, "shrinkB": 0.0}
        axes.annotate("", xy=point, xytext=tail, arrowprops=style)
        text = f"{name}\n{float(np.linalg.norm(found.joints[name].force)):.4g} N"
        axes.text(
            *tail,
            text,
            color=_RED,
            fontsize=7.5,
            ha="center",
            va="top" if force[1] > 0 else "bottom",
            bbox=box,
        )
        for k in range(2):
            pad = 0.09 * (right - left)
            reach[k] = (min(reach[k][0], tail[k] - pad), max(reach[k][1], tail[k] + pad))
    _framed(figure, axes, reach)
    lines = [
        f"{name}: {' '.join(f'{v:.4g} {u}' for v, u in zip(e.efforts, e.units, strict=True))}"
        for name, e in found.drives.items()
    ]
    if lines:
        figure.text(
            0.985, 0.97, "\n".join(["drives hold", *lines]), ha="right", va="top", fontsize=8, color=_INK
        )
    if path is not None:
        write_figure(figure, path)
    return figure


def _framed(figure: Any, axes: Any, reach: list[Any]) -> None:
    """Make the axes contain all arrows, and the figure keep their proportions."""
    (left, right), (low, high) = reach
    figure.set_layout_engine("none")  # matplotlib gives its default to a figure that it has written
    width, _ = figure.get_size_inches()
    figure.set_size_inches(width, width * (high - low) / (right - left))
    axes.set(xlim=(left, right), ylim=(low, high))
