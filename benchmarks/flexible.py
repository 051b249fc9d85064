"""Beams and linkages of beams beside EXUDYN; the cost of a segment, long ropes, undamped vibration."""

from __future__ import annotations

import json
import subprocess
import sys
from math import acos, sqrt
from pathlib import Path
from time import process_time
from typing import Any, Final

import click
import numpy as np

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.flexible_linkages import COLUMNS as LINKAGE_COLUMNS
from benchmarks.flexible_linkages import rows as linkage_rows
from benchmarks.peers.beam_problems import PRINCETON, SPAGHETTI, Beam
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed, timed_runs

_SCRIPT: Final = Path(__file__).with_name("peers") / "exudyn_beams.py"
PRINCETON_ERROR, SPAGHETTI_ERROR = 2e-5, 4e-3  # of the tip, by length, that both sides are to reach
SEGMENTS: Final = {"princeton": 4, "spaghetti": 8}
PEERS: Final = {"princeton": (64, 0.0), "spaghetti": (16, 0.01)}
"""Segments, and the step, s, with which EXUDYN reaches these errors."""

_COLUMNS: Final = (
    Column("problem", "problem"), Column("engine", "engine"), Column("segments", "segments", 4),
    Column("error", "error of the tip / length", 2), Column("ms", "CPU ms"),
)  # fmt: skip
_COST_COLUMNS: Final = (
    Column("what", "what"), Column("segments", "segments", 5), Column("steps", "steps", 6),
    Column("us", "CPU us"),
)  # fmt: skip


def _mechanism(beam: Beam, segments: int, clamped: bool) -> bc.Mechanism:
    """A straight beam of general stiffness."""
    mech = bc.Mechanism("beam", gravity=(0, 0, 0))
    section = bc.Section.general(
        EA=beam.EA, GA=beam.GA, GJ=beam.GJ, EI=beam.EI,
        mass_per_length=beam.mass_per_length, inertia_per_length=beam.rotary,
    )  # fmt: skip
    start: Any = mech.ground.marker(beam.start) if clamped else beam.start
    mech.add_beam("beam", section, start=start, end=beam.end, segments=segments)
    return mech


def _error(beam: Beam, place: Any) -> float:
    length = float(np.linalg.norm(np.subtract(beam.end, beam.start)))
    return float(np.linalg.norm(np.subtract(place, beam.tip))) / length


def princeton(segments: int) -> tuple[float, float]:
    """CPU seconds of finding where it rests, the mechanism compiled, and the error."""
    mech = _mechanism(PRINCETON, segments, clamped=True)
    mech.add_force(
        "load", bc.Wrench(force=PRINCETON.load), mech.beams["beam"].marker(mech.beams["beam"].length)
    )
    spent = timed(lambda: bc.find_equilibrium(mech))
    return spent, _error(PRINCETON, mech.bodies[f"beam/{segments}"].position)


def _thrown(segments: int) -> bc.Mechanism:
    mech = _mechanism(SPAGHETTI, segments, clamped=False)
    hat = [(0.0, 0.0), (2.5, 200.0), (5.0, 0.0)]

    def times(factor: float) -> bc.Table:
        return bc.Table([t for t, _ in hat], [factor * f for _, f in hat], interpolation="linear")

    load = bc.Wrench(force=(times(0.1), 0.0, 0.0), moment=(0.0, times(-0.5), times(-1.0)))
    mech.add_force("load", load, mech.bodies["beam/0"])
    return mech


def spaghetti(segments: int, repeats: int) -> tuple[list[float], float]:
    """CPU seconds of the run by `adams`, and the error of the free end."""
    model = compile_mechanism(_thrown(segments))
    runs = timed_runs(model, "adams", np.array([0.0, SPAGHETTI.duration]), repeats, tolerance=1e-6)
    run = bc.simulate(
        _thrown(segments), SPAGHETTI.duration, method="adams", tolerance=1e-6, formulation="lagrange"
    )
    return [one.seconds for one in runs], _error(SPAGHETTI, run.body(f"beam/{segments}").position[-1])


def _peer(problem: str, repeats: int, python: str) -> dict[str, Any] | str:
    """What EXUDYN takes, or why that is missing."""
    segments, step = PEERS[problem]
    command = [python, str(_SCRIPT), problem, str(segments), str(repeats), repr(step)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exudyn: {(done.stderr.strip().splitlines() or ['it failed'])[-1]} ({python})"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _against(repeats: int, python: str) -> tuple[list[Row], list[Row], list[str]]:
    rows, wanted, notes = list[Row](), list[Row](), list[str]()
    for problem, beam in (("princeton", PRINCETON), ("spaghetti", SPAGHETTI)):
        segments = SEGMENTS[problem]
        if problem == "princeton":
            tries = [princeton(segments) for _ in range(repeats + 1)][1:]
            seconds, error = [spent for spent, _ in tries], tries[0][1]
        else:
            seconds, error = spaghetti(segments, repeats)
        own = Spread.of(seconds, 1e3)
        rows.append(
            {"problem": problem, "engine": "bellcrank", "segments": segments, "error": error, "ms": own}
        )
        limit = PRINCETON_ERROR if problem == "princeton" else SPAGHETTI_ERROR
        wanted += target(f"{problem}: error of the tip", limit, error)
        told = _peer(problem, repeats, python)
        if isinstance(told, str):
            notes.append(told)
            continue
        other = Spread.of(told["seconds"], 1e3)
        row = {"problem": problem, "engine": f"EXUDYN {told['version']}", "segments": told["segments"]}
        rows.append(row | {"error": _error(beam, told["tip"]), "ms": other})
        wanted += target(f"{problem}: CPU, by EXUDYN's", 0.25, own.median / other.median)
    return rows, wanted, notes


ROPE: Final = bc.Section.general(
    EA=1e4, GA=1e4, GJ=1e-4, EI=1e-4, mass_per_length=0.1, inertia_per_length=(1.2e-6, 6e-7, 6e-7)
)


def falling_rope(segments: int) -> bc.Mechanism:
    """A rope of 1 m that is let go from the level, one end pinned."""
    mech = bc.Mechanism("rope")
    start = (mech.ground.marker(), bc.Spherical())
    mech.add_beam("rope", ROPE, start=start, end=(1, 0, 0), segments=segments)
    return mech


def hanging_rope(segments: int) -> bc.Mechanism:
    """A rope of 1 m between two pins 0.9 m apart, unloaded along two straight lines that meet below."""
    mech = bc.Mechanism("rope")
    mech.add_beam("rope", ROPE, start=(0, 0, 0), end=(1, 0, 0), segments=segments)
    half, turn = segments // 2, acos(0.9)
    for k in range(segments + 1):
        s, side = k / segments, 1.0 if k <= half else -1.0
        low = -min(s, 1.0 - s) * sqrt(1.0 - 0.9**2)
        rotation = (np.cos(turn / 2), 0.0, side * np.sin(turn / 2), 0.0)
        mech.replace(mech.bodies[f"rope/{k}"], position=(0.9 * s, 0.0, low), rotation=rotation)
    for k, x in ((0, 0.0), (segments, 0.9)):
        mech.add_joint(f"pin {k}", bc.Spherical(), mech.ground.marker((x, 0, 0)), mech.bodies[f"rope/{k}"])
    return mech


def _costs(repeats: int, longest: int) -> tuple[list[Row], list[Row]]:
    """A segment in motion: explicit and implicit; a rope at rest."""
    rows, wanted = list[Row](), list[Row]()
    model = compile_mechanism(_thrown(64))
    runs = timed_runs(model, "adams", np.array([0.0, 1.0]), repeats, tolerance=1e-6)
    cost = Spread.of([1e6 * one.seconds / one.outcome.steps / 64 for one in runs])
    rows.append(
        {"what": "adams, a segment and step", "segments": 64, "steps": runs[0].outcome.steps, "us": cost}
    )
    wanted += target("adams: us a segment and step", 0.6, cost.median, is_time=True)
    for segments in (10, 100, 1000):
        if segments > longest:
            continue
        model = compile_mechanism(falling_rope(segments))
        settings: dict[str, Any] = {"tolerance": 1e-4, "max_order": 2}
        runs = timed_runs(model, "bdf", np.array([0.0, 0.3]), min(repeats, 3), **settings)
        cost = Spread.of([1e6 * one.seconds / one.outcome.steps / segments for one in runs])
        steps = runs[0].outcome.steps
        rows.append(
            {"what": "bdf of order 2, a segment and step", "segments": segments, "steps": steps, "us": cost}
        )
        wanted += target(f"bdf, {segments} segments: us a segment and step", 5.0, cost.median, is_time=True)
    mech = hanging_rope(longest)
    spent = process_time()
    report = bc.find_equilibrium(mech)
    spent = process_time() - spent
    row: Row = {"what": "a rope at rest, the whole", "segments": longest, "steps": report.iterations}
    rows.append(row | {"us": Spread.of([1e6 * spent])})
    wanted += target(f"rope of {longest} segments at rest: CPU s", 0.5, spent, is_time=True)
    return rows, wanted


def _undamped() -> tuple[list[Row], list[Row]]:
    """Steps of the steel cantilever that is let go: `auto` chosen, `bdf` free, and held at order 2."""
    steel = bc.Section.rectangle(0.02, 0.004, E=210e9, nu=0.3, density=7850)
    steps, rows = dict[str, int](), list[Row]()
    methods: dict[str, dict[str, Any]] = {"bdf of order 2": {"method": "bdf", "max_order": 2}}
    methods |= {"bdf": {"method": "bdf"}, "esdirk": {"method": "esdirk"}}
    for name, given in methods.items():
        mech = bc.Mechanism("cantilever")
        mech.add_beam("beam", steel, start=mech.ground.marker(), end=(0.5, 0, 0), segments=8)
        begun = process_time()
        run = bc.simulate(
            mech, 0.2, formulation="lagrange", tolerance=1e-5, reactions=False, output_step=0.2, **given
        )
        spent = 1e6 * (process_time() - begun)
        steps[name] = int(run.statistics["steps"])
        rows.append(
            {"what": f"undamped, {name}", "segments": 8, "steps": steps[name], "us": Spread.of([spent])}
        )
    wanted = target(
        "undamped: steps of bdf, by those of order 2", 2.0, steps["bdf"] / steps["bdf of order 2"]
    )
    return rows, wanted


def run(repeats: int = 5, python: str = "", longest: int = 1000) -> Report:
    """Measure beams. python: an interpreter that has EXUDYN. longest: segments of the longest rope."""
    facts = environment()
    rows, wanted, notes = _against(repeats, python or sys.executable)
    costs, more = _costs(repeats, longest)
    vibrating, most = _undamped()
    linked, asked, missing = linkage_rows(python or sys.executable)
    return Report(
        "flexible",
        facts,
        {"repeats": repeats},
        [
            Table("beams", "Bending", _COLUMNS, rows),
            Table("costs", "Costs", _COST_COLUMNS, costs + vibrating),
            Table("linkages", "Linkages", LINKAGE_COLUMNS, linked),
            *targets_tables([*wanted, *more, *most, *asked]),
        ],
        (*notes, *missing),
    )


@click.command()
@click.option(
    "--longest", default=1000, show_default=True, type=click.IntRange(10), help="Segments of the rope."
)
@peer_python_option
@repeats_option(5)
@form_option
def command(longest: int, peer_python: str, repeats: int, form: Form) -> None:
    """Beams beside EXUDYN: the Princeton beam at rest, flying spaghetti; segments and ropes alone."""
    publish([run(repeats, peer_python, longest)], form)


def main(arguments: list[str]) -> int:
    """The command line of `bellcrank bench flexible`."""
    return invoke(command, "flexible", arguments)
