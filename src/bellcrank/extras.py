"""The libraries that an installation may lack."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bellcrank.errors import Unsupported


def needed(module: str, purpose: str, extra: str = "studies") -> Any:
    """A module of an optional library. Raises Unsupported, with what to install, if it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        raise Unsupported(f"{purpose} needs {library}: pip install 'bellcrank[{extra}]'") from error
