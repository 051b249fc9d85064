"""The server of a page, on viser."""

from __future__ import annotations

import contextlib
import io
import logging
from typing import Any

from bellcrank.errors import Unsupported


def check_viser() -> Any:
    """The package. Raises Unsupported where it is not there, or too old."""
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
    """A viser server at a free port of this machine, which says nothing and cannot be shared.

    Raises Unsupported as `check_viser`.
    """
    viser = check_viser()
    lines = logging.getLogger("websockets")
    if not lines.handlers:  # else garbage on a line of the page is told on the terminal, with a traceback
        lines.addHandler(logging.NullHandler())
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    server.request_share_url = _unshared  # any browser could ask for it
    return server


def stop_quietly(server: Any) -> None:
    """Stop a server, which says nothing of it."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _unshared(verbose: bool = True) -> None:
    """Give no public address: who may come is decided where the page is opened."""
