"""`bellcrank bench recursive` as a program: small sizes, no other engines."""

from bellcrank.bench import recursive


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
