"""Benchmarks pin the process to one core; the tests' workers stay free."""

import pytest


@pytest.fixture
def every_core(monkeypatch):
    """Where a test names it, nothing is pinned."""
    monkeypatch.setattr("benchmarks.environment.pin_to_one_core", lambda: None)
