"""Events: zero crossings of functions of the motion, which a run locates and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
                check.fault(
                    "the function must be a text or an expression", self.function, 'such as "hinge - 0.5"'
                )
            if not isinstance(self.direction, (int, np.integer)) or self.direction not in (-1, 0, 1):
                check.fault(
                    "the direction must be 1 (from below), -1 (from above) or 0 (both)", self.direction
                )
            names = dict(self.names) if isinstance(self.names, Mapping) else {}
            if not isinstance(self.names, Mapping) or not all(
                isinstance(n, str) for n in (*names, *names.values())
            ):
                check.fault("names must map the words of the function to names", self.names)
            check.store(self, terminal=check.flag("terminal", self.terminal), names=names)


@dataclass(frozen=True)
class CompiledEvents:
    """Events in the form of the core.

    coordinates: of the model, on which the events depend.
    """

    names: tuple[str, ...]
    functions: list[_core.EventFunction]
    coordinates: list[int]


def compiled_events(events: Event | Iterable[Event], model: Model) -> CompiledEvents:
    """Events for a model.

    Raises MechanismError for names that the model does not have, and for names given twice.
    """
    listed = list(events) if np.iterable(events) else [events]
    strangers = [event for event in listed if not isinstance(event, Event)]
    if strangers:
        raise MechanismError(
            Fault("events", "they must be bc.Event", strangers[0], 'such as bc.Event("open", "door")')
        )
    names = [event.name for event in listed]
    if len(set(names)) < len(names):
        raise MechanismError(Fault("events", "they must have different names", names))
    places = _Places(model)
    read = [_read(event, places) for event in listed]
    coordinates = list(dict.fromkeys(what[1] for _, used in read for _, what in used if what[0] in "qr"))
    functions = []
    for event, (expression, symbols) in zip(listed, read, strict=True):
        _, main = _core.lower_expressions([expression], [symbol for symbol, _ in symbols])
        inputs = [_place(what, coordinates, len(model.bodies)) for _, what in symbols]
        functions.append(
            _core.EventFunction(
                program=_core.CompiledProgram(main),
                inputs=inputs,
                direction=event.direction,
                terminal=event.terminal,
            )
        )
    return CompiledEvents(tuple(names), functions, coordinates)


def _expression(event: Event, places: _Places) -> Any:
    if not isinstance(event.function, str):
        return event.function
    names = {name: symbol(name) for name in places.words(event)}
    return as_expression(read(event.function, {**names, "t": TIME}, f"event {event.name!r}"))


def _read(event: Event, places: _Places) -> tuple[Any, list[tuple[Any, tuple[str, int]]]]:
    """A function, and what each of its symbols stands for: "t", "q" or "r" of a coordinate, or "b"."""
    words = places.words(event)
    found = []
    expression = _expression(event, places)
    for used in symbols_of(expression):
        if used == TIME:
            found.append((used, ("t", -1)))
            continue
        if used.name not in words:
            rule = f"its function depends on {used.name!r}, which is no coordinate of a joint or of a body"
            raise MechanismError(Fault(f"event {event.name!r}", rule, None, nearest(used.name, words)))
        found.append((used, words[used.name]))
    if not found:
        raise MechanismError(Fault(f"event {event.name!r}", "its function is constant", str(event.function)))
    return expression, found


def _place(what: tuple[str, int], coordinates: Sequence[int], bodies: int) -> int:
    """The index at which the core measures a symbol; -1: the time."""
    kind, number = what
    section = {"q": "coordinates", "r": "rates"}.get(kind)
    if section is None:
        return number
    sections = _core.frame_sections(_core.FrameCounts(bodies=bodies, coordinates=len(coordinates)))
    begin = next(begin for name, begin, _ in sections if name == section)
    return begin + coordinates.index(number)


class _Places:
    """The meaning of the words of events in a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._bodies = {name: number for number, name in enumerate(model.bodies)}
        self._joints = {joint.name: joint for joint in model.joints}

    def words(self, event: Event) -> dict[str, tuple[str, int]]:
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
        begins = {
            name: begin
            for name, begin, _ in _core.frame_sections(_core.FrameCounts(bodies=len(self._bodies)))
        }
        return {
            f"{word}.{part}": ("b", begins[section] + len(parts.split()) * number + k)
            for parts, section in _OF_BODIES
            for k, part in enumerate(parts.split())
        }

    def _of_joint(self, word: str, joint: Any) -> dict[str, tuple[str, int]]:
        found: dict[str, tuple[str, int]] = {}
        for index, name in zip(joint.coordinates, joint.coordinate_names, strict=True):
            for front in (f"{word}.{name}", *((word,) if len(joint.coordinates) == 1 else ())):
                found |= {front: ("q", index), f"{front}.rate": ("r", index)}
        return found
