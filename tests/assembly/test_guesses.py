"""Guesses of joints: where they start about, left no further than constraints and limits require."""

import math

import numpy as np
import pytest
from rigs.placed_joints import arm, four_bar, starts

import bellcrank as bc
from bellcrank.analysis.statics import find_equilibrium
from bellcrank.io import dumps, schema

X, Y, Z = bc.symbol("x"), bc.symbol("y"), bc.symbol("z")


def angle(mech, name):
    return starts(mech, name)[0][0][0]


@pytest.mark.parametrize("guess", [0.3, -2.0, 4.0, 25.0])
def test_outside_loops_a_joint_starts_at_its_guess(guess):
    mech = arm({"guess": guess}, {"guess": 0.4, "velocity": 2.0})
    assert bc.assemble(mech).method == "joint positions"
    (first, second) = starts(mech, "h1", "h2")
    assert np.ravel(first) == pytest.approx([guess, 0.0], abs=1e-12)
    assert np.ravel(second) == pytest.approx([0.4, 2.0], abs=1e-12)


@pytest.mark.parametrize("crank", [0.6, 1.9, -2.5])
def test_a_loop_starts_at_a_guess_that_it_can_reach(crank):
    """As where the crank is stated exactly, but for the branch, which follows from the guess."""
    assert angle(four_bar({"guess": crank}), "pivot 1") == pytest.approx(crank, abs=1e-9)


def test_guesses_select_the_branch_of_a_loop():
    """The rocker of one crank angle on either side of the line to the crank's pin."""
    angles = [angle(four_bar({"position": 0.9}, {"guess": rocker}), "pivot 2") for rocker in (1.9, -2.4)]
    c, s = 0.12 * math.cos(0.9) - 0.40, 0.12 * math.sin(0.9)
    reach, turn = math.hypot(c, s), math.atan2(s, c)
    half = math.acos((reach**2 + 0.28**2 - 0.36**2) / (2 * reach * 0.28))
    assert angles[0] == pytest.approx(turn - half, abs=1e-9)
    assert math.remainder(angles[1] - turn - half, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_guesses_that_contradict_each_other_are_left_as_little_as_possible():
    """Two cranks of a parallelogram, which turn alike: they meet between the two guesses."""
    mech = bc.Mechanism("parallelogram", gravity=(0, 0, 0))
    for k, guess in enumerate((0.5, 0.6)):
        crank = mech.add_body(f"crank {k}", 1.0, (0.01, 0.01, 0.01), position=(float(k), 0, 0))
        mech.add_joint(f"pivot {k}", bc.Revolute(), mech.ground.marker((float(k), 0, 0)), crank, guess=guess)
    rod = mech.add_body("rod", 1.0, (0.01, 0.01, 0.01), position=(0.3, 0, 0))
    mech.add_joint("pin 0", bc.Revolute(), mech.bodies["crank 0"].marker((0.3, 0, 0)), rod)
    mech.add_joint("pin 1", bc.Revolute(), mech.bodies["crank 1"].marker((0.3, 0, 0)), rod.marker((1, 0, 0)))
    exact = mech.copy()
    for k, stated in enumerate((0.5, 0.6)):
        exact.replace(exact.joints[f"pivot {k}"], guess=(), position=stated)
    with pytest.raises(bc.AssemblyError):
        bc.assemble(exact)
    bc.assemble(mech)
    turned = [dict(mech.joints[f"pivot {k}"].guess)["theta_z"] for k in (0, 1)]
    assert turned[0] == pytest.approx(turned[1], abs=1e-9)
    assert 0.5 <= turned[0] <= 0.6


def test_a_guess_gives_way_to_a_limit_and_to_a_position():
    mech = arm({"guess": 0.2, "limits": bc.Limit(0.3, 1.0)}, {"position": 0.7})
    assert np.ravel([angle(mech, "h1"), angle(mech, "h2")]) == pytest.approx([0.3, 0.7], abs=1e-9)


def test_whole_turns_of_a_guess_give_way_to_a_gear():
    """Its phase is stated: the second wheel is twenty turns back, whatever is guessed of it."""
    mech = bc.Mechanism("gears", gravity=(0, 0, 0))
    for k, start in enumerate(({"position": 40 * math.pi}, {"guess": 0.0})):
        wheel = mech.add_body(f"w{k}", 1.0, (0.01, 0.01, 0.02), position=(float(k), 0, 0))
        mech.add_joint(f"j{k}", bc.Revolute(), mech.ground.marker((float(k), 0, 0)), wheel, **start)
    mech.add_constraint("mesh", bc.Coupling((1.0, 1.0), 0.0), "j0", "j1")
    assert angle(mech, "j1") == pytest.approx(-40 * math.pi, abs=1e-9)


@pytest.mark.parametrize(
    "mech",
    [arm({"guess": 4.0}, {"guess": -0.3}), four_bar({"guess": 0.8}, {"guess": 2.0})],
    ids=["arm", "loop"],
)
def test_assembling_twice_changes_nothing(mech):
    assert bc.assemble(mech).changed
    held = mech.copy()
    assert not bc.assemble(mech).changed
    assert mech == held
    for joint in mech.joints.values():
        if joint.guess:
            assert angle(mech, joint.name) == pytest.approx(joint.guess[0][1], abs=1e-9)


def test_a_guess_that_is_an_expression_stays_one_unless_it_changes():
    for limit, kept in ((bc.Limit(-1.0, 1.0), True), (bc.Limit(0.5, 1.0), False)):
        mech = arm()
        swing = mech.add_parameter("swing", 0.25)
        mech.replace(mech.joints["h1"], guess=2 * swing - 0.2, limits=limit)
        report = bc.assemble(mech)
        assert isinstance(dict(mech.joints["h1"].guess)["theta_z"], float) is not kept
        assert ("its guess was given by an expression" in " ".join(report.notes)) is not kept


def test_equilibrium_takes_guesses_along():
    mech = arm({"guess": 0.3}, {"guess": 0.2})
    find_equilibrium(mech)
    assert dict(mech.joints["h1"].guess)["theta_z"] == pytest.approx(math.pi / 2, abs=1e-6)
    assert angle(mech, "h1") == pytest.approx(math.pi / 2, abs=1e-6)


def test_a_coordinate_has_a_position_or_a_guess():
    with pytest.raises(bc.MechanismError, match="exactly at its position, or about at its guess, not both"):
        arm({"guess": 0.3, "position": 0.3})
    with pytest.raises(bc.MechanismError, match="the guess must have a number for each free coordinate"):
        arm({"guess": (0.3, 0.4)})


@pytest.mark.parametrize("name", ["yaml", "json"])
def test_files_hold_guesses(name):
    mech = bc.loads(
        """
bellcrank: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}
joints:
  hinge: {type: Revolute, first: ground, second: a, guess: 30 deg}
  bolt: {type: Cylindrical, first: ground, second: b, position: {z: 1 mm}, guess: {theta_z: 2}}
""",
        "yaml",
    )
    assert dict(mech.joints["hinge"].guess) == {"theta_z": pytest.approx(math.pi / 6)}
    assert mech.joints["bolt"].guess == (("theta_z", 2.0),)
    assert bc.loads(dumps(mech, name), name) == mech
    assert "guess" in schema()["$defs"]["joint Revolute"]["properties"]


def euler(start=None, rotation=(1, 0, 0, 0), guess=None, limits=()):
    """A body on a joint that turns about z, y and z: at y = 0 the two turns about z are one."""
    mech = bc.Mechanism("euler", gravity=(0, 0, 0))
    body = mech.add_body("body", 1.0, (0.1, 0.2, 0.3), rotation=rotation)
    from bellcrank.expression import rotation_y, rotation_z

    kind = bc.CustomJoint((X, Y, Z), rotation_z(X) @ rotation_y(Y) @ rotation_z(Z), "rad")
    mech.add_joint("euler", kind, mech.ground, body, limits, start, guess=guess)
    return mech


def coordinates(mech):
    bc.assemble(mech)
    system = bc.prepare(mech)
    values = system.model.coordinate_values(system.state())
    return values[list(system.model.joint("euler").coordinates)]


@pytest.mark.parametrize("which", ["start", "guess"])
@pytest.mark.parametrize("given", [{"y": 0.5}, {"x": 0.5}, {"x": 0.5, "y": 0.1}, {"y": -0.7, "z": 2.5}])
def test_what_is_not_given_of_a_joint_at_a_pole_stays(which, given):
    expected = [given.get(name, 0.0) for name in "xyz"]
    assert coordinates(euler(**{which: given})) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("given", [None, {"y": 0.5}])
@pytest.mark.parametrize(("axis", "turn"), [("x", 0.3), ("y", -0.4), ("z", 0.6), ("x", 2.9)])
def test_poses_beside_a_pole_are_found_without_running_away(given, axis, turn):
    """The pose follows from the coordinates that were found, none of which turns more than half round."""
    found = coordinates(euler(given, bc.rotation(axis, turn)))
    assert np.max(np.abs(found)) <= math.pi + 1e-9
    mech = euler(
        dict(zip("xyz", found, strict=True)) if abs(found[1]) > 1e-3 else None, bc.rotation(axis, turn)
    )
    assert coordinates(mech) == pytest.approx(found, abs=1e-8)
    if given:
        assert found[1] == pytest.approx(0.5, abs=1e-9)
    else:
        assert abs(np.dot(mech.bodies["body"].rotation, bc.rotation(axis, turn))) == pytest.approx(
            1, abs=1e-12
        )


def test_a_joint_at_a_pole_starts_at_its_limit():
    found = coordinates(euler(limits={"y": bc.Limit(0.5, 1.0)}, guess={"y": 0.5}))
    assert found == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)
