"""Films of runs: as many pictures as there should be, each of its time, and no half-written file."""

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
        yield np.zeros((8, 8, 3), dtype=np.uint8)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        write_film(path, pictures(), 10.0)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
