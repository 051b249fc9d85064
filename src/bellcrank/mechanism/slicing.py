"""Solids cut by planes: mass and first and second moments of what lies beyond each of several planes.

A plane has a unit normal n and an offset d; beyond it is n.r > d. All planes of one cut share the normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from bellcrank.mechanism.checking import Quat, Vec3
from bellcrank.mechanism.rotation import matrix

_NODES: Final = 48  # of quadrature along a piece of a solid of revolution
_AT_ONCE: Final = 200_000  # triangles times planes


@dataclass(frozen=True, eq=False)
class MassBeyond:
    """The mass beyond n planes: mass (n,), kg, and about the frame's origin first (n, 3) and second moments.

    first: integrals of r, kg m. second: of r r^T (n, 3, 3), kg m^2.
    """

    mass: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def __add__(self, other: MassBeyond) -> MassBeyond:
        return MassBeyond(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def scaled(self, factor: float) -> MassBeyond:
        """The same with `factor` times the mass."""
        return MassBeyond(factor * self.mass, factor * self.first, factor * self.second)

    def mapped(self, linear: np.ndarray, shift: np.ndarray) -> MassBeyond:
        """The same after r becomes  linear r + shift; the mass is kept.

        shift: (3,), or (n, 3) for one of each plane.
        """
        first = self.first @ linear.T
        second = linear @ self.second @ linear.T
        shift = np.broadcast_to(shift, first.shape)
        across = first[:, :, None] * shift[:, None, :]
        moved = self.mass[:, None, None] * shift[:, :, None] * shift[:, None, :]
        second = second + across + np.swapaxes(across, 1, 2) + moved
        return MassBeyond(self.mass, first + self.mass[:, None] * shift, second)

    def moved(self, position: Vec3, rotation: Quat) -> MassBeyond:
        """The same in the frame in which this one's frame has the given pose."""
        return self.mapped(matrix(rotation), np.asarray(position, dtype=float))


def of_ball(radii: np.ndarray, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
    """Volumes of an ellipsoid with half axes `radii` along its frame: a unit ball stretched."""
    stretched = radii * normal
    size = float(np.linalg.norm(stretched))
    axis, h = stretched / size, np.clip(offsets / size, -1.0, 1.0)
    volume = np.pi / 3.0 * (1.0 - h) ** 2 * (2.0 + h)
    along = np.pi / 4.0 * (1.0 - h * h) ** 2
    square = np.pi * (2.0 / 15.0 - h**3 / 3.0 + h**5 / 5.0)
    aside = np.pi / 4.0 * (8.0 / 15.0 - h + 2.0 * h**3 / 3.0 - h**5 / 5.0)
    onto = np.outer(axis, axis)
    second = square[:, None, None] * onto + aside[:, None, None] * (np.eye(3) - onto)
    cap = MassBeyond(volume, along[:, None] * axis, second)
    return cap.scaled(float(np.prod(radii))).mapped(np.diag(radii), np.zeros(3))


def of_revolution(
    pieces: list[tuple[float, float, float, float, float]], normal: np.ndarray, offsets: np.ndarray
) -> MassBeyond:
    """Volumes of a solid about z made of discs.

    pieces: each from z0 to z1, with the square of the radius a + b z + c z^2.

    A plane cuts a disc along a chord. The segments beyond are integrated over z between the heights at which
    the plane enters and leaves the solid. There they grow with the square root of the height: sines of the
    nodes make that smooth, and Gauss's rule exact to rounding.
    """
    tilt, lean = float(np.hypot(normal[0], normal[1])), float(normal[2])
    across = normal[:2] / tilt if tilt > 0.0 else np.array([1.0, 0.0])
    frame = np.array([[across[0], -across[1], 0.0], [across[1], across[0], 0.0], [0.0, 0.0, 1.0]])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    angle = 0.5 * np.pi * nodes
    total = np.zeros((len(offsets), 10))
    for z0, z1, a, b, c in pieces:
        # The plane meets the rim where  (d - lean z)^2 = tilt^2 (a + b z + c z^2).
        ends = _crossings(
            lean * lean - tilt * tilt * c,
            -2.0 * lean * offsets - tilt * tilt * b,
            offsets * offsets - tilt * tilt * a,
        )
        sides = np.tile([z0, z1], (len(offsets), 1))
        heights = np.sort(np.clip(np.concatenate([sides, ends], axis=1), z0, z1), axis=1)
        middle, half = 0.5 * (heights[:, 1:] + heights[:, :-1]), 0.5 * np.diff(heights, axis=1)
        z = middle[..., None] + half[..., None] * np.sin(angle)
        by = half[..., None] * (0.5 * np.pi * weights * np.cos(angle))
        radius = np.sqrt(np.maximum(a + b * z + c * z * z, 0.0))
        gap, reach = offsets[:, None, None] - lean * z, tilt * radius
        inside = np.abs(gap) < reach
        cosine = np.where(inside, gap / np.where(inside, reach, 1.0), np.sign(gap))
        area, x, xx, yy = _segment(np.arccos(cosine), radius)
        powers = [area, x, 0.0 * x, area * z, xx, 0.0 * x, x * z, yy, 0.0 * x, area * z * z]
        total += np.stack([np.sum(by * power, axis=(1, 2)) for power in powers], axis=1)
    xx, xy, xz, yy, yz, zz = total[:, 4:].T
    second = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)
    return MassBeyond(total[:, 0], total[:, 1:4], second).mapped(frame, np.zeros(3))


def _crossings(a: float, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Real roots (n, 2) of  a z^2 + b z + c; infinite where there are none."""
    inner = b * b - 4.0 * a * c
    root = np.sqrt(np.maximum(inner, 0.0))
    far = -0.5 * (b + np.where(b < 0.0, -root, root))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.stack([far / a, c / far], axis=1)
    real = (inner >= 0.0)[:, None] & np.isfinite(found)
    return np.where(real, found, np.inf)


def _segment(phi: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, ...]:
    """Area and integrals of x, x^2 and y^2 of the part of a disc beyond  x = radius cos(phi)."""
    two, four = np.sin(2.0 * phi), np.sin(4.0 * phi)
    area = radius**2 * (phi - 0.5 * two)
    x = radius**3 * (2.0 / 3.0) * np.sin(phi) ** 3
    xx = radius**4 * (phi / 4.0 - four / 16.0)
    yy = radius**4 * (phi / 4.0 - two / 6.0 + four / 48.0)
    return area, x, xx, yy


def of_surface(
    vertices: np.ndarray, triangles: np.ndarray, normal: np.ndarray, offsets: np.ndarray
) -> MassBeyond:
    """Volumes of the solid that triangles enclose, counterclockwise from outside, or clockwise all of them.

    The part of each triangle beyond a plane spans a tetrahedron, with a sign, with a point on the plane. The
    cut itself spans none with that point: it needs no lid.
    """
    corners = vertices[triangles]
    count = max(1, _AT_ONCE // max(len(triangles), 1))
    parts = [
        _of_corners(corners, normal, offsets[k : k + count]) for k in range(0, max(len(offsets), 1), count)
    ]
    found = MassBeyond(*(np.concatenate([getattr(p, n) for p in parts]) for n in ("mass", "first", "second")))
    outwards = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) > 0.0
    return found if outwards else found.scaled(-1.0)


def _of_corners(corners: np.ndarray, normal: np.ndarray, offsets: np.ndarray) -> MassBeyond:
    points = corners[None] - offsets[:, None, None, None] * normal  # from a point on each plane
    height = points @ normal
    above = height > 0.0
    number = np.sum(above, axis=2)
    alone = np.where(number == 1, np.argmax(above, axis=2), np.argmin(above, axis=2))
    turn = (alone[..., None] + np.arange(3)) % 3  # the corner that is alone on its side first
    points = np.take_along_axis(points, turn[..., None], axis=2)
    height = np.take_along_axis(height, turn, axis=2)
    apex, others = points[:, :, :1], points[:, :, 1:]
    cut = (number == 1) | (number == 2)
    drop = height[:, :, :1] - height[:, :, 1:]
    share = np.where(cut[..., None], height[:, :, :1] / np.where(cut[..., None], drop, 1.0), 0.0)
    tip = np.concatenate([apex, apex + share[..., None] * (others - apex)], axis=2)
    whole, part = _tetrahedra(points), _tetrahedra(tip)
    factors = (number >= 2).astype(float), np.select([number == 1, number == 2], [1.0, -1.0], 0.0)
    total = [
        np.einsum("nt,nt...->n...", factors[0], w) + np.einsum("nt,nt...->n...", factors[1], p)
        for w, p in zip(whole, part, strict=True)
    ]
    return MassBeyond(*total).mapped(np.eye(3), offsets[:, None] * normal)


def _tetrahedra(corners: np.ndarray) -> tuple[np.ndarray, ...]:
    """Volume and moments of tetrahedra from the origin to triangles (..., 3, 3); signed by their sense."""
    a, b, c = (corners[..., k, :] for k in range(3))
    volume = np.sum(a * np.cross(b, c), axis=-1) / 6.0
    sums = a + b + c
    squares = np.einsum("...ki,...kj->...ij", corners, corners) + sums[..., :, None] * sums[..., None, :]
    return volume, 0.25 * volume[..., None] * sums, volume[..., None, None] / 20.0 * squares
