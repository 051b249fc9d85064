"""The benchmark of friction runs without the other engine; what it measures comes to rest where it should."""

import json

import pytest

import bellcrank as bc
from benchmarks import friction

pytestmark = pytest.mark.usefixtures("every_core")


def test_friction_is_timed(capsys):
    assert friction.main(["--duration", "0.2", "--repeats", "1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [row["formulation"] for row in results["costs"]] == list(friction.FORMULATIONS)
    assert all(row["loaded_us"]["median"] > 0.0 for row in results["costs"])
    assert [row["law"] for row in results["rests"]][:2] == ["holds", "smoothed over 0.01"]


def test_the_slider_crank_comes_to_rest_and_the_elbow_stays():
    run = bc.simulate(friction.slider_crank(friction._three), 4.0, method="dopri5", tolerance=1e-9)
    assert abs(run.joint("A").velocity[-1, 0]) < 1e-12
    holds = bc.JointFriction(coulomb=100.0, regularisation_velocity=None)
    turns = bc.simulate(friction.arms(holds), 2.0, tolerance=1e-9).joint("elbow").position
    assert abs(turns).max() < 1e-12
