"""The benchmark of beams finds right values, whatever the time that it takes."""

import json

import pytest

from benchmarks import flexible, flexible_linkages

pytestmark = pytest.mark.usefixtures("every_core")


def test_beams_are_timed(capsys):
    assert flexible.main(["--longest", "10", "--repeats", "1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    own = {row["problem"]: row for row in results["beams"] if row["engine"] == "bellcrank"}
    assert own["princeton"]["error"] < flexible.PRINCETON_ERROR
    assert own["spaghetti"]["error"] < flexible.SPAGHETTI_ERROR
    linked = {row["problem"]: row for row in results["linkages"] if row["engine"] == "bellcrank"}
    assert linked["slider-crank"]["error"] < flexible_linkages.WITHIN
    assert {"lateral buckling", "four-bar"} < linked.keys()
    assert {row["segments"] for row in results["costs"]} == {8, 10, 64}
