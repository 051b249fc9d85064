"""Who is let in to a page, and what comes back; before a page that answers with what it is told."""

import asyncio
import socket
import time
from contextlib import contextmanager, suppress
from urllib.parse import quote

import pytest

from bellcrank.viewer.page.server import File, Server

pytest.importorskip("websockets", reason="websockets is not installed")
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
LINE = f"Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: {KEY}"
FILES = {"/": File("text/html", b"<start>"), "/page.js": File("text/javascript", b"<script>")}


class Echo:
    """What talks on lines: it counts them, and says what it is told."""

    def __init__(self):
        self.lines = []

    async def talk(self, line):
        self.lines.append(line)
        async for text in line.texts():
            line.send(text)


@pytest.fixture
def echo():
    return Echo()


@contextmanager
def gate(echo, token="", port=0):
    own = Server("127.0.0.1", port, FILES, echo.talk, token)
    try:
        yield own
    finally:
        own.close()


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
    with gate(echo) as own:
        asked = f"Host: localhost:{own.port}\nOrigin: http://localhost:{own.port}"
        found = ask(own.port, f"GET /ws HTTP/1.1\n{asked}\n{LINE}")
        assert found.startswith("HTTP/1.1 101 ")
        assert len(echo.lines) == 1
        for host in ("127.0.0.1", "[::1]:8080", "LOCALHOST:8080"):
            assert ask(own.port, f"GET / HTTP/1.1\nHost: {host}").endswith("\r\n\r\n<start>")
        assert ask(own.port, f"GET /page.js HTTP/1.1\n{asked}").endswith("\r\n\r\n<script>")


def test_messages_go_both_ways(echo):
    from websockets.sync.client import connect

    with gate(echo) as own:
        origin = f"http://localhost:{own.port}"
        with connect(f"ws://localhost:{own.port}/ws", origin=origin, max_size=None) as line:
            for text in ("one", "\u00e9" * 300, "x" * 200_000):
                line.send(text)
                assert line.recv(timeout=10.0) == text
            line.send(["par", "ts of", " one"])
            assert line.recv(timeout=10.0) == "parts of one"
            line.send(b"not a text")
            line.send("after")
            assert line.recv(timeout=10.0) == "after"
            line.ping().wait(10.0)
        with connect(f"ws://localhost:{own.port}/ws", origin=origin) as line, suppress(Exception):
            line.send("x" * 2_000_000)
            line.recv(timeout=10.0)
        assert ask(own.port, "GET / HTTP/1.1\nHost: localhost").endswith("<start>")


def test_a_line_is_opened_by_the_page_alone(echo):
    with gate(echo) as own:
        found = ask(own.port, f"GET /ws HTTP/1.1\nHost: localhost:{own.port}\n{LINE}")
        assert found.startswith("HTTP/1.1 403 ")
        assert not echo.lines


def test_there_are_no_other_files(echo):
    with gate(echo) as own:
        for path in ("/nothing", "/../server.py", "/..%2fserver.py", "//page.js", "/PAGE.JS", "/page.js/"):
            found = ask(own.port, f"GET {path} HTTP/1.1\nHost: localhost")
            assert found.startswith("HTTP/1.1 404 ")


def test_a_policy_lets_nothing_in_that_is_not_of_the_page(echo):
    with gate(echo) as own:
        for path in ("/", "/page.js", "/nothing"):
            found = ask(own.port, f"GET {path} HTTP/1.1\nHost: localhost").partition("\r\n\r\n")[0]
            assert "default-src 'none'; script-src 'self'; style-src 'self';" in found
            assert "unsafe" not in found
            for field in (
                "X-Content-Type-Options: nosniff", "Cross-Origin-Opener-Policy: same-origin",
                "Cross-Origin-Resource-Policy: same-origin",
            ):  # fmt: skip
                assert f"\r\n{field}" in found


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
PATHS = ["/", "/index.html", "/INDEX.HTML", "//", "/../x", "/ws", "/WS?x=1", "/page.js", "/%00"]


@pytest.mark.parametrize("more", ["", f"\n{LINE}"], ids=["page", "line"])
@pytest.mark.parametrize("head", FOREIGN)
def test_foreign_pages_and_other_addresses_are_refused(echo, head, more):
    with gate(echo) as own:
        assert ask(own.port, head + more).startswith("HTTP/1.1 403 ")
        for path in PATHS:
            assert ask(own.port, head.replace(" / ", f" {path} ", 1) + more).startswith("HTTP/1.1 403 ")
        assert not echo.lines


@pytest.mark.parametrize("token", ["", "s3cret"])
def test_what_follows_a_request_gets_nowhere(echo, token):
    with gate(echo, token) as own:
        cookie = "\nCookie: bellcrank_token=s3cret"
        good = f"GET / HTTP/1.1\nHost: localhost\nConnection: keep-alive{cookie}"
        bad = f"GET /ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n{LINE}\r\n\r\n"
        found = ask(own.port, good, more=bad.encode())
        assert found.count("HTTP/1.1 200") == 1
        assert "\r\nConnection: close\r\n" in found
        assert found.endswith("<start>")
        with socket.create_connection(("127.0.0.1", own.port), timeout=10.0) as caller:  # one after the other
            caller.sendall(good.replace("\n", "\r\n").encode() + b"\r\n\r\n")
            with suppress(OSError):
                while caller.recv(4096):
                    pass
                caller.sendall(bad.encode())
                assert caller.recv(4096) == b""
        assert not echo.lines


def test_only_pages_of_this_machine_may_show_it_in_a_frame(echo):
    with gate(echo) as own:
        for path in ("/", "/page.js"):
            found = ask(own.port, f"GET {path} HTTP/1.1\nHost: localhost:{own.port}").split("\r\n\r\n")[0]
            allowed = found.split("frame-ancestors ")[1].split("\r\n")[0].split()
            assert {"'self'", "http://localhost:*", "http://127.0.0.1:*"} <= set(allowed)
            assert not {"*", "http:", "https:"} & set(allowed)


def test_a_token_is_asked_for_and_kept_as_a_cookie(echo):
    with gate(echo, token="s3cret") as own:
        host = f"Host: 10.0.0.7:{own.port}"
        for target, cookie in (
            ("/", ""), ("/?token=wrong", ""), ("/?token=", ""), ("/?Token=s3cret", ""), ("/ws", ""),
            ("/?token=S3CRET", ""), ("/s3cret", ""), ("/?token=wrong&token=s3cret", ""),
            ("/", "\nCookie: bellcrank_token=wrong"), ("/", "\nCookie: bellcrank_token="),
            ("/", "\nCookie: bellcrank_token"), ("/", "\nCookie: =s3cret"),
            ("/", "\nCookie: a=bellcrank_token=s3cret"),
            ("/ws", "\nCookie: bellcrank_token=s3cret.evil.example"),
            ("/ws", "\nCookie: bellcrank_token=wrong\nCookie: bellcrank_token=s3cret"),
        ):  # fmt: skip
            for more in ("", f"\nOrigin: http://10.0.0.7:{own.port}\n{LINE}"):
                found = ask(own.port, f"GET {target} HTTP/1.1\n{host}{cookie}{more}")
                assert found.startswith("HTTP/1.1 403 ")
        assert not echo.lines
        welcome = ask(own.port, f"GET /?token=s3cret HTTP/1.1\n{host}")
        assert welcome.startswith("HTTP/1.1 303 ")
        assert "Set-Cookie: bellcrank_token=s3cret; Path=/; HttpOnly; SameSite=Strict" in welcome
        for others in ("a=b; ", '_x={"a": 1}; ', "bellcrank_token=old; "):  # of other programs of this host
            passed = ask(own.port, f"GET / HTTP/1.1\n{host}\nCookie: {others}bellcrank_token=s3cret")
            assert passed.startswith("HTTP/1.1 200 ")
        foreign = f"GET / HTTP/1.1\n{host}\nCookie: bellcrank_token=s3cret\nOrigin: http://evil.example"
        assert ask(own.port, foreign).startswith("HTTP/1.1 403 ")
        assert ask(own.port, foreign.replace("GET /", "GET /?token=s3cret")).startswith("HTTP/1.1 403 ")
        line = f"GET /ws HTTP/1.1\n{host}\nOrigin: http://10.0.0.7:{own.port}\n{LINE}"
        assert ask(own.port, f"{line}\nCookie: bellcrank_token=s3cret").startswith("HTTP/1.1 101 ")


def test_a_token_may_have_any_letters(echo):
    token = "a b;c=d\u00e9\r\nX: y/"
    with gate(echo, token) as own:
        welcome = ask(own.port, f"GET /?token={quote(token)} HTTP/1.1\nHost: 10.0.0.7")
        assert "\nX: y" not in welcome
        cookie = welcome.split("Set-Cookie: ")[1].split(";")[0]
        passed = ask(own.port, f"GET / HTTP/1.1\nHost: 10.0.0.7\nCookie: {cookie}")
        assert passed.startswith("HTTP/1.1 200 ")


def test_tokens_are_compared_in_constant_time(echo, monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda one, two: compared.append((one, two)) or False)
    with gate(echo, "s3cret") as own:
        asked = "GET /?token=s3creT HTTP/1.1\nHost: 10.0.0.7\nCookie: bellcrank_token=s3creT"
        assert ask(own.port, asked).startswith("HTTP/1.1 403 ")
    assert compared == [(b"s3creT", b"s3cret")] * 2


def test_garbage_is_refused_and_does_not_close_it(echo):
    with gate(echo) as own:
        for head in ("", "\x00\xff" * 200, "GET", "A: B\nHost", "x" * 60_000, "GET / HTTP/1.1\nHost: [::1"):
            found = ask_anyway(own.port, head)
            assert not found or found.startswith("HTTP/1.1 403")
        for fields in ("", "Upgrade: websocket", f"{LINE}\nSec-WebSocket-Key: x", LINE.replace("13", "99")):
            found = ask_anyway(
                own.port, f"GET /ws HTTP/1.1\nHost: localhost\nOrigin: http://localhost\n{fields}"
            )
            assert not found.startswith("HTTP/1.1 101")
        assert ask(own.port, "GET / HTTP/1.1\nHost: localhost").endswith("<start>")
        assert not echo.lines


def ask_anyway(port, head):
    try:
        return ask(port, head)
    except OSError:  # sent away before all was said
        return ""


def test_a_port_that_is_taken_is_told(echo):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        Server("127.0.0.1", taken.getsockname()[1], FILES, echo.talk)


def test_it_opens_where_a_loop_runs_as_in_a_notebook(echo):
    async def asked():
        with gate(echo) as own:
            return await asyncio.to_thread(ask, own.port, "GET / HTTP/1.1\nHost: localhost")

    assert asyncio.run(asked()).endswith("<start>")


def test_whoever_asks_for_nothing_keeps_nobody_out(echo, monkeypatch):
    with gate(echo) as own:
        silent = [socket.create_connection(("127.0.0.1", own.port), timeout=10.0) for _ in range(200)]
        assert ask(own.port, "GET / HTTP/1.1\nHost: localhost").endswith("<start>")
        with suppress(ConnectionError):
            assert silent[0].recv(1) == b""  # the first made room
        assert len(own._strangers) <= 64
    for connection in silent:
        connection.close()
    monkeypatch.setattr("bellcrank.viewer.page.server._PATIENCE", 0.5)
    begun = time.monotonic()
    with gate(echo) as own, suppress(OSError), socket.create_connection(("127.0.0.1", own.port)) as slow:
        for letter in b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1000:
            slow.sendall(bytes([letter]))
            time.sleep(0.05)
    assert time.monotonic() < begun + 10.0


@pytest.mark.parametrize("lines", [1, 1000])
def test_long_heads_get_nowhere(echo, lines):
    with gate(echo) as own:
        more = "\n".join(f"X-{k}: {'x' * (100_000 // lines)}" for k in range(lines))
        assert "<start>" not in ask_anyway(own.port, f"GET / HTTP/1.1\nHost: localhost\n{more}")


def test_whoever_reads_nothing_misses_messages_and_holds_nothing_open(monkeypatch):
    monkeypatch.setattr("bellcrank.viewer.page.line._PATIENCE", 0.5)
    skipped, ended = [], []

    async def talk(line):
        for _ in range(3000):
            if line.is_lazy:
                skipped.append(line.waiting)
            else:
                line.send(bytes(10_000))
            await asyncio.sleep(0)
        async for _ in line.texts():
            pass
        ended.append(line)

    own = Server("127.0.0.1", 0, FILES, talk)
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect(("127.0.0.1", own.port))
        asked = f"GET /ws HTTP/1.1\nHost: localhost\nOrigin: http://localhost\n{LINE}\n\n"
        lazy.sendall(asked.replace("\n", "\r\n").encode())
        end = time.monotonic() + 20.0
        while not skipped and time.monotonic() < end:
            time.sleep(0.05)
        assert 200_000 < skipped[0] < 250_000
        begun = time.monotonic()
        own.close()
        assert time.monotonic() < begun + 4.0
