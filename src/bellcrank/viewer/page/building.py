"""The panel for building a mechanism: a palette of bodies, undo, files, and joining by two clicks.

Points are joined with a joint, a spring, a string, a cable, a gas spring or a cylinder.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Protocol

import numpy as np

from bellcrank.errors import Fault, MechanismError
from bellcrank.mechanism.contents import ELEMENTS
from bellcrank.viewer.page.marks import Marks
from bellcrank.viewer.page.pointing import Pick, pick
from bellcrank.viewer.page.stage import Stage
from bellcrank.viewer.pieces import FORCES, JOINTS, PALETTE
from bellcrank.viewer.session import Session
from bellcrank.viewer.snapshot import Entry, Snapshot

_AXES: Final = {
    "y (front to back)": (0.0, 1.0, 0.0),
    "x (to the right)": (1.0, 0.0, 0.0),
    "z (up)": (0.0, 0.0, 1.0),
}
_AS_NOW: Final = "0 for as long as it is now."
_FIELDS: Final = (
    ("stiffness", "Stiffness [N/m]", 100.0, None),
    ("damping", "Damping [N s/m]", 0.0, None),
    ("rest_length", "Rest length [m]", 0.0, _AS_NOW),
    ("force", "Force [N]", 500.0, "With the rod out."),
    ("bore", "Bore [m]", 0.05, None),
    ("rod", "Rod diameter [m]", 0.03, None),
    ("cap_pressure", "Pressure [Pa]", 5e5, "It lengthens the cylinder."),
    ("length", "Length [m]", 0.0, "Of a cylinder with the rod out. 0 by the distance now."),
    ("stroke", "Stroke [m]", 0.0, "0 for half the distance now."),
)
_NUMBERS: Final = {
    "spring": ("stiffness", "damping"),
    "string": ("stiffness", "rest_length"),
    "cable": ("length",),
    "gas spring": ("force", "damping", "length", "stroke"),
    "hydraulic cylinder": ("bore", "rod", "cap_pressure", "damping", "length", "stroke"),
    "pneumatic cylinder": ("bore", "rod", "cap_pressure", "damping", "length", "stroke"),
}


class Sender(Protocol):
    """An object that sends commands and reports their errors."""

    def send(self, command: str, **arguments: Any) -> None:
        """Send a command to the session."""

    def refuse(self, element: str, rule: str, advice: str) -> None:
        """Report that an action was not carried out."""


class Joining:
    """The part of the panel for joining points. armed: whether clicks select points."""

    def __init__(self, server: Any, session: Session, stage: Stage, marks: Marks, sender: Sender) -> None:
        self._gui, self._session, self._stage, self.marks = server.gui, session, stage, marks
        self._sender, self.armed = sender, False
        self._hint = self._gui.add_html(self._status())
        self._by = self._gui.add_dropdown("By", (*JOINTS, *FORCES), initial_value="Revolute")
        self._axis = self._gui.add_dropdown("Axis", tuple(_AXES), hint="Of the joint, as the bodies are now.")
        self._numbers = {
            name: self._gui.add_number(label, value, min=0.0, max=1e12, step=0.001, visible=False, hint=hint)
            for name, label, value, hint in _FIELDS
        }
        self._snap = self._gui.add_checkbox("Bring together at once", True)
        self._arm = self._gui.add_button("Click two points", icon="link")
        self._ground = self._gui.add_button("First point to the ground", icon="anchor", visible=False)
        self._by.on_update(self._on_by)
        self._arm.on_click(self._on_arm)
        self._ground.on_click(self._on_ground)
        server.scene.on_click()(self._on_click)

    @property
    def picks(self) -> list[Pick]:
        """The points that were clicked to be joined."""
        return self.marks.chosen

    def show(self) -> None:
        """Update the hint to the points clicked so far."""
        self._hint.content = self._status()

    def _status(self) -> str:
        if not self.armed:
            return ""
        if not self.picks:
            text = f"<b>{self._by.value}</b>: click the first point"
        else:
            text = f"<b>{self._by.value}</b> from {html.escape(self.picks[0].text)}: click the second point"
        return f'<div style="padding:.2em .9em;line-height:1.4">{text}</div>'

    async def _on_by(self, _event: Any) -> None:
        wanted = _NUMBERS.get(self._by.value, ())
        for name, widget in self._numbers.items():
            widget.visible = name in wanted
        self._axis.visible = self._snap.visible = not wanted
        self.show()

    async def _on_arm(self, _event: Any) -> None:
        self._set_armed(not self.armed)

    def _set_armed(self, armed: bool) -> None:
        self.armed = self.marks.shown = armed
        self.picks.clear()
        self._arm.label = "Stop joining" if armed else "Click two points"
        self._after_pick()

    async def _on_click(self, event: Any) -> None:
        if not self.armed:
            return
        now, unit = self._session.snapshot, self._stage.unit
        origin, way = (np.asarray(of, dtype=float) for of in (event.ray_origin, event.ray_direction))
        found = pick(self._stage.scene, now, origin / unit, way)
        if found is None:
            self._sender.refuse("click", "there is nothing there", "click a body, or one of the points on it")
        elif self.picks and self.picks[0].body == found.body:
            advice = "click a point of another body"
            self._sender.refuse(f"body {found.body!r}", "both points are on it", advice)
        else:
            self.picks.append(found)
            if len(self.picks) == 2:
                self._join(self.picks[1].end)
            self._after_pick()

    async def _on_ground(self, _event: Any) -> None:
        if self.picks:
            place = self.picks[0].in_world(self._session.snapshot)
            self._join({"body": "ground", "point": place.tolist()})
            self._after_pick()

    def _join(self, second: dict[str, Any]) -> None:
        by = self._by.value
        wanted = {name: float(self._numbers[name].value) for name in _NUMBERS.get(by, ())}
        given = {n: value for n, value in wanted.items() if value > 0.0 or n == "stiffness"}
        more = given if by in FORCES else {"axis": _AXES[self._axis.value], "snap": bool(self._snap.value)}
        self._sender.send("join", kind=by, first=self.picks[0].end, second=second, **more)
        self.picks.clear()

    def _after_pick(self) -> None:
        now = self._session.snapshot
        self._ground.visible = bool(self.picks)
        self.marks.show(now)
        self.show()


_NOTHING: Final = "nothing"
_LINES: Final = 8  # of the log
_WHO: Final = "page"
_TELLING: Final = ("keep", "open_file", "assemble")


class Building:
    """The building panel.

    report: callback for the future of a command; warned: callback for the future of a command whose result is
    visible anyway.
    """

    def __init__(
        self, server: Any, session: Session, stage: Stage, report: Callable[[Any], None],
        warned: Callable[[Any], None],
    ) -> None:  # fmt: skip
        self._gui, self._session, self._report, self._warned = server.gui, session, report, warned
        now = session.snapshot
        self.marks = Marks(server, stage, now)
        empty = not now.bodies
        with self._gui.add_folder("Build", expand_by_default=empty):
            self._steps = self._gui.add_button_group("Steps", ("Undo", "Redo", "Assemble"))
            self._steps.on_click(self._on_step)
            with self._gui.add_folder("Add a body", expand_by_default=empty):
                self._palette()
            with self._gui.add_folder("Join two points", expand_by_default=empty):
                self.joining = Joining(server, session, stage, self.marks, self)
            with self._gui.add_folder("Change", expand_by_default=empty):
                self._changing(now)
            with self._gui.add_folder("File and commands", expand_by_default=False):
                self._files()
        self._logged = -1
        self.show(now)

    def renew(self, now: Snapshot) -> None:
        """Switch to another mechanism."""
        self.marks.renew(now)
        chosen, options = self._element.value, (_NOTHING, *elements(now))
        self._element.options = options
        self._element.value = chosen if chosen in options else _NOTHING
        assert now.mechanism is not None
        self._weight.value = any(now.mechanism.gravity)

    def show(self, now: Snapshot) -> None:
        """Update the panel to a snapshot."""
        self.joining.show()
        last = now.log[-1].number if now.log else 0
        if last != self._logged:
            self._logged = last
            self._log.content = logged(now.log[-_LINES:])

    def choose(self, kind: str, name: str) -> None:
        """Handle a click on an element of the mechanism."""
        wanted = f"{kind} {name}"
        self._element.value = wanted if wanted in self._element.options else _NOTHING

    def _palette(self) -> None:
        first = PALETTE["rod"]
        self._kind = self._gui.add_dropdown("Kind", tuple(PALETTE), initial_value="rod")
        self._sizes = [
            self._gui.add_number(f"{name} [m]", value, min=1e-6, max=1e4, step=0.001)
            for name, value in (*first.sizes.items(), ("-", 0.1))
        ]
        self._file = self._gui.add_text(
            "Mesh file", "", hint="STL, OBJ or PLY in the working folder.", visible=False
        )
        self._mass = self._gui.add_number("Mass [kg]", 1.0, min=0.0, max=1e9, step=0.001)
        self._named = self._gui.add_text("Name", "", hint="Empty for rod1, rod2, ...")
        self._kind.on_update(self._on_kind)
        self._gui.add_button("Add", icon="plus").on_click(self._on_add)
        self._fit_sizes()

    def _changing(self, now: Snapshot) -> None:
        self._element = self._gui.add_dropdown("Element", (_NOTHING, *elements(now)), hint="Or click it.")
        self._edit = self._gui.add_button_group("Do", ("Nail", "Free", "Delete"))
        self._edit.on_click(self._on_edit)
        self._rate = self._gui.add_number(
            "Motor rate", 1.0, step=0.1, hint="Of the chosen joint, rad/s or m/s."
        )
        self._gui.add_button("Drive the joint", icon="engine").on_click(self._on_motor)
        assert now.mechanism is not None
        self._weight = self._gui.add_checkbox("Gravity", any(now.mechanism.gravity))
        self._weight.on_update(self._on_weight)

    def _files(self) -> None:
        self._where = self._gui.add_text("File", "mechanism.yaml", hint="In the working folder.")
        self._over = self._gui.add_checkbox("Write over", False)
        self._io = self._gui.add_button_group("File", ("Save", "Open"))
        self._io.on_click(self._on_file)
        self._line = self._gui.add_text("Command", "", hint="A line of the command language, such as help.")
        self._gui.add_button("Do it", icon="terminal-2").on_click(self._on_line)
        self._log = self._gui.add_html("")

    def _fit_sizes(self) -> None:
        sizes = list(PALETTE[self._kind.value].sizes.items())
        unit = "" if self._kind.value == "mesh" else " [m]"
        for number, widget in enumerate(self._sizes):
            widget.visible = number < len(sizes)
            if number < len(sizes):
                widget.label, widget.value = f"{sizes[number][0].capitalize()}{unit}", sizes[number][1]
        self._file.visible = self._kind.value == "mesh"

    async def _on_kind(self, event: Any) -> None:
        if event.client is not None:
            self._fit_sizes()

    async def _on_add(self, _event: Any) -> None:
        count = len(PALETTE[self._kind.value].sizes)
        self.send(
            "add_body", kind=self._kind.value, name=self._named.value, mass=float(self._mass.value),
            size=[float(widget.value) for widget in self._sizes[:count]], file=self._file.value,
        )  # fmt: skip
        self._named.value = ""

    async def _on_step(self, _event: Any) -> None:
        self.send(str(self._steps.value).lower())

    async def _on_edit(self, _event: Any) -> None:
        kind, _, name = str(self._element.value).partition(" ")
        if not name:
            self.refuse("change", "no element is chosen", "click one, or choose it from the list")
        elif self._edit.value == "Delete":
            self.send("remove", name=name)
        elif kind != "body":
            self.refuse(f"{kind} {name!r}", "only bodies can be nailed and freed", "choose a body")
        else:
            self.send(str(self._edit.value).lower(), body=name)

    async def _on_motor(self, _event: Any) -> None:
        kind, _, name = str(self._element.value).partition(" ")
        if kind != "joint":
            self.refuse("motor", "no joint is chosen", "click one, or choose it from the list")
        else:
            self.send("motor", joint=name, velocity=float(self._rate.value))

    async def _on_weight(self, event: Any) -> None:
        if event.client is not None:
            self.send("gravity", value=bool(self._weight.value))

    async def _on_file(self, _event: Any) -> None:
        if self._io.value == "Save":
            self.send("keep", file=self._where.value, over=bool(self._over.value))
        else:
            self.send("open_file", file=self._where.value)

    async def _on_line(self, _event: Any) -> None:
        self._session.send("execute", line=self._line.value, by=_WHO)
        self._line.value = ""

    def send(self, command: str, **arguments: Any) -> None:
        """Send a command to the session."""
        report = self._report if command in _TELLING else self._warned
        report(self._session.send(command, by=_WHO, **arguments))

    def refuse(self, element: str, rule: str, advice: str) -> None:
        """Report that an action was not carried out."""
        answer: Future[Any] = Future()
        answer.set_exception(MechanismError(Fault(element, rule, None, advice)))
        self._report(answer)


def elements(now: Snapshot) -> tuple[str, ...]:
    """The elements of the mechanism shown, such as "joint pivot"."""
    return tuple(
        f"{noun} {name}" for table, noun in ELEMENTS.items() for name in getattr(now.mechanism, table)
    )


def logged(entries: tuple[Entry, ...]) -> str:
    """Command lines and their replies, as HTML."""
    rows = []
    for entry in entries:
        color = "inherit" if entry.ok else "#c8452f"
        text = html.escape(entry.text)
        answer = f'<div style="opacity:.7;white-space:pre-wrap">{text}</div>' if text else ""
        by = f'<span style="opacity:.5"> {html.escape(entry.by)}</span>' if entry.by else ""
        rows.append(f'<div style="color:{color}">{html.escape(entry.line)}{by}{answer}</div>')
    style = "font-family:ui-monospace,monospace;font-size:.72em;padding:.3em .9em;overflow-wrap:anywhere"
    return f'<div style="{style}">{"".join(rows)}</div>'
