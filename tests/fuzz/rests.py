"""Derivatives of random rests, and of modes about them, beside differences of whole searches.

The exit status is 1 where they differ, or where a refusal does not name a reason that the case can have.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.moved_rests import Refused, wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Judge as many rests as wanted; a table of how they ended, and all faults."""
    return count_ends(wrong, arguments(__doc__, 300).parse_args(), (Refused,))


if __name__ == "__main__":
    raise SystemExit(main())
