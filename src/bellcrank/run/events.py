"""Events: zero crossings of functions of the motion, which a run locates; names of what happens in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.expression import as_expression, symbol
from bellcrank.expression.reading import TIME, read, symbols_of
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.parameters import is_expression

STATE_SET: Final = "state set"
"""The name of the event where a run was set to another state."""

NOTHING: Final = -3
"""The number where there is no event; that of a stop is -1, of a contact -2."""

_STOP: Final = -1
_FRICTION: Final = -4
_CHANGES: Final = ("touches", "slips", "sticks", "lifts off")
FRICTION_CHANGES: Final = ("sticks", "slips", "turns")
"""What friction that holds begins to do: it comes to rest, leaves it, or slips back at once."""
_OF_BODIES: Final = (
    ("x y z", "position"),
    ("e0 e1 e2 e3", "rotation"),
    ("vx vy vz", "velocity"),
    ("wx wy wz", "angular_velocity"),
)
"""Names of what is measured of a body, and the section of a frame that holds it."""


@dataclass(frozen=True)
class Event:
    """A zero crossing of a function of the motion.

    function: a text or an expression of the time t and of

        joint.coordinate, joint.coordinate.rate: a free coordinate of a joint, m or rad, and its rate; where
            the joint has one only, the name of the joint alone stands for it, and joint.rate for its rate;
        body.x, .y, .z; body.e0 to .e3; body.vx, .vy, .vz; body.wx, .wy, .wz: of a body's frame, position,
            quaternion, velocity and angular velocity, in world axes.

    direction: 1 for crossings from below, -1 from above, 0 for both.
    terminal: whether to end the run there.
    names: aliases of joints and bodies in the function, for names that are not words: {"door": "door 1"}.

    A function that is zero where the motion starts crosses zero only when it comes back.
    """

    name: str
    function: Any
    direction: int = 0
    terminal: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with Check(f"event {self.name!r}") as check:
            if not isinstance(self.name, str) or not self.name:
                check.fault("the name must be a text", self.name)
            if not isinstance(self.function, str) and not is_expression(self.function):
                rule, advice = "the function must be a text or an expression", 'such as "hinge - 0.5"'
                check.fault(rule, self.function, advice)
            if not isinstance(self.direction, (int, np.integer)) or self.direction not in (-1, 0, 1):
                rule = "the direction must be 1 (from below), -1 (from above) or 0 (both)"
                check.fault(rule, self.direction)
            names = dict(self.names) if isinstance(self.names, Mapping) else None
            if names is None or not all(isinstance(n, str) for n in (*names, *names.values())):
                check.fault("names must map the words of the function to names", self.names)
            check.store(self, terminal=check.flag("terminal", self.terminal), names=names)


@dataclass(frozen=True)
class CompiledEvents:
    """Events in the form of the core.

    coordinates: of the model, on which the events depend.
    """

    names: tuple[str, ...] = ()
    functions: list[_core.EventFunction] = field(default_factory=list)
    coordinates: list[int] = field(default_factory=list)

    def name_of(self, model: Model, number: int, which: int) -> str:
        """The name of what happened: a watched event, a stop that is met, a contact or friction that changes.

        number: of the event. which: the row of a stop, or the number of a contact's or a row's change.
        """
        if number >= 0:
            return self.names[number]
        if number == _STOP:
            return model.block_owner[int(model.row_block[which])]
        if number == _FRICTION:
            row, change = divmod(which, len(FRICTION_CHANGES))
            return f"{model.block_owner[int(model.row_block[row])]} {FRICTION_CHANGES[change]}"
        contact, change = divmod(which, len(_CHANGES))
        return changes_of(model.contacts[contact].name)[change]


def friction_events(model: Model) -> set[str]:
    """The names of all events of friction that holds."""
    owners = [model.block_owner[int(model.row_block[row])] for row in model.friction_rows.values()]
    return {f"{owner} {change}" for owner in owners for change in FRICTION_CHANGES}


def changes_of(contact: str) -> tuple[str, ...]:
    """The names of the events of a contact: it touches, slips, sticks, and lifts off."""
    return tuple(f"{contact} {change}" for change in _CHANGES)


def compiled_events(events: Event | Iterable[Event], model: Model) -> CompiledEvents:
    """Events for a model.

    Raises MechanismError for names that the model does not have, and for names given twice.
    """
    listed = list(events) if np.iterable(events) else [events]
    strangers = [event for event in listed if not isinstance(event, Event)]
    if strangers:
        advice = 'such as bc.Event("open", "door")'
        raise MechanismError(Fault("events", "they must be bc.Event", strangers[0], advice))
    names = [event.name for event in listed]
    if len(set(names)) < len(names):
        raise MechanismError(Fault("events", "they must have different names", names))
    quantities = _Quantities(model)
    used = [quantities.used_by(event) for event in listed]
    coordinates = list(
        dict.fromkeys(number for _, found in used for kind, number in found.values() if kind in "qr")
    )
    functions = []
    for event, (expression, found) in zip(listed, used, strict=True):
        _, main = _core.lower_expressions([expression], list(found))
        inputs = [quantities.place(*what, coordinates) for what in found.values()]
        program = _core.CompiledProgram(main)
        functions.append(
            _core.EventFunction(
                program=program, inputs=inputs, direction=event.direction, terminal=event.terminal
            )
        )
    return CompiledEvents(tuple(names), functions, coordinates)


class _Quantities:
    """What the words of events stand for in a model: a kind and a number.

    "q", "r": a coordinate and its rate, by the coordinate's number. "b": a quantity of a body, by the index
    at which the core measures it. "t": the time, -1.
    """

    def __init__(self, model: Model) -> None:
        self._bodies = {name: number for number, name in enumerate(model.bodies)}
        self._joints = {joint.name: joint for joint in model.joints}

    def used_by(self, event: Event) -> tuple[Any, dict[Any, tuple[str, int]]]:
        """The function of an event as an expression, and what each of its symbols stands for."""
        element, known = f"event {event.name!r}", self._named_in(event)
        function = event.function
        if isinstance(function, str):
            function = as_expression(
                read(function, {**{name: symbol(name) for name in known}, "t": TIME}, element)
            )
        found: dict[Any, tuple[str, int]] = {}
        for one in symbols_of(function):
            if one != TIME and one.name not in known:
                rule = f"its function depends on {one.name!r}, which is no coordinate of a joint or of a body"
                raise MechanismError(Fault(element, rule, None, nearest(one.name, known)))
            found[one] = ("t", -1) if one == TIME else known[one.name]
        if not found:
            raise MechanismError(Fault(element, "its function is constant", str(event.function)))
        return function, found

    def place(self, kind: str, number: int, coordinates: list[int]) -> int:
        """The index at which the core measures a quantity beside these coordinates; -1: the time."""
        if kind not in "qr":
            return number
        begins = self._sections(len(coordinates))
        return begins["coordinates" if kind == "q" else "rates"] + coordinates.index(number)

    def _sections(self, coordinates: int = 0) -> dict[str, int]:
        """The index at which each section of a frame begins."""
        counts = _core.FrameCounts(bodies=len(self._bodies), coordinates=coordinates)
        return {name: begin for name, begin, _ in _core.frame_sections(counts)}

    def _named_in(self, event: Event) -> dict[str, tuple[str, int]]:
        """All words that the function may use: those of elements whose names occur in its text."""
        text = str(event.function)
        found: dict[str, tuple[str, int]] = {}
        for word, name in {**{n: n for n in (*self._bodies, *self._joints)}, **event.names}.items():
            if word not in text:
                continue
            if name not in self._bodies and name not in self._joints:
                rule = f"{word!r} stands for {name!r}, which is no joint and no body"
                advice = nearest(name, (*self._joints, *self._bodies))
                raise MechanismError(Fault(f"event {event.name!r}", rule, None, advice))
            if name in self._bodies:
                found |= self._of_body(word, self._bodies[name])
            if name in self._joints:
                found |= self._of_joint(word, self._joints[name])
        return found

    def _of_body(self, word: str, number: int) -> dict[str, tuple[str, int]]:
        begins = self._sections()
        return {
            f"{word}.{part}": ("b", begins[section] + len(parts.split()) * number + k)
            for parts, section in _OF_BODIES
            for k, part in enumerate(parts.split())
        }

    def _of_joint(self, word: str, joint: Any) -> dict[str, tuple[str, int]]:
        found: dict[str, tuple[str, int]] = {}
        for index, name in zip(joint.coordinates, joint.coordinate_names, strict=True):
            for stem in (f"{word}.{name}", *((word,) if len(joint.coordinates) == 1 else ())):
                found |= {stem: ("q", index), f"{stem}.rate": ("r", index)}
        return found
