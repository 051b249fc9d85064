"""Random mechanisms that start with whole turns: every start has those that are prescribed, or the fewest.

The exit status is 1 where a start is another one in some formulation, from a file or after bc.assemble.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.random_starts import faults
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many starts as wanted; a table of how they ended, and all faults."""
    return count_ends(faults, arguments(__doc__, 2_000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
