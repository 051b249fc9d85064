"""Files of runs under hostile use, many of them: damaged at random, and runs killed at random moments.

Every damaged file must be answered by a MechanismError or by a run that can be used, and soon. A killed run
leaves a file that can be read, with all that it had flushed, or none, and its name is free for the next run.
What goes another way is printed with its seed; the exit status is 1 if there is any.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from rigs import damaged_results as rig

import bellcrank as bc
from bellcrank.trajectory.recorder import Recorder
from bellcrank.trajectory.writer import Writer

FINDINGS = ("failed", "not ended", "crashed", "slow", "unreadable", "lost", "wrong", "blocked", "left")
LONGEST = 120  # s, after which a reader counts as not ended
PATIENCE = 1.0  # s of computing that a reader may take for an answer


def use(path):
    """Read a file in all the ways there are; a word for how that ended."""
    try:
        for lazy in (False, True):
            run = bc.Trajectory.load(path, lazy=lazy)
            run.summary()
            run.to_dict()
            if len(run):
                run.at(run.time[len(run) // 2])
        run.save(path.with_name("copy.h5"), replace=True)
    except bc.MechanismError:
        return "refused"
    return "read"


def in_a_process(job, *arguments):
    """What `job` returns, in words, in a process of its own; or how it ended instead."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        begun = time.process_time()
        try:
            word = job(*arguments)
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is a finding)
            word = f"failed {type(error).__name__}: {error}"
        if word == "refused" and time.process_time() - begun > PATIENCE:
            word = f"slow {time.process_time() - begun:.1f} s"
        os.write(into, word.encode()[:4000])
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as answer:
        word = answer.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "not ended" if os.WTERMSIG(status) == signal.SIGALRM else f"crashed {os.WTERMSIG(status)}"
    return word


def damaged(seed, folder):
    """Damage one of the sound files in some way and use it."""
    rng = np.random.default_rng(seed)
    path = folder / "run.h5"
    source = folder.parent / str(rng.choice(["whole.h5", "unfinished.h5"]))
    how = int(rng.choice(4, p=[0.2, 0.3, 0.4, 0.1]))
    if how < 2:
        content, what = (rig.cut, rig.overwritten)[how](rng, source.read_bytes())
        path.write_bytes(content)
    else:
        source = folder.parent / "whole.h5"  # h5py can change this one
        shutil.copy(source, path)
        what = "; ".join(rig.doctored(rng, path) for _ in range(how - 1))
    return in_a_process(use, path), f"{source.name}: {what}"


def killed(seed, folder):
    """Kill a run at a random moment and look at what it has left."""
    rng = np.random.default_rng(seed)
    path = folder / "run.h5"
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        _run_until_killed(path, into, float(rng.choice([0.02, 0.5, 20.0])))
    os.close(into)
    time.sleep(float(rng.choice([0.01, 0.2, 1.5])) * rng.random())
    os.kill(child, signal.SIGKILL)
    with os.fdopen(out, "rb") as told:
        reported = told.read().split()
    os.waitpid(child, 0)
    word = in_a_process(_look_at, path, int(reported[-1]) if reported else 0)
    return word, "killed"


def _run_until_killed(path, into, duration):
    append = Writer.append

    def telling(writer, *frames):
        append(writer, *frames)
        os.write(into, b"%d\n" % writer._frames)

    Writer.append = telling
    Recorder.on_block = _flushing(Recorder.on_block)
    bc.simulate(rig.crank(), duration, path=path, description="kept", step=1e-3, output_step=1e-3)
    os._exit(0)


def _flushing(on_block):
    def taken(recorder, *frames):
        on_block(recorder, *frames)
        recorder.flush()

    return taken


def _look_at(path, flushed):
    """What a killed run has left: at least the frames that it had flushed, and a name that is free."""
    word = "none"
    if path.exists():
        try:
            run = bc.Trajectory.load(path)
        except bc.MechanismError as error:
            return f"unreadable {error}"
        if len(run) < flushed:
            return f"lost {flushed - len(run)} of {flushed} frames"
        if run.mechanism != "kept" or not np.allclose(run.time, 1e-3 * np.arange(len(run)), atol=1e-12):
            return "wrong times"
        turned = run.joint("axle").position[:, 0]
        if not np.allclose(turned, 3.0 * run.time, atol=1e-6):
            return "wrong angles"
        word = f"{run.status}"
        if len(run) > 1:
            bc.simulate(rig.crank(), 0.01, state=run.at(run.time[-1]))
    elif flushed:
        return f"lost the file with {flushed} frames"
    for left in path.parent.glob(".*.part"):
        os.utime(left, (0, 0))
    try:
        bc.simulate(rig.crank(), 0.01, path=path)
    except bc.MechanismError as error:
        return f"blocked {error}"
    remaining = [left.name for left in path.parent.iterdir() if left != path]
    return f"left {remaining}" if remaining else word


def judged(task):
    """A seed, how it ended in a word, and what was found."""
    seed, kill, folder = task
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=folder) as own:
        word, what = (killed if kill else damaged)(seed, Path(own))
    return seed, word, what


def main():
    """Damage as many files and kill as many runs as wanted; a table of how they ended, and all findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="of damaged files")
    parser.add_argument("--kills", type=int, default=1000, help="of runs that are killed")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, ends = time.perf_counter(), Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = rig.whole(folder / "whole.h5")
        rig.unfinished(folder / "unfinished.h5", run)
        for sound in ("whole.h5", "unfinished.h5"):
            assert use(folder / sound) == "read", sound
        tasks = [(given.first + k, False, folder) for k in range(given.count)]
        tasks += [(given.first + k, True, folder) for k in range(given.kills)]
        with Pool(given.jobs) as pool:
            for seed, word, what in pool.imap_unordered(judged, tasks, chunksize=4):
                end = next((finding for finding in FINDINGS if word.startswith(finding)), word)
                ends["killed" if what == "killed" else "damaged", end] += 1
                if end in FINDINGS:
                    print(f"seed {seed}, {what}: {word}", flush=True)
    for (kind, end), count in sorted(ends.items()):
        print(f"{count:7d}  {kind}: {end}")
    print(f"{given.count} files and {given.kills} kills in {time.perf_counter() - begun:.0f} s")
    return 1 if any(end in FINDINGS for _, end in ends) else 0


if __name__ == "__main__":
    raise SystemExit(main())
