"""Adaptive dynamics with contacts, which are forces between bodies wherever these are: against `lagrange`."""

from dataclasses import replace

import numpy as np
import pytest
from rigs.adaptive_decisions import state_of
from rigs.locked_dynamics import begun, mask
from rigs.locked_motion import Locked, held, squared_norm
from rigs.moving_trees import held_joints, moving_tree
from rigs.seeds import over

import bellcrank as bc
from bellcrank.compile.compile import compile_mechanism
from bellcrank.compile.state import MEMORY
from bellcrank.errors import Unsupported


def started(mech, **given):
    return bc.start(mech, formulation="adaptive", **given)


def crowded_tree(seed):
    """A random tree whose bodies are balls that overlap each other and the floor, at a state."""
    mech, state = moving_tree(seed, bodies=(3, 20))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    for body in list(mech.bodies.values()):
        mech.replace(body, shapes=[bc.Sphere(0.25)])
    law = bc.Contact(stiffness=300.0, friction=0.4 * (seed % 2), restitution=0.5)
    mech.add_force("touch", law, "ground", *mech.bodies)
    return mech, state


def chain_and_ball(links=8, friction=0.0, gravity=-9.81, speed=2.0):
    """Capsules on hinges, level above a floor, and a ball that falls on them."""
    mech = bc.Mechanism("chain and ball", gravity=(0.0, 0.0, gravity))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    last, end, level = mech.ground, (0.0, 0.0, 0.3), np.sqrt(0.5)
    for k in range(links):
        capsule = bc.Capsule(0.03, 0.1, density=1000.0, rotation=(level, 0, level, 0), position=(0.1, 0, 0))
        rod = mech.add_body(f"rod {k}", shapes=[capsule], position=(0.2 * k, 0.0, 0.3))
        before = last.marker(end, axis=(0, 1, 0))
        mech.add_joint(f"hinge {k}", bc.Revolute(), before, rod.marker((0, 0, 0), axis=(0, 1, 0)))
        last, end = rod, (0.2, 0.0, 0.0)
    at = (0.2 * links - 0.1, 0.0, 0.5)
    mech.add_body("ball", shapes=[bc.Sphere(0.05, density=2000.0)], position=at, velocity=(0, 0, -speed))
    law = bc.Contact(stiffness=1e5, friction=friction)
    mech.add_force("touch", law, "ground", "ball", *(f"rod {k}" for k in range(links)))
    return mech


@over(range(24))
def test_at_one_state_accelerations_and_the_error_are_exact(seed):
    """Forces of contacts are the same in both systems: so the error is no bound, but what it is."""
    mech, state = crowded_tree(seed)
    names = held_joints(mech, seed)
    model = compile_mechanism(mech)
    run = begun(model, state)
    run.set_free(mask(run, model, names))
    assert run.coast(3, 1e-5) == 3
    run.evaluate()
    memory = run.contact_memory().view(MEMORY).ravel()
    assert len(memory) > 0 or len(mech.bodies) < 4
    if seed % 2 and np.abs(memory["shear"]).sum(axis=1).min() < 1e-12:
        return  # what slips begins to, and locked bodies do not slip: the direction of friction is rounding
    state = replace(state_of(run, model), angles=None, source=None, contacts=memory)
    found = Locked(mech, model, held(mech, state, names), state, 0.0)
    expected, free = found.accelerations(), found.free_accelerations()
    whole = max(squared_norm(model, state, each.linear, each.angular) for each in (expected, free))
    linear, angular = run.motions(model.core)
    change = linear - expected.linear, angular - expected.angular
    assert squared_norm(model, state, *change) < 1e-20 * whole
    assert abs(run.distance - found.distance()) < 1e-9 * whole


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_runs_are_those_of_lagrange(friction):
    """By the same method; several hits on the chain, the ball and the floor; friction sticks and slips."""
    mech, step = chain_and_ball(4, friction), 1e-4
    run = started(mech, step=step, max_error=0.0)
    run.advance(steps=2000)
    exact = bc.simulate(mech, 0.2, formulation="lagrange", method="rk4", step=step)
    np.testing.assert_allclose(
        run.state.position, exact.at(0.2).position, rtol=0, atol=2e-7 if friction == 0.0 else 3e-6
    )


def test_a_hit_frees_the_joints_that_matter():
    """A chain that floats level without weight stands still until a ball hits it."""
    run = started(chain_and_ball(20, gravity=0.0), step=2e-4, max_error=0.1)
    run.advance(steps=300)  # 0.06 s: 0.12 of 0.12 m
    assert run.free == ()
    run.advance(steps=50)
    assert 2 <= len(run.free) < 20
    assert "hinge 19" in run.free
    assert run.error <= 0.1
    assert run.kinetic_energy + run.lost_energy < 0.5 * run.model.mass[-1] * 4.0


def test_a_run_goes_on_from_the_state_of_another_with_what_contacts_remember():
    """A block that friction holds on a slope."""
    mech = bc.Mechanism("slope", gravity=(2.0, 0.0, -9.6))
    mech.replace(mech.ground, shapes=[bc.Plane()])
    block = mech.add_body("block", shapes=[bc.Box((0.2, 0.2, 0.1), density=1000.0)], position=(0, 0, 0.05))
    mech.add_force("touch", bc.Contact(stiffness=1e5, friction=0.5), "ground", block)
    runs = [started(mech, step=1e-4, max_error=0.0) for _ in range(2)]
    runs[0].advance(steps=3000)
    runs[1].advance(steps=1500)
    half = runs[1].state
    assert np.any(half.contacts["shear"] != 0.0)
    after = started(mech, step=1e-4, max_error=0.0, state=half)
    after.advance(steps=1500)
    np.testing.assert_allclose(after.state.position, runs[0].state.position, rtol=0, atol=1e-12)
    assert np.linalg.norm(runs[0].state.velocity) < 1e-3


def test_what_resists_rolling_and_tyres_are_refused_by_name():
    mech = chain_and_ball(2)
    mech.replace(mech.forces["touch"], kind=bc.Contact(stiffness=1e5, rolling_resistance=1e-3))
    with pytest.raises(Unsupported, match="resist no rolling or spinning: force 'touch'"):
        started(mech)
    mech = bc.Mechanism("wheel")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    wheel = mech.add_body("wheel", 10.0, (0.3, 0.5, 0.3), position=(0, 0, 0.3))
    mech.add_force("tyre", bc.Tyre(radius=0.3, width=0.05, pressure=3e5), wheel.marker(axis="y"), "ground")
    with pytest.raises(Unsupported, match=r"it takes no tyres: force 'tyre'.*Use formulation='lagrange'"):
        started(mech)
