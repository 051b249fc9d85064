"""Where things are in a picture, what hides what, and what is said where no picture can be made."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

import bellcrank as bc
from bellcrank import scene
from bellcrank.errors import MechanismError
from bellcrank.mechanism.rotation import about
from bellcrank.scene.view import view_of

mpl.use("Agg")
RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def balls():
    """A red and a blue ball without weight, and a third that nobody colours."""
    mech = bc.Mechanism("balls", gravity=(0, 0, 0))
    for name, color, place in (("red", RED, (0, 0, 0)), ("blue", BLUE, (3, 1, 2)), ("grey", None, (1, 4, 3))):
        ball = bc.Sphere(radius=0.25, density=1.0, color=color)
        mech.add_body(name, shapes=[ball], position=place)
    return mech


def painted(figure):
    """The painted picture (h, w, 4) of a figure, and for each pixel its place in the axes (h, w, 2)."""
    (image,) = figure.axes[0].images
    left, right, low, high = image.get_extent()
    pixels = np.asarray(image.get_array())
    x = left + (np.arange(pixels.shape[1]) + 0.5) / pixels.shape[1] * (right - left)
    y = high - (np.arange(pixels.shape[0]) + 0.5) / pixels.shape[0] * (high - low)
    return pixels, np.stack(np.meshgrid(x, y), axis=-1)


def place_of(figure, color):
    """Middle and half extent of the pixels of a colour, in the axes."""
    pixels, places = painted(figure)
    other = 1 - np.argmax(color) if np.argmax(color) < 2 else 0
    this = (pixels[..., np.argmax(color)] > pixels[..., other] + 0.25) & (pixels[..., 3] > 0.5)
    found = places[this]
    return 0.5 * (found.min(axis=0) + found.max(axis=0)), 0.5 * np.ptp(found, axis=0)


@pytest.mark.parametrize("view", ["front", "right", "top", "oblique", (40.0, -20.0), (1.0, 2.0, 0.5)])
def test_bodies_are_where_they_are_projected(balls, view):
    figure = balls.draw(view=view, dpi=60, state=None)
    seen = view_of(scene.of(balls), view)
    for color, place in ((RED, (0, 0, 0)), (BLUE, (3, 1, 2))):
        middle, half = place_of(figure, color)
        assert_allclose(middle, seen.project(place)[:2], atol=0.03)
        assert_allclose(half, 0.25, atol=0.04)


def test_the_named_views_have_their_sides():
    made = scene.of(bc.Mechanism("empty"))
    x, y, z = np.eye(3)
    for name, right, up in (
        ("front", x, z), ("back", -x, z), ("right", y, z), ("left", -y, z), ("top", x, y), ("bottom", x, -y),
    ):  # fmt: skip
        view = view_of(made, name)
        assert_allclose(view.right, right, atol=1e-12, err_msg=name)
        assert_allclose(view.up, up, atol=1e-12, err_msg=name)
        assert_allclose(np.cross(view.right, view.up), view.toward, atol=1e-12)


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81), (0, 0, 0)])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (0, 1, 0)])
def test_a_plane_mechanism_is_seen_straight_with_what_is_above_above(gravity, axis):
    mech = bc.Mechanism("pendulum", gravity=gravity)
    one = mech.add_body("one", 1.0, (1, 1, 1), position=(1, 0, 0))
    two = mech.add_body("two", 1.0, (1, 1, 1), position=(2, 0, 0))
    mech.add_joint("a", bc.Revolute(), mech.ground.marker(axis=axis), one.marker((-1, 0, 0), axis=axis))
    mech.add_joint("b", bc.Revolute(), one.marker(axis=axis), two.marker((-1, 0, 0), axis=axis))
    view = view_of(scene.of(mech))
    assert view.plane
    assert_allclose(abs(view.toward @ axis), 1.0)
    assert view.right[0] > 0.99
    assert view.up @ np.asarray(gravity) <= 1e-9


def test_a_mechanism_in_space_is_seen_from_above_the_horizon():
    view = view_of(scene.of(bc.gallery.stewart_platform()))
    assert not view.plane
    assert 0.2 < view.toward[2] < 0.6


def test_what_is_nearer_hides_what_is_behind():
    mech = bc.Mechanism("two", gravity=(0, 0, 0))
    for name, color, y in (("far", BLUE, 5.0), ("near", RED, -5.0)):
        mech.add_body(name, 1.0, (1, 1, 1), shapes=[bc.Box(size=(1, 1, 1), color=color)], position=(0, y, 0))
    for view, color in (("front", RED), ("back", BLUE)):
        pixels, _ = painted(mech.draw(view=view, dpi=30))
        middle = pixels[pixels.shape[0] // 2, pixels.shape[1] // 2]
        assert np.argmax(middle[:3]) == np.argmax(color)
        assert middle[3] > 0.99


def test_a_run_is_drawn_where_it_was_and_fades(tmp_path):
    mech = bc.Mechanism("stone", gravity=(0, 0, -10))
    shapes = [bc.Box(size=(0.2, 0.4, 0.6), density=100.0, position=(0.1, 0, 0), color=RED)]
    mech.add_body("stone", shapes=shapes, position=(0, 0, 9), velocity=(1, 0, 0))
    bc.simulate(mech, 1.0, path=tmp_path / "run.h5")
    run = bc.Trajectory.load(tmp_path / "run.h5")
    middle, half = place_of(run.draw(times=0.5, view="front", dpi=60), RED)
    assert_allclose(middle, [0.6, 7.75], atol=0.01)
    assert_allclose(half, [0.1, 0.3], atol=0.02)
    figure = run.draw(times=[0.0, 1.0], view="front", dpi=60, paths=["stone"])
    pixels, places = painted(figure)
    strength = {}
    for time, centre in ((0.0, (0.1, 9.0)), (1.0, (1.1, 4.0))):
        at = np.argmin(np.linalg.norm(places - centre, axis=-1))
        strength[time] = pixels.reshape(-1, 4)[at, 3]
    assert 0.1 < strength[0.0] < 0.6 < 0.99 < strength[1.0]
    path = figure.axes[0].lines[1].get_xydata()
    assert_allclose(path, np.stack([run.time, 9.0 - 5.0 * run.time**2], axis=1), atol=1e-9)
    for options, text in (
        ({"times": 2.0}, "this time lies outside"),
        ({"instants": 0}, "instants must be"),
        ({"instants": 1000}, "at most 100"),
        ({"paths": ["ston"]}, "no body and no marker of this name.*stone"),
        ({"colour": RED}, "no option of this name.*color"),
        ({"view": "frnt"}, "no view of this name.*front"),
        ({"view": (0, 0, 0)}, "a view is a name, two angles or a direction"),
        ({"only": ["rock"]}, "no body of this name"),
        ({"size": (0, 1)}, "size must be greater than zero"),
        ({"path": "x.bmp"}, "this kind of picture is not known"),
    ):
        with pytest.raises(MechanismError, match=text):
            run.draw(**options)


def test_paths_of_markers(tmp_path):
    mech = bc.Mechanism("wheel", gravity=(0, 0, 0))
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1))
    mech.add_marker(wheel.marker((1, 0, 0), name="rim"))
    mech.add_joint("axle", bc.RevoluteMotor(velocity=2.0), mech.ground, wheel)
    run = bc.simulate(mech, 1.0)
    for given in ("wheel.rim", wheel.marker((1, 0, 0))):
        line = run.draw(paths=[given], view="top", dpi=30).axes[0].lines[1].get_xydata()
        angle = 2.0 * run.time
        assert_allclose(line, np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-6)


def test_the_path_of_a_body_is_that_of_its_origin():
    mech = bc.Mechanism("bob", gravity=(0, 0, 0))
    bob = mech.add_body("bob", 1.0, (1, 1, 1), com=(0.5, 0, 0), position=(1.0, 0, 0))
    mech.add_joint("axle", bc.RevoluteMotor(velocity=2.0), mech.ground, bob.marker((-1.0, 0, 0)))
    run = bc.simulate(mech, 1.0)
    line = run.draw(paths="bob", view="top", dpi=30).axes[0].lines[1].get_xydata()
    assert_allclose(line, run.body("bob").position[:, :2], atol=1e-12)


def test_only_some_bodies_in_one_colour_and_the_box(balls):
    figure = balls.draw(only=["grey"], color=BLUE, view="front", dpi=60, box=((-1, -1, -1), (5, 5, 5)))
    middle, _ = place_of(figure, BLUE)
    assert_allclose(middle, [1.0, 3.0], atol=0.03)
    pixels, _ = painted(figure)
    assert not np.any(pixels[..., 0] > pixels[..., 2] + 0.25)
    left, right, low, high = figure.axes[0].images[0].get_extent()
    assert left <= -1 < 5 <= right
    assert low <= -1 < 5 <= high


def test_the_scale_bar_is_as_long_as_it_says(balls):
    axes = balls.draw(dpi=30).axes[0]
    (bar,), (text,) = axes.lines, axes.texts
    length, unit = text.get_text().split()
    assert unit == "m"
    assert_allclose(np.ptp(bar.get_xdata()), float(length))
    assert not balls.draw(dpi=30, scale=False).axes[0].lines


def test_names_stand_on_the_bodies(balls):
    texts = {
        text.get_text(): text.get_position()
        for text in balls.draw(names=True, view="front", dpi=30).axes[0].texts
    }
    assert_allclose(texts["blue"], [3.0, 2.0], atol=1e-6)


def test_coincident_surfaces_do_not_flicker():
    mech = bc.Mechanism("crossed", gravity=(0, 0, 0))
    bar = bc.Box(size=(1.0, 0.2, 0.1))
    for name, color, angle in (("first", BLUE, 0.0), ("second", RED, 1.2)):
        turn = about((0.0, 0.0, 1.0), angle)
        mech.add_body(name, 1, (1, 1, 1), shapes=[bc.Box(size=bar.size, color=color)], rotation=turn)
    pixels, places = painted(mech.draw(view="top", dpi=80))
    middle = np.linalg.norm(places, axis=-1) < 0.08
    assert len({int(np.argmax(pixel[:3])) for pixel in pixels[middle]}) == 1


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_pictures_are_files(tmp_path, balls, suffix):
    path = tmp_path / f"balls{suffix}"
    balls.draw(path, dpi=40)
    start = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)


def test_into_axes_of_ones_own(balls):
    figure = mpl.figure.Figure(figsize=(6, 3))
    axes = figure.add_subplot(1, 2, 2)
    assert balls.draw(axes=axes, view="front", dpi=50) is figure
    assert len(axes.images) == 1
    wide, high = np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())
    box = axes.get_window_extent()
    assert_allclose(wide / high, box.width / box.height, rtol=0.02)


def test_a_mesh_is_drawn(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box(extents=(200.0, 400.0, 600.0)).export(tmp_path / "block.stl")
    mech = bc.Mechanism("mesh", gravity=(0, 0, 0))
    shape = bc.Mesh(file=str(tmp_path / "block.stl"), scale=0.001, color=RED)
    mech.add_body("block", 1.0, (1, 1, 1), shapes=[shape])
    middle, half = place_of(mech.draw(view="front", dpi=60), RED)
    assert_allclose(middle, 0.0, atol=0.01)
    assert_allclose(half, [0.1, 0.3], atol=0.02)
    mech.add_body("lost", 1.0, (1, 1, 1), shapes=[bc.Mesh(file="nowhere.stl")], position=(2, 0, 0))
    assert "nowhere.stl" in " ".join(scene.of(mech).faults)
    mech.draw(dpi=20)


@pytest.mark.parametrize("name", bc.gallery.catalogue())
def test_the_gallery_is_drawn(name):
    figure = bc.gallery.catalogue()[name]().draw(dpi=25)
    pixels, _ = painted(figure)
    drawn = pixels[..., 3] > 0.5
    assert 0.01 < drawn.mean() < 0.8
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    margins = (rows[0], columns[0], drawn.shape[0] - 1 - rows[-1], drawn.shape[1] - 1 - columns[-1])
    assert min(margins) >= 1
    wide, high = len(columns) / drawn.shape[1], len(rows) / drawn.shape[0]
    assert max(np.ptp(rows) / drawn.shape[0], np.ptp(columns) / drawn.shape[1]) > 0.6, (wide, high)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import bellcrank as bc\n"
        "mech = bc.gallery.four_bar()\n"
        "assert '<img' not in mech._repr_html_() and 'Revolute' in mech._repr_html_()\n"
        "try: mech.draw()\n"
        "except bc.Unsupported as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'bellcrank[plot]'" in done.stdout
