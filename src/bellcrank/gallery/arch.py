"""A semicircular arch of stones that only touch each other."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

import bellcrank as bc
from bellcrank.gallery.demands import Demands
from bellcrank.gallery.rods import planar
from bellcrank.mechanism.mass import MassProperties

_STONE: tuple[float, float, float] = (0.78, 0.72, 0.60)
_DARKER: tuple[float, float, float] = (0.68, 0.61, 0.49)


def arch(
    voussoirs: int = 16,
    thickness: float = 0.15,
    *,
    radius: float = 1.0,
    width: float = 0.3,
    density: float = 2400.0,
    friction: float = 0.7,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Semicircular arch of equal voussoirs with radial joints on fixed abutments, held up by contact alone.

    6 degrees of freedom a stone. thickness: of the ring over its mean radius. voussoirs: their number.
    radius: mean radius, m. width: along z, m. density: kg/m^3. friction: coefficient at the joints.
    gravity: along -y, m/s^2.

    By limit analysis (J. Heyman, The stone skeleton, 1966) 16 voussoirs stand from a thickness of 0.10724 on
    and need a friction of 0.3515 at 0.15; a continuous ring needs 0.1075 (M. Milankovitch 1907). To be
    simulated by steps of impulses, `method="moreau"`, in which stones are rigid.

    Plane xy, centre of the ring at the origin. Bodies "voussoir 1" at +x to "voussoir n" at -x, with frames
    at their centres of mass, x outwards; mass and inertia are those of a sector of the ring, the faces that
    touch and are drawn are plane. Force "joints". Raises ValueError for bad arguments, all of them at once.
    """
    demands = Demands("arch")
    demands.whole("voussoirs", voussoirs, least=3)
    demands.within("thickness", thickness, 0.0, 1.0, "a ring's thickness over its mean radius")
    demands.positive(radius=radius, width=width, density=density)
    demands.not_negative(friction=friction, gravity=gravity)
    demands.check()
    mech = bc.Mechanism("arch", gravity=(0.0, -gravity, 0.0))
    inner, outer, half = radius * (1 - thickness / 2), radius * (1 + thickness / 2), pi / (2 * voussoirs)
    sector = _sector(inner, outer, half, width).scaled(density)
    middle = float(sector.com[0])
    corners = [
        (inner * cos(half) - middle, inner * sin(half)),
        (inner * cos(half) - middle, -inner * sin(half)),
    ]
    corners += [
        (outer * cos(half) - middle, -outer * sin(half)),
        (outer * cos(half) - middle, outer * sin(half)),
    ]
    for number in range(voussoirs):
        angle = (2 * number + 1) * half
        mech.add_body(
            f"voussoir {number + 1}",
            mass=sector.mass,
            inertia=sector.inertia,
            position=(middle * cos(angle), middle * sin(angle), 0.0),
            rotation=planar(angle),
            shapes=[bc.Prism(outline=corners, length=width, color=(_STONE, _DARKER)[number % 2])],
        )
    size = (2.0 * thickness * radius, 0.2 * radius, 1.2 * width)
    blocks = [bc.Box(size=size, position=(side * radius, -0.1 * radius, 0.0)) for side in (1.0, -1.0)]
    mech.replace(mech.ground, shapes=blocks)
    contact = bc.Contact(1e8, restitution=0.0, friction=friction)
    mech.add_force("joints", contact, *mech.bodies, "ground")
    return mech


def _sector(inner: float, outer: float, half: float, width: float) -> MassProperties:
    """Mass properties at density 1 of a sector of a ring of +-half about x, in axes at the ring's centre."""
    volume = half * (outer**2 - inner**2) * width
    com = 2.0 / 3.0 * (outer**3 - inner**3) / (outer**2 - inner**2) * sin(half) / half
    polar = 0.5 * half * (outer**4 - inner**4) * width
    along = 0.5 * polar * (1.0 + sin(2.0 * half) / (2.0 * half)) - volume * com**2
    across = 0.5 * polar * (1.0 - sin(2.0 * half) / (2.0 * half))
    deep = volume * width**2 / 12.0
    inertia = np.diag([across + deep, along + deep, along + across])
    return MassProperties(volume, np.array([com, 0.0, 0.0]), inertia)
