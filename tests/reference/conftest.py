"""What the reference tests share: the data, runs that stop at the reference times, and the comparison."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc

DATA = Path(__file__).parent / "data"
LOG = logging.getLogger("reference")

# With which settings a formulation passes poses where the constraints lose rank. At a distance b from such a
# pose a row has a pivot of the order b^2; where that is below 1e-8, forty loops at tolerances near rounding
# would only amplify rounding. The default, 1e-10, does as well for a few loops.
SINGULAR_POSES: dict[str, dict[str, float]] = {
    "lagrange": {"rank_tolerance": 1e-8},
    "recursive": {"rank_tolerance": 1e-8},
    "symbolic": {"rank_tolerance": 1e-8},
    "dca": {},  # no row is judged
}
METHODS = {
    "rk4": {"method": "rk4", "step": 5e-4},
    "dopri5": {"method": "dopri5", "tolerance": 1e-12},
    "adams": {"method": "adams", "tolerance": 4e-12},
}


@pytest.fixture(params=["lagrange", "recursive", "symbolic", "dca"])
def formulation(request):
    return request.param


@pytest.fixture(params=METHODS)
def through_singular_poses(formulation, request):
    """Settings with which the formulation passes singular poses, by two methods."""
    return {**SINGULAR_POSES[formulation], **METHODS[request.param]}


@pytest.fixture(scope="session")
def load():
    """A function that reads a problem by its file's name."""

    def read(name):
        return json.loads((DATA / f"{name}.json").read_text())

    return read


@pytest.fixture
def follow(formulation, request):
    """A function that simulates to the reference times: the run, and the frames of those times."""

    def run_to(mechanism, times, output_step, **settings):
        run = bc.simulate(mechanism, times[-1], formulation=formulation, output_step=output_step, **settings)
        frames = [int(np.argmin(np.abs(run.time - time))) for time in times]
        np.testing.assert_allclose(run.time[frames], times, rtol=0.0, atol=1e-12 * times[-1])
        counts = {key: run.statistics[key] for key in ("steps", "rejected_steps", "wall_seconds")}
        LOG.info("%s: %s %s", request.node.name, settings, counts)
        return run, frames

    return run_to


@pytest.fixture
def check(request):
    """A function that compares with a reference: |found - expected| <= tolerance * max(1, scale)."""

    def compare(what, found, expected, tolerance, scale=1.0):
        error = float(np.max(np.abs(np.asarray(found, dtype=float) - np.asarray(expected, dtype=float))))
        bound = tolerance * max(1.0, scale)
        LOG.info("%s: %s error %.1e, allowed %.1e", request.node.name, what, error, bound)
        assert error <= bound, f"{what}: error {error:.3g}, allowed {bound:.3g}"

    return compare


@pytest.fixture(scope="session")
def column():
    """A function that takes one entry of all rows of a problem."""

    def take(rows, key):
        return np.array([row[key] for row in rows])

    return take
