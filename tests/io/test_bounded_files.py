"""Files that are small and expand, and things that are no files: refused at once, by what they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rigs.bombs import BOMBS

import bellcrank as bc
from bellcrank.io import node

FEWER = 10_000
"""Values that a text may have here instead of two million, which take a quarter of a minute to be read."""
BODY = "<body name='b'><geom size='1'/></body>"
TEXTS = {
    "nested.xml": (
        "<mujoco><worldbody>"
        + "<replicate count='100'>" * 4
        + BODY
        + "</replicate>" * 4
        + "</worldbody></mujoco>",
        "with its copies the model has more than 50000 elements",
    ),
    "named.xml": (
        (
            f"<mujoco><worldbody><replicate count='9000' sep='{'s' * 9000}'>{BODY}</replicate>"
            "</worldbody></mujoco>"
        ),
        "more than 50000 elements",
    ),
    "looks.xml": (
        "<mujoco><worldbody>"
        + "<replicate count='2'><body name='b'/></replicate>" * 300
        + "</worldbody><equality>"
        "" + "<weld body1='c'/>" * 9000 + "</equality></mujoco>",
        "too many references",
    ),
    "classes.xml": (
        "<mujoco><default>"
        + "".join(f"<x{k}/>" for k in range(300))
        + "".join(f"<default class='c{k}'/>" for k in range(300))
        + "</default></mujoco>",
        "inherit more than 50000 defaults",
    ),
    "many.urdf": (f"<robot name='a'>{'<link/>' * 60_000}</robot>", "there are more than 50000 elements"),
    "wide.urdf": ("<robot " + " ".join(f"a{k}=''" for k in range(101)) + "/>", "more than 100 attributes"),
    "long.yaml": (f"a: [{'1,' * FEWER}1]", f"more than {FEWER} values"),
    "long.json": (f'{{"a": [{"1," * FEWER}1]}}', f"more than {FEWER} values"),
    "merged.yaml": (
        "a: &a {" + ",".join(f"k{k}: 1" for k in range(500)) + "}\nb:\n" + "- {<<: [*a, *a, *a, *a]}\n" * 6,
        "with what << merges|the aliases in it multiply",
    ),
}


def test_so_many_values_may_a_text_have():
    assert node.NODES == 2_000_000


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_expand(tmp_path, monkeypatch, name):
    for module in ("yaml_format", "json_format"):
        monkeypatch.setattr(f"bellcrank.io.{module}.NODES", FEWER)
    text, rule = TEXTS[name]
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(bc.MechanismError, match=rule) as refused:
        bc.load(path)
    assert len(refused.value.faults) == 1
    assert refused.value.faults[0].location.line
    assert "model file: model file" not in str(refused.value)


EXPANDED = """
import json, os, resource, sys, numpy, trimesh, networkx, scipy.sparse, PIL.Image, bellcrank as bc

held = int(open("/proc/self/statm").read().split()[0]) * 4096
for path in sys.argv[1:]:
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        resource.setrlimit(resource.RLIMIT_AS, (held + (1 << 30),) * 2)
        said = ""
        try:
            bc.Terrain.from_image(path, (1, 1), 1) if path.endswith("png") else bc.Mesh(path).surface()
        except bc.MechanismError as error:
            said = str(error)
        print(json.dumps([path, said]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def expanded(tmp_path_factory):
    """What is said of each file, read in a process of its own with little memory and time."""
    folder, names = tmp_path_factory.mktemp("bombs"), {}
    for number, name in enumerate(BOMBS):
        path = folder / f"{number}.{name.split()[-1]}"
        path.write_bytes(BOMBS[name](6))
        names[str(path)] = name
    command = [sys.executable, "-W", "ignore", "-c", EXPANDED, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return {names[path]: said for path, said in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", BOMBS)
def test_files_that_expand(expanded, name):
    said = expanded[name]  # not there if its process ended otherwise
    assert name.split()[0] == "materials" or "Terrain.from_image: " in said or "Mesh '" in said
    assert "MemoryError" not in said
    assert "allocate" not in said


@pytest.mark.parametrize("name", ["a.pdb", "a.cif", "a.urdf", "a.yaml", "a.json"])
def test_pipes_are_no_files(tmp_path, name):
    pytest.importorskip("gemmi")
    os.mkfifo(tmp_path / name)
    with pytest.raises(bc.MechanismError, match="no file but a device, a pipe or a socket"):
        bc.load(tmp_path / name)


@pytest.mark.parametrize(("name", "advice"), [("a.tar.gz", "unpack it"), ("a.step", "convert it to STL")])
def test_other_kinds_of_meshes_are_refused_by_name(tmp_path, name, advice):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(bc.MechanismError, match=f"a mesh file ends in .stl.*{name}.*{advice}"):
        bc.Mesh(tmp_path / name).surface()


def test_long_texts_take_as_long_as_they_are(tmp_path):
    """Many short lines are many pieces of text, which must not be copied with each."""
    path = tmp_path / "a.urdf"
    path.write_text("<robot name='a'><link name='b'>" + "x\n" * 5_000_000 + "</link></robot>", "utf-8")
    code = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (9, 9))\n"
    code += f"import bellcrank as bc; bc.load({str(path)!r})"
    assert subprocess.run([sys.executable, "-c", code], timeout=300, check=False).returncode == 0


def test_broken_included_files_are_faults_with_their_lines_all_at_once(tmp_path):
    (tmp_path / "one.xml").write_text("<mujocoinclude>\n<body></mujocoinclude>", "utf-8")
    (tmp_path / "two.xml").write_text("<mujocoinclude>\n\n<a></mujocoinclude>", "utf-8")
    top = tmp_path / "top.xml"
    top.write_text("<mujoco><include file='one.xml'/><include file='two.xml'/></mujoco>", "utf-8")
    with pytest.raises(bc.MechanismError) as refused:
        bc.load(top)
    places = [(Path(fault.location.file).name, fault.location.line) for fault in refused.value.faults]
    assert places == [("one.xml", 2), ("two.xml", 3)]


def test_a_broken_included_model_is_a_fault_with_its_line(tmp_path):
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "model.sdf").write_text("<sdf version='1.9'>\n<model name='x'></sdf>", "utf-8")
    top = tmp_path / "top.sdf"
    include = "<include><uri>arm</uri></include>"
    top.write_text(f"<sdf version='1.9'><model name='m'><link name='a'/>{include * 2}</model></sdf>", "utf-8")
    with pytest.raises(bc.MechanismError) as refused:
        bc.load(top)
    assert {(fault.location.line, fault.rule) for fault in refused.value.faults} == {
        (2, "not XML: mismatched tag")
    }
