"""`bellcrank bench derivatives`: small sizes; what it times are all directions, and Pinocchio's driver."""

import json

import numpy as np
import pytest

from bellcrank.compile.compile import compile_mechanism
from bellcrank.formulations.preparing import prepare as prepared
from benchmarks import derivatives, symbolic_peers
from benchmarks.symbolic_peers import Measured, Peer
from benchmarks.symbolic_robots import GENERAL, limbs

pytestmark = pytest.mark.usefixtures("every_core")


class Slow(Peer):
    """Takes 3 us for an acceleration, and for derivatives as long as no one does."""

    def measure(self, files, samples):
        return {
            "aba, this processor": Measured(np.zeros((1, 1)), [3e3] * samples),
            "computeABADerivatives, any processor": Measured(np.zeros((1, 1)), [9e9] * samples),
            "computeABADerivatives, this processor": Measured(np.zeros((1, 1)), [8e9] * samples),
        }


def test_costs_and_targets(monkeypatch, capsys):
    monkeypatch.setattr(derivatives, "LEAST_SECONDS", 1e-3)
    monkeypatch.setattr(derivatives, "prepare", lambda engine, *_: Slow(engine, "1.0"))
    monkeypatch.setattr(derivatives, "check_agreement", len)
    arguments = ["--robot", GENERAL, "--robot", derivatives.TREE, "--repeats", "1", "--json"]
    assert derivatives.main(arguments) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    robot, tree, *loops = results["derivatives"]
    assert (robot["speeds"], tree["speeds"]) == (6, 38)
    assert [row["mechanism"] for row in loops] == list(derivatives.LOOPS)
    for row in (robot, tree, *loops):
        assert 0.0 < row["lane"] == row["direction"] / derivatives.LANES
        assert row["gradient"] > 0.0
        assert row["jacobian"]["median"] > row["acceleration"]["median"]
    assert robot["peer_acceleration"]["median"] == pytest.approx(3.0)
    assert robot["ratio"] == pytest.approx(robot["jacobian"]["median"] / 8e6)
    met = {row["target"]: row["met"] for row in results["targets"]}
    assert len(met) == 6
    assert met[f"{GENERAL}: full Jacobian, part of pinocchio's time"]


def test_without_pinocchio_the_reason_is_told(monkeypatch):
    monkeypatch.setattr(derivatives, "LOOPS", {})
    report = derivatives.run((GENERAL,), python="no-such-python", repeats=1).to_dict()
    assert "ratio" not in report["results"]["derivatives"][0]
    assert "no-such-python" in report["notes"][1]
    assert symbolic_peers.SCRIPTS.joinpath(f"{derivatives.ENGINE}_trees.py").exists()


def test_efforts_of_joints_are_among_the_directions():
    """The numbers by which efforts change are the preloads, whose unit is an effort."""
    robot = limbs(2, 3)
    system = prepared(compile_mechanism(robot.mechanism(robot.states(1))), "recursive")
    places = derivatives._preloads(system)
    assert len(places) == robot.freedoms - 6
    params = system.model.arrays["law_params"]
    np.testing.assert_array_equal([params[index] for _, index in places], robot.states(1).effort[0, 6:])
    with pytest.raises(ValueError, match="unknown work"):
        system.core.repeat("jacobians", 1)
