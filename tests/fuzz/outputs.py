"""Random moving trees in which adaptive dynamics limits errors of points: ten decisions each.

Whether these errors are within their limits, by the run, by one that starts there and by welds; trees of all
joint kinds, with driven joints. The exit status is 1 where one is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.output_decisions import what_is_wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many trees as wanted; a table of how they ended, and all faults."""
    return count_ends(what_is_wrong, arguments(__doc__, 1000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
