"""What files are told that are wrong: file, line, column, key, rule and advice, all faults at once."""

from pathlib import Path

import pytest
import yaml

import bellcrank as bc
from bellcrank import io
from bellcrank.errors import Location

DATA = Path(__file__).parent / "data"
GOOD = (DATA / "arm.yaml").read_text("utf-8")
TEXTS = yaml.safe_load((DATA / "broken_texts.yaml").read_text("utf-8"))
CASES = yaml.safe_load((DATA / "faulty_files.yaml").read_text("utf-8"))


def faults(text, **options):
    with pytest.raises(bc.MechanismError) as caught:
        bc.loads(text, **options)
    return caught.value.faults


def test_the_good_file_is_good():
    assert list(bc.loads(GOOD).joints) == ["pivot", "ball"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['key']}-{case['by'].strip()[:24]}")
def test_one_fault_is_told_where_it_stands(case):
    assert case["replace"] in GOOD
    (fault,) = faults(GOOD.replace(case["replace"], case["by"], 1))
    place = fault.location
    assert (f"{place.line}:{place.column}", place.key) == (case["place"], case["key"]), str(fault)
    assert str(fault).startswith(case["says"])
    assert fault.advice.startswith(case.get("advice", ""))
    assert (
        str(fault)
        .split("\n")[0]
        .endswith(f"[line {place.line}, column {place.column}{', ' * bool(place.key)}{place.key or ''}]")
    )


def test_all_faults_come_in_one_error_in_the_order_of_the_file():
    text = (
        GOOD.replace("duration: 2.0", "duraton: 2.0")
        .replace("mass: 1.0", "mass: -1")
        .replace("rod]}", "rot]}")
    )
    text = text.replace("omega: 1.0", "omega: 1 Hz").replace("[0, 0, -9.81]", "-9.81")
    found = [(fault.location.line, fault.location.key) for fault in faults(text)]
    assert found == [
        (3, "gravity"),
        (7, "bodies.crank.mass"),
        (22, "forces.spring.ends.1"),
        (25, "drives.motor.position.omega"),
        (26, "simulation.duraton"),
    ]
    with pytest.raises(bc.MechanismError, match=r"5 faults in the mechanism:\n  1\. mechanism: gravity must"):
        bc.loads(text)


def test_one_object_can_have_several_faults():
    text = GOOD.replace(
        "mass: 1.0, inertia: [0.1, 0.1, 0.1]",
        "mass: 1 m, inertia: [0.1, 0.1, 0.9], com: [.nan, 0, 0], colour: 1",
    )
    assert [f.location.key.removeprefix("bodies.crank.") for f in faults(text)] == [
        "mass",
        "inertia",
        "com",
        "colour",
    ]


def test_what_hangs_on_a_faulty_element_is_not_a_fault():
    text = (
        GOOD.replace("mass: 2.0", "mass: 2 m")
        .replace("type: Revolute", "type: Rev")
        .replace("body: ground", "body: gr")
    )
    assert [f.location.key for f in faults(text)] == [
        "bodies.rod.mass",
        "markers.A.body",
        "joints.pivot.type",
    ]


def test_a_section_that_cannot_be_read_is_one_fault():
    (fault,) = faults("bellcrank: 1\nbodies: [1]\njoints: {j: {type: Revolute, first: a, second: ground}}")
    assert fault.location == Location(None, 2, "bodies", 9)
    assert fault.rule == "a mapping from the names of the bodies is needed here"


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: f"{case['format']}-{case['text'][:24]}")
def test_texts_that_are_no_mechanism_files(case):
    (fault,) = faults(case["text"], format=case["format"])
    place = fault.location
    assert (place.line and f"{place.line}:{place.column}") == case["place"], str(fault)
    assert fault.rule.startswith(case["says"])
    assert fault.advice.startswith(case.get("advice", ""))


def test_json_faults_have_lines_too():
    text = io.dumps(bc.loads(GOOD), "json").replace('"mass": 2.0', '"mass": -2.0')
    (fault,) = faults(text)
    assert text.splitlines()[fault.location.line - 1][fault.location.column - 1 :].startswith("-2.0")
    assert fault.location.key == "bodies.rod.mass"


def test_faults_name_the_file(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD.replace("mass: 1.0", "mass: -1"), encoding="utf-8")
    with pytest.raises(bc.MechanismError) as caught:
        bc.load(path)
    says = "body 'crank': mass must be greater than zero, got -1.0; give it in kg"
    assert str(caught.value) == f"{says} [{path}:7:17, bodies.crank.mass]"


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_bytes(b"bellcrank: 1\nname: \xff\xfe\n")
    with pytest.raises(bc.MechanismError, match="not UTF-8; save it as UTF-8") as caught:
        bc.load(path)
    assert (caught.value.faults[0].location.line, caught.value.faults[0].location.column) == (2, 7)
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())  # a byte order mark does no harm
    assert bc.load(path) == bc.loads(GOOD)


def test_other_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        bc.load(tmp_path / "nowhere.yaml")
    with pytest.raises(
        bc.Unsupported, match=r"a mechanism file ends in \.yaml, \.yml, \.json, .*, not as in '.*robot'"
    ):
        bc.load(tmp_path / "robot")
    with pytest.raises(
        bc.Unsupported, match=r"'robot.step' is a solid of a CAD program: .* export its surface"
    ):
        bc.load(tmp_path / "robot.step")
    with pytest.raises(bc.Unsupported, match="not as in"):
        bc.save(bc.Mechanism("m"), tmp_path / "m.txt")
    with pytest.raises(bc.Unsupported, match="there is no file format 'toml'; use one of 'yaml', 'json'"):
        bc.loads("", format="toml")


def test_a_name_of_a_marker_and_a_joint_is_not_clear():
    text = GOOD.replace("drives:", "  twist: {type: TabulatedSpring, effort: 1, ends: crank}\ndrives:")
    assert isinstance(bc.loads(text.replace("ends: crank", "ends: pivot")).forces["twist"].ends[0].joint, str)
    text = text.replace("  pivot: {", "  crank: {").replace("joint: pivot", "joint: crank")
    (fault,) = faults(text)
    assert fault.rule == "a body and a joint have this name"
    assert fault.advice == "write {joint: crank} for the joint, {body: crank} for the body"
    assert (
        bc.loads(text.replace("ends: crank", "ends: {joint: crank}")).forces["twist"].ends[0].joint == "crank"
    )
