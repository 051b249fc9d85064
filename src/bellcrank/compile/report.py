"""Report of an assembly: the bodies moved, the redundant constraints, the values overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.compile.state import Floats, State
from bellcrank.mechanism.html import page
from bellcrank.slips import answering

ROUNDING = 1e-13  # smaller changes are none
_SHOWN = 10  # lines of a kind in a report as text
_NAMES = 6  # names in a line
_UNCERTAIN = 1e-9  # part of the largest acceleration; what is less is not worth a word


def limit_of_digits(uncertainty: float, largest: str = "acceleration") -> str:
    """The uncertainty of accelerations due to double precision, in words; empty if it is negligible.

    uncertainty: as in `Accuracy`. largest: the quantity that it is relative to.
    """
    if not uncertainty > _UNCERTAIN:
        return ""
    return (
        f"double precision leaves {uncertainty:.1e} of the largest {largest} open: "
        "some masses or inertias are very small for the forces that pass through them"
    )


@dataclass(frozen=True)
class BodyMove:
    """How far assembly moved a body.

    distance: of the frame's origin, m. angle: rad. velocity, angular_velocity: sizes of their changes.

    >>> move = bc.assemble(four_bar).moves[0]
    >>> print(move.body, move.sizes.partition(",")[0])
    coupler moved 0.0221 m and turned 0.949 rad
    """

    body: str
    distance: float
    angle: float
    velocity: float
    angular_velocity: float

    @property
    def sizes(self) -> str:
        """How far it moved, in words."""
        return (
            f"moved {self.distance:.3g} m and turned {self.angle:.3g} rad, "
            f"velocity changed by {self.velocity:.3g} m/s and {self.angular_velocity:.3g} rad/s"
        )

    def __str__(self) -> str:
        return f"{self.body}: {self.sizes}"


@dataclass(frozen=True)
class NamedRow:
    """A constraint row: what it belongs to, such as "joint 'pivot'", and what it constrains, such as "e1"."""

    element: str
    coordinate: str

    @property
    def name(self) -> str:
        """Both in one text: "joint 'pivot' (e1)"."""
        return f"{self.element} ({self.coordinate})"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RowFactor(NamedRow):
    """A row as part of a sum, and its factor there: of dimension m, 1/m, or none."""

    factor: float


@dataclass(frozen=True)
class Redundancy(NamedRow):
    """A constraint row that follows from others in the assembled configuration.

    residual: its remaining error, m or rad/2; nonzero beyond rounding if it contradicts the other rows.
    follows_from: the rows whose gradients, times their factors, add up to its gradient. Which of several
        dependent rows is called redundant is arbitrary; which rows form a dependent set is not. None: not
        determined, as for most of thousands.

    >>> row = bc.info(four_bar).redundancies[0]
    >>> row.name.startswith("joint"), row.reason.partition(" joint")[0]
    (True, 'follows from')
    """

    element: str
    coordinate: str
    residual: float
    follows_from: tuple[RowFactor, ...] | None = None

    @property
    def reason(self) -> str:
        """The rows that it follows from, the first elements of them, in words."""
        if self.follows_from is None:
            return "follows from others"
        if not self.follows_from:
            return "says nothing here"
        held: dict[str, list[str]] = {}
        for row in self.follows_from:
            held.setdefault(row.element, []).append(row.coordinate)
        names = [f"{element} ({', '.join(what)})" for element, what in held.items()]
        return f"follows from {listed(names)}"

    def __str__(self) -> str:
        return f"{self.name}, residual {self.residual:.2g}, {self.reason}"


@answering
@dataclass(frozen=True)
class AssemblyReport:
    """The report of an assembly.

    changed: whether anything was moved; a mechanism that fits together is left exactly as it is.
    method: how positions were found: "none", "joint positions", "projection", "damped Gauss-Newton",
        "continuation", or "constraint forces".
    error_before, error: largest constraint error, m or rad/2. drift_before, drift: the same of its rate.
    moves: the bodies that were moved, largest move first.
    redundant: rows that follow from others. pinned: bodies that had to stay.
    steps, restarts: of the root finding; restarts are perturbed placements after a local minimum.
    notes: what was described and no longer applies.
    motion: with the method "constraint forces", the Trajectory of the bodies coming together.

    >>> report = bc.assemble(four_bar)
    >>> report.moves[0].body, report.error < 1e-12, len(report.redundant)
    ('coupler', True, 3)
    >>> print(f"{report.error_before:.3f} m before")
    0.269 m before
    """

    mechanism: str
    changed: bool
    method: str
    error_before: float
    error: float
    drift_before: float
    drift: float
    moves: tuple[BodyMove, ...]
    redundant: tuple[Redundancy, ...] = ()
    pinned: tuple[str, ...] = ()
    steps: int = 0
    restarts: int = 0
    notes: tuple[str, ...] = ()
    motion: Any = None

    def __str__(self) -> str:
        lines = [self._headline(), *_listed([str(move) for move in self.moves], "bodies")]
        if self.redundant:
            lines += _listed([f"redundant: {row}" for row in self.redundant], "redundant rows")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        moved = {move.body: move.sizes for move in self.moves[:_SHOWN]}
        if len(self.moves) > _SHOWN:
            moved["…"] = f"and {len(self.moves) - _SHOWN} more bodies"
        redundant = {f"redundant: {row.name}": row.reason for row in self.redundant[:_SHOWN]}
        return page(self._headline(), {**moved, **redundant}, self.notes)

    def _headline(self) -> str:
        if not self.changed:
            return f"{self.mechanism!r} fits together as described (largest error {self.error:.2g})"
        positions = f"largest error {self.error_before:.3g} -> {self.error:.3g}"
        velocities = f"of velocities {self.drift_before:.3g} -> {self.drift:.3g}"
        how = (
            "positions fit, velocities corrected" if self.method == "none" else f"assembled by {self.method}"
        )
        again = f" after {self.restarts} restarts" if self.restarts else ""
        return f"{self.mechanism!r} {how}{again}: {positions}, {velocities}"


def listed(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")


def _listed(texts: list[str], what: str) -> list[str]:
    more = [f"  and {len(texts) - _SHOWN} more {what}"] if len(texts) > _SHOWN else []
    return [f"  {text}" for text in texts[:_SHOWN]] + more


def untouched_kept(before: State, after: State) -> State:
    """The state with the exact previous numbers wherever they differ only by rounding."""
    pairs = (
        (before.position, after.position),
        (before.rotation, after.rotation * _signs(before, after)),
        (before.velocity, after.velocity),
        (before.angular_velocity, after.angular_velocity),
    )
    position, rotation, velocity, spin = (
        np.where(np.max(np.abs(b - a), axis=1, keepdims=True, initial=0.0) > ROUNDING, a, b) for b, a in pairs
    )
    return replace(after, position=position, rotation=rotation, velocity=velocity, angular_velocity=spin)


def _signs(before: State, after: State) -> Floats:
    """Per body +1 or -1, so that the quaternions lie on the same side."""
    product = np.sum(after.rotation * before.rotation, axis=1)
    return np.where(product < 0.0, -1.0, 1.0)[:, None]


def moves_between(names: Sequence[str], before: State, after: State) -> tuple[BodyMove, ...]:
    """The bodies whose pose or velocity has changed, largest move first."""
    distance = np.linalg.norm(after.position - before.position, axis=1)
    chord = np.linalg.norm(after.rotation - before.rotation * _signs(before, after), axis=1)
    angle = 4.0 * np.arcsin(np.minimum(1.0, 0.5 * chord))
    velocity = np.linalg.norm(after.velocity - before.velocity, axis=1)
    spin = np.linalg.norm(after.angular_velocity - before.angular_velocity, axis=1)
    size = np.maximum(distance, angle)
    order = np.lexsort((-np.maximum(velocity, spin), -size))
    return tuple(
        BodyMove(names[i], float(distance[i]), float(angle[i]), float(velocity[i]), float(spin[i]))
        for i in order
        if size[i] > 0.0 or velocity[i] > 0.0 or spin[i] > 0.0
    )
