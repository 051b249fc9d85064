"""Andrews' squeezing mechanism: seven bodies in a plane, three loops, milliseconds of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import cos, sin
from typing import TypeAlias

import numpy as np

import bellcrank as bc
from bellcrank.gallery.rods import bars, planar, vec

_GEOMETRY = {
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "ss": 0.035,
    "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916,
    "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04, "fa": 0.01421,
}  # fmt: skip
_ANGLES = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)


Place: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class AndrewsData:
    """The numbers of Andrews' mechanism, in SI units and by the letters of the literature.

    mass, inertia: of the bodies K1 ... K7, kg and kg m^2 about their centres of mass.
    geometry: lengths and the fixed points A, B, C, m.
    stiffness, rest_length: of the spring from C to D, N/m and m. torque: on the crank, N m.
    angles: beta, Theta, gamma, Phi, delta, Omega, epsilon of the closed initial configuration, rad.
    """

    mass: Sequence[float] = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertia: Sequence[float] = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    geometry: Mapping[str, float] = field(default_factory=lambda: dict(_GEOMETRY))
    stiffness: float = 4530.0
    rest_length: float = 0.07785
    torque: float = 0.033
    angles: Sequence[float] = _ANGLES


ANDREWS = AndrewsData()


def andrews_squeezer(data: AndrewsData = ANDREWS) -> bc.Mechanism:
    """Andrews' squeezing mechanism, at rest, without gravity, in the xy-plane.

    One degree of freedom. data: masses, lengths, spring and torque, by default those of the literature.

    E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7; W. Schiehlen (ed.),
    Multibody Systems Handbook, 1990; IFToMM benchmark A03. Lengths are millimetres to centimetres, angular
    accelerations reach 1e6 rad/s^2; runs last 0.03 s or 0.05 s.

    Bodies "K1" ... "K7". Joints whose angles are the literature's coordinates: "beta" (ground at O - K1),
    "Theta" (K1 - K2), "gamma" (ground at B - K3), "delta" (ground at A - K5), "Phi" (K5 - K4), "epsilon"
    (ground at A - K7), "Omega" (K7 - K6). Joints that close the loops in the point E of K2: "E3", "E4", "E6"
    with K3, K4 and K6; the forces in them are the literature's multipliers (1, 2), (3, 4) and (5, 6). Nine
    rows are redundant, since all pins are revolute joints in space. The crank has joint motor "torque", K3
    the spring "spring".
    """
    builder = _Andrews(data)
    g, angle = data.geometry, dict(zip(("be", "th", "ga", "ph", "de", "om", "ep"), data.angles, strict=True))
    a, b = (g["xa"], g["ya"]), (g["xb"], g["yb"])
    second = angle["be"] + angle["th"]
    crank_end = (g["rr"] * cos(angle["be"]), g["rr"] * sin(angle["be"]))
    fourth, sixth = angle["ph"] + angle["de"], angle["om"] + angle["ep"]
    reach_5 = (a[0] + g["zt"] * cos(angle["de"]), a[1] + g["zt"] * sin(angle["de"]))
    reach_7 = (a[0] + g["u"] * sin(angle["ep"]), a[1] - g["u"] * cos(angle["ep"]))
    o, tip = (0.0, 0.0), (-g["d"], 0.0)
    builder.body("K1", o, angle["be"], (g["ra"], 0.0), o, (g["rr"], 0.0))
    builder.body("K2", crank_end, second, (-g["da"], 0.0), o, tip)
    spring_end, foot = (g["sd"], -g["sc"]), (0.0, -g["ss"])
    builder.body("K3", b, angle["ga"], (g["sb"], -g["sa"]), o, spring_end, foot, o)
    builder.body("K4", reach_5, fourth, (0.0, g["ea"] - g["e"]), o, (0.0, -g["e"]))
    builder.body("K5", a, angle["de"], (g["ta"], -g["tb"]), o, (g["zt"], 0.0))
    builder.body("K6", reach_7, sixth, (g["zf"] - g["fa"], 0.0), o, (g["zf"], 0.0))
    builder.body("K7", a, angle["ep"], (g["ub"], -g["ua"]), o, (0.0, -g["u"]))
    builder.pin("beta", "ground", (0.0, 0.0), "K1", (0.0, 0.0))
    builder.pin("Theta", "K1", (g["rr"], 0.0), "K2", (0.0, 0.0))
    builder.pin("gamma", "ground", b, "K3", (0.0, 0.0))
    builder.pin("delta", "ground", a, "K5", (0.0, 0.0))
    builder.pin("Phi", "K5", (g["zt"], 0.0), "K4", (0.0, 0.0))
    builder.pin("epsilon", "ground", a, "K7", (0.0, 0.0))
    builder.pin("Omega", "K7", (0.0, -g["u"]), "K6", (0.0, 0.0))
    builder.pin("E3", "K2", tip, "K3", foot)
    builder.pin("E4", "K2", tip, "K4", (0.0, -g["e"]))
    builder.pin("E6", "K2", tip, "K6", (g["zf"], 0.0))
    mech = builder.mech
    mech.add_force("torque", bc.JointMotor(data.torque), joint="beta")
    spring = bc.SpringDamper(data.stiffness, rest_length=data.rest_length)
    end = mech.bodies["K3"].marker((*spring_end, 0.0))
    mech.add_force("spring", spring, mech.ground.marker((g["xc"], g["yc"], 0.0)), end)
    return mech


class _Andrews:
    """Adds bodies by their joint and angle, and pins by points in body frames."""

    def __init__(self, data: AndrewsData) -> None:
        self.data = data
        self.mech = bc.Mechanism("Andrews' squeezer", gravity=(0.0, 0.0, 0.0))

    def body(self, name: str, point: Place, angle: float, com: Place, *corners: Place) -> None:
        """A body whose frame is at its first joint, drawn as bars from corner to corner."""
        number = int(name[1]) - 1
        inertia = self.data.inertia[number]
        self.mech.add_body(
            name,
            mass=self.data.mass[number],
            inertia=(inertia, inertia, inertia),
            com=(*com, 0.0),
            position=(*point, 0.0),
            rotation=planar(angle),
            shapes=bars([(*corner, 0.0) for corner in corners], 0.0008),
        )

    def pin(self, name: str, one: str, at: Place, two: str, there: Place) -> None:
        """A revolute joint between points of two bodies; its angle is that between their frames."""
        carriers = {"ground": self.mech.ground, **self.mech.bodies}
        first = carriers[one].marker(vec(np.array([*at, 0.0])))
        second = carriers[two].marker(vec(np.array([*there, 0.0])))
        self.mech.add_joint(name, bc.Revolute(), first, second)
