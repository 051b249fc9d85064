"""Ropes over pulleys and drums, and belts and chains around wheels.

A rope passes its ends in their order. Each is a point, or a wheel whose axis is the marker's z axis, by its
signed radius R: positive where the rope passes counter-clockwise about z, negative where it passes clockwise,
zero at an eyelet or a fastening. Between two wheels it is straight, and tangent to both. With
the coordinate tangent_span of each such part and the azimuths of neighbouring wheels,

    L = sum of tangent_span(R1 - R2) + sum of R (azimuth of the next end - azimuth of the one before),

which is the length but for a constant (docs/theory/ropes.md). Azimuths count whole turns, so that arcs may be
of any length. A wheel that turns with the rope divides it into parts, each with a tension of its own: seen
from the wheel, whose marker turns with it, the place where the rope leaves shows how much has passed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import copysign, pi
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression.derivatives import derivative, substitute
from bellcrank.expression.expression import fresh_symbol
from bellcrank.mechanism.attachment import Attachment, ConstraintKind, End, ForceKind, Motion, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, quantity
from bellcrank.mechanism.formulas import CustomConstraint, CustomForce, EndCoordinate
from bellcrank.mechanism.given import FloatField, FloatsField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rope_path import arrives_at, leaves_at, relative_pose, straight_of
from bellcrank.mechanism.rows import FROM_START, Block, Lowered, Row, Term


def _numbers(check: Check, field: str, value: Any) -> tuple[int, ...]:
    """Numbers of ends, from 1, each once."""
    listed = check.array(field, value, (None,)).tolist() if np.size(value) else []
    if any(number != int(number) or number < 1 for number in listed) or len(set(listed)) < len(listed):
        check.fault(f"{field} must be numbers of ends, from 1, each once", value)
        return ()
    return tuple(int(number) for number in listed)


def _lengths(check: Check, field: str, value: Any) -> tuple[float, ...]:
    """Lengths, one for each part of a rope."""
    listed = check.array(field, value, (None,), "m").tolist() if np.size(value) else []
    if any(number < 0.0 for number in listed):
        check.fault(f"{field} must not be negative", value)
        return ()
    return tuple(map(float, listed))


def _span(first: Marker, second: Marker, radii: tuple[Any, Any]) -> Coordinate:
    """The coordinate of what is between two ends: in the plane of a wheel, if one is."""
    if _is_zero(radii[0]) and _is_zero(radii[1]):
        return Coordinate("distance", first, second)
    pair = (second, first) if _is_zero(radii[0]) else (first, second)
    return Coordinate("tangent_span", *pair, (radii[0] - radii[1],))


def _is_zero(radius: Any) -> bool:
    return not is_expression(radius) and radius == 0.0


def tension_name(number: int, count: int) -> str:
    """What results call the tension of a part of a rope, by its number from 0."""
    return "tension" if count == 1 else f"tension {number + 1}"


class Way:
    """What all kinds have in common: a way over ends with radii.

    closed: it returns to its first end.
    """

    radii: tuple[float, ...]
    closed: ClassVar[bool] = False

    @property
    def held(self) -> tuple[int, ...]:
        """The places of wheels, from 0, that turn with the rope and divide it."""
        raise NotImplementedError

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that each end has a radius, and that all wheels named turn."""
        if len(ends) != len(self.radii):
            check.fault(f"{type(self).__name__} has {len(self.radii)} radii for {len(ends)} ends")

    @property
    def drawn_radii(self) -> tuple[float, ...]:
        """Signed radii, of drums in the initial configuration, m."""
        return self.radii

    def parts(self, count: int | None = None) -> list[list[tuple[int, int]]]:
        """The pairs of neighbouring ends of each part of the rope."""
        count = len(self.radii) if count is None else count
        pairs = list(pairwise(range(count))) + ([(count - 1, 0)] if self.closed else [])
        held = set(self.held)
        if self.closed and held:
            first = min(held)
            pairs = pairs[first:] + pairs[:first]
        found: list[list[tuple[int, int]]] = []
        for pair in pairs:
            if not found or pair[0] in held:
                found.append([])
            found[-1].append(pair)
        return found

    def terms(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker]) -> dict[Coordinate, Any]:
        """Coordinates that can change and their factors in the length of a part."""
        found: dict[Coordinate, Any] = {}
        for one, two in part:
            if ends[one].body != ends[two].body:
                for coordinate, factor in self._of_span(one, two, ends):
                    found[coordinate] = found.get(coordinate, 0.0) + factor
        return {coordinate: factor for coordinate, factor in found.items() if not _is_zero(factor)}

    def _of_span(self, one: int, two: int, ends: Sequence[Marker]) -> Iterator[tuple[Coordinate, Any]]:
        here, there = self.radii[one], self.radii[two]
        yield _span(ends[one], ends[two], (here, there)), 1.0
        if not _is_zero(here):
            yield Coordinate("azimuth", ends[one], ends[two]), here
        if not _is_zero(there):
            yield Coordinate("azimuth", ends[two], ends[one]), -there


def _judge_way(way: Any, check: Check, named: tuple[int, ...], field: str) -> None:
    """Note faults of radii, and of numbers of ends that are named."""
    least = 2
    if len(way.radii) < least:
        check.fault("radii must be given for two ends or more", way.radii)
    for number in named:
        if number > len(way.radii) or way.radii[number - 1] == 0.0:
            check.fault(f"{field} names end {number}, which is no wheel", way.radii, "give it a radius")
    neighbours = list(pairwise(way.radii)) + ([(way.radii[-1], way.radii[0])] if way.closed else [])
    if way.closed and any(radius == 0.0 for radius in way.radii):
        check.fault("all ends of a belt are wheels: no radius may be zero", way.radii)
    if not way.closed and all(one == two == 0.0 for one, two in neighbours):
        check.fault("no end is a wheel", way.radii, "give a radius, or use a Cable")


def _judge_parts(way: Way, check: Check, field: str, values: tuple[float, ...]) -> None:
    """Note a fault where there is not one value for each part."""
    if values and len(check.faults) == 0 and len(values) != (count := len(way.parts())):
        check.fault(f"{field} must hold one length for each of its parts, which are {count}", values)


class _OpenWay(Way):
    """A rope with two ends. gripped: numbers of the wheels between them, from 1, that turn with it."""

    gripped: tuple[int, ...]

    @property
    def held(self) -> tuple[int, ...]:
        last = len(self.radii)
        return tuple(sorted(number - 1 for number in self.gripped if 1 < number < last))

    @property
    def drums(self) -> tuple[int, ...]:
        """The places, from 0, of the drums on which it winds: of the first and the last end."""
        return tuple(k for k in (0, len(self.radii) - 1) if not _is_zero(self.radii[k]))


class _ClosedWay(Way):
    """A belt around all ends. smooth: numbers of the wheels, from 1, over which it slides."""

    smooth: tuple[int, ...]
    closed: ClassVar[bool] = True

    @property
    def held(self) -> tuple[int, ...]:
        return tuple(k for k in range(len(self.radii)) if k + 1 not in self.smooth)


class _Inextensible(Way, ConstraintKind):
    """Each part keeps its length; its multiplier is the tension."""

    def effort_name(self, number: int) -> str:
        """The tension, of each part if there are several."""
        return tension_name(number, len(self.parts()))

    def effort_unit(self, _units: Collection[str]) -> str:
        """Of the tension."""
        return "N"

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """For each part the row  its length at the start - its length."""
        at = markers(ends)
        found = []
        for part in self.parts(len(at)):
            terms = tuple(Term(-factor, coordinate) for coordinate, factor in self.terms(part, at).items())
            found.append(Row(terms, FROM_START))
        return tuple(found)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A block for each part, since each may be slack alone."""
        blocks = (Block("constraint", (row,), unilateral=self.unilateral) for row in self.rows(ends))
        return Lowered(tuple(blocks))


@described
class Rope(_OpenWay, _Inextensible):
    """An inextensible, massless rope over points, pulleys and drums, in the order of the ends.

    Its length is that in the assembled initial configuration. It keeps to the side of each wheel on which it
    is described; wheels that follow each other along it have parallel axes, and z axes the same way round.

    radii: one for each end, m: of a wheel about the marker's z axis, to the middle of the rope, positive if
        the rope passes counter-clockwise about z, negative if it passes clockwise; 0 for a fastening or an
        eyelet. A wheel at the first or last end is a drum: its marker turns with it, and winds the rope.
    gripped: numbers of the ends between, from 1, whose wheels turn with the rope, which does not slip on
        them: their markers turn too, and the tensions before and after differ by what turns the wheel. All
        others are smooth: the tension is the same on both sides, whether they turn or not.
    slack: if True each part only pulls and may go slack. spare: by how much each part is longer at the start
        than its way, m, such as (0.3,).
    thickness: of the rope, m, by which the radius of its drum grows with each layer of `layer_turns` turns,
        evenly over these turns, from `radii` on, where the drum is bare; 0 for a drum of constant radius.
    wound: turns on the drum in the initial configuration.
    """

    radii: FloatsField = array("m", None)
    gripped: tuple[int, ...] = checked(_numbers, default=())
    slack: bool = flag(default=False)
    spare: tuple[float, ...] = checked(_lengths, "m", default=())
    thickness: FloatField = quantity("m", "not negative", default=0.0)
    layer_turns: FloatField = quantity("1", "positive", default=1.0)
    wound: FloatField = quantity("1", "not negative", default=0.0)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A rope of constant length over pulleys, on drums and through eyelets."

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        _judge_way(self, check, self.gripped, "gripped")
        if ends := [n for n in self.gripped if n in (1, len(self.radii))]:
            check.fault("gripped names the first or last end", ends[0], "a wheel there is a drum in any case")
        if self.spare and not self.slack:
            check.fault("spare is for a rope that may be slack", self.spare, "give slack=True")
        _judge_parts(self, check, "spare", self.spare)
        if self.thickness and len(self.drums) != 1:
            check.fault("layers need one drum, at the first or last end", self.radii)
        if self.thickness and self.slack:
            check.fault("a rope in layers cannot be slack", None, "use thickness=0, or slack=False")
        if not self.thickness and (self.wound or self.layer_turns != 1.0):
            check.fault("wound and layer_turns are for a rope with a thickness")

    @property
    def drawn_radii(self) -> tuple[float, ...]:
        """That of a drum with the layers that are on it."""
        grown = self.thickness * self.wound / self.layer_turns
        drums = self.drums if self.thickness else ()
        return tuple(r + copysign(grown, r) if k in drums else r for k, r in enumerate(self.radii))

    @property
    def unilateral(self) -> bool:
        """Whether it may go slack."""
        return self.slack

    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """As for all; with spare length, the row is that far from zero at the start."""
        rows = super().rows(ends)
        spare = self.spare or (0.0,) * len(rows)
        return tuple(Row(row.terms, FROM_START, start=s) for row, s in zip(rows, spare, strict=True))

    def held_with(self, values: Sequence[float]) -> Self:
        """With what is wound on its drum, or the lengths by which its parts are slack, given as numbers."""
        if not _is_zero(self.thickness):
            return replace(self, wound=values[0])
        return replace(self, spare=tuple(max(0.0, value) for value in values))

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Rows on coordinates; with layers, equations by formulas."""
        if _is_zero(self.thickness):
            return super().lowered(ends)
        at = markers(ends)
        sought = _Symbols()
        lengths = [self._length(part, at, sought) for part in self.parts(len(at))]
        equations = tuple(substitute(length, sought.to_start) - length for length in lengths)
        azimuth = self._drum_azimuth(at)
        drum = (sought.coordinates.index(azimuth), sought.start_place(azimuth), self._winding())
        turned = self._winding() * (sought.value(azimuth) - sought.start(azimuth))
        holds = (self.wound + turned / (2.0 * pi),)
        kind = _RopeEquations(
            sought.ends, equations, sought.unknown, starts=sought.starts, drum=drum, holds=holds
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def _length(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: _Symbols) -> Any:
        """The length of a part as a formula."""
        (drum,) = self.drums
        layered = next((pair for pair in part if drum in pair), None)
        plain = self.terms([pair for pair in part if pair != layered], ends)
        total = ex.Expression(0.0)
        for coordinate, factor in plain.items():
            total = total + factor * sought.value(coordinate)
        return total if layered is None else total + self._layered(layered, ends, sought)

    def _drum_azimuth(self, ends: Sequence[Marker]) -> Coordinate:
        """The direction of the end that is next to the drum, seen from the drum."""
        (drum,) = self.drums
        return Coordinate("azimuth", ends[drum], ends[1 if drum == 0 else drum - 1])

    def _winding(self) -> float:
        """The way in which this direction turns as more is wound."""
        (drum,) = self.drums
        return copysign(1.0, present(self.radii[drum])) * (1.0 if drum == 0 else -1.0)

    def _layered(self, span: tuple[int, int], ends: Sequence[Marker], sought: _Symbols) -> Any:
        """What is between a drum in layers and the next end, with what is on the drum.

        The radius is r + g beta at an angle beta that is wound, and grows along the azimuth of the next end.
        """
        (drum,) = self.drums
        other = span[1] if drum == span[0] else span[0]
        radius, beyond = self.radii[drum], self.radii[other]
        side, forward = copysign(1.0, present(radius)), self._winding()
        growth = self.thickness / (2.0 * pi * self.layer_turns)
        azimuth = self._drum_azimuth(ends)
        beta = 2.0 * pi * self.wound + forward * (sought.value(azimuth) - sought.start(azimuth))
        signed = radius + side * growth * beta
        rho = signed - beyond if drum == span[0] else beyond - signed
        distance = sought.value(Coordinate("distance", ends[drum], ends[other]))
        across = sought.value(Coordinate("distance_xy", ends[drum], ends[other]))
        length = ex.sqrt(distance**2 - rho**2) + rho * ex.atan2(rho, ex.sqrt(across**2 - rho**2))
        length = length + side * radius * beta + 0.5 * growth * beta**2
        if not _is_zero(beyond):
            sense = -1.0 if drum == span[0] else 1.0
            length = length + sense * beyond * sought.value(Coordinate("azimuth", ends[other], ends[drum]))
        return length


@described
class BeltLoop(_ClosedWay, _Inextensible):
    """A toothed belt or a chain around any number of wheels in a plane; it does not slip or stretch.

    It passes its ends in their order and returns to the first. Each wheel turns with it: the rates are as
    1/R, and the tension of each part, from the first wheel that is not smooth on, is what keeps the belt's
    length between two wheels. Where all wheels have fixed places, tensions are known but for one constant,
    the pretension: their differences count. A wheel whose place may move, a tensioner, is held by the belt.

    radii: pitch radii, one for each end, m: positive if the belt passes counter-clockwise about the marker's
        z axis, negative if clockwise, as for a wheel at its back or a crossed belt. The marker turns with the
        wheel. All z axes are parallel, the same way round.
    smooth: numbers of the ends, from 1, over which it slides without friction: idlers.
    """

    radii: FloatsField = array("m", None, sign="not zero")
    smooth: tuple[int, ...] = checked(_numbers, default=())
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A toothed belt or chain around any number of wheels."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0:
            _judge_way(self, check, self.smooth, "smooth")


class _Elastic(Way, ForceKind, listed=False):
    """Each part is a spring of stiffness EA over its length, which pulls only."""

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas over the coordinates of the way.

        A part of the length l without load, stretched by s, has the potential  EA s^2 / 2 l  and the tension
        T = EA s/l; what turns a wheel that takes rope up, and so changes l, meets T^2 / 2 EA beside it.
        """
        own: Any = self
        at, sought = markers(ends), _Symbols()
        parts = [self._part(k, part, at, sought) for k, part in enumerate(self.parts(len(at)))]
        tensions = [own.stiffness * ex.maximum(0.0, p.stretch) / p.length for p in parts]
        pulls = {coordinate: ex.Expression(0.0) for coordinate in sought.coordinates}
        for part, tension in zip(parts, tensions, strict=True):
            whole = tension if _is_zero(own.damping) else self._damped(part, tension, sought)
            for coordinate, factor in part.terms.items():
                pulls[coordinate] = pulls[coordinate] - whole * factor
            for coordinate in sought.coordinates:
                slope = derivative(part.length, sought.value(coordinate))
                pulls[coordinate] = pulls[coordinate] + tension**2 / (2.0 * own.stiffness) * slope
        given: dict[str, Any] = {"efforts": tuple(pulls.values())}
        if _is_zero(own.damping):
            energies = (0.5 * p.length * t**2 / own.stiffness for p, t in zip(parts, tensions, strict=True))
            given = {"potential": sum(energies, start=ex.Expression(0.0)), "pulls": tuple(pulls.values())}
        known: dict[str, Any] = {"values": sought.unknown, "starts": sought.starts}
        known |= {"tensions": _tensions(parts, sought), "holds": tuple(part.length for part in parts)}
        return Lowered(custom=_RopePull(sought.ends, **known, **given), ends=sought.coordinates)

    def held_with(self, values: Sequence[float]) -> Self:
        """With the lengths of its parts without load given as numbers."""
        own: Any = self
        return replace(own, lengths=tuple(values), pretension=0.0)  # type: ignore[no-any-return]

    def _part(
        self, number: int, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: _Symbols
    ) -> _Part:
        own: Any = self
        terms = self.terms(part, ends)
        change = ex.Expression(0.0)
        for coordinate, factor in terms.items():
            change = change + factor * (sought.value(coordinate) - sought.start(coordinate))
        free = self._free_length(part, ends, sought)
        taken = free / (1.0 + own.pretension / own.stiffness)
        length = ex.Expression(own.lengths[number]) if own.lengths else taken
        return _Part(terms, free - length + change, length - self._taken_up(part, ends, sought))

    def _free_length(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: _Symbols) -> Any:
        """What is not on drums or wheels that turn with the rope, in the initial configuration."""
        total, arriving = ex.Expression(0.0), None
        for one, two in part:
            pair, radii = (ends[one], ends[two]), (self.radii[one], self.radii[two])
            total = total + straight_of(radii, sought.start, pair)
            if arriving is not None and not _is_zero(radii[0]):
                side = copysign(1.0, present(radii[0]))
                wrap = side * (leaves_at(radii, sought.start, pair) - arriving)
                total = total + side * radii[0] * _within_a_turn(wrap)
            arriving = None if _is_zero(radii[1]) else arrives_at(radii, sought.start, pair)
        return total

    def _taken_up(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: _Symbols) -> Any:
        """What drums and wheels that turn with the rope have taken up since the start, up to the tangents."""
        total = ex.Expression(0.0)
        if self.closed and not self.held:
            return total
        for span, wheel, sense, direction in ((part[0], 0, 1.0, leaves_at), (part[-1], 1, -1.0, arrives_at)):
            pair, radii = (ends[span[0]], ends[span[1]]), (self.radii[span[0]], self.radii[span[1]])
            if not _is_zero(radii[wheel]) and pair[0].body != pair[1].body:
                turned = direction(radii, sought.value, pair) - direction(radii, sought.start, pair)
                total = total + sense * radii[wheel] * turned
        return total

    def _damped(self, part: _Part, tension: Any, sought: _Symbols) -> Any:
        """The tension with that of a damper which takes hold over a depth."""
        own: Any = self
        rate = sum((f * sought.rate(c) for c, f in part.terms.items()), start=ex.Expression(0.0))
        depth = ex.minimum(1.0, ex.maximum(0.0, part.stretch) / own.depth)
        return ex.maximum(0.0, tension + own.damping * rate * (3.0 - 2.0 * depth) * depth**2)


class _Part(NamedTuple):
    """A part of an elastic rope.

    terms: factors of coordinates in its length. stretch, length: how far it is stretched, and its length
    without load.
    """

    terms: dict[Coordinate, Any]
    stretch: Any
    length: Any


def _tensions(parts: Sequence[_Part], sought: _Symbols) -> tuple[tuple[int, float], ...]:
    """For each part a coordinate that no other part has, by its place, and its factor."""
    found = []
    for part in parts:
        others = {c for other in parts if other is not part for c in other.terms}
        own = [c for c in part.terms if c not in others and c.kind in ("distance", "tangent_span")]
        place, factor = (sought.coordinates.index(own[0]), present(part.terms[own[0]])) if own else (-1, 1.0)
        found.append((place, float(factor)))
    return tuple(found)


def _within_a_turn(angle: Any) -> Any:
    """An angle between 0 and a whole turn."""
    return pi + ex.atan2(-ex.sin(angle), -ex.cos(angle))


class _Symbols:
    """The symbols of coordinates in formulas, and of their values in the initial configuration."""

    def __init__(self) -> None:
        self._ends: dict[Coordinate, EndCoordinate] = {}
        self._starts: dict[Coordinate, Any] = {}

    def value(self, coordinate: Coordinate) -> Any:
        """Its symbol."""
        return self._end(coordinate).value

    def rate(self, coordinate: Coordinate) -> Any:
        """The symbol of its rate."""
        return self._end(coordinate).rate

    def start(self, coordinate: Coordinate) -> Any:
        """The symbol of its value in the initial configuration, or this value itself if it cannot change."""
        if coordinate.marker_1.body == coordinate.marker_2.body:
            return relative_pose(coordinate)
        if coordinate not in self._starts:
            self._starts[coordinate] = fresh_symbol(f"start {len(self._starts)}")
        return self._starts[coordinate]

    def _end(self, coordinate: Coordinate) -> EndCoordinate:
        return self._ends.setdefault(coordinate, EndCoordinate(f"c{len(self._ends)}"))

    @property
    def ends(self) -> tuple[EndCoordinate, ...]:
        """Those of all coordinates that formulas depend on."""
        return tuple(self._ends.values())

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """In the order of `ends`."""
        return tuple(self._ends)

    @property
    def to_start(self) -> dict[Any, Any]:
        """What replaces values by those of the initial configuration."""
        return {end.value: self.start(coordinate) for coordinate, end in self._ends.items()}

    def start_place(self, coordinate: Coordinate) -> int:
        """The place of a value in the initial configuration among all of them."""
        return list(self._starts).index(coordinate)

    @property
    def starts(self) -> tuple[tuple[Any, Coordinate], ...]:
        """Symbols of values in the initial configuration, and what they are of."""
        return tuple((symbol, coordinate) for coordinate, symbol in self._starts.items())

    @property
    def unknown(self) -> tuple[tuple[Any, float], ...]:
        """The same symbols before their values are known."""
        return tuple((symbol, float("nan")) for symbol in self._starts.values())


@dataclass(frozen=True)
class _RopeEquations(CustomConstraint, listed=False):
    """The equations of a rope in layers.

    holds: what its kind takes from another configuration, `held_with`.
    drum: the place of its drum's azimuth among the ends, that of its initial value, and the way it winds.
    """

    starts: Any = ()
    drum: Any = None
    holds: Any = ()


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


@described
class ElasticRope(_OpenWay, _Elastic):
    """An elastic, massless rope over points, pulleys and drums, in the order of the ends; it pulls only.

    The tension of each part is  stiffness * stretch / length,  the length being that without load of what is
    not on a drum: it changes as the drum turns.

    radii, gripped: as for Rope; on a drum the rope is wound without stretch.
    stiffness: E A, the tension at which it would be twice as long, N.
    pretension: tension in the initial configuration, N. lengths: instead of it, of each part without load, m:
        what is not on drums, or on wheels that turn with it, in the initial configuration.
    damping: N s/m, of each part. depth: stretch over which the damping takes hold, m.
    """

    radii: FloatsField = array("m", None)
    stiffness: FloatField = quantity("N", "positive")
    gripped: tuple[int, ...] = checked(_numbers, default=())
    pretension: FloatField = quantity("N", "not negative", default=0.0)
    lengths: tuple[float, ...] = checked(_lengths, "m", default=())
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A rope that stretches, pulls and never pushes, over pulleys and on drums."

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        _judge_way(self, check, self.gripped, "gripped")
        _judge_elastic(self, check)


@described
class ElasticBelt(_ClosedWay, _Elastic):
    """A toothed belt or chain that stretches, around any number of wheels in a plane.

    The part between two wheels that turn with it is a spring that pulls only, of the stiffness E A over its
    length between them.

    radii, smooth: as for BeltLoop. stiffness, pretension, lengths, damping, depth: as for ElasticRope.
    """

    radii: FloatsField = array("m", None, sign="not zero")
    stiffness: FloatField = quantity("N", "positive")
    smooth: tuple[int, ...] = checked(_numbers, default=())
    pretension: FloatField = quantity("N", "not negative", default=0.0)
    lengths: tuple[float, ...] = checked(_lengths, "m", default=())
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A toothed belt or chain that stretches, around any number of wheels."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0:
            _judge_way(self, check, self.smooth, "smooth")
            _judge_elastic(self, check)


def _judge_elastic(kind: Any, check: Check) -> None:
    if kind.pretension and kind.lengths:
        check.fault("at most one of pretension and lengths may be given")
    if any(length == 0.0 for length in kind.lengths):
        check.fault("lengths must be greater than zero", kind.lengths)
    _judge_parts(kind, check, "lengths", kind.lengths)


def tackle(
    parts: int, upper: Any, lower: Any, haul: Any, radius: float, drum: float = 0.0, **fields: Any
) -> tuple[Any, ...]:
    """A rope reeved through two blocks, as the arguments that follow the name in `add_constraint`.

    parts: number of parts of the rope that carry the lower block: the force is that many times the tension.
    upper, lower: markers at the blocks, z along the axes of their sheaves, which are next to each other; the
    rope leaves the upper one towards `haul`, a marker. radius: of all sheaves, m, signed as in Rope.
    drum: the signed radius of a drum at `haul`; 0 for a point. fields: further ones of Rope.

    >>> mech.add_constraint("hoist", *bc.tackle(4, top, hook, winch, radius=0.1, drum=0.2))
    """
    with Check("tackle") as check:
        parts = check.integer("parts", parts, 1)
    blocks = [lower, upper]
    ends = [blocks[(parts - k + 1) % 2] for k in range(parts + 1)]
    radii = (0.0, *(radius for _ in ends[1:]), drum)
    return (Rope(radii, **fields), *ends, haul)
