"""A sample of the random command lines that tests/fuzz/commands.py judges; and it finds what is planted."""

from dataclasses import replace

import pytest
from fuzz.commands import Session, folder, judged

from bellcrank.errors import Fault, MechanismError
from bellcrank.shell import interpreter
from bellcrank.shell.interpreter import COMMANDS


@pytest.mark.parametrize("seed", range(4))
def test_random_sessions(seed):
    _, ends, found = judged((seed, 60))
    assert not found
    assert sum(ends.values()) > 5


def test_faults_that_are_planted_are_found(monkeypatch):
    def echo(session, given):
        if given["words"] == ["break"]:
            raise ZeroDivisionError
        session.restore = lambda _everything: None
        session.edit(lambda mechanism: mechanism.add_body("planted", mass=1.0, inertia=(1, 1, 1)))
        raise MechanismError(Fault("echo", "refused"))

    monkeypatch.setitem(COMMANDS, "echo", replace(COMMANDS["echo"], run=echo))
    monkeypatch.setattr(interpreter.Session, "redo", lambda _session: True)
    with folder():
        session = Session(0)
        for line in ("ib a", "echo break", "echo change"):
            session.step(line)
    told = "; ".join(session.found)
    assert "redo does not lead forth again" in told
    assert "internal" in told
    assert "a refused command has changed something" in told
