"""Random scenes by the hundred: each is judged within a time, and it is counted how they end."""

import argparse
import signal
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing import Pool

import bellcrank as bc

LIMIT, SLOW = 60, 8.0  # s of processor time: of a scene, and beyond which it is shown


def arguments(description: str, count: int) -> argparse.ArgumentParser:
    """A command line with the seeds and the number of workers."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    return parser


def judged(
    judge: Callable[[int], str], refusals: tuple[type[Exception], ...], seed: int
) -> tuple[int, str, str, float]:
    """The seed, how it ended in a word, what was found, and seconds.

    judge: what is wrong with a seed, "" for nothing. refusals: errors that name what broke down.
    """

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    begun = time.process_time()
    try:
        what = judge(seed)
        end = "wrong" if what else "right"
    except refusals as error:
        end, what = "refused", str(error)
    except TimeoutError:
        end, what = "wrong", f"more than {LIMIT} s"
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        end, what = "wrong", f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return seed, end, what, time.process_time() - begun


def count_ends(
    judge: Callable[[int], str],
    given: argparse.Namespace,
    refusals: tuple[type[Exception], ...] = (bc.SimulationError,),
) -> int:
    """Judge the seeds of a command line and print how they ended; 1 if something is wrong, otherwise 0."""
    begun, ends = time.perf_counter(), Counter[str]()
    seeds = range(given.first, given.first + given.count)
    with Pool(given.jobs) as pool:
        for seed, end, what, took in pool.imap_unordered(partial(judged, judge, refusals), seeds):
            ends[end] += 1
            if end != "right" or took > SLOW:
                print(f"seed {seed}: {end} in {took:.1f} s: {what}", flush=True)
    for end, count in ends.most_common():
        print(f"{count:7d}  {end}")
    print(f"{given.count} scenes in {time.perf_counter() - begun:.0f} s")
    return int(ends["wrong"] > 0)
