# ruff: noqa: E501 (texts of files)
"""Collision shapes in robot files, and which of them touch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs.robot_packages import Model

import bellcrank as bc
from bellcrank.mechanism.collisions import NOTE, cliques
from bellcrank.scene import of as scene_of

BALL = '<geom size=".1"/>'
FLOOR = '<geom name="floor" type="plane" size="3 3 .1"/>'


def free(name, geoms=BALL, inner="", at="0 0 1"):
    return f'<body name="{name}" pos="{at}"><freejoint/>{geoms}{inner}</body>'


def hinged(name, geoms=BALL, inner="", at="0 .3 0"):
    return f'<body name="{name}" pos="{at}"><joint axis="1 0 0"/>{geoms}{inner}</body>'


def world(inner, before="", after=""):
    return f"<mujoco>{before}<worldbody>{inner}</worldbody>{after}</mujoco>"


def geom(size=".1", **given):
    return f'<geom size="{size}" {" ".join(f"{key}={chr(34)}{value}{chr(34)}" for key, value in given.items())}/>'


CHAIN = free("a", inner=hinged("b", inner=hinged("c", inner=hinged("d"))))
NAMED = free("a", geom(name="g")) + free("b", geom(name="h"), at="1 0 1") + free("c", at="0 1 1")
RULES = {
    "all alike": world(FLOOR + CHAIN + free("e", at="2 0 1")),
    "bits": world(
        geom(type="plane", size="2 2 1", contype=1, conaffinity=2) + free("a", geom(contype=2, conaffinity=0))
        + free("b", geom(contype=0, conaffinity=1), at="1 0 1") + free("c", geom(contype=4, conaffinity=4), at="0 1 1")
        + free("d", geom(contype=0, conaffinity=0), at="1 1 1") + free("e", geom(contype=4, conaffinity=3), at="2 1 1")
    ),
    "excluded": world(FLOOR + CHAIN, after='<contact><exclude body1="a" body2="d"/><exclude body1="c" body2="world"/></contact>'),
    "paired": world(
        FLOOR + NAMED.replace("/>", ' contype="0"/>').replace('freejoint contype="0"', "freejoint"),
        '<option/><default><pair friction=".2"/></default>',
        '<contact><pair geom1="g" geom2="h"/><pair geom1="g" geom2="floor" friction=".7 .7 .1 .1 .1"/></contact>',
    ),
    "paired within a chain": world(
        free("a", geom(name="g", contype=0, conaffinity=0), hinged("b", geom(name="h", contype=0, conaffinity=0))),
        after='<contact><pair geom1="g" geom2="h" condim="1"/></contact>',
    ),
    "friction": world(
        geom(type="plane", size="2 2 1", friction=".5") + free("a", geom(friction=".3 0 0")) + free("b", geom(friction="1.5"), at="1 0 1")
        + free("c", geom(friction=".1", priority=2), at="0 1 1") + free("d", geom(friction=".9", priority=1), at="1 1 1")
    ),
    "slippery": world(
        geom(type="plane", size="2 2 1", condim=1) + free("a", geom(condim=1)) + free("b", geom(condim=3), at="1 0 1")
        + free("c", geom(condim=1, priority=1), at="0 1 1") + free("d", geom(condim=6), at="2 1 1")
    ),
    "by defaults": world(
        FLOOR + free("a", '<geom class="soft"/>') + free("b", '<geom class="none"/>', at="1 0 1") + free("c", at="0 1 1"),
        '<default><geom size=".1"/><default class="soft"><geom friction=".4"/></default><default class="none"><geom contype="0" conaffinity="0"/></default></default>',
    ),
    "hinged to the world": world(FLOOR + hinged("a", inner=hinged("b")) + hinged("c", at="1 1 1")),
    "rigid parts": world(
        FLOOR + '<body name="post">' + BALL + hinged("p") + "</body>"
        + free("a", inner='<body name="part" pos="0 .3 0">' + BALL + hinged("q", inner=hinged("r")) + "</body>")
    ),
    "closed loop": world(CHAIN, after='<equality><connect body1="a" body2="d" anchor="0 0 0"/></equality>'),
    "parents too": world(FLOOR + CHAIN, '<option><flag filterparent="disable"/></option>'),
    "none": world(FLOOR + CHAIN, '<option><flag contact="disable"/></option>'),
    "none at all": world(FLOOR + CHAIN, '<option><flag constraint="disable"/></option>'),
}  # fmt: skip
PACKAGES = {
    "dm-control": [f"dm_control/suite/{name}.xml" for name in ("humanoid", "quadruped", "swimmer", "cheetah", "manipulator", "finger")],
    "gymnasium": [f"gymnasium/envs/mujoco/assets/{name}.xml" for name in ("ant", "humanoid")],
}  # fmt: skip
INSTALLED = [Model(package, name, "mujoco") for package, names in PACKAGES.items() for name in names]


def loaded(folder, text, suffix="xml"):
    path = folder / f"model.{suffix}"
    path.write_text(text)
    return bc.load(path)


def meeting(mech, added):
    """Friction by pairs of bodies that may touch; no two contacts have the same pair."""
    tied = {frozenset((j.marker_1.body, j.marker_2.body)) for j in mech.joints.values() if j.kind.locked}
    found = {}
    for force in added:
        for pair in map(frozenset, combinations([marker.body for marker in force.markers], 2)):
            if force.kind.joined or pair not in tied:
                assert pair not in found
                found[pair] = force.kind.friction
    return found


def meeting_in_mujoco(model):
    """The same by MuJoCo, which detects what is within a margin of each other."""
    mujoco = pytest.importorskip("mujoco")
    model.geom_margin[:] = model.pair_margin[:] = 50.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    data, found = mujoco.MjData(model), {}
    mujoco.mj_forward(model, data)
    for contact in data.contact[: data.ncon]:
        pair = frozenset(body_of(model, number) for number in contact.geom)
        found[pair] = max(found.get(pair, 0.0), 0.0 if contact.dim == 1 else contact.friction[0])
    return found


def body_of(model, number):
    body = model.body_weldid[model.geom_bodyid[number]]
    return "ground" if body == 0 else model.body(body).name or f"body {body}"


@pytest.mark.parametrize("name", RULES)
def test_the_pairs_and_their_friction_are_those_of_mujoco(tmp_path, name):
    mujoco = pytest.importorskip("mujoco")
    mech = loaded(tmp_path, RULES[name])
    added = mech.contacts_from_file()
    theirs = meeting_in_mujoco(mujoco.MjModel.from_xml_string(RULES[name]))
    assert meeting(mech, added) == theirs
    assert bool(theirs) == (not name.startswith("none"))
    assert list(mech.forces.values()) == added
    if name == "all alike":
        assert len(added) == 1
    bc.prepare(mech)


@pytest.mark.oracle
@pytest.mark.parametrize("robot", INSTALLED, ids=[robot.name for robot in INSTALLED])
def test_the_pairs_of_models_are_those_of_mujoco(robot):
    mujoco = pytest.importorskip("mujoco")
    if robot.file is None:
        pytest.skip(f"{robot.package} is not installed")
    mech = bc.load(robot.file)
    model = mujoco.MjModel.from_xml_path(str(robot.file))
    assert meeting(mech, mech.contacts_from_file()) == meeting_in_mujoco(model)


def test_bodies_touch_where_mujoco_has_them_touch(tmp_path):
    """Balls, boxes and capsules of a heap with a floor, at random poses: the same pairs touch."""
    mujoco = pytest.importorskip("mujoco")
    geoms = ['<geom size=".3"/>', '<geom type="box" size=".2 .3 .1"/>', '<geom type="capsule" size=".1 .3"/>']
    rng, count = np.random.default_rng(5), 0
    for _ in range(30):
        places = [
            f"{x:.3f} {y:.3f} {z:.3f}" for x, y, z in rng.uniform((-0.7, -0.7, 0.1), (0.7, 0.7, 0.9), (6, 3))
        ]
        bodies = [
            free(f"b{k}", geoms[k % 3].replace("/>", f' euler="{30 * k} {10 * k} 0"/>'), at=place)
            for k, place in enumerate(places)
        ]
        text = world(FLOOR + "".join(bodies))
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        theirs = {
            frozenset(body_of(model, number) for number in one.geom)
            for one in data.contact[: data.ncon]
            if one.dist < 0.0
        }
        mech = loaded(tmp_path, text)
        mech.contacts_from_file()
        try:
            run = bc.simulate(mech, 1e-6)
        except bc.MechanismError as error:  # too deep to start
            if "overlap at the start" not in str(error):
                raise
            continue
        assert {frozenset(pair) for pair in run.contact("contacts").points(0).bodies} == theirs
        count += bool(theirs)
    assert count > 5


@pytest.mark.parametrize("method", ["moreau", "auto"])
def test_a_robot_falls_on_the_floor_and_rests_there(tmp_path, method):
    legs = "".join(
        hinged(f"leg{k}", '<geom type="capsule" fromto="0 0 0 0 0 -.25" size=".03"/>', at=f"{x} {y} 0")
        for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)))
    )
    legs = legs.replace("<joint ", '<joint damping="2" stiffness="60" ')
    mech = loaded(
        tmp_path,
        world(FLOOR + free("trunk", '<geom type="box" size=".25 .12 .04" mass="3"/>', legs, "0 0 .6")),
    )
    assert [fault.rule for fault in mech.left_out] == [NOTE]
    (contact,) = mech.contacts_from_file(restitution=0.0)
    assert mech.left_out == ()
    assert contact.kind.friction == 1.0
    options = {"method": "moreau", "step": 1e-3} if method == "moreau" else {}
    run = bc.simulate(mech, 2.0, **options)
    height = run.body("trunk").position[:, 2]
    assert height[0] == 0.6
    assert abs(height[-1] - 0.28) < 0.03
    assert np.abs(run.body("trunk").velocity[-1]).max() < 0.02


def test_what_contacts_do_not_have_is_named(tmp_path):
    text = world(
        FLOOR
        + free(
            "a",
            geom(margin=".01", solref=".01 1")
            + geom(condim=6, friction=".2")
            + geom(contype=0, conaffinity=2),
        )
    )
    mech = loaded(tmp_path, text)
    mech.contacts_from_file(stiffness=1e5)
    rules = "; ".join(fault.rule for fault in mech.left_out)
    for part in ("margin", "solref", "condim", "only some of their shapes"):
        assert part in rules
    mech = loaded(
        tmp_path,
        world(
            FLOOR + free("a"),
            after='<contact><pair geom1="floor" geom2="x"/><exclude body1="a" body2="y"/></contact>',
        ),
    )
    assert [fault.value for fault in mech.left_out if "not there" in fault.rule] == [
        ["a", "y"],
        ["floor", "x"],
    ]


def test_only_what_was_read_from_a_file_has_contacts_of_a_file():
    with pytest.raises(bc.MechanismError, match="was not read from"):
        bc.Mechanism("m").contacts_from_file()


def test_groups_that_are_not_drawn_are_kept(tmp_path):
    shapes = '<geom size=".1" contype="0" conaffinity="0"/><geom type="box" size=".1 .1 .1" group="3"/>'
    mech = loaded(
        tmp_path, world(FLOOR + free("a", shapes) + free("b", '<geom size=".1" group="4"/>', at="1 0 1"))
    )
    assert [(type(one).__name__, one.touches, one.shown) for one in mech.bodies["a"].shapes] == [
        ("Sphere", False, True),
        ("Box", True, False),
    ]
    assert mech.bodies["b"].shapes[0].shown
    assert [piece.name for piece in scene_of(mech).bodies["a"]] == ["a/1"]
    bc.save(mech, tmp_path / "again.xml")
    assert [one.shown for one in bc.load(tmp_path / "again.xml").bodies["a"].shapes] == [True, False]


def test_planes_and_height_fields_stand_on_the_ground(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    rows = "0 1 2 1 0 3"
    text = world(
        '<geom type="hfield" hfield="h" pos="1 2 3"/><geom type="plane" size="0 0 1" zaxis="0 1 0"/>'
        + free("a"),
        f'<asset><hfield name="h" nrow="2" ncol="3" size="1 2 4 .1" elevation="{rows}"/></asset>',
    )
    terrain, plane = loaded(tmp_path, text).ground.shapes
    model = mujoco.MjModel.from_xml_string(text)
    assert np.allclose(terrain.samples, 4.0 * np.reshape(model.hfield_data, (2, 3)), atol=1e-6)
    assert (terrain.position, terrain.origin, terrain.spacing) == ((1.0, 2.0, 3.0), (-1.0, -2.0), (1.0, 4.0))
    assert np.allclose(bc.Marker("ground", rotation=plane.rotation).z_axis, (0, 1, 0))
    for content in (np.array([2, 3], "<i4").tobytes() + np.arange(6, dtype="<f4").tobytes(), b"no heights"):
        (tmp_path / "h.bin").write_bytes(content)
        held = loaded(
            tmp_path,
            world(
                '<geom type="hfield" hfield="h"/>' + free("a"),
                '<asset><hfield file="h.bin" size="1 1 1 1"/></asset>',
            ),
        )
        assert len(held.ground.shapes) == (len(content) > 10)
        assert any("height field" in fault.rule for fault in held.left_out) == (len(content) <= 10)
    with pytest.raises(bc.MechanismError, match="no height field of this name"):
        loaded(tmp_path, world('<geom type="hfield" hfield="x"/>'))


@settings(max_examples=100, deadline=None)
@given(
    st.sets(st.sampled_from([frozenset(p) for p in combinations("abcdefg", 2)])),
    st.sets(st.sampled_from([frozenset(p) for p in combinations("abcdefg", 2)])),
)
def test_each_pair_lies_in_one_set(pairs, free_pairs):
    left = free_pairs - pairs
    sets = cliques(sorted(pairs, key=sorted), left)
    inside = [pair for one in sets for pair in map(frozenset, combinations(one, 2)) if pair not in left]
    assert len(inside) == len(set(inside))
    assert set(inside) == pairs


def test_all_pairs_are_one_set():
    assert cliques(map(frozenset, combinations("abcd", 2)), ()) == [["a", "b", "c", "d"]]
    ring = [frozenset(pair) for pair in ("ab", "bc", "ad")]
    assert cliques(ring, [frozenset("cd"), frozenset("ac"), frozenset("bd")]) == [["a", "b", "c", "d"]]


MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LOOSE_BALL = "<geometry><sphere radius='.1'/></geometry>"
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
    mech = urdf(
        tmp_path,
        drawn(LOOSE_BALL) + solid(BOX),
        drawn(LOOSE_BALL),
        solid(BOX),
        drawn(LOOSE_BALL + RED) + solid(LOOSE_BALL),
    )
    assert {name: flags(body.shapes) for name, body in mech.bodies.items()} == {
        "l0": [("Sphere", False, True), ("Box", True, False)],
        "l1": [("Sphere", False, True)],
        "l2": [("Box", True, True)],
        "l3": [("Sphere", True, True)],
    }
    assert [piece.name for piece in scene_of(mech).bodies["l0"]] == ["l0/1"]
    assert [fault.rule for fault in mech.left_out] == [NOTE]


def test_without_collision_geometry_what_is_drawn_touches_and_nothing_collides(tmp_path):
    mech = urdf(tmp_path, drawn(LOOSE_BALL), drawn(BOX))
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
    mech = urdf(tmp_path, *[drawn(LOOSE_BALL) + solid(BOX)] * 4)
    (contact,) = mech.contacts_from_file("touch", friction=0.4, stiffness=2e4, exponent=1.5)
    assert [marker.body for marker in contact.markers] == ["l0", "l1", "l2", "l3"]
    assert (contact.name, contact.kind) == ("touch", bc.Contact(stiffness=2e4, friction=0.4, exponent=1.5))
    assert mech.left_out == ()
    again = mech.copy().contacts_from_file("touch")
    assert [force.name for force in again] == ["touch 2"]
    assert again[0].kind.stiffness == pytest.approx(4.0 * 9.81 / 1e-3)


def test_a_faulty_collision_is_left_out_and_listed(tmp_path):
    broken = "<geometry><mesh filename='gone.stl'/></geometry>"
    mech = urdf(tmp_path, drawn(LOOSE_BALL) + solid(broken), drawn(LOOSE_BALL) + solid(BOX))
    assert any("not found" in fault.rule for fault in mech.left_out)
    assert {surface.body for surface in mech.collisions[0].surfaces} == {"l1"}


def test_masses_by_density_are_those_of_what_is_drawn(tmp_path):
    text = '<robot name="r"><link name="a"/><link name="b">SHAPES</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    (tmp_path / "bare.urdf").write_text(text.replace("SHAPES", drawn(BOX) + solid(LOOSE_BALL)))
    assert bc.load(tmp_path / "bare.urdf", density=1000.0).bodies["b"].mass == pytest.approx(6.0)


def test_robots_that_are_placed_collide_as_their_files_say(tmp_path):
    robot = urdf(tmp_path, *[solid(LOOSE_BALL)] * 3)
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
    mech = urdf(tmp_path, drawn(LOOSE_BALL) + solid(BOX), drawn(BOX) + solid(BOX))
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
UNDER_IT = f'<model name="floor"><static>true</static><link name="l"><collision name="c">{PLANE}</collision><visual name="v">{PLANE}</visual></link></model>'


def pairs(mech):
    return {
        tuple(marker.body for marker in force.markers): force.kind.friction
        for force in mech.contacts_from_file()
    }


def test_links_of_a_model_of_sdf_collide_if_it_says_so(tmp_path):
    inner = link("a") + link("b")
    assert pairs(sdf(tmp_path, UNDER_IT, f'<model name="m">{inner}</model>')) == {
        ("ground", "m/a"): 1.0,
        ("ground", "m/b"): 1.0,
    }
    collides = "<self_collide>true</self_collide>"
    assert pairs(sdf(tmp_path, UNDER_IT, f'<model name="m">{collides}{inner}</model>')) == {
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
    (plane,) = sdf(tmp_path, UNDER_IT, f'<model name="m">{link("a")}</model>').ground.shapes
    assert (plane.size, plane.touches, plane.shown) == (8.0, True, True)
    assert bc.Marker("ground", rotation=plane.rotation).z_axis == pytest.approx((0, 1, 0))
