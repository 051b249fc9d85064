"""Linkages of beams: bellcrank's side of problems that EXUDYN solves too."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

import bellcrank as bc
from benchmarks.peers.beam_linkages import LINKAGES, Linkage, segments
from benchmarks.report import Column, Row
from benchmarks.targets import target

_SETTINGS: Final[dict[str, tuple[int, int, float, float]]] = {
    "slider-crank": (16, 32, 1e-5, 1e-4),
    "lateral buckling": (4, 32, 2e-4, 1e-4),
    "four-bar": (4, 32, 4e-3, 1.0),
}
"""Refinement of bellcrank's bars and of EXUDYN's, EXUDYN's step, s, and tolerance of residuals."""
_LONGEST: Final = 60.0  # s that EXUDYN may take
COLUMNS: Final = (
    Column("problem", "problem"), Column("engine", "engine"), Column("segments", "segments", 4),
    Column("error", "error / motion", 2), Column("seconds", "CPU s", 3),
)  # fmt: skip
WITHIN: Final = 1e-4  # of the motion: how near both codes are to be to what they converge to
SCRIPT: Final = Path(__file__).with_name("peers") / "exudyn_linkages.py"
_KINDS: Final = {"clamp": bc.Fixed, "revolute": bc.Revolute, "spherical": bc.Spherical}


def mechanism(linkage: Linkage, refinement: int) -> bc.Mechanism:
    """The linkage, its bars with as many segments as the refinement says."""
    mech = bc.Mechanism("linkage", gravity=(0, 0, 0))
    counts = segments(linkage, refinement)
    nodes: dict[Any, str] = {"ground": "ground"}
    for bar in linkage.bars:
        EA, GA_y, GA_z, GJ, EI_y, EI_z = bar.stiffness
        section = bc.Section.general(
            EA=EA, GA=(GA_y, GA_z), GJ=GJ, EI=(EI_y, EI_z),
            mass_per_length=bar.mass_per_length, inertia_per_length=bar.rotary,
        )  # fmt: skip
        beam = mech.add_beam(bar.name, section, bar.start, bar.end, segments=counts[bar.name], up=bar.z)
        nodes |= {(bar.name, "start"): beam.nodes[0], (bar.name, "end"): beam.nodes[-1]}
    for number, meeting in enumerate(linkage.joints):
        first, second = (nodes[end] for end in meeting.ends)
        name = f"joint {number + 1}"
        if number == 0:  # a hub that is driven, and a spring from it to the bar
            hub = mech.add_body("hub", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=meeting.at)
            mech.join("hub", bc.Revolute(), ["ground", hub], at=meeting.at, axis=meeting.axis)
            mech.add_drive("motor", "hub", position=linkage.angle.formula(bc.expression))
            mech.join(name, bc.Revolute(), [hub, second], at=meeting.at, axis=meeting.axis)
            mech.add_force("servo", bc.TorsionSpring(linkage.servo), joint=name)
        elif meeting.kind == "slide":
            point = mech.bodies[second].world_marker(meeting.at)
            mech.add_joint(name, bc.PointOnLine(), mech.ground.marker(axis="x"), point)
        else:
            mech.join(name, _KINDS[meeting.kind](), [first, second], at=meeting.at, axis=meeting.axis)
    if linkage.mass is not None:
        end, mass = linkage.mass
        node = mech.bodies[nodes[end]]
        mech.replace(node, mass=node.mass + mass)
    return mech


def places(
    linkage: Linkage, refinement: int, duration: float, samples: int, **options: Any
) -> np.ndarray[Any, Any]:
    """Where what is tracked is at evenly spaced times, (samples + 1, 3), m."""
    mech = mechanism(linkage, refinement)
    name, end = linkage.tracked
    node = mech.beams[name].nodes[0 if end == "start" else -1]
    given: dict[str, Any] = {
        "formulation": "lagrange",
        "reactions": False,
        "output_step": duration / samples,
    } | options
    run = bc.simulate(mech, duration, **given)
    return np.asarray(run.body(node).position)


def peer(
    problem: str,
    refinement: int,
    step: float,
    samples: int,
    duration: float,
    tolerance: float,
    python: str,
) -> dict[str, Any] | str:
    """What EXUDYN finds, or why that is missing."""
    given = (problem, str(refinement), repr(step), str(samples), repr(duration), repr(tolerance))
    command = [python, str(SCRIPT), *given]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        return f"exudyn: {problem}: its Newton iteration has not come through in {_LONGEST:g} s ({python})"
    if done.returncode != 0:
        return f"exudyn: {(done.stderr.strip().splitlines() or ['it failed'])[-1]} ({python})"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _missed(linkage: Linkage, found: np.ndarray[Any, Any]) -> float:
    """The largest error of places at evenly spaced times, in parts of the motion."""
    moved = float(np.ptp(found, axis=0).max())
    last = len(found) - 1
    gaps = [
        np.linalg.norm(found[round(time / linkage.duration * last)] - place)
        for time, place in linkage.trusted
    ]
    return float(max(gaps)) / moved


def rows(python: str) -> tuple[list[Row], list[Row], list[str]]:
    """A row for each problem and engine; targets; notes on what is missing."""
    found, wanted, notes = list[Row](), list[Row](), list[str]()
    for problem, (own, theirs, step, tolerance) in _SETTINGS.items():
        linkage = LINKAGES[problem]
        samples = 4 * round(linkage.duration / linkage.trusted[0][0])
        begun = process_time()
        error = _missed(
            linkage, places(linkage, own, linkage.duration, samples, method="esdirk", tolerance=1e-6)
        )
        spent = process_time() - begun
        row: Row = {
            "problem": problem,
            "engine": "bellcrank",
            "segments": sum(segments(linkage, own).values()),
        }
        found.append(row | {"error": error, "seconds": spent})
        wanted += target(f"{problem}: error by the motion", WITHIN, error)
        told = peer(problem, theirs, step, samples, linkage.duration, tolerance, python)
        if isinstance(told, str):
            notes.append(told)
            continue
        row = {"problem": problem, "engine": f"EXUDYN {told['version']}"}
        row |= {"segments": sum(segments(linkage, theirs).values()), "seconds": told["seconds"]}
        found.append(row | {"error": _missed(linkage, np.array(told["place"]))})
    return found, wanted, notes
