"""Mechanisms placed in others: from files and written out, attached, with faults told where they stand."""

import pytest

import bellcrank as bc
from bellcrank import io

ARM = """
bellcrank: 1
name: arm
gravity: [0, 0, 0]
ground: {shapes: [{type: Sphere, radius: 0.1}]}
bodies:
  link: {mass: 1, inertia: [1, 1, 1], position: [0.5, 0, 0], shapes: [{type: Mesh, file: link.stl}]}
markers:
  link.tip: {position: [0.5, 0, 0]}
joints:
  root: {type: Revolute, first: ground, second: {body: link, position: [-0.5, 0, 0]}}
simulation: {duration: 1}
"""
CART = """
bellcrank: 1
name: cart
bodies:
  base: {mass: 10, inertia: [1, 1, 1]}
joints:
  rail: {type: Prismatic, first: ground, second: base}
  grip: {type: Spherical, first: left/link.tip, second: inner/link.tip}
mechanisms:
  left: {file: parts/arm.yaml, attach_to: base, position: [0, 1 mm, 0]}
  right: {file: parts/arm.yaml, prefix: inner, rotation: {axis: [0, 0, 1], angle: 180 deg}}
  rod:
    mechanism:
      bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}
forces:
  brake: {type: Brake, level: 2, joint: left/root}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/arm.yaml").write_text(ARM, encoding="utf-8")
    (tmp_path / "cart.yaml").write_text(CART, encoding="utf-8")
    return tmp_path


def test_placed_mechanisms_are_as_if_placed_in_python(folder):
    arm = bc.load(folder / "parts/arm.yaml")
    rod = bc.Mechanism("rod")
    rod.add_body("rod", 1.0, (1, 1, 1))
    wanted = bc.Mechanism("cart")
    base = wanted.add_body("base", 10.0, (1, 1, 1))
    wanted.place(arm, "left", (0.0, 0.001, 0.0), attach_to=base)
    half_turn = io.loads(
        "bellcrank: 1\nbodies: {a: {mass: 1, inertia: [1,1,1], rotation: {axis: [0,0,1], angle: 180 deg}}}"
    )
    wanted.place(arm, "inner", rotation=half_turn.bodies["a"].rotation)
    wanted.place(rod, "rod")
    wanted.add_joint("rail", bc.Prismatic(), wanted.ground, base)
    wanted.add_joint("grip", bc.Spherical(), "left/link.tip", "inner/link.tip")
    wanted.add_force("brake", bc.Brake(2.0), joint="left/root")
    assert bc.load(folder / "cart.yaml") == wanted
    assert half_turn.bodies["a"].rotation == pytest.approx((0, 0, 0, 1), abs=1e-15)


def test_they_are_saved_expanded(folder):
    cart = bc.load(folder / "cart.yaml")
    bc.save(cart, folder / "flat.json")
    assert "mechanisms" not in (folder / "flat.json").read_text("utf-8")
    assert bc.load(folder / "flat.json") == cart


def test_meshes_are_looked_for_beside_their_own_file(folder):
    (mesh,) = bc.load(folder / "cart.yaml").bodies["left/link"].shapes
    assert mesh.file == str(folder / "parts/link.stl")


def test_a_text_finds_files_in_a_folder(folder, monkeypatch):
    text = "bellcrank: 1\nmechanisms: {a: {file: parts/arm.yaml, position: [1, 0, 0]}}"
    assert list(bc.loads(text, folder=folder).bodies) == ["a/link"]
    monkeypatch.chdir(folder)
    assert list(bc.loads(text).bodies) == ["a/link"]


def faults(path):
    with pytest.raises(bc.MechanismError) as caught:
        bc.load(path)
    return caught.value.faults


def test_faults_are_told_where_they_stand_and_once(folder):
    arm = folder / "parts/arm.yaml"
    arm.write_text(ARM.replace("mass: 1,", "mass: -1,").replace("second:", "secnd:"), encoding="utf-8")
    (folder / "cart.yaml").write_text(CART.replace("level: 2", "level: -2"), encoding="utf-8")
    found = [(f.location.file, f.location.line, f.location.key) for f in faults(folder / "cart.yaml")]
    assert sorted(found) == [
        (str(folder / "cart.yaml"), 16, "forces.brake.level"),
        (str(arm), 7, "bodies.link.mass"),
        (str(arm), 11, "joints.root"),
        (str(arm), 11, "joints.root.secnd"),
    ]


def test_faults_of_the_whole_stand_at_the_inner_element(folder):
    arm = folder / "parts/arm.yaml"
    both = "  both: {type: Fixed, first: link, second: link.tip}\nsimulation"
    arm.write_text(ARM.replace("simulation", both), encoding="utf-8")
    found = faults(folder / "cart.yaml")
    assert [(f.element, f.location.file, f.location.line) for f in found] == [
        ("joint 'left/both'", str(arm), 12),
        ("joint 'inner/both'", str(arm), 12),
    ]


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (
            "{file: nowhere.yaml}",
            "the file cannot be read \\(No such file or directory\\), got 'nowhere.yaml'",
        ),
        ("{file: parts}", "a mechanism file ends in .yaml, .yml, .json, not as in"),
        ("{file: cart.yaml}", "a mechanism cannot be placed in itself, got 'cart.yaml'"),
        ("{file: [1]}", "the name of a file is needed here; this is a list"),
        ("{prefix: x}", "exactly one of 'file' and 'mechanism' must be given"),
        ("{file: parts/arm.yaml, mechanism: {}}", "exactly one of 'file' and 'mechanism' must be given"),
        (
            "{file: parts/arm.yaml, attach_to: bas}",
            "there is no body of this name, got 'bas'; did you mean 'base'",
        ),
        ("{file: parts/arm.yaml, prefix: a.b}", "the name must not contain '.'"),
        ("{file: parts/arm.yaml, rotation: [1, 1, 0, 0]}", "rotation must be a unit quaternion"),
        ("{file: parts/arm.yaml, angle: 3}", "this key is not known, got 'angle'"),
        ("{file: parts/arm.yaml, prefix: left}", "this name is taken"),
        ("parts/arm.yaml", "a mapping is needed here, got 'parts/arm.yaml'"),
    ],
)
def test_faulty_placements(folder, entry, rule):
    text = CART.replace(
        "  rod:\n    mechanism:\n      bodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\n", f"  more: {entry}\n"
    )
    (folder / "cart.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(bc.MechanismError, match=rule) as caught:
        bc.load(folder / "cart.yaml")
    assert {(f.location.file, f.location.line) for f in caught.value.faults} == {
        (str(folder / "cart.yaml"), 12)
    }


def test_a_circle_of_files_is_refused(folder):
    arm = folder / "parts/arm.yaml"
    arm.write_text(ARM + "mechanisms: {loop: {file: ../cart.yaml}}\n", encoding="utf-8")
    (fault,) = faults(folder / "cart.yaml")
    assert "cannot be placed in itself" in fault.rule
    assert (fault.location.file, fault.location.line) == (str(arm), 13)


def test_references_into_what_failed_are_no_faults(folder):
    (folder / "cart.yaml").write_text(
        CART.replace("parts/arm.yaml, pre", "parts/amr.yaml, pre"), encoding="utf-8"
    )
    (fault,) = faults(folder / "cart.yaml")
    assert fault.location.line == 11
