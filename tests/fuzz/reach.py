"""Inverse kinematics of targets that random mechanisms reach within their limits: none may be missed.

Each target is the pose that the mechanism has in a known configuration; the exit status is 1 where the
default call does not reach one, or leaves a constraint or a limit violated.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.reachable_targets import task, wrong
from rigs.scene_fuzzing import arguments, count_ends


def reach(seed):
    """What is wrong with the answer to the task of a seed; nothing if nothing is."""
    return wrong(task(seed))


def main():
    """As many tasks as wanted; how they ended, and what is wrong."""
    return count_ends(reach, arguments(__doc__, 8_000).parse_args())


if __name__ == "__main__":
    raise SystemExit(main())
