"""The benchmark of collision geometry runs, and its JSON holds every pair, ray and size."""

import json

from benchmarks import geometry


def test_geometry_reports_pairs_rays_and_broad_phase(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
    assert geometry.main(["--repeats", "1", "--largest", "200", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert len(results["pairs"]) == 28 + 7 * 3 + 1 + 4
    assert all(row["ns"]["median"] > 0 for row in results["pairs"])
    assert all(0.2 < row["points"] < 40 for row in results["pairs"])
    for row in results["rays"]:  # most of a tyre's rays are above the ground
        least, most = (0.05, 0.2) if "of a tyre" in row["shape"] else (0.2, 1.0)
        assert least < row["hits"] <= most, row["shape"]
    assert [row["bodies"] for row in results["broad_phase"]] == [200]
    assert results["builds"][0]["triangles"] == 2 * 224**2
