# ruff: noqa: E501 (texts of files)
"""Robots in URDF, MJCF and SDF; models of PyPI's packages as Pinocchio and MuJoCo have them."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sin

import numpy as np
import pytest
from click.testing import CliRunner
from rigs import robot_oracles
from rigs.robot_models import GAZEBO_JOINT, LOOP_JOINT, LOOP_URDF, TEXTS, WRITERS, as_urdf, random_tree
from rigs.robot_packages import MODELS

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.errors import MechanismError
from bellcrank.io.robots.outline import outline
from bellcrank.mechanism.rotation import matrix


def loaded(folder, text, suffix, **given):
    path = folder / f"model.{suffix}"
    path.write_text(text, encoding="utf-8")
    return bc.load(path, **given)


def rules(mech):
    return {(fault.element, fault.rule): fault.location.line for fault in mech.left_out}


def at_random(mech, seed=0):
    """A state with joints anywhere and in motion, and the names of the bodies in its order."""
    rng = np.random.default_rng(seed)
    moved = mech.copy()
    for joint in mech.joints.values():
        free = joint.kind.free
        given = {
            which: dict(zip(free, rng.uniform(-1, 1, len(free)), strict=True))
            for which in ("position", "velocity")
        }
        moved._joints[joint.name] = replace(joint, limits=(), **given)
    system = bc.prepare(moved, "lagrange")
    return list(system.model.bodies), system.state()


def accelerations(mech, state, names):
    """Linear and angular, of bodies by name; the state is in the order of these names."""
    system = bc.prepare(mech, "recursive")
    order = [names.index(name) for name in system.model.bodies]
    held = {
        key: getattr(state, key)[order] for key in ("position", "rotation", "velocity", "angular_velocity")
    }
    found = system.accelerate(replace(state, angles=None, **held))
    return np.array([np.r_[found.body(name).linear, found.body(name).angular] for name in names])


@pytest.mark.parametrize("seed", range(4))
def test_the_same_tree_is_the_same_mechanism_in_all_formats(tmp_path, seed):
    """Masses, poses and accelerations of bodies, and as many coordinates as the description has."""
    tree = random_tree(seed)
    first, *others = (loaded(tmp_path, write(tree), suffix) for suffix, write in WRITERS.items())
    assert sum(len(j.kind.free) for j in first.joints.values()) == sum(one["kind"] != "fixed" for one in tree)
    assert sum(body.mass for body in first.bodies.values()) == pytest.approx(
        sum(one["mass"] for k, one in enumerate(tree)), rel=1e-14
    )
    names, state = at_random(first)
    wanted = accelerations(first, state, names)
    for other in others:
        assert set(other.bodies) == set(first.bodies)
        for name, body in other.bodies.items():
            np.testing.assert_allclose(body.inertia, first.bodies[name].inertia, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(body.position, first.bodies[name].position, atol=1e-14)
        np.testing.assert_allclose(accelerations(other, state, names), wanted, rtol=1e-11, atol=1e-11)


def test_links_are_where_the_products_of_their_origins_are(tmp_path):
    """An oracle of its own for poses: matrices multiplied from the root."""
    tree = random_tree(7, 12)
    mech = loaded(tmp_path, as_urdf(tree), "urdf")
    found = []
    for k, one in enumerate(tree):
        r, p, y = one["rpy"]
        rx = np.array([[1, 0, 0], [0, np.cos(r), -sin(r)], [0, sin(r), np.cos(r)]])
        ry = np.array([[np.cos(p), 0, sin(p)], [0, 1, 0], [-sin(p), 0, np.cos(p)]])
        rz = np.array([[np.cos(y), -sin(y), 0], [sin(y), np.cos(y), 0], [0, 0, 1]])
        turn, place = (np.eye(3), np.zeros(3)) if one["parent"] < 0 else found[one["parent"]]
        found.append((turn @ rz @ ry @ rx, place + turn @ one["xyz"]))
        if f"b{k}" in mech.bodies:
            body = mech.bodies[f"b{k}"]
            np.testing.assert_allclose(matrix(body.rotation), found[k][0], atol=1e-14)
            np.testing.assert_allclose(body.position, found[k][1], atol=1e-14)
        else:  # rigidly on another, as a marker
            (marker,) = (m for m in mech.markers.values() if m.name == f"b{k}")
            carrier = mech.bodies[marker.body]
            place = np.array(carrier.position) + matrix(carrier.rotation) @ marker.position
            np.testing.assert_allclose(place, found[k][1], atol=1e-14)


def test_urdf_has_links_joints_and_what_acts_in_them(tmp_path):
    mech = loaded(tmp_path, TEXTS["urdf"], "urdf")
    assert list(mech.bodies) == ["base", "upper", "left", "right"]
    assert {"upper.payload", "upper.camera"} <= set(mech.markers)
    assert mech.bodies["upper"].mass == pytest.approx(1.8)
    shoulder = mech.joints["shoulder"]
    assert (shoulder.kind.name, shoulder.kind.free) == ("CustomJoint", ("lift", "shoulder"))
    assert dict(shoulder.limits)["lift"] == bc.Limit(-0.2, 0.2)
    assert mech.joints["finger"].guess == (("theta_z", 0.1),)  # zero is outside of its limits
    assert mech.constraints["thumb mimic"].kind == bc.Coupling((1.0, 1.0), 0.05)
    motor = mech.forces["shoulder_motor"].kind
    assert (motor.ratio, motor.rotor_inertia) == (50.0, 1e-5)
    assert mech.forces["shoulder friction"].kind == bc.JointFriction(0.4, 0.1)
    left = rules(mech)
    assert left["<mesh>", "its mesh is not found in the model's folders"] == 15
    assert ("gazebo of 'camera'", "<sensor> has no counterpart") in left
    bc.simulate(mech, 0.05)


def test_the_base_may_float(tmp_path):
    """The joint that holds the base is taken out."""
    mech = loaded(
        tmp_path,
        as_urdf(random_tree(1)).replace(
            '<link name="world"/>',
            '<link name="world"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
        ),
        "urdf",
    )
    before = bc.info(mech).freedom
    mech.remove(mech.joints["world (ground)"])
    assert bc.info(mech).freedom == before + 6


@pytest.mark.parametrize("closing", [LOOP_JOINT, GAZEBO_JOINT])
def test_extensions_close_loops(tmp_path, closing):
    found = bc.info(loaded(tmp_path, LOOP_URDF.format(closing=closing), "urdf"))
    assert (found.freedom, found.loops) == (1, 1)


def test_meshes_are_found_in_packages(tmp_path):
    folder = tmp_path / "somewhere" / "arm_description" / "meshes"
    folder.mkdir(parents=True)
    (folder / "upper.stl").write_bytes(b"solid")
    for packages in ([tmp_path / "somewhere"], [folder.parent]):
        mech = loaded(tmp_path, TEXTS["urdf"], "urdf", packages=packages)
        meshes = [shape for shape in mech.bodies["upper"].shapes if isinstance(shape, bc.Mesh)]
        assert [mesh.scale for mesh in meshes] == [(0.001,) * 3]
        assert not any("mesh" in rule for _, rule in rules(mech))


def test_mjcf_has_classes_frames_and_what_acts(tmp_path):
    mech = loaded(tmp_path, TEXTS["xml"], "xml")
    assert mech.gravity == (0.0, 0.0, -9.8)
    assert list(mech.bodies) == ["cart", "arm", "ball", "stone", "rocker"]
    assert "arm.tool" in mech.markers
    assert mech.joints["cart"].kind.free == ("x", "y", "yaw")
    assert dict(mech.joints["cart"].guess) == {"x": 0.1, "y": 0.0, "yaw": 0.0}
    hip = dict(mech.joints["arm"].limits)["hip"]
    assert (hip.lower, hip.upper) == pytest.approx((-pi / 3, pi / 2))
    assert mech.forces["hip armature"].kind == bc.GearedMotor(1.0, 0.02)
    assert mech.forces["hip spring"].kind.rest_angle == pytest.approx(pi / 9)
    assert mech.constraints["rope"].kind == bc.Cable(1.0, slack=True)
    assert [*bc.prepare(mech, "recursive").inputs] == ["turn", "hold", "spin", "affine", "pull", "jet"]
    assert mech.bodies["stone"].mass == pytest.approx(700 * pi * 0.1**2 * 0.1)
    left = rules(mech)
    assert left["muscle 'flesh'", "an actuator of kind <muscle> is not taken"] == 64
    assert ("connect 'pin'", "an equality that is not active is not taken") in left


def test_a_pendulum_of_mjcf_swings_as_its_equation_says(tmp_path):
    """(I + m l² + armature) q̈ = −m g l sin q − d q̇ − k (q − q₀) + gear u at the start."""
    text = """<mujoco><option gravity="0 0 -10"/><worldbody><body pos="0 0 1">
      <joint name="q" axis="0 1 0" armature="0.3" damping="0.2" stiffness="1.5" springref="10" ref="-90"/>
      <inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.1"/></body></worldbody>
      <actuator><motor name="u" joint="q" gear="3"/></actuator></mujoco>"""
    mech = loaded(tmp_path, text, "xml")
    system = bc.prepare(mech, "recursive")
    system.inputs["u"] = 0.7
    inertia = 0.2 + 2 * 0.25 + 0.3
    torque = (
        2 * 10 * 0.5 - 1.5 * (-pi / 2 - pi / 18) + 3 * 0.7
    )  # the arm lies along x: gravity turns it about +y
    assert system.accelerate().body("body 1").angular[1] == pytest.approx(torque / inertia, rel=1e-12)


def test_sdf_has_models_frames_and_joints(tmp_path):
    mech = loaded(tmp_path, TEXTS["sdf"], "sdf")
    assert list(mech.bodies) == ["crank", "rod", "hand/palm", "hand/nut"] or "linkage/crank" in mech.bodies
    assert bc.info(mech).freedom == 5
    kinds = {joint.kind.name for joint in mech.joints.values()}
    assert kinds == {"Revolute", "Screw", "CustomJoint"}
    assert any(isinstance(force.kind, bc.Wrench) for force in mech.forces.values())  # the palm has no weight
    assert len(mech.ground.shapes) == 1


BROKEN = {
    "not XML": ("urdf", "<robot><link name='a'></robot>", "not XML: mismatched tag", 1),
    "entities": ("urdf", '<!DOCTYPE r [\n<!ENTITY a "b">]><robot/>', "entities are refused", None),
    "external": ("xml", '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco>&a;</mujoco>', "entities are refused", 1),
    "another root": ("xml", "<svg/>", "it is no model of a robot", 1),
    "number": ("urdf", '<robot><link name="a"><inertial>\n<mass value="x"/></inertial></link></robot>', "value must hold numbers", 2),
    "two parents": ("urdf", as_urdf(random_tree(0)).replace("</robot>", '<joint name="z" type="fixed"><parent link="b2"/><child link="b1"/></joint></robot>'), "has a parent already", None),
    "unknown type": ("urdf", as_urdf(random_tree(0)).replace('type="continuous"', 'type="sliding"', 1), "type must be one of", None),
    "macros": ("urdf", '<robot><xacro:arm/></robot>', "macros are not expanded", 1),
    "outside": ("xml", '<mujoco>\n<include file="/etc/passwd"/></mujoco>', "the included file is not found", 2),
    "class": ("xml", '<mujoco><worldbody><body><geom class="c" size="1"/></body></worldbody></mujoco>', "no default class", 1),
    "joint": ("xml", '<mujoco><worldbody/><actuator>\n<motor joint="a"/></actuator></mujoco>', "there is no joint of this name", 2),
    "ring": ("sdf", '<sdf version="1.9"><model name="m"><link name="a"><pose relative_to="b"/></link>\n<link name="b"><pose relative_to="a"/></link></model></sdf>', "in a ring", None),
    "child": ("sdf", '<sdf version="1.9"><model name="m"><link name="a"/>\n<joint name="j" type="fixed"><parent>a</parent><child>c</child></joint></model></sdf>', "its child is no link", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_file_and_line(tmp_path, name):
    suffix, text, rule, line = BROKEN[name]
    with pytest.raises(MechanismError, match=rule) as raised:
        loaded(tmp_path, text, suffix)
    (fault, *_) = raised.value.faults
    assert fault.location.file == str(tmp_path / f"model.{suffix}")
    assert fault.location.line if line is None else fault.location.line == line


def test_all_faults_are_told_at_once(tmp_path):
    text = as_urdf(random_tree(2)).replace('mass value="', 'mass value="-')
    with pytest.raises(MechanismError) as raised:
        loaded(tmp_path, text, "urdf")
    assert len(raised.value.faults) == 8
    assert len({fault.location.line for fault in raised.value.faults}) == 8


def test_files_outside_of_the_models_folders_are_not_read(tmp_path):
    """Neither by going up, nor by a link, nor by another scheme."""
    secret = tmp_path / "secret.xml"
    secret.write_text("<mujoco><worldbody><body name='b'/></worldbody></mujoco>")
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "link.xml").symlink_to(secret)
    for name in (
        "../../secret.xml",
        "link.xml",
        str(secret),
        f"file://{secret}",
        "package://b/../../secret.xml",
    ):
        with pytest.raises(MechanismError, match="the included file is not found"):
            loaded(folder, f'<mujoco><include file="{name}"/></mujoco>', "xml")


def test_an_include_cannot_include_itself(tmp_path):
    (tmp_path / "other.xml").write_text('<mujocoinclude>\n<include file="model.xml"/></mujocoinclude>')
    with pytest.raises(MechanismError, match="a file can be included once") as raised:
        loaded(tmp_path, '<mujoco><include file="other.xml"/></mujoco>', "xml")
    assert raised.value.faults[0].location.line == 2
    assert raised.value.faults[0].location.file == str(tmp_path / "other.xml")


@pytest.mark.parametrize(
    ("suffix", "text"),
    [*TEXTS.items(), *((suffix, write(random_tree(5))) for suffix, write in WRITERS.items())],
)
def test_yaml_holds_what_was_read(tmp_path, suffix, text):
    mech = loaded(tmp_path, text, suffix)
    bc.save(mech, tmp_path / "model.yaml")
    assert bc.load(tmp_path / "model.yaml") == mech


@pytest.mark.parametrize("target", ["urdf", "xml"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read_as_the_same_mechanism(tmp_path, target, seed):
    """Also joints with several motions, which URDF gives as links without mass."""
    mech = loaded(tmp_path, as_urdf(random_tree(seed)), "urdf")
    body = mech.add_body("last", 1.0, (0.1, 0.2, 0.25), (0.02, 0.0, 0.1), (0.3, 0.2, 0.1))
    carrier = next(iter(mech.bodies.values()))
    kind = (bc.Planar(), bc.Universal(), bc.Cylindrical())[seed]
    ends = carrier.marker((0.1, 0.2, 0.3), (1, 2, 0.5)), body.marker((0.05, 0, 0.02), (0, 1, 1))
    mech.add_joint("wrist", kind, *ends)
    left = bc.save(mech, tmp_path / f"out.{target}")  # the wrist does not start at zero
    assert [fault.element for fault in left] == (["start"] if target == "urdf" else [])
    again = bc.load(tmp_path / f"out.{target}")
    names, state = at_random(mech)
    if target == "urdf":  # frames of links lie on the axes of joints
        where = {name: np.array(mech.bodies[name].com) - again.bodies[name].com for name in names}
        state = carried(state, np.array([where[name] for name in names]))
        assert max(np.linalg.norm(shift) for shift in where.values()) > 0.01
    found = accelerations(again, state, names)
    back = carried(state, np.array([-where[name] for name in names])) if target == "urdf" else state
    wanted = accelerations(mech, back, names)
    if target == "urdf":
        turn, spin = np.array([matrix(q) for q in back.rotation]), back.angular_velocity
        arms = np.einsum("bij,bj->bi", turn, np.array([where[name] for name in names]))
        wanted[:, :3] += np.cross(wanted[:, 3:], arms) + np.cross(spin, np.cross(spin, arms))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert freedoms(again) == freedoms(mech)


def freedoms(mech):
    return sum(len(joint.kind.free) for joint in mech.joints.values())


def carried(state, shifts):
    """The state of frames that are shifted in their bodies."""
    arms = np.einsum("bij,bj->bi", np.array([matrix(q) for q in state.rotation]), shifts)
    moving = state.velocity + np.cross(state.angular_velocity, arms)
    return replace(state, position=state.position + arms, velocity=moving)


def test_what_a_format_lacks_is_refused_or_returned(tmp_path):
    loop = loaded(tmp_path, LOOP_URDF.format(closing=LOOP_JOINT), "urdf")
    with pytest.raises(MechanismError, match="closes a loop, which URDF does not have"):
        bc.save(loop, tmp_path / "loop.urdf")
    assert bc.save(loop, tmp_path / "loop.xml") == ()
    assert bc.info(bc.load(tmp_path / "loop.xml")).freedom == 1
    everything = loaded(tmp_path, TEXTS["xml"], "xml")
    left = bc.save(everything, tmp_path / "again.xml")
    assert {fault.element for fault in left} >= {"force 'tool gravity compensation'", "force 'sum spring'"}
    turned = outline(loop)
    assert [branch.body.name for branch in turned.branches()] == ["crank", "rocker", "coupler"]


def test_the_command_line_lists_what_is_left_out(tmp_path):
    (tmp_path / "arm.urdf").write_text(TEXTS["urdf"])
    told = CliRunner().invoke(bellcrank, ["info", str(tmp_path / "arm.urdf")])
    assert told.exit_code == 0
    assert (
        "its mesh is not found in the model's folders: <mesh> (line 15) package://arm_description"
        in told.output
    )
    done = CliRunner().invoke(bellcrank, ["convert", str(tmp_path / "arm.urdf"), str(tmp_path / "arm.xml")])
    assert done.exit_code == 0
    assert "things in the file are left out" in done.stderr
    assert bc.load(tmp_path / "arm.xml").joints["finger"].limits


@pytest.mark.oracle
@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_masses_and_accelerations_are_those_of_others(model):
    """At a random state and inputs; bodies whose inertia had to be changed are named in what is left out."""
    pytest.importorskip(model.oracle)
    if model.file is None:
        pytest.skip(f"{model.package} is not installed")
    mech = bc.load(model.file)
    answers = getattr(robot_oracles, model.oracle)(model.file, mech, np.random.default_rng(3))
    assert not answers.lost
    assert robot_oracles.off_start(mech, answers) < 1e-9
    bare = robot_oracles.free_of_limits(mech)
    mass, acceleration, gap = robot_oracles.compared(bare, answers)
    assert gap < 1e-9
    if model.mass is None:
        assert any("moments are raised" in fault.rule for fault in mech.left_out)
    else:
        assert mass < model.mass
    if model.acceleration is not None:
        assert acceleration < model.acceleration


def test_there_are_models_enough():
    assert len({model.path for model in MODELS}) == len(MODELS) >= 60
