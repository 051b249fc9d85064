"""Flanks of involute teeth: gaps between them, along which their forces act, and gears whose teeth give.

The flanks of a gear roll off base circles of the radii r cos(a), a the pressure angle across the axes: the
line of action is a rope crossed between these circles, so that its length is what ropes have (`ropes`). Teeth
push where a rope pulls, and each of two flanks has a line of its own. docs/theory/gears.md derives the gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan, copysign, cos, radians, tan
from typing import Any, ClassVar, NamedTuple, Self

from bellcrank import expression as ex
from bellcrank.mechanism.attachment import End, ForceKind, Motion, markers
from bellcrank.mechanism.checking import IN_RADIANS, Check
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import array, described, flag, quantity
from bellcrank.mechanism.formulas import CustomForce
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.ropes import Symbols, is_zero
from bellcrank.mechanism.rows import Lowered, Term


class Angles(NamedTuple):
    """Tangents of the angles of a tooth's force at the pitch point, in parts of the force at the rim.

    radial: tan(pressure_angle)/cos(helix_angle). axial: tan(helix_angle).
    """

    radial: float
    axial: float

    @property
    def base(self) -> float:
        """The base circle's radius in parts of the pitch circle's: the cosine of the transverse angle."""
        return cos(atan(self.radial))


def angles_of(pressure_angle: float, helix_angle: float) -> Angles:
    """Of the pressure angle across the tooth, and of the helix on the pitch cylinder, rad."""
    return Angles(tan(pressure_angle) / cos(helix_angle), tan(helix_angle))


def judge_angles(check: Check, pressure_angle: float, helix_angle: float) -> None:
    """Note angles that teeth do not have."""
    for field, angle in (("pressure_angle", pressure_angle), ("helix_angle", helix_angle)):
        if len(check.faults) == 0 and not abs(angle) < radians(60.0):
            check.fault(f"{field} must be less than 60 degrees", angle, IN_RADIANS)


Terms = dict[Coordinate, Any]


def shares_of_wheels(
    radii: Sequence[Any], sign: float, angles: Angles, one: Marker, two: Marker
) -> tuple[Terms, Terms]:
    """What moves two wheels along each other's teeth, and apart, m at the rim.

    sign: 1 for external gears, -1 for a ring gear. The gaps of the two flanks are  apart + along  and
    apart - along,  but for constants, and a multiplier of a gap is the force at the rim. Motion along the
    axes counts at the pitch point, where the force acts: it tilts wheels.
    """
    first, second = radii[0], sign * radii[1]
    both = first + second
    along = {
        Coordinate("azimuth", one, two): first,
        Coordinate("azimuth", two, one): second,
        Coordinate("z", one, two): -angles.axial * first / both,
        Coordinate("z", two, one): angles.axial * second / both,
    }
    apart = {Coordinate("tangent_span", one, two, (angles.base * both,)): sign / angles.base}
    return _present(along), apart


def shares_of_rack(radius: Any, angles: Angles, rack: Marker, pinion: Marker) -> tuple[Terms, Terms]:
    """The same of a rack and its pinion, by the rim of the pinion."""
    side = copysign(1.0, radius)
    along = {
        Coordinate("x", rack, pinion): side,
        Coordinate("theta_z", rack, pinion): -side * radius,
        Coordinate("z", rack, pinion): angles.axial,
        Coordinate("dot_yz", rack, pinion): -radius * angles.axial,
    }
    return _present(along), _present({Coordinate("y", rack, pinion): -side * angles.radial})


def gap(along: Terms, apart: Terms, flank: float) -> tuple[Term, ...]:
    """The gap of a flank, 1 or -1, as terms of a row."""
    return tuple(
        Term(factor * each, coordinate)
        for factor, terms in ((flank, along), (1.0, apart))
        for coordinate, each in terms.items()
    )


def forces_of_teeth(angles: Angles, rim: Any) -> dict[str, tuple[str, Any]]:
    """What results list beside the force at the rim, by that force."""
    return {"radial": ("N", abs(rim) * angles.radial), "axial": ("N", rim * angles.axial)}


def _present(terms: Terms) -> Terms:
    return {coordinate: factor for coordinate, factor in terms.items() if not is_zero(factor)}


@described
class ElasticGear(ForceKind):
    """Two gears with parallel axes whose teeth give: a spring on each flank, along the tooth's normal.

    radii: pitch radii (r1, r2), m. internal: wheel 2 is a ring gear around wheel 1, the pinion.
    stiffness: of the mesh, N/m, along the line of action across the axes. damping: N s/m, of teeth that
        touch; depth: m, how deep they are pressed in before the damping has taken hold. They never pull.
    pressure_angle: across the tooth, rad. helix_angle: on the pitch cylinders, rad, positive where wheel 1
        is right-handed.
    backlash: by how much the rim of wheel 1 turns from flank to flank while wheel 2 stands, m. middle: how
        far it turns from the start, wheel 2 at rest, to where teeth are in the middle of their gaps, m.

    >>> gear = bc.ElasticGear(radii=(0.1, 0.2), stiffness=1e7, damping=1e3)
    >>> teeth = shafts.add_force("teeth", gear, "input shaft", "output shaft")
    >>> run = bc.simulate(shafts, 1.0)
    >>> print((run.joint("output").position[-1, 0] / run.joint("input").position[-1, 0]).round(3))
    -0.5
    """

    radii: tuple[float, float] = array("m", 2, sign="positive")
    stiffness: FloatField = quantity("N/m", "positive")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-6)
    pressure_angle: FloatField = quantity("rad", "not negative", default=radians(20.0), followed=False)
    helix_angle: FloatField = quantity("rad", default=0.0, followed=False)
    backlash: FloatField = quantity("m", "not negative", default=0.0)
    middle: FloatField = quantity("m", default=0.0)
    internal: bool = flag(default=False)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers, z along the wheels' axes"
    meaning: ClassVar[str] = "Two gears whose teeth give, with backlash, and forces along their normals."

    def _judge(self, check: Check) -> None:
        judge_angles(check, self.pressure_angle, self.helix_angle)
        if len(check.faults) == 0 and self.internal and not self.radii[0] < self.radii[1]:
            check.fault("the ring must be larger than its pinion", self.radii)

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A force by formulas: of each flank, pressed in by s, the potential  stiffness s^2/2."""
        angles = angles_of(self.pressure_angle, self.helix_angle)
        one, two = markers(ends)
        along, apart = shares_of_wheels(self.radii, -1.0 if self.internal else 1.0, angles, one, two)
        sought = Symbols()
        potential, efforts = ex.Expression(0.0), {c: ex.Expression(0.0) for c in (*along, *apart)}
        for flank in (1.0, -1.0):
            room, rate = 0.5 * self.backlash + flank * self.middle, ex.Expression(0.0)
            for term in gap(along, apart, flank):
                room = room + term.coefficient * (
                    sought.value(term.coordinate) - sought.start(term.coordinate)
                )
                rate = rate + term.coefficient * sought.rate(term.coordinate)
            pressed = ex.maximum(0.0, -angles.base * room)
            potential = potential + 0.5 * self.stiffness * pressed**2
            force = self.stiffness * pressed
            if not is_zero(self.damping):
                depth = ex.minimum(1.0, pressed / self.depth)
                hold = (3.0 - 2.0 * depth) * depth**2
                force = ex.maximum(0.0, force - self.damping * angles.base * rate * hold)
            for term in gap(along, apart, flank):
                efforts[term.coordinate] = efforts[term.coordinate] + angles.base * term.coefficient * force
        given: dict[str, Any] = {"efforts": tuple(efforts.values())}
        if is_zero(self.damping):
            given = {"potential": potential, "pulls": tuple(efforts.values())}
        known: dict[str, Any] = {"values": sought.unknown, "starts": sought.starts}
        known |= {"rim": self.radii[0], "angles": angles, "tensions": ((0, 1.0),)}
        middle = ex.Expression(0.0) + self.middle
        for coordinate, factor in along.items():
            middle = middle + factor * (sought.value(coordinate) - sought.start(coordinate))
        kind = _Mesh(sought.ends, **known, **given, holds=(middle,))
        return Lowered(custom=kind, ends=sought.coordinates)

    def held_with(self, values: Sequence[float]) -> Self:
        """With teeth where they are in their gaps."""
        return replace(self, middle=values[0])


@dataclass(frozen=True)
class _Mesh(CustomForce, listed=False):
    """Forces of teeth that give. rim: the radius of wheel 1, by whose turn effort the force at the rim is."""

    starts: Any = ()
    pulls: Any = ()
    tensions: Any = ()
    holds: Any = ()
    rim: Any = None
    angles: Any = None
    drum: ClassVar[None] = None

    def quantities(self, motion: Motion) -> dict[str, tuple[str, Any]]:
        """The force at the rim of wheel 1, along its turn, and the other two."""
        rim = -motion.effort[:, 0] / self.rim
        return {"rim": ("N", rim), **forces_of_teeth(self.angles, rim)}


def numbers_of_teeth(check: Check, field: str, value: Any) -> tuple[int, int]:
    """The numbers of teeth of two wheels; faults are noted."""
    first, second = check.array(field, value, (2,)).tolist()
    if min(first, second) <= 0.0:
        check.fault(f"{field} must be greater than zero", value)
    if first != int(first) or second != int(second):
        check.fault(f"{field} must be whole numbers", value)
    return (int(first), int(second))


def bearing_flank(check: Check, field: str, value: Any) -> int:
    """The flank that bears, 1 or -1; faults are noted."""
    found = check.integer(field, value, -1)
    if len(check.faults) == 0 and found not in (1, -1):
        check.fault(f"{field} must be 1 or -1", value)
        return 1
    return found


def judge_teeth(check: Check, kind: Any) -> None:
    """Note faults of the angles of teeth."""
    if len(check.faults) == 0:
        judge_angles(check, kind.pressure_angle or 0.0, kind.helix_angle)
        if kind.pressure_angle is None and kind.helix_angle:
            check.fault("helix_angle without pressure_angle", kind.helix_angle, "give pressure_angle too")
