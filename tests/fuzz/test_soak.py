"""A short sample of the use of live sessions that tests/fuzz/soak.py goes on with for an hour."""

from fuzz.soak import soak
from rigs.reader import needs_a_page


def test_a_session_is_used_and_shouted_at():
    needs_a_page()
    tally = soak(8.0, seed=1, messages=1000, frames=500)
    assert tally.faults == []
    assert tally.rounds >= 2
    assert tally.malformed >= 1500
    assert tally.refused < 0.1 * tally.commands
