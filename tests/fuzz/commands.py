"""Random command lines in the shell, many of them, in sessions of a hundred each.

Each line must be done, or refused with an error of ours; none may take longer than 10 s or more than 1 GB. A
refused command leaves everything as it was; undo and redo lead back and forth; no file is written outside the
session's folder. Half of the sessions come as bytes through the JSON protocol, where each line must be
answered by one object. What goes wrong is printed with its seed; the exit status is 1 if anything does.
"""

import argparse
import io
import json
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from multiprocessing import Pool
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")
sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.command_lines import PRELUDE, SCRIPTS, line

from bellcrank.errors import BellcrankError
from bellcrank.shell import drivers
from bellcrank.shell.interpreter import Shell
from bellcrank.shell.places import Places

LINES = 100  # of a session
LONGEST = 10.0  # s
LARGEST = 1 << 30  # bytes, more than before
MISTAKES = {"OSError"}


def _note_kinds(base):
    for kind in base.__subclasses__():
        MISTAKES.add(kind.__name__)
        _note_kinds(kind)


def by_value(session):
    """What must not change where a command is refused."""
    now = session.now
    values = (
        now.mechanism,
        now.start,
        now.live,
        now.off,
        now.frames,
        now.idle_brakes,
        now.settings,
        now.drawing,
    )
    return pickle.dumps(values), len(now.history), session.steps_back


@contextmanager
def folder():
    """A working folder of its own with scripts and older files, and one beside it to which a link leads."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        work, outside = Path(made, "work"), Path(made, "outside")
        work.mkdir()
        outside.mkdir()
        (work / "link").symlink_to(outside)
        for name, text in SCRIPTS.items():
            (work / name).write_text(text.format("n"), encoding="utf-8", errors="surrogateescape")
        for old in (work / "old.yaml", work / "old.png", outside / "old.png"):
            old.write_text("old")
        os.chdir(work)
        try:
            yield Path(made)
        finally:
            os.chdir(before)


def outside_of(place):
    """Everything beside the working folder, with its content."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in place.rglob("*")
        if not path.is_relative_to(place / "work")
    }


class Session:
    """A shell that is watched, line by line."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.shell = Shell(Places(Path.cwd()))
        self.ends = Counter()
        self.found = []

    def go(self, count):
        for text in PRELUDE:
            self.shell.execute(text)
        for _ in range(count):
            self.step(line(self.rng, self.shell.session.mechanism))

    def step(self, text):
        """Do a line and judge what it did."""
        session = self.shell.session
        before, value, begun = session.everything, by_value(session), time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, LONGEST + 1.0, 1.0)
        reply = self.shell.execute(text)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        took = time.perf_counter() - begun
        self.ends["done" if reply.ok else reply.data["type"]] += 1
        if took > LONGEST:
            self.find(text, f"it took {took:.1f} s")
        json.loads(reply.as_json(text))
        if not reply.ok:
            if reply.data["type"] not in MISTAKES:
                self.find(text, f"{reply.data['type']}: {reply.text}")
            if not reply.text:
                self.find(text, "refused without a word")
            same = all(one is other for one, other in zip(session.everything, before, strict=True))
            if not same or by_value(session) != value:
                self.find(text, "a refused command has changed something")
        elif session.now is not before[0] and text.split()[0] not in ("undo", "redo", "source"):
            self.back_and_forth(text, value)

    def back_and_forth(self, text, before):
        """Undo leads to where the line began, and redo to where it ended."""
        session, after = self.shell.session, by_value(self.shell.session)
        if not (self.shell.execute("undo").ok and by_value(session) == before):
            self.find(text, "undo does not lead back")
        if not (self.shell.execute("redo").ok and by_value(session) == after):
            self.find(text, "redo does not lead forth again")

    def find(self, text, what):
        self.found.append(f"{text[:300]!r}: {what[:300]}")


def through_the_protocol(seed, count):
    """Lines as bytes, some of them no UTF-8: how many there were, and what is wrong with the answers."""
    rng, model = random.Random(seed), Shell()
    lines = [text.encode() for text in PRELUDE]
    for text in PRELUDE:
        model.execute(text)
    for _ in range(count):
        sent = line(rng, model.session.mechanism).encode()
        if rng.random() < 0.1:
            at = rng.randrange(len(sent) + 1)
            sent = sent[:at] + rng.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00")) + sent[at:]
        lines.append(sent.replace(b"\n", b" "))
    told = io.StringIO()
    with redirect_stdout(told):
        drivers.pipe(io.BytesIO(b"\n".join(lines)), Places(Path.cwd()), as_json=True)
    answers = [json.loads(answer) for answer in told.getvalue().split("\n") if answer]
    found = [
        f"{str(answer['command'])[:300]!r}: {answer['text'][:300]}"
        for answer in answers
        if not answer["ok"] and answer["error"]["type"] not in MISTAKES
    ]
    asked = [sent for sent in lines if sent.decode("utf-8", "replace").strip()]
    left = (
        bool(answers)
        and answers[-1]["ok"]
        and str(answers[-1]["command"]).split()[:1] in (["quit"], ["exit"])
    )
    if len(answers) != len(asked) and not left:
        found.append(f"{len(answers)} answers to {len(asked)} lines")
    ends = Counter("done" if answer["ok"] else answer["error"]["type"] for answer in answers)
    return ends, found


def judged(task):
    """The seed of a session, how its lines ended, and what was found."""
    seed, count = task
    _note_kinds(BellcrankError)
    _note_kinds(OSError)
    warnings.simplefilter("ignore", RuntimeWarning)  # of numbers such as 1e200
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + LARGEST
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with folder() as place:
        before = outside_of(place)
        if seed % 2:
            signal.setitimer(signal.ITIMER_REAL, 10 * LONGEST, 1.0)
            ends, found = through_the_protocol(seed, count)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        else:
            session = Session(seed)
            session.go(count)
            ends, found = session.ends, session.found
        if outside_of(place) != before:
            found.append("a file was written outside the folder")
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > most:
        found.append("it took more than 1 GB")
    return seed, ends, found


def main():
    """Judge as many lines as wanted; a table of how they ended, and all findings."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="of lines")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, ends, wrong = time.perf_counter(), Counter(), 0
    sessions = -(-given.count // LINES)
    tasks = [(seed, LINES) for seed in range(given.first, given.first + sessions)]
    with Pool(given.jobs) as pool:
        for seed, ended, found in pool.imap_unordered(judged, tasks):
            ends += ended
            wrong += len(found)
            for finding in found:
                print(f"seed {seed}: {finding}", flush=True)
    for end, count in ends.most_common():
        print(f"{count:7d}  {end}")
    print(f"{sum(ends.values())} lines in {time.perf_counter() - begun:.0f} s, {wrong} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
