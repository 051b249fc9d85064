"""Motions in minimal coordinates for other integration codes: first-order systems in plain numbers.

Their equations are written out independently of the formulations; the same mechanisms are given beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import bellcrank as bc
from bellcrank.compile.state import Floats
from bellcrank.gallery import Link, flyball_governor, link_chain

Rates = Callable[[float, Floats, Floats], None]


@dataclass(frozen=True)
class OracleProblem:
    """A motion over `duration` s from y(0) = start, stiff or not; `rates` writes y'.

    observe: the compared quantities, from the state y of the equations; result: those from the end of a run.
    """

    name: str
    duration: float
    stiff: bool
    mechanism: Callable[[], bc.Mechanism]
    start: Floats
    rates: Rates
    observe: Callable[[Floats], Floats]
    result: Callable[[Any], Floats]


def problems() -> tuple[OracleProblem, ...]:
    """A pendulum, a double pendulum, a tumbling body, and a stiff governor."""
    return (pendulum(), double_pendulum(), tumbling(), governor())


def pendulum(length: float = 1.0, gravity: float = 9.81) -> OracleProblem:
    """A uniform rod on a hinge, from a right angle to the vertical."""
    reach = 1.5 * gravity / length

    def rates(_t: float, y: Floats, out: Floats) -> None:
        out[0], out[1] = y[1], -reach * math.sin(y[0])

    link = Link(1.0, length, 0.5 * length, length**2 / 12)
    start = np.array([0.5 * math.pi, 0.0])
    return OracleProblem(
        "pendulum", 10.0, False, lambda: link_chain([link], [start[0] - 0.5 * math.pi], [0.0]),
        start, rates, lambda y: y[:1].copy(),
        lambda run: run.joint("joint 1").position[-1, :1] + 0.5 * math.pi,
    )  # fmt: skip


def double_pendulum(gravity: float = 9.81) -> OracleProblem:
    """R03 of the reference problems for 2 s: two rods, absolute angles from straight down."""
    (m1, m2), (l1, _), (c1, c2), (J1, J2) = (1.0, 0.8), (1.0, 0.7), (0.5, 0.35), (1 / 12, 0.8 * 0.49 / 12)
    a, b, d = J1 + m1 * c1**2 + m2 * l1**2, J2 + m2 * c2**2, m2 * l1 * c2
    w1, w2 = (m1 * c1 + m2 * l1) * gravity, m2 * c2 * gravity

    def rates(_t: float, y: Floats, out: Floats) -> None:
        p, q, u, v = y
        cosine, sine = math.cos(p - q), math.sin(p - q)
        f, g = -d * sine * v * v - w1 * math.sin(p), d * sine * u * u - w2 * math.sin(q)
        det = a * b - (d * cosine) ** 2
        out[:] = u, v, (b * f - d * cosine * g) / det, (a * g - d * cosine * f) / det

    links = [Link(m1, l1, c1, J1), Link(m2, 0.7, c2, J2)]
    start = np.array([0.5 * math.pi, 0.75 * math.pi, 0.0, 0.0])

    def result(run: Any) -> Floats:
        joints = [run.joint(f"joint {k}").position[-1, 0] for k in (1, 2)]
        found: Floats = np.cumsum(joints) + 0.5 * math.pi
        return found

    return OracleProblem(
        "double pendulum", 2.0, False, lambda: link_chain(links, (0.0, 0.25 * math.pi), (0.0, 0.0)),
        start, rates, lambda y: y[:2].copy(), result,
    )  # fmt: skip


def tumbling() -> OracleProblem:
    """R07 of the reference problems for 10 s: a free body of inertia (1, 2, 3) turns over."""
    inertia, spin = (1.0, 2.0, 3.0), (0.01, 2.0, 0.02)

    def rates(_t: float, y: Floats, out: Floats) -> None:
        w, x, z, s, p, q, r = y  # quaternion w, x, z, s
        out[:4] = (
            0.5 * (-x * p - z * q - s * r),
            0.5 * (w * p + z * r - s * q),
            0.5 * (w * q + s * p - x * r),
            0.5 * (w * r + x * q - z * p),
        )
        out[4:] = (-q * r, p * r, -p * q / 3.0)  # (I2 − I3)/I1 q r and so on

    def mechanism() -> bc.Mechanism:
        mech = bc.Mechanism("tumbling", gravity=(0, 0, 0))
        mech.add_body("book", mass=1.0, inertia=inertia, angular_velocity=spin)
        return mech

    def rotation(q: Floats) -> Floats:
        found: Floats = q * math.copysign(1.0, q[int(np.argmax(np.abs(q)))])
        return found

    start = np.array([1.0, 0.0, 0.0, 0.0, *spin])
    return OracleProblem(
        "tumbling", 10.0, False, mechanism, start, rates, lambda y: rotation(y[:4]),
        lambda run: rotation(run.body("book").rotation[-1]),
    )  # fmt: skip


def governor() -> OracleProblem:
    """A05 of the reference problems for 1 s: a governor with stiff couplers, an eigenvalue of -1e4 1/s.

    y: angle of the rods below the horizontal, height of the slider, their rates; speed and angle of the
    shaft.
    """
    density, ball, k, c, rest = 3000.0, 5.0, 8e5, 4e4, 0.5
    rod, slide, shaft = density * 1e-4, density * 1e-3, density * 1e-4
    hinge, length, height, side = 0.05, 1.0, 1.0, 0.05
    mass, gravity = rod + ball, 9.81
    # A rod with its ball: first and second moments along it, and about it, from its hinge.
    first = 0.5 * rod * length + ball * length
    second = rod * (length**2 / 3 + 0.01**2 / 12) + ball * length**2
    thin = rod * 0.01**2 / 6
    across = rod * (length**2 / 3 + 0.01**2 / 12) + ball * length**2
    axial = shaft * 0.01**2 / 6 + slide * 0.1**2 / 6

    def rates(_t: float, y: Floats, out: Floats) -> None:
        alpha, s, alpha_rate, s_rate, spin, _ = y
        sine, cosine = math.sin(alpha), math.cos(alpha)
        inertia = axial + 2 * (
            mass * hinge**2 + 2 * hinge * first * cosine + across * cosine**2 + thin * sine**2
        )
        slope = 2 * (-2 * hinge * first * sine + 2 * (thin - across) * sine * cosine)  # d inertia / d alpha
        x, z = hinge + 0.5 * cosine - side, height - 0.5 * sine - s
        span = math.hypot(x, z)
        dx, dz = -0.5 * sine, -0.5 * cosine
        rate = (x * dx * alpha_rate + z * (dz * alpha_rate - s_rate)) / span
        tension = k * (span - rest) + c * rate
        pull = -tension * (x * dx + z * dz) / span
        out[0], out[1] = alpha_rate, s_rate
        out[2] = (0.25 * slope * spin**2 + first * gravity * cosine + pull) / second
        out[3] = (2 * tension * z / span - slide * gravity) / slide
        out[4] = -slope * alpha_rate * spin / inertia
        out[5] = spin

    start = np.array([math.pi / 6, 0.5, 0.0, 0.0, 2 * math.pi, 0.0])
    return OracleProblem(
        "governor", 1.0, True,
        lambda: flyball_governor(density=density, ball_mass=ball, stiffness=k, damping=c, rest_length=rest),
        start, rates, lambda y: y[1:2].copy(), lambda run: run.joint("slide").position[-1, :1],
    )  # fmt: skip
