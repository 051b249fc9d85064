"""Random mechanisms are closed as they are built; differential.py compares the formulations on them."""

import numpy as np
import pytest
from rigs import examples
from rigs.machine import quaternion
from rigs.random_mechanisms import JOINTS, random_mechanism, relative_pose

import bellcrank as bc


@pytest.mark.parametrize("name", JOINTS)
def test_joints_hold_at_their_random_poses(name):
    rng, kind = np.random.default_rng(0), examples.joint(name)
    for _ in range(5):
        offset, turn = relative_pose(kind, rng)
        mechanism = bc.Mechanism(name)
        body = mechanism.add_body(
            "body", mass=1.0, inertia=(1, 1, 1), position=offset, rotation=quaternion(turn)
        )
        mechanism.add_joint("joint", kind, mechanism.ground, body)
        assert np.abs(bc.prepare(mechanism).rows().error).max(initial=0.0) < 1e-14


def test_loops_are_closed_from_the_start():
    for seed in range(60):
        rows = bc.prepare(random_mechanism(seed)).rows()
        held = [not name.startswith(("force", "drive")) for name in rows.names]
        assert np.abs(rows.error[held]).max(initial=0.0) < 1e-12, seed
