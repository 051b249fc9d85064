"""Every kind of force on floating bodies: internal forces, energy and power."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.machine import matrix
from scipy.integrate import simpson

OUTSIDE = {"Wrench", "SupportPoint", "BodyDamping"}  # act on one body, with nothing to react
INTERNAL = {
    name: (kind, ends) for name, kind, ends in examples.forces() if type(kind).__name__ not in OUTSIDE
}
CASES = INTERNAL | {name: (kind, ends) for name, kind, ends in examples.forces()}
POWERED = [name for name in CASES if not name.startswith("Seat")]  # nobody sits: tests/forces/test_seat.py
SWITCHING = ("RubberString", "OneSidedSpring", "SupportPoint")


@pytest.fixture(params=CASES, scope="module")
def name(request):
    return request.param


@pytest.fixture(scope="module")
def machine(name):
    machine = floating.forced(*CASES[name], seed=1)
    assert machine.system.project()
    return machine


@pytest.fixture(scope="module")
def run(machine):
    return machine.run(0.5, frames=501)


def places(model, run):
    """Of the centres of mass: positions and velocities (T, nb, 3)."""
    R = matrix(run.rotation)
    arm = np.einsum("...ij,...j->...i", R, np.broadcast_to(model.com, run.position.shape))
    return run.position + arm, run.velocity + np.cross(run.angular_velocity, arm)


@pytest.mark.parametrize("name", INTERNAL, indirect=True)
def test_internal_forces_change_no_momentum(machine, run):
    """Gravity alone changes the momentum of the whole: by m g, and by c × m g about the origin."""
    model = machine.model
    com, speed = places(model, run)
    R = matrix(run.rotation)
    inertia = R @ model.inertia @ np.swapaxes(R, -1, -2)
    spin = np.einsum("...ij,...j->...i", inertia, run.angular_velocity)
    momentum = model.mass[:, None] * speed
    angular = (np.cross(com, momentum) + spin).sum(axis=1)
    weight = model.mass[:, None] * model.gravity
    impulse = run.time[:, None] * weight.sum(axis=0)
    np.testing.assert_allclose(momentum.sum(axis=1) - momentum[0].sum(axis=0), impulse, atol=1e-12)
    turning = simpson(np.cross(com, weight).sum(axis=1), x=run.time, axis=0)
    np.testing.assert_allclose(angular[-1] - angular[0], turning, atol=1e-10)


def law_powers(machine, run):
    """Effort times rate of every law (T, laws), and the sum of the laws' potentials (T,)."""
    arrays, core = machine.model.arrays, machine.core
    starts = arrays["law_param_start"]
    with_potential = core.law_kinds()
    powers, potential = np.zeros((len(run.time), len(arrays["law_kind"]))), np.zeros(len(run.time))
    for t, time in enumerate(run.time):
        state = (time, run.position[t], run.rotation[t], run.velocity[t], run.angular_velocity[t])
        machine.set(state, continued=True)
        values, rates = machine.system.coordinates()
        for k, kind in enumerate(arrays["law_kind"]):
            params = arrays["law_params"][starts[k] : starts[k + 1]].tolist()
            number = int(arrays["law_function"][k])
            function = None if number < 0 else machine.model.core_function(number)
            c = arrays["law_coordinate"][k]
            powers[t, k] = core.law_effort(kind, values[c], rates[c], time, params, function) * rates[c]
            if with_potential[kind]:
                potential[t] += core.law_potential(kind, values[c], params, function)
    return powers, potential


def damping_power(machine, run):
    """Power of the damping of a body (T,): -v diag(c) v - ω diag(c) ω in the marker's axes."""
    kind = machine.mechanism.forces["push"].kind
    (marker,) = machine.mechanism.forces["push"].markers
    R = matrix(run.rotation[:, 0])
    axes = R @ matrix(marker.rotation)
    omega = run.angular_velocity[:, 0]
    speed = run.velocity[:, 0] + np.cross(omega, R @ np.array(marker.position))
    local = [np.einsum("tji,tj->ti", axes, values) for values in (speed, omega)]
    factors = (kind.damping, kind.rotational_damping)
    return -sum((np.array(c) * v**2).sum(axis=1) for c, v in zip(factors, local, strict=True))


def wrench_power(machine, run):
    """Power of the applied wrench (T,): force times speed of its point, moment times ω."""
    kind = machine.mechanism.forces["push"].kind
    (marker,) = machine.mechanism.forces["push"].markers
    moment, force = (
        np.array([c(run.time) if callable(c) else np.full(len(run.time), c) for c in components]).T
        for components in (kind.moment, kind.force)
    )
    R = matrix(run.rotation[:, 0])
    axes = R @ matrix(marker.rotation)
    omega = run.angular_velocity[:, 0]
    speed = run.velocity[:, 0] + np.cross(omega, R @ np.array(marker.position))
    turned = [np.einsum("tij,tj->ti", axes, values) for values in (force, moment)]
    return np.sum(turned[0] * speed + turned[1] * omega, axis=1)


@pytest.mark.parametrize("name", POWERED, indirect=True)
def test_energy_changes_by_the_power_of_the_forces(name, machine, run):
    """Kinetic energy (rotors included) and weight against efforts times rates of their coordinates."""
    model = machine.model
    com, _ = places(model, run)
    gravity = -np.einsum("b,i,tbi->t", model.mass, model.gravity, com)
    powers, potential = law_powers(machine, run)
    power = powers.sum(axis=1)
    if name.startswith("Wrench"):
        power = power + wrench_power(machine, run)
    if name.startswith("BodyDamping"):
        power = power + damping_power(machine, run)
    work = simpson(power, x=run.time)
    assert np.ptp(power) > 1e-3
    change = run.kinetic + gravity
    # A Table's pieces meet with a jump of the second derivative, as do the cubics of what switches, to which
    # Simpson's rule is blind.
    bound = 1e-5 if name.startswith(SWITCHING) else 1e-7 if name.startswith("Tab") else 1e-9
    assert change[-1] - change[0] == pytest.approx(work, abs=bound)
    np.testing.assert_allclose(run.potential, gravity + potential, atol=1e-12)
