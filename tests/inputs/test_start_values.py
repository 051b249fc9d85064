"""Runs that begin with other values than inputs were made with, and where parts of runs begin and end."""

from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc


def rod(**drive):
    """A rod on a pivot that a drive leads."""
    mechanism = bc.Mechanism("rod")
    held = mechanism.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.5, 0.0))
    mechanism.add_joint("pivot", bc.RevoluteX(), mechanism.ground, held.marker((0.0, -0.5, 0.0)))
    mechanism.add_drive("motor", "pivot", **drive)
    return mechanism


@pytest.mark.parametrize("formulation", ["lagrange", "recursive", "symbolic", "dca"])
def test_a_position_is_that_of_the_value(formulation):
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    run = bc.simulate(mechanism, 0.1, inputs={"angle": 0.7}, formulation=formulation)
    assert np.allclose(run.joint("pivot").position, 0.7, atol=1e-12)
    assert np.allclose(run.input("angle").value, 0.7)


def test_a_run_goes_on_from_a_state_with_the_values_that_led_there():
    mechanism = rod(velocity=bc.Input("speed", 0.0, "rad/s"))
    with bc.start(mechanism) as run:
        run.advance(0.1)
        run.inputs["speed"] = 2.0
        run.advance(0.5)
        state, values = run.state, dict(run.inputs)
    after = bc.start(mechanism, state=state, inputs=values)
    assert np.allclose(after.state.rotation, state.rotation, atol=1e-12)
    assert np.allclose(after.state.angular_velocity, state.angular_velocity, atol=1e-12)
    after.advance(0.5)
    assert after.trajectory.joint("pivot").position[-1] == pytest.approx(2.0)


def test_unknown_names_and_what_is_no_mapping_are_refused():
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    with pytest.raises(bc.MechanismError, match="did you mean 'angle'"):
        bc.start(mechanism, inputs={"angel": 1.0})
    with pytest.raises(bc.MechanismError, match="Mapping"):
        bc.start(mechanism, inputs=[1.0])
    with pytest.raises(bc.MechanismError, match="no input can be set"):
        bc.start(mechanism, inputs={"angle": 1.0}, assemble="constraint_forces")


def test_where_a_run_is_can_be_read_before_it_is_recorded():
    mechanism = rod(position=bc.Input("angle", 0.2, "rad"))
    with bc.start(mechanism) as run:
        assert run.formulation in ("lagrange", "recursive")
        assert run.now().joint("pivot").position == pytest.approx([0.2])
        run.inputs["angle"] = 0.9
        assert run.now().joint("pivot").position == pytest.approx([0.9])
        assert len(run.trajectory) == 0


def test_a_part_begins_where_the_run_was_moved_to():
    mechanism = bc.gallery.double_pendulum()
    with bc.start(mechanism, step=1e-3) as run:
        run.part(np.array([0.0, 0.1]))
        moved = run.state
        run.set_state(
            replace(moved, velocity=0 * moved.velocity, angular_velocity=0 * moved.angular_velocity)
        )
        part = run.part(np.array([0.1, 0.2]))
        assert np.allclose(part.body(mechanism.bodies["link 2"].name).angular_velocity[0], 0.0)


def test_a_part_may_be_ended_from_outside_and_ends_with_where_the_run_is():
    with bc.start(bc.gallery.chain(60), formulation="lagrange", step=1e-4) as run:
        asked = []
        part = run.part(np.array([0.0, 50.0]), lambda: asked.append(1) or len(asked) > 2)
        assert 0.0 < run.time < 50.0
        assert part.time[-1] == run.time
        more = run.part(np.array([run.time, run.time + 1e-3]))
        assert more.time[0] == part.time[-1]
