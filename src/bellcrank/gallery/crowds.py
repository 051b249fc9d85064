"""Many small mechanisms, or parts, at once: characters in a crowd, and the rings of chain mail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, cos, hypot, pi, sin, sqrt
from typing import Final

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import Vector, add_pin, bars, vec
from bellcrank.mechanism.body import Ground
from bellcrank.mechanism.rotation import between, from_matrix

X: Final = (1.0, 0.0, 0.0)
Y: Final = (0.0, 1.0, 0.0)
Z: Final = (0.0, 0.0, 1.0)
CHEST: Final = 1.45
"""Height at which a push acts, m."""
BLOW: Final = 0.1
"""How long it acts, s."""


@dataclass(frozen=True)
class _Part:
    """A rod of a character that stands at the origin and looks along x, on a hinge where it begins.

    before: the part that carries it. start, end: m. mass: kg. thickness: m.
    """

    name: str
    before: str
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    mass: float
    thickness: float
    axis: tuple[float, float, float]


def _column(
    name: str, before: str, start: Vector, end: Vector, mass: float, thickness: float, count: int,
    axes: tuple[tuple[float, float, float], ...],
) -> Iterator[_Part]:  # fmt: skip
    """Parts in a row, "name 1", ...; mass: of all of them; their axes take turns."""
    places = np.linspace(start, end, count + 1)
    for k in range(count):
        mine = f"{name} {k + 1}"
        axis = axes[k % len(axes)]
        yield _Part(mine, before, vec(places[k]), vec(places[k + 1]), mass / count, thickness, axis)
        before = mine


def _parts(full: bool) -> list[_Part]:
    """Of a character of 1.75 m and some 70 kg but the pelvis, those that carry others first."""
    spine = list(
        _column("spine", "pelvis", (0, 0, 1.0), (0, 0, 1.5), 28.0, 0.16, 23 if full else 3, (Y, X, Z))
    )
    top = spine[-1].name
    found = [*spine, _Part("head", top, (0, 0, 1.5), (0, 0, 1.75), 5.0, 0.14, Y)]
    for side, s in (("left", 1.0), ("right", -1.0)):
        places = [
            (0, 0, 1.45),
            (0, 0.2 * s, 1.45),
            (0, 0.36 * s, 1.2),
            (0, 0.5 * s, 0.98),
            (0, 0.56 * s, 0.9),
        ]
        arm = zip(
            ("clavicle", "upper arm", "forearm", "hand"), (1.2, 2.1, 1.4, 0.5), (0.06, 0.08, 0.07, 0.06),
            (Z, Y, Z, X), strict=True,
        )  # fmt: skip
        before = top
        for k, (name, mass, thickness, axis) in enumerate(arm):
            found.append(_Part(f"{side} {name}", before, places[k], places[k + 1], mass, thickness, axis))
            before = f"{side} {name}"
        legs = [(0, 0.1 * s, 0.95), (0, 0.12 * s, 0.52), (0, 0.12 * s, 0.1), (0.18, 0.12 * s, 0.03)]
        below = "pelvis"
        for k, (name, mass, thickness) in enumerate(
            (("thigh", 7.5, 0.13), ("shin", 3.2, 0.09), ("foot", 0.9, 0.07))
        ):
            found.append(_Part(f"{side} {name}", below, legs[k], legs[k + 1], mass, thickness, Y))
            below = f"{side} {name}"
        if full:
            for k in range(5):
                x, y = 0.016 * (k - 2), 0.12 * s + 0.016 * (k - 2)
                finger = ((x, 0.56 * s, 0.9), (1.3 * x, 0.605 * s, 0.83))
                found += _column(f"{side} finger {k + 1}", before, *finger, 0.06, 0.014, 3, (X,))
                toe = ((0.18, y, 0.03), (0.24, y, 0.02))
                found += _column(f"{side} toe {k + 1}", below, *toe, 0.06, 0.014, 2, (Y,))
    return found


def crowd(
    count: int = 2, *, full: bool = False, spacing: float = 1.6, rate: float = 30.0, push: float = 20.0
) -> bc.Mechanism:
    """Characters that float in rows, each of them linked rods with springs in the joints, pushed apart.

    Degrees of freedom: 25 for each, or 95 where they are full, for 200 of which 17,800 bodies have 19,000: as
    many as in the largest crowd of S. Redon, N. Galoppo, M. Lin, Adaptive Dynamics of Articulated Bodies,
    2005; how the bodies of theirs are divided is not known here.

    count: of the characters; they stand in a square about the z axis and look along x, without gravity.
    full: with 23 parts of the spine in place of 3, with fingers and toes: 89 bodies in place of 19.
    spacing: between neighbours, m. rate: at which each part alone would swing on its own spring, rad/s; the
    springs are damped by half of what is critical.
    push: impulse on the upper spine of a character that stands 1 m from the z axis, N s; it falls with the
    square of the distance, points away from the axis, and acts from 0 s to 0.1 s.

    Bodies "0 pelvis", "0 spine 1", ..., "0 head", "0 left hand", ... Joints are named after the bodies that
    they carry, "0 left hand joint"; all are hinges but the necks, which are universal joints.
    """
    mech = bc.Mechanism(f"crowd of {count}", gravity=(0.0, 0.0, 0.0))
    parts, wide = _parts(full), ceil(sqrt(count))
    struck = [part.name for part in parts if part.name.startswith("spine") and part.start[2] <= CHEST][-1]
    for number in range(count):
        row, column = divmod(number, wide)
        place = spacing * np.array([row - 0.5 * (ceil(count / wide) - 1), column - 0.5 * (wide - 1), 0.0])
        bodies = {"pelvis": _rod(mech, number, _PELVIS, place)}
        for part in parts:
            bodies[part.name] = body = _rod(mech, number, part, place)
            _join(mech, f"{number} {part.name}", part, bodies[part.before], body, place, rate)
        _strike(mech, f"{number} push", bodies[struck], place, push)
    return mech


_PELVIS: Final = _Part("pelvis", "", (0.0, 0.0, 0.93), (0.0, 0.0, 1.0), 10.0, 0.2, Y)


def _rod(mech: bc.Mechanism, number: int, part: _Part, place: np.ndarray) -> bc.Body:
    """A bar of square section; its frame is at its middle, x from its start to its end."""
    start, end = np.asarray(part.start), np.asarray(part.end)
    length, wide = float(np.linalg.norm(end - start)), part.thickness
    across = part.mass * (length**2 + wide**2) / 12.0
    return mech.add_body(
        f"{number} {part.name}",
        mass=part.mass,
        inertia=(part.mass * wide**2 / 6.0, across, across),
        position=vec(place + 0.5 * (start + end)),
        rotation=between(X, vec((end - start) / length)),
        shapes=[bc.Box(size=(length, wide, wide))],
    )


def _join(
    mech: bc.Mechanism, name: str, part: _Part, carrier: bc.Body, body: bc.Body, place: Vector, rate: float
) -> None:
    """A hinge, or a neck, with springs for the moment of inertia of the part itself."""
    at, length = vec(np.asarray(place) + part.start), float(np.linalg.norm(np.subtract(part.end, part.start)))
    inertia = part.mass * (length**2 / 3.0 + part.thickness**2 / 12.0)
    spring = bc.TorsionSpring(stiffness=inertia * rate**2, damping=inertia * rate)
    joint = f"{name} joint"
    if part.name != "head":
        add_pin(mech, joint, carrier, body, at, part.axis)
        mech.add_force(f"{name} spring", spring, joint)
        return
    turned = (carrier.world_marker(at), body.world_marker(at))
    mech.add_joint(joint, bc.Universal(), *turned)
    for axis in ("universal_1", "universal_2"):
        mech.add_force(f"{name} spring {axis}", spring, joint=joint, coordinate=axis)


def _strike(mech: bc.Mechanism, name: str, body: bc.Body, place: Vector, push: float) -> None:
    """A force that rises and falls in a triangle of time; none on what stands on the axis."""
    distance = hypot(place[0], place[1])
    if push == 0.0 or distance == 0.0:
        return
    most = 2.0 * push / BLOW / distance**2
    parts = [most * component / distance for component in (place[0], place[1])]
    along = [
        bc.Table([0.0, 0.5 * BLOW, BLOW, 1e6], [0.0, part, 0.0, 0.0], interpolation="linear")
        for part in parts
    ]
    mech.add_force(name, bc.Wrench(force=(along[0], along[1], 0.0)), body.marker())


def chain_mail(
    rows: int = 3, columns: int = 3, *, radius: float = 0.01, mass: float = 1e-3, angle: float = pi / 2
) -> bc.Mechanism:
    """Chain mail of equal rings, hung along one edge, in a plane and at rest: a net of loops.

    Degrees of freedom: rows (2 columns + 1).

    rows, columns: numbers of rings. radius: of a ring, m, round wire of a seventh of it. mass: of a ring, kg.
    angle: of the plane from the vertical, rad; by default it lies, and falls. Gravity along -z.

    Each ring "ring r c" hangs by a ball joint "hook r c" where it meets the one above it, the first row from
    the ground; rings side by side are held by links of fixed length, "link r c" between columns c and c + 1.
    What real rings do, slide in each other and meet, is left out.
    """
    mech = bc.Mechanism(f"chain mail of {rows} x {columns}")
    down, wire = np.array([sin(angle), 0.0, -cos(angle)]), radius / 7.0
    across = np.array([0.0, 1.0, 0.0])
    plane = from_matrix(np.column_stack((down, across, np.cross(down, across))))
    inertia = mass * np.array([0.5, 0.5, 1.0]) * radius**2
    rim = [radius * np.array([cos(a), sin(a), 0.0]) for a in np.linspace(0.0, 2.0 * pi, 9)]
    above: list[bc.Body | Ground] = [mech.ground] * columns
    pitch = 2.0 * radius
    for row in range(rows):
        rings: list[bc.Body] = []
        for column in range(columns):
            hook = row * pitch * down + 2.5 * radius * column * across
            ring = mech.add_body(
                f"ring {row} {column}",
                mass=mass,
                inertia=vec(inertia),
                position=vec(hook + radius * down),
                rotation=plane,
                shapes=list(bars(rim, wire)),
            )
            ends = (above[column].world_marker(vec(hook)), ring.world_marker(vec(hook)))
            mech.add_joint(f"hook {row} {column}", bc.Spherical(), *ends)
            rings.append(ring)
        for column in range(columns - 1):
            one, two = rings[column], rings[column + 1]
            ends = (one.marker((0.0, radius, 0.0)), two.marker((0.0, -radius, 0.0)))
            mech.add_joint(f"link {row} {column}", bc.Distance(), *ends)
        above = list(rings)
    return mech
