"""The Puma 560 arm with its motors and frictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi
from typing import Final

import bellcrank as bc
from bellcrank.gallery.arms import DhLink, Motion, dh_arm

PUMA_560: Final[Sequence[DhLink]] = (
    DhLink(0.67183, 0, pi / 2, 0, (0, 0, 0), (0, 0.35, 0), 2e-4, -62.6111, 1.48e-3, (0.395, -0.435)),
    DhLink(
        *(0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        *(2e-4, 107.815, 8.17e-4, (0.126, -0.071)),
    ),
    DhLink(
        *(0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.07), (0.066, 0.086, 0.0125)),
        *(2e-4, -53.7063, 1.38e-3, (0.132, -0.105)),
    ),
    DhLink(
        *(0.4318, 0, pi / 2, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
        *(3.3e-5, 76.0364, 7.12e-5, (0.0112, -0.0169)),
    ),
    DhLink(
        *(0, 0, -pi / 2, 0.34, (0, 0, 0), (3e-4, 4e-4, 3e-4)),
        *(3.3e-5, 71.923, 8.26e-5, (0.00926, -0.0145)),
    ),
    DhLink(
        *(0, 0, 0, 0.09, (0, 0, 0.032), (1.5e-4, 1.5e-4, 4e-5)),
        *(3.3e-5, 76.686, 3.67e-5, (0.00396, -0.0105)),
    ),
)
"""P. Corke, B. Armstrong-Helouvry, ICRA 1994; as models/DH/Puma560.py of the Robotics Toolbox for Python."""

_EXCESS: Final = 0.01
_READY: Final[Motion] = tuple((q, 0.0, 0.0) for q in (0.0, 0.8, 3.1, 0.0, 0.8, 0.0))


def puma560(
    motion: Motion = _READY,
    *,
    motors: bool = True,
    friction: bool = True,
    driven: bool = True,
    gravity: float = 9.81,
) -> bc.Mechanism:
    """Unimation Puma 560, the six-axis robot arm, with the published masses, motors and frictions.

    Six degrees of freedom, all of them driven unless `driven` is false. P. Corke, B. Armstrong-Helouvry,
    A search for consensus among model parameters reported for the PUMA 560 robot, Proc. ICRA, 1994.

    motion, motors, friction, driven: as in `dh_arm`; by default the arm stands still, its forearm raised.
    gravity: along -z, m/s^2.

    The published moments of link 3 (0.066, 0.086, 0.0125 kg m^2) are not those of any mass distribution: the
    second is larger than the sum of the others. Its axis stays parallel to those of the joints 2 and 3, so
    that part of it can act, exactly, as a rotor that turns with link 3 against link 1: "link 3 excess".
    """
    x, y, z = PUMA_560[2].inertia
    links = list(PUMA_560)
    links[2] = replace(links[2], inertia=(x, y - _EXCESS, z))
    mech = dh_arm(
        motion, links, motors=motors, friction=friction, driven=driven, gravity=gravity, name="Puma 560"
    )
    elbow = mech.bodies["link 1"].marker()
    mech.add_joint("links 1 and 3", bc.Free(), elbow, "link 3.joint")
    mech.add_force("link 3 excess", bc.GearedMotor(1.0, _EXCESS), joint="links 1 and 3", coordinate="theta_z")
    return mech
