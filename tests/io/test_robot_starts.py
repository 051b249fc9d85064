# ruff: noqa: E501 (texts of files)
"""Where robots start: by key frames, or where the file says nothing or nothing that is possible."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from rigs.seeds import over

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.errors import MechanismError
from bellcrank.io.robots.outline import Start
from bellcrank.mechanism.collisions import NOTE
from bellcrank.mechanism.rotation import matrix


@pytest.fixture
def load(tmp_path):
    """Reads a robot from a text."""

    def read(text):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return bc.load(path)

    return read


def axis_rotation(axis, angle):
    """Rodrigues' formula."""
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def random_robot(seed):
    """A chain as MJCF, and the pose of each body where joints are as near to `ref` as ranges allow.

    Poses (position, rotation matrix) by body, starts by joint; axes lie along each other as often as not.
    """
    rng = np.random.default_rng(seed)
    lines, poses, starts = [], {}, {}
    place, turn = np.zeros(3), np.eye(3)
    for b in range(int(rng.integers(1, 4))):
        offset = rng.uniform(-0.5, 0.5, 3)
        lines.append(f'<body name="b{b}" pos="{offset[0]} {offset[1]} {offset[2]}">')
        place = place + turn @ offset
        for j in range(int(rng.integers(1, 4))):
            name = f"j{b}{j}"
            axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.7 else rng.normal(size=3)
            axis = axis / np.linalg.norm(axis)
            low = rng.uniform(-1.5, 1.2)
            ref = float(rng.choice([0.0, 0.0, rng.uniform(-2.0, 2.0), 5.0]))
            limited = rng.random() < 0.6
            start = min(max(ref, low), low + 0.8) if limited else ref
            kind = "hinge" if rng.random() < 0.8 else "slide"
            at = rng.uniform(-0.3, 0.3, 3) * (rng.random() < 0.5)
            limits = f' range="{low!r} {low + 0.8!r}"' if limited else ""
            numbers = " ".join(repr(float(v)) for v in axis), " ".join(repr(float(v)) for v in at)
            lines.append(
                f'<joint name="{name}" type="{kind}" axis="{numbers[0]}" pos="{numbers[1]}"'
                f' ref="{ref!r}"{limits}/>'
            )
            starts[name] = start
            if kind == "slide":
                place = place + turn @ axis * (start - ref)
            else:
                moved = turn @ axis_rotation(axis, start - ref)
                place, turn = place + turn @ at - moved @ at, moved
        lines.append('<geom type="box" size=".1 .2 .3" pos=".1 0 .1"/>')
        poses[f"b{b}"] = (place, turn)
    text = '<mujoco><compiler angle="radian" autolimits="true"/><worldbody>'
    return text + "\n".join(lines) + "</body>" * len(poses) + "</worldbody></mujoco>", poses, starts


def started(mech):
    """Positions of all free coordinates, by joint, in the first frame of the description."""
    bc.assemble(mech)
    system = bc.prepare(mech, "lagrange")
    values = system.model.coordinate_values(system.state())
    records = {joint.name: joint for joint in system.model.joints}
    return {
        (name, coordinate): float(values[k])
        for name, record in records.items()
        for coordinate, k in zip(record.coordinate_names, record.coordinates, strict=True)
    }


def as_named(found):
    """The same by the names of the file's joints."""
    return {joint if name in ("theta_z", "z") else name: value for (joint, name), value in found.items()}


@over(range(40))
def test_chains_start_as_near_to_the_file_as_their_limits_allow(load, seed):
    text, poses, starts = random_robot(seed)
    mech = load(text)
    found = as_named(started(mech))
    assert found == pytest.approx(starts, abs=1e-9)
    for name, (place, turn) in poses.items():
        body = mech.bodies[name]
        assert body.position == pytest.approx(place, abs=1e-9)
        assert matrix(body.rotation) == pytest.approx(turn, abs=1e-9)


@over(range(40))
def test_mujoco_agrees_on_where_that_is(seed):
    mujoco = pytest.importorskip("mujoco")
    text, poses, starts = random_robot(seed)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for name, value in starts.items():
        data.qpos[model.joint(name).qposadr] = value
    mujoco.mj_kinematics(model, data)
    for name, (place, turn) in poses.items():
        assert data.body(name).xpos == pytest.approx(place, abs=1e-9)
        assert data.body(name).xmat.reshape(3, 3) == pytest.approx(turn, abs=1e-9)


def wrist(first="", second="", third=""):
    return f"""<mujoco><compiler angle="radian"/><worldbody><body name="a">
    <joint name="p" axis="0 0 1" {first}/><joint name="q" axis="0 1 0" {second}/>
    <joint name="r" axis="0 0 1" {third}/><geom type="box" size=".1 .2 .3" pos=".3 .2 .1"/>
    </body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (("", 'range="0.5 1.5"', ""), (0.0, 0.5, 0.0)),
        (("", 'range="0 1.5"', ""), (0.0, 0.0, 0.0)),
        (("", 'range="-1.5 -0.0698"', ""), (0.0, -0.0698, 0.0)),
        (('range="0.2 1"', "", 'range="-1 -0.3"'), (0.2, 0.0, -0.3)),
        (('ref="0.4"', "", ""), (0.4, 0.0, 0.0)),
        (('ref="0.4" range="1 2"', 'range="1e-7 1"', 'ref="7"'), (1.0, 1e-7, 7.0)),
    ],
)
def test_a_wrist_whose_axes_coincide(load, ranges, expected):
    mech = load(wrist(*ranges))
    assert tuple(as_named(started(mech)).values()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("massless", [(), (1, 2, 3), (1, 2, 3, 4, 5), (2, 4, 6), (1, 2, 4, 5, 6)])
def test_an_arm_of_seven_axes_starts_where_its_limits_allow(load, massless):
    """Axes z and y in turn, some links without mass: chains whose axes coincide where all angles are zero."""
    lines = ['<robot name="arm"><link name="l0"/>']
    for k in range(1, 8):
        mass = '<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
        mass = f"<inertial>{mass}</inertial>"
        lines.append(f'<link name="l{k}">{"" if k in massless else mass}</link>')
        axis, low, high = ("0 0 1", -2.9, 2.9) if k % 2 else ("0 1 0", -1.7, 1.7)
        low, high = {4: (-3.0, -0.0698), 6: (0.02, 3.7)}.get(k, (low, high))
        lines.append(
            f'<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="0 0 .3"/><axis xyz="{axis}"/>'
            f'<limit lower="{low}" upper="{high}" effort="9" velocity="9"/></joint>'
        )
    mech = load("".join(lines) + "</robot>")
    expected = {f"j{k}": {4: -0.0698, 6: 0.02}.get(k, 0.0) for k in range(1, 8)}
    assert as_named(started(mech)) == pytest.approx(expected, abs=1e-9)


LOOP = """<mujoco><compiler angle="radian"/><worldbody>
<body name="crank"><joint name="j1" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/>
<body name="coupler" pos="0 0 .2"><joint name="j2" axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 .5 0 0"/></body></body>
<body name="rocker" pos=".5 0 0"><joint name="j3" axis="0 1 0" {third}/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/></body>
<body name="rocker2" pos=".5 0 0"><joint name="j4" axis="0 1 0" {fourth}/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/></body></worldbody><equality>
<connect body1="coupler" body2="rocker" anchor=".5 0 0"/>
<connect body1="rocker" body2="rocker2" anchor="0 0 .2"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("third", "fourth", "between"),
    [
        ('range=".3 1"', 'range=".31 1"', (0.31, 0.31)),
        ('range=".3 1"', "", (0.3, 0.3)),
        ('range=".3 1"', 'range="-1 .4"', (0.3, 0.4)),
        ('ref=".2"', 'range=".1 1"', (-1.0, 1.0)),
    ],
)
def test_loops_are_closed_within_limits_and_near_to_them(load, third, fourth, between):
    mech = load(LOOP.format(third=third, fourth=fourth))
    found = as_named(started(mech))
    refs = [float(text[5:-1]) if "ref" in text else 0.0 for text in (third, fourth)]
    assert found["j3"] - refs[0] == pytest.approx(found["j4"] - refs[1], abs=1e-8)
    assert found["j1"] == pytest.approx(found["j3"] - refs[0], abs=1e-8)
    assert between[0] - 1e-8 <= found["j3"] <= between[1] + 1e-8


def test_what_a_file_leaves_open_is_a_guess(load):
    mech = load(wrist(second='range="0.5 1.5"'))
    assert not any(joint.position for joint in mech.joints.values())
    assert mech.joints["a"].guess == (("p", 0.0), ("q", 0.5), ("r", 0.0))


GEOM = '<geom type="box" size=".1 .2 .3" pos=".1 .2 .3"/>'
MODEL = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="base" pos="0 0 1" euler=".1 .2 .3"><freejoint/>{g}
    <body name="arm" pos=".3 0 .1" euler="0 .4 0"><joint axis="0 1 1" pos="0 0 .1" range="0.3 8"/><joint type="slide" axis="1 0 0" ref=".2"/>{g}
      <body name="hand" pos="0 .2 0"><joint type="ball" pos=".1 0 0"/>{g}</body></body></body>
  <body name="wheel" pos="2 0 0"><joint name="w" axis="0 0 1" ref="0.5"/>{g}
    <body name="rod" pos="0 1 0"><joint axis="1 0 0" range="-2 -1"/>{g}</body></body></worldbody>
  <actuator><motor name="u" joint="w"/><position name="v" joint="w" ctrlrange="-9 9"/></actuator>
  <keyframe>{keys}</keyframe></mujoco>"""


def random_key(rng, name):
    """A key frame of the model, of joints within their limits."""
    turned = [rng.normal(size=4) for _ in range(2)]
    place = [*rng.normal(size=3), *turned[0], rng.uniform(0.4, 8.0), rng.normal(), *turned[1]]
    place += [rng.uniform(-8.0, 8.0), rng.uniform(-2.0, -1.0)]
    numbers = {"qpos": place, "qvel": rng.normal(size=13), "ctrl": rng.normal(size=2)}
    return f'<key name="{name}" {" ".join(f"""{key}="{" ".join(map(repr, map(float, value)))}" """ for key, value in numbers.items())}/>'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.xml"


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(8))
def test_bodies_and_inputs_start_as_in_the_key_frame(path, seed):
    mj = pytest.importorskip("mujoco")
    rng = np.random.default_rng(seed)
    path.write_text(MODEL.format(g=GEOM, keys=random_key(rng, "rest") + random_key(rng, "home")))
    model = mj.MjModel.from_xml_path(str(path))
    data = mj.MjData(model)
    for number, name in enumerate(["rest", "home"]):
        mech = bc.load(path, start=name)
        (other,) = [fault.element for fault in mech.left_out if fault.rule != NOTE]
        assert other == f"key {'home' if name == 'rest' else 'rest'!r}"
        mj.mj_resetDataKeyframe(model, data, number)
        mj.mj_forward(model, data)
        system = bc.prepare(mech, "recursive")
        assert dict(system.inputs) == pytest.approx(dict(zip("uv", data.ctrl, strict=True)), abs=1e-15)
        state = system.state()
        for row, body in enumerate(system.model.bodies):
            k, twist = model.body(body).id, np.zeros(6)
            mj.mj_objectVelocity(model, data, mj.mjtObj.mjOBJ_XBODY, k, twist, 0)
            assert state.position[row] == pytest.approx(data.xpos[k], abs=1e-12)
            found = matrix(tuple(state.rotation[row]))
            assert found == pytest.approx(data.xmat[k].reshape(3, 3), abs=1e-12)
            assert state.velocity[row] == pytest.approx(twist[3:], abs=1e-11)
            assert state.angular_velocity[row] == pytest.approx(twist[:3], abs=1e-11)
        turned = Start(system.model).coordinate("w", "theta_z")[0]
        assert turned == pytest.approx(data.qpos[model.joint("w").qposadr[0]], abs=1e-12)


def test_a_start_that_is_not_there_is_refused_with_those_that_are(path):
    path.write_text(MODEL.format(g=GEOM, keys=random_key(np.random.default_rng(1), "home")))
    with pytest.raises(MechanismError, match=r"no key frame of this name, got 'hom'.*it has 'home'"):
        bc.load(path, start="hom")
    (fault,) = [one for one in bc.load(path).left_out if one.rule != NOTE]
    assert "start=" in fault.rule
    robot = path.with_suffix(".urdf")
    robot.write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(MechanismError, match="start names a key frame of MJCF"):
        bc.load(robot, start="home")
    with pytest.raises(MechanismError, match="start names a key frame of MJCF"):
        bc.load(path.with_suffix(".yaml"), start="home")


def test_commands_start_at_a_key_frame(path, tmp_path):
    path.write_text(MODEL.format(g=GEOM, keys=random_key(np.random.default_rng(1), "home")))
    for given, found in (("home", 0), ("hom", 2)):
        words = ["convert", str(path), str(tmp_path / f"{given}.yaml"), "--keyframe", given]
        assert CliRunner().invoke(bellcrank, words).exit_code == found
    assert bc.load(tmp_path / "home.yaml") == bc.load(path, start="home")


def test_a_start_is_kept_by_other_formats(path):
    path.write_text(MODEL.format(g=GEOM, keys=random_key(np.random.default_rng(1), "home")))
    mech = bc.load(path, start="home")
    for suffix in (".yaml", ".json", ".xml"):
        again = path.with_name(f"again{suffix}")
        bc.save(mech, again)
        one, two = (bc.prepare(each, "recursive") for each in (mech, bc.load(again)))
        rows = [list(two.model.bodies).index(body) for body in one.model.bodies]
        for key in ("position", "velocity", "angular_velocity"):
            assert getattr(two.state(), key)[rows] == pytest.approx(getattr(one.state(), key), abs=1e-11)
        assert dict(two.inputs) == pytest.approx(dict(one.inputs))
