# ruff: noqa: E501 (texts of files)
"""Small models of robots that use what URDF, MJCF and SDF offer, and one random tree written in all three."""

from __future__ import annotations

import numpy as np

URDF = """<?xml version="1.0"?>
<robot name="gripper_arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="world"/>
  <link name="base">
    <inertial><origin xyz="0 0 0.05"/><mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>
    <visual><geometry><cylinder radius="0.1" length="0.1"/></geometry><material name="grey"/></visual>
  </link>
  <link name="slider"/>
  <link name="upper">
    <inertial><origin xyz="0 0.01 0.2" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="-0.002" izz="0.02"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.05 0.4"/></geometry></visual>
    <visual><geometry><mesh filename="package://arm_description/meshes/upper.stl" scale="0.001 0.001 0.001"/></geometry></visual>
    <collision><geometry><sphere radius="0.06"/></geometry></collision>
  </link>
  <link name="payload"><inertial><mass value="0.3"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial></link>
  <link name="camera"/>
  <link name="left"><inertial><origin xyz="0 0 0.03"/><mass value="0.1"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
  <link name="right"><inertial><origin xyz="0 0 0.03"/><mass value="0.1"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 0.3" rpy="0 0 0.4"/></joint>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="slider"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="100" velocity="1"/></joint>
  <joint name="shoulder" type="continuous"><parent link="slider"/><child link="upper"/><origin rpy="0.2 0 0"/><axis xyz="0 2 0"/>
    <dynamics damping="0.4" friction="0.1"/></joint>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="payload"/><origin xyz="0 0 0.4"/></joint>
  <joint name="eye" type="fixed"><parent link="payload"/><child link="camera"/><origin xyz="0.02 0 0"/></joint>
  <joint name="finger" type="revolute"><parent link="payload"/><child link="left"/><origin xyz="0 0.02 0"/><axis xyz="1 0 0"/>
    <limit lower="0.1" upper="0.8" effort="5" velocity="2"/><safety_controller k_velocity="1"/></joint>
  <joint name="thumb" type="revolute"><parent link="payload"/><child link="right"/><origin xyz="0 -0.02 0"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><mimic joint="finger" multiplier="-1" offset="0.05"/></joint>
  <transmission name="drive"><type>SimpleTransmission</type><joint name="shoulder"/>
    <actuator name="shoulder_motor"><mechanicalReduction>50</mechanicalReduction><rotorInertia>1e-5</rotorInertia></actuator></transmission>
  <gazebo reference="camera"><sensor name="eye" type="camera"/></gazebo>
</robot>
"""

LOOP_URDF = """<robot name="four_bar">
  <link name="crank"><inertial><origin xyz="0.05 0 0"/><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="coupler"><inertial><origin xyz="0.15 0 0"/><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-2" iyz="0" izz="1e-2"/></inertial></link>
  <link name="rocker"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="5e-3" iyz="0" izz="5e-3"/></inertial></link>
  <link name="frame"/>
  <joint name="a" type="continuous"><parent link="frame"/><child link="crank"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="crank"/><child link="coupler"/><origin xyz="0.1 0 0" rpy="0 -0.9272952180016122 0"/><axis xyz="0 1 0"/></joint>
  <joint name="c" type="continuous"><parent link="frame"/><child link="rocker"/><origin xyz="0.28 0 0" rpy="0 -1.5707963267948966 0"/><axis xyz="0 1 0"/></joint>
  {closing}
</robot>
"""
LOOP_JOINT = """<loop_joint name="d" type="spherical"><link1 link="coupler" xyz="0.3 0 0"/><link2 link="rocker" xyz="0.24 0 0"/></loop_joint>"""
GAZEBO_JOINT = """<gazebo><joint name="d" type="revolute"><parent>coupler</parent><child>rocker</child>
    <pose>0.24 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>"""

MJCF = """<mujoco model="everything">
  <compiler angle="degree" eulerseq="XYZ" autolimits="true"/>
  <option gravity="0 0 -9.8" timestep="0.001"/>
  <default>
    <geom density="700"/>
    <joint damping="0.05"/>
    <default class="strong"><joint armature="0.02" stiffness="3"/><motor gear="5"/>
      <default class="stop"><joint range="-60 90"/></default></default>
  </default>
  <asset><material name="red" rgba="1 0 0 1"/><mesh name="lost" file="lost.stl"/></asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="cart" pos="0 0 1" euler="0 0 30">
      <joint name="x" type="slide" axis="1 0 0" ref="0.1"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="yaw" axis="0 0 1" pos="0.1 0 0" damping="0.2"/>
      <geom type="box" size="0.2 0.15 0.05" material="red"/>
      <site name="top" pos="0 0 0.05" zaxis="1 0 1"/>
      <body name="arm" pos="0.2 0 0" childclass="strong">
        <joint name="hip" class="stop" axis="0 1 0" springref="20"/>
        <joint name="twist" axis="0 0 1" ref="15"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 -0.2" size="0.03"/>
        <geom type="ellipsoid" pos="0.3 0 -0.2" size="0.05 0.04 0.06" mass="0.2" euler="10 20 30"/>
        <body name="tool" pos="0.3 0 -0.2" gravcomp="1">
          <inertial pos="0 0.01 0" mass="0.4" fullinertia="1e-3 2e-3 1.5e-3 1e-4 0 2e-4"/>
          <geom type="sphere" size="0.02"/>
        </body>
        <frame pos="0 0 0.1" axisangle="1 0 0 45">
          <body name="ball" pos="0.1 0 0">
            <joint name="socket" type="ball" stiffness="0.5"/>
            <geom type="cylinder" size="0.02 0.1" pos="0 0 0.1"/>
            <geom type="mesh" mesh="lost" mass="0"/>
          </body>
        </frame>
      </body>
    </body>
    <body name="stone" pos="1 0 2">
      <freejoint name="fall"/>
      <geom type="cylinder" size="0.1 0.05" xyaxes="0 1 0 0 0 1"/>
      <site name="hook" pos="0 0.1 0"/>
    </body>
    <body name="rocker" pos="-0.5 0 1">
      <joint name="rock" axis="0 1 0" frictionloss="0.1"/>
      <geom type="box" size="0.1 0.02 0.02" pos="0.1 0 0"/>
    </body>
    <body name="post" pos="1 0 2.5"><geom type="sphere" size="0.01"/><site name="peg"/></body>
  </worldbody>
  <tendon>
    <fixed name="sum" stiffness="2" damping="0.1"><joint joint="hip" coef="1"/><joint joint="rock" coef="-0.5"/></fixed>
    <spatial name="rope" range="0 1"><site site="peg"/><site site="hook"/></spatial>
  </tendon>
  <equality>
    <joint name="geared" joint1="rock" joint2="twist" polycoef="0 0.5 0 0 0"/>
    <connect name="pin" body1="rocker" body2="cart" anchor="0.5 0 0" active="false"/>
  </equality>
  <actuator>
    <motor name="turn" joint="hip" class="strong"/>
    <position name="hold" joint="rock" kp="4" kv="0.3"/>
    <velocity name="spin" joint="yaw" kv="0.2"/>
    <general name="affine" joint="x" gainprm="3" biastype="affine" biasprm="0.5 -2 -0.1" gear="2"/>
    <motor name="pull" tendon="sum" gear="0.3"/>
    <motor name="jet" site="hook" gear="0 0 1 0.1 0 0"/>
    <muscle name="flesh" joint="rock"/>
  </actuator>
  <sensor><jointpos joint="hip"/></sensor>
</mujoco>
"""

SDF = """<?xml version="1.0"?>
<sdf version="1.9">
  <world name="lab">
    <gravity>0 0 -9.5</gravity>
    <model name="linkage">
      <pose>0 0 0.5 0 0 0.3</pose>
      <frame name="anchor"><pose>0.1 0 0 0 0.2 0</pose></frame>
      <link name="crank"><pose relative_to="anchor">0 0 0 0 0 0</pose>
        <inertial><pose>0.1 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.001</ixx><iyy>0.004</iyy><izz>0.004</izz></inertia></inertial>
        <visual name="v"><geometry><box><size>0.2 0.02 0.02</size></box></geometry><material><diffuse>1 0 0 1</diffuse></material></visual>
      </link>
      <link name="rod"><pose relative_to="crank">0.2 0 0 0 -0.5 0</pose>
        <inertial><pose>0.15 0 0 0 0 0</pose><mass>0.5</mass><inertia><ixx>0.001</ixx><iyy>0.005</iyy><izz>0.005</izz></inertia></inertial>
        <collision name="c"><geometry><cylinder><radius>0.01</radius><length>0.3</length></cylinder></geometry></collision>
      </link>
      <joint name="base" type="revolute"><parent>world</parent><child>crank</child>
        <axis><xyz expressed_in="__model__">0 1 0</xyz><dynamics><damping>0.1</damping><friction>0.02</friction></dynamics></axis></joint>
      <joint name="knee" type="revolute"><parent>crank</parent><child>rod</child>
        <axis><xyz>0 1 0</xyz><limit><lower>-2</lower><upper>2</upper></limit>
          <dynamics><spring_stiffness>1</spring_stiffness><spring_reference>0.2</spring_reference></dynamics></axis></joint>
      <model name="hand"><pose relative_to="rod">0.3 0 0 0 0 0</pose>
        <link name="palm"><inertial><mass>0.2</mass><inertia><ixx>1e-4</ixx><iyy>1e-4</iyy><izz>1e-4</izz></inertia></inertial><gravity>false</gravity></link>
        <link name="nut"><pose>0.05 0 0 0 0 0</pose><inertial><mass>0.1</mass><inertia><ixx>1e-4</ixx><iyy>1e-4</iyy><izz>1e-4</izz></inertia></inertial></link>
        <joint name="thread" type="screw"><parent>palm</parent><child>nut</child><axis><xyz>1 0 0</xyz></axis><screw_thread_pitch>0.002</screw_thread_pitch></joint>
      </model>
      <joint name="cardan" type="universal"><parent>rod</parent><child>hand::palm</child><axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
      <plugin name="p" filename="p.so"/>
    </model>
    <model name="table"><static>true</static><link name="top"><visual name="v"><geometry><box><size>1 1 0.05</size></box></geometry></visual></link></model>
    <light name="sun" type="directional"/>
  </world>
</sdf>
"""


def random_tree(seed, count=8):
    """Links of a random tree: parent (-1: the world), kind, placing (xyz, rpy), axis, mass, com, inertia (3, 3)."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        moments = rng.uniform(0.01, 0.02, 3)
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        found.append(
            {
                "parent": int(rng.integers(-1 if number == 0 else 0, max(number, 1))) if number else -1,
                "kind": ("revolute", "prismatic", "fixed")[int(rng.integers(0, 3))] if number else "revolute",
                "xyz": rng.uniform(-0.3, 0.3, 3),
                "rpy": rng.uniform(-1.5, 1.5, 3),
                "axis": rng.normal(size=3),
                "mass": float(rng.uniform(0.5, 2.0)),
                "com": rng.uniform(-0.1, 0.1, 3),
                "inertia": (axes * moments) @ axes.T,
            }
        )
    return found


def _text(numbers):
    return " ".join(repr(float(x)) for x in np.ravel(numbers))


def _entries(inertia):
    """The six numbers of a matrix, as URDF and SDF call them."""
    axes = "xyz"
    return [(f"i{axes[k]}{axes[n]}", float(inertia[k, n])) for k in range(3) for n in range(k, 3)]


def as_urdf(tree):
    """The tree as a URDF text."""
    lines = ['<robot name="tree">', '<link name="world"/>']
    for k, one in enumerate(tree):
        held = " ".join(f'{key}="{value!r}"' for key, value in _entries(one["inertia"]))
        parent = "world" if one["parent"] < 0 else f"b{one['parent']}"
        kind = one["kind"].replace("revolute", "continuous")
        lines += [
            f'<link name="b{k}"><inertial><origin xyz="{_text(one["com"])}"/><mass value="{one["mass"]!r}"/>',
            f"<inertia {held}/></inertial></link>",
            f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="b{k}"/>',
            f'<origin xyz="{_text(one["xyz"])}" rpy="{_text(one["rpy"])}"/><axis xyz="{_text(one["axis"])}"/>',
            '<limit lower="-9" upper="9" effort="0" velocity="0"/></joint>'
            if kind == "prismatic"
            else "</joint>",
        ]
    return "\n".join([*lines, "</robot>"])


def as_mjcf(tree):
    """The tree as an MJCF text."""

    def body(k):
        one = tree[k]
        i = one["inertia"]
        full = _text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        kind = {"revolute": "hinge", "prismatic": "slide"}.get(one["kind"])
        joint = f'<joint name="j{k}" type="{kind}" axis="{_text(one["axis"])}"/>' if kind else ""
        inner = "".join(body(n) for n in range(len(tree)) if tree[n]["parent"] == k)
        return (
            f'<body name="b{k}" pos="{_text(one["xyz"])}" euler="{_text(one["rpy"])}">{joint}\n'
            f'<inertial pos="{_text(one["com"])}" mass="{one["mass"]!r}" fullinertia="{full}"/>\n{inner}</body>\n'
        )

    roots = "".join(body(n) for n in range(len(tree)) if tree[n]["parent"] < 0)
    return (
        '<mujoco model="tree"><compiler angle="radian" eulerseq="XYZ"/><option gravity="0 0 -9.81"/>\n'
        f"<worldbody>{roots}</worldbody></mujoco>"
    )


def as_sdf(tree):
    """The tree as an SDF text, with poses relative to the links that carry them."""
    lines = ['<sdf version="1.7"><model name="tree">']
    for k, one in enumerate(tree):
        held = "".join(f"<{key}>{value!r}</{key}>" for key, value in _entries(one["inertia"]))
        parent = "world" if one["parent"] < 0 else f"b{one['parent']}"
        base = "__model__" if one["parent"] < 0 else parent
        lines += [
            f'<link name="b{k}"><pose relative_to="{base}">{_text(one["xyz"])} {_text(one["rpy"])}</pose>',
            f"<inertial><pose>{_text(one['com'])} 0 0 0</pose><mass>{one['mass']!r}</mass>",
            f"<inertia>{held}</inertia></inertial></link>",
            f'<joint name="j{k}" type="{one["kind"]}"><parent>{parent}</parent><child>b{k}</child>',
            f"<axis><xyz>{_text(one['axis'])}</xyz></axis></joint>",
        ]
    return "\n".join([*lines, "</model></sdf>"])


TEXTS = {"urdf": URDF, "xml": MJCF, "sdf": SDF}
"""By suffix."""
WRITERS = {"urdf": as_urdf, "xml": as_mjcf, "sdf": as_sdf}
"""Of random trees, by suffix."""
