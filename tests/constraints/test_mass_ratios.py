"""Bodies whose masses differ by up to a million: accelerations against decimal arithmetic, and runs."""

import numpy as np
import pytest
from rigs import chains, exact
from rigs.machine import Machine

CASES = {
    "heavy tip": lambda ratio: chains.chain([1.0] * 7 + [ratio]),
    "heavy root": lambda ratio: chains.chain([ratio] + [1.0] * 7),
    "heavy and light in turn": lambda ratio: chains.chain([1.0, ratio] * 4),
    "ever heavier": lambda ratio: chains.chain(np.geomspace(1.0, ratio, 8)),
    "ever lighter": lambda ratio: chains.chain(np.geomspace(ratio, 1.0, 8)),
    "light rods hold a heavy plate": lambda ratio: chains.platform(1.0, ratio),
    "heavy rods hold a light plate": lambda ratio: chains.platform(ratio, 1.0),
    "heavy coupler": lambda ratio: chains.four_bar([1.0, ratio, 1.0]),
    "heavy crank": lambda ratio: chains.four_bar([ratio, 1.0, 1.0]),
}
RATIOS = [1.0, 1e3, 1e6]


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def started(mechanism):
    machine = Machine(mechanism)
    assert machine.system.project()
    return machine


@pytest.mark.parametrize("ratio", RATIOS)
def test_accelerations(case, ratio):
    """Each body's own accelerations, the lightest one's too, and the multipliers.

    Near equilibrium an acceleration is what weight and reactions leave: it is measured against that of
    gravity.
    """
    machine = started(case(ratio))
    found, multipliers = exact.found(machine)
    expected, exactly = exact.accelerations(machine)
    error = np.abs(found - expected).max(axis=1) / (np.abs(expected).max(axis=1) + 9.81)
    assert error.max() < 1e-11
    np.testing.assert_allclose(multipliers, exactly, rtol=0.0, atol=1e-11 * np.abs(exactly).max())


@pytest.mark.parametrize("ratio", RATIOS)
def test_runs_keep_constraints_and_energy(case, ratio):
    """A light chain that holds a weight vibrates as fast as the root of the ratio: a method that adapts."""
    machine = started(case(ratio))
    run = machine.run(0.5, method="dopri5", rtol=1e-8, atol=1e-8)
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-9
    assert run.drift < 1e-6 * (np.ptp(run.kinetic) + np.ptp(run.potential))
    assert np.ptp(run.kinetic) > 1e-3


@pytest.mark.parametrize("ratio", RATIOS)
def test_reactions_bear_the_weight(ratio):
    """A chain at rest: the upper joint holds all of it, whatever hangs where."""
    masses = np.array([1.0, ratio, 1.0, ratio])
    machine = started(chains.chain(masses, at_rest=True))
    machine.system.accelerate()
    wrenches, unique = machine.system.reactions(machine.joints)
    linear, _, _ = machine.system.accelerate()
    upward = masses @ (linear[:, 2] + 9.81)
    assert unique.all()
    assert wrenches[0, 5] == pytest.approx(upward, rel=1e-10)
