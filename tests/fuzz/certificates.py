"""Certificates that cannot be fooled: every way to tamper with a run is caught, and no honest run is accused.

For each seed an honest run of some kind must pass `verify`; every run of five kinds is tampered with in every
way of the catalogue, under several options of recording, and must fail with a place named. The exit status is
1 where not.
"""

import sys
import tempfile
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.honest_runs import accusations
from rigs.scene_fuzzing import arguments, count_ends
from rigs.tampering import OPTIONS, RUNS, WAYS, recorded, tampered

import bellcrank as bc

CASES = [(kind, option, way) for kind in RUNS for option in OPTIONS for way in WAYS]


@cache
def folder():
    """Where this worker keeps its files."""
    return tempfile.TemporaryDirectory()


@cache
def _run(kind, option):
    made = Path(folder().name) / option
    made.mkdir(exist_ok=True)
    path = recorded(kind, made, **OPTIONS[option])
    if not bc.verify(bc.Trajectory.load(path)).passed:
        raise AssertionError(f"the run of kind {kind!r}, {option}, is accused")
    return path


def tampering(number):
    """What is wrong with the verification of a run that was tampered with; nothing if it was caught."""
    kind, option, way = CASES[number % len(CASES)]
    copy = Path(folder().name) / "copy.h5"
    if not tampered(_run(kind, option), copy, way):
        return ""
    try:
        verdict = bc.verify(bc.Trajectory.load(copy))
    except bc.MechanismError:
        return ""  # refused by name
    if verdict.passed:
        return f"{kind}, {option}: {way} passes"
    failed = [check for check in verdict.checks if not check.passed]
    placed = any(check.where or check.time is not None for check in failed)
    return "" if placed and verdict.faults else f"{kind}, {option}: {way} is caught without a place"


JUDGES = {"honest": accusations, "tampered": tampering}


def main():
    """Judge as many honest runs, or cases of tampering, as wanted; all of both by default."""
    parser = arguments(__doc__, 0)
    parser.add_argument("--what", choices=JUDGES)
    given = parser.parse_args()
    status, wanted = 0, given.count
    for what, judge in JUDGES.items():
        if given.what in (None, what):
            given.count = wanted or {"honest": 800, "tampered": len(CASES)}[what]
            print(what)
            refusals = (bc.SimulationError, bc.Unsupported, bc.AssemblyError, bc.MechanismError)
            status = max(status, count_ends(judge, given, refusals))
    return status


if __name__ == "__main__":
    raise SystemExit(main())
