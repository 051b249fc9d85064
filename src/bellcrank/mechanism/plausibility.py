"""Values that are possible and hardly meant: angles in degrees, lengths in millimetres, densities in g/cm^3.

Units are written with a value ("90 deg", "80 mm"); a bare number is in SI. Each hint names the element, the
value and what to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bellcrank.mechanism.coordinate import JointCoordinate
from bellcrank.mechanism.cylinders import Telescopic
from bellcrank.mechanism.drive import Drive
from bellcrank.mechanism.fields import Description, declarations
from bellcrank.mechanism.flexible import amplitudes
from bellcrank.mechanism.flywheels import flywheels_in
from bellcrank.mechanism.functions import Constant, Ramp
from bellcrank.mechanism.units import degrees_text, in_degrees

if TYPE_CHECKING:
    from bellcrank.mechanism.body import Body
    from bellcrank.mechanism.joint import Joint
    from bellcrank.mechanism.mechanism import Mechanism

_GASEOUS: Final = (0.5, 23.0)  # kg/m^3: densities that solids have in g/cm^3
_FAR: Final = 100.0  # times the others: lengths that may be in millimetres
_WIDE: Final = 30.0  # times its size: a body's radius of gyration
_APART: Final = 1e5  # of masses
_HEAVY: Final = 200.0  # m/s^2: gravity that may be in mm/s^2
_MOST: Final = 1000  # elements that are looked at

Length = tuple[str, float]
"""What has it, in words, and the length, m."""


def implausible(mechanism: Mechanism) -> tuple[str, ...]:
    """Hints on the values of a mechanism, whose numbers are numbers; none for very large ones."""
    if mechanism.size > _MOST:
        return ()
    return (
        *_gravity(mechanism),
        *_angles(mechanism),
        *_densities(mechanism),
        *_lengths(mechanism),
        *_struts(mechanism),
        *_masses(mechanism),
    )


def _gravity(mechanism: Mechanism) -> Iterator[str]:
    size = float(np.linalg.norm(mechanism.gravity))
    if size > _HEAVY:
        yield (
            f"gravity of {size:g} m/s² is {size / 9.81:.0f} times that of the earth; bare numbers are in "
            "m/s²: write (0, 0, -9.81)"
        )


def _angles(mechanism: Mechanism) -> Iterator[str]:
    """Angles that look like degrees: of joints, drives and forces."""
    for joint in mechanism.joints.values():
        limits = [(f"limit {name!r}", bound) for name, limit in joint.limits for bound in _bounds(limit)]
        starts = [
            (f"{which} {name!r}", value)
            for which in ("position", "guess")
            for name, value in getattr(joint, which)
        ]
        named = [(text, text.split("'")[1], value) for text, value in (*limits, *starts)]
        turned = [(text, value) for text, name, value in named if name.startswith("theta")]
        own = [(name, value) for name, unit, value in _fields(joint.kind) if unit == "rad"]
        yield from _of_degrees(f"joint {joint.name!r}", [*turned, *own])
    for drive in mechanism.drives.values():
        if isinstance(drive, Drive) and _turns(mechanism, drive.coordinate):
            yield from _of_degrees(
                f"drive {drive.name!r}", [("position", v) for v in _values(drive.position)]
            )
    for noun, table in (("force", mechanism.forces), ("constraint", mechanism.constraints)):
        for element in table.values():
            turns = bool(element.ends) and all(_turns(mechanism, end) for end in element.ends)
            taken = ("rad", "rad or m", "m or rad") if turns else ("rad",)
            found = [
                (name, v)
                for name, unit, value in _fields(element.kind)
                if unit in taken
                for v in _values(value)
            ]
            yield from _of_degrees(f"{noun} {element.name!r}", found)


def _of_degrees(element: str, found: list[tuple[str, Any]]) -> Iterator[str]:
    for name, value in found:
        if isinstance(value, float) and in_degrees(value):
            yield f"{element}: {name}: {degrees_text(value)}"


def _bounds(limit: Any) -> tuple[Any, ...]:
    return (limit.lower, limit.upper)


def _values(function: Any) -> tuple[Any, ...]:
    """The numbers that a function of time consists of, where it comes to rest."""
    if isinstance(function, Constant):
        return (function.value,)
    return (function.from_value, function.to_value) if isinstance(function, Ramp) else (function,)


def _turns(mechanism: Mechanism, end: Any) -> bool:
    """Whether an end is an angle of a joint."""
    if not isinstance(end, JointCoordinate) or end.joint not in mechanism.joints:
        return False
    return mechanism.joints[end.joint].coordinate_name(end.coordinate).startswith("theta")


def _fields(described: Any) -> Iterator[tuple[str, str, Any]]:
    """The declared fields of a description: name, unit, value."""
    if isinstance(described, Description):
        own: type = type(described)
        for name, declaration in declarations(own).items():
            yield name, declaration.unit, getattr(described, name)


def _densities(mechanism: Mechanism) -> Iterator[str]:
    for body in mechanism.bodies.values():
        for density in dict.fromkeys(shape.density for shape in body.shapes):
            if density is not None and _GASEOUS[0] <= density <= _GASEOUS[1]:
                yield (
                    f"body {body.name!r}: a density of {density:g} kg/m³ is that of a gas; if g/cm³ are "
                    f"meant, write '{density:g} g/cm^3', or {1000.0 * density:g}"
                )


def _lengths(mechanism: Mechanism) -> Iterator[str]:
    """Lengths of bodies that are far above those of the others, and about as long in millimetres."""
    found = [length for body in mechanism.bodies.values() for length in _lengths_of(body)]
    for joint in mechanism.joints.values():
        found += _arms(joint)
    if len(found) < 3:
        return
    usual = float(np.median([size for _, size in found]))
    for what, size in dict.fromkeys(found):
        if size > _FAR * usual and usual / 30.0 < size / 1000.0 < 30.0 * usual:
            yield (
                f"{what} is {size:g} m, the lengths around it are about {usual:.2g} m; if millimetres "
                f"are meant, write '{size:g} mm', or {size / 1000.0:g}"
            )


def _lengths_of(body: Body) -> Iterator[Length]:
    """The sizes of a body's shapes, and where its centre of mass is."""
    for shape in body.shapes:
        for name, unit, value in _fields(shape):
            size = (
                float(np.max(np.abs(value))) if unit == "m" and value is not None and np.size(value) else 0.0
            )
            if size > 0.0:
                yield f"body {body.name!r}: {name} of its {type(shape).__name__}", size
    if any(body.com):
        yield f"body {body.name!r}: com", float(np.max(np.abs(body.com)))


def _arms(joint: Joint) -> Iterator[Length]:
    """Where a joint's markers are on bodies that move."""
    for marker in (joint.marker_1, joint.marker_2):
        if marker.body != "ground" and any(marker.position):
            place = f"its marker on {marker.body!r}"
            yield f"joint {joint.name!r}: {place}", float(np.max(np.abs(marker.position)))


def _struts(mechanism: Mechanism) -> Iterator[str]:
    for force in mechanism.forces.values():
        kind = force.kind
        bore = getattr(kind, "bore", None)
        if isinstance(kind, Telescopic) and bore is not None and bore > kind.length:
            yield (
                f"force {force.name!r}: a bore of {bore:g} m is wider than the strut is long, "
                f"{kind.length:g} m; if millimetres are meant, write '{bore:g} mm'"
            )


def _masses(mechanism: Mechanism) -> Iterator[str]:
    """Masses that are far apart, and moments of inertia that belong to larger bodies."""
    own = flywheels_in(mechanism) | amplitudes(mechanism)
    known = [body for body in mechanism.bodies.values() if body.mass_known and body.name not in own]
    if not known:
        return
    heavy = max(known, key=lambda body: body.mass)
    light = [body for body in known if _APART * body.mass <= heavy.mass]
    if light and 2 * len(light) <= len(known):
        lightest = min(light, key=lambda body: body.mass)
        yield (
            f"body {lightest.name!r} has {lightest.mass:g} kg beside {heavy.mass:g} kg of body "
            f"{heavy.name!r}; bare numbers are in kg, others are written "
            f"'{lightest.mass:g} g' or '{heavy.mass:g} g'"
        )
    arms = [length for joint in mechanism.joints.values() for length in _arms(joint)]
    sizes = [size for _, size in (*arms, *(one for body in known for one in _lengths_of(body)))]
    if not sizes:
        return
    for body in known:
        moment = float(np.max(np.abs(body.inertia)))
        gyration = (moment / body.mass) ** 0.5
        if gyration > _WIDE * max(sizes):
            yield (
                f"body {body.name!r}: its inertia of {moment:g} kg m² is that of {body.mass:g} kg "
                f"{gyration:.3g} m from its centre, lengths here reach {max(sizes):.2g} m; if kg mm² are "
                f"meant, write '{moment:g} kg mm^2'"
            )
