"""Mechanisms that friction holds at rest or not: runs agree, and margins are where they give way.

Those of `friction.py` without speeds. Where limits do not grow with loads the best share is found, and limits
divided by the margin are just enough; where they do one of several shares is.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from friction import blocks, chain, four_bar, slider_crank
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc

FAMILIES = (chain, four_bar, blocks, slider_crank)
BESIDE = 1e-6  # of a margin
SURE = 0.05  # of limits: loads of runs change as they begin
MOVES = 1e-7  # m/s, rad/s


def with_limits(mech, factor):
    """The mechanism with all limits of friction times a factor; None where they grow with loads."""
    twin = mech.copy()
    for force in list(twin.forces.values()):
        kind = force.kind
        if isinstance(kind, bc.JointFriction):
            if kind.load is not None:
                return None
            limits = {"coulomb": factor * kind.coulomb, "stiction": factor * kind.stiction}
            twin.replace(force, kind=replace(kind, **limits))
        elif isinstance(kind, bc.Brake):
            twin.replace(
                force,
                kind=replace(kind, level=replace(kind.level, y=tuple(factor * y for y in kind.level.y))),
            )
    return twin


def judge(seed):
    """What is wrong with the statics of a seed."""
    mech = FAMILIES[seed % len(FAMILIES)](np.random.default_rng(seed))
    for joint in list(mech.joints.values()):
        mech.replace(joint, velocity=0.0) if joint.velocity else None
    try:
        found = bc.statics(mech)
    except bc.AssemblyError:  # what friction leaves free has no rest under its loads
        return []
    if not found.friction:
        return []
    wrong = []
    if found.holds != (not found.slips):
        wrong.append(f"margin {found.margin:.6g}, and {found.slips} slip")
    run = bc.simulate(found.at, 1e-3, output_step=1e-3, tolerance=1e-10)
    fastest = max(np.abs(run.joint(name).velocity[-1]).max(initial=0.0) for name in run.joints)
    if abs(found.margin - 1.0) > SURE and (fastest > MOVES) == found.holds:
        wrong.append(f"margin {found.margin:.6g}, and a run comes to {fastest:.1e}")
    if not 0.0 < found.margin < np.inf:
        return wrong
    for part in (1.0 + BESIDE, 1.0 - BESIDE):
        beside = with_limits(found.at, part / found.margin)
        if beside is not None and bc.statics(beside).holds != (part > 1.0):
            wrong.append(
                f"margin {found.margin:.6g}, and {part:.6f} of the limits that are just enough are not"
            )
    return wrong


def main():
    """Run as many mechanisms as wanted; a table of how that ended, and all faults."""
    return count_ends(judge, arguments(__doc__, 3000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
