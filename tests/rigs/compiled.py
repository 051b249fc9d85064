"""Rigs that are compiled into the core of a development build, and not into that of a wheel."""

import pytest

from bellcrank import _core


def need_rigs():
    """Skip a test that uses them where they are not compiled."""
    if not hasattr(_core, "DenseLagrange"):
        pytest.skip("the core was compiled without the rigs of the tests")
