"""A change in mid-run keeps what was taken from where the run started."""

import pytest

import bellcrank as bc
from bellcrank.shell.session import Session
from bellcrank.shell.situation import Situation


def test_going_on_keeps_rest_lengths_cables_and_turns():
    mech = bc.Mechanism("held", gravity=(0, 0, -9.81))
    body = mech.add_body("body", 1.0, (0.1, 0.1, 0.1), position=(0, 0, -1))
    mech.add_joint("rail", bc.Prismatic(), mech.ground, body)
    mech.add_force("spring", bc.SpringDamper(100.0), mech.ground.marker(), body.marker())
    mech.add_constraint(
        "rope", bc.Cable(slack=True), mech.ground.marker((0, 0, 0.5)), body.marker((0, 0, 0.3))
    )
    wheel = mech.add_body("wheel", 1.0, (1, 1, 1), angular_velocity=(0, 0, 10))
    mech.add_joint("axle", bc.Revolute(), mech.ground, wheel)
    mech.add_force("clock spring", bc.TorsionSpring(1.0), "axle")
    settings = {"method": "adams", "rtol": 1e-11, "atol": 1e-11}
    whole = bc.simulate(mech, 1.5, output_step=0.25, **settings)
    session = Session()
    session.now = Situation(mech)
    session.run(1.0, 0.25, **settings)
    session.commit()
    assert session.mechanism.forces["spring"].kind.rest_length == 1.0
    assert session.mechanism.constraints["rope"].kind.length == pytest.approx(1.2)
    rest = session.run(0.5, 0.25, **settings)
    assert rest.body("body").position[-1] == pytest.approx(whole.body("body").position[-1], abs=1e-8)
    assert rest.joint("axle").position[-1] == pytest.approx(whole.joint("axle").position[-1], abs=1e-7)
    assert abs(whole.joint("axle").position[-1]) > 6.0
    assert rest.energy.total[-1] == pytest.approx(whole.energy.total[-1], abs=1e-7)
