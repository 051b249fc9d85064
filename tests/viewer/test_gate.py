"""Who is let in to the page, and what passes through; before a page that answers with what it was sent."""

import asyncio
import socket
import threading

import pytest

from bellcrank.viewer.page.gate import Gate


@pytest.fixture
def echo():
    """A page that sends back all it gets."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(caller,), daemon=True).start()

    def talk(caller):
        with caller:
            while data := caller.recv(4096):
                caller.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    yield listening.getsockname()[1]
    listening.close()


def gate(page, token=""):
    return Gate("127.0.0.1", 0, page, token)


def ask(port, head, more=b""):
    """What comes back for the head of a request."""
    with socket.create_connection(("127.0.0.1", port), timeout=10.0) as caller:
        caller.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + more)
        caller.shutdown(socket.SHUT_WR)
        found = b""
        while data := caller.recv(4096):
            found += data
    return found.decode("latin-1")


def test_on_this_machine_what_is_addressed_so_passes(echo):
    own = gate(echo)
    found = ask(own.port, f"GET / HTTP/1.1\nHost: localhost:{own.port}", more=b"\x00" * 100_000)
    assert found.startswith("GET / HTTP/1.1\r\n")
    assert found.endswith("\x00" * 100_000)
    own.close()


@pytest.mark.parametrize("head", [
    "GET / HTTP/1.1\nHost: evil.example",
    "GET / HTTP/1.1",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: http://evil.example",
    "GET / HTTP/1.1\nHost: localhost:1\nOrigin: null",
    "GET / HTTP/1.1\nHost: localhost.evil.example:1",
])  # fmt: skip
def test_foreign_pages_and_other_addresses_are_refused(echo, head):
    own = gate(echo)
    assert ask(own.port, head).startswith("HTTP/1.1 403 ")
    own.close()


def test_a_token_is_asked_for_and_kept_as_a_cookie(echo):
    own = gate(echo, token="s3cret")
    host = f"Host: 10.0.0.7:{own.port}"
    for target, cookie in (("/", ""), ("/?token=wrong", ""), ("/", "\nCookie: bellcrank_token=wrong")):
        assert ask(own.port, f"GET {target} HTTP/1.1\n{host}{cookie}").startswith("HTTP/1.1 403 ")
    welcome = ask(own.port, f"GET /?token=s3cret HTTP/1.1\n{host}")
    assert welcome.startswith("HTTP/1.1 303 ")
    assert "Set-Cookie: bellcrank_token=s3cret; Path=/; HttpOnly; SameSite=Strict" in welcome
    passed = ask(own.port, f"GET / HTTP/1.1\n{host}\nCookie: a=b; bellcrank_token=s3cret")
    assert passed.startswith("GET / ")
    foreign = f"GET / HTTP/1.1\n{host}\nCookie: bellcrank_token=s3cret\nOrigin: http://evil.example"
    assert ask(own.port, foreign).startswith("HTTP/1.1 403 ")
    own.close()


def test_garbage_is_refused_and_does_not_close_it(echo):
    own = gate(echo)
    for head in ("", "\x00\xff" * 200, "GET", "A: B\nHost", "x" * 60_000, "GET / HTTP/1.1\nHost: [::1"):
        found = ask_anyway(own.port, head)
        assert not found or found.startswith("HTTP/1.1 403")
    assert ask(own.port, "GET / HTTP/1.1\nHost: localhost").startswith("GET / ")
    own.close()


def ask_anyway(port, head):
    try:
        return ask(port, head)
    except OSError:  # sent away before all was said
        return ""


def test_a_port_that_is_taken_is_told(echo):
    with pytest.raises(OSError, match="in use"):
        Gate("127.0.0.1", echo, echo)


def test_it_opens_where_a_loop_runs_as_in_a_notebook(echo):
    async def opened():
        return gate(echo)

    own = asyncio.run(opened())
    assert ask(own.port, "GET / HTTP/1.1\nHost: localhost").startswith("GET / ")
    own.close()


def test_names_are_answered_by_the_gate_to_whom_it_admits(echo):
    own = Gate("127.0.0.1", 0, echo, "", lambda query: f"<{query}>")
    host = f"Host: localhost:{own.port}"
    found = ask(own.port, f"GET /bellcrank/name?x=1 HTTP/1.1\n{host}")
    assert found.startswith("HTTP/1.1 200 OK")
    assert found.endswith("\r\n\r\n<x=1>")
    assert ask(own.port, f"GET /bellcrank/names HTTP/1.1\n{host}").startswith("GET /bellcrank/names")
    refused = ask(own.port, f"GET /bellcrank/name?x=1 HTTP/1.1\n{host}\nOrigin: http://evil.example")
    assert "<x=1>" not in refused
    own.close()
    asking = Gate("127.0.0.1", 0, echo, "secret", lambda query: f"<{query}>")
    assert "<x=1>" not in ask(asking.port, f"GET /bellcrank/name?x=1 HTTP/1.1\nHost: localhost:{asking.port}")
    asking.close()
