"""Joints at a point of the world: markers follow from where the bodies are described."""

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.mechanism.rotation import matrix

AT = (0.4, -0.2, 0.7)
YAML = """
bellcrank: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1], position: [0.3, 0, 0.5], rotation: {axis: [1, 2, 3], angle: 70 deg}}
  b: {mass: 2, inertia: [1, 1, 1], position: [-0.1, 0.4, 1], rotation: {axis: [0, 2, -1], angle: 20 deg}}
  c: {mass: 1, inertia: [1, 1, 1]}
joints:
"""
BODIES = bc.loads(YAML)


def placed(mechanism, marker):
    """Position and axes of a marker in the world."""
    carrier = mechanism.ground if marker.body == "ground" else mechanism.bodies[marker.body]
    turn = matrix(carrier.rotation)
    return np.array(carrier.position) + turn @ np.array(marker.position), turn @ matrix(marker.rotation)


@pytest.mark.parametrize("kind", [bc.Revolute(), bc.Prismatic(), bc.Universal(), bc.Fixed(), bc.Spherical()])
def test_markers_lie_at_the_point_with_the_same_axes(kind):
    mech = BODIES.copy()
    joint = mech.join("P", kind, ["a", mech.bodies["b"]], AT, axis=(1, 1, 0), x_axis=(0, 0, 1))
    assert mech.joints == {"P": joint}
    for marker in (joint.marker_1, joint.marker_2):
        position, axes = placed(mech, marker)
        np.testing.assert_allclose(position, AT, atol=1e-15)
        np.testing.assert_allclose(axes[:, 2], np.array([1, 1, 0]) / np.sqrt(2), atol=1e-15)
        np.testing.assert_allclose(axes[:, 0], [0, 0, 1], atol=1e-15)


def test_nothing_moves_when_it_is_assembled():
    mech = BODIES.copy()
    mech.join("hip", bc.Revolute(), [mech.ground, "a"], (0.3, 0, 0.5), "y")
    mech.join("knee", bc.Revolute(), ["a", "b"], AT, "-y", position=0.0, velocity=0.5)
    before = [body.position for body in mech.bodies.values()]
    bc.assemble(mech)
    np.testing.assert_allclose([body.position for body in mech.bodies.values()], before, atol=1e-14)
    assert mech.joints["knee"].velocity == (("theta_z", 0.5),)


def test_several_bodies_at_one_pin_hang_on_the_first():
    """The loads of one pin through three bars, against the same pin with joints made by hand."""
    joined, by_hand = BODIES.copy(), BODIES.copy()
    joint = joined.join("P", bc.Revolute(), ["ground", "a", "b", "c"], AT, axis="y")
    assert list(joined.joints) == ["P", "P b", "P c"]
    assert (joint.name, joint.marker_2.body) == ("P", "a")
    for name, body in (("P", "a"), ("P b", "b"), ("P c", "c")):
        marker = by_hand.bodies[body].world_marker(AT, axis="y")
        by_hand.add_joint(name, bc.Revolute(), by_hand.ground.marker(AT, axis="y"), marker)
    assert joined == by_hand
    assert bc.info(joined).freedom == 3


def test_motors_bring_their_drives():
    mech = BODIES.copy()
    joint = mech.join("P", bc.RevoluteMotor(velocity=2.0), ["ground", "a"], AT, "z", limits=bc.Limit(-1, 9))
    assert joint.limits == (("theta_z", bc.Limit(-1, 9)),)
    assert list(mech.drives) == ["P"]


def test_parameters_and_units():
    mech = BODIES.copy()
    reach = mech.add_parameter("reach", 0.25, "m")
    mech.join("P", bc.Spherical(), ["ground", "b"], (reach, 0.0, "12 cm"))
    moved = mech.with_parameters(reach=0.5)
    numbers = bc.mechanism.contents.with_numbers(moved)
    np.testing.assert_allclose(placed(numbers, numbers.joints["P"].marker_2)[0], (0.5, 0, 0.12), atol=1e-15)


def test_all_faults_at_once_and_nothing_is_added():
    mech = BODIES.copy()
    with pytest.raises(bc.MechanismError) as refused:
        mech.join("P", bc.Revolute(), ["a", "aa", "a", 3], (0, 0), axis=(0, 0, 0))
    text = str(refused.value)
    for part in (
        "there is no body of this name, got 'aa'", "the same body is named twice, got 'a'",
        "a body is needed here, got 3", "at must", "axis must be a direction",
    ):  # fmt: skip
        assert f"joint 'P': {part}" in text
    for wrong, message in (
        ({"bodies": ["a"]}, "joins two bodies or more"),
        ({"bodies": "a"}, "joins two bodies or more"),
        ({"bodies": ["a", "b", "c"], "limits": bc.Limit(0, 1)}, "limits cannot be given for several joints"),
        ({"at": (0, 0)}, "joint 'P': at must"),
        ({"kind": "Revolute"}, "the kind"),
    ):
        given = {"kind": bc.Revolute(), "bodies": ["a", "b"], "at": AT} | wrong
        with pytest.raises(bc.MechanismError, match=message):
            mech.join("P", **given)
    mech.join("P b", bc.Revolute(), ["a", "b"], AT)
    with pytest.raises(bc.MechanismError, match="joint 'P b': this name is taken"):
        mech.join("P", bc.Revolute(), ["ground", "a", "b"], AT)
    assert list(mech.joints) == ["P b"]


def test_files_and_the_shell_say_the_same(tmp_path):
    joint = "P: {type: Revolute, bodies: [ground, a, b], at: [40 cm, -0.2, 0.7], axis: y}"
    mech = BODIES.copy()
    mech.join("P", bc.Revolute(), ["ground", "a", "b"], AT, "y")
    read = bc.loads(f"{YAML}  {joint}\n")
    assert read == mech
    bc.save(read, tmp_path / "again.yaml")
    assert bc.load(tmp_path / "again.yaml") == mech

    from bellcrank.shell.interpreter import Shell

    bc.save(BODIES, tmp_path / "bodies.yaml")
    shell = Shell()
    for line in (
        f"load {tmp_path / 'bodies.yaml'}",
        "join P Revolute ground a b at=[40 cm, -0.2, 0.7] axis=y",
    ):
        reply = shell.execute(line)
        assert reply.ok, reply.text
    assert shell.session.mechanism == mech


def test_faults_in_files_have_their_lines():
    joint = "P: {type: Revolute, bodies: [ground, d], att: [1, 0, 0]}"
    with pytest.raises(bc.MechanismError) as refused:
        bc.loads(f"{YAML}  {joint}\n  Q: {{type: Revolute, bodies: [a], at: [0, 0, 0]}}\n")
    text = str(refused.value)
    assert "there is no body of this name, got 'd'" in text
    assert "this key is not known, got 'att'" in text
    assert "the key 'at' is missing" in text
    assert "joins two bodies or more" in text
    with pytest.raises(bc.MechanismError, match="or give 'bodies' and 'at'"):
        bc.loads(f"{YAML}  P: {{type: Revolute, first: a}}\n")
