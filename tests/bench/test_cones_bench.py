"""The benchmark of contact impulses runs, and small scenes end within the tolerance."""

import json

from benchmarks import cones


def test_cones_reports_cold_and_warm_solves(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
    assert cones.main(["--repeats", "1", "--steps", "2", "--largest", "130", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]["scenes"]
    assert [row["scene"] for row in rows] == ["1 box", "10 boxes", "10 boxes, top 1e3", "biped"]
    assert all(row["end"] == "interior" and row["residual"] <= 1e-8 and row["failed"] == 0 for row in rows)
    assert all(row["cold_us"]["median"] > 0 for row in rows)
