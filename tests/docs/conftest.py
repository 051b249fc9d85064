"""What the tests of pages and of docstrings share."""

import pytest

from bellcrank.mechanism.joint import JOINT_KINDS


@pytest.fixture
def own_joint_kinds():
    """Kinds that a text adds are gone after it."""
    known = dict(JOINT_KINDS)
    yield
    JOINT_KINDS.clear()
    JOINT_KINDS.update(known)
