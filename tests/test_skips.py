"""Skipped tests are named with how to have what they need; where none may be skipped they fail the run."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rigs import skips

HERE = Path(__file__).parent
TESTS = {
    "test_one.py": """
import pytest

@pytest.mark.parametrize("k", range(3))
def test_engine(k):
    pytest.importorskip("absent_engine")

def test_machine():
    pytest.skip("this processor has three arms")

@pytest.mark.skipif(True, reason="Chromium is not installed")
def test_page():
    pass

@pytest.mark.xfail
def test_known():
    assert False

def test_sound():
    pass
""",
    "test_two.py": """
import pytest

pytest.importorskip("absent_engine")

def test_never_seen():
    pass
""",
}


def ran(folder, workers, permitted, names=tuple(TESTS)):
    """The exit status and the lines of a run of some tests."""
    (folder / "conftest.py").symlink_to(HERE / "conftest.py")
    for name in names:
        (folder / name).write_text(TESTS[name], encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(HERE), "BELLCRANK_SKIPS": permitted, "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("workers", ["0", "1"])
def test_skipped_tests_are_named_with_what_they_need(tmp_path, workers):
    status, lines = ran(tmp_path, workers, "")
    assert status == 0
    start = next(k for k, line in enumerate(lines) if "skipped, and how to have it" in line)
    assert set(lines[start + 1 :]) >= {
        "3 tests and 1 file of tests need absent_engine: pip install absent_engine",
        "1 test needs Chromium: apt-get install chromium",
        "1 test: this processor has three arms",
    }
    assert lines[-1].startswith("1 passed, 6 skipped, 1 xfailed in ")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_where_none_may_be_skipped_they_fail(tmp_path, workers):
    """What belongs to the machine may still be skipped; a skip by a mark is an error of setting up."""
    status, lines = ran(tmp_path, workers, "none", ["test_one.py"])
    assert status == 1
    assert lines[-1].startswith("3 failed, 1 passed, 1 skipped, 1 xfailed, 1 error in ")
    assert sum("which BELLCRANK_SKIPS=none does not permit: could not import" in line for line in lines) >= 3


@pytest.mark.parametrize("workers", ["0", "1"])
def test_so_does_a_file_of_tests(tmp_path, workers):
    status, lines = ran(tmp_path, workers, "none", ["test_two.py"])
    assert status != 0
    assert "1 error in " in lines[-1]


def test_the_extras_named_exist_and_bring_what_is_said():
    extras = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    distributions = {"pinocchio": "pin", "myst_parser": "myst-parser"}
    for extra, names in skips.EXTRAS.items():
        for name in names:
            wanted = distributions.get(name, name).replace("_", "-")
            assert any(one.startswith((f"{wanted}>=", f"{wanted}==")) for one in extras[extra]), (extra, name)


def test_a_module_of_an_extra_is_had_by_make():
    assert skips.missing("could not import 'pinocchio': No module named 'pinocchio'") == (
        "pinocchio", "make test EXTRAS=oracles",
    )  # fmt: skip
    assert skips.missing("could not import 'pty': No module named 'pty'")[1] == ""
