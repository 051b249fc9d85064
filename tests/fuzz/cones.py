"""Random problems of contact by the thousand: each is judged by the laws, the share solved is printed.

The exit status is 1 where a report is not what the judge finds, or where fewer are solved than --share.
"""

import argparse
import sys
from collections import Counter
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from rigs.cone_judge import natural_residual

from benchmarks.cone_scenes import cloud, spheres


def problem(seed):
    """How it ended, factorizations, and whether the report is true."""
    rng = np.random.default_rng(seed)
    if seed % 10 == 9:
        scene = spheres(30, friction=float(rng.uniform(0.1, 1.2)), seed=seed)
    else:
        bodies, contacts = int(rng.integers(2, 10)), int(rng.integers(1, 25))
        scene = cloud(seed, bodies, contacts, rubbing=seed % 3 * 2 * bodies)
    J, q = scene.jacobian(), scene.free_velocity()
    x, report = scene.problem(dense=seed % 2 == 1).solve(q, np.zeros(scene.count))
    found = natural_residual(scene, J @ J.T, q, x)
    return seed, report.end, report.factorizations, abs(found - report.residual) <= 1e-8 + 1e-3 * found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--share", type=float, default=0.97)
    options = parser.parse_args()
    with Pool(options.jobs) as pool:
        results = pool.map(problem, range(options.seed, options.seed + options.count), chunksize=20)
    ends = Counter(end for _, end, _, _ in results)
    untrue = [seed for seed, _, _, true in results if not true]
    failed = [seed for seed, end, _, _ in results if end == "failed"]
    share = 1.0 - len(failed) / len(results)
    counts = [n for _, end, n, _ in results if end != "failed"]
    print(f"{len(results)} problems, {100 * share:.2f} % solved, by {dict(ends)}")
    print(f"factorizations: median {np.median(counts):g}, 99 % at most {np.quantile(counts, 0.99):g}")
    print(f"not solved: seeds {failed[:20]}; reports that are not true: {untrue[:20]}")
    return int(bool(untrue) or share < options.share)


if __name__ == "__main__":
    sys.exit(main())
