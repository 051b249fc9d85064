"""Linear equations from extrapolated differences of whole placements, where they could be exact."""

import pytest

import bellcrank as bc
from bellcrank.linear import linearize as module


def differenced(mechanism, **options):
    """bc.linearize by `lagrange` without exact derivatives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "exact", lambda _: None)
        made = bc.linearize(mechanism, formulation="lagrange", **options)
    assert not made.derived
    return made
