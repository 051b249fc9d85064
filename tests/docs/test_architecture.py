"""The architecture: diagrams are those of linter and build, what its pages name exists. Rules of tests."""

import ast
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from bellcrank.formulations.preparing import FORMULATIONS

ROOT = Path(__file__).parents[2]
PAGE, WHERE = ((ROOT / name).read_text(encoding="utf-8") for name in ("ARCHITECTURE.md", "docs/extending.md"))
PACKAGE = ROOT / "src" / "bellcrank"
UNSEEN = {"__main__", "_cpu", "publishing", "overloads", "mypy_plugin"}  # modules that the diagram leaves out
NAMED = re.compile(r"""(?:import_module|__import__)\(\s*[rf]*["']bellcrank\b""")
MODULES_BY_NAME = {  # where the linter cannot see what is imported
    "__init__.py": 1,  # the facade, which lies above rooms that import the package
    "_core.py": 1,  # the build for this processor
    "cli/main.py": 1,  # the command that is called
}
PATHS = sorted(
    {text for text in re.findall(r"`([\w/.{},]+/[\w/.{},]*)`", PAGE + WHERE) if "NAME" not in text}
)
PLACES = [
    (name, path)
    for names, path in re.findall(r"((?:`\w+`(?:, | and )?)+) in `(\w+/[\w/]+\.\w+)`", WHERE)
    for name in re.findall(r"\w{2,}", names)
]


def diagram(first):
    """The lines of the diagram that begins with a name."""
    (found,) = re.findall(rf"^```text\n({first} .*?)^```", PAGE, re.M | re.S)
    return found.splitlines()


def names_of(group):
    return {name.strip().rstrip("*") for name in group.split(",")}


def missing(path):
    return not any((base / path).exists() for base in (ROOT, PACKAGE, ROOT / "cpp"))


def test_rooms_are_the_layers_of_the_linter():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    wanted = [set(re.findall(r"\w+", layer)) - UNSEEN for layer in layers]
    (line,) = diagram("facade")
    assert [names_of(group) for group in line.split("▸")] == [layer for layer in wanted if layer]
    for name in re.findall(r"(\w+)(?=\*)", line):
        assert missing(f"src/bellcrank/{name}"), f"{name} exists"
    for name in re.findall(r"\b(\w+)\b(?!\*)", line):
        assert list(PACKAGE.glob(f"{name}*")), f"{name} does not exist"


def test_modules_are_imported_where_the_linter_sees_it():
    texts = {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")
    }
    found = {name: len(NAMED.findall(text)) for name, text in texts.items()}
    assert {name: count for name, count in found.items() if count} == MODULES_BY_NAME


def test_the_linter_leaves_nothing_out():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert settings["exclude_type_checking_imports"] is False
    assert not [one["id"] for one in settings["contracts"] if "ignore_imports" in one]


def reached(edges):
    """Everything that each folder sees, through others too."""
    seen = {folder: set(others) for folder, others in edges.items()}
    for _ in seen:
        for others in seen.values():
            others |= {further for other in others for further in seen.get(other, ())}
    return {folder: others for folder, others in seen.items() if others}


def test_folders_of_the_core_are_the_layers_of_the_build():
    text = (ROOT / "cmake" / "layers.cmake").read_text(encoding="utf-8")
    built = {
        name: set(sees.split()) for name, sees in re.findall(r"^set\((\w+)_sees ?([\w ]*)\)", text, re.M)
    }
    drawn = {}
    chains = [chain for line in diagram("interruption") for chain in re.split(r" {2,}", line.strip())]
    for chain in chains:
        groups = [names_of(group) for group in chain.split("◂")]
        for lower, higher in pairwise(groups):
            for name in higher:
                drawn.setdefault(name, set()).update(lower)
    assert reached(drawn) == reached(built)
    for name in re.findall(r"(\w+)(?=\*)", " ".join(chains)):
        assert missing(f"cpp/{name}"), f"{name} exists"


def test_integrators_take_ports():
    sources = sorted((ROOT / "cpp" / "integrate").glob("*.?pp"))
    assert len(sources) > 20
    whole = re.compile(r"\bSystem\s*[&*>]|class System\b|model/system\.hpp")
    found = {source.name: whole.findall(source.read_text(encoding="utf-8")) for source in sources}
    assert not {name: uses for name, uses in found.items() if uses}


def test_no_formulation_is_named_outside_its_room():
    """Other rooms ask bodies and closing, or prepare a formulation by its name."""
    kinds = {name.capitalize() for name in FORMULATIONS}
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent != PACKAGE / "formulations"
        if any(kind in (text := path.read_text(encoding="utf-8")) for kind in kinds)
        for node in ast.walk(ast.parse(text))
        if {getattr(node, "attr", None), getattr(node, "name", None)} & kinds
    ]
    assert not named


@pytest.mark.parametrize("path", PATHS)
def test_what_is_named_exists(path):
    stem, _, suffixes = path.partition(".{")
    wanted = [f"{stem}.{suffix}" for suffix in suffixes.rstrip("}").split(",")] if suffixes else [path]
    assert not [each for each in wanted if missing(each)]


@pytest.mark.parametrize(("name", "path"), PLACES)
def test_names_stand_where_the_page_says(name, path):
    texts = [(base / path) for base in (ROOT, PACKAGE, ROOT / "cpp") if (base / path).exists()]
    assert texts
    assert re.search(rf"\b{name}\b", texts[0].read_text(encoding="utf-8")), f"{name} is not in {path}"


def test_the_page_has_what_is_checked():
    assert len(PATHS) > 20
    assert ("METHODS", "run/plan.py") in PLACES


SETTERS = {"setattr", "setitem", "delattr", "delitem", "update", "clear", "pop", "append"}


def imports_of_tests(text):
    """Imports, also in programs that a test writes as texts, from modules of tests."""
    lines = re.findall(r"^[ \t]*(?:from|import) .*", text, re.M)
    return [line for line in lines if re.search(r"\b(test_\w+|conftest)\b", line)]


def autouse_fixtures_that_change_globals(text):
    """Names of fixtures that nobody asks for and that change more than the environment."""
    found = []
    for node in ast.walk(ast.parse(text)) if "autouse" in text else ():
        asked = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
        if any("autouse=True" in each for each in asked) and any(map(changes_globals, ast.walk(node))):
            found.append(node.name)
    return found


def changes_globals(node):
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in SETTERS
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    places = [each for each in targets if isinstance(each, (ast.Attribute, ast.Subscript))]
    changed = isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)) and places
    return isinstance(node, ast.Global) or bool(
        changed and not all(ast.unparse(each).startswith("os.environ[") for each in places)
    )


def test_no_test_imports_another():
    """What several use is in tests/rigs."""
    for path in (ROOT / "tests").rglob("*.py"):
        assert not imports_of_tests(path.read_text(encoding="utf-8")), path


def test_no_fixture_changes_globals_unasked():
    for path in (ROOT / "tests").rglob("*.py"):
        assert not autouse_fixtures_that_change_globals(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "text",
    [
        "from viewer.test_engine import do",
        "import tests.test_build",
        "    from .conftest import G",
        "x = '''\nfrom a import test_b",
    ],
)
def test_what_imports_tests_is_found(text):
    assert imports_of_tests(text)
    assert not imports_of_tests("from rigs.live import do\nimport pytest")


@pytest.mark.parametrize(
    "line",
    ["monkeypatch.setattr(kinds, 'KNOWN', ())", "monkeypatch.setitem(KNOWN, 'a', 1)", "KNOWN['a'] = 1",
     "del KNOWN['a']", "kinds.KNOWN = ()", "global KNOWN", "KNOWN.clear()"],
)  # fmt: skip
def test_what_changes_globals_is_found(line):
    fixture = "@pytest.fixture(autouse=True)\ndef kept(monkeypatch):\n    "
    assert autouse_fixtures_that_change_globals(fixture + line) == ["kept"]
    asked_for = fixture.replace("(autouse=True)", "")
    assert not autouse_fixtures_that_change_globals(asked_for + line)
    for harmless in ("monkeypatch.setenv('A', '1')", "os.environ['A'] = '1'", "plt.close('all')"):
        assert not autouse_fixtures_that_change_globals(fixture + harmless)
