"""Forward dynamics exported by export_c, beside CasADi's C: same robots, states, compiler and flags."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

import bellcrank as bc
from bellcrank.errors import Unsupported
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.peer_replay import default_python
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.symbolic_peers import SCRIPTS, Files, Peer, default_build_folder, prepare
from benchmarks.symbolic_robots import TIMED
from benchmarks.symbolic_times import STATES, Race

ROBOTS: Final = tuple(name for name in TIMED if name != "humanoid")
"""Those whose coordinates are the same numbers for both: angles."""
FLAGS: Final = ("-O2", "-O3 -march=native")
OWN: Final = "bellcrank export_c"
RATIO_TARGET: Final = 1.0
_VARIABLE: Final = "BELLCRANK_PEER_CFLAGS"  # benchmarks/peers/casadi_trees.py
_COLUMNS: Final = (
    Column("robot", "robot"),
    Column("flags", "flags"),
    Column("own", "export_c, us"),
    Column("casadi", "CasADi, us"),
    Column("ratio", "export_c / CasADi"),
    Column("limit", "limit"),
    Column("met", "met"),
)


def run(robots: Sequence[str], flags: Sequence[str], python: str, build: Path, repeats: int) -> Report:
    """Time all robots with all flags."""
    facts = environment()
    rows: list[Row] = []
    notes = [f"{STATES} random states; medians of rounds in which both take turns; CasADi's faster algorithm"]
    for name in robots:
        for some in flags:
            found, missing = _row(name, some, python, build, repeats)
            rows += found
            notes += missing
    table = Table("exported", "Forward dynamics in C, one core", _COLUMNS, rows)
    settings = {"robots": list(robots), "flags": list(flags), "repeats": repeats}
    return Report("exported_c", facts, settings, (table,), tuple(dict.fromkeys(notes)))


def _row(name: str, flags: str, python: str, build: Path, repeats: int) -> tuple[list[Row], list[str]]:
    robot = TIMED[name]()
    states = robot.states(STATES)
    with tempfile.TemporaryDirectory() as folder, _peer_flags(flags):
        files = Files.written(robot, states, Path(folder))
        casadi = prepare("casadi", files, python, build)
        own = _exported(bc.prepare(robot.mechanism(), "symbolic"), Path(folder), flags)
        peers = [own] if isinstance(casadi, str) else [own, casadi]
        race = Race(robot, peers, files, None)
        race.run(repeats)
    ours, theirs = (
        min(
            (row["us"] for row in race.rows() if row["engine"] == engine),
            key=lambda us: us.median,
            default=None,
        )
        for engine in (OWN, "casadi")
    )
    assert ours is not None
    ratio = None if theirs is None else ours.median / theirs.median
    row = {
        "robot": name,
        "flags": flags,
        "own": ours,
        "casadi": theirs,
        "ratio": ratio,
        "limit": RATIO_TARGET,
    }
    return [row | {"met": None if ratio is None else ratio <= RATIO_TARGET}], [
        casadi for _ in (0,) if isinstance(casadi, str)
    ]


def _exported(system: bc.System, folder: Path, flags: str) -> Peer:
    """The exported function in CasADi's driver. Raises Unsupported if there is no compiler."""
    system.export_c(folder / "own.c")  # type: ignore[attr-defined]
    wrapper = folder / "generated.c"
    wrapper.write_text(
        '#include "own.c"\n'
        "static void generated_accelerations(const double* q, const double* v, const double* f, double* a)\n"
        "{\n    own_forward_dynamics(0.0, q, v, f, a);\n}\n",
        encoding="utf-8",
    )
    target = folder / "own"
    command = ["cc", str(SCRIPTS / "generated_trees.c"), f"-I{SCRIPTS}", f"-I{folder}", *flags.split()]
    command += ['-DGENERATED="generated.c"', '-DNAME="forward dynamics"', "-o", str(target), "-lm"]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unsupported(f"exported_c: the C compiler 'cc' made nothing of it: {error}") from None
    return Peer(OWN, bc.__version__, {"": str(target)})


@contextmanager
def _peer_flags(flags: str) -> Iterator[None]:
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = flags
    try:
        yield
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


@click.command
@click.option("--robot", "robots", multiple=True, type=click.Choice(ROBOTS), help="Time only these.")
@click.option("--flags", "flags", multiple=True, help='Of the compiler, such as "-O3 -march=native".')
@peer_python_option
@click.option("--build", type=click.Path(path_type=Path, file_okay=False), help="Keeps compiled drivers.")
@repeats_option(7)
@form_option
def command(
    robots: tuple[str, ...],
    flags: tuple[str, ...],
    peer_python: str,
    build: Path | None,
    repeats: int,
    form: Form,
) -> None:
    """Forward dynamics exported by export_c, beside CasADi's C, same compiler and flags."""
    python = peer_python or default_python()
    folder = build or default_build_folder()
    publish([run(robots or ROBOTS, flags or FLAGS, python, folder, repeats)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench exported_c`."""
    return invoke(command, "exported_c", arguments)
