"""`bellcrank bench recursive` as a program: small sizes, no other engines."""

from benchmarks import recursive, yardstick
from benchmarks.symbolic_peers import Measured
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread


def test_chains_and_robots(monkeypatch):
    monkeypatch.setattr(recursive, "LENGTHS", (5, 1000))
    report = recursive.run(engines=(), repeats=1).to_dict()
    results = report["results"]
    assert {row["robot"] for row in results["robots"]} == set(recursive.ROBOTS)
    assert all(row["ns"]["median"] > 0.0 for row in results["chains"])
    assert [row["limit"] for row in results["targets"]][:2] == [
        recursive.JOINT_TARGET,
        recursive.BATCH_TARGET,
    ]


def test_times_are_scaled_by_what_other_engines_take():
    rows = [
        {"robot": recursive.GENERAL, "engine": f"{engine}: x", "us": Spread(3.0 * us, us, 4.0 * us)}
        for engine, us in yardstick.REFERENCE.items()
    ]
    machine = recursive._beside_reference(rows)
    assert [row["factor"] for row in machine] == [3.0, 3.0]
    targets = target("ns per joint", 60.0, 150.0, is_time=True) + target("part of x's time", 0.4, 0.3)
    (table,) = targets_tables(targets, 3.0)
    assert [row["scaled"] for row in table.rows] == [50.0, 0.3]
    assert [row["met"] for row in table.rows] == [False, True]


def test_the_machine_is_measured_between_other_measurements(monkeypatch):
    """By engines that take twice, then four times what they take on the machine that times are asked of."""
    slower = iter([2.0, 2.0, 4.0, 4.0])

    class Slow(yardstick.Peer):
        def measure(self, files, samples):
            ns = 1e3 * yardstick.REFERENCE[self.engine] * next(slower)
            name = yardstick.FASTEST[self.engine]
            return {name: Measured([], [ns]), "another": Measured([], [0.1 * ns])}

    monkeypatch.setattr(yardstick, "prepare", lambda engine, *_: Slow(engine, "1.0"))
    with yardstick.Yardstick() as measured:
        measured.measure()
    assert measured.factor == 3.0
    assert [row["there"] for row in measured.tables()[0].rows] == list(yardstick.REFERENCE.values())


def test_without_engines_times_stay_as_they_are():
    with yardstick.Yardstick(python="no-such-python") as measured:
        assert measured.factor is None
    assert len(measured.missing) == len(yardstick.REFERENCE)
    (table,) = targets_tables(target("ns", 1.0, 2.0, is_time=True), measured.factor)
    assert "scaled" not in table.rows[0]
