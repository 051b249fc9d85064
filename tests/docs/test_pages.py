"""The pages themselves: tables match the registries, links lead somewhere, files and Python agree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_tables import TABLES, joint_table, markdown

import bellcrank as bc
from bellcrank.io.fields import Simulation
from bellcrank.mechanism import (
    CHANGE_KINDS,
    CONSTRAINT_KINDS,
    COORDINATE_KINDS,
    FORCE_KINDS,
    JOINT_KINDS,
    SENSOR_KINDS,
)

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"(?<!`)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def test_tables_are_up_to_date():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "docs_tables.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}write them with: python tools/docs_tables.py"


def test_every_kind_is_in_a_table():
    guide = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "guide").glob("*.md"))
    first_cells = set(re.findall(r"^\| (\w+) \|", guide, re.M))
    for kinds in (JOINT_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, SENSOR_KINDS, CHANGE_KINDS, COORDINATE_KINDS):
        assert set(kinds) <= first_cells


def test_readme_counts_what_is_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    counts = {
        r"(\d+) joint kinds": len(JOINT_KINDS),
        r"(\d+) constraint kinds": len(CONSTRAINT_KINDS),
        r"(\d+) force kinds": len(FORCE_KINDS),
        r"(\d+) sensor kinds": len(SENSOR_KINDS),
        r"(\d+) change kinds": len(CHANGE_KINDS),
        r"gallery\]\(docs/gallery.md\) of (\d+) mechanisms": len(list(bc.gallery.catalogue())),
        r"(\d+) \[examples\]": len(list((ROOT / "examples").glob("[0-9]*.py"))),
    }
    for pattern, count in counts.items():
        assert re.findall(pattern, readme) == [str(count)], pattern


def anchors(page):
    """The anchors of a page's headings, as they are made on web pages."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(page.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        target = match["target"]
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(other), f"{page.name}: {target}"


def test_ten_mechanisms_are_short():
    page = (ROOT / "docs" / "guide" / "18-ten-mechanisms.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(programs) == 10
    assert max(program.count("\n") for program in programs) < 40


def test_the_cookbook_has_forty_tasks_of_under_25_lines_that_stand_alone():
    tasks = []
    for page in (ROOT / "docs" / "cookbook").glob("*.md"):
        tasks += re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert len(tasks) >= 40
    assert max(task.count("\n") for task in tasks) < 25
    assert all("import bellcrank as bc" in task for task in tasks)


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "tools/docs_site/site/index.md").read_text().splitlines()
    for folder in ("guide", "cookbook", "theory"):
        for page in (ROOT / "docs" / folder).glob("*.md"):
            assert f"{folder}/{page.stem}" in contents, page


def rows(table):
    lines = table.splitlines()
    assert set(lines[1]) == {"|", "-", " "}
    assert len({line.count("|") for line in lines}) == 1
    return {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]
    }


def test_every_kind_has_a_row_with_a_meaning():
    for table, kinds in (
        (joint_table(), JOINT_KINDS),
        (TABLES["constraints"](), CONSTRAINT_KINDS),
        (TABLES["forces"](), FORCE_KINDS),
        (TABLES["sensors"](), SENSOR_KINDS),
        (TABLES["changes"](), CHANGE_KINDS),
        (TABLES["coordinates"](), COORDINATE_KINDS),
    ):
        found = rows(table)
        assert set(found) == set(kinds)
        assert all(len(cells[-1]) > 5 for cells in found.values())
    for kind in JOINT_KINDS.values():
        assert kind.meaning.endswith(".")
        assert kind.__doc__


def test_a_joint_row():
    found = rows(joint_table())
    assert found["Revolute"] == ["Revolute", "", "x, y, z, e1, e2", "theta_z", "Turns about z."]
    assert found["Screw"][1:3] == ["pitch", "x, y, e1, e2, z = pitch/(2 pi) theta_z"]
    assert found["LinearMotor"][2] == "x, y, e1, e2, e3, z = f(t)"
    assert next(iter(found)) == "Free"


def test_bars_are_escaped():
    assert markdown(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |\n"


PAGE = Path(__file__).parents[2] / "docs" / "guide" / "07-files-and-command-line.md"
TABLE = PAGE.read_text(encoding="utf-8").partition("<!-- twins -->")[2].partition("<!-- end of twins -->")[0]
TWINS = re.findall(r"^\| `(.+)` \| `(.+)` \|$", TABLE, re.M)
BASE = """bellcrank: 1
bodies:
  crank: {mass: 1, inertia: [1, 1, 1]}
  rod: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
joints:
  pin: {type: Revolute, first: crank, second: rod}
"""
SECTIONS = (
    "gravity",
    "parameters",
    "bodies",
    "markers",
    "joints",
    "constraints",
    "forces",
    "drives",
    "mechanisms",
)


def merged(said):
    """The text of the file in which a row stands in its section."""
    section, _, entry = said.partition(": ")
    if f"\n{section}:\n" in BASE:
        return BASE.replace(f"{section}:\n", f"{section}:\n  {entry[1:-1]}\n")
    return f"{BASE}{said}\n"


@pytest.mark.parametrize(("said", "twin"), TWINS)
def test_files_and_python_agree(said, twin):
    mech = bc.loads(BASE)
    exec(twin, {"bc": bc, "mech": mech})
    loaded, made = bc.loads(merged(said)), mech
    if "bodies: {disc" in said:  # which stands first in its section there
        assert loaded.bodies["disc"] == made.bodies["disc"]
        assert dict(loaded.bodies) == dict(made.bodies)
    elif said.startswith("joints"):
        assert dict(loaded.joints) == dict(made.joints)
        assert dict(loaded.drives) == dict(made.drives)
    else:
        assert loaded == made


def test_the_table_has_every_section():
    assert {said.partition(":")[0] for said, _ in TWINS} == set(SECTIONS)


def test_runs_take_the_times_of_the_simulation_section():
    mech = bc.Mechanism("falling")
    mech.add_body("ball", "1 kg", (1, 1, 1))
    times = {"duration": "200 ms", "start": "1 s", "step": "10 ms", "output_step": "0.1 s"}
    run = bc.simulate(mech, **times)
    assert run.time == pytest.approx([1.0, 1.1, 1.2])
    assert Simulation(**times).arguments() == {
        "duration": 0.2,
        "start": 1.0,
        "step": 0.01,
        "output_step": 0.1,
    }
