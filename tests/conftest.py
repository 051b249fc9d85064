"""Makes rigs and benchmarks importable; one thread for linear algebra; a cache; Ctrl-C; names skips."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

# Workers share the cores: threads of linear algebra on all of them would wait for each other, spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("BELLCRANK_CACHE", str(Path(tempfile.gettempdir()) / "bellcrank-tests"))
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from rigs import skips  # noqa: E402  (importable from here on)

# A shell starts background jobs with Ctrl-C ignored, which the programs that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A skipped test fails where none may be skipped."""
    return skips.judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """So does a file of tests."""
    return skips.judged((yield))


def pytest_terminal_summary(terminalreporter):
    """Say what was skipped, and how to have it."""
    skipped = skips.lines(terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.section("skipped, and how to have it")
        for line in skipped:
            terminalreporter.write_line(line)
