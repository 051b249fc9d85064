"""All kinds and random mechanisms in motion: constraints kept, energy and forces balanced."""

import numpy as np
import pytest
from rigs import examples, floating
from rigs.balance import imbalance, row_imbalance
from rigs.machine import Machine, random_quaternion
from scipy.integrate import simpson

import bellcrank as bc
from bellcrank.gallery import free_ring, n_four_bar, ring

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


PLAIN = [
    name
    for name, kind in examples.JOINT_KINDS.items()
    if not kind.shorthand and name not in ("Free", "PointOnCurve")
]
# Kinds whose rows hold where both markers coincide; rods have a length.
CLOSING = [
    name
    for name in PLAIN
    if not hasattr(examples.joint(name), "length") and "radius" not in dir(examples.joint(name))
]
SEEDS = range(31)
OPEN = {0, 9, 10, 25}  # loops that do not close


def mechanism(seed):
    """Two to six bodies, each on an earlier one or the ground, and up to two loops."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"random {seed}", gravity=tuple(rng.uniform(-5.0, 5.0, 3)))
    bodies = [mech.ground]
    for k in range(int(rng.integers(2, 7))):
        parent = bodies[int(rng.integers(len(bodies)))]
        kind = examples.joint(PLAIN[int(rng.integers(len(PLAIN)))])
        marker = floating.skew_marker(parent, rng)
        body, other = floating.add_body_at(mech, f"b{k}", rng, parent, marker, *floating.start_of(kind))
        mech.add_joint(f"j{k}", kind, marker, other)
        bodies.append(body)
    for k in range(int(rng.integers(0, 3))):
        first, second = rng.choice(len(bodies), 2, replace=False)
        kind = examples.joint(CLOSING[int(rng.integers(len(CLOSING)))])
        at, turn = tuple(rng.uniform(-0.5, 0.5, 3)), random_quaternion(rng)
        ends = (bodies[b].world_marker(at, rotation=turn) for b in (first, second))
        mech.add_joint(f"loop{k}", kind, *ends)
    return mech


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed not in OPEN])
def test_a_random_mechanism(seed):
    """It keeps constraints and energy, and every body is in balance."""
    mech = mechanism(seed)
    bc.assemble(mech)
    machine = Machine(mech)
    assert machine.system.project()
    assert row_imbalance(machine) < 1e-10
    run = machine.run(0.3, method="dopri5", rtol=1e-9, atol=1e-9, frames=31)
    assert run.outcome["status"] == "finished"
    assert run.C.max() < 1e-9
    assert run.Cdot.max() < 1e-8
    assert run.drift < 1e-6 * (np.ptp(run.kinetic) + np.ptp(run.potential) + 1e-3)


@pytest.mark.parametrize("seed", sorted(OPEN))
def test_loops_that_do_not_close_are_told(seed):
    with pytest.raises(bc.AssemblyError, match="what comes closest misses joint"):
        bc.assemble(mechanism(seed))


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
