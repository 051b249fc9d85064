"""Towers of boxes by impulses beside MuJoCo: time per step, and the settlement of the top box."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed

STEP: Final = 2e-3
TOWERS: Final = ((1, 1.0, 1.5), (10, 1.0, 2.0), (10, 1e3, 2.0), (30, 1e3, 2.0))
"""Boxes, mass of the top one, kg, and the wanted ratio to MuJoCo's time."""
SUNK: Final = 1e-6
"""How far the top box may sink, m."""
SIDE: Final = 0.2
_SCRIPT: Final = Path(__file__).parent / "peers" / "mujoco_towers.py"

_COLUMNS: Final = (
    Column("boxes", "boxes"),
    Column("top", "top, kg"),
    Column("step_us", "us a step"),
    Column("factorizations", "fact. a step"),
    Column("residual", "residual"),
    Column("sunk", "sunk, m"),
    Column("peer_us", "MuJoCo, us"),
    Column("peer_sunk", "MuJoCo sunk, m"),
    Column("ratio", "ratio"),
)


def tower(count: int, top: float) -> bc.Mechanism:
    """Boxes of 1 kg on each other and on the ground, the top one of another mass, kg."""
    mech = bc.Mechanism(f"tower of {count}")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for k in range(count):
        mech.add_body(
            f"box {k}",
            mass=top if k == count - 1 else 1.0,
            shapes=[bc.Box(size=(SIDE, SIDE, SIDE), density=1.0)],
            position=(0.0, 0.0, SIDE * (k + 0.5)),
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=0.0, friction=0.5), *mech.bodies, "ground")
    return mech


def _own(count: int, top: float, duration: float, repeats: int) -> Row:
    mech = tower(count, top)

    def seconds(time: float) -> tuple[float, bc.Trajectory]:
        kept: list[bc.Trajectory] = []
        options: dict[str, Any] = {"method": "moreau", "step": STEP, "output_step": time, "reactions": False}
        spent = timed(lambda: kept.append(bc.simulate(mech, duration=time, **options)))
        return spent, kept[0]

    seconds(STEP)
    fixed = float(np.median([seconds(STEP)[0] for _ in range(repeats)]))
    runs = [seconds(duration) for _ in range(repeats)]
    last = runs[-1][1]
    steps, factorizations = (int(last.statistics[name]) for name in ("steps", "factorizations"))
    top_box = last.body(f"box {count - 1}").position[-1]
    return {
        "boxes": count,
        "top": top,
        "step_us": Spread.of([spent - fixed for spent, _ in runs], 1e6 / steps),
        "factorizations": factorizations / steps,
        "residual": last.statistics["residual"],
        "sunk": SIDE * (count - 0.5) - float(top_box[2]),
    }


def _peer(python: str, duration: float, repeats: int) -> tuple[list[dict[str, Any]], str]:
    """MuJoCo's time for each tower, or the reason why it is missing."""
    towers = [f"{count}:{top}" for count, top, _ in TOWERS]
    command = [python, str(_SCRIPT), str(STEP), str(duration), str(repeats), *towers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [], f"mujoco: {(done.stderr.strip().splitlines() or ['it failed'])[-1]} ({python})"
    return json.loads(done.stdout), ""


def run(duration: float = 60.0, repeats: int = 3, python: str = "") -> Report:
    """Simulate standing towers for a time, s. python: an interpreter that has MuJoCo, by default this one."""
    facts = environment()
    peers, missing = _peer(python or sys.executable, duration, repeats)
    rows, wanted = [], []
    for number, (count, top, limit) in enumerate(TOWERS):
        row = _own(count, top, duration, repeats)
        name = f"{count} boxes, top {top:g} kg"
        wanted += target(f"{name}: sunk, m", SUNK, abs(row["sunk"]))
        if peers:
            peer = Spread.of(peers[number]["times"])
            ratio = row["step_us"].median / peer.median
            row |= {"peer_us": peer, "peer_sunk": peers[number]["sunk"], "ratio": ratio}
            wanted += target(f"{name}: time by MuJoCo's", limit, ratio)
        rows.append(row)
    notes = [f"Steps of {STEP:g} s for {duration:g} s from rest; thread CPU time, medians of {repeats}."]
    notes += (
        ["MuJoCo " + peers[0]["version"] + ": elliptic cones, all else as it comes."] if peers else [missing]
    )
    title = "Towers that stand, residual at most 1e-8 of the largest speed"
    settings: dict[str, Any] = {"step": STEP, "duration": duration, "repeats": repeats}
    tables = [Table("towers", title, _COLUMNS, rows), *targets_tables(wanted)]
    return Report("towers", facts, settings, tables, tuple(notes))


@click.command()
@click.option("--duration", default=60.0, show_default=True, type=click.FloatRange(0.1), help="s.")
@repeats_option(3)
@peer_python_option
@form_option
def command(duration: float, repeats: int, peer_python: str, form: Form) -> None:
    """Simulate standing towers of boxes, by impulses and in MuJoCo."""
    publish([run(duration, repeats, peer_python)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "towers", arguments)
