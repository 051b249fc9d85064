"""What type checkers know of the public functions: wrong calls are refused, and the guide is accepted."""

import re
from pathlib import Path

import pytest

api = pytest.importorskip("mypy.api")

ROOT = Path(__file__).parents[2]
SETTINGS = """[mypy]
strict = true
plugins = bellcrank.mypy_plugin
mypy_path = {src}
ignore_missing_imports = true
allow_redefinition = true
disable_error_code = no-untyped-call, no-untyped-def, no-any-return, operator, union-attr
"""
BEFORE = """import bellcrank as bc
mech = bc.Mechanism("typed")
body = mech.add_body("body", mass=1.0, inertia=(1, 1, 1))
"""
WRONG = [
    'mech.add_body("crank", mass="heavy", inertia=(1, 1, 1))',
    'mech.add_body("crank", mass="2 furlong", inertia=(1, 1, 1))',
    'mech.add_body("crank", mass=1.0, inertia="round")',
    'mech.add_body("crank", mass=1.0, inertia=(1, 1, 1), positon=(0, 0, 0))',
    'mech.add_body("crank", mass=1.0, inertia=(1, 1, 1), position="here")',
    'mech.add_body("crank", mass=1.0, inertia=(1, 1, 1), shapes="box")',
    "mech.add_body(3, mass=1.0, inertia=(1, 1, 1))",
    'mech.add_joint("pin", bc.Revolute, mech.ground, body)',
    'mech.add_joint("pin", "Revolute", mech.ground, body)',
    'mech.add_joint("pin", bc.Revolute(), mech.ground)',
    'mech.add_joint("pin", bc.Revolute(), mech.ground, 3)',
    'mech.add_joint("pin", bc.Revolute(), mech.ground, body, limits=(0, 1))',
    'mech.add_force("spring", bc.Revolute(), mech.ground, body)',
    'mech.add_drive("motor", joint="pin", speed=1.0)',
    "bc.simulate(mech, duraton=1.0)",
    'bc.simulate(mech, 1.0, method="rk4", steps=1e-3)',
    'bc.simulate("mechanism.yaml", 1.0)',
    'bc.simulate(mech, duration="long")',
    'bc.simulate(mech, 1.0, rank_tolerance="small")',
    'bc.SpringDamper(stiffness="stiff")',
    "bc.SpringDamper(stifness=100.0)",
    'bc.Box(size="large")',
    'body.marker((0, 0, 0), axis="up")',
    "body.marker((0, 0, 0), z_axs=(0, 0, 1))",
    'bc.rotation("z", "half a turn")',
    "bc.Limit(lower=0.0, uper=1.0)",
    "bc.Gear(ratio=(1, 2))",
    "bc.load(3)",
    'bc.prepare(mech, "lagrange", rank_tolerence=1e-9)',
    'bc.verify(mech, duration="long")',
]
RIGHT = """
turn = bc.rotation("z", "30 deg")
mech.add_body("crank", mass="2 kg", inertia=("1 kg m^2", 1, 1), position=["20 mm", 0, 0], rotation=turn)
mech.add_body("rod", mass=bc.quantity("2 lb", "kg"), inertia=[1, 1, 1])
stops = bc.Limit("-30 deg", "30 deg")
mech.add_joint("pin", bc.Revolute(), "ground", "crank", velocity="60 rpm", limits=stops)
mech.add_force("spring", bc.SpringDamper("2 N/mm", rest_length="10 cm"), body.marker(axis="-y"), "ground")
mech.add_drive("motor", "pin", position="sin(t)")
bc.simulate(mech, "2 s", step="1 ms", rank_tolerance=1e-9, events=[bc.Event("top", "pin")])
rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
mech.add_body("upper", **rod, position=(0, 0, 1))
steel = {"density": 7850.0}
bc.Box(size=(1, 1, 1), color="tan", **steel)
"""
TYPES = """
run = bc.simulate(mech, 1.0)
reveal_type(mech.bodies["rod"])
reveal_type(mech.replace(mech.bodies["rod"], mass=2.0))
reveal_type(run.marker("rod.tip").position)
reveal_type(run.bodies[0])
reveal_type(run[10:20])
reveal_type(bc.statics(mech).forces["spring"].effort)
reveal_type(bc.statics(mech).position["pin"])
reveal_type(bc.modes(mech)[0])
reveal_type(bc.modes(mech)[:2])
reveal_type(bc.verify(mech)["energy"])
reveal_type(bc.sweep(mech, {"L": [1.0]}, "final pin")["L"])
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What mypy says of each file: line, error or note, and message, by its name; in one run of a minute."""
    folder = tmp_path_factory.mktemp("typed")
    pages = {page.stem: snippets(page) for page in sorted((ROOT / "docs" / "guide").glob("*.md"))}
    calls = {"wrong": BEFORE + "\n".join(WRONG) + "\n", "right": BEFORE + RIGHT, "indexing": BEFORE + TYPES}
    texts = calls | {"page_" + re.sub(r"\W", "_", name): text for name, text in pages.items()}
    texts["readme"] = snippets(ROOT / "README.md")
    (folder / "mypy.ini").write_text(SETTINGS.format(src=ROOT / "src"))
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    options = ["--config-file", str(folder / "mypy.ini"), "--cache-dir", str(folder / "cache")]
    said, errors, _ = api.run([*options, *(str(folder / f"{name}.py") for name in texts)])
    assert not errors, errors
    lines = {name: [] for name in texts}
    for line in said.splitlines():
        if match := re.match(r"(?:.*/)?(\w+)\.py:(\d+): (error|note): (.*)", line):
            lines[match[1]].append((int(match[2]), match[3], match[4]))
    return lines


@pytest.fixture(scope="module")
def found(report):
    """The errors of each file, line and message."""
    return {
        name: [(line, text) for line, kind, text in lines if kind == "error"]
        for name, lines in report.items()
    }


def test_indexing_has_a_type(report):
    """Its class, as the last word of its name."""
    told = [text.split('"')[1] for _, kind, text in report["indexing"] if kind == "note" and '"' in text]
    arrays = "ndarray[tuple[Any, ...], dtype[float64]]"
    assert [re.sub(r"[\w.]*\.(?=\w+)", "", one).replace("_AnyShape", "tuple[Any, ...]") for one in told] == [
        "Body", "Body", arrays, "str", "Trajectory", f"float | {arrays}", arrays, "Mode", "tuple[Mode, ...]",
        "CheckResult", arrays,
    ]  # fmt: skip


def test_wrong_calls_are_refused(found):
    first = BEFORE.count("\n")
    refused = {number - first - 1 for number, _ in found["wrong"]}
    assert [call for number, call in enumerate(WRONG) if number not in refused] == []


def test_right_calls_are_accepted(found):
    assert found["right"] == []


def test_the_guide_is_accepted(found):
    assert {name: errors for name, errors in found.items() if errors and name != "wrong"} == {}


def snippets(page):
    """The Python of a page, its other lines left empty, so that line numbers stay; errors are left out."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"
