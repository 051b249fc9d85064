"""The mechanisms of the gallery have as many bodies and constraint rows as they say."""

import pytest

from bellcrank.compile.compile import compile_mechanism
from bellcrank.gallery import chain, free_ring, ladder, n_four_bar, prosthetic_arm, prosthetic_shoulder, ring


@pytest.mark.parametrize(
    ("mechanism", "bodies", "rows"),
    [
        (chain(7), 7, 5 * 7),
        (chain(7, kind="spherical"), 7, 3 * 7),
        (ring(20), 20, 5 * 21),
        (ring(40), 40, 5 * 41),
        (free_ring(20), 20, 3 * 20),
        (free_ring(40), 40, 3 * 40),
        (ladder(4), 12, 5 * 16),
        (n_four_bar(1), 3, 5 * 4),
        (n_four_bar(10), 21, 5 * 31),
        (n_four_bar(40), 81, 5 * 121),
        (prosthetic_shoulder(), 7, 40),
        (prosthetic_arm(), 9, 50),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_counts(mechanism, bodies, rows):
    model = compile_mechanism(mechanism)
    assert (model.core.bodies, model.core.rows) == (bodies, rows)
