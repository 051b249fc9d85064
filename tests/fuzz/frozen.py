"""What the formulations say of many mechanisms, kept in a file, and compared with what another code says.

    frozen.py before.npz --write        # with the code as it is
    frozen.py before.npz                # with the code after a change: every bit
    frozen.py before.npz --near 1e-12   # the same numbers of rows and flags, numbers to so many digits

Of the gallery and of random mechanisms: accelerations, reactions, efforts, flags, dropped rows at the start
and nearby; of some of them whole runs; of random trees steps of `adaptive`. A file holds for one machine
and one compiler. Differences are printed; the exit status is 1 if there are any.
"""

import argparse
import os
import sys
import time
from dataclasses import replace
from multiprocessing import Pool
from pathlib import Path

os.environ.setdefault("BELLCRANK_CACHE", "off")  # most programs run once
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from rigs import adaptive
from rigs.differential import systems
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc
from bellcrank import gallery

FIELDS = ("linear", "angular", "reactions", "multipliers", "unique", "determined")
MEASURES = ("relative_linkage", "relative_joint")
LONGEST = 0.5  # s that runs simulate


def tasks(count, runs):
    """Names of what is frozen."""
    numbered = [f"random {seed}" for seed in range(count)]
    named = [*gallery.catalogue(), *numbered]
    return [*named, *(f"run {name}" for name in named[:runs]), *(f"adaptive {k}" for k in range(runs))]


def made(name):
    return random_mechanism(int(name[7:])) if name.startswith("random ") else gallery.catalogue()[name]()


def answers(task):
    """Arrays by name of what one task gives."""
    kind, _, name = task.partition(" ")
    with np.errstate(all="ignore"):
        try:
            if kind == "run":
                return dict(of_runs(name))
            if kind == "adaptive":
                return dict(of_adaptive(int(name)))
            return dict(of_states(task))
        except (bc.AssemblyError, bc.SimulationError) as error:
            return {f"{task}/ends": np.array(type(error).__name__)}


def of_states(name):
    prepared = systems(made(name))
    first, rng = prepared["lagrange"], np.random.default_rng(0)
    start = first.project(None)
    moved = replace(
        start,
        position=start.position + 0.01 * rng.normal(size=start.position.shape),
        velocity=start.velocity + 0.1 * rng.normal(size=start.velocity.shape),
        angles=None,
    )
    for moment, state in (("start", start), ("moved", moved)):
        try:
            state = first.project(state)
        except bc.AssemblyError:
            continue
        for formulation, system in prepared.items():
            system.set_state(state)
            found = system.accelerate()
            for field in FIELDS:
                yield f"{name}/{formulation}/{moment}/{field}", np.asarray(getattr(found, field))
            rows = [str(row) for row in system.stats.dropped]
            yield f"{name}/{formulation}/{moment}/dropped", np.array(rows, dtype=str)


def of_runs(name):
    mechanism = made(name)
    for formulation in ("lagrange", "recursive", "symbolic", "dca"):
        try:
            run = bc.simulate(mechanism, LONGEST, formulation=formulation)
        except bc.Unsupported:
            continue
        for field in ("position", "rotation", "velocity", "angular_velocity"):
            values = [getattr(run.body(body), field) for body in run.bodies]
            yield f"run {name}/{formulation}/{field}", np.array(values)


def of_adaptive(number):
    core, _, _ = adaptive.linkage(np.random.default_rng(number), MEASURES[number % 2], number)
    for step in range(3):
        core.advance(0.1)
        yield f"adaptive {number}/{step}", np.asarray(core.accelerations())


def apart(one, two, near):
    """What differs between two arrays, in words; nothing if they are alike."""
    if one.shape != two.shape:
        return f"shapes {one.shape} and {two.shape}"
    if one.dtype.kind != "f":
        return "" if np.array_equal(one, two) else f"{one.tolist()} and {two.tolist()}"[:200]
    if np.array_equal(one, two, equal_nan=True):
        return ""
    largest = max(1.0, float(np.nanmax(np.abs(one), initial=0.0)))
    size = float(np.nan_to_num(np.abs(one - two), nan=np.inf).max()) / largest
    return "" if size <= near else f"{size:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--near", type=float, default=0.0, help="relative to the largest, or to 1")
    parser.add_argument("--count", type=int, default=2000, help="random mechanisms")
    parser.add_argument("--runs", type=int, default=100, help="of each: runs, and linkages of adaptive")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, found, asked = time.perf_counter(), {}, tasks(given.count, given.runs)
    with Pool(given.jobs, maxtasksperchild=100) as pool:
        for part in pool.imap(answers, asked, chunksize=4):
            found |= part
    print(f"{len(found)} arrays in {time.perf_counter() - begun:.0f} s")
    if given.write:
        np.savez_compressed(given.file, **found)
        return 0
    different = 0
    with np.load(given.file) as kept:
        for name in sorted({*kept.files, *found}):
            if name.split("/")[0] not in asked:
                continue
            both = name in found and name in kept.files
            words = apart(kept[name], found[name], given.near) if both else "in one of both alone"
            if words:
                different += 1
                print(f"{name}: {words}")
    print(f"{different} of them differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
