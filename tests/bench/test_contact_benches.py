"""Benchmarks of contact run without the other engine; what they time comes to rest within its residual."""

import json

import numpy as np
import pytest

import bellcrank as bc
from benchmarks import cones, humanoid, humanoid_model, piles, towers

pytestmark = pytest.mark.usefixtures("every_core")


def test_cones_reports_cold_and_warm_solves(capsys):
    assert cones.main(["--repeats", "1", "--steps", "2", "--largest", "130", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]["scenes"]
    assert [row["scene"] for row in rows] == ["1 box", "10 boxes", "10 boxes, top 1e3", "biped"]
    assert all(row["end"] == "interior" and row["residual"] <= 1e-8 and row["failed"] == 0 for row in rows)
    assert all(row["cold_us"]["median"] > 0 for row in rows)


def test_towers_stand_and_are_timed(monkeypatch, capsys):
    monkeypatch.setattr(towers, "TOWERS", ((1, 1.0, 1.5), (3, 1e3, 2.0)))
    assert towers.main(["--repeats", "1", "--duration", "0.2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]["towers"]
    assert [row["boxes"] for row in rows] == [1, 3]
    assert all(abs(row["sunk"]) <= 1e-9 and row["residual"] <= 1e-8 for row in rows)
    assert all(
        row["step_us"]["smallest"] <= row["step_us"]["median"] <= row["step_us"]["largest"] for row in rows
    )


def test_piles_settle_and_are_timed(monkeypatch, capsys):
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


def test_a_humanoid_is_timed(capsys):
    assert humanoid.main(["--repeats", "1", "--duration", "0.6", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]["humanoid"]
    assert row["residual"] <= 1e-6
    assert row["us"]["median"] > 0.0


def test_the_model_stands_as_it_is_described(tmp_path):
    path = tmp_path / "humanoid.xml"
    path.write_text(humanoid_model.text(humanoid.STEP))
    mech = humanoid.mechanism(path)
    assert bc.info(mech).freedom == 31
    assert len(mech.bodies) == 13
    lowest = min(body.position[2] for body in mech.bodies.values())
    assert lowest == pytest.approx(1.0 - 0.12 - 0.42 - 0.4)
