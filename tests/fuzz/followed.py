"""Runs of random mechanisms along directions and backwards, in both formulations, and their own errors.

Then the same with a limit that each meets on the way.

Derivatives beside extrapolated differences of whole runs to 1e-6, gradients beside directions to 1e-10; of
estimated errors of coarse runs 95 in 100 must hold within a factor of two. The exit status is 1 otherwise.
"""

import sys
from functools import partial
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.differentiated import SHARE, error_ratios, struck_mechanism, wrong_run
from rigs.random_mechanisms import random_mechanism
from rigs.scene_fuzzing import arguments, count_ends

import bellcrank as bc

FORMULATIONS = ("lagrange", "recursive")
REFUSED = (bc.MechanismError, bc.AssemblyError, bc.SimulationError, bc.Unsupported)


def ratios(seed, formulation):
    """Estimated errors by what they are; none where the run of a case has no derivatives."""
    try:
        return error_ratios(seed, formulation)
    except REFUSED:
        return []


def misses_errors(given, formulation):
    """Whether too many errors are estimated wrongly."""
    with Pool(given.jobs) as pool:
        found = pool.map(
            partial(ratios, formulation=formulation), range(given.first, given.first + given.count)
        )
    listed = [one for of_seed in found for one in of_seed]
    good = sum(0.5 < one < 2.0 for one in listed)
    print(f"{formulation}: {good} of {len(listed)} errors within a factor of two")
    return good < SHARE * len(listed)


def main():
    """Follow as many runs as wanted; a table of how they ended, and all faults."""
    given = arguments(__doc__, 1_000).parse_args()
    wrong = False
    for formulation in FORMULATIONS:
        for make in (random_mechanism, struck_mechanism):
            print(f"{formulation}, {make.__name__}")
            judge = partial(wrong_run, formulation=formulation, make=make)
            wrong |= bool(count_ends(judge, given, REFUSED))
        wrong |= misses_errors(given, formulation)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
