"""Both builds of the core give the same accelerations, multipliers and motion."""

import numpy as np
import pytest
from rigs import chains, examples, floating, linkages, stops
from rigs.machine import Machine, matrix

from bellcrank import BodyDamping, Seat, _cpu
from bellcrank.mechanism.ropes import Way
from bellcrank.mechanism.teeth import ElasticGear

if not _cpu.supports_avx2():
    pytest.skip("this processor runs one of the two cores only", allow_module_level=True)

CORES = [
    pytest.importorskip(f"bellcrank._core_{variant}", reason="one variant was compiled", exc_type=ImportError)
    for variant in ("portable", "avx2")
]
# Sums in another order and fused products: some tens of roundings of what is added up.
TOLERANCE = 1e-12

CASES = {
    **{f"joint-{name}": ("pair", examples.joint(name)) for name in examples.JOINT_KINDS},
    **{f"constraint-{name}": ("carried", kind, ends) for name, kind, ends in examples.constraints()},
    **{
        f"force-{name}": ("forced", kind, ends)
        for name, kind, ends in examples.forces()
        if not isinstance(
            kind, (BodyDamping, ElasticGear, Seat, Way)
        )  # formulas belong to the core that made them
    },
    **{f"path-{name}": ("along", *path) for name, path in examples.PATHS.items()},
}
MECHANISMS = {
    "long chain": lambda: chains.chain(np.ones(23)),  # not a multiple of the lanes
    "masses": lambda: chains.chain(np.geomspace(1.0, 1e4, 7)),
    "platform": lambda: chains.platform(1.0, 3.0),
    "redundant": linkages.four_bar,
    "windows": lambda: linkages.windows(4),
    "stack": lambda: stops.stack(6),
}


def pair(case):
    if case in MECHANISMS:
        mechanism = MECHANISMS[case]()
    else:
        name, *arguments = CASES[case]
        mechanism = getattr(floating, name)(*arguments).mechanism
    return [Machine(mechanism, core) for core in CORES]


@pytest.fixture(params=[*CASES, *MECHANISMS])
def machines(request):
    """The same mechanism at the same state in both cores."""
    both = pair(request.param)
    for machine in both:
        assert machine.system.project()
    both[1].set(both[0].system.state())
    return both


def close(a, b, tolerance=TOLERANCE):
    scale = max(np.max(np.abs(a), initial=0.0), 1.0)
    np.testing.assert_allclose(b, a, rtol=0.0, atol=tolerance * scale)


def rows(machine):
    """C, Ct, Qc and the Jacobian in body axes: where moments agree, principal axes are a choice."""
    C, Ct, Qc, J = machine.system.rows()
    columns = J.reshape(len(C), machine.count, 6)
    turned = np.einsum("rbp,bip->rbi", columns[:, :, 3:], matrix(machine.core_model.principal_rotation))
    return C, Ct, Qc, columns[:, :, :3], turned


def test_the_cores_are_the_two():
    assert [core.variant for core in CORES] == ["portable", "avx2"]


def test_rows_and_accelerations(machines):
    for one, other in zip(*map(rows, machines), strict=True):
        close(one, other)
    first, second = (machine.system.accelerate() for machine in machines)
    for one, other in zip(first[:2], second[:2], strict=True):
        close(one, other)
    assert machines[0].system.dropped_rows() == machines[1].system.dropped_rows()
    one, other = (machine.system.reactions(machine.joints)[0] for machine in machines)
    close(one, other, 1e-11)  # of least norm where rows are redundant: one more solution


def test_motion(machines):
    """Fifty steps: differences grow with the motion."""
    one, other = (machine.run(0.05, frames=2) for machine in machines)
    close(one.position[-1], other.position[-1], 1e-11)
    close(one.velocity[-1], other.velocity[-1], 1e-10)
