"""Joints: which coordinates of a marker pair are locked and which are free, and their stops.

A joint kind is one description line in `joint_kinds.py` or `motor_joints.py`, or a class there.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any, ClassVar

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.checking import Check, are_pairs, check_name, kind_meant
from bellcrank.mechanism.coordinate import (
    MIRRORED,
    Coordinate,
    JointCoordinate,
    coordinate,
    coordinate_kind,
    stands_still,
    unit_of,
)
from bellcrank.mechanism.fields import Description, checked, declarations, described, fraction, quantity
from bellcrank.mechanism.given import FloatField, OptionalFloatField
from bellcrank.mechanism.marker import Marker
from bellcrank.mechanism.parameters import holds_expressions, present
from bellcrank.mechanism.rows import Block, Lowered, Row, Term, lock
from bellcrank.mechanism.units import unit_along
from bellcrank.slips import answering


@described
class Limit(Description):
    """Stops that keep a coordinate between two values.

    lower, upper: rad or m; None leaves that side free. At least one must be given, and lower < upper.
    restitution: ratio of the speeds after and before hitting a stop, 0 (none) to 1 (elastic).

    >>> stop = bc.Limit(lower=-0.5, restitution=0.5)
    >>> guide = block.replace(block.joints["guide"], limits=stop)
    >>> run = bc.simulate(block, 0.6)
    >>> hit = run.events[0]
    >>> print(f"{hit.time:.4f} s, by hand {np.sqrt(2 * 0.5 / 9.81):.4f} s")
    0.3193 s, by hand 0.3193 s
    """

    lower: OptionalFloatField = quantity("rad or m", default=None)
    upper: OptionalFloatField = quantity("rad or m", default=None)
    restitution: FloatField = fraction(default=0.0)

    def _judge(self, check: Check) -> None:
        if self.lower is None and self.upper is None:
            check.fault("a limit needs a lower or an upper value")
        low, high = (-inf if self.lower is None else self.lower, inf if self.upper is None else self.upper)
        if len(check.faults) == 0 and low >= high:
            check.fault("lower must be less than upper", (low, high), "to hold a value fixed use a drive")

    def lowered(self, coordinate: Coordinate) -> tuple[Block, ...]:
        """One unilateral row for each stop:  coordinate - lower >= 0  and  upper - coordinate >= 0."""
        blocks = []
        if self.lower is not None:
            row = Row((Term(1.0, coordinate),), self.lower)
            blocks.append(Block("limit_lower", (row,), unilateral=True, restitution=self.restitution))
        if self.upper is not None:
            row = Row((Term(-1.0, coordinate),), -self.upper)
            blocks.append(Block("limit_upper", (row,), unilateral=True, restitution=self.restitution))
        return tuple(blocks)


JOINT_KINDS: dict[str, type[JointKind]] = {}
"""Every joint kind by name, in the order of the lists. All are frozen dataclasses."""

STARTS = ("position", "velocity", "guess")
"""The fields that say where a joint starts."""


@dataclass(frozen=True)
class JointKind(Description):
    """Base of all joint kinds.

    locked: coordinates that are locked at zero, by name.
    free: the remaining coordinates, by name: the joint's position and velocity in results.
    own: the rows beyond those locks, in words.
    meaning: one sentence.
    custom: of kinds that are given by formulas, the kind itself.
    shorthand: True for kinds that stand for a plain joint and drives, and are no joints themselves.
    massless_rod: whether it stands for a rod, which takes hold of each body at its own marker.

    >>> kind = pendulum.joints["hinge"].kind
    >>> isinstance(kind, bc.JointKind), kind.locked, kind.free
    (True, ('x', 'y', 'z', 'e1', 'e2'), ('theta_z',))
    """

    locked: ClassVar[tuple[str, ...]] = ()
    free: ClassVar[tuple[str, ...]] = ()
    own: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    shorthand: ClassVar[bool] = False
    massless_rod: ClassVar[bool] = False
    custom: ClassVar[object | None] = None

    @property
    def name(self) -> str:
        """The kind's name, e.g. "Revolute"."""
        return type(self).__name__

    @classmethod
    @cache
    def only_locks(cls) -> bool:
        """Whether all rows are locks of coordinates that have no parameters."""
        names = (*cls.locked, *cls.free)
        kinds = [kind for name in names if (kind := coordinate_kind(name)) is not None]
        own = cls.rows, cls.coordinate, cls.params
        return (
            bool(cls.locked)
            and cls.custom is None
            and own == (JointKind.rows, JointKind.coordinate, JointKind.params)
            and not any(name.startswith(MIRRORED) for name in names)
            and not any(kind.has_params for kind in kinds)
        )

    def params(self, _coordinate_name: str) -> tuple[float, ...]:
        """The parameters of the coordinate of that name; none for most."""
        return ()

    def coordinate(self, name: str, marker_1: Marker, marker_2: Marker) -> Coordinate:
        """The coordinate of that name between the joint's markers."""
        return coordinate(name, marker_1, marker_2, self.params(name))

    def rows(self, marker_1: Marker, marker_2: Marker) -> tuple[Row, ...]:
        """The constraint rows of the joint."""
        return tuple(lock(self.coordinate(name, marker_1, marker_2)) for name in self.locked)


def register(kind: type[JointKind]) -> type[JointKind]:
    """Enter a joint kind into the registry; refuses duplicate names and coordinates that do not exist."""
    name = kind.__name__
    if name in JOINT_KINDS:
        raise ValueError(f"the joint kind {name!r} exists already")
    for coordinate_name in (*kind.locked, *kind.free):
        if coordinate_kind(coordinate_name) is None:
            raise ValueError(f"joint kind {name!r}: {coordinate_name!r} is not a coordinate")
    JOINT_KINDS[name] = kind
    return kind


def joint_kind(name: str, locked: str, free: str, meaning: str, module: str | None = None) -> type[JointKind]:
    """Create a new joint kind from its description line and enter it into the registry.

    locked, free: coordinate names, separated by blanks. The rows of `locked` must be independent, and
    together with `free` they must determine the whole relative pose. module: the one that defines
    the kind under its name, where pickle looks for it; by default that of the caller.

    >>> Rail = bc.joint_kind("Rail", "y z e1 e2 e3", "x", "Slides along x without any turn.")
    >>> rail = cube.add_joint("rail", Rail(), "ground", "cube", velocity=2.0)
    >>> print(bc.simulate(cube, 1.0).body("cube").position[-1].round(6), bc.info(cube).freedom)    # m
    [2. 0. 0.] 1
    """
    body = {
        "locked": tuple(locked.split()),
        "free": tuple(free.split()),
        "meaning": meaning,
        "__doc__": meaning,
        "__module__": module or sys._getframe(1).f_globals["__name__"],  # noqa: SLF001 (as namedtuple does)
    }
    return register(dataclass(frozen=True)(type(name, (JointKind,), body)))


@answering
@dataclass(frozen=True)
class Joint:
    """A joint between a marker on the first (proximal) body and one on the second.

    limits: pairs (coordinate name, Limit).
    position, velocity: given initial values and rates of coordinates: pairs (coordinate name, value), rad or
        m, rad/s or m/s. A number is enough for one free coordinate, a list for several; a mapping from names
        is accepted, too.
    guess: the same of coordinates that start there if constraints allow it, else as near as they do; of
        angles with the whole turns that come nearest.

    >>> hinge = pendulum.joints["hinge"]
    >>> hinge.kind.name, hinge.marker_1.body, hinge.marker_2.body
    ('Revolute', 'ground', 'rod')
    >>> started = pendulum.replace(hinge, position=-np.pi / 2, velocity=3.0)    # hanging, with a push
    >>> print(bc.simulate(pendulum, 0.1).joint("hinge").velocity[0])    # rad/s
    [3.]
    """

    name: str
    kind: JointKind
    marker_1: Marker
    marker_2: Marker
    limits: tuple[tuple[str, Limit], ...] = ()
    position: tuple[tuple[str, float], ...] = checked(unit="rad or m", default=())
    velocity: tuple[tuple[str, float], ...] = checked(unit="rad/s or m/s", default=())
    guess: tuple[tuple[str, float], ...] = checked(unit="rad or m", default=())

    def __post_init__(self) -> None:
        check_name("joint", self.name)
        if not self._is_plain():
            self._check()

    def _is_plain(self) -> bool:
        """Whether there is nothing to check: a joint between markers without limits and initial values."""
        return (
            isinstance(self.marker_1, Marker)
            and isinstance(self.marker_2, Marker)
            and isinstance(self.kind, JointKind)
            and not self.kind.shorthand
            and all(type(v) is tuple and not v for v in (self.limits, *(getattr(self, s) for s in STARTS)))
        )

    def _check(self) -> None:
        with Check(f"joint {self.name!r}") as check:
            check.instance(
                "the kind", self.kind, JointKind, kind_meant(self.kind, JOINT_KINDS, "bc.Revolute()")
            )
            if isinstance(self.kind, JointKind) and self.kind.shorthand:
                check.fault(
                    f"{self.kind.name} stands for a joint and a drive", None, "use mech.add_joint(...)"
                )
            for which in ("marker_1", "marker_2"):
                marker = getattr(self, which)
                if not isinstance(marker, Marker):
                    check.fault(
                        f"{which} is missing: a joint takes hold of two markers",
                        marker,
                        "use body.marker(...)",
                    )
            if len(check.faults) == 0:
                with check.faults.collect():
                    object.__setattr__(self, "limits", self._checked_limits(self.limits))
                for which in STARTS:
                    with check.faults.collect():
                        object.__setattr__(self, which, self._checked_start(which, getattr(self, which)))
            if len(check.faults) == 0:
                for name in dict(self.position).keys() & dict(self.guess).keys():
                    rule = "a coordinate starts exactly at its position, or about at its guess, not both"
                    check.fault(rule, name, "leave one of them out")

    def _checked_limits(self, limits: Any) -> tuple[tuple[str, Limit], ...]:
        with Check(f"joint {self.name!r}") as check:
            if limits is None:
                return ()
            if isinstance(limits, Limit):
                if len(self.kind.free) != 1:
                    advice = f"give {{coordinate: limit}}; free are {', '.join(self.kind.free) or 'none'}"
                    check.fault(
                        "a single limit needs a joint with a single free coordinate", self.kind.name, advice
                    )
                limits = {self.kind.free[0]: limits} if self.kind.free else {}
            pairs = list(limits.items()) if isinstance(limits, Mapping) else limits
            if not isinstance(pairs, (tuple, list)) or any(
                not isinstance(p, tuple) or len(p) != 2 for p in pairs
            ):
                advice = "such as bc.Limit(-1.0, 1.0)"
                check.fault("limits must be a Limit or a mapping from coordinates to limits", limits, advice)
                return ()
            if len({name for name, _ in pairs}) < len(pairs):
                check.fault("there are two limits on one coordinate", [name for name, _ in pairs])
            for name, limit in pairs:
                check.instance(f"the limit of {name!r}", limit, Limit)
                with check.faults.collect():
                    self.coordinate_name(name)
        return tuple((self.coordinate_name(name), limit) for name, limit in pairs)

    def _checked_start(self, which: str, given: Any) -> tuple[tuple[str, float], ...]:
        """Initial values as pairs of coordinate names and numbers."""
        free = self.kind.free
        noun = which if which == "guess" else f"initial {which}"
        with Check(f"joint {self.name!r}") as check:
            pairs = () if given is None else given
            if isinstance(given, Mapping):
                pairs = tuple(given.items())
            elif not are_pairs(pairs):
                several = getattr(given, "ndim", 1) and isinstance(given, (tuple, list, np.ndarray))
                values = given if several else [given]
                if len(values) != len(free):
                    rule = f"the {noun} must have a number for each free coordinate"
                    has = f"{self.kind.name} has {', '.join(free) or 'none'}"
                    advice = f"{has}; or give {{coordinate: number}}"
                    check.fault(rule, given, advice)
                    return ()
                pairs = tuple(zip(free, values, strict=True))
            found: dict[str, float] = {}
            for name, value in pairs:
                with check.faults.collect():
                    known = self.coordinate_name(name)
                    if known in found:
                        check.fault(f"the {noun} of a coordinate is given twice", name)
                    unit = unit_along(declarations(Joint)[which].unit, unit_of(self.kind, known))
                    number = check.number(f"the {noun} of {known!r}", present(value), unit)
                    found[known] = value if holds_expressions(value) else number
        return tuple(found.items())

    def _repr_html_(self) -> str:
        from bellcrank.mechanism.html import element

        return element("joint", self.name, self.kind.name, f"{self.marker_1.body} – {self.marker_2.body}")

    def coordinate_name(self, which: str | int | None = None) -> str:
        """The name of one of the joint's coordinates, from its name or number, or by default.

        By default it is the only free coordinate. Any coordinate of the marker pair that the joint does not
        lock may be named, e.g. "distance". Raises MechanismError if the choice is ambiguous or impossible.

        >>> pendulum.joints["hinge"].coordinate_name(None), slider_crank.joints["guide"].coordinate_name(0)
        ('theta_z', 'z')
        """
        element, free = f"joint {self.name!r}", self.kind.free
        has = f"{self.kind.name} has {', '.join(free) or 'no free coordinates'}"
        if which is None:
            if len(free) != 1:
                raise MechanismError.of(
                    element, "it is not clear which coordinate is meant", None, f"{has}; name one"
                )
            return free[0]
        if isinstance(which, int) and not isinstance(which, bool):
            if not 0 <= which < len(free):
                raise MechanismError.of(element, "there is no free coordinate of this number", which, has)
            return free[which]
        if isinstance(which, str) and which in free:
            return which
        if not isinstance(which, str) or coordinate_kind(which) is None:
            raise MechanismError.of(element, "this is not a coordinate", which, has)
        if rule := self._obstacle(which):
            raise MechanismError.of(element, rule, which, has)
        return which

    def _obstacle(self, which: str) -> str | None:
        """The reason why a coordinate that is not among the free ones cannot be used, or None if it can."""
        kind = coordinate_kind(which)
        if kind is not None and kind.has_params and not self.kind.params(which):
            return "this coordinate needs a curve, which the joint has not"
        one, two = present((self.marker_1, self.marker_2))
        wanted = present(self.kind).coordinate(which, one, two)
        rows = present(self.kind).rows(one, two)
        if any(len(row.terms) == 1 and row.terms[0].coordinate == wanted for row in rows):
            return "this coordinate is locked by the joint"
        return (
            "the joint does not let this coordinate move" if stands_still(which, self.kind.locked) else None
        )

    def coordinate(self, which: str | int | None = None) -> JointCoordinate:
        """A reference to one of the joint's coordinates, for drives, forces and constraints.

        >>> angle = pendulum.joints["hinge"].coordinate()
        >>> friction = pendulum.add_force("friction", bc.JointFriction(viscous=0.5), angle)
        >>> friction.ends[0].coordinate
        'theta_z'
        """
        return JointCoordinate(self.name, self.coordinate_name(which))

    def resolved(self, which: str | int | None = None) -> Coordinate:
        """One of the joint's coordinates as a function of its marker pair."""
        return self.kind.coordinate(self.coordinate_name(which), self.marker_1, self.marker_2)

    def only_locks(self) -> bool:
        """Whether it consists only of locks of coordinates: it has no stops, and its kind has only locks."""
        return not self.limits and self.kind.only_locks()

    def lowered(self) -> Lowered:
        """The joint's rows (none for Free), its stops, and its free coordinates."""
        rows = self.kind.rows(self.marker_1, self.marker_2)
        blocks = [Block("joint", rows)] if rows else []
        for name, limit in self.limits:
            blocks += limit.lowered(self.resolved(name))
        free = tuple(self.resolved(name) for name in self.kind.free)
        return Lowered(tuple(blocks), coordinates=free, custom=self.kind.custom)
