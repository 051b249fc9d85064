"""Mechanisms that one axis in a wrong direction holds still: who says so, and where nothing is said."""

import pytest

import bellcrank as bc

PINS = ((0, 0, 0), (0, 1, 0), (1.5, 1.2, 0), (2, 0, 0))


def four_bar(axis="z", which=2, driven=False, turn=None):
    mech = bc.Mechanism("four bar", gravity=(0, -9.81, 0))
    bodies = [mech.add_body(name, 1.0, (1, 1, 1)) for name in "abc"]
    around = [mech.ground, *bodies, mech.ground]
    for k, point in enumerate(PINS):
        mech.join(f"j{k}", bc.Revolute(), around[k : k + 2], at=point, axis=axis if k == which else "z")
    if driven:
        mech.add_drive("motor", "j0", velocity=1.0)
    return mech if turn is None else turned(mech, turn)


def turned(mech, turn):
    other = bc.Mechanism(mech.name)
    other.place(mech, "p", rotation=turn)
    return other


def slider_crank(axis):
    mech = bc.Mechanism("slider crank", gravity=(0, -9.81, 0))
    a, b, c = (mech.add_body(name, 1.0, (1, 1, 1)) for name in "abc")
    for name, pair, point in (
        ("j0", (mech.ground, a), (0, 0, 0)), ("j1", (a, b), (0.3, 1, 0)), ("j2", (b, c), (2, 0, 0))
    ):  # fmt: skip
        mech.join(name, bc.Revolute(), pair, at=point, axis="z")
    mech.join("slide", bc.Prismatic(), [mech.ground, c], at=(2, 0, 0), axis=axis)
    return mech


@pytest.mark.parametrize(("axis", "angle"), [("x", "90°"), ((0, 0.01, 1), "0.573°"), ((0, 1, 1), "45°")])
def test_a_hinge(axis, angle):
    found = bc.info(four_bar(axis))
    assert found.freedom == 0
    assert found.hints[0].startswith("the axis of joint 'j2' points along (")
    assert f"{angle} off what is parallel to the hinges around it, such as (0, 0, 1)" in found.hints[0]
    assert found.hints[0].endswith("with that axis 1 degree of freedom would be left")
    assert f"  hint         {found.hints[0]}" in str(found)


@pytest.mark.parametrize("axis", ["z", (1, 0, 0.02)])
def test_a_slide(axis):
    assert "the axis of joint 'slide'" in bc.info(slider_crank(axis)).hints[0]


def test_in_any_orientation():
    hint = bc.info(four_bar("x", turn=bc.rotation(rpy=(0.3, 0.4, 0.5)))).hints[0]
    assert "the axis of joint 'p/j2'" in hint
    assert "90° off" in hint


def test_nothing_is_said_of_what_moves_or_is_meant_to_be_rigid():
    assert bc.info(four_bar()).hints == ()
    assert bc.info(four_bar(driven=True)).hints == ()
    assert bc.info(slider_crank("x")).hints == ()
    frame = bc.Mechanism("frame")
    a, b = frame.add_body("a", 1.0, (1, 1, 1)), frame.add_body("b", 1.0, (1, 1, 1))
    for k, pair in enumerate(((frame.ground, a), (a, b), (b, frame.ground))):
        frame.join(f"j{k}", bc.Revolute(), pair, at=PINS[k], axis="z")
    found = bc.info(frame)
    assert (found.freedom, found.hints) == (0, ())


def test_simulate_and_kinematics():
    run = bc.simulate(four_bar("x"), 0.1)
    assert run.status == "finished"
    assert run.status.message.startswith("nothing could move: the axis of joint 'j2'")
    assert bc.simulate(four_bar(), 0.1).status.message == ""
    for analysis in (bc.simulate, bc.kinematics):
        with pytest.raises(bc.AssemblyError, match=r"hold still what drive 'motor' would move: the axis of"):
            analysis(four_bar("x", driven=True), 0.1)
