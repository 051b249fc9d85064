"""The compiled core: chooses the build that fits the processor and re-exports all of it.

Two builds of the same sources are installed: ``_core_portable`` for every processor and ``_core_avx2`` for those with
AVX2 and FMA (x86-64 only). The fastest that runs is taken; the environment variable ``BELLCRANK_CORE`` (``portable`` or
``avx2``) overrides. :data:`variant` names the one in use.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from bellcrank import _cpu

_VARIANTS = ("portable", "avx2")


def _chosen_variant() -> str:
    """Return the variant to load: the one asked for, otherwise the fastest that this processor runs.

    Raises:
        ImportError: ``BELLCRANK_CORE`` names no variant, one that is not installed or one the processor cannot run.
    """
    requested = os.environ.get("BELLCRANK_CORE", "")
    if requested not in ("", *_VARIANTS):
        raise ImportError(f"BELLCRANK_CORE={requested!r} is not a core of bellcrank: use 'portable' or 'avx2', or unset it.")
    if requested == "portable":
        return "portable"
    built = find_spec("bellcrank._core_avx2") is not None
    if requested == "avx2":
        if not built:
            raise ImportError("BELLCRANK_CORE='avx2', but bellcrank was built without it: unset BELLCRANK_CORE.")
        if not _cpu.supports_avx2():
            raise ImportError("BELLCRANK_CORE='avx2', but this processor lacks AVX2 or FMA: unset BELLCRANK_CORE.")
    return "avx2" if built and _cpu.supports_avx2() else "portable"


def _load() -> ModuleType:
    return import_module(f"bellcrank._core_{_chosen_variant()}")


_module = _load()
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("__")})
