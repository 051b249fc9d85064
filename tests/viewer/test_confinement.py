"""A live session reads in its folder alone, whatever a file there names; its owner's own meshes stay."""

import base64
import json
import os
import struct

import pytest
import yaml

import bellcrank as bc
from bellcrank.errors import BellcrankError
from bellcrank.named_files import confined
from bellcrank.viewer.session import live

MJCF = (
    '<mujoco>{}<worldbody><body name="b"><joint type="hinge"/><geom size="1"/>{}</body></worldbody></mujoco>'
)
SDF = "<sdf version='1.9'><model name='m'>{}</model></sdf>"
LINK = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
URDF = "<robot name='r'><link name='l'>" + LINK + "<visual><geometry>{}</geometry></visual></link></robot>"


def tetrahedron(path):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    data = bytes(80) + struct.pack("<I", 4)
    for face in faces:
        data += (
            struct.pack("<3f", 0, 0, 0) + b"".join(struct.pack("<3f", *corners[k]) for k in face) + b"\0\0"
        )
    path.write_bytes(data)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folder of a session, and what lies beside it."""
    inside = tmp_path / "work"
    inside.mkdir()
    (tmp_path / "secret.yaml").write_text("bellcrank: 1\nbodies: {SECRET: {mass: 1, inertia: [1, 1, 1]}}\n")
    (tmp_path / "secret.xml").write_text(MJCF.format("", ""))
    (tmp_path / "secret.sdf").write_text(
        SDF.format(f"<link name='SECRET'>{LINK.replace('mass value=', 'x y=')}</link>")
    )
    tetrahedron(tmp_path / "secret.stl")
    monkeypatch.chdir(inside)
    return inside


def mesh_yaml(file, density):
    return f"bellcrank: 1\nbodies: {{b: {{shapes: [{{type: Mesh, file: '{file}', density: {density}}}]}}}}\n"


NAMED = {
    "placed.yaml": lambda top: "bellcrank: 1\nmechanisms: {x: {file: ../secret.yaml}}\n",
    "link.yaml": lambda top: "bellcrank: 1\nmechanisms: {x: {file: link-to-secret.yaml}}\n",
    "whole.json": lambda top: json.dumps(
        {"bellcrank": 1, "mechanisms": {"x": {"file": f"{top}/secret.yaml"}}}
    ),
    "heavy.yaml": lambda top: mesh_yaml("../secret.stl", 1.0),
    "shown.yaml": lambda top: (
        "bellcrank: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1], "
        "shapes: [{type: Mesh, file: ../secret.stl}]}}\n"
    ),
    "include.xml": lambda top: MJCF.format("<include file='../secret.xml'/>", ""),
    "whole.xml": lambda top: MJCF.format(f"<include file='{top}/secret.xml'/>", ""),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_a_file_names_outside_is_refused(folders, name):
    (folders / "link-to-secret.yaml").symlink_to(folders.parent / "secret.yaml")
    (folders / name).write_text(NAMED[name](folders.parent))
    with live(bc.gallery.double_pendulum(), folder=folders) as session:
        reply = session.do("execute", line=f"load {name}")
        assert not reply.ok
        assert "outside the folder" in reply.text or "the included file is not found" in reply.text
        assert list(session.editor.mechanism.bodies) == ["link 1", "link 2"]


@pytest.mark.parametrize("name", [name for name in NAMED if name.endswith((".yaml", ".json"))])
def test_what_a_text_names_outside_is_refused(folders, name):
    (folders / "link-to-secret.yaml").symlink_to(folders.parent / "secret.yaml")
    document = yaml.safe_load(NAMED[name](folders.parent))
    with live(bc.gallery.double_pendulum(), folder=folders) as session:
        with pytest.raises(BellcrankError, match="outside the folder"):
            session.do("open_text", text=json.dumps(document))
        assert list(session.editor.mechanism.bodies) == ["link 1", "link 2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.urdf", URDF.format("<mesh filename='../secret.stl'/>")),
        ("b.xml", MJCF.format("<asset><mesh name='m' file='../secret.stl'/></asset>",
                              "<geom type='mesh' mesh='m' mass='1'/>")),
        ("c.xml", MJCF.format("<asset><mesh name='m' file='../secret.stl'/></asset>",
                              "<geom type='mesh' mesh='m' density='1'/>")),
        ("d.sdf", SDF.format("<include><uri>../secret.sdf</uri></include><link name='l'>"
                             "<inertial><mass>1</mass></inertial>"
                             "<visual name='v'><geometry><mesh><uri>../secret.stl</uri></mesh>"
                             "</geometry></visual></link>")),
    ],
)  # fmt: skip
def test_meshes_and_models_outside_are_left_out_of_robots(folders, name, text):
    (folders / name).write_text(text)
    assert "secret.stl" in str(bc.load(folders / name).bodies) or name == "c.xml"
    with confined(folders):
        robot = bc.load(folders / name)
    assert "secret" not in str(robot.bodies)
    assert "SECRET" not in str(robot.bodies)
    assert any(str(folders) in fault.rule or "mass" in fault.rule for fault in robot.left_out)


def test_commands_and_completion_stay_inside(folders):
    tetrahedron(folders / "mine.stl")
    with live(bc.Mechanism("bench"), folder=folders) as session:
        for line in (
            "load ../secret.yaml",
            "source ../secret.yaml",
            "body b shapes=[{type: Mesh, file: ../secret.stl, density: 1}]",
        ):
            reply = session.do("execute", line=line)
            assert "outside the folder" in reply.text, line
        assert session.editor.shell.complete("load ../se") == []
        assert session.editor.shell.complete("load mi") == ["mine.stl"]
        assert session.do("execute", line="body b shapes=[{type: Mesh, file: mine.stl, density: 1}]").ok


def test_meshes_of_the_mechanism_that_the_owner_opened_are_read(folders):
    mechanism = bc.Mechanism("own", gravity=(0.0, 0.0, -9.81))
    shape = bc.Mesh(file=str(folders.parent / "secret.stl"), density=1000.0)
    body = mechanism.add_body("b", position=(0.0, 0.0, 1.0), shapes=shape)
    mechanism.add_body("c", position=(0.0, 0.0, 3.0), shapes=bc.Sphere(radius=0.1, density=1000.0))
    mechanism.add_force("touch", bc.Contact(1e5), "b", "c")
    with live(mechanism, folder=folders) as session:
        for line in ("step 2", "sb c -m 2", "step 2"):
            reply = session.do("execute", line=line)
            assert reply.ok, reply.text
    assert body.mass > 0.0


def test_a_mesh_reads_beside_itself_only(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    numbers = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<3I", 0, 1, 2)
    for folder in (inside, tmp_path):
        (folder / "corners.bin").write_bytes(numbers)
    scene = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36},
                        {"buffer": 0, "byteOffset": 36, "byteLength": 12}],
    }  # fmt: skip
    whole = "data:application/octet-stream;base64," + base64.b64encode(numbers).decode()
    for uri, readable in ((whole, True), ("corners.bin", True), ("../corners.bin", False),
                          (str(tmp_path / "corners.bin"), False)):  # fmt: skip
        (inside / "a.gltf").write_text(
            json.dumps({**scene, "buffers": [{"uri": uri, "byteLength": len(numbers)}]})
        )
        mesh = bc.Mesh(file=str(inside / "a.gltf"))
        if readable:
            assert mesh.surface()[1].shape == (1, 3)
        else:
            with pytest.raises(bc.MechanismError, match="cannot be read"):
                mesh.surface()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_refused_wherever_a_file_is_named(tmp_path):
    for name in ("p.yaml", "p.xml", "p.stl", "p.png"):
        os.mkfifo(tmp_path / name)
    for read in (
        lambda: bc.load(tmp_path / "p.yaml"),
        lambda: bc.load(tmp_path / "p.xml"),
        lambda: bc.Mesh(file=str(tmp_path / "p.stl")).surface(),
        lambda: bc.Terrain.from_image(tmp_path / "p.png", (1.0, 1.0), 1.0),
    ):
        with pytest.raises(bc.MechanismError, match="no file but a device, a pipe or a socket"):
            read()


def test_pictures_of_terrain_are_refused_outside(folders):
    with confined(folders), pytest.raises(bc.MechanismError, match="outside the folder"):
        bc.Terrain.from_image(folders.parent / "secret.png", (1.0, 1.0), 1.0)
