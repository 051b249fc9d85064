"""The constraint rows of a System: J (velocities) = -Ct and J (accelerations) = Qc for frames of bodies."""

import numpy as np
import pytest
from rigs import floating

import bellcrank as bc

KINDS = (bc.Revolute, bc.Spherical, bc.Universal, bc.Cylindrical, bc.Prismatic)
FORMULATIONS = ("lagrange", "recursive", "symbolic")


def random_mechanism(seed, loops):
    """Four moving bodies with their centres of mass off the frames' origins; a drive, a coupling, loops."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(f"random {seed}", gravity=tuple(rng.uniform(-5.0, 5.0, 3)))
    bodies = [mech.ground]
    for k in range(4):
        parent = bodies[k if k == 3 else int(rng.integers(len(bodies)))]
        kind = bc.Revolute() if k < 2 else KINDS[int(rng.integers(len(KINDS)))]()
        marker = floating.skew_marker(parent, rng)
        body, other = floating.add_body_at(mech, f"body {k}", rng, parent, marker, np.zeros(3), np.zeros(3))
        mech.add_joint(f"joint {k}", kind, marker, other)
        bodies.append(body)
    mech.add_drive("motor", joint="joint 0", velocity=bc.Harmonic(0.7, 3.0))
    mech.add_constraint("coupled", bc.Coupling((1.0, 0.4)), *(mech.joints[f"joint {k}"] for k in range(2)))
    for k in range(loops):
        at = rng.uniform(-0.5, 0.5, 3)
        ends = (bodies[body].world_marker(at) for body in (0, 4))
        mech.add_joint(f"loop {k}", bc.PointOnPlane(), *ends)
    return mech


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("loops", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_rows_hold_for_velocities_and_accelerations(seed, loops, formulation):
    mech = random_mechanism(seed, loops)
    bc.assemble(mech)
    system = bc.prepare(mech, formulation)
    state = system.project()
    acc, rows = system.accelerate(), system.rows()
    velocity = np.concatenate([state.velocity, state.angular_velocity], axis=1)
    acceleration = np.concatenate([acc.linear, acc.angular], axis=1)
    assert np.max(np.abs(np.einsum("rbk,bk->r", rows.jacobian, velocity) + rows.drift)) < 1e-10
    scale = np.max(np.abs(acceleration))
    assert scale > 1.0
    assert np.max(np.abs(np.einsum("rbk,bk->r", rows.jacobian, acceleration) - rows.bias)) < 1e-10 * scale


def test_rows_given_by_formulas_hold_for_accelerations():
    mech = bc.Mechanism("formula")
    rng = np.random.default_rng(5)
    one, two = floating.add_body(mech, "one", rng), floating.add_body(mech, "two", rng)
    a, b = bc.EndPose("a"), bc.EndPose("b")
    equation = (a.position - b.position)[0] - 0.3 * a.position[1] * b.position[2]
    ends = (body.marker(tuple(rng.uniform(-0.3, 0.3, 3))) for body in (one, two))
    mech.add_constraint("law", bc.CustomConstraint((a, b), (equation,)), *ends)
    bc.assemble(mech)
    system = bc.prepare(mech)
    system.project()
    acc, rows = system.accelerate(), system.rows()
    acceleration = np.concatenate([acc.linear, acc.angular], axis=1)
    left = np.einsum("rbk,bk->r", rows.jacobian, acceleration) - rows.bias
    assert np.max(np.abs(left)) < 1e-10 * np.max(np.abs(acceleration))
