"""Robust standard streams: they may be closed, full, in any encoding, or a pipe that nobody reads."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Final, TextIO

import click

UNREAD: Final = 141
"""Exit status where nobody reads standard output any more, as of a program that SIGPIPE ends."""
_UNWRITTEN: Final = 2


def prepare() -> None:
    """Redirect closed streams to the null device, and make every character writable in some form."""
    # In this order each takes the lowest free number, which a file of results would otherwise be given.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 (until the end)
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def finished(status: int) -> int:
    """Flush the buffers; return the exit status, or another one if that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = status or UNREAD
        _give_up(sys.stdout)
    except OSError as error:
        _give_up(sys.stdout)
        if status == 0:
            status = _UNWRITTEN
            with suppress(OSError):
                click.echo(f"error: standard output cannot be written: {error.strerror}", err=True)
    try:
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)
    return status


def _give_up(stream: TextIO) -> None:
    """Discard what is left: Python would try to write it again at exit."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
