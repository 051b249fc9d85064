"""The formulation of the tests, which they name where they need it."""

import pytest

from bellcrank.formulations.preparing import FORMULATIONS


@pytest.fixture
def dense(monkeypatch):
    """The formulation of rigs/dense_lagrange.cpp among the others."""
    monkeypatch.setitem(FORMULATIONS, "dense", "rigs.dense")
