"""Friction in joints: what an evaluation costs with it, what it holds, the smoothed law and MuJoCo beside it.

A slider-crank in space, with three redundant rows, runs out and comes to rest. All ratios are of one run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from math import asin, cos, sin
from pathlib import Path
from typing import Any, Final

import click

import bellcrank as bc
from benchmarks.command_line import Form, form_option, invoke, peer_python_option, repeats_option
from benchmarks.environment import environment
from benchmarks.report import Column, Report, Row, Table, publish
from benchmarks.targets import target, targets_tables
from benchmarks.timing import Spread, timed

CRANK, ROD, ANGLE, SPEED = 0.15, 0.5, 0.3, 20.0
FORMULATIONS: Final = ("lagrange", "recursive", "dca")
METHOD: Final = "dopri5"
TOLERANCE: Final = 1e-8
LOADED, LOCKED = 1.3, 1.05
"""Wanted: time of an evaluation with loads by that without; work of what sticks by that of what is locked."""
LEVELS: Final = {"A": 0.4, "B": 0.1, "C": 0.1, "guide": 2.0}
"""Constant friction with which it comes to rest, N m and N."""
LITTLE: Final = 0.02
"""Part of it with which it runs on."""
SMOOTH: Final = (1e-2, 1e-3, 1e-4)
"""Speeds over which the law is smoothed, rad/s and m/s."""
PEER_STEPS: Final = (1e-3, 1e-4)
_JOINTS: Final = ("A", "B", "C", "guide")
_SCRIPT: Final = Path(__file__).parent / "peers" / "mujoco_model.py"

_COST_COLUMNS: Final = (
    Column("formulation", "formulation"), Column("none_us", "without, us"),
    Column("constant_us", "constant, us"), Column("loaded_us", "loaded, us"),
    Column("constant_ratio", "constant by without"),
    Column("loaded_ratio", "loaded by constant"),
)  # fmt: skip
_STICK_COLUMNS: Final = (
    Column("formulation", "formulation"), Column("locked", "evaluations, locked", 5),
    Column("sticking", "sticking", 5), Column("locked_us", "us, locked"), Column("sticking_us", "sticking"),
    Column("ratio", "ratio of evaluations"),
)  # fmt: skip
_REST_COLUMNS: Final = (
    Column("law", "law"), Column("ms", "ms per simulated s"), Column("evaluations", "evaluations", 6),
    Column("error", "error of the angle at rest, rad", 2), Column("creep", "still turning, rad/s", 2),
)  # fmt: skip


def slider_crank(rub: Callable[[str], bc.JointFriction | None]) -> bc.Mechanism:
    """A crank, a rod and a carriage under gravity; `rub` says what friction a joint has."""
    mech = bc.Mechanism("slider-crank", gravity=(0.0, -9.81, 0.0))
    tip, fall = (CRANK * cos(ANGLE), CRANK * sin(ANGLE)), asin(CRANK * sin(ANGLE) / ROD)
    crank = mech.add_body("crank", 1.0, (0.05, 0.05, 0.05), rotation=_about(ANGLE))
    middle = (tip[0] + ROD / 2 * cos(fall), tip[1] / 2, 0.0)
    rod = mech.add_body("rod", 0.8, (0.02, 0.02, 0.02), position=middle, rotation=_about(-fall))
    reach = tip[0] + ROD * cos(fall)
    carriage = mech.add_body("carriage", 0.6, (1e-3, 1e-3, 1e-3), position=(reach, 0.0, 0.0))
    half = ROD / 2
    mech.add_joint("A", bc.Revolute(), mech.ground.marker(), crank.marker(), position=ANGLE, velocity=SPEED)
    mech.add_joint("B", bc.Revolute(), crank.marker((CRANK, 0.0, 0.0)), rod.marker((-half, 0.0, 0.0)))
    mech.add_joint("C", bc.Revolute(), rod.marker((half, 0.0, 0.0)), carriage.marker())
    mech.add_joint("guide", bc.PrismaticX(), mech.ground.marker(), carriage.marker())
    for joint in _JOINTS:
        friction = rub(joint)
        if friction is not None:
            mech.add_force(f"rub {joint}", friction, joint)
    return mech


def _about(angle: float) -> tuple[float, float, float, float]:
    return (cos(angle / 2), 0.0, 0.0, sin(angle / 2))


def _none(_joint: str) -> None:
    return None


def _constant(joint: str) -> bc.JointFriction | None:
    return bc.JointFriction(coulomb=LITTLE * LEVELS[joint], regularisation_velocity=None)


def _loaded(joint: str) -> bc.JointFriction:
    load = bc.Slide(length=0.1, coefficient=0.02) if joint == "guide" else bc.Journal(0.03, 0.02)
    return bc.JointFriction(load=load, stribeck_velocity=None)


def _three(joint: str) -> bc.JointFriction | None:
    return None if joint == "B" else bc.JointFriction(coulomb=LEVELS[joint], regularisation_velocity=None)


def _smoothed(speed: float) -> Callable[[str], bc.JointFriction | None]:
    def rub(joint: str) -> bc.JointFriction | None:
        if joint == "B":
            return None
        return bc.JointFriction(coulomb=LEVELS[joint], regularisation_velocity=speed)

    return rub


def arms(elbow: bc.JointFriction | None) -> bc.Mechanism:
    """A double pendulum whose elbow friction holds, or, without any, that is locked."""
    mech = bc.Mechanism("arms", gravity=(0.0, -9.81, 0.0))
    upper = mech.add_body("upper", 1.0, (0.1, 0.01, 0.1), position=(0.0, -0.5, 0.0))
    lower = mech.add_body("lower", 1.0, (0.01, 0.1, 0.1), position=(0.5, -1.0, 0.0))
    mech.add_joint("shoulder", bc.Revolute(), mech.ground.marker(), upper.marker((0.0, 0.5, 0.0)))
    kind = bc.Fixed() if elbow is None else bc.Revolute()
    mech.add_joint("elbow", kind, upper.marker((0.0, -0.5, 0.0)), lower.marker((-0.5, 0.0, 0.0)))
    if elbow is not None:
        mech.add_force("rub", elbow, "elbow")
    return mech


def _timed(mech: bc.Mechanism, duration: float, repeats: int, **options: Any) -> tuple[Spread, bc.Trajectory]:
    """Seconds of runs beyond what one takes that is short."""
    kept: list[bc.Trajectory] = []
    options = {"method": METHOD, "tolerance": TOLERANCE, **options}

    def seconds(end: float) -> float:
        return timed(lambda: kept.append(bc.simulate(mech, end, output_step=end, **options)))

    fixed = min(seconds(1e-6) for _ in range(3))
    return Spread.of([seconds(duration) - fixed for _ in range(repeats)]), kept[-1]


def _per_evaluation(
    mech: bc.Mechanism, duration: float, repeats: int, formulation: str
) -> tuple[Spread, int]:
    spent, run = _timed(mech, duration, repeats, formulation=formulation)
    count = int(run.statistics["evaluations"])
    factor = 1e6 / count
    return Spread(factor * spent.median, factor * spent.smallest, factor * spent.largest), count


def _costs(duration: float, repeats: int) -> list[Row]:
    rows = []
    for formulation in FORMULATIONS:
        row: Row = {"formulation": formulation}
        for name, rub in (("none", _none), ("constant", _constant), ("loaded", _loaded)):
            row[f"{name}_us"], _ = _per_evaluation(slider_crank(rub), duration, repeats, formulation)
        row["constant_ratio"] = row["constant_us"].median / row["none_us"].median
        row["loaded_ratio"] = row["loaded_us"].median / row["constant_us"].median
        rows.append(row)
    return rows


def _sticking(duration: float, repeats: int) -> list[Row]:
    rows = []
    holds = bc.JointFriction(coulomb=100.0, regularisation_velocity=None)
    long = 20.0 * duration
    for formulation in FORMULATIONS:
        locked_us, locked = _per_evaluation(arms(None), long, repeats, formulation)
        sticking_us, sticking = _per_evaluation(arms(holds), long, repeats, formulation)
        rows.append(
            {"formulation": formulation, "locked": locked, "sticking": sticking, "locked_us": locked_us,
             "sticking_us": sticking_us, "ratio": sticking / locked}
        )  # fmt: skip
    return rows


def _rests(duration: float, repeats: int, python: str) -> tuple[list[Row], str]:
    """The angle at which it comes to rest, by the law that holds, by the smoothed one, and in MuJoCo."""
    exact = bc.simulate(slider_crank(_three), duration, method=METHOD, tolerance=1e-12).joint("A")
    rest = float(exact.position[-1, 0])
    laws = [("holds", _three), *((f"smoothed over {speed:g}", _smoothed(speed)) for speed in SMOOTH)]
    rows = []
    for law, rub in laws:
        spent, run = _timed(slider_crank(rub), duration, repeats)
        at_end = run.joint("A")
        factor = 1e3 / duration
        rows.append(
            {"law": law, "ms": Spread(*(factor * s for s in (spent.median, spent.smallest, spent.largest))),
             "evaluations": int(run.statistics["evaluations"]),
             "error": abs(float(at_end.position[-1, 0]) - rest), "creep": abs(float(at_end.velocity[-1, 0]))}
        )  # fmt: skip
    note = ""
    for step in PEER_STEPS:
        peer = _peer(duration, step, repeats, python)
        if isinstance(peer, str):
            return rows, peer
        factor = 1e-3 / step
        rows.append(
            {"law": f"MuJoCo, frictionloss, step {step:g}", "evaluations": round(duration / step),
             "ms": Spread.of(peer["times"], factor), "error": abs(ANGLE + peer["qpos"][0] - rest),
             "creep": abs(peer["qvel"][0])}
        )  # fmt: skip
        note = f"MuJoCo {peer['version']}: the crank's pin on the rod is a `connect`; all else as it comes."
    return rows, note


def text(step: float) -> str:
    """The slider-crank with constant friction in MJCF, its crank set in motion by a key frame."""
    fall = asin(CRANK * sin(ANGLE) / ROD)
    rate = CRANK * cos(ANGLE) * SPEED / (ROD * cos(fall))
    travel = -CRANK * sin(ANGLE) * SPEED - ROD * sin(fall) * rate
    reach = CRANK * cos(ANGLE) + ROD * cos(fall)

    def turned(angle: float) -> str:
        return " ".join(repr(q) for q in _about(angle))

    return (
        f'<mujoco><option timestep="{step!r}" gravity="0 -9.81 0"/><worldbody>'
        f'<body name="crank" quat="{turned(ANGLE)}">'
        f'<joint name="A" type="hinge" axis="0 0 1" frictionloss="{LEVELS["A"]}"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="0.05 0.05 0.05"/></body>'
        f'<body name="carriage" pos="{reach!r} 0 0">'
        f'<joint name="guide" type="slide" axis="1 0 0" frictionloss="{LEVELS["guide"]}"/>'
        '<inertial pos="0 0 0" mass="0.6" diaginertia="0.001 0.001 0.001"/>'
        f'<body name="rod" quat="{turned(-fall)}">'
        f'<joint name="C" type="hinge" axis="0 0 1" frictionloss="{LEVELS["C"]}"/>'
        f'<inertial pos="{-ROD / 2!r} 0 0" mass="0.8" diaginertia="0.02 0.02 0.02"/>'
        "</body></body></worldbody>"
        f'<equality><connect body1="crank" body2="rod" anchor="{CRANK!r} 0 0"/></equality>'
        f'<keyframe><key qvel="{SPEED!r} {travel!r} {-rate!r}"/></keyframe></mujoco>'
    )


def _peer(duration: float, step: float, repeats: int, python: str) -> dict[str, Any] | str:
    """What MuJoCo takes and where it ends, or why that is missing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slider_crank.xml"
        path.write_text(text(step))
        command = [python, str(_SCRIPT), str(path), str(round(duration / step)), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"mujoco: {(done.stderr.strip().splitlines() or ['it failed'])[-1]} ({python})"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(duration: float = 10.0, repeats: int = 5, python: str = "") -> Report:
    """Measure friction in joints. python: an interpreter that has MuJoCo, by default this one."""
    facts = environment()
    costs, sticking = _costs(duration, repeats), _sticking(duration, repeats)
    rests, note = _rests(duration, repeats, python or sys.executable)
    wanted = []
    for row in costs:
        wanted += target(f"{row['formulation']}: evaluation, loaded by constant", LOADED, row["loaded_ratio"])
    for row in sticking:
        wanted += target(f"{row['formulation']}: evaluations, sticking by locked", LOCKED, row["ratio"])
    return Report(
        "friction",
        facts,
        {"duration": duration, "repeats": repeats, "method": METHOD, "tolerance": TOLERANCE},
        [
            Table("costs", "Whole runs of a slider-crank, by evaluation", _COST_COLUMNS, costs),
            Table("sticking", "A double pendulum whose elbow is held", _STICK_COLUMNS, sticking),
            Table("rests", "A slider-crank with constant friction comes to rest", _REST_COLUMNS, rests),
            *targets_tables(wanted),
        ],
        ("Thread CPU time; events, projections and output are part of it.", note),
    )


@click.command()
@click.option("--duration", default=10.0, show_default=True, type=click.FloatRange(0.01), help="s.")
@repeats_option(5)
@peer_python_option
@form_option
def command(duration: float, repeats: int, peer_python: str, form: Form) -> None:
    """Friction that grows with loads, friction that holds, the smoothed law and MuJoCo's."""
    publish([run(duration, repeats, peer_python)], form)


def main(arguments: list[str]) -> int:
    """Run the benchmark from a command line."""
    return invoke(command, "friction", arguments)
