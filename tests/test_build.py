"""The build: two cores with one interface, the choice between them, the stub, and a quick import."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import bellcrank
from bellcrank import CamMotion, _cpu

PACKAGE = Path(bellcrank.__file__).parent
IMPORT_LIMIT = 0.15  # seconds
EXTRAS = ("matplotlib", "trimesh", "scipy", "h5py", "yaml", "click", "rich")

VARIANTS = ["portable", "avx2"] if _cpu.supports_avx2() else ["portable"]


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter with `environment` added to that of the tests."""
    clean = {name: value for name, value in os.environ.items() if name != "BELLCRANK_CORE"}
    return subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, capture_output=True, text=True, check=False
    )


def public_interface(module: ModuleType) -> dict[str, str]:
    """Map each public name of a module to its kind and documentation (signatures are part of it)."""
    return {
        name: f"{type(value).__name__} {value.__doc__ or ''}".replace(module.__name__, "")
        for name, value in vars(module).items()
        if not name.startswith("_")
    }


def stub_names() -> set[str]:
    names = set()
    for node in ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_core_says_what_it_is(variant):
    core = importlib.import_module(f"bellcrank._core_{variant}")
    info = core.build_info()
    assert core.variant == info["variant"] == variant
    assert info["lanes"] == {"portable": 1, "avx2": 4}[variant]
    assert "-O3" in info["flags"]
    assert "fast-math" not in info["flags"]
    assert ("x86-64-v3" in info["flags"]) == (variant == "avx2")


def test_the_cores_have_one_interface():
    interfaces = [public_interface(importlib.import_module(f"bellcrank._core_{name}")) for name in VARIANTS]
    assert interfaces[0] == interfaces[-1]
    assert {"build_info", "variant"} <= set(interfaces[0])


def test_the_cores_give_the_same_coordinates():
    """Every kind of coordinate at a general pose; only the rounding of fused multiply-adds may differ."""
    first, second = (
        importlib.import_module(f"bellcrank._core_{name}") for name in (VARIANTS[0], VARIANTS[-1])
    )
    curve = [0, 1, 0, 0, 1, 0.0, 1.0, *(0, 0, 0), *(1, 0.2, 0.1), *(0, 0.3, -0.2), *(0.1, 0, 0.1)]
    pose = ([0.4, -0.3, 0.2], first.quaternion_exp([0.3, -0.5, 0.7]), [0.1, 0.5, -0.4], [0.7, -0.2, 0.3])
    law = CamMotion((0, 2, 2 * np.pi), (0, 1, 0)).flat().params
    own = {"cam_lift": law, "cam_slide": (0.1, *law), "cam_swing": (2.0, 1.0, *law), "tangent_span": [0.1]}
    own["tangent_slant"] = [0.1]
    beam = [0.7, *(np.eye(6) + 0.1)[np.triu_indices(6)], *[0.1] * 6]
    own |= {f"beam_{k}": beam for k in range(1, 7)}
    for kind in first.coordinate_kinds():
        params = (
            curve if kind.startswith("curve_") else [0.2] if kind.startswith("rig_") else own.get(kind, [])
        )
        results = [
            np.hstack(core.evaluate_coordinate(kind, *pose, params=params)) for core in (first, second)
        ]
        np.testing.assert_allclose(*results, rtol=1e-13, atol=1e-14, err_msg=kind)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_environment_chooses_the_core(variant):
    result = run_python("from bellcrank import _core; print(_core.variant)", BELLCRANK_CORE=variant)
    assert result.stdout.strip() == variant, result.stderr


def test_the_fastest_core_that_runs_is_the_default():
    result = run_python("from bellcrank import _core; print(_core.variant, _core.build_info()['variant'])")
    assert result.stdout.split() == [VARIANTS[-1]] * 2, result.stderr


def test_an_unknown_core_is_refused_with_the_choices():
    result = run_python("import bellcrank._core", BELLCRANK_CORE="sse9")
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1] == (
        "ImportError: BELLCRANK_CORE='sse9' names no core: use 'portable' or 'avx2', or unset it."
    )


def test_a_core_the_processor_cannot_run_is_refused():
    code = "from bellcrank import _cpu; _cpu.supports_avx2 = lambda: False; import bellcrank._core"
    result = run_python(code, BELLCRANK_CORE="avx2")
    assert result.returncode != 0
    assert result.stderr.splitlines()[-1].startswith("ImportError: BELLCRANK_CORE='avx2', but ")
    assert result.stderr.rstrip().endswith("use 'portable', or unset it.")


def test_the_portable_core_serves_a_processor_without_avx2():
    code = (
        "from bellcrank import _cpu; _cpu.supports_avx2 = lambda: False\n"
        "from bellcrank import _core; print(_core.variant)"
    )
    assert run_python(code).stdout.strip() == "portable"


def test_the_stub_describes_the_core():
    assert (PACKAGE / "py.typed").exists()
    core = importlib.import_module("bellcrank._core_portable")
    missing = set(public_interface(core)) - stub_names()
    assert not missing


def test_every_public_name_exists():
    """Type checkers take the stub; the package gives what it says."""
    stub = (PACKAGE / "__init__.pyi").read_text(encoding="utf-8")
    declared = {
        alias.asname or alias.name
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert "Mechanism" in declared
    assert set(bellcrank.__all__) == {"__version__", *declared}
    for name in bellcrank.__all__:
        assert getattr(bellcrank, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Mechanisn'"):
        bellcrank.Mechanisn  # noqa: B018


def test_import_is_quick_and_loads_no_extra():
    code = (
        "import sys, time\nstart = time.perf_counter()\nimport bellcrank\n"
        f"print(time.perf_counter() - start, *[name for name in {EXTRAS} if name in sys.modules])"
    )
    results = [run_python(code).stdout.split() for _ in range(5)]
    assert all(len(result) == 1 for result in results), results
    assert min(float(result[0]) for result in results) < IMPORT_LIMIT
