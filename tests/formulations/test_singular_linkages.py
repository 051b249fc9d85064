"""dca at singular poses: a sample of what tests/fuzz/singular.py runs, and the closed-loop references."""

import numpy as np
import pytest
from rigs.closed_references import REFERENCES
from rigs.singular_linkages import FAMILIES, followed, mean_iterations, singular_linkage

import bellcrank as bc

LONG = ("A02 N-four-bar, N = 40", "A03 Andrews' squeezer", "A05 flyball governor")


@pytest.mark.parametrize("seed", range(6))
def test_random_linkages_start_at_singular_poses_or_pass_them(seed):
    found = followed(singular_linkage(seed))
    assert found.violation[0] <= 1e-12
    assert found.violation[1] <= 1e-10
    assert found.energy <= 3.0 * found.neighbours  # 2.16 at most, without fused products
    assert found.iterations <= 4.0


def test_they_do_lose_rank():
    """Those that start there, at the start: one row less is needed than at neighbours, or one per window."""
    for seed in range(len(FAMILIES)):
        linkage = singular_linkage(seed)
        assert linkage.name.endswith("at")
        system = bc.prepare(linkage.mechanism, "dca")
        at = rank_of(system)
        run = bc.simulate(linkage.mechanism, 0.1, formulation="dca", output_step=0.05)
        system.set_state(run.at(0.05))
        assert at < rank_of(system)
        assert system.stats.smallest_pivot > 1e-8


def rank_of(system):
    system.accelerate()
    return len(system.rows().names) - len(system.stats.dropped)


def test_a_flat_parallelogram_does_not_fold_over():
    run = bc.simulate(
        REFERENCES["flat parallelogram"](), 10.0, formulation="dca", method="dopri5", tolerance=1e-9
    )
    rates = np.array([run.body(f"bar{k}").angular_velocity[:, 1] for k in (1, 2, 3)])
    np.testing.assert_allclose(rates[0], rates[2], atol=1e-6)
    np.testing.assert_allclose(rates[1], 0.0, atol=1e-6)
    assert np.ptp(run.energy.total) < 1e-6 * run.energy.kinetic.max()


@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in LONG])
def test_projections_and_iterations_on_closed_loops(name):
    run = bc.simulate(
        REFERENCES[name](), 1.0, formulation="dca", method="dopri5", tolerance=1e-8, output_step=0.1
    )
    assert run.violation.position.max() <= 1e-12
    assert run.violation.velocity.max() <= 1e-10
    for level in ("positions", "velocities", "accelerations"):
        assert mean_iterations(run, level) <= 4.0
