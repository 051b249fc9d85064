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
from math import asin, copysign, pi
from typing import Any, ClassVar, Self

import numpy as np

from bellcrank import expression as ex
from bellcrank.errors import MechanismError
from bellcrank.expression.derivatives import substitute
from bellcrank.expression.expression import fresh_symbol
from bellcrank.mechanism.attachment import Attachment, ConstraintKind, End, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, checked, described, flag, quantity, whole
from bellcrank.mechanism.formulas import CustomConstraint, EndCoordinate
from bellcrank.mechanism.given import FloatField, FloatsField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rope_path import detour, relative_pose, wrapped
from bellcrank.mechanism.rows import FROM_START, Block, FrictionLoad, LoadOf, Lowered, Row, Term, dry_friction
from bellcrank.slips import answered


def numbers_of_ends(check: Check, field: str, value: Any) -> tuple[int, ...]:
    """Numbers of ends, from 1, each once."""
    listed = check.array(field, value, (None,)).tolist() if np.size(value) else []
    if any(number != int(number) or number < 1 for number in listed) or len(set(listed)) < len(listed):
        check.fault(f"{field} must be numbers of ends, from 1, each once", value)
        return ()
    return tuple(int(number) for number in listed)


def number_of_end(check: Check, field: str, value: Any) -> int:
    """The number of an end, from 1."""
    return check.integer(field, value, 1)


def checked_lengths(check: Check, field: str, value: Any) -> tuple[float, ...]:
    """Lengths, one for each part of a rope."""
    listed = check.array(field, value, (None,), "m").tolist() if np.size(value) else []
    if any(number < 0.0 for number in listed):
        check.fault(f"{field} must not be negative", value)
        return ()
    return tuple(map(float, listed))


def _span(first: Marker, second: Marker, radii: tuple[Any, Any]) -> Coordinate:
    """The coordinate of what is between two ends: in the plane of a wheel, if one is."""
    if is_zero(radii[0]) and is_zero(radii[1]):
        return Coordinate("distance", first, second)
    pair = (second, first) if is_zero(radii[0]) else (first, second)
    return Coordinate("tangent_span", *pair, (radii[0] - radii[1],))


def is_zero(number: Any) -> bool:
    """Whether a number is zero; an expression is not."""
    return not is_expression(number) and number == 0.0


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
        return {coordinate: factor for coordinate, factor in found.items() if not is_zero(factor)}

    @property
    def lifting(self) -> tuple[int, ...]:
        """The places of wheels, from 0, that it leaves where its arc on them is none."""
        return ()

    def shortcut(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols) -> Any:
        """By how much the way is shorter than the terms of a part say, past wheels that it has left."""
        found = (shorter for _, shorter, _ in self._lifts(part, ends, sought))
        return sum(found, start=ex.Expression(0.0)) if self.lifting else 0.0

    def _lifts(
        self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Of each wheel that a part may leave, its angle of wrap, the shortcut past it, and the detour."""
        for (one, place), (_, two) in pairwise(part):
            if place in self.lifting:
                three = (one, place, two)
                radii, at = [self.radii[k] for k in three], [ends[k] for k in three]
                wrap = wrapped(radii, at, sought.value, sought.start)
                longer = detour(radii, at, sought.value, wrap)
                yield wrap, ex.piecewise(wrap < 0.0, longer, 0.0), longer

    def _of_span(self, one: int, two: int, ends: Sequence[Marker]) -> Iterator[tuple[Coordinate, Any]]:
        here, there = self.radii[one], self.radii[two]
        yield _span(ends[one], ends[two], (here, there)), 1.0
        if not is_zero(here):
            yield Coordinate("azimuth", ends[one], ends[two]), here
        if not is_zero(there):
            yield Coordinate("azimuth", ends[two], ends[one]), -there


def judge_way(way: Any, check: Check, named: tuple[int, ...], field: str) -> None:
    """Note faults of radii, and of numbers of ends that are named."""
    if len(way.radii) == 1:
        check.fault("radii must be given for two ends or more", way.radii)
    for number in named:
        if number > len(way.radii) or way.radii[number - 1] == 0.0:
            check.fault(f"{field} names end {number}, which is no wheel", way.radii, "give it a radius")
    neighbours = list(pairwise(way.radii)) + ([(way.radii[-1], way.radii[0])] if way.closed else [])
    if way.closed and any(radius == 0.0 for radius in way.radii):
        check.fault("all ends of a belt are wheels: no radius may be zero", way.radii)
    if not way.closed and all(one == two == 0.0 for one, two in neighbours):
        check.fault("no end is a wheel", way.radii, "give a radius, or use a Cable")


def judge_parts(way: Way, check: Check, field: str, values: tuple[float, ...]) -> None:
    """Note a fault where there is not one value for each part."""
    if values and len(check.faults) == 0 and len(values) != (count := len(way.parts())):
        check.fault(f"{field} must hold one length for each of its parts, which are {count}", values)


def judge_rough(way: Any, check: Check, fields: tuple[str, ...]) -> None:
    """Note faults of a rope's rough end. fields: those that belong to it."""
    if way.rough is None:
        if any(getattr(way, field) for field in fields):
            listed = f"{', '.join(fields[:-1])} and {fields[-1]}"
            check.fault(f"{listed} are for a rope with a rough end")
        return
    if not 1 < way.rough < len(way.radii) or is_zero(way.radii[way.rough - 1]):
        rule = f"rough names end {way.rough}, which is no wheel between the ends"
        check.fault(rule, way.radii, "give it a radius")
    if way.rough in way.gripped:
        check.fault(f"end {way.rough} is rough and gripped", None, "name it in one of them")
    if way.coefficient is None:
        check.fault("a rough end needs a coefficient")


def judge_lifting(way: Any, check: Check) -> None:
    """Note faults of the wheels that a rope may leave."""
    for number in way.leaves:
        if not 1 < number < len(way.radii) or is_zero(way.radii[number - 1]):
            check.fault(f"leaves names end {number}, which is no wheel between the ends", way.radii)
        elif number - 1 in way.held or number == way.rough:
            check.fault(f"leaves names end {number}, on which it does not slide freely", None, "leave it out")
        elif number + 1 in way.leaves:
            rule = f"leaves names the ends {number} and {number + 1}, which are neighbours"
            check.fault(rule, None, "name one of them, or pass a point between")


class OpenWay(Way):
    """A rope with two ends. gripped: wheels that turn with it, by the places of ends, the first 1."""

    gripped: tuple[int, ...]
    leaves: tuple[int, ...]

    @property
    def lifting(self) -> tuple[int, ...]:
        """Those that `leaves` names."""
        return tuple(number - 1 for number in self.leaves)

    @property
    def held(self) -> tuple[int, ...]:
        """Those that are gripped."""
        last = len(self.radii)
        return tuple(sorted(number - 1 for number in self.gripped if 1 < number < last))

    @property
    def drums(self) -> tuple[int, ...]:
        """The places, from 0, of the drums on which it winds: of the first and the last end."""
        return tuple(k for k in (0, len(self.radii) - 1) if not is_zero(self.radii[k]))


class ClosedWay(Way):
    """A belt around all ends. smooth: numbers of the wheels, from 1, over which it slides."""

    smooth: tuple[int, ...]
    closed: ClassVar[bool] = True

    @property
    def held(self) -> tuple[int, ...]:
        """All that are not smooth."""
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
class Rope(OpenWay, _Inextensible):
    """An inextensible, massless rope over points, pulleys and drums, in the order of the ends.

    Its length is that in the assembled initial configuration. It keeps to the side of each wheel on which it
    is described; wheels that follow each other along it have parallel axes, and z axes the same way round.

    radii: one for each end, m: of a wheel about the marker's z axis, to the middle of the rope, positive if
        the rope passes counter-clockwise about z, negative if it passes clockwise; 0 for a fastening or an
        eyelet. A wheel at the first or last end is a drum: its marker turns with it, and winds the rope.
    gripped: places of ends, the first being 1 (the wheel of "a", wheel, "b" is 2), whose wheels turn with the
        rope, which does not slip on them: their markers turn too, and the tensions before and after differ by
        what turns the wheel. All others are smooth: the tension is the same on both sides, whether they turn
        or not.
    slack: if True each part only pulls and may go slack. spare: by how much each part is longer at the start
        than its way, m, such as (0.3,).
    thickness: of the rope, m, by which the radius of its drum grows with each layer of `layer_turns` turns,
        evenly over these turns, from `radii` on, where the drum is bare; 0 for a drum of constant radius.
    wound: turns on the drum in the initial configuration.
    rough: the place of an end between, as of gripped, on whose wheel or bollard it rubs, by a coefficient
        of friction, and static_coefficient while it holds, by default the same. It holds while the ratio of
        the tensions on both sides is up to exp(coefficient wrap), and slips beyond (Euler-Eytelwein); wrap
        is the angle that it lies around the wheel there and then, with whole `turns` at the start. Its
        marker turns with the wheel. The effort of the rope is then the mean of both tensions, and results
        list their difference as a force of the rope's name.
    leaves: places of smooth wheels that the rope leaves where its arc there comes to nothing, to go on
        straight between the ends on both sides, and comes back to, no two of them side by side. It lies on
        them in the initial configuration. On all others a run ends there, by name.

    >>> wheel = block.ground.marker((0.1, 0, 1), axis="y")
    >>> weight = block.add_body("weight", 1.0, (1, 1, 1), position=(0.2, 0, 0))
    >>> guide = block.add_joint("other", bc.Prismatic(), block.ground.marker((0.2, 0, 0)), weight)
    >>> rope = block.add_constraint("rope", bc.Rope((0.0, 0.1, 0.0)), "block", wheel, weight)
    >>> tension = bc.simulate(block, 0.2).constraint("rope").effort[-1]
    >>> print(f"{tension:.4f} N, by hand {2 * 2 * 1 / (2 + 1) * 9.81:.4f} N")    # Atwood's machine
    13.0800 N, by hand 13.0800 N
    """

    radii: FloatsField = array("m", None)
    gripped: tuple[int, ...] = checked(numbers_of_ends, default=())
    slack: bool = flag(default=False)
    spare: tuple[float, ...] = checked(checked_lengths, "m", default=())
    thickness: FloatField = quantity("m", "not negative", default=0.0)
    layer_turns: FloatField = quantity("1", "positive", default=1.0)
    wound: FloatField = quantity("1", "not negative", default=0.0)
    rough: int | None = checked(number_of_end, default=None)
    coefficient: OptionalFloatField = quantity("1", "positive", default=None, followed=False)
    static_coefficient: OptionalFloatField = quantity("1", "positive", default=None, followed=False)
    turns: int = whole(0, default=0)
    leaves: tuple[int, ...] = checked(numbers_of_ends, default=())
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A rope of constant length over pulleys, on drums and through eyelets."

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        judge_way(self, check, self.gripped, "gripped")
        if ends := [n for n in self.gripped if n in (1, len(self.radii))]:
            check.fault("gripped names the first or last end", ends[0], "a wheel there is a drum in any case")
        if self.spare and not self.slack:
            check.fault("spare is for a rope that may be slack", self.spare, "give slack=True")
        judge_parts(self, check, "spare", self.spare)
        if self.thickness and len(self.drums) != 1:
            check.fault("layers need one drum, at the first or last end", self.radii)
        if self.thickness and self.slack:
            check.fault("a rope in layers cannot be slack", None, "use thickness=0, or slack=False")
        if not self.thickness and (self.wound or self.layer_turns != 1.0):
            check.fault("wound and layer_turns are for a rope with a thickness")
        self._judge_friction(check)
        judge_lifting(self, check)
        if self.leaves and (self.slack or self.thickness or self.rough):
            rule = "a rope that leaves wheels cannot be slack, in layers or rough"
            check.fault(rule, self.leaves, "use an ElasticRope, which pulls only, or leave leaves out")

    def _judge_friction(self, check: Check) -> None:
        judge_rough(self, check, ("coefficient", "static_coefficient", "turns"))
        if self.rough is None:
            return
        slips, holds = self.coefficient, self.static_coefficient
        if slips is not None and holds is not None and holds < slips:
            check.fault("static_coefficient must not be less than coefficient", (holds, slips))
        if self.thickness:
            check.fault("a rope in layers cannot rub", self.rough, "use thickness=0, or no rough end")

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
        if not is_zero(self.thickness):
            return replace(self, wound=values[0])
        return replace(self, spare=tuple(max(0.0, value) for value in values))

    def losses(self, name: str, ends: tuple[End, ...]) -> Lowered | None:
        """Friction on the rough wheel, along what passes it.

        With the multiplier L of the part's row and the effort F, tensions are L - F/2 before the wheel and
        L + F/2 behind it: |F| is up to 2 tanh(mu/2 wrap) L.
        """
        if self.rough is None or self.coefficient is None:
            return None
        at, place = markers(ends), self.rough - 1
        parts = self.parts(len(at))
        number = next(k for k, part in enumerate(parts) if any(two == place for _, two in part))
        before = [pair for pair in parts[number] if pair[1] <= place]
        behind = [pair for pair in parts[number] if pair[0] >= place]
        passed = self.terms(before, at)
        for coordinate, factor in self.terms(behind, at).items():
            passed[coordinate] = passed.get(coordinate, 0.0) - factor
        along = tuple(Term(0.5 * factor, c) for c, factor in passed.items() if not is_zero(factor))
        if not along:
            return None
        slips = self.coefficient
        holds = slips if self.static_coefficient is None else self.static_coefficient
        form = tuple(1.0 if k == number else 0.0 for k in range(6))
        load = FrictionLoad(
            LoadOf.CONSTRAINT_ROWS,
            name,
            (form,),
            (slips, slips),
            (holds, holds),
            *self._wrap(place, at),
            turns=self.turns,
        )
        return dry_friction(Row(along), (load,), coulomb=0.0, start=0.0, holding=0.0)

    def _wrap(self, place: int, ends: Sequence[Marker]) -> tuple[tuple[Term, ...], float]:
        """The angle around a wheel but for whole turns: what can change, and what cannot."""
        side, here = copysign(1.0, present(self.radii[place])), self.radii[place]
        terms, fixed = [], pi
        for factor, other in ((side, place + 1), (-side, place - 1)):
            there = self.radii[other]
            rho = here - there if other > place else there - here
            azimuth = Coordinate("azimuth", ends[place], ends[other])
            if ends[place].body == ends[other].body:
                across = relative_pose(replace(azimuth, kind="distance_xy"))
                fixed += factor * (relative_pose(azimuth) + asin(rho / across))
            else:
                terms.append(Term(factor, azimuth))
                terms.append(Term(factor, replace(azimuth, kind="tangent_slant", params=(rho,))))
        return tuple(terms), fixed

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Rows on coordinates; with layers, equations by formulas."""
        if self.leaves:
            return self._with_lifting(markers(ends))
        if is_zero(self.thickness):
            return super().lowered(ends)
        at = markers(ends)
        azimuth = self._drum_azimuth(at)
        if azimuth.marker_1.body == azimuth.marker_2.body:
            rule = "its drum and the next end are on one body"
            raise MechanismError.of("rope", rule, azimuth.marker_1.body, "the drum must turn")
        sought = Symbols()
        lengths = [self._length(part, at, sought) for part in self.parts(len(at))]
        equations = tuple(substitute(length, sought.to_start) - length for length in lengths)
        drum = (sought.coordinates.index(azimuth), sought.start_place(azimuth), self._winding())
        turned = self._winding() * (sought.value(azimuth) - sought.start(azimuth))
        holds = (self.wound + turned / (2.0 * pi),)
        kind = _RopeEquations(
            sought.ends, equations, sought.unknown, starts=sought.starts, drum=drum, holds=holds
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def _with_lifting(self, at: tuple[Marker, ...]) -> Lowered:
        """Equations that keep the length of each part, past wheels that it has left."""
        sought, equations = Symbols(), []
        for part in self.parts(len(at)):
            changed = -self.shortcut(part, at, sought)
            for coordinate, factor in self.terms(part, at).items():
                changed = changed + factor * (sought.value(coordinate) - sought.start(coordinate))
            equations.append(-changed)
        bends = tuple(bend for part in self.parts(len(at)) for bend in self._lifts(part, at, sought))
        kind = _RopeEquations(
            sought.ends, tuple(equations), sought.unknown, starts=sought.starts, bends=bends
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def _length(self, part: Sequence[tuple[int, int]], ends: Sequence[Marker], sought: Symbols) -> Any:
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

    def _layered(self, span: tuple[int, int], ends: Sequence[Marker], sought: Symbols) -> Any:
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
        if not is_zero(beyond):
            sense = -1.0 if drum == span[0] else 1.0
            length = length + sense * beyond * sought.value(Coordinate("azimuth", ends[other], ends[drum]))
        return length


@described
class BeltLoop(ClosedWay, _Inextensible):
    """A toothed belt or a chain around any number of wheels in a plane; it does not slip or stretch.

    It passes its ends in their order and returns to the first. Each wheel turns with it: the rates are as
    1/R, and the tension of each part, from the first wheel that is not smooth on, is what keeps the belt's
    length between two wheels. Where all wheels have fixed places, tensions are known but for one constant,
    the pretension: their differences count. A wheel whose place may move, a tensioner, is held by the belt.

    radii: pitch radii, one for each end, m: positive if the belt passes counter-clockwise about the marker's
        z axis, negative if clockwise, as for a wheel at its back or a crossed belt. The marker turns with the
        wheel. All z axes are parallel, the same way round.
    smooth: numbers of the ends, from 1, over which it slides without friction: idlers.

    >>> idler = shafts.add_body("idler", 1.0, (1, 1, 1), position=(0.15, 0.2, 0))
    >>> turn = shafts.add_joint("idler", bc.Revolute(), shafts.ground.marker((0.15, 0.2, 0)), idler)
    >>> kind = bc.BeltLoop((0.05, 0.1, 0.05))
    >>> belt = shafts.add_constraint("belt", kind, "input shaft", "output shaft", idler)
    >>> run = bc.simulate(shafts, 1.0)
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{ratio:.6f}")    # 0.05 / 0.1
    0.500000
    """

    radii: FloatsField = array("m", None, sign="not zero")
    smooth: tuple[int, ...] = checked(numbers_of_ends, default=())
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each radius"
    meaning: ClassVar[str] = "A toothed belt or chain around any number of wheels."

    def _judge(self, check: Check) -> None:
        if len(check.faults) == 0:
            judge_way(self, check, self.smooth, "smooth")


class Symbols:
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
    def moving(self) -> dict[Any, Any]:
        """The symbols of rates by those of values."""
        return {end.value: end.rate for end in self._ends.values()}

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
    bends: angles of wrap at whose zeros its second derivatives jump, with the formulas that are zero above,
        and what these are below.
    """

    starts: Any = ()
    drum: Any = None
    holds: Any = ()
    bends: Any = ()


@answered
def tackle(
    parts: int, upper: Any, lower: Any, haul: Any, radius: float, drum: float = 0.0, **fields: Any
) -> tuple[Any, ...]:
    """A rope reeved through two blocks, as the arguments that follow the name in `add_constraint`.

    parts: number of parts of the rope that carry the lower block: the force is that many times the tension.
    upper, lower: markers at the blocks, z along the axes of their sheaves, which are next to each other; the
    rope leaves the upper one towards `haul`, a marker. radius: of all sheaves, m, signed as in Rope.
    drum: the signed radius of a drum at `haul`; 0 for a point. fields: further ones of Rope.

    >>> mech = bc.Mechanism("hoist")
    >>> load = mech.add_body("load", 10.0, (1, 1, 1), position=(0, 0, -2))
    >>> guide = mech.add_joint("guide", bc.Prismatic(), "ground", load)
    >>> crab = mech.add_body("crab", 1.0, (1, 1, 1))
    >>> slide = mech.add_joint("slide", bc.PrismaticX(), "ground", crab, position=1.0)
    >>> held = mech.add_drive("haul", "slide", velocity=0.0)
    >>> ends = [mech.ground.marker(axis="y"), load.marker(axis="y"), crab.marker(axis="y")]
    >>> hoist = mech.add_constraint("hoist", *bc.tackle(4, *ends, radius=0.001))
    >>> print(f"{bc.statics(mech).constraints['hoist'].effort:.2f} N")    # 98.1 N on four parts of the rope
    24.53 N
    """
    with Check("tackle") as check:
        parts = check.integer("parts", parts, 1)
    blocks = [lower, upper]
    ends = [blocks[(parts - k + 1) % 2] for k in range(parts + 1)]
    radii = (0.0, *(radius for _ in ends[1:]), drum)
    return (Rope(radii, **fields), *ends, haul)
