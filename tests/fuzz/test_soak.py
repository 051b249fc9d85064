"""A short sample of the use of live sessions that tests/fuzz/soak.py goes on with for an hour."""

import pytest
from fuzz.soak import soak


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # lines that viser leaves open
def test_a_session_is_used_and_shouted_at():
    pytest.importorskip("viser", reason="viser is not installed")
    tally = soak(8.0, seed=1, messages=1000, frames=500)
    assert tally.faults == []
    assert tally.rounds >= 2
    assert tally.malformed >= 1500
    assert tally.refused < 0.1 * tally.commands
