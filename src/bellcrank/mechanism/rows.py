"""The lowered form of all descriptions: rows on coordinates, force laws along coordinates, applied wrenches.

A row reads  C = sum of coefficient * coordinate - function(t) - constant,  and requires C = 0, or C >= 0 if
its block is unilateral. Joints, constraints, drives and limits become blocks of rows; forces become laws and
wrenches. The compiler of a mechanism uses only these and does not depend on joint or force kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from bellcrank import _core
from bellcrank.mechanism.coordinate import Coordinate
from bellcrank.mechanism.functions.function import Function
from bellcrank.mechanism.marker import Marker

FROM_START: Final = None
"""As a row's constant or a law's rest: what holds in the assembled initial configuration (C = 0 there)."""

LAW_PARAMETERS: Final = _core.law_parameters()
"""Names of the parameters of each law kind (`cpp/forces`), in their order in `Law.params`."""


@dataclass(frozen=True)
class Term:
    """coefficient * coordinate."""

    coefficient: float
    coordinate: Coordinate


@dataclass(frozen=True)
class Row:
    """C = sum of terms - function(t) - constant; FROM_START makes C `start` at the assembled start."""

    terms: tuple[Term, ...]
    constant: float | None = 0.0
    function: Function | None = None
    start: float = 0.0


@dataclass(frozen=True)
class Block:
    """A block of one to six rows.

    role: "joint", "constraint", "drive", "inertance", "limit_lower", "limit_upper" or "friction": a single
        unilateral row that holds what laws of dry friction act along, while it rests.
    unilateral: C >= 0 with multiplier >= 0 (a single row).
    compliance: with a value c > 0 the row is an inertance, C'' + c * multiplier = 0: a reflected inertia 1/c
        along its coordinate. It applies to accelerations only and is not projected.
        restitution: ratio of the velocities after and before an impact on a unilateral row, 0 to 1.
        formula: number of the constraint formula that defines the rows; such rows have no terms. -1: none.
    law: of friction: the first of these among the element's laws.
    """

    role: str
    rows: tuple[Row, ...]
    unilateral: bool = False
    compliance: float = 0.0
    restitution: float = 0.0
    formula: int = -1
    law: int = 0


class LoadOf(Enum):
    """Whose numbers w a load speaks of."""

    NOTHING = "1 and no more: a load that is given"
    JOINT = "the wrench of a joint at its marker 2, on what marker 2 is on: moment, force; axes of marker 1"
    CONSTRAINT_ROWS = "multipliers of the rows of a constraint, in their order"


@dataclass(frozen=True)
class FrictionLoad:
    """A part of what the limit of dry friction grows with: weight * |forms w|.

    element: the name of the joint or constraint.
    forms: one to three of six numbers each.
    slipping, holding: the weights while it slips, and while it holds: where what slips does work on a single
        form, and where it is driven by it.
    wrap: of a rope around a wheel, whose weights mu become 2 tanh(mu/2 beta): its angle of wrap beta is the
        sum of these terms and `wrapped`, rad. None: no rope.
    turns: whole turns in beta at the start, to which `wrapped` then leads; None: it is given as it is.
    """

    of: LoadOf
    element: str
    forms: tuple[tuple[float, ...], ...]
    slipping: tuple[float, float]
    holding: tuple[float, float]
    wrap: tuple[Term, ...] = ()
    wrapped: float = 0.0
    turns: int | None = None


@dataclass(frozen=True)
class Law:
    """An effort along a coordinate, of a kind in LAW_PARAMETERS; `params` in the order given there.

    The effort is positive where it drives the coordinate up (a positive effort along "distance" pushes
    apart). A parameter "rest" that is FROM_START means the coordinate's value in the assembled initial
    configuration.
    function: of time for "linear" (added), "motor", "brake", "servo" and "stepper"; of the coordinate for
        "table".
    label: what results call its effort where an element has several laws on one coordinate; "" calls it as
        the coordinate.
    loads: of dry friction, what its limits grow with: `FrictionLoad`s, or a `friction_loads.LoadKind`, which
        becomes them where the joint is known (`lowering.lower`).
    place: of dry friction along a sum of coordinates, from 0, among its laws: one for each of them.
    """

    kind: str
    coordinate: Coordinate
    params: tuple[float | None, ...]
    function: Function | None = None
    label: str = ""
    loads: tuple[Any, ...] = ()
    place: int = 0

    @classmethod
    def of(
        cls,
        element: object,
        kind: str,
        coordinate: Coordinate,
        function: Function | None = None,
        loads: tuple[Any, ...] = (),
        **params: Any,
    ) -> Law:
        """A law by names of its parameters; those that are not given are the element's fields of that name.

        Raises TypeError for other names.
        """
        names = LAW_PARAMETERS[kind]
        if unknown := params.keys() - set(names):
            raise TypeError(f"a law of kind {kind!r} has no {unknown.pop()!r}, but {', '.join(names)}")
        values = (params[name] if name in params else getattr(element, name) for name in names)
        return cls(kind, coordinate, tuple(values), function, loads=loads)


@dataclass(frozen=True)
class AppliedWrench:
    """Moment and force (in this order) on a body at a marker's origin.

    local: components in marker axes if True, in world axes if False.
    components: six numbers or functions of time, N m and N.
    """

    marker: Marker
    local: bool
    components: tuple[float | Function, ...]


@dataclass(frozen=True)
class WheelSlices:
    """The slices of a tyre.

    wheel: the marker at its centre, z along the axle. rim: the depth at which it strikes, m.
    """

    wheel: Marker
    radius: float
    width: float
    height: float
    slices: int
    rim: float


@dataclass(frozen=True)
class ContactLaw:
    """How the shapes of bodies touch each other.

    numbers: of the core's law (`cpp/contacts/contact_law.hpp`) by their names; dissipation and shear_time are
        None where they follow from others. impact_speed, joined: those of `Contact`.
    wheel: the tyre of the first body, which touches all shapes of the others; None between shapes.
    """

    bodies: tuple[str, ...]
    numbers: Mapping[str, Any]
    impact_speed: float
    joined: bool
    wheel: WheelSlices | None = None


@dataclass(frozen=True)
class Lowered:
    """The lowered form of one element.

    coordinates: the free ones that results report (joints only).
    custom: a kind given by formulas (`formulas.Formulas`), for which there are no rows and laws.
    ends: what its formulas speak of, in the place of the element's own ends; None: these.
    """

    blocks: tuple[Block, ...] = ()
    laws: tuple[Law, ...] = ()
    wrenches: tuple[AppliedWrench, ...] = ()
    contacts: tuple[ContactLaw, ...] = ()
    coordinates: tuple[Coordinate, ...] = ()
    custom: object | None = None
    ends: tuple[Marker | Coordinate, ...] | None = None


def lock(coordinate: Coordinate, constant: float | None = 0.0, function: Function | None = None) -> Row:
    """The row  coordinate - function(t) - constant."""
    return Row((Term(1.0, coordinate),), constant, function)


def combination(
    coefficients: Sequence[float], coordinates: Sequence[Coordinate], constant: float | None = FROM_START
) -> Row:
    """The row  sum of coefficient * coordinate - constant."""
    return Row(tuple(Term(c, q) for c, q in zip(coefficients, coordinates, strict=True)), constant)


def dry_friction(row: Row, loads: tuple[Any, ...] = (), **numbers: float) -> Lowered:
    """Dry friction along the sum of coordinates of a row, which holds it at rest.

    numbers: of the law "dry_friction", but part; those that are left out are zero. Parts that depend on speed
    are only for a single coordinate with the factor 1.
    """
    given: dict[str, Any] = dict.fromkeys(("viscous", "stribeck_velocity", "churned", "least_churned"), 0.0)
    given |= numbers
    laws = (
        Law.of(
            None,
            "dry_friction",
            term.coordinate,
            loads=loads if place == 0 else (),
            part=term.coefficient,
            **given,
        )
        for place, term in enumerate(row.terms)
    )
    placed = tuple(replace(law, place=place) for place, law in enumerate(laws))
    return Lowered((Block("friction", (row,), unilateral=True),), placed)
