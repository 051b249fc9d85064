"""Contacts in pictures and films: marks at recorded points, arrows of recorded forces, and their key."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from PIL import Image

import bellcrank as bc
from bellcrank import scene
from bellcrank.errors import MechanismError
from bellcrank.scene.contact_marks import CUT, FORCE, LONGEST, SLIPS, STICKS, force_text, round_down
from bellcrank.scene.view import view_of

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def boxes():
    """A tower of two boxes that stands, and a box that slides beside it."""
    mech = bc.Mechanism("boxes")
    mech.replace(mech.ground, shapes=[bc.Plane(size=2.0)])
    cube = bc.Box(size=(0.2, 0.2, 0.2), density=500.0)
    mech.add_body("lower", shapes=[cube], position=(0, 0, 0.1))
    mech.add_body("upper", shapes=[cube], position=(0, 0, 0.3))
    mech.add_body("slider", shapes=[cube], position=(0.3, 0, 0.1), velocity=(2.0, 0, 0))
    mech.add_force("touch", bc.Contact(1e5, friction=0.4), "lower", "upper", "slider", "ground")
    return mech


@pytest.fixture(scope="module")
def run():
    return bc.simulate(boxes(), 0.3, output_step=0.01)


@pytest.fixture(scope="module")
def wheel():
    """A wheel with a tyre that rolls down a slope."""
    mech = bc.Mechanism("cart wheel", gravity=(1.0, 0, -9.76))
    mech.replace(mech.ground, shapes=[bc.Plane(size=4)])
    body = mech.add_body("wheel", mass=40, inertia=(1.2, 2.4, 1.2), position=(0, 0, 0.3311))
    tyre = bc.Tyre(radius=0.338, width=0.028, pressure="4 bar")
    mech.add_force("tyre", tyre, body.marker(axis="y"), "ground")
    return bc.simulate(mech, 0.2, output_step=0.01, tolerance=1e-6)


def arrows(figure):
    """Tails and tips (n, 2) of the arrows of a figure without a key."""
    shapes = [
        path.vertices[:-1]
        for one in figure.axes[0].collections
        if isinstance(one, PolyCollection)
        for path in one.get_paths()
    ]
    heads = [shape for shape in shapes if len(shape) == 7]
    tails = [0.5 * (shape[0] + shape[6]) for shape in heads]
    return np.array(tails).reshape(-1, 2), np.array([shape[3] for shape in heads]).reshape(-1, 2)


def marks(figure, color):
    """Places (n, 2) of the marks of a colour."""
    found = [
        np.asarray(one.get_offsets())
        for one in figure.axes[0].collections
        if isinstance(one, PathCollection) and np.allclose(one.get_facecolor()[0, :3], color)
    ]
    return np.concatenate(found) if found else np.empty((0, 2))


def ordered(points):
    return points[np.lexsort(np.round(points, 6).T)]


def test_marks_and_arrows_are_those_of_the_recorded_points(run):
    frame = 12
    points = run.contact("touch").points(frame)
    figure = run.draw(
        times=run.time[frame], contacts=True, force_scale=200.0, view=(25, 20), scale=False, dpi=30
    )
    view = view_of(scene.of(run.origin.mechanism), (25, 20))
    places = view.project(points.position)[:, :2]
    assert points.sticks.any()
    assert not points.sticks.all()
    for color, which in ((STICKS, points.sticks), (SLIPS, ~points.sticks)):
        assert_allclose(ordered(marks(figure, color)), ordered(places[which]), atol=1e-9)
    up = np.where(points.normal[:, 2:] < 0.0, -1.0, 1.0) * points.force  # on the upper body of each pair
    tails, tips = arrows(figure)
    assert len(tails) == len(points)
    assert_allclose(ordered(tails), ordered(places), atol=1e-9)
    ends = view.project(points.position + up / 200.0)[:, :2]
    assert_allclose(ordered(tips), ordered(ends), atol=1e-9)
    assert_allclose(np.sum((tips - tails) @ [0.0, 1.0]), np.sum(view.project(up)[:, 1]) / 200.0)


def test_by_itself_the_largest_force_is_a_quarter_of_the_picture(run):
    box = ((-1, -1, 0), (1, 1, 1))
    sizes = []
    for frame in (3, 30):
        figure = run.draw(
            times=run.time[frame], contacts=True, view="front", scale=False, dpi=30, box=box, size=(6, 3)
        )
        tails, tips = arrows(figure)
        points = run.contact("touch").points(frame)
        sizes.append((np.ptp(tips - tails, axis=0), points))
        length = np.linalg.norm(tips - tails, axis=1).sum()
        flat = np.linalg.norm(points.force[:, [0, 2]], axis=1).sum()
        largest = np.linalg.norm(run.contact("touch").points().force, axis=1).max()
        assert_allclose(length / flat, LONGEST * 1.0 / largest, rtol=1e-6)


def test_the_key_shows_a_round_force_to_scale(run):
    figure = run.draw(times=0.2, contacts=True, force_scale=250.0, view="front", dpi=30)
    (text,) = (text for text in figure.axes[0].texts if text.get_gid() == "force key")
    tails, tips = arrows(figure)
    flat = np.abs((tips - tails)[:, 1]) < 1e-12
    assert flat.sum() == 1
    newtons = float(text.get_text().removesuffix(" N"))
    assert_allclose((tips - tails)[flat, 0], newtons / 250.0)
    assert {text.get_text() for text in figure.axes[0].texts} >= {"sticks", "slips"}
    bare = run.draw(times=0.2, contacts=True, view="front", dpi=30, scale=False)
    assert not bare.axes[0].texts[1:]


def test_a_tyre_shows_its_points_and_one_force_at_its_centre_of_pressure(wheel):
    points = wheel.contact("tyre").points(15)
    figure = wheel.draw(
        times=wheel.time[15], contacts="tyre", force_scale=4000.0, view="front", scale=False, dpi=30
    )
    tails, tips = arrows(figure)
    assert len(points) > 2
    assert len(marks(figure, STICKS)) + len(marks(figure, SLIPS)) == len(points)
    sign = 1.0 if points.bodies[0][0] == "wheel" else -1.0
    force = sign * points.force.sum(axis=0)
    assert force[2] > 0.0
    view = view_of(scene.of(wheel.origin.mechanism), "front")
    assert_allclose(tips - tails, view.project(force)[None, :2] / 4000.0, atol=1e-9)
    centre = points.normal_force @ points.position / points.normal_force.sum()
    assert_allclose(tails, view.project(centre)[None, :2], atol=1e-9)


def test_many_points_of_a_pair_are_one_arrow_as_well():
    mech = bc.Mechanism("plate of balls")
    mech.replace(mech.ground, shapes=[bc.Plane(size=2.0)])
    balls = [
        bc.Sphere(radius=0.05, density=500.0, position=(0.1 * i, 0.1 * j, 0))
        for i in range(4)
        for j in range(4)
    ]
    mech.add_body("plate", shapes=balls, position=(0, 0, 0.05))
    mech.add_force("touch", bc.Contact(1e5), "plate", "ground")
    run = bc.simulate(mech, 0.05, output_step=0.01)
    figure = run.draw(times=0.05, contacts=True, scale=False, dpi=30, view="front")
    tails, _ = arrows(figure)
    assert len(run.contact("touch").points(-1)) == 16
    assert_allclose(tails, [[0.15, run.contact("touch").points(-1).position[0, 2]]], atol=1e-6)


def test_a_brief_impact_is_cut_and_has_its_force_beside_it():
    mech = bc.Mechanism("impact")
    mech.replace(mech.ground, shapes=[bc.Plane(size=2.0)])
    cube = bc.Box(size=(0.2, 0.2, 0.2), density=500.0)
    mech.add_body("resting", shapes=[cube], position=(0.5, 0, 0.1))
    mech.add_body("falling", shapes=[bc.Sphere(radius=0.1, density=1000.0)], position=(0, 0, 0.3))
    mech.add_force("touch", bc.Contact(1e5, restitution=0.2), *mech.bodies, "ground")
    run = bc.simulate(mech, 0.5, method="moreau", step=1e-3, output_step=1e-3)
    points = run.contact("touch").points()
    hit = int(np.argmax(points.normal_force))
    options = {"contacts": True, "view": "front", "scale": False, "dpi": 30, "size": (6, 3)}
    box = ((-1, -1, 0), (1, 1, 1))
    figure = run.draw(times=points.time[hit], box=box, **options)
    words = [text.get_text() for text in figure.axes[0].texts]
    assert force_text(points.normal_force[hit]) in words
    shown = [
        path.vertices
        for one in figure.axes[0].collections
        if isinstance(one, PolyCollection)
        for path in one.get_paths()
    ]
    assert sum(len(vertices) == 5 for vertices in shown) == 1  # the shaft of an arrow in two parts
    tails, tips = arrows(figure)
    assert_allclose(tips[:, 1].max(), CUT, atol=1e-3)  # of a picture 1 m high
    resting = np.linalg.norm(tips - tails, axis=1).min()
    usual = run.contact("touch").points(-1).normal_force.max()  # below the ball, which rests there
    assert_allclose(resting, LONGEST * 9.81 / usual, rtol=0.02)


def test_a_film_shows_them_while_bodies_touch(tmp_path):
    mech = bc.Mechanism("ball")
    mech.replace(mech.ground, shapes=[bc.Plane(size=1.0)])
    mech.add_body("ball", shapes=[bc.Sphere(radius=0.1, density=500.0)], position=(0, 0, 0.3))
    mech.add_force("floor", bc.Contact(2e4, restitution=0.9), "ball", "ground")
    run = bc.simulate(mech, 0.4, output_step=0.001)
    touches = run.contact("floor").count > 0
    seen = {}
    for contacts in (None, True):
        run.animate(tmp_path / "ball.gif", fps=25, width=320, speed=0.1, contacts=contacts, scale=False)
        with Image.open(tmp_path / "ball.gif") as film:
            pictures = []
            for number in range(film.n_frames):
                film.seek(number)
                pictures.append(np.asarray(film.convert("RGB"), dtype=float) / 255.0)
        close = [np.sum(np.linalg.norm(one - to_rgb(FORCE), axis=-1) < 0.15) for one in pictures]
        seen[contacts] = np.array(close) > 3
    assert not seen[None].any()
    times = np.minimum(np.arange(len(seen[True])) / 25 * 0.1, 0.4)
    nearest = [int(np.argmin(np.abs(run.time - time))) for time in times]
    expected = touches[nearest]
    large = np.array([run.contact("floor").points(n).normal_force.sum() > 20.0 for n in nearest])
    assert expected.any()
    assert not seen[True][~expected].any()
    assert seen[True][large].all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"contacts": "tuch"}, "contacts: there is no contact of this name.*touch"),
        ({"contacts": 3}, "contacts: it takes True or names"),
        ({"contacts": True, "force_scale": 0.0}, "force_scale must be greater than zero.*N/m"),
        ({"contacts": True, "force_scale": "3 m"}, "force_scale"),
        ({"force_scale": 100.0}, "force_scale: it is that of contact forces"),
    ],
)
def test_wrong_options_are_refused(run, tmp_path, options, text):
    for show in (run.draw, lambda **given: run.animate(tmp_path / "x.gif", **given)):
        with pytest.raises(MechanismError, match=f"(?s){text}"):
            show(**options)
    assert not (tmp_path / "x.gif").exists()


def test_a_run_without_points_says_so(run):
    for other in (run.resample(step=0.02), bc.simulate(bc.gallery.four_bar(), 0.1)):
        with pytest.raises(MechanismError, match="the run records no points of contact"):
            other.draw(contacts=True)


def test_a_run_in_which_nothing_touches_is_drawn_without_marks():
    mech = boxes()
    for body in list(mech.bodies):
        x, y, z = mech.bodies[body].position
        mech.replace(mech.bodies[body], position=(x, y, z * 5 + 1.0))
    run = bc.simulate(mech, 0.05, output_step=0.01)
    figure = run.draw(contacts=True, dpi=30)
    assert not figure.axes[0].collections


def test_forces_in_words():
    assert [force_text(f) for f in (0.02, 3.456, 999.9, 2910.0, 1.26e6)] == [
        "20 mN", "3.46 N", "1 kN", "2.91 kN", "1.26 MN",
    ]  # fmt: skip
    assert [round_down(x) for x in (0.2, 0.19, 4.9, 5.0)] == [0.2, 0.1, 2.0, 5.0]
