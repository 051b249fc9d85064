"""Keeps native code of the tests out of the user's cache, and out of each other's."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
