"""Solids beyond planes: against closed forms, other ways to cut them, and their whole."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.slicing import MassBeyond, of_revolution, of_surface

SHAPES = [
    bc.Box(size=(0.3, 0.5, 0.7)),
    bc.Sphere(radius=0.4),
    bc.Ellipsoid(radii=(0.2, 0.3, 0.5)),
    bc.Cylinder(radius=0.2, length=0.9),
    bc.Capsule(radius=0.2, length=0.5),
    bc.Cone(radius=0.3, height=0.8),
    bc.Prism(outline=((0.1, 0.0), (0.5, 0.1), (0.3, 0.6), (0.0, 0.4)), length=0.5),
]
NORMALS = [(0, 0, 1), (1, 0, 0), (0, -1, 0), (0.6, 0.0, 0.8), (-0.48, 0.64, 0.6), (1e-9, 0, 1)]


def _close(one: MassBeyond, other: MassBeyond, tolerance: float = 1e-12) -> None:
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=tolerance)


def _whole(shape: bc.Shape) -> MassBeyond:
    """From the mass properties, whose formulas are others."""
    known = shape.volume_properties()
    second = 0.5 * np.trace(known.inertia) * np.eye(3) - known.inertia
    second = second + known.mass * np.outer(known.com, known.com)
    return MassBeyond(np.array([known.mass]), known.mass * known.com[None], second[None])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("normal", NORMALS)
def test_both_sides_of_planes_are_the_whole(shape: bc.Shape, normal: tuple[float, ...]) -> None:
    n = np.array(normal) / np.linalg.norm(normal)
    offsets = np.linspace(-1.0, 1.0, 23)
    beyond, before = shape.volume_beyond(n, offsets), shape.volume_beyond(-n, -offsets)
    whole = _whole(shape)
    _close(
        beyond + before, MassBeyond(*(np.tile(x, (23,) + (1,) * (x.ndim - 1)) for x in vars(whole).values()))
    )
    assert beyond.mass[0] == pytest.approx(whole.mass[0], rel=1e-12)
    assert np.all(np.diff(beyond.mass) <= 1e-15)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_first_moments_are_those_of_the_sections(shape: bc.Shape) -> None:
    """d first.n / d offset = offset d mass / d offset: what leaves lies on the plane."""
    n, h = np.array([0.48, -0.36, 0.8]), 1e-3
    d = np.linspace(-0.25, 0.25, 11)
    steps = np.array([-3, -2, -1, 1, 2, 3]) * h
    weights = np.array([-1, 9, -45, 45, -9, 1]) / (60 * h)
    found = [shape.volume_beyond(n, d + step) for step in steps]
    mass = sum(w * one.mass for w, one in zip(weights, found, strict=True))
    along = sum(w * one.first @ n for w, one in zip(weights, found, strict=True))
    square = sum(w * n @ one.second @ n for w, one in zip(weights, found, strict=True))
    np.testing.assert_allclose(along, d * mass, atol=2e-7)
    np.testing.assert_allclose(square, d * d * mass, atol=2e-7)


@pytest.mark.parametrize("normal", NORMALS[:-1])
def test_a_ball_of_discs_is_a_ball(normal: tuple[float, ...]) -> None:
    n, offsets = np.array(normal) / np.linalg.norm(normal), np.linspace(-0.5, 0.5, 17)
    _close(
        of_revolution([(-0.4, 0.4, 0.16, 0.0, -1.0)], n, offsets),
        bc.Sphere(radius=0.4).volume_beyond(n, offsets),
    )


def test_a_hoof_and_a_corner() -> None:
    r, h = 0.3, 0.5
    n = np.array([h, 0.0, -r]) / sqrt(h * h + r * r)  # through a diameter of the base and the top's rim
    hoof = bc.Cylinder(radius=r, length=h).volume_beyond(n, np.array([n @ [0.0, 0.0, -h / 2]]))
    assert hoof.mass[0] == pytest.approx(2.0 / 3.0 * r * r * h, rel=1e-13)
    assert hoof.first[0, 0] == pytest.approx(pi / 8.0 * r**3 * h, rel=1e-13)
    n = np.ones(3) / sqrt(3.0)
    corner = bc.Box(size=(2.0, 2.0, 2.0)).volume_beyond(n, np.array([n @ [1.0, 1.0, 0.4]]))
    assert corner.mass[0] == pytest.approx(0.6**3 / 6.0, rel=1e-13)
    np.testing.assert_allclose(corner.first[0], corner.mass[0] * (1.0 - 0.15) * np.ones(3), rtol=1e-13)


def test_polyhedra_converge_to_a_cone() -> None:
    """Polygons of n corners miss a circle by 1/n^2: extrapolated."""
    n, offsets = np.array([0.6, 0.0, 0.8]), np.linspace(-0.3, 0.3, 7)

    def faceted(count: int) -> np.ndarray:
        turn = 2.0 * pi * np.arange(count) / count
        rim = np.column_stack([0.3 * np.cos(turn), 0.3 * np.sin(turn), np.full(count, -0.4)])
        vertices = np.vstack([rim, [[0.0, 0.0, 0.4], [0.0, 0.0, -0.4]]])
        here = np.arange(count)
        beyond = (here + 1) % count
        sides = np.column_stack([here, beyond, np.full(count, count)])
        base = np.column_stack([beyond, here, np.full(count, count + 1)])
        return of_surface(vertices, np.vstack([sides, base]), n, offsets).mass

    extrapolated = (4.0 * faceted(4000) - faceted(2000)) / 3.0
    exact = bc.Cone(radius=0.3, height=0.8).volume_beyond(n, offsets).mass
    np.testing.assert_allclose(extrapolated, exact, atol=1e-9)


def test_shapes_are_cut_where_they_are() -> None:
    shape = bc.Cylinder(
        radius=0.1, length=0.6, density=1000.0, position=(0.3, 0.1, -0.2), rotation=(0.6, 0.0, 0.8, 0.0)
    )
    known = shape.mass_properties()
    found = shape.mass_beyond(np.array([0.0, 1.0, 0.0]), np.array([-9.0, 0.1, 9.0]))
    np.testing.assert_allclose(found.mass, known.mass * np.array([1.0, 0.5, 0.0]), atol=1e-13)
    np.testing.assert_allclose(found.first[0], known.mass * known.com, atol=1e-13)
