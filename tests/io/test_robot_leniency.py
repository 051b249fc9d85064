# ruff: noqa: E501 (texts of files)
"""Robots are not refused for what changes no motion: it is taken in the obvious way, or listed with its place."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="1"/>{INERTIA}</inertial>'


def loaded(folder, text, suffix="urdf", **given):
    path = folder / f"model.{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return bc.load(path, **given)


def link(inside="", name="b"):
    return f'<link name="{name}">{INERTIAL}{inside}</link>'


def robot(inside="", joint="", kind="revolute", other="", attributes=""):
    """A robot with a base and a moving link, which contains more, as do the joint and the robot."""
    return (
        f'<robot name="r"{attributes}>\n{link(name="a")}\n{link(inside)}\n'
        f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{joint}</joint>\n{other}</robot>'
    )


def visual(inside):
    return f"<visual>{inside}</visual>"


LIMIT = '<limit lower="-1" upper="1" effort="0" velocity="0"/>'
BALL = '<geometry><sphere radius="0.1"/></geometry>'
URDF = {
    "no geometry": (robot(visual("")), "geometry of its <visual> is missing"),
    "empty geometry": (robot(visual("<geometry/>")), "geometry of its <visual> is missing"),
    "empty mesh": (robot(visual("<geometry><mesh/></geometry>")), "names no file of a mesh"),
    "mesh of a package": (robot(visual('<geometry><mesh filename="package://x/a.stl"/></geometry>')), "its mesh is not found"),
    "mesh that was found": (robot(visual('<geometry><mesh filename="$(find x)/a.stl"/></geometry>')), "its mesh is not found"),
    "scale of two": (robot(visual('<geometry><mesh filename="a.stl" scale="1 2"/></geometry>')), "or one for all axes"),
    "radius missing": (robot(visual("<geometry><sphere/></geometry>")), "radius is missing"),
    "radius no number": (robot(visual('<geometry><sphere radius="x"/></geometry>')), "radius must hold numbers"),
    "radius negative": (robot(visual('<geometry><sphere radius="-1"/></geometry>')), "radius must be greater"),
    "infinite box": (robot(visual('<geometry><box size="inf 1 1"/></geometry>')), "size must be finite"),
    "unknown shape": (robot(visual("<geometry><torus/></geometry>")), "shapes of this kind"),
    "place of a picture": (robot(visual(f'<origin xyz="a b c"/>{BALL}')), "xyz must hold numbers"),
    "empty material": (robot(visual(f"{BALL}<material/>")), None),
    "unknown material": (robot(visual(f'{BALL}<material name="no such"/>')), None),
    "broken color": (robot(visual(f'{BALL}<material><color rgba="red"/></material>')), "rgba must hold numbers"),
    "empty color": (robot(visual(f'{BALL}<material><color rgba=""/></material>')), None),
    "material twice": (robot(other='<material name="m"><color rgba="1 0 0 1"/></material><material name="m"><color rgba="0 0 1 1"/></material>'), "the first material counts"),
    "collision": (robot("<collision/>"), "geometry of its <collision> is missing"),
    "no limit": (robot(joint=""), "needs a <limit>"),
    "limit of nothing": (robot(joint="<limit/>"), "limits leave no room"),
    "limits of nan": (robot(joint='<limit lower="nan" upper="NaN" effort="nan"/>'), "there is no such limit"),
    "limits of inf": (robot(joint='<limit lower="-inf" upper="Infinity"/>'), None),
    "limits of nothing": (robot(joint='<limit lower="" upper=" "/>'), None),
    "no axis of a fixed joint": (robot(joint='<axis xyz="0 0 0"/>', kind="fixed"), None),
    "no axis of a floating joint": (robot(joint='<axis xyz="0 0 0"/>', kind="floating"), None),
    "no axis of a ball": (robot(joint='<axis xyz="0 0 0"/>', kind="spherical"), None),
    "empty axis": (robot(joint=f'<axis xyz=""/>{LIMIT}'), None),
    "empty origin": (robot(joint=f'<origin xyz="" rpy=" "/>{LIMIT}'), None),
    "empty damping": (robot(joint=f'<dynamics damping="" friction=""/>{LIMIT}'), None),
    "kind in capitals": (robot(joint=LIMIT, kind="Revolute"), None),
    "commas": (robot(joint=f'<axis xyz="0, 0, 1"/>{LIMIT}'), "separated by commas"),
    "units": (robot(joint=f'<origin xyz="0.1m 0m 5cm" rpy="0 0 90deg"/>{LIMIT}'), "with units"),
    "limits in degrees": (robot(joint='<limit lower="-90 deg" upper="90deg"/>'), "with units"),
    "undeclared world": (robot(other='<joint name="w" type="fixed"><parent link="world"/><child link="a"/></joint>'), "it is the ground"),
    "no mass": (robot(other=f'<link name="c"><inertial>{INERTIA}</inertial></link><joint name="f" type="fixed"><parent link="b"/><child link="c"/></joint>'), "has no mass"),
    "mass without value": (robot(other=f'<link name="c"><inertial><mass/>{INERTIA}</inertial></link><joint name="f" type="fixed"><parent link="b"/><child link="c"/></joint>'), "has no mass"),
    "property": (robot(other='<xacro:property name="p" value="${1+1}"/>'), "belongs to macros"),
    "macro": (robot(other='<xacro:macro name="p" params="a"><link name="${a}"/></xacro:macro>'), "belongs to macros"),
    "deep property": (robot('<xacro:property name="p" value="1"/>'), "belongs to macros"),
    "include": (robot(other='<xacro:include filename="$(find x)/materials.xacro"/>'), "belongs to macros"),
    "prefix": (robot(attributes=' xmlns:x="http://www.ros.org/wiki/xacro"', other='<x:arg name="p"/>'), "belongs to macros"),
    "attributes": (robot(f'<visual xacro:if="x" colour="y">{BALL}</visual>', attributes=' version="1.0" xacro:name="r"'), None),
    "blank line": ("\n  \n<?xml version='1.0'?>\n" + robot(visual("")), "geometry of its <visual> is missing"),
    "mark and blank line": ("\ufeff\n<?xml version='1.0' encoding='utf-8'?>\n" + robot(visual("")), "geometry of its <visual>"),
    "comment before": ("<!-- made\nby hand -->\n<?xml version='1.0'?>\n" + robot(visual("")), "geometry of its <visual>"),
    "dashes in a comment": ("<!-- a -- b -->\n" + robot("<!-- -- -->" + visual("")), "geometry of its <visual>"),
    "another encoding in a comment": (b"<!-- Andr\xe9 -->" + robot().encode(), "needs a <limit>"),
    "and sign": (robot(other="<author>A & B</author>"), "<author> has no counterpart"),
    "instruction": ("<?xml version='1.0'?><?xml-model href='a'?>" + robot(joint=LIMIT), None),
    "names with blanks": (robot(joint=LIMIT).replace('link="b"', 'link=" b "'), None),
}  # fmt: skip


@pytest.mark.parametrize("name", URDF)
def test_a_robot_is_read_without_what_is_harmless(tmp_path, name):
    text, rule = URDF[name]
    mech = loaded(tmp_path, text)
    assert list(mech.bodies)[:2] == ["a", "b"] or len(mech.bodies) == 1  # a fixed joint
    listed = [fault for fault in mech.left_out if rule is not None and rule in str(fault)]
    assert bool(listed) == (rule is not None), mech.left_out
    assert all(fault.location.line for fault in listed)


def test_lines_are_those_of_the_file(tmp_path):
    """Also where something stands before the declaration."""
    for before in ("\n\n", "<!-- a\n-->\n", "<!-- a -- b\n-->\n"):
        mech = loaded(tmp_path, before + "<?xml version='1.0'?>\n" + robot(visual("")))
        (fault, _) = mech.left_out
        assert fault.location.line == 6


def test_what_is_clear_has_its_value(tmp_path):
    mech = loaded(tmp_path, URDF["units"][0])
    assert mech.bodies["b"].position == pytest.approx((0.1, 0.0, 0.05))
    limits = dict(loaded(tmp_path, URDF["limits in degrees"][0]).joints["j"].limits)["theta_z"]
    assert (limits.lower, limits.upper) == pytest.approx((-np.pi / 2, np.pi / 2))
    assert not loaded(tmp_path, URDF["limits of nan"][0]).joints["j"].limits
    assert loaded(tmp_path, URDF["no axis of a ball"][0]).joints["j"].kind.name == "Spherical"
    assert loaded(tmp_path, URDF["kind in capitals"][0]).joints["j"].kind.name == "Revolute"
    weighed = loaded(tmp_path, robot(joint=LIMIT).replace('<mass value="1"/>', "<mass>2.5</mass>"))
    assert weighed.bodies["b"].mass == 2.5
    grounded = loaded(tmp_path, URDF["undeclared world"][0])
    assert grounded.joints["w"].marker_1.body == "ground"
    assert bc.info(grounded).freedom == 1


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "xml"])
def test_a_mesh_may_have_one_scale(tmp_path, suffix):
    (tmp_path / "a.stl").write_bytes(b"solid")
    text = {
        "urdf": robot(visual('<geometry><mesh filename="a.stl" scale="0.001"/></geometry>')),
        "sdf": '<sdf version="1.9"><model name="m"><link name="b"><visual name="v"><geometry><mesh><uri>a.stl</uri><scale>0.001</scale></mesh></geometry></visual></link></model></sdf>',
        "xml": '<mujoco><asset><mesh name="m" file="a.stl" scale="0.001"/></asset><worldbody><body name="b"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m" mass="0"/></body></worldbody></mujoco>',
    }[suffix]
    (shape,) = loaded(tmp_path, text, suffix).bodies["b"].shapes
    assert shape.scale == (0.001,) * 3


def test_what_makes_a_robot_ambiguous_is_refused(tmp_path):
    """With the reason, and one fault for one mistake."""
    mass = f'<link name="c"><inertial><mass value="x"/>{INERTIA}</inertial></link>'
    for text, rule in (
        (robot(joint='<axis xyz="0 0 0"/>'), "axis must be a direction"),
        (robot(joint='<axis xyz="0,5 0 1"/>'), "must hold numbers"),
        (robot(joint='<limit lower="-0,5" upper="1"/>'), "a decimal point is needed"),
        (robot(other=link()), "this name is taken"),
        (robot(kind="sliding"), "type must be one of"),
        (robot(other='<joint name="k" type="fixed"><parent link="map"/><child link="a"/></joint>'), "its parent is no link"),
        (robot(other=mass), "value must hold numbers"),
        (robot(joint='<origin xyz="1 2"/>'), "xyz must hold 3 numbers"),
        (robot(joint='<origin xyz="1 2 nan"/>'), "xyz must be finite"),
    ):  # fmt: skip
        with pytest.raises(MechanismError, match=rule) as raised:
            loaded(tmp_path, text)
        assert len(raised.value.faults) == 1


MACROS = {
    "a call": robot(other="<xacro:arm/>"),
    "a call in a link": robot("<xacro:inertia m='1'/>"),
    "an expression": robot(joint='<origin xyz="${x} 0 0"/>'),
    "an expression deep in a file": robot(visual('<geometry><sphere radius="${r}"/></geometry>')),
    "an argument": robot(joint='<origin xyz="$(arg x) 0 0"/>'),
    "an expression in a text": robot(other="<gazebo><a>${b}</a></gazebo>"),
    "nothing else": '<robot><xacro:include filename="a"/></robot>',
    "only a definition": '<robot><xacro:macro name="a"><link name="b"/></xacro:macro></robot>',
    "links elsewhere": robot(other='<xacro:include filename="a"/><joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>'),
    "another prefix": robot(attributes=' xmlns:x="http://ros.org/wiki/xacro"', other="<x:arm/>"),
    "a condition": robot(other='<xacro:if value="1"/>'),
}  # fmt: skip


@pytest.mark.parametrize("name", MACROS)
def test_macros_are_to_be_expanded_first(tmp_path, name):
    with pytest.raises(MechanismError, match="macros are not expanded here") as raised:
        loaded(tmp_path, MACROS[name])
    (fault,) = raised.value.faults
    assert fault.location.line
    assert "xacro model.urdf > expanded_model.urdf" in fault.advice


def test_a_file_of_macros_is_read_if_there_is_nothing_to_expand(tmp_path):
    assert list(loaded(tmp_path, robot(joint=LIMIT), "xacro").bodies) == ["a", "b"]
    text = robot(other='<xacro:include filename="gripper.xacro"/>')
    for suffix, result in (("xacro", "model.urdf"), ("urdf.xacro", "model.urdf"), ("sdf.xacro", "model.sdf")):
        with pytest.raises(MechanismError, match=f"xacro model.{suffix} > {result}"):
            loaded(tmp_path, text, suffix)


def sdf(inside, version="1.9"):
    return f'<sdf version="{version}"><model name="m"><link name="a"/>\n<link name="tip">{inside}<pose>1 0 0 0 0 0</pose></link>\n'


JOINT = '<joint name="tip" type="revolute"><parent>a</parent><child>tip</child>\n<axis><xyz>0 0 1</xyz></axis></joint>'


@pytest.mark.parametrize("order", [1, -1])
def test_a_joint_of_sdf_may_have_the_name_of_its_link(tmp_path, order):
    """In any order; what refers to the name means the link, and the joint can still be followed."""
    parts = ['<link name="tip"><pose>1 0 0 0 0 0</pose></link>', JOINT][::order]
    follower = '<link name="b"><pose relative_to="tip">0 2 0 0 0 0</pose></link><joint name="k" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz><mimic joint="tip"><multiplier>2</multiplier></mimic></axis></joint>'
    text = f'<sdf version="1.9"><model name="m"><link name="a"/>{"".join(parts)}{follower}</model></sdf>'
    mech = loaded(tmp_path, text, "sdf")
    assert list(mech.joints) == ["tip", "k"]
    assert mech.bodies["b"].position == pytest.approx((1.0, 2.0, 0.0))
    assert mech.constraints["k mimic"].kind == bc.Coupling((1.0, -2.0), 0.0)
    (listed,) = [fault for fault in mech.left_out if "has the same name" in fault.rule]
    assert listed.element == "joint 'tip'"
    assert listed.location.line


@pytest.mark.parametrize(
    ("inside", "rule"),
    [
        ('<visual name="v"/>', "its geometry is missing"),
        ('<visual name="v"><geometry/></visual>', "its geometry is missing"),
        ('<collision name="v"/>', "its geometry is missing"),
        ('<visual name="v"><geometry><sphere><radius>-1</radius></sphere></geometry></visual>', "radius must be"),
        ('<visual name="v"><geometry><sphere><radius>x</radius></sphere></geometry></visual>', "must hold numbers"),
        ('<visual name="v"><pose>1 2</pose><geometry><sphere/></geometry></visual>', "pose must hold 6 numbers"),
        ('<visual name="v"><geometry><mesh/></geometry></visual>', "names no file"),
        ('<visual name="v"><geometry><sphere/></geometry><material><diffuse>a</diffuse></material></visual>', "diffuse must"),
    ],
)  # fmt: skip
def test_pictures_of_sdf_do_not_refuse_a_model(tmp_path, inside, rule):
    mech = loaded(tmp_path, sdf(inside) + JOINT + "</model></sdf>", "sdf")
    assert list(mech.bodies) == ["a", "tip"]
    (listed,) = [fault for fault in mech.left_out if rule in str(fault)]
    assert listed.location.line == 2


def test_two_links_of_sdf_of_one_name_are_refused(tmp_path):
    for second in ('<link name="a"/>', '<model name="a"><link name="b"/></model>'):
        with pytest.raises(MechanismError, match="this name is taken"):
            loaded(
                tmp_path, f'<sdf version="1.9"><model name="m"><link name="a"/>{second}</model></sdf>', "sdf"
            )


def test_an_inertial_of_mjcf_without_a_mass_leaves_it_to_the_geoms(tmp_path):
    text = '<mujoco><worldbody><body name="b"><freejoint/>\n<inertial pos="1 0 0"/><geom size="0.1" mass="2"/></body></worldbody></mujoco>'
    mech = loaded(tmp_path, text, "xml")
    assert mech.bodies["b"].mass == 2.0
    assert [(fault.rule, fault.location.line) for fault in mech.left_out] == [
        ("its <inertial> has no mass: it is not taken", 2)
    ]


def test_a_broken_color_of_mjcf_is_left_out(tmp_path):
    text = '<mujoco><worldbody><body name="b"><freejoint/><geom size="0.1" mass="2" rgba="red"/></body></worldbody></mujoco>'
    mech = loaded(tmp_path, text, "xml")
    assert mech.bodies["b"].shapes[0].color is None
    assert "rgba must hold numbers" in str(mech.left_out[0])


@pytest.mark.parametrize(("kind", "held"), [("revolute", "it stands on the ground"), ("fixed", "it floats")])
def test_a_second_root_of_a_urdf_is_listed_with_both_names(tmp_path, kind, held):
    mech = loaded(tmp_path, robot(joint=LIMIT, kind=kind, other=link(name="lone")))
    (fault,) = [one for one in mech.left_out if "no parent" in one.rule]
    assert (fault.element, fault.value) == ("link 'lone'", ["a", "lone"])
    assert held in fault.rule
    assert ("lone (ground)" in mech.joints) == (kind == "revolute")
    assert fault.location.line == 5
    single = loaded(tmp_path, robot(joint=LIMIT, kind=kind))
    assert not [one for one in single.left_out if "no parent" in one.rule]
