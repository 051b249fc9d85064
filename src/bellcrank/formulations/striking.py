"""Impulses at points of a mechanism: the effect of a collision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank import _core
from bellcrank.compile.state import Floats, State
from bellcrank.errors import AssemblyError, Unsupported
from bellcrank.mechanism.checking import Check, nearest
from bellcrank.mechanism.contact import IMPACT_LAWS
from bellcrank.mechanism.marker import GROUND

if TYPE_CHECKING:
    from bellcrank.formulations.system import System

_TOLERANCE = 1e-12  # of the residual, relative to the largest speed
_ACCEPTED = 1e-8


@dataclass(frozen=True)
class Blow:
    """An impulse on a body, such as a hammer blow: position (3,), m, and impulse (3,), N s, world axes."""

    body: str
    position: Sequence[float]
    impulse: Sequence[float]


@dataclass(frozen=True)
class StruckPoint:
    """A point at which one body is struck by another.

    body, other: their names; "ground" is one. position: (3,), m, world axes. normal: (3,), towards `body`, of
    any length. friction: Coulomb's coefficient. restitution: 0 to 1. impact_law: "newton": bodies that
    approach separate at this fraction of the speed; "poisson": the impulse that stops their approach is
    followed by this fraction of it.
    """

    body: str
    position: Sequence[float]
    normal: Sequence[float]
    other: str = GROUND
    restitution: float = 0.0
    friction: float = 0.0
    impact_law: str = "newton"


@dataclass(frozen=True, eq=False)
class Strike:
    """A state after blows and impulses at n points.

    state: with the velocities after them. impulse: (n, 3), N s, on `body` of each StruckPoint, in order,
    world axes. residual: of the laws of impact and friction, relative to the largest speed.
    """

    state: State
    impulse: Floats
    residual: float


def strike(system: System, what: Sequence[StruckPoint | Blow]) -> Strike:
    """See `System.strike`."""
    bodies = dict(system.model.body_index) | {GROUND: len(system.model.bodies)}
    blows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    with Check("strike") as check:
        for i, given in enumerate(what):
            field = f"what[{i}]"
            if isinstance(given, Blow):
                blows.append(
                    {
                        "body": _number(check, field, given.body, bodies),
                        "impulse": check.vector(f"{field}.impulse", given.impulse),
                        "position": check.vector(f"{field}.position", given.position, "m"),
                    }
                )
            elif isinstance(given, StruckPoint):
                pair = [_number(check, field, name, bodies) for name in (given.body, given.other)]
                if given.body == given.other:
                    check.fault(
                        f"{field}: a body does not strike itself",
                        given.body,
                        "name another body, or the ground",
                    )
                points.append({"bodies": pair, **_numbers_of(check, field, given)})
            else:
                check.fault(f"{field} must be a StruckPoint or a Blow", given)
    try:
        impulses, residual = system.core.strike(
            [_core.Blow(**one) for one in blows], [_core.StruckPoint(**one) for one in points], _TOLERANCE
        )
    except Unsupported as error:
        raise Unsupported(f"{error}; use formulation='recursive' or 'lagrange'") from None
    if residual > _ACCEPTED:
        raise AssemblyError(
            f"the impulses at these points were not found: a residual of {residual:.1e} of the largest speed "
            f"is left; {_ACCEPTED:g} is allowed",
            [("the impulses", residual)],
        )
    return Strike(system.state(), impulses, residual)


def _number(check: Check, field: str, name: str, bodies: Mapping[str, int]) -> int:
    if name not in bodies:
        check.fault(f"{field}: there is no such body", name, nearest(str(name), bodies))
    return bodies.get(name, 0)


def _numbers_of(check: Check, field: str, point: StruckPoint) -> dict[str, Any]:
    return {
        "position": check.vector(f"{field}.position", point.position, "m"),
        "normal": check.axis(f"{field}.normal", point.normal),
        "friction": check.not_negative(f"{field}.friction", point.friction),
        "restitution": check.fraction(f"{field}.restitution", point.restitution),
        "by_impulse": check.choice(f"{field}.impact_law", point.impact_law, IMPACT_LAWS) == IMPACT_LAWS[1],
    }
