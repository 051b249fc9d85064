"""The benchmark of a humanoid runs without the other engine; its model has 31 freedoms and comes to lie."""

import json

import pytest

import bellcrank as bc
from benchmarks import humanoid, humanoid_model


def test_a_humanoid_is_timed(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
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
