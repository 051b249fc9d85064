"""Linkages whose masses differ by decades: bounds are kept, or the error that is reported is larger."""

import numpy as np
import pytest
from rigs.adaptive import largest_difference
from rigs.uneven_linkages import broken_bound

import bellcrank as bc
from bellcrank.errors import SimulationError
from benchmarks.adaptive import Start
from benchmarks.adaptive_linkages import molecule, random_forces

HINGES = (2, 5, 9)  # of hinged bodies of 1e-4 to 1e4 kg


def hinged(seed, count=100, decades=8.0):
    """Bodies on hinges with random axes, each on any of those before it."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("hinged")
    bodies = [mech.ground]
    for k in range(count):
        mass = float(10.0 ** (decades * rng.uniform(-0.5, 0.5)))
        q, carrier = rng.normal(size=4), bodies[int(rng.integers(0, k + 1))]
        body = mech.add_body(f"b{k}", mass=mass, inertia=(0.1 * mass,) * 3, com=tuple(rng.normal(0, 0.3, 3)))
        at = carrier.marker(tuple(rng.normal(0, 0.5, 3)), rotation=tuple(q / np.linalg.norm(q)))
        mech.add_joint(f"j{k}", bc.Revolute(), at, body.marker())
        bodies.append(body)
    bc.assemble(mech)
    return mech


@pytest.mark.parametrize("seed", range(0, 1200, 120))
def test_bounds_of_random_linkages(seed):
    assert broken_bound(seed) == ""


@pytest.mark.parametrize("seed", [5196, 5206])
def test_totals_of_which_no_digit_is_known_are_not_small(seed):
    """What is not opened counted as nothing where its total, and the size of its terms, came out negative."""
    assert broken_bound(seed) == ""


def test_joints_of_several_axes_lose_nothing_along_them():
    """The inverse inertia before such a joint was not symmetric: all digits were lost, and few reported."""
    assert broken_bound(72296) == ""


@pytest.mark.parametrize("seed", HINGES)
def test_bounds_of_hinged_bodies(seed):
    """Joins lost up to 1e-3 of these, and said nothing."""
    mech = hinged(seed)
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-6) <= 1e-6
    assert largest_difference(run, mech) <= 1e-6


def test_the_formulation_agrees_with_others():
    for seed in range(6):
        mech = hinged(seed)
        system = bc.prepare(mech, "adaptive")
        found, expected = system.accelerate(), bc.prepare(mech, "recursive").accelerate()
        whole = np.abs(expected.angular).max()
        np.testing.assert_allclose(found.angular, expected.angular, rtol=0, atol=1e-11 * whole)


def test_errors_of_steps_are_recorded():
    run = bc.simulate(hinged(1), 0.01, mode="quasistatic", step=1e-3, max_error=1e-4)
    assert 0.0 < run.statistics["error"] <= 1e-4


def test_light_atoms_at_the_ends_of_a_molecule_need_no_more_digits():
    """They lose what they are uncertain of themselves, and not what the heavy ones before them are."""
    tree = molecule(5000)
    for count in (1, 10, 100):
        start = Start.of(random_forces(tree, count, seed=1))
        steps = start.steps(3e-7)
        assert steps.advance(2.0**-19, 20)
        assert 0.0 < steps.refine(2.0**-19) <= 2.0**-19
        assert not steps.is_exact


def test_rounding_is_a_part_of_the_error():
    """Forces that balance leave accelerations to rounding, whose relative error is not small."""
    mech = bc.Mechanism("balanced", gravity=(0.0, 0.0, -9.81))
    carrier = mech.ground
    for k in range(5):
        rod = mech.add_body(
            f"rod {k}", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, -0.5), position=(0, 0, -1.0 * k)
        )
        hinge = {"axis": (0.6, 0.8, 0.0)}
        mech.add_joint(
            f"pin {k}",
            bc.Revolute(),
            carrier.marker((0, 0, -1.0 if k else 0.0), **hinge),
            rod.marker(**hinge),
        )
        carrier = rod
    run = bc.start(mech, mode="quasistatic")
    found = run.refine(1e-3)
    accelerations = [abs(rates[0]) for rates in run.accelerations.values()]
    assert max(accelerations, default=0.0) < 1e-12
    assert found in (0.0, 1.0)


def test_masses_that_no_digits_bear_are_refused_by_name():
    mech = bc.Mechanism("hopeless")
    carrier = mech.ground
    for k, mass in enumerate((1e-28, 1e27, 1e-28, 1e27, 1e-28, 1e27)):
        body = mech.add_body(f"b{k}", mass=mass, inertia=(mass,) * 3, com=(0.1, 0.2, 0.3), position=(k, 0, 0))
        mech.add_joint(f"j{k}", bc.Spherical(), carrier.marker((1.0 if k else 0.0, 0, 0)), body.marker())
        carrier = body
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-3) > 1e-3
    with pytest.raises(SimulationError, match=r"masses from 1e-28 kg \(body 'b0'\) to 1e\+27 kg"):
        run.advance()
