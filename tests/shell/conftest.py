"""What the tests of the shell share."""

import pytest

from bellcrank.shell.interpreter import Shell


@pytest.fixture
def shell():
    return Shell()


@pytest.fixture
def run(shell):
    """Runs lines; each must be done. The last reply."""

    def execute(*lines):
        reply = None
        for line in lines:
            reply = shell.execute(line)
            assert reply.ok, f"{line}: {reply.text}"
        return reply

    return execute
