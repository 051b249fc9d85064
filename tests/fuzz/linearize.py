"""Random trees and loops with inputs, linearized by all formulations, against complex-step derivatives.

A, B, C and D of each, with the inputs of the mechanism and with an effort along a coordinate besides. The
exit status is 1 where one of them is off by more than 1e-9 and than it says.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.linearized_trees import wrong
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc


def main():
    """Linearize as many mechanisms as wanted; a table of how they ended, and all faults."""
    return count_ends(wrong, arguments(__doc__, 1_000).parse_args(), (bc.MechanismError, bc.AssemblyError))


if __name__ == "__main__":
    raise SystemExit(main())
