"""Mechanisms come back from each format with equal accelerations; what a format lacks is listed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rigs import examples
from rigs.random_mechanisms import kinds, random_mechanism
from rigs.there_and_back import EXAMPLES, FORMATS, WRITERS, difference, of_example, of_mujoco, there_and_back
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank import gallery
from bellcrank.expression import rotation_x, rotation_y, rotation_z, symbol, translation
from bellcrank.io import files
from bellcrank.io.robots import outline
from bellcrank.mechanism.contents import Contents

KINDS = (
    *("Revolute", "Revolute", "RevoluteX", "Prismatic", "Cylindrical", "Universal", "PlungingUniversal"),
    *("Planar", "PinInSlot", "Oldham", "ParallelAxes", "Orientation", "Fixed", "Chain", "Chain"),
)
BALLS = ("Spherical", "PointOnLine", "PointOnPlane", "Free", "Free")
ACTING = (
    *("Brake", "Cable", "Coupling", "GearedMotor", "JointFriction", "JointMotor", "SpringDamper"),
    *("TorsionSpring", "Wrench"),
)
NAMES = ("world", "arm", "arm (ground)", "a/b", 'x<&">', "é ü", "arm 1", "arm.tip", "start")


def chain(rng):
    """Two to six hinges and slides one after the other, about and along any axes."""
    turns = (rotation_x, rotation_y, rotation_z)
    names = [f"q{k}" for k in range(int(rng.integers(2, 5)))]
    symbols = tuple(symbol(name) for name in names)
    pose, units = translation(0.0, 0.0, 0.0), []
    for one in symbols:
        pose = (
            pose @ translation(*rng.uniform(-0.2, 0.2, 3)) @ turns[rng.integers(3)](float(rng.uniform(-1, 1)))
        )
        if rng.random() < 0.7:
            pose = pose @ turns[rng.integers(3)](one)
            units.append("rad")
        else:
            axis = np.eye(3)[rng.integers(3)]
            pose = pose @ translation(*(float(c) * one for c in axis))
            units.append("m")
    return bc.CustomJoint(symbols, pose, tuple(units))


def writable(seed, balls=True):
    """The mechanism of this seed, without ball joints and loops if `balls` is False."""
    rng = np.random.default_rng(seed)
    mech = bc.Mechanism(
        f"writable {seed}", gravity=tuple(rng.normal(0.0, 5.0, 3)) if seed % 3 else (0, 0, -9.81)
    )
    names = list(rng.permutation(NAMES))
    bodies = [mech.ground]
    for k in range(int(rng.integers(1, 6))):
        name = str(names.pop()) if rng.random() < 0.5 else f"body {k}"
        points = rng.normal(size=(5, 3)) * 0.2 * rng.choice([1.0, 1.0, 0.0], 3)
        second = points.T @ points + 1e-4 * np.eye(3) * (rng.random() < 0.8)
        inertia = np.trace(second) * np.eye(3) - second
        broken = rng.random() < 0.1
        if broken or np.linalg.eigvalsh(inertia)[0] < 1e-6:
            axes = Rotation.from_quat(rng.normal(size=4)).as_matrix()
            inertia, broken = axes @ np.diag([0.01, 0.02, 0.05]) @ axes.T, True
        bodies.append(
            mech.add_body(
                name,
                float(rng.uniform(0.5, 2.0)),
                0.5 * (inertia + inertia.T),
                tuple(rng.uniform(-0.2, 0.2, 3)),
                tuple(rng.uniform(-1, 1, 3)),
                tuple(np.roll(Rotation.from_quat(rng.normal(size=4)).as_quat(), 1)),
                tuple(rng.normal(size=3)),
                tuple(rng.normal(size=3)),
                check_inertia=not broken,
            )
        )
    kinds = KINDS + (BALLS if balls else ())
    for k, body in enumerate(bodies[1:]):
        if rng.random() < 0.15:
            continue
        _join(mech, rng, f"joint {k}", kinds[rng.integers(len(kinds))], bodies[rng.integers(k + 1)], body)
    _acting(mech, rng)
    return mech


def _join(mech, rng, name, kind, one, two):
    made = chain(rng) if kind == "Chain" else examples.joint(kind)
    ends = [body.marker(tuple(rng.uniform(-0.3, 0.3, 3)), tuple(rng.normal(size=3))) for body in (one, two)]
    if rng.random() < 0.4:
        ends.reverse()
    spherical = any(free.startswith("rot_") for free in made.free)
    several = [free for free in made.free if not free.startswith("rot_")]
    position = {free: float(rng.uniform(-1.0, 1.0)) for free in several} if rng.random() < 0.6 else {}
    if not spherical and position and made.custom is None and rng.random() < 0.2 and "theta_z" in position:
        position["theta_z"] += 2 * np.pi
    velocity = {free: float(rng.uniform(-1.0, 1.0)) for free in several} if rng.random() < 0.5 else {}
    limits = {}
    if several and rng.random() < 0.3:
        free = several[rng.integers(len(several))]
        low = position.get(free, 0.0) - 0.5
        limits[free] = bc.Limit(low, low + 9.0) if rng.random() < 0.5 else bc.Limit(low - 9.0)
    mech.add_joint(name, made, *ends, limits, position or None, velocity or None)


def _acting(mech, rng):
    free = [(j.name, c) for j in mech.joints.values() for c in j.kind.free if not c.startswith("rot_")]
    inputs = [bc.Input(name, value) for name, value in (("u", 0.0), ("v", 0.7), ("push", -2.0))]
    for k in range(int(rng.integers(0, 6))):
        if not free:
            break
        joint, coordinate = free[rng.integers(len(free))]
        force = inputs[rng.integers(3)]
        kinds = (
            bc.TorsionSpring(2.0, 0.3, 0.2), bc.TorsionSpring(0.0, 0.3), bc.JointFriction(0.2, 0.5),
            bc.JointFriction(0.2, 0.5, regularisation_velocity=0.3), bc.JointMotor(2.0 * force + 0.5, 0.1),
            bc.JointMotor(bc.Harmonic(1.0, 2.0)), bc.GearedMotor(5.0, 0.01, force, 0.02),
            bc.GearedMotor(5.0, 0.01, bc.Constant(0.3)), bc.GearedMotor(-3.0, 0.02),
            bc.GearedMotor(2.0, 0.1, force), bc.Brake(0.3), bc.TorsionSpring(2.0, 0.0, None),
            bc.JointMotor(3.0),
        )  # fmt: skip
        mech.add_force(f"it {k}", kinds[rng.integers(len(kinds))], joint=joint, coordinate=coordinate)
    bodies = [mech.ground, *mech.bodies.values()]
    for k in range(int(rng.integers(0, 3))):
        one, two = (
            bodies[i].marker(tuple(rng.uniform(-0.5, 0.5, 3))) for i in rng.choice(len(bodies), 2, False)
        )
        if rng.random() < 0.6:
            mech.add_force(
                f"rope {k}", bc.SpringDamper(3.0, 0.2, 0.3 if rng.random() < 0.7 else None), one, two
            )
        else:
            mech.add_force(f"push {k}", bc.Wrench((1.0, 0.0, 2.0)), two if two.body != "ground" else one)
        if rng.random() < 0.4:
            mech.add_constraint(f"rope {k}", bc.Cable(length=30.0, slack=True), one, two)
    turns = [one for one in free if one[1].startswith("theta")]
    if len(turns) > 1 and rng.random() < 0.5:
        ends = [mech.joints[j].coordinate(c) for j, c in turns[:3]]
        held = [mech.joints[j] for j, _ in turns[:3]]
        if not any(joint.position or joint.velocity for joint in held):
            mech.add_constraint("gear", bc.Coupling((1.0, -2.0, 0.5)[: len(ends)], 0.3), *ends)


SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("[0-9]*.py"))
NEAR = 1e-7  # relative; contacts of curved surfaces are found to less than rounding


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", gallery.catalogue())
def test_the_gallery(name, suffix, tmp_path):
    found = there_and_back(gallery.catalogue()[name](), suffix, tmp_path)
    assert found is None or difference(*found[:2]) < NEAR


@pytest.mark.parametrize("name", SCRIPTS)
def test_examples(name, monkeypatch, tmp_path):
    made = of_example(name, monkeypatch)
    assert made
    for k, mech in enumerate(made):
        for suffix in FORMATS:
            folder = tmp_path / f"{k}"
            folder.mkdir(exist_ok=True)
            found = there_and_back(mech, suffix, folder)
            assert found is None or difference(*found[:2]) < NEAR, (mech, suffix)


@pytest.mark.parametrize("seed", range(3))
def test_random_mechanisms(seed, tmp_path):
    for suffix in FORMATS:
        found = there_and_back(random_mechanism(seed), suffix, tmp_path)
        assert found is None or difference(*found[:2], seed) < NEAR


WRITTEN = {"xml": (344, 347, 128, 116, 5, 258), "urdf": (236, 73, 64, 112, 133)}
"""Few seeds whose mechanisms have all kinds that `writable` chooses from."""


@pytest.mark.parametrize("suffix", WRITTEN)
def test_random_mechanisms_of_what_formats_have(suffix, tmp_path):
    """Of every kind of joint, constraint and force that there is in them; nothing of them is refused."""
    covered = set()
    for seed in WRITTEN[suffix]:
        mech = writable(seed, suffix == "xml")
        covered |= kinds(mech)
        found = there_and_back(mech, suffix, tmp_path)
        assert found is not None, seed
        assert difference(*found[:2], seed) < NEAR, seed
    joints = {*KINDS, *BALLS} if suffix == "xml" else set(KINDS)
    assert covered == joints - {"Chain"} | {"CustomJoint", *ACTING}


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*gallery.catalogue(), *map(str, WRITTEN["xml"])])
def test_mujoco_has_the_same_accelerations_at_the_start(name, tmp_path):
    """With inputs at their values; MuJoCo refuses only what is listed."""
    pytest.importorskip("mujoco")
    mech = writable(int(name)) if name.isdigit() else gallery.catalogue()[name]()
    found = there_and_back(mech, "xml", tmp_path)
    if found is None:
        return
    accelerations = of_mujoco(tmp_path / "mech.xml", mech)
    if accelerations is None:
        assert any("MuJoCo takes no mass" in fault.rule for fault in found[2])
        return
    ours, theirs = accelerations
    assert np.abs(ours - theirs).max(initial=0.0) < NEAR * max(1.0, np.abs(ours).max(initial=0.0))


TWO_HINGES = """<mujoco><worldbody><body name="a"><joint name="x" axis="1 0 0"/><joint name="y" axis="0 1 0"/>
<geom type="capsule" size=".05" fromto="0 0 0 1 0 0"/></body></worldbody></mujoco>"""


def arm(**given):
    """A body on a hinge with velocity 3 rad/s."""
    mech = bc.Mechanism("arm", **given)
    body = mech.add_body("a", 1.0, np.eye(3) * 0.1)
    mech.add_joint(
        "j", bc.Revolute(), mech.ground.marker(axis="y"), body.marker((-1, 0, 0), axis="y"), velocity=3.0
    )
    return mech


def elements(left):
    return [fault.element for fault in left]


@pytest.mark.parametrize("suffix", WRITERS)
def test_chains_of_hinges_stay_chains(tmp_path, suffix):
    """Also after many ways there and back, with the names that they had."""
    path = tmp_path / "mech.xml"
    path.write_text(TWO_HINGES)
    mech = bc.load(path)
    for _ in range(3):
        assert bc.save(mech, tmp_path / f"again.{suffix}") == ()
        again = bc.load(tmp_path / f"again.{suffix}")
        (joint,) = again.joints.values()
        assert joint.kind.free == ("x", "y")
        assert bc.info(again).freedom == 2
        mech = again


@pytest.mark.parametrize("suffix", WRITERS)
def test_joints_that_are_no_chains_are_refused_in_trees_and_in_loops(tmp_path, suffix):
    with pytest.raises(bc.MechanismError, match="joint 'rear contact': its motion is not made of turns"):
        bc.save(gallery.benchmark_bicycle(), tmp_path / f"bicycle.{suffix}")
    mech = arm()
    s = bc.symbol("s")
    wire = bc.PathJoint(s, (s, s * s, 0.1 * s), up=(0, 0, 1))
    mech.add_joint("wire", wire, mech.ground.marker(), mech.bodies["a"].marker())
    with pytest.raises(bc.MechanismError, match="joint 'wire'"):
        bc.save(mech, tmp_path / f"wire.{suffix}")
    assert not list(tmp_path.iterdir())


def test_loops_are_closed_by_the_joints_that_can(tmp_path):
    """Whatever the order of the joints: a slide stays in the tree, and a hinge closes the loop."""
    mech = gallery.slider_crank()
    for order in (1, -1):
        turned = mech.copy()
        turned._joints = dict(list(mech.joints.items())[::order])
        assert bc.save(turned, tmp_path / "crank.xml") == ()
        assert bc.info(bc.load(tmp_path / "crank.xml")).freedom == 1


@pytest.mark.parametrize("suffix", WRITERS)
def test_gravity_and_start_are_in_the_file_or_listed(tmp_path, suffix):
    mech = arm(gravity=(0, 0, -1.62))
    left = bc.save(mech, tmp_path / f"moon.{suffix}")
    again = bc.load(tmp_path / f"moon.{suffix}")
    if suffix == "urdf":
        assert elements(left) == ["gravity", "start"]
        return
    assert left == ()
    assert again.gravity == mech.gravity
    states = [bc.prepare(one).state() for one in (mech, again)]
    np.testing.assert_allclose(states[0].angular_velocity, states[1].angular_velocity, atol=1e-14)
    np.testing.assert_allclose(states[0].velocity, states[1].velocity, atol=1e-14)
    earth = arm()
    earth.replace(earth.joints["j"], velocity=())
    assert bc.save(earth, tmp_path / "earth.urdf") == ()


def test_whole_turns_and_inputs_start_as_they_did(tmp_path):
    mech = arm()
    mech.replace(mech.joints["j"], position=20.0)
    force = bc.Input("push", 2.5)
    mech.add_force("motor", bc.JointMotor(3.0 * force + 1.0), joint="j")
    mech.add_force("spring", bc.TorsionSpring(1.0, 0.0, 19.0), joint="j")
    _, again, left = there_and_back(mech, "xml", tmp_path)
    assert left == []
    assert dict(again.joints["j"].position)["theta_z"] == pytest.approx(20.0)
    assert bc.prepare(again).inputs["push"] == 2.5
    found = [bc.prepare(one, "lagrange").accelerate().body("a").angular for one in (mech, again)]
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)


def test_a_key_frame_of_another_name_stays_listed(tmp_path):
    path = tmp_path / "mech.xml"
    key = '<keyframe><key name="{}" qpos="1 0.5"/></keyframe></mujoco>'
    path.write_text(TWO_HINGES.replace("</mujoco>", key.format("home")))
    assert "key 'home'" in elements(bc.load(path).left_out)
    assert bc.load(path).bodies["a"].rotation == (1.0, 0.0, 0.0, 0.0)
    path.write_text(TWO_HINGES.replace("</mujoco>", key.format("start")))
    assert bc.load(path).left_out == ()
    assert dict(bc.load(path).joints["a"].position) == {"x": 1.0, "y": 0.5}
    path.write_text(TWO_HINGES.replace("</mujoco>", key.format("start").replace("0.5", "0.5 3")))
    assert [fault.rule for fault in bc.load(path).left_out] == [
        "its qpos is not about what was read, which has 2 numbers"
    ]


@pytest.mark.parametrize("suffix", WRITERS)
def test_equal_and_odd_names_do_not_meet(tmp_path, suffix):
    """A force and a constraint, a body and the world, a body and a link of a chain, joints, markers."""
    mech = arm()
    names = ("world", "a (ground)", "world 1", 'x<&">', "a.tip", "a 1", "s 1")
    for k, name in enumerate(names):
        body = mech.add_body(name, 1.0, np.eye(3) * 0.1, position=(k, 1, 0))
        if k % 2:
            mech.add_joint(f"world {k}", bc.Cylindrical(), mech.bodies["a"].marker(), body.marker())
    ends = mech.ground.marker((0, 0, 1), name="world"), mech.bodies["a"].marker((1, 0, 0), name="tip")
    mech.add_marker(mech.bodies["world"].marker(name="a"))
    mech.add_marker(mech.bodies["world"].marker(name="tip"))
    mech.add_force("s", bc.SpringDamper(10.0, 1.0, 0.5), *ends)
    mech.add_constraint("s", bc.Cable(length=9.0, slack=True), *ends)
    mech.add_constraint(
        "t",
        bc.Coupling((1.0, 2.0), 0.0),
        mech.joints["j"].coordinate(),
        mech.joints["world 1"].coordinate("theta_z"),
    )
    written, again, left = there_and_back(mech, suffix, tmp_path)
    assert "body 'world'" in elements(left)
    assert bc.info(again).freedom == bc.info(written.mechanism).freedom
    assert len(again.bodies) == len(mech.bodies)
    text = (tmp_path / f"mech.{suffix}").read_text()
    for tag in ("link", "body", "joint", "site", "connect", "spatial"):
        found = re.findall(rf'<{tag} name="([^"]*)"', text)
        assert len(found) == len(set(found)), tag


@pytest.mark.parametrize("suffix", WRITERS)
def test_joints_that_hold_nothing_are_listed(tmp_path, suffix):
    """Their limits, forces and starts come back where the format has them."""
    mech = bc.Mechanism("free", gravity=(0, 0, -9.81))
    one, two = (mech.add_body(name, 1.0, np.eye(3) * 0.1) for name in ("one", "two"))
    mech.add_joint(
        "seen", bc.Free(), mech.ground.marker(), one.marker(), position={"z": 0.5}, velocity={"x": 2.0}
    )
    assert "joint 'seen'" in elements(bc.save(mech, tmp_path / f"seen.{suffix}"))
    again = bc.load(tmp_path / f"seen.{suffix}")
    assert bc.info(again).freedom == 12
    mech.add_joint("held", bc.Free(), one.marker(), two.marker(), {"z": bc.Limit(-0.1, 0.4, 0.3)})
    mech.add_force("pull", bc.TorsionSpring(20.0, 0.1, 0.2), joint="held", coordinate="z")
    left = elements(bc.save(mech, tmp_path / f"held.{suffix}"))
    again = bc.load(tmp_path / f"held.{suffix}")
    assert bc.info(again).freedom == 12
    if suffix == "urdf":
        assert {"force 'pull'", "joint 'held'"} <= set(left)
    else:
        assert "force 'pull'" not in left
        assert "joint 'held'" in left  # its restitution
        assert len([limit for joint in again.joints.values() for limit in joint.limits]) == 1


@pytest.mark.parametrize("suffix", WRITERS)
def test_restitution_and_limits_of_other_coordinates_are_listed(tmp_path, suffix):
    mech = arm()
    mech.replace(mech.joints["j"], limits={"theta_z": bc.Limit(-1.0, 1.0, 0.5)})
    assert "joint 'j'" in elements(bc.save(mech, tmp_path / f"j.{suffix}"))
    mech.replace(mech.joints["j"], limits={"theta_z": bc.Limit(-1.0, 1.0)}, velocity=())
    assert bc.save(mech, tmp_path / f"j.{suffix}") == ()


def test_bodies_that_are_fixed_are_listed(tmp_path):
    """Read back, they are one with what they are fixed to."""
    mech = arm()
    base = mech.add_body("base", 3.0, np.eye(3))
    mech.add_joint("base (ground)", bc.Fixed(), mech.ground.marker(), base.marker())
    tool = mech.add_body("tool", 0.5, np.eye(3) * 0.01, position=(1, 0, 0))
    mech.add_joint("flange", bc.Fixed(), mech.bodies["a"].marker((1, 0, 0)), tool.marker())
    assert {"joint 'base (ground)'", "joint 'flange'"} <= set(elements(bc.save(mech, tmp_path / "a.xml")))
    assert list(bc.load(tmp_path / "a.xml").bodies) == ["a"]
    assert "joint 'base (ground)'" not in elements(bc.save(mech, tmp_path / "a.urdf"))
    assert sorted(bc.load(tmp_path / "a.urdf").bodies) == ["a", "base"]


@pytest.mark.parametrize("moments", [(1.0, 1.0, 2.0 + 1e-10), (0.3, 0.4, 0.7), (1.0, 1.0, 3.0), (1e-16,) * 3])
def test_inertias_that_mujoco_refuses(tmp_path, moments):
    """Those at the edge are written as MuJoCo takes them; what is changed or refused is listed."""
    mech = bc.Mechanism("m")
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    inertia = (turn * moments) @ turn.T
    mech.add_body("a", 1.0, 0.5 * (inertia + inertia.T), check_inertia=False)
    left = bc.save(mech, tmp_path / "mech.xml")
    assert elements(left) == (["body 'a'"] if moments[2] in (3.0, 1e-16) else [])
    mujoco = pytest.importorskip("mujoco")
    if moments[0] < 1e-15:
        with pytest.raises(ValueError, match="inertia"):
            mujoco.MjModel.from_xml_path(str(tmp_path / "mech.xml"))
    else:
        assert of_mujoco(tmp_path / "mech.xml", mech) is not None


@pytest.mark.parametrize("suffix", WRITERS)
def test_particles_do_not_turn_in_files_either(tmp_path, suffix):
    mech = arm()
    mech.add_body("p", 0.2, np.zeros((3, 3)), com=(0.1, 0, 0), position=(1, 0, 1), velocity=(0, 1, 0))
    _, again, left = there_and_back(mech, suffix, tmp_path)
    assert "body 'p'" in elements(left)
    assert bc.info(again).freedom == bc.info(mech).freedom == 4


def test_motors_that_are_left_out_leave_nothing_behind(tmp_path):
    """Neither their rotors nor their droop."""
    mech = arm()
    mech.add_force("clock", bc.GearedMotor(5.0, 0.01, bc.Harmonic(1.0, 2.0), 0.02), joint="j")
    assert elements(bc.save(mech, tmp_path / "a.xml")) == ["force 'clock'"]
    assert "armature" not in (tmp_path / "a.xml").read_text()
    assert "force 'clock'" in elements(bc.save(mech, tmp_path / "a.urdf"))


def test_couplings_share_no_follower(tmp_path):
    """A joint of URDF follows one other: the second coupling makes the other joint follow, or is listed."""
    mech = bc.Mechanism("m")
    ends = []
    for k in range(3):
        body = mech.add_body(f"b{k}", 1.0, np.eye(3) * 0.1)
        joint = mech.add_joint(f"j{k}", bc.Revolute(), mech.ground.marker((k, 0, 0)), body.marker())
        ends.append(joint.coordinate())
    mech.add_constraint("one", bc.Coupling((1.0, 2.0), 0.0), ends[0], ends[1])
    mech.add_constraint("two", bc.Coupling((1.0, 3.0), 0.0), ends[0], ends[2])
    assert bc.save(mech, tmp_path / "a.urdf") == ()
    assert bc.info(bc.load(tmp_path / "a.urdf")).freedom == 1


def test_trees_too_deep_for_xml_are_refused(tmp_path):
    mech = bc.Mechanism("deep")
    above = mech.ground
    for k in range(230):
        body = mech.add_body(f"b{k}", 1.0, np.eye(3) * 0.1, position=(k, 0, 0))
        mech.add_joint(f"j{k}", bc.Revolute(), above.marker((1.0, 0, 0) if k else (0, 0, 0)), body.marker())
        above = body
    with pytest.raises(bc.MechanismError, match="nests too deep"):
        bc.save(mech, tmp_path / "a.xml")
    assert bc.save(mech, tmp_path / "a.urdf") == ()


LOSSES = {
    "a joint": lambda mech: mech.remove(mech.joints["j"]),
    "a mass": lambda mech: mech.replace(mech.bodies["a"], mass=1.1),
    "gravity": lambda mech: setattr(mech, "gravity", (0.0, 0.0, -9.8)),
    "a velocity": lambda mech: mech.replace(mech.joints["j"], velocity=2.9),
    "a place": lambda mech: mech.replace(mech.joints["j"], position=0.01),
    "a body": lambda mech: mech.remove(mech.bodies["b"], cascade=True),
}  # fmt: skip


def without(mechanism, loss):
    less = mechanism.copy()
    LOSSES[loss](less)
    return less


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_that_equality_overlooks_is_a_difference(monkeypatch, tmp_path, loss):
    mech, encoded = arm(), files.encoded
    mech.add_body("b", 1.0, np.eye(3))
    monkeypatch.setattr(Contents, "__eq__", lambda *_: True)
    monkeypatch.setattr(files, "encoded", lambda mechanism, *rest: encoded(without(mechanism, loss), *rest))
    with pytest.raises(AssertionError):
        difference(*there_and_back(mech, "yaml", tmp_path)[:2])


@pytest.mark.parametrize("suffix", ["yaml", "json", "xml"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_writer_that_loses_something_is_caught(monkeypatch, tmp_path, suffix, loss):
    """Whatever the format, before the file is put in place."""
    mech = arm()
    mech.add_body("b", 1.0, np.eye(3))
    path = tmp_path / f"mech.{suffix}"
    path.write_text("as it was")
    encoded, write = files.encoded, files.EXPORTERS[".xml"]

    def lossy(mechanism):
        return without(mechanism, loss)

    monkeypatch.setattr(files, "encoded", lambda mechanism, *rest: encoded(lossy(mechanism), *rest))
    monkeypatch.setitem(files.EXPORTERS, ".xml", lambda m: (write(lossy(m))[0], write(m)[1]))
    with pytest.raises(bc.MechanismError, match="as another one: nothing is written"):
        bc.save(mech, path)
    assert path.read_text() == "as it was"


def test_a_text_that_cannot_be_read_back_is_not_put_in_place(monkeypatch, tmp_path):
    monkeypatch.setitem(files.EXPORTERS, ".xml", lambda m: ("<mujoco>", outline.outline(m)))
    with pytest.raises(bc.MechanismError, match="cannot be read back"):
        bc.save(arm(), tmp_path / "mech.xml")
    assert not (tmp_path / "mech.xml").exists()


def test_a_mechanism_that_cannot_be_assembled_is_saved_as_yaml(tmp_path):
    """As it is described; formats with a start refuse it."""
    mech = arm()
    mech.add_joint("k", bc.Fixed(), mech.ground.marker((9, 9, 9)), mech.bodies["a"].marker())
    mech.replace(mech.bodies["a"], shapes=(bc.Mesh("some.stl"),))
    assert bc.save(mech, tmp_path / "mech.yaml") == ()
    for suffix in WRITERS:
        with pytest.raises((bc.AssemblyError, bc.MechanismError)):
            bc.save(mech, tmp_path / f"mech.{suffix}")


def test_what_only_the_mechanism_says_of_its_file_is_listed(tmp_path):
    """What moves and was left out, and contacts that nobody added, do not come back from any file."""
    text = (
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 1"><freejoint/>'
        '<geom size=".1"/></body><flexcomp name="cloth" type="grid"/></worldbody></mujoco>'
    )
    path = tmp_path / "ball.xml"
    path.write_text(text)
    mech = bc.load(path)
    moving = {fault.element for fault in mech.left_out if fault.moves}
    assert moving
    for suffix in ("yaml", "json", "xml", "urdf"):
        listed = bc.save(mech, tmp_path / f"again.{suffix}")
        assert moving <= {fault.element for fault in listed}
        assert any("contacts_from_file() before it is saved" in fault.advice for fault in listed)
        if suffix in ("yaml", "json"):
            assert len(listed) == len(moving) + 1
    mech.contacts_from_file()
    assert {fault.element for fault in bc.save(mech, tmp_path / "again.yaml")} == moving
