"""Flexures: leaf springs between two bodies, in the arrangements of which hinges and guides are made.

A leaf is a beam that is clamped at both ends and bends about the width of its sheet. `Mechanism.add_flexure`
makes the beams; the kinds below say where they are, and how stiff the flexure is about its unloaded place.

Stiffness under load. Let the second body turn by θ about the place where the leaves meet, μ L before the end
of a leaf of length L that is clamped to it. The end moves by δ = μ L θ across the leaf and turns by θ. A leaf
does not stretch, so its end moves back along it by the shortening s of its bent axis, of second order in θ;
turning alone moves it back by μ L θ²/2, and the rest, c, is how far the meeting place of the body itself
moves. With the tension P of a leaf, positive where it is pulled, the potential is that of bending plus
P (s − μ L θ²/2), and bending plus P s is least in the shape of a beam that is loaded along its axis too:

    K = Σ over leaves of  k₁₁ μ² L² + 2 k₁₂ μ L + k₂₂ − P μ L,

with the stiffness k₁₁, k₁₂, k₂₂ of that beam against δ and θ at its end (S. P. Timoshenko, J. M. Gere, Theory
of Elastic Stability, 1961, section 1.11). Without load K = 8 EI/L (1 − 3 μ + 3 μ²) for two leaves, and loads
change nothing to first order where μ (1 − μ) = 1/9, at μ = 0.127 (W. H. Wittrick, The properties of crossed
flexure pivots, and the influence of the point at which the strips cross, Aeronaut. Quart. 2, 1951).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from cmath import cosh, sinh, sqrt
from dataclasses import dataclass
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bellcrank.errors import FaultList, MechanismError
from bellcrank.expression import functions
from bellcrank.mechanism.beam_parts import add_beam
from bellcrank.mechanism.beams import Beam
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.fields import Description, checked, described, quantity, whole
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.joining import carriers
from bellcrank.mechanism.parameters import is_expression, present
from bellcrank.mechanism.rotation import named_axis
from bellcrank.mechanism.section import Section
from bellcrank.slips import answering

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

_SMALL: Final = 0.05  # of P L²/EI: below, series are more exact than closed forms
_LEAST: Final = 3.0  # thicknesses: a shorter leaf is none


class Leaf(NamedTuple):
    """One leaf of a flexure: what is added to the name of the flexure, and its two ends in the world, m."""

    suffix: str
    start: Any
    end: Any


def _sheet(check: Check, name: str, value: Any) -> Any:
    advice = "such as bc.Section.rectangle(width, thickness, E=..., nu=..., density=...)"
    return check.instance(name, value, Section, advice)


@answering
@dataclass(frozen=True)
class FlexureKind(Description, ABC):
    """What flexures have in common: see `LeafSpring`, `CrossSpring` and `ParallelGuide`.

    >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
    >>> isinstance(bc.LeafSpring(sheet, length=0.1), bc.FlexureKind)
    True
    """

    if TYPE_CHECKING:  # fields of all kinds

        @property
        def sheet(self) -> Any:
            """The section of a leaf."""

        @property
        def length(self) -> Any:
            """Of a leaf, m."""

        @property
        def segments(self) -> Any:
            """Of a leaf."""

        @property
        def damping(self) -> Any:
            """Of a leaf, s."""

    def _judge(self, check: Check) -> None:
        if len(check.faults) > 0:
            return
        easy, hard = (present(one) for one in self.sheet.EI)
        if easy > hard:
            sizes = f"EI is {easy:.4g} N m^2 about its width, {hard:.4g} N m^2 across it"
            rule = f"the sheet is given inside out: {sizes}"
            check.fault(rule, None, "its width comes first: bc.Section.rectangle(width, thickness, ...)")
        size = _thickness(self.sheet)
        if size is not None and present(self.length) < _LEAST * size:
            rule = f"length must be at least {_LEAST:g} thicknesses of the sheet, {_LEAST * size:.4g} m"
            check.fault(rule, present(self.length), "a shorter leaf does not bend as one")

    @abstractmethod
    def leaves(self, at: Vec3, axis: Vec3, along: Vec3) -> tuple[Leaf, ...]:
        """The leaves of a flexure at a place of the world, m, with the unit vectors of its directions.

        >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
        >>> guide = bc.ParallelGuide(sheet, length=0.1, spacing=0.06)
        >>> for leaf in guide.leaves((0, 0, 0), axis=(0, 1, 0), along=(0, 0, 1)):
        ...     print(leaf)
        Leaf(suffix=' 1', start=(0.03, 0.0, -0.05), end=(0.03, 0.0, 0.05))
        Leaf(suffix=' 2', start=(-0.03, 0.0, -0.05), end=(-0.03, 0.0, 0.05))
        """

    @abstractmethod
    def stiffness(self, load: float = 0.0) -> float:
        """About the unloaded place, N m/rad or N/m, under a load from the first to the second body, N.

        >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
        >>> pivot = bc.CrossSpring(sheet, length=0.1, crossing=0.0)
        >>> print(f"{pivot.stiffness():.4f} N m/rad, by hand {8 * sheet.EI[0] / 0.1:.4f} N m/rad")
        3.3333 N m/rad, by hand 3.3333 N m/rad
        """

    def _ends(self, load: float) -> tuple[float, float, float]:
        """k₁₁, k₁₂, k₂₂ of a leaf, N/m, N and N m, under a tension, N."""
        length, stiff = present(self.length), present(self.sheet.EI[0])
        across, both, turning = end_stiffness(load * length**2 / stiff)
        return across * stiff / length**3, both * stiff / length**2, turning * stiff / length


def _thickness(sheet: Section) -> float | None:
    """The size of a sheet across its width, m; None if its sizes are not known."""
    sizes = [present(getattr(sheet, name)) for name in ("height", "diameter") if hasattr(sheet, name)]
    return min(sizes) if sizes else None


def end_stiffness(tension: float) -> tuple[float, float, float]:
    """Stiffness against δ and θ at one end of a beam, the other one clamped, by EI/L³, EI/L² and EI/L.

    tension: by EI/L²; negative for a thrust.
    """
    if abs(tension) < _SMALL:
        p = tension
        return (
            12.0 + 6.0 / 5.0 * p - p**2 / 700.0 + p**3 / 63000.0,
            -6.0 - p / 10.0 + p**2 / 1400.0 - p**3 / 126000.0,
            4.0 + 2.0 / 15.0 * p - 11.0 * p**2 / 6300.0 + p**3 / 27000.0,
        )
    u = sqrt(tension)
    c, s = cosh(u), sinh(u)
    under = 2.0 - 2.0 * c + u * s
    found = (u**3 * s, -(u**2) * (c - 1.0), u * (u * c - s))
    across, both, turning = ((one / under).real for one in found)
    return across, both, turning


@described
class LeafSpring(FlexureKind):
    """A leaf spring: one sheet that is clamped to two bodies.

    sheet: a section, its width along the axis of the flexure. length: between the clamps, m.
    segments, damping: of the leaf, as of `Beam`.

    The place of the flexure is the middle of the leaf, about which it turns where a moment alone bends it.

    >>> steel = {"E": 200e9, "nu": 0.3, "density": 7850}
    >>> leaf = bc.LeafSpring(bc.Section.rectangle("20 mm", "0.5 mm", **steel), length="50 mm")
    >>> print(f"{leaf.stiffness():.4f} N m/rad")    # EI/L
    0.8333 N m/rad
    """

    sheet: Section = checked(_sheet)
    length: FloatField = quantity("m", "positive")
    segments: int = whole(2, default=8)
    damping: FloatField = quantity("s", "not negative", default=0.0)

    def leaves(self, at: Vec3, axis: Vec3, along: Vec3) -> tuple[Leaf, ...]:  # noqa: ARG002
        """One, about the place."""
        return (Leaf("", *_leaf(at, along, self.length, 0.5)),)

    def stiffness(self, load: float = 0.0) -> float:
        """Moment per turn of the second body, N m/rad, where that is free to move.

        load: a force along the leaf on the second body, N, which pulls where it is positive.

        >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
        >>> leaf = bc.LeafSpring(sheet, length=0.05)
        >>> round(leaf.stiffness(-np.pi**2 * sheet.EI[0] / (2 * 0.05) ** 2), 9)    # Euler's load
        0.0
        """
        across, both, turning = self._ends(load)
        return turning - both**2 / across


@described
class CrossSpring(FlexureKind):
    """A cross-spring pivot: two sheets that cross, a hinge without play or friction.

    sheet: a section, its width along the axis of the flexure. length: of a leaf between its clamps, m.
    angle: between the leaves, rad, below pi. crossing: how far from the first body they cross, by their
        length; below 0 and above 1 they would meet if they were longer. apart: the distance of their middles
        along the axis, m: 0 for leaves that pass through one another, as those of plane theory do.
    segments, damping: of a leaf, as of `Beam`.

    The place of the flexure is where the leaves cross.

    >>> steel = {"E": 200e9, "nu": 0.3, "density": 7850}
    >>> sheet = bc.Section.rectangle("20 mm", "0.5 mm", **steel)
    >>> pivot = bc.CrossSpring(sheet, length="100 mm", angle="90 deg")
    >>> print(f"{pivot.stiffness():.4f} N m/rad")    # 2 EI/L
    0.8333 N m/rad
    """

    sheet: Section = checked(_sheet)
    length: FloatField = quantity("m", "positive")
    angle: FloatField = quantity("rad", "positive", default=0.5 * pi)
    crossing: FloatField = quantity("1", default=0.5)
    apart: FloatField = quantity("m", "not negative", default=0.0)
    segments: int = whole(2, default=8)
    damping: FloatField = quantity("s", "not negative", default=0.0)

    def _judge(self, check: Check) -> None:
        super()._judge(check)
        if len(check.faults) == 0 and present(self.angle) >= pi:
            check.fault("angle must be less than half a turn", present(self.angle), "such as '90 deg'")

    def leaves(self, at: Vec3, axis: Vec3, along: Vec3) -> tuple[Leaf, ...]:
        """Two, at half the angle on either side of the line between the bodies."""
        half, side = 0.5 * self.angle, np.cross(axis, along)
        ahead, aside = _cos(half), _sin(half)
        found = []
        for number, sign in ((1, 1.0), (2, -1.0)):
            way: Any = tuple(ahead * a + sign * aside * b for a, b in zip(along, side.tolist(), strict=True))
            middle: Any = tuple(p + 0.5 * sign * self.apart * a for p, a in zip(at, axis, strict=True))
            found.append(Leaf(f" {number}", *_leaf(middle, way, self.length, self.crossing)))
        return tuple(found)

    def stiffness(self, load: float = 0.0) -> float:
        """Moment per turn of the second body about where the leaves cross, N m/rad.

        load: a force on the second body there, N, away from the first one where it is positive.

        >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
        >>> middle, steady = (bc.CrossSpring(sheet, 0.1, crossing=one) for one in (0.5, 0.1273))
        >>> print(*(f"{middle.stiffness(load):.3f}" for load in (-1.0, 0.0, 1.0)))
        0.857 0.833 0.810
        >>> print(*(f"{steady.stiffness(load):.3f}" for load in (-1.0, 0.0, 1.0)))    # Wittrick
        2.222 2.222 2.222
        """
        rest = (1.0 - present(self.crossing)) * present(self.length)
        pull = load / (2.0 * cos(0.5 * present(self.angle)))
        across, both, turning = self._ends(pull)
        return 2.0 * (across * rest**2 + 2.0 * both * rest + turning - pull * rest)


@described
class ParallelGuide(FlexureKind):
    """A parallel guide: two sheets side by side, between which the second body moves across them.

    sheet: a section, its width along the axis of the flexure. length: of a leaf between its clamps, m.
    spacing: of the leaves across the axis, m. segments, damping: of a leaf, as of `Beam`.

    The place of the flexure is its middle. Moved by d the second body comes nearer to the first one by
    3 d²/(5 L), where that is small.

    >>> steel = {"E": 200e9, "nu": 0.3, "density": 7850}
    >>> sheet = bc.Section.rectangle("20 mm", "0.5 mm", **steel)
    >>> guide = bc.ParallelGuide(sheet, length="100 mm", spacing="60 mm")
    >>> print(f"{guide.stiffness():.1f} N/m")    # 24 EI/L^3
    1000.0 N/m
    """

    sheet: Section = checked(_sheet)
    length: FloatField = quantity("m", "positive")
    spacing: FloatField = quantity("m", "positive")
    segments: int = whole(2, default=8)
    damping: FloatField = quantity("s", "not negative", default=0.0)

    def leaves(self, at: Vec3, axis: Vec3, along: Vec3) -> tuple[Leaf, ...]:
        """Two, half the spacing to either side."""
        side = np.cross(axis, along).tolist()
        found = []
        for number, sign in ((1, 1.0), (2, -1.0)):
            middle: Any = tuple(p + 0.5 * sign * self.spacing * b for p, b in zip(at, side, strict=True))
            found.append(Leaf(f" {number}", *_leaf(middle, along, self.length, 0.5)))
        return tuple(found)

    def stiffness(self, load: float = 0.0) -> float:
        """Force per motion of the second body across the leaves, N/m, where it does not turn.

        load: a force on the second body, N, away from the first one where it is positive.

        >>> sheet = bc.Section.rectangle(0.02, 5e-4, E=200e9, nu=0.3, density=7850)
        >>> guide = bc.ParallelGuide(sheet, length=0.1, spacing=0.06)
        >>> round(guide.stiffness(-2 * np.pi**2 * sheet.EI[0] / 0.1**2), 9)    # it buckles
        0.0
        """
        return 2.0 * self._ends(0.5 * load)[0]


def _leaf(at: Any, way: Any, length: Any, part: Any) -> tuple[Any, Any]:
    """The ends of a leaf along a unit vector, a place on it being a part of its length from the start."""
    start = tuple(p - part * length * a for p, a in zip(at, way, strict=True))
    return start, tuple(p + length * a for p, a in zip(start, way, strict=True))


def _cos(x: Any) -> Any:
    return functions.cos(x) if is_expression(x) else cos(x)


def _sin(x: Any) -> Any:
    return functions.sin(x) if is_expression(x) else sin(x)


def add_flexure(
    mechanism: Mechanism, name: str, kind: Any, bodies: Any, at: Any, axis: Any, along: Any
) -> tuple[Beam, ...]:
    """See Mechanism.add_flexure."""
    element, faults = f"flexure {name!r}", FaultList()
    with faults.collect(), Check(element) as check:
        advice = "such as bc.LeafSpring(...), bc.CrossSpring(...) or bc.ParallelGuide(...)"
        kind = check.instance("kind", kind, FlexureKind, advice)
        place = check.vector("at", at, "m")
        ways = [check.axis(word, named_axis(one)) for word, one in (("axis", axis), ("along", along))]
        if len(check.faults) == 0 and abs(np.dot(ways[0], ways[1])) > 1e-9:
            check.fault("along must be perpendicular to axis", along, "it leads to the second body")
    ends = carriers(mechanism, element, bodies, faults)
    if len(ends) > 2:
        faults.add(element, "a flexure joins two bodies", [end.name for end in ends], "add another one")
    faults.raise_any()
    turned, ahead = ways
    first, second = ends
    up = tuple((-np.cross(turned, ahead)).tolist())  # so that widths, y of sections, are along the axis
    made: list[Beam] = []
    try:
        for leaf in kind.leaves(place, turned, ahead):
            clamps = first.world_marker(leaf.start), second.world_marker(leaf.end)
            given = {"segments": kind.segments, "damping": kind.damping, "up": up}
            made.append(add_beam(mechanism, name + leaf.suffix, kind.sheet, *clamps, **given))
    except MechanismError:
        for beam in made:
            mechanism.remove(beam, cascade=True)
        raise
    return tuple(made)
