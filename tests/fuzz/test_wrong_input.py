"""A sample of the wrong files and calls that the fuzzers try, and that they find what is planted."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rigs import watched

sys.path.insert(0, str(Path(__file__).parent))

import calls
import containers
import files
import robots

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.parametrize(("fuzzer", "count"), [(files, 20), (robots, 60), (calls, 50), (containers, 60)])
def test_only_our_own_errors_come_of_it(fuzzer, count):
    """In a process of its own: a child of this one would inherit locks of what other tests left at work."""
    command = [sys.executable, fuzzer.__file__, "--first", "0", "--count", str(count), "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    *ends, last = done.stdout.splitlines()
    assert last.startswith(f"{count} ")
    assert last.endswith(" 0 with findings")
    assert len(ends) > 1
    assert sum(int(end.split()[0]) for end in ends) == count


def test_what_is_planted_is_found(monkeypatch):
    """Time, memory and a process that ends are findings of the seed; the others are judged all the same."""

    def judge(seed):
        if seed == 1:
            while True:
                pass
        if seed == 2:
            os._exit(7)
        if seed == 3:
            time.sleep(60)
        if seed == 4:
            try:
                bytearray(2 << 30)
            except MemoryError:
                return "failed", ["MemoryError"]
        return "fine", []

    monkeypatch.setattr(watched, "PROCESSOR", 0.1)
    monkeypatch.setattr(watched, "WALL", 4)
    ends = {seed: found for seed, _, found in watched.survey(judge, range(6))}
    assert ends[0] == ends[5] == []
    assert "took more than 0.1 s" in ends[1][0]
    assert "ended with 7" in ends[2][0]
    assert "on the clock" in ends[3][0]
    assert ends[4] == ["MemoryError"]


@pytest.mark.parametrize("fuzzer", [files, calls])
def test_errors_that_are_not_ours_are_found(fuzzer, monkeypatch):
    def broken(*_):
        raise KeyError("planted")

    monkeypatch.setattr(files, "read", broken)
    monkeypatch.setattr(calls, "call", lambda *_: _planted())
    word, found = fuzzer.judged(0)
    assert word == "failed"
    assert "planted" in found[0]


def _planted():
    yield "call", {}
    raise KeyError("planted")
