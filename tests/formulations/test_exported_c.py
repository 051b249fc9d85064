"""Equations as C: they compile without warnings and agree with the system that they come from."""

import numpy as np
import pytest
from rigs.c_functions import Library
from rigs.random_mechanisms import random_mechanism

import bellcrank as bc

TOLERANCE = 1e-13


def agree(found, expected, scale=None):
    """To 1e-13 of the largest number."""
    size = max(np.max(np.abs(expected), initial=0.0), 0.0 if scale is None else scale, 1e-300)
    assert np.max(np.abs(found - expected), initial=0.0) <= TOLERANCE * size


def states(system, rng, count=3):
    """Random coordinates and speeds near where a mechanism starts, as the arrays of the C functions."""
    core = system.core
    q0, u0 = np.array(core.configuration()), np.array(core.speeds())
    for _ in range(count):
        core.set_configuration(0.3, q0, u0)
        core.displace_joints(rng.normal(0.0, 0.3, len(u0)))
        q, u = np.array(core.configuration()), u0 + rng.normal(0.0, 1.0, len(u0))
        core.set_configuration(0.3, q, u)
        yield {"q": q, "u": u, "a": rng.normal(0.0, 2.0, len(u)), "tau": rng.normal(0.0, 5.0, len(u))}


def compare(library, at):
    """All dynamics of the system at its state."""
    system, t = library.system, 0.3
    M, b = system.mass_matrix(), system.bias()
    agree(library("mass_matrix", t, **at), M)
    motion = np.max(np.abs(M), initial=0.0) * np.max(np.abs(at["a"]), initial=0.0)
    agree(library("bias", t, **at), b)
    agree(library("inverse_dynamics", t, **at), system.inverse_dynamics(at["a"]), motion)
    if not system.closing_rows:
        none = np.zeros(len(at["u"]))
        agree(library("forward_dynamics", t, **at | {"tau": none}), system.joint_accelerations())
        # M a = b + tau with efforts beside those of the mechanism.
        a = library("forward_dynamics", t, **at)
        assert np.allclose(M @ a, b + at["tau"], rtol=0.0, atol=1e-10 * max(1.0, np.max(np.abs(M)) * np.max(np.abs(a))))


def _system(mechanism):
    try:
        return bc.prepare(mechanism, "symbolic")
    except (bc.Unsupported, bc.AssemblyError):
        return None


@pytest.mark.parametrize("seed", range(40))
def test_random_mechanisms_agree_with_the_system(seed, tmp_path):
    mechanism = random_mechanism(seed)
    if _system(mechanism) is None:
        pytest.skip("symbolic does not take it")
    library = Library(mechanism, tmp_path, list(mechanism.bodies))
    rng = np.random.default_rng(seed)
    for at in states(library.system, rng):
        compare(library, at)
