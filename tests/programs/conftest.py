"""Makes the helpers importable; keeps native code of the tests out of the user's cache."""

import sys
from pathlib import Path

import pytest

for folder in (Path(__file__).parent, Path(__file__).parents[1] / "expression"):
    sys.path.insert(0, str(folder))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
