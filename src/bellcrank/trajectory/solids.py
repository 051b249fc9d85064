"""Stresses inside flexible solids in results: by node, the largest over a run, and as pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check, required
from bellcrank.scene.color_scale import SCALE
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.slips import answering
from bellcrank.solids.in_mechanisms import freedoms_of_modes
from bellcrank.solids.reduced import ReducedSolid
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from bellcrank.mechanism.mechanism import Mechanism

_AT_ONCE: Final = 5_000_000  # numbers of stresses
_MOST: Final = 50_000_000
_SIZE: Final = (7.0, 5.0)  # inches
_LIGHT: Final = np.array([0.4, -0.6, 0.7]) / np.linalg.norm([0.4, -0.6, 0.7])
_DARKEST: Final = 0.55


class WorstNode(NamedTuple):
    """The largest von Mises stress, Pa; when, s; the node, by its place among the points, and where, m."""

    value: float
    time: float
    node: int
    position: tuple[float, float, float]


@answering
class SolidHistory:
    """Stresses inside a flexible solid in a run of T frames, at the p nodes where they were kept.

    They are those of its modes: exact for loads at interfaces, and for others as good as the modes are. The
    stress at a node is the mean of those of the elements there. Where nodes are tied rigidly to an interface
    it grows without end with finer elements, as at any sharp clamp.

    >>> mech, bar = pulled_bar
    >>> found = bc.statics(mech).flexible("bar", bar)
    >>> node = found.near((0.1, 0, 0.01))
    >>> print(f"{1e-6 * found.stress([node])[0, 0, 0]:.2f} MPa")    # 400 N on 4 cm^2
    1.00 MPa
    """

    def __init__(
        self, name: str, solid: ReducedSolid, time: FloatArray, amplitudes: FloatArray, per: Any
    ) -> None:
        kept = solid.stresses
        assert kept is not None
        self.name, self.time = name, time
        self._kept, self._amplitudes = kept, amplitudes
        own = kept.basis.T @ (solid.mass_matrix @ per)
        self._modes: FloatArray = np.einsum("pcn,nk->pck", kept.modes, own, optimize=True)

    def __repr__(self) -> str:
        return (
            f"<flexible solid {self.name!r}: stresses at {len(self.points)} nodes, {len(self.time)} frames>"
        )

    @property
    def points(self) -> FloatArray:
        """(p, 3), m, where the nodes are in the solid."""
        return self._kept.points

    def near(self, position: Any) -> int:
        """The node that is nearest to a point of the solid, m, by its place among the points.

        >>> mech, bar = pulled_bar
        >>> found = bc.statics(mech).flexible("bar", bar)
        >>> print(found.points[found.near(("0.1 m", 0, 0.01))][0].round(3))
        0.1
        """
        with Check(f"flexible solid {self.name!r}") as check:
            at = check.vector("position", position, "m")
        return int(np.argmin(np.sum((self.points - np.array(at)) ** 2, axis=1)))

    def stress(self, nodes: Any = None) -> FloatArray:
        """(T, p, 6), Pa: xx, yy, zz, xy, yz, zx, axes of the solid.

        nodes: by their places among the points; by default all. Raises MechanismError for nodes that there
        are not, and for more numbers than fit into memory.

        >>> mech, bar = pulled_bar
        >>> found = bc.statics(mech).flexible("bar", bar)
        >>> print((1e-6 * found.stress([found.near((0.1, 0, 0.01))])[0, 0]).round(1))    # MPa
        [1. 0. 0. 0. 0. 0.]
        """
        chosen = self._chosen(nodes)
        if (count := 6 * len(chosen) * len(self.time)) > _MOST:
            rule = "the stresses of so many nodes and frames are too many at once"
            raise MechanismError.of(f"flexible solid {self.name!r}", rule, count, "name nodes")
        return self._at(slice(None), chosen)

    def von_mises(self, nodes: Any = None) -> FloatArray:
        """(T, p), Pa: the equivalent stress. nodes: as of `stress`.

        >>> mech, bar = pulled_bar
        >>> run = bc.simulate(mech, 0.001, method="bdf")
        >>> print(run.flexible("bar", bar).von_mises([0, 1]).shape == (len(run.time), 2))
        True
        """
        chosen = self._chosen(nodes)
        if (count := len(chosen) * len(self.time)) > _MOST:
            rule = "the stresses of so many nodes and frames are too many at once"
            raise MechanismError.of(f"flexible solid {self.name!r}", rule, count, "name nodes")
        parts = [_equivalent(self._at(frames, chosen)) for frames in self._strides(len(chosen))]
        return np.concatenate(parts)

    def envelope(self) -> FloatArray:
        """(p,), Pa: the largest von Mises stress of each node over the run.

        >>> mech, bar = pulled_bar
        >>> found = bc.simulate(mech, 0.001, method="bdf").flexible("bar", bar)
        >>> middle = found.near((0.1, 0, 0.01))
        >>> print(1.5e6 < found.envelope()[middle] < 2.0e6)    # a load that comes at once pulls nearly twice
        True
        """
        every = self._chosen(None)
        found = np.zeros(len(every))
        for frames in self._strides(len(every)):
            np.maximum(found, _equivalent(self._at(frames, every)).max(axis=0), out=found)
        return found

    def worst(self) -> WorstNode:
        """The largest von Mises stress of all nodes and frames: value, time, node, and where it is.

        >>> mech, bar = pulled_bar
        >>> worst = bc.statics(mech).flexible("bar", bar).worst()
        >>> print(f"{worst.value:.2g} Pa, more than in the middle: ends cannot shrink across")
        1.2e+06 Pa, more than in the middle: ends cannot shrink across
        """
        node = int(np.argmax(self.envelope()))
        there = self.von_mises([node])[:, 0]
        frame = int(np.argmax(there))
        x, y, z = self.points[node].tolist()
        return WorstNode(float(there[frame]), float(self.time[frame]), node, (x, y, z))

    def draw(
        self,
        path: str | os.PathLike[str] | None = None,
        time: float | None = None,
        view: tuple[float, float] = (25.0, -60.0),
        dpi: int = 150,
    ) -> Figure:
        """The surface, coloured by the von Mises stress: at a time, or the largest over the run.

        path: file to write the picture into (PNG, PDF or SVG). view: elevation and azimuth, degrees.

        Raises MechanismError where no triangles of the surface were kept; Unsupported without matplotlib.

        >>> mech, bar = pulled_bar
        >>> figure = bc.statics(mech).flexible("bar", bar).draw("bar.png")
        >>> figure.axes[0].get_title()
        'von Mises stress, largest over the run'
        """
        check_matplotlib()
        if path is not None:
            check_picture(Path(path))
        if not len(self._kept.faces):
            rule, advice = "no surface was kept to draw", 'give stresses="surface" to bc.flexible'
            raise MechanismError.of(f"flexible solid {self.name!r}", rule, None, advice)
        if time is None:
            values, when = self.envelope(), "largest over the run"
        else:
            with Check(f"flexible solid {self.name!r}") as check:
                time = check.number("time", time, "s")
            frame = int(np.argmin(np.abs(self.time - time)))
            values, when = self._of_frame(frame), f"at {self.time[frame]:.4g} s"
        figure: Figure = new_figure(_SIZE, path is None, dpi=dpi)
        _paint(figure, self.points, self._kept.faces, values, view, f"von Mises stress, {when}")
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def _of_frame(self, frame: int) -> FloatArray:
        every = self._chosen(None)
        found: FloatArray = _equivalent(self._at(slice(frame, frame + 1 or None), every))[0]
        return found

    def _chosen(self, nodes: Any) -> Any:
        if nodes is None:
            return np.arange(len(self.points))
        found = np.atleast_1d(np.asarray(nodes))
        count = len(self.points)
        if found.ndim != 1 or found.dtype.kind not in "iu" or np.any((found < 0) | (found >= count)):
            rule = f"nodes must be places among its {count} points"
            raise MechanismError.of(f"flexible solid {self.name!r}", rule, nodes, "near(position) finds one")
        return found

    def _strides(self, nodes: int) -> list[slice]:
        step = max(1, _AT_ONCE // (6 * max(1, nodes)))
        return [slice(begin, begin + step) for begin in range(0, len(self.time), step)]

    def _at(self, frames: slice, nodes: Any) -> FloatArray:
        found: FloatArray = np.einsum(
            "pck,tk->tpc", self._modes[nodes], self._amplitudes[frames], optimize=True
        )
        return found


def solid_history(
    mechanism: Mechanism,
    name: str,
    solid: Any,
    time: FloatArray,
    amplitude: Callable[[str], FloatArray],
) -> SolidHistory:
    """A flexible solid of a mechanism. amplitude: the angle (T,) of a joint by its name.

    Raises MechanismError where no stresses were kept of the solid, and if it is not that of the mechanism.
    """
    element = f"flexible solid {name!r}"
    if isinstance(solid, (str, os.PathLike)):
        solid = ReducedSolid.load(solid)
    reduced = required(element, solid, ReducedSolid, "as given to add_flexible, or the file of it")
    if reduced.stresses is None:
        rule, advice = "no stresses were kept of it", 'give stresses="surface" to bc.flexible'
        raise MechanismError.of(element, rule, None, advice)
    per = freedoms_of_modes(mechanism, name, reduced)
    angles = [amplitude(f"{name}/mode {k}") for k in range(1, per.shape[1] + 1)]
    return SolidHistory(name, reduced, time, np.stack(angles, axis=1), per)


def _equivalent(stress: FloatArray) -> FloatArray:
    """Von Mises' stress of stresses (..., 6)."""
    xx, yy, zz, xy, yz, zx = np.moveaxis(stress, -1, 0)
    apart = 0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2)
    found: FloatArray = np.sqrt(apart + 3.0 * (xy**2 + yz**2 + zx**2))
    return found


def _paint(
    figure: Figure, points: FloatArray, faces: Any, values: FloatArray, view: tuple[float, float], title: str
) -> None:
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap, Normalize
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes: Any = figure.add_subplot(projection="3d", computed_zorder=False)
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
    scale = Normalize(0.0, 1e-6 * float(values.max(initial=0.0)) or 1.0)
    shades = mpl.cm.ScalarMappable(norm=scale, cmap=ListedColormap(SCALE))
    colors = shades.to_rgba(1e-6 * values[faces].mean(axis=1))
    colors[:, :3] *= (_DARKEST + (1.0 - _DARKEST) * np.abs(across @ _LIGHT))[:, None]
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colors, edgecolors=colors, linewidths=0.2))
    low, high = points.min(axis=0), points.max(axis=0)
    for letter, begin, end in zip("xyz", low, high, strict=True):
        getattr(axes, f"set_{letter}lim")(begin, end)
    axes.set_box_aspect(np.maximum(high - low, 1e-3 * float((high - low).max())), zoom=0.95)
    axes.view_init(*view)
    axes.set_axis_off()
    axes.set_title(title, fontsize=10)
    figure.colorbar(shades, ax=axes, shrink=0.7, label="MPa")
