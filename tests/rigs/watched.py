"""Judging many seeds in processes of their own, within bounds of time and memory."""

import argparse
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import sys
import time
from collections import Counter
from pathlib import Path

PROCESSOR = 10  # s of processor time for one seed
WALL = 60  # s on the clock, for what waits and does not reckon
MEMORY = 1 << 30  # bytes beyond what the process has when it begins


def survey(judge, seeds, jobs=1):
    """Yield (seed, how it ended in a word, findings) for each seed; `judge` gives the latter two.

    A process that ends, by a signal or because it ran out of its bounds, is a finding of its seed.
    """
    context = multiprocessing.get_context("fork")
    seeds = list(seeds)
    waiting = [seeds[number::jobs] for number in range(jobs)]
    running = {}
    while running or any(waiting):
        for number, left in enumerate(waiting):
            if left and number not in running:
                running[number] = _started(context, judge, left)
        ready = multiprocessing.connection.wait([pipe for _, pipe in running.values()])
        for number, (process, pipe) in list(running.items()):
            if pipe not in ready:
                continue
            try:
                found = pipe.recv()
            except EOFError:
                found = None
            if found is None:
                process.join()
                del running[number]
                if not waiting[number]:
                    continue
                found = (waiting[number][0], "ended", [_ended(process.exitcode)])
            waiting[number].pop(0)
            yield found


def _ended(code):
    if code == -signal.SIGPROF:
        return f"took more than {PROCESSOR} s"
    if code == -signal.SIGALRM:
        return f"took more than {WALL} s on the clock"
    return f"the process ended with {code}"


def _started(context, judge, seeds):
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_judge_all, args=(judge, list(seeds), theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _judge_all(judge, seeds, pipe):
    held = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for seed in seeds:
        signal.setitimer(signal.ITIMER_PROF, PROCESSOR)
        with within(WALL, signal.SIG_DFL):
            word, findings = judge(seed)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        pipe.send((seed, word, findings))


@contextlib.contextmanager
def within(seconds, handler):
    """Call a handler of SIGALRM after so many seconds; what was set before goes on afterwards."""
    before = signal.signal(signal.SIGALRM, handler)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    begun = time.monotonic()
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        rest = max(left - (time.monotonic() - begun), 1e-3) if left else 0.0
        signal.setitimer(signal.ITIMER_REAL, rest)


def main(judge, doc, what, count):
    """The command line of a fuzzer: a table of how the seeds ended, and all findings."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, ends, found = time.perf_counter(), Counter(), 0
    for seed, word, findings in survey(judge, range(given.first, given.first + given.count), given.jobs):
        ends[word] += 1
        found += bool(findings)
        if findings:
            print(f"seed {seed}, {word}: {'; '.join(findings)}", flush=True)
    for word, number in ends.most_common():
        print(f"{number:7d}  {word}")
    print(f"{given.count} {what} in {time.perf_counter() - begun:.0f} s, {found} with findings")
    return 1 if found else 0
