"""Pictures of a run: of the mechanism at instants, films, and the display in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank import views
from bellcrank.compile.standing import absent_at
from bellcrank.compile.state import State
from bellcrank.errors import BellcrankError, Fault, MechanismError, Unsupported
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.html import page
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rotation_arrays import rotate
from bellcrank.overloads import overload
from bellcrank.progress import ProgressBar
from bellcrank.scene import gltf
from bellcrank.scene.color_scale import SCALE
from bellcrank.scene.contact_marks import COLORS, ContactMarking
from bellcrank.scene.figure import check_matplotlib, check_picture
from bellcrank.scene.film import Film, Pixels, check_film, kind_for_notebooks, write_film
from bellcrank.scene.making import of
from bellcrank.scene.notebook import image
from bellcrank.scene.painter import Look, Painter
from bellcrank.scene.scene import Scene
from bellcrank.scene.still import (
    WIDTH,
    Style,
    aspect_of,
    below_a_bar,
    canvas,
    faded,
    framed,
    instant_of,
    keys,
    picture,
    trace,
    trace_color,
    with_room,
    words_of_times,
    write_note,
)
from bellcrank.scene.view import view_of
from bellcrank.trajectory.beam_values import Coloring, coloring
from bellcrank.trajectory.beams import BeamHistory, beam_history
from bellcrank.trajectory.clusters import colors as of_clusters
from bellcrank.trajectory.contact_marks import pictured
from bellcrank.trajectory.markers import marker_in
from bellcrank.trajectory.store import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bellcrank.trajectory.trajectory import Trajectory


_INSTANTS_MOST: Final = 100  # in a picture
_INSTANTS: Final = 5
_WIDTH: Final = 960  # pixels
_WIDEST: Final = 7680
_PICTURES_MOST: Final = 100_000  # in a film
_KEPT: Final = 32  # colours of the scale in the palette of a GIF
_LOOKED_AT: Final = 40  # instants from which the frame is found


class Shown:
    """A run that can be displayed."""

    def draw(
        self,
        path: str | Path | None = None,
        *,
        times: Any = None,
        instants: int = _INSTANTS,
        paths: Sequence[Any] = (),
        contacts: Any = None,
        force_scale: Any = None,
        axes: Any = None,
        beams: str | None = None,
        clusters: bool = False,
        **options: Any,
    ) -> Figure:
        """Draw the mechanism at several instants in one picture, the earlier ones fainter.

        path: file to write it into (PNG, PDF or SVG). times: a time or several, s; or instants: how many,
            evenly spread over the run, its end the last of them.
        paths: what to trace through the whole run: named markers "body.name", markers, or bodies, whose
            path is that of the origin of their frame (`plot("path")` draws those of centres of mass).
        contacts: True, or names: marks where bodies touch, dark circles where they stick, yellow diamonds
            where they slip, and forces as arrows, from the recorded frame nearest to each instant. Forces of
            tyres, and where more than 12 points touch, are summed at their centre of pressure for each pair
            of bodies. An arrow is the force on a body that is not the ground, the upper one of two.
        force_scale: N/m, the force per metre of arrow; by default the arrow of the largest force of the run
            (of the largest force other than impacts, if that is a brief impact) is a quarter of the picture's
            smaller side. Arrows longer than half of it are cut, their forces written beside them.
        beams: what beams are coloured by, with a bar for its range over the picture: "moment" (bending),
            "torsion", "force" (tension), "shear", "stress", "von_mises", "curvature" or "deflection", from
            the recorded frame nearest to each instant.
        clusters: whether bodies that moved as one since the frame before are of one colour, and grey if with
            the ground; of adaptive and quasi-static runs (`MoveTrajectory.clusters`).
        axes, options: as in `Mechanism.draw`.

        Raises MechanismError for wrong options, times outside the run and contacts that are not recorded,
        Unsupported without matplotlib, where no beam has the quantity, and for clusters of other runs.

        >>> run = bc.simulate(four_bar, 1.0)
        >>> figure = run.draw("four-bar.png", times=[0.0, 0.15, 0.3], paths=["coupler"])
        >>> len(figure.axes)
        1
        """
        run: Any = self
        if path is not None:
            check_picture(path)
        check_matplotlib()
        chosen = times_of(run, times, instants)
        scene, traces, marks = _overlaid(run, chosen, paths, contacts, force_scale)
        shades = faded(scene.mechanism, [run.at(time) for time in chosen])
        drawn = [replace(one, active=run.active(time)) for one, time in zip(shades, chosen, strict=True)]
        colors = coloring(beams, scene, _beams_at(run, chosen), options.get("only"))
        if colors is not None:
            drawn = [replace(one, tints=colors.tints(number)) for number, one in enumerate(drawn)]
        if clusters:
            drawn = [
                replace(one, colors=_clustered(run, time)) for one, time in zip(drawn, chosen, strict=True)
            ]
        bar = None if colors is None else colors.bar
        return picture(scene, drawn, path, axes, options, traces, words_of_times(chosen), marks, bar)

    @overload
    def animate(self, path: str | Path, **options: Any) -> None: ...
    @overload
    def animate(self, path: None = None, **options: Any) -> Film: ...
    def animate(
        self,
        path: str | Path | None = None,
        *,
        fps: float = 30.0,
        speed: float = 1.0,
        paths: Sequence[Any] = (),
        contacts: Any = None,
        force_scale: Any = None,
        progress: bool | Callable[[float], None] = False,
        beams: str | None = None,
        clusters: bool = False,
        **options: Any,
    ) -> Film | None:
        """Write a film of the run: MP4 (extra `video`), GIF (extra `plot`) or GLB, by the suffix of the path.

        A GLB file (glTF 2.0) is the mechanism in motion, for Blender, Unity, Godot and browsers: the frames
        that the run has recorded, at most `fps` per second of the film. It takes no options but `speed`.

        Without a path the film is returned, and notebooks play it: `run.animate()`.
        fps: pictures per second. speed: seconds of the run per second of the film; 0.1 is slow motion.
        paths: as in `draw`; each grows as the run goes on. contacts, force_scale: as in `draw`, one scale for
            the whole film. beams: as in `draw`, with one range for the whole film. clusters: as in `draw`, of
            what moved as one since the picture before. options: as in `Mechanism.draw`, and `width`, pixels;
            with `follow` the picture moves with a body.
        progress: True for a bar on standard error, or a function that takes the fraction done.
        The film is written beside the path and put in its place once it is complete.

        >>> from pathlib import Path
        >>> bc.simulate(four_bar, 1.0).animate("four-bar.gif", fps=10, width=160)
        >>> Path("four-bar.gif").read_bytes()[:3]
        b'GIF'
        """
        run: Any = self
        if path is None:
            given = {
                "fps": fps,
                "speed": speed,
                "paths": paths,
                "contacts": contacts,
                "progress": progress,
                "beams": beams,
                "clusters": clusters,
                **options,
            }
            with TemporaryDirectory() as folder:
                made = Path(folder) / f"film{kind_for_notebooks()}"
                self.animate(made, force_scale=force_scale, **given)
                return Film(made.suffix, made.read_bytes())
        is_scene = Path(path).suffix.lower() == gltf.SUFFIX
        if not is_scene:
            check_film(path)
            check_matplotlib()
        with Check("film") as check:
            fps, speed = check.positive("fps", fps, "1/s"), check.positive("speed", speed)
            given = {
                "paths": paths, "contacts": contacts, "force_scale": force_scale, "beams": beams,
                "clusters": clusters or None, **options,
            }  # fmt: skip
            for name in [name for name, value in given.items() if is_scene and value not in (None, ())]:
                check.fault(f"a GLB file has no {name}", given[name], "it holds what moves, and no pictures")
            width = check.integer("width", options.pop("width", _WIDTH), 64)
            if width > _WIDEST:
                check.fault(f"width must be at most {_WIDEST} pixels", width)
        first, last = run.span()
        count = round((last - first) / speed * fps) + 1
        if count > _PICTURES_MOST:
            rule = f"it would have more than {_PICTURES_MOST} pictures"
            advice = "raise speed, or film a part of the run: run.between(start, end)"
            raise MechanismError(Fault("film", rule, count, advice))
        times = np.linspace(first, min(last, first + (count - 1) / fps * speed), count)
        if is_scene:
            gltf.write_gltf(path, scene_of(run), _motion(run, times, speed))
            return None
        scene, traces, marks = _overlaid(run, times, paths, contacts, force_scale)
        colors = coloring(beams, scene, _beams_at(run, times), options.get("only"))
        pictures = _pictures(run, scene, times, width, traces, marks, options, colors, clusters)
        with ProgressBar(progress, "film", count, counted=True) as bar:
            shown = _counted(pictures, bar)
            kept = [] if marks is None else [*COLORS]
            kept += [] if colors is None else SCALE[:: len(SCALE) // _KEPT].tolist()
            write_film(path, shown, fps, kept)
        return None

    def view(self, *, host: str = "localhost", port: int = 8080, token: str | None = None) -> views.Page:
        """Open a page that plays the run, with slider and plots (extra `viewer`); see `Mechanism.view`.

        >>> page = bc.simulate(pendulum, 1.0).view(port=0)
        >>> page.url.startswith("http://localhost:")
        True
        >>> page.close()
        """
        return views.view(self, None, host, port, token)

    def active(self, time: float, since: float | None = None) -> frozenset[str]:  # noqa: ARG002
        """Names of the joints highlighted in a picture at a time, s: none if all may move.

        since: the time of the picture before, where there is one.

        >>> run = bc.simulate(pendulum, 1.0)
        >>> run.active(0.5)    # all may move: nothing is highlighted
        frozenset()
        """
        return frozenset()

    def body_poses(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Positions (T, 3), m, and rotations (T, 4) of a body's frame in all frames.

        >>> position, rotation = bc.simulate(block, 1.0).body_poses("block")
        >>> print(position[-1], rotation[-1])
        [0.     0.    -4.905] [1. 0. 0. 0.]
        """
        run: Any = self
        number = run.layout.body_number[body]
        return run.store.read("position")[:, number], run.store.read("rotation")[:, number]

    def _repr_html_(self) -> str:
        return _page(self)


def _clustered(run: Any, time: float, since: float | None = None) -> FloatArray:
    """Colours (nb, 3) of bodies by what they move with. Raises Unsupported where all joints may move."""
    if not hasattr(run, "clusters"):
        raise Unsupported(
            f"run of {run.name!r}: in it all joints may move, so no bodies move as one; clusters= is for "
            "runs with formulation='adaptive' or mode='quasistatic'"
        )
    return of_clusters(run.clusters(time, since))


def _nearest_frames(run: Any, times: Any) -> NDArray[np.integer]:
    """Numbers of the recorded frames nearest to times, s."""
    times = np.asarray(times, dtype=float)
    after = np.searchsorted(run.time, times).clip(0, len(run.time) - 1)
    before = (after - 1).clip(0)
    nearer = np.abs(run.time[before] - times) < np.abs(run.time[after] - times)
    found: NDArray[np.integer] = np.where(nearer, before, after)
    return found


def _beams_at(run: Any, times: Any) -> Callable[[str], BeamHistory]:
    """Beams by name, at the recorded frames nearest to times, s."""

    def history(name: str) -> BeamHistory:
        chosen = _nearest_frames(run, times)

        def poses(body: str) -> tuple[FloatArray, FloatArray]:
            position, rotation = run.body_poses(body)
            return position[chosen], rotation[chosen]

        return beam_history(run.origin.mechanism, name, run.time[chosen], poses)

    return history


def _motion(run: Trajectory, times: FloatArray, speed: float) -> gltf.Motion:
    """The recorded frames next to times, s, in the time of a film."""
    chosen = np.unique(_nearest_frames(run, times))
    position, rotation = (run.store.read(name)[chosen] for name in ("position", "rotation"))
    absent: dict[str, NDArray[np.bool_]] = {}
    if run.origin.mechanism.changes:
        gone = [absent_at(run.origin.mechanism, run.at(time)) for time in run.time[chosen].tolist()]
        for element in frozenset[str]().union(*gone):
            absent[element] = np.array([element in one for one in gone])
    return gltf.Motion((run.time[chosen] - run.time[0]) / speed, position, rotation, absent)


def scene_of(run: Trajectory) -> Scene:
    """The scene of a run's mechanism, its sizes those of the first frame."""
    first, _ = run.span()
    return of(run.origin.mechanism, run.at(first))


def _overlaid(
    run: Any, times: Any, paths: Any, contacts: Any, force_scale: Any
) -> tuple[Scene, dict[str, FloatArray], ContactMarking | None]:
    """The scene of a run, and over it the paths and the marks of contacts at times, s."""
    scene, traces = scene_of(run), traces_of(run, paths)
    marks = pictured(run, scene.up, contacts, force_scale)
    return scene, traces, None if marks is None else marks.marking(times)


def times_of(run: Trajectory, times: Any, instants: Any) -> list[float]:
    """The given times, or a number of evenly spread ones."""
    with Check("picture of a run") as check:
        count = check.integer("instants", instants, 1)
        if count > _INSTANTS_MOST:
            check.fault(f"a picture holds at most {_INSTANTS_MOST} instants", count)
        if times is not None:
            times = check.array("times", np.atleast_1d(times).tolist(), (None,), "s")
    first, last = run.span()
    if times is None:
        times = np.linspace(last, first, count)[::-1] if count > 1 else np.array([last])
    found: list[float] = np.asarray(times, dtype=float).tolist()
    return found


def traces_of(run: Trajectory, paths: Sequence[Any]) -> dict[str, FloatArray]:
    """The paths of markers, and of the origins of bodies' frames, in the world by name, each (T, 3), m."""
    alone = isinstance(paths, (str, Marker, Body))
    return dict(_trace(run, one) for one in ([paths] if alone else paths))


def _trace(run: Trajectory, given: Any) -> tuple[str, FloatArray]:
    name, marker = marker_in(run.origin, run.bodies, "paths", given)
    if marker.body == GROUND:
        raise MechanismError(
            Fault("paths", "the ground does not move", name, "name a body, or a marker on one")
        )
    position, rotation = run.body_poses(marker.body)
    return name, position + rotate(rotation, np.broadcast_to(marker.position, position.shape))


def _page(run: Any) -> str:
    """Picture, facts and how the run ended, for a notebook. It never raises."""
    facts: dict[str, Any] = {
        "frames": run.extent(),
        "status": str(run.status),
        "holds": run.contents(),
    }
    if len(run):
        facts["largest constraint error"] = f"{float(np.max(run.violation.position)):.2g}"
        facts["largest change of energy"] = f"{float(np.max(np.abs(run.energy.drift))):.3g} J"
    facts |= {
        name: run.statistics[name] for name in ("formulation", "method", "steps") if name in run.statistics
    }
    wrong = [] if run.status == "finished" else [f"{run.status}: {run.status.message}".rstrip(": ")]
    try:
        states: list[State] = [run.at(time) for time in times_of(run, None, _INSTANTS)]
        shown = image(scene_of(run), states)
    except BellcrankError:
        shown = None  # a run of no frames, or one that does not contain its mechanism
    return page(f"run of {run.name}", facts, wrong, shown)


def _pictures(
    run: Trajectory,
    scene: Scene,
    times: FloatArray,
    width: int,
    traces: Mapping[str, FloatArray],
    contacts: ContactMarking | None,
    options: Mapping[str, Any],
    colors: Coloring | None = None,
    clusters: bool = False,
) -> Iterator[Pixels]:
    """The pictures (h, w, 4), h and w even, as encoders want them; each in the place of the last."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    style = Style.of(scene, options)
    view = view_of(scene, style.view)
    painter = Painter(scene, view, Look(style.only, style.joints, style.color, style.opacity))
    mechanism = scene.mechanism
    some = np.linspace(times[0], times[-1], min(_LOOKED_AT, len(times)))
    instants = [instant_of(mechanism, run.at(time)) for time in some.tolist()]
    lines = {name: view.project(points)[:, :2] for name, points in traces.items()}
    room = framed(painter, instants, style, list(lines.values()) if style.follow is None else [])
    frame, layer = with_room(room, view, style, contacts)
    frame = below_a_bar(frame, style, None if colors is None else colors.bar)
    followed = painter.place_of(style.follow, instants[-1 if style.box is None else 0])
    floor = painter.floor(instants)
    wide = 2 * (width // 2)
    high = 2 * round(0.5 * wide * aspect_of(frame, style))
    style = replace(style, size=(WIDTH, WIDTH * high / wide), dpi=wide / WIDTH)
    figure, axes, frame = canvas(frame, style, None, on_screen=False)
    still = figure.add_axes(
        (0.0, 0.0, 1.0, 1.0), xlim=(frame.left, frame.right), ylim=(frame.low, frame.high)
    )
    still.set_axis_off()
    over = FigureCanvasAgg(figure)
    over.draw()
    drawn = np.asarray(over.buffer_rgba())  # what is painted there, artists draw over
    fixed = set(still.get_children())
    if style.scale:
        keys(still, frame, layer)
    if colors is not None:
        colors.bar.draw(still)
    note = write_note(still, "")
    key = [artist for artist in still.get_children() if artist not in fixed]
    rims = {
        name: trace(axes, line[:0], trace_color(scene, name, number), name)
        for number, (name, line) in enumerate(lines.items())
    }
    before = None
    for number, time in enumerate(times.tolist()):
        now = replace(instant_of(mechanism, run.at(time)), active=run.active(time, before))
        if colors is not None:
            now = replace(now, tints=colors.tints(number))
        if clusters:
            now = replace(now, colors=_clustered(run, time, before))
        at = frame.moved(painter.place_of(style.follow, now) - followed)
        axes.set(xlim=(at.left, at.right), ylim=(at.low, at.high))
        painter.paint_on_white(now, at, floor, drawn)
        before = time
        passed = int(np.searchsorted(run.time, time, "right"))
        for name, artists in rims.items():
            for artist in artists:
                artist.set_data(*lines[name][:passed].T)
        marks = [] if layer is None else layer.draw(axes, view, number)
        note.set_text(f"t = {time:.2f} s")
        traced = [artist for artists in rims.values() for artist in artists]
        for artist in [*sorted([*traced, *marks], key=lambda artist: artist.zorder), *key]:
            axes.draw_artist(artist)
        for mark in marks:
            mark.remove()
        yield np.ascontiguousarray(drawn[:high, :wide])


def _counted(pictures: Iterator[Pixels], bar: ProgressBar) -> Iterator[Pixels]:
    for number, one in enumerate(pictures, start=1):
        yield one
        bar.show(number, "film")
