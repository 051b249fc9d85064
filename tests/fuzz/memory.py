"""Reloads, drives, runs and other work, again and again: nothing grows. `make memory` runs this.

Each work is done a tenth of its times as a warm-up. Then Python's blocks, the bytes of the C heap, the nodes
of the expressions' graph and the resident memory are compared with those at the end; the exit status is 1 if
one grows.
"""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # native code is made each time
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.growth import WORKS, grown, heap_can_be_read

# For each time that the work is done; less than the least thing that could be left.
BLOCKS, HEAP, NODES = 0.1, 16.0, 0.1
RESIDENT = 4e6  # bytes in all: the C library's free lists come and go


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=1, choices=[1], help="figures are of one process")
    parser.add_argument("works", nargs="*", default=list(WORKS), metavar="work", help=", ".join(WORKS))
    arguments = parser.parse_args()
    if not heap_can_be_read():
        sys.exit("this C library does not tell how much of its heap is in use: nothing to measure")
    print(f"{'work':15}{'times':>8}{'ms':>8}{'blocks':>10}{'heap B':>10}{'nodes':>8}{'resident kB':>13}")
    failed = False
    for name in arguments.works:
        start = time.perf_counter()
        found = grown(WORKS[name], max(arguments.count // 10, 10), arguments.count)
        each = (time.perf_counter() - start) / (1.1 * arguments.count)
        grows = (
            found.blocks > BLOCKS * arguments.count
            or found.heap > HEAP * arguments.count
            or found.nodes > NODES * arguments.count
            or found.resident > RESIDENT
        )
        failed |= grows
        print(
            f"{name:15}{arguments.count:8}{1e3 * each:8.1f}{found.blocks:10}{found.heap:10}{found.nodes:8}"
            f"{found.resident / 1e3:13.0f}{'  GROWS' if grows else ''}",
            flush=True,
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
