"""Files that are not read: the way from other programs, and pointers in the place of files."""

from __future__ import annotations

import pytest

import bellcrank as bc
from bellcrank.errors import MechanismError, Unsupported
from bellcrank.extras import needed

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(
    ("suffix", "how"),
    [
        ("osim", "MJCF"),
        ("dae", "glTF"),
        ("step", "FreeCAD"),
        ("STP", "STL"),
        ("iges", "STL"),
        ("bvh", "from_csv"),
        ("csv", "from_csv"),
        ("usd", "URDF"),
        ("usdz", "URDF"),
        ("fbx", "Blender"),
        ("blend", "Blender"),
        ("wrl", "MeshLab"),
        ("mdl", "describe it anew"),
        ("slx", "describe it anew"),
        ("sldasm", "STL"),
        ("proto", "URDF"),
        ("zip", "unpack"),
        ("erb", "expand"),
        ("mjb", "mj_saveLastXML"),
        ("3mf", "STL"),
    ],
)
def test_files_of_other_programs_come_with_the_way_here(tmp_path, suffix, how):
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(b"anything")
    with pytest.raises(Unsupported, match=how) as raised:
        bc.load(path)
    assert str(raised.value).startswith(f"'model.{suffix}' is ")
    with pytest.raises(Unsupported, match="a mechanism file ends in"):
        bc.save(bc.Mechanism(), path)


@pytest.mark.parametrize(
    ("root", "what"),
    [("OpenSimDocument", "OpenSim"), ("html", "download"), ("launch", "load the model"), ("model", ".sdf")],
)  # fmt: skip
def test_documents_of_another_kind_are_named(tmp_path, root, what):
    (tmp_path / "a.xml").write_text(f"<{root}/>")
    with pytest.raises(MechanismError, match=what):
        bc.load(tmp_path / "a.xml")


SUFFIXES = ("yaml", "json", "urdf", "xml", "sdf", "xacro", "stl", "obj", "glb", "pdb", "cif")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pointers_of_git_lfs_are_named(tmp_path, suffix):
    if suffix in ("pdb", "cif"):
        pytest.importorskip("gemmi")
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(POINTER)
    with pytest.raises(MechanismError, match=r"pointer of Git LFS.*git lfs pull"):
        bc.load(path)


def test_pointers_in_the_place_of_other_files_are_named(tmp_path):
    """Runs, tables, pictures, meshes of shapes, and meshes that robots name, which are then not shown."""
    run, image, mesh, table = paths = [tmp_path / f"a.{suffix}" for suffix in ("h5", "png", "stl", "csv")]
    for path in paths:
        path.write_bytes(POINTER)
    for read in (
        lambda: bc.Trajectory.load(run),
        lambda: bc.Terrain.from_image(image, (1.0, 1.0), 1.0),
        lambda: bc.Mesh(file=str(mesh), density=1.0).volume_properties(),
        lambda: bc.Table.from_csv(table),
    ):
        with pytest.raises(MechanismError, match=r"pointer of Git LFS.*git lfs pull"):
            read()
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    shown = '<visual><geometry><mesh filename="a.stl"/></geometry></visual>'
    robot = tmp_path / "a.urdf"
    robot.write_text(f'<robot name="r">\n<link name="a">{inertial}{shown}</link></robot>')
    mech = bc.load(robot)
    (fault,) = mech.left_out
    assert "pointer of Git LFS" in fault.rule
    assert fault.location.line == 2
    assert mech.bodies["a"].shapes == ()


def test_the_table_of_a_fit_may_be_a_pointer(tmp_path):
    needed("pandas", "a table")
    from bellcrank.cli.studies import _columns

    (tmp_path / "a.csv").write_bytes(POINTER)
    with pytest.raises(MechanismError, match="pointer of Git LFS"):
        _columns(str(tmp_path / "a.csv"), ())
