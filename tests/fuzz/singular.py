"""What dca makes of singular poses: closed-loop references for 10 s, and random linkages that lose rank.

A table of each; the exit status is 1 where constraints are not met, where iterations are more than four on
average, or where energy is worse than twice that of regular neighbours.
"""

import argparse
import sys
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.closed_references import LONGEST, REFERENCES
from rigs.singular_linkages import followed, histogram, mean_iterations, singular_linkage

import bellcrank as bc

LEVELS = ("positions", "velocities", "accelerations")
POSITION, VELOCITY, ITERATIONS, ENERGY = 1e-12, 1e-10, 4.0, 2.0


def reference(name):
    """A line of the table, and whether all is well."""
    duration = LONGEST.get(name, 10.0)
    settings = {"method": "dopri5", "tolerance": 1e-9, "output_step": duration / 200}
    try:
        run = bc.simulate(REFERENCES[name](), duration, formulation="dca", **settings)
    except bc.SimulationError as error:
        return f"{name}: {error}", False
    position, velocity = run.violation.position.max(), run.violation.velocity.max()
    means = [mean_iterations(run, level) for level in LEVELS]
    counts = ", ".join(f"{level[0]} {histogram(run, level)}" for level in LEVELS)
    text = f"{name:28s} {position:8.1e} {velocity:8.1e}   " + " ".join(f"{m:5.2f}" for m in means)
    return f"{text}   {counts}", position <= POSITION and velocity <= VELOCITY and max(means) <= ITERATIONS


def linkage(seed):
    """What became of a random linkage: its figures, or the error that ended it."""
    try:
        return seed, followed(singular_linkage(seed)), ""
    except (bc.SimulationError, bc.AssemblyError) as error:
        return seed, None, str(error)


def table(found):
    """A line per family; the seeds of those that are not well."""
    bad = [(seed, error) for seed, figures, error in found if figures is None]
    families = {}
    for seed, figures, _ in found:
        if figures is not None:
            families.setdefault(figures.name, []).append(figures)
            met = figures.violation[0] <= POSITION and figures.violation[1] <= VELOCITY
            if not met or figures.energy > ENERGY * figures.neighbours:
                bad.append((seed, str(figures)))
    print(f"{'family':28s} runs   energy  by neighbours': median, most   pivot   rank lost   iterations")
    for name, all_of in sorted(families.items()):
        ratios = [f.energy / f.neighbours for f in all_of]
        print(
            f"{name:28s} {len(all_of):4d} {max(f.energy for f in all_of):8.1e} {np.median(ratios):16.2f} "
            f"{max(ratios):13.2f} {min(f.pivot for f in all_of):9.1e} "
            f"{max(f.rank[1] - f.rank[0] for f in all_of):9d} {max(f.iterations for f in all_of):12.2f}"
        )
    return bad


def main():
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="random linkages")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, well = time.perf_counter(), True
    with Pool(given.jobs) as pool:
        print("largest |C|, |C'|; mean iterations for positions, velocities, accelerations; histograms")
        for line, good in pool.imap(reference, REFERENCES):
            print(line if good else f"{line}   <<<", flush=True)
            well &= good
        bad = table(pool.map(linkage, range(given.first, given.first + given.count)))
    for seed, what in bad:
        print(f"seed {seed}: {what}")
    print(f"{given.count} linkages and {len(REFERENCES)} references in {time.perf_counter() - begun:.0f} s")
    return 0 if well and not bad else 1


if __name__ == "__main__":
    raise SystemExit(main())
