"""Evaluating takes nothing from the heap: ten times the evaluations, the same number of allocations."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)
COUNTER = Path(__file__).parents[1] / "core" / "malloc_counter.c"
CODE = """
import ctypes, json, sys
sys.path.insert(0, sys.argv[1])
from rigs.programs import points, random_program
from bellcrank import _core
from bellcrank.expression import native
allocations = ctypes.CDLL(None).allocations
allocations.restype = ctypes.c_long
program = _core.CompiledProgram(random_program(1, 300).made_by(_core))
x = points(1, 2)[1].copy()
def counted(interpret, times):
    before = allocations()
    program.seconds(x, times, interpret)
    return allocations() - before
native.attach(program)
counted(True, 1)
print(json.dumps({name: [min(counted(which, n) for _ in range(3)) for n in (100, 1000)]
                  for name, which in (("interpreter", True), ("native", False))}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system has no LD_PRELOAD")
@pytest.mark.skipif(COMPILER is None, reason="a C compiler is not installed")
def test_evaluating_allocates_nothing(tmp_path):
    library = tmp_path / "malloc_counter.so"
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-o", library, COUNTER, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(Path(__file__).parents[1])],
        env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for few, many in json.loads(done.stdout).values():
        assert 0 < few == many  # the workspace of the whole call is seen
