"""Linkages of masses and lengths that differ by decades: quasi-static errors are within bounds, or reported.

Accelerations are compared with the articulated-body recursion in decimal arithmetic; runs that are refused by
name are counted. The exit status is 1 where an error is larger than what was asked for and what was said.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.scene_fuzzing import arguments, count_ends
from rigs.uneven_linkages import broken_bound

import bellcrank as bc


def broken(seed: int) -> str:
    """What is wrong with a linkage, or with its like of uneven lengths; "" for nothing."""
    return broken_bound(seed) or broken_bound(seed, lengths=True)


def main():
    """Judge as many linkages as wanted; a table of how they ended, and all faults."""
    given = arguments(__doc__, 2000).parse_args()
    return count_ends(broken, given, (bc.SimulationError, bc.Unsupported))


if __name__ == "__main__":
    raise SystemExit(main())
