"""`bellcrank bench recursive` as a program: small sizes, no other engines."""

from bellcrank.bench import recursive
from bellcrank.bench.timing import Spread


def test_loops_and_robots(monkeypatch):
    monkeypatch.setattr(recursive, "CELLS", (2, 4))
    monkeypatch.setattr(recursive, "DEPTHS", (1, 2))
    monkeypatch.setattr(recursive, "LENGTHS", (5, 1000))
    report = recursive.run(engines=(), repeats=1).to_dict()
    results = report["results"]
    assert [row["open"] for row in results["nested"]] == [1, 2]
    assert {row["robot"] for row in results["robots"]} == set(recursive.ROBOTS)
    assert all(row["ns"]["median"] > 0.0 for row in results["chains"])
    assert [row["limit"] for row in results["targets"]][:2] == [
        recursive.JOINT_TARGET,
        recursive.BATCH_TARGET,
    ]


def test_times_are_scaled_by_what_other_engines_take():
    rows = [
        {"robot": recursive.GENERAL, "engine": f"{engine}: x", "us": Spread(3.0 * us, us, 4.0 * us)}
        for engine, us in recursive.REFERENCE.items()
    ]
    machine = recursive._beside_reference(rows)
    assert [row["factor"] for row in machine] == [3.0, 3.0]
    targets = [{"target": "ns per joint", "measured": 150.0}, {"target": "part of x's time", "measured": 0.3}]
    recursive._scaled(targets, 3.0)
    assert [row["scaled"] for row in targets] == [50.0, 0.3]
