"""Random scenes of tyres whose rims come through the ground: none gains energy without being refused by name.

Runs that end with an error that names what broke down are counted; the exit status is 1 where a run hangs,
ends in another error, or gains energy on ground that stands still.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.scene_fuzzing import arguments, count_ends
from rigs.wild_tyres import forget_files, wild

import bellcrank as bc

DURATION, GAIN = 1.0, 0.02  # s; part of what is exchanged


def gain(run):
    """The largest rise of the energy, and what the tyre gave beyond what it stored, by what is exchanged."""
    balance = run.energy_balance()
    total = run.energy.total
    rise = float(np.max(total - np.minimum.accumulate(total)))
    lost = balance.lost["tyre"]
    given = float(np.max(np.maximum.accumulate(lost) - lost))
    return rise / balance.exchanged, given / balance.exchanged


def fault(seed, tolerance=1e-5):
    """What is wrong with a run of a scene; nothing if nothing is."""
    try:
        mech, still = wild(seed)
        run = bc.simulate(mech, DURATION, output_step=0.002, tolerance=tolerance, ledger=True)
        rise, given = gain(run)
    finally:
        forget_files()
    if not all(np.isfinite(run.store.read(name)).all() for name in run.layout.shapes):
        return "numbers that are not finite"
    if still and max(rise, given) > GAIN:
        return f"gains {rise:.3g}, the tyre gives {given:.3g} of what is exchanged"
    return ""


def main():
    """Simulate as many scenes as wanted; a table of how they ended, and all faults."""
    parser = arguments(__doc__, 300)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    given = parser.parse_args()
    return count_ends(
        partial(fault, tolerance=given.tolerance), given, (bc.SimulationError, bc.MechanismError)
    )


if __name__ == "__main__":
    raise SystemExit(main())
