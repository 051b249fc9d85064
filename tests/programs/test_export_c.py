"""C files that users get: compiled as they are, they agree bit for bit."""

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest

import bellcrank.expression as bx
from bellcrank.expression import compile_function, export_c

COMPILER = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "cc", "gcc", "clang"))), None)
pytestmark = pytest.mark.skipif(COMPILER is None, reason="a C compiler is not installed")


def library(folder, *sources):
    flags = ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(
        [COMPILER, *flags, "-shared", "-fPIC", "-o", "f.so", *sources, "-lm"], cwd=folder, check=True
    )
    return ctypes.CDLL(str(folder / "f.so"))


def call(function, values, outputs, work=500):
    arrays = np.array(values, dtype=float), np.empty(outputs), np.empty(work)
    function(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    return arrays[1]


def test_a_function(tmp_path):
    x, y = bx.symbols("x y")
    knots = [2.0, 2.0, 1.0, -1.0, 0.5, 2.0, 0.2, 0.3, -0.4, 1.0]
    waves = [*knots, 0.3, 1.5, 0.2, -0.1, 2.0, 0.0]
    waves[2] = 2.0  # periodic
    lift = bx.table("waves", waves, x)
    f = compile_function(
        [
            bx.sin(x) * y + bx.cos(x),
            bx.atan2(x, y),
            bx.table("piecewise", knots, x),
            lift,
            bx.derivative(lift, x),
            bx.derivative(bx.derivative(lift, x), x),
            bx.piecewise(x < y, x, y),
        ],
        [x, y],
    )
    source, header = export_c(f, tmp_path / "swing.c")
    assert (source.name, header.name) == ("swing.c", "swing.h")
    assert "in: 0 x, 1 y" in header.read_text()
    function = library(tmp_path, "swing.c").swing
    for at in np.random.default_rng(0).normal(size=(50, 2)):
        assert (call(function, at, 7) == f(at)).all()


def test_parameters_come_by_a_prologue(tmp_path):
    x, m, k = bx.symbols("x m k")
    f = compile_function([bx.sin(k / m) * x, bx.sqrt(m) + x], [x], {m: 2.0, k: 3.0})
    export_c(f, tmp_path / "model.c", "spring")
    both = library(tmp_path, "model.c", "spring_prologue.c")
    shared = call(both.spring_prologue, [2.0, 3.0], len(f.prologue.program.outputs))
    assert (call(both.spring, [0.7, *shared], 2) == f([0.7])).all()


def test_the_header_works_in_cpp(tmp_path):
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", "c++"), "c++", "g++"))), None)
    if compiler is None:
        pytest.skip("a C++ compiler is not installed")
    x = bx.symbol("x */ y")
    export_c(compile_function([x * x], [x]), tmp_path / "square.c")
    (tmp_path / "main.cpp").write_text(
        '#include "square.h"\n#include "square.h"\n'
        "int main() { double in[SQUARE_INPUTS] = {3.0}, out[SQUARE_OUTPUTS], work[SQUARE_WORK];\n"
        "square(in, out, work); return out[0] == 9.0 ? 0 : 1; }\n"
    )
    subprocess.run([COMPILER, "-c", "square.c"], cwd=tmp_path, check=True)
    subprocess.run([compiler, "-o", "run", "main.cpp", "square.o", "-lm"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0


def test_names(tmp_path):
    x = bx.symbol("x")
    f = compile_function([x], [x])
    for bad in ("2nd.c", "a-b.c"):
        with pytest.raises(ValueError, match="no name of a C function"):
            export_c(f, tmp_path / bad)
    assert not list(tmp_path.iterdir())
