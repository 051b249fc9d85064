"""Random free linkages with gears, belts, racks and differentials: their energy stays, and no wheel slips.

Their wheels go where they like, also over the places where a line of centres has no direction. Runs that end
with an error that names such a place are counted; the exit status is 1 where a run hangs, ends in another
error or elsewhere, changes its energy by more than 1e-5 of the kinetic energy, or lets wheels slip.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.geared_linkages import geared_linkage, what_is_wrong
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive", "dca")


def fault(seed, formulations):
    """What is wrong with runs of a linkage; nothing if nothing is."""
    for name in formulations:
        wrong = what_is_wrong(geared_linkage(seed), formulation=name)
        if wrong:
            return f"{name}: {wrong}"
    return ""


def main():
    """Simulate as many linkages as wanted; a table of how they ended, and all faults."""
    parser = arguments(__doc__, 5_000)
    parser.add_argument("--formulation", choices=FORMULATIONS)
    given = parser.parse_args()
    formulations = (given.formulation,) if given.formulation else FORMULATIONS
    return count_ends(
        partial(fault, formulations=formulations), given, (bc.SimulationError, bc.AssemblyError)
    )


if __name__ == "__main__":
    raise SystemExit(main())
