"""Fibres of cross-sections: points at which stress is evaluated, and what loads exert there.

Normal stress is  N/A + M_y z/I_y - M_z y/I_z.  Shear stress by shear forces follows from the balance of a
piece that is cut off (D. J. Jourawski 1856: V Q/(I b)); that by torsion is Saint-Venant's (S. P. Timoshenko,
J. N. Goodier, Theory of Elasticity, chapter 10; W. C. Young, R. G. Budynas, Roark's Formulas for Stress and
Strain, table 10.7). Notches, such as the corner between a web and its flanges, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

_AROUND: Final = 72  # fibres of a round section
_PARTS: Final = np.linspace(-1.0, 1.0, 9)  # of half a side of a rectangle
_TERMS: Final = 2.0 * np.arange(1000) + 1.0  # of series, odd
_BATCH: Final = 1 << 20  # numbers at once


@dataclass(frozen=True, eq=False)
class Fibres:
    """Fibres of a section, and the stress there by its loads, in which it is linear.

    y, z: where they are, (F,), m. stress: normal stress and shear stress along y and z, by N, Q_y, Q_z, M_x,
    M_y, M_z, (F, 3, 6), 1/m^2 and 1/m^3. round: whether the section looks alike from all sides.

    >>> bar = bc.Section.rectangle(0.01, 0.02, E=210e9, nu=0.3, density=7850)
    >>> fibres = bar.fibres
    >>> corner = np.argmax(fibres.y + fibres.z)
    >>> print(f"{100.0 * fibres.stress[corner, 0, 4]:.4g} Pa")    # of M_y = 100 N m: M / (b h^2 / 6)
    1.5e+08 Pa
    """

    y: np.ndarray
    z: np.ndarray
    stress: np.ndarray
    round: bool = False

    def normal(self, loads: np.ndarray) -> np.ndarray:
        """Normal stress at all fibres (..., F), Pa, by loads (..., 6): N, Q_y, Q_z, M_x, M_y, M_z.

        >>> bar = bc.Section.rectangle(0.01, 0.02, E=210e9, nu=0.3, density=7850)
        >>> print(f"{bar.fibres.normal(np.array([600.0, 0, 0, 0, 0, 0])).max():.4g} Pa")    # N / A
        3e+06 Pa
        """
        return np.asarray(loads @ self.stress[:, 0].T)

    def equivalent(self, loads: np.ndarray) -> np.ndarray:
        """The largest equivalent stress by von Mises, (σ² + 3 τ²)^½, of all fibres (...,), Pa.

        loads: N, Q_y, Q_z, M_x, M_y, M_z, (..., 6).

        >>> bar = bc.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
        >>> stress = bar.fibres.equivalent(np.array([0, 0, 0, 10.0, 0, 0]))
        >>> print(f"{stress:.5g} Pa, by hand {3**0.5 * 16 * 10.0 / (np.pi * 0.02**3):.5g} Pa")
        1.1027e+07 Pa, by hand 1.1027e+07 Pa
        """
        flat = self._turned(loads.reshape(-1, 6))
        found = np.empty(len(flat))
        count = max(1, _BATCH // self.stress[..., 0].size)
        for begin in range(0, len(flat), count):
            part = slice(begin, begin + count)
            squares = np.einsum("fik,nk->nfi", self.stress, flat[part]) ** 2
            found[part] = np.max(squares @ np.array([1.0, 3.0, 3.0]), axis=1)
        return np.sqrt(found).reshape(loads.shape[:-1])

    def _turned(self, loads: np.ndarray) -> np.ndarray:
        """Loads (n, 6) of a round section in axes in which it bends about y, where fibres are farthest."""
        if not self.round:
            return loads
        _, along_y, along_z, _, about_y, about_z = loads.T
        turn = np.arctan2(about_z, about_y)
        c, s = np.cos(turn), np.sin(turn)
        found = loads.copy()
        found[:, 1], found[:, 2] = c * along_y + s * along_z, c * along_z - s * along_y
        found[:, 4], found[:, 5] = np.hypot(about_y, about_z), 0.0
        return found


def _fibres(
    y: Any, z: Any, area: float, second: tuple[float, float], shear: np.ndarray, is_round: bool = False
) -> Fibres:
    """Fibres with their shear stresses by Q_y, Q_z and M_x, (F, 2, 3)."""
    stress = np.zeros((len(y), 3, 6))
    stress[:, 0, 0] = 1.0 / area
    stress[:, 0, 4], stress[:, 0, 5] = z / second[0], -y / second[1]
    stress[:, 1:, 1:4] = shear
    return Fibres(y, z, stress, is_round)


def ring_fibres(outside: float, inside: float, area: float, second: float) -> Fibres:
    """Of a ring, or a disc, by its radii: 72 fibres at its surface, and of a disc the one in the middle.

    A cut along radii at both sides of the middle parts the ring at an angle from y, so that the shear force
    acts there with the first moment  2/3 (R³ - r³) cos  of the part beyond; at the surface it is along it.
    """
    angle = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    c, s = np.cos(angle), np.sin(angle)
    along = np.stack([-s, c], axis=1)
    cut = (outside**3 - inside**3) / (3.0 * second * (outside - inside))
    shear = np.stack([-cut * s[:, None] * along, cut * c[:, None] * along, 0.5 * outside / second * along], 2)
    y, z = outside * c, outside * s
    if inside == 0.0:
        middle = np.array([[[cut, 0.0, 0.0], [0.0, cut, 0.0]]])
        y, z, shear = np.append(y, 0.0), np.append(z, 0.0), np.concatenate([shear, middle])
    return _fibres(y, z, area, (second, second), shear, is_round=True)


def rectangle_fibres(width: float, height: float, second: tuple[float, float], torsion: float) -> Fibres:
    """Of a rectangle: nine fibres on each side, with its corners and its middle, and that of the whole."""
    ones = np.ones(len(_PARTS))
    v = np.concatenate([-ones, ones, _PARTS[1:-1], _PARTS[1:-1], [0.0]])  # y by half the width
    w = np.concatenate([_PARTS, _PARTS, -ones[1:-1], ones[1:-1], [0.0]])  # z by half the height
    area = width * height
    shear = np.zeros((len(v), 2, 3))
    shear[:, 0, 0], shear[:, 1, 1] = 1.5 / area * (1.0 - v**2), 1.5 / area * (1.0 - w**2)
    twisted = width <= height
    short, long, across, along = (width, height, v, w) if twisted else (height, width, w, v)
    on_long, on_short = _torsion_of_a_rectangle(short, long, across, along)
    # A moment about x turns y to z: along z it acts in the direction of y, along y against that of z.
    shear[:, 1, 2], shear[:, 0, 2] = (on_long, -on_short) if twisted else (on_short, -on_long)
    shear[:, :, 2] /= torsion
    return _fibres(0.5 * width * v, 0.5 * height * w, area, second, shear)


def _torsion_of_a_rectangle(
    short: float, long: float, across: np.ndarray, along: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Shear stress by torsion, by G times the twist, m: on the long sides along them, on the short ones too.

    across, along: places by half the short and half the long side. Timoshenko and Goodier, article 109, with
    the membrane  φ = 32 a²/π³ Σ (-1)^k/n³ (1 - cosh(nπy/2a)/cosh(nπb/2a)) cos(nπx/2a),  n = 2k + 1.
    """
    n, sign = _TERMS, (-1.0) ** np.arange(len(_TERMS))
    rate = 0.5 * np.pi * n * long / short  # times b: nπb/2a
    reach = np.abs(along)[:, None]
    over = np.exp(-rate * (1.0 - reach)) / (1.0 + np.exp(-2.0 * rate))
    level, slope = over * (1.0 + np.exp(-2.0 * rate * reach)), over * (1.0 - np.exp(-2.0 * rate * reach))
    turn = 0.5 * np.pi * n * across[:, None]
    factor = 8.0 * short / np.pi**2
    to_long = factor * np.sum(sign / n**2 * (1.0 - level) * np.sin(turn), axis=1)
    to_short = factor * np.sum(sign / n**2 * slope * np.cos(turn), axis=1) * np.sign(along)
    to_long[reach[:, 0] == 1.0] = to_short[np.abs(across) == 1.0] = 0.0  # a surface has no stress across it
    return to_long, to_short


def i_fibres(
    width: float, height: float, flange: float, web: float,
    area: float, second: tuple[float, float], torsion: float,
) -> Fibres:  # fmt: skip
    """Of an I: both surfaces of the flanges at their tips, quarters and beside the web, and of the web.

    It counts as thin: the flanges carry a shear force along y, their shear is along them; torsion exerts
    M t/J on the surfaces of a plate of thickness t, up to its tips.
    """
    tip, inner, middle = 0.5 * width, 0.5 * height - flange, 0.5 * (height - flange)
    y = np.array([-tip, -0.5 * tip, -0.5 * web, 0.0, 0.5 * web, 0.5 * tip, tip])
    beside = y[y != 0.0]
    surfaces = [(sides, top, out) for top in (1.0, -1.0) for out, sides in ((True, y), (False, beside))]
    places, shear = list[np.ndarray](), list[np.ndarray]()
    for sides, top, outer in surfaces:
        found = np.zeros((len(sides), 2, 3))
        found[:, 0, 0] = (tip**2 - sides**2) / (2.0 * second[1])
        found[:, 0, 1] = np.sign(sides) * top * middle * (tip - np.abs(sides)) / second[0]
        found[:, 0, 2] = (-top if outer else top) * flange / torsion
        places.append(np.stack([sides, np.full(len(sides), top * (0.5 * height if outer else inner))]))
        shear.append(found)
    for side in (-0.5 * web, 0.5 * web):
        z = inner * np.linspace(-1.0, 1.0, 5)
        found = np.zeros((len(z), 2, 3))
        found[:, 1, 1] = (width * flange * middle + 0.5 * web * (inner**2 - z**2)) / (second[0] * web)
        found[:, 1, 2] = 2.0 * side / torsion
        places.append(np.stack([np.full(len(z), side), z]))
        shear.append(found)
    every = np.concatenate(places, axis=1)
    return _fibres(every[0], every[1], area, second, np.concatenate(shear))
