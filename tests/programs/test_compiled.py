"""Functions of numbers: shapes, parameters, tiers, messages."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bellcrank.expression as bx
from bellcrank.errors import Unsupported
from bellcrank.expression import compile_function, native


def long_function(native_code="auto"):
    """Enough operations that "auto" compiles."""
    x, y = bx.symbols("x y")
    total = x
    for k in range(150):
        total = bx.sin(total * y + 0.01 * k) * x + total * 0.5
    return compile_function([total, total * y], [x, y], native=native_code)


@pytest.fixture
def without_llvmlite(monkeypatch):
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    native._llvm.cache_clear()
    yield
    native._llvm.cache_clear()


def test_shapes():
    x, y = bx.symbols("x y")
    at = np.array([2.0, 3.0])
    many = np.array([[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    scalar = compile_function(x * y, [x, y])
    assert scalar(at).shape == ()
    assert float(scalar(at)) == 6.0
    assert scalar(many).tolist() == [6.0, 20.0, 42.0]
    vector = compile_function(bx.Vector(x, x * y), [x, y])
    assert vector(at).tolist() == [2.0, 6.0]
    assert vector(many).shape == (3, 2)
    matrix = compile_function(bx.Matrix([[x, y, 1.0], [y, x, x - y]]), [x, y])
    assert matrix(at).tolist() == [[2.0, 3.0, 1.0], [3.0, 2.0, -1.0]]
    assert matrix(many)[2].tolist() == [[6.0, 7.0, 1.0], [7.0, 6.0, -1.0]]
    assert matrix(many[:0]).shape == (0, 2, 3)
    assert compile_function([], [x])([1.0]).shape == (0,)
    assert compile_function([np.array([x, y])], [x, y])(at).tolist() == [[2.0, 3.0]]


def test_values_of_other_types():
    x, y = bx.symbols("x y")
    f = compile_function([x - y], [x, y])
    assert f([1, 2]).tolist() == [-1.0]
    assert f(np.array([[1, 2], [5, 3]], dtype=np.int32)).tolist() == [[-1.0], [2.0]]
    assert f(np.asfortranarray(np.arange(12.0).reshape(6, 2))).tolist() == [[-1.0]] * 6
    assert f(np.arange(8.0)[::4]).tolist() == [-4.0]


def test_out():
    x, y = bx.symbols("x y")
    f = compile_function([x + y, x], [x, y])
    one, many = np.empty(2), np.empty((3, 2))
    assert f([1.0, 2.0], out=one) is one
    assert one.tolist() == [3.0, 1.0]
    assert f([[1.0, 2.0]] * 3, out=many) is many
    assert many.tolist() == [[3.0, 1.0]] * 3
    for wrong in (np.empty(3), np.empty(2, dtype=np.float32), np.empty((2, 2))[:, 0]):
        with pytest.raises(ValueError, match="out must be an array of float64"):
            f([1.0, 2.0], out=wrong)


def test_wrong_calls():
    x, y = bx.symbols("x y")
    f = compile_function([x + y], [x, y])
    with pytest.raises(ValueError, match=r"2 inputs: .* got \(3,\)"):
        f([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"2 inputs: .* got \(1, 1, 2\)"):
        f([[[1.0, 2.0]]])
    with pytest.raises(ValueError, match="no inputs: 'y'"):
        compile_function([x + y], [x])
    with pytest.raises(ValueError, match="nested must be so regularly"):
        compile_function([[x, y], [x]], [x, y])
    with pytest.raises(TypeError, match="outputs are expressions"):
        compile_function(object(), [x])


def test_parameters():
    x, m, k = bx.symbols("x m k")
    f = compile_function([k / m * x, m, bx.sqrt(k / m)], [x], {m: 2.0, k: 18.0})
    assert f([2.0]).tolist() == [18.0, 2.0, 3.0]
    stiff = f.with_parameters({k: 32.0, m: 2.0})
    assert stiff([2.0]).tolist() == [32.0, 2.0, 4.0]
    assert stiff.with_parameters([1.0, 4.0])([[1.0], [2.0]]).tolist() == [[4.0, 1.0, 2.0], [8.0, 1.0, 2.0]]
    assert f([2.0]).tolist() == [18.0, 2.0, 3.0]
    assert stiff.main is f.main
    open_function = compile_function([k * x], [x], [k])
    with pytest.raises(ValueError, match="no values yet"):
        open_function([1.0])
    assert open_function.with_parameters([3.0])([2.0]).tolist() == [6.0]
    with pytest.raises(ValueError, match=r"missing: \['k'\]"):
        f.with_parameters({m: 1.0})
    with pytest.raises(ValueError, match="2 parameters need as many values"):
        f.with_parameters([1.0])


def test_native_code_comes_later_and_changes_no_bit():
    f = long_function()
    at = np.random.default_rng(0).uniform(-1.0, 1.0, size=(500, 2))
    first = f(at, interpret=True)
    f(at)
    f.wait()
    assert f.is_native
    assert f.main.native_lanes in (4, 8)
    assert (f(at) == first).all()
    assert (np.array([f(row) for row in at]) == first).all()
    assert (f(at, threads=3) == first).all()


def test_native_at_once_and_never():
    assert long_function(True).is_native
    interpreted = long_function(False)
    interpreted(np.ones((200, 2)))
    interpreted.wait()
    assert not interpreted.is_native
    assert interpreted.main.native_lanes == 0


def test_small_functions_stay_with_the_interpreter():
    x = bx.symbol("x")
    f = compile_function([x * x], [x])
    f.wait()
    assert not f.is_native


def test_without_llvmlite_it_is_the_interpreter(without_llvmlite, recwarn):
    f = long_function()
    f(np.ones((10, 2)))
    f.wait()
    assert not f.is_native
    assert np.isfinite(f([0.3, 0.4])).all()
    assert not recwarn.list


def test_native_code_asked_for_without_llvmlite(without_llvmlite):
    with pytest.raises(Unsupported, match=r"needs llvmlite.*pip install 'bellcrank\[jit\]'"):
        long_function(True)


def test_operations():
    x, y = bx.symbols("x y")
    f = compile_function([x * y + bx.sin(x), x / (y + 2.0)], [x, y])
    assert f.operations == {
        "additions": 2, "multiplications": 1, "divisions": 1, "trigonometric": 1, "other": 0,
    }  # fmt: skip


def test_the_process_ends_while_code_is_made():
    """No crash, no hang, nothing printed."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_compiled import long_function\n"
        "print(float(long_function()([0.3, 0.4])[0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, Path(__file__).parents[:2])],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert float(done.stdout) == float(long_function(False)([0.3, 0.4])[0])
