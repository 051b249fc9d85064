"""The server of a page, on viser."""

from __future__ import annotations

import contextlib
import io
import logging
from typing import Any

from bellcrank.errors import Unsupported


def check_viser() -> Any:
    """The viser package. Raises Unsupported if it is missing or too old."""
    try:
        import viser
    except ImportError as error:
        raise Unsupported(
            "the page needs viser, which is not installed: pip install 'bellcrank[viewer]'"
        ) from error
    if not hasattr(viser.SceneApi, "add_batched_meshes_simple") or not hasattr(viser.MeshHandle, "on_drag"):
        raise Unsupported(f"the page needs viser 1.1 or newer, and this is {viser.__version__}: update it")
    return viser


def quiet_server() -> Any:
    """A viser server at a free port of this machine, which prints nothing and cannot be shared.

    Raises Unsupported as `check_viser` does.
    """
    viser = check_viser()
    lines = logging.getLogger("websockets")
    if not lines.handlers:  # otherwise garbage on a connection is reported on the terminal, with a traceback
        lines.addHandler(logging.NullHandler())
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    server.request_share_url = _unshared  # any browser could request it
    return server


def stop_quietly(server: Any) -> None:
    """Stop a server without any output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _unshared(verbose: bool = True) -> None:
    """Refuse a public address: access is decided where the page is opened."""
