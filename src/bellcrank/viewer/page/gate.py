"""The gate of a page: which requests are admitted, and what other pages may do with the replies.

The page must have been addressed as this machine and no other page may have sent the request (Host and Origin
of HTTP), so that a foreign page in the same browser cannot control the session. From other machines a token
is required. Files and WebSockets are judged alike, and each connection serves one request.

Only what browsers and programs send in earnest is read: one reading is left, whoever reads it after the gate.
"""

from __future__ import annotations

import hmac
import re
from typing import Final, NamedTuple
from urllib.parse import parse_qs, quote

_FIRST: Final = re.compile(rb"GET (/[!-~]*) HTTP/1\.1")
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\x80-\xff\t]*)")
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_BODIES: Final = ("content-length", "transfer-encoding")
_ONCE: Final = ("host", "origin", "cookie", "connection", "upgrade")
_COOKIE: Final = "bellcrank_token"
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]")


class Request(NamedTuple):
    """What a request asks for.

    host: the name by which it was addressed, without the port. own: whether it says that the page sent it.
    """

    path: str
    query: str
    host: str
    own: bool


def judged(head: bytes, token: str) -> Request | bytes:
    """A request that is admitted, from its head, or else the reply to it.

    It must be addressed to this page by Host, and come from this page or from no page by Origin. token: to be
    given in the address, once, and then as a cookie; "" where the page can only be reached from this machine,
    whose names alone are accepted then, since a foreign page may have its own name lead here.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    target = _FIRST.fullmatch(first)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if target is None or None in fields:
        return refusal("this is no request for a page")
    headers = dict[str, str]()
    for field in fields:
        assert field is not None
        name, value = field[1].decode().lower(), field[2].decode("latin-1").strip(" \t")
        if name in _BODIES or (name in _ONCE and name in headers):
            return refusal("a request for this page has no content, and says once where it comes from")
        headers[name] = value
    host = headers.get("host", "").lower()
    name = match[1] if (match := _HOST.fullmatch(host)) is not None else ""
    if headers.get("origin", f"http://{host}").lower() not in (f"http://{host}", f"https://{host}"):
        return refusal("this page may be steered from itself alone")
    path, _, query = target[1].decode().partition("?")
    if not name or (not token and name not in _LOCAL):
        return refusal("address this page as localhost" if not token else "say by what name it is addressed")
    if token and not _shown(headers.get("cookie", ""), quote(token, safe="")):
        return _received(token, query)
    return Request(path, query, name, "origin" in headers)


def refusal(text: str) -> bytes:
    """The reply to a request that is not admitted."""
    body = f"{text}\n"
    length = f"Content-Length: {len(body)}\r\nConnection: close"
    return f"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n{length}\r\n\r\n{body}".encode()


POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What a page may load and run, as Content-Security-Policy: its own files, and no text as a program."""


def fields_of(request: Request) -> bytes:
    """Fields of the reply to an admitted request: it ends the connection, and other pages cannot use it.

    A page that shows this one in a frame could have clicks meant for itself fall here. Notebooks do show it:
    those of this machine or of the host that the page was addressed by, and of editors.
    """
    names = sorted({*_LOCAL[:2], request.host} if request.host in _LOCAL else {request.host})
    frames = " ".join(f"http://{name}:* https://{name}:*" for name in names if not name.startswith("["))
    return (
        f"Content-Security-Policy: {POLICY}; frame-ancestors 'self' {frames} vscode-webview:\r\n"
        "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
        "Connection: close\r\n"
    ).encode()


def _received(token: str, query: str) -> bytes:
    """The reply to a request without the cookie: the cookie, if the token is in the address."""
    if not _same(parse_qs(query).get("token", [""])[0], token):
        return refusal("this page asks for a token: open the address that was printed where it was started")
    cookie = f"{_COOKIE}={quote(token, safe='')}; Path=/; HttpOnly; SameSite=Strict"
    last = "Content-Length: 0\r\nConnection: close\r\n"
    return f"HTTP/1.1 303 See Other\r\nLocation: /\r\nSet-Cookie: {cookie}\r\n{last}\r\n".encode()


def _shown(cookies: str, wanted: str) -> bool:
    """Whether the token is among cookies; those of other programs need not be well formed."""
    pairs = [pair.strip(" ").partition("=") for pair in cookies.split(";")]
    return any(_same(value, wanted) for name, _, value in pairs if name == _COOKIE)


def _same(one: str, two: str) -> bool:
    return hmac.compare_digest(one.encode(), two.encode())
