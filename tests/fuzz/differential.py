"""Random mechanisms under all formulations, many of them: `make fuzz` runs this.

Each mechanism is judged at its initial state (accelerations, reactions, efforts, flags, redundant rows) and
along a run of two seconds. Disagreements are printed with their seed; the exit status is 1 if there are any.
Mechanisms that cannot be assembled and runs that end with an error are counted as such.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # most programs run once
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.differential import disagreements, runs_apart, systems
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc

FINDINGS = ("disagree", "run apart", "failed")
LONGEST = 60  # s of the processor for one mechanism's runs; one that takes longer is interrupted


def judged(task):
    """The seed, how it ended in a word, and what was found, in lines."""
    seed, runs = task
    try:
        mechanism = random_mechanism(seed)
        prepared = systems(mechanism)
        found = disagreements(prepared)
        if found or not runs:
            return seed, _word(found, "disagree"), [str(finding) for finding in found]
    except bc.AssemblyError:
        return seed, "cannot be assembled", []
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        return seed, "failed", [f"{type(error).__name__}: {error}"]
    signal.signal(signal.SIGVTALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST, LONGEST)
    try:
        found, errors = runs_apart(prepared, mechanism)
    except bc.AssemblyError:
        return seed, "cannot be assembled", []
    except Exception as error:  # noqa: BLE001
        return seed, "failed", [f"{type(error).__name__}: {error}"]
    except KeyboardInterrupt:  # between runs: a run that is interrupted ends with an error
        return seed, "took too long", []
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    if found:
        return seed, _word(found, "run apart"), [str(finding) for finding in found]
    return seed, f"{len(errors)} formulations end with an error" if errors else "agree", list(errors.items())


def _word(found, unsaid):
    """How a mechanism with these findings ended: one that is not flagged outweighs all others."""
    if not found:
        return "agree"
    return "disagree and say so" if all(finding.flagged for finding in found) else unsaid


def main():
    """Judge as many mechanisms as wanted; a table of how they ended, and all findings."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-runs", action="store_true", help="judge initial states only")
    parser.add_argument("--verbose", action="store_true", help="print errors that end runs, too")
    given = parser.parse_args()
    begun, ends = time.perf_counter(), Counter()
    tasks = [(seed, not given.no_runs) for seed in range(given.first, given.first + given.count)]
    with Pool(given.jobs) as pool:
        for seed, end, lines in pool.imap_unordered(judged, tasks, chunksize=4):
            ends[end] += 1
            if end in FINDINGS or (lines and given.verbose):
                print(f"seed {seed}, {end}: {'; '.join(map(str, lines))}", flush=True)
    for end, count in ends.most_common():
        print(f"{count:7d}  {end}")
    print(f"{given.count} mechanisms in {time.perf_counter() - begun:.0f} s")
    return 1 if any(ends[end] for end in FINDINGS) else 0


if __name__ == "__main__":
    raise SystemExit(main())
