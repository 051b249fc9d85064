"""The demonstration: its file is what the generator says, and its sheet is drawn from the recorded run."""

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


def test_the_sheet(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    content = read(EXAMPLES / "demo.yaml")
    text = (EXAMPLES / "demo.yaml").read_text()
    arguments = content.simulation.arguments()
    bc.simulate(content.mechanism, path=tmp_path / "run.h5", description=text, **arguments)
    script = [str(EXAMPLES / "demo_sheet.py"), str(tmp_path / "run.h5"), str(tmp_path / "sheet.png")]
    done = subprocess.run(
        [sys.executable, "-W", "error", *script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for fact in ("9 (54 coordinates)", "50, of them 0 redundant", "4, drives 4"):
        assert fact in done.stdout
    assert (tmp_path / "sheet.png").stat().st_size > 50_000
