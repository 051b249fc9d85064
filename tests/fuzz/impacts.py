"""Impacts while other one-sided rows touch or carry loads, compared with every set of rows that may push.

Half of the mechanisms are random ones that are struck with rows closed (`System.strike`, the start of runs);
the others are weights on slides, whose way through loads, impacts and slack cables is a row of parabolas.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.scene_fuzzing import arguments, count_ends
from rigs.slides import wrong_ways
from rigs.struck import wrong_impacts


def judge(seed):
    """What is wrong with the mechanism of a seed, in all formulations."""
    return (wrong_impacts if seed % 2 else wrong_ways)(seed)


def main():
    """Strike as many mechanisms as wanted; a table of how that ended, and all faults."""
    return count_ends(judge, arguments(__doc__, 2000).parse_args(), refusals=())


if __name__ == "__main__":
    raise SystemExit(main())
