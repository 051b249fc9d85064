"""Runs of the known motion, recorded; the program, called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from rigs.known_run import LAYOUT, frames

from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.trajectory import Trajectory


@pytest.fixture
def record() -> Callable[..., Trajectory]:
    """Records the motion at given times, in blocks of a few frames; keywords go to the Recorder."""

    def recorded(t: np.ndarray, block: int = 7, **options: object) -> Trajectory:
        recorder = Recorder(LAYOUT, **options)  # type: ignore[arg-type]
        buffer = np.empty((block, 1 + LAYOUT.width))
        for start in range(0, len(t), block):
            part = frames(t[start : start + block])
            buffer[: len(part)] = part
            recorder.on_block(buffer[: len(part)])
        buffer[:] = np.nan  # the core reuses its buffer
        return recorder.finish({"status": "finished", "message": "all well", "steps": 1234, "method": "rk4"})

    return recorded


@pytest.fixture
def run(record: Callable[..., Trajectory]) -> Trajectory:
    return record(np.linspace(0.0, 2.0, 201))


@pytest.fixture
def program():
    from click.testing import CliRunner

    from bellcrank.cli.main import bellcrank

    return lambda *arguments: CliRunner().invoke(bellcrank, list(arguments))
