"""The bundle of the page: small, with its licences, without programs made of texts."""

import re

import pytest
from rigs.reader import needs_a_page

from bellcrank.viewer.page import bundle


@pytest.fixture(autouse=True)
def _page():
    needs_a_page()


def test_it_is_small_and_whole():
    script, style = bundle.script_and_style()
    assert 100_000 < len(script) < 1_000_000
    assert 1_000 < len(style) < 100_000
    assert not re.search(r"^import\b|[;}]import[ {*\"']", script)  # nothing else is loaded
    assert "@import" not in style
    assert "url(http" not in style


def test_it_makes_no_programs_of_texts():
    """As its policy demands; three.js has a worker of texts in parts that are not bundled."""
    script, _ = bundle.script_and_style()
    assert not re.search(r"\beval\(|new Function\(", script)


def test_what_is_in_it_comes_with_its_licence():
    text = (bundle.FOLDER / "LICENSES.txt").read_text(encoding="utf-8")
    for name in ("three", "preact", "@preact/signals", "uplot"):
        assert re.search(rf"^{name} \d", text, re.MULTILINE | re.IGNORECASE), name
    assert text.count("Permission is hereby granted") >= 4


def test_the_files_are_those_of_the_table():
    files = bundle.files()
    assert set(files) == {"/", "/index.html", "/page.js", "/page.css", "/kinds.json"}
    start = files["/"].data.decode()
    assert 'id="app"' in start
    assert "<script>" not in start  # which the policy would refuse
    assert "style=" not in start
