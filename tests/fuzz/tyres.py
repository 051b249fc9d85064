"""Random scenes of tyres whose rims come through the ground: none gains energy without being refused by name.

Runs that end with an error that names what broke down are counted; the exit status is 1 where a run hangs,
ends in another error, or gains energy on ground that stands still.
"""

import argparse
import signal
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.wild_tyres import forget_files, wild

import bellcrank as bc

LIMIT, DURATION, GAIN = 60, 1.0, 0.02  # s of processor time; s; part of what is exchanged


def gain(run):
    """The largest rise of the energy, and what the tyre gave beyond what it stored, by what is exchanged."""
    balance = run.energy_balance()
    total = run.energy.total
    rise = float(np.max(total - np.minimum.accumulate(total)))
    lost = balance.lost["tyre"]
    given = float(np.max(np.maximum.accumulate(lost) - lost))
    return rise / balance.exchanged, given / balance.exchanged


def judged(seed, tolerance=1e-5):
    """The seed, how it ended in a word, what was found, and seconds."""

    def late(*_):
        raise TimeoutError

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    begun = time.process_time()
    end, what = "right", ""
    try:
        mech, still = wild(seed)
        run = bc.simulate(mech, DURATION, output_step=0.002, tolerance=tolerance, ledger=True)
        rise, given = gain(run)
        if not all(np.isfinite(run.store.read(name)).all() for name in run.layout.shapes):
            end, what = "wrong", "numbers that are not finite"
        elif still and max(rise, given) > GAIN:
            end, what = "wrong", f"gains {rise:.3g}, the tyre gives {given:.3g} of what is exchanged"
    except (bc.SimulationError, bc.MechanismError) as error:
        end, what = "refused", str(error)
    except TimeoutError:
        end, what = "wrong", f"more than {LIMIT} s"
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        end, what = "wrong", f"{type(error).__name__}: {error}"
    finally:
        forget_files()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    return seed, end, what, time.process_time() - begun


def main():
    """Simulate as many scenes as wanted; a table of how they ended, and all faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    begun, ends = time.perf_counter(), Counter()
    with Pool(given.jobs) as pool:
        seeds = range(given.first, given.first + given.count)
        for seed, end, what, took in pool.imap_unordered(partial(judged, tolerance=given.tolerance), seeds):
            ends[end] += 1
            if end != "right" or took > 8.0:
                print(f"seed {seed}: {end} in {took:.1f} s: {what}", flush=True)
    for end, count in ends.most_common():
        print(f"{count:7d}  {end}")
    print(f"{given.count} scenes in {time.perf_counter() - begun:.0f} s")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
