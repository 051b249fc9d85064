"""Views of a mechanism: pictures, a live page, and the display in notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bellcrank import views
from bellcrank.mechanism.contents import Contents

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown(Contents):
    """A mechanism that can be displayed."""

    def draw(
        self,
        path: str | Path | None = None,
        *,
        state: views.Poses | None = None,
        axes: Any = None,
        **options: Any,
    ) -> Figure:
        """Draw the mechanism: shapes, joints with their axes, springs and strings, the ground.

        Bodies without shapes are drawn as links, plates and rods between their attachment points. Joints
        with a drive or motor are orange. Needs matplotlib (extra `plot`).

        path: file to write the picture into (PNG, PDF or SVG). state: by default the assembled start; a
            mechanism that cannot be assembled is drawn as described. axes: of matplotlib, to draw into.
        view: "front", "back", "left", "right", "top", "bottom" or "oblique"; two angles in degrees, about the
            vertical from the front and above the horizon; or the direction (3,) from which one looks. By
                default plane mechanisms are seen straight on, others from where they appear largest.
        only: names of the bodies to draw. color: of all bodies; opacity: a factor.
        joints, scale, names: whether to draw glyphs of joints, the scale bar (both by default), and names.
        box: lowest and highest corner of the space to show, (2, 3), m. size: of the figure, inches.
        dpi: pixels of what is painted to an inch.

        The figure's axes are lengths in the picture, m. Raises MechanismError for wrong options, Unsupported
        without matplotlib.
        """
        return views.draw(self, path, state, axes, options)

    def view(
        self, *, host: str = "localhost", port: int = 8080, token: str | None = None, **arguments: Any
    ) -> views.Page:
        """Open a page that shows the mechanism live, in real time, to drag and control (extra `viewer`).

        host, port: where it can be reached; other machines need a token, which is generated if none is given
            and is a part of `Page.url`. arguments: of `bc.simulate`.

        The page is served by threads of its own until it is closed: `page.wait()` waits for that. In a
        notebook it appears in the output. Raises the errors of `bc.start`, and Unsupported without viser.
        """
        return views.view(self, arguments, host, port, token)

    def _repr_html_(self) -> str:
        return views.html(self)
