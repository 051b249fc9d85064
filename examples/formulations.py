"""Which formulation an example uses, and the same run by `symbolic` beside what it made by `lagrange`."""

from __future__ import annotations

import argparse

import numpy as np

import bellcrank as bc


def chosen() -> str:
    """The formulation given by --formulation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--formulation", default="lagrange", help="how the equations are formed and solved")
    formulation: str = parser.parse_known_args()[0].formulation
    return formulation


def compare(mechanism: bc.Mechanism, run: bc.Trajectory) -> bc.Trajectory:
    """Run it again by `symbolic` with the same steps, and print how far apart the bodies are at most."""
    output_step = float(run.time[1] - run.time[0])
    step = float(run.statistics["step"])
    again = bc.simulate(
        mechanism,
        duration=float(run.time[-1]),
        step=step,
        output_step=output_step,
        formulation="symbolic",
    )
    apart = max(np.max(np.abs(again.body(n).position - run.body(n).position)) for n in run.bodies)
    drift = np.max(np.abs(again.energy.drift)) / np.ptp(again.energy.kinetic)
    print(f"symbolic: bodies within {apart:.1e} m of lagrange, energy to {drift:.1e} of what is exchanged")
    return again
