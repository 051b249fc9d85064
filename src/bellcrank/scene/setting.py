"""The common basis of all parts of a scene: numbers, the assembled start, and characteristic sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.initial import assembled
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, BellcrankError, MechanismError
from bellcrank.mechanism.contact import Contact
from bellcrank.mechanism.contents import with_numbers
from bellcrank.mechanism.joint import Joint
from bellcrank.mechanism.joint_kinds import Free
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.mechanism import Mechanism
from bellcrank.mechanism.references import Element, markers_of
from bellcrank.mechanism.rotation import matrix
from bellcrank.mechanism.shape import Shape

_PIN: Final = 0.013  # radius of a pin as part of the mechanism's size
_PIN_OF_LINK: Final = 0.09  # and at most this part of the shortest typical distance between two joints
_PIN_LEAST: Final = 0.0025


@dataclass(frozen=True, eq=False)
class Setting:
    """The mechanism with numbers, at its start.

    carriers: the bodies and then the ground. position (nb + 1, 3), turn (nb + 1, 3, 3): their poses.
    faults: why the mechanism could not be assembled. holds: for each carrier its markers, with the elements
    that act on it there.
    """

    mechanism: Mechanism
    carriers: tuple[Any, ...]
    state: State
    position: Floats
    turn: Floats
    faults: tuple[str, ...]
    holds: tuple[tuple[tuple[Marker, Element], ...], ...]

    def number(self, name: str) -> int:
        """The index of a carrier."""
        return self._numbers[name]

    def shown(self, number: int) -> tuple[Shape, ...]:
        """The shapes of a carrier that are drawn."""
        return tuple(shape for shape in self.carriers[number].shapes if shape.shown)

    def is_seen(self, number: int) -> bool:
        """Whether anything is drawn of a carrier as described: shapes, or the beam of which it is a node."""
        return bool(self.shown(number)) or number in self.nodes

    @cached_property
    def nodes(self) -> frozenset[int]:
        """The indices of the nodes of beams."""
        names = [name for beam in self.mechanism.beams.values() for name in beam.nodes]
        return frozenset(self._numbers[name] for name in names if name in self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {carrier.name: number for number, carrier in enumerate(self.carriers)}

    def place(self, marker: Marker) -> Floats:
        """The origin of a marker in the world, (3,)."""
        number = self.number(marker.body)
        at: Floats = self.position[number] + self.turn[number] @ np.asarray(marker.position, dtype=float)
        return at

    def axes(self, marker: Marker) -> Floats:
        """The axes of a marker in the world, as columns (3, 3)."""
        turn: Floats = self.turn[self.number(marker.body)] @ matrix(marker.rotation)
        return turn


def setting_of(mechanism: Mechanism, state: State | None) -> Setting:
    """The setting at a state; None for the assembled start.

    If assembly fails, it is as described, and `faults` gives the reason. Raises MechanismError for
    expressions without values.
    """
    numbers = with_numbers(mechanism)
    faults: tuple[str, ...] = ()
    if state is None:
        state, faults = start_of(mechanism, numbers)
    known = set(numbers.bodies) | {GROUND}
    held: dict[str, list[tuple[Marker, Element]]] = {name: [] for name in known}
    for element in elements_of(numbers):
        for marker in markers_of(element):
            if marker.body in known:
                held[marker.body].append((marker, element))
    return Setting(
        numbers,
        (*numbers.bodies.values(), numbers.ground),
        state,
        np.vstack([state.position, np.zeros((1, 3))]),
        np.concatenate([[matrix(tuple(q)) for q in state.rotation], np.eye(3)[None]])
        if len(state.rotation)
        else np.eye(3)[None],
        faults,
        tuple(tuple(held[name]) for name in (*numbers.bodies, GROUND)),
    )


def elements_of(mechanism: Mechanism) -> Iterator[Element]:
    """Elements that act on bodies at existing markers: no contacts, and no joints that lock nothing."""
    known = set(mechanism.bodies) | {GROUND}
    tables: tuple[Any, ...] = (mechanism.joints, mechanism.constraints, mechanism.forces, mechanism.drives)
    for table in tables:
        for element in table.values():
            if isinstance(getattr(element, "kind", None), (Contact, Free)):
                continue
            if all(marker.body in known for marker in markers_of(element)):
                yield element


def start_of(mechanism: Mechanism, numbers: Mechanism) -> tuple[State, tuple[str, ...]]:
    """The assembled start, or the poses as described and the fault."""
    try:
        return assembled(compile_mechanism(mechanism))[0].initial, ()
    except (MechanismError, AssemblyError) as error:
        faults = tuple(str(fault) for fault in getattr(error, "faults", ())) or (str(error),)
    except BellcrankError as error:
        faults = (str(error),)
    bodies = numbers.bodies.values()
    return State(
        0.0,
        np.array([body.position for body in bodies]).reshape(-1, 3),
        np.array([body.rotation for body in bodies]).reshape(-1, 4),
        np.zeros((len(numbers.bodies), 3)),
        np.zeros((len(numbers.bodies), 3)),
    ), faults


def size_of(setting: Setting, corners: list[Floats]) -> float:
    """The diagonal of the box around the moving parts, m; corners: of shapes, in the world."""
    points = [setting.place(marker) for held in setting.holds for marker, _ in held]
    points += [setting.position[i] + setting.turn[i] @ np.asarray(body.com)
               for i, body in enumerate(setting.carriers[:-1])]  # fmt: skip
    everything = np.concatenate([np.reshape(points, (-1, 3)), *corners])
    size = float(np.linalg.norm(np.ptp(everything, axis=0))) if len(everything) else 0.0
    if size < 1e-12:
        size = 3.0 * max((radius_of_gyration(body) for body in setting.carriers[:-1]), default=0.0)
    return size if size > 0.0 else 1.0


def radius_of_gyration(body: Any) -> float:
    """The radius, m, at which a ring of that mass has the mean moment of inertia."""
    return float(np.sqrt(max(np.trace(np.asarray(body.inertia)) / 3.0 / body.mass, 0.0)))


def pin_of(setting: Setting, size: float) -> float:
    """The radius of pins: a fraction of the size, and less if joints are close to each other."""
    gaps = []
    for held in setting.holds[:-1]:
        points = np.array([marker.position for marker, element in held if isinstance(element, Joint)])
        if len(points) > 1:
            away = np.linalg.norm(points[:, None] - points, axis=-1)
            gaps += [float(np.max(away))]
    gaps = [gap for gap in gaps if gap > 1e-6 * size]
    near = _PIN_OF_LINK * float(np.quantile(gaps, 0.3)) if gaps else size
    return max(min(_PIN * size, near), _PIN_LEAST * size)
