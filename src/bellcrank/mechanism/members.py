"""Members between two points of the world in one call: rods and struts, with their bodies and pins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bellcrank.errors import MechanismError
from bellcrank.mechanism.attachment import Force
from bellcrank.mechanism.body import Body
from bellcrank.mechanism.checking import Check, Vec3
from bellcrank.mechanism.cylinders import Telescopic
from bellcrank.mechanism.fields import as_tuple
from bellcrank.mechanism.joint import Joint, JointKind, Limit
from bellcrank.mechanism.joint_kinds import Prismatic, Revolute, Spherical, Universal
from bellcrank.mechanism.mass import total
from bellcrank.mechanism.rotation import orientation
from bellcrank.mechanism.shape import Cylinder

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism


class Strut(NamedTuple):
    """A strut in a mechanism: its bodies, the slide between them, whose position is its length, its force.

    >>> mech = bc.Mechanism("lift", gravity=(0, 0, 0))
    >>> kind = bc.HydraulicCylinder(cap_pressure=1e6, length=0.8, stroke=0.3, bore=0.05, rod=0.03)
    >>> strut = mech.add_strut("ram", kind, (0, 0, 0), (0, 0, 0.6), between=["ground"] * 2)
    >>> strut.barrel.name, strut.rod.name, strut.slide.name, strut.force.name
    ('ram barrel', 'ram rod', 'ram', 'ram')
    >>> push = bc.simulate(mech, 1e-3).force("ram").effort[0, 0]
    >>> print(f"{push:.1f} N, by hand {1e6 * np.pi * 0.05**2 / 4:.1f} N")
    1963.5 N, by hand 1963.5 N
    """

    barrel: Body
    rod: Body
    slide: Joint
    force: Force


def add_rod(
    mechanism: Mechanism,
    name: str,
    start: Any,
    end: Any,
    radius: Any,
    density: Any,
    between: Any,
    axis: Any,
) -> Body:
    """See Mechanism.add_rod."""
    with Check(f"rod {name!r}") as check:
        foot, way, apart = _line(check, start, end)
        thick = check.positive("radius", radius, "m")
        dense = check.positive("density", density, "kg/m^3")
    shape = _round(thick, apart, 0.5 * apart, dense)
    axes = orientation(f"rod {name!r}", axis=way)
    with Whole(mechanism):
        body = mechanism.add_body(name, position=foot, rotation=axes, shapes=shape)
        for which, along in (("start", 0.0), ("end", apart)):
            mechanism.add_marker(body.marker((0.0, 0.0, along), name=which))
        _pin(mechanism, name, between, (body, body), (start, end), way, axis)
    return body


def add_strut(
    mechanism: Mechanism,
    name: str,
    kind: Any,
    start: Any,
    end: Any,
    bore: Any,
    rod: Any,
    density: Any,
    between: Any,
    axis: Any,
) -> Strut:
    """See Mechanism.add_strut."""
    with Check(f"strut {name!r}") as check:
        check.instance("the kind", kind, Telescopic, "use bc.HydraulicCylinder(...), bc.GasSpring(...), ...")
        check.faults.raise_any()
        foot, way, apart = _line(check, start, end)
        most, least = check.number("length", kind.length, "m"), check.number("stroke", kind.stroke, "m")
        closed = most - least
        sized = len(check.faults) == 0
        if sized and not closed <= apart <= most:
            check.fault(f"its ends are {apart:.6g} m apart, and it reaches from {closed:.6g} to {most:.6g} m")
        if sized and closed < least:
            advice = "give the length with the rod out, pin to pin"
            check.fault(
                "its rod must fit into its barrel: the stroke is at most half the length", None, advice
            )
        wide = check.positive("bore", getattr(kind, "bore", bore), "m")
        thin = check.positive("rod", getattr(kind, "rod", rod), "m")
        dense = check.positive("density", density, "kg/m^3")
    outer, inner = (_round(radius, closed, 0.5 * closed, dense) for radius in (0.6 * wide, 0.5 * wide))
    piston = _round(0.5 * thin, closed, -0.5 * closed, dense)
    tube = total((outer.mass_properties(), inner.mass_properties().scaled(-1.0)))
    axes = orientation(f"strut {name!r}", axis=way)
    head = tuple((np.asarray(foot) + apart * np.asarray(way)).tolist())
    limits = Limit(closed, most) if kind.stop_stiffness is None else ()
    with Whole(mechanism):
        barrel = mechanism.add_body(
            f"{name} barrel",
            tube.mass,
            as_tuple(tube.inertia),
            as_tuple(tube.com),
            foot,
            axes,
            shapes=outer,
        )
        plunger = mechanism.add_body(f"{name} rod", position=head, rotation=axes, shapes=piston)
        slide = mechanism.add_joint(name, Prismatic(), barrel, plunger, limits)
        force = mechanism.add_force(name, kind, slide)
        _pin(mechanism, name, between, (barrel, plunger), (start, end), way, axis)
    return Strut(barrel, plunger, slide, force)


class Whole:
    """Takes everything back that was added to a mechanism if something is refused."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def __enter__(self) -> None:
        self._known = set(self._mechanism.bodies)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, MechanismError):
            for body in [b for n, b in self._mechanism.bodies.items() if n not in self._known]:
                self._mechanism.remove(body, cascade=True)


def _line(check: Check, start: Any, end: Any) -> tuple[Vec3, Vec3, float]:
    """The first point, the direction to the second, and their distance, m."""
    foot, head = check.vector("start", start, "m"), check.vector("end", end, "m")
    span = np.subtract(head, foot)
    apart = float(np.linalg.norm(span))
    if apart == 0.0:
        check.fault("start and end must be two points", foot)
        return foot, (0.0, 0.0, 1.0), 1.0
    x, y, z = (span / apart).tolist()
    return foot, (x, y, z), apart


def _round(radius: float, length: float, middle: float, density: float) -> Cylinder:
    """A bar along z about a middle."""
    return Cylinder(radius, length, position=(0.0, 0.0, middle), density=density)


def _pin(
    mechanism: Mechanism,
    name: str,
    between: Any,
    ends: tuple[Body, Body],
    points: tuple[Any, Any],
    way: Vec3,
    axis: Any,
) -> None:
    """Join the ends to two bodies: by hinges about an axis, or by a universal joint and a ball."""
    if between is None:
        return
    if not isinstance(between, (tuple, list)) or len(between) != 2:
        rule, advice = "between must name two bodies", "such as ('ground', boom)"
        raise MechanismError.of(f"member {name!r}", rule, between, advice)
    kinds: tuple[JointKind, JointKind] = (Universal(), Spherical()) if axis is None else (Revolute(),) * 2
    for which, kind, carrier, own, at in zip(("start", "end"), kinds, between, ends, points, strict=True):
        mechanism.join(f"{name} {which}", kind, [carrier, own], at, way if axis is None else axis)
