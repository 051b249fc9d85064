"""Piles of stirred spheres by impulses beside MuJoCo: time per 2 ms while they fall and settle in a box."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from bellcrank.compile.state import Floats
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed

STEP: Final = 2e-3
COUNTS: Final = (60, 200)
RESIDUAL: Final = 1e-8
LIMIT: Final = 10.0
"""Wanted part of MuJoCo's time."""
FRICTION: Final = 0.5
DENSITY: Final = 1000.0
WALL: Final = 0.1
"""Thickness of the walls, m."""
_PITCH: Final = 0.17
_SCRIPT: Final = Path(__file__).parent / "peers" / "mujoco_model.py"

_COLUMNS: Final = (
    Column("spheres", "spheres"), Column("us", "us per 2 ms"), Column("steps", "steps"),
    Column("factorizations", "fact. a step"), Column("residual", "residual"), Column("depth", "depth, m"),
    Column("peer_us", "MuJoCo, us"), Column("peer_depth", "MuJoCo depth, m"), Column("ratio", "ratio"),
)  # fmt: skip


@dataclass(frozen=True)
class Pile:
    """Spheres in a box without a lid: half its width, radii, centres and velocities, in m and m/s."""

    half: float
    radii: Floats
    centres: Floats
    velocities: Floats

    @classmethod
    def of(cls, count: int, seed: int = 2) -> Pile:
        """Spheres of mixed sizes in layers above the floor, each with a random velocity."""
        rng = np.random.default_rng(seed)
        half = 0.5 * (count / 200.0) ** (1.0 / 3.0)
        side = int(2.0 * half / _PITCH)
        k = np.arange(count)
        across = (np.column_stack([k % side, k // side % side]) + 0.5) * 2.0 * half / side - half
        centres = np.column_stack(
            [across + rng.uniform(-3e-3, 3e-3, (count, 2)), 0.09 + _PITCH * (k // side**2)]
        )
        return cls(half, rng.uniform(0.04, 0.08, count), centres, rng.uniform(-1.0, 1.0, (count, 3)))

    def walls(self) -> list[tuple[tuple[float, float, float], tuple[float, float, float]]]:
        """Sizes and centres of four boxes around the pile, m."""
        out, height = self.half + WALL / 2, 4.0 * self.half
        long = 2.0 * self.half + 2.0 * WALL
        along_x, along_y = (WALL, long, height), (long, WALL, height)
        z = height / 2
        return [
            (along_x, (out, 0.0, z)), (along_x, (-out, 0.0, z)),
            (along_y, (0.0, out, z)), (along_y, (0.0, -out, z)),
        ]  # fmt: skip


def mechanism(pile: Pile) -> bc.Mechanism:
    """The spheres, their box and contact between all of them."""
    mech = bc.Mechanism("pile")
    walls = [bc.Box(size=size, position=centre) for size, centre in pile.walls()]
    mech.replace(mech.ground, shapes=[bc.Plane(), *walls])
    for k, radius in enumerate(pile.radii):
        mech.add_body(
            f"sphere {k}",
            shapes=[bc.Sphere(radius=float(radius), density=DENSITY)],
            position=pile.centres[k],
            velocity=pile.velocities[k],
        )
    mech.add_force("touch", bc.Contact(1e6, restitution=0.0, friction=FRICTION), *mech.bodies, "ground")
    return mech


def text(pile: Pile) -> str:
    """The same in MJCF, the velocities as a key frame."""

    def numbers(values: Any) -> str:
        return " ".join(repr(float(v)) for v in values)

    walls = "".join(
        f'<geom type="box" size="{numbers(np.array(size) / 2)}" pos="{numbers(centre)}"/>'
        for size, centre in pile.walls()
    )
    spheres = "".join(
        f'<body pos="{numbers(p)}"><freejoint/>'
        f'<geom type="sphere" size="{float(r)!r}" density="{DENSITY}"/></body>'
        for r, p in zip(pile.radii, pile.centres, strict=True)
    )
    speeds = numbers(np.pad(pile.velocities, ((0, 0), (0, 3))).ravel())
    return (
        f'<mujoco><option timestep="{STEP!r}" cone="elliptic"/><size memory="256M"/>'
        f'<default><geom friction="{FRICTION}"/></default>'
        f'<worldbody><geom type="plane" size="5 5 1"/>{walls}{spheres}</worldbody>'
        f'<keyframe><key qvel="{speeds}"/></keyframe></mujoco>'
    )


def _own(pile: Pile, duration: float, repeats: int) -> Row:
    mech = mechanism(pile)
    kept: list[bc.Trajectory] = []
    options: dict[str, Any] = {"method": "moreau", "step": STEP, "output_step": duration, "reactions": False}

    def seconds(time: float) -> float:
        return timed(lambda: kept.append(bc.simulate(mech, duration=time, tolerance=RESIDUAL, **options)))

    fixed = min(seconds(STEP) for _ in range(2))
    spent = [seconds(duration) - fixed for _ in range(repeats)]
    facts = kept[-1].statistics
    return {
        "spheres": len(pile.radii),
        "us": Spread.of(spent, 1e6 * STEP / duration),
        "steps": int(facts["steps"]),
        "factorizations": int(facts["factorizations"]) / int(facts["steps"]),
        "residual": facts["residual"],
        "depth": facts["penetration"],
    }


def _peer(pile: Pile, duration: float, repeats: int, python: str) -> dict[str, Any] | str:
    """What MuJoCo takes, or why that is missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pile.xml"
        path.write_text(text(pile))
        command = [python, str(_SCRIPT), str(path), str(round(duration / STEP)), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"mujoco: {(done.stderr.strip().splitlines() or ['it failed'])[-1]} ({python})"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(duration: float = 1.0, repeats: int = 1, python: str = "") -> Report:
    """Let piles settle for a time, s. python: an interpreter that has MuJoCo, by default this one."""
    facts = environment()
    rows, wanted = [], []
    note = ""
    for count in COUNTS:
        pile = Pile.of(count)
        row, peer = _own(pile, duration, repeats), _peer(pile, duration, repeats, python or sys.executable)
        if isinstance(peer, str):
            note = peer
        else:
            times = Spread.of(peer["times"])
            ratio = row["us"].median / times.median
            row |= {"peer_us": times, "peer_depth": peer["depth"], "ratio": ratio}
            wanted += target(f"{count} spheres: time by MuJoCo's", LIMIT, ratio)
            note = f"MuJoCo {peer['version']}: elliptic cones, all else as it comes."
        wanted += target(f"{count} spheres: largest residual", RESIDUAL, row["residual"])
        rows.append(row)
    title = f"Stirred spheres fall and settle in a box, {duration:g} s"
    settings = {"step": STEP, "duration": duration, "repeats": repeats}
    notes = ("Steps are divided at impacts; thread CPU time.", note)
    return Report(
        "piles", facts, settings, [Table("piles", title, _COLUMNS, rows), *targets_tables(wanted)], notes
    )


@click.command()
@click.option("--duration", default=1.0, show_default=True, type=click.FloatRange(STEP), help="s.")
@repeats_option(1)
@peer_python_option
@form_option
def command(duration: float, repeats: int, peer_python: str, form: Form) -> None:
    """Let piles of spheres fall and settle, by impulses and in MuJoCo."""
    publish([run(duration, repeats, peer_python)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "piles", arguments)
