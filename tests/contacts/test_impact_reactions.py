"""Reactions of joints and efforts of drives in a step by impulses in which a contact hits."""

import numpy as np
import pytest

import bellcrank as bc

STEP = 1e-3


def falling_rod(driven):
    """A rod of 2 kg and 1 m on a pin, whose tip hits the floor; or one on a rail that drives it at 1 m/s."""
    mech = bc.Mechanism("rod")
    mech.replace(mech.ground, shapes=[bc.Plane()])
    tip = bc.Sphere(radius=0.05, position=(0.5, 0.0, 0.0), density=1.0)
    rod = mech.add_body(
        "rod", mass=2.0, inertia=np.diag([1e-3, 1 / 6, 1 / 6]), shapes=[tip], position=(0.5, 0.0, 0.5)
    )
    y = (0.0, 1.0, 0.0)
    support = mech.ground.marker(position=(0.0, 0.0, 0.5), z_axis=y)
    if driven:
        cart = mech.add_body("cart", mass=1.0, inertia=np.eye(3), position=(0.0, 0.0, 0.5))
        rail = mech.ground.marker(position=(0.0, 0.0, 0.5), z_axis=(1.0, 0.0, 0.0))
        slide = mech.add_joint("slide", bc.Prismatic(), rail, cart.marker(z_axis=(1.0, 0.0, 0.0)))
        mech.add_drive("push", slide, "z", position=bc.Polynomial((0.0, 1.0)))
        support = cart.marker(z_axis=y)
    mech.add_joint("pin", bc.Revolute(), support, rod.marker(position=(-0.5, 0.0, 0.0), z_axis=y))
    mech.add_force("touch", bc.Contact(1e6, restitution=0.3, friction=0.3, joined=True), "rod", "ground")
    return mech


@pytest.mark.parametrize("formulation", ["lagrange", "recursive"])
@pytest.mark.parametrize("driven", [False, True])
def test_they_are_means_over_the_step_of_the_impact(formulation, driven):
    """The momentum that the rod gains in this step is what its pin, the floor and its weight give it."""
    run = bc.simulate(
        falling_rod(driven), 0.4, method="moreau", formulation=formulation, step=STEP, output_step=STEP
    )
    velocity = run.body("rod").velocity
    k = 1 + int(np.argmax(np.linalg.norm(np.diff(velocity, axis=0), axis=1)))
    gained = 2.0 * (velocity[k] - velocity[k - 1])
    assert gained[2] > 2.0
    pin, floor = run.joint("pin").force[k], run.contact("touch").points(k).force.sum(axis=0)
    assert pin + floor + [0.0, 0.0, -2.0 * 9.81] == pytest.approx(gained / STEP, rel=1e-2, abs=10.0)
    if driven:
        assert run.drive("push").effort[k] == pytest.approx(pin[0], rel=1e-6)
