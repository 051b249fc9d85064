"""Random chains, trees and loops with stops come to rest where complementarity holds and nothing is lower.

The exit status is 1 where one is refused, a stop is passed or pulls, forces are left, the energy rises, or
stability is judged otherwise than by exact second derivatives.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.resting_trees import wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Let as many mechanisms as wanted come to rest; a table of how they ended, and all faults."""
    return count_ends(wrong, arguments(__doc__, 1_000).parse_args(), ())


if __name__ == "__main__":
    raise SystemExit(main())
