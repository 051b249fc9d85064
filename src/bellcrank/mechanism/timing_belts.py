"""Timing belts whose cords stretch and whose teeth give.

In the arc of a wheel the belt is an elastic bar on the springs of its teeth, EA v'' = k v, where v is how far
it is ahead of the grooves. With a = sqrt(k/EA), A = sqrt(k EA), x = a * arc and D the tension less that at
which the pitches are equal, at the ends where it arrives (0) and leaves (1)

    v0 = (D1/sinh x - D0 coth x)/A,    v1 = (D1 coth x - D0/sinh x)/A,

so that the stretches e of all spans, measured between the grooves, are e = C D with a symmetric, cyclic,
tridiagonal C (docs/theory/ropes.md, section 8; G. Gerbert, H. Jonsson, U. Persson, G. Stensson, J. Mech.
Design 100, 1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression.derivatives import derivative
from bellcrank.mechanism.attachment import End, ForceKind, markers
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.elastic_ways import Part, ShownPull, Stretching, tensions_of
from bellcrank.mechanism.fields import as_tuple, checked, described, quantity
from bellcrank.mechanism.given import FloatField, FloatsField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rope_path import RopePath, Value, now, wrapped
from bellcrank.mechanism.ropes import Symbols, checked_lengths, is_zero, judge_parts, tension_name
from bellcrank.mechanism.rows import Lowered

TOOTH_LOAD: Final = "tooth load"
"""What results call the load of the most loaded tooth of a wheel."""


def _signed_teeth(check: Check, field: str, value: Any) -> tuple[int, ...]:
    """Numbers of teeth with signs; faults are noted."""
    listed = check.array(field, value, (None,)).tolist()
    if any(number != int(number) for number in listed):
        check.fault(f"{field} must be whole numbers", value)
        return ()
    return tuple(map(int, listed))


def _radii_of_others(check: Check, field: str, value: Any) -> tuple[float, ...]:
    """Signed radii, none or more."""
    return as_tuple(check.array(field, value, (None,), "m")) if np.size(value) else ()


def _number_of_teeth(check: Check, field: str, value: Any) -> int:
    """The number of teeth of a belt."""
    return check.integer(field, value, 1)


@described
class TimingBelt(Stretching, ForceKind):
    """A timing belt around any number of wheels in a plane: its cords stretch and its teeth give.

    Each span between two wheels with teeth pulls only. Within the arcs the load passes from tooth to tooth:
    the belt is a bar of the stiffness E A on the springs of its teeth. The ratio follows from the teeth, and
    what the belt gives is the error of transmission. The ends may also be clamped to a body, as a carriage.

    teeth: of each end, positive if the belt passes counter-clockwise about the marker's z axis, negative if
        clockwise; 0 for an idler without teeth, and where the belt is clamped. The marker turns with the
        wheel; z axes are parallel, the same way round.
    pitch: from tooth to tooth, m; the radii are  teeth * pitch / (2 pi).
    stiffness: E A, the tension at which it would be twice as long, N.
    tooth_stiffness: of one tooth, N/m: force by its displacement along the belt.
    pretension: tension in the initial configuration, N. belt_teeth: instead of it, how many teeth the belt
        has; the pretension follows from its length. lengths: instead of both, of each span, m: at the pitch
        tension, between the grooves in which it lies.
    idlers: for each end with 0 teeth, its signed radius to the middle of the cords, m; 0: it is clamped.
    pitch_tension: the tension at which its pitch is that of the wheels, N; by default the pretension, or 0
        where that is not given.
    damping: N s/m, of each span. depth: stretch over which the damping takes hold, m.
    limit: of the load on a tooth, N; a run, or a rest, in which one has more is refused: it would jump.

    Results list the tension of each span; of each wheel, by its place among the ends, the load of the most
    loaded tooth, the loads where the belt arrives and leaves, positive along the belt, and the angle of wrap;
    the error of each wheel and clamp but the first: how far it is ahead of it, along the belt, as against the
    same belt with the same tension everywhere. `tooth_loads` gives the load on every tooth.

    >>> kind = bc.TimingBelt((20, 40), 0.005, 2e5, 4e5, pretension=300.0, damping=2e4)
    >>> belt = shafts.add_force("belt", kind, "input shaft", "output shaft")
    >>> drive = shafts.add_drive("drive", "input", velocity=6.0)
    >>> load = shafts.add_force("load", bc.JointMotor(-3.0), "output")
    >>> run = bc.simulate(shafts, 30.0)
    >>> loose, tight = sorted(run.force("belt").quantity(f"tension {k}")[-1] for k in (1, 2))
    >>> print(f"{tight - loose:.0f} N, by hand {3.0 / (40 * 0.005 / (2 * np.pi)):.0f} N")
    94 N, by hand 94 N
    """

    teeth: tuple[int, ...] = checked(_signed_teeth)
    pitch: FloatField = quantity("m", "positive")
    stiffness: FloatField = quantity("N", "positive")
    tooth_stiffness: FloatField = quantity("N/m", "positive")
    pretension: OptionalFloatField = quantity("N", "not negative", default=None)
    belt_teeth: int | None = checked(_number_of_teeth, default=None)
    lengths: tuple[float, ...] = checked(checked_lengths, "m", default=())
    idlers: FloatsField = checked(_radii_of_others, "m", default=(), parametric=True)
    pitch_tension: OptionalFloatField = quantity("N", "not negative", default=None)
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    limit: OptionalFloatField = quantity("N", "positive", default=None)
    pattern: ClassVar[str] = "MM+"
    ends_text: ClassVar[str] = "two markers or more, one for each number of teeth"
    meaning: ClassVar[str] = "A timing belt whose cords stretch and whose teeth give."
    closed: ClassVar[bool] = True

    def _judge(self, check: Check) -> None:
        if len(check.faults):
            return
        if len(self.teeth) < 2:
            check.fault("teeth must be given for two ends or more", self.teeth)
        if not any(self.teeth):
            check.fault("no end is a wheel with teeth", self.teeth, "use an ElasticRope")
        plain = self.teeth.count(0)
        if len(self.idlers) != plain:
            advice = "give the radius of each idler, and 0 where the belt is clamped"
            check.fault(
                f"idlers must hold one radius for each of {plain} ends without teeth", self.idlers, advice
            )
        given = [self.pretension is not None, self.belt_teeth is not None, bool(self.lengths)]
        if sum(given) != 1:
            check.fault("exactly one of pretension, belt_teeth and lengths must be given")
        judge_parts(self, check, "lengths", self.lengths)

    @property
    def radii(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Signed, to the middle of the cords, m."""
        plain = iter(self.idlers)
        return tuple(n * self.pitch / (2.0 * pi) if n else next(plain, 0.0) for n in self.teeth)

    @property
    def held(self) -> tuple[int, ...]:
        """Wheels with teeth, and clamps."""
        return tuple(k for k, radius in enumerate(self.radii) if self.teeth[k] or is_zero(radius))

    def held_with(self, values: Sequence[float]) -> Self:
        """With the lengths of its spans given as numbers."""
        given: Any = {"pretension": None, "belt_teeth": None, "pitch_tension": self._matched}
        return replace(self, lengths=tuple(values), **given)

    @property
    def _matched(self) -> Any:
        """The pitch tension."""
        return (self.pretension or 0.0) if self.pitch_tension is None else self.pitch_tension

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas over the coordinates of the way."""
        at, sought = markers(ends), Symbols()
        parts = self.parts(len(at))
        now_, then = (
            self._shape(parts, at, sought, sought.value),
            self._shape(parts, at, sought, sought.start),
        )
        terms = [self.terms(part, at) for part in parts]
        changes = [
            sum((f * (sought.value(c) - sought.start(c)) for c, f in one.items()), start=ex.Expression(0.0))
            for one in terms
        ]
        begun = self._begun(then)
        stretches = [one + change for one, change in zip(begun, changes, strict=True)]
        lengths = [length - one for length, one in zip(now_.lengths, stretches, strict=True)]
        compliance = [list(row) for row in now_.compliance]
        for k, one in enumerate(stretches):
            compliance[k][k] = compliance[k][k] - one / self.stiffness
        matched = self._matched
        tensions = _tensions(compliance, stretches, matched)
        loads = [tension - matched for tension in tensions]
        spans = [Part(*row, 0.0) for row in zip(terms, stretches, lengths, strict=True)]
        damped = tensions
        if not is_zero(self.damping):
            damped = [self.damped(span, one, sought) for span, one in zip(spans, tensions, strict=True)]
        pulls = dict.fromkeys(sought.coordinates, ex.Expression(0.0))
        for one, tension in zip(terms, damped, strict=True):
            for coordinate, factor in one.items():
                pulls[coordinate] = pulls[coordinate] - tension * factor
        # -dU/dq at fixed stretches is D C' D/2
        for coordinate in sought.coordinates:
            slope = _form(
                [[derivative(c, sought.value(coordinate)) for c in row] for row in compliance], loads
            )
            pulls[coordinate] = pulls[coordinate] + 0.5 * slope
        given: dict[str, Any] = {"efforts": tuple(pulls.values())}
        if is_zero(self.damping):
            given = {
                "potential": _potential(compliance, stretches, tensions, matched),
                "pulls": tuple(pulls.values()),
            }
        kind = _BeltPull(
            sought.ends,
            values=sought.unknown,
            starts=sought.starts,
            tensions=tensions_of(spans, sought),
            holds=tuple(lengths),
            shown=self._shown(now_, damped, loads, stretches),
            **given,
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def check_start(self, path: RopePath) -> str:
        """What is wrong with the number of its teeth where its way is known; "" if nothing is."""
        if self.belt_teeth is None:
            return ""
        spare = self.belt_teeth * float(self.pitch) - float(path.length)
        toothed = [k for k, n in enumerate(self.teeth) if n]
        arcs = np.array([abs(float(self.radii[k])) * path.wraps[k] for k in toothed])
        rate, scale = self._tooth_numbers()
        soft = (float(path.length - np.sum(arcs)) + spare) / float(self.stiffness)
        soft += float(np.sum(2.0 * np.tanh(0.5 * float(rate) * arcs))) / float(scale)
        tension = float(self._matched) - spare / soft
        if tension >= 0.0 and -spare < 0.05 * path.length:
            return ""
        fits = float(path.length) / float(self.pitch)
        what = "slack" if tension < 0.0 else "stretched by more than a twentieth"
        return (
            f"a belt of {self.belt_teeth} teeth is {what} there: its way is {fits:.4f} pitches long; "
            "place the wheels accordingly, or give another number"
        )

    def _tooth_numbers(self) -> tuple[Any, Any]:
        """sqrt(k/EA), 1/m, and sqrt(k EA), N/m, with the stiffness k of teeth by length."""
        k = self.tooth_stiffness / self.pitch
        return ex.sqrt(ex.Expression(0.0) + k / self.stiffness), ex.sqrt(
            ex.Expression(0.0) + k * self.stiffness
        )

    def _shape(self, parts: Any, at: Sequence[Marker], sought: Symbols, value: Value) -> _Shape:
        """Lengths of spans, arcs and compliance at values of coordinates."""
        lengths = [self.length_of(part, at, now(value)) for part in parts]
        rate, scale = self._tooth_numbers()
        count = len(parts)
        matrix = [[ex.Expression(0.0) for _ in range(count)] for _ in range(count)]
        for k, length in enumerate(lengths):
            matrix[k][k] = matrix[k][k] + length / self.stiffness
        wheels = []
        for after, part in enumerate(parts):
            place, before = part[0][0], (after - 1) % count
            if not self.teeth[place]:
                continue
            last, following = parts[before][-1][0], part[0][1]
            three = (last, place, following)
            radii, ends = [self.radii[k] for k in three], [at[k] for k in three]
            wrap = wrapped(radii, ends, value, sought.start)
            x = rate * abs(self.teeth[place]) * self.pitch / (2.0 * pi) * wrap
            fading = ex.exp(-x)
            short = 1.0 - fading**2
            coth, csch = (1.0 + fading**2) / short, 2.0 * fading / short
            wheels.append(_Wheel(place, before, after, wrap, coth / scale, csch / scale))
            matrix[before][before] = matrix[before][before] + coth / scale
            matrix[after][after] = matrix[after][after] + coth / scale
            matrix[before][after] = matrix[before][after] - csch / scale
            matrix[after][before] = matrix[after][before] - csch / scale
        return _Shape(lengths, matrix, wheels)

    def _begun(self, then: _Shape) -> list[Any]:
        """The stretches of spans in the initial configuration."""
        if self.lengths:
            return [length - free for length, free in zip(then.lengths, self.lengths, strict=True)]
        if self.belt_teeth is None:
            return self._even(then, self.pretension - self._matched)
        way = sum(then.lengths, start=ex.Expression(0.0))
        for wheel in then.wheels:
            way = way + abs(self.teeth[wheel.place]) * self.pitch / (2.0 * pi) * wheel.wrap
        return self._even(then, self._evenly(then, way - self.belt_teeth * self.pitch))

    def _even(self, shape: _Shape, load: Any) -> list[Any]:
        """The stretches at one tension everywhere: e = D C 1, where C has the lengths less e."""
        softs = [sum(row, start=ex.Expression(0.0)) for row in shape.compliance]
        return [load * soft / (1.0 + load / self.stiffness) for soft in softs]

    def _evenly(self, shape: _Shape, stretch: Any) -> Any:
        """That tension, less the pitch tension, by the sum of all stretches."""
        soft = sum((one for row in shape.compliance for one in row), start=ex.Expression(0.0))
        return stretch / (soft - stretch / self.stiffness)

    def _shown(
        self, shape: _Shape, tensions: Sequence[Any], loads: Sequence[Any], stretches: Sequence[Any]
    ) -> tuple[tuple[str, str, Any], ...]:
        shown = [(tension_name(k, len(tensions)), "N", one) for k, one in enumerate(tensions)]
        for wheel in shape.wheels:
            arriving, leaving = loads[wheel.before], loads[wheel.after]
            first = self.tooth_stiffness * (wheel.csch * leaving - wheel.coth * arriving)
            last = self.tooth_stiffness * (wheel.coth * leaving - wheel.csch * arriving)
            most = ex.maximum(first, -first, last, -last)
            shown += [
                (f"{name} {wheel.place + 1}", unit, found)
                for name, unit, found in (
                    (TOOTH_LOAD, "N", most),
                    ("arriving", "N", first),
                    ("leaving", "N", last),
                    ("wrap", "rad", wheel.wrap),
                )
            ]
        total = sum(stretches, start=ex.Expression(0.0))
        ahead = ex.Expression(0.0)
        even = self._even(shape, self._evenly(shape, total))
        for place, stretch, own in zip(self.held[1:], stretches, even, strict=False):
            ahead = ahead + stretch - own
            shown.append((f"error {place + 1}", "m", ahead))
        return tuple(shown)


class _Wheel(NamedTuple):
    """A wheel with teeth: its place among the ends, the spans before and after, coth and 1/sinh over A."""

    place: int
    before: int
    after: int
    wrap: Any
    coth: Any
    csch: Any


class _Shape(NamedTuple):
    """Lengths of spans, m, compliance as if these were without stretch, m/N, and the wheels with teeth."""

    lengths: list[Any]
    compliance: list[list[Any]]
    wheels: list[_Wheel]


@dataclass(frozen=True)
class _BeltPull(ShownPull, listed=False):
    """The pull of a timing belt."""


def _form(matrix: Sequence[Sequence[Any]], one: Sequence[Any]) -> Any:
    """The quadratic form of a symmetric matrix."""
    total = ex.Expression(0.0)
    for i, row in enumerate(matrix):
        for j in range(i + 1):
            total = total + (1.0 if i == j else 2.0) * row[j] * one[i] * one[j]
    return total


def _potential(
    compliance: Sequence[Sequence[Any]], stretches: Sequence[Any], tensions: Sequence[Any], matched: Any
) -> Any:
    """The energy: that of D is D C D/2, and the pitch tension works along all stretches.

    It is zero where all pitches are equal: max over T of  T (e + C m) - T C T/2,  less m C m/2.
    """
    every = [matched] * len(tensions)
    total = -0.5 * _form(compliance, every)
    for row, stretch, tension in zip(compliance, stretches, tensions, strict=True):
        total = total + 0.5 * tension * (stretch + matched * sum(row, start=ex.Expression(0.0)))
    return total


def _tensions(compliance: Sequence[Sequence[Any]], stretches: Sequence[Any], matched: Any) -> list[Any]:
    """The tensions T >= 0 of spans with  C (T - m) - e >= 0,  where they are taut with equality.

    C has no positive numbers beside its diagonal: what is taut while others are slack stays so as these
    become taut (R. Chandrasekaran, Opsearch 7, 1970), so that there are as many rounds as spans.
    """
    count = len(stretches)
    wanted = [
        stretch + matched * sum(row, start=ex.Expression(0.0))
        for stretch, row in zip(stretches, compliance, strict=True)
    ]
    taut: list[Any] = [ex.Expression(0.0)] * count
    tensions: list[Any] = [ex.Expression(0.0)] * count
    for _ in range(count):
        lacking = [
            one - sum((c * t for c, t in zip(row, tensions, strict=True)), start=ex.Expression(0.0))
            for one, row in zip(wanted, compliance, strict=True)
        ]
        taut = [ex.piecewise(one > 0.0, 1.0, before) for one, before in zip(lacking, taut, strict=True)]
        masked = [
            [taut[i] * taut[j] * compliance[i][j] + (1.0 - taut[i] if i == j else 0.0) for j in range(count)]
            for i in range(count)
        ]
        tensions = _solved(masked, [mask * one for mask, one in zip(taut, wanted, strict=True)])
    return tensions


def _solved(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """The solution of equations with a positive definite matrix, by elimination."""
    count = len(right)
    rows, values = [list(row) for row in matrix], list(right)
    for k in range(count):
        for i in range(k + 1, count):
            factor = rows[i][k] / rows[k][k]
            for j in range(k, count):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
            values[i] = values[i] - factor * values[k]
    found: list[Any] = [None] * count
    for k in reversed(range(count)):
        rest = values[k]
        for j in range(k + 1, count):
            rest = rest - rows[k][j] * found[j]
        found[k] = rest / rows[k][k]
    return found
