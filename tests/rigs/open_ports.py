"""The TCP ports that a process listens on, and what comes back from them for requests of strangers."""

import os
import socket
from pathlib import Path

LISTENING = "0A"


def has_tables():
    """Whether the system says which process listens where."""
    return Path("/proc/net/tcp").exists()


def ports(process=None):
    """The TCP ports on which a process listens, by default this one."""
    folder, open_ones = Path(f"/proc/{process or os.getpid()}"), set()
    for entry in (folder / "fd").iterdir():
        try:
            open_ones.add(str(entry.readlink()))
        except OSError:  # closed meanwhile
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        lines = folder.joinpath("net", table).read_text().splitlines()[1:] if has_tables() else []
        for fields in map(str.split, lines):
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in open_ones:
                found.add(int(fields[1].rpartition(":")[2], 16))
    return found


def requests(port):
    """Requests of foreign pages, and of programs without the right token: for a page, for a WebSocket."""
    local, evil = f"Host: localhost:{port}", "Origin: http://evil.example"
    line = (
        "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    )
    for target in ("/", "/index.html", "/?token=wrong", "/page.js", "/kinds.json", "/ws"):
        for fields in (
            f"{local}\n{evil}",
            f"{local}\nOrigin: null",
            f"{local}\n{evil}\nCookie: bellcrank_token=wrong",
            f"Host: evil.example:{port}",
            f"Host: evil.example:{port}\nOrigin: http://evil.example:{port}",
            f"Host: 127.0.0.1.evil.example:{port}\nCookie: bellcrank_token=wrong",
        ):
            for more in ("", f"\n{line}"):
                yield f"GET {target} HTTP/1.1\n{fields}{more}\n\n".replace("\n", "\r\n")
    yield f"POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 8\r\n\r\nib rod\r\n"
    for text in ("ib rod", '{"do": "play"}', '{"attach": "x", "token": "wrong"}'):
        yield f"{text}\n\r\n\r\n"


def answer(port, request):
    """What comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=20.0) as caller:
        try:
            caller.sendall(request.encode())
            return caller.recv(4096).decode("latin-1")
        except ConnectionError:
            return ""


def admitted(port):
    """The requests of strangers that are not refused."""
    refusals = ("HTTP/1.1 403 ", '{"ok": false')
    answers = {request: answer(port, request) for request in requests(port)}
    return {request: found for request, found in answers.items() if found and not found.startswith(refusals)}
