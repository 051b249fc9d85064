"""Times of impact against closed forms, and as the first of a fine series of gaps."""

import numpy as np
import pytest
from rigs.convex_oracles import convex_shapes, least_points, pose
from scipy.spatial.transform import Rotation

from bellcrank import _core

Shape = _core.CollisionShape
STILL = (0.0, 0.0, 0.0)


def impact(a, at_a, v_a, w_a, b, at_b, v_b=STILL, w_b=STILL, duration=1.0, tolerance=1e-9):
    return _core.time_of_impact(a, at_a, v_a, w_a, b, at_b, v_b, w_b, duration, tolerance)


def test_two_spheres_meet_when_their_distance_says():
    a, b = Shape.sphere(0.1), Shape.sphere(0.2)
    found = impact(a, pose((0, 0.1, 10)), (0, 0, -20), STILL, b, pose(), (0, 0, 5))
    assert found[0] == pytest.approx((10 - np.sqrt(0.3**2 - 0.1**2)) / 25, abs=1e-9)
    assert found[7] == pytest.approx(0.0, abs=1e-9)
    assert impact(a, pose((0, 0.31, 10)), (0, 0, -20), STILL, b, pose(), (0, 0, 5)) is None
    assert impact(a, pose((0, 0.1, 10)), (0, 0, -9), STILL, b, pose()) is None


def test_a_fast_ball_does_not_pass_a_thin_wall():
    wall = Shape.box((1.0, 1.0, 5e-4))
    for ground in (wall, Shape.plane(), Shape.height_field(np.zeros((9, 9)), (-1, -1), (0.25, 0.25))):
        found = impact(
            Shape.sphere(0.01), pose((0.1, 0.2, 3)), (0, 0, -900), STILL, ground, pose(), tolerance=1e-7
        )
        top = 5e-4 if ground is wall else 0.0
        assert found[0] == pytest.approx((2.99 - top) / 900, abs=1e-9)
        assert found[4:7] == pytest.approx([0, 0, 1])


@pytest.mark.parametrize("kind", ["capsule", "cylinder", "cone", "ellipsoid", "box", "hull"])
def test_a_tumbling_shape_meets_a_box_at_the_first_small_gap(kind):
    known, box = convex_shapes()[kind], Shape.box((0.6, 0.5, 0.4))
    v, w = np.array([-3.0, 0.4, -0.3]), np.array([2.0, 5.0, -3.0])
    found = impact(known.shape, pose((2.5, 0, 0.2)), v, w, box, pose(), w_b=(0, 0, 1.0), tolerance=1e-8)
    t = np.linspace(0.0, found[0], 4000)
    turn_a, turn_b = Rotation.from_rotvec(t[:, None] * w), Rotation.from_rotvec(t[:, None] * [0, 0, 1.0])
    at_a = np.hstack([[2.5, 0, 0.2] + t[:, None] * v, np.roll(turn_a.as_quat(), 1, axis=1)])
    at_b = np.hstack([np.zeros((4000, 3)), np.roll(turn_b.as_quat(), 1, axis=1)])
    gaps = least_points(_core.collide(known.shape, at_a, box, at_b, np.inf), 4000)[:, 6]
    assert 0.1 < found[0] < 1.0
    assert gaps[:-1].min() > 0
    assert gaps[-1] == pytest.approx(found[7], abs=1e-7)
    assert 0 < found[7] <= 1e-8


def test_what_cannot_be_bounded_is_refused():
    sphere = Shape.sphere(0.1)
    with pytest.raises(ValueError, match="a plane has no bounds and must not turn"):
        impact(sphere, pose((0, 0, 1)), STILL, STILL, Shape.plane(), pose(), w_b=(0, 1, 0))
    with pytest.raises(ValueError, match="the tolerance must be positive, got 0"):
        impact(sphere, pose((0, 0, 1)), STILL, STILL, Shape.plane(), pose(), tolerance=0.0)
