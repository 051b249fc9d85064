"""Random moving trees of which joints are locked and freed: adaptive dynamics against welds.

Losses of impacts, energies, accelerations with the locked joints at rest, their distance from those of all
joints. The exit status is 1 where one is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.locked_dynamics import what_is_wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many trees as wanted; a table of how they ended, and all faults."""
    return count_ends(what_is_wrong, arguments(__doc__, 1000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
