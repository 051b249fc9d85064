"""Native code runs wherever its modules lie in memory, and on processors that lack instructions."""

import ctypes
import platform
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from rigs.programs import interpreted, points, random_program, same_bits

from bellcrank import _core
from bellcrank.expression import native

REACH = 2 << 30  # bytes that a call can jump over
LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="this system does not list its memory"
)
INTEL = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="processors of this kind have these instructions"
)


def mapped():
    """What memory holds: beginning, end and the line of each part, in their order."""
    lines = Path("/proc/self/maps").read_text("ascii").splitlines()
    return [(*(int(bound, 16) for bound in line.split()[0].split("-")), line) for line in lines]


def fill():
    """Leave no hole between libraries, nor room close below: what is loaded next lies far from all else."""
    system = ctypes.CDLL(None).mmap
    system.restype = ctypes.c_void_p
    system.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    private, anonymous, unreserved, not_over = 0x2, 0x20, 0x4000, 0x100000
    for (_, end, _), (begin, _, line) in pairwise(mapped()):
        if 0 < begin - end < 1 << 36 and "[stack]" not in line:
            system(end, begin - end, 0, private | anonymous | unreserved | not_over, -1, 0)
    system(None, REACH + (REACH >> 1), 0, private | anonymous | unreserved, -1, 0)


def loads_far_apart():
    from llvmlite.binding import ExecutionEngine

    add = ExecutionEngine.add_object_file

    def added(self, code):
        add(self, code)
        fill()

    ExecutionEngine.add_object_file = added
    program = checked()
    places = [begin for begin, _, line in mapped() if line.split()[1:] == ["r-xp", "00000000", "00:00", "0"]]
    assert program.native
    assert max(places) - min(places) > 2 * REACH


def runs_on_an_old_processor():
    native._processor = lambda: ("x86-64", "", "")  # the C library rounds, multiplies and adds for it
    checked()


def checked():
    """A program with right code of several modules, for one point and for many."""
    draft = random_program(3, 1100)
    x = points(3, 21)
    expected = interpreted(_core, draft, x)
    program = _core.CompiledProgram(draft.made_by(_core))
    assert len(_core.llvm_source(program.program)) > 2
    found = np.empty_like(expected)
    native.attach(program)
    for row, result in zip(x, found, strict=True):
        program.evaluate(row, result)
    assert same_bits(found, expected)
    native.attach(program, batch=True)
    program.evaluate_batch(x, np.empty(0), found)
    assert same_bits(found, expected)
    return program


@pytest.mark.parametrize(
    "name",
    [pytest.param("loads_far_apart", marks=LINUX), pytest.param("runs_on_an_old_processor", marks=INTEL)],
)
def test_native_code(name):
    """In a process of its own, which LLVM ends where code cannot be loaded."""
    code = f"import sys; sys.path[:0] = sys.argv[1:]\nimport test_places\ntest_places.{name}()\n"
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, Path(__file__).parents[:2])],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
