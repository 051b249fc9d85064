"""The web site of `make docs`: it builds without warnings, and is whole without a network."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

for module in ("sphinx", "furo", "myst_parser", "sphinx_design", "sphinx_copybutton", "latex2mathml"):
    pytest.importorskip(module)

from rigs.chromium import CHROMIUM  # noqa: E402  (after the extras)

import bellcrank as bc  # noqa: E402

ROOT = Path(__file__).parents[2]
TELEPHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "docs_site", str(folder)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "tools")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """What a page refers to, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.parts, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("img", "script", "source") and given.get("src"):
            self.parts.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.parts.append(given["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_links_and_pictures_lead_somewhere(site, pages):
    broken = []
    for path, page in pages.items():
        for target in [*page.links, *page.parts]:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            other = other / "index.html" if other.is_dir() else other
            there = other.exists()
            if there and parts.fragment and other in pages:
                there = unquote(parts.fragment) in pages[other].anchors
            if not there:
                broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    outside = [part for page in pages.values() for part in page.parts if re.match(r"(https?:)?//", part)]
    sheets = [sheet.read_text(encoding="utf-8") for sheet in site.rglob("*.css")]
    assert outside == []
    assert not [sheet for sheet in sheets if re.search(r"url\([\"']?(https?:)?//|@import", sheet)]


def test_every_mechanism_and_every_public_name_has_its_place(site, pages):
    for name in bc.gallery.catalogue():
        assert any(name in part for part in pages[site / "gallery" / f"{name}.html"].parts)
    anchors = set().union(*(page.anchors for page in pages.values()))
    modules = {"expression", "gallery", "scene", "__version__"}
    assert {f"bellcrank.{name}" for name in bc.__all__ if name not in modules} <= anchors


@pytest.fixture(scope="module")
def browser(site):
    """A page of a browser that sees the site and nothing else, and the address of the site."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(site))

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = chromium.new_page(viewport=TELEPHONE)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        yield page, address
        assert [url for url in page.asked if not url.startswith((address, "data:"))] == []
        chromium.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("revolute", "reference/joints.html"),
        ("redundant", "guide/04-simulating.html"),
        ("inverse dynamics", "guide/06-inverse-dynamics.html"),
        ("cylinder", "cookbook/designers.html"),
        ("colour", "cookbook/designers.html"),
        ("moment of inertia", "cookbook/designers.html"),
    ],
)
def test_the_search_finds(browser, words, wanted):
    page, address = browser
    page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results ul.search li a", timeout=30_000)
    page.wait_for_function(
        "document.querySelector('#search-results .search-summary')?.innerText.includes('ound')"
    )
    found = page.eval_on_selector_all("#search-results ul.search li > a", "list => list.map(one => one.href)")
    assert any(wanted in url for url in found[:3]), found[:6]


@pytest.mark.parametrize(
    "place",
    [
        "index",
        "gallery/index",
        "gallery/stewart_platform",
        "guide/04-simulating",
        "theory/lagrange",
        "benchmarks",
    ],
)
def test_pages_fit_a_telephone_and_their_pictures_load(browser, place):
    page, address = browser
    page.goto(f"{address}/{place}.html")
    page.evaluate("document.querySelectorAll('img').forEach(one => one.loading = 'eager')")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE["width"]
    missing = "[...document.images].filter(one => !(one.complete && one.naturalWidth)).map(one => one.src)"
    assert page.evaluate(missing) == []
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('article p')).fontSize)")
    assert size >= 14
