"""Films of a run: pictures at evenly spaced times, each with the time, the scale and the paths so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.checking import Check
from bellcrank.scene.contact_marks import COLORS, ContactMarking
from bellcrank.scene.figure import check_matplotlib
from bellcrank.scene.film import Pixels, check_film, write_film
from bellcrank.scene.painter import Instant, Look, Painter
from bellcrank.scene.scene import Scene
from bellcrank.scene.still import (
    WIDTH,
    Style,
    aspect_of,
    canvas,
    framed,
    keys,
    show,
    straight,
    trace,
    trace_color,
    with_room,
    write_note,
)
from bellcrank.scene.view import view_of
from bellcrank.trajectory.contact_marks import pictured
from bellcrank.trajectory.showing import scene_of, traces_of
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from bellcrank.trajectory.trajectory import Trajectory

_WIDTH: Final = 960  # pixels
_WIDEST: Final = 7680
_MOST: Final = 100_000  # pictures
_LOOKED_AT: Final = 40  # instants from which the frame is found


def animate(
    run: Trajectory,
    path: str | Path,
    fps: Any,
    speed: Any,
    over: tuple[Any, Any, Any],
    options: Mapping[str, Any],
) -> None:
    """See `Trajectory.animate`. over: paths, contacts and the scale of their forces."""
    check_film(path)
    check_matplotlib()
    options = dict(options)
    with Check("film") as check:
        fps, speed = check.positive("fps", fps, "1/s"), check.positive("speed", speed)
        width = check.integer("width", options.pop("width", _WIDTH), 64)
        if width > _WIDEST:
            check.fault(f"width must be at most {_WIDEST} pixels", width)
    first, last = run.span()
    count = round((last - first) / speed * fps) + 1
    if count > _MOST:
        advice = "raise speed, or film a part of the run: run.between(start, end)"
        raise MechanismError(Fault("film", f"it would have more than {_MOST} pictures", count, advice))
    times = np.linspace(first, min(last, first + (count - 1) / fps * speed), count)
    paths, contacts, force_scale = over
    scene, traces = scene_of(run), traces_of(run, paths)
    marks = pictured(run, scene.up, contacts, force_scale)
    shown = None if marks is None else marks.marking(times)
    write_film(
        path,
        _pictures(run, scene, times, width, traces, shown, options),
        fps,
        () if shown is None else COLORS,
    )


def _pictures(
    run: Trajectory,
    scene: Scene,
    times: FloatArray,
    width: int,
    traces: Mapping[str, FloatArray],
    contacts: ContactMarking | None,
    options: Mapping[str, Any],
) -> Iterator[Pixels]:
    """The pictures (h, w, 3), both even, as encoders want them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    style = Style.of(scene, options)
    view = view_of(scene, style.view)
    painter = Painter(scene, view, Look(style.only, style.joints, style.color, style.opacity))
    some = np.linspace(times[0], times[-1], min(_LOOKED_AT, len(times)))
    instants = [_instant(run, time) for time in some.tolist()]
    lines = {name: view.project(points)[:, :2] for name, points in traces.items()}
    frame, layer = with_room(framed(painter, instants, style, list(lines.values())), view, style, contacts)
    floor = painter.floor(instants)
    wide = 2 * (width // 2)
    high = 2 * round(0.5 * wide * aspect_of(frame, style))
    style = replace(style, size=(WIDTH, WIDTH * high / wide), dpi=wide / WIDTH)
    figure, axes, frame = canvas(frame, style, None, on_screen=False)
    FigureCanvasAgg(figure)
    shown = show(axes, np.zeros((high, wide, 4)), frame)
    rims = {
        name: trace(axes, line[:0], trace_color(scene, name, number), name)
        for number, (name, line) in enumerate(lines.items())
    }
    if style.scale:
        keys(axes, frame, layer)
    note, marks = write_note(axes, ""), list[Any]()
    before = None
    for number, time in enumerate(times.tolist()):
        now = replace(_instant(run, time), active=run.active(time, before))
        shown.set_data(straight(painter.paint([now], frame, wide, floor=floor)))
        before = time
        passed = int(np.searchsorted(run.time, time, "right"))
        for name, artists in rims.items():
            for artist in artists:
                artist.set_data(*lines[name][:passed].T)
        while marks:
            marks.pop().remove()
        if layer is not None:
            marks += layer.draw(axes, view, number)
        note.set_text(f"t = {time:.2f} s")
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[:high, :wide, :3]


def _instant(run: Trajectory, time: float) -> Instant:
    state = run.at(time)
    return Instant(state.position, state.rotation)
