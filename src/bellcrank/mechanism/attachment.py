"""What is attached to markers and joint coordinates: constraints and forces, and the bases of their kinds.

The kinds stand in files of their own, such as `gears` and `springs`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from bellcrank.mechanism.checking import Check, check_name, kind_meant
from bellcrank.mechanism.coordinate import Coordinate, JointCoordinate
from bellcrank.mechanism.fields import Description
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.rows import Block, Lowered, Row

Attachment: TypeAlias = Marker | JointCoordinate
"""An end of a constraint or force as the mechanism stores it."""

End: TypeAlias = Marker | Coordinate
"""The same with references to joints resolved, as kinds lower them."""


@dataclass(frozen=True)
class AttachedKind(Description, ABC):
    """Base of constraint and force kinds.

    pattern: the ends it takes, as a regular expression over M (marker) and J (joint coordinate).
    named_ends: of these, what a name alone may stand for; the others are given themselves.
    ends_text: the same in words.
    meaning: one sentence.
    """

    pattern: ClassVar[str] = ""
    named_ends: ClassVar[str] = "MJ"
    ends_text: ClassVar[str] = ""
    meaning: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The kind's name, e.g. "Gear"."""
        return type(self).__name__

    def check_ends(self, check: Check, ends: tuple[Attachment, ...]) -> None:
        """Note faults of the ends other than their pattern, such as too many for the kind's parameters."""

    def missing_states(self, _ends: tuple[Attachment, ...]) -> int:
        """How many numbers it integrates for which these ends contain no flywheels (`flywheels.py`)."""
        return 0

    @abstractmethod
    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """Rows, laws and wrenches between the given ends."""

    def held_at(self, _value: float, _ends: tuple[Attachment, ...]) -> Self:
        """The kind with a number for its value from the initial configuration; itself if it has none.

        _value: the rest value of its law, or the constant of its row, as compiled.
        """
        return self


@dataclass(frozen=True)
class Attached:
    """An element of a kind with its ends: a constraint or a force."""

    name: str
    kind: AttachedKind
    ends: tuple[Attachment, ...]
    category: ClassVar[str] = "element"
    kind_class: ClassVar[type[AttachedKind]] = AttachedKind

    def __post_init__(self) -> None:
        check_name(self.category, self.name)
        with Check(f"{self.category} {self.name!r}") as check:
            kind: Any = self.kind  # what a caller gives may be anything
            if not isinstance(kind, self.kind_class):
                check_kind(check, kind, self.kind_class)
                return
            ends = tuple(self.ends)
            letters = "".join(_letter(end) for end in ends)
            for number, end in enumerate(ends, start=1):
                if _letter(end) == "?":
                    check.fault(
                        f"end {number} must be a marker or a joint", end, "use body.marker(...) or a joint"
                    )
            if "?" not in letters and not re.fullmatch(kind.pattern, letters):
                given = ", ".join({"M": "marker", "J": "joint"}[letter] for letter in letters) or "nothing"
                check.fault(f"{kind.name} takes {kind.ends_text}", None, f"given: {given}")
            if len(check.faults) == 0:
                kind.check_ends(check, ends)
            check.store(self, ends=ends)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The ends that are markers."""
        return tuple(end for end in self.ends if isinstance(end, Marker))

    @property
    def joint_coordinates(self) -> tuple[JointCoordinate, ...]:
        """The ends that are joint coordinates."""
        return tuple(end for end in self.ends if isinstance(end, JointCoordinate))

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element

        ends = " – ".join(str(getattr(end, "body", end)) for end in self.ends)
        return element(self.category, self.name, self.kind.name, ends)


def _letter(end: object) -> str:
    return "M" if isinstance(end, Marker) else "J" if isinstance(end, JointCoordinate) else "?"


def pairwise(name: str, ends: tuple[End, ...]) -> Coordinate:
    """The coordinate a kind acts on: the given joint coordinate, or that of this name between two markers."""
    if len(ends) == 1 and isinstance(ends[0], Coordinate):
        return ends[0]
    first, second = markers(ends)
    return Coordinate(name, first, second)


def markers(ends: tuple[End, ...]) -> tuple[Marker, ...]:
    """The ends as markers. Raises TypeError if one is a joint coordinate, which the pattern excludes."""
    found = tuple(end for end in ends if isinstance(end, Marker))
    if len(found) != len(ends):
        raise TypeError("these ends must be markers")
    return found


def check_each_body_once(check: Check, ends: tuple[Attachment, ...]) -> None:
    """Note bodies to which more than one of the ends (markers) belongs."""
    counts = Counter(end.body for end in ends if isinstance(end, Marker))
    for body in (name for name, count in counts.items() if count > 1):
        check.fault("the same body is named twice", body)


def coordinates(ends: tuple[End, ...]) -> tuple[Coordinate, ...]:
    """The ends as coordinates. Raises TypeError if one is a marker, which the pattern excludes."""
    found = tuple(end for end in ends if isinstance(end, Coordinate))
    if len(found) != len(ends):
        raise TypeError("these ends must be joint coordinates")
    return found


class Coupled(NamedTuple):
    """What a run recorded of a constraint.

    time: (T,), s. effort: (T,), N or N m. ends: of each, the coordinate of a joint (T,), m or rad; or where
    its marker is in the world, position (T, 3) and rotation (T, 4).
    """

    time: Any
    effort: Any
    ends: tuple[Any, ...]


CONSTRAINT_KINDS: dict[str, type[ConstraintKind]] = {}
"""Every constraint kind by name. All are frozen dataclasses."""


@dataclass(frozen=True)
class ConstraintKind(AttachedKind):
    """Base of all constraint kinds.

    >>> gear = shafts.add_constraint("gear", bc.Gear(teeth=(20, 60)), "input", "output")
    >>> isinstance(gear.kind, bc.ConstraintKind), gear.kind.name
    (True, 'Gear')
    """

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            CONSTRAINT_KINDS[cls.__name__] = cls

    @abstractmethod
    def rows(self, ends: tuple[End, ...]) -> tuple[Row, ...]:
        """The rows between the given ends."""

    def losses(self, _name: str, _ends: tuple[End, ...]) -> Lowered | None:
        """Dry friction that grows with what its rows transmit, which results list as a force of its name."""
        return None

    @property
    def unilateral(self) -> bool:
        """Whether the rows are inequalities C >= 0 instead of equations C = 0."""
        return False

    def effort_sign(self, _row: Row) -> float:
        """What the multiplier of a row is multiplied by to be its effort in results.

        An effort is positive where it drives the coordinate of the first end up.
        """
        return 1.0

    def effort_name(self, _number: int) -> str:
        """What results call the effort of its row of this number, from 0; "" calls it as its coordinates."""
        return ""

    def effort_unit(self, _units: Collection[str]) -> str:
        """Unit of its effort if it acts on coordinates in these units: "N" or "N m"."""
        return "N" if "m" in _units else "N m"

    def quantities(self, _motion: Coupled) -> dict[str, tuple[str, Any]]:
        """Further results of a run by name, such as a pressure: their units, and their values (T,)."""
        return {}

    def lowered(self, ends: tuple[End, ...]) -> Lowered:
        """One block with the kind's rows."""
        return Lowered((Block("constraint", self.rows(ends), unilateral=self.unilateral),))


@dataclass(frozen=True)
class Constraint(Attached):
    """A constraint of some kind between its ends.

    >>> gear = shafts.add_constraint("gear", bc.Gear(teeth=(20, 60)), "input", "output")
    >>> gear.name, gear.kind.teeth, [end.joint for end in gear.joint_coordinates]
    ('gear', (20, 60), ['input', 'output'])
    """

    kind: ConstraintKind
    category: ClassVar[str] = "constraint"
    kind_class: ClassVar[type[AttachedKind]] = ConstraintKind


class Motion(NamedTuple):
    """What a run recorded of a force.

    time: (T,), s. value, rate, effort: (T, k), of its laws one after the other: the values of their
    coordinates, m or rad, with their rates, and their efforts, N or N m.
    """

    time: Any
    value: Any
    rate: Any
    effort: Any


FORCE_KINDS: dict[str, type[ForceKind]] = {}
"""Every force kind by name. All are frozen dataclasses."""


@dataclass(frozen=True)
class ForceKind(AttachedKind):
    """Base of all force kinds.

    >>> spring = block.add_force("spring", bc.TorsionSpring(1000.0), "guide")
    >>> isinstance(spring.kind, bc.ForceKind), spring.kind.name
    (True, 'TorsionSpring')
    """

    def __init_subclass__(cls, listed: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if listed and not cls.__name__.startswith("_"):
            FORCE_KINDS[cls.__name__] = cls

    def quantities(self, _motion: Motion) -> dict[str, tuple[str, Any]]:
        """Further results of a run by name, such as a pressure: their units, and their values (T,)."""
        return {}


@dataclass(frozen=True)
class Force(Attached):
    """A force of some kind between its ends.

    >>> spring = block.add_force("spring", bc.SpringDamper(1000.0), block.ground.marker((0, 0, 1)), "block")
    >>> spring.kind.stiffness, [marker.body for marker in spring.markers]
    (1000.0, ['ground', 'block'])
    """

    kind: ForceKind
    category: ClassVar[str] = "force"
    kind_class: ClassVar[type[AttachedKind]] = ForceKind


def check_kind(check: Check, kind: Any, wanted: type) -> None:
    """Note a fault of anything but a kind of the wanted class."""
    advice = ""
    if wanted is ForceKind:
        advice = kind_meant(kind, FORCE_KINDS, "bc.Wrench(force=(0, 0, 10))")
    elif wanted is ConstraintKind:
        advice = kind_meant(kind, CONSTRAINT_KINDS, "bc.Gear(ratio=-2)")
    check.instance("the kind", kind, wanted, advice)
