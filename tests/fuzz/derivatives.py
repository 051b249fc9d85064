"""Derivatives of random mechanisms along states, time and numbers, by directions and as gradients.

By all formulations with derivatives that can take them, which agree to 1e-9; beside extrapolated differences
of projections and accelerations to 1e-8, and gradients beside directions to 1e-12. The exit status is 1 where
one is off.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.differentiated import wrong_in_any
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc


def main():
    """Differentiate as many mechanisms as wanted; a table of how they ended, and all faults."""
    return count_ends(
        wrong_in_any,
        arguments(__doc__, 5_000).parse_args(),
        (bc.MechanismError, bc.AssemblyError, bc.Unsupported),
    )


if __name__ == "__main__":
    raise SystemExit(main())
