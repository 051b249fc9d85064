# ruff: noqa: E501 (texts of files)
"""Models in folders, and bodies whose masses their files leave out."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.io.files import dumps
from bellcrank.io.robots import source
from bellcrank.io.robots.urdf_writer import write as urdf_text
from bellcrank.mechanism.mass import total
from bellcrank.named_files import confined
from bellcrank.viewer.commands import play
from bellcrank.viewer.engine import LiveEngine
from bellcrank.viewer.settings import Settings

CONFIG = "<model><name>{name}</name>{files}</model>"


def sdf(name, inside):
    return f'<sdf version="1.9"><model name="{name}">{inside}</model></sdf>'


def write(folder, name, link, config="", file="model.sdf"):
    """A model with one link in a folder of its own, as Gazebo has it."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "model.config").write_text(CONFIG.format(name=name, files=config))
    (folder / name / file).write_text(sdf(name, f'<link name="{link}"/>'))
    return folder / name


def hand(folder, uri, name="hand", link="arm::wrist"):
    """A model that includes another, whose link it names."""
    write(folder, name, "palm")
    joint = f'<joint name="j" type="revolute"><parent>{link}</parent><child>palm</child><axis><xyz>0 0 1</xyz></axis></joint>'
    path = folder / name / "model.sdf"
    path.write_text(sdf(name, f'\n<include><uri>{uri}</uri></include><link name="palm"/>\n{joint}'))
    return path


URIS = ("model://arm", "model://arm/", "model://arm/model.sdf", "https://fuel.gazebosim.org/1.0/OpenRobotics/models/arm", "../arm")  # fmt: skip


@pytest.mark.parametrize("uri", URIS)
def test_models_lie_side_by_side(tmp_path, uri):
    write(tmp_path, "arm", "wrist")
    assert list(bc.load(hand(tmp_path, uri)).bodies) == ["arm/wrist", "palm"]


@pytest.mark.parametrize("name", [*source._FOLDERS, *source._PREFIXES, "packages"])
def test_folders_of_models_are_named_elsewhere(tmp_path, monkeypatch, name):
    """By the environment or by the caller; of several folders, the first with the model counts."""
    for variable in (*source._FOLDERS, *source._PREFIXES):
        monkeypatch.delenv(variable, raising=False)
    path = hand(tmp_path / "here", "model://arm")
    with pytest.raises(MechanismError, match="its parent is no link or frame"):
        bc.load(path)
    there = tmp_path / "there"
    write(there / "share" if name in source._PREFIXES else there, "arm", "wrist")
    if name == "packages":
        assert len(bc.load(path, packages=there).bodies) == 2
    else:
        monkeypatch.setenv(name, f":{tmp_path / 'nowhere'}:{there}")
        assert len(bc.load(path).bodies) == 2


def test_the_best_version_that_a_description_names_is_read(tmp_path):
    versions = {"1.4": "old.sdf", "1.10": "best.sdf", "1.9": "newer.sdf", "9.0": "future.sdf"}
    listed = "".join(f'<sdf version="{one}"> {file} </sdf>' for one, file in versions.items())
    for file in versions.values():
        write(tmp_path, "arm", file.removesuffix(".sdf"), listed, file)
    assert "arm/best" in bc.load(hand(tmp_path, "model://arm", link="arm::best")).bodies


@pytest.mark.parametrize("config", ["<model", "", "<model/>", '<model><sdf version="1.9">none.sdf</sdf></model>', '<model><sdf version="1.9">../../secret.sdf</sdf></model>'])  # fmt: skip
def test_a_description_that_does_not_help_means_model_sdf(tmp_path, config):
    (tmp_path / "secret.sdf").write_text(sdf("secret", '<link name="wrist"/>'))
    (write(tmp_path, "arm", "wrist") / "model.config").write_text(config)
    assert "arm/wrist" in bc.load(hand(tmp_path, "model://arm")).bodies


def test_a_model_that_is_not_found_is_named_with_the_places(tmp_path):
    path = hand(tmp_path, "model://leg")
    with pytest.raises(MechanismError) as raised:
        bc.load(path)
    (fault,) = raised.value.faults
    assert fault.location.line == 3
    for part in ("model://leg", str(tmp_path / "hand"), repr(str(tmp_path))):
        assert part in fault.advice
    path.write_text(sdf("hand", '\n<include><uri>model://leg</uri></include><link name="palm"/>'))
    (listed, _) = bc.load(path).left_out
    assert listed.rule.startswith("the included model is not found in")
    assert str(tmp_path / "hand") in listed.rule
    assert (listed.value, listed.location.line) == ("model://leg", 2)


def test_meshes_lie_beside_the_model_that_names_them(tmp_path):
    """In an included model, relative to its own file; by model:// also in a model beside it."""
    arm = write(tmp_path, "arm", "wrist")
    (arm / "a.stl").write_bytes(b"solid")
    for uri in ("a.stl", "model://arm/a.stl", "../arm/a.stl"):
        picture = f'<visual name="v"><geometry><mesh><uri>{uri}</uri></mesh></geometry></visual>'
        (arm / "model.sdf").write_text(sdf("arm", f'<link name="wrist">{picture}</link>'))
        (shape,) = bc.load(hand(tmp_path, "model://arm")).bodies["arm/wrist"].shapes
        assert shape.file == str(arm / "a.stl")


def test_packages_lie_side_by_side(tmp_path):
    for name in ("arm_description", "arm_meshes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "package.xml").write_text("<package/>")
    mesh = tmp_path / "arm_meshes" / "a.stl"
    mesh.write_bytes(b"solid")
    path = tmp_path / "arm_description" / "arm.urdf"
    for name in ("package://arm_meshes/a.stl", "$(find arm_meshes)/a.stl"):
        visual = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        inertial = (
            '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        )
        path.write_text(f'<robot name="r"><link name="a">{inertial}{visual}</link></robot>')
        assert [shape.file for shape in bc.load(path).bodies["a"].shapes] == [str(mesh)]


@pytest.mark.parametrize("uri", ["model://..", "model://secret", "model://../secret", "../secret", "model://hand/../secret", "model://link"])  # fmt: skip
def test_only_models_beside_a_model_are_read(tmp_path, uri):
    """Nothing else that lies there, and nothing to which a link leads."""
    (tmp_path / "beside" / "secret").mkdir(parents=True)
    (tmp_path / "beside" / "secret" / "model.sdf").write_text(sdf("arm", '<link name="wrist"/>'))
    write(tmp_path / "elsewhere", "arm", "wrist")
    (tmp_path / "beside" / "link").symlink_to(tmp_path / "elsewhere" / "arm")
    with pytest.raises(MechanismError, match="the included model is not found"):
        bc.load(hand(tmp_path / "beside", uri))


def test_confined_reading_stays_in_its_folder(tmp_path, monkeypatch):
    """A model beside the folder is not read, nor one that the environment names; nor is said where they are."""
    write(tmp_path, "arm", "wrist")
    path = hand(tmp_path, "model://arm")
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path))
    assert len(bc.load(path).bodies) == 2
    with confined(path.parent), pytest.raises(MechanismError, match="model is not found") as raised:
        bc.load(path)
    assert repr(str(tmp_path)) not in str(raised.value)
    with confined(tmp_path):
        assert len(bc.load(path).bodies) == 2


BOX = "<visual><geometry><box size='.1 .1 .5'/></geometry></visual>"
INERTIAL = "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"


def hinge(name, parent, child, z):
    return (
        f"<joint name='{name}' type='continuous'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='0 0 {z}'/><axis xyz='0 1 0'/></joint>"
    )


def arm(upper=BOX, fore=BOX, tool="", pin="fixed"):
    """Two hinged links with a tool that is fixed to the second, or hinged."""
    joints = (
        hinge("j1", "base", "upper", 0) + hinge("j2", "upper", "fore", 0.5) + hinge("j3", "fore", "tool", 0.5)
    )
    if pin == "fixed":
        joints = joints[: joints.rindex("<joint")] + joints[joints.rindex("<joint") :].replace(
            "continuous", "fixed"
        )
    links = f"<link name='base'/><link name='upper'>{upper}</link><link name='fore'>{fore}</link>"
    return f"<robot name='arm'>{links}<link name='tool'>{tool}</link>{joints}</robot>"


MJCF = """<mujoco><worldbody><body name="upper"><joint name="j1" axis="0 1 0"/><geom type="box" size=".05 .05 .25"
mass="0"/><body name="fore" pos="0 0 .5"><joint name="j2" axis="0 1 0"/><geom type="box" size=".05 .05 .25" mass="0"/>
<site name="tool" pos="0 0 .5"/></body></body></worldbody></mujoco>"""

SDF = """<sdf version="1.9"><model name="arm"><link name="base"/><link name="upper">{box}</link>
<link name="fore"><pose>0 0 .5 0 0 0</pose>{box}</link>
<joint name="fixed" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="j1" type="revolute"><parent>base</parent><child>upper</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="j2" type="revolute"><parent>upper</parent><child>fore</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""
UNKNOWN = "<inertial><mass>0</mass></inertial><visual name='v'><geometry><box><size>.1 .1 .5</size></box></geometry></visual>"


def loaded(folder, text, suffix="urdf", **given):
    path = folder / f"model.{suffix}"
    path.write_text(text, encoding="utf-8")
    return bc.load(path, **given)


def driven(mech):
    for joint in mech.joints.values():
        if joint.kind.free:
            mech.add_drive(f"drive of {joint.name}", joint, position=bc.t)
    return mech


@pytest.mark.parametrize(
    ("text", "suffix"), [(arm(), "urdf"), (MJCF, "xml"), (SDF.format(box=UNKNOWN), "sdf")]
)
def test_every_link_is_kept(tmp_path, text, suffix):
    mech = loaded(tmp_path, text, suffix)
    assert {"upper", "fore"} <= set(mech.bodies)
    assert {"j1", "j2"} <= set(mech.joints)
    assert not any(body.mass_known for name, body in mech.bodies.items() if name in ("upper", "fore"))
    assert all(mech.bodies[name].shapes for name in ("upper", "fore"))
    assert not any("mass" in fault.rule for fault in mech.left_out)


def test_kinematics_needs_no_masses(tmp_path):
    """By hand: both links turn by t, so the second stands at 2 t."""
    run = bc.kinematics(driven(loaded(tmp_path, arm())), 1.0, 0.1)
    tip = run.body("fore").point((0.0, 0.0, 0.5))
    t = run.time
    expected = 0.5 * np.stack([np.sin(t) + np.sin(2 * t), 0 * t, np.cos(t) + np.cos(2 * t)], axis=1)
    assert np.abs(tip - expected).max() < 1e-9
    assert np.isfinite(run.body("fore").acceleration).all()


def test_what_depends_on_masses_is_not_a_number(tmp_path):
    run = bc.kinematics(driven(loaded(tmp_path, arm())), 1.0, 0.1, path=tmp_path / "run.h5")
    for found in (run, bc.Trajectory.load(tmp_path / "run.h5")):
        assert np.isnan(found.drive("drive of j1").effort).all()
        assert np.isnan(found.energy.kinetic).all()
        assert np.isnan(found.energy.potential).all()


def test_inverse_kinematics_and_pictures_need_no_masses(tmp_path):
    mech = loaded(tmp_path, arm(tool=BOX, pin="hinge"))
    assert set(mech.bodies) == {"upper", "fore", "tool"}
    reached = bc.inverse_kinematics(mech, {("fore", (0.0, 0.0, 0.5)): (0.3, 0.0, 0.6)})
    assert reached.reached
    assert {piece.element for piece in bc.scene.of(mech).pieces} >= {"body 'upper'", "body 'fore'"}


@pytest.mark.parametrize(
    "use",
    [
        lambda mech: bc.simulate(mech, 1.0),
        lambda mech: bc.simulate(mech, 1.0, mode="quasistatic"),
        bc.start,
        bc.prepare,
        bc.find_equilibrium,
        bc.statics,
        bc.linearize,
        bc.modes,
        lambda mech: bc.inverse_dynamics(driven(mech), 1.0),
    ],
)
def test_what_needs_masses_names_those_that_lack_one(tmp_path, use):
    with pytest.raises(
        bc.MechanismError, match=r"bodies whose masses are not known: 'upper', 'fore'.*density="
    ):
        use(loaded(tmp_path, arm()))


def test_a_live_page_shows_it_and_says_why_it_stands(tmp_path):
    engine = LiveEngine(loaded(tmp_path, arm()), Settings(), monotonic)
    assert engine.status == "open"
    assert "masses are not known" in engine.open
    assert engine.state.position[1].tolist() == [0.0, 0.0, 0.5]
    with pytest.raises(bc.MechanismError, match="masses are not known"):
        play(engine)


def test_a_density_gives_the_masses_of_the_shapes(tmp_path):
    mech = loaded(tmp_path, arm(tool=BOX), density=2700.0)
    box = bc.Box(size=(0.1, 0.1, 0.5), density=2700.0).mass_properties()
    both = total([box, box.moved((0.0, 0.0, 0.5), (1.0, 0.0, 0.0, 0.0))])
    assert mech.bodies["upper"].mass == pytest.approx(13.5, rel=1e-12)
    assert mech.bodies["fore"].mass == pytest.approx(27.0, rel=1e-12)
    assert np.allclose(mech.bodies["fore"].com, both.com, rtol=0, atol=1e-12)
    assert np.allclose(mech.bodies["fore"].inertia, both.inertia, rtol=1e-12)
    assert bc.simulate(mech, 0.1).status == "finished"


def test_a_density_leaves_stated_masses_alone(tmp_path):
    mech = loaded(tmp_path, arm(upper=BOX + INERTIAL), density=2700.0)
    assert mech.bodies["upper"].mass == 2.0
    assert mech.bodies["fore"].mass == pytest.approx(13.5, rel=1e-12)


def test_a_part_without_a_mass_is_kept_beside_others(tmp_path):
    mech = loaded(tmp_path, arm(upper=INERTIAL))
    assert [body.mass_known for body in mech.bodies.values()] == [True, False]
    with pytest.raises(bc.MechanismError, match="masses are not known: 'fore'"):
        bc.prepare(mech)


def test_links_that_carry_a_mass_are_still_parts_of_joints(tmp_path):
    mech = loaded(tmp_path, arm(upper=BOX, fore=INERTIAL))
    assert list(mech.bodies) == ["fore"]
    assert mech.bodies["fore"].mass == 2.0


def test_a_frame_that_turns_is_held_beside_masses(tmp_path):
    mech = loaded(tmp_path, arm(upper=INERTIAL, fore=INERTIAL, pin="hinge"))
    assert list(mech.bodies) == ["upper", "fore"]
    assert [fault.element for fault in mech.left_out if "it is held" in fault.rule] == ["joint 'j3'"]


def test_a_mass_that_is_said_to_be_zero_is_known(tmp_path):
    zero = BOX + "<inertial><mass value='0'/></inertial>"
    mech = loaded(tmp_path, arm(upper=INERTIAL, fore=zero))
    assert list(mech.bodies) == ["upper"]
    assert [fault.element for fault in mech.left_out if "it is held" in fault.rule] == ["joint 'j2'"]
    assert bc.simulate(mech, 0.1).status == "finished"


def test_files_and_facts_say_that_a_mass_is_not_known(tmp_path):
    mech = loaded(tmp_path, arm())
    assert bc.loads(dumps(mech)).bodies == mech.bodies
    assert "mass:" not in dumps(mech)
    found = bc.info(mech)
    assert found.unweighed == ("upper", "fore")
    assert "masses of 2 are not known" in str(found)
    text, _ = urdf_text(mech)
    assert "<inertial>" not in text
    assert loaded(tmp_path, text).bodies.keys() == mech.bodies.keys()
    with pytest.raises(bc.MechanismError, match="body 'upper': its mass is not known, which MJCF needs"):
        bc.save(mech, tmp_path / "arm.xml")


def test_numbers_contradict_an_unknown_mass():
    mech = bc.Mechanism("m")
    with pytest.raises(bc.MechanismError, match="mass is given, but mass_known is False"):
        mech.add_body("b", 1.0, (1.0, 1.0, 1.0), mass_known=False)
    body = mech.add_body("b", mass_known=False)
    mech.replace(body, mass=2.0, inertia=(1.0, 1.0, 1.0), mass_known=True)
    assert bc.info(mech).mass == 2.0


def test_densities_are_checked(tmp_path):
    with pytest.raises(bc.MechanismError, match="density must be greater than zero"):
        loaded(tmp_path, arm(), density=-1.0)
