"""Gears whose teeth mesh and belts that lie round their pulleys."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import scene
from bellcrank.scene.wheels import belt_way


def pair(kind, distance=0.45, shapes=()):
    mech = bc.Mechanism("pair", gravity=(0.0, 0.0, 0.0))
    one = mech.add_body("one", 1.0, (0.01, 0.01, 0.02), shapes=shapes)
    two = mech.add_body("two", 1.0, (0.01, 0.01, 0.02), position=(0.0, distance, 0.0), shapes=shapes)
    mech.add_joint("first", bc.Revolute(), mech.ground, one)
    mech.add_joint("second", bc.Revolute(), mech.ground.marker((0.0, distance, 0.0)), two)
    mech.add_constraint("pair", kind, one, two)
    return scene.of(mech)


def wheel(drawn, body):
    return next(piece for piece in drawn.bodies[body] if piece.name == f"{body}/pair")


def angles(piece, radius):
    """The angles of tips, rad."""
    x, y, _ = piece.vertices.T
    outer = np.hypot(x, y) > radius
    return np.unique(np.round(np.arctan2(y[outer], x[outer]), 6))


@pytest.mark.parametrize(
    ("kind", "radii"),
    [
        (bc.Gear(radii=(0.3, 0.15)), (0.3, 0.15)),
        (bc.Gear(ratio=2.0), (0.15, 0.3)),
        (bc.Gear(teeth=(40, 20)), (0.3, 0.15)),
    ],
)
def test_gears_touch_at_their_pitch_circles_and_teeth_meet_gaps(kind, radii):
    drawn = pair(kind)
    for body, radius in zip(("one", "two"), radii, strict=True):
        x, y, _ = wheel(drawn, body).vertices.T
        reach = np.hypot(x, y)[np.hypot(x, y) > 0.5 * radius]
        assert reach.min() < radius < reach.max()
    one, two = (
        angles(wheel(drawn, body), radius) for body, radius in zip(("one", "two"), radii, strict=True)
    )
    assert np.abs(one - np.pi / 2).min() == pytest.approx(
        0.16 * 2 * np.pi / (len(one) / 2), rel=1e-3
    )  # a tooth
    assert np.abs(two + np.pi / 2).min() == pytest.approx(
        0.34 * 2 * np.pi / (len(two) / 2), rel=1e-3
    )  # a gap
    if kind.teeth is not None:
        assert len(one) == 2 * kind.teeth[0]


@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_is_as_long_as_the_closed_form_says(crossed):
    r, s, d = 0.1, 0.2, 0.7
    way = belt_way((r, s), np.array((0.0, d)), crossed)
    found = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    lift = np.arcsin(((r + s) if crossed else (s - r)) / d)
    around = (r + s) * (np.pi + 2 * lift) if crossed else np.pi * (r + s) + 2 * lift * (s - r)
    assert found == pytest.approx(2 * d * np.cos(lift) + around, rel=1e-3)
    drawn = pair(bc.Belt(radii=(r, s), crossed=crossed), d)
    belt = next(piece for piece in drawn.bodies["ground"] if piece.name == "ground/pair")
    low, high = belt.vertices.min(axis=0), belt.vertices.max(axis=0)
    assert np.allclose((low[1], high[1]), (-r, d + s), atol=0.02)


def test_pulleys_that_lie_in_each_other_have_no_belt():
    assert belt_way((0.3, 0.1), np.array((0.1, 0.0)), False) is None


def test_bodies_with_shapes_keep_to_them():
    drawn = pair(bc.Gear(radii=(0.3, 0.15)), shapes=[bc.Cylinder(0.1, 0.02)])
    assert [len(drawn.bodies[body]) for body in ("one", "two")] == [1, 1]


def test_a_belt_between_frames_that_move_is_left_out():
    mech = bc.Mechanism("far", gravity=(0.0, 0.0, 0.0))
    bodies = [
        mech.add_body(name, 1.0, (0.01, 0.01, 0.02), position=(0.0, 0.5 * k, 0.0))
        for k, name in enumerate("abc")
    ]
    mech.add_joint("first", bc.Revolute(), mech.ground, bodies[0])
    mech.add_joint("second", bc.Revolute(), bodies[1], bodies[2].marker((0.0, -0.5, 0.0)))
    mech.add_constraint("belt", bc.Belt(radii=(0.1, 0.1)), bodies[0], bodies[2])
    drawn = scene.of(mech)
    assert not any(piece.name.endswith("/belt") for piece in drawn.bodies["ground"])


@pytest.mark.parametrize("span", [0.2, 0.9, 1.0, 1.4])
def test_a_string_is_drawn_as_long_as_it_is(span):
    mech = bc.Mechanism("string")
    ball = mech.add_body("ball", 1.0, (0.01, 0.01, 0.01), position=(span, 0.0, 0.0))
    mech.add_joint("free", bc.Free(), mech.ground, ball)
    mech.add_force("string", bc.RubberString(stiffness=10.0, rest_length=1.0), mech.ground, ball)
    drawn = scene.of(mech)
    placed = drawn.placed()
    parts = len(placed.stretch) - len(drawn.pieces)
    assert parts == 10
    assert len(drawn.drawn) == len(placed.stretch)
    long = placed.stretch[-parts:].sum()
    assert long == pytest.approx(max(span, 1.0), rel=0.05 if span > 0.5 else 0.15)
    lowest = placed.position[-parts:, 2].min()
    assert (lowest < -0.1) == (span < 1.0)
    assert np.allclose(placed.position[-parts], (0.0, 0.0, 0.0))
