"""The pages themselves: tables of kinds match the registries, links lead somewhere, no kind is missing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import bellcrank as bc
from bellcrank.mechanism import CONSTRAINT_KINDS, COORDINATE_KINDS, FORCE_KINDS, JOINT_KINDS

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
    for kinds in (JOINT_KINDS, CONSTRAINT_KINDS, FORCE_KINDS, COORDINATE_KINDS):
        assert set(kinds) <= first_cells


def test_readme_counts_what_is_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    counts = {
        r"(\d+) joint kinds": len(JOINT_KINDS),
        r"(\d+) constraint kinds": len(CONSTRAINT_KINDS),
        r"(\d+) force kinds": len(FORCE_KINDS),
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


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "tools/docs_site/site/index.md").read_text().splitlines()
    for folder in ("guide", "theory"):
        for page in (ROOT / "docs" / folder).glob("*.md"):
            assert f"{folder}/{page.stem}" in contents, page
