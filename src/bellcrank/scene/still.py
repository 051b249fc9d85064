"""Still pictures: a figure with the painted scene, paths over it, and a scale bar.

The axes of the figure are lengths in the picture, m, so that more can be drawn over it: `View.project` gives
the coordinates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.compile.standing import absent_at
from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.shape import as_color
from bellcrank.scene.bodies import PALETTE
from bellcrank.scene.color_scale import ColorBar
from bellcrank.scene.contact_marks import ContactLayer, ContactMarking, round_down
from bellcrank.scene.figure import check_matplotlib, check_picture, new_figure, write_figure
from bellcrank.scene.making import of
from bellcrank.scene.painter import Frame, Instant, Look, Painter
from bellcrank.scene.scene import Scene
from bellcrank.scene.view import View, view_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH: Final = 6.4  # inches, of a figure
_HIGHEST, _FLATTEST = 1.05, 0.36  # its height, as part of the width
_MARGIN: Final = 0.05  # around the drawn parts, as part of the larger side
_FAINTEST: Final = 0.22  # strength of the first of several instants
_INK: Final = "#3c4043"
_BAR: Final = 0.2  # of the width: the longest scale bar


@dataclass(frozen=True, eq=False)
class Style:
    """The options of a picture; see `Mechanism.draw`."""

    view: Any = None
    joints: bool = True
    names: bool = False
    only: Collection[str] | None = None
    color: Sequence[float] | None = None
    opacity: float = 1.0
    box: Any = None
    size: Any = None
    dpi: float = 200.0
    scale: bool = True
    follow: str | None = None

    @staticmethod
    def of(scene: Scene, options: Mapping[str, Any]) -> Style:
        """Checked options. Raises MechanismError for unknown options and invalid values."""
        known = tuple(Style.__dataclass_fields__)
        with Check("draw") as check:
            for name in options:
                if name not in known:
                    check.fault("there is no option of this name", name, nearest(name, known))
            if (only := options.get("only")) is not None:
                listed = [only] if isinstance(only, str) else list(only)
                known_bodies = (*scene.carriers, *scene.sweeps)
                for name in listed:
                    if name not in known_bodies:
                        advice = nearest(str(name), known_bodies)
                        check.fault("only: there is no body of this name", name, advice)
                beams = [scene.sweeps[name] for name in listed if name in scene.sweeps]
                nodes = [scene.carriers[k] for beam in beams for k in beam.carriers]
                options = {**options, "only": frozenset([*listed, *nodes])}
            if (follow := options.get("follow")) is not None and follow not in scene.carriers:
                advice = nearest(str(follow), scene.carriers)
                check.fault("follow: there is no body of this name", follow, advice)
            if (box := options.get("box")) is not None:
                check.array("box", np.asarray(box).tolist(), (2, 3), "m")
            if (size := options.get("size")) is not None and min(check.array("size", size, (2,))) <= 0.0:
                check.fault("size must be greater than zero", size, "inches")
            if options.get("color") is not None:
                options = {**options, "color": as_color(check, "color", options["color"])}
            if "opacity" in options:
                check.number("opacity", options["opacity"])
            if "dpi" in options:
                check.positive("dpi", options["dpi"])
        return Style(**options)


def draw(
    mechanism: Mechanism,
    path: str | Path | None = None,
    state: State | None = None,
    axes: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Figure:
    """A figure of a mechanism; see `Mechanism.draw`."""
    if path is not None:
        check_picture(path)
    check_matplotlib()
    scene = of(mechanism, state)
    return picture(scene, [instant_of(scene.mechanism, scene.state)], path, axes, options)


def instant_of(mechanism: Mechanism, state: State, strength: float = 1.0) -> Instant:
    """A state of a mechanism, with what is in force there."""
    return Instant(state.position, state.rotation, strength, absent=absent_at(mechanism, state))


def faded(mechanism: Mechanism, states: Sequence[State]) -> list[Instant]:
    """States in sequence, the earlier ones fainter."""
    parts = [(number / len(states)) ** 2 for number in range(1, len(states) + 1)]
    strengths = [_FAINTEST + (1.0 - _FAINTEST) * part for part in parts]
    pairs = zip(states, strengths, strict=True)
    return [instant_of(mechanism, one, float(strength)) for one, strength in pairs]


def picture(
    scene: Scene,
    instants: Sequence[Instant],
    path: str | Path | None = None,
    axes: Any = None,
    options: Mapping[str, Any] | None = None,
    traces: Mapping[str, Floats] | None = None,
    note: str = "",
    contacts: ContactMarking | None = None,
    bar: ColorBar | None = None,
) -> Figure:
    """A figure of a scene at instants one over another.

    traces: lines in the world by name, (n, 3), m. note: words in a corner. contacts: marks of each instant.
    bar: of the colours of beams.
    """
    style = Style.of(scene, options or {})
    view = view_of(scene, style.view)
    painter = Painter(scene, view, Look(style.only, style.joints, style.color, style.opacity))
    lines = {name: view.project(points)[:, :2] for name, points in (traces or {}).items()}
    within = instants if style.follow is None else instants[-1:]
    room = framed(painter, within, style, list(lines.values()) if style.follow is None else [])
    frame, layer = with_room(room, view, style, contacts)
    frame = below_a_bar(frame, style, bar)
    figure, axes, frame = canvas(frame, style, axes, path is None)
    width, _ = _inches(axes)
    image = painter.paint(instants, frame, max(64, round(width * style.dpi)))
    show(axes, image, frame)
    for number, (name, line) in enumerate(lines.items()):
        trace(axes, line, trace_color(scene, name, number), name)
    if layer is not None:
        for number, instant in enumerate(instants):
            layer.draw(axes, view, number, instant.strength)
    if style.names:
        _names(axes, painter, instants[-1])
    if style.scale:
        keys(axes, frame, layer)
    if bar is not None:
        bar.draw(axes)
    if note:
        write_note(axes, note)
    if path is not None:
        write_figure(figure, path)
    return figure  # type: ignore[no-any-return]


def framed(painter: Painter, instants: Sequence[Instant], style: Style, lines: Sequence[Floats]) -> Frame:
    """The extent of the picture: everything drawn with a margin, or the given box (2, 3) in the world."""
    if style.box is not None:
        low, high = np.asarray(style.box, dtype=float)
        corners = np.array([[(low, high)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)])
        flat = painter.view.project(corners)
        return Frame(flat[:, 0].min(), flat[:, 0].max(), flat[:, 1].min(), flat[:, 1].max())
    frame = painter.reach(instants, style.follow)
    points = np.concatenate([[[frame.left, frame.low], [frame.right, frame.high]], *lines])
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    margin = _MARGIN * max(right - left, high - low) or 0.05 * painter.scene.size
    below = 1.6 * margin if style.scale else margin  # for the scale bar
    return Frame(left - margin, right + margin, low - below, high + margin)


def with_room(
    frame: Frame, view: View, style: Style, contacts: ContactMarking | None
) -> tuple[Frame, ContactLayer | None]:
    """The frame with room for contact marks and their key, unless it is given; the marks to scale."""
    if contacts is None:
        return frame, None
    layer = contacts.scaled(*frame.extent)
    if style.box is not None:
        return frame, layer
    margin = 0.3 * _MARGIN * max(frame.extent)
    below = frame.low + 2.0 * margin if style.scale else frame.low
    inner = [[frame.left + margin, below], [frame.right - margin, frame.high - margin]]
    points = np.concatenate([inner, *layer.outline(view)])
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    key = 5.0 * margin if style.scale else margin
    return Frame(left - margin, right + margin, low - key, high + margin), layer


def below_a_bar(frame: Frame, style: Style, bar: ColorBar | None) -> Frame:
    """The frame with room above for the bar of colours, unless it is given."""
    if bar is None or style.box is not None:
        return frame
    wide, high = frame.extent
    return replace(frame, high=frame.high + max(0.14 * high, 0.07 * wide))


def canvas(frame: Frame, style: Style, axes: Any, on_screen: bool) -> tuple[Any, Any, Frame]:
    """Figure, axes and the frame that fills them."""
    if axes is not None:
        figure = axes.get_figure()
        wide, high = _inches(axes)
        axes.set_axis_off()
        return figure, axes, frame.fitted(wide / high)
    size = style.size or (WIDTH, WIDTH * aspect_of(frame, style))
    figure = new_figure(
        tuple(size), on_screen, layout="none", facecolor="white", **({} if on_screen else {"dpi": style.dpi})
    )
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    return figure, axes, frame.fitted(size[0] / size[1])


def aspect_of(frame: Frame, style: Style) -> float:
    """The height of a picture, as part of its width."""
    if style.size is not None:
        return float(style.size[1] / style.size[0])
    wide, high = frame.extent
    return min(max(high / wide, _FLATTEST), _HIGHEST)


def _inches(axes: Any) -> tuple[float, float]:
    box = axes.get_window_extent()
    dpi = axes.get_figure().dpi
    return float(box.width / dpi), float(box.height / dpi)


def show(axes: Any, image: Any, frame: Frame) -> Any:
    """Place a painted picture in axes."""
    extent = (frame.left, frame.right, frame.low, frame.high)
    shown = axes.imshow(straight(image), extent=extent, aspect="equal", zorder=0.5)
    axes.set(xlim=extent[:2], ylim=extent[2:])
    return shown


def straight(image: Any) -> Any:
    """A painted picture with colours not multiplied by opacity, as matplotlib requires."""
    alpha = np.where(image[..., 3:] > 0.0, image[..., 3:], 1.0)
    return np.clip(np.concatenate([image[..., :3] / alpha, image[..., 3:]], axis=-1), 0.0, 1.0)


def trace(axes: Any, line: Floats, color: Any, name: str) -> list[Any]:
    """Draw a line (n, 2) with a light rim, so that it is visible on bodies."""
    rim = axes.plot(*line.T, color="white", linewidth=2.6, alpha=0.7, solid_capstyle="round")
    return [*rim, *axes.plot(*line.T, color=color, linewidth=1.2, solid_capstyle="round", label=name)]


def write_note(axes: Any, note: str) -> Any:
    """Write text in the lower right corner."""
    place = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    return axes.text(0.985, 0.02, note, fontsize=7.5, color=_INK, **place)


def keys(axes: Any, frame: Frame, contacts: ContactLayer | None) -> None:
    """Draw the scale bar and, above it, the key to contact marks."""
    scale_bar(axes, frame)
    if contacts is not None:
        contacts.key(axes, frame.extent[0], np.array([frame.left, frame.low]))


def scale_bar(axes: Any, frame: Frame) -> None:
    """Draw a bar of a round length in the lower left corner."""
    wide, _ = frame.extent
    length = round_down(_BAR * wide)
    x, y = frame.left + 0.025 * wide, frame.low + 0.022 * wide
    tick = 0.006 * wide
    xs, ys = [x, x, x, x + length, x + length, x + length], [y + tick, y - tick, y, y, y - tick, y + tick]
    axes.plot(xs, ys, color=_INK, linewidth=0.9, solid_capstyle="butt", solid_joinstyle="miter")
    axes.text(
        x + 0.5 * length,
        y + 0.6 * tick,
        _length_text(length),
        ha="center",
        va="bottom",
        fontsize=7.5,
        color=_INK,
    )


def _length_text(length: float) -> str:
    for unit, metres in (("km", 1e3), ("m", 0.1), ("mm", 1e-3), ("µm", 1e-6)):
        if length >= 0.999 * metres:
            return f"{length / (1.0 if unit == 'm' else metres):g} {unit}"
    return f"{length:g} m"


def trace_color(scene: Scene, name: str, number: int) -> Any:
    """The colour of the body that the line belongs to, darker."""
    body = name if name in scene.carriers else name.rpartition(".")[0]
    pieces = scene.bodies.get(body, ())
    color = pieces[0].color[:3] if pieces else PALETTE[number % len(PALETTE)]
    return tuple(0.72 * c for c in color)


def _names(axes: Any, painter: Painter, instant: Instant) -> None:
    """Write the name of each body at its middle."""
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.8)]
    for name, at in painter.middles(instant).items():
        axes.text(*at, name, fontsize=9.0, ha="center", va="center", color=_INK, path_effects=halo)


def words_of_times(times: Sequence[float]) -> str:
    """The instants of a picture, as text."""
    listed = [f"{time:.4g}" for time in times]
    shown = listed if len(listed) <= 6 else [*listed[:2], "…", listed[-1]]
    return f"t = {', '.join(shown)} s"
