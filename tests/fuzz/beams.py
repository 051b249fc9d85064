"""Random frames and arms with beams: all formulations agree, and motions of the whole strain nothing.

The exit status is 1 where they differ, or where one takes longer than it may.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # most programs run once
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.random_beams import wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many as wanted; a table of how they ended, and all faults."""
    return count_ends(wrong, arguments(__doc__, 2000).parse_args())


if __name__ == "__main__":
    raise SystemExit(main())
