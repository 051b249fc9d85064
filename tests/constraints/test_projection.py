"""Position corrections after steps: how many, and where they lead."""

import pytest

import bellcrank as bc
from bellcrank.gallery import free_ring, n_four_bar, ring

STEP = 1e-3


def ran(mechanism, duration, frames=2, **more):
    output_step = duration / (frames - 1)
    return bc.simulate(
        mechanism, duration, method="semi_implicit_euler", step=STEP, output_step=output_step, **more
    )


@pytest.mark.parametrize("mechanism", [lambda: ring(40), lambda: free_ring(20)], ids=["hung", "floating"])
def test_smooth_motions_take_about_one_correction(mechanism):
    """The error of a step at these speeds, 1e-6 m and more, takes three that start from nothing."""
    run = ran(mechanism(), 0.5, frames=6)
    assert run.statistics["corrections"] < 1.3 * run.statistics["steps"]
    assert run.violation.position.max() < 1e-12


def test_anticipated_corrections_lead_where_others_do():
    """Beside runs of one step each, which know nothing of the steps before."""
    mechanism = ring(20)
    together = ran(mechanism, 100 * STEP)
    alone = ran(mechanism, STEP)
    for _ in range(99):
        alone = ran(mechanism, STEP, state=alone.at(alone.time[-1]))
    expected, found = (run.at(run.time[-1]) for run in (together, alone))
    assert found.time == pytest.approx(expected.time)
    assert found.position == pytest.approx(expected.position, abs=1e-11)
    assert found.velocity == pytest.approx(expected.velocity, abs=1e-9)


def test_a_blow_is_corrected_like_any_motion():
    """A force that sets in within half a step changes the corrections by a multiple."""
    mechanism = ring(20)
    blow = bc.Table((0.0, 0.1, 0.1005, 1.0), (0.0, 0.0, 2e3, 2e3))
    mechanism.add_force(
        "blow", bc.Wrench(force=(blow, 0.0, 0.0)), mechanism.bodies["left 4"].marker((0, 0, 0))
    )
    run = ran(mechanism, 0.2, frames=201)
    assert run.violation.position.max() < 1e-12
    assert run.violation.velocity.max() < 1e-9


def test_frames_between_long_steps_are_on_the_constraints():
    """Frames are projected one by one, some next to singular poses, though they follow each other evenly."""
    run = bc.simulate(
        n_four_bar(10), 10.0, method="adams", tolerance=10**-6.5, max_order=10, planar=True, refinements=0,
        output_step=1e-3,
    )  # fmt: skip
    assert len(run.time) > 10 * run.statistics["steps"]
    assert run.violation.position.max() < 1e-12
    assert abs(run.energy.drift).max() < 2e-3
