"""Two formulations at one state: the same accelerations, reactions, coordinates and energies."""

import numpy as np

import bellcrank as bc


def side_by_side(mechanism, formulation, **options):
    """lagrange and another formulation, with its options, at one projected state."""
    first, second = bc.prepare(mechanism), bc.prepare(mechanism, formulation, **options)
    second.set_state(first.project())
    return first, second


def close(found, expected, tolerance, what):
    """Whether numbers agree to a tolerance relative to the largest, or to one."""
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale, err_msg=what)


def agreed(mechanism, formulation, tolerance=1e-9, **options):
    """The formulation's system, which says the same as lagrange of all that is unique."""
    first, second = side_by_side(mechanism, formulation, **options)
    a, b = first.accelerate(), second.accelerate()
    accelerations = [np.hstack([acc.linear, acc.angular]) for acc in (b, a)]
    close(*accelerations, tolerance, "accelerations")
    close(b.reactions, a.reactions, 10 * tolerance, "reactions")
    np.testing.assert_array_equal(b.unique, a.unique)
    close(b.multipliers, a.multipliers, 10 * tolerance, "multipliers")
    np.testing.assert_array_equal(b.determined, a.determined)
    assert len(second.stats.dropped) == len(first.stats.dropped)
    np.testing.assert_allclose(second.core.energy(), first.core.energy(), atol=1e-9)
    np.testing.assert_allclose(second.core.coordinates(), first.core.coordinates(), atol=1e-9)
    return second
