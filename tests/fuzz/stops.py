"""Random trees with stops: adaptive dynamics against welds, decisions and impacts.

Whether stops are passed, accelerations and speeds after impacts with the locked joints at rest, and whether
what is said to be the error is no less than it is. The exit status is 1 where one is wrong.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.scene_fuzzing import arguments, count_ends
from rigs.stopped_trees import what_is_wrong, wrong_impact


def judge(seed):
    """What is wrong with decisions about a tree, or else with an impact on its stops."""
    return what_is_wrong(seed) or wrong_impact(seed)


def main():
    """Judge as many trees as wanted; a table of how they ended, and all faults."""
    return count_ends(judge, arguments(__doc__, 1000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
