"""Models of packages and folders, all of them: read, and compared with Pinocchio and MuJoCo.

Compared are masses, where bodies start, and accelerations at a random state, actuators driven and the medium
acting, but for what is listed as left out; then each is written in every format, read back and compared with
what it was. Packages are those that are installed and those in build/corpora,
where --fetch brings them. Findings are printed with their files; the exit status is 1 if there are any.
"""

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs import corpora, watched

FETCHED = Path(__file__).parents[2] / "build" / "corpora"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="more folders of models")
    parser.add_argument(
        "--fetch", action="store_true", help="bring packages into build/corpora first, 0.8 GB"
    )
    parser.add_argument("--count", type=int, help="so many files, evenly chosen")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    for name in corpora.PACKAGES.split() if given.fetch else ():
        print(f"{name} {'is here' if corpora.fetched(FETCHED, name) else 'could not be had'}", flush=True)
    paths = corpora.models([*given.folders, FETCHED])
    paths = paths[:: max(1, len(paths) // given.count)] if given.count else paths
    watched.PROCESSOR, watched.WALL, watched.MEMORY = 120, 300, 4 << 30  # the other programs compile meshes
    if not paths:
        print("there are no models: --fetch brings packages with some, or name folders")
    begun, ends, found = time.perf_counter(), Counter(), 0
    judge = lambda number: corpora.judged(paths[number])  # noqa: E731
    for number, word, findings in watched.survey(judge, range(len(paths)), given.jobs):
        ends[word] += 1
        found += bool(findings)
        if findings:
            print(f"{paths[number]}, {word}: {'; '.join(findings)}", flush=True)
    for word, count in ends.most_common():
        print(f"{count:7d}  {word}")
    print(f"{len(paths)} models in {time.perf_counter() - begun:.0f} s, {found} with findings")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
