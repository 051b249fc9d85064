"""Ropes and belts on wheels that hold them by friction alone: they creep there, and they slip.

Between two such wheels a rope is a spring of the length l without load, which changes by what the wheels let
pass. It lies still on a wheel where it arrives and creeps where it leaves, so that what passes is decided by
the strain with which it arrives; beyond Euler's ratio of tensions it slips on the whole wheel
(docs/theory/ropes.md, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression.derivatives import derivative, rate
from bellcrank.mechanism.attachment import Attachment, End
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate, JointCoordinate
from bellcrank.mechanism.elastic_ways import ElasticWay, Part, ShownPull, tensions_of
from bellcrank.mechanism.fields import described
from bellcrank.mechanism.flywheels import INERTIA
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rope_path import arrives_at, leaves_at, now, wrapped
from bellcrank.mechanism.ropes import Symbols, is_zero, tension_name
from bellcrank.mechanism.rows import Lowered

_SCALE: Final = 1e3  # rad/s: a flywheel's speed where a part has twice its length without load
_SLIP_SPEED: Final = 1e6  # m/s, at which slip would meet the tension E A
_USED: Final = "utilisation"


@described
class Creeping(ElasticWay, listed=False):
    """Some wheels hold it by friction alone; without any it is as all that stretch are."""

    pattern: ClassVar[str] = "MM+J*"
    named_ends: ClassVar[str] = "M"

    @property
    def more_turns(self) -> int:
        """Whole turns around its wheels with friction at the start."""
        return 0

    @property
    def rubbing(self) -> dict[int, Any]:
        """The places of wheels, from 0, that hold it by friction, and their coefficients."""
        raise NotImplementedError

    def _rubbed(self) -> list[bool]:
        """For each part whether it begins or ends at such a wheel."""
        found = self.rubbing
        return [part[0][0] in found or part[-1][1] in found for part in self.parts()]

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that each end has a radius, and each part that needs one its flywheel."""
        at = tuple(end for end in ends if isinstance(end, Marker))
        super().check_ends(check, at)
        given, needed = len(ends) - len(at), sum(self._rubbed())
        if given not in (0, needed):
            check.fault(f"{self.name} takes {needed} flywheels, one for each part that creeps, not {given}")

    def missing_states(self, ends: tuple[Attachment, ...]) -> int:
        """The number of parts that creep, as long as they have no flywheels."""
        return 0 if any(isinstance(end, JointCoordinate) for end in ends) else sum(self._rubbed())

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas over the coordinates of the way and the angles of flywheels.

        Without flywheels it is the rope at rest, which lies still on its wheels.
        """
        if not self.rubbing:
            return super().lowered(ends)
        at = tuple(end for end in ends if isinstance(end, Marker))
        sought, parts = Symbols(), self.parts(len(at))
        flywheels = iter(end for end in ends if isinstance(end, Coordinate))
        spun = [next(flywheels, None) if rubbed else None for rubbed in self._rubbed()]
        spans = [self._span(k, part, at, spun[k], sought) for k, part in enumerate(parts)]
        wheels = {
            k: self._wheel(place, spans[k - 1], span, at, sought)
            for k, span in enumerate(spans)
            if (place := span.ends[0][0]) in self.rubbing and (self.closed or k > 0)
        }
        gained = [self._gained(k, wheels, len(spans), one) for k, one in enumerate(spun)]
        tensions = [self._damped_span(span, gain, sought) for span, gain in zip(spans, gained, strict=True)]
        efforts = dict.fromkeys(sought.coordinates, ex.Expression(0.0))
        for span, tension, gain, flywheel in zip(spans, tensions, gained, spun, strict=True):
            for coordinate, factor in span.part.terms.items():
                efforts[coordinate] = efforts[coordinate] - tension * factor
            for coordinate in sought.coordinates:
                slope = derivative(span.wound, sought.value(coordinate))
                efforts[coordinate] = efforts[coordinate] + span.tension**2 / (2.0 * self.stiffness) * slope
            if flywheel is not None:
                efforts[flywheel] = INERTIA * _SCALE * gain / span.begun
        kind = _CreepingPull(
            sought.ends,
            efforts=tuple(efforts.values()),
            values=sought.unknown,
            starts=sought.starts,
            tensions=tensions_of([span.part for span in spans], sought),
            holds=tuple(span.still for span in spans),
            shown=self._shown(spans, tuple(wheels.values()), tensions, gained, sought),
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def _gained(self, number: int, wheels: dict[int, Wheel], count: int, flywheel: Coordinate | None) -> Any:
        """What a part gains from the wheels at its ends, without load, m/s."""
        gain = ex.Expression(0.0)
        if flywheel is not None:
            following = (number + 1) % count if self.closed else number + 1
            gain = gain + wheels[number].gives if number in wheels else gain
            gain = gain - wheels[following].takes if following in wheels else gain
        return gain

    def _span(
        self,
        number: int,
        part: Sequence[tuple[int, int]],
        at: Sequence[Marker],
        flywheel: Coordinate | None,
        sought: Symbols,
    ) -> Span:
        found, free = self.part(number, part, at, sought), self.length_of(part, at, sought.start)
        begun: Any = self.unloaded(number, free)
        passed = [taken for place, taken in self.winds(part, at, sought) if place in self.rubbing]
        through = sum(passed, start=ex.Expression(0.0))
        wound = begun - sum(
            (taken for place, taken in self.winds(part, at, sought) if place not in self.rubbing),
            start=ex.Expression(0.0),
        )
        still = wound - through * (begun / free)
        length = still if flywheel is None else wound + begun * sought.rate(flywheel) / _SCALE
        whole = found.stretch + found.length
        stretch: Any = ex.maximum(0.0, whole - length)
        tension = self.stiffness * stretch / length
        return Span(part, found, begun, wound, still, length, whole, stretch, tension)

    def _wheel(self, place: int, before: Span, after: Span, at: Sequence[Marker], sought: Symbols) -> Wheel:
        """What passes a wheel, without load, m/s.

        It arrives with the strain e of the part from which it comes: v/(1 + e) passes at the speed v of the
        rim against the place where the straight part touches it.
        """
        first, last = after.ends[0], before.ends[-1]
        radius = self.radii[place]

        pairs = [(at[one], at[two]) for one, two in (first, last)]
        radii = [(self.radii[one], self.radii[two]) for one, two in (first, last)]
        seen = now(sought.value)
        leaving, arriving = leaves_at(radii[0], seen, pairs[0]), arrives_at(radii[1], seen, pairs[1])
        three = (last[0], place, first[1])
        wrap = wrapped(
            [self.radii[k] for k in three],
            [at[k] for k in three],
            sought.value,
            sought.start,
            self.more_turns,
        )
        out, into = (-radius * rate(angle, sought.moving) for angle in (leaving, arriving))
        strains = before.tension / self.stiffness, after.tension / self.stiffness
        euler = ex.exp(self.rubbing[place] * wrap)
        given = getattr(self, "slip_resistance", None)
        resistance: Any = self.stiffness / _SLIP_SPEED if given is None else given
        ahead = ex.maximum(0.0, after.tension - euler * before.tension)
        back = ex.maximum(0.0, before.tension - euler * after.tension)
        slip = (ahead - back) / resistance
        came = [ex.piecewise(speed >= 0.0, strains[0], strains[1]) for speed in (out, into)]
        passes = [speed / (1.0 + strain) for speed, strain in zip((out, into), came, strict=True)]
        laid = 0.5 * self.stiffness * (passes[1] * came[1] ** 2 - passes[0] * came[0] ** 2)
        creep = ex.piecewise(
            out >= 0.0,
            out * (strains[1] - strains[0]) / (1.0 + strains[0]),
            into * (strains[0] - strains[1]) / (1.0 + strains[1]),
        )
        both = ex.maximum(before.tension + after.tension, 1e-300)
        used = ex.sqrt((after.tension - before.tension) ** 2) / both * (euler + 1.0) / (euler - 1.0)
        return Wheel(place, passes[0] + slip, passes[1] + slip, slip, creep, used, laid)

    def _damped_span(self, span: Span, gained: Any, sought: Symbols) -> Any:
        """The tension with that of the damper, by the rate at which the rope itself is stretched."""
        if is_zero(self.damping):
            return span.tension
        lengthens = gained + rate(span.wound, sought.moving)
        stretching = rate(span.whole, sought.moving) - span.whole / span.length * lengthens
        depth = ex.minimum(1.0, span.stretch / self.depth)
        return ex.maximum(0.0, span.tension + self.damping * stretching * (3.0 - 2.0 * depth) * depth**2)

    def _shown(
        self,
        spans: Sequence[Span],
        wheels: Sequence[Wheel],
        tensions: Sequence[Any],
        gained: Sequence[Any],
        sought: Symbols,
    ) -> tuple[tuple[str, str, Any], ...]:
        """Results by name, with units and formulas.

        It loses what it takes from ends and wheels and does not keep: T C' less the rate of EA s^2 / 2 l and
        what comes to lie on wheels; C' is the rate of the terms along which T pulls.
        """
        shown = [(tension_name(k, len(spans)), "N", tension) for k, tension in enumerate(tensions)]
        for wheel in wheels:
            number = wheel.place + 1
            shown += [(f"creep {number}", "m/s", wheel.creep), (f"slip {number}", "m/s", wheel.slip)]
            shown.append((f"{_USED} {number}", "1", wheel.used))
        kept, loss = ex.Expression(0.0), -sum((w.laid for w in wheels), start=ex.Expression(0.0))
        for span, tension, gain in zip(spans, tensions, gained, strict=True):
            kept = kept + 0.5 * span.tension * span.stretch
            along = sum((f * sought.rate(c) for c, f in span.part.terms.items()), start=ex.Expression(0.0))
            of_length = span.tension**2 / (2.0 * self.stiffness)
            wound = rate(span.wound, sought.moving)
            stored = span.tension * (rate(span.whole, sought.moving) - gain - wound) - of_length * gain
            loss = loss + tension * along - stored
        return (*shown, ("energy", "J", kept), ("loss", "W", loss))


class Span(NamedTuple):
    """A part between two wheels that divide the rope.

    ends: its pairs of neighbouring ends. begun, length: without load, at the start and now; wound: now but
    for what wheels with friction let pass; still: now if it has lain still on these. whole: as it is.
    stretch, tension: without damping.
    """

    ends: Sequence[tuple[int, int]]
    part: Part
    begun: Any
    wound: Any
    still: Any
    length: Any
    whole: Any
    stretch: Any
    tension: Any


class Wheel(NamedTuple):
    """A wheel with friction, by its place among the ends.

    gives, takes: what it lets into the span after it, and out of that before it, without load, m/s. laid: the
    power with which energy comes to lie on it, where its arc grows, W.
    """

    place: int
    gives: Any
    takes: Any
    slip: Any
    creep: Any
    used: Any
    laid: Any


@dataclass(frozen=True)
class _CreepingPull(ShownPull, listed=False):
    """The pull of a rope or belt, and what its flywheels integrate.

    Results are tensions of spans; creep, slip and use of friction of wheels; energy and loss.
    """

    def at_rest_used(self, values: Any) -> dict[str, float]:
        """The part of the friction that is used on each wheel, at values of its coordinates."""
        found = self.found(values[None], np.zeros((1, len(values))))
        return {name: float(used[0]) for name, (_, used) in found.items() if name.startswith(_USED)}
