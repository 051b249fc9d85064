"""The demonstration: its file is what the generator says, and a command that simulates and draws it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, demonstration
from bellcrank.io import read

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_file_is_the_generated_mechanism() -> None:
    content = read(EXAMPLES / "demo.yaml")
    expected = demonstration()
    for (
        name,
        drive,
    ) in content.mechanism.drives.items():  # by inverse kinematics, whose last digits compilers choose
        spline, made = drive.position, expected.drives[name].position
        np.testing.assert_allclose(spline.y, made.y, rtol=0, atol=1e-10)
        expected.replace(expected.drives[name], position=replace(made, y=spline.y))
    assert content.mechanism == expected, "run examples/make_demo.py"
    assert content.simulation.duration == TAKE_A_BOOK.end


def test_the_command_needs_no_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    program = [sys.executable, "-W", "error", "-m", "bellcrank", "demo", "--folder", "looked"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for fact in ("9 (54 coordinates)", "50, 0 redundant", "4, driven: 4", "view looked/demo.yaml"):
        assert fact in done.stdout
    assert (tmp_path / "looked" / "demo-sheet.png").stat().st_size > 50_000
    run = bc.Trajectory.load(tmp_path / "looked" / "demo.h5")
    assert bc.loads(run.mechanism) == read(tmp_path / "looked" / "demo.yaml").mechanism
    assert run.time[-1] == TAKE_A_BOOK.end


def test_without_matplotlib_there_are_no_pictures(tmp_path: Path) -> None:
    code = "import sys; sys.modules['matplotlib'] = None; from bellcrank.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "pip install 'bellcrank[plot]'" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.h5", "demo.yaml"]
