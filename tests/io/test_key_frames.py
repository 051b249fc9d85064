# ruff: noqa: E501 (texts of files)
"""Key frames of MJCF are starts by name, against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import bellcrank as bc
from bellcrank.cli.main import bellcrank
from bellcrank.errors import MechanismError
from bellcrank.io.robots.start import Start
from bellcrank.mechanism.collisions import NOTE
from bellcrank.mechanism.rotation import matrix

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
