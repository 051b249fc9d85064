"""Other engines on the robots of `bellcrank bench symbolic`: prepared by their scripts, run from here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import SimulationError
from benchmarks.symbolic_robots import Robot, States

ENGINES: Final = ("pinocchio", "mujoco", "casadi", "sympy")
SCRIPTS: Final = Path(__file__).with_name("peers")
AGREEMENT: Final = 1e-9
"""Largest difference of accelerations between engines, relative to the largest acceleration."""


@dataclass(frozen=True, eq=False)
class Files:
    """A robot and its states as text, in a folder for all generated files."""

    robot: Robot
    states: States
    folder: Path

    @classmethod
    def written(cls, robot: Robot, states: States, folder: Path) -> Files:
        """Write the files."""
        files = cls(robot, states, folder)
        files.tree.write_text(robot.text(), encoding="utf-8")
        files.numbers.write_text(states.text(), encoding="utf-8")
        return files

    @property
    def tree(self) -> Path:
        """The bodies."""
        return self.folder / "robot.tree"

    @property
    def numbers(self) -> Path:
        """The states."""
        return self.folder / "robot.states"


@dataclass(frozen=True, eq=False)
class Measured:
    """The result of one algorithm: accelerations (states, speeds) and ns per evaluation, per sample."""

    accelerations: NDArray[np.float64]
    nanoseconds: Sequence[float]


@dataclass(frozen=True)
class Peer:
    """An engine that is ready for one robot.

    executables: by label; or results, if there was no compiler. operations, seconds: by algorithm, if
    its code is generated.
    """

    engine: str
    version: str
    executables: dict[str, str] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    operations: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)

    def measure(self, files: Files, samples: int) -> dict[str, Measured]:
        """Time every algorithm, by name, in a number of samples; raises SimulationError if a driver fails."""
        found = dict(self.results)
        for label, executable in self.executables.items():
            command = [executable, str(files.tree), str(files.numbers), str(samples)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SimulationError(f"{self.engine}: {_reason(done.stderr)}", 0.0)
            printed = json.loads(done.stdout)
            for name, result in printed.items():
                several = label and label != name and len(self.executables) > 1
                found[f"{name}, {label}" if several else name] = result
        return {
            name: Measured(np.array(result["accelerations"]), result["nanoseconds"])
            for name, result in found.items()
        }


def prepare(engine: str, files: Files, python: str, build: Path, samples: int = 21) -> Peer | str:
    """An engine prepared for a robot, or the reason why there is none.

    python: an interpreter that has the engine. build: a folder that keeps executables from run to run.
    samples: of times, if there is no compiler and the script itself measures.
    """
    command = [python, str(SCRIPTS / f"{engine}_trees.py"), "--tree", str(files.tree)]
    command += ["--states", str(files.numbers), "--build", str(build), "--samples", str(samples)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"{engine}: {error}"
    if done.returncode != 0:
        return f"{engine}: {_reason(done.stderr)}"
    return Peer(engine, **json.loads(done.stdout.splitlines()[-1]))


def default_build_folder() -> Path:
    """The default folder for executables, in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bellcrank" / "bench-peers"


def difference(found: NDArray[np.float64], reference: NDArray[np.float64]) -> float:
    """The largest difference, relative to the largest value of the reference."""
    return float(np.max(np.abs(found - reference)) / np.max(np.abs(reference)))


def check_agreement(accelerations: dict[str, NDArray[np.float64]]) -> float:
    """The largest difference from the first of several engines' accelerations, by engine.

    Raises SimulationError if it exceeds AGREEMENT: the robots are then not the same.
    """
    names = list(accelerations)
    differences = {name: difference(accelerations[name], accelerations[names[0]]) for name in names[1:]}
    for name, value in differences.items():
        if not value <= AGREEMENT:
            raise SimulationError(
                f"{name}: its accelerations differ from those of {names[0]} by {value:.1e}", 0.0
            )
    return max(differences.values(), default=0.0)


def _reason(errors: str) -> str:
    lines = [line for line in errors.splitlines() if line.strip()]
    return lines[-1] if lines else "it failed without a message"
