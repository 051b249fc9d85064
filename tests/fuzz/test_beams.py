"""A sample of random frames and arms with beams."""

import pytest
from rigs.random_beams import wrong

import bellcrank as bc


@pytest.mark.parametrize("seed", range(8))
def test_random_beams(seed):
    assert not wrong(seed)


def test_a_beam_that_turns_too_far_at_the_start_is_refused_by_name():
    with pytest.raises(bc.SimulationError, match="beam 'beam 0': it turns by"):
        wrong(1285)
