"""The compiled core: chooses the build that fits the processor and re-exports all of it.

Two builds of the same sources are installed: ``_core_portable`` for every processor and ``_core_avx2`` for
those with AVX2 and FMA (x86-64 only). A build for this machine alone (``make demo``) has only the one that it
uses. The fastest that runs is taken; the environment variable ``BELLCRANK_CORE`` (``portable`` or ``avx2``)
overrides. ``variant`` names the one in use.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec

from bellcrank import _cpu

_VARIABLE = "BELLCRANK_CORE"


def _chosen_variant() -> str:
    """Return the variant to load: the one asked for, otherwise the fastest that this processor runs.

    Raises:
        ImportError: the environment names no variant, one that is not installed or one that the processor
            cannot run.
    """
    requested = os.environ.get(_VARIABLE, "")
    if requested not in ("", "portable", "avx2"):
        raise ImportError(f"{_VARIABLE}={requested!r} names no core: use 'portable' or 'avx2', or unset it.")
    if requested == "portable":
        if find_spec("bellcrank._core_portable") is None:
            raise ImportError(f"{_VARIABLE}='portable', but bellcrank was built without it: unset it.")
        return "portable"
    built = find_spec("bellcrank._core_avx2") is not None
    supported = _cpu.supports_avx2()
    if requested == "avx2" and not (built and supported):
        reason = "this processor lacks AVX2 or FMA" if built else "bellcrank was built without it"
        raise ImportError(f"{_VARIABLE}='avx2', but {reason}: use 'portable', or unset it.")
    return "avx2" if built and supported else "portable"


_module = import_module(f"bellcrank._core_{_chosen_variant()}")
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("__")})
