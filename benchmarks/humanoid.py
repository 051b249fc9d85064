"""A humanoid that collapses on the floor, by impulses in joint coordinates, beside MuJoCo."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import click

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.humanoid_model import text
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed

STEP: Final = 2e-3
LIMIT: Final = 2.0
"""Wanted part of MuJoCo's time."""
_SCRIPT: Final = Path(__file__).parent / "peers" / "mujoco_model.py"


def mechanism(path: Path) -> bc.Mechanism:
    """The model of an MJCF file, on a floor with a contact for each of its bodies."""
    mech = bc.load(path)
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for name in mech.bodies:
        mech.add_force(f"{name} on the floor", bc.Contact(1e6, friction=0.7), name, "ground")
    return mech


def run(duration: float = 5.0, repeats: int = 3, python: str = "") -> Report:
    """Let it collapse for a time, s. python: an interpreter that has MuJoCo, by default this one."""
    facts = environment()
    steps = round(duration / STEP)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "humanoid.xml"
        path.write_text(text(STEP))
        command = [python or sys.executable, str(_SCRIPT), str(path), str(steps), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        mech = mechanism(path)
    row, note = _own(mech, duration, repeats), ""
    wanted: list[Row] = []
    if done.returncode == 0:
        peer = json.loads(done.stdout)
        ratio = row["us"].median / Spread.of(peer["times"]).median
        row |= {"peer_us": Spread.of(peer["times"]), "peer_depth": 1e3 * peer["depth"], "ratio": ratio}
        wanted = target("humanoid: time by MuJoCo's", LIMIT, ratio)
        note = f"MuJoCo {peer['version']}: elliptic cones, all else as it comes."
    else:
        note = f"mujoco: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}"
    columns = (
        Column("us", "us a step"), Column("factorizations", "fact. a step"), Column("residual", "residual"),
        Column("depth", "depth, mm"), Column("peer_us", "MuJoCo, us"),
        Column("peer_depth", "MuJoCo depth, mm"), Column("ratio", "ratio"),
    )  # fmt: skip
    tables = [
        Table("humanoid", "A humanoid of 31 freedoms collapses on a floor", columns, [row]),
        *targets_tables(wanted),
    ]
    settings = {"step": STEP, "duration": duration, "repeats": repeats}
    return Report("humanoid", facts, settings, tables, (f"{steps} steps of {STEP:g} s; medians.", note))


def _own(mech: bc.Mechanism, duration: float, repeats: int) -> Row:
    kept: list[bc.Trajectory] = []
    options: dict[str, Any] = {"method": "moreau", "step": STEP, "output_step": duration, "reactions": False}

    def seconds(time: float) -> float:
        return timed(
            lambda: kept.append(bc.simulate(mech, duration=time, formulation="recursive", **options))
        )

    fixed = min(seconds(STEP) for _ in range(max(2, repeats)))
    spent = [seconds(duration) - fixed for _ in range(repeats)]
    last = kept[-1]
    steps = int(last.statistics["steps"])
    depths = [float(-last.contact(name).points(-1).gap.min(initial=0.0)) for name in last.contacts]
    return {
        "us": Spread.of(spent, 1e6 / steps),
        "factorizations": int(last.statistics["factorizations"]) / steps,
        "residual": last.statistics["residual"],
        "depth": 1e3 * max(depths),
    }


@click.command()
@click.option("--duration", default=5.0, show_default=True, type=click.FloatRange(0.1), help="s.")
@repeats_option(3)
@peer_python_option
@form_option
def command(duration: float, repeats: int, peer_python: str, form: Form) -> None:
    """Let a humanoid collapse, by impulses in joint coordinates and in MuJoCo."""
    publish([run(duration, repeats, peer_python)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "humanoid", arguments)
