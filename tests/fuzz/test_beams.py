"""A sample of random frames and arms with beams."""

import pytest
from rigs.random_beams import wrong


@pytest.mark.parametrize("seed", range(8))
def test_random_beams(seed):
    assert not wrong(seed)
