"""What ropes and belts that stretch have in common: each part is a spring that pulls only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import copysign
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression.compiled import compile_function
from bellcrank.expression.derivatives import derivative
from bellcrank.expression.derivatives import rate as rate_of
from bellcrank.mechanism.attachment import End, ForceKind, Motion, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, quantity
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.given import FloatField, FloatsField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rope_path import Value, arrives_at, leaves_at, straight_of, within_a_turn
from bellcrank.mechanism.ropes import (
    Symbols,
    Way,
    checked_lengths,
    is_zero,
    judge_parts,
    judge_way,
    tension_name,
)
from bellcrank.mechanism.rows import Lowered


class Stretching(Way):
    """What stretches: the lengths of its parts at some values of coordinates, and dampers beside them."""

    damping: FloatField
    depth: FloatField

    def length_of(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], value: Value) -> Any:
        """The length of a part, but for what is on the wheels at its ends, at values of coordinates."""
        total, arriving = ex.Expression(0.0), None
        for one, two in part:
            pair, radii = (ends[one], ends[two]), (self.radii[one], self.radii[two])
            total = total + straight_of(radii, value, pair)
            if arriving is not None and not is_zero(radii[0]):
                side = copysign(1.0, present(radii[0]))
                wrap = side * (leaves_at(radii, value, pair) - arriving)
                total = total + side * radii[0] * within_a_turn(wrap)
            arriving = None if is_zero(radii[1]) else arrives_at(radii, value, pair)
        return total

    def damped(self, part: Part, tension: Any, sought: Symbols) -> Any:
        """The tension with that of a damper which takes hold over a depth."""
        rate = sum((f * sought.rate(c) for c, f in part.terms.items()), start=ex.Expression(0.0))
        if not is_zero(part.shortcut):
            rate = rate - rate_of(part.shortcut, sought.moving)
        depth = ex.minimum(1.0, ex.maximum(0.0, part.stretch) / self.depth)
        return ex.maximum(0.0, tension + self.damping * rate * (3.0 - 2.0 * depth) * depth**2)


@described
class ElasticWay(Stretching, ForceKind, listed=False):
    """Each part is a spring of stiffness EA over its length, which pulls only."""

    radii: FloatsField = array("m", None)
    stiffness: FloatField = quantity("N", "positive")
    pretension: FloatField = quantity("N", "not negative", default=0.0)
    lengths: tuple[float, ...] = checked(checked_lengths, "m", default=())
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    named: ClassVar[str] = ""
    """The field that names wheels by their numbers."""

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        judge_way(self, check, getattr(self, self.named), self.named)
        if self.pretension and self.lengths:
            check.fault("at most one of pretension and lengths may be given")
        if any(length == 0.0 for length in self.lengths):
            check.fault("lengths must be greater than zero", self.lengths)
        judge_parts(self, check, "lengths", self.lengths)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas over the coordinates of the way.

        A part of the length l without load, stretched by s, has the potential  EA s^2 / 2 l  and the tension
        T = EA s/l; what turns a wheel that takes rope up, and so changes l, meets T^2 / 2 EA beside it.
        """
        at, sought = markers(ends), Symbols()
        parts = [self.part(k, part, at, sought) for k, part in enumerate(self.parts(len(at)))]
        tensions = [self.stiffness * ex.maximum(0.0, p.stretch) / p.length for p in parts]
        pulls = {coordinate: ex.Expression(0.0) for coordinate in sought.coordinates}
        for part, tension in zip(parts, tensions, strict=True):
            whole = tension if is_zero(self.damping) else self.damped(part, tension, sought)
            for coordinate, factor in part.terms.items():
                pulls[coordinate] = pulls[coordinate] - whole * factor
            for coordinate in sought.coordinates:
                slope = derivative(part.length, sought.value(coordinate))
                pulls[coordinate] = pulls[coordinate] + tension**2 / (2.0 * self.stiffness) * slope
                if not is_zero(part.shortcut):
                    pulls[coordinate] = pulls[coordinate] + whole * derivative(
                        part.shortcut, sought.value(coordinate)
                    )
        given: dict[str, Any] = {"efforts": tuple(pulls.values())}
        if is_zero(self.damping):
            energies = (0.5 * p.length * t**2 / self.stiffness for p, t in zip(parts, tensions, strict=True))
            given = {"potential": sum(energies, start=ex.Expression(0.0)), "pulls": tuple(pulls.values())}
        known: dict[str, Any] = {"values": sought.unknown, "starts": sought.starts}
        known |= {"tensions": tensions_of(parts, sought), "holds": tuple(part.length for part in parts)}
        return Lowered(custom=_RopePull(sought.ends, **known, **given), ends=sought.coordinates)

    def held_with(self, values: Sequence[float]) -> Self:
        """With the lengths of its parts without load given as numbers."""
        return replace(self, lengths=tuple(values), pretension=0.0)

    def part(
        self, number: int, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols
    ) -> Part:
        """A part of the way, as it is now."""
        terms = self.terms(part, ends)
        change = ex.Expression(0.0)
        for coordinate, factor in terms.items():
            change = change + factor * (sought.value(coordinate) - sought.start(coordinate))
        free = self.length_of(part, ends, sought.start)
        length = self.unloaded(number, free)
        shortcut = self.shortcut(part, ends, sought)
        stretch = free - length + change - shortcut
        return Part(terms, stretch, length - self._taken_up(part, ends, sought), shortcut)

    def unloaded(self, number: int, free: Any) -> Any:
        """The length of a part without load in the initial configuration, where it is stretched to `free`."""
        if self.lengths:
            return ex.Expression(self.lengths[number])
        return free / (1.0 + self.pretension / self.stiffness)

    def _taken_up(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols) -> Any:
        """What drums and wheels that turn with the rope have taken up since the start, up to the tangents."""
        return sum((taken for _, taken in self.winds(part, ends, sought)), start=ex.Expression(0.0))

    def winds(
        self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols
    ) -> Iterator[tuple[int, Any]]:
        """The places of wheels at the ends of a part, and what each has taken up since the start."""
        if self.closed and not self.held:
            return
        for span, wheel, sense, direction in ((part[0], 0, 1.0, leaves_at), (part[-1], 1, -1.0, arrives_at)):
            pair, radii = (ends[span[0]], ends[span[1]]), (self.radii[span[0]], self.radii[span[1]])
            if not is_zero(radii[wheel]) and pair[0].body != pair[1].body:
                turned = direction(radii, sought.value, pair) - direction(radii, sought.start, pair)
                yield span[wheel], sense * radii[wheel] * turned


class Part(NamedTuple):
    """A part of an elastic rope.

    terms: factors of coordinates in its length. stretch, length: how far it is stretched, and its length
    without load. shortcut: by which the way is shorter than the terms say, past wheels that it has left.
    """

    terms: dict[Coordinate, Any]
    stretch: Any
    length: Any
    shortcut: Any


def tensions_of(parts: Sequence[Part], sought: Symbols) -> tuple[tuple[int, float], ...]:
    """For each part a coordinate that no other part has, by its place, and its factor."""
    found = []
    for part in parts:
        others = {c for other in parts if other is not part for c in other.terms}
        own = [c for c in part.terms if c not in others and c.kind in ("distance", "tangent_span")]
        place, factor = (sought.coordinates.index(own[0]), present(part.terms[own[0]])) if own else (-1, 1.0)
        found.append((place, float(factor)))
    return tuple(found)


@dataclass(frozen=True)
class ShownPull(CustomForce, listed=False):
    """A pull with results by formulas.

    tensions, pulls, holds: as of an elastic rope. shown: results by name, with units and formulas.
    """

    starts: Any = ()
    tensions: Any = ()
    pulls: Any = ()
    holds: Any = ()
    shown: Any = ()
    drum: ClassVar[None] = None

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """What is shown."""
        return self.found(motion.value, motion.rate)

    def found(self, value: Any, rates: Any) -> dict[str, tuple[str, Any]]:
        """The results at values (T, k) and rates of its coordinates: units, and numbers (T,)."""
        symbols = [symbol for end in self.ends for symbol in end.symbols]
        formulas = [formula for *_, formula in self.shown]
        function = compile_function(formulas, symbols, self.known, native=False)
        found = function(np.stack([value, rates], axis=2).reshape(len(value), -1))
        return {name: (unit, found[:, k]) for k, (name, unit, _) in enumerate(self.shown)}


@dataclass(frozen=True)
class _RopePull(CustomForce, listed=False):
    """The pull of an elastic rope.

    holds: what its kind takes from another configuration, `held_with`.
    tensions: the coordinate of each part's effort, and the factor of it. pulls: the efforts along all ends
    where there is a potential: it bends where a rope becomes taut, and judges take differences.
    """

    starts: Any = ()
    tensions: Any = ()
    pulls: Any = ()
    holds: Any = ()
    drum: ClassVar[None] = None

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """The tension of each part."""
        count = len(self.tensions)
        return {
            tension_name(k, count): ("N", -motion.effort[:, place] / factor)
            for k, (place, factor) in enumerate(self.tensions)
            if place >= 0
        }
