"""The benchmark of films makes them, and paints what they show."""

import json

import numpy as np
import pytest

import bellcrank as bc
from benchmarks import films

pytestmark = pytest.mark.usefixtures("every_core")


def test_films_are_timed(capsys):
    pytest.importorskip("av")
    assert films.main(["--seconds", "0.2", "--repeats", "1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    rows = {row["mechanism"]: row for row in results["films"]}
    assert set(rows) == set(films.MECHANISMS) == set(films.LIMITS)
    assert all(row["film"]["median"] > row["painting"]["median"] > 0.0 for row in rows.values())
    assert all(row["pictures"] == 7 for row in rows.values())
    assert rows["rope bridge"]["triangles"] > 1e5


def test_what_is_painted_is_in_the_picture():
    """All of it, with the same scale along both axes."""
    filmed = films.Filmed(bc.simulate(bc.gallery.four_bar(), 0.1), 2)
    width, height = filmed.frame.extent
    assert width / height == pytest.approx(films.WIDTH / films.HEIGHT)
    out = np.empty((films.HEIGHT, films.WIDTH, 4), dtype=np.uint8)
    filmed.painter.paint_on_white(filmed.instants[0], filmed.frame, filmed.floor, out)
    assert 0.005 < np.mean(out[..., :3].min(axis=2) < 250) < 0.5
