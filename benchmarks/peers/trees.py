"""Common parts of the scripts of `bellcrank bench symbolic`: trees of bodies, compiling, the command line.

Each script prepares one engine for one tree. With a C compiler it makes an executable, which the benchmark
runs any number of times; without, the script itself evaluates, and subtracts the cost of its calls.
The text format of trees and states is described in trees.h; accelerations are dual to the efforts.
"""

# run as scripts, so siblings import by plain name; a checker that sees a package cannot find them
# mypy: disable-error-code="import-not-found,no-any-return"

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FOLDER = Path(__file__).parent
GRAVITY = 9.81
"""Along -z, m/s^2; trees.h and pinocchio_trees.cpp say the same."""
LEAST_SECONDS = 2e-3
"""Samples of Python loops last at least so long."""


@dataclass(frozen=True)
class Body:
    """A body and the joint that carries it: revolute about z, or free."""

    free: bool
    parent: int
    position: Array
    rotation: Array
    mass: float
    com: Array
    inertia: Array


@dataclass(frozen=True)
class States:
    """Rows of q, v and efforts."""

    q: Array
    v: Array
    effort: Array


def read_tree(path: Path) -> list[Body]:
    """The bodies from a text."""
    numbers = [float(word) for word in path.read_text(encoding="utf-8").split()]
    bodies = []
    for row in np.array(numbers[1:]).reshape(int(numbers[0]), 27):
        free, parent = bool(row[0]), int(row[1])
        rotation, inertia = row[5:14].reshape(3, 3), row[18:27].reshape(3, 3)
        bodies.append(Body(free, parent, row[2:5], rotation, float(row[14]), row[15:18], inertia))
    return bodies


def read_states(path: Path, bodies: Sequence[Body]) -> States:
    """The states from a text."""
    nq = sum(7 if body.free else 1 for body in bodies)
    nv = sum(6 if body.free else 1 for body in bodies)
    numbers = [float(word) for word in path.read_text(encoding="utf-8").split()]
    rows = np.array(numbers[1:]).reshape(int(numbers[0]), nq + 2 * nv)
    return States(rows[:, :nq], rows[:, nq : nq + nv], rows[:, nq + nv :])


@dataclass(frozen=True)
class Job:
    """The request to a script. loop: evaluate in Python even if there is a compiler."""

    tree: Path
    states: Path
    build: Path
    samples: int
    loop: bool

    def bodies(self) -> list[Body]:
        """The bodies of the tree."""
        return read_tree(self.tree)

    @property
    def compiles(self) -> bool:
        """Whether executables can be built."""
        return not self.loop and compiler("c") is not None and compiler("c++") is not None


def compiler(language: str) -> str | None:
    """The compiler of "c" or "c++": $CC or $CXX, or the system's; None if there is none."""
    variable, usual = ("CC", "cc") if language == "c" else ("CXX", "c++")
    return shutil.which(os.environ.get(variable) or usual)


def compiled(job: Job, source: Path, flags: Sequence[str], reads: Sequence[Path] = ()) -> tuple[str, float]:
    """An executable of a source file, and the CPU seconds of building it, now or when it was built.

    flags: of compiler and linker. reads: files that the source includes by name, except trees.h.
    """
    program = compiler("c++" if source.suffix == ".cpp" else "c")
    if program is None:
        raise SystemExit("there is no compiler")
    content = hashlib.sha256(repr((program, tuple(flags))).encode())
    for path in (source, FOLDER / "trees.h", *reads):
        content.update(path.read_bytes())
    job.build.mkdir(parents=True, exist_ok=True)
    target = job.build / f"{source.stem}-{content.hexdigest()[:16]}"
    took = target.with_suffix(".seconds")
    if target.exists() and took.exists():
        return str(target), float(took.read_text(encoding="utf-8"))
    begun = os.times()
    partial = target.with_suffix(f".{os.getpid()}")
    folders = [
        f"-I{folder}" for folder in dict.fromkeys([FOLDER, *(path.resolve().parent for path in reads)])
    ]
    command = [program, str(source), *folders, *flags, "-o", str(partial), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        raise SystemExit(f"{source.name} does not compile: {errors[0]}")
    partial.rename(target)
    ended = os.times()
    spent = ended.children_user - begun.children_user + ended.children_system - begun.children_system
    took.write_text(repr(spent), encoding="utf-8")
    return str(target), spent


def loop(job: Job, evaluate: Callable[[int], object], calls: Callable[[int], object]) -> list[float]:
    """Nanoseconds of one evaluation per sample, by a Python loop, less the cost of the calls themselves.

    evaluate: takes the index of the state. calls: the same calls with almost no dynamics.
    """
    count = len(read_states(job.states, job.bodies()).q)

    def seconds(work: Callable[[int], object], passes: int) -> float:
        begun = time.thread_time()
        for _ in range(passes):
            for state in range(count):
                work(state)
        return (time.thread_time() - begun) / (passes * count)

    passes = max(1, round(LEAST_SECONDS / (count * seconds(evaluate, 1))))
    overhead = float(np.median([seconds(calls, passes) for _ in range(5)]))
    return [1e9 * (seconds(evaluate, passes) - overhead) for _ in range(job.samples)]


def main(prepare: Callable[[Job], dict[str, Any]], description: str | None) -> None:
    """The command line of the scripts.

    prepare returns "version" and either "executables", by label, or "results", by label, as the drivers print
    them; anything else it returns is passed on. The last line on standard output is JSON.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tree", type=Path, required=True, help="text of the bodies")
    parser.add_argument("--states", type=Path, required=True, help="text of the states")
    parser.add_argument("--build", type=Path, required=True, help="folder that keeps what was compiled")
    parser.add_argument("--samples", type=int, default=21, help="of times, where the script itself measures")
    parser.add_argument("--loop", action="store_true", help="evaluate in Python, compiler or not")
    arguments = parser.parse_args()
    print(json.dumps(prepare(Job(**vars(arguments)))))
