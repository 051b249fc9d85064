"""Random runs that could crawl: every one ends after a bounded number of evaluations, right or by name.

Runs that end with an error that names what broke down are counted; the exit status is 1 where a run takes
too many evaluations, ends in another error, or is wrong.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.crawling import KINDS, judged
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Simulate as many runs as wanted; a table of how they ended, and all faults."""
    parser = arguments(__doc__, 4_000)
    parser.add_argument("--kind", choices=KINDS)
    given = parser.parse_args()
    kinds = tuple(KINDS) if given.kind is None else (given.kind,)
    return count_ends(partial(judged, kinds=kinds), given)


if __name__ == "__main__":
    raise SystemExit(main())
