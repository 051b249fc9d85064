"""Who is let in to the page, and what passes through; before a page that answers with what it was sent."""

import asyncio
import socket
import threading
import time
from contextlib import suppress
from urllib.parse import quote

import pytest

from bellcrank.viewer.page.gate import Gate

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no Unix sockets")
LINE = "Connection: Upgrade\nUpgrade: websocket"


class Echo:
    """A page at a Unix socket that answers with all it gets: as a WebSocket where one is asked for."""

    def __init__(self, path):
        self.path, self.met, self.callers = path, [], []
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(path))
        self.listening.listen(100)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                caller, _ = self.listening.accept()
            except OSError:
                return
            self.met.append(b"")
            self.callers.append(caller)
            threading.Thread(target=self.talk, args=(caller, len(self.met) - 1), daemon=True).start()

    def talk(self, caller, number):
        with caller, suppress(OSError):
            while data := caller.recv(4096):
                if not self.met[number]:
                    is_line = b"upgrade: websocket" in data.lower()
                    caller.sendall(b"HTTP/1.1 101 Do\r\n\r\n" if is_line else b"HTTP/1.1 200 OK\r\n\r\n")
                self.met[number] += data
                caller.sendall(data)
                if not is_line and data.endswith(b"\r\n\r\n"):
                    return


@pytest.fixture
def echo(tmp_path):
    opened = Echo(tmp_path / "echo")
    yield opened
    opened.listening.close()


def gate(page, token="", **more):
    return Gate("127.0.0.1", 0, page.path, token, **more)


def ask(port, head, more=b""):
    """What comes back for the head of a request."""
    return told(port, head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + more)


def told(port, data):
    """What comes back for bytes as they are."""
    with socket.create_connection(("127.0.0.1", port), timeout=10.0) as caller:
        caller.sendall(data)
        caller.shutdown(socket.SHUT_WR)
        found = b""
        while data := caller.recv(4096):
            found += data
    return found.decode("latin-1")


def test_on_this_machine_what_is_addressed_so_passes(echo):
    own = gate(echo)
    asked = f"GET / HTTP/1.1\nHost: localhost:{own.port}"
    found = ask(own.port, f"{asked}\nOrigin: http://localhost:{own.port}\n{LINE}", more=b"\x00" * 100_000)
    assert found.startswith("HTTP/1.1 101 Do\r\n\r\nGET / HTTP/1.1\r\n")
    assert found.endswith("\x00" * 100_000)
    for host in ("127.0.0.1", "[::1]:8080", "LOCALHOST:8080"):
        assert "\r\n\r\nGET / HTTP/1.1\r\n" in ask(own.port, f"GET / HTTP/1.1\nHost: {host}")
    own.close()


FOREIGN = [
    "GET / HTTP/1.1\nHost: evil.example",  # a name that leads to this machine
    "GET / HTTP/1.1\nHost: evil.example:1\nOrigin: http://evil.example:1",
    "GET / HTTP/1.1",
    "GET / HTTP/1.1\nHost:",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nORIGIN: http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: null",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin:",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:2",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1.evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1@evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://evil.example/http://localhost:1",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1 http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1, http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: evil://localhost:1",
    "GET / HTTP/1.1\nHost: localhost.evil.example:1",
    "GET / HTTP/1.1\nHost: 127.0.0.1.evil.example:1",
    "GET / HTTP/1.1\nHost: evil.example@localhost:1",
    "GET / HTTP/1.1\nHost: localhost:1:2",
    "GET / HTTP/1.1\nHost: localhost:evil.example",
    "GET / HTTP/1.1\nHost: 127.0.0.2:1",
    "GET / HTTP/1.1\nHost: [::1]evil.example",
    "GET http://localhost:1/ HTTP/1.1\nHost: evil.example",
    # read in two ways: by the first and by the last field, by a line that goes on, by what is no field
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://evil.example\nOrigin: http://localhost:1",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://localhost:1\norigin: http://evil.example",
    "GET / HTTP/1.1\nHost: evil.example\nHost: localhost:1",
    "GET / HTTP/1.1\nHost: localhost:1\nHost: evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin : http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\n Origin: http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nX: a\rOrigin: http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin\x00: http://evil.example",
    "GET / HTTP/1.1\n\tHost: localhost:1",
    "GET  / HTTP/1.1\nHost: localhost:1",
    "get / HTTP/1.1\nHost: localhost:1",
    "GET / HTTP/1.0\nHost: localhost:1",
    "GET /\nHost: localhost:1",
    "GET / x HTTP/1.1\nHost: localhost:1",
    # with content, in which another request may be
    "POST / HTTP/1.1\nHost: localhost:1",
    "GET / HTTP/1.1\nHost: localhost:1\nContent-Length: 50",
    "GET / HTTP/1.1\nHost: localhost:1\nContent-length: 0\nContent-Length: 50",
    "GET / HTTP/1.1\nHost: localhost:1\nTransfer-Encoding: chunked",
    "GET / HTTP/1.1\nHost: localhost:1\nTRANSFER-ENCODING: \tchunked",
]
PATHS = ["/", "/index.html", "/INDEX.HTML", "//", "/../x", "/bellcrank/name", "/Bellcrank/Name?x=1", "/%00"]


@pytest.mark.parametrize("more", ["", f"\n{LINE}"], ids=["page", "line"])
@pytest.mark.parametrize("head", FOREIGN)
def test_foreign_pages_and_other_addresses_are_refused(echo, head, more):
    own = gate(echo, answers=lambda query: "named")
    assert ask(own.port, head + more).startswith("HTTP/1.1 403 ")
    for path in PATHS:
        assert ask(own.port, head.replace(" / ", f" {path} ", 1) + more).startswith("HTTP/1.1 403 ")
    assert not echo.met
    own.close()


@pytest.mark.parametrize("token", ["", "s3cret"])
def test_what_follows_a_request_gets_nowhere(echo, token):
    own = gate(echo, token)
    cookie = "\nCookie: bellcrank_token=s3cret"
    good = f"GET / HTTP/1.1\nHost: localhost\nConnection: keep-alive{cookie}"
    bad = f"GET /bad HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n{LINE}\r\n\r\n".encode()
    found = ask(own.port, good, more=bad)
    assert found.count("HTTP/1.1 200") == 1
    assert "\r\nConnection: close\r\n" in found
    assert "/bad" not in found
    with socket.create_connection(("127.0.0.1", own.port), timeout=10.0) as caller:  # one after the other
        caller.sendall(good.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        with suppress(OSError):
            while caller.recv(4096):
                pass
            caller.sendall(bad)
            assert caller.recv(4096) == b""
    assert not any(b"/bad" in met for met in echo.met)
    own.close()


def test_only_pages_of_this_machine_may_show_it_in_a_frame(echo):
    own = gate(echo, answers=lambda query: "named")
    for path in ("/", "/bellcrank/name"):
        found = ask(own.port, f"GET {path} HTTP/1.1\nHost: localhost:{own.port}").split("\r\n\r\n")[0]
        allowed = found.split("frame-ancestors ")[1].split("\r\n")[0].split()
        assert {"'self'", "http://localhost:*", "http://127.0.0.1:*"} <= set(allowed)
        assert not {"*", "http:", "https:"} & set(allowed)
        assert "Cross-Origin-Resource-Policy: same-origin" in found
    own.close()


def test_a_token_is_asked_for_and_kept_as_a_cookie(echo):
    own = gate(echo, token="s3cret")
    host = f"Host: 10.0.0.7:{own.port}"
    for target, cookie in (
        ("/", ""), ("/?token=wrong", ""), ("/?token=", ""), ("/?Token=s3cret", ""), ("/?token=S3CRET", ""),
        ("/s3cret", ""), ("/?token=wrong&token=s3cret", ""), ("/", "\nCookie: bellcrank_token=wrong"),
        ("/", "\nCookie: bellcrank_token="), ("/", "\nCookie: bellcrank_token"), ("/", "\nCookie: =s3cret"),
        ("/", "\nCookie: a=bellcrank_token=s3cret"), ("/", "\nCookie: bellcrank_token=s3cret.evil.example"),
        ("/", "\nCookie: bellcrank_token=wrong\nCookie: bellcrank_token=s3cret"),
    ):  # fmt: skip
        for more in ("", f"\n{LINE}"):
            assert ask(own.port, f"GET {target} HTTP/1.1\n{host}{cookie}{more}").startswith("HTTP/1.1 403 ")
    assert not echo.met
    welcome = ask(own.port, f"GET /?token=s3cret HTTP/1.1\n{host}")
    assert welcome.startswith("HTTP/1.1 303 ")
    assert "Set-Cookie: bellcrank_token=s3cret; Path=/; HttpOnly; SameSite=Strict" in welcome
    for others in ("a=b; ", '_x={"a": 1}; ', "bellcrank_token=old; "):  # of other programs of this host
        passed = ask(own.port, f"GET / HTTP/1.1\n{host}\nCookie: {others}bellcrank_token=s3cret")
        assert passed.startswith("HTTP/1.1 200 ")
    foreign = f"GET / HTTP/1.1\n{host}\nCookie: bellcrank_token=s3cret\nOrigin: http://evil.example"
    assert ask(own.port, foreign).startswith("HTTP/1.1 403 ")
    assert ask(own.port, foreign.replace("GET /", "GET /?token=s3cret")).startswith("HTTP/1.1 403 ")
    own.close()


def test_a_token_may_have_any_letters(echo):
    token = "a b;c=d\u00e9\r\nX: y/"
    own = gate(echo, token)
    welcome = ask(own.port, f"GET /?token={quote(token)} HTTP/1.1\nHost: 10.0.0.7")
    assert "\nX: y" not in welcome
    cookie = welcome.split("Set-Cookie: ")[1].split(";")[0]
    assert ask(own.port, f"GET / HTTP/1.1\nHost: 10.0.0.7\nCookie: {cookie}").startswith("HTTP/1.1 200 ")
    own.close()


def test_tokens_are_compared_in_constant_time(echo, monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda one, two: compared.append((one, two)) or False)
    own = gate(echo, "s3cret")
    asked = "GET /?token=s3creT HTTP/1.1\nHost: 10.0.0.7\nCookie: bellcrank_token=s3creT"
    assert ask(own.port, asked).startswith("HTTP/1.1 403 ")
    assert compared == [(b"s3creT", b"s3cret")] * 2
    own.close()


def test_garbage_is_refused_and_does_not_close_it(echo):
    own = gate(echo)
    for head in ("", "\x00\xff" * 200, "GET", "A: B\nHost", "x" * 60_000, "GET / HTTP/1.1\nHost: [::1"):
        found = ask_anyway(own.port, head)
        assert not found or found.startswith("HTTP/1.1 403")
    assert "\r\n\r\nGET / " in ask(own.port, "GET / HTTP/1.1\nHost: localhost")
    own.close()


def ask_anyway(port, head):
    try:
        return ask(port, head)
    except OSError:  # sent away before all was said
        return ""


def test_a_port_that_is_taken_is_told(echo):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        Gate("127.0.0.1", taken.getsockname()[1], echo.path)


def test_it_opens_where_a_loop_runs_as_in_a_notebook(echo):
    async def opened():
        return gate(echo)

    own = asyncio.run(opened())
    assert "\r\n\r\nGET / " in ask(own.port, "GET / HTTP/1.1\nHost: localhost")
    own.close()


def test_names_are_answered_by_the_gate_to_whom_it_admits(echo):
    own = gate(echo, answers=lambda query: f"<{query}>")
    host = f"Host: localhost:{own.port}"
    found = ask(own.port, f"GET /bellcrank/name?x=1 HTTP/1.1\n{host}")
    assert found.startswith("HTTP/1.1 200 OK")
    assert found.endswith("\r\n\r\n<x=1>")
    assert ask(own.port, f"GET /bellcrank/names HTTP/1.1\n{host}").endswith(
        f"names HTTP/1.1\r\nHost: localhost:{own.port}\r\n\r\n"
    )
    refused = ask(own.port, f"GET /bellcrank/name?x=1 HTTP/1.1\n{host}\nOrigin: http://evil.example")
    assert "<x=1>" not in refused
    own.close()
    asking = gate(echo, "secret", answers=lambda query: f"<{query}>")
    assert "<x=1>" not in ask(asking.port, f"GET /bellcrank/name?x=1 HTTP/1.1\nHost: localhost:{asking.port}")
    asking.close()


def test_whoever_asks_for_nothing_keeps_nobody_out(echo, monkeypatch):
    own = gate(echo)
    silent = [socket.create_connection(("127.0.0.1", own.port), timeout=10.0) for _ in range(200)]
    assert "GET / " in ask(own.port, "GET / HTTP/1.1\nHost: localhost")
    with suppress(ConnectionError):
        assert silent[0].recv(1) == b""  # the first made room
    assert len(own._strangers) <= 64
    own.close()
    for connection in silent:
        connection.close()
    monkeypatch.setattr("bellcrank.viewer.page.gate._PATIENCE", 0.5)
    own = gate(echo)
    with socket.create_connection(("127.0.0.1", own.port), timeout=10.0) as slow, suppress(OSError):
        begun = time.monotonic()
        for letter in b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1000:
            slow.sendall(bytes([letter]))
            time.sleep(0.05)
    assert time.monotonic() < begun + 10.0
    own.close()


@pytest.mark.parametrize("lines", [1, 1000])
def test_long_heads_get_nowhere(echo, lines):
    own = gate(echo)
    more = "\n".join(f"X-{k}: {'x' * (100_000 // lines)}" for k in range(lines))
    assert "GET / " not in ask_anyway(own.port, f"GET / HTTP/1.1\nHost: localhost\n{more}")
    assert not echo.met
    own.close()


@pytest.mark.parametrize("page_ends", [False, True])
def test_whoever_reads_nothing_holds_nothing_open(echo, monkeypatch, page_ends):
    monkeypatch.setattr("bellcrank.viewer.page.gate._PATIENCE", 0.5)
    monkeypatch.setattr("bellcrank.viewer.page.gate._LINGER", 0.5)
    own = gate(echo)
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", own.port))
        lazy.settimeout(1.0)
        asked = f"GET / HTTP/1.1\nHost: localhost\n{LINE}\n\n"
        lazy.sendall(asked.replace("\n", "\r\n").encode())
        with suppress(TimeoutError):
            lazy.sendall(b"x" * 30_000_000)
        assert own._meetings
        begun = time.monotonic()
        if page_ends:
            echo.callers[0].shutdown(socket.SHUT_RDWR)
            while own._meetings and time.monotonic() < begun + 4.0:
                time.sleep(0.05)
            assert not own._meetings
        own.close()
        assert time.monotonic() < begun + 4.0
