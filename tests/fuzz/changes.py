"""Random mechanisms whose parts let go and take hold: formulations agree, books close, certificates hold."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.changing_mechanisms import what_is_wrong
from rigs.scene_fuzzing import arguments, count_ends


def main():
    """Run as many mechanisms as wanted; a table of how that ended, and all faults."""
    return count_ends(what_is_wrong, arguments(__doc__, 3000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
