"""Random scenes of bodies that touch: every run ends in time, in numbers, and without energy from nothing.

Runs that end with an error that names what broke down are counted; the exit status is 1 where a run hangs,
ends in another error, or a single body flies higher than it fell from.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from rigs.scene_fuzzing import arguments, count_ends
from rigs.touching_scenes import alone, resisting, scene

import bellcrank as bc

DURATION, GAIN = 0.5, 1e-6  # s; part of the energy
STEP, RESIDUAL, RIGID_GAIN = 1e-3, 1e-6, 0.02  # of runs by impulses: s; of a step; of the kinetic energy
ALIKE = 1e-6  # of positions in other units


def compliant(seed):
    """What is wrong with runs of a scene by the default method; nothing if nothing is."""
    run = bc.simulate(scene(seed), duration=DURATION, output_step=0.01)
    if not all(np.isfinite(run.store.read(name)).all() for name in run.layout.shapes):
        return "numbers that are not finite"
    lone = bc.simulate(alone(scene(seed)), duration=2 * DURATION, output_step=0.002, tolerance=1e-9)
    free = lone.energy.total[lone.contact("touch").count == 0]
    if len(free) > 1 and np.max(np.diff(free)) > GAIN * np.abs(free).max():
        return f"energy rises by {np.max(np.diff(free)):.3g} J between flights"
    return ""


def rigid(seed, formulation="lagrange", resists=False):
    """The same of runs by impulses."""

    def made():
        return resisting(scene(seed), seed) if resists else scene(seed)

    options = {"duration": DURATION, "step": STEP, "output_step": 0.01, "method": "moreau"}
    options["formulation"] = formulation
    run, same = (bc.simulate(made(), **options) for _ in range(2))
    if not all(np.isfinite(run.store.read(name)).all() for name in run.layout.shapes):
        return "numbers that are not finite"
    if run.statistics["residual"] > RESIDUAL:
        return f"a residual of {run.statistics['residual']:.2e}"
    if not np.array_equal(run.store.contacts, same.store.contacts):
        return "another run than the first"
    energy = run.energy.total
    if energy.max() - energy[0] > RIGID_GAIN * run.energy.kinetic.max():
        return f"energy rises from {energy[0]:.3g} J to {energy.max():.3g} J"
    return ""


def scaled(seed, formulation="lagrange"):
    """What differs between runs by impulses of a scene in metres and seconds and in other units."""
    lone = seed % 2 == 0

    def places(length, time, aside=0.0, tolerance=1e-6):
        mech = scene(seed, length, time)
        mech = alone(mech) if lone else mech
        for body in list(mech.bodies.values()):
            mech.replace(body, position=np.array(body.position) + aside * length)
        options = {"step": STEP * time, "output_step": 0.01 * time, "method": "moreau"}
        options |= {"formulation": formulation, "tolerance": tolerance}
        run = bc.simulate(mech, duration=DURATION * time, **options)
        return np.stack([run.body(name).position for name in mech.bodies]) / length

    expected = places(1.0, 1.0)
    # What chaos makes of the tenth digit, and of what impulses may be off by.
    others = places(1.0, 1.0, 1e-10), places(1.0, 1.0, -1e-10), places(1.0, 1.0, tolerance=1e-8)
    moved = max(np.abs(other - expected).max() for other in others)
    for length, time in ((1e-3, 1.0), (1e-3, 1e-3**0.5), (1e-6, 1e-3), (1e3, 1.0)):
        off = np.abs(places(length, time) - expected).max()
        if off > ALIKE + 100.0 * moved:
            return f"in units of {length:g} m and {time:.3g} s it is {off:.1e} sizes elsewhere"
    return ""


JUDGES = {
    "scaled": scaled,
    "scaled, recursive": partial(scaled, formulation="recursive"),
    "auto": compliant,
    "moreau": rigid,
    "moreau, recursive": partial(rigid, formulation="recursive"),
    "moreau, resisting": partial(rigid, resists=True),
    "moreau, recursive, resisting": partial(rigid, formulation="recursive", resists=True),
}


def main():
    """Simulate as many scenes as wanted; a table of how they ended, and all faults."""
    parser = arguments(__doc__, 10_000)
    parser.add_argument("--method", choices=JUDGES, default="auto")
    given = parser.parse_args()
    return count_ends(JUDGES[given.method], given)


if __name__ == "__main__":
    raise SystemExit(main())
