"""Chains of any length for `bellcrank bench symbolic`: revolute joints, and touching tori."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any, Final

import numpy as np

import bellcrank as bc
from bellcrank.expression import cos, sin
from bellcrank.expression.compiled import evaluate
from bellcrank.mechanism.checking import Vec3
from bellcrank.mechanism.rotation import from_matrix
from benchmarks.symbolic_robots import alternating, arm, general

_MAJOR: Final = 0.3
_MINOR: Final = 0.08
_START: Final = (0.2, 2.4, 1.1, 2.7)
"""Of the parameters on the outer and inner torus: they touch inside, away from symmetric poses."""


def revolute_chain(joints: int) -> bc.Mechanism:
    """Revolute joints with skew axes, full mass properties."""
    return arm(f"revolute chain of {joints}", general(joints), tilt=0.7).mechanism()


def orthogonal_chain(joints: int) -> bc.Mechanism:
    """Revolute joints with perpendicular axes, full mass properties."""
    return arm(f"orthogonal chain of {joints}", alternating(joints), tilt=0.7).mechanism()


def torus_chain(coordinates: int) -> bc.Mechanism:
    """Tori that slide on each other, four coordinates a joint; the first hangs on a universal joint.

    coordinates: 2, 6, 10, ...; in B. Guenter and S.-H. Lee's Fig. 5b 14. Bodies "torus 0", ...; joints
    "universal" and "contact 1", .... Their paper gives neither masses nor lengths.
    """
    links = (coordinates - 2) // 4
    mech = bc.Mechanism(f"torus chain of {coordinates}")
    place, turn = np.zeros(3), np.eye(3)
    body = _torus(mech, 0, place, turn)
    # The torus hangs from its rim.
    mech.add_joint(
        "universal", bc.Universal(), mech.ground.marker((_MAJOR, 0.0, 0.0)), body.marker((_MAJOR, 0.0, 0.0))
    )
    for k in range(1, links + 1):
        joint, symbols = _contact(k)
        rotation, offset = _pose(joint, symbols)
        place, turn = place + turn @ offset, turn @ rotation
        after = _torus(mech, k, place, turn)
        start = dict(zip((symbol.name for symbol in symbols), _START, strict=True))
        mech.add_joint(f"contact {k}", joint, body.marker(), after.marker(), position=start)
        body = after
    return mech


def _torus(mech: bc.Mechanism, number: int, place: np.ndarray, turn: np.ndarray) -> bc.Body:
    """A solid torus about z, with the density of water."""
    mass = 1000.0 * 2.0 * pi**2 * _MAJOR * _MINOR**2
    across = mass * (_MAJOR**2 / 2 + 5 * _MINOR**2 / 8)
    about = mass * (_MAJOR**2 + 3 * _MINOR**2 / 4)
    x, y, z = (float(value) for value in place)
    position: Vec3 = (x, y, z)
    return mech.add_body(
        f"torus {number}",
        mass=mass,
        inertia=(across, across, about),
        position=position,
        rotation=from_matrix(turn),
    )


def _contact(number: int) -> tuple[bc.SurfaceOnSurface, tuple[Any, ...]]:
    symbols = tuple(bc.symbol(f"{name}_{number}") for name in ("u1", "v1", "u2", "v2"))
    one, two = (_surface(*symbols[:2]), _surface(*symbols[2:]))
    return bc.SurfaceOnSurface(symbols[:2], one, symbols[2:], two), symbols


def _surface(u: Any, v: Any) -> tuple[Any, ...]:
    reach = _MAJOR + _MINOR * cos(v)
    return (reach * cos(u), reach * sin(u), _MINOR * sin(v))


def _pose(joint: bc.SurfaceOnSurface, symbols: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of marker 2 in marker 1 at the start."""
    pose = joint.transform
    formulas = [entry for row in pose.rotation for entry in row] + list(pose.position)
    values = np.array(evaluate(formulas, dict(zip(symbols, _START, strict=True))))
    return values[:9].reshape(3, 3), values[9:]


@dataclass(frozen=True)
class Chain:
    """A family of mechanisms by number of coordinates. figures: of the paper; None if it gives none."""

    make: Callable[[int], bc.Mechanism]
    sizes: tuple[int, ...]
    figures: str | None


CHAINS: Final = {
    "revolute": Chain(revolute_chain, (2, 4, 6, 8, 10, 12, 16, 20), "6a, 7a"),
    "revolute, right angles": Chain(orthogonal_chain, (2, 4, 6, 8, 10, 12, 16, 20), None),
    "torus": Chain(torus_chain, (2, 6, 10, 14, 18), "6b, 7b"),
}
"""By name, with the sizes that are counted."""
