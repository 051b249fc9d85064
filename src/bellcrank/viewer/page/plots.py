"""Live plots of signals beside the stage."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

import numpy as np

from bellcrank.trajectory.columns import columns
from bellcrank.trajectory.trajectory import Trajectory
from bellcrank.viewer.session import Session

_FRAMES: Final = 400  # signals in a plot
_SECONDS: Final = 10.0  # seconds that a live plot shows
COLORS: Final = ("#2f6fb3", "#d9822b", "#4d9a57", "#a5537f", "#6b7480", "#b39b2e")
_ALIKE: Final = 20.0  # efforts within this ratio are plotted together
_HIDDEN: Final = ("qw", "qx", "qy", "qz", "unique", "hand_", "lead_", "violation")


class Plots:
    """A plot of selected signals, in a folder of its own.

    chosen: names of signals, of `trajectory.columns`, at most six.
    """

    def __init__(self, gui: Any, session: Session) -> None:
        import viser

        self._session, self._uplot = session, viser.uplot
        self._gui, self._folder = gui, gui.add_folder("Plot")
        self._turn = Lock()  # between the thread that draws and those that select
        self.names = self._all_names()
        self.chosen = self._first_choice()
        self._signals: Any = None
        with self._folder:
            self._menu = gui.add_dropdown(
                "Signal",
                ("add ...", *self.names),
                initial_value="add ...",
                hint="Any number that the run records.",
            )
            self._clear = gui.add_button_group("Plot", ("Clear", "Energy", "Angles"))
        self._menu.on_update(self._add)
        self._clear.on_click(self._preset)
        self._draw(self._data())

    def show(self) -> None:
        """Update the plot to the session's data."""
        with self._turn:
            data = self._data()
            if self._signals is not None and len(data) == len(self._signals.data):
                self._signals.data = data
            else:
                self._draw(data)

    async def _add(self, event: Any) -> None:
        name = self._menu.value
        if event.client is None or name not in self.names:
            return
        if name not in self.chosen:
            self.choose((*self.chosen, name)[-len(COLORS) :])

    async def _preset(self, _event: Any) -> None:
        wanted = self._clear.value
        energies = tuple(name for name in self.names if name.startswith("energy."))
        self.choose({"Energy": energies, "Angles": self._first_choice()}.get(str(wanted), ()))

    def renew(self) -> None:
        """Switch to another mechanism; plotted signals are kept if the new one has them."""
        with self._turn:
            self.names = self._all_names()
            self._menu.options = ("add ...", *self.names)
            kept = tuple(name for name in self.chosen if name in self.names)
            self.chosen = kept or self._first_choice()
            self._draw(self._data())

    def choose(self, names: tuple[str, ...]) -> None:
        """Plot other signals."""
        with self._turn:
            self.chosen = names
            self._draw(self._data())

    def choose_efforts(self) -> None:
        """Plot the drive efforts whose size suits a plot with the first; the menu lists new drives."""
        self.names = self._all_names()
        self._menu.options = ("add ...", *self.names)
        table = columns(self._session.window(_SECONDS, _FRAMES))
        efforts = [name for name in table if name.startswith("drive.") and ".effort" in name]
        sizes = {name: float(np.nanmax(np.abs(table[name]), initial=0.0)) for name in efforts}
        alike = [name for name in efforts if sizes[name] < _ALIKE * sizes[efforts[0]]] or efforts
        self.choose(tuple(alike[: len(COLORS)]))

    def _all_names(self) -> tuple[str, ...]:
        table = columns(self._session.window(0.0, 1))
        listed = [n for n in table if n != "time [s]" and not any(word in n for word in _HIDDEN)]
        return (*listed, "energy.total [J]")

    def _first_choice(self) -> tuple[str, ...]:
        """Coordinates of joints; if there are none, positions of bodies."""
        ends = {"joint.": ("[rad]", "[m]"), "body.": (".x [m]", ".y [m]", ".z [m]")}
        found = [[n for n in self.names if n.startswith(k) and n.endswith(end)] for k, end in ends.items()]
        return tuple((found[0] or found[1])[:3])

    def _data(self) -> tuple[np.ndarray, ...]:
        run: Trajectory = self._session.window(_SECONDS if self._session.is_live else np.inf, _FRAMES)
        table = columns(run)
        table["energy.total [J]"] = run.energy.total
        none = np.full(len(run), np.nan)
        return (np.array(run.time), *(np.array(table.get(name, none)) for name in self.chosen))

    def _draw(self, data: tuple[np.ndarray, ...]) -> None:
        """Recreate the plot for other signals."""
        if self._signals is not None:
            self._signals.remove()
            self._signals = None
        if not self.chosen:
            return
        series = [self._uplot.Series(label="t [s]")]
        for name, color in zip(self.chosen, COLORS, strict=False):
            series.append(self._uplot.Series(label=_short(name), stroke=color, width=2))
        with self._folder:
            self._signals = self._gui.add_uplot(
                data,
                tuple(series),
                aspect=1.5,
                scales={"x": self._uplot.Scale(time=False)},
                legend=self._uplot.Legend(show=True, live=False),
            )


def _short(name: str) -> str:
    """A name shortened to fit the legend."""
    for start in ("joint.", "body.", "drive.", "force.", "constraint."):
        name = name.removeprefix(start)
    return name
