# ruff: noqa: E501 (texts of files)
"""Links of URDF and SDF: which of their shapes are drawn, which touch, and which links collide."""

from __future__ import annotations

import pytest

import bellcrank as bc
from bellcrank.mechanism.collisions import NOTE
from bellcrank.scene import of as scene_of

MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = "<geometry><sphere radius='.1'/></geometry>"
BOX = "<geometry><box size='.1 .2 .3'/></geometry>"
RED = "<material name='red'><color rgba='1 0 0 1'/></material>"


def flags(shapes):
    return [(type(shape).__name__, shape.touches, shape.shown) for shape in shapes]


def urdf(folder, *links):
    """A chain of links, each given by its shapes."""
    parts = [f'<link name="l{k}">{MASS}{shapes}</link>' for k, shapes in enumerate(links)]
    parts += [
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="0 0 1"/></joint>'
        for k in range(1, len(links))
    ]
    (folder / "robot.urdf").write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return bc.load(folder / "robot.urdf")


def drawn(inner):
    return f"<visual>{inner}</visual>"


def solid(inner):
    return f"<collision>{inner}</collision>"


def test_what_is_drawn_does_not_touch_where_the_file_says_what_does(tmp_path):
    mech = urdf(tmp_path, drawn(BALL) + solid(BOX), drawn(BALL), solid(BOX), drawn(BALL + RED) + solid(BALL))
    assert {name: flags(body.shapes) for name, body in mech.bodies.items()} == {
        "l0": [("Sphere", False, True), ("Box", True, False)],
        "l1": [("Sphere", False, True)],
        "l2": [("Box", True, True)],
        "l3": [("Sphere", True, True)],
    }
    assert [piece.name for piece in scene_of(mech).bodies["l0"]] == ["l0/1"]
    assert [fault.rule for fault in mech.left_out] == [NOTE]


def test_without_collision_geometry_what_is_drawn_touches_and_nothing_collides(tmp_path):
    mech = urdf(tmp_path, drawn(BALL), drawn(BOX))
    assert [shape.touches for body in mech.bodies.values() for shape in body.shapes] == [True, True]
    assert mech.left_out == ()
    assert mech.contacts_from_file() == []


def test_a_body_of_which_nothing_is_shown_is_drawn_as_one_without_shapes():
    mech = bc.Mechanism("m")
    mech.add_body("a", 1.0, (1, 1, 1), shapes=bc.Sphere(radius=0.1, shown=False))
    bare = bc.Mechanism("m")
    bare.add_body("a", 1.0, (1, 1, 1))
    names = [[piece.name for piece in scene_of(one).bodies["a"]] for one in (mech, bare)]
    assert names[0] == names[1] != []


def test_links_of_urdf_collide_unless_a_joint_joins_them(tmp_path):
    mech = urdf(tmp_path, *[drawn(BALL) + solid(BOX)] * 4)
    (contact,) = mech.contacts_from_file("touch", friction=0.4, stiffness=2e4, exponent=1.5)
    assert [marker.body for marker in contact.markers] == ["l0", "l1", "l2", "l3"]
    assert (contact.name, contact.kind) == ("touch", bc.Contact(stiffness=2e4, friction=0.4, exponent=1.5))
    assert mech.left_out == ()
    again = mech.copy().contacts_from_file("touch")
    assert [force.name for force in again] == ["touch 2"]
    assert again[0].kind.stiffness == pytest.approx(4.0 * 9.81 / 1e-3)


def test_a_faulty_collision_is_left_out_and_listed(tmp_path):
    broken = "<geometry><mesh filename='gone.stl'/></geometry>"
    mech = urdf(tmp_path, drawn(BALL) + solid(broken), drawn(BALL) + solid(BOX))
    assert any("not found" in fault.rule for fault in mech.left_out)
    assert {surface.body for surface in mech.collisions[0].surfaces} == {"l1"}


def test_masses_by_density_are_those_of_what_is_drawn(tmp_path):
    text = '<robot name="r"><link name="a"/><link name="b">SHAPES</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    (tmp_path / "bare.urdf").write_text(text.replace("SHAPES", drawn(BOX) + solid(BALL)))
    assert bc.load(tmp_path / "bare.urdf", density=1000.0).bodies["b"].mass == pytest.approx(6.0)


def test_robots_that_are_placed_collide_as_their_files_say(tmp_path):
    robot = urdf(tmp_path, *[solid(BALL)] * 3)
    both = bc.Mechanism("both")
    for name in ("left", "right"):
        both.place(robot, name)
    added = both.contacts_from_file()
    assert [[marker.body for marker in force.markers] for force in added] == [
        [f"{name}/l0", f"{name}/l2"] for name in ("left", "right")
    ]
    assert both.left_out == ()


@pytest.mark.parametrize("suffix", ["yaml", "json", "urdf"])
def test_flags_come_back(tmp_path, suffix):
    mech = urdf(tmp_path, drawn(BALL) + solid(BOX), drawn(BOX) + solid(BOX))
    bc.save(mech, tmp_path / f"again.{suffix}")
    again = bc.load(tmp_path / f"again.{suffix}")
    assert [flags(body.shapes) for body in again.bodies.values()] == [
        flags(body.shapes) for body in mech.bodies.values()
    ]


def sdf(folder, *models):
    (folder / "world.sdf").write_text(f'<sdf version="1.9"><world name="w">{"".join(models)}</world></sdf>')
    return bc.load(folder / "world.sdf")


def link(name, surface="", own=""):
    geometry = "<geometry><sphere><radius>.1</radius></sphere></geometry>"
    return f'<link name="{name}">{own}<collision name="c">{geometry}<surface>{surface}</surface></collision><visual name="v">{geometry}</visual></link>'


def rubbing(mu):
    return f"<friction><ode><mu>{mu}</mu></ode></friction>"


PLANE = "<geometry><plane><normal>0 1 0</normal><size>8 6</size></plane></geometry>"
FLOOR = f'<model name="floor"><static>true</static><link name="l"><collision name="c">{PLANE}</collision><visual name="v">{PLANE}</visual></link></model>'


def pairs(mech):
    return {
        tuple(marker.body for marker in force.markers): force.kind.friction
        for force in mech.contacts_from_file()
    }


def test_links_of_a_model_of_sdf_collide_if_it_says_so(tmp_path):
    inner = link("a") + link("b")
    assert pairs(sdf(tmp_path, FLOOR, f'<model name="m">{inner}</model>')) == {
        ("ground", "m/a"): 1.0,
        ("ground", "m/b"): 1.0,
    }
    collides = "<self_collide>true</self_collide>"
    assert pairs(sdf(tmp_path, FLOOR, f'<model name="m">{collides}{inner}</model>')) == {
        ("ground", "m/a", "m/b"): 1.0
    }
    one = link("a", own=collides) + link("b")
    assert pairs(sdf(tmp_path, f'<model name="m">{one}</model>', f'<model name="n">{link("a")}</model>')) == {
        ("m/a", "m/b", "n/a"): 1.0
    }


def test_the_least_friction_of_two_surfaces_of_sdf_counts_and_bits_keep_them_apart(tmp_path):
    mech = sdf(
        tmp_path,
        *(f'<model name="m{k}">{link("l", rubbing(mu))}</model>' for k, mu in enumerate((0.2, 0.5, 0.7))),
    )
    assert pairs(mech) == {("m0/l", "m1/l"): 0.2, ("m0/l", "m2/l"): 0.2, ("m1/l", "m2/l"): 0.5}
    masks = [f"<contact><collide_bitmask>{mask}</collide_bitmask></contact>" for mask in ("1", "0x03", "2")]
    mech = sdf(tmp_path, *(f'<model name="m{k}">{link("l", mask)}</model>' for k, mask in enumerate(masks)))
    assert pairs(mech) == {("m0/l", "m1/l"): 1.0, ("m1/l", "m2/l"): 1.0}


def test_planes_of_sdf_stand_on_the_ground(tmp_path):
    (plane,) = sdf(tmp_path, FLOOR, f'<model name="m">{link("a")}</model>').ground.shapes
    assert (plane.size, plane.touches, plane.shown) == (8.0, True, True)
    assert bc.Marker("ground", rotation=plane.rotation).z_axis == pytest.approx((0, 1, 0))
