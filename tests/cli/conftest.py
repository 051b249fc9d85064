"""A four-bar in a file, and the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rigs.program import FOUR_BAR

from bellcrank.cli.main import bellcrank


@pytest.fixture
def four_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of the four-bar's file, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "four_bar.yaml").write_text(FOUR_BAR, encoding="utf-8")
    return "four_bar.yaml"


@pytest.fixture
def program() -> Callable[..., Result]:
    """Runs the command with arguments; an exception other than SystemExit is not swallowed."""

    def called(*arguments: str) -> Result:
        return CliRunner().invoke(bellcrank, arguments, catch_exceptions=False, prog_name="bellcrank")

    return called
