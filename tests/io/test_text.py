"""YAML and JSON texts as trees of nodes: values, places, and what is written."""

import json
import math
from itertools import product

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import bellcrank as bc
from bellcrank import MechanismError
from bellcrank.io import json_format, yaml_format
from bellcrank.io.node import Entries, plain

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), PLAIN, min_size=1))
def test_what_is_written_is_read_back(data):
    assert plain(yaml_format.parse(yaml_format.write(data))) == data
    text = json_format.write(data)
    assert plain(json_format.parse(text)) == data == json.loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-0.0", -0.0),
        ("+3", 3),
        ("010", 10),
        ("9" * 400, math.inf),
        ("yes", "yes"),
        ("on", "on"),
        ("NO", "NO"),
        ("1:30", "1:30"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("2001-01-01", "2001-01-01"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        (".inf", math.inf),
        ("-Infinity", -math.inf),
        ("'1'", "1"),
        ('"true"', "true"),
        ('"\\u00e9"', "é"),
    ],
)
def test_plain_words(text, value):
    found = plain(yaml_format.parse(f"a: {text}"))["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number():
    for text in (".nan", "NaN", "nan"):
        assert math.isnan(plain(yaml_format.parse(f"a: {text}"))["a"])
    assert math.isnan(plain(json_format.parse('{"a": NaN}'))["a"])
    assert plain(json_format.parse('{"a": -Infinity}'))["a"] == -math.inf


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (yaml_format.parse, "one: 1\ntwo:\n  three: [4, 5]\n"),
        (json_format.parse, '{"one": 1,\n"two":\n{ "three": [4, 5]}}'),
        (json_format.parse, '{"one": 1,\r\n"two":\r\n{\t"three":\t[4, 5]}}'),
    ],
)
def test_places(parse, text):
    root = parse(text)
    assert isinstance(root, Entries)
    key, two = root.entries[1]
    assert (key.line, key.column) == (2, 1)
    assert (two.line, two.column) == (3, 3 if parse is yaml_format.parse else 1)
    five = two.find("three").items[1]
    assert five.value == 5
    lines = text.replace("\r", "").splitlines()
    assert lines[five.line - 1][five.column - 1] == "5"


def test_json_beyond_yaml():
    text = '{"a/b":\t"\\/ \\ud83d\\ude00 \\u2028", "b":[1,2],"c":{"d":-1.5E+3}}'
    assert plain(json_format.parse(text)) == json.loads(text)


def test_aliases_and_merged_mappings():
    text = """
link: &link {mass: 1, inertia: [1, 1, 1]}
a: *link
b: {<<: *link, mass: 2}
c: {<<: [{mass: 3}, *link]}
d: {"<<": 4}
"""
    found = plain(yaml_format.parse(text))
    assert found["a"] == found["link"]
    assert found["b"] == {"mass": 2, "inertia": [1, 1, 1]}
    assert found["c"] == {"mass": 3, "inertia": [1, 1, 1]}
    assert found["d"] == {"<<": 4}


def test_empty_texts():
    for text in ("", "\n\n", "# a remark\n", "---\n"):
        root = yaml_format.parse(text)
        assert root is None or plain(root) is None
    assert json_format.parse(" \n") is None


@pytest.mark.parametrize("depth", [100, 100_000])
@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", '{"a": '])
def test_deep_nesting_is_refused(opening, depth):
    parse = json_format.parse if '"' in opening else yaml_format.parse
    with pytest.raises(MechanismError, match=r"nested more than \d+ deep"):
        parse(opening * depth)


def test_aliases_that_multiply_are_refused():
    text = "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
    for one, two in zip("abcdefghij", "bcdefghijk", strict=True):
        text += f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n"
    with pytest.raises(MechanismError, match="multiply beyond all bounds"):
        yaml_format.parse(text)


def test_written_files_are_laid_out_for_people():
    data = {
        "name": "m",
        "bodies": {
            "a": {"mass": 1.0, "position": [1e-05, 0.0, 0.0]},
            "b": {"mass": 1.0, "text": "x" * 60, "more": "y" * 60, "list": [{"k": "z" * 120}, [0.5] * 3]},
        },
        "table": {"long": [float(i) for i in range(40)]},
    }
    text = yaml_format.write(data)
    assert text.startswith(
        "name: m\nbodies:\n  a: {mass: 1.0, position: [1.0e-05, 0.0, 0.0]}\n  b:\n    mass: 1.0\n"
    )
    assert max(len(line) for line in text.splitlines() if "zzz" not in line) <= 110
    assert "\n      - [0.5, 0.5, 0.5]\n" in text
    assert json_format.write({"a": {"b": [1.0, 2.0]}}) == '{\n  "a": {"b": [1.0, 2.0]}\n}\n'


@pytest.mark.parametrize(
    ("letter", "length"),
    [("a", 70_000), *product(("a", "é", '"', "日"), (999, 1000, 1001, 1022, 1023, 1024, 1025, 3000))],
)
def test_keys_of_any_length_are_read_back(letter, length):
    """YAML readers look 1024 characters ahead for the colon of a key."""
    key = letter * length
    nested = {key: {"x": 1.0, key: [1.0, 2.0]}, "b": [{key: {}}, {"c": 1.0, key: {key: "text"}}]}
    data = {key: 1.0, "m": nested, "list": [[nested]], f"{key}2": nested}
    assert yaml.safe_load(yaml_format.write(data)) == json.loads(json_format.write(data)) == data
    assert plain(yaml_format.parse(yaml_format.write(data))) == data
    assert plain(json_format.parse(json_format.write(data))) == data


def test_long_names_of_all_elements_are_read_back(tmp_path):
    name = "n" * 1500
    mech = bc.Mechanism(name)
    width = mech.add_parameter(f"{name}w", 0.5, "m")
    body = mech.add_body(name, 1.0, (1, 1, 1))
    joint = mech.add_joint(name, bc.Revolute(), mech.ground, body.marker(name=name, position=(-width, 0, 0)))
    mech.add_drive(f"{name}d", joint, position=bc.Input(f"{name}i", 0.0, unit="rad"))
    mech.add_force(f"{name}f", bc.TorsionSpring(2.0), joint=joint)
    for kind in (".yaml", ".json"):
        bc.save(mech, tmp_path / f"m{kind}")
        assert bc.load(tmp_path / f"m{kind}") == mech
