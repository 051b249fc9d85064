"""The depth buffer against a search through all triangles at each sample, and the shadows it casts."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank import _core

mpl.use("Agg")
RIGHT, UP, TOWARD = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AWAY = np.array([0.9, -0.4, 0.1]) / np.linalg.norm(
    [0.9, -0.4, 0.1]
)  # from the light: colours are a part of their own


def scattered(random, count, width, height):
    """Triangles of all sizes, also beside the picture, each a part of its own."""
    middles = random.uniform((-20, -20, -5), (width + 20, height + 20, 5), (count, 1, 3))
    sizes = 10.0 ** random.uniform(0.0, 2.0, (count, 1, 1))
    return middles + sizes * random.uniform(-1.0, 1.0, (count, 3, 3))


def painter_of(corners):
    meshes = [(three, np.tile(AWAY, (3, 1)), np.array([[0, 1, 2]], dtype=np.int32)) for three in corners]
    return _core.Painter(meshes, list(range(len(corners))))


def instant_of(colors, drawn=None, strength=1.0):
    count = len(colors)
    drawn = np.ones(count, dtype=np.uint8) if drawn is None else drawn.astype(np.uint8)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    return np.zeros((count, 3)), turns, np.ones(count), colors, np.zeros(count), drawn, strength, []


def nearest(corners, width, height):
    """At each sample the nearest triangle, -1 for none; and whether rounding decides."""
    y, x = np.mgrid[:height, :width] + 0.5
    y = height - y
    face, depth, doubtful = np.full(x.shape, -1), np.full(x.shape, np.inf), np.zeros(x.shape, dtype=bool)
    for number, (a, b, c) in enumerate(corners):
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        u = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / area
        v = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
        inside = np.minimum(np.minimum(u, v), 1.0 - u - v)
        z = -(a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2]))
        doubtful |= (np.abs(inside) < 1e-9) | (
            (inside > 0.0) & (np.abs(z - depth) < 1e-4 * (1.0 + np.abs(z)))
        )
        nearer = (inside > 0.0) & (z < depth)
        face[nearer], depth[nearer] = number, z[nearer]
    return face, doubtful


@pytest.mark.parametrize("seed", range(6))
def test_the_nearest_triangle_is_seen_at_each_sample(seed):
    random, width, height = np.random.default_rng(seed), 150, 101
    corners = scattered(random, 40, width, height)
    shares = np.linspace(0.0, 1.0, len(corners))
    colors = np.column_stack([np.ones(40), shares, np.zeros(40), np.ones(40)])
    view, out = (RIGHT, UP, TOWARD, 0.0, float(height), 1.0), np.empty((height, width, 4), dtype=np.float32)
    here = instant_of(colors)
    painter_of(corners).paint(view, [instant_of(colors, np.zeros(40)), here], None, 1, out)
    face, doubtful = nearest(corners, width, height)
    assert np.mean(doubtful) < 0.01
    assert_allclose(out[..., 3][~doubtful], (face >= 0)[~doubtful])
    clear = ~doubtful & (face >= 0)
    assert np.mean(clear) > 0.1
    assert_allclose(
        (out[..., 1] / np.where(out[..., 0] > 0.0, out[..., 0], 1.0))[clear], shares[face[clear]], atol=1e-5
    )
    # In the middle of a piece there is no outline.
    same = np.ones_like(clear)
    for axis in (0, 1):
        for step in (1, -1):
            same &= np.roll(face, step, axis) == face
    same[0] = same[-1] = same[:, 0] = same[:, -1] = False
    assert_allclose(out[..., 0][clear & same], 0.6, atol=1e-5)
    bounds = painter_of(corners).bounds(here, np.array([RIGHT, TOWARD])).reshape(-1, 2, 2)
    assert_allclose(bounds[:, 0], np.stack([corners[..., 0].min(1), corners[..., 0].max(1)], axis=1))
    assert_allclose(bounds[:, 1], np.stack([corners[..., 2].min(1), corners[..., 2].max(1)], axis=1))


def test_bytes_are_the_same_picture_on_white():
    random = np.random.default_rng(1)
    corners = scattered(random, 30, 80, 60)
    colors = random.uniform(0.0, 1.0, (30, 4))
    view = (RIGHT, UP, TOWARD, 0.0, 60.0, 2.0)
    instants = [instant_of(colors, np.arange(30) < 5), instant_of(colors, np.arange(30) >= 5, 0.7)]
    numbers, data = np.empty((60, 80, 4), dtype=np.float32), np.zeros((60, 80, 4), dtype=np.uint8)
    painter = painter_of(corners)
    painter.paint(view, instants, None, 2, numbers)
    painter.paint(view, instants, None, 2, data)
    on_white = 255.0 * (numbers[..., :3] + 1.0 - numbers[..., 3:])
    assert_allclose(data[..., :3], on_white, atol=0.51)
    assert np.all(data[..., 3] == 255)


def test_wrong_arrays_are_refused():
    corners = np.zeros((2, 3, 3))
    painter = painter_of(corners)
    view = (RIGHT, UP, TOWARD, 0.0, 1.0, 1.0)
    out = np.empty((4, 4, 4), dtype=np.float32)
    good = instant_of(np.ones((2, 4)))
    with pytest.raises(ValueError, match="colours must be 2, got 3"):
        painter.paint(view, [(*good[:3], np.ones((3, 4)), *good[4:])], None, 1, out)
    three, none = np.zeros((3, 3)), np.zeros((0, 3))
    for bend, told in (
        ((2, three, three, none), "no part to bend"),
        ((1, np.zeros((4, 3)), three, none), "vertices must be 3, got 4"),
        ((1, three, none, none), "normals must be 3, got 0"),
        ((1, three, three, np.zeros((2, 3))), "colours must be 3, got 2"),
    ):
        with pytest.raises(ValueError, match=told):
            painter.paint(view, [(*good[:-1], [bend])], None, 1, out)
    with pytest.raises(ValueError, match="no vertex"):
        _core.Painter([(np.zeros((3, 3)), np.zeros((3, 3)), np.array([[0, 1, 3]], dtype=np.int32))], [0])
    with pytest.raises(ValueError, match="no mesh"):
        _core.Painter([], [0])
    with pytest.raises(TypeError):  # a copy would be painted instead
        painter.paint(view, [instant_of(np.ones((2, 4)))], None, 1, np.empty((4, 4, 4)))


def test_places_that_are_no_numbers_are_not_painted():
    corners = np.array(
        [[[0, 0, 0], [9, 0, 0], [0, 9, 0]], [[0, 0, 1], [np.nan, 0, 1], [0, 9, 1]]], dtype=float
    )
    out = np.empty((9, 9, 4), dtype=np.float32)
    colors = np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    painter_of(corners).paint((RIGHT, UP, TOWARD, 0.0, 9.0, 1.0), [instant_of(colors)], None, 1, out)
    assert np.all(np.isfinite(out))
    assert out[..., 0].max() > 0.5
    assert out[..., 1].max() == 0.0


def test_a_shadow_falls_on_the_ground_that_is_described():
    mech = bc.Mechanism("on a plate", gravity=(0, 0, -9.81))
    plate = bc.Box(size=(6.0, 6.0, 0.02), position=(0, 0, -0.01), color=(0.8, 0.8, 0.8))
    mech.replace(mech.ground, shapes=[plate])
    mech.add_body(
        "ball", shapes=[bc.Sphere(radius=0.5, density=1.0, color=(1.0, 0.0, 0.0))], position=(0, 0, 0.5)
    )
    figure = mech.draw(view=(30.0, 60.0), dpi=60)
    pixels = np.asarray(figure.axes[0].images[0].get_array())
    plt.close(figure)
    grey = (np.ptp(pixels[..., :3], axis=2) < 0.02) & (pixels[..., 3] > 0.99)
    light = pixels[..., 0][grey]
    usual = np.median(light)
    assert 0.02 < np.mean(light < 0.97 * usual) < 0.3
    assert light[light < 0.97 * usual].max() > 0.8 * usual
