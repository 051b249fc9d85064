"""Couplings that say the same as others: symbolic eliminates by pivots, and names the redundant ones."""

import numpy as np
import pytest
from rigs.coupled import coupled, planetary, ring

import bellcrank as bc

Q, R = bc.EndCoordinate("q"), bc.EndCoordinate("r")


def found(mech, formulation):
    system = bc.prepare(mech, formulation)
    at = system.accelerate()
    return system, np.hstack([at.linear, at.angular]), at


def same(one, other, tolerance=1e-9):
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("seed", range(40))
def test_rings_of_gears(seed):
    mech = ring(seed)
    system, accelerations, _ = found(mech, "symbolic")
    assert not system.closing_rows
    for formulation in ("recursive", "lagrange"):
        other, expected, _ = found(mech, formulation)
        same(accelerations, expected)
        assert len(system.stats.dropped) == len(other.stats.dropped)


@pytest.mark.parametrize("seed", range(30))
def test_couplings_of_all_joints(seed):
    mech = coupled(seed)
    (system, accelerations, at), (other, expected, there) = (
        found(mech, f) for f in ("symbolic", "recursive")
    )
    same(accelerations, expected)
    same(at.reactions, there.reactions, 1e-8)
    same(at.multipliers, there.multipliers, 1e-8)
    np.testing.assert_array_equal(at.unique, there.unique)
    assert len(system.stats.dropped) == len(other.stats.dropped)
    assert not system.closing_rows


@pytest.mark.parametrize("planets", [1, 2, 3, 5])
def test_planetary_gear(planets):
    mech = planetary(planets)
    system, accelerations, at = found(mech, "symbolic")
    assert len(system.speeds) == 2
    assert [d.element for d in system.stats.dropped] == [
        f"constraint 'ring to {k}'" for k in range(1, planets)
    ]
    for formulation in ("recursive", "lagrange"):
        _, expected, there = found(mech, formulation)
        same(accelerations, expected)
        same(at.reactions, there.reactions)
    _, _, there = found(mech, "recursive")
    same(at.multipliers, there.multipliers)


def test_planetary_gear_runs():
    runs = [
        bc.simulate(planetary(), duration=2.0, formulation=f, method="dopri5", tolerance=1e-11)
        for f in ("recursive", "symbolic")
    ]
    for body in runs[0].bodies:
        one, other = (run.body(body) for run in runs)
        same(one.position, other.position)
        same(one.velocity, other.velocity, 1e-8)
    turned = runs[1].joint("sun").position  # rad; the torque on the sun is 1 N m
    gained = runs[1].energy.total - runs[1].energy.total[0]
    same(gained, (turned - turned[0])[:, 0])


@pytest.mark.parametrize("kind", [bc.Differential(), bc.PlanetaryGear(20, 60)])
def test_three_shafts_coupled_twice(kind):
    """The second says the same by other factors; a free shaft must not be held by rounding."""
    mech = bc.Mechanism("three shafts")
    for k in range(3):
        shaft = mech.add_body(
            f"shaft {k}", mass=1.0, inertia=(0.1, 0.1, 0.15 + 0.01 * k), com=(0.1 * k, 0.0, 0.0)
        )
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0), axis=(0, 1, 0)), shaft.marker()
        )
    turns = [f"turn {k}" for k in range(3)]
    mech.add_constraint("given", kind, *turns)
    weights = (1.0, 1.0, -2.0) if isinstance(kind, bc.Differential) else (20.0, 60.0, -80.0)
    mech.add_constraint("again", bc.Coupling(tuple(0.1 / 3.0 * w for w in weights)), *turns)
    mech.add_force("torque", bc.Wrench(moment=(0.0, 0.3, 0.0)), mech.bodies["shaft 1"])
    system, accelerations, at = found(mech, "symbolic")
    assert len(system.speeds) == 2
    assert [d.element for d in system.stats.dropped] == ["constraint 'again'"]
    _, expected, there = found(mech, "recursive")
    same(accelerations, expected)
    same(at.multipliers, there.multipliers)


@pytest.mark.parametrize("value", [1.0, 1.0 + 1e-9, 0.5, 1e-9])
def test_couplings_that_follow_a_parameter(value):
    """At one value of the parameter both rows say the same; no pivot may rest on it."""
    mech = bc.Mechanism("parameter", gravity=(0.1, -9.81, 0.3))
    p = mech.add_parameter("p", 0.7)
    for k in range(3):
        body = mech.add_body(
            f"body {k}", mass=1.0 + 0.1 * k, inertia=(0.1, 0.1, 0.1), com=(0.1, 0.02 * k, 0.0)
        )
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), body.marker(), position=0.1 * k
        )
    mech.add_constraint("fixed", bc.Coupling((1.0, 1.0)), "turn 0", "turn 1")
    mech.add_constraint("follows", bc.Coupling((p, 1.0)), "turn 0", "turn 1")
    equation = (p - 1.0) * (R.value - 0.2) + 0.3 * (Q.value - 0.0)
    mech.add_constraint("formula", bc.CustomConstraint((Q, R), equation), "turn 0", "turn 2")
    at = mech.with_parameters(p=value)
    system, accelerations, _ = found(at, "symbolic")
    other, expected, _ = found(at, "recursive")
    same(accelerations, expected)
    assert len(system.stats.dropped) == len(other.stats.dropped)


def test_formulas_that_say_the_same():
    mech = bc.Mechanism("twice", gravity=(0.1, -9.81, 0.3))
    for k in range(2):
        body = mech.add_body(f"body {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.1, 0.02 * k, 0.0))
        mech.add_joint(
            f"turn {k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), body.marker(), position=0.3 * k
        )
    for name, factor in (("one", 3.0), ("two", 0.3)):
        equation = factor * (R.value - 0.3) + factor / 3.0 * Q.value**2
        mech.add_constraint(name, bc.CustomConstraint((Q, R), equation), "turn 0", "turn 1")
    system, accelerations, _ = found(mech, "symbolic")
    assert len(system.speeds) == 1
    assert [d.element for d in system.stats.dropped] == ["constraint 'two'"]
    same(accelerations, found(mech, "recursive")[1])


def test_couplings_that_contradict_each_other():
    mech = planetary(2)
    mech.add_constraint("another", bc.Coupling((1.0, 1.0), constant=0.0), "sun", "ring")
    mech.add_constraint("contradiction", bc.Coupling((2.0, 2.0), constant=0.5), "sun", "ring")
    system = bc.prepare(mech, "symbolic")
    with pytest.raises(bc.errors.AssemblyError, match=r"'contradiction' .* is off by 0.5"):
        system.project()
    with pytest.raises(bc.errors.AssemblyError, match=r"cannot hold together: .*'another'.*'contradiction'"):
        bc.assemble(mech)
