"""Linkages whose lengths differ by decades: bounds are kept, or the error that is reported is larger."""

import numpy as np
import pytest
from rigs.adaptive import largest_difference
from rigs.uneven_linkages import broken_bound

import bellcrank as bc
from bellcrank.mechanism.rotation import multiply, rotate

BOUNDS = (1e-2, 1e-3, 1e-4, 1e-6)
WIDE = (213, 372, 555, 801, 900, 1535, 1643)  # of links whose errors were up to 80 times those reported


def links(seed, decades=4.0, unit=0.02, count=24):
    """Hinged links of about one mass, each on one of the three before it; a link scales with its length."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("links", gravity=(0.0, 0.0, -9.81))
    bodies, poses = [mech.ground], [(np.zeros(3), (1.0, 0.0, 0.0, 0.0))]
    for k in range(count):
        mass, length = (float(10.0 ** (d * rng.uniform(-0.5, 0.5))) for d in (0.6, decades))
        length *= unit
        carrier, turn = int(rng.integers(max(0, k - 3), k + 1)), rng.normal(size=4)
        turn, at = tuple(turn / np.linalg.norm(turn)), length * rng.normal(0, 0.5, 3)
        origin, rotation = poses[carrier]
        poses.append((origin + np.array(rotate(rotation, tuple(at))), multiply(rotation, turn)))
        com, inertia = length * rng.normal(0, 0.3, 3), np.array([0.1, 0.12, 0.08]) * mass * length**2
        link = mech.add_body(
            f"b{k}",
            mass=mass,
            inertia=tuple(inertia),
            com=tuple(com),
            position=tuple(poses[-1][0]),
            rotation=poses[-1][1],
        )
        mech.add_joint(
            f"j{k}", bc.Revolute(), bodies[carrier].marker(tuple(at), rotation=turn), link.marker()
        )
        bodies.append(link)
    return mech


@pytest.mark.parametrize("seed", [75, 228, 2915, 3291, *range(0, 400, 40)])
def test_bounds_of_random_linkages(seed):
    """The first of them moved by more than was asked for and said."""
    assert broken_bound(seed, lengths=True) == ""


@pytest.mark.parametrize("seed", WIDE)
def test_bounds_of_links_of_a_millimetre_and_a_metre(seed):
    """What is little of the force on a long link is many times the moment on a short one."""
    mech = links(seed)
    run = bc.start(mech, mode="quasistatic")
    for bound in BOUNDS:
        assert run.refine(bound) <= bound
        assert largest_difference(run, mech) <= run.error * (1.0 + 1e-9)


@pytest.mark.parametrize("count", [12, 24])
@pytest.mark.parametrize("seed", [176, 284, 293, 1140])
def test_links_that_are_nearly_even(seed, count):
    """Their rounding is not measured but taken as it may be at worst; it was up to 12 times more."""
    mech = links(seed, decades=1.2, count=count)
    run = bc.start(mech, mode="quasistatic")
    assert run.refine(1e-9) <= 1e-9
    assert largest_difference(run, mech) <= run.error


@pytest.mark.parametrize("decades", [1.2, 1.8, 2.4])
def test_errors_of_many_uneven_links_are_not_overrated(decades):
    """Thirty-two digits would cost fifteen times as much."""
    run = bc.start(links(3, decades=decades, count=500), mode="quasistatic")
    for bound in BOUNDS:
        assert run.refine(bound) <= bound
        assert not run._core.is_exact


@pytest.mark.parametrize("seed", [3, 4])
def test_the_unit_of_length_changes_nothing(seed):
    """Micrometres, or kilometres, make angles accelerate by other numbers, of the same errors."""
    found = []
    for unit in (1.0, 2.0**-20, 2.0**10):
        run = bc.start(links(seed, decades=2.4, unit=unit), mode="quasistatic")
        run.refine(1e-4)
        found.append((sorted(run.accelerations), run.error))
    assert found[0][0] == found[1][0] == found[2][0]
    np.testing.assert_allclose([error for _, error in found], found[0][1], rtol=1e-3)
