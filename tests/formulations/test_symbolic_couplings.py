"""Equations between joint coordinates that leave fewer of them: loops by parametrization, q_i = q_i(q)."""

import numpy as np
import pytest
from rigs.agreement import agreed
from rigs.directions import Direction, core_at, moving
from rigs.equation_13 import equation_13

import bellcrank as bc
import bellcrank.expression as ex
from bellcrank.formulations.preparing import prepare

Q, ANGLE, OTHER = bc.EndCoordinate("q"), bc.EndCoordinate("angle"), bc.EndCoordinate("other")


def bars(count, seed=3):
    """A chain of bars on hinges, in motion."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism("bars", gravity=(0.2, -9.81, 0.3))
    before = mech.ground.marker()
    for k in range(count):
        bar = mech.add_body(f"bar {k}", mass=rng.uniform(0.5, 1.5), inertia=rng.uniform(0.01, 0.02, 3))
        start = {"position": 0.4, "velocity": 1.2} if k == 0 else {}
        mech.add_joint(f"pin {k}", bc.Revolute(), before, bar.marker((-0.2, 0.0, 0.0)), **start)
        before = bar.marker((0.3, 0.1 * k, 0.0))
    return mech


def coupled(mech, kind, *joints):
    mech.add_constraint(f"constraint {len(mech.constraints)}", kind, *joints)


def tong(crossings):
    """Two chains of bars that cross, every angle a multiple of the first, and a weight on a hook."""
    mech = bc.Mechanism("tong", gravity=(0.0, -9.81, 0.0))
    made = {}
    for k in range(crossings):
        for side, sign in (("a", 1), ("b", -1)):
            bar = made[side, k] = mech.add_body(f"{side} {k}", mass=0.3, inertia=(1e-4, 1e-3, 1e-3))
            other = made.get(("b" if side == "a" else "a", k - 1))
            before = mech.ground.marker() if k == 0 else other.marker((0.1, 0.0, 0.0))
            angle = sign * 1.1 * (1 if k == 0 else 2)
            after = bar.marker((0.0 if k == 0 else -0.1, 0.0, 0.0))
            mech.add_joint(f"pin {side} {k}", bc.Revolute(), before, after, position=angle)
    for (side, k), sign in ((key, 1 if key[0] == "a" else -1) for key in made if key != ("a", 0)):
        follows = bc.CustomConstraint((Q, ANGLE), ANGLE.value - sign * (1 if k == 0 else 2) * Q.value)
        coupled(mech, follows, "pin a 0", f"pin {side} {k}")
    fish = mech.add_body("fish", mass=0.5, inertia=(2e-3, 1e-3, 2e-3))
    mech.add_joint(
        "hook",
        bc.Universal(),
        made["a", crossings - 1].marker(),
        fish.marker((0, 0.2, 0)),
        position=(0.1, 0.3),
    )
    return mech


def squares():
    """One angle is a quadratic function of another, the next one of both and of time."""
    mech = bars(3)
    coupled(mech, bc.CustomConstraint((Q, ANGLE), ANGLE.value - 0.3 * Q.value**2 + 0.1), "pin 0", "pin 1")
    both = OTHER.value + 0.5 * ANGLE.value * Q.value - 0.2 * ex.sin(3 * ex.t)
    coupled(mech, bc.CustomConstraint((Q, ANGLE, OTHER), both), "pin 0", "pin 1", "pin 2")
    return mech


def gears():
    """Built-in couplings, the first of which speaks of the later joint."""
    mech = bars(4)
    mech.add_constraint("one", bc.Coupling((1.0, -2.0, 0.5)), "pin 3", "pin 1", "pin 0")
    mech.add_constraint("two", bc.Coupling((1.0, 0.7)), "pin 1", "pin 0")
    return mech


MECHANISMS = {"tong": (lambda: tong(4), 3), "squares": (squares, 1), "gears": (gears, 2)}


@pytest.mark.parametrize("name", MECHANISMS)
def test_against_lagrange(name):
    make, freedom = MECHANISMS[name]
    mech = make()
    bc.assemble(mech)
    system = agreed(mech, "symbolic")
    assert len(system.speeds) == freedom
    assert not system.closing_rows


@pytest.mark.parametrize("name", MECHANISMS)
def test_runs_agree(name):
    mech = MECHANISMS[name][0]()
    bc.assemble(mech)
    runs = [
        bc.simulate(mech, duration=0.5, formulation=formulation, method="dopri5", tolerance=1e-10)
        for formulation in ("lagrange", "symbolic")
    ]
    for body in runs[0].bodies:
        found, expected = (run.body(body).position[-1] for run in reversed(runs))
        np.testing.assert_allclose(found, expected, atol=1e-7)
    assert runs[1].violation.position.max() < 1e-12


@pytest.mark.parametrize("name", MECHANISMS)
def test_derivatives(name):
    """Of accelerations and of all multipliers, which are found together."""
    system = prepare(MECHANISMS[name][0](), "lagrange")
    state, rng = moving(system.model, system.state()), np.random.default_rng(3)
    direction = Direction(core_at(system.model, state, "symbolic"), system.model, rng, 0.7)
    assert direction.beside_differences(state, 1e-10) < 1.0
    assert direction.beside_lagrange(state) < 1e-12
    assert direction.alone_off() < 1e-14
    assert direction.transposed_off(rng) < 1e-13


def test_equation_13_with_couplings():
    """The literal form knows nothing of how coordinates are shared but by differentiation."""
    mech = squares()
    bc.assemble(mech)
    system = bc.prepare(mech, "symbolic")
    program, found = equation_13(system), np.empty(1)
    given = np.zeros(program.program.inputs)
    numbers = [0.0, *system.core.configuration(), *system.core.speeds()]
    given[: len(numbers)] = numbers
    program.evaluate(given, found)
    np.testing.assert_allclose(system.bias(), -found, rtol=1e-9)


def test_a_coordinate_that_two_rows_give_is_closed_once():
    mech = bars(3)
    coupled(mech, bc.CustomConstraint((Q, ANGLE), ANGLE.value - 2.0 * Q.value), "pin 0", "pin 1")
    coupled(mech, bc.CustomConstraint((Q, ANGLE), ANGLE.value + Q.value**3 + Q.value), "pin 0", "pin 2")
    coupled(mech, bc.CustomConstraint((Q, ANGLE), ex.sin(ANGLE.value) - 0.1 * Q.value), "pin 1", "pin 2")
    system = bc.prepare(mech, "symbolic")
    assert len(system.speeds) == 1
    assert len(system.closing_rows) == 1
