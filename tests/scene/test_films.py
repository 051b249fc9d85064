"""Films of runs, and what notebooks show."""

import re
from base64 import b64decode
from html import unescape

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.scene.film import write_film


@pytest.fixture(scope="module")
def run():
    mech = bc.Mechanism("stone", gravity=(0, 0, 0))
    box = bc.Box(size=(0.5, 0.5, 0.5), density=1.0, color=(1.0, 0.0, 0.0))
    mech.add_body("stone", shapes=[box], velocity=(4.0, 0, 0))
    return bc.simulate(mech, 0.5, output_step=0.05)


def middle(picture):
    """Middle column of what is red, as part of the width."""
    pixels = np.asarray(picture).astype(int)
    red = (pixels[..., 0] > pixels[..., 1] + 80).any(axis=0)
    return np.mean(np.flatnonzero(red)) / pixels.shape[1]


def test_a_gif_moves_as_the_run_does(run, tmp_path):
    run.animate(tmp_path / "run.gif", fps=10, width=160, view="front", paths=["stone"])
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames == 6
        places = []
        for number in range(6):
            film.seek(number)
            assert film.info["duration"] == 100
            picture = film.convert("RGB")
            assert picture.getpixel((1, 1)) == (255, 255, 255)
            places.append(middle(picture))
    steps = np.diff(places)
    assert steps.min() > 0.0
    assert np.ptp(steps) < 0.03
    assert list(tmp_path.iterdir()) == [tmp_path / "run.gif"]


def test_an_mp4_opens(run, tmp_path):
    av = pytest.importorskip("av")
    run.animate(tmp_path / "run.mp4", fps=20, speed=0.5, width=162, view="front")
    with av.open(str(tmp_path / "run.mp4")) as film:
        (stream,) = film.streams.video
        assert float(stream.average_rate) == 20.0
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(stream)]
    assert len(pictures) == 21
    assert pictures[0].shape[1] == 162
    assert middle(pictures[-1]) > middle(pictures[10]) > middle(pictures[0])


def test_a_film_follows_a_body_and_tells_how_far_it_is(tmp_path):
    mech = bc.Mechanism("stones", gravity=(0, 0, 0))
    for name, color, speed in (("stone", (1.0, 0.0, 0.0), 4.0), ("other", (0.0, 0.0, 1.0), 0.0)):
        box = bc.Box(size=(0.5, 0.5, 0.5), density=1.0, color=color)
        mech.add_body(name, shapes=[box], position=(0, 0, speed), velocity=(speed, 0, 0))
    told = []
    run = bc.simulate(mech, 0.5, output_step=0.05)
    run.animate(tmp_path / "run.gif", fps=10, width=160, view="front", follow="stone", progress=told.append)
    with Image.open(tmp_path / "run.gif") as film:
        pictures = []
        for number in range(6):
            film.seek(number)
            pictures.append(np.asarray(film.convert("RGB")))
    assert np.ptp([middle(picture) for picture in pictures]) < 0.01
    others = [middle(picture[..., ::-1]) for picture in pictures]
    assert np.all(np.diff(others) < -0.03)
    np.testing.assert_allclose(told, np.arange(1, 7) / 6)
    with pytest.raises(MechanismError, match=r"follow: there is no body of this name.*'stone'"):
        run.draw(follow="stones")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "run.avi"}, "this kind of film is not known"),
        ({"path": "run.gif", "fps": 0}, "fps must be"),
        ({"path": "run.gif", "speed": -1}, "speed must be"),
        ({"path": "run.gif", "speed": 1e-9}, "more than 100000 pictures"),
        ({"path": "run.gif", "width": 10}, "width must be"),
        ({"path": "/no/such/folder/run.gif", "width": 64, "fps": 4}, "cannot be written"),
        ({"path": "run.gif", "wide": 10}, "no option of this name"),
    ],
)
def test_messages(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MechanismError, match=message):
        run.animate(**arguments)
    assert not list(tmp_path.iterdir())


def test_a_film_that_breaks_off_leaves_what_was_there(tmp_path):
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")

    def pictures():
        yield np.zeros((8, 8, 4), dtype=np.uint8)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_film(path, pictures(), 10.0)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


mpl.use("Agg")


def picture_in(html):
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return b64decode(data)


def test_a_mechanism():
    html = bc.gallery.four_bar()._repr_html_()
    assert picture_in(html).startswith(b"\x89PNG")
    assert "4 (4 Revolute)" in html
    assert "bellcrank-faults" not in html


def test_a_broken_mechanism_says_all_that_is_wrong():
    mech = bc.Mechanism("broken <b>")
    body = mech.add_body("bar", 1.0, (1, 1, 1), position=(0, 0, 2))
    mech.add_joint("near", bc.Distance(length=1.0), mech.ground, body)
    mech.add_joint("far", bc.Distance(length=5.0), mech.ground.marker((0, 0, 1)), body.marker())
    html = unescape(mech._repr_html_())
    assert "bellcrank-faults" in html
    assert "far" in html
    picture_in(html)
    assert "broken &lt;b&gt;" in mech._repr_html_()


def test_references_to_what_is_not_there_are_named_and_the_rest_is_drawn():
    mech = bc.gallery.four_bar()
    mech.add_joint("lost", bc.Revolute(), bc.Marker("nobody"), bc.Marker("coupler"))
    html = unescape(mech._repr_html_())
    assert "nobody" in html
    picture_in(html)


def test_an_empty_mechanism():
    assert "empty" in bc.Mechanism("empty")._repr_html_()


def test_a_run_and_how_it_ended():
    run = bc.simulate(bc.gallery.four_bar(), 0.05)
    html = run._repr_html_()
    picture_in(html)
    assert "finished" in html
    assert "frames" in html
    assert "bellcrank-faults" not in html
    stopped = bc.Trajectory(run.layout, run.store, "stopped", {}, run.origin)
    assert "bellcrank-faults" in stopped._repr_html_()
    told = bc.Trajectory(run.layout, run.store)
    assert "<img" not in told._repr_html_()


def test_a_system_and_what_it_left_out():
    system = bc.prepare(bc.gallery.four_bar(), "lagrange")
    system.accelerate()
    html = unescape(system._repr_html_())
    picture_in(html)
    assert "lagrange" in html
    assert str(system.stats.dropped[0]) in html


def test_what_assembly_did():
    mech = bc.Mechanism("apart")
    body = mech.add_body("bar", 1.0, (1, 1, 1), position=(0.3, 0, 0))
    mech.add_joint("pin", bc.Revolute(), mech.ground, body)
    html = bc.assemble(mech)._repr_html_()
    assert "moved 0.3 m" in html
    assert "assembled by" in html
