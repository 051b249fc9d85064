"""Flat belts and round ones, which hold on their wheels by friction: they creep, and they slip.

Between two wheels the belt is a spring of the length l without load, which changes by what its wheels let
pass. A belt lies still on a wheel where it arrives and creeps where it leaves, so that what passes is decided
by the strain with which it arrives; beyond Euler's ratio of tensions it slips on the whole wheel
(docs/theory/ropes.md, section 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from bellcrank import expression as ex
from bellcrank.expression.compiled import compile_function
from bellcrank.expression.derivatives import rate
from bellcrank.mechanism.attachment import Attachment, End, Motion
from bellcrank.mechanism.checking import Check
from bellcrank.mechanism.coordinate import Coordinate, JointCoordinate
from bellcrank.mechanism.elastic_ropes import ElasticWay, Part, tensions_of, within_a_turn
from bellcrank.mechanism.fields import array, described, quantity
from bellcrank.mechanism.flywheels import INERTIA
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.given import FloatsField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import present
from bellcrank.mechanism.rope_path import arrives_at, leaves_at, relative_pose
from bellcrank.mechanism.ropes import Symbols, is_zero, tension_name
from bellcrank.mechanism.rows import Lowered

_SCALE: Final = 1e3  # rad/s: a flywheel's speed where a span has twice its length without load
_SLIP_SPEED: Final = 1e5  # m/s, at which slip would meet the tension E A

_USED: Final = "utilisation"


@described
class FlatBelt(ElasticWay):
    """A flat or round belt around any number of wheels in a plane, which creeps and slips on them.

    It lies still where it arrives at a wheel and creeps where it leaves it, so that a wheel that drives turns
    faster than one that is driven, by the ratio of the strains. While nothing turns it holds. Where the ratio
    of the tensions on both sides of a wheel passes exp(coefficient wrap) it slips there (Euler-Eytelwein),
    either way round, and holds again below.

    radii: one for each end, m, to the middle of the belt: positive if the belt passes counter-clockwise about
        the marker's z axis, negative if clockwise. The marker turns with the wheel; z axes are parallel, the
        same way round.
    stiffness: E A, the tension at which it would be twice as long, N. pretension, lengths: as for
        ElasticRope, of each span between wheels with friction.
    damping: N s/m, of each span. depth: stretch over which the damping takes hold, m.
    coefficients: of friction, one for each end; 0 for an idler on which the belt slides freely.
    slip_resistance: N s/m, by which the tension may be higher for each m/s of slip; by default the stiffness
        over 100 000 m/s. The smaller it is, the shorter are the steps of explicit methods while it slips.

    The length of each span without load is a number that runs integrate: the speed of a small flywheel, which
    is added with the belt (bodies and joints "belt/1", "belt/2"). Results list the tension of each span; of
    each wheel with friction, by its place among the ends, the speed by which the belt creeps there against
    the rim, its slip, and the part of the friction that is used; the energy of the belt and its loss.

    >>> kind = bc.FlatBelt((0.05, 0.1), 2e4, pretension=300.0, damping=50.0, coefficients=(0.4, 0.4))
    >>> belt = shafts.add_force("belt", kind, "input shaft", "output shaft")
    >>> drive = shafts.add_drive("drive", "input", velocity=6.0)
    >>> load = shafts.add_force("load", bc.JointMotor(-10.0), "output")
    >>> run = bc.simulate(shafts, 30.0)
    >>> loose, tight = (run.force("belt").quantity(f"tension {k}")[-1] for k in (1, 2))
    >>> print(f"{tight - loose:.3f} N")    # 10 N m / 0.1 m
    100.000 N
    >>> ratio = run.joint("output").velocity[-1, 0] / run.joint("input").velocity[-1, 0]
    >>> print(f"{2 * ratio:.5f}, {(1 + loose / 2e4) / (1 + tight / 2e4):.5f}")    # by the strains
    0.99509, 0.99509
    """

    coefficients: FloatsField = array("1", None, default=())
    slip_resistance: OptionalFloatField = quantity("N s/m", "positive", default=None)
    closed: ClassVar[bool] = True
    pattern: ClassVar[str] = "MM+J*"
    ends_text: ClassVar[str] = (
        "two markers or more, one for each radius, and its flywheels, which it adds itself"
    )
    named: ClassVar[str] = "smooth"
    meaning: ClassVar[str] = "A flat or round belt that creeps on its wheels, and slips."

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults):
            return
        if len(self.coefficients) != len(self.radii):
            rule = f"coefficients must hold one number for each of {len(self.radii)} ends"
            check.fault(rule, self.coefficients, "0 for an idler without friction")
        elif any(present(c) < 0.0 for c in self.coefficients):
            check.fault("coefficients must not be negative", self.coefficients)
        elif not self.held:
            check.fault(
                "a belt without any friction drives nothing", self.coefficients, "give one a coefficient"
            )

    @property
    def smooth(self) -> tuple[int, ...]:
        """The numbers of wheels without friction, from 1."""
        return tuple(k for k in range(1, len(self.coefficients) + 1) if k - 1 not in self.held)

    @property
    def held(self) -> tuple[int, ...]:
        """The wheels with friction."""
        return tuple(k for k, coefficient in enumerate(self.coefficients) if not is_zero(coefficient))

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Check that each wheel has a radius, and each span its flywheel."""
        wheels = tuple(end for end in ends if isinstance(end, Marker))
        super().check_ends(check, wheels)
        given, spans = len(ends) - len(wheels), len(self.parts())
        if given not in (0, spans):
            check.fault(
                f"FlatBelt has {spans} spans, one for each wheel with friction, and {given} flywheels"
            )

    def missing_states(self, ends: tuple[Attachment, ...]) -> int:
        """The number of its spans, as long as they have no flywheels."""
        return 0 if any(isinstance(end, JointCoordinate) for end in ends) else len(self.parts())

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas over the coordinates of the way and the angles of flywheels.

        Without flywheels it is the belt at rest, which lies still on its wheels.
        """
        at = tuple(end for end in ends if isinstance(end, Marker))
        spun = tuple(end for end in ends if isinstance(end, Coordinate))
        sought, parts = Symbols(), self.parts(len(at))
        spans = [self._span(k, part, at, spun[k : k + 1], sought) for k, part in enumerate(parts)]
        nothing = [ex.Expression(0.0)] * len(spans)
        wheels = [self._wheel(k, spans, at, sought) for k in range(len(spans))]
        gained = (
            [one.gives - wheels[k - len(spans) + 1].takes for k, one in enumerate(wheels)]
            if spun
            else nothing
        )
        tensions = [self._damped_span(span, gain, sought) for span, gain in zip(spans, gained, strict=True)]
        efforts = dict.fromkeys(sought.coordinates, ex.Expression(0.0))
        for span, tension in zip(spans, tensions, strict=True):
            for coordinate, factor in span.part.terms.items():
                efforts[coordinate] = efforts[coordinate] - tension * factor
        for span, gain, wheel in zip(spans, gained, spun, strict=False):
            efforts[wheel] = INERTIA * _SCALE * gain / span.begun
        kind = _BeltPull(
            sought.ends,
            efforts=tuple(efforts.values()),
            values=sought.unknown,
            starts=sought.starts,
            tensions=tensions_of([span.part for span in spans], sought),
            holds=tuple(span.still for span in spans),
            shown=self._shown(spans, wheels, tensions, gained, sought),
        )
        return Lowered(custom=kind, ends=sought.coordinates)

    def _span(
        self,
        number: int,
        part: Sequence[tuple[int, int]],
        at: Sequence[Marker],
        spun: Sequence[Coordinate],
        sought: Symbols,
    ) -> _Span:
        found, free = self.part(number, part, at, sought), self.free_length(part, at, sought)
        begun: Any = self.unloaded(number, free)
        still = begun + (found.length - begun) * (begun / free)
        length = begun * (1.0 + sought.rate(spun[0]) / _SCALE) if spun else still
        whole = found.stretch + found.length
        stretch: Any = ex.maximum(0.0, whole - length)
        tension = self.stiffness * stretch / length
        return _Span(part, found, begun, still, length, whole, stretch, tension)

    def _wheel(self, number: int, spans: Sequence[_Span], at: Sequence[Marker], sought: Symbols) -> _Wheel:
        """What passes the wheel where a span begins, without load, m/s.

        It arrives with the strain e of the span from which it comes: v/(1 + e) passes at the speed v of the
        rim against the place where the straight part touches it.
        """
        before, after = spans[number - 1], spans[number]
        first, last = after.ends[0], before.ends[-1]
        radius = self.radii[first[0]]

        def now(coordinate: Coordinate) -> Any:
            fixed = coordinate.marker_1.body == coordinate.marker_2.body
            return ex.Expression(relative_pose(coordinate)) if fixed else sought.value(coordinate)

        pairs = [(at[one], at[two]) for one, two in (first, last)]
        radii = [(self.radii[one], self.radii[two]) for one, two in (first, last)]
        leaving, arriving = leaves_at(radii[0], now, pairs[0]), arrives_at(radii[1], now, pairs[1])
        wrap = within_a_turn(copysign(1.0, present(radius)) * (leaving - arriving))
        out, into = (-radius * rate(angle, sought.moving) for angle in (leaving, arriving))
        strains = before.tension / self.stiffness, after.tension / self.stiffness
        euler = ex.exp(self.coefficients[first[0]] * wrap)
        resistance: Any = (
            self.stiffness / _SLIP_SPEED if self.slip_resistance is None else self.slip_resistance
        )
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
        return _Wheel(first[0], passes[0] + slip, passes[1] + slip, slip, creep, used, laid)

    def _damped_span(self, span: _Span, gained: Any, sought: Symbols) -> Any:
        """The tension with that of the damper, by the rate at which the belt itself is stretched."""
        if is_zero(self.damping):
            return span.tension
        stretching = rate(span.whole, sought.moving) - span.whole / span.length * gained
        depth = ex.minimum(1.0, span.stretch / self.depth)
        return ex.maximum(0.0, span.tension + self.damping * stretching * (3.0 - 2.0 * depth) * depth**2)

    def _shown(
        self,
        spans: Sequence[_Span],
        wheels: Sequence[_Wheel],
        tensions: Sequence[Any],
        gained: Sequence[Any],
        sought: Symbols,
    ) -> tuple[tuple[str, str, Any], ...]:
        """Results by name, with units and formulas.

        The belt loses what it takes from its wheels and does not keep: T C' less the rate of EA s^2 / 2 l and
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
            stored = span.tension * rate(span.whole, sought.moving)
            stored = stored - (span.tension + span.tension**2 / (2.0 * self.stiffness)) * gain
            loss = loss + tension * along - stored
        return (*shown, ("energy", "J", kept), ("loss", "W", loss))


class _Span(NamedTuple):
    """A span between two wheels with friction.

    ends: its pairs of neighbouring ends. begun, length: without load, at the start and now; still: now if it
    has lain still on its wheels. whole: as it is. stretch, tension: without damping.
    """

    ends: Sequence[tuple[int, int]]
    part: Part
    begun: Any
    still: Any
    length: Any
    whole: Any
    stretch: Any
    tension: Any


class _Wheel(NamedTuple):
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
class _BeltPull(CustomForce, listed=False):
    """The pull of a belt on its wheels, and what its flywheels integrate.

    tensions, holds: as of an elastic rope. shown: further results, by name, with units and formulas.
    """

    starts: Any = ()
    tensions: Any = ()
    holds: Any = ()
    shown: Any = ()
    drum: ClassVar[None] = None
    pulls: ClassVar[tuple[Any, ...]] = ()

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """Tensions of spans; creep, slip and use of friction of wheels; energy and loss."""
        return self._found(motion.value, motion.rate)

    def at_rest_used(self, values: Any) -> dict[str, float]:
        """The part of the friction that is used on each wheel, at values of its coordinates."""
        found = self._found(values[None], np.zeros((1, len(values))))
        return {name: float(used[0]) for name, (_, used) in found.items() if name.startswith(_USED)}

    def _found(self, value: Any, rates: Any) -> dict[str, tuple[str, Any]]:
        symbols = [symbol for end in self.ends for symbol in end.symbols]
        formulas = [formula for *_, formula in self.shown]
        function = compile_function(formulas, symbols, self.known, native=False)
        found = function(np.stack([value, rates], axis=2).reshape(len(value), -1))
        return {name: (unit, found[:, k]) for k, (name, unit, _) in enumerate(self.shown)}
