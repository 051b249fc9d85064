"""Events: zero crossings of functions of the motion, which a run locates; names of what happens in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from bellcrank import _core
from bellcrank.compile.model import Model
from bellcrank.errors import Fault, MechanismError
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import as_expression, fresh_symbol
from bellcrank.expression.functions import maximum, minimum, sqrt
from bellcrank.expression.parser import parse
from bellcrank.expression.reading import TIME, ExpressionBuilder, read, symbols_of
from bellcrank.mechanism.changes import Change
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.parameters import is_expression
from bellcrank.trajectory.observation import ForceEffort, force_efforts

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

_SECTION_OF: Final = {
    "q": ("coordinates", "qr", 1),
    "r": ("rates", "qr", 1),
    "w": ("reactions", "w", 6),
    "m": ("multipliers", "m", 1),
    "f": ("force_efforts", "f", 1),
    "i": ("inputs", "i", 1),
}
"""The section of a frame with a kind of quantity, where its place is listed, and how many numbers it has."""

_OF_CONDITIONS: Final[dict[str, Any]] = {
    **dict.fromkeys(("less", "less_equal"), lambda a, b: b - a),
    **dict.fromkeys(("greater", "greater_equal"), lambda a, b: a - b),
    "and": minimum,
    "or": maximum,
    "not": lambda a: -a,
}
"""Conditions as functions that are positive where they are satisfied."""
_ROUNDING: Final = 1e-9  # of what is compared: a condition that lacks no more counts where a motion begins
_SMALL: Final = 1e-3  # in place of zero


@dataclass(frozen=True)
class Event:
    """A zero crossing of a function of the motion.

    function: a text or an expression of the time t and of

        joint.coordinate, joint.coordinate.rate: a free coordinate of a joint, m or rad, and its rate; where
            the joint has one only, the name of the joint alone stands for it, and joint.rate for its rate;
        body.x, .y, .z; body.e0 to .e3; body.vx, .vy, .vz; body.wx, .wy, .wz: of a body's frame, position,
            quaternion, velocity and angular velocity, in world axes;
        body.marker.x and so on to .vz: of the origin of a named marker;
        joint.force, joint.moment: the size of a joint's reaction, N and N m;
        element.effort: of a drive, a constraint, or a force that has one only, N or N m; force.x and the like
            for one of several, as `run.force(name)` lists them; and of inputs, by name.

    direction: 1 for crossings from below, -1 from above, 0 for both.
    terminal: whether to end the run there.
    names: aliases of joints and bodies in the function, for names that are not words: {"door": "door 1"}; of
        a body and a joint with one name {"door": "body 'door'"} and {"door": "joint 'door'"}.

    A function that is zero where the motion starts crosses zero only when it comes back.

    >>> bottom = bc.Event("bottom", "hinge + pi/2", direction=-1)
    >>> run = bc.simulate(pendulum, 2.0, events=bottom)
    >>> run.events[0].name, len(run.events)
    ('bottom', 1)
    >>> print(f"{run.events[0].state.angular_velocity[0, 2]:.4f} rad/s, {-np.sqrt(3 * 9.81):.4f} rad/s")
    -5.4249 rad/s, -5.4249 rad/s
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


class Bend(Event):
    """An event beyond which the equations of motion are others: a step ends there, and the motion goes on."""


@dataclass(frozen=True)
class CompiledEvents:
    """Events in the form of the core.

    measured: what they read.
    """

    names: tuple[str, ...] = ()
    functions: list[_core.EventFunction] = field(default_factory=list)
    measured: _core.Observation | None = None

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
    return compiled(checked_events(events), (), model)


def checked_events(events: Event | Iterable[Event]) -> list[Event]:
    """Events as a list. Raises MechanismError for anything else, and for names given twice."""
    listed = list(events) if np.iterable(events) and not isinstance(events, str) else [events]
    strangers = [event for event in listed if not isinstance(event, Event)]
    if strangers:
        advice = 'such as bc.Event("hit", "rod.z")'
        raise MechanismError(Fault("events", "they must be bc.Event", strangers[0], advice))
    names = [event.name for event in listed]
    if len(set(names)) < len(names):
        raise MechanismError(Fault("events", "they must have different names", names))
    return listed


def compiled(
    events: Sequence[Event],
    changes: Sequence[tuple[Change, bool]],
    model: Model,
    whole: Model | None = None,
) -> CompiledEvents:
    """Events and conditions of changes for a model. changes: each with whether it is armed.

    whole: the model with all elements in force; what is not so in the first one has no load.

    Raises MechanismError for names that the model does not have.
    """
    words = _Words(model, whole or model)
    read_ones = [words.function_of(event) for event in events]
    conditions = [words.condition_of(change) for change, _ in changes]
    functions: list[Any] = [*read_ones, *(function for function, _ in conditions)]
    used = [[words.meaning[one] for one in symbols_of(function)] for function in functions]
    places = _Places(model, [quantity for quantities in used for quantity in quantities])
    options: list[dict[str, Any]] = [
        {
            "direction": event.direction,
            "terminal": event.terminal,
            "level": -1.0,
            "armed": True,
            "bends": isinstance(event, Bend),
        }
        for event in events
    ]
    options += [
        {"direction": 1, "terminal": True, "level": level, "armed": armed, "bends": False}
        for (_, armed), (_, level) in zip(changes, conditions, strict=True)
    ]
    compiled_ones = []
    for function, quantities, given in zip(functions, used, options, strict=True):
        _, main = _core.lower_expressions([function], list(symbols_of(function)))
        inputs = [places.of(quantity) for quantity in quantities]
        program = _core.CompiledProgram(main)
        compiled_ones.append(_core.EventFunction(program=program, inputs=inputs, **given))
    names = (*(event.name for event in events), *(change.name for change, _ in changes))
    return CompiledEvents(names, compiled_ones, places.measured)


Quantity: TypeAlias = tuple[Any, ...]
"""What a symbol stands for: ("t",); ("b", place) of a body, as the core measures it; ("q", coordinate) and
("r", coordinate), a coordinate and its rate; ("w", joint, component) of a reaction; ("m", row) a multiplier;
("f", effort) of a force, as the core takes it; ("i", number) of an input."""


def _named_by_noun(element: str) -> tuple[str, str]:
    """Noun and name of an element given as "body 'arm'" or "joint 'arm'"; "" and the text of others."""
    found = re.fullmatch(r"(body|joint) '(.*)'", element)
    return (found[1], found[2]) if found else ("", element)


class _Words:
    """The words of events and conditions in a model. meaning: what their symbols stand for."""

    def __init__(self, model: Model, whole: Model) -> None:
        self._model, self._whole = model, whole
        self._bodies = model.body_index
        source = model.source
        self._parameters = {} if source is None else {name: p.value for name, p in source.parameters.items()}
        self._joints = {joint.name: joint for joint in model.joints}
        self._begins = _sections(_core.FrameCounts(bodies=len(model.bodies)))
        self.meaning: dict[Any, Quantity] = {TIME: ("t",)}
        self.meaning |= {one: ("i", number) for number, one in enumerate(model.inputs)}

    @cached_property
    def _markers(self) -> Mapping[str, Marker]:
        """The named markers, with numbers."""
        return {} if self._model.source is None else with_numbers(self._model.source).markers

    def function_of(self, event: Event) -> Any:
        """The function of an event as an expression."""
        element, known = f"event {event.name!r}", self._known(event.name, str(event.function), event.names)
        function = event.function
        if isinstance(function, str):
            named = {**known, **{one.name: one for one in self._model.inputs}, "t": TIME}
            function = as_expression(read(function, named, element))
        elif strange := [one for one in symbols_of(function) if one not in self.meaning]:
            images = {one: known[one.name] for one in strange if one.name in known}
            if missing := [one.name for one in strange if one not in images]:
                stranger = missing[0]
                rule = f"its function depends on {stranger!r}, which is nothing that is measured here"
                raise MechanismError(Fault(element, rule, None, nearest(stranger, known)))
            function = substitute(function, images)
        if not symbols_of(function) and self._whole is self._model:
            raise MechanismError(Fault(element, "its function is constant", str(event.function)))
        return function

    def condition_of(self, change: Change) -> tuple[Any, float]:
        """A function that is positive where a condition is satisfied, and what it may lack."""
        element, kind = f"change {change.name!r}", change.kind
        text = kind.when or ""
        known = self._known(change.name, text, dict(kind.names), "change")
        named = {
            **{name: as_expression(value) for name, value in self._parameters.items()},
            **known,
            "t": TIME,
        }
        if kind.signal is not None:
            named["signal"] = _expression(element, kind.signal)
        if change.markers:
            named["distance"] = self._distance(*change.markers)
        builder = _Conditions()
        function = parse(text, builder, named, element, condition=True)
        if not symbols_of(function) and self._whole is self._model:
            raise MechanismError(Fault(element, "its condition is constant", text))
        return function, _ROUNDING * (builder.scale or _SMALL)

    def _known(self, name: str, text: str, aliases: Mapping[str, str], noun: str = "event") -> dict[str, Any]:
        """The expressions of all words that belong to elements whose names occur in a text."""
        found: dict[str, Any] = {}
        owners = [c.element for c in self._whole.multipliers if c.kind != "limit"]
        forces = (force.name for force in self._whole.forces)
        known = dict.fromkeys((*self._bodies, *self._joints, *self._markers, *owners, *forces))
        for word, element in {**{n: n for n in known}, **aliases}.items():
            if word not in text:
                continue
            of, element = _named_by_noun(element)
            if element not in known and re.sub(r"\W", "_", element, flags=re.ASCII) in self._parameters:
                found[word] = as_expression(self._parameters[re.sub(r"\W", "_", element, flags=re.ASCII)])
                continue
            if element not in {"body": self._bodies, "joint": self._joints}.get(of, known):
                given = f"{of} {element!r}" if of else element
                rule = f"{word!r} stands for {given!r}, which is no element with measured quantities here"
                raise MechanismError(Fault(f"{noun} {name!r}", rule, None, nearest(element, known)))
            if element in self._markers and self._markers[element].body in (*self._bodies, GROUND):
                found |= self._of_marker(word, self._markers[element])
            of_body, of_joint = dict[str, Any](), dict[str, Any]()
            if element in self._bodies and of != "joint":
                of_body = self._of_body(word, self._bodies[element])
            if element in self._joints and of != "body":
                of_joint = self._of_joint(word, self._joints[element])
            for both in of_body.keys() & of_joint.keys():
                if re.search(rf"(?<![\w.]){re.escape(both)}(?![\w.])", text):
                    rule = f"{both!r} is a quantity of the body and of the joint {element!r}"
                    ways = " or ".join(f"names={{'one': \"{n} {element!r}\"}}" for n in ("body", "joint"))
                    raise MechanismError(
                        Fault(f"{noun} {name!r}", rule, None, f"write one.x for it with {ways}")
                    )
            found |= {**of_body, **of_joint, **self._of_efforts(word, element)}
        return found

    def _symbol(self, word: str, *quantity: Any) -> Any:
        made = fresh_symbol(word)
        self.meaning[made] = quantity
        return made

    def _of_body(self, word: str, number: int) -> dict[str, Any]:
        if number >= len(self._model.bodies):
            return {}
        return {
            f"{word}.{part}": self._symbol(
                f"{word}.{part}", "b", self._begins[section] + len(parts.split()) * number + k
            )
            for parts, section in _OF_BODIES
            for k, part in enumerate(parts.split())
        }

    def _of_joint(self, word: str, joint: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for index, name in zip(joint.coordinates, joint.coordinate_names, strict=True):
            value, rate = (
                self._symbol(f"{word}.{name}", "q", index),
                self._symbol(f"{word}.{name}.rate", "r", index),
            )
            for stem in (f"{word}.{name}", *((word,) if len(joint.coordinates) == 1 else ())):
                found |= {stem: value, f"{stem}.rate": rate}
        number = self._model.reaction_number.get(joint.name)
        for k, name in ((0, "moment"), (3, "force")) if number is not None else ():
            parts = [self._symbol(f"{word}.{name}_{a}", "w", number, k + i) for i, a in enumerate("xyz")]
            found[f"{word}.{name}"] = sqrt(sum((part * part for part in parts), as_expression(0.0)))
        if number is None and joint.name in self._whole.reaction_number:
            found |= {f"{word}.{name}": as_expression(0.0) for name in ("moment", "force")}
        return found

    def _of_efforts(self, word: str, name: str) -> dict[str, Any]:
        """What a drive or constraint, or a force, exerts."""
        found: dict[str, Any] = {}
        if any(m.element == name and m.kind != "limit" for m in self._whole.multipliers):
            rows = [m for m in self._model.multipliers if m.element == name and m.kind != "limit"]
            effort = rows[0].sign * self._symbol(f"{word}.effort", "m", rows[0].row) if rows else 0.0
            found[f"{word}.effort"] = as_expression(effort)
        efforts = _efforts_of(self._whole).get(name)
        if efforts is None:
            return found
        own = {one.name: one.core for one in _efforts_of(self._model).get(name, ())}
        for one in efforts:
            known = f"{word}.{one.name}"
            exerts = self._symbol(known, "f", own[one.name]) if one.name in own else as_expression(0.0)
            found[known] = exerts
        if len(efforts) == 1:
            found[f"{word}.effort"] = found[f"{word}.{efforts[0].name}"]
        return found

    def _distance(self, one: Marker, two: Marker) -> Any:
        apart = [a - b for a, b in zip(self._origin(one), self._origin(two), strict=True)]
        return sqrt(sum((part * part for part in apart), as_expression(0.0)))

    def _of_marker(self, word: str, marker: Marker) -> dict[str, Any]:
        """Position and velocity of a marker's origin: v + ω × r, with the arm r from the body's frame."""
        of = {} if marker.body == GROUND else self._of_body(marker.body, self._bodies[marker.body])
        place, speed = self._origin(marker, of), [as_expression(0.0)] * 3
        if of:
            p, v, w = ([of[f"{marker.body}.{kind}{axis}"] for axis in "xyz"] for kind in ("", "v", "w"))
            speed = [
                a + b
                for a, b in zip(v, _cross(w, [a - b for a, b in zip(place, p, strict=True)]), strict=True)
            ]
        parts = zip(("x", "y", "z", "vx", "vy", "vz"), (*place, *speed), strict=True)
        return {f"{word}.{part}": value for part, value in parts}

    def _origin(self, marker: Marker, of: Mapping[str, Any] | None = None) -> list[Any]:
        """P + v + 2 e0 (e × v) + 2 e × (e × v) for v in the body's frame. of: the words of its body."""
        if marker.body == GROUND:
            return [as_expression(number) for number in marker.position]
        of = of or self._of_body(marker.body, self._bodies[marker.body])
        p, e = (
            [of[f"{marker.body}.{name}"] for name in names] for names in (("x", "y", "z"), ("e1", "e2", "e3"))
        )
        once = _cross(e, list(marker.position))
        twice = _cross(e, once)
        e0 = of[f"{marker.body}.e0"]
        return [p[k] + marker.position[k] + 2.0 * (e0 * once[k] + twice[k]) for k in range(3)]


def _expression(element: str, signal: Any) -> Any:
    """A function of time as an expression."""
    found = getattr(signal, "expression", getattr(signal, "value", None))
    if found is None:
        rule = "its signal must be a number, an input or an expression of these and the time"
        raise MechanismError(Fault(element, rule, type(signal).__name__))
    return substitute(as_expression(found), dict(getattr(signal, "values", ())))


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]


class _Conditions(ExpressionBuilder):
    """Conditions as functions that are positive where they are satisfied.

    scale: of the largest number that something is compared with.
    """

    def __init__(self) -> None:
        self.scale = 0.0

    def apply(self, operation: str, operands: Sequence[Any]) -> Any:
        """An operation; of conditions, the least, the greatest, or with the other sign."""
        if operation == "equal":
            raise ValueError("'==' is satisfied for no time: write >= or <=")
        if operation in ("select", "piecewise"):
            raise ValueError("a condition of a change cannot depend on another one by 'if'")
        if operation not in _OF_CONDITIONS:
            return super().apply(operation, operands)
        if operation not in ("and", "or", "not"):
            constants = [abs(float(one)) for one in operands if one.is_constant]
            self.scale = max(self.scale, *constants, 0.0)
        return _OF_CONDITIONS[operation](*operands)


class _Places:
    """Where the core writes what events read. measured: what it has to measure."""

    def __init__(self, model: Model, used: Sequence[Quantity]) -> None:
        def listed(kinds: str) -> list[Any]:
            return list(dict.fromkeys(quantity[1] for quantity in used if quantity[0] in kinds))

        self._lists = {kind: listed(kind) for kind in ("qr", "w", "m", "f")}
        inputs = len(model.inputs) if listed("i") else 0
        self.measured = _core.Observation(
            coordinates=self._lists["qr"],
            rows=self._lists["m"],
            reactions=[model.reactions[number][1:] for number in self._lists["w"]],
            efforts=self._lists["f"],
            inputs=inputs,
        )
        counts = _core.FrameCounts(
            bodies=len(model.bodies),
            coordinates=len(self._lists["qr"]),
            multipliers=len(self._lists["m"]),
            reactions=len(self._lists["w"]),
            efforts=len(self._lists["f"]),
            inputs=inputs,
        )
        self._begins = _sections(counts)

    def of(self, quantity: Quantity) -> int:
        """The index of a quantity; -1: the time."""
        kind = quantity[0]
        if kind in "tb":
            return -1 if kind == "t" else int(quantity[1])
        section, listed, width = _SECTION_OF[kind]
        place = quantity[1] if listed == "i" else self._lists[listed].index(quantity[1])
        return self._begins[section] + width * int(place) + (quantity[2] if kind == "w" else 0)


def _sections(counts: _core.FrameCounts) -> dict[str, int]:
    """The index at which each section of a frame begins."""
    return {name: begin for name, begin, _ in _core.frame_sections(counts)}


@lru_cache(maxsize=8)
def _efforts_of(model: Model) -> dict[str, list[ForceEffort]]:
    return force_efforts(model)
