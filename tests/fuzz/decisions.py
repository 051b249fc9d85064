"""Random moving trees in which adaptive dynamics decides which joints are free: ten decisions each.

Whether the error is within its limit, by the run, by one that starts there and by welds; energy that locks
lose, and how much they may; numbers of joints; joints that are freed start at rest. The exit status is 1
where one is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.adaptive_decisions import what_is_wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many trees as wanted; a table of how they ended, and all faults."""
    return count_ends(what_is_wrong, arguments(__doc__, 1000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
