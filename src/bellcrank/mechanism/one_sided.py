"""Forces that act on one side only: rubber strings, springs against a stop, points that stay above ground."""

from __future__ import annotations

from typing import ClassVar

from bellcrank.mechanism.attachment import End, markers, pairwise
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.fields import choice, described, fraction, quantity
from bellcrank.mechanism.force import ForceKind
from bellcrank.mechanism.given import FloatField
from bellcrank.mechanism.marker import GROUND, Marker
from bellcrank.mechanism.rows import Law, Lowered

_DIRECTIONS = {"below": 1.0, "above": -1.0}


@described
class RubberString(ForceKind):
    """A string between two markers that pulls and never pushes.

    stiffness: N/m, not negative. rest_length: below it the string is slack, m.
    restitution: part of the tension that is left while the markers approach each other, 0 to 1. At 1 the
        string is a spring that only pulls; below, it takes energy out of every swing.
    closing_speed: speed of approach over which the tension falls to that part, along a cubic, m/s. It is full
        where the markers are at rest to each other.

    P. Schröder, The Virtual Erector Set (1990), section 7.2.
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    rest_length: FloatField = quantity("m", "not negative")
    restitution: FloatField = fraction(default=1.0)
    closing_speed: FloatField = quantity("m/s", "positive", default=0.1)
    pattern: ClassVar[str] = "MM"
    ends_text: ClassVar[str] = "two markers"
    meaning: ClassVar[str] = "A string that pulls only, and less while it shortens."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A rubber law on the distance."""
        return Lowered(laws=(Law.of(self, "rubber", pairwise("distance", ends), rest=self.rest_length),))


@described
class OneSidedSpring(ForceKind):
    """A spring and damper that acts on one side of a value, pushes away from it, and never pulls.

    stiffness: N/m or N m/rad, not negative. contact: the value where it begins, m or rad.
    side: "below" or "above" that value.
    damping: N s/m or N m s/rad. depth: how far beyond the contact the damping has its full value, m or rad;
        it rises along a cubic, so that an arrival at speed meets no jump of the force.
    """

    stiffness: FloatField = quantity("N/m or N m/rad", "not negative")
    contact: FloatField = quantity("m or rad")
    side: str = choice(_DIRECTIONS, default="below")
    damping: FloatField = quantity("N s/m or N m s/rad", "not negative", default=0.0)
    depth: FloatField = quantity("m or rad", "positive", default=1e-3)
    pattern: ClassVar[str] = "MM|J"
    ends_text: ClassVar[str] = "two markers or one joint"
    meaning: ClassVar[str] = "A spring and damper on one side of a distance, travel or angle: a soft stop."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the distance or the joint coordinate."""
        law = Law.of(self, "one_sided", pairwise("distance", ends), direction=_DIRECTIONS[self.side])
        return Lowered(laws=(law,))


@described
class SupportPoint(ForceKind):
    """A spring and damper that keep a point of a body from going below the ground: a foot, a wheel.

    stiffness: N/m, not negative. damping: N s/m. height: of the ground, world z, m.
    depth: how far below the ground the damping has its full value, m.
    It pushes along world z, without friction, and never pulls.

    P. Schröder, The Virtual Erector Set (1990), section 6.6.
    """

    stiffness: FloatField = quantity("N/m", "not negative")
    damping: FloatField = quantity("N s/m", "not negative", default=0.0)
    height: FloatField = quantity("m", default=0.0)
    depth: FloatField = quantity("m", "positive", default=1e-3)
    pattern: ClassVar[str] = "M"
    ends_text: ClassVar[str] = "one marker"
    meaning: ClassVar[str] = "A spring and damper that keep a point above the ground."

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """A one-sided law on the height of the marker."""
        (point,) = markers(ends)
        above, up = Coordinate("z", Marker(GROUND), point), _DIRECTIONS["below"]
        return Lowered(laws=(Law.of(self, "one_sided", above, contact=self.height, direction=up),))
