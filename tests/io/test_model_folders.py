# ruff: noqa: E501 (texts of files)
"""Where robots' files look for models, packages and meshes: Gazebo's and ROS's folders, and what the environment names."""

from __future__ import annotations

import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError
from bellcrank.io.robots import model_folders
from bellcrank.named_files import confined

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


@pytest.mark.parametrize("name", [*model_folders._FOLDERS, *model_folders._PREFIXES, "packages"])
def test_folders_of_models_are_named_elsewhere(tmp_path, monkeypatch, name):
    """By the environment or by the caller; of several folders, the first with the model counts."""
    for variable in (*model_folders._FOLDERS, *model_folders._PREFIXES):
        monkeypatch.delenv(variable, raising=False)
    path = hand(tmp_path / "here", "model://arm")
    with pytest.raises(MechanismError, match="its parent is no link or frame"):
        bc.load(path)
    there = tmp_path / "there"
    write(there / "share" if name in model_folders._PREFIXES else there, "arm", "wrist")
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
