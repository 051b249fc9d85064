"""The hot path takes nothing from the heap: three times the steps, the same number of allocations.

A library that counts calls of malloc and its kin is compiled here and loaded before libc in a process of
its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Allocations for n and 3 n pieces of work, by case."""
    if not sys.platform.startswith("linux"):
        pytest.skip("this system has no LD_PRELOAD")
    if COMPILER is None:
        pytest.skip("a C compiler is not installed")
    library = tmp_path_factory.mktemp("heap") / "malloc_counter.so"
    source = HERE / "malloc_counter.c"
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, HERE / "count_allocations.py"],
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) > 400
    return found


def test_the_counter_counts(counts):
    """A simulation sets up its stepper each time, which takes some allocations: they are seen."""
    others = ("accelerate", "collide", "cones", "rays", "broad phase", "decide and step")
    assert min(few for name, (few, _) in counts.items() if not name.endswith(others)) > 5


@pytest.mark.parametrize(
    "work",
    [
        *("accelerate", "semi_implicit_euler", "rk4", "dopri5", "adams", "bdf", "esdirk", "moreau"),
        *("ledger of rk4", "ledger of adams"),
        *("collide", "rays", "broad phase", "cones", "decide and step"),
    ],
)
def test_work_allocates_nothing(counts, work):
    more = {name: c for name, c in counts.items() if name.endswith(f": {work}") and c[1] > c[0]}
    assert not more
