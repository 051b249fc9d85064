"""What is done again and again leaves nothing behind; `tests/fuzz/memory.py` does it far more often."""

from itertools import pairwise

import pytest
from rigs.growth import WORKS, heap_can_be_read, usage

TIMES, BLOCKS, BYTES = 8, 10, 1000


@pytest.mark.skipif(not heap_can_be_read(), reason="this system has no C library that counts memory in use")
@pytest.mark.parametrize("name", WORKS)
def test_work_leaves_nothing(name):
    """In the best of four rounds: tables of the interpreter grow now and then, what is kept always does."""
    marks = []
    for round_ in range(5):
        for k in range(TIMES):
            WORKS[name](TIMES * round_ + k)
        marks.append(usage())
    grown = [after - before for before, after in pairwise(marks)]
    assert min(g.nodes for g in grown) <= 0
    assert min(g.blocks for g in grown) < BLOCKS * TIMES
    assert min(g.heap for g in grown) < BYTES * TIMES
