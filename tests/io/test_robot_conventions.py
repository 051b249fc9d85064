# ruff: noqa: E501 (texts of files)
"""What robot files mean, actuators among it, beside MuJoCo and Pinocchio."""

from __future__ import annotations

from math import hypot, pi

import numpy as np
import pytest
from rigs import robot_oracles

import bellcrank as bc
from bellcrank.mechanism.collisions import NOTE
from bellcrank.mechanism.rotation import matrix

GEOM = '<geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/>'
TWO = f'<body name="b"><joint name="j" axis="0 1 0"/>{GEOM}<body name="c" pos="1 0 0"><joint name="k" axis="0 1 0"/>{GEOM}</body></body>'
TETRAHEDRON = "v 0 0 0\nv 1.5 0.3 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
MESH = (
    '<asset><mesh name="m" file="m.obj" scale="{}" refpos="0.5 0.2 0.1" refquat="0.7 0.1 0.2 0.3"/></asset>'
)
TENDON = '<tendon><fixed name="t"><joint joint="j" coef="1"/><joint joint="k" coef="2"/></fixed></tendon>'

ATTACHED = '<asset><model name="child" file="child.xml"/></asset><default><default class="c"><joint damping="9"/></default></default>'
CHILD = """<mujoco model="child"><compiler angle="radian" eulerseq="zyx" meshdir="parts"/><option gravity="1 2 3"/>
  <default><joint damping=".3"/><geom density="500"/><default class="d"><joint axis="0 1 0" armature=".2"/></default></default>
  <asset><mesh name="m" file="n.obj"/></asset>
  <worldbody><geom type="box" size=".1 .1 .2"/><site name="o"/>
    <body name="upper" pos="0 0 .3" euler=".3 .2 .1"><joint name="j" axis="1 0 0" range="-1 1" ref=".2" springref=".5" stiffness="3"/>
      <geom type="mesh" mesh="m"/>
      <body childclass="d" pos="0 .2 0"><body name="lower" pos="0 0 1" euler=".1 .5 .2"><joint name="k"/><geom type="box" size=".1 .2 .3"/><site name="s" pos="0 1 0"/></body></body>
    </body></worldbody>
  <tendon><fixed name="t" stiffness="2" damping="1"><joint joint="k" coef="2"/></fixed><spatial stiffness="5"><site site="o"/><site site="s"/></spatial></tendon>
  <actuator><position name="a" tendon="t" kp="3"/><motor name="b" joint="j" gear="2"/></actuator></mujoco>"""


def world(body, before="", after=""):
    return f"<mujoco>{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def moved(joints, before="", after="", tag=' euler="10 20 30" pos="1 2 3"'):
    return world(f"<body{tag}>{joints}{GEOM}</body>", before, after)


def spring(ref):
    site = '<site name="s" pos="0 0 1"/>'
    body = f'<body><joint name="j" axis="0 1 0" {ref}/>{GEOM}<body pos=".1 0 0"><joint axis="1 0 0"/>{GEOM}<site name="u" pos=".3 0 .2"/></body></body>'
    return world(
        site + body,
        after='<tendon><spatial stiffness="10"><site site="s"/><site site="u"/></spatial></tendon>',
    )


def driven(actuator, defaults=""):
    joint = '<joint name="j" axis="0 1 0" ref="10"/><site name="u" type="capsule" size=".1" fromto="0 0 0 1 0 1"/>'
    return moved(joint, f"<default>{defaults}</default>", f"<actuator>{actuator}</actuator>")


DATA = {
    "inertial in a frame": world('<body><frame pos="0 0 1" euler="0 90 0"><inertial pos="1 .2 0" mass="2" diaginertia="1 2 2.5"/><joint/></frame></body>'),
    "quat over a default euler": moved(GEOM.replace("/>", ' quat="1 .3 .2 .1"/>') + '<joint axis="0 1 0"/>', '<default><geom euler="10 20 90"/></default>'),
    "mass over a default density": world('<body><joint axis="0 1 0"/><geom size=".1" type="mesh" mesh="m" mass="2"/></body>', '<default><geom density="0"/></default>' + MESH.format("1 1 1")),
    "mesh with a reference": moved('<joint axis="0 1 0"/><geom type="mesh" mesh="m" pos="0 0 1" euler="10 20 30"/>', MESH.format("2 2 2")),
    "mesh that is sheared": moved('<joint axis="0 1 0"/><geom type="mesh" mesh="m" pos="0 0 1" euler="10 20 30"/>', MESH.format("2 3 1")),
    "mesh that is mirrored": moved('<joint axis="0 1 0"/><geom type="mesh" mesh="m" pos="0 0 1" euler="10 20 30"/>', MESH.format("-2 3 1")),
    "rotor of an actuator": driven('<motor joint="j" gear="3" armature="0.1" damping="0.7"/>'),
    "damping of an actuator on a tendon": world(TWO, after=TENDON + '<actuator><motor tendon="t" gear="3" damping="0.7"/></actuator>'),
    "actuator on a site": driven('<general site="u" gear="0 0 1 .2 0 0" biastype="affine" biasprm="2 0 0"/>'),
    "damper": driven('<damper joint="j" ctrlrange="0 1"/>'),
    "servo of defaults": driven('<position joint="j" kp="3"/>', '<position kp="7" kv="2"/>'),
    "velocity under a default position": driven('<velocity joint="j"/>', '<position kp="7" kv="2"/>'),
    "gain of a default general": driven('<position joint="j"/>', '<general gainprm="5"/>'),
    "spatial spring": spring(""),
    "spatial spring with references": spring('ref="20" springref="50" range="30 60"'),
    "slide and ball": moved('<joint type="slide" axis="1 1 0" ref=".3" stiffness="3" springref=".1" damping="2"/><joint type="ball" pos="0 0 1" damping="1" stiffness="2"/>'),
    "two slides and ball": moved('<joint type="slide" axis="1 1 0" ref=".3" armature="2"/><joint type="slide" axis="0 0 1" damping="2"/><joint type="ball" pos="0 0 1"/>'),
    "three slides and ball": moved('<joint type="slide" axis="1 1 0" ref=".3" damping="2"/><joint type="slide" axis="0 0 1" ref=".2"/><joint type="slide" axis="-1 1 0" armature="2"/><joint type="ball" pos="0 0 1"/>'),
    "several joints": moved('<joint axis="1 0 2" pos=".1 .2 .3" ref="20" springref="30" stiffness="2" damping="1"/><joint type="slide" axis="0 1 2" ref=".2"/><joint axis="1 1 0" pos="0 0 1" armature="2"/>'),
    "fromto of a box": moved('<joint axis="1 0 0"/><geom type="box" size=".1 .2" fromto="1 2 3 -1 .2 .3"/>'),
    "fromto of an ellipsoid, down": moved('<joint axis="1 0 0"/><frame euler="10 20 30"><geom type="ellipsoid" size=".1" fromto="1 2 3 1 2 4"/></frame>'),
    "mixed sequence of angles": moved('<joint axis="1 0 0"/>', '<compiler eulerseq="xYz"/>'),
    "classes in frames": world(
        '<body euler="10 20 30" childclass="a"><frame childclass="b" pos="1 2 3" euler="3 4 5"><joint axis="1 0 0"/><geom/><body><joint/><geom/></body></frame><body childclass="a"><joint axis="1 0 0"/><geom/></body><geom class="b"/></body>',
        '<default><joint pos="1 2 3"/><default class="a"><geom type="box" size=".1 .1 .3"/><joint axis="1 1 0" armature="1"/><default class="b"><geom density="10" pos="1 2 3"/></default></default></default>',
    ),
    "weight that is held up": moved(f'<joint/><joint axis="1 0 0"/><body pos="1 0 0" gravcomp="1">{GEOM}</body>', tag=' gravcomp="0.5"'),
    "bounds": world('<body><joint axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/></body><body><joint/></body>', '<compiler boundmass="2" boundinertia="1.5"/>'),
    "groups": moved('<joint axis="1 0 0"/><geom size=".3" group="3"/>', '<compiler inertiagrouprange="0 2"/>'),
    "replicas": world(
        f'<body name="base"><joint axis="1 0 0"/>{GEOM}<replicate count="10" offset="9 3 0" euler="10 20 30"><replicate count="2" sep="-" offset="0 0 3" euler="0 0 90"><body name="a" pos="0 0 1" euler="5 0 0"><joint name="j" axis="0 1 0"/>{GEOM}<site name="s"/></body></replicate></replicate></body>',
        after='<tendon><fixed name="t" damping="2"><joint joint="j" coef="2"/></fixed></tendon><actuator><motor name="m" joint="j" gear="3" damping="0.1"/></actuator>',
    ),
    "mesh that is written out": moved('<joint axis="0 1 0"/><geom type="mesh" mesh="w" pos="0 0 1" euler="10 20 30"/>', '<asset><mesh name="w" scale="1 2 1" vertex="0 0 0 1.5 .3 0 0 2 0 0 0 3" face="0 2 1 0 1 3 1 2 3 0 3 2"/></asset>'),
    "mesh of vertices": moved('<joint axis="0 1 0"/><geom type="mesh" mesh="w"/>', '<asset><mesh name="w" vertex="0 0 0 1.5 .3 0 0 2 0 0 0 3 .1 .1 .1"/></asset>'),
    "model in a frame": world(f'<body name="base" euler="10 20 30" childclass="c">{GEOM}<joint axis="1 0 0"/><frame pos="0 0 1" euler="0 40 0"><attach model="child" prefix="x-"/></frame></body>', ATTACHED),
    "body of a model, twice": world(f'<body>{GEOM}<joint axis="1 0 0"/><frame pos="0 0 1"><attach model="child" body="lower" prefix="x-"/></frame><frame pos="0 2 1" euler="0 0 90"><attach model="child" body="lower" prefix="y-"/></frame></body>', ATTACHED),
    "gravity that is disabled, a medium after it": moved('<joint axis="1 0 0" stiffness="3"/><joint axis="0 1 0" damping="2"/>', '<option density="800"><flag gravity="disable"/></option><option viscosity=".3" wind="1 2 3"/>', tag=' gravcomp="0.5"'),
    "medium on several geoms": moved('<joint axis="1 0 0"/><joint axis="0 1 0"/><geom type="capsule" size=".05 .2" euler="30 10 0"/>', '<option density="80"/>'),
    "medium on what is round": world('<body euler="10 20 30"><joint/><joint axis="1 1 0"/><geom type="cylinder" size=".1" fromto="0 0 0 1 .3 .2"/><body pos="1 0 0"><inertial pos="0 0 1" mass="2" diaginertia="1 1 .3" euler="20 30 40"/></body></body>', '<option density="900" viscosity=".1"/>'),
    "springs that are disabled": moved('<joint name="j" axis="1 0 0" stiffness="3" damping="2"/>', '<option><flag spring="disable"/></option>', '<tendon><fixed stiffness="4" damping="1"><joint joint="j" coef="2"/></fixed></tendon>', ' gravcomp="0.5"'),
    "all that is passive is disabled": moved('<joint axis="1 0 0" stiffness="3" damping="2"/>', '<option density="800"><flag spring="disable" damper="disable"/></option>', "", ' gravcomp="0.5"'),
    "actuators that are disabled": driven('<motor joint="j" gear="3" group="2"/><position joint="j" kp="3" group="1"/><position joint="j" kp="20" group="30"/>').replace("<worldbody>", '<option actuatorgroupdisable="2 30"/><worldbody>'),
    "actuation that is disabled": driven('<position joint="j" kp="3" kv="1"/>').replace("<worldbody>", '<option><flag actuation="disable"/></option><worldbody>'),
    "activations": driven('<position joint="j" kp="3" timeconst=".1"/><general joint="j" dyntype="integrator" gainprm="2" biastype="affine" biasprm="1 -2 -.5"/>'),
    "damping of a free joint": moved('<joint type="free" damping="1"/>'),
}  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("name", DATA)
def test_mjcf_means_what_mujoco_makes_of_it(tmp_path, name):
    """Masses and accelerations at a random state; of meshes to what MuJoCo's single precision leaves."""
    pytest.importorskip("mujoco")
    (tmp_path / "m.obj").write_text(TETRAHEDRON)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/n.obj").write_text(TETRAHEDRON)
    (tmp_path / "child.xml").write_text(CHILD)
    mech = read(tmp_path, DATA[name], "xml")
    answers = robot_oracles.mujoco(tmp_path / "model.xml", mech, np.random.default_rng(3))
    assert robot_oracles.off_start(mech, answers) < 1e-12
    mass, acceleration, gap = robot_oracles.compared(robot_oracles.free_of_limits(mech), answers)
    bound = 1e-6 if "mesh" in DATA[name] or "attach" in DATA[name] else 1e-12
    assert max(mass, acceleration) < bound
    assert gap < 1e-12


def read(folder, text, suffix):
    path = folder / f"model.{suffix}"
    path.write_text(text)
    return bc.load(path)


def told(mech):
    return [fault.rule for fault in mech.left_out]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ('joint2="k" polycoef="0.5"', bc.Coupling((1.0, -1.0), 0.5)),
        ('joint2="k" polycoef="0.5 -2"', bc.Coupling((1.0, 2.0), 0.5)),
        ('joint1="j" polycoef="0.5"', bc.Coupling((1.0,), 0.5)),
    ],
)
def test_coefficients_that_are_not_given_are_those_of_the_identity(tmp_path, given, kind):
    first = "" if "joint1" in given else 'joint1="j" '
    mech = read(tmp_path, world(TWO, after=f"<equality><joint {first}{given}/></equality>"), "xml")
    assert [one.kind for one in mech.constraints.values()] == [kind]


def test_a_site_between_two_ends_looks_along_them(tmp_path):
    mech = read(tmp_path, moved('<joint/><site name="s" fromto="0 0 1 1 0 0"/>', tag=""), "xml")
    marker = mech.markers["body 1.s"]
    assert marker.position == (0.5, 0.0, 0.5)
    np.testing.assert_allclose(matrix(marker.rotation)[:, 2], np.array([-1, 0, 1]) / hypot(1, 1), atol=1e-15)


def test_a_ball_between_other_motions_keeps_all_of_them(tmp_path):
    """Where no joint of ours has them all, a very small mass is between them, which is listed."""
    mech = read(tmp_path, moved('<joint name="h"/><joint name="s" type="ball"/>'), "xml")
    assert [joint.kind.name for joint in mech.joints.values()] == ["Revolute", "Spherical"]
    assert any("it is given one" in rule for rule in told(mech))
    led = read(tmp_path, moved('<joint name="x" type="slide" axis="1 0 0"/><joint type="ball"/>'), "xml")
    assert [joint.kind for joint in led.joints.values()] == [bc.PointOnLine()]
    bc.save(led, tmp_path / "again.xml")
    (joint,) = bc.load(tmp_path / "again.xml").joints.values()
    assert joint.kind == bc.PointOnLine()


def test_mjcf_lists_what_it_drops(tmp_path):
    flags = '<option><flag contact="disable"/></option>'
    after = '<tendon><fixed stiffness="1 2"><joint joint="j" coef="1"/></fixed></tendon><actuator><motor joint="j"/><position joint="j" inheritrange="1"/></actuator>'
    mech = read(
        tmp_path, moved('<joint name="j" actuatorfrcrange="-1 1"/><plugin plugin="p"/>', flags, after), "xml"
    )
    assert sorted(told(mech)) == [
        "limits of effort and speed are not kept",
        "plugins are not taken",
        "ranges of its input and its force are not kept",
        "the terms of higher order of its stiffness are not taken",
    ]
    fitted = read(tmp_path, world('<body><joint/><geom type="box" mesh="m"/></body>' + TWO, MESH.format("1 1 1")), "xml")  # fmt: skip
    assert "the box that MuJoCo fits to its mesh is not made: it is the mesh itself" in told(fitted)


URDF = """<robot name="r"><link name="a">{mass}{mass}<contact/></link><link name="b">{mass}</link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-inf" upper="2" effort="inf" velocity="inf"/></joint>
  <transmission name="t"><joint name="j"/><actuator name="m"><drake:gear_ratio value="20"/><drake:rotor_inertia value="0.1"/></actuator></transmission></robot>"""
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_urdf_takes_infinite_limits_one_inertial_and_the_gears_of_drake(tmp_path):
    mech = read(tmp_path, URDF.format(mass=MASS), "urdf")
    assert [body.mass for body in mech.bodies.values()] == [1.0, 1.0]
    assert dict(mech.joints["j"].limits) == {"theta_z": bc.Limit(None, 2.0)}
    assert (mech.forces["m"].kind.ratio, mech.forces["m"].kind.rotor_inertia) == (20.0, 0.1)
    assert told(mech) == ["only its first <inertial> counts", "<contact> has no counterpart"]
    assert [fault.moves for fault in mech.left_out] == [True, False]


SDF = """<sdf version="1.9"><model name="m">
  <link name="a"><velocity_decay/><inertial><mass>1</mass></inertial></link><link name="b"><inertial><mass>1</mass></inertial></link>
  <link name="n"><inertial><mass>1</mass></inertial></link>
  <joint name="u" type="universal"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
    <limit><lower>-inf</lower><upper>inf</upper><effort>inf</effort><velocity>3</velocity></limit>
    <mimic joint="u" axis="axis2"><multiplier>2</multiplier><offset>0.1</offset><reference>0.3</reference></mimic><drake:x/></axis></joint>
  <joint name="s" type="screw"><parent>b</parent><child>n</child><axis><xyz>1 0 0</xyz></axis>{pitch}</joint></model></sdf>"""


@pytest.mark.parametrize(
    ("given", "pitch"),
    [
        ("", 1.0),
        ("<thread_pitch>-2</thread_pitch>", pi),
        ("<screw_thread_pitch>0.3</screw_thread_pitch>", 0.3),
    ],
)
def test_sdf_takes_infinite_limits_second_axes_and_threads(tmp_path, given, pitch):
    mech = read(tmp_path, SDF.format(pitch=given), "sdf")
    assert mech.joints["j"].limits == ()
    (mimic,) = mech.constraints.values()
    assert [end.coordinate for end in mimic.ends] == ["theta_z", "u_2"]
    assert mimic.kind.coefficients == (1.0, -2.0)
    assert mimic.kind.constant == pytest.approx(0.1 - 2.0 * 0.3)
    assert mech.joints["s"].kind == bc.Screw(pitch)
    assert told(mech) == [
        "limits of effort and speed are not kept",
        "<velocity_decay> has no counterpart",
        "<drake:x> has no counterpart",
    ]


def test_replicas_refer_to_each_other(tmp_path):
    arms = f'<body name="rest"/><replicate count="2" sep="-" offset="1 0 0"><body name="a"><joint name="j"/>{GEOM}<body name="b" pos="0 0 1"><joint name="k"/>{GEOM}</body></body></replicate>'
    after = '<equality><joint joint1="j" joint2="k"/><connect body1="b" body2="rest" anchor="0 0 0"/></equality><actuator><motor name="m" joint="j"/></actuator>'
    mech = read(tmp_path, world(arms, after=after), "xml")
    assert list(mech.bodies) == ["a-0", "b-0", "a-1", "b-1"]
    assert mech.bodies["a-1"].position == (1.0, 0.0, 0.0)
    assert [[end.joint for end in one.ends] for one in mech.constraints.values()] == [
        ["j-0", "k-0"],
        ["j-1", "k-1"],
    ]
    assert sorted(mech.forces) == ["m-0", "m-1"]
    assert told(mech) == [
        "it refers to copies of <replicate> and to others, and is dropped as in MuJoCo",
        NOTE,
    ]


@pytest.mark.parametrize(
    ("replicate", "rule"),
    [
        ('<replicate count="0"><geom size="1"/></replicate>', "must be a whole number from 1 to"),
        ('<replicate count="1.5"><geom size="1"/></replicate>', "must be a whole number from 1 to"),
        ('<replicate count="2"><joint/></replicate>', "a joint belongs to a body"),
        (
            '<replicate count="9999">' * 9 + '<geom size="1"/>' + "</replicate>" * 9,
            "with its copies the model has more than",
        ),
    ],
)
def test_replicas_that_are_wrong_are_refused(tmp_path, replicate, rule):
    with pytest.raises(bc.MechanismError, match=rf"{rule}.*\[.*model.xml:1\]"):
        read(tmp_path, world(f'<body name="b">{GEOM}{replicate}</body>'), "xml")


KINDS = ("general", "motor", "position", "velocity", "intvelocity", "damper")
CLASSES = ("", "a", "b", "c")
BODY = '<body pos="{0} 0 0"><joint name="j{0}" axis="0 1 0"{1}/><geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/></body>'


def other_than_contacts(mech):
    """What is left out but for contacts, which are added on request."""
    return [fault for fault in mech.left_out if fault.rule != NOTE]


def random_attributes(rng, kind):
    """Numbers of an actuator's law, each with some probability."""

    def some(probability, text):
        return f" {text}" if rng.random() < probability else ""

    a, b, c = rng.integers(1, 10, 3)
    if kind == "general":
        return (
            some(0.5, f'gainprm="{a} {b} {c}"')
            + some(0.4, f'biasprm="{b} -{c} -{a}"')
            + some(0.4, f'biastype="{rng.choice(["none", "affine"])}"')
            + some(0.3, f'gaintype="{rng.choice(["fixed", "affine"])}"')
        )
    if kind in ("velocity", "damper"):
        return some(0.5, f'kv="{a}"')
    if kind == "motor":
        return ""
    damped = some(0.1, f'dampratio="{a}"') or some(0.4, f'kv="{b}"')
    return some(0.5, f'kp="{c}"') + damped + (some(0.3, f'timeconst="{b}"') if kind == "position" else "")


def random_classes(rng, depth=0):
    """Nested default classes with some of the shortcuts in each."""
    kinds = rng.permutation(KINDS)[: rng.integers(0, 4)]
    own = "".join(f'<{kind}{random_attributes(rng, kind)} ctrlrange="0 1"/>' for kind in kinds)
    inner = random_classes(rng, depth + 1) if depth + 1 < len(CLASSES) else ""
    name = f' class="{CLASSES[depth]}"' if depth else ""
    return f"<default{name}>{own}{inner}</default>"


def model(classes, actuators, joints=None):
    """A file in which each actuator has a joint of its own."""
    bodies = "".join(BODY.format(k, joints[k] if joints else "") for k in range(len(actuators)))
    rest = "".join(
        f'<{kind} name="u{k}" joint="j{k}" ctrlrange="0 1"{given}/>'
        for k, (kind, given) in enumerate(actuators)
    )
    return f'<mujoco><option gravity="0 0 0"/>{classes}<worldbody>{bodies}</worldbody><actuator>{rest}</actuator></mujoco>'


def off_mujoco(tmp_path, text):
    """How far accelerations are from MuJoCo's at a random state with random inputs; None if it refuses the file."""
    path = tmp_path / "model.xml"
    path.write_text(text)
    return off_file(path, bc.load(path)) if is_taken(path) else None


def is_taken(path):
    mujoco = pytest.importorskip("mujoco")
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    return True


def off_file(path, mech, formulation="recursive"):
    answers = robot_oracles.mujoco(path, mech, np.random.default_rng(3))
    return robot_oracles.compared(robot_oracles.free_of_limits(mech), answers, formulation)[1]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("outer", "inner", "kind"),
    [
        ('<position kp="10" kv="3"/>', "<motor/>", "position"),
        ('<velocity kv="7"/>', "<motor/><velocity/>", "velocity"),
        ('<position kp="10"/><motor/>', "", "position"),
        ('<velocity kv="7"/>', "<general/>", "position"),
        ('<position kp="9"/>', '<general gaintype="affine"/>', "position"),
        ('<general dyntype="filter" gainprm="4"/>', "", "motor"),
    ],
)
def test_a_shortcut_takes_the_numbers_of_the_nearest_class_of_its_kind(tmp_path, outer, inner, kind):
    classes = f'<default>{outer}<default class="a">{inner}</default></default>'
    assert off_mujoco(tmp_path, model(classes, [(kind, ' class="a"')])) < 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(20))
def test_shortcuts_in_nested_classes(tmp_path, seed):
    rng = np.random.default_rng(seed)
    classes = random_classes(rng)
    actuators = [
        (kind, random_attributes(rng, kind) + (f' class="{name}"' if name else ""))
        for kind in KINDS
        for name in CLASSES
    ]
    off = off_mujoco(tmp_path, model(classes, actuators))
    assert off is None or off < 1e-12


def random_ranges(rng):
    """Ranges of an actuator's input and force, and the gear."""
    low, high = rng.uniform(-1.0, 0.0), rng.uniform(0.1, 1.0)
    most = rng.uniform(0.1, 3.0, 2).round(2)
    own = f' gear="{rng.choice([1, 3, -2])}"'
    own += f' ctrlrange="{low} {high}"' if rng.random() < 0.7 else ""
    own += f' forcerange="-{most[0]} {most[1]}"' if rng.random() < 0.6 else ""
    word = rng.choice(["", ' ctrllimited="false"', ' forcelimited="false"'], p=[0.7, 0.15, 0.15])
    return own + word


def random_limited(seed):
    """A file of actuators with ranges, on joints that have ranges of effort."""
    rng = np.random.default_rng(seed)
    actuators, joints = [], []
    for kind in np.tile(("general", "motor", "position", "velocity", "intvelocity"), 3):
        given = random_attributes(rng, kind).replace("dampratio", "kv")
        actuators.append((kind, given + random_ranges(rng)))
        most = rng.uniform(0.1, 3.0, 2).round(2)
        effort = f' actuatorfrcrange="-{most[0]} {most[1]}"' if rng.random() < 0.5 else ""
        joints.append(f'{effort} range="-30 {rng.integers(10, 90)}"')
    inherited = (
        '<default><position inheritrange="0.5"/></default>' if seed % 3 == 2 else ""
    )  # of servos alone
    text = model(inherited, actuators, joints).replace(' ctrlrange="0 1"', "")
    return text.replace("<position", '<position inheritrange="0.5"', 1) if seed % 3 == 1 else text


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(12))
def test_inputs_and_forces_are_held_in_their_ranges(tmp_path, seed):
    off = off_mujoco(tmp_path, random_limited(seed))
    assert off is None or off < 1e-12


@pytest.mark.oracle
@pytest.mark.parametrize("formulation", ["recursive", "lagrange", "symbolic", "dca"])
def test_ranges_hold_in_each_formulation(tmp_path, formulation):
    path = tmp_path / "model.xml"
    path.write_text(random_limited(2))
    assert is_taken(path)
    assert off_file(path, bc.load(path), formulation) < 1e-9


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(4))
def test_ranges_are_written(tmp_path, seed):
    """Motors and servos within ranges come back from MJCF as MuJoCo takes them."""
    path, again = tmp_path / "model.xml", tmp_path / "again.xml"
    rng = np.random.default_rng(seed)
    kinds = ["motor", "position", "velocity"] * 3
    actuators = [(kind, random_ranges(rng)) for kind in kinds]
    joints = [' actuatorfrcrange="-0.4 0.3"' if rng.random() < 0.5 else "" for _ in kinds]
    path.write_text(model("", actuators, joints).replace(' ctrlrange="0 1"', ""))
    mech = bc.load(path)
    assert other_than_contacts(mech) == []
    assert not [fault for fault in bc.save(mech, again) if "force" in fault.element]
    assert off_file(again, mech) < 1e-12
    assert off_file(path, bc.load(again)) < 1e-12


PAIR = """<mujoco><worldbody><site name="s"/>
  <body><joint name="a" axis="0 1 0" actuatorfrcrange="-.1 .2"/><geom size=".1" pos=".1 0 0"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0" actuatorfrcrange="-.1 .2"/><geom size=".1" pos=".1 0 0"/></body></body></worldbody>
  <tendon><fixed name="t"><joint joint="a" coef="2"/></fixed></tendon>
  <actuator><motor name="u" joint="a"/><motor name="v" {second}/></actuator></mujoco>"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("second", "listed"), [('joint="b"', []), ('joint="a"', ["a", "b"]), ('tendon="t"', ["a", "b"])]
)
def test_a_joint_that_several_actuators_move_has_its_range_listed(tmp_path, second, listed):
    path = tmp_path / "model.xml"
    path.write_text(PAIR.format(second=second))
    mech = bc.load(path)
    assert [fault.element for fault in other_than_contacts(mech)] == [f"joint {name!r}" for name in listed]
    assert off_file(path, mech) < 1e-12


TRANSMISSION = """<robot name="r"><link name="a"/><link name="b">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit effort="6" velocity="{speed}"/></joint>
  {motors}</robot>"""
MOTOR = '<transmission name="t{0}"><joint name="j"/><actuator name="m{0}"><mechanicalReduction>-3</mechanicalReduction></actuator></transmission>'


def test_the_effort_of_a_urdf_joint_holds_the_input_of_its_motor(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(TRANSMISSION.format(speed="0", motors=MOTOR.format(1)))
    mech = bc.load(path)
    assert other_than_contacts(mech) == []
    assert str(mech.forces["m1"].kind.torque) in ("max(-2, min(m1, 2))", "max(-2, min(2, m1))")
    assert not bc.save(mech, tmp_path / "again.urdf")
    again = bc.load(tmp_path / "again.urdf")
    assert again.forces["m1"].kind == mech.forces["m1"].kind
    two = path.with_name("two.urdf")
    two.write_text(TRANSMISSION.format(speed="5", motors=MOTOR.format(1) + MOTOR.format(2)))
    assert [fault.rule for fault in other_than_contacts(bc.load(two))] == [
        "limits of effort and speed are not kept"
    ]
    path.write_text(TRANSMISSION.format(speed="5", motors=MOTOR.format(1)))
    assert [fault.rule for fault in other_than_contacts(bc.load(path))] == ["its limit of speed is not kept"]
