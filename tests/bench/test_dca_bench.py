"""The bench of dca: the schedule of a tree on simulated processors, and measured times of its nodes."""

import pytest

from benchmarks.dca import makespan, replayed


def test_a_tree_takes_its_depth_on_many_processors_and_its_size_on_one():
    children = [[], [], [0, 1], [], [], [3, 4], [2, 5]]
    seconds = [1.0] * 7
    assert makespan(children, seconds, 1) == 7.0
    assert makespan(children, seconds, 2) == 4.0
    assert makespan(children, seconds, 4) == 3.0


def test_long_ways_come_first():
    children = [[], [], [], [0], [3], [1, 2, 4]]
    assert makespan(children, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2) == 4.0


def test_measured_nodes_follow_the_law():
    rows = replayed(256, 3)
    assert [row["processors"] for row in rows] == [1, 4, 16, 64, 256]
    assert rows[0]["speed_up"] == pytest.approx(1.0)
    assert 1.0 / 1.8 < rows[-1]["ratio"] < 1.8
