"""Stops in joint coordinates: the same motions, impacts, events and efforts as in maximal coordinates."""

import numpy as np
import pytest
from rigs import linkages, stops

import bellcrank as bc


def arm(restitution):
    """Three bars on hinges that fall against their stops one after another, on two sides."""
    mech, last = bc.Mechanism("arm"), None
    for k in range(3):
        bar = mech.add_body(f"bar{k}", 1.0, (0.1, 0.1, 0.1), position=(0.5 + k, 0.0, 0.0))
        at, axis = (float(k), 0.0, 0.0), (0.0, 1.0, 0.0)
        first = (last or mech.ground).marker if last is None else last.world_marker
        begin = first(axis=axis) if last is None else first(at, axis=axis)
        limit = bc.Limit(-0.4, 0.6, restitution)
        mech.add_joint(f"pin{k}", bc.Revolute(), begin, bar.world_marker(at, axis=axis), limits=limit)
        last = bar
    return mech


def driven_ball():
    """A ball joint with a stop on how far it bends, a coordinate that is none of the tree's."""
    mech = bc.Mechanism("bending")
    bar = mech.add_body("bar", 1.0, (0.1, 0.1, 0.02), com=(0.0, 0.0, -0.5), angular_velocity=(1.0, 0.4, 2.0))
    limit = {"theta_x": bc.Limit(-0.2, 0.2, 0.5)}
    mech.add_joint("pivot", bc.Spherical(), mech.ground.marker(), bar.marker())
    mech.add_joint("stop", bc.Free(), mech.ground.marker(), bar.marker(), limits=limit)
    return mech


CASES = {
    "ball": lambda: stops.ball(0.6),
    "ball on the floor": lambda: stops.ball(height=0.3),
    "pendulum": lambda: stops.pendulum(0.7),
    "arm that bounces": lambda: arm(0.7),
    "arm that does not": lambda: arm(0.0),
    "train": lambda: stops.train((1.0, 2.0, 1.5), 0.8, gap=0.05),
    "stack": lambda: stops.stack(3, 0.3, gap=0.1),
    "slider-crank": lambda: stops.limited_crank(0.5),
    "parallelogram": lambda: stops.limited_parallelogram(0.4),
    "cable": lambda: stops.tethered(speed=5.0),
    "bent ball joint": driven_ball,
    "four-bar": lambda: stops.limited(linkages.four_bar(), ["pin1"], "theta_z", bc.Limit(-0.6, 0.9, 0.5)),
}


def motions(run):
    bodies = [run.body(name) for name in run.bodies]
    return np.array([[body.position, body.velocity, body.angular_velocity] for body in bodies])


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize("name", CASES)
def test_motions_with_stops(name, formulation):
    settings = {"method": "dopri5", "tolerance": 1e-12, "contact_tolerance": 1e-10, "output_step": 0.05}
    runs = [bc.simulate(CASES[name](), 1.0, formulation=f, **settings) for f in ("lagrange", formulation)]
    expected, found = runs
    if name != "cable":  # it is taut from the start: at rest on a stop rounding may count as an impact
        assert found.statistics["impacts"] == expected.statistics["impacts"]
    assert {event.name for event in found.events} == {event.name for event in expected.events}
    assert expected.events or name == "cable"
    np.testing.assert_allclose(motions(found), motions(expected), atol=1e-8)
    assert found.violation.position.max() < 1e-9


@pytest.mark.parametrize("formulation", ["recursive", "symbolic"])
@pytest.mark.parametrize("joints", [("pin1",), ("pin1", "pin2")])
def test_what_lies_on_stops(joints, formulation):
    """At rest against a stop, or two that say the same: reactions, and whether they are unique."""
    mech = stops.limited_parallelogram(joints=joints)
    run = bc.simulate(mech, 6.0, formulation="lagrange", method="dopri5", tolerance=1e-10, events=())
    at = run.at(run.time[-1])
    first, second = bc.prepare(mech, "lagrange"), bc.prepare(mech, formulation)
    at = first.project(at)
    second.set_state(at)
    expected, found = first.accelerate(at), second.accelerate()
    np.testing.assert_allclose(found.linear, expected.linear, atol=1e-8)
    np.testing.assert_array_equal(found.unique, expected.unique)
    np.testing.assert_allclose(found.multipliers, expected.multipliers, atol=1e-7)
