"""The controls beside the stage: time, method, inputs, display, selection, saving."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from bellcrank.viewer.session import Session
from bellcrank.viewer.settings import FIXED, FORMULATIONS
from bellcrank.viewer.snapshot import Snapshot

_SPEEDS: Final = {"1/100": 0.01, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}
_METHODS: Final = (*FIXED, "dopri5", "adams", "bdf", "auto")


class Controls:
    """Widgets for time and method, which display a session and send it commands.

    report: callback for the future of each command.
    """

    def __init__(self, gui: Any, session: Session, report: Callable[[Any], None]) -> None:
        self._gui, self._session, self._report = gui, session, report
        now = session.snapshot
        self._status = gui.add_html(_status(session, now))
        self._run = gui.add_button_group("Run", ("Play", "Pause", "Step", "Reset"))
        self._run.on_click(self._on_run)
        low, high = now.past
        self._time = gui.add_slider(
            "Time", low, max(high, low + 1e-3), 1e-3, now.time, hint="Rewind over what was recorded."
        )
        self._time.on_update(self._on_time)
        self._speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1", hint="Times real time.")
        self._speed.on_update(self._on_speed)
        self._sliders: dict[str, Any] = {}
        self._folder: Any = None
        if session.is_live:
            self._method(now)
            self.renew(now)

    def show(self, now: Snapshot) -> None:
        """Update the widgets to a snapshot."""
        self._status.content = _status(self._session, now)
        low, high = now.past
        if (self._time.min, self._time.max) != (low, max(high, low + 1e-3)):
            self._time.min, self._time.max = low, max(high, low + 1e-3)
        _set(self._time, min(max(now.time, low), high))
        if not self._session.is_live:
            return
        _set(self._formulation, now.settings.formulation)
        _set(self._integration, now.settings.method)
        _set(self._step, now.settings.step)
        for name, slider in self._sliders.items():
            value = now.inputs.get(name, now.parameters.get(name))
            if value is not None:
                slider.min, slider.max = min(slider.min, value), max(slider.max, value)
                _set(slider, value)

    def _method(self, now: Snapshot) -> None:
        folder = self._gui.add_folder("Method", expand_by_default=False)
        self._place = folder.order + 1e-3
        with folder:
            self._formulation = self._gui.add_dropdown(
                "Equations", FORMULATIONS, initial_value=now.settings.formulation
            )
            method = now.settings.method
            methods = _METHODS if method in _METHODS else (*_METHODS, method)
            self._integration = self._gui.add_dropdown("Integration", methods, initial_value=method)
            self._step = self._gui.add_number(
                "Step [s]", now.settings.step, min=1e-6, max=0.1, step=1e-4, hint="Of fixed-step methods."
            )
        for widget, name in (
            (self._formulation, "formulation"),
            (self._integration, "method"),
            (self._step, "step"),
        ):
            widget.on_update(self._switching(widget, name))

    def _switching(self, widget: Any, name: str) -> Any:
        async def switch(event: Any) -> None:
            if event.client is not None:
                self._report(self._session.send("switch", **{name: widget.value}))

        return switch

    def renew(self, now: Snapshot) -> None:
        """Create sliders for the inputs and parameters of the mechanism."""
        if set(self._sliders) == {*now.inputs, *now.parameters}:
            return
        if self._folder is not None:
            self._folder.remove()
            self._folder, self._sliders = None, {}
        if not now.inputs and not now.parameters:
            return
        self._folder = self._gui.add_folder("Inputs and parameters", order=self._place)
        with self._folder:
            for command, values in (("set_input", now.inputs), ("set_parameter", now.parameters)):
                for name, value in values.items():
                    low, high = self._session.ranges[name]
                    slider = self._gui.add_slider(name, low, high, (high - low) / 500.0, value)
                    slider.on_update(self._setting(slider, command, name))
                    self._sliders[name] = slider

    def _setting(self, slider: Any, command: str, name: str) -> Any:
        async def set_it(event: Any) -> None:
            if event.client is not None:
                self._report(self._session.send(command, name=name, value=float(slider.value)))

        return set_it

    async def _on_run(self, _event: Any) -> None:
        self._report(self._session.send(str(self._run.value).lower()))

    async def _on_time(self, event: Any) -> None:
        if event.client is not None:
            self._session.send("rewind", time=float(self._time.value))

    async def _on_speed(self, event: Any) -> None:
        if event.client is not None and self._speed.value in _SPEEDS:
            self._report(self._session.send("speed", value=_SPEEDS[self._speed.value]))


def _set(widget: Any, value: Any) -> None:
    if widget.value != value:
        widget.value = value


def _status(session: Session, now: Snapshot) -> str:
    """The time shown by the clock, the speed of the run, and any error."""
    word = {"playing": "running" if session.is_live else "playing"}.get(now.status, now.status)
    tint = {"playing": "#3f9b58", "failed": "#c8452f"}.get(now.status, "#8a929c")
    factor = f"{now.factor:.2f} × real time" if np.isfinite(now.factor) else ""
    method = (now.formulation, now.settings.method) if session.is_live else (now.formulation,)
    by = " · ".join(filter(None, (", ".join(map(html.escape, method)), factor)))
    badge = f"float:right;font-size:.65em;padding:.3em .7em;border-radius:1em;color:white;background:{tint}"
    clock = f't = {now.time:.3f} s<span style="{badge}">{word}</span>'
    lines = [
        f'<div style="font-size:1.35em;font-variant-numeric:tabular-nums">{clock}</div>',
        f'<div style="opacity:.7">{by}</div>',
    ]
    if now.is_late:
        lines.append('<div style="color:#c77d0a">slower than asked: steps take longer than they last</div>')
    if now.preparing:
        lines.append(f'<div style="color:#2f6fb3">preparing {html.escape(now.preparing)} …</div>')
    if now.message:
        color = "#2f6fb3" if now.status == "open" else "#c8452f"
        lines.append(f'<div style="color:{color}">{html.escape(now.message)}</div>')
    return f'<div style="padding:.2em .9em .4em;line-height:1.5">{"".join(lines)}</div>'
