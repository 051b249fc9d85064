"""Random mechanisms that are hard on digits, many of them: `lagrange` against dense algebra in more digits.

Each is judged in motion: number of redundant rows (where the singular values leave no doubt), accelerations,
flags of reactions. Faults are printed with their seed; the exit status is 1 if there are any.
"""

import argparse
import os
import sys
import time
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each worker is one thread
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.hostile_mechanisms import GAP, Hostile


def judged(seed):
    """The seed, how it ended in a word, and what was found, in lines."""
    try:
        hostile = Hostile(seed)
        if not hostile.gap > GAP:
            return seed, "rank in doubt", []
        faults = hostile.faults()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        return seed, "wrong", [f"{type(error).__name__}: {error}"]
    return seed, "wrong" if faults else "right", [f"{hostile.profile}, {hostile.style}", *faults]


def main():
    """Judge as many mechanisms as wanted; a table of how they ended, and all faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, ends = time.perf_counter(), Counter()
    with Pool(given.jobs) as pool:
        for seed, end, lines in pool.imap_unordered(judged, range(given.first, given.first + given.count), 4):
            ends[end] += 1
            if end == "wrong":
                print(f"seed {seed}: {'; '.join(lines)}", flush=True)
    for end, count in ends.most_common():
        print(f"{count:7d}  {end}")
    print(f"{given.count} mechanisms in {time.perf_counter() - begun:.0f} s")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
