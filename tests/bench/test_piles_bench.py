"""The benchmark of piles runs, with and without the other engine, within its residual."""

import json

import numpy as np

from benchmarks import piles


def test_piles_settle_and_are_timed(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
    monkeypatch.setattr(piles, "COUNTS", (12,))
    assert piles.main(["--duration", "0.3", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]["piles"]
    assert row["spheres"] == 12
    assert row["steps"] >= 150
    assert row["factorizations"] > 0.0
    assert row["residual"] <= 1e-8
    assert row["depth"] <= 1e-6
    assert row["us"]["smallest"] <= row["us"]["median"] <= row["us"]["largest"]


def test_spheres_start_apart_and_inside_their_box():
    for count in piles.COUNTS:
        pile = piles.Pile.of(count)
        between = np.linalg.norm(pile.centres[:, None] - pile.centres[None], axis=2)
        gap = between - pile.radii[:, None] - pile.radii[None] + np.diag(np.full(count, np.inf))
        assert gap.min() > 0.0
        assert np.all(np.abs(pile.centres[:, :2]) + pile.radii[:, None] < pile.half)
        assert np.all(pile.centres[:, 2] > pile.radii)
