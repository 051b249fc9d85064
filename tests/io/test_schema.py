"""The JSON Schema of the format: it takes what loads, and refuses what it can know to be wrong."""

import json
import re
from pathlib import Path

import pytest
import yaml
from docs_tables import TABLES
from hypothesis import HealthCheck, given, settings
from rigs.json_schema import SCHEMA, accepts, definition

import bellcrank as bc
from bellcrank import io
from bellcrank.io import yaml_format
from bellcrank.io.node import plain
from bellcrank.mechanism import CONSTRAINT_KINDS, FORCE_KINDS, JOINT_KINDS, SENSOR_KINDS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "messages" / "data"
GOOD = (DATA / "arm.yaml").read_text("utf-8")


def references(node):
    if isinstance(node, dict):
        yield from ([node["$ref"]] if "$ref" in node else [])
        for child in node.values():
            yield from references(child)
    elif isinstance(node, list):
        for child in node:
            yield from references(child)


def test_it_is_json_and_whole():
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert all(definition(reference) for reference in references(SCHEMA))


def test_it_takes_what_loads():
    for text in (GOOD, (ROOT / "examples" / "demo.yaml").read_text("utf-8")):
        assert accepts(SCHEMA, plain(yaml_format.parse(text)))
        assert accepts(SCHEMA, json.loads(io.dumps(bc.loads(text), "json")))


def test_it_takes_members_and_joints_at_points():
    text = """
bellcrank: 1
bodies: {boom: {mass: 100, inertia: [1, 20, 20]}}
members:
  stay: {type: Rod, start: [0, 0, -1], end: [1, 0, 0], radius: 20 mm}
  gas: {type: GasSpring, force: 300, length: 0.9, stroke: 0.4, bore: 22 mm, rod: 10 mm, start: [0, 0, 0],
        end: [0.7, 0, 0], between: [stay, boom], axis: y}
joints: {foot: {type: Revolute, bodies: [ground, stay], at: [0, 0, -1], axis: y}}
"""
    bc.loads(text)
    assert accepts(SCHEMA, plain(yaml_format.parse(text)))
    for without in ("radius: 20 mm", "at: [0, 0, -1], ", "bore: 22 mm, ", "type: Rod, "):
        assert not accepts(SCHEMA, plain(yaml_format.parse(text.replace(without, ""))))


def test_the_tables_of_its_page_are_up_to_date():
    page = (ROOT / "docs" / "file-format.md").read_text("utf-8")
    found = dict(re.findall(r"^<!-- table: (\w+) -->\n\n(.*?)\n<!-- end of table -->$", page, re.M | re.S))
    wanted = {name: table() for name, table in TABLES.items() if name.startswith("file_")}
    assert found == wanted, "run tools/docs_tables.py"


def test_it_takes_the_files_of_its_page():
    page = (ROOT / "docs" / "file-format.md").read_text("utf-8")
    files = re.findall(r"^```yaml \S+\n(.*?)^```$", page, re.M | re.S)
    assert len(files) >= 3
    assert all(accepts(SCHEMA, plain(yaml_format.parse(text))) for text in files)


@pytest.mark.parametrize("name", [*JOINT_KINDS, *CONSTRAINT_KINDS, *FORCE_KINDS])
def test_it_takes_every_kind(name, example):
    cls = {**JOINT_KINDS, **CONSTRAINT_KINDS, **FORCE_KINDS}[name]

    @settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(example(cls))
    def check(kind):
        mech = bc.Mechanism("m")
        body = mech.add_body("a", mass=1.0, inertia=(1, 1, 1))
        mech.add_joint("j", bc.Revolute(), mech.ground, body)
        if name in JOINT_KINDS:
            mech.add_joint("k", kind, mech.ground, body)
        elif name == "Coupling":
            mech.add_constraint("k", kind, *["j"] * len(kind.coefficients))
        else:
            letters = re.sub(r"(.)\+", r"\1\1", kind.pattern.split("|")[0].removesuffix("J*"))
            add = mech.add_constraint if name in CONSTRAINT_KINDS else mech.add_force
            taken = [{"M": body, "J": "j"}[letter] for letter in letters]
            add("k", kind, *([body, mech.ground] if name in ("Contact", "Tyre") else taken))  # each body once
        assert accepts(SCHEMA, json.loads(io.dumps(mech, "json")))

    check()


SENSORS = {
    "WrenchSensor": (bc.WrenchSensor("j", noise=(0.1,) * 6), ([], ["M"])),
    "ForceSensor": (bc.ForceSensor("f", delay=1e-3), ([], ["M"])),
    "IMU": (bc.IMU(period="5 ms", bias=0.1), (["M"],)),
    "Encoder": (bc.Encoder(measures="velocity", resolution=1e-3, seed=4), (["J"],)),
    "DistanceSensor": (bc.DistanceSensor(), (["M", "G"],)),
}


@pytest.mark.parametrize("name", SENSOR_KINDS)
def test_it_takes_every_sensor(name):
    kind, forms = SENSORS[name]
    for form in forms:
        mech = bc.Mechanism("m")
        body = mech.add_body("a", mass=1.0, inertia=(1, 1, 1))
        mech.add_joint("j", bc.Revolute(), mech.ground, body)
        mech.add_force("f", bc.TorsionSpring(1.0), "j")
        mech.add_sensor("s", kind, *({"M": body, "J": "j", "G": mech.ground}[letter] for letter in form))
        assert accepts(SCHEMA, json.loads(io.dumps(mech, "json")))
        assert io.loads(io.dumps(mech, "yaml")) == mech


@pytest.mark.parametrize(
    "kind",
    [
        bc.Release(of="j", when="j.moment > 4"),
        bc.Release(of=("j", "f"), after="other", names={"k": "j"}, when="k > 1", signal=bc.Input("go", 0.5)),
        bc.Engagement(of="f", when="distance < 0.1", pose="fits", tolerance="1 mm", engaged=True),
    ],
)
def test_it_takes_every_change(kind):
    mech = bc.Mechanism("m")
    body = mech.add_body("a", mass=1.0, inertia=(1, 1, 1))
    mech.add_joint("j", bc.Revolute(), mech.ground, body)
    mech.add_force("f", bc.TorsionSpring(1.0), "j")
    mech.add_change("other", bc.Release(of="f", when="t > 1"))
    mech.add_change("c", kind, *((body, mech.ground) if isinstance(kind, bc.Engagement) else ()))
    assert accepts(SCHEMA, json.loads(io.dumps(mech, "json")))
    for form in ("yaml", "json"):
        assert io.loads(io.dumps(mech, form)) == mech


KEYS = re.compile(
    "key '.*' is missing|key is not known|no .* of this type|has no place here|one of 'ends' and 'joint'"
)
CASES = [
    case
    for case in yaml.safe_load((DATA / "faulty_files.yaml").read_text("utf-8"))
    if KEYS.search(case["says"])
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['key']}-{case['by'].strip()[:24]}")
def test_it_refuses_unknown_and_missing_keys(case):
    assert not accepts(SCHEMA, plain(yaml_format.parse(GOOD.replace(case["replace"], case["by"], 1))))
