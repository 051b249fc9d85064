"""The whole turns of angles at the start: those that are prescribed, the fewest otherwise."""

import numpy as np
import pytest
from rigs.random_starts import faults

import bellcrank as bc
from bellcrank.formulations.preparing import MOVING
from bellcrank.io.files import dumps, loads

TURN = 2.0 * np.pi
STILL = (0.0, 0.0, 0.0)


def shafts(*names, **positions):
    """Shafts in a row, about z, turned by nothing unless their joints are given positions."""
    mech = bc.Mechanism("shafts", gravity=STILL)
    for number, name in enumerate(names):
        body = mech.add_body(f"body {name}", 1.0, (0.1, 0.1, 0.1), position=(number, 0.0, 0.0))
        at = positions.get(name, ())
        mech.add_joint(name, bc.Revolute(), mech.ground.marker((number, 0.0, 0.0)), body, position=at)
    return mech


def start_of(mech, formulation="lagrange", **arguments):
    """The joints' positions where a run starts."""
    run = bc.simulate(mech, times=[0.0, 1e-6], formulation=formulation, **arguments)
    return {name: run.joint(name).position[0, 0] for name in run.joints}


def turned(angle):
    """A rotation about z."""
    return bc.rotation("z", angle)


@pytest.mark.parametrize("seed", range(4))
def test_random_starts_have_the_prescribed_turns_or_the_fewest(seed):
    assert not faults(seed)


@pytest.mark.parametrize("formulation", MOVING)
@pytest.mark.parametrize("ratio", [5.0, 12.0, 20.0])
def test_a_coupled_shaft_starts_past_half_a_turn(ratio, formulation):
    mech = shafts("a", "b", b=0.3)
    mech.add_constraint("mesh", bc.Coupling((1.0, -ratio), constant=0.0), "a", "b")
    found = start_of(mech, formulation)
    assert found == pytest.approx({"a": 0.3 * ratio, "b": 0.3}, abs=1e-9)
    report = bc.assemble(mech)
    assert report.error < 1e-12
    assert start_of(loads(dumps(mech)), formulation) == pytest.approx(found, abs=1e-9)


def test_a_driven_shaft_takes_the_shafts_coupled_to_it_along():
    mech = shafts("a", "b", "c")
    mech.add_constraint("first", bc.Coupling((1.0, -12.0), constant=0.0), "a", "b")
    mech.add_constraint("second", bc.Coupling((1.0, 5.0), constant=0.2), "b", "c")
    mech.add_drive("motor", "a", position=10.0 * TURN)
    expected = {"a": 10.0 * TURN, "b": 10.0 * TURN / 12.0}
    expected["c"] = (0.2 - expected["b"]) / 5.0
    assert start_of(mech) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("turns", [0.25, 0.5, 1.0, 5.0, -1234.0])
def test_a_nut_stays_where_it_was_placed_on_its_screw(turns):
    mech = bc.Mechanism("nut", gravity=STILL)
    place = (0.0, 0.0, 0.002 * turns)
    nut = mech.add_body("nut", 1.0, (0.01, 0.01, 0.01), position=place, rotation=turned(TURN * turns))
    mech.add_joint("thread", bc.Screw(pitch=0.002), mech.ground, nut)
    assert start_of(mech) == pytest.approx({"thread": TURN * turns}, abs=1e-6)
    assert not bc.assemble(mech).changed


def test_a_nut_that_is_not_quite_on_its_thread_moves_by_less_than_half_a_pitch():
    mech = bc.Mechanism("nut", gravity=STILL)
    nut = mech.add_body("nut", 1.0, (0.01, 0.01, 0.01), position=(0.0, 0.0, 0.0103))
    mech.add_joint("thread", bc.Screw(pitch=0.002), mech.ground, nut)
    bc.assemble(mech)
    assert mech.bodies["nut"].position[2] == pytest.approx(0.0103, abs=0.001)


def test_stops_that_exclude_the_principal_angle_leave_a_body_in_place():
    mech = bc.Mechanism("stop", gravity=STILL)
    arm = mech.add_body("arm", 1.0, (0.1, 0.1, 0.1), rotation=turned(np.radians(220.0)))
    mech.add_joint("pivot", bc.Revolute(), mech.ground, arm, bc.Limit(0.0, np.radians(270.0)))
    assert not bc.assemble(mech).changed
    assert start_of(mech)["pivot"] == pytest.approx(np.radians(220.0))


def test_an_angle_just_beyond_its_only_stop_is_at_the_stop_not_a_turn_away():
    mech = shafts("a")
    mech.replace(mech.joints["a"], limits=bc.Limit(lower=0.1))
    assert start_of(mech)["a"] == pytest.approx(0.1)


def test_a_differential_of_large_ratio_starts():
    mech = shafts("a", "b", "c", a=40.0, b=3.0)
    mech.add_constraint("sum", bc.Coupling((1.0, 20.0, -21.0), constant=0.0), "a", "b", "c")
    assert start_of(mech) == pytest.approx({"a": 40.0, "b": 3.0, "c": 100.0 / 21.0}, abs=1e-8)


def test_of_several_turns_the_fewest_are_taken():
    # a - 2.5 b = 5π is satisfied by b = -2π (one turn), and by a = 5π alone only with half turns
    mech = shafts("a", "b")
    mech.add_constraint("mesh", bc.Coupling((1.0, -2.5), constant=2.5 * TURN), "a", "b")
    assert start_of(mech) == pytest.approx({"a": 0.0, "b": -TURN}, abs=1e-9)


def test_a_relation_written_as_a_formula_counts_turns():
    mech = shafts("a", "b", b=0.3)
    a, b = bc.EndCoordinate("a"), bc.EndCoordinate("b")
    mech.add_constraint("mesh", bc.CustomConstraint((a, b), a.value - 12.0 * b.value), "a", "b")
    assert start_of(mech) == pytest.approx({"a": 3.6, "b": 0.3}, abs=1e-9)


def test_a_state_without_angles_takes_those_of_the_gears():
    mech = shafts("a", "b")
    mech.replace(mech.joints["a"], velocity=8.0)
    mech.add_constraint("mesh", bc.Belt(ratio=3.0), "a", "b")
    run = bc.simulate(mech, 2.0)
    state = run.at(2.0)
    bare = bc.State(2.0, state.position, state.rotation, state.velocity, state.angular_velocity)
    system = bc.prepare(mech)
    system.set_state(bare)
    assert system.rows().error == pytest.approx(0.0, abs=1e-9)


URDF = """<robot name="r"><link name="base"/>
{links}
<joint name="a" type="continuous"><parent link="base"/><child link="la"/><axis xyz="0 0 1"/>
<mimic joint="b" multiplier="12" offset="{offset}"/></joint>
<joint name="b" type="continuous"><parent link="base"/><child link="lb"/><axis xyz="0 0 1"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
MJCF = """<mujoco><option gravity="0 0 0"/><worldbody>
<body name="la"><joint name="a"/><geom size="0.1" mass="1"/></body>
<body name="lb"><joint name="b"/><geom size="0.1" mass="1"/></body></worldbody>
<equality><joint joint1="a" joint2="b" polycoef="{offset} 12 0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize(("suffix", "text"), [("urdf", URDF), ("xml", MJCF)])
def test_joints_of_robots_that_follow_others_start_with_their_turns(suffix, text, tmp_path):
    path = tmp_path / f"robot.{suffix}"
    path.write_text(text.format(links=LINK.format("la") + LINK.format("lb"), offset=1.5))
    mech = bc.load(path)
    mech.replace(mech.joints["b"], position=0.4)
    assert start_of(mech) == pytest.approx({"a": 12.0 * 0.4 + 1.5, "b": 0.4}, abs=1e-9)
