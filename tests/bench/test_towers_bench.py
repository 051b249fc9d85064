"""The benchmark of towers runs, with and without the other engine, and its towers stand."""

import json

from benchmarks import towers


def test_towers_stand_and_are_timed(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
    monkeypatch.setattr(towers, "TOWERS", ((1, 1.0, 1.5), (3, 1e3, 2.0)))
    assert towers.main(["--repeats", "1", "--duration", "0.2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]["towers"]
    assert [row["boxes"] for row in rows] == [1, 3]
    assert all(abs(row["sunk"]) <= 1e-9 and row["residual"] <= 1e-8 for row in rows)
    assert all(
        row["step_us"]["smallest"] <= row["step_us"]["median"] <= row["step_us"]["largest"] for row in rows
    )
