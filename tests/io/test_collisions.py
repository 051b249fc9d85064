# ruff: noqa: E501 (texts of files)
"""What the files of robots say of contacts: the pairs of bodies that collide, their friction, and the shapes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rigs.robot_packages import Model

import bellcrank as bc
from bellcrank.mechanism.cliques import cliques
from bellcrank.mechanism.collisions import NOTE
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
