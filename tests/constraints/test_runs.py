"""One second of every kind in a small spatial mechanism: constraints kept, energy and forces balanced."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.balance import imbalance, row_imbalance
from scipy.integrate import simpson

import bellcrank as bc

CASES = {
    **{f"joint-{name}": ("pair", examples.joint(name)) for name in examples.JOINT_KINDS},
    **{f"angle-{name}": ("led", function) for name, function in examples.FUNCTIONS_OF_TIME.items()},
    **{
        f"travel-{name}": ("led", function, bc.Cylindrical, "z")
        for name, function in examples.FUNCTIONS_OF_TIME.items()
    },
    **{f"path-{name}": ("along", *path) for name, path in examples.PATHS.items()},
    **{f"constraint-{name}": ("carried", kind, ends) for name, kind, ends in examples.constraints()},
}
# Positions are projected to 1e-11, velocities to rounding.
VIOLATION = 1e-10
# A fourth-order method with a step of 1 ms at speeds of some 5 rad/s: (5e-3)⁴/120 ≈ 5e-12 a step and radian.
ENERGY = 1e-9
# Where a leading function has kinks, Simpson's rule over frames 1 ms apart loses to them: about 1e-3 times a
# jump of its second derivative (a Table's pieces), 1e-6 times one of its third (a curve's).
WORK = {"angle-Table": 1e-3, "travel-Table": 1e-3, "path-curve": 1e-6, "path-closed curve": 1e-6}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    return request.param


@pytest.fixture(scope="module")
def machine(case):
    name, *arguments = CASES[case]
    options = {} if name == "carried" else {"hung": True}
    machine = getattr(floating, name)(*arguments, **options)
    assert machine.system.project()
    return machine


@pytest.fixture(scope="module")
def run(machine):
    result = machine.run(1.0, frames=1001, wrenches=machine.joints + machine.drives)
    assert result.outcome["status"] == "finished"
    return result


def led_rates(machine, times):
    """The rates of the functions that the recorded rows follow (T, rows)."""
    functions = [machine.model.arrays["row_function"][m.row] for m in machine.model.multipliers]
    rates = [
        machine.model.core_function(f)(times)[:, 1] if f >= 0 else np.zeros(len(times)) for f in functions
    ]
    return np.array(rates).reshape(len(functions), len(times)).T


def test_constraints_hold_at_every_frame(run, machine):
    assert run.C.max() < VIOLATION
    assert run.Cdot.max() < VIOLATION
    C, Ct, _, J = machine.system.rows()
    np.testing.assert_allclose(C, 0.0, atol=VIOLATION)
    np.testing.assert_allclose(J @ machine.twists().ravel() + Ct, 0.0, atol=VIOLATION)


def test_energy_changes_by_the_work_of_the_drives_alone(run, machine, case):
    """The multiplier of  φ − f(t) = 0  is the effort of the drive, and λ f' its power."""
    power = np.sum(run.multipliers * led_rates(machine, run.time), axis=1)
    work = simpson(power, x=run.time) if len(machine.model.multipliers) else 0.0
    change = run.energy[-1] - run.energy[0]
    scale = np.ptp(run.kinetic) + np.ptp(run.potential) + 1.0
    assert abs(change - work) / scale < WORK.get(case, ENERGY)


@pytest.mark.parametrize("case", [c for c, (rig, *_) in CASES.items() if rig != "carried"], indirect=True)
def test_reported_reactions_balance_every_body(run, machine):
    """Of joints and drives; a constraint of several pairs has no single reaction, see its rows below."""
    wrenches = machine.joints + machine.drives
    assert imbalance(machine, run, [pair for _, pair in wrenches]) < 1e-11


def test_multipliers_balance_every_body(run, machine):
    assert row_imbalance(machine) < 1e-11


def test_the_motion_was_one_worth_looking_at(run):
    """Bodies turned by a fair amount about more than one axis."""
    spin = np.abs(run.angular_velocity).max(axis=(0, 1))
    assert np.count_nonzero(spin > 0.15) >= 2
    assert np.max(np.abs(run.position[-1] - run.position[0])) > 0.1
