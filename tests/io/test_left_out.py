# ruff: noqa: E501 (texts of files)
"""What a robot's file contains and its mechanism lacks: nothing goes unlisted, and what moves or weighs refuses to run."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner
from rigs.robot_models import TEXTS

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.errors import MechanismError
from bellcrank.io.robots import mjcf, sdf, urdf

QUIET = {"urdf": urdf._QUIET, "xml": mjcf.QUIET, "sdf": sdf._QUIET}
GEOM = '<geom type="box" size=".1 .2 .3"/>'
WHOLE = (
    *("collision", "safety_controller", "transmission/joint", "transmission/actuator", "gazebo/sensor"),
    *("light", "plugin", "sensor/jointpos", "actuator/muscle", "equality/connect"),
)
"""Elements of the models that are listed, or have no effect, as a whole."""
SLIDE = f'<body name="b"><joint name="j" type="slide"/>{GEOM}<site name="s"/></body>'


def loaded(folder, text, suffix="xml"):
    path = folder / f"model.{suffix}"
    path.write_text(text)
    return bc.load(path)


def written(body=SLIDE, before="", after=""):
    return f"<mujoco>{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def elements(root, quiet):
    """All elements but those that change no motion, and those that are listed as a whole."""
    for child in root:
        names = {child.tag, f"{root.tag}/{child.tag}"}
        if names.isdisjoint((*quiet.tags, *WHOLE)) and child.get("type") != "plane":
            yield child
            yield from elements(child, quiet)


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("kind", ["attribute", "element", "text"])
def test_whatever_a_reader_does_not_use_is_listed(tmp_path, suffix, kind):
    """Something unknown in any place of a file is listed, refused, or part of what is listed as a whole."""
    count = len(list(elements(ET.fromstring(TEXTS[suffix]), QUIET[suffix])))
    assert count > 30
    for number in range(count):
        root = ET.fromstring(TEXTS[suffix])
        at = list(elements(root, QUIET[suffix]))[number]
        if kind == "attribute":
            at.set("unheard", "7")
        elif kind == "element":
            ET.SubElement(at, "unheard", {"of": "7"})
        elif (at.text or "").strip():
            continue
        else:
            at.text = "unheard"
        try:
            left = loaded(tmp_path, ET.tostring(root, encoding="unicode"), suffix).left_out
        except MechanismError as error:
            left = error.faults
        assert any("unheard" in str(fault) for fault in left), ET.tostring(at)


MOVES = {
    "armature of a spatial tendon": (written('<site name="o"/>' + SLIDE, after='<tendon><spatial armature="5"><site site="o"/><site site="s"/></spatial></tendon>'), "armature of a tendon"),
    "limits of a fixed tendon": (written(after='<tendon><fixed range="0 1" limited="true"><joint joint="j" coef="1"/></fixed></tendon>'), "limits of a sum"),
    "spring over a pulley": (written(after='<tendon><spatial stiffness="1"><site site="s"/><pulley divisor="2"/></spatial></tendon>'), "runs over a pulley"),
    "composite": (written(SLIDE + '<composite type="cable" curve="s" count="4 1 1" size="1"><geom size=".1"/></composite>'), "not expanded"),
    "bodies of a composite that others name": (written(SLIDE + '<composite type="cable" count="4 1 1"/>', after='<equality><connect body1="B_last" body2="b" anchor="0 0 0"/></equality>'), "among what is left out"),
    "flexible body": (written(SLIDE, after='<deformable><flex name="f" dim="1"/></deformable>'), "deforms"),
    "flexible body of a grid": (written(SLIDE + '<flexcomp name="f" type="grid" count="2 2 2"/>'), "not expanded"),
    "muscle": (written(after='<actuator><muscle joint="j"/></actuator>'), "muscle"),
    "spring by time constant": (written(SLIDE.replace("/>", ' springdamper="1 1"/>', 1)), "springdamper"),
    "ellipsoids in a medium": (written(SLIDE.replace("<geom", '<geom fluidshape="ellipsoid"'), '<option density="9"/>'), "on ellipsoids"),
    "word that is misspelled": (written(SLIDE.replace("/>", ' stifness="1"/>', 1)), "stifness is not used"),
    "mesh whose file is missing": (written(SLIDE.replace(GEOM, GEOM + '<geom type="mesh" mesh="m"/>'), '<asset><mesh name="m" file="gone.stl"/></asset>'), "mass of its mesh"),
}  # fmt: skip
RESTS = {
    "camera": (written(SLIDE + "<camera/>"), "cameras"),
    "delay": (written(after='<actuator><motor joint="j" delay=".1" nsample="20"/></actuator>'), "delay"),
    "range of an input": (written(after='<actuator><position joint="j" inheritrange="1"/></actuator>'), "ranges"),
    "disabled actuator": (written(before='<option actuatorgroupdisable="3"/>', after='<actuator><motor joint="j" group="3"/></actuator>'), "disabled"),
    "mesh of a body whose inertia is given": (written(SLIDE.replace(GEOM, '<inertial pos="0 0 0" mass="1"/><geom type="mesh" mesh="m"/>'), '<asset><mesh name="m" file="gone.stl"/></asset>'), "not found"),
    "mesh of the ground": (written(SLIDE + '<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="gone.stl"/></asset>'), "not found"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "moves"), [*((n, True) for n in MOVES), *((n, False) for n in RESTS)])
def test_what_is_left_out_moves_or_does_not(tmp_path, name, moves):
    text, rule = (MOVES if moves else RESTS)[name]
    mech = loaded(tmp_path, text)
    assert any(rule in str(fault) and fault.moves is moves for fault in mech.left_out)
    if not moves:
        assert not any(fault.moves for fault in mech.left_out)


@pytest.mark.parametrize("suffix", TEXTS)
def test_names_and_pictures_are_quiet(tmp_path, suffix):
    """Nothing is listed but what the file has and the mechanism has not."""
    told = [str(fault) for fault in loaded(tmp_path, TEXTS[suffix], suffix).left_out]
    assert not [text for text in told if "is not used" in text]


def test_a_run_without_what_moves_is_refused_unless_it_is_allowed(tmp_path):
    car = loaded(tmp_path, MOVES["composite"][0])
    for run in (bc.simulate, bc.start):
        with pytest.raises(MechanismError, match=r"not expanded.*left_out='allow'.*model.xml:1"):
            run(car, 0.1)
        with pytest.raises(MechanismError, match="left_out must be 'refuse' or 'allow'"):
            run(car, 0.1, left_out="yes")
    with pytest.raises(MechanismError, match="not expanded"):
        bc.simulate(car, mode="quasistatic", step=0.1, duration=0.1)
    assert bc.simulate(car, 0.1, left_out="allow").status == "finished"
    assert bc.simulate(loaded(tmp_path, RESTS["camera"][0]), 0.1).status == "finished"
    whole = bc.Mechanism("street")
    whole.place(car, "car")
    with pytest.raises(MechanismError, match="not expanded"):
        bc.simulate(whole, 0.1)


def test_the_command_line_and_the_shell_refuse_it_too(tmp_path):
    loaded(tmp_path, MOVES["composite"][0])
    file = str(tmp_path / "model.xml")
    told = CliRunner().invoke(bellcrank, ["run", file, "-d", "0.1"])
    assert told.exit_code == 2
    assert "1 things in the file are left out, 1 of which move or weigh" in told.stderr
    assert "is not expanded" in told.stderr
    assert CliRunner().invoke(bellcrank, ["run", file, "-d", "0.1", "--allow-left-out"]).exit_code == 0
    assert "(it moves or weighs): <composite>" in CliRunner().invoke(bellcrank, ["info", file]).output
    lines = f"load {file}\nrun 0.1\nrun 0.1 left_out=allow\nrun 0.1\n"
    shell = CliRunner().invoke(bellcrank, ["shell"], input=lines)
    assert shell.output.count("is not expanded") == 1
    assert "t = 0.2 s" in shell.output


def test_a_weld_without_torques_is_a_ball(tmp_path):
    body = f'<body name="f"><freejoint/>{GEOM}</body>'
    weld = '<equality><weld body1="f" torquescale="{}" anchor=".1 .2 .3"/></equality>'
    (ball,) = loaded(tmp_path, written(body, after=weld.format(0))).joints.values()
    assert ball.kind == bc.Spherical()
    assert ball.marker_1.position == ball.marker_2.position == (0.1, 0.2, 0.3)
    (fixed,) = loaded(tmp_path, written(body, after=weld.format(0.5))).joints.values()
    assert fixed.kind == bc.Fixed()


def world(version, inner):
    return f'<sdf version="{version}"><world name="w">{inner}<model name="m"><link name="a"><inertial/></link></model></world></sdf>'


@pytest.mark.parametrize(
    ("text", "gravity"),
    [
        (world("1.9", ""), -9.8),
        (world("1.9", "<gravity>0 0 -3</gravity>"), -3.0),
        (world("1.4", "<physics><gravity>0 0 -2</gravity></physics>"), -2.0),
        (world("1.9", "<physics><gravity>0 0 -2</gravity></physics>"), -9.8),
        ('<sdf version="1.9"><model name="m"><link name="a"><inertial/></link></model></sdf>', -9.81),
    ],
)
def test_gravity_of_sdf_is_where_its_version_states_it(tmp_path, text, gravity):
    assert loaded(tmp_path, text, "sdf").gravity == (0.0, 0.0, gravity)


def test_an_inertia_by_shapes_has_the_mass_that_is_stated(tmp_path):
    text = '<sdf version="1.11"><model name="m"><link name="a"><inertial auto="true"><mass>6</mass></inertial><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision></link></model></sdf>'
    body = loaded(tmp_path, text, "sdf").bodies["a"]
    assert body.mass == pytest.approx(6.0)
    np.testing.assert_allclose(body.inertia, np.eye(3), atol=1e-12)


def test_mass_that_water_adds_moves(tmp_path):
    text = '<sdf version="1.10"><model name="m"><link name="a"><inertial><mass>1</mass><fluid_added_mass><xx>5</xx></fluid_added_mass></inertial></link></model></sdf>'
    assert [(f.rule, f.moves) for f in loaded(tmp_path, text, "sdf").left_out] == [
        ("<fluid_added_mass> has no counterpart", True)
    ]


def test_a_merged_model_becomes_part_of_the_scope(tmp_path):
    hand = '<sdf version="1.9"><model name="hand"><link name="palm"><pose>1 0 0 0 0 0</pose><inertial/></link><frame name="tip" attached_to="palm"><pose>0 0 1 0 0 0</pose></frame></model></sdf>'
    (tmp_path / "hand.sdf").write_text(hand)
    text = '<sdf version="1.9"><model name="m"><include merge="true"><uri>hand.sdf</uri><pose>0 2 0 0 0 1.5707963267948966</pose></include><link name="b"><inertial/></link><joint name="j" type="revolute"><parent>palm</parent><child>b</child><axis><xyz expressed_in="tip">1 0 0</xyz></axis></joint></model></sdf>'
    mech = loaded(tmp_path, text, "sdf")
    assert list(mech.bodies) == ["palm", "b"]
    np.testing.assert_allclose(mech.bodies["palm"].position, (0.0, 3.0, 0.0), atol=1e-15)
    assert mech.joints["j"].marker_1.body == "palm"
    assert "palm.tip" in mech.markers
    apart = loaded(
        tmp_path,
        text.replace(' merge="true"', "")
        .replace("palm<", "hand::palm<")
        .replace('in="tip"', 'in="hand::tip"'),
        "sdf",
    )
    assert list(apart.bodies) == ["hand/palm", "b"]


@pytest.mark.parametrize("suffix", ["urdf", "sdf"])
def test_a_rotor_without_mass_keeps_its_inertia(tmp_path, suffix):
    """A wheel that a torque turns: the motion is that of its inertia."""
    inertia = '<inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/>'
    links = f'<link name="a"><inertial><mass value="1"/>{inertia}</inertial></link><link name="b"><inertial><mass value="0"/>{inertia}</inertial></link>'
    text = f'<robot name="r">{links}<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    if suffix == "sdf":
        given = "<inertia><ixx>1</ixx><iyy>1</iyy><izz>0.5</izz></inertia></inertial></link>"
        text = f'<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass>{given}<link name="b"><inertial><mass>0</mass>{given}<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>'
    mech = loaded(tmp_path, text, suffix)
    assert any("an inertia and no mass" in fault.rule for fault in mech.left_out)
    if suffix == "sdf":
        mech.add_joint("hold", bc.Fixed(), mech.ground, mech.bodies["a"])
    mech.add_force("torque", bc.JointMotor(2.0), "j.theta_z")
    run = bc.simulate(mech, 1.0)
    assert run.joint("j").velocity[-1, 0] == pytest.approx(4.0, rel=1e-6)
