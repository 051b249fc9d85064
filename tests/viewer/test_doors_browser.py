"""A foreign page in the same browser, which tries to reach a session. Needs playwright and Chromium."""

import functools
import http.server
import threading

import pytest
from rigs.chromium import CHROMIUM, visit

import bellcrank as bc

viser = pytest.importorskip("viser", reason="the extra `viewer` is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LINE = """([url, protocol]) => new Promise(done => {
    const line = new WebSocket(url, protocol);
    line.onopen = () => done("open");
    line.onerror = () => done("refused");
})"""
FRAME = """url => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.src = url;
    frame.onload = () => done();
    document.body.append(frame);
})"""


def opened(browser, address):
    """A tab at a page of this address."""
    tab = browser.new_page()
    tab.route(f"{address}/**", lambda route: route.fulfill(body="<body>elsewhere", content_type="text/html"))
    tab.goto(f"{address}/")
    return tab


@pytest.mark.parametrize("address", ["http://evil.example", "http://127.0.0.1.evil.example"])
def test_a_foreign_page_gets_no_line_no_answer_and_no_frame(browser, address):
    with bc.gallery.double_pendulum().view(port=0) as page:
        tab = opened(browser, address)
        protocol = f"viser-v{viser.__version__}"
        for host in ("localhost", "127.0.0.1"):
            url = page.url.replace("localhost", host)
            assert tab.evaluate(LINE, [url.replace("http", "ws"), protocol]) == "refused"
            reads = "url => fetch(url).then(found => found.text(), () => 'refused')"
            assert tab.evaluate(reads, f"{url}bellcrank/name?client=0") == "refused"
            tab.evaluate(FRAME, url)
        assert not page.server._websock_server._live_connections
        tab.close()


def test_notebooks_of_this_machine_show_it_in_a_frame(browser, tmp_path):
    (tmp_path / "index.html").write_text("<body>a notebook")
    serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as notebook,
        bc.gallery.double_pendulum().view(port=0) as page,
    ):
        threading.Thread(target=notebook.serve_forever, daemon=True).start()
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{notebook.server_port}/")
        tab.evaluate("html => document.body.innerHTML = html", page._repr_html_())
        tab.frame_locator("iframe").get_by_text("Play", exact=True).first.wait_for(timeout=120_000)
        assert len(page.server._websock_server._live_connections) == 1
        tab.close()
        notebook.shutdown()


def test_a_page_with_a_token_opens_by_its_address_alone(browser):
    with bc.gallery.double_pendulum().view(port=0, token="a b/c=d") as page:
        tab = browser.new_page()
        assert tab.goto(page.url.partition("?")[0]).status == 403
        tab.close()
        tab = visit(browser, page)
        assert "token" not in tab.url
        tab.close()
